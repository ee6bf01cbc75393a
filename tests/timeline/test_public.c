// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The public analyser, against the shared library and its header alone.
#include "testing.h"

#include <cuzk/timeline.h>

static cuzk_timeline *load(const char *path) {
    cuzk_timeline *t = NULL;
    assert_int_equal(cuzk_timeline_new(&t), CUZK_RESULT_OK);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char piece[257];
    size_t n;
    while ((n = fread(piece, 1, sizeof piece, f)) > 0) assert_int_equal(cuzk_timeline_add(t, piece, n), CUZK_RESULT_OK);
    fclose(f);
    return t;
}

static void test_published(void **state) {
    (void)state;
    cuzk_timeline *t = load("vectors/timeline/published-closed-loop.log");
    assert_int_equal(cuzk_timeline_job_count(t), 0);
    assert_int_equal(cuzk_timeline_end(t), CUZK_RESULT_OK);
    assert_int_equal(cuzk_timeline_analyse(t, NULL), CUZK_RESULT_OK);
    assert_int_equal(cuzk_timeline_job_count(t), 3);
    cuzk_timeline_job job;
    assert_int_equal(cuzk_timeline_job_at(t, &job, 2), CUZK_RESULT_OK);
    assert_string_equal(job.job, "c47d0e9b-91aa-4c1e-b1d7-6e2f9b3c5503");
    assert_true(job.idle_gap_ms == 13557 && job.synth_ms == 47340);
    assert_true(job.gpu_end_ms < 0 && job.gpu_ms < 0);
    assert_int_equal(job.device, 0);
    assert_int_equal(job.partition, -1);
    assert_int_equal(cuzk_timeline_gap_count(t), 3);
    cuzk_timeline_gap gap;
    assert_int_equal(cuzk_timeline_gap_at(t, &gap, 2), CUZK_RESULT_OK);
    assert_string_equal(gap.cause, "no job offered");
    assert_string_equal(gap.before_job, job.job);
    cuzk_timeline_figures f;
    assert_int_equal(cuzk_timeline_figures_of(t, &f, CUZK_TIMELINE_ALL), CUZK_RESULT_OK);
    assert_true(f.wall_ms == 121273 && f.gpu_active_ms == 60497 && f.proofs == 2);
    assert_int_equal(cuzk_timeline_figures_of(t, &f, CUZK_TIMELINE_STEADY), CUZK_RESULT_OK);
    assert_true(f.wall_ms == 47340);
    assert_non_null(cuzk_timeline_warning(t, 0));
    assert_null(cuzk_timeline_warning(t, 1));
    static const char *const FORMAT[] = {"text", "json", "csv", "svg", "html", "trace"};
    for (int i = 0; i < 6; i++) {
        const char *text = NULL;
        size_t len = 0;
        assert_int_equal(cuzk_timeline_render(t, &text, &len, FORMAT[i], 0), CUZK_RESULT_OK);
        assert_int_equal(strlen(text), len);
        assert_true(len > 100);
    }
    cuzk_timeline_free(t);
}

static void test_options(void **state) {
    (void)state;
    cuzk_timeline *t = load("vectors/timeline/two-devices.log");
    cuzk_timeline_options o = {.by_partition = 1, .device = 1, .warmup = 0};
    assert_int_equal(cuzk_timeline_analyse(t, &o), CUZK_RESULT_OK);
    assert_int_equal(cuzk_timeline_job_count(t), 1);
    cuzk_timeline_figures f;
    assert_int_equal(cuzk_timeline_figures_of(t, &f, CUZK_TIMELINE_COLD), CUZK_RESULT_INPUT);
    assert_true(cuzk_timeline_error(t)[0] != 0);
    cuzk_timeline_free(t);
}

static void test_refusals(void **state) {
    (void)state;
    assert_int_equal(cuzk_timeline_new(NULL), CUZK_RESULT_USAGE);
    cuzk_timeline_free(NULL);
    assert_string_equal(cuzk_timeline_error(NULL), "");
    assert_int_equal(cuzk_timeline_job_count(NULL), 0);
    assert_int_equal(cuzk_timeline_gap_count(NULL), 0);
    assert_null(cuzk_timeline_warning(NULL, 0));
    assert_int_equal(cuzk_timeline_add(NULL, "", 0), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_timeline_analyse(NULL, NULL), CUZK_RESULT_USAGE);
    cuzk_timeline *t = NULL;
    assert_int_equal(cuzk_timeline_new(&t), CUZK_RESULT_OK);
    assert_string_equal(cuzk_timeline_error(t), "");
    cuzk_timeline_job job;
    cuzk_timeline_gap gap;
    const char *text = NULL;
    size_t len = 0;
    assert_int_equal(cuzk_timeline_job_at(t, &job, 0), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_timeline_add(t, NULL, 1), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_timeline_add(t, "nothing\n", 8), CUZK_RESULT_OK);
    assert_int_equal(cuzk_timeline_analyse(t, NULL), CUZK_RESULT_INPUT);
    static const char RUN[] = "TIMELINE,0,GPU_START,a,gpu=0\nTIMELINE,5,GPU_END,a,gpu=0\n";
    assert_int_equal(cuzk_timeline_add(t, RUN, strlen(RUN)), CUZK_RESULT_OK);
    assert_int_equal(cuzk_timeline_analyse(t, NULL), CUZK_RESULT_OK);
    assert_int_equal(cuzk_timeline_job_at(t, &job, 1), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_timeline_job_at(t, NULL, 0), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_timeline_gap_at(t, &gap, 0), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_timeline_render(t, &text, &len, "pdf", 0), CUZK_RESULT_USAGE);
    cuzk_timeline_options o = {.device = -1, .warmup = -1, .run = 2};
    assert_int_equal(cuzk_timeline_analyse(t, &o), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_timeline_end(t), CUZK_RESULT_OK);
    assert_int_equal(cuzk_timeline_add(t, "x", 1), CUZK_RESULT_USAGE);
    cuzk_timeline_free(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
