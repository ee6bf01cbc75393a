// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The real thing: a PoRep 2 KiB job and toy10 jobs through the runtime on the CPU device, once under each policy. With
// fixed blinding all policies give the same bytes, those of the prover without an engine. Each run writes a timeline.
//
//   test_runtime_porep [FOLDER]   timelines go to FOLDER/timeline-POLICY.log (default: nowhere)
//
// Parameters are looked for in CUZK_PARAMS_DIR, or .cache/params of the source tree; without them the test is skipped.
#include <unistd.h>

#include "testing.h"

#include "api/porep.h"
#include "api/provider_porep.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"
#include "api/provider_toy.h"
#include "engine/record.h"
#include "engine/runtime.h"

enum { TOYS = 4 };
#define BLINDING "runtime porep"
#define C1_PATH "vectors/cases/porep-2k-a/c1.json"

static const char *FOLDER;
static const char *params_dir(void) {
    const char *env = getenv("CUZK_PARAMS_DIR");
    return env != NULL && env[0] != 0 ? env : "../.cache/params";
}

// The proof by the plain way.
static uint8_t *WANT;
static size_t WANT_LEN;
static uint8_t TOY_PROOFS[TOYS][10 * GROTH16_PROOF_BYTES];
static bool TOYS_KNOWN, SKIP;

static int make_reference(void **state) {
    (void)state;
    c1_file *c1 = NULL;
    pool *p = NULL;
    params_files files;
    porep_prove_report report;
    cuzk_error err = {0};
    assert_int_equal(porep_read_c1(&c1, C1_PATH, NULL, &err), CUZK_OK);
    assert_int_equal(params_locate(&files, params_dir(), &c1_input(c1)->shape, &err), CUZK_OK);
    if (access(files.params, R_OK) != 0) {
        printf("# skipped: no %s\n", files.params);
        SKIP = true;
        c1_destroy(&c1);
        return 0;
    }
    assert_int_equal(pool_create(&p, 0, &err), CUZK_OK);
    const porep_prove_options o = {.params_dir = params_dir(), .test_blinding = BLINDING, .check = KEY_CHECK_CURVE};
    if (porep_prove(&WANT, &WANT_LEN, &report, c1, &o, p, NULL, &err) != CUZK_OK) fail_msg("%s", err.text);
    pool_destroy(&p);
    c1_destroy(&c1);
    return 0;
}

static int free_reference(void **state) {
    (void)state;
    mem_free(WANT);
    return 0;
}

static void check_toys(runtime *rt, const runtime_job *jobs) {
    for (int i = 0; i < TOYS; i++) {
        runtime_result *r = NULL;
        assert_int_equal(runtime_await(rt, &r, jobs[i], UINT64_MAX, NULL), CUZK_OK);
        if (r->state != ENGINE_DONE) fail_msg("%s", r->text);
        assert_int_equal(r->proof_len, sizeof TOY_PROOFS[i]);
        if (TOYS_KNOWN)
            assert_memory_equal(r->proof, TOY_PROOFS[i], sizeof TOY_PROOFS[i]);
        else
            memcpy(TOY_PROOFS[i], r->proof, sizeof TOY_PROOFS[i]);
        runtime_result_free(&r);
    }
    TOYS_KNOWN = true;
}

static void run_policy(engine_policy policy) {
    if (SKIP) skip();
    cuzk_error err = {0};
    char path[4096] = "";
    provider *porep = NULL, *toy = NULL;
    device *cpu = NULL;
    runtime *rt = NULL;
    pce_cache *programs = NULL;
    assert_int_equal(pce_cache_create(&programs, NULL, &err), CUZK_OK);
    const provider_porep_options po = {.params_dir = params_dir(), .check = KEY_CHECK_CURVE, .programs = programs};
    const runtime_threads threads = runtime_split_threads(0, 0);
    assert_int_equal(provider_porep_create(&porep, &po, &err), CUZK_OK);
    assert_int_equal(provider_toy_create(&toy, "toy10", &TOY10, "runtime porep", programs, &err), CUZK_OK);
    assert_int_equal(device_open_cpu(&cpu, threads.device, &err), CUZK_OK);
    const provider *providers[2] = {porep, toy};
    runtime_options o = {.engine = runtime_default_config(),
                         .devices = &cpu,
                         .n_devices = 1,
                         .providers = providers,
                         .n_providers = 2,
                         .synthesis_threads = threads.synthesis,
                         .test_blinding = BLINDING};
    o.engine.policy = policy;
    o.engine.slot_size = 4;
    o.engine.batch_size = 2;
    o.engine.batch_wait_ns = 100 * UINT64_C(1000000);
    o.engine.synthesis_concurrency = threads.synthesis;
    if (FOLDER != NULL) {
        recorder_options ro = RECORDER_OPTIONS;
        snprintf(path, sizeof path, "%s/timeline-%s.log", FOLDER, engine_policy_name(policy));
        (void)unlink(path);
        ro.path = path;
        if (recorder_create(&o.rec, &ro, &err) != CUZK_OK) fail_msg("%s", err.text);
    }
    if (runtime_create(&rt, &o, &err) != CUZK_OK) fail_msg("%s", err.text);

    uint8_t *c1 = NULL;
    size_t len = 0;
    assert_int_equal(file_read_all(&c1, &len, C1_PATH, C1_MAX_BYTES, &err), CUZK_OK);
    runtime_job sector, toys[TOYS];
    engine_reason reason;
    for (uint64_t i = 0; i < TOYS; i++) {
        uint8_t input[TOY_INPUT_BYTES];
        char id[16];
        snprintf(id, sizeof id, "toy10-%u", (unsigned)i);
        store_le64(input, i);
        const runtime_request r = {
            .kind = "toy10", .input = input, .input_len = sizeof input, .client_id = id, .priority = ENGINE_NORMAL};
        assert_int_equal(runtime_submit(rt, &toys[i], NULL, &reason, &r, &err), CUZK_OK);
        if (i == 0) {
            const runtime_request q = {
                .kind = "porep", .input = c1, .input_len = len, .client_id = "sector", .priority = ENGINE_NORMAL};
            if (runtime_submit(rt, &sector, NULL, &reason, &q, &err) != CUZK_OK) fail_msg("%s", err.text);
        }
    }
    runtime_result *r = NULL;
    assert_int_equal(runtime_await(rt, &r, sector, UINT64_MAX, &err), CUZK_OK);
    if (r->state != ENGINE_DONE) fail_msg("%s", r->text);
    assert_int_equal(r->proof_len, WANT_LEN);
    assert_memory_equal(r->proof, WANT, WANT_LEN);
    runtime_result_free(&r);
    check_toys(rt, toys);
    // The budget is honest: what was reserved covers what was measured.
    runtime_stats st;
    runtime_stats_of(rt, &st);
    printf("# %s: %llu MiB reserved at most, %llu MiB measured\n", engine_policy_name(policy),
           (unsigned long long)st.engine.memory_peak >> 20, (unsigned long long)st.total_peak >> 20);
    assert_true(st.total_peak <= st.engine.memory_peak + (UINT64_C(64) << 20)); // tables and requests are beside it

    // Input that can never be proven is refused at once, naming what is wrong.
    c1[len / 2] ^= 0x20;
    const runtime_request bad = {.kind = "porep", .input = c1, .input_len = len, .priority = ENGINE_NORMAL};
    runtime_job none;
    assert_int_not_equal(runtime_submit(rt, &none, NULL, &reason, &bad, &err), CUZK_OK);
    assert_int_equal(reason, ENGINE_BAD_INPUT);
    mem_free(c1);
    runtime_destroy(&rt);
    if (o.rec != NULL) assert_int_equal(recorder_close(&o.rec, &err), CUZK_OK);
    device_close(&cpu);
    provider_porep_destroy(&porep);
    provider_toy_destroy(&toy);
    pce_cache_destroy(&programs);
}

static void partition_policy(void **state) {
    (void)state;
    run_policy(ENGINE_PARTITION);
}
static void standard_policy(void **state) {
    (void)state;
    run_policy(ENGINE_STANDARD);
}
static void slotted_policy(void **state) {
    (void)state;
    run_policy(ENGINE_SLOTTED);
}
static void batch_policy(void **state) {
    (void)state;
    run_policy(ENGINE_BATCH);
}

int main(int argc, char **argv) {
    FOLDER = argc > 1 ? argv[1] : NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partition_policy),
        cmocka_unit_test(standard_policy),
        cmocka_unit_test(slotted_policy),
        cmocka_unit_test(batch_policy),
    };
    return cmocka_run_group_tests(tests, make_reference, free_reference);
}
