// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The recorder: nothing lost that was accepted, drops counted and written down, a broken writer harmless.
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "timeline/log.h"
#include "timeline/recorder.h"

enum { THREADS = 4, EVENTS = 20000 };

static timeline_log *read_log(const char *path) {
    timeline_log *log = NULL;
    assert_int_equal(timeline_log_create(&log, NULL), CUZK_OK);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char buffer[4096];
    size_t n;
    while ((n = fread(buffer, 1, sizeof buffer, f)) > 0)
        assert_int_equal(timeline_log_push(log, buffer, n, NULL), CUZK_OK);
    fclose(f);
    assert_int_equal(timeline_log_finish(log, NULL), CUZK_OK);
    return log;
}

typedef struct worker {
    recorder *r;
    int number;
    unsigned pause_every;
} worker;

static void *work(void *arg) {
    worker *w = arg;
    recorder_lane *lane = recorder_lane_open(w->r);
    char job[TIMELINE_JOB_MAX];
    for (unsigned i = 0; i < EVENTS; i++) {
        snprintf(job, sizeof job, "job-%d", w->number);
        timeline_detail d = TIMELINE_DETAIL_NONE;
        d.worker = w->number;
        d.partition = (int32_t)i;
        recorder_event(lane, i % 2 == 0 ? TL_SYNTH_START : TL_SYNTH_END, job, &d);
        if (w->pause_every != 0 && i % w->pause_every == 0) recorder_flush(w->r);
    }
    recorder_lane_close(&lane);
    assert_null(lane);
    return NULL;
}

// Each thread's events arrive complete and in their order, whatever the others do.
static void test_threads(void **state) {
    (void)state;
    char path[] = "/tmp/cuzk-recorder-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    recorder *r = NULL;
    recorder_options o = RECORDER_OPTIONS;
    o.fd = fd;
    o.version = "0.1.0";
    o.lane_slots = 1 << 12;
    assert_int_equal(recorder_create(&r, &o, NULL), CUZK_OK);
    pthread_t t[THREADS];
    worker w[THREADS];
    for (int i = 0; i < THREADS; i++) {
        w[i] = (worker){r, i, 10000};
        assert_int_equal(pthread_create(&t[i], NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < 50; i++) {
        char out[1024];
        uint64_t seq = 0, lost = 0;
        (void)recorder_since(r, out, &seq, &lost, sizeof out);
        (void)recorder_stats_of(r);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    recorder_flush(r);
    recorder_stats s = recorder_stats_of(r);
    assert_int_equal(s.recorded + s.dropped, THREADS * EVENTS);
    assert_int_equal(s.lost, 0);
    assert_int_equal(recorder_close(&r, NULL), CUZK_OK);
    assert_null(r);

    timeline_log *log = read_log(path);
    assert_int_equal(log->n_bad, 0);
    assert_int_equal(log->events[0].kind, TL_EPOCH);
    int32_t next[THREADS] = {0};
    uint64_t events = 0, drops = 0;
    for (size_t i = 1; i < log->n; i++) {
        const timeline_event *e = &log->events[i];
        if (e->kind == TL_DROP) {
            drops += e->value;
            continue;
        }
        events++;
        assert_in_range(e->worker, 0, THREADS - 1);
        assert_true(e->partition >= next[e->worker]);
        if (s.dropped == 0) assert_int_equal(e->partition, next[e->worker]);
        next[e->worker] = e->partition + 1;
        assert_int_equal(e->kind, e->partition % 2 == 0 ? TL_SYNTH_START : TL_SYNTH_END);
    }
    assert_int_equal(events, s.recorded);
    assert_int_equal(drops, s.dropped);
    timeline_log_destroy(&log);
    close(fd);
    unlink(path);
}

// A sink that waits until it is let go, so that a ring fills up.
typedef struct gate {
    pthread_mutex_t lock;
    pthread_cond_t open_now;
    bool open, entered;
} gate;

static bool gated(void *ctx, const char *lines, size_t len) {
    (void)lines;
    (void)len;
    gate *g = ctx;
    pthread_mutex_lock(&g->lock);
    g->entered = true;
    pthread_cond_broadcast(&g->open_now);
    while (!g->open) pthread_cond_wait(&g->open_now, &g->lock);
    pthread_mutex_unlock(&g->lock);
    return true;
}

// The recording side goes on while the writer stands still; what does not fit is counted exactly, and said in the log.
static void test_full_ring(void **state) {
    (void)state;
    gate g = {.open = false};
    pthread_mutex_init(&g.lock, NULL);
    pthread_cond_init(&g.open_now, NULL);
    recorder *r = NULL;
    recorder_options o = RECORDER_OPTIONS;
    o.sink = gated;
    o.sink_ctx = &g;
    o.lane_slots = 16;
    assert_int_equal(recorder_create(&r, &o, NULL), CUZK_OK);
    pthread_mutex_lock(&g.lock); // the header is being written: the drain thread stands in the sink
    while (!g.entered) pthread_cond_wait(&g.open_now, &g.lock);
    pthread_mutex_unlock(&g.lock);
    recorder_lane *lane = recorder_lane_open(r);
    for (int i = 0; i < 100; i++) recorder_event(lane, TL_RETRY, "j", NULL);
    recorder_stats s = recorder_stats_of(r);
    assert_int_equal(s.recorded, 16);
    assert_int_equal(s.dropped, 84);
    pthread_mutex_lock(&g.lock);
    g.open = true;
    pthread_cond_broadcast(&g.open_now);
    pthread_mutex_unlock(&g.lock);
    recorder_flush(r);
    char out[4096];
    uint64_t seq = 0, lost = 0;
    recorder_since(r, out, &seq, &lost, sizeof out);
    assert_non_null(strstr(out, ",DROP,-,drops=84 lane=0\n"));
    recorder_event(lane, TL_RETRY, "j", NULL); // there is room again
    recorder_lane_close(&lane);
    recorder_flush(r);
    s = recorder_stats_of(r);
    assert_int_equal(s.recorded, 17);
    assert_int_equal(s.dropped, 84);
    assert_int_equal(recorder_close(&r, NULL), CUZK_OK);
    pthread_cond_destroy(&g.open_now);
    pthread_mutex_destroy(&g.lock);
}

static void test_full_disk(void **state) {
    (void)state;
    recorder *r = NULL;
    recorder_options o = RECORDER_OPTIONS;
    o.path = "/dev/full";
    assert_int_equal(recorder_create(&r, &o, NULL), CUZK_OK);
    recorder_lane *lane = recorder_lane_open(r);
    for (int i = 0; i < 10; i++) recorder_event(lane, TL_JOB_DONE, "j", NULL);
    recorder_flush(r);
    recorder_stats s = recorder_stats_of(r);
    assert_int_equal(s.recorded, 10);
    assert_int_equal(s.dropped, 0);
    assert_int_equal(s.written, 0);
    assert_int_equal(s.lost, 11); // with the header
    assert_int_equal(s.last_error, ENOSPC);
    char out[2048]; // memory still has them
    uint64_t seq = 0, lost = 0;
    recorder_since(r, out, &seq, &lost, sizeof out);
    assert_int_equal(seq, 11);
    recorder_lane_close(&lane);
    cuzk_error err = {0};
    assert_int_equal(recorder_close(&r, &err), CUZK_ERR_IO);
    assert_non_null(strstr(err.text, "11 lines"));
}

static void test_bad_path(void **state) {
    (void)state;
    recorder *r = NULL;
    recorder_options o = RECORDER_OPTIONS;
    o.path = "/nowhere/at/all/timeline.log";
    cuzk_error err = {0};
    assert_int_equal(recorder_create(&r, &o, &err), CUZK_ERR_IO);
    assert_null(r);
    assert_non_null(strstr(err.text, "/nowhere/at/all"));
    // Going on without is free.
    recorder_lane *none = recorder_lane_open(NULL);
    assert_null(none);
    recorder_event(none, TL_JOB_DONE, "j", NULL);
    recorder_lane_close(&none);
    recorder_flush(NULL);
    assert_int_equal(recorder_close(&r, NULL), CUZK_OK);
}

// Odd jobs and details become one line each, that reads back as it was.
static void test_escapes(void **state) {
    (void)state;
    char path[] = "/tmp/cuzk-recorder-XXXXXX";
    int fd = mkstemp(path);
    recorder *r = NULL;
    recorder_options o = RECORDER_OPTIONS;
    o.path = path;
    assert_int_equal(recorder_create(&r, &o, NULL), CUZK_OK);
    recorder_lane *lane = recorder_lane_open(r);
    static const char *const JOBS[] = {"a,b", "50%", "line\nbreak", "Ünïcödé ✓", "x%2Cy"};
    enum { N = sizeof JOBS / sizeof *JOBS };
    timeline_detail d = TIMELINE_DETAIL_NONE;
    d.word_key = "reason";
    d.word = "no luck, at all=1";
    for (int i = 0; i < N; i++) recorder_event(lane, TL_JOB_FAIL, JOBS[i], &d);
    char longer[300];
    memset(longer, 'q', sizeof longer);
    longer[298] = 'a', longer[299] = 0;
    recorder_event(lane, TL_JOB_DONE, longer, NULL);
    longer[298] = 'b';
    recorder_event(lane, TL_JOB_DONE, longer, NULL);
    d = TIMELINE_DETAIL_NONE;
    d.text = "gpu=3 state=unhealthy\nTIMELINE,0,JOB_DONE,forged,";
    recorder_event(lane, TL_DEVICE, NULL, &d);
    recorder_lane_close(&lane);
    assert_int_equal(recorder_close(&r, NULL), CUZK_OK);
    timeline_log *log = read_log(path);
    assert_int_equal(log->n, 1 + N + 3);
    for (int i = 0; i < N; i++) {
        const timeline_event *e = &log->events[1 + i];
        char want[64];
        timeline_clean_text(want, JOBS[i], strlen(JOBS[i]));
        assert_string_equal(timeline_name(&log->names, e->job), want);
        assert_string_equal(timeline_name(&log->names, e->name), "no luck, at all=1");
    }
    assert_true(log->events[1 + N].job != log->events[2 + N].job); // long ids that differ at their end stay apart
    assert_int_equal(log->events[3 + N].gpu, 3);
    assert_int_equal(log->events[3 + N].job, TIMELINE_NO_NAME);
    timeline_log_destroy(&log);
    close(fd);
    unlink(path);
}

static void test_since(void **state) {
    (void)state;
    recorder *r = NULL;
    recorder_options o = RECORDER_OPTIONS;
    o.tail_lines = 8;
    assert_int_equal(recorder_create(&r, &o, NULL), CUZK_OK);
    recorder_lane *lane = recorder_lane_open(r);
    for (int i = 0; i < 4; i++) recorder_event(lane, TL_JOB_DONE, "early", NULL);
    recorder_flush(r);
    char out[4096];
    uint64_t seq = 0, lost = 7;
    size_t n = recorder_since(r, out, &seq, &lost, sizeof out);
    assert_int_equal(seq, 5);
    assert_int_equal(lost, 0);
    assert_int_equal(n, strlen(out));
    assert_int_equal(strncmp(out, "TIMELINE,0.000,EPOCH,-,wall=", 28), 0);
    assert_int_equal(recorder_since(r, out, &seq, &lost, sizeof out), 0); // nothing new
    for (int i = 0; i < 20; i++) recorder_event(lane, TL_JOB_DONE, "late", NULL);
    recorder_flush(r);
    n = recorder_since(r, out, &seq, &lost, sizeof out);
    assert_int_equal(lost, 12); // 20 new, 8 kept
    assert_int_equal(seq, 25);
    seq = 17;
    n = recorder_since(r, out, &seq, &lost, 50); // room for one line: whole lines only
    assert_true(n > 0 && out[n - 1] == '\n');
    assert_int_equal(seq, 18);
    seq = 1000; // from another life of the daemon
    assert_int_equal(recorder_since(r, out, &seq, &lost, sizeof out), 0);
    recorder_lane_close(&lane);
    assert_int_equal(recorder_close(&r, NULL), CUZK_OK);
}

// The tail has room for lines of a usual length: of long ones it keeps fewer, whole ones and the newest; memory does
// not grow with the longest line there can be.
static void test_long_lines_in_the_tail(void **state) {
    (void)state;
    enum { KEPT = 64, SENT = 500 };
    recorder *r = NULL;
    recorder_options o = RECORDER_OPTIONS;
    const uint64_t before = mem_usage_of(MEM_MISC).live;
    o.tail_lines = 1 << 14;
    assert_int_equal(recorder_create(&r, &o, NULL), CUZK_OK);
    assert_true(mem_usage_of(MEM_MISC).live - before < (UINT64_C(1) << 14) * 192);
    assert_int_equal(recorder_close(&r, NULL), CUZK_OK);

    o.tail_lines = KEPT;
    assert_int_equal(recorder_create(&r, &o, NULL), CUZK_OK);
    recorder_lane *lane = recorder_lane_open(r);
    char job[TIMELINE_JOB_MAX], text[TIMELINE_DETAIL_MAX], out[KEPT * TIMELINE_LINE_MAX];
    for (int i = 0; i < SENT; i++) {
        // Of every length up to the longest; in a name a comma takes three bytes.
        memset(job, ',', sizeof job);
        snprintf(job + 8 + i % 48, sizeof job - 8 - (size_t)(i % 48), "%d", i);
        snprintf(text, sizeof text, "reason=%0*d", 1 + i % 100, i);
        timeline_detail d = TIMELINE_DETAIL_NONE;
        d.text = text;
        recorder_event(lane, TL_JOB_FAIL, job, &d);
        if (i % 7 != 6 && i != SENT - 1) continue;
        recorder_flush(r);
        uint64_t seq = 0, lost = 0;
        const size_t n = recorder_since(r, out, &seq, &lost, sizeof out);
        assert_int_equal(seq, i + 2); // the header was the first
        assert_int_equal(recorder_stats_of(r).oldest_seq, lost);
        assert_true(seq - lost <= KEPT && n <= KEPT * 160);
        if (i > 2 * KEPT) assert_true(n > KEPT * 160 - 2 * TIMELINE_LINE_MAX);
        char *at = out;
        for (uint64_t q = lost; q < seq; q++) {
            char *end = strchr(at, '\n');
            assert_non_null(end);
            *end = 0;
            assert_int_equal(strncmp(at, "TIMELINE,", 9), 0);
            const char *number = strstr(at, ",reason=");
            if (q > 0) assert_int_equal(number != NULL ? (uint64_t)atoll(number + 8) : 0, q - 1);
            at = end + 1;
        }
        assert_ptr_equal(at, out + n);
    }
    recorder_lane_close(&lane);
    assert_int_equal(recorder_close(&r, NULL), CUZK_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_full_ring),
        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_bad_path),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_since),
        cmocka_unit_test(test_long_lines_in_the_tail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
