// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Figures of logs that were computed by hand.
#include "timeline/made.h"

#define PUBLISHED "vectors/timeline/published-closed-loop.log"
static const char P1[] = "3f1c9a52-7d0e-4b66-9a0b-5f6c2f1d0a01", P2[] = "8b2e6d14-02c7-4f3b-8a55-d1c0b7e4aa02",
                  P3[] = "c47d0e9b-91aa-4c1e-b1d7-6e2f9b3c5503";

static void assert_near(double got, double want) {
    if (got < want - 1e-6 * (want + 1) || got > want + 1e-6 * (want + 1))
        fail_msg("expected %.9f, found %.9f", want, got);
}

// The published table, to the millisecond.
static void test_published(void **state) {
    (void)state;
    timeline_log *log = made_log_file(PUBLISHED);
    timeline_analysis *a = made_analysis(log, NULL);
    assert_int_equal(a->n_rows, 3);
    const timeline_row *r = made_row(a, P1, -1);
    assert_ptr_equal(r, &a->rows[0]); // by GPU start
    assert_int_equal(r->synth_us, 47200000);
    assert_int_equal(r->gpu_us, 26733000);
    assert_int_equal(r->gap_us, TIMELINE_NONE);
    assert_true(r->done && r->cold);
    r = made_row(a, P2, -1);
    assert_int_equal(r->synth_us, 47474000);
    assert_int_equal(r->gpu_start, 73952000);
    assert_int_equal(r->gpu_us, 33764000);
    assert_int_equal(r->gap_us, 19000);
    r = made_row(a, P3, -1);
    assert_int_equal(r->synth_us, 47340000);
    assert_int_equal(r->gpu_start, 121273000);
    assert_int_equal(r->gpu_end, TIMELINE_NONE);
    assert_int_equal(r->gpu_us, TIMELINE_NONE);
    assert_int_equal(r->gap_us, 13557000);
    assert_false(r->done);
    assert_int_equal(a->n_gaps, 3);
    const timeline_gap *g = made_gap(a, 0, 121273000);
    assert_int_equal(g->cause, CAUSE_NO_JOB);
    assert_int_equal(g->share[CAUSE_NO_JOB], 13557000);
    g = made_gap(a, 0, 73952000);
    assert_int_equal(g->to_us - g->from_us, 19000);
    assert_int_equal(g->cause, CAUSE_UNKNOWN); // the hand-over
    g = made_gap(a, 0, 47200000);
    assert_int_equal(g->cause, CAUSE_SYNTHESIS);
    assert_true(g->first);

    const timeline_summary *s = &a->summary;
    assert_int_equal(s->wall_us, 121273000);
    assert_int_equal(s->gpu_active_us, 26733000 + 33764000);
    assert_int_equal(s->gpu_idle_us, 121273000 - 60497000);
    assert_near(s->utilization_pct, 100.0 * 60497 / 121273);
    assert_near(s->avg_synth_us, (47200000.0 + 47474000 + 47340000) / 3);
    assert_near(s->avg_gpu_us, (26733000.0 + 33764000) / 2);
    assert_near(s->avg_gap_us, (19000.0 + 13557000) / 2);
    assert_int_equal(s->proofs, 2);
    assert_near(s->seconds_per_proof, 121.273 / 2);
    assert_near(s->proofs_per_minute, 120 / 121.273);
    // Cold: until the first proof left the device. Steady: two cycles, the second without its end.
    assert_int_equal(a->cold.wall_us, 73933000);
    assert_int_equal(a->steady.from_us, 73933000);
    assert_int_equal(a->steady.to_us, 121273000);
    assert_int_equal(a->steady.gpu_active_us, 33764000);
    assert_true(
        made_warned(a, "GPU_START without GPU_END, closed where it was surely over or at the end of the log: 1"));
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
}

// Two workers of one device, 0-100 and 50-150: busy 150 of 150, 50 of them twice.
static void test_overlap_is_a_union(void **state) {
    (void)state;
    timeline_log *log = made_log_of("TIMELINE,0,GPU_START,a,worker=0 gpu=0\n"
                                    "TIMELINE,50,GPU_START,b,worker=1 gpu=0\n"
                                    "TIMELINE,100,GPU_END,a,worker=0 gpu=0\n"
                                    "TIMELINE,150,GPU_END,b,worker=1 gpu=0\n");
    timeline_analysis *a = made_analysis(log, NULL);
    assert_int_equal(a->summary.wall_us, 150000);
    assert_int_equal(a->summary.gpu_active_us, 150000);
    assert_int_equal(a->summary.gpu_idle_us, 0);
    assert_near(a->summary.utilization_pct, 100);
    assert_int_equal(a->devices[0].overlap_us, 50000);
    assert_int_equal(a->n_gaps, 0);
    assert_int_equal(made_row(a, "b", -1)->gap_us, 0);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
    // The same where the log names workers only.
    log = made_log_of("TIMELINE,0,GPU_START,a,worker=0\nTIMELINE,50,GPU_START,b,worker=1\n"
                      "TIMELINE,100,GPU_END,a,worker=0\nTIMELINE,150,GPU_END,b,worker=1\n");
    a = made_analysis(log, NULL);
    assert_int_equal(a->n_devices, 1);
    assert_near(a->summary.utilization_pct, 100);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
}

// A configured device without rows counts: one of two busy all the time is 50 %.
static void test_idle_device_counts(void **state) {
    (void)state;
    timeline_log *log = made_log_of("TIMELINE,0,DEVICE,-,gpu=0 state=healthy\n"
                                    "TIMELINE,0,DEVICE,-,gpu=1 state=healthy\n"
                                    "TIMELINE,0,GPU_START,a,worker=0 gpu=0\n"
                                    "TIMELINE,100,GPU_END,a,worker=0 gpu=0\n"
                                    "TIMELINE,100,GPU_START,b,worker=0 gpu=0\n"
                                    "TIMELINE,150,GPU_END,b,worker=0 gpu=0\n"
                                    "TIMELINE,900,DEVICE,-,gpu=1 state=unhealthy\n");
    timeline_analysis *a = made_analysis(log, NULL);
    assert_int_equal(a->n_devices, 2);
    assert_near(a->summary.utilization_pct, 50);
    assert_int_equal(a->summary.wall_us, 150000); // states of devices do not widen the window
    assert_int_equal(a->summary.gpu_idle_us, 150000);
    assert_near(a->devices[0].utilization_pct, 100);
    assert_near(a->devices[1].utilization_pct, 0);
    assert_int_equal(a->devices[1].runs, 0);
    assert_true(a->devices[1].unhealthy);
    assert_int_equal(a->n_gaps, 1);
    timeline_analysis_destroy(&a);
    timeline_options o = TIMELINE_OPTIONS;
    o.device = 0;
    a = made_analysis(log, &o);
    assert_near(a->summary.utilization_pct, 100);
    assert_int_equal(a->n_gaps, 0);
    timeline_analysis_destroy(&a);
    o.device = 1;
    a = made_analysis(log, &o);
    assert_int_equal(a->n_rows, 0);
    assert_near(a->summary.utilization_pct, 0);
    timeline_analysis_destroy(&a);
    o.device = 7;
    cuzk_error err = {0};
    assert_int_equal(timeline_analyse(&a, log, &o, &err), CUZK_ERR_USAGE);
    timeline_log_destroy(&log);
}

// The idle gap of a run is on its own device: two lanes' gaps are not summed.
static void test_gap_per_device(void **state) {
    (void)state;
    timeline_log *log = made_log_of("TIMELINE,0,GPU_START,a,worker=0 gpu=0\nTIMELINE,100,GPU_END,a,worker=0 gpu=0\n"
                                    "TIMELINE,20,GPU_START,b,worker=1 gpu=1\nTIMELINE,60,GPU_END,b,worker=1 gpu=1\n"
                                    "TIMELINE,130,GPU_START,c,worker=0 gpu=0\nTIMELINE,200,GPU_END,c,worker=0 gpu=0\n"
                                    "TIMELINE,160,GPU_START,d,worker=1 gpu=1\nTIMELINE,200,GPU_END,d,worker=1 gpu=1\n");
    timeline_analysis *a = made_analysis(log, NULL);
    assert_int_equal(made_row(a, "a", -1)->gap_us, TIMELINE_NONE);
    assert_int_equal(made_row(a, "b", -1)->gap_us, TIMELINE_NONE); // the first on its device
    assert_int_equal(made_row(a, "c", -1)->gap_us, 30000);
    assert_int_equal(made_row(a, "d", -1)->gap_us, 100000);
    int64_t idle = 0;
    for (size_t i = 0; i < a->n_gaps; i++) idle += a->gaps[i].to_us - a->gaps[i].from_us;
    assert_int_equal(idle, a->summary.gpu_idle_us); // 30 + 20 + 100
    assert_int_equal(idle, 150000);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
}

// Five proofs of 38 s and 26 s, one synthesis worker: steady state 26 of 38.
static void test_steady_state(void **state) {
    (void)state;
    timeline_text t = {0};
    for (int i = 0; i < 5; i++) {
        char job[16];
        snprintf(job, sizeof job, "p%d", i);
        made_proof(&t, job, 38000 * i, 38000 * (i + 1), 38000 * (i + 1), 38000 * (i + 1) + 26000);
    }
    timeline_log *log = made_log(t.data, t.len);
    timeline_analysis *a = made_analysis(log, NULL);
    assert_int_equal(a->cold.proofs, 1);
    assert_int_equal(a->steady.proofs, 4);
    assert_near(a->steady.utilization_pct, 100.0 * 26 / 38);
    assert_near(a->steady.seconds_per_proof, 38);
    assert_near(a->steady.avg_gap_us, 12e6);
    assert_near(a->cold.utilization_pct, 100.0 * 26 / 64);
    timeline_analysis_destroy(&a);
    timeline_options o = TIMELINE_OPTIONS;
    o.warmup = 0;
    a = made_analysis(log, &o);
    assert_false(a->cold.present);
    assert_int_equal(a->steady.proofs, 5);
    assert_int_equal(a->steady.wall_us, a->summary.wall_us);
    timeline_analysis_destroy(&a);
    o.warmup = 3;
    a = made_analysis(log, &o);
    assert_int_equal(a->cold.proofs, 3);
    assert_int_equal(a->steady.proofs, 2);
    timeline_analysis_destroy(&a);
    o.warmup = 1000;
    a = made_analysis(log, &o);
    assert_int_equal(a->cold.proofs, 5);
    assert_false(a->steady.present);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
    timeline_text_release(&t);
}

// Auto: proofs that began before the first key and PCE loads were over are cold; a load much later makes nothing cold.
static void test_warmup_auto(void **state) {
    (void)state;
    timeline_text t = {0};
    made_put(&t, 0, "SRS_LOAD_START", "a", "key=k1");
    made_put(&t, 100, "SRS_LOAD_END", "a", "key=k1");
    made_put(&t, 100, "PCE_START", "a", "key=k1");
    made_put(&t, 250, "PCE_END", "a", "key=k1");
    made_proof(&t, "a", 100, 200, 200, 300);
    made_proof(&t, "b", 200, 300, 300, 400);
    made_proof(&t, "c", 300, 400, 400, 500);
    made_proof(&t, "d", 400, 500, 500, 600);
    made_put(&t, 550, "SRS_LOAD_START", "e", "key=k2");
    made_put(&t, 580, "SRS_LOAD_END", "e", "key=k2");
    timeline_log *log = made_log(t.data, t.len);
    timeline_analysis *a = made_analysis(log, NULL);
    assert_true(made_row(a, "a", -1)->cold && made_row(a, "b", -1)->cold);
    assert_false(made_row(a, "c", -1)->cold || made_row(a, "d", -1)->cold);
    assert_int_equal(a->cold.to_us, 400000);
    assert_near(a->steady.utilization_pct, 100);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
    timeline_text_release(&t);
}

// Partitions of a proof on two devices: its row spans them, its times are unions.
static void test_partitions(void **state) {
    (void)state;
    timeline_log *log = made_log_file("vectors/timeline/two-devices.log");
    timeline_options o = TIMELINE_OPTIONS;
    timeline_analysis *a = made_analysis(log, &o);
    assert_int_equal(a->n_rows, 2);
    const timeline_row *r = made_row(a, "job-b", -1);
    assert_int_equal(r->synth_start, 110000);
    assert_int_equal(r->synth_end, 178000);
    assert_int_equal(r->synth_us, 68000); // 110-150 and 138-178
    assert_int_equal(r->gpu_us, 58000);   // 150.25-180.25 and 178.25-208.25
    assert_int_equal(r->gap_us, 13000);
    assert_int_equal(r->count, 2);
    timeline_analysis_destroy(&a);
    o.by_partition = true;
    a = made_analysis(log, &o);
    assert_int_equal(a->n_rows, 4);
    assert_int_equal(a->n_proofs, 2);
    assert_int_equal(a->summary.proofs, 2);
    r = made_row(a, "job-b", 1);
    assert_int_equal(r->synth_us, 40000);
    assert_int_equal(r->gpu_us, 30000);
    assert_int_equal(r->gap_us, 0); // overlaps the run before it
    assert_int_equal(made_row(a, "job-a", 1)->device, 1);
    assert_int_equal(a->n_devices, 3);
    assert_int_equal(a->n_warnings, 0);
    // Kernel-busy is inside run-busy; copies are apart.
    assert_int_equal(a->devices[0].busy_us, 89000);
    assert_int_equal(a->devices[0].kernel_us, 25000);
    assert_int_equal(a->devices[0].copy_us, 5000);
    assert_int_equal(a->devices[1].kernel_us, TIMELINE_NONE);
    assert_int_equal(a->n_stages, 3);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
}

// The public daemon's per-partition logs: pick-up names the partition, the rest the worker only.
static void test_worker_names_the_unit(void **state) {
    (void)state;
    timeline_log *log =
        made_log_of("TIMELINE,0,GPU_QUEUE,j,partition=0\nTIMELINE,0,GPU_QUEUE,j,partition=1\n"
                    "TIMELINE,1,GPU_PICKUP,j,worker=1,partition=1\n"
                    "TIMELINE,2,GPU_PICKUP,j,worker=0,partition=0\n"
                    "TIMELINE,3,GPU_START,j,worker=0\nTIMELINE,4,GPU_START,j,worker=1\n"
                    "TIMELINE,10,GPU_END,j,worker=1,gpu_ms=6\nTIMELINE,23,GPU_END,j,worker=0,gpu_ms=20\n");
    timeline_options o = TIMELINE_OPTIONS;
    o.by_partition = true;
    timeline_analysis *a = made_analysis(log, &o);
    assert_int_equal(a->n_rows, 2);
    assert_int_equal(made_row(a, "j", 0)->gpu_us, 20000);
    assert_int_equal(made_row(a, "j", 1)->gpu_us, 6000);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
}

// A partition that is tried again is another row; the failed attempt is closed by what follows it.
static void test_retry(void **state) {
    (void)state;
    timeline_log *log =
        made_log_of("TIMELINE,0,SYNTH_START,j,worker=0 partition=3\nTIMELINE,10,SYNTH_END,j,partition=3\n"
                    "TIMELINE,10,GPU_START,j,worker=0 gpu=0 partition=3\n"
                    "TIMELINE,30,GPU_END,j,worker=0 gpu=0 partition=3\n"
                    "TIMELINE,31,RETRY,j,partition=3 reason=wrong_proof\n"
                    "TIMELINE,40,GPU_START,j,worker=0 gpu=0 partition=3\n"
                    "TIMELINE,70,GPU_END,j,worker=0 gpu=0 partition=3\n"
                    "TIMELINE,71,JOB_DONE,j,\n");
    timeline_options o = TIMELINE_OPTIONS;
    o.by_partition = true;
    timeline_analysis *a = made_analysis(log, &o);
    assert_int_equal(a->n_rows, 2);
    assert_int_equal(a->rows[0].gpu_us, 20000);
    assert_int_equal(a->rows[1].gpu_us, 30000);
    assert_int_equal(a->rows[1].synth_start, TIMELINE_NONE);
    assert_int_equal(a->summary.proofs, 1);
    assert_int_equal(a->summary.gpu_active_us, 50000);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
}

// A failed job is no proof, and its open run ended with it: no warning.
static void test_failed_job(void **state) {
    (void)state;
    timeline_log *log = made_log_of("TIMELINE,0,GPU_START,bad,worker=0 gpu=0\nTIMELINE,20,JOB_FAIL,bad,reason=x\n"
                                    "TIMELINE,50,GPU_START,good,worker=0 gpu=0\nTIMELINE,60,GPU_END,good,worker=0\n"
                                    "TIMELINE,100,JOB_DONE,good,\n");
    timeline_analysis *a = made_analysis(log, NULL);
    assert_int_equal(a->summary.proofs, 1);
    assert_int_equal(a->summary.gpu_active_us, 30000);
    assert_int_equal(a->n_warnings, 0);
    assert_int_equal(made_row(a, "bad", -1)->gpu_end, TIMELINE_NONE);
    assert_int_equal(made_row(a, "good", -1)->gap_us, 30000);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
}

// An END without START: its duration is in the row, so the interval is known; without one it is null.
static void test_end_without_start(void **state) {
    (void)state;
    timeline_log *log = made_log_of("TIMELINE,100,GPU_END,a,worker=0 gpu=0 gpu_ms=40.5\n"
                                    "TIMELINE,200,GPU_END,b,worker=0 gpu=0\n");
    timeline_analysis *a = made_analysis(log, NULL);
    assert_int_equal(made_row(a, "a", -1)->gpu_start, 59500);
    assert_int_equal(made_row(a, "b", -1)->gpu_start, TIMELINE_NONE);
    assert_int_equal(made_row(a, "b", -1)->gpu_us, TIMELINE_NONE);
    assert_true(made_warned(a, "GPU_END without GPU_START: 2 (first: line 1)"));
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
}

static void test_nothing(void **state) {
    (void)state;
    static const char *const NOTHING[] = {"", "hello\n", "TIMELINE,x\n", "TIMELINE,0,EPOCH,-,wall=x\n",
                                          "TIMELINE,0,DEVICE,-,gpu=0\nTIMELINE,5,JOB_SUBMIT,j,\n"};
    for (size_t i = 0; i < sizeof NOTHING / sizeof *NOTHING; i++) {
        timeline_log *log = made_log_of(NOTHING[i]);
        timeline_analysis *a = NULL;
        timeline_options o = TIMELINE_OPTIONS;
        cuzk_error err = {0};
        assert_int_equal(timeline_analyse(&a, log, &o, &err), CUZK_ERR_INPUT);
        assert_null(a);
        assert_non_null(strstr(err.text, "nothing to analyse"));
        timeline_log_destroy(&log);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_overlap_is_a_union),
        cmocka_unit_test(test_idle_device_counts),
        cmocka_unit_test(test_gap_per_device),
        cmocka_unit_test(test_steady_state),
        cmocka_unit_test(test_warmup_auto),
        cmocka_unit_test(test_partitions),
        cmocka_unit_test(test_worker_names_the_unit),
        cmocka_unit_test(test_retry),
        cmocka_unit_test(test_failed_job),
        cmocka_unit_test(test_end_without_start),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
