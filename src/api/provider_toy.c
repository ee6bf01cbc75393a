// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/provider_toy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "groth16/setup.h"
#include "hash/sha256.h"

typedef struct toy_provider {
    provider head;
    toy_shape shape;
    const char *label;
    pce_cache *programs; // NULL: the reference way
    uint64_t key;
} toy_provider;

static uint64_t power_of_two(uint64_t n) {
    uint64_t size = 1;
    while (size < n) size *= 2;
    return size;
}

static void describe_key(const toy_provider *t, provider_plan *plan) {
    const uint64_t rows = t->shape.rows, domain = power_of_two(rows);
    plan->key = t->key;
    // At most a point in h, l, a and b_g1 a row, and one in b_g2.
    plan->key_bytes = sizeof(groth16_pk) + (domain + 3 * rows + 2) * sizeof(g1_affine) + rows * sizeof(g2_affine);
    snprintf(plan->key_name, sizeof plan->key_name, "toy-%" PRIu32, t->shape.partitions);
}

static cuzk_status bind(const provider *self, void **request, provider_plan *plan, const uint8_t *input, size_t len,
                        cuzk_error *err) {
    const toy_provider *t = (const toy_provider *)self;
    uint64_t seed;
    cuzk_status s = toy_parse_input(&seed, input, len, err);
    if (s != CUZK_OK) return s;
    uint64_t *kept = mem_alloc(MEM_INPUT, 1, sizeof *kept);
    if (kept == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a request");
    *kept = seed;
    *request = kept;
    const uint64_t rows = t->shape.rows; // and as many wires, most of them field elements
    *plan = (provider_plan){
        .partitions = t->shape.partitions,
        .public_inputs = TOY_PUBLIC_INPUTS,
        .partition_bytes =
            t->programs == NULL ? provider_partition_bytes(rows, rows) : provider_packed_bytes(rows, rows, rows),
    };
    describe_key(t, plan);
    return CUZK_OK;
}

static void release(const provider *self, void *request) {
    (void)self;
    mem_free(request);
}

static cuzk_status synthesize(const provider *self, groth16_assignment **out, const void *request, uint32_t partition,
                              const observer *obs, cuzk_error *err) {
    const toy_provider *t = (const toy_provider *)self;
    const toy_circuit tc = {.shape = t->shape, .seed = *(const uint64_t *)request, .partition = partition};
    const circuit c = toy_circuit_bind(&tc);
    pce_circuit which;
    pce_of_toy(&which, &t->shape);
    return pce_synthesize(out, t->programs, &which, &c, obs, err);
}

static void public_inputs(const provider *self, fr *out, const void *request, uint32_t partition) {
    const toy_provider *t = (const toy_provider *)self;
    toy_public_input(out, &t->shape, *(const uint64_t *)request, partition);
}

static cuzk_status load_key(const provider *self, groth16_pk **out, uint64_t key, pool *p, const observer *obs,
                            cuzk_error *err) {
    const toy_provider *t = (const toy_provider *)self;
    if (key != t->key) return cuzk_fail(err, CUZK_ERR_MISMATCH, "%s has no such key", self->kind);
    groth16_secrets secrets;
    groth16_secrets_from_label(&secrets, t->label);
    const toy_circuit tc = {.shape = t->shape};
    const circuit c = toy_circuit_bind(&tc);
    return groth16_setup(out, &c, &secrets, p, obs, err);
}

static cuzk_status find_key(const provider *self, provider_plan *plan, const char *name, cuzk_error *err) {
    *plan = (provider_plan){0};
    describe_key((const toy_provider *)self, plan);
    return strcmp(plan->key_name, name) == 0 ? CUZK_OK
                                             : cuzk_fail(err, CUZK_ERR_INPUT, "the key is called %s", plan->key_name);
}

static const provider_ops TOY_OPS = {bind, release, synthesize, public_inputs, load_key, find_key};

// Label and rows make the key; the number of partitions does not.
static uint64_t key_identity(const toy_shape *shape, const char *label) {
    uint8_t rows[4], digest[32];
    sha256 h;
    sha256_init(&h);
    sha256_update(&h, "toy", 3);
    store_le32(rows, shape->rows);
    sha256_update(&h, rows, sizeof rows);
    sha256_update(&h, label, strlen(label));
    sha256_final(digest, &h);
    return load_le64(digest) | 1;
}

cuzk_status provider_toy_create(provider **out, const char *kind, const toy_shape *shape, const char *label,
                                pce_cache *programs, cuzk_error *err) {
    *out = NULL;
    cuzk_status s = toy_shape_check(shape, err);
    if (s != CUZK_OK) return s;
    toy_provider *t = mem_calloc(MEM_MISC, 1, sizeof *t);
    if (t == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the provider of %s", kind);
    t->head = (provider){&TOY_OPS, kind};
    t->shape = *shape;
    t->label = label;
    t->programs = programs;
    t->key = key_identity(shape, label);
    *out = &t->head;
    return CUZK_OK;
}

void provider_toy_destroy(provider **p) {
    mem_free(*p);
    *p = NULL;
}
