// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One log a cause; in each the device is idle from 100 ms to 200 ms.
#include "timeline/made.h"

typedef struct line {
    double at;
    const char *text;
    int len;
} line;

// The lines by time, those of the same time as they are: what a daemon would have written.
static timeline_log *sorted_log(const char *text) {
    line lines[64];
    int n = 0;
    for (const char *p = text; *p != 0; n++) {
        assert_in_range(n, 0, 63);
        const char *end = strchr(p, '\n');
        line l = {strtod(p + strlen("TIMELINE,"), NULL), p, (int)(end + 1 - p)};
        int k = n;
        for (; k > 0 && lines[k - 1].at > l.at; k--) lines[k] = lines[k - 1];
        lines[k] = l;
        p = end + 1;
    }
    timeline_text t = {0};
    for (int i = 0; i < n; i++) text_put_n(&t, lines[i].text, (size_t)lines[i].len);
    timeline_log *log = made_log(t.data, t.len);
    timeline_text_release(&t);
    return log;
}

// The gap that ends at 200 ms, its shares checked to add up.
static timeline_gap judged(const char *text) {
    timeline_log *log = sorted_log(text);
    timeline_analysis *a = made_analysis(log, NULL);
    const timeline_gap *g = made_gap(a, 0, 200000);
    assert_non_null(g);
    timeline_gap copy = *g;
    int64_t sum = 0;
    for (int c = 0; c < TIMELINE_CAUSES; c++) sum += g->share[c];
    assert_int_equal(sum, g->to_us - g->from_us);
    assert_int_equal(g->from_us, 100000);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
    return copy;
}

#define FIRST                                                                                                          \
    "TIMELINE,0,JOB_SUBMIT,a,\nTIMELINE,0,SYNTH_START,a,worker=0\nTIMELINE,50,SYNTH_END,a,worker=0\n"                  \
    "TIMELINE,50,CHAN_SEND,a,\nTIMELINE,50,GPU_START,a,worker=0 gpu=0\nTIMELINE,100,GPU_END,a,worker=0 gpu=0\n"
#define SECOND_RUN "TIMELINE,200,GPU_START,b,worker=0 gpu=0\nTIMELINE,230,GPU_END,b,worker=0 gpu=0\n"

static void assert_cause(const timeline_gap *g, timeline_cause c) {
    if (g->cause != c) fail_msg("expected %s, found %s", timeline_cause_name(c), timeline_cause_name(g->cause));
}

// Starved by synthesis: the only worker was busy with this unit all along.
static void test_synthesis(void **state) {
    (void)state;
    timeline_gap g = judged(FIRST "TIMELINE,0,JOB_SUBMIT,b,\nTIMELINE,50,SYNTH_START,b,worker=0\n"
                                  "TIMELINE,200,SYNTH_END,b,worker=0\nTIMELINE,200,CHAN_SEND,b,\n" SECOND_RUN);
    assert_cause(&g, CAUSE_SYNTHESIS);
    assert_int_equal(g.share[CAUSE_SYNTHESIS], 100000);
    // Without JOB_SUBMIT rows as well.
    g = judged("TIMELINE,0,SYNTH_START,a,\nTIMELINE,50,SYNTH_END,a,\nTIMELINE,50,GPU_START,a,worker=0,gpu=0\n"
               "TIMELINE,100,GPU_END,a,worker=0\nTIMELINE,50,SYNTH_START,b,\nTIMELINE,200,SYNTH_END,b,\n" SECOND_RUN);
    assert_cause(&g, CAUSE_SYNTHESIS);
}

// After a silence two units come at once: the second is behind the first for as long as that takes, and the silence
// before is what it was.
static void test_silence_and_then_two(void **state) {
    (void)state;
    timeline_gap g = judged(FIRST
                            "TIMELINE,150,JOB_SUBMIT,b,\nTIMELINE,150,JOB_SUBMIT,c,\n"
                            "TIMELINE,150,SYNTH_START,c,worker=0\nTIMELINE,160,SYNTH_END,c,worker=0\n"
                            "TIMELINE,160,CHAN_SEND,c,\nTIMELINE,160,GPU_START,c,worker=1 gpu=1\n"
                            "TIMELINE,160,SYNTH_START,b,worker=0\nTIMELINE,200,SYNTH_END,b,worker=0\n"
                            "TIMELINE,200,CHAN_SEND,b,\nTIMELINE,220,GPU_END,c,worker=1 gpu=1\n" SECOND_RUN);
    assert_cause(&g, CAUSE_NO_JOB);
    assert_int_equal(g.share[CAUSE_SYNTHESIS], 10000);
    assert_int_equal(g.share[CAUSE_NO_JOB], 90000);
}

// The job came late, and the worker that then took it had been free: had it come sooner, there would be no gap.
static void test_no_job(void **state) {
    (void)state;
    timeline_gap g = judged(FIRST "TIMELINE,160,JOB_SUBMIT,b,\nTIMELINE,160,SYNTH_START,b,worker=0\n"
                                  "TIMELINE,200,SYNTH_END,b,worker=0\nTIMELINE,200,CHAN_SEND,b,\n" SECOND_RUN);
    assert_cause(&g, CAUSE_NO_JOB);
    assert_int_equal(g.share[CAUSE_NO_JOB], 100000);
    // A closed loop of one client: 50 of the 150 ms that it synthesises are the pipeline's own.
    g = judged(FIRST "TIMELINE,100,JOB_SUBMIT,b,\nTIMELINE,100,SYNTH_START,b,worker=0\n"
                     "TIMELINE,200,SYNTH_END,b,worker=0\nTIMELINE,200,CHAN_SEND,b,\n" SECOND_RUN);
    assert_int_equal(g.share[CAUSE_NO_JOB], 50000);    // the worker was free from 50 to 100
    assert_int_equal(g.share[CAUSE_SYNTHESIS], 50000); // before that it was busy
}

static void test_memory(void **state) {
    (void)state;
    timeline_gap g = judged(FIRST "TIMELINE,60,JOB_SUBMIT,b,\nTIMELINE,60,MEM_WAIT_START,b,bytes=1\n"
                                  "TIMELINE,180,MEM_WAIT_END,b,\nTIMELINE,180,SYNTH_START,b,worker=0\n"
                                  "TIMELINE,200,SYNTH_END,b,worker=0\nTIMELINE,200,CHAN_SEND,b,\n" SECOND_RUN);
    assert_cause(&g, CAUSE_MEMORY);
    assert_int_equal(g.share[CAUSE_MEMORY], 100000);
}

static void test_key_load(void **state) {
    (void)state;
    timeline_gap g = judged(FIRST "TIMELINE,60,JOB_SUBMIT,b,\nTIMELINE,60,SRS_LOAD_START,b,key=k2\n"
                                  "TIMELINE,190,SRS_LOAD_END,b,key=k2\nTIMELINE,190,SYNTH_START,b,worker=0\n"
                                  "TIMELINE,200,SYNTH_END,b,worker=0\nTIMELINE,200,CHAN_SEND,b,\n" SECOND_RUN);
    assert_cause(&g, CAUSE_KEY_LOAD);
    assert_int_equal(g.share[CAUSE_KEY_LOAD], 100000);
    // Ready, and the device waits for the key.
    g = judged(FIRST
               "TIMELINE,10,JOB_SUBMIT,b,\nTIMELINE,50,SYNTH_START,b,worker=0\nTIMELINE,90,SYNTH_END,b,worker=0\n"
               "TIMELINE,90,CHAN_SEND,b,\nTIMELINE,95,PCE_START,b,key=k\nTIMELINE,195,PCE_END,b,key=k\n" SECOND_RUN);
    assert_cause(&g, CAUSE_KEY_LOAD);
    assert_int_equal(g.share[CAUSE_KEY_LOAD], 95000);
    assert_int_equal(g.share[CAUSE_UNKNOWN], 5000);
}

static void test_channel(void **state) {
    (void)state;
    timeline_gap g = judged(FIRST "TIMELINE,10,JOB_SUBMIT,b,\nTIMELINE,50,SYNTH_START,b,worker=0\n"
                                  "TIMELINE,90,SYNTH_END,b,worker=0\nTIMELINE,200,CHAN_SEND,b,\n" SECOND_RUN);
    assert_cause(&g, CAUSE_CHANNEL);
    assert_int_equal(g.share[CAUSE_CHANNEL], 100000);
}

static void test_unknown(void **state) {
    (void)state;
    timeline_gap g = judged(FIRST "TIMELINE,10,JOB_SUBMIT,b,\nTIMELINE,50,SYNTH_START,b,worker=0\n"
                                  "TIMELINE,90,SYNTH_END,b,worker=0\nTIMELINE,90,CHAN_SEND,b,\n" SECOND_RUN);
    assert_cause(&g, CAUSE_UNKNOWN); // ready all the time, not taken
    g = judged("TIMELINE,0,GPU_START,a,gpu=0\nTIMELINE,100,GPU_END,a,gpu=0\n" SECOND_RUN);
    assert_cause(&g, CAUSE_UNKNOWN); // nothing is known of its synthesis
}

static void test_end_of_the_log(void **state) {
    (void)state;
    timeline_gap g = judged(FIRST "TIMELINE,110,DRAIN,-,\nTIMELINE,200,JOB_DONE,a,\n");
    assert_cause(&g, CAUSE_DRAINED);
    assert_int_equal(g.share[CAUSE_DRAINED], 90000);
    assert_int_equal(g.share[CAUSE_NO_JOB], 10000);
    g = judged(FIRST "TIMELINE,200,JOB_DONE,a,\n");
    assert_cause(&g, CAUSE_NO_JOB);
    g = judged(FIRST "TIMELINE,100,JOB_SUBMIT,b,\nTIMELINE,100,SYNTH_START,b,worker=0\nTIMELINE,200,JOB_DONE,a,\n");
    assert_cause(&g, CAUSE_SYNTHESIS);
}

// Others waited while workers were free: what held those up is the cause.
static void test_others_waited_for_memory(void **state) {
    (void)state;
    timeline_gap g = judged(FIRST "TIMELINE,40,JOB_SUBMIT,c,\nTIMELINE,50,MEM_WAIT_START,c,bytes=9\n"
                                  "TIMELINE,150,JOB_SUBMIT,b,\nTIMELINE,150,SYNTH_START,b,worker=0\n"
                                  "TIMELINE,200,SYNTH_END,b,worker=0\nTIMELINE,200,CHAN_SEND,b,\n" SECOND_RUN
                                  "TIMELINE,210,MEM_WAIT_END,c,\nTIMELINE,210,SYNTH_START,c,worker=1\n"
                                  "TIMELINE,220,SYNTH_END,c,worker=1\n");
    assert_cause(&g, CAUSE_MEMORY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_synthesis),      cmocka_unit_test(test_no_job),
        cmocka_unit_test(test_silence_and_then_two),
        cmocka_unit_test(test_memory),         cmocka_unit_test(test_key_load),
        cmocka_unit_test(test_channel),        cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_end_of_the_log), cmocka_unit_test(test_others_waited_for_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
