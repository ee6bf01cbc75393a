// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The runtime when something is lacking: device memory, host memory, threads, a device that returns.
#define _GNU_SOURCE // sched_setaffinity
#include <dirent.h>
#include <pthread.h>
#include <sched.h>

#include "testing.h"

#include "base/clock.h"
#include "base/mem.h"
#include "device/ops.h"
#include "engine/runtime_bed.h"

enum { MS = 1000 * 1000, PARTS = 3 };

static void nap(void) { nanosleep(&(struct timespec){0, MS}, NULL); }

static _Atomic(sim_fault_kind) FAULT;
static sim_fault current_fault(void *ctx, uint64_t run, uint32_t partitions) {
    (void)ctx;
    (void)run;
    (void)partitions;
    return (sim_fault){atomic_load(&FAULT), 0, 0};
}

static atomic_uint TOLD; // warnings of a fallback device
static void warn(void *ctx, const char *text) {
    (void)ctx;
    atomic_fetch_add(&TOLD, strstr(text, "fallback device") != NULL);
}

// A second device without faults, for need alone.
static void add_fallback(bed *b) {
    sim_options o = {0};
    assert_int_equal(device_open_cpu(&o.inner, 1, NULL), CUZK_OK);
    assert_int_equal(device_open_sim(&b->devices[b->n_devices++], &o, NULL), CUZK_OK);
    b->options.n_devices = b->n_devices;
    b->options.engine.fallback_devices = 1;
}

static void expect(bed *b, runtime_job job, engine_job_state state, engine_reason reason, const char *text,
                   uint32_t fell_back) {
    runtime_result *r = NULL;
    assert_int_equal(runtime_await(b->rt, &r, job, UINT64_MAX, NULL), CUZK_OK);
    if (r->state != state || r->reason != reason) fail_msg("state %d, %s", (int)r->state, r->text);
    assert_non_null(strstr(r->text, text));
    assert_int_equal(r->fell_back, fell_back);
    runtime_result_free(&r);
}

static void no_device_memory(void **state) {
    (void)state;
    for (int policy = ENGINE_STANDARD; policy <= ENGINE_PARTITION; policy++) {
        bed b;
        bed_make(&b, PARTS, 1, current_fault, NULL);
        b.options.engine.policy = (engine_policy)policy;
        b.options.engine.device_failure_limit = 0;
        b.options.warn = warn;
        atomic_store(&FAULT, SIM_OUT_OF_MEMORY);
        atomic_store(&TOLD, 0);
        bed_start(&b); // without fallback: it fails and says where
        expect(&b, bed_submit(&b, "many", 1), ENGINE_FAILED, ENGINE_OUT_OF_MEMORY, "device: ", 0);
        bed_stop(&b);

        add_fallback(&b);
        bed_start(&b);
        const runtime_job job = bed_submit(&b, "many", 1);
        expect(&b, job, ENGINE_DONE, ENGINE_NO_REASON, "", PARTS);
        bed_expect_done(&b, job, PARTS, 1);
        runtime_partition p[PARTS];
        assert_int_equal(runtime_partitions(b.rt, p, job, PARTS), PARTS);
        for (int i = 0; i < PARTS; i++) assert_true(p[i].fell_back);
        expect(&b, bed_submit(&b, "one", 2), ENGINE_DONE, ENGINE_NO_REASON, "", 1);
        assert_int_equal(atomic_load(&TOLD), 1); // once, not once a partition
        runtime_stats st;
        runtime_stats_of(b.rt, &st);
        assert_int_equal(st.engine.fallbacks, PARTS + 1);
        runtime_device d[2];
        assert_int_equal(runtime_devices(b.rt, d, 2), 2);
        assert_true(!d[0].fallback && d[1].fallback);
        assert_int_equal(d[1].runs, PARTS + 1);

        atomic_store(&FAULT, SIM_GOOD); // there is memory again: nothing more goes there
        expect(&b, bed_submit(&b, "many", 3), ENGINE_DONE, ENGINE_NO_REASON, "", 0);
        assert_int_equal(runtime_devices(b.rt, d, 2), 2);
        assert_int_equal(d[1].runs, PARTS + 1);
        bed_destroy(&b);
    }
}

static void no_other_device_works(void **state) {
    (void)state;
    bed b;
    bed_make(&b, PARTS, 1, current_fault, NULL);
    add_fallback(&b);
    b.options.engine.device_failure_limit = 1;
    b.options.engine.device_retry_ns = 0; // never again
    atomic_store(&FAULT, SIM_ABORT);
    bed_start(&b);
    expect(&b, bed_submit(&b, "many", 1), ENGINE_DONE, ENGINE_NO_REASON, "", PARTS);
    bed_destroy(&b);
}

// --- host memory ---

// Proves, and leaves no memory for what comes next.
typedef struct tight {
    device head;
    device *cpu;
} tight;
static atomic_bool ARMED;
static cuzk_status tight_prove(device *d, groth16_proof *out, device_fault *fault, const device_run *run,
                               cuzk_error *err) {
    const cuzk_status s = device_prove(((tight *)d)->cpu, out, fault, run, err);
    if (atomic_exchange(&ARMED, false)) mem_test_refuse(1);
    return s;
}
static cuzk_status tight_key_load(device_key **out, uint64_t *bytes, device *d, const groth16_pk *host,
                                  cuzk_error *err) {
    return device_key_load(out, bytes, ((tight *)d)->cpu, host, err);
}
static void tight_key_free(device *d, device_key *key) { device_key_free(((tight *)d)->cpu, &key); }
static void tight_close(device *d) { (void)d; }
static const device_ops TIGHT = {"tight", tight_prove, tight_key_load, tight_key_free, tight_close};

static atomic_uint LACKED;
static void memory_is_back(void *ctx, const char *text) { // told before the partition starts anew
    (void)ctx;
    mem_test_refuse(0);
    atomic_fetch_add(&LACKED, strstr(text, "proven again: OUT_OF_MEMORY") != NULL);
}

static void no_memory_to_verify(void **state) {
    (void)state;
    bed b;
    bed_make(&b, PARTS, 1, NULL, NULL);
    tight t = {.head = {&TIGHT, 1}};
    assert_int_equal(device_open_cpu(&t.cpu, 1, NULL), CUZK_OK);
    device *const devices[] = {&t.head};
    b.options.devices = devices;
    b.options.warn = memory_is_back;
    b.options.engine.device_failure_limit = 1;
    b.options.engine.device_retry_ns = 0;
    bed_start(&b);
    bed_expect_done(&b, bed_submit(&b, "many", 1), PARTS, 1);
    atomic_store(&ARMED, true);
    bed_expect_done(&b, bed_submit(&b, "one", 2), 1, 2);
    assert_int_equal(atomic_load(&LACKED), 1);
    runtime_stats st;
    runtime_device d;
    runtime_stats_of(b.rt, &st);
    assert_int_equal(runtime_devices(b.rt, &d, 1), 1);
    assert_int_equal(st.wrong_proofs, 0); // nobody said that it was wrong
    assert_int_equal(st.engine.retries, 1);
    assert_true(d.healthy && d.failures == 0);
    bed_stop(&b);
    device_close(&t.cpu);
    bed_destroy(&b);
}

// Of a unit with several wrong proofs, the text has the first that fails and how many did.
static sim_fault second_is_wrong(void *ctx, uint64_t run, uint32_t partitions) {
    (void)ctx;
    (void)run;
    return (sim_fault){SIM_WRONG, 0, partitions > 1 ? 1 : 0};
}

static void which_partition(void **state) {
    (void)state;
    bed b;
    bed_make(&b, PARTS, 1, second_is_wrong, NULL);
    b.options.engine.policy = ENGINE_STANDARD;
    b.options.engine.max_attempts = 1;
    bed_start(&b);
    const runtime_job job = bed_submit(&b, "many", 1);
    expect(&b, job, ENGINE_FAILED, ENGINE_WRONG_PROOF, "partition 1, verification: ", 0);
    bed_destroy(&b);
}

// --- devices that never return ---

// Long enough for a good job, as fast as this machine is now.
static uint64_t patience(bed *b) {
    atomic_store(&FAULT, SIM_GOOD);
    bed_start(b);
    const uint64_t begin = clock_now_ns();
    bed_expect_done(b, bed_submit(b, "many", 1), PARTS, 1);
    const uint64_t took = clock_now_ns() - begin;
    bed_stop(b);
    return 300 * MS + 10 * took;
}

static void a_device_never_returns(void **state) {
    (void)state;
    bed b;
    bed_make(&b, PARTS, 1, current_fault, NULL);
    b.options.engine.stage_timeout_ns = patience(&b);
    b.options.engine.device_failure_limit = 0;
    atomic_store(&FAULT, SIM_STUCK);
    bed_start(&b);
    const runtime_job first = bed_submit(&b, "one", 1), behind = bed_submit(&b, "one", 2);
    expect(&b, first, ENGINE_FAILED, ENGINE_STAGE_TIMEOUT, "device 0", 0);
    expect(&b, behind, ENGINE_FAILED, ENGINE_NO_DEVICE, "", 0); // told, instead of waiting for ever
    runtime_device d;
    assert_int_equal(runtime_devices(b.rt, &d, 1), 1);
    assert_false(d.healthy);
    runtime_job job;
    engine_reason reason;
    assert_int_not_equal(bed_try_submit(&b, &job, NULL, &reason, "one", 3, NULL, ENGINE_NORMAL), CUZK_OK);
    assert_int_equal(reason, ENGINE_NO_DEVICE);
    // It returns after all: as if nothing had been.
    atomic_store(&FAULT, SIM_GOOD);
    sim_release(b.devices[0]);
    do {
        nap();
        (void)runtime_devices(b.rt, &d, 1);
    } while (!d.healthy);
    bed_expect_done(&b, bed_submit(&b, "many", 4), PARTS, 4);
    bed_destroy(&b);
}

static void an_end_within_a_limit(void **state) {
    (void)state;
    bed b;
    bed_make(&b, PARTS, 1, current_fault, NULL);
    atomic_store(&FAULT, SIM_STUCK);
    bed_start(&b);
    const runtime_job job = bed_submit(&b, "one", 1);
    while (sim_stats_of(b.devices[0]).runs == 0) nap();
    assert_false(runtime_drain(b.rt, 10 * MS));
    assert_false(runtime_try_destroy(&b.rt, 10 * MS));
    assert_non_null(b.rt); // a program would exit now
    expect(&b, job, ENGINE_STOPPED, ENGINE_CANCELLED, "", 0);
    sim_release(b.devices[0]);
    assert_true(runtime_try_destroy(&b.rt, UINT64_MAX));
    assert_null(b.rt);
    assert_true(runtime_try_destroy(&b.rt, 0)); // nothing there
    bed_destroy(&b);
}

// --- threads ---

static unsigned live_threads(void) {
    DIR *dir = opendir("/proc/self/task");
    unsigned n = 0;
    assert_non_null(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

static void no_more_threads_than_given(void **state) {
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &before)) {
            CPU_SET(i, &one);
            break;
        }
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    const unsigned asked[] = {0, 1, 8};
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++) { // on one processor all come to the same
        bed b;
        const runtime_threads t = runtime_split_threads(asked[k], asked[k]);
        assert_true(t.total == 1 && t.synthesis == 1 && t.device == 1);
        const unsigned base = live_threads();
        bed_make(&b, PARTS, 0, NULL, NULL);
        assert_int_equal(device_open_cpu(&b.devices[0], t.device, NULL), CUZK_OK);
        b.options.n_devices = 1;
        b.options.threads = t.total;
        b.options.synthesis_threads = t.synthesis;
        b.options.key_threads = 16;
        b.options.engine.synthesis_concurrency = 4; // more than there are threads
        bed_start(&b);
        assert_int_equal(atomic_load(&b.warnings), 1);
        assert_int_equal(runtime_workers(b.rt, NULL, 0), 1 + 2);
        assert_true(live_threads() <= base + 3); // engine, verifier, keeper: the others have nothing to do
        enum { JOBS = 6 };
        runtime_job jobs[JOBS];
        unsigned most = 0;
        for (uint64_t i = 0; i < JOBS; i++) jobs[i] = bed_submit(&b, "many", i);
        for (uint64_t i = 0; i < JOBS; i++) {
            runtime_result *r = NULL;
            do {
                runtime_result_free(&r);
                const unsigned n = live_threads();
                if (n > most) most = n;
                assert_int_equal(runtime_await(b.rt, &r, jobs[i], MS, NULL), CUZK_OK);
            } while (r->state < ENGINE_DONE);
            assert_int_equal(r->state, ENGINE_DONE);
            runtime_result_free(&r);
        }
        // Beside the three: one of synthesis, and two that take turns on the device.
        if (most > base + 6) fail_msg("%u threads, %u before the engine", most, base);
        assert_true(most >= base + 4);
        bed_stop(&b);
        device_close(&b.devices[0]);
        bed_destroy(&b);
    }
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

int main(void) {
    const mem_usage before = mem_usage_total();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_device_memory),           cmocka_unit_test(no_other_device_works),
        cmocka_unit_test(no_memory_to_verify),        cmocka_unit_test(which_partition),
        cmocka_unit_test(a_device_never_returns),     cmocka_unit_test(an_end_within_a_limit),
        cmocka_unit_test(no_more_threads_than_given),
    };
    return bed_memory_is_back(&before, cmocka_run_group_tests(tests, NULL, NULL));
}
