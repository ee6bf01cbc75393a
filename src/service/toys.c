// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One provider in front of many: each request names its shape, and gets the engine's toy provider of that shape.
#include "service/toys.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "api/provider_toy.h"

enum { N_LOGS = TOYS_MAX_LOG + 1, HEADER = 3 }; // log of the rows, partitions (two bytes)

typedef struct toys {
    provider head;
    pce_cache *programs;
    provider *by_log[N_LOGS];   // one partition each: keys do not depend on the number
    provider_plan plan[N_LOGS]; // theirs
} toys;

typedef struct toys_request {
    provider *of; // of its shape
    void *inner;
} toys_request;

cuzk_status toys_input(uint8_t out[TOYS_INPUT_MAX], size_t *out_len, uint64_t log_rows, uint64_t partitions,
                       const uint8_t *seed, size_t seed_len, cuzk_error *err) {
    if (log_rows == 0) log_rows = TOYS_DEFAULT_LOG;
    if (log_rows < TOYS_MIN_LOG || log_rows > TOYS_MAX_LOG)
        return cuzk_fail(err, CUZK_ERR_USAGE, "registered_proof: %" PRIu64 "; a toy has 2^%d to 2^%d rows", log_rows,
                         TOYS_MIN_LOG, TOYS_MAX_LOG);
    if (partitions == 0 || partitions > TOY_MAX_PARTITIONS)
        return cuzk_fail(err, CUZK_ERR_USAGE, "sector_size: %" PRIu64 "; a toy has 1 to %d partitions", partitions,
                         TOY_MAX_PARTITIONS);
    if (seed_len != TOY_INPUT_BYTES)
        return cuzk_fail(err, CUZK_ERR_USAGE, "vanilla_proof: %zu bytes; the seed of a toy has %d", seed_len,
                         TOY_INPUT_BYTES);
    out[0] = (uint8_t)log_rows;
    out[1] = (uint8_t)partitions;
    out[2] = (uint8_t)(partitions >> 8);
    memcpy(out + HEADER, seed, seed_len);
    *out_len = HEADER + seed_len;
    return CUZK_OK;
}

static void name_key(provider_plan *plan, int log_rows) {
    snprintf(plan->key_name, sizeof plan->key_name, "toy-%d", log_rows);
}

static void request_destroy(toys_request *r) {
    if (r->inner != NULL) r->of->ops->release(r->of, r->inner);
    provider_toy_destroy(&r->of);
    mem_free(r);
}

static cuzk_status bind(const provider *self, void **request, provider_plan *plan, const uint8_t *input, size_t len,
                        cuzk_error *err) {
    const toys *t = (const toys *)self;
    if (len < HEADER || input[0] < TOYS_MIN_LOG || input[0] > TOYS_MAX_LOG)
        return cuzk_fail(err, CUZK_ERR_INPUT, "no toy is of this shape");
    toys_request *r = mem_calloc(MEM_INPUT, 1, sizeof *r);
    if (r == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a request");
    const toy_shape shape = {.rows = UINT32_C(1) << input[0], .partitions = input[1] | (uint32_t)input[2] << 8};
    cuzk_status s = provider_toy_create(&r->of, "toy", &shape, TOYS_LABEL, t->programs, err);
    if (s == CUZK_OK) s = r->of->ops->bind(r->of, &r->inner, plan, input + HEADER, len - HEADER, err);
    if (s != CUZK_OK) {
        request_destroy(r);
        return s;
    }
    name_key(plan, input[0]);
    *request = r;
    return CUZK_OK;
}

static void release(const provider *self, void *request) {
    (void)self;
    request_destroy(request);
}

static cuzk_status synthesize(const provider *self, groth16_assignment **out, const void *request, uint32_t partition,
                              const observer *obs, cuzk_error *err) {
    (void)self;
    const toys_request *r = request;
    return r->of->ops->synthesize(r->of, out, r->inner, partition, obs, err);
}

static void public_inputs(const provider *self, fr *out, const void *request, uint32_t partition) {
    (void)self;
    const toys_request *r = request;
    r->of->ops->public_inputs(r->of, out, r->inner, partition);
}

static cuzk_status load_key(const provider *self, groth16_pk **out, uint64_t key, pool *p, const observer *obs,
                            cuzk_error *err) {
    const toys *t = (const toys *)self;
    for (int i = TOYS_MIN_LOG; i < N_LOGS; i++)
        if (t->plan[i].key == key) return t->by_log[i]->ops->load_key(t->by_log[i], out, key, p, obs, err);
    return cuzk_fail(err, CUZK_ERR_MISMATCH, "no toy has such a key");
}

static cuzk_status find_key(const provider *self, provider_plan *plan, const char *name, cuzk_error *err) {
    const toys *t = (const toys *)self;
    for (int i = TOYS_MIN_LOG; i < N_LOGS; i++) {
        *plan = t->plan[i];
        if (strcmp(plan->key_name, name) == 0) return CUZK_OK;
    }
    return cuzk_fail(err, CUZK_ERR_INPUT, "the keys are called toy-%d to toy-%d", TOYS_MIN_LOG, TOYS_MAX_LOG);
}

static const provider_ops TOYS_OPS = {bind, release, synthesize, public_inputs, load_key, find_key};

cuzk_status toys_create(provider **out, pce_cache *programs, cuzk_error *err) {
    *out = NULL;
    toys *t = mem_calloc(MEM_MISC, 1, sizeof *t);
    if (t == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the toys");
    t->head = (provider){&TOYS_OPS, "toy"};
    t->programs = programs;
    cuzk_status s = CUZK_OK;
    for (int i = TOYS_MIN_LOG; i < N_LOGS && s == CUZK_OK; i++) {
        static const uint8_t SEED[TOY_INPUT_BYTES];
        const toy_shape shape = {.rows = UINT32_C(1) << i, .partitions = 1};
        void *request = NULL;
        s = provider_toy_create(&t->by_log[i], "toy", &shape, TOYS_LABEL, programs, err);
        if (s == CUZK_OK) s = t->by_log[i]->ops->bind(t->by_log[i], &request, &t->plan[i], SEED, sizeof SEED, err);
        if (s != CUZK_OK) break;
        name_key(&t->plan[i], i);
        t->by_log[i]->ops->release(t->by_log[i], request);
    }
    *out = &t->head;
    if (s != CUZK_OK) toys_destroy(out);
    return s;
}

void toys_destroy(provider **p) {
    toys *t = (toys *)*p;
    if (t == NULL) return;
    *p = NULL;
    for (int i = TOYS_MIN_LOG; i < N_LOGS; i++) provider_toy_destroy(&t->by_log[i]);
    mem_free(t);
}
