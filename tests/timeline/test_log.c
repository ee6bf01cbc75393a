// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reader: both dialects, and everything that a real file has between and instead of events.
#include "testing.h"
#include "timeline/line.h"
#include "timeline/log.h"
#include "timeline/row.h"

static timeline_log *read_pieces(const char *text, size_t len, size_t piece) {
    timeline_log *log = NULL;
    assert_int_equal(timeline_log_create(&log, NULL), CUZK_OK);
    for (size_t at = 0; at < len; at += piece)
        assert_int_equal(timeline_log_push(log, text + at, len - at < piece ? len - at : piece, NULL), CUZK_OK);
    assert_int_equal(timeline_log_finish(log, NULL), CUZK_OK);
    return log;
}
static timeline_log *read_text(const char *text) { return read_pieces(text, strlen(text), SIZE_MAX / 2); }

static void test_words(void **state) {
    (void)state;
    for (unsigned k = 0; k < TL_KINDS; k++) {
        const char *w = timeline_kind_word((timeline_kind)k);
        assert_int_equal(timeline_kind_from_word(w, (uint32_t)strlen(w)), k);
        assert_int_equal(timeline_kind_from_word(w, (uint32_t)strlen(w) - 1), TL_UNKNOWN);
    }
    assert_int_equal(timeline_kind_from_word("GPU_QUEUE", 9), TL_CHAN_SEND);
    assert_int_equal(timeline_kind_from_word("gpu_end", 7), TL_UNKNOWN);
    assert_string_equal(timeline_kind_word(TL_UNKNOWN), "UNKNOWN");
    assert_string_equal(timeline_kind_word((timeline_kind)999), "UNKNOWN");
}

static void test_public_dialect(void **state) {
    (void)state;
    timeline_log *log = read_text("TIMELINE,47200,GPU_QUEUE,3f1c,monolithic\n"
                                  "TIMELINE,47200,GPU_START,3f1c,worker=0,gpu=1,partition=7\n"
                                  "TIMELINE,73933,GPU_END,3f1c,worker=0,gpu_ms=26733\n");
    assert_int_equal(log->n, 3);
    const timeline_event *e = log->events;
    assert_int_equal(e[0].kind, TL_CHAN_SEND);
    assert_int_equal(e[0].at_us, 47200000);
    assert_int_equal(e[0].gpu, -1);
    assert_int_equal(e[1].worker, 0);
    assert_int_equal(e[1].gpu, 1);
    assert_int_equal(e[1].partition, 7);
    assert_int_equal(e[2].value, 26733000);
    assert_int_equal(e[2].line, 3);
    assert_string_equal(timeline_name(&log->names, e[2].job), "3f1c");
    assert_int_equal(e[0].job, e[2].job);
    assert_int_equal(log->n_bad, 0);
    timeline_log_destroy(&log);
}

static void test_own_dialect(void **state) {
    (void)state;
    timeline_log *log = read_text("TIMELINE,0.000,EPOCH,-,wall=2026-02-18T10:00:00.5Z version=0.1.0\r\n"
                                  "TIMELINE,1.234567,STAGE_START,j,stage=msm_h gpu=2 worker=1\r\n"
                                  "TIMELINE,2.5,JOB_FAIL,j,reason=out%20of%20memory\r\n"
                                  "TIMELINE,3.000,DEVICE,00000000-0000-0000-0000-000000000000,gpu=1 state=healthy\r\n"
                                  "TIMELINE,4.000,JOB_SUBMIT,j,kind=porep partitions=10 priority=low\r\n"
                                  "  2026-01-01 INFO TIMELINE,5,JOB_DONE,j,\r\n");
    assert_int_equal(log->n, 6);
    const timeline_event *e = log->events;
    assert_int_equal(e[0].job, TIMELINE_NO_NAME);
    assert_string_equal(timeline_name(&log->names, e[0].name), "2026-02-18T10:00:00.5Z");
    assert_int_equal(e[1].at_us, 1234);
    assert_string_equal(timeline_name(&log->names, e[1].name), "msm_h");
    assert_int_equal(e[1].gpu, 2);
    assert_int_equal(e[2].at_us, 2500);
    assert_string_equal(timeline_name(&log->names, e[2].name), "out of memory");
    assert_int_equal(e[3].job, TIMELINE_NO_NAME);
    assert_int_equal(e[4].count, 10);
    assert_int_equal(e[5].kind, TL_JOB_DONE);
    timeline_log_destroy(&log);
}

static void test_bad_rows(void **state) {
    (void)state;
    static const char *const BAD[] = {
        "TIMELINE,",
        "TIMELINE,12",
        "TIMELINE,12,GPU_START",
        "TIMELINE,,GPU_START,j,",
        "TIMELINE,-5,GPU_START,j,",
        "TIMELINE,1e3,GPU_START,j,",
        "TIMELINE,1.,GPU_START,j,",
        "TIMELINE,1.0000000001,GPU_START,j,",
        "TIMELINE,9999999999999,GPU_START,j,",
        "TIMELINE,99999999999999999999999999,GPU_START,j,",
        "TIMELINE,1,gpu_start,j,",
        "TIMELINE,1,,j,",
        "TIMELINE,1,A_WORD_THAT_IS_MUCH_LONGER_THAN_ANY_EVENT,j,",
    };
    enum { N = sizeof BAD / sizeof *BAD };
    for (int i = 0; i < N; i++) {
        char text[256];
        snprintf(text, sizeof text, "an ordinary line\n%s\nTIMELINE,1,GPU_START,j,\n", BAD[i]);
        timeline_log *log = read_text(text);
        if (log->n_bad != 1 || log->n != 1) fail_msg("%s: %d bad, %d good", BAD[i], (int)log->n_bad, (int)log->n);
        assert_int_equal(log->bad[0].line, 2);
        assert_true(log->bad[0].why[0] != 0);
        timeline_log_destroy(&log);
    }
    // In the middle of a line it is just text.
    timeline_log *log = read_text("see TIMELINE, below\nxTIMELINE,1,GPU_START,j,\n");
    assert_int_equal(log->n + log->n_bad, 0);
    timeline_log_destroy(&log);
    char job[400];
    memset(job, 'x', sizeof job);
    job[399] = 0;
    char text[600];
    snprintf(text, sizeof text, "TIMELINE,1,GPU_START,%s,\n", job);
    log = read_text(text);
    assert_int_equal(log->n_bad, 1);
    timeline_log_destroy(&log);
    // Only the first few are kept, all are counted.
    char many[30 * 16 + 1] = "";
    for (int i = 0; i < 30; i++) strcat(many, "TIMELINE,x,Y,z,\n");
    log = read_text(many);
    assert_int_equal(log->n_bad, 30);
    assert_int_equal(log->bad[TIMELINE_BAD_KEPT - 1].line, TIMELINE_BAD_KEPT);
    timeline_log_destroy(&log);
}

static void test_numbers_of_the_detail(void **state) {
    (void)state;
    timeline_log *log = read_text("TIMELINE,1,GPU_START,j,gpu=99999999999 worker=-1 partition=x\n"
                                  "TIMELINE,1,GPU_START,j,gpu=4096\n"
                                  "TIMELINE,1,GPU_START,j,gpu=4095 worker=65535 partition=16777216 nonsense = =gpu\n");
    assert_int_equal(log->n, 3);
    assert_int_equal(log->n_bad_detail, 2);
    assert_int_equal(log->bad_detail_line, 1);
    assert_int_equal(log->events[0].gpu, -1);
    assert_int_equal(log->events[0].worker, -1);
    assert_int_equal(log->events[2].gpu, 4095);
    assert_int_equal(log->events[2].worker, 65535);
    timeline_log_destroy(&log);
}

static void test_overlong_and_junk(void **state) {
    (void)state;
    enum { BIG = 3 * TIMELINE_LINE_LIMIT };
    char *text = malloc(4 * BIG);
    size_t n = 0;
    memset(text, 'o', BIG), n = BIG;
    n += (size_t)sprintf(text + n, "\nTIMELINE,1,GPU_START,a,");
    memset(text + n, 'd', BIG), n += BIG;
    n += (size_t)sprintf(text + n, "\nTIMELINE,2,GPU_START,b,\n");
    test_rng r = test_rng_new("junk");
    size_t junk_from = n;
    for (int i = 0; i < 2000; i++) text[n++] = (char)test_u64(&r);
    for (size_t i = junk_from; i < n; i++)
        if (text[i] == 'T') text[i] = 't';
    n += (size_t)sprintf(text + n, "\nTIMELINE,3,GPU_START,c,\n");
    for (size_t piece = 1; piece <= n; piece = piece * 3 + 1) {
        timeline_log *log = read_pieces(text, n, piece);
        assert_int_equal(log->n, 2);
        assert_int_equal(log->n_bad, 1); // the overlong event
        assert_string_equal(timeline_name(&log->names, log->events[0].job), "b");
        assert_string_equal(timeline_name(&log->names, log->events[1].job), "c");
        timeline_log_destroy(&log);
    }
    free(text);
}

// However the file is cut into pieces.
static void test_pieces(void **state) {
    (void)state;
    static const char TEXT[] = "noise\nTIMELINE,0.000,EPOCH,-,wall=x\r\nTIMELINE,1.5,SYNTH_START,a%2Cb,worker=1\n\n"
                               "TIMELINE,x\nTIMELINE,2,SYNTH_END,a%2Cb,worker=1";
    timeline_log *whole = read_text(TEXT);
    assert_int_equal(whole->n, 3);
    for (size_t piece = 1; piece < sizeof TEXT; piece++) {
        timeline_log *log = read_pieces(TEXT, sizeof TEXT - 1, piece);
        assert_int_equal(log->n, whole->n);
        assert_int_equal(log->lines, whole->lines);
        assert_int_equal(log->n_bad, whole->n_bad);
        assert_memory_equal(log->events, whole->events, whole->n * sizeof *whole->events);
        timeline_log_destroy(&log);
    }
    timeline_log_destroy(&whole);
}

// A last line without its newline may be whole or cut.
static void test_tail(void **state) {
    (void)state;
    static const char HEAD[] = "TIMELINE,1,SYNTH_START,3f1c9a52-7d0e,kind=x\n";
    static const struct {
        const char *tail;
        size_t n;
        bool cut;
    } CASES[] = {
        {"", 1, false},
        {"TIMELINE,2,SYNTH_END,3f1c9a52-7d0e,synth_ms=1", 2, false},
        {"TIMELINE,2,SYNTH_END,3f1c9a52-7d0e", 2, false},
        {"TIMELINE,2,SYNTH_END,3f1c9a5", 1, true},
        {"TIMELINE,2,SYNTH_END,", 1, true},
        {"TIMELINE,2,SYNTH_END", 1, true},
        {"TIMELINE,2,SYNTH_", 1, true},
        {"TIMELINE,2", 1, true},
        {"TIMELINE,", 1, true},
        {"TIMEL", 1, true},
        {"ordinary", 1, false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s%s", HEAD, CASES[i].tail);
        timeline_log *log = read_text(text);
        if (log->n != CASES[i].n || (log->cut_line == 2) != CASES[i].cut || log->n_bad != 0)
            fail_msg("'%s': %d events, cut at %d", CASES[i].tail, (int)log->n, (int)log->cut_line);
        timeline_log_destroy(&log);
    }
}

// Job ids: UTF-8 as it is, commas escaped; what could harm a terminal is replaced.
static void test_job_ids(void **state) {
    (void)state;
    timeline_log *log = read_text("TIMELINE,1,JOB_DONE,J\xc3\xb6rg \xe2\x9c\x93,\n"
                                  "TIMELINE,1,JOB_DONE,a%2Cb%25,\n"
                                  "TIMELINE,1,JOB_DONE,%zz%,\n"
                                  "TIMELINE,1,JOB_DONE,\x1b[31mred\xff\xc0\xaf,\n"
                                  "TIMELINE,1,JOB_DONE,%1B[0m,\n"
                                  "TIMELINE,1,JOB_DONE,x\xe2\x80\xaey,\n");
    assert_int_equal(log->n, 6);
    static const char *const WANT[] = {
        "J\xc3\xb6rg \xe2\x9c\x93", "a,b%",          "%zz%", "\xef\xbf\xbd[31mred\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd",
        "\xef\xbf\xbd[0m",          "x\xef\xbf\xbdy"};
    for (int i = 0; i < 6; i++) assert_string_equal(timeline_name(&log->names, log->events[i].job), WANT[i]);
    timeline_log_destroy(&log);
}

// What timeline_line writes, timeline_row_split reads.
static void test_round_trip(void **state) {
    (void)state;
    test_rng r = test_rng_new("round trip");
    for (int i = 0; i < 2000; i++) {
        char job[TIMELINE_JOB_MAX], line[TIMELINE_LINE_MAX];
        size_t len = test_below(&r, sizeof job);
        for (size_t k = 0; k < len; k++) job[k] = (char)(1 + test_below(&r, 127));
        job[len] = 0;
        timeline_detail d = TIMELINE_DETAIL_NONE;
        if (test_below(&r, 2)) d.gpu = (int32_t)test_below(&r, 4096);
        if (test_below(&r, 2)) d.worker = (int32_t)test_below(&r, 65536);
        if (test_below(&r, 2)) d.partition = (int32_t)test_below(&r, 100);
        uint64_t at = test_u64(&r) >> 20;
        timeline_kind kind = (timeline_kind)test_below(&r, TL_KINDS);
        size_t n = timeline_line(line, at, kind, job, &d);
        assert_in_range(n, 1, TIMELINE_LINE_MAX);
        assert_ptr_equal(memchr(line, '\n', n), line + n - 1);
        timeline_row_view row;
        const char *why = "";
        assert_int_equal(timeline_row_split(&row, &why, line, n - 1), ROW_GOOD);
        assert_int_equal(row.at_us, at / 1000);
        assert_int_equal(row.kind, kind);
        char back[3 * TIMELINE_JOB_MAX + 1];
        memcpy(back, row.job, row.job_len);
        size_t m = timeline_unescape(back, row.job_len);
        if (len == 0) {
            assert_int_equal(row.job_len, 1);
        } else {
            assert_int_equal(m, len);
            assert_memory_equal(back, job, len);
        }
        timeline_row_detail got;
        timeline_row_detail_of(&got, &row);
        assert_false(got.bad);
        assert_int_equal(got.gpu, d.gpu);
        assert_int_equal(got.worker, d.worker);
        assert_int_equal(got.partition, d.partition);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_public_dialect),
        cmocka_unit_test(test_own_dialect),
        cmocka_unit_test(test_bad_rows),
        cmocka_unit_test(test_numbers_of_the_detail),
        cmocka_unit_test(test_overlong_and_junk),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_tail),
        cmocka_unit_test(test_job_ids),
        cmocka_unit_test(test_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
