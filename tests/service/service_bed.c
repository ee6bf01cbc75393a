// SPDX-License-Identifier: MIT OR Apache-2.0
#include "service/service_bed.h"

#include <time.h>

#include "testing.h"

#include "base/bytes.h"
#include "base/mem.h"
#include "circuit/toy/toy.h"
#include "groth16/setup.h"
#include "groth16/verify.h"
#include "service/toys.h"

service_options bed_options(const char *const *name) {
    service_options o = {
        .engine = runtime_default_config(), .threads = 2, .devices = name, .n_devices = 1, .toy_circuits = true};
    o.engine.memory_budget = UINT64_MAX;
    return o;
}

service *bed_start(const service_options *options) {
    service *s = NULL;
    cuzk_error err;
    if (service_create(&s, options, &err) != CUZK_OK) fail_msg("%s", err.text);
    return s;
}

service_code bed_submit(service *s, service_submitted *out, const char *id, uint64_t log_rows, uint32_t partitions,
                        uint64_t seed, const service_request *like, service_error *err) {
    uint8_t input[TOY_INPUT_BYTES];
    service_request r = like != NULL ? *like : (service_request){0};
    store_le64(input, seed);
    r.request_id = id;
    r.kind = SERVICE_TOY;
    r.sector_size = partitions;
    r.registered_proof = log_rows;
    r.vanilla_proof = input;
    r.vanilla_proof_len = sizeof input;
    return service_submit(s, out, &r, err);
}

void bed_answer_make(bed_answer *a) {
    memset(a, 0, sizeof *a);
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->told, NULL);
}

void bed_told(void *answer, const service_result *r) {
    bed_answer *a = answer;
    pthread_mutex_lock(&a->lock);
    a->calls++;
    a->outcome = r->outcome;
    memcpy(a->job_id, r->job_id, sizeof a->job_id);
    snprintf(a->text, sizeof a->text, "%s", r->text);
    a->proof_len = r->proof_len <= sizeof a->proof ? r->proof_len : 0;
    if (a->proof_len > 0) memcpy(a->proof, r->proof, a->proof_len);
    a->times = r->times;
    pthread_cond_broadcast(&a->told);
    pthread_mutex_unlock(&a->lock);
}

void bed_wait(bed_answer *a) {
    pthread_mutex_lock(&a->lock);
    while (a->calls == 0) pthread_cond_wait(&a->told, &a->lock);
    pthread_mutex_unlock(&a->lock);
}

const bed_answer *bed_await(service *s, runtime_job job) {
    static _Thread_local bed_answer a;
    service_watch *w;
    service_error err;
    bed_answer_make(&a);
    if (service_await(s, &w, job, 0, bed_told, &a, &err) != SERVICE_OK) fail_msg("%s", err.text);
    bed_wait(&a);
    service_unwatch(s, &w, false);
    assert_int_equal(a.calls, 1);
    return &a;
}

static groth16_pk *toy_key(uint64_t log_rows) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static groth16_pk *keys[TOYS_MAX_LOG + 1]; // kept until the program ends
    pthread_mutex_lock(&lock);
    if (keys[log_rows] == NULL) {
        const toy_circuit t = {.shape = {UINT32_C(1) << log_rows, 1}};
        const circuit c = toy_circuit_bind(&t);
        groth16_secrets secrets;
        groth16_secrets_from_label(&secrets, TOYS_LABEL);
        assert_int_equal(groth16_setup(&keys[log_rows], &c, &secrets, NULL, NULL, NULL), CUZK_OK);
    }
    pthread_mutex_unlock(&lock);
    return keys[log_rows];
}

bool bed_verifies(uint64_t log_rows, uint32_t partitions, uint64_t seed, const uint8_t *proof, size_t len) {
    const toy_shape shape = {UINT32_C(1) << log_rows, partitions};
    if (len != (size_t)partitions * GROTH16_PROOF_BYTES) return false;
    for (uint32_t k = 0; k < partitions; k++) {
        groth16_proof p;
        fr input;
        toy_public_input(&input, &shape, seed, k);
        if (groth16_proof_decode(&p, proof + (size_t)k * GROTH16_PROOF_BYTES, NULL) != CUZK_OK ||
            groth16_verify(&toy_key(log_rows)->vk, &p, &input, 1, NULL) != CUZK_OK)
            return false;
    }
    return true;
}

void bed_expect_done(service *s, runtime_job job, uint64_t log_rows, uint32_t partitions, uint64_t seed) {
    const bed_answer *a = bed_await(s, job);
    if (a->outcome != SERVICE_JOB_COMPLETED) fail_msg("outcome %d: %s", (int)a->outcome, a->text);
    assert_true(bed_verifies(log_rows, partitions, seed, a->proof, a->proof_len));
}

service_counts bed_counts(service *s) {
    service_snapshot *n = NULL;
    assert_int_equal(service_look(s, &n, NULL), CUZK_OK);
    service_counts sum = {0};
    for (uint32_t k = 0; k <= SERVICE_KINDS; k++) {
        sum.queued += n->by_kind[k].queued;
        sum.running += n->by_kind[k].running;
        sum.completed += n->by_kind[k].completed;
        sum.failed += n->by_kind[k].failed;
        sum.cancelled += n->by_kind[k].cancelled;
    }
    assert_int_equal(sum.queued + sum.running + sum.completed + sum.failed + sum.cancelled, n->accepted);
    service_snapshot_free(&n);
    return sum;
}

void bed_nap_ms(unsigned ms) {
    const struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}
