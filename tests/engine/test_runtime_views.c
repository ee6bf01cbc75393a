// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What can be seen of a runtime at work: times, partitions, workers, keys, devices. And keys by name.
#include <pthread.h>

#include "testing.h"

#include "base/clock.h"
#include "base/mem.h"
#include "engine/runtime_bed.h"

enum { MS = 1000 * 1000, PARTS = 3, WORKERS_MAX = 16 };

static void nap(void) { nanosleep(&(struct timespec){0, MS}, NULL); }

static sim_fault same_fault(void *ctx, uint64_t run, uint32_t partitions) {
    (void)run;
    (void)partitions;
    return *(const sim_fault *)ctx;
}

static runtime_times times_of(bed *b, runtime_job job) {
    runtime_result *r = NULL;
    assert_int_equal(runtime_await(b->rt, &r, job, UINT64_MAX, NULL), CUZK_OK);
    const runtime_times t = r->times;
    assert_int_equal(t.total, r->finished_ns - r->submitted_ns);
    runtime_result_free(&r);
    return t;
}

static void times_add_up(void **state) {
    (void)state;
    sim_fault delay = {SIM_DELAY, 4 * MS, 0};
    bed b;
    bed_make(&b, PARTS, 1, same_fault, &delay);
    bed_start(&b);
    const runtime_job first = bed_submit(&b, "many", 1), second = bed_submit(&b, "many", 2);
    const runtime_times t = times_of(&b, first), u = times_of(&b, second);
    assert_true(t.device >= PARTS * UINT64_C(4) * MS);
    assert_true(t.synthesis > 0 && t.verify > 0);
    assert_true(t.key_load > 0 && t.key_load < t.total);
    assert_true(t.queue + t.synthesis / PARTS < t.total);
    assert_true(t.device / 2 < t.total); // two workers on the device at most
    assert_true(u.queue > 0);            // one synthesis worker, and the other job was first
    const runtime_times warm = times_of(&b, bed_submit(&b, "one", 3));
    assert_int_equal(warm.key_load, 0);
    // The same from the other side, and it stays as it is.
    runtime_progress p;
    assert_int_equal(runtime_job_progress(b.rt, &p, first, NULL), CUZK_OK);
    assert_memory_equal(&p.times, &t, sizeof t);
    assert_int_equal(p.view.partitions_done, PARTS);
    assert_int_equal(p.view.state, ENGINE_DONE);
    bed_destroy(&b);
}

static const runtime_worker *device_worker(const runtime_worker *w, size_t n, uint32_t on) {
    for (size_t i = 0; i < n; i++)
        if (w[i].on_device && w[i].device == on && w[i].job != 0) return &w[i];
    return NULL;
}

static void a_job_on_its_way(void **state) {
    (void)state;
    sim_fault hang = {SIM_HANG, 0, 0};
    bed b;
    bed_make(&b, PARTS, 2, same_fault, &hang);
    b.options.engine.workers_per_device = 1;
    bed_start(&b);
    runtime_worker w[WORKERS_MAX];
    const size_t n = runtime_workers(b.rt, w, WORKERS_MAX);
    assert_int_equal(n, 1 + 2);
    for (size_t i = 0; i < n; i++) assert_int_equal(w[i].job, 0);
    assert_true(!w[0].on_device && w[0].device == UINT32_MAX && w[1].on_device && w[2].device == 1);
    assert_int_equal(runtime_workers(b.rt, NULL, 0), n);

    const runtime_job job = bed_submit(&b, "many", 1);
    runtime_partition p[PARTS];
    unsigned on_device, in_channel;
    do { // two partitions hang, the third waits in the channel
        nap();
        assert_int_equal(runtime_partitions(b.rt, p, job, PARTS), PARTS);
        on_device = in_channel = 0;
        for (int i = 0; i < PARTS; i++) {
            on_device += p[i].stage == RUNTIME_DEVICE;
            in_channel += p[i].stage == RUNTIME_CHANNEL;
        }
    } while (on_device < 2 || in_channel < 1);
    nap();
    (void)runtime_workers(b.rt, w, WORKERS_MAX);
    for (uint32_t d = 0; d < 2; d++) {
        const runtime_worker *at = device_worker(w, n, d);
        assert_non_null(at);
        assert_int_equal(at->job, job);
        assert_int_equal(at->count, 1);
        assert_int_equal(p[at->partition].stage, RUNTIME_DEVICE);
        assert_true(at->since_ns <= clock_now_ns());
    }
    runtime_progress g;
    assert_int_equal(runtime_job_progress(b.rt, &g, job, NULL), CUZK_OK);
    assert_int_equal(g.view.state, ENGINE_RUNNING);
    assert_int_equal(g.view.partitions_done, 0);
    assert_true(g.times.device >= 2 * MS); // both, so far
    runtime_device d[2];
    assert_int_equal(runtime_devices(b.rt, d, 2), 2);
    assert_true(d[0].busy_ns > 0 && d[1].busy_ns > 0);
    assert_int_equal(d[0].runs, 0);
    assert_string_equal(d[0].name, "sim");

    assert_int_equal(runtime_cancel(b.rt, job, NULL, NULL), CUZK_OK);
    assert_int_equal(runtime_partitions(b.rt, p, job, 1), PARTS);
    assert_int_equal(p[0].stage, RUNTIME_DROPPED);
    assert_int_equal(p[0].attempts, 1);
    const runtime_times t = times_of(&b, job);
    assert_true(t.device >= 2 * MS);
    assert_true(runtime_drain(b.rt, UINT64_MAX));
    const runtime_times later = times_of(&b, job); // late reports change nothing of a job that has ended
    assert_memory_equal(&t, &later, sizeof t);
    (void)runtime_workers(b.rt, w, WORKERS_MAX);
    for (size_t i = 0; i < n; i++) assert_int_equal(w[i].job, 0);
    assert_int_equal(runtime_partitions(b.rt, p, 999, PARTS), 0);
    bed_destroy(&b);
}

static sim_fault once_wrong(void *ctx, uint64_t run, uint32_t partitions) {
    (void)ctx;
    (void)partitions;
    return (sim_fault){run == 1 ? SIM_WRONG : run == 2 ? SIM_ABORT : SIM_GOOD, 0, 0};
}

static void attempts_are_counted(void **state) {
    (void)state;
    bed b;
    bed_make(&b, PARTS, 1, once_wrong, NULL);
    b.options.engine.device_failure_limit = 2;
    b.options.engine.device_retry_ns = MS;
    bed_start(&b);
    const runtime_job job = bed_submit(&b, "many", 5);
    bed_expect_done(&b, job, PARTS, 5);
    runtime_partition p[PARTS];
    assert_int_equal(runtime_partitions(b.rt, p, job, PARTS), PARTS);
    uint32_t attempts = 0;
    for (int i = 0; i < PARTS; i++) {
        assert_int_equal(p[i].stage, RUNTIME_PROVEN);
        assert_true(p[i].synthesis_ns > 0 && p[i].device_ns > 0);
        attempts += p[i].attempts;
    }
    assert_int_equal(attempts, PARTS + 2);
    runtime_device d;
    assert_int_equal(runtime_devices(b.rt, &d, 1), 1);
    assert_int_equal(d.runs, PARTS + 2);
    assert_int_equal(d.failures, 2);
    assert_true(d.healthy); // again
    bed_destroy(&b);
}

// --- keys by name ---

// A toy whose key takes as long to load as the test likes, or cannot be loaded.
typedef struct slow_key {
    provider head;
    const provider *toy;
    atomic_uint loads, cancelled;
    atomic_bool closed, broken, deaf; // deaf: does not look whether it is wanted
} slow_key;
static cuzk_status slow_bind(const provider *self, void **request, provider_plan *plan, const uint8_t *input,
                             size_t len, cuzk_error *err) {
    const slow_key *m = (const slow_key *)self;
    return m->toy->ops->bind(m->toy, request, plan, input, len, err);
}
static void slow_release(const provider *self, void *request) {
    const slow_key *m = (const slow_key *)self;
    m->toy->ops->release(m->toy, request);
}
static cuzk_status slow_synthesize(const provider *self, groth16_assignment **out, const void *request,
                                   uint32_t partition, const observer *obs, cuzk_error *err) {
    const slow_key *m = (const slow_key *)self;
    return m->toy->ops->synthesize(m->toy, out, request, partition, obs, err);
}
static void slow_public_inputs(const provider *self, fr *out, const void *request, uint32_t partition) {
    const slow_key *m = (const slow_key *)self;
    m->toy->ops->public_inputs(m->toy, out, request, partition);
}
static cuzk_status slow_load(const provider *self, groth16_pk **out, uint64_t key, pool *p, const observer *obs,
                             cuzk_error *err) {
    slow_key *m = (slow_key *)(uintptr_t)self;
    atomic_fetch_add(&m->loads, 1);
    while (atomic_load(&m->closed)) {
        if (!atomic_load(&m->deaf) && observe_cancelled(obs)) {
            atomic_fetch_add(&m->cancelled, 1);
            return cuzk_fail(err, CUZK_ERR_CANCELLED, "not wanted");
        }
        nap();
    }
    if (atomic_load(&m->broken)) return cuzk_fail(err, CUZK_ERR_IO, "/no/such/toy.params does not exist");
    return m->toy->ops->load_key(m->toy, out, key, p, obs, err);
}
static cuzk_status slow_find(const provider *self, provider_plan *plan, const char *name, cuzk_error *err) {
    const slow_key *m = (const slow_key *)self;
    return m->toy->ops->find_key(m->toy, plan, name, err);
}
static const provider_ops SLOW = {slow_bind, slow_release, slow_synthesize, slow_public_inputs, slow_load, slow_find};

static runtime_key key_named(bed *b, const char *name) {
    runtime_key k[8];
    const size_t n = runtime_keys(b->rt, k, 8);
    for (size_t i = 0; i < n; i++)
        if (strcmp(k[i].name, name) == 0) return k[i];
    return (runtime_key){0};
}

typedef struct preloader {
    bed *b;
    pthread_t thread;
    cuzk_status status;
    cuzk_error err;
    bool already;
    uint64_t ns;
} preloader;
static void *preload_main(void *arg) {
    preloader *p = arg;
    p->status = runtime_preload_named(p->b->rt, "toy-3", &p->already, &p->ns, &p->err);
    return NULL;
}

static void keys_by_name(void **state) {
    (void)state;
    enum { THREADS = 8 };
    sim_fault fault = {0};
    bed b;
    bed_make(&b, PARTS, 1, same_fault, &fault);
    slow_key slow = {.head = {&SLOW, "many"}, .toy = b.many};
    b.providers[1] = &slow.head;
    b.providers[0] = b.one; // "toy-1", the same key by another name
    b.options.n_providers = 2;
    bed_start(&b);
    bool loaded;
    uint64_t ns, freed;
    engine_reason reason;
    cuzk_error err = {0};
    assert_int_equal(runtime_preload_named(b.rt, "toy-4", &loaded, &ns, &err), CUZK_ERR_INPUT);
    assert_non_null(strstr(err.text, "toy-4"));
    assert_int_equal(runtime_evict_named(b.rt, "toy-4", &loaded, &freed, &reason, &err), CUZK_ERR_INPUT);
    assert_int_equal(reason, ENGINE_NOT_FOUND);
    assert_int_equal(runtime_evict_named(b.rt, "toy-3", &loaded, &freed, &reason, &err), CUZK_OK);
    assert_false(loaded);
    assert_int_equal(freed, 0);

    // Many ask for a cold key at once: one load. Meanwhile everything can be looked at.
    atomic_store(&slow.closed, true);
    preloader p[THREADS] = {{0}};
    for (int i = 0; i < THREADS; i++) {
        p[i].b = &b;
        assert_int_equal(pthread_create(&p[i].thread, NULL, preload_main, &p[i]), 0);
    }
    while (!key_named(&b, "toy-3").loading) nap();
    runtime_stats st;
    runtime_stats_of(b.rt, &st);
    const runtime_job job = bed_submit(&b, "many", 1);
    runtime_progress g;
    do {
        nap();
        assert_int_equal(runtime_job_progress(b.rt, &g, job, NULL), CUZK_OK);
    } while (g.times.key_load < MS);
    assert_int_equal(runtime_evict_named(b.rt, "toy-3", &loaded, &freed, &reason, &err), CUZK_ERR_INPUT);
    assert_int_equal(reason, ENGINE_KEY_IN_USE);
    atomic_store(&slow.closed, false);
    unsigned cold = 0;
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(p[i].thread, NULL), 0);
        assert_int_equal(p[i].status, CUZK_OK);
        assert_true(p[i].already == (p[i].ns == 0));
        cold += !p[i].already;
    }
    assert_true(cold >= 1);
    assert_int_equal(atomic_load(&slow.loads), 1);
    bed_expect_done(&b, job, PARTS, 1);
    assert_int_equal(runtime_preload_named(b.rt, "toy-1", &loaded, &ns, NULL), CUZK_OK);
    assert_true(loaded && ns == 0);
    const runtime_key k = key_named(&b, "toy-3");
    assert_true(k.loaded && !k.loading && k.bytes > 0 && k.last_used_ns > 0 && k.loads == 1);

    // In use: refused. Unused: gone, and comes again.
    fault = (sim_fault){SIM_HANG, 0, 0};
    const runtime_job hung = bed_submit(&b, "one", 2);
    while (sim_stats_of(b.devices[0]).faults[SIM_HANG] == 0) nap();
    assert_int_equal(key_named(&b, "toy-3").users, 1);
    assert_int_equal(runtime_evict_named(b.rt, "toy-3", &loaded, &freed, &reason, &err), CUZK_ERR_INPUT);
    assert_int_equal(reason, ENGINE_KEY_IN_USE);
    fault = (sim_fault){0};
    assert_int_equal(runtime_cancel(b.rt, hung, NULL, NULL), CUZK_OK);
    while (key_named(&b, "toy-3").users > 0) nap();
    assert_int_equal(runtime_evict_named(b.rt, "toy-1", &loaded, &freed, &reason, &err), CUZK_OK);
    assert_true(loaded);
    assert_int_equal(freed, k.bytes);
    assert_int_equal(key_named(&b, "toy-3").bytes, 0);
    bed_expect_done(&b, bed_submit(&b, "one", 3), 1, 3);
    assert_int_equal(key_named(&b, "toy-3").loads, 2);
    while (key_named(&b, "toy-3").users > 0) nap(); // the answer comes before the last unit is freed
    assert_int_equal(runtime_evict_named(b.rt, "toy-3", &loaded, &freed, &reason, &err), CUZK_OK);

    // What the file has wrong is what is said; and put right, it loads.
    atomic_store(&slow.broken, true);
    assert_int_equal(runtime_preload_named(b.rt, "toy-3", &loaded, &ns, &err), CUZK_ERR_IO);
    assert_non_null(strstr(err.text, "/no/such/toy.params"));
    atomic_store(&slow.broken, false);
    assert_int_equal(runtime_preload_named(b.rt, "toy-3", &loaded, &ns, &err), CUZK_OK);
    assert_true(!loaded && ns > 0);
    assert_true(runtime_drain(b.rt, UINT64_MAX));
    assert_int_equal(runtime_preload_named(b.rt, "toy-3", &loaded, &ns, &err), CUZK_ERR_CANCELLED);
    bed_stop(&b);

    b.options.engine.memory_budget = 100;
    bed_start(&b);
    assert_int_equal(runtime_preload_named(b.rt, "toy-3", &loaded, &ns, &err), CUZK_ERR_MEMORY);
    bed_destroy(&b);
}

// A drain ends the wait for a key at once, and its load unless a job needs it. Here the load itself would take for
// ever.
static void leaving_while_a_key_loads(void **state) {
    (void)state;
    bed b;
    bed_make(&b, PARTS, 1, NULL, NULL);
    slow_key slow = {.head = {&SLOW, "many"}, .toy = b.many};
    b.providers[1] = &slow.head;
    for (int with_job = 0; with_job < 2; with_job++) {
        atomic_store(&slow.closed, true);
        bed_start(&b);
        preloader p = {.b = &b};
        assert_int_equal(pthread_create(&p.thread, NULL, preload_main, &p), 0);
        while (!key_named(&b, "toy-3").loading) nap();
        const runtime_job job = with_job ? bed_submit(&b, "many", 1) : 0;
        assert_int_equal(runtime_drain(b.rt, with_job ? 0 : UINT64_MAX), !with_job);
        assert_int_equal(pthread_join(p.thread, NULL), 0);
        assert_int_equal(p.status, CUZK_ERR_CANCELLED);
        if (with_job) {
            assert_true(key_named(&b, "toy-3").loading);
            atomic_store(&slow.closed, false);
            bed_expect_done(&b, job, PARTS, 1);
            assert_true(runtime_drain(b.rt, UINT64_MAX));
        }
        bed_stop(&b);
        assert_int_equal(atomic_load(&slow.cancelled), 1); // the first
    }
    // One that does not listen holds up the end for as long as it was given.
    atomic_store(&slow.closed, true);
    atomic_store(&slow.deaf, true);
    bed_start(&b);
    preloader p = {.b = &b};
    assert_int_equal(pthread_create(&p.thread, NULL, preload_main, &p), 0);
    while (!key_named(&b, "toy-3").loading) nap();
    assert_false(runtime_try_destroy(&b.rt, MS));
    assert_non_null(b.rt);
    assert_int_equal(pthread_join(p.thread, NULL), 0);
    atomic_store(&slow.closed, false);
    bed_destroy(&b);
}

// Two circuits whose keys do not fit side by side: they take turns, and all jobs are done.
static void keys_take_turns(void **state) {
    (void)state;
    enum { JOBS = 20 };
    bed b;
    provider *other = NULL;
    const toy_shape larger = {BED_ROWS + BED_ROWS / 4, 2};
    bed_make(&b, PARTS, 1, NULL, NULL);
    assert_int_equal(provider_toy_create(&other, "other", &larger, BED_LABEL, b.programs, NULL), CUZK_OK);
    b.providers[0] = other; // "toy-2"
    // Room for the larger key and a partition of it, less than for both keys and a partition.
    provider_plan plan;
    void *request = NULL;
    const uint8_t input[TOY_INPUT_BYTES] = {0};
    assert_int_equal(other->ops->bind(other, &request, &plan, input, sizeof input, NULL), CUZK_OK);
    other->ops->release(other, request);
    b.options.engine.memory_budget = plan.key_bytes + plan.partition_bytes;
    bed_start(&b);
    runtime_job jobs[JOBS];
    for (uint64_t i = 0; i < JOBS; i++) jobs[i] = bed_submit(&b, i % 2 ? "many" : "other", i);
    for (uint64_t i = 0; i < JOBS; i++) {
        if (i % 2 != 0) {
            bed_expect_done(&b, jobs[i], PARTS, i);
            continue;
        }
        runtime_result *r = NULL;
        assert_int_equal(runtime_await(b.rt, &r, jobs[i], UINT64_MAX, NULL), CUZK_OK);
        if (r->state != ENGINE_DONE) fail_msg("%s", r->text); // verified by the runtime, or it would not be
        runtime_result_free(&r);
    }
    runtime_stats st;
    runtime_stats_of(b.rt, &st);
    assert_true(st.engine.key_evictions > 0);
    assert_true(st.engine.memory_peak <= b.options.engine.memory_budget);
    runtime_key k[4];
    uint64_t loads = 0;
    const size_t n = runtime_keys(b.rt, k, 4);
    assert_int_equal(n, 2);
    for (size_t i = 0; i < n; i++) loads += k[i].loads;
    assert_int_equal(loads, st.engine.key_loads);
    bed_destroy(&b);
    provider_toy_destroy(&other);
}

int main(void) {
    const mem_usage before = mem_usage_total();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_add_up),
        cmocka_unit_test(a_job_on_its_way),
        cmocka_unit_test(attempts_are_counted),
        cmocka_unit_test(keys_by_name),
        cmocka_unit_test(leaving_while_a_key_loads),
        cmocka_unit_test(keys_take_turns),
    };
    return bed_memory_is_back(&before, cmocka_run_group_tests(tests, NULL, NULL));
}
