// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The public engine as a user sees it: its header, the shared object, toy circuits.
#include <cuzk/engine.h>
#include <cuzk/timeline.h>

#include "testing.h"

#include <pthread.h>
#include <unistd.h>

enum { PARTS = 3, PROOF = 192 };

static cuzk_engine *start(const cuzk_engine_options *o) {
    cuzk_engine *e = NULL;
    cuzk_message m = {""};
    assert_int_equal(cuzk_engine_new(&e, o, &m), CUZK_RESULT_OK);
    assert_int_equal(cuzk_engine_add_toy(e, "one", 16, 1, "engine test", &m), CUZK_RESULT_OK);
    assert_int_equal(cuzk_engine_add_toy(e, "many", 16, PARTS, "engine test", &m), CUZK_RESULT_OK);
    if (cuzk_engine_start(e, &m) != CUZK_RESULT_OK) fail_msg("%s", m.text);
    return e;
}

static cuzk_result submit(cuzk_engine *e, cuzk_job *job, const char *kind, uint8_t seed, const char *id, int *joined,
                          cuzk_message *m) {
    const uint8_t input[8] = {seed};
    const cuzk_request r = {.kind = kind, .input = input, .input_len = sizeof input, .id = id};
    return cuzk_engine_submit(e, job, joined, &r, m);
}

static void expect_done(cuzk_engine *e, cuzk_job job, uint32_t partitions) {
    cuzk_job_info info;
    uint8_t proof[PARTS * PROOF + 1];
    size_t len = sizeof proof;
    assert_int_equal(cuzk_engine_await(e, &info, job, UINT64_MAX, NULL), CUZK_RESULT_OK);
    if (info.state != CUZK_JOB_DONE) fail_msg("%s", info.text);
    assert_int_equal(info.partitions, partitions);
    assert_int_equal(info.partitions_done, partitions);
    assert_int_equal(info.proof_len, partitions * PROOF);
    assert_string_equal(info.text, "");
    assert_true(info.total_ms > 0 && info.device_ms > 0);
    memset(proof, 0xee, sizeof proof);
    assert_int_equal(cuzk_engine_proof(e, proof, &len, job, NULL), CUZK_RESULT_OK);
    assert_int_equal(len, partitions * PROOF);
    assert_int_equal(proof[len], 0xee);
    for (size_t room = 0; room < len; room += len - 1) { // 0 and one too few
        size_t n = room;
        assert_int_equal(cuzk_engine_proof(e, proof, &n, job, NULL), CUZK_RESULT_BUFFER);
        assert_int_equal(n, len);
    }
}

static void nonsense_is_refused(void **state) {
    (void)state;
    cuzk_engine *e = NULL;
    cuzk_message m = {""};
    cuzk_engine_options o;
    cuzk_engine_free(NULL);
    cuzk_engine_options_init(NULL);
    assert_int_equal(cuzk_engine_new(NULL, NULL, &m), CUZK_RESULT_USAGE);
    memset(&o, 0, sizeof o);
    assert_int_equal(cuzk_engine_new(&e, &o, &m), CUZK_RESULT_USAGE);
    assert_null(e);
    cuzk_engine_options_init(&o);
    o.policy = (cuzk_policy)7;
    assert_int_equal(cuzk_engine_new(&e, &o, &m), CUZK_RESULT_OK);
    assert_int_equal(cuzk_engine_start(e, &m), CUZK_RESULT_USAGE); // policy
    cuzk_engine_free(e);
    assert_int_equal(cuzk_engine_new(&e, NULL, &m), CUZK_RESULT_OK);
    assert_int_equal(cuzk_engine_start(e, &m), CUZK_RESULT_USAGE); // no kind
    assert_int_not_equal(strlen(m.text), 0);
    assert_int_equal(cuzk_engine_add_toy(e, "bad", 7, 1, "x", &m), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_engine_add_toy(e, NULL, 16, 1, "x", &m), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_engine_add_porep(e, NULL, 0, &m), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_engine_add_porep(e, "/nowhere", 0x80, &m), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_engine_add_porep(e, "/nowhere", 0, &m), CUZK_RESULT_OK);
    assert_int_equal(cuzk_engine_add_toy(e, "toy", 16, 1, "x", &m), CUZK_RESULT_OK);
    cuzk_job job = 0;
    cuzk_job_info info;
    size_t len = 0;
    int drained = 0;
    assert_int_equal(submit(e, &job, "toy", 1, NULL, NULL, &m), CUZK_RESULT_USAGE); // not started
    assert_int_equal(cuzk_engine_await(e, &info, 1, 0, &m), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_engine_start(e, &m), CUZK_RESULT_OK);
    assert_int_equal(cuzk_engine_start(e, &m), CUZK_RESULT_USAGE); // twice
    assert_int_equal(cuzk_engine_add_toy(e, "late", 16, 1, "x", &m), CUZK_RESULT_USAGE);
    assert_int_equal(submit(e, &job, "nothing", 1, NULL, NULL, &m), CUZK_RESULT_INPUT);
    assert_int_equal(submit(e, NULL, "toy", 1, NULL, NULL, &m), CUZK_RESULT_USAGE);
    const cuzk_request no_c1 = {.kind = "porep", .input = (const uint8_t *)"{", .input_len = 1};
    assert_int_equal(cuzk_engine_submit(e, &job, NULL, &no_c1, &m), CUZK_RESULT_FORMAT);
    assert_int_equal(cuzk_engine_await(e, &info, 99, 0, &m), CUZK_RESULT_INPUT);
    assert_int_equal(cuzk_engine_await(e, NULL, 99, 0, &m), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_engine_proof(e, NULL, &len, 99, &m), CUZK_RESULT_INPUT);
    assert_int_equal(cuzk_engine_proof(e, NULL, NULL, 99, &m), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_engine_cancel(e, 99, NULL), CUZK_RESULT_INPUT);
    assert_int_equal(cuzk_engine_drain(e, NULL, 0, NULL), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_engine_preload(e, "porep-2k", &m), CUZK_RESULT_IO);
    assert_non_null(strstr(m.text, "/nowhere/v28-"));
    assert_int_equal(cuzk_engine_preload(e, "no-such", &m), CUZK_RESULT_INPUT);
    assert_int_equal(cuzk_engine_drain(e, &drained, UINT64_MAX, NULL), CUZK_RESULT_OK);
    assert_int_equal(drained, 1);
    assert_int_equal(submit(e, &job, "toy", 1, NULL, NULL, &m), CUZK_RESULT_CANCELLED);
    cuzk_engine_free(e);
}

static void jobs_under_each_policy(void **state) {
    (void)state;
    for (int policy = CUZK_POLICY_PARTITION; policy <= CUZK_POLICY_BATCH; policy++) {
        cuzk_engine_options o;
        cuzk_engine_options_init(&o);
        o.policy = (cuzk_policy)policy;
        o.slot_size = 2;
        o.batch_size = 2;
        o.batch_wait_ms = 5;
        cuzk_engine *e = start(&o);
        assert_int_equal(cuzk_engine_preload(e, "toy-3", NULL), CUZK_RESULT_OK);
        cuzk_job jobs[6];
        for (int i = 0; i < 6; i++)
            assert_int_equal(submit(e, &jobs[i], i % 2 ? "one" : "many", (uint8_t)i, NULL, NULL, NULL), CUZK_RESULT_OK);
        for (int i = 0; i < 6; i++) expect_done(e, jobs[i], i % 2 ? 1 : PARTS);
        cuzk_engine_figures f;
        cuzk_engine_figures_of(e, &f);
        assert_int_equal(f.accepted, 6);
        assert_int_equal(f.done, 6);
        assert_int_equal(f.keys_loaded, 1);
        cuzk_engine_free(e);
    }
}

static void ids_join_and_collide(void **state) {
    (void)state;
    cuzk_engine *e = start(NULL);
    cuzk_job a = 0, b = 0, c = 0;
    int joined = 7;
    cuzk_message m = {""};
    assert_int_equal(submit(e, &a, "many", 1, "x", &joined, &m), CUZK_RESULT_OK);
    assert_int_equal(joined, 0);
    assert_int_equal(submit(e, &b, "many", 1, "x", &joined, &m), CUZK_RESULT_OK);
    assert_int_equal(joined, 1);
    assert_true(a == b);
    assert_int_equal(submit(e, &c, "many", 2, "x", &joined, &m), CUZK_RESULT_INPUT);
    assert_non_null(strstr(m.text, "ID_IN_USE"));
    expect_done(e, a, PARTS);
    uint64_t freed = 0;
    while (cuzk_engine_evict(e, &freed, "toy-1", NULL) != CUZK_RESULT_OK)
        nanosleep(&(struct timespec){0, 1000000}, NULL); // the last unit is being freed
    assert_true(freed > 0);
    assert_int_equal(cuzk_engine_evict(e, &freed, "toy-1", NULL), CUZK_RESULT_OK);
    assert_int_equal(freed, 0);
    cuzk_engine_free(e);
}

static void cancel_and_limits(void **state) {
    (void)state;
    cuzk_engine_options o;
    cuzk_message m = {""};
    cuzk_engine_options_init(&o);
    o.max_pending_jobs = 2;
    cuzk_engine *e = NULL;
    assert_int_equal(cuzk_engine_new(&e, &o, &m), CUZK_RESULT_OK);
    // Large enough that it is still on its way when it is cancelled.
    assert_int_equal(cuzk_engine_add_toy(e, "slow", 1 << 12, 64, "engine test", &m), CUZK_RESULT_OK);
    assert_int_equal(cuzk_engine_start(e, &m), CUZK_RESULT_OK);
    cuzk_job job[3];
    cuzk_job_info info;
    assert_int_equal(submit(e, &job[0], "slow", 1, NULL, NULL, &m), CUZK_RESULT_OK);
    assert_int_equal(submit(e, &job[1], "slow", 2, NULL, NULL, &m), CUZK_RESULT_OK);
    assert_int_equal(submit(e, &job[2], "slow", 3, NULL, NULL, &m), CUZK_RESULT_BUSY);
    assert_string_equal(cuzk_result_name(CUZK_RESULT_BUSY), "BUSY");
    assert_int_equal(cuzk_engine_await(e, &info, job[0], 1, &m), CUZK_RESULT_OK);
    assert_true(info.state == CUZK_JOB_QUEUED || info.state == CUZK_JOB_RUNNING);
    size_t len = 0;
    assert_int_equal(cuzk_engine_proof(e, NULL, &len, job[0], &m), CUZK_RESULT_USAGE);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cuzk_engine_cancel(e, job[i], &m), CUZK_RESULT_OK);
        assert_int_equal(cuzk_engine_progress(e, &info, job[i], &m), CUZK_RESULT_OK);
        assert_int_equal(info.state, CUZK_JOB_CANCELLED);
        assert_string_equal(info.reason, "CANCELLED");
        assert_int_equal(cuzk_engine_proof(e, NULL, &len, job[i], &m), CUZK_RESULT_CANCELLED);
    }
    cuzk_engine_free(e);

    o.memory_budget = 1000;
    e = start(&o);
    assert_int_equal(submit(e, &job[0], "one", 1, NULL, NULL, &m), CUZK_RESULT_MEMORY);
    assert_int_equal(cuzk_engine_preload(e, "toy-1", &m), CUZK_RESULT_MEMORY);
    cuzk_engine_free(e);
}

typedef struct client {
    cuzk_engine *e;
    pthread_t thread;
    unsigned done;
} client;
static void *client_main(void *arg) {
    client *c = arg;
    for (uint8_t i = 0; i < 10; i++) {
        cuzk_job job;
        cuzk_job_info info;
        if (submit(c->e, &job, "many", i, NULL, NULL, NULL) == CUZK_RESULT_OK &&
            cuzk_engine_await(c->e, &info, job, UINT64_MAX, NULL) == CUZK_RESULT_OK)
            c->done += info.state == CUZK_JOB_DONE;
    }
    return NULL;
}

// Many threads, one engine, and the timeline it leaves is one the analyser reads.
static void many_callers_one_timeline(void **state) {
    (void)state;
    enum { CLIENTS = 4 };
    char path[] = "/tmp/cuzk-engine-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    cuzk_engine_options o;
    cuzk_engine_options_init(&o);
    o.timeline_path = path;
    cuzk_engine *e = start(&o);
    client c[CLIENTS] = {{0}};
    for (int i = 0; i < CLIENTS; i++) {
        c[i].e = e;
        assert_int_equal(pthread_create(&c[i].thread, NULL, client_main, &c[i]), 0);
    }
    for (int i = 0; i < CLIENTS; i++) {
        assert_int_equal(pthread_join(c[i].thread, NULL), 0);
        assert_int_equal(c[i].done, 10);
    }
    cuzk_engine_free(e);
    static char log[1 << 20];
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    const size_t len = fread(log, 1, sizeof log, f);
    fclose(f);
    unlink(path);
    cuzk_timeline *t = NULL;
    cuzk_timeline_figures all;
    assert_int_equal(cuzk_timeline_new(&t), CUZK_RESULT_OK);
    assert_int_equal(cuzk_timeline_add(t, log, len), CUZK_RESULT_OK);
    assert_int_equal(cuzk_timeline_end(t), CUZK_RESULT_OK);
    assert_int_equal(cuzk_timeline_analyse(t, NULL), CUZK_RESULT_OK);
    assert_int_equal(cuzk_timeline_figures_of(t, &all, CUZK_TIMELINE_ALL), CUZK_RESULT_OK);
    assert_int_equal(all.proofs, CLIENTS * 10);
    cuzk_timeline_free(t);

    cuzk_message m = {""};
    o.timeline_path = "/nowhere/timeline.log";
    assert_int_equal(cuzk_engine_new(&e, &o, &m), CUZK_RESULT_OK);
    assert_int_equal(cuzk_engine_add_toy(e, "one", 16, 1, "x", &m), CUZK_RESULT_OK);
    assert_int_equal(cuzk_engine_start(e, &m), CUZK_RESULT_IO);
    assert_non_null(strstr(m.text, "/nowhere/timeline.log"));
    cuzk_engine_free(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonsense_is_refused),       cmocka_unit_test(jobs_under_each_policy),
        cmocka_unit_test(ids_join_and_collide),      cmocka_unit_test(cancel_and_limits),
        cmocka_unit_test(many_callers_one_timeline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
