// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The whole way: client, wire, service, engine, toy circuits and back. What single parts do has tests of its own; here
// they fit together.
#include <pthread.h>

#include "testing.h"

#include "base/bytes.h"
#include "service/client.h"
#include "service/grpc_server.h"
#include "service/service_bed.h"

enum { TOY_BYTES = 8, CALL_MS = 60000 };

static const char *const PLAIN[] = {"sim"};
static const char *const SLOW[] = {"sim:kernel=300ms"};

typedef struct rig {
    service *service;
    rpc_server *server;
    client *client;
} rig;

static rig open_rig(const char *const *dev) {
    rig r;
    const service_options o = bed_options(dev);
    r.service = bed_start(&o);
    const char *const listen[] = {"127.0.0.1:0"};
    const rpc_server_options ro = {.listen = listen, .n_listen = 1, .cancel_on_disconnect = true};
    cuzk_error err = {0};
    if (rpc_server_start(&r.server, r.service, &ro, &err) != CUZK_OK) fail_msg("%s", err.text);
    const client_options co = {.target = rpc_server_address(r.server, 0)};
    if (client_open(&r.client, &co, &err) != CUZK_OK) fail_msg("%s", err.text);
    return r;
}

static void close_rig(rig *r) {
    client_close(&r->client);
    rpc_server_stop(&r->server, 1000);
    service_destroy(&r->service);
}

static client_proof_request toy(uint8_t input[TOY_BYTES], const char *id, uint32_t partitions, uint64_t seed) {
    store_le64(input, seed);
    return (client_proof_request){.request_id = id,
                                  .kind = SERVICE_TOY,
                                  .sector_size = partitions,
                                  .registered_proof = BED_LOG,
                                  .vanilla_proof = {input, TOY_BYTES}};
}

static void expect(int got, const client_error *err, int code) {
    if (got != code) fail_msg("%s (%s), expected %s", client_code_name(got), err->text, client_code_name(code));
}

static void expect_proof(const client_result *r, uint32_t partitions, uint64_t seed) {
    if (r->status != CLIENT_JOB_COMPLETED) fail_msg("status %d: %s", r->status, r->text);
    assert_true(bed_verifies(BED_LOG, partitions, seed, r->proof, r->proof_len));
}

static void prove_and_await(void **state) {
    (void)state;
    rig r = open_rig(PLAIN);
    uint8_t input[TOY_BYTES];
    client_error err = {0};
    client_result out;
    client_submitted job;
    client_proof_request q = toy(input, "one", 3, 7);
    expect(client_prove(r.client, &out, &q, CALL_MS, &err), &err, CLIENT_OK);
    assert_string_equal(out.job_id, "one");
    expect_proof(&out, 3, 7);
    client_result_free(&out);
    // Without an id it gets one of ours, by which it is found.
    q = toy(input, NULL, 2, 8);
    expect(client_submit(r.client, &job, &q, CALL_MS, &err), &err, CLIENT_OK);
    assert_int_equal(strlen(job.job_id), 36);
    for (int i = 0; i < 2; i++) {
        expect(client_await(r.client, &out, job.job_id, 0, CALL_MS, &err), &err, CLIENT_OK);
        assert_string_equal(out.job_id, job.job_id);
        expect_proof(&out, 2, 8);
        client_result_free(&out);
    }
    // The same id: the same answer for the same input, refused for another.
    q = toy(input, "one", 3, 7);
    expect(client_prove(r.client, &out, &q, CALL_MS, &err), &err, CLIENT_OK);
    expect_proof(&out, 3, 7);
    client_result_free(&out);
    q = toy(input, "one", 3, 9);
    expect(client_prove(r.client, &out, &q, CALL_MS, &err), &err, CLIENT_ALREADY_EXISTS);
    q = toy(input, "two", 3, 9);
    q.vanilla_proof.len = 5;
    expect(client_prove(r.client, &out, &q, CALL_MS, &err), &err, CLIENT_INVALID_ARGUMENT);
    assert_non_null(strstr(err.text, "vanilla_proof"));
    expect(client_await(r.client, &out, "never", 0, CALL_MS, &err), &err, CLIENT_NOT_FOUND);
    close_rig(&r);
}

static void cancel(void **state) {
    (void)state;
    rig r = open_rig(SLOW);
    uint8_t input[TOY_BYTES];
    client_error err = {0};
    client_result out;
    client_submitted job;
    bool was_running;
    client_proof_request q = toy(input, "slow", 4, 1);
    expect(client_submit(r.client, &job, &q, CALL_MS, &err), &err, CLIENT_OK);
    expect(client_await(r.client, &out, "slow", 20, CALL_MS, &err), &err, CLIENT_OK);
    assert_int_equal(out.status, CLIENT_JOB_TIMEOUT);
    client_result_free(&out);
    for (int i = 0; i < 2; i++) {
        expect(client_cancel(r.client, &was_running, "slow", CALL_MS, &err), &err, CLIENT_OK);
        assert_int_equal(was_running, i == 0);
        expect(client_await(r.client, &out, "slow", 0, CALL_MS, &err), &err, CLIENT_OK);
        assert_int_equal(out.status, CLIENT_JOB_CANCELLED);
        client_result_free(&out);
    }
    expect(client_cancel(r.client, &was_running, "never", CALL_MS, &err), &err, CLIENT_NOT_FOUND);
    // A Prove that is given up cancels its job.
    q = toy(input, "left", 4, 2);
    expect(client_prove(r.client, &out, &q, 100, &err), &err, CLIENT_DEADLINE_EXCEEDED);
    expect(client_await(r.client, &out, "left", 0, CALL_MS, &err), &err, CLIENT_OK);
    assert_int_equal(out.status, CLIENT_JOB_CANCELLED);
    client_result_free(&out);
    close_rig(&r);
}

static void keys_and_questions(void **state) {
    (void)state;
    rig r = open_rig(PLAIN);
    client_error err = {0};
    bool flag;
    uint64_t n;
    expect(client_preload(r.client, &flag, &n, "toy-5", CALL_MS, &err), &err, CLIENT_OK);
    assert_false(flag);
    expect(client_preload(r.client, &flag, &n, "toy-5", CALL_MS, &err), &err, CLIENT_OK);
    assert_true(flag);
    client_status s;
    expect(client_get_status(r.client, &s, CALL_MS, &err), &err, CLIENT_OK);
    assert_int_equal(s.n_devices, 1);
    assert_int_equal(s.n_keys, 1);
    assert_string_equal(s.keys[0].circuit_id, "toy-5");
    assert_int_equal(s.keys[0].tier, 0);
    assert_true(s.keys[0].bytes > 0);
    client_status_free(&s);
    expect(client_evict(r.client, &flag, &n, "toy-5", CALL_MS, &err), &err, CLIENT_OK);
    assert_true(flag);
    assert_true(n > 0);
    expect(client_preload(r.client, &flag, &n, "toy-99", CALL_MS, &err), &err, CLIENT_INVALID_ARGUMENT);
    uint8_t input[TOY_BYTES];
    client_result out;
    const client_proof_request q = toy(input, "q", 1, 1);
    expect(client_prove(r.client, &out, &q, CALL_MS, &err), &err, CLIENT_OK);
    client_result_free(&out);
    expect(client_get_status(r.client, &s, CALL_MS, &err), &err, CLIENT_OK);
    assert_int_equal(s.completed, 1);
    assert_int_equal(s.failed, 0);
    client_status_free(&s);
    char *text;
    size_t len;
    expect(client_metrics(r.client, &text, &len, CALL_MS, &err), &err, CLIENT_OK);
    assert_non_null(strstr(text, "\ncuzk_proofs_completed_total 1\n"));
    free(text);
    expect(client_status_json(r.client, &text, &len, CALL_MS, &err), &err, CLIENT_OK);
    assert_int_equal(len, strlen(text));
    assert_non_null(strstr(text, "\"job_id\":\"q\",\"kind\":\"toy\",\"state\":\"done\""));
    free(text);
    close_rig(&r);
}

static bool until_done(void *ctx, const client_lines *l) {
    char *all = ctx;
    strncat(all, l->text, 65535 - strlen(all));
    return strstr(all, "JOB_DONE") == NULL;
}

static void timeline_of_a_job(void **state) {
    (void)state;
    rig r = open_rig(PLAIN);
    static char all[65536];
    uint8_t input[TOY_BYTES];
    client_error err = {0};
    client_submitted job;
    const client_proof_request q = toy(input, "seen", 2, 1);
    expect(client_submit(r.client, &job, &q, CALL_MS, &err), &err, CLIENT_OK);
    expect(client_watch_timeline(r.client, 0, 0, CALL_MS, until_done, all, &err), &err, CLIENT_OK);
    client_lines l;
    expect(client_timeline(r.client, &l, 0, 0, CALL_MS, &err), &err, CLIENT_OK);
    assert_true(l.len >= strlen(all));
    assert_memory_equal(l.text, all, strlen(all));
    assert_non_null(strstr(l.text, ",SYNTH_START,seen,"));
    assert_non_null(strstr(l.text, ",GPU_END,seen,"));
    client_lines_free(&l);
    close_rig(&r);
}

typedef struct worker {
    rig *rig;
    pthread_t thread;
    int n, code;
    client_error err;
    client_result out;
} worker;

static void *work_main(void *arg) {
    worker *w = arg;
    uint8_t input[TOY_BYTES];
    const client_proof_request q = toy(input, NULL, 1 + (uint32_t)w->n % 3, (uint64_t)w->n);
    w->code = client_prove(w->rig->client, &w->out, &q, CALL_MS, &w->err);
    return NULL;
}

static void many_at_once(void **state) {
    (void)state;
    enum { MANY = 9 };
    rig r = open_rig(PLAIN);
    worker w[MANY];
    for (int i = 0; i < MANY; i++) {
        w[i] = (worker){.rig = &r, .n = i};
        assert_int_equal(pthread_create(&w[i].thread, NULL, work_main, &w[i]), 0);
    }
    for (int i = 0; i < MANY; i++) {
        pthread_join(w[i].thread, NULL);
        expect(w[i].code, &w[i].err, CLIENT_OK);
        expect_proof(&w[i].out, 1 + (uint32_t)i % 3, (uint64_t)i);
        client_result_free(&w[i].out);
    }
    close_rig(&r);
}

// As the daemon ends: what was accepted is finished and told, what is new is sent away.
static void drain(void **state) {
    (void)state;
    rig r = open_rig(SLOW);
    worker w = {.rig = &r, .n = 1};
    assert_int_equal(pthread_create(&w.thread, NULL, work_main, &w), 0);
    service_counts c = {0};
    while (c.queued + c.running == 0) c = bed_counts(r.service);
    (void)service_drain(r.service, 1);
    client_error err = {0};
    client_submitted job;
    bool serving = true;
    uint8_t input[TOY_BYTES];
    const client_proof_request q = toy(input, "late", 1, 1);
    expect(client_submit(r.client, &job, &q, CALL_MS, &err), &err, CLIENT_UNAVAILABLE);
    expect(client_healthy(r.client, &serving, CALL_MS, &err), &err, CLIENT_OK);
    assert_false(serving);
    assert_true(service_drain(r.service, CALL_MS));
    pthread_join(w.thread, NULL);
    expect(w.code, &w.err, CLIENT_OK);
    expect_proof(&w.out, 2, 1);
    client_result_free(&w.out);
    close_rig(&r);
}

// The server goes first, in the middle of it; nothing hangs, and the job is the service's to end.
static void stop_in_the_middle(void **state) {
    (void)state;
    rig r = open_rig(SLOW);
    worker w = {.rig = &r, .n = 2};
    assert_int_equal(pthread_create(&w.thread, NULL, work_main, &w), 0);
    service_counts c = {0};
    while (c.queued + c.running == 0) c = bed_counts(r.service);
    rpc_server_stop(&r.server, 0);
    pthread_join(w.thread, NULL);
    expect(w.code, &w.err, CLIENT_UNAVAILABLE);
    assert_int_equal(bed_counts(r.service).cancelled, 0);
    close_rig(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prove_and_await),    cmocka_unit_test(cancel),       cmocka_unit_test(keys_and_questions),
        cmocka_unit_test(timeline_of_a_job),  cmocka_unit_test(many_at_once), cmocka_unit_test(drain),
        cmocka_unit_test(stop_in_the_middle),
    };
    return cmocka_run_group_tests_name("grpc_service", tests, NULL, NULL);
}
