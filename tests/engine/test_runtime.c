// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The runtime, one promise at a time. Many jobs at once: test_runtime_storm.c.
#include <pthread.h>

#include "testing.h"

#include "base/clock.h"
#include "base/mem.h"
#include "engine/runtime_bed.h"
#include "groth16/setup.h"

enum { MS = 1000 * 1000 };

// Faults by the number of the run on its device.
typedef struct script {
    sim_fault faults[32];
    uint32_t n;
    sim_fault rest;
} script;
static sim_fault from_script(void *ctx, uint64_t run, uint32_t partitions) {
    const script *s = ctx;
    (void)partitions;
    return s == NULL ? (sim_fault){0} : run < s->n ? s->faults[run] : s->rest;
}

static void threads_are_split(void **state) {
    (void)state;
    const unsigned there = pool_available_threads();
    for (unsigned total = 0; total < 10; total++)
        for (unsigned synthesis = 0; synthesis < 12; synthesis++) {
            const runtime_threads t = runtime_split_threads(total, synthesis);
            assert_true(t.total >= 1 && t.total <= there);
            assert_true(t.synthesis >= 1 && t.device >= 1);
            assert_int_equal(t.synthesis, synthesis == 0 ? 1 : synthesis > t.total ? t.total : synthesis);
            assert_int_equal(t.synthesis + t.device, t.total + 1); // never more than one too many
        }
}

static void nonsense_is_refused(void **state) {
    (void)state;
    bed b;
    cuzk_error err = {0};
    bed_make(&b, 2, 1, NULL, NULL);
    runtime_options o = b.options;
    o.n_devices = 0;
    assert_int_equal(runtime_create(&b.rt, &o, &err), CUZK_ERR_USAGE);
    o = b.options;
    o.n_providers = 0;
    assert_int_equal(runtime_create(&b.rt, &o, &err), CUZK_ERR_USAGE);
    o = b.options;
    o.engine.lookahead = 0;
    assert_int_equal(runtime_create(&b.rt, &o, &err), CUZK_ERR_USAGE);
    o = b.options;
    const provider *twice[2] = {b.one, b.one};
    o.providers = twice;
    assert_int_equal(runtime_create(&b.rt, &o, &err), CUZK_ERR_USAGE);
    assert_null(b.rt);
    bed_start(&b);
    runtime_job job;
    engine_reason reason;
    assert_int_equal(bed_try_submit(&b, &job, NULL, &reason, "three", 1, NULL, ENGINE_LOW), CUZK_ERR_INPUT);
    const runtime_request r = {.kind = "one", .input = (const uint8_t *)"abc", .input_len = 3};
    assert_int_equal(runtime_submit(b.rt, &job, NULL, &reason, &r, &err), CUZK_ERR_INPUT);
    assert_int_equal(reason, ENGINE_BAD_INPUT);
    runtime_result *result = NULL;
    assert_int_equal(runtime_await(b.rt, &result, 12345, 0, &err), CUZK_ERR_INPUT);
    assert_null(result);
    assert_int_equal(runtime_cancel(b.rt, 12345, NULL, &err), CUZK_ERR_INPUT);
    bed_destroy(&b);
}

// The same jobs under each policy, with blinding from a label: the same bytes as partition by partition without engine.
static void policies_agree(void **state) {
    (void)state;
    enum { PARTS = 4, JOBS = 3 };
    static uint8_t want[JOBS][PARTS * GROTH16_PROOF_BYTES];
    for (int policy = -1; policy <= ENGINE_BATCH; policy++) {
        bed b;
        bed_make(&b, PARTS, 1, NULL, NULL);
        if (policy < 0) {
            for (uint64_t i = 0; i < JOBS; i++)
                for (uint32_t k = 0; k < PARTS; k++) {
                    const toy_circuit t = {.shape = {BED_ROWS, PARTS}, .seed = i, .partition = k};
                    const circuit c = toy_circuit_bind(&t);
                    groth16_assignment *a = NULL;
                    groth16_blinding r;
                    groth16_proof p;
                    assert_int_equal(groth16_synthesize(&a, &c, NULL, NULL), CUZK_OK);
                    groth16_blinding_from_label(&r, "fixed", k);
                    assert_int_equal(groth16_prove(&p, b.pk, a, &r, NULL, NULL, NULL), CUZK_OK);
                    groth16_assignment_destroy(&a);
                    groth16_proof_encode(&want[i][k * GROTH16_PROOF_BYTES], &p);
                }
            bed_destroy(&b);
            continue;
        }
        b.options.test_blinding = "fixed";
        b.options.engine.policy = (engine_policy)policy;
        b.options.engine.slot_size = 3;
        b.options.engine.batch_size = 2;
        b.options.engine.batch_wait_ns = 20 * MS;
        b.options.engine.synthesis_concurrency = 2;
        b.options.synthesis_threads = 4; // two a worker
        bed_start(&b);
        runtime_job jobs[JOBS];
        for (uint64_t i = 0; i < JOBS; i++) jobs[i] = bed_submit(&b, "many", i);
        for (uint64_t i = 0; i < JOBS; i++) {
            runtime_result *r = NULL;
            assert_int_equal(runtime_await(b.rt, &r, jobs[i], UINT64_MAX, NULL), CUZK_OK);
            assert_int_equal(r->state, ENGINE_DONE);
            assert_int_equal(r->proof_len, sizeof want[i]);
            assert_memory_equal(r->proof, want[i], sizeof want[i]);
            runtime_result_free(&r);
        }
        bed_stop(&b);
        const uint64_t runs = sim_stats_of(b.devices[0]).runs;
        assert_int_equal(runs, policy == ENGINE_STANDARD  ? JOBS
                               : policy == ENGINE_SLOTTED ? JOBS * 2
                               : policy == ENGINE_BATCH   ? 2
                                                          : JOBS * PARTS);
        bed_destroy(&b);
    }
}

static void only_the_bad_partition_again(void **state) {
    (void)state;
    script s = {.faults = {[4] = {SIM_WRONG, 0, 0}}, .n = 5};
    bed b;
    bed_make(&b, 10, 1, from_script, &s);
    bed_start(&b);
    const runtime_job job = bed_submit(&b, "many", 7);
    runtime_result *r = NULL;
    assert_int_equal(runtime_await(b.rt, &r, job, UINT64_MAX, NULL), CUZK_OK);
    assert_int_equal(r->state, ENGINE_DONE);
    assert_int_equal(r->retries, 1);
    assert_true(bed_verifies(&b, 10, 7, r->proof, r->proof_len));
    runtime_result_free(&r);
    runtime_stats st;
    bed_stop(&b);
    assert_int_equal(sim_stats_of(b.devices[0]).runs, 11);
    assert_int_equal(atomic_load(&b.warnings), 1);

    s = (script){.rest = {SIM_WRONG, 0, 0}}; // for ever
    b.options.engine.device_failure_limit = 0;
    bed_start(&b);
    const runtime_job bad = bed_submit(&b, "one", 8);
    assert_int_equal(runtime_await(b.rt, &r, bad, UINT64_MAX, NULL), CUZK_OK);
    assert_int_equal(r->state, ENGINE_FAILED);
    assert_int_equal(r->reason, ENGINE_WRONG_PROOF);
    assert_int_equal(r->partition, 0);
    assert_null(r->proof);
    assert_int_equal(r->proof_len, 0);
    assert_non_null(strstr(r->text, "partition 0"));
    runtime_result_free(&r);
    runtime_stats_of(b.rt, &st);
    assert_int_equal(st.wrong_proofs, b.options.engine.max_attempts);
    bed_destroy(&b);
}

static void faults_pass(void **state) {
    (void)state;
    script s = {.faults = {{SIM_OUT_OF_MEMORY, 0, 0}, {SIM_GOOD, 0, 0}, {SIM_ABORT, 0, 0}, {SIM_DELAY, 5 * MS, 0}},
                .n = 4};
    bed b;
    bed_make(&b, 3, 1, from_script, &s);
    bed_start(&b);
    for (uint64_t i = 0; i < 4; i++) bed_expect_done(&b, bed_submit(&b, i % 2 ? "one" : "many", i), i % 2 ? 1 : 3, i);
    // Always: the job fails and says how; the next one is fine.
    s = (script){.rest = {SIM_OUT_OF_MEMORY, 0, 0}};
    runtime_result *r = NULL;
    runtime_job job = bed_submit(&b, "one", 5);
    assert_int_equal(runtime_await(b.rt, &r, job, UINT64_MAX, NULL), CUZK_OK);
    assert_int_equal(r->state, ENGINE_FAILED);
    assert_int_equal(r->reason, ENGINE_OUT_OF_MEMORY);
    assert_non_null(strstr(r->text, "simulated"));
    runtime_result_free(&r);
    s = (script){0};
    bed_expect_done(&b, bed_submit(&b, "many", 6), 3, 6);
    bed_destroy(&b);
}

static void a_hang_is_found(void **state) {
    (void)state;
    script s = {.faults = {[1] = {SIM_HANG, 0, 0}}, .n = 2};
    bed b;
    bed_make(&b, 1, 1, from_script, &s);
    b.options.engine.workers_per_device = 1;
    bed_start(&b);
    // The limit knows how long a good job takes here and now.
    const uint64_t begin = clock_now_ns();
    bed_expect_done(&b, bed_submit(&b, "one", 1), 1, 1);
    b.options.engine.stage_timeout_ns = 3000 * UINT64_C(1000000) + 20 * (clock_now_ns() - begin);
    bed_stop(&b);
    bed_start(&b);
    const runtime_job job = bed_submit(&b, "one", 2);
    runtime_result *r = NULL;
    assert_int_equal(runtime_await(b.rt, &r, job, 10 * MS, NULL), CUZK_OK);
    assert_true(r->state == ENGINE_QUEUED || r->state == ENGINE_RUNNING); // not yet
    runtime_result_free(&r);
    assert_int_equal(runtime_await(b.rt, &r, job, UINT64_MAX, NULL), CUZK_OK);
    assert_int_equal(r->state, ENGINE_FAILED);
    assert_int_equal(r->reason, ENGINE_STAGE_TIMEOUT);
    assert_non_null(strstr(r->text, "partition 0"));
    assert_non_null(strstr(r->text, "device 0"));
    runtime_result_free(&r);
    assert_int_equal(atomic_load(&b.warnings), 1);
    bed_expect_done(&b, bed_submit(&b, "one", 3), 1, 3); // the place came back
    bed_destroy(&b);
}

// One id: the same input joins, another is refused, and each answer is of its own input.
typedef struct client {
    bed *b;
    uint64_t seed;
    pthread_t thread;
    bool refused;
} client;
static void *same_id_main(void *arg) {
    client *c = arg;
    runtime_job job;
    engine_reason reason;
    if (bed_try_submit(c->b, &job, NULL, &reason, "many", c->seed, "x", ENGINE_NORMAL) != CUZK_OK) {
        c->refused = reason == ENGINE_ID_IN_USE;
        return NULL;
    }
    runtime_result *r = NULL;
    if (runtime_await(c->b->rt, &r, job, UINT64_MAX, NULL) == CUZK_OK && r->state == ENGINE_DONE &&
        !bed_verifies(c->b, c->b->partitions, c->seed, r->proof, r->proof_len))
        c->seed = UINT64_MAX;
    runtime_result_free(&r);
    return NULL;
}

static void one_id_one_input(void **state) {
    (void)state;
    enum { CLIENTS = 6 };
    script s = {.rest = {SIM_DELAY, 10 * MS, 0}};
    bed b;
    bed_make(&b, 3, 1, from_script, &s);
    bed_start(&b);
    client c[CLIENTS] = {{0}};
    unsigned refused = 0;
    for (uint64_t i = 0; i < CLIENTS; i++) {
        c[i].b = &b;
        c[i].seed = i / 2;
        assert_int_equal(pthread_create(&c[i].thread, NULL, same_id_main, &c[i]), 0);
    }
    for (uint64_t i = 0; i < CLIENTS; i++) {
        assert_int_equal(pthread_join(c[i].thread, NULL), 0);
        assert_int_equal(c[i].seed, i / 2);
        refused += c[i].refused;
    }
    assert_int_equal(refused, CLIENTS - 2); // one pair shares a job
    runtime_stats st;
    runtime_stats_of(b.rt, &st);
    assert_int_equal(st.engine.accepted, 1);
    assert_int_equal(st.engine.joined, 1);
    bed_destroy(&b);
}

static void on_done(void *ctx, const runtime_result *r) {
    atomic_uint *seen = ctx;
    atomic_fetch_add(&seen[r->state == ENGINE_DONE ? 0 : 1], 1);
}

static void cancel_reaches_every_waiter(void **state) {
    (void)state;
    script s = {.rest = {SIM_HANG, 0, 0}};
    bed b;
    bed_make(&b, 2, 1, from_script, &s);
    bed_start(&b);
    atomic_uint seen[2] = {0};
    const runtime_job running = bed_submit(&b, "many", 1), queued = bed_submit(&b, "one", 2);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(runtime_watch(b.rt, running, on_done, seen, NULL), CUZK_OK);
        assert_int_equal(runtime_watch(b.rt, queued, on_done, seen, NULL), CUZK_OK);
    }
    assert_true(runtime_unwatch(b.rt, queued, on_done, seen));
    while (sim_stats_of(b.devices[0]).runs == 0) nanosleep(&(struct timespec){0, MS}, NULL);
    assert_int_equal(runtime_cancel(b.rt, queued, NULL, NULL), CUZK_OK);
    assert_int_equal(runtime_cancel(b.rt, running, NULL, NULL), CUZK_OK);
    assert_int_equal(runtime_cancel(b.rt, running, NULL, NULL), CUZK_OK);
    runtime_result *r = NULL;
    assert_int_equal(runtime_await(b.rt, &r, running, 0, NULL), CUZK_OK);
    assert_int_equal(r->state, ENGINE_STOPPED);
    assert_int_equal(r->reason, ENGINE_CANCELLED);
    runtime_result_free(&r);
    assert_int_equal(atomic_load(&seen[1]), 5);
    assert_false(runtime_unwatch(b.rt, running, on_done, seen));
    // Late watchers are told at once.
    assert_int_equal(runtime_watch(b.rt, queued, on_done, seen, NULL), CUZK_OK);
    assert_int_equal(atomic_load(&seen[1]), 6);
    assert_int_equal(atomic_load(&seen[0]), 0);
    s = (script){0};
    bed_expect_done(&b, bed_submit(&b, "one", 3), 1, 3);
    runtime_progress p;
    assert_int_equal(runtime_job_progress(b.rt, &p, running, NULL), CUZK_OK);
    assert_int_equal(p.view.state, ENGINE_STOPPED);
    assert_string_equal(p.kind, "many");
    assert_int_equal(strlen(p.name), 36);
    runtime_job jobs[8];
    assert_int_equal(runtime_jobs(b.rt, jobs, 8), 3);
    assert_true(jobs[0] == running && jobs[1] == queued);
    bed_destroy(&b);
}

static void drain_finishes_and_refuses(void **state) {
    (void)state;
    bed b;
    bed_make(&b, 3, 2, NULL, NULL);
    bed_start(&b);
    runtime_job jobs[5];
    for (uint64_t i = 0; i < 5; i++) jobs[i] = bed_submit(&b, "many", i);
    assert_true(runtime_drain(b.rt, UINT64_MAX));
    for (uint64_t i = 0; i < 5; i++) bed_expect_done(&b, jobs[i], 3, i);
    runtime_job late;
    engine_reason reason;
    assert_int_not_equal(bed_try_submit(&b, &late, NULL, &reason, "one", 9, NULL, ENGINE_CRITICAL), CUZK_OK);
    assert_int_equal(reason, ENGINE_DRAINING);
    bed_stop(&b);
    // A drain that does not end in time says so, and destroy still ends it.
    script s = {.rest = {SIM_HANG, 0, 0}};
    bed c;
    bed_make(&c, 1, 1, from_script, &s);
    bed_start(&c);
    (void)bed_submit(&c, "one", 1);
    assert_false(runtime_drain(c.rt, 20 * MS));
    bed_destroy(&c);
    bed_destroy(&b);
}

static void budget_and_keys(void **state) {
    (void)state;
    bed b;
    bed_make(&b, 2, 1, NULL, NULL);
    b.options.engine.memory_budget = 1 << 20; // less than one partition is said to take
    bed_start(&b);
    runtime_job job;
    engine_reason reason;
    assert_int_not_equal(bed_try_submit(&b, &job, NULL, &reason, "one", 1, NULL, ENGINE_NORMAL), CUZK_OK);
    assert_int_equal(reason, ENGINE_TOO_BIG);
    bed_stop(&b);

    b.options.engine.memory_budget = UINT64_MAX;
    bed_start(&b);
    const uint8_t input[TOY_INPUT_BYTES] = {0};
    assert_int_equal(runtime_preload(b.rt, "one", input, sizeof input, NULL), CUZK_OK);
    runtime_stats st;
    do {
        nanosleep(&(struct timespec){0, MS}, NULL);
        runtime_stats_of(b.rt, &st);
    } while (st.engine.keys_loaded == 0);
    bed_expect_done(&b, bed_submit(&b, "many", 1), 2, 1); // the same key
    runtime_stats_of(b.rt, &st);
    assert_int_equal(st.engine.key_loads, 1);
    assert_int_equal(runtime_evict(b.rt, 42, NULL), CUZK_ERR_INPUT);
    bed_destroy(&b);
}

// A provider whose first load fails.
typedef struct moody {
    provider head;
    const provider *toy;
    atomic_uint loads;
} moody;
static cuzk_status moody_bind(const provider *self, void **request, provider_plan *plan, const uint8_t *input,
                              size_t len, cuzk_error *err) {
    const moody *m = (const moody *)self;
    return m->toy->ops->bind(m->toy, request, plan, input, len, err);
}
static void moody_release(const provider *self, void *request) {
    const moody *m = (const moody *)self;
    m->toy->ops->release(m->toy, request);
}
static const toy_shape OTHER = {2 * BED_ROWS, 1}; // not the circuit of the key
static cuzk_status moody_synthesize(const provider *self, groth16_assignment **out, const void *request,
                                    uint32_t partition, const observer *obs, cuzk_error *err) {
    const moody *m = (const moody *)self;
    const uint64_t seed = *(const uint64_t *)request;
    if (seed == 13) return cuzk_fail(err, CUZK_ERR_INPUT, "unlucky input");
    if (seed == 15) {
        const toy_circuit t = {.shape = OTHER, .seed = seed, .partition = partition};
        const circuit c = toy_circuit_bind(&t);
        return groth16_synthesize(out, &c, obs, err);
    }
    return m->toy->ops->synthesize(m->toy, out, request, partition, obs, err);
}
static void moody_public_inputs(const provider *self, fr *out, const void *request, uint32_t partition) {
    const moody *m = (const moody *)self;
    m->toy->ops->public_inputs(m->toy, out, request, partition);
    if (*(const uint64_t *)request == 15) toy_public_input(out, &OTHER, 15, partition);
    if (*(const uint64_t *)request == 14) fr_add(out, out, &FR_ONE); // another statement than the circuit's
}
static cuzk_status moody_load(const provider *self, groth16_pk **out, uint64_t key, pool *p, const observer *obs,
                              cuzk_error *err) {
    moody *m = (moody *)(uintptr_t)self;
    if (atomic_fetch_add(&m->loads, 1) == 0) return cuzk_fail(err, CUZK_ERR_IO, "no such file: toy.params");
    return m->toy->ops->load_key(m->toy, out, key, p, obs, err);
}
static const provider_ops MOODY = {moody_bind, moody_release, moody_synthesize, moody_public_inputs, moody_load, NULL};

static void failures_of_the_provider(void **state) {
    (void)state;
    bed b;
    bed_make(&b, 2, 1, NULL, NULL);
    moody m = {.head = {&MOODY, "moody"}, .toy = b.one};
    b.providers[0] = &m.head;
    b.options.engine.device_failure_limit = 1;
    bed_start(&b);
    static const struct {
        uint64_t seed;
        engine_reason reason;
        const char *text;
    } CASES[] = {{1, ENGINE_KEY_FAILED, "toy.params"},
                 {13, ENGINE_BAD_INPUT, "unlucky input"},
                 {14, ENGINE_BAD_INPUT, "public input 0"},
                 {15, ENGINE_BAD_INPUT, "partition 0, device"}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        runtime_result *r = NULL;
        const runtime_job job = bed_submit(&b, "moody", CASES[i].seed);
        assert_int_equal(runtime_await(b.rt, &r, job, UINT64_MAX, NULL), CUZK_OK);
        assert_int_equal(r->state, ENGINE_FAILED);
        assert_int_equal(r->reason, CASES[i].reason);
        assert_int_equal(r->retries, 0);
        assert_non_null(strstr(r->text, CASES[i].text));
        runtime_result_free(&r);
    }
    runtime_stats st;
    assert_int_equal(sim_stats_of(b.devices[0]).runs, 1); // of the last, and nothing is held against the device
    runtime_stats_of(b.rt, &st);
    assert_int_equal(st.engine.devices_healthy, 1);
    bed_expect_done(&b, bed_submit(&b, "moody", 2), 1, 2); // the file was put right
    bed_destroy(&b);
}

static void a_post_of_the_usual_size(void **state) {
    (void)state;
    bed b;
    provider *toy1 = NULL;
    bed_make(&b, 2, 1, NULL, NULL);
    assert_int_equal(provider_toy_create(&toy1, "toy1", &TOY1, BED_LABEL, b.programs, NULL), CUZK_OK);
    b.providers[0] = toy1;
    bed_start(&b);
    runtime_result *r = NULL;
    assert_int_equal(runtime_await(b.rt, &r, bed_submit(&b, "toy1", 1), UINT64_MAX, NULL), CUZK_OK);
    assert_int_equal(r->state, ENGINE_DONE); // verified by the runtime, or it would not be
    assert_int_equal(r->proof_len, GROTH16_PROOF_BYTES);
    runtime_result_free(&r);
    bed_destroy(&b);
    provider_toy_destroy(&toy1);
}

// Every line of the log, collected.
typedef struct log_text {
    char text[1 << 18];
    size_t len;
} log_text;
static bool collect(void *ctx, const char *lines, size_t len) {
    log_text *l = ctx;
    if (l->len + len >= sizeof l->text) return false;
    memcpy(l->text + l->len, lines, len);
    l->len += len;
    l->text[l->len] = 0;
    return true;
}
static unsigned count(const char *text, const char *what) {
    unsigned n = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at++) n++;
    return n;
}

static void everything_is_recorded(void **state) {
    (void)state;
    log_text *l = calloc(1, sizeof *l);
    assert_non_null(l);
    recorder_options ro = RECORDER_OPTIONS;
    ro.sink = collect;
    ro.sink_ctx = l;
    bed b;
    bed_make(&b, 3, 2, NULL, NULL);
    assert_int_equal(recorder_create(&b.options.rec, &ro, NULL), CUZK_OK);
    bed_start(&b);
    runtime_job jobs[4];
    engine_reason reason;
    for (uint64_t i = 0; i < 4; i++) {
        char id[16];
        snprintf(id, sizeof id, "job-%u", (unsigned)i);
        assert_int_equal(bed_try_submit(&b, &jobs[i], NULL, &reason, "many", i, id, ENGINE_NORMAL), CUZK_OK);
    }
    for (uint64_t i = 0; i < 4; i++) bed_expect_done(&b, jobs[i], 3, i);
    bed_stop(&b);
    assert_int_equal(recorder_close(&b.options.rec, NULL), CUZK_OK);
    static const struct {
        const char *event;
        unsigned n;
    } WANT[] = {{",JOB_SUBMIT,job-", 4}, {",JOB_DONE,job-", 4},   {",SYNTH_START,job-", 12}, {",SYNTH_END,", 12},
                {",CHAN_SEND,", 12},     {",GPU_PICKUP,", 12},    {",GPU_START,", 12},       {",GPU_END,", 12},
                {",VERIFY_START,", 12},  {",VERIFY_END,", 12},    {",SRS_LOAD_START,", 1},   {",SRS_LOAD_END,", 1},
                {",DEVICE,", 2},         {"stage=msm_h", 2 * 12}, {"kind=many", 4},          {",PCE_START,", 1},
                {",PCE_END,", 1}};
    for (size_t i = 0; i < sizeof WANT / sizeof *WANT; i++)
        if (count(l->text, WANT[i].event) != WANT[i].n)
            fail_msg("%s: %u times, expected %u\n%s", WANT[i].event, count(l->text, WANT[i].event), WANT[i].n, l->text);
    free(l);
    bed_destroy(&b);
}

static void deadlines_and_priorities(void **state) {
    (void)state;
    script s = {.rest = {SIM_DELAY, 20 * MS, 0}};
    bed b;
    bed_make(&b, 10, 1, from_script, &s);
    bed_start(&b);
    for (uint64_t i = 0; i < 3; i++) (void)bed_submit(&b, "many", i);
    runtime_job urgent, late = 0;
    engine_reason reason;
    assert_int_equal(bed_try_submit(&b, &urgent, NULL, &reason, "one", 9, NULL, ENGINE_CRITICAL), CUZK_OK);
    const uint8_t input[TOY_INPUT_BYTES] = {1};
    const runtime_request r = {
        .kind = "one", .input = input, .input_len = sizeof input, .timeout_ns = 1 * MS, .priority = ENGINE_LOW};
    // On a busy machine the millisecond may be over before the engine sees the request.
    const bool in_time = runtime_submit(b.rt, &late, NULL, &reason, &r, NULL) == CUZK_OK;
    if (!in_time) assert_int_equal(reason, ENGINE_DEADLINE);
    runtime_result *result = NULL;
    assert_int_equal(runtime_await(b.rt, &result, urgent, UINT64_MAX, NULL), CUZK_OK);
    assert_true(sim_stats_of(b.devices[0]).runs < 20); // long before the thirty others
    runtime_result_free(&result);
    bed_expect_done(&b, urgent, 1, 9);
    if (in_time) {
        assert_int_equal(runtime_await(b.rt, &result, late, UINT64_MAX, NULL), CUZK_OK);
        assert_int_equal(result->reason, ENGINE_DEADLINE);
        runtime_result_free(&result);
    }
    bed_destroy(&b); // cancels the rest
}

int main(void) {
    const mem_usage before = mem_usage_total();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_are_split),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(policies_agree),
        cmocka_unit_test(only_the_bad_partition_again),
        cmocka_unit_test(faults_pass),
        cmocka_unit_test(a_hang_is_found),
        cmocka_unit_test(one_id_one_input),
        cmocka_unit_test(cancel_reaches_every_waiter),
        cmocka_unit_test(drain_finishes_and_refuses),
        cmocka_unit_test(budget_and_keys),
        cmocka_unit_test(failures_of_the_provider),
        cmocka_unit_test(a_post_of_the_usual_size),
        cmocka_unit_test(everything_is_recorded),
        cmocka_unit_test(deadlines_and_priorities),
    };
    return bed_memory_is_back(&before, cmocka_run_group_tests(tests, NULL, NULL));
}
