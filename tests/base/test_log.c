// SPDX-License-Identifier: MIT OR Apache-2.0
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/log.h"

static uint64_t fake_ns = 1;
static uint64_t fake_clock(void) { return fake_ns; }
static void pass_seconds(unsigned s) { fake_ns += s * UINT64_C(1000000000); }

// A log into a pipe; what was written so far is read without waiting.
typedef struct bed {
    int in, out;
    char text[1 << 16];
} bed;

static void bed_start(bed *b, log_level level, bool json) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    b->in = ends[0], b->out = ends[1];
    log_test_clock(fake_clock);
    log_start(&(log_options){.level = level, .json = json, .fd = b->out});
}
static char *bed_read(bed *b) {
    size_t n = 0;
    struct pollfd p = {.fd = b->in, .events = POLLIN};
    while (n < sizeof b->text - 1 && poll(&p, 1, 0) == 1 && (p.revents & POLLIN) != 0) {
        ssize_t got = read(b->in, b->text + n, sizeof b->text - 1 - n);
        if (got <= 0) break;
        n += (size_t)got;
    }
    b->text[n] = 0;
    return b->text;
}
static void bed_end(bed *b) {
    log_flush();
    close(b->in);
    close(b->out);
}
static int lines_of(const char *s) {
    int n = 0;
    for (; *s != 0; s++) n += *s == '\n';
    return n;
}

static void test_nothing_before_the_start(void **state) {
    (void)state;
    assert_false(log_enabled(LOG_ERROR));
    log_write(LOG_ERROR, "t", NULL, "nobody reads this");
    log_flush();
}

static void test_text_line(void **state) {
    (void)state;
    bed b;
    bed_start(&b, LOG_INFO, false);
    assert_true(log_enabled(LOG_INFO));
    assert_false(log_enabled(LOG_DEBUG));
    log_write(LOG_DEBUG, "grpc", NULL, "not this");
    log_write(LOG_WARN, "grpc", "job-7", "slow by %d ms", 5);
    errno = 77;
    log_write(LOG_INFO, "engine", NULL, "ready");
    assert_int_equal(errno, 77);
    char *t = bed_read(&b);
    assert_int_equal(lines_of(t), 2);
    // 2026-01-02T03:04:05.678Z WARN  grpc job=job-7: slow by 5 ms
    assert_int_equal(t[4], '-');
    assert_int_equal(t[10], 'T');
    assert_int_equal(t[19], '.');
    assert_int_equal(t[23], 'Z');
    assert_memory_equal(t + 24, " WARN  grpc job=job-7: slow by 5 ms\n", 36);
    assert_non_null(strstr(t, "Z INFO  engine: ready\n"));
    bed_end(&b);
}

static void test_json_line_of_hostile_text(void **state) {
    (void)state;
    bed b;
    bed_start(&b, LOG_TRACE, true);
    log_write(LOG_ERROR, "http", "a\"b\\c\nd", "say \"%s\" \\ \x1b[2J\r\n{}\xff \xe2\x82\xac", "x");
    char *t = bed_read(&b);
    assert_int_equal(lines_of(t), 1);
    json_t *j = json_loads(t, 0, NULL);
    assert_non_null(j);
    assert_string_equal(json_string_value(json_object_get(j, "level")), "error");
    assert_string_equal(json_string_value(json_object_get(j, "target")), "http");
    assert_string_equal(json_string_value(json_object_get(j, "job")), "a\"b\\c?d");
    assert_string_equal(json_string_value(json_object_get(j, "message")), "say \"x\" \\ ?[2J??{}? \xe2\x82\xac");
    assert_int_equal(strlen(json_string_value(json_object_get(j, "time"))), 24);
    json_decref(j);
    // Quotes alone, as long as they come: still one JSON document on one line.
    char quotes[5000];
    memset(quotes, '"', sizeof quotes);
    quotes[sizeof quotes - 1] = 0;
    log_write(LOG_INFO, "http", quotes, "%s", quotes);
    t = bed_read(&b);
    j = json_loads(t, 0, NULL);
    assert_non_null(j);
    assert_int_equal(strlen(json_string_value(json_object_get(j, "message"))), 1023);
    json_decref(j);
    bed_end(&b);
}

static void test_repeats_are_summed_up(void **state) {
    (void)state;
    bed b;
    bed_start(&b, LOG_INFO, false);
    for (int i = 0; i < 1000; i++) log_write(LOG_WARN, "engine", NULL, "device %d is gone", 3);
    log_write(LOG_WARN, "grpc", NULL, "device 3 is gone");   // another target
    log_write(LOG_WARN, "engine", NULL, "device 4 is gone"); // another text
    assert_int_equal(lines_of(bed_read(&b)), 12);
    pass_seconds(9);
    log_write(LOG_WARN, "engine", NULL, "device 3 is gone");
    assert_string_equal(bed_read(&b), "");
    pass_seconds(2);
    log_write(LOG_INFO, "engine", NULL, "something else");
    char *t = bed_read(&b);
    assert_int_equal(lines_of(t), 2);
    assert_non_null(strstr(t, "WARN  engine: 991 times more in 11 s: device 3 is gone\n"));
    log_write(LOG_WARN, "engine", NULL, "device 3 is gone"); // a new window
    assert_int_equal(lines_of(bed_read(&b)), 1);
    for (int i = 0; i < 12; i++) log_write(LOG_WARN, "engine", NULL, "device 3 is gone");
    (void)bed_read(&b);
    log_tick(); // too early
    assert_string_equal(bed_read(&b), "");
    log_flush();
    assert_non_null(strstr(bed_read(&b), "engine: 3 times more in 0 s: device 3 is gone\n"));
    for (int i = 0; i < 12; i++) log_write(LOG_WARN, "engine", NULL, "device 3 is gone");
    (void)bed_read(&b);
    pass_seconds(10);
    log_tick();
    assert_non_null(strstr(bed_read(&b), "engine: 2 times more in 10 s: device 3 is gone\n"));
    bed_end(&b);
}

// More texts at once than are watched: none is lost, only the watching is.
static void test_many_texts(void **state) {
    (void)state;
    bed b;
    bed_start(&b, LOG_INFO, false);
    int lines = 0;
    for (int i = 0; i < 300; i++) {
        log_write(LOG_INFO, "t", NULL, "text %d", i);
        lines += lines_of(bed_read(&b));
    }
    assert_int_equal(lines, 300);
    for (int i = 0; i < 70; i++)
        for (int k = 0; k < 11; k++) log_write(LOG_INFO, "t", NULL, "held %d", i), (void)bed_read(&b);
    pass_seconds(11);
    log_write(LOG_INFO, "t", NULL, "end");
    char *t = bed_read(&b);
    assert_int_equal(lines_of(t), 65); // 64 sums
    bed_end(&b);
}

static void test_full_disk_counts(void **state) {
    (void)state;
    int full = open("/dev/full", O_WRONLY);
    assert_true(full >= 0);
    bed b;
    bed_start(&b, LOG_INFO, false);
    uint64_t before = log_lost();
    // The same descriptor number first leads nowhere, then to the pipe.
    int fd = dup(full);
    log_start(&(log_options){.level = LOG_INFO, .fd = fd});
    for (int i = 0; i < 5; i++) log_write(LOG_INFO, "t", NULL, "lost %d", i);
    assert_int_equal(log_lost() - before, 5);
    assert_int_equal(dup2(b.out, fd), fd);
    log_write(LOG_INFO, "t", NULL, "back again");
    char *t = bed_read(&b);
    assert_int_equal(lines_of(t), 2);
    assert_non_null(strstr(t, "t: back again\n"));
    assert_non_null(strstr(t, "WARN  log: 5 lines of this log could not be written\n"));
    assert_int_equal(log_lost() - before, 5);
    close(fd);
    close(full);
    bed_end(&b);
}

// With the default action, the write would end this process.
static void test_reader_goes_away(void **state) {
    (void)state;
    signal(SIGPIPE, SIG_DFL);
    bed b;
    bed_start(&b, LOG_INFO, false);
    close(b.in);
    uint64_t before = log_lost();
    log_write(LOG_INFO, "t", NULL, "into nothing");
    log_write(LOG_INFO, "t", NULL, "again");
    assert_int_equal(log_lost() - before, 2);
    sigset_t pending;
    sigpending(&pending);
    assert_int_equal(sigismember(&pending, SIGPIPE), 0);
    log_start(&(log_options){.level = LOG_INFO, .fd = -1}); // forgets the descriptor
    close(b.out);
}

// A reader that does not read: the writer goes on, and nothing is torn.
static void test_reader_that_sleeps(void **state) {
    (void)state;
    bed b;
    bed_start(&b, LOG_INFO, false);
    uint64_t before = log_lost();
    for (int i = 0; i < 3000; i++) log_write(LOG_INFO, "t", NULL, "line %04d, as long as it takes to fill a pipe", i);
    uint64_t lost = log_lost() - before;
    assert_true(lost > 0);
    static char all[1 << 18];
    size_t n = 0;
    for (char *t = bed_read(&b); *t != 0; t = bed_read(&b)) {
        size_t len = strlen(t);
        assert_true(n + len < sizeof all);
        memcpy(all + n, t, len + 1);
        n += len;
    }
    assert_int_equal(lines_of(all), 3000 - lost);
    log_write(LOG_INFO, "t", NULL, "awake");
    char expected[96];
    snprintf(expected, sizeof expected, "log: %llu lines of this log", (unsigned long long)lost);
    assert_non_null(strstr(bed_read(&b), expected));
    bed_end(&b);
}

enum { THREADS = 4, EACH = 200 };
static void *talk(void *arg) {
    for (int i = 0; i < EACH; i++) log_write(LOG_INFO, "t", NULL, "thread %d line %d end", *(int *)arg, i);
    return NULL;
}
static void test_threads_do_not_mix_lines(void **state) {
    (void)state;
    FILE *f = tmpfile();
    assert_non_null(f);
    log_start(&(log_options){.level = LOG_INFO, .fd = fileno(f)});
    pthread_t t[THREADS];
    int ids[THREADS];
    for (int i = 0; i < THREADS; i++) {
        ids[i] = i;
        assert_int_equal(pthread_create(&t[i], NULL, talk, &ids[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
    rewind(f);
    char row[256];
    int next[THREADS] = {0}, rows = 0;
    while (fgets(row, sizeof row, f) != NULL) {
        int id = -1, i = -1, tail = 0;
        assert_int_equal(sscanf(row + 24, " INFO t: thread %d line %d end%n", &id, &i, &tail), 2);
        assert_true(tail > 0 && id >= 0 && id < THREADS);
        assert_int_equal(i, next[id]++);
        rows++;
    }
    assert_int_equal(rows, THREADS * EACH);
    fclose(f);
}

static void test_level_names(void **state) {
    (void)state;
    for (int i = 0; i < LOG_LEVELS; i++) {
        log_level l;
        assert_true(log_level_from_name(&l, log_level_name((log_level)i)));
        assert_int_equal(l, i);
    }
    log_level l = LOG_INFO;
    assert_false(log_level_from_name(&l, "INFO"));
    assert_false(log_level_from_name(&l, ""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_before_the_start),
        cmocka_unit_test(test_text_line),
        cmocka_unit_test(test_json_line_of_hostile_text),
        cmocka_unit_test(test_repeats_are_summed_up),
        cmocka_unit_test(test_many_texts),
        cmocka_unit_test(test_full_disk_counts),
        cmocka_unit_test(test_reader_goes_away),
        cmocka_unit_test(test_reader_that_sleeps),
        cmocka_unit_test(test_threads_do_not_mix_lines),
        cmocka_unit_test(test_level_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
