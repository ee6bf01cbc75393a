// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A thousand jobs (CUZK_RUNTIME_JOBS says how many) from several clients at once, on two devices that fail and hang at
// random, with cancels, clients that go away, repeated ids, a memory budget, and somebody who looks on all the time.
// Every accepted job ends in exactly one terminal state, every finished proof verifies for its own input (checked here
// again), each waiter gets exactly one answer, what is shown adds up at any moment, and memory returns to the base
// line.
#include <pthread.h>

#include "testing.h"

#include "base/clock.h"
#include "base/mem.h"
#include "engine/runtime_bed.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
enum { JOBS_DEFAULT = 150 };
#else
enum { JOBS_DEFAULT = 1000 };
#endif
enum { CLIENTS = 4, WATCHED_MAX = 16, PARTS = 3, MS = 1000 * 1000 };

typedef struct storm storm;
typedef struct client {
    storm *s;
    test_rng rng;
    pthread_t thread;
    uint32_t number;
    unsigned accepted, joined, refused, done, failed, stopped, wrong, answers, expected_answers;
} client;

struct storm {
    bed b;
    atomic_uint left; // jobs still to be submitted
    atomic_uint watched;
    client clients[CLIENTS];
    atomic_uint_fast64_t fault_state;
    atomic_bool calm; // no faults
};

// A twelfth of the runs fail somehow, and every 151st hangs. Shared by all devices; the order of arrival decides who
// gets which.
static sim_fault random_fault(void *ctx, uint64_t run, uint32_t partitions) {
    storm *s = ctx;
    (void)run;
    if (atomic_load(&s->calm)) return (sim_fault){0};
    test_rng r = {atomic_fetch_add(&s->fault_state, UINT64_C(0x9e3779b97f4a7c15))};
    const uint64_t x = test_u64(&r);
    if (x % 151 == 7) return (sim_fault){SIM_HANG, 0, 0}; // until the watchdog or a cancel stops it
    switch (x % 60) {
    case 0: return (sim_fault){SIM_ABORT, 0, 0};
    case 1: return (sim_fault){SIM_OUT_OF_MEMORY, 0, 0};
    case 2:
    case 3: return (sim_fault){SIM_WRONG, 0, (uint32_t)(x >> 32) % partitions};
    case 4: return (sim_fault){SIM_DELAY, 3 * MS, 0};
    default: return (sim_fault){0};
    }
}

static void on_end(void *ctx, const runtime_result *r) {
    atomic_uint *n = ctx;
    if (r->state >= ENGINE_DONE) atomic_fetch_add(n, 1);
}

static void judge(client *c, runtime_job job, uint32_t partitions, uint64_t seed) {
    runtime_result *r = NULL;
    if (runtime_await(c->s->b.rt, &r, job, UINT64_MAX, NULL) != CUZK_OK) {
        c->wrong++;
        return;
    }
    switch (r->state) {
    case ENGINE_DONE:
        c->done++;
        if (!bed_verifies(&c->s->b, partitions, seed, r->proof, r->proof_len)) c->wrong++;
        break;
    case ENGINE_FAILED:
        c->failed++;
        if (r->proof != NULL || r->text[0] == 0) c->wrong++;
        break;
    case ENGINE_STOPPED: c->stopped++; break;
    default: c->wrong++; break;
    }
    runtime_result_free(&r);
}

// One client: keeps a few jobs in flight, cancels some, leaves some alone after a short wait.
static void *client_main(void *arg) {
    client *c = arg;
    storm *s = c->s;
    enum { FLIGHT = 6 };
    struct {
        runtime_job job;
        uint64_t seed;
        uint32_t partitions;
        bool mine;
    } flight[FLIGHT];
    uint32_t n = 0;
    for (;;) {
        unsigned left = atomic_load(&s->left);
        while (left > 0 && !atomic_compare_exchange_weak(&s->left, &left, left - 1)) {
        }
        if (left == 0) break;
        const bool many = test_below(&c->rng, 8) == 0;
        // A small space of ids and seeds, so that some join and some collide.
        char id[32];
        const uint64_t name = test_below(&c->rng, 400), seed = name * 2 + (test_below(&c->rng, 10) == 0);
        snprintf(id, sizeof id, "storm-%u", (unsigned)name);
        const bool named = test_below(&c->rng, 4) == 0;
        runtime_job job;
        bool joined = false;
        engine_reason reason;
        cuzk_status st;
        do {
            st = bed_try_submit(&s->b, &job, &joined, &reason, many ? "many" : "one", seed, named ? id : NULL,
                                (engine_priority)test_below(&c->rng, ENGINE_PRIORITIES));
            if (st != CUZK_OK && reason == ENGINE_QUEUE_FULL) nanosleep(&(struct timespec){0, MS}, NULL);
        } while (st != CUZK_OK && reason == ENGINE_QUEUE_FULL);
        if (st != CUZK_OK) {
            c->refused++;
            if (reason != ENGINE_ID_IN_USE) c->wrong++;
            continue;
        }
        if (joined)
            c->joined++;
        else
            c->accepted++;
        if (test_below(&c->rng, 4) == 0) {
            if (runtime_watch(s->b.rt, job, on_end, &s->watched, NULL) == CUZK_OK) {
                c->expected_answers++;
                if (test_below(&c->rng, 3) == 0 && runtime_unwatch(s->b.rt, job, on_end, &s->watched))
                    c->expected_answers--; // went away
            }
        }
        if (test_below(&c->rng, 10) == 0 && runtime_cancel(s->b.rt, job, NULL, NULL) != CUZK_OK) c->wrong++;
        flight[n].job = job;
        flight[n].seed = seed;
        flight[n].partitions = many ? PARTS : 1;
        flight[n].mine = !joined;
        if (++n == FLIGHT) {
            runtime_result *r = NULL;
            if (runtime_await(s->b.rt, &r, flight[0].job, MS, NULL) != CUZK_OK) c->wrong++; // may not be over yet
            runtime_result_free(&r);
            for (uint32_t i = 0; i < n; i++) judge(c, flight[i].job, flight[i].partitions, flight[i].seed);
            n = 0;
        }
    }
    for (uint32_t i = 0; i < n; i++) judge(c, flight[i].job, flight[i].partitions, flight[i].seed);
    return NULL;
}

// Looks at everything, again and again.
typedef struct onlooker {
    storm *s;
    pthread_t thread;
    atomic_bool stop;
    unsigned looks, wrong;
} onlooker;

static bool adds_up(runtime *rt, uint64_t *terminal) {
    enum { MANY = 64 };
    runtime_stats st;
    runtime_job jobs[MANY];
    runtime_partition parts[PARTS];
    runtime_key keys[4];
    runtime_worker workers[16];
    runtime_device devices[4];
    runtime_progress p;
    runtime_stats_of(rt, &st);
    const engine_stats *e = &st.engine;
    bool ok = e->queued + e->running + e->done + e->failed + e->cancelled == e->accepted;
    ok = ok && e->done + e->failed + e->cancelled >= *terminal; // never fewer than before
    *terminal = e->done + e->failed + e->cancelled;
    size_t n = runtime_jobs(rt, jobs, MANY);
    for (size_t i = 0; i < n && i < MANY; i++) {
        if (runtime_job_progress(rt, &p, jobs[i], NULL) != CUZK_OK) continue; // forgotten
        ok = ok && p.view.partitions_done <= p.view.partitions && p.times.queue <= p.times.total;
        ok = ok && (p.view.state != ENGINE_DONE || p.view.partitions_done == p.view.partitions);
        const size_t k = runtime_partitions(rt, parts, jobs[i], PARTS);
        ok = ok && k == p.view.partitions;
        if (p.view.state != ENGINE_DONE) continue;
        for (size_t at = 0; at < k; at++) ok = ok && parts[at].stage == RUNTIME_PROVEN && parts[at].attempts > 0;
    }
    n = runtime_keys(rt, keys, 4);
    for (size_t i = 0; i < n; i++) ok = ok && !(keys[i].loaded && keys[i].loading);
    n = runtime_workers(rt, workers, 16);
    for (size_t i = 0; i < n; i++) ok = ok && (workers[i].job == 0) == (workers[i].count == 0);
    n = runtime_devices(rt, devices, 4);
    for (size_t i = 0; i < n; i++) ok = ok && devices[i].failures <= devices[i].runs;
    return ok;
}

static void *onlooker_main(void *arg) {
    onlooker *o = arg;
    uint64_t terminal = 0;
    while (!atomic_load(&o->stop)) {
        o->looks++;
        o->wrong += !adds_up(o->s->b.rt, &terminal);
        nanosleep(&(struct timespec){0, 2 * MS}, NULL);
    }
    return NULL;
}

// A stage that takes longer than this is one that hangs, as fast as this machine is now.
static uint64_t patience(storm *s) {
    atomic_store(&s->calm, true);
    bed_start(&s->b);
    const uint64_t begin = clock_now_ns();
    bed_expect_done(&s->b, bed_submit(&s->b, "many", 1), PARTS, 1);
    const uint64_t took = clock_now_ns() - begin;
    bed_stop(&s->b);
    atomic_store(&s->calm, false);
    return 400 * MS + 10 * took;
}

static void storm_run(engine_policy policy, unsigned jobs, uint64_t seed) {
    static storm s;
    memset(&s, 0, sizeof s);
    atomic_store(&s.left, jobs);
    atomic_store(&s.fault_state, seed);
    bed_make(&s.b, PARTS, 2, random_fault, &s);
    engine_config *e = &s.b.options.engine;
    e->policy = policy;
    e->slot_size = 2;
    e->batch_size = 3;
    e->batch_wait_ns = 2 * MS;
    e->synthesis_concurrency = 2;
    e->lookahead = 2;
    e->max_pending_jobs = 16;
    e->critical_places = 2;
    e->max_attempts = 2;
    e->max_finished = jobs < 1u << 19 ? jobs + 64 : 1u << 20; // a client may be slow to ask: nothing is forgotten
    e->memory_budget = 32 << 20;
    e->device_failure_limit = 4;
    e->device_retry_ns = 5 * MS;
    e->ageing_ns = 20 * MS;
    e->stage_timeout_ns = patience(&s);
    bed_start(&s.b);
    uint64_t calm_runs[2];
    for (int i = 0; i < 2; i++) calm_runs[i] = sim_stats_of(s.b.devices[i]).runs;
    onlooker look = {.s = &s};
    assert_int_equal(pthread_create(&look.thread, NULL, onlooker_main, &look), 0);
    const uint64_t witness = mem_usage_of(MEM_WITNESS).live;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        s.clients[i] = (client){.s = &s, .rng = {seed + i * 77}, .number = i};
        assert_int_equal(pthread_create(&s.clients[i].thread, NULL, client_main, &s.clients[i]), 0);
    }
    client sum = {0};
    for (uint32_t i = 0; i < CLIENTS; i++) {
        client *c = &s.clients[i];
        assert_int_equal(pthread_join(c->thread, NULL), 0);
        sum.accepted += c->accepted;
        sum.joined += c->joined;
        sum.refused += c->refused;
        sum.done += c->done;
        sum.failed += c->failed;
        sum.stopped += c->stopped;
        sum.wrong += c->wrong;
        sum.expected_answers += c->expected_answers;
    }
    assert_true(runtime_drain(s.b.rt, UINT64_MAX));
    atomic_store(&look.stop, true);
    assert_int_equal(pthread_join(look.thread, NULL), 0);
    assert_int_equal(look.wrong, 0);
    runtime_stats st;
    runtime_stats_of(s.b.rt, &st);
    printf(
        "# policy %d: %u accepted, %u joined, %u refused; %u done, %u failed, %u cancelled; %llu retries, %llu wrong "
        "proofs, %llu stages timed out, peak %llu KiB reserved; %u looks\n",
        (int)policy, sum.accepted, sum.joined, sum.refused, sum.done, sum.failed, sum.stopped,
        (unsigned long long)st.engine.retries, (unsigned long long)st.wrong_proofs,
        (unsigned long long)st.engine.stage_timeouts, (unsigned long long)st.engine.memory_peak / 1024, look.looks);
    assert_int_equal(sum.wrong, 0);
    assert_int_equal(sum.accepted + sum.joined + sum.refused, jobs);
    assert_int_equal(sum.done + sum.failed + sum.stopped, sum.accepted + sum.joined);
    assert_int_equal(atomic_load(&s.watched), sum.expected_answers);
    assert_int_equal(st.double_replies, 0);
    assert_int_equal(st.engine.accepted, sum.accepted);
    assert_int_equal(st.engine.done + st.engine.failed + st.engine.cancelled, sum.accepted);
    assert_int_equal(st.engine.queued + st.engine.running, 0);
    assert_int_equal(st.engine.units_live, 0);
    assert_int_equal(st.engine.memory_reserved, st.engine.memory_keys);
    assert_true(st.engine.memory_peak <= e->memory_budget);
    assert_true(st.engine.done > sum.accepted / 2);
    assert_int_equal(mem_usage_of(MEM_WITNESS).live, witness);
    assert_int_equal(mem_usage_of(MEM_EVALUATION).live, 0);
    runtime_device d[2]; // what is shown of a device is what that device did
    assert_int_equal(runtime_devices(s.b.rt, d, 2), 2);
    for (int i = 0; i < 2; i++) assert_int_equal(d[i].runs, sim_stats_of(s.b.devices[i]).runs - calm_runs[i]);
    if (jobs >= 100) assert_true(sim_stats_of(s.b.devices[0]).runs > 0 && sim_stats_of(s.b.devices[1]).runs > 0);
    bed_destroy(&s.b);
}

static unsigned job_count(void) {
    const char *env = getenv("CUZK_RUNTIME_JOBS");
    const unsigned n = env != NULL ? (unsigned)strtoul(env, NULL, 10) : 0;
    return n != 0 ? n : JOBS_DEFAULT;
}

static void a_thousand_jobs(void **state) {
    (void)state;
    test_rng r = test_rng_new("storm");
    storm_run(ENGINE_PARTITION, job_count(), test_u64(&r));
}

static void under_the_other_policies(void **state) {
    (void)state;
    test_rng r = test_rng_new("storm, other policies");
    storm_run(ENGINE_STANDARD, job_count() / 10, test_u64(&r));
    storm_run(ENGINE_SLOTTED, job_count() / 10, test_u64(&r));
    storm_run(ENGINE_BATCH, job_count() / 10, test_u64(&r));
}

int main(void) {
    const mem_usage before = mem_usage_total();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thousand_jobs),
        cmocka_unit_test(under_the_other_policies),
    };
    return bed_memory_is_back(&before, cmocka_run_group_tests(tests, NULL, NULL));
}
