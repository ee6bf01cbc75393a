// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Logs that were shuffled, cut, doubled, concatenated or made up: every one gives an answer, and says what was odd.
#include "timeline/made.h"

#include <sys/resource.h>
#include <time.h>

#include "base/mem.h"
#include "timeline/render.h"
#include "timeline/runs.h"

enum { MAX_ROWS = 4096 };

typedef struct rows {
    char *text;
    char *row[MAX_ROWS];
    size_t n;
} rows;

static rows split_rows(const char *text) {
    rows r = {.text = strdup(text)};
    for (char *p = strtok(r.text, "\n"); p != NULL; p = strtok(NULL, "\n")) {
        assert_true(r.n < MAX_ROWS);
        r.row[r.n++] = p;
    }
    return r;
}

static timeline_text join(const rows *r) {
    timeline_text t = {0};
    for (size_t i = 0; i < r->n; i++) text_put_f(&t, "%s\n", r->row[i]);
    return t;
}

// A busy run: `jobs` proofs, two synthesis workers, one device, 40 ms and 20 ms; an EPOCH row in front on demand. Rows
// by time.
static int by_offset(const void *a, const void *b) {
    double x = strtod(*(char *const *)a + 9, NULL), y = strtod(*(char *const *)b + 9, NULL);
    return (x > y) - (x < y);
}

static timeline_text busy_run(const char *prefix, unsigned jobs, const char *wall) {
    timeline_text t = {0};
    for (unsigned i = 0; i < jobs; i++) {
        char job[64];
        snprintf(job, sizeof job, "%s-%u", prefix, i);
        double start = 20.0 * i, ready = start + 40;
        made_put(&t, start, "SYNTH_START", job, i % 2 == 0 ? "worker=0" : "worker=1");
        made_put(&t, ready, "SYNTH_END", job, "synth_ms=40");
        made_put(&t, ready, "CHAN_SEND", job, "");
        made_put(&t, ready + 1, "GPU_PICKUP", job, "worker=0 gpu=0");
        made_put(&t, ready + 1, "GPU_START", job, "worker=0 gpu=0");
        made_put(&t, ready + 19, "GPU_END", job, "worker=0 gpu=0 gpu_ms=18");
    }
    rows r = split_rows(t.data);
    qsort(r.row, r.n, sizeof *r.row, by_offset); // glibc's is a merge sort: stable for such sizes
    timeline_text_release(&t);
    timeline_text head = {0};
    if (wall != NULL) text_put_f(&head, "TIMELINE,0.000,EPOCH,-,wall=%s\n", wall);
    for (size_t i = 0; i < r.n; i++) text_put_f(&head, "%s\n", r.row[i]);
    free(r.text);
    return head;
}

// The figures of a run of `jobs` proofs.
static void assert_busy_run(const timeline_analysis *a, unsigned jobs) {
    assert_int_equal(a->n_rows, jobs);
    assert_int_equal(a->summary.proofs, jobs);
    assert_int_equal(a->summary.gpu_active_us, 18000 * (int64_t)jobs);
    for (size_t i = 0; i < a->n_rows; i++) {
        assert_int_equal(a->rows[i].synth_us, 40000);
        assert_int_equal(a->rows[i].gpu_us, 18000);
        assert_int_equal(a->rows[i].gap_us, i == 0 ? TIMELINE_NONE : 2000);
    }
}

static void shuffle(rows *r, test_rng *rng) {
    for (size_t i = r->n; i > 1; i--) {
        size_t k = test_below(rng, i);
        char *x = r->row[i - 1];
        r->row[i - 1] = r->row[k];
        r->row[k] = x;
    }
}

static void test_shuffled(void **state) {
    (void)state;
    test_rng rng = test_rng_new("shuffled");
    for (int round = 0; round < 50; round++) {
        unsigned jobs = 5 + (unsigned)test_below(&rng, 20);
        timeline_text t = busy_run("j", jobs, round % 2 == 0 ? "w" : NULL);
        rows r = split_rows(t.data);
        shuffle(&r, &rng);
        timeline_text mixed = join(&r);
        timeline_log *log = made_log(mixed.data, mixed.len);
        timeline_analysis *a = made_analysis(log, NULL);
        assert_int_equal(a->runs, 1);
        assert_busy_run(a, jobs);
        assert_true(made_warned(a, "rows out of order"));
        timeline_analysis_destroy(&a);
        timeline_log_destroy(&log);
        timeline_text_release(&t);
        timeline_text_release(&mixed);
        free(r.text);
    }
}

// Neighbouring rows change places, as threads do that write to one file.
static void test_small_disorder(void **state) {
    (void)state;
    test_rng rng = test_rng_new("small disorder");
    timeline_text t = busy_run("j", 50, "w");
    rows r = split_rows(t.data);
    for (size_t i = 2; i < r.n; i += 1 + test_below(&rng, 6)) {
        char *x = r.row[i - 1];
        r.row[i - 1] = r.row[i];
        r.row[i] = x;
    }
    timeline_text mixed = join(&r);
    timeline_log *log = made_log(mixed.data, mixed.len);
    timeline_analysis *a = made_analysis(log, NULL);
    assert_int_equal(a->runs, 1);
    assert_busy_run(a, 50);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
    timeline_text_release(&t);
    timeline_text_release(&mixed);
    free(r.text);
}

static void test_grouped_by_job(void **state) {
    (void)state;
    timeline_text t = {0};
    for (int i = 0; i < 6; i++) {
        char job[16];
        snprintf(job, sizeof job, "p%d", i);
        made_proof(&t, job, 40 * i, 40 * i + 40, 40 * i + 41, 40 * i + 60);
    }
    timeline_log *log = made_log(t.data, t.len);
    timeline_analysis *a = made_analysis(log, NULL);
    assert_int_equal(a->runs, 1);
    assert_int_equal(a->n_rows, 6);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
    timeline_text_release(&t);
}

static void test_duplicated(void **state) {
    (void)state;
    timeline_text t = busy_run("j", 20, "w");
    rows r = split_rows(t.data);
    timeline_text twice = {0};
    for (size_t i = 0; i < r.n; i++) text_put_f(&twice, "%s\n%s\n", r.row[i], r.row[i]);
    timeline_log *log = made_log(twice.data, twice.len);
    timeline_analysis *a = made_analysis(log, NULL);
    assert_int_equal(a->runs, 1);
    assert_busy_run(a, 20);
    assert_true(made_warned(a, "rows that repeat an earlier one, ignored: 120"));
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
    timeline_text_release(&t);
    timeline_text_release(&twice);
    free(r.text);
}

// Every seventh END is gone: those intervals are flagged and closed by what is known, all others are exact.
static void test_missing_ends(void **state) {
    (void)state;
    timeline_text t = busy_run("j", 21, NULL);
    rows r = split_rows(t.data);
    size_t ends = 0, gone_gpu = 0, gone_synth = 0, kept = 0;
    for (size_t i = 0; i < r.n; i++) {
        bool gpu = strstr(r.row[i], ",GPU_END,") != NULL, synth = strstr(r.row[i], ",SYNTH_END,") != NULL;
        if ((gpu || synth) && ++ends % 7 == 0) {
            gone_gpu += gpu;
            gone_synth += synth;
            continue;
        }
        r.row[kept++] = r.row[i];
    }
    r.n = kept;
    assert_int_equal(gone_gpu + gone_synth, 6);
    timeline_text cut = join(&r);
    timeline_log *log = made_log(cut.data, cut.len);
    timeline_analysis *a = made_analysis(log, NULL);
    assert_int_equal(a->n_rows, 21);
    assert_int_equal(a->spans.odd[ODD_GPU_OPEN], gone_gpu);
    assert_int_equal(a->spans.odd[ODD_SYNTH_OPEN], gone_synth);
    assert_true(made_warned(a, "without GPU_END") || gone_gpu == 0);
    size_t nulls = 0;
    for (size_t i = 0; i < a->n_rows; i++) {
        nulls += a->rows[i].gpu_end == TIMELINE_NONE;
        if (a->rows[i].gpu_us != TIMELINE_NONE) assert_int_equal(a->rows[i].gpu_us, 18000);
    }
    assert_int_equal(nulls, gone_gpu);
    // A run without its end lasts until its worker's next run, not to the end of the log.
    assert_true(a->summary.gpu_active_us <= 20000 * 21);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
    timeline_text_release(&t);
    timeline_text_release(&cut);
    free(r.text);
}

// Cut anywhere: an answer, or "nothing to analyse".
static void test_truncated(void **state) {
    (void)state;
    timeline_text t = busy_run("a-rather-long-id", 4, "w");
    for (size_t len = 0; len <= t.len; len++) {
        timeline_log *log = made_log(t.data, len);
        timeline_analysis *a = NULL;
        timeline_options o = TIMELINE_OPTIONS;
        cuzk_error err = {0};
        cuzk_status s = timeline_analyse(&a, log, &o, &err);
        assert_true(s == CUZK_OK || s == CUZK_ERR_INPUT);
        // No job comes into being by cutting an id.
        if (s == CUZK_OK) assert_true(a->n_rows <= 4);
        assert_int_equal(log->n_bad, 0);
        timeline_analysis_destroy(&a);
        timeline_log_destroy(&log);
    }
    timeline_text_release(&t);
}

static void check_runs(const timeline_text *first, const timeline_text *second, unsigned jobs_1, unsigned jobs_2) {
    timeline_text both = {0};
    text_put_n(&both, first->data, first->len);
    text_put_n(&both, second->data, second->len);
    timeline_log *log = made_log(both.data, both.len);
    timeline_options o = TIMELINE_OPTIONS;
    timeline_analysis *a = made_analysis(log, &o);
    assert_int_equal(a->runs, 2);
    assert_int_equal(a->run, 2);
    assert_busy_run(a, jobs_2);
    assert_true(made_warned(a, "2 runs in the file"));
    timeline_analysis_destroy(&a);
    o.run = 1;
    a = made_analysis(log, &o);
    assert_busy_run(a, jobs_1);
    timeline_analysis_destroy(&a);
    o.run = 3;
    cuzk_error err = {0};
    assert_int_equal(timeline_analyse(&a, log, &o, &err), CUZK_ERR_USAGE);
    timeline_log_destroy(&log);
    timeline_text_release(&both);
}

static void test_two_runs(void **state) {
    (void)state;
    timeline_text a = busy_run("a", 6, "w1"), b = busy_run("b", 9, "w2");
    timeline_text plain_a = busy_run("a", 6, NULL), plain_b = busy_run("b", 9, NULL), again = busy_run("a", 9, NULL);
    check_runs(&a, &b, 6, 9);             // by the header
    check_runs(&plain_a, &plain_b, 6, 9); // by the clock
    check_runs(&plain_b, &plain_a, 9, 6);
    check_runs(&plain_a, &b, 6, 9);
    check_runs(&plain_a, &again, 6, 9); // ids used again
    check_runs(&plain_a, &plain_a, 6, 6);
    timeline_text_release(&a);
    timeline_text_release(&b);
    timeline_text_release(&plain_a);
    timeline_text_release(&plain_b);
    timeline_text_release(&again);
}

// A daemon that starts, says so, and does nothing yet: the run before it is the one to look at.
static void test_idle_last_run(void **state) {
    (void)state;
    timeline_text t = busy_run("a", 6, "w1");
    text_put(&t, "TIMELINE,0.000,EPOCH,-,wall=w2\nTIMELINE,0.000,DEVICE,-,gpu=0 state=healthy\n");
    timeline_log *log = made_log(t.data, t.len);
    timeline_analysis *a = made_analysis(log, NULL);
    assert_int_equal(a->runs, 2);
    assert_int_equal(a->run, 1);
    assert_busy_run(a, 6);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
    timeline_text_release(&t);
}

// The clock goes back inside the life of a job: no negative lengths, and a warning.
static void test_clock_back(void **state) {
    (void)state;
    timeline_log *log = made_log_of("TIMELINE,5000,SYNTH_START,a,\nTIMELINE,9000,SYNTH_END,a,\n"
                                    "TIMELINE,9000,GPU_START,a,worker=0,gpu=0\nTIMELINE,7000,GPU_END,a,worker=0\n"
                                    "TIMELINE,7000,SYNTH_START,b,\nTIMELINE,7500,SYNTH_END,b,\n"
                                    "TIMELINE,7500,GPU_START,b,worker=0,gpu=0\nTIMELINE,8000,GPU_END,b,worker=0\n");
    timeline_analysis *a = made_analysis(log, NULL);
    for (size_t i = 0; i < a->n_rows; i++) {
        assert_true(a->rows[i].synth_us == TIMELINE_NONE || a->rows[i].synth_us >= 0);
        assert_true(a->rows[i].gpu_us == TIMELINE_NONE || a->rows[i].gpu_us >= 0);
    }
    assert_true(a->n_warnings > 0);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
}

// Random rows from a small alphabet of events, times and jobs: every invariant holds in every format.
static void test_random_rows(void **state) {
    (void)state;
    test_rng rng = test_rng_new("random rows");
    for (int round = 0; round < 400; round++) {
        timeline_text t = {0};
        size_t n = 1 + test_below(&rng, 60);
        for (size_t i = 0; i < n; i++) {
            char detail[96], job[8];
            snprintf(detail, sizeof detail, "gpu=%d worker=%d partition=%d stage=s%d gpu_ms=%d",
                     (int)test_below(&rng, 3), (int)test_below(&rng, 3), (int)test_below(&rng, 3),
                     (int)test_below(&rng, 2), (int)test_below(&rng, 50));
            snprintf(job, sizeof job, "j%d", (int)test_below(&rng, 4));
            char *cut = detail + test_below(&rng, strlen(detail));
            if (test_below(&rng, 3) == 0) *cut = 0;
            made_put(&t, (double)test_below(&rng, 200), timeline_kind_word((timeline_kind)test_below(&rng, TL_KINDS)),
                     job, detail);
        }
        timeline_log *log = made_log(t.data, t.len);
        timeline_options o = TIMELINE_OPTIONS;
        o.by_partition = test_below(&rng, 2) != 0;
        timeline_analysis *a = NULL;
        cuzk_status s = timeline_analyse(&a, log, &o, NULL);
        assert_true(s == CUZK_OK || s == CUZK_ERR_INPUT);
        if (s == CUZK_OK) {
            int64_t room = (a->to - a->from) * (int64_t)a->n_devices, idle = 0;
            assert_int_equal(a->summary.gpu_active_us + a->summary.gpu_idle_us, room);
            assert_true(a->summary.gpu_active_us >= 0 && a->summary.gpu_idle_us >= 0);
            for (size_t i = 0; i < a->n_gaps; i++) {
                const timeline_gap *g = &a->gaps[i];
                assert_true(g->to_us > g->from_us);
                int64_t sum = 0;
                for (int c = 0; c < TIMELINE_CAUSES; c++) sum += g->share[c];
                assert_int_equal(sum, g->to_us - g->from_us);
                idle += sum;
            }
            assert_int_equal(idle, a->summary.gpu_idle_us); // gaps are exactly the idle time
            for (size_t i = 0; i < a->spans.n_spans; i++)
                assert_true(a->spans.spans[i].end_us >= a->spans.spans[i].start_us);
            timeline_render_options ro = {.causes = true, .stages = true, .colour = round % 2 == 0};
            for (int f = 0; f < TIMELINE_FORMATS; f++) {
                timeline_text out = {0};
                assert_int_equal(timeline_render(&out, a, (timeline_format)f, &ro, NULL), CUZK_OK);
                assert_true(out.len > 0);
                timeline_text_release(&out);
            }
        }
        timeline_analysis_destroy(&a);
        timeline_log_destroy(&log);
        timeline_text_release(&t);
    }
}

// Refused memory at any place: a clean refusal, nothing leaks, and the log can be analysed afterwards.
static void test_memory_refused(void **state) {
    (void)state;
    timeline_log *log = made_log_file("vectors/timeline/two-devices.log");
    uint64_t before = mem_usage_total().live;
    bool done = false;
    for (uint64_t nth = 1; !done && nth < 2000; nth++) {
        timeline_analysis *a = NULL;
        timeline_options o = TIMELINE_OPTIONS;
        timeline_render_options ro = {.causes = true};
        mem_test_refuse(nth);
        cuzk_status s = timeline_analyse(&a, log, &o, NULL);
        for (int f = 0; s == CUZK_OK && f < TIMELINE_FORMATS; f++) {
            timeline_text out = {0};
            s = timeline_render(&out, a, (timeline_format)f, &ro, NULL);
            timeline_text_release(&out);
        }
        mem_test_refuse(0);
        assert_true(s == CUZK_OK || s == CUZK_ERR_MEMORY);
        done = s == CUZK_OK;
        timeline_analysis_destroy(&a);
        assert_int_equal(mem_usage_total().live, before);
    }
    assert_true(done);
    timeline_log_destroy(&log);
}

// A million events: counts and memory are asserted, time is printed (bench/timeline_bench.c has a row for it). Sanitizers
// multiply memory, so there only what we asked for is looked at.
static void test_million(void **state) {
    (void)state;
    enum { JOBS = 20000, PARTITIONS = 10, EVENTS = JOBS * PARTITIONS * 5 };
    timeline_text t = {0};
    for (unsigned u = 0; u < JOBS * PARTITIONS; u++) {
        static const char *const EVENT[] = {"SYNTH_START", "SYNTH_END", "GPU_PICKUP", "GPU_START", "GPU_END"};
        static const unsigned AT[] = {0, 2, 3, 3, 9};
        for (unsigned k = 0; k < 5; k++)
            text_put_f(&t, "TIMELINE,%u.%03u,%s,3f1c9a52-7d0e-4b66-9a0b-%012u,gpu=0 worker=0 partition=%u\n",
                       u * 10 + AT[k], k, EVENT[k], u / PARTITIONS, u % PARTITIONS);
    }
    assert_false(t.failed);
    const uint64_t before = mem_usage_total().live;
    clock_t start = clock();
    timeline_log *log = made_log(t.data, t.len);
    timeline_options o = TIMELINE_OPTIONS;
    o.by_partition = true;
    timeline_analysis *a = made_analysis(log, &o);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    print_message("# %d events, %zu bytes: %.2f s of processor, %ld MiB at most\n", EVENTS, t.len, seconds,
                  usage.ru_maxrss / 1024);
    const uint64_t limit = UINT64_C(500) << 20;
    assert_true(mem_usage_total().peak - before <= limit);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true((uint64_t)usage.ru_maxrss * 1024 <= limit);
#endif
    assert_int_equal(log->n, EVENTS);
    assert_int_equal(a->n_rows, JOBS * PARTITIONS);
    assert_int_equal(a->n_proofs, JOBS);
    assert_int_equal(a->summary.proofs, JOBS);
    assert_int_equal(a->n_warnings, 0);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
    timeline_text_release(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shuffled),       cmocka_unit_test(test_small_disorder),
        cmocka_unit_test(test_grouped_by_job), cmocka_unit_test(test_duplicated),
        cmocka_unit_test(test_missing_ends),   cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_two_runs),       cmocka_unit_test(test_idle_last_run),
        cmocka_unit_test(test_clock_back),     cmocka_unit_test(test_random_rows),
        cmocka_unit_test(test_memory_refused), cmocka_unit_test(test_million),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
