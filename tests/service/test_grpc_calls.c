// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Each call of cuzk.v1.ProvingEngine, from the client to the service and back.
#include <pthread.h>

#include "grpc_bed.h"

static void expect_code(int got, const client_error *err, int code, const char *word) {
    if (got != code) fail_msg("%s (%s), expected %s", client_code_name(got), err->text, client_code_name(code));
    if (code == CLIENT_OK) return;
    assert_int_equal(err->code, code);
    if (strstr(err->text, word) == NULL) fail_msg("\"%s\" does not say \"%s\"", err->text, word);
}

static void prove_gives_the_proof(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    client_proof_request r = bed_request("mine", "now");
    r.sector_size = 10;
    client_result out;
    client_error err = {0};
    expect_code(client_prove(b.client, &out, &r, 5000, &err), &err, CLIENT_OK, "");
    assert_string_equal(out.job_id, "mine");
    assert_int_equal(out.status, CLIENT_JOB_COMPLETED);
    assert_int_equal(out.proof_len, 1920);
    for (size_t i = 0; i < out.proof_len; i++) assert_int_equal(out.proof[i], i / 192);
    assert_string_equal(out.text, "");
    assert_int_equal(out.queue_wait_ms, 1);
    assert_int_equal(out.srs_load_ms, 2);
    assert_int_equal(out.synthesis_ms, 3);
    assert_int_equal(out.gpu_compute_ms, 4);
    assert_int_equal(out.total_ms, 10);
    client_result_free(&out);
    // Many parts instead of one.
    const client_view parts[3] = {{(const uint8_t *)"a", 1}, {(const uint8_t *)"", 0}, {(const uint8_t *)"ccc", 3}};
    r = bed_request("parts", "");
    r.vanilla_proofs = parts;
    r.n_vanilla_proofs = 3;
    expect_code(client_prove(b.client, &out, &r, 5000, &err), &err, CLIENT_OK, "");
    assert_int_equal(out.status, CLIENT_JOB_COMPLETED);
    client_result_free(&out);
    bed_close(&b);
}

static void prove_that_fails(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    client_proof_request r = bed_request("", "fail");
    client_result out;
    client_error err = {0};
    expect_code(client_prove(b.client, &out, &r, 5000, &err), &err, CLIENT_OK, "");
    assert_int_equal(out.status, CLIENT_JOB_FAILED);
    assert_int_equal(out.proof_len, 0);
    assert_non_null(strstr(out.text, "partition 0"));
    client_result_free(&out);
    r = bed_request("", "bad");
    expect_code(client_prove(b.client, &out, &r, 5000, &err), &err, CLIENT_INVALID_ARGUMENT, "vanilla_proof");
    r = bed_request("", "now");
    r.kind = 77;
    expect_code(client_prove(b.client, &out, &r, 5000, &err), &err, CLIENT_INVALID_ARGUMENT, "proof_kind");
    bed_close(&b);
}

static void too_many_come_back_later(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    const client_proof_request r = bed_request("", "full");
    client_submitted out;
    client_error err = {0};
    expect_code(client_submit(b.client, &out, &r, 5000, &err), &err, CLIENT_RESOURCE_EXHAUSTED, "1500 ms");
    assert_int_equal(err.retry_after_ms, 1500);
    bed_close(&b);
}

static void submit_and_await(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    const client_proof_request r = bed_request("j", "hold");
    client_submitted job;
    client_result out;
    client_error err = {0};
    expect_code(client_submit(b.client, &job, &r, 5000, &err), &err, CLIENT_OK, "");
    assert_string_equal(job.job_id, "j");
    assert_int_equal(job.queue_position, 3);
    // The wait's own limit is an answer, the call's is an error; the job goes on after both.
    expect_code(client_await(b.client, &out, "j", 50, 5000, &err), &err, CLIENT_OK, "");
    assert_int_equal(out.status, CLIENT_JOB_TIMEOUT);
    client_result_free(&out);
    expect_code(client_await(b.client, &out, "j", 0, 100, &err), &err, CLIENT_DEADLINE_EXCEEDED, "");
    fake_finish(b.service, "j");
    expect_code(client_await(b.client, &out, "j", 0, 5000, &err), &err, CLIENT_OK, "");
    assert_int_equal(out.status, CLIENT_JOB_COMPLETED);
    client_result_free(&out);
    // And once more, long after.
    expect_code(client_await(b.client, &out, "j", 0, 5000, &err), &err, CLIENT_OK, "");
    assert_int_equal(out.proof_len, 192);
    client_result_free(&out);
    expect_code(client_await(b.client, &out, "nobody", 0, 5000, &err), &err, CLIENT_NOT_FOUND, "nobody");
    bed_close(&b);
}

static void the_same_id(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    client_submitted job;
    client_error err = {0};
    client_proof_request r = bed_request("twice", "hold");
    expect_code(client_submit(b.client, &job, &r, 5000, &err), &err, CLIENT_OK, "");
    expect_code(client_submit(b.client, &job, &r, 5000, &err), &err, CLIENT_OK, "");
    assert_string_equal(job.device, "");
    // One that the device is at.
    client_proof_request on = bed_request("on-device", "hold");
    for (int i = 0; i < 2; i++) {
        expect_code(client_submit(b.client, &job, &on, 5000, &err), &err, CLIENT_OK, "");
        assert_string_equal(job.device, i == 0 ? "" : "fake");
    }
    r = bed_request("twice", "hold on");
    expect_code(client_submit(b.client, &job, &r, 5000, &err), &err, CLIENT_ALREADY_EXISTS, "twice");
    bed_close(&b);
}

typedef struct waiter {
    bed *bed;
    client_result out;
    client_error err;
    int code;
    uint64_t timeout_ms;
    bool prove;
    pthread_t thread;
} waiter;

static void *wait_main(void *arg) {
    waiter *w = arg;
    const client_proof_request r = bed_request("held", "hold");
    w->code = w->prove ? client_prove(w->bed->client, &w->out, &r, w->timeout_ms, &w->err)
                       : client_await(w->bed->client, &w->out, "held", 0, w->timeout_ms, &w->err);
    return NULL;
}

static bool is_watched_twice(void *s) { return fake_watches(s) == 2; }

static void cancel_answers_the_waiters(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    bool was_running;
    client_submitted job;
    client_error err = {0};
    expect_code(client_cancel(b.client, &was_running, "held", 5000, &err), &err, CLIENT_NOT_FOUND, "held");
    const client_proof_request r = bed_request("held", "hold");
    expect_code(client_submit(b.client, &job, &r, 5000, &err), &err, CLIENT_OK, "");
    waiter w[2] = {{.bed = &b, .prove = true}, {.bed = &b}};
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&w[i].thread, NULL, wait_main, &w[i]), 0);
    eventually(is_watched_twice, b.service);
    expect_code(client_cancel(b.client, &was_running, "held", 5000, &err), &err, CLIENT_OK, "");
    assert_true(was_running);
    for (int i = 0; i < 2; i++) {
        pthread_join(w[i].thread, NULL);
        expect_code(w[i].code, &w[i].err, CLIENT_OK, "");
        assert_int_equal(w[i].out.status, CLIENT_JOB_CANCELLED);
        client_result_free(&w[i].out);
    }
    expect_code(client_cancel(b.client, &was_running, "held", 5000, &err), &err, CLIENT_OK, "");
    assert_false(was_running);
    bed_close(&b);
}

static bool is_watched(void *s) { return fake_watches(s) == 1; }
static bool is_unwatched(void *s) { return fake_watches(s) == 0; }
static bool held_is_cancelled(void *s) { return fake_is_cancelled(s, "held"); }

// A Prove that nobody waits for any more: its job ends or goes on as the options say. An AwaitProof never ends one.
static void the_client_leaves(void **state) {
    (void)state;
    for (int cancel = 0; cancel < 2; cancel++) {
        const rpc_server_options o = {.cancel_on_disconnect = cancel != 0};
        bed b = bed_open(&o);
        waiter w = {.bed = &b, .prove = true, .timeout_ms = 300};
        assert_int_equal(pthread_create(&w.thread, NULL, wait_main, &w), 0);
        pthread_join(w.thread, NULL);
        assert_int_equal(w.code, CLIENT_DEADLINE_EXCEEDED);
        eventually(is_unwatched, b.service);
        if (cancel)
            eventually(held_is_cancelled, b.service);
        else
            assert_false(fake_is_cancelled(b.service, "held"));
        bed_close(&b);
    }
    const rpc_server_options o = {.cancel_on_disconnect = true};
    bed b = bed_open(&o);
    client_submitted job;
    client_error err = {0};
    const client_proof_request r = bed_request("held", "hold");
    expect_code(client_submit(b.client, &job, &r, 5000, &err), &err, CLIENT_OK, "");
    waiter w = {.bed = &b, .timeout_ms = 300};
    assert_int_equal(pthread_create(&w.thread, NULL, wait_main, &w), 0);
    eventually(is_watched, b.service);
    pthread_join(w.thread, NULL);
    assert_int_equal(w.code, CLIENT_DEADLINE_EXCEEDED);
    eventually(is_unwatched, b.service);
    assert_false(fake_is_cancelled(b.service, "held"));
    bed_close(&b);
}

static void keys(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    bool already, was_loaded;
    uint64_t ms, freed;
    client_error err = {0};
    expect_code(client_evict(b.client, &was_loaded, &freed, "toy-10", 5000, &err), &err, CLIENT_OK, "");
    assert_false(was_loaded);
    expect_code(client_preload(b.client, &already, &ms, "toy-10", 5000, &err), &err, CLIENT_OK, "");
    assert_false(already);
    assert_int_equal(ms, 7);
    expect_code(client_preload(b.client, &already, &ms, "toy-10", 5000, &err), &err, CLIENT_OK, "");
    assert_true(already);
    expect_code(client_evict(b.client, &was_loaded, &freed, "toy-10", 5000, &err), &err, CLIENT_OK, "");
    assert_true(was_loaded);
    assert_int_equal(freed, 4096);
    expect_code(client_preload(b.client, &already, &ms, "porep-1k", 5000, &err), &err, CLIENT_NOT_FOUND, "porep-1k");
    bed_close(&b);
}

static void *preload_main(void *arg) {
    waiter *w = arg;
    bool already;
    uint64_t ms;
    w->code = client_preload(w->bed->client, &already, &ms, "toy-10", 0, &w->err);
    return NULL;
}

// Many keys are asked for and none comes: questions and requests are answered all the same.
static void nobody_waits_for_a_key(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    fake_hold_preloads(b.service, true);
    enum { MANY = 30 };
    waiter w[MANY];
    for (int i = 0; i < MANY; i++) {
        w[i] = (waiter){.bed = &b};
        assert_int_equal(pthread_create(&w[i].thread, NULL, preload_main, &w[i]), 0);
    }
    nap(100);
    client_status status;
    client_result out;
    client_error err = {0};
    expect_code(client_get_status(b.client, &status, 5000, &err), &err, CLIENT_OK, "");
    client_status_free(&status);
    const client_proof_request r = bed_request("", "now");
    expect_code(client_prove(b.client, &out, &r, 5000, &err), &err, CLIENT_OK, "");
    client_result_free(&out);
    fake_hold_preloads(b.service, false);
    int refused = 0;
    for (int i = 0; i < MANY; i++) {
        pthread_join(w[i].thread, NULL);
        if (w[i].code != CLIENT_OK) {
            expect_code(w[i].code, &w[i].err, CLIENT_RESOURCE_EXHAUSTED, "try again in");
            assert_true(w[i].err.retry_after_ms > 0);
            refused++;
        }
    }
    assert_true(refused >= MANY - 17); // one being read, sixteen waiting
    bed_close(&b);
}

static void status_and_metrics(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    client_error err = {0};
    client_submitted job;
    const char *const inputs[] = {"now", "now 2", "fail", "hold"};
    for (int i = 0; i < 4; i++) {
        const client_proof_request r = bed_request("", inputs[i]);
        expect_code(client_submit(b.client, &job, &r, 5000, &err), &err, CLIENT_OK, "");
    }
    client_status s;
    expect_code(client_get_status(b.client, &s, 5000, &err), &err, CLIENT_OK, "");
    assert_int_equal(s.completed, 2);
    assert_int_equal(s.failed, 1);
    assert_int_equal(s.uptime_s, 12);
    assert_int_equal(s.memory_used, 400);
    assert_int_equal(s.memory_total, 1000);
    assert_int_equal(s.n_devices, 1);
    assert_string_equal(s.devices[0].name, "fake");
    assert_string_equal(s.devices[0].job_id, "on-device");
    assert_string_equal(s.devices[0].kind, "toy");
    assert_int_equal(s.devices[0].vram_total_bytes, 1000);
    assert_int_equal(s.devices[0].vram_free_bytes, 600);
    assert_int_equal(s.n_keys, 1);
    assert_string_equal(s.keys[0].circuit_id, "toy-10");
    assert_int_equal(s.keys[0].tier, 2);
    assert_int_equal(s.keys[0].bytes, 4096);
    assert_int_equal(s.keys[0].users, 2);
    assert_int_equal(s.n_queues, 5);
    assert_string_equal(s.queues[0].kind, "porep");
    assert_string_equal(s.queues[4].kind, "toy");
    assert_int_equal(s.queues[4].in_progress, 1);
    client_status_free(&s);
    char *text;
    size_t len;
    expect_code(client_metrics(b.client, &text, &len, 5000, &err), &err, CLIENT_OK, "");
    assert_string_equal(text, "# TYPE cuzk_up gauge\ncuzk_up 1\n");
    assert_int_equal(len, strlen(text));
    free(text);
    expect_code(client_status_json(b.client, &text, &len, 5000, &err), &err, CLIENT_OK, "");
    assert_string_equal(text, "{\"up\":true}");
    assert_int_equal(len, strlen(text));
    free(text);
    bed_close(&b);
}

static void timeline(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    client_error err = {0};
    client_lines l;
    expect_code(client_timeline(b.client, &l, 0, 0, 5000, &err), &err, CLIENT_OK, "");
    assert_int_equal(l.len, 0);
    client_lines_free(&l);
    for (int i = 1; i <= 5000; i++) {
        char line[32];
        snprintf(line, sizeof line, "line %d", i);
        fake_say(b.service, line);
    }
    // Everything in pieces of 4 KiB; what memory no longer has is counted.
    uint64_t seq = 0, lines = 0;
    for (int i = 5000 - 4096 + 1;;) {
        expect_code(client_timeline(b.client, &l, seq, 1, 5000, &err), &err, CLIENT_OK, "");
        assert_true(l.len <= 4096);
        seq = l.next_seq;
        const bool last = l.len == 0;
        for (const char *at = l.text; *at != 0; at = strchr(at, '\n') + 1, i++, lines++)
            assert_int_equal(strtol(at + 5, NULL, 10), i);
        client_lines_free(&l);
        if (last) break;
    }
    assert_int_equal(lines, 4096);
    assert_int_equal(seq, 5001);
    expect_code(client_timeline(b.client, &l, 5, 0, 5000, &err), &err, CLIENT_OK, "");
    assert_int_equal(l.lost, 5000 - 4096 + 1 - 5);
    client_lines_free(&l);
    bed_close(&b);
}

typedef struct watcher {
    bed *bed;
    pthread_t thread;
    pthread_mutex_t lock;
    char text[4096];
    uint32_t answers;
    int code;
    client_error err;
} watcher;

static bool take_lines(void *ctx, const client_lines *l) {
    watcher *w = ctx;
    pthread_mutex_lock(&w->lock);
    strncat(w->text, l->text, sizeof w->text - strlen(w->text) - 1);
    w->answers++;
    const bool more = strstr(w->text, "enough") == NULL;
    pthread_mutex_unlock(&w->lock);
    return more;
}

static void *watch_main(void *arg) {
    watcher *w = arg;
    w->code = client_watch_timeline(w->bed->client, 0, 0, 0, take_lines, w, &w->err);
    return NULL;
}

static bool has_one(void *ctx) {
    watcher *w = ctx;
    pthread_mutex_lock(&w->lock);
    const bool has = w->answers > 0;
    pthread_mutex_unlock(&w->lock);
    return has;
}

static void watch_timeline(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    watcher w = {.bed = &b, .lock = PTHREAD_MUTEX_INITIALIZER};
    fake_say(b.service, "before");
    assert_int_equal(pthread_create(&w.thread, NULL, watch_main, &w), 0);
    eventually(has_one, &w);
    // Lines in quick succession share an answer.
    for (int i = 0; i < 50; i++) fake_say(b.service, "x");
    nap(300);
    fake_say(b.service, "enough");
    pthread_join(w.thread, NULL);
    expect_code(w.code, &w.err, CLIENT_OK, "");
    assert_int_equal(strlen(w.text), strlen("before\nenough\n") + 100);
    assert_true(w.answers <= 6);
    bed_close(&b);
}

// Waits and streams are answered when the server goes; what waits gets its grace first.
static void shutdown_answers_all(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    watcher w = {.bed = &b, .lock = PTHREAD_MUTEX_INITIALIZER};
    waiter held = {.bed = &b, .prove = true};
    fake_say(b.service, "first");
    assert_int_equal(pthread_create(&w.thread, NULL, watch_main, &w), 0);
    assert_int_equal(pthread_create(&held.thread, NULL, wait_main, &held), 0);
    eventually(has_one, &w);
    eventually(is_watched, b.service);
    rpc_server_stop(&b.server, 300);
    pthread_join(w.thread, NULL);
    pthread_join(held.thread, NULL);
    expect_code(w.code, &w.err, CLIENT_UNAVAILABLE, "shutting down");
    expect_code(held.code, &held.err, CLIENT_UNAVAILABLE, "shutting down");
    assert_int_equal(fake_watches(b.service), 0);
    assert_false(fake_is_cancelled(b.service, "held"));
    client_status s;
    client_error err = {0};
    expect_code(client_get_status(b.client, &s, 5000, &err), &err, CLIENT_UNAVAILABLE, "");
    client_close(&b.client);
    fake_service_destroy(b.service);
}

static void *stop_main(void *arg) {
    bed *b = arg;
    rpc_server_stop(&b->server, 10000);
    return NULL;
}

static void grace_lets_a_wait_end(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    waiter held = {.bed = &b, .prove = true};
    assert_int_equal(pthread_create(&held.thread, NULL, wait_main, &held), 0);
    eventually(is_watched, b.service);
    pthread_t stopper;
    assert_int_equal(pthread_create(&stopper, NULL, stop_main, &b), 0);
    nap(100);
    fake_finish(b.service, "held");
    pthread_join(held.thread, NULL);
    pthread_join(stopper, NULL);
    expect_code(held.code, &held.err, CLIENT_OK, "");
    assert_int_equal(held.out.status, CLIENT_JOB_COMPLETED);
    client_result_free(&held.out);
    client_close(&b.client);
    fake_service_destroy(b.service);
}

typedef struct worker {
    bed *bed;
    pthread_t thread;
    int n;
} worker;

static void *work_main(void *arg) {
    worker *w = arg;
    for (int i = 0; i < 12; i++) {
        char id[32];
        snprintf(id, sizeof id, "w%d-%d", w->n, i);
        const client_proof_request r = bed_request(id, "now");
        client_result out;
        client_error err = {0};
        expect_code(client_prove(w->bed->client, &out, &r, 20000, &err), &err, CLIENT_OK, "");
        assert_string_equal(out.job_id, id);
        client_result_free(&out);
    }
    return NULL;
}

static void many_threads_one_client(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    worker w[16];
    for (int i = 0; i < 16; i++) {
        w[i] = (worker){.bed = &b, .n = i};
        assert_int_equal(pthread_create(&w[i].thread, NULL, work_main, &w[i]), 0);
    }
    for (int i = 0; i < 16; i++) pthread_join(w[i].thread, NULL);
    bed_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prove_gives_the_proof),
        cmocka_unit_test(prove_that_fails),
        cmocka_unit_test(too_many_come_back_later),
        cmocka_unit_test(submit_and_await),
        cmocka_unit_test(the_same_id),
        cmocka_unit_test(cancel_answers_the_waiters),
        cmocka_unit_test(the_client_leaves),
        cmocka_unit_test(keys),
        cmocka_unit_test(nobody_waits_for_a_key),
        cmocka_unit_test(status_and_metrics),
        cmocka_unit_test(timeline),
        cmocka_unit_test(watch_timeline),
        cmocka_unit_test(shutdown_answers_all),
        cmocka_unit_test(grace_lets_a_wait_end),
        cmocka_unit_test(many_threads_one_client),
    };
    return cmocka_run_group_tests_name("grpc_calls", tests, NULL, NULL);
}
