// SPDX-License-Identifier: MIT OR Apache-2.0
#include "engine/runtime_bed.h"

#include "testing.h"

#include "base/bytes.h"
#include "groth16/setup.h"
#include "groth16/verify.h"

static void warn(void *ctx, const char *text) {
    bed *b = ctx;
    // Warnings come from one thread at a time: the engine's.
    snprintf(b->last_warning, sizeof b->last_warning, "%s", text);
    atomic_fetch_add(&b->warnings, 1);
}

void bed_make(bed *b, uint32_t partitions, uint32_t n_devices, sim_fault (*fault)(void *, uint64_t, uint32_t),
              void *ctx) {
    memset(b, 0, sizeof *b);
    b->partitions = partitions;
    const toy_shape one = {BED_ROWS, 1}, many = {BED_ROWS, partitions};
    assert_int_equal(pce_cache_create(&b->programs, NULL, NULL), CUZK_OK);
    assert_int_equal(provider_toy_create(&b->one, "one", &one, BED_LABEL, b->programs, NULL), CUZK_OK);
    assert_int_equal(provider_toy_create(&b->many, "many", &many, BED_LABEL, b->programs, NULL), CUZK_OK);
    b->providers[0] = b->one;
    b->providers[1] = b->many;
    for (uint32_t i = 0; i < n_devices; i++) {
        sim_options o = {.fault = fault, .ctx = ctx};
        assert_int_equal(device_open_cpu(&o.inner, 1, NULL), CUZK_OK);
        assert_int_equal(device_open_sim(&b->devices[i], &o, NULL), CUZK_OK);
    }
    b->n_devices = n_devices;
    const toy_circuit t = {.shape = one};
    const circuit c = toy_circuit_bind(&t);
    groth16_secrets secrets;
    groth16_secrets_from_label(&secrets, BED_LABEL);
    assert_int_equal(groth16_setup(&b->pk, &c, &secrets, NULL, NULL, NULL), CUZK_OK);
    b->options = (runtime_options){
        .engine = runtime_default_config(),
        .devices = b->devices,
        .n_devices = n_devices,
        .providers = b->providers,
        .n_providers = 2,
        .warn = warn,
        .warn_ctx = b,
    };
}

void bed_start(bed *b) {
    cuzk_error err = {0};
    cuzk_status s = runtime_create(&b->rt, &b->options, &err);
    if (s != CUZK_OK) fail_msg("%s", err.text);
}

void bed_stop(bed *b) { runtime_destroy(&b->rt); }

void bed_destroy(bed *b) {
    bed_stop(b);
    for (uint32_t i = 0; i < b->n_devices; i++) {
        assert_int_equal(sim_stats_of(b->devices[i]).overlaps, 0); // one kernel section at a time, always
        assert_int_equal(sim_stats_of(b->devices[i]).keys, 0);
        device_close(&b->devices[i]);
    }
    provider_toy_destroy(&b->one);
    provider_toy_destroy(&b->many);
    pce_cache_destroy(&b->programs);
    groth16_pk_destroy(&b->pk);
}

cuzk_status bed_try_submit(bed *b, runtime_job *out, bool *joined, engine_reason *reason, const char *kind,
                           uint64_t seed, const char *client_id, engine_priority priority) {
    uint8_t input[TOY_INPUT_BYTES];
    store_le64(input, seed);
    const runtime_request r = {
        .kind = kind, .input = input, .input_len = sizeof input, .client_id = client_id, .priority = priority};
    return runtime_submit(b->rt, out, joined, reason, &r, NULL);
}

runtime_job bed_submit(bed *b, const char *kind, uint64_t seed) {
    runtime_job job = 0;
    engine_reason reason;
    assert_int_equal(bed_try_submit(b, &job, NULL, &reason, kind, seed, NULL, ENGINE_NORMAL), CUZK_OK);
    return job;
}

bool bed_verifies(const bed *b, uint32_t partitions, uint64_t seed, const uint8_t *proof, size_t len) {
    const toy_shape shape = {BED_ROWS, partitions};
    if (len != (size_t)partitions * GROTH16_PROOF_BYTES) return false;
    for (uint32_t k = 0; k < partitions; k++) {
        groth16_proof p;
        fr input;
        toy_public_input(&input, &shape, seed, k);
        if (groth16_proof_decode(&p, proof + (size_t)k * GROTH16_PROOF_BYTES, NULL) != CUZK_OK ||
            groth16_verify(&b->pk->vk, &p, &input, 1, NULL) != CUZK_OK)
            return false;
    }
    return true;
}

void bed_expect_done(bed *b, runtime_job job, uint32_t partitions, uint64_t seed) {
    runtime_result *r = NULL;
    assert_int_equal(runtime_await(b->rt, &r, job, UINT64_MAX, NULL), CUZK_OK);
    if (r->state != ENGINE_DONE) fail_msg("state %d: %s", (int)r->state, r->text);
    assert_string_equal(r->text, "");
    assert_true(bed_verifies(b, partitions, seed, r->proof, r->proof_len));
    runtime_result_free(&r);
}

int bed_memory_is_back(const mem_usage *before, int failed) {
    const uint64_t now = mem_usage_total().live;
    if (failed != 0 || now == before->live) return failed;
    fprintf(stderr, "memory is not back at the base line: %llu bytes more\n", (unsigned long long)(now - before->live));
    return 1;
}
