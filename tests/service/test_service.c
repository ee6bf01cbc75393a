// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The service without a wire, one promise at a time.
#include "testing.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "service/service_bed.h"
#include "service/service_internal.h"

static const char *const PLAIN[] = {"sim"};
static const char *const SLOW[] = {"sim:kernel=40ms"};

static service *plain(void) {
    const service_options o = bed_options(PLAIN);
    return bed_start(&o);
}

static service *slow(void) {
    const service_options o = bed_options(SLOW);
    return bed_start(&o);
}

static runtime_job accept(service *s, const char *id, uint32_t partitions, uint64_t seed) {
    service_submitted out;
    service_error err;
    if (bed_submit(s, &out, id, BED_LOG, partitions, seed, NULL, &err) != SERVICE_OK) fail_msg("%s", err.text);
    return out.job;
}

static void a_job_is_proven(void **state) {
    (void)state;
    service *s = plain();
    service_submitted out;
    assert_int_equal(bed_submit(s, &out, "a", BED_LOG, 3, 7, NULL, NULL), SERVICE_OK);
    assert_string_equal(out.job_id, "a");
    assert_false(out.joined);
    const bed_answer *a = bed_await(s, out.job);
    assert_int_equal(a->outcome, SERVICE_JOB_COMPLETED);
    assert_string_equal(a->job_id, "a");
    assert_true(bed_verifies(BED_LOG, 3, 7, a->proof, a->proof_len));
    assert_false(bed_verifies(BED_LOG, 3, 8, a->proof, a->proof_len));
    assert_true(a->times.key_load > 0 && a->times.synthesis > 0 && a->times.device > 0 && a->times.verify > 0);
    assert_true(a->times.total >= a->times.queue);
    // Asked for again: by its id, without a new proof, and warm for another.
    runtime_job again;
    assert_int_equal(service_find(s, &again, "a", NULL), SERVICE_OK);
    assert_int_equal(again, out.job);
    bed_expect_done(s, again, BED_LOG, 3, 7);
    assert_int_equal(bed_await(s, accept(s, NULL, 1, 8))->times.key_load, 0);
    assert_int_equal(bed_counts(s).completed, 2);
    service_destroy(&s);
}

static void ids_of_ours(void **state) {
    (void)state;
    service *s = plain();
    service_submitted a, b;
    assert_int_equal(bed_submit(s, &a, NULL, BED_LOG, 1, 1, NULL, NULL), SERVICE_OK);
    assert_int_equal(bed_submit(s, &b, "", BED_LOG, 1, 1, NULL, NULL), SERVICE_OK);
    assert_int_equal(strlen(a.job_id), 36);
    assert_string_not_equal(a.job_id, b.job_id);
    runtime_job found;
    assert_int_equal(service_find(s, &found, b.job_id, NULL), SERVICE_OK);
    assert_int_equal(found, b.job);
    service_error err;
    assert_int_equal(service_find(s, &found, "nobody", &err), SERVICE_NOT_FOUND);
    assert_non_null(strstr(err.text, "nobody"));
    assert_int_equal(service_find(s, &found, NULL, &err), SERVICE_NOT_FOUND);
    service_destroy(&s);
}

// Four callers use one id for four inputs at the same time: one of them wins, the others are refused, and nobody gets
// a proof of somebody else's input. Callers with the same input all get it.
typedef struct caller {
    service *s;
    const char *id;
    uint64_t seed;
    service_code code;
    bool joined, right;
} caller;

static void *call(void *arg) {
    caller *c = arg;
    service_submitted out;
    c->code = bed_submit(c->s, &out, c->id, BED_LOG, 4, c->seed, NULL, NULL);
    if (c->code != SERVICE_OK) return NULL;
    c->joined = out.joined;
    const bed_answer *a = bed_await(c->s, out.job);
    c->right = a->outcome == SERVICE_JOB_COMPLETED && bed_verifies(BED_LOG, 4, c->seed, a->proof, a->proof_len);
    return NULL;
}

static void one_id_many_inputs(void **state) {
    (void)state;
    enum { CALLERS = 8 };
    service *s = slow();
    for (uint64_t inputs = 1; inputs <= 4; inputs += 3) {
        caller callers[CALLERS];
        pthread_t threads[CALLERS];
        char id[8];
        snprintf(id, sizeof id, "x%d", (int)inputs);
        for (int i = 0; i < CALLERS; i++) {
            callers[i] = (caller){.s = s, .id = id, .seed = (uint64_t)i % inputs};
            assert_int_equal(pthread_create(&threads[i], NULL, call, &callers[i]), 0);
        }
        int accepted = 0, joined = 0;
        for (int i = 0; i < CALLERS; i++) pthread_join(threads[i], NULL);
        for (int i = 0; i < CALLERS; i++) {
            if (callers[i].code != SERVICE_OK) {
                assert_int_equal(callers[i].code, SERVICE_ALREADY_EXISTS);
                continue;
            }
            assert_true(callers[i].right);
            accepted++;
            joined += callers[i].joined;
        }
        assert_int_equal(accepted - joined, 1);
        assert_int_equal(accepted, CALLERS / (int)inputs);
    }
    const service_counts c = bed_counts(s);
    assert_int_equal(c.completed, 2);
    service_destroy(&s);
}

// Five proofs of one partition queued on a device that is busy: all five end.
static void nothing_vanishes(void **state) {
    (void)state;
    enum { JOBS = 5 };
    service *s = slow();
    runtime_job jobs[JOBS];
    for (uint64_t i = 0; i < JOBS; i++) jobs[i] = accept(s, NULL, 1, i);
    assert_int_equal(bed_counts(s).queued + bed_counts(s).running, JOBS);
    for (uint64_t i = 0; i < JOBS; i++) bed_expect_done(s, jobs[i], BED_LOG, 1, i);
    assert_int_equal(bed_counts(s).completed, JOBS);
    service_destroy(&s);
}

static void impossible_requests(void **state) {
    (void)state;
    service_options o = bed_options(PLAIN);
    o.engine.memory_budget = 16 << 20;
    service *s = bed_start(&o);
    service_submitted out;
    service_error err;
    assert_int_equal(bed_submit(s, &out, "big", 16, 10, 1, NULL, &err), SERVICE_RESOURCE_EXHAUSTED);
    assert_int_equal(err.retry_after_ms, 0);
    assert_non_null(strstr(err.text, "needed"));
    assert_non_null(strstr(err.text, "16777216"));
    bed_expect_done(s, accept(s, "small", 2, 3), BED_LOG, 2, 3);
    bool there;
    uint64_t ms;
    assert_int_equal(service_preload(s, "toy-16", &there, &ms, &err), SERVICE_RESOURCE_EXHAUSTED);
    service_destroy(&s);
}

static void the_queue_is_bounded(void **state) {
    (void)state;
    service_options o = bed_options(SLOW);
    o.engine.max_pending_jobs = 3;
    o.engine.critical_places = 1;
    service *s = bed_start(&o);
    int accepted = 0;
    for (uint64_t i = 0; i < 50; i++) {
        service_submitted out;
        service_error err;
        const service_code code = bed_submit(s, &out, NULL, BED_LOG, 2, i, NULL, &err);
        if (code == SERVICE_OK) {
            accepted++;
        } else {
            assert_int_equal(code, SERVICE_RESOURCE_EXHAUSTED);
            assert_true(err.retry_after_ms >= 500);
        }
    }
    assert_int_equal(accepted, 3);
    service_submitted out;
    const service_request critical = {.priority = 4};
    assert_int_equal(bed_submit(s, &out, NULL, BED_LOG, 1, 77, &critical, NULL), SERVICE_OK);
    assert_int_equal(out.queue_position, 0);
    bed_expect_done(s, out.job, BED_LOG, 1, 77);
    assert_true(service_drain(s, 60000));
    assert_int_equal(bed_counts(s).completed, 4);
    service_destroy(&s);
}

static void inputs_are_bounded(void **state) {
    (void)state;
    service_options o = bed_options(SLOW);
    o.max_input_bytes = 20; // two toys
    o.max_message_bytes = 30;
    service *s = bed_start(&o);
    service_submitted out;
    service_error err;
    const runtime_job first = accept(s, "1", 1, 1);
    accept(s, "2", 1, 2);
    assert_int_equal(bed_submit(s, &out, "3", BED_LOG, 1, 3, NULL, &err), SERVICE_RESOURCE_EXHAUSTED);
    assert_true(err.retry_after_ms > 0);
    bed_expect_done(s, first, BED_LOG, 1, 1);
    assert_int_equal(bed_submit(s, &out, "3", BED_LOG, 1, 3, NULL, &err), SERVICE_OK);
    uint8_t large[31] = {0};
    service_request r = {.kind = SERVICE_TOY, .sector_size = 1, .vanilla_proof = large, .vanilla_proof_len = 31};
    assert_int_equal(service_submit(s, &out, &r, &err), SERVICE_RESOURCE_EXHAUSTED);
    assert_int_equal(err.retry_after_ms, 0);
    assert_non_null(strstr(err.text, "31"));
    assert_non_null(strstr(err.text, "30"));
    r.vanilla_proof_len = 30; // fits a message, but not beside anything else
    assert_int_equal(service_submit(s, &out, &r, &err), SERVICE_RESOURCE_EXHAUSTED);
    assert_int_equal(err.retry_after_ms, 0);
    service_destroy(&s);
}

static void refusals_name_the_field(void **state) {
    (void)state;
    service *s = plain();
    const uint8_t bytes[64] = {1};
    const uint8_t *const some[1] = {bytes};
    const size_t some_lens[1] = {8};
    char long_id[140];
    memset(long_id, 'x', sizeof long_id - 1);
    long_id[sizeof long_id - 1] = 0;
    const struct {
        service_request r;
        service_code code;
        const char *field;
    } cases[] = {
        {{.kind = 0}, SERVICE_INVALID_ARGUMENT, "proof_kind"},
        {{.kind = 5}, SERVICE_INVALID_ARGUMENT, "proof_kind"},
        {{.kind = 99}, SERVICE_INVALID_ARGUMENT, "proof_kind"},
        {{.kind = SERVICE_SNAP}, SERVICE_UNIMPLEMENTED, "snap"},
        {{.kind = SERVICE_WINDOW_POST}, SERVICE_UNIMPLEMENTED, "window-post"},
        {{.kind = SERVICE_WINNING_POST}, SERVICE_UNIMPLEMENTED, "winning-post"},
        {{.kind = SERVICE_TOY, .priority = 5}, SERVICE_INVALID_ARGUMENT, "priority"},
        {{.kind = SERVICE_TOY, .request_id = long_id}, SERVICE_INVALID_ARGUMENT, "request_id"},
        {{.kind = SERVICE_TOY, .request_id = "a\nb"}, SERVICE_INVALID_ARGUMENT, "request_id"},
        {{.kind = SERVICE_TOY, .request_id = "\xff"}, SERVICE_INVALID_ARGUMENT, "request_id"},
        {{.kind = SERVICE_WINDOW_POST, .randomness = bytes, .randomness_len = 31},
         SERVICE_INVALID_ARGUMENT,
         "randomness"},
        {{.kind = SERVICE_SNAP, .comm_r_old_len = 33}, SERVICE_INVALID_ARGUMENT, "comm_r_old"},
        {{.kind = SERVICE_SNAP, .comm_r_new_len = 1}, SERVICE_INVALID_ARGUMENT, "comm_r_new"},
        {{.kind = SERVICE_SNAP, .comm_d_new_len = 64}, SERVICE_INVALID_ARGUMENT, "comm_d_new"},
        {{.kind = SERVICE_TOY, .sector_size = 1}, SERVICE_INVALID_ARGUMENT, "vanilla_proof"},
        {{.kind = SERVICE_TOY,
          .sector_size = 1,
          .vanilla_proofs = some,
          .vanilla_proof_lens = some_lens,
          .n_vanilla_proofs = 1},
         SERVICE_INVALID_ARGUMENT,
         "vanilla_proofs"},
        {{.kind = SERVICE_TOY, .sector_size = 1, .vanilla_proof = bytes, .vanilla_proof_len = 7},
         SERVICE_INVALID_ARGUMENT,
         "vanilla_proof"},
        {{.kind = SERVICE_TOY, .sector_size = 0, .vanilla_proof = bytes, .vanilla_proof_len = 8},
         SERVICE_INVALID_ARGUMENT,
         "sector_size"},
        {{.kind = SERVICE_TOY, .sector_size = 1000, .vanilla_proof = bytes, .vanilla_proof_len = 8},
         SERVICE_INVALID_ARGUMENT,
         "sector_size"},
        {{.kind = SERVICE_TOY,
          .sector_size = 1,
          .registered_proof = 40,
          .vanilla_proof = bytes,
          .vanilla_proof_len = 8},
         SERVICE_INVALID_ARGUMENT,
         "registered_proof"},
        {{.kind = SERVICE_TOY, .sector_size = 1, .partition_index = 1, .vanilla_proof = bytes, .vanilla_proof_len = 8},
         SERVICE_INVALID_ARGUMENT,
         "partition_index"},
        {{.kind = SERVICE_TOY, .sector_size = 200, .vanilla_proof = bytes, .vanilla_proof_len = 8},
         SERVICE_INVALID_ARGUMENT,
         "BAD_REQUEST"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        service_submitted out;
        service_error err = {0};
        assert_int_equal(service_submit(s, &out, &cases[i].r, &err), cases[i].code);
        assert_int_equal(err.code, cases[i].code);
        if (strstr(err.text, cases[i].field) == NULL)
            fail_msg("case %zu: no %s in \"%s\"", i, cases[i].field, err.text);
    }
    const service_counts c = bed_counts(s);
    assert_int_equal(c.queued + c.running + c.completed + c.failed + c.cancelled, 0);
    service_destroy(&s);
    // Toys only when allowed.
    service_options o = bed_options(PLAIN);
    o.toy_circuits = false;
    o.params_dir = "nowhere";
    s = bed_start(&o);
    service_submitted out;
    assert_int_equal(bed_submit(s, &out, NULL, BED_LOG, 1, 1, NULL, NULL), SERVICE_INVALID_ARGUMENT);
    service_destroy(&s);
    o.params_dir = NULL;
    cuzk_error err;
    assert_int_equal(service_create(&s, &o, &err), CUZK_ERR_USAGE);
}

static void a_wait_times_out(void **state) {
    (void)state;
    service *s = slow();
    const runtime_job job = accept(s, "t", 4, 5);
    static bed_answer a;
    bed_answer_make(&a);
    service_watch *w;
    assert_int_equal(service_await(s, &w, job, 10, bed_told, &a, NULL), SERVICE_OK);
    bed_wait(&a);
    assert_int_equal(a.outcome, SERVICE_JOB_TIMEOUT);
    assert_string_equal(a.job_id, "t");
    assert_int_equal(a.proof_len, 0);
    service_unwatch(s, &w, false);
    assert_null(w);
    service_unwatch(s, &w, false);
    bed_expect_done(s, job, BED_LOG, 4, 5);
    assert_int_equal(a.calls, 1);
    // A limit that is never reached, and one that is beyond all times.
    bed_answer_make(&a);
    assert_int_equal(service_await(s, &w, accept(s, NULL, 1, 6), UINT64_MAX, bed_told, &a, NULL), SERVICE_OK);
    bed_wait(&a);
    assert_int_equal(a.outcome, SERVICE_JOB_COMPLETED);
    service_unwatch(s, &w, true);
    service_error err;
    assert_int_equal(service_await(s, &w, 12345, 0, bed_told, &a, &err), SERVICE_NOT_FOUND);
    assert_null(w);
    service_destroy(&s);
}

static void a_deadline_fails_the_job(void **state) {
    (void)state;
    service *s = slow();
    service_submitted out;
    const service_request hurried = {.deadline_ms = 30};
    assert_int_equal(bed_submit(s, &out, "late", BED_LOG, 20, 1, &hurried, NULL), SERVICE_OK);
    const bed_answer *a = bed_await(s, out.job);
    assert_int_equal(a->outcome, SERVICE_JOB_FAILED);
    assert_non_null(strstr(a->text, "DEADLINE"));
    assert_int_equal(bed_counts(s).failed, 1);
    service_destroy(&s);
}

static void jobs_are_cancelled(void **state) {
    (void)state;
    service *s = slow();
    bool was;
    service_error err;
    const runtime_job running = accept(s, "r", 6, 1), queued = accept(s, "q", 6, 2);
    static bed_answer a[3];
    service_watch *w[3];
    for (int i = 0; i < 3; i++) {
        bed_answer_make(&a[i]);
        assert_int_equal(service_await(s, &w[i], i == 2 ? queued : running, 0, bed_told, &a[i], NULL), SERVICE_OK);
    }
    assert_int_equal(service_cancel(s, "q", &was, &err), SERVICE_OK);
    assert_false(was); // it waited
    assert_int_equal(service_cancel(s, "r", &was, &err), SERVICE_OK);
    assert_true(was);
    for (int i = 0; i < 3; i++) {
        bed_wait(&a[i]);
        assert_int_equal(a[i].outcome, SERVICE_JOB_CANCELLED);
        service_unwatch(s, &w[i], true);
    }
    assert_int_equal(service_cancel(s, "r", &was, &err), SERVICE_OK);
    assert_false(was);
    assert_int_equal(service_cancel(s, "?", &was, &err), SERVICE_NOT_FOUND);
    // The id is free for another try, which gets a proof.
    bed_expect_done(s, accept(s, "r", 6, 1), BED_LOG, 6, 1);
    const service_counts c = bed_counts(s);
    assert_int_equal(c.cancelled, 2);
    assert_int_equal(c.completed, 1);
    service_destroy(&s);
}

// Whoever leaves takes the job along only if nobody else wants it.
static void leaving(void **state) {
    (void)state;
    service *s = slow();
    static bed_answer a, b;
    service_watch *w, *other;
    bed_answer_make(&a);
    bed_answer_make(&b);
    const runtime_job alone = accept(s, "alone", 20, 1);
    assert_int_equal(service_await(s, &w, alone, 0, bed_told, &a, NULL), SERVICE_OK);
    service_unwatch(s, &w, true);
    assert_int_equal(bed_await(s, alone)->outcome, SERVICE_JOB_CANCELLED);
    assert_int_equal(a.calls, 0);
    // Two callers of the same: the first leaves, the second gets it.
    const runtime_job both = accept(s, "both", 4, 2);
    assert_int_equal(accept(s, "both", 4, 2), both);
    assert_int_equal(service_await(s, &w, both, 0, bed_told, &a, NULL), SERVICE_OK);
    assert_int_equal(service_await(s, &other, both, 0, bed_told, &b, NULL), SERVICE_OK);
    service_unwatch(s, &w, true);
    bed_wait(&b);
    assert_int_equal(b.outcome, SERVICE_JOB_COMPLETED);
    service_unwatch(s, &other, true);
    // Leaving without abandoning changes nothing.
    const runtime_job kept = accept(s, "kept", 4, 3);
    assert_int_equal(service_await(s, &w, kept, 0, bed_told, &a, NULL), SERVICE_OK);
    service_unwatch(s, &w, false);
    bed_expect_done(s, kept, BED_LOG, 4, 3);
    assert_int_equal(a.calls, 0);
    service_destroy(&s);
}

typedef struct retry {
    service *s;
    char id[32];
    pthread_barrier_t both;
    bed_answer a;
} retry;

static void *retry_main(void *arg) {
    retry *r = arg;
    service_watch *w;
    pthread_barrier_wait(&r->both);
    const runtime_job job = accept(r->s, r->id, 1, 7);
    assert_int_equal(service_await(r->s, &w, job, 0, bed_told, &r->a, NULL), SERVICE_OK);
    bed_wait(&r->a);
    service_unwatch(r->s, &w, true);
    return NULL;
}

// A client that comes again just as its first connection is given up gets its proof, whichever is first.
static void a_retry_while_the_first_is_given_up(void **state) {
    (void)state;
    static const char *const quick[] = {"sim:kernel=3ms"};
    const service_options o = bed_options(quick);
    service *s = bed_start(&o);
    static retry r;
    static bed_answer first;
    bed_answer_make(&first);
    assert_int_equal(pthread_barrier_init(&r.both, NULL, 2), 0);
    r.s = s;
    for (int round = 0; round < 40; round++) {
        service_watch *w;
        pthread_t t;
        bed_answer_make(&r.a);
        snprintf(r.id, sizeof r.id, "again-%d", round);
        const runtime_job job = accept(s, r.id, 1, 7);
        assert_int_equal(service_await(s, &w, job, 0, bed_told, &first, NULL), SERVICE_OK);
        assert_int_equal(pthread_create(&t, NULL, retry_main, &r), 0);
        pthread_barrier_wait(&r.both);
        service_unwatch(s, &w, true);
        assert_int_equal(pthread_join(t, NULL), 0);
        if (r.a.outcome != SERVICE_JOB_COMPLETED) fail_msg("round %d: %d", round, (int)r.a.outcome);
    }
    pthread_barrier_destroy(&r.both);
    service_destroy(&s);
}

typedef struct leaver {
    service *s;
    service_watch *w;
    bed_answer a;
} leaver;

static void leave_at_once(void *ctx, const service_result *r) {
    leaver *l = ctx;
    service_unwatch(l->s, &l->w, true);
    bed_told(&l->a, r);
}

// A waiter may leave from within its own call: for a job that ends, one that has ended, and a timeout.
static void leaving_from_within(void **state) {
    (void)state;
    service *s = slow();
    static leaver l[3];
    const runtime_job job = accept(s, "j", 2, 1), longer = accept(s, "k", 20, 2);
    for (int i = 0; i < 3; i++) {
        l[i].s = s;
        bed_answer_make(&l[i].a);
        if (i == 1) bed_expect_done(s, job, BED_LOG, 2, 1);
        assert_int_equal(service_await(s, &l[i].w, i == 2 ? longer : job, i == 2 ? 5 : 0, leave_at_once, &l[i], NULL),
                         SERVICE_OK);
    }
    for (int i = 0; i < 3; i++) {
        bed_wait(&l[i].a);
        assert_int_equal(l[i].a.outcome, i == 2 ? SERVICE_JOB_TIMEOUT : SERVICE_JOB_COMPLETED);
        assert_null(l[i].w);
    }
    // The last one abandoned it.
    assert_int_equal(bed_await(s, longer)->outcome, SERVICE_JOB_CANCELLED);
    service_destroy(&s);
}

static void draining(void **state) {
    (void)state;
    service *s = slow();
    service_submitted out;
    service_error err;
    const runtime_job job = accept(s, "d", 3, 1);
    assert_false(service_draining(s));
    assert_false(service_drain(s, 0));
    assert_true(service_draining(s));
    assert_int_equal(bed_submit(s, &out, "e", BED_LOG, 1, 2, NULL, &err), SERVICE_UNAVAILABLE);
    assert_int_equal(bed_submit(s, &out, "d", BED_LOG, 3, 1, NULL, &err), SERVICE_OK); // is there already
    assert_true(out.joined);
    bool there;
    uint64_t ms;
    assert_int_equal(service_preload(s, "toy-6", &there, &ms, &err), SERVICE_UNAVAILABLE);
    assert_true(service_drain(s, 60000));
    bed_expect_done(s, job, BED_LOG, 3, 1);
    service_destroy(&s);
    // What is still there at the end is cancelled, and its waiters hear of it.
    s = slow();
    static bed_answer a;
    bed_answer_make(&a);
    service_watch *w;
    assert_int_equal(service_await(s, &w, accept(s, "z", 20, 1), 100000, bed_told, &a, NULL), SERVICE_OK);
    service_drain(s, 1);
    assert_int_equal(a.calls, 0);
    service_unwatch(s, &w, false);
    service_destroy(&s);
}

static void keys_come_and_go(void **state) {
    (void)state;
    service *s = slow();
    bool flag;
    uint64_t n;
    service_error err;
    assert_int_equal(service_evict(s, "toy-6", &flag, &n, &err), SERVICE_OK);
    assert_false(flag);
    assert_int_equal(service_preload(s, "toy-6", &flag, &n, &err), SERVICE_OK);
    assert_false(flag);
    assert_true(n > 0);
    assert_int_equal(service_preload(s, "toy-6", &flag, &n, &err), SERVICE_OK);
    assert_true(flag);
    assert_int_equal(n, 0);
    service_submitted out;
    assert_int_equal(bed_submit(s, &out, NULL, 6, 6, 9, NULL, &err), SERVICE_OK);
    service_snapshot *look = NULL;
    for (bool used = false; !used;) {
        assert_int_equal(service_look(s, &look, NULL), CUZK_OK);
        assert_int_equal(look->n_keys, 1);
        assert_string_equal(look->keys[0].circuit_id, "toy-6");
        assert_true(look->keys[0].loaded && look->keys[0].bytes > 0 && look->keys[0].loads == 1);
        used = look->keys[0].users > 0;
        service_snapshot_free(&look);
    }
    assert_int_equal(service_evict(s, "toy-6", &flag, &n, &err), SERVICE_FAILED_PRECONDITION);
    assert_non_null(strstr(err.text, "in use"));
    bed_expect_done(s, out.job, 6, 6, 9);
    service_code code = SERVICE_FAILED_PRECONDITION; // its last unit may not be gone yet
    while (code == SERVICE_FAILED_PRECONDITION) code = service_evict(s, "toy-6", &flag, &n, &err);
    assert_int_equal(code, SERVICE_OK);
    assert_true(flag && n > 0);
    assert_int_equal(service_evict(s, "toy-99", &flag, &n, &err), SERVICE_INVALID_ARGUMENT);
    assert_int_equal(service_preload(s, "porep-32g", &flag, &n, &err), SERVICE_INVALID_ARGUMENT);
    service_destroy(&s);
}

static void a_snapshot_tells(void **state) {
    (void)state;
    service *s = slow();
    const runtime_job done = accept(s, "done", 2, 1);
    bed_expect_done(s, done, BED_LOG, 2, 1);
    accept(s, "one", 5, 2);
    accept(s, "two", 5, 3);
    service_snapshot *n = NULL;
    bool seen = false;
    for (int tries = 0; !seen && tries < 2000; tries++) {
        assert_int_equal(service_look(s, &n, NULL), CUZK_OK);
        assert_int_equal(n->n_devices, 1);
        assert_true(n->devices[0].healthy);
        assert_int_equal(n->n_jobs, 3);
        // Workers are looked at first, so that what they do may be over when its job is looked at: then once more.
        bool on_device = false;
        for (uint32_t i = 0; i < n->jobs[0].partitions; i++) on_device |= n->jobs[0].parts[i].stage == RUNTIME_DEVICE;
        seen = on_device && strcmp(n->devices[0].job_id, "one") == 0 && strcmp(n->jobs[0].job_id, "one") == 0;
        if (seen) {
            assert_string_equal(n->jobs[1].job_id, "two");
            assert_string_equal(n->jobs[2].job_id, "done");
            assert_int_equal(n->devices[0].kind, SERVICE_TOY);
            assert_int_equal(n->jobs[0].state, ENGINE_RUNNING);
            assert_int_equal(n->jobs[0].partitions, 5);
            assert_int_equal(n->jobs[2].state, ENGINE_DONE);
            assert_int_equal(n->jobs[2].done, 2);
            assert_string_equal(n->jobs[2].stage, "done");
            assert_true(n->memory_used > 0 && n->memory_used <= n->memory_total);
            assert_true(n->resident_bytes > 1 << 20);
            assert_int_equal(n->input_bytes, 16);
        }
        service_snapshot_free(&n);
    }
    assert_true(seen);
    service_destroy(&s);
}

// Old results are forgotten, so that memory does not grow with the number of proofs.
static void results_are_forgotten(void **state) {
    (void)state;
    service_options o = bed_options(PLAIN);
    o.engine.max_finished = 4;
    o.engine.max_pending_jobs = 4;
    o.engine.critical_places = 0;
    service *s = bed_start(&o);
    uint64_t before = 0;
    for (uint64_t i = 0; i < 60; i++) {
        char id[16];
        snprintf(id, sizeof id, "n%d", (int)i);
        bed_expect_done(s, accept(s, id, 1, i), 5, 1, i);
        if (i == 30) before = mem_usage_of(MEM_MISC).live;
    }
    assert_true(mem_usage_of(MEM_MISC).live <= before + before / 10);
    runtime_job job;
    assert_int_equal(service_find(s, &job, "n59", NULL), SERVICE_OK);
    assert_int_equal(service_find(s, &job, "n1", NULL), SERVICE_NOT_FOUND);
    assert_int_equal(bed_counts(s).completed, 60);
    service_destroy(&s);
}

// A device that lies and one that hangs: the proof is right, or the job fails with stage, partition and cause.
static void faults(void **state) {
    (void)state;
    static const char *const LIES_ONCE[] = {"sim:wrong@2,oom@5"}, *const LIES[] = {"sim:wrong@1+"},
                             *const HANGS[] = {"sim:hang@1"};
    service_options o = bed_options(LIES_ONCE);
    service *s = bed_start(&o);
    bed_expect_done(s, accept(s, "w", 6, 1), BED_LOG, 6, 1);
    service_snapshot *n = NULL;
    assert_int_equal(service_look(s, &n, NULL), CUZK_OK);
    assert_int_equal(n->stats.wrong_proofs, 1);
    assert_int_equal(n->stats.engine.retries, 2);
    service_snapshot_free(&n);
    service_destroy(&s);
    o = bed_options(LIES);
    s = bed_start(&o);
    const bed_answer *a = bed_await(s, accept(s, "w", 2, 1));
    assert_int_equal(a->outcome, SERVICE_JOB_FAILED);
    assert_int_equal(a->proof_len, 0);
    assert_non_null(strstr(a->text, "WRONG_PROOF"));
    assert_non_null(strstr(a->text, "partition"));
    service_destroy(&s);
    o = bed_options(HANGS);
    o.engine.stage_timeout_ns = 2000000000; // the key of a first job has to be made in it
    s = bed_start(&o);
    a = bed_await(s, accept(s, "h", 3, 1));
    assert_int_equal(a->outcome, SERVICE_JOB_FAILED);
    assert_non_null(strstr(a->text, "STAGE_TIMEOUT"));
    bed_expect_done(s, accept(s, "h", 3, 1), BED_LOG, 3, 1);
    service_destroy(&s);
}

// A device without memory: the job fails and says so, or, if that is wanted, the processors take over, visibly.
// What a job failed of may quote its input: the log and the status do without.
static void troubles_keep_inputs_private(void **state) {
    (void)state;
    static const char SECRET[] = "5ec2e75ec2e75ec2e75ec2e75ec2e75ec2e7";
    service *s = plain();
    FILE *log = tmpfile();
    assert_non_null(log);
    log_start(&(log_options){.level = LOG_TRACE, .fd = fileno(log)});
    char text[512];
    snprintf(text, sizeof text, "verification, partition 3: the circuit has %s, found \"%s\"", SECRET, SECRET);
    service_trouble_note(s, "j", text);
    log_start(&(log_options){.level = LOG_ERROR, .fd = -1});
    rewind(log);
    text[fread(text, 1, sizeof text - 1, log)] = 0;
    fclose(log);
    assert_non_null(strstr(text, "verification, partition 3: the circuit has ..."));
    assert_null(strstr(text, "5ec2e7"));
    char *json;
    size_t len;
    assert_int_equal(service_status_json(s, &json, &len, NULL), CUZK_OK);
    assert_non_null(strstr(json, "j: verification, partition 3: the circuit has ..."));
    assert_null(strstr(json, "5ec2e7"));
    free(json);
    service_destroy(&s);
}

static void memory_of_devices(void **state) {
    (void)state;
    static const char *const POOR[] = {"sim:oom@0+"};
    service_options o = bed_options(POOR);
    o.engine.device_failure_limit = 0;
    service *s = bed_start(&o);
    const bed_answer *a = bed_await(s, accept(s, "p", 2, 1));
    assert_int_equal(a->outcome, SERVICE_JOB_FAILED);
    assert_non_null(strstr(a->text, "OUT_OF_MEMORY"));
    assert_non_null(strstr(a->text, "device"));
    service_destroy(&s);
    o.cpu_fallback = true;
    s = bed_start(&o);
    bed_expect_done(s, accept(s, "p", 2, 1), BED_LOG, 2, 1);
    service_snapshot *n = NULL;
    assert_int_equal(service_look(s, &n, NULL), CUZK_OK);
    assert_int_equal(n->n_devices, 2);
    assert_true(!n->devices[0].fallback && n->devices[1].fallback);
    assert_int_equal(n->devices[1].runs, 2);
    assert_int_equal(n->stats.engine.fallbacks, 2);
    service_snapshot_free(&n);
    assert_true(service_try_destroy(&s, UINT64_MAX));
    assert_null(s);
}

static void nonsense_devices(void **state) {
    (void)state;
    static const char *const BAD[] = {"",
                                      "gpu",
                                      "simx",
                                      "sim:",
                                      "sim:,",
                                      "sim:kernel=5",
                                      "sim:kernel=5ms,",
                                      "sim:wrong",
                                      "sim:wrong@",
                                      "sim:wrong@x",
                                      "sim:oom%0",
                                      "sim:delay@3",
                                      "sim:delay=1ms",
                                      "sim:hang@1-",
                                      "sim:kernel=99999999999999999999s",
                                      "sim:kernel=-5ms"};
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        if (strcmp(BAD[i], "sim:") == 0 || strcmp(BAD[i], "sim:kernel=5ms,") == 0) continue; // read as nothing more
        const service_options o = bed_options(&BAD[i]);
        service *s = NULL;
        cuzk_error err;
        if (service_create(&s, &o, &err) != CUZK_ERR_USAGE) fail_msg("\"%s\" was taken", BAD[i]);
        assert_null(s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_proven),
        cmocka_unit_test(ids_of_ours),
        cmocka_unit_test(one_id_many_inputs),
        cmocka_unit_test(nothing_vanishes),
        cmocka_unit_test(impossible_requests),
        cmocka_unit_test(the_queue_is_bounded),
        cmocka_unit_test(inputs_are_bounded),
        cmocka_unit_test(refusals_name_the_field),
        cmocka_unit_test(a_wait_times_out),
        cmocka_unit_test(a_deadline_fails_the_job),
        cmocka_unit_test(jobs_are_cancelled),
        cmocka_unit_test(a_retry_while_the_first_is_given_up),
        cmocka_unit_test(leaving),
        cmocka_unit_test(leaving_from_within),
        cmocka_unit_test(draining),
        cmocka_unit_test(keys_come_and_go),
        cmocka_unit_test(a_snapshot_tells),
        cmocka_unit_test(results_are_forgotten),
        cmocka_unit_test(faults),
        cmocka_unit_test(troubles_keep_inputs_private),
        cmocka_unit_test(memory_of_devices),
        cmocka_unit_test(nonsense_devices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
