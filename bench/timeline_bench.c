// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What an event costs the thread that records it, and how fast a log is read and analysed.
#include <string.h>
#include <sys/resource.h>

#include "bench.h"
#include "timeline/recorder.h"
#include "timeline/render.h"

enum { BURST = 1024, BURSTS = 64, READ_EVENTS = 1000000 };

// Bursts that fit the ring, timed without the flushes between them: an engine's worker records a few dozen events a
// second, never so many that the drain falls behind.
static void record(const char *name, const timeline_detail *d, unsigned threads_running) {
    recorder *r = NULL;
    recorder_options o = RECORDER_OPTIONS;
    o.path = "/dev/null";
    if (recorder_create(&r, &o, NULL) != CUZK_OK) return;
    recorder_lane *lane = recorder_lane_open(r);
    double times[BURSTS];
    static const char JOB[] = "3f1c9a52-7d0e-4b66-9a0b-5f6c2f1d0a01";
    for (int pass = -1; pass < BURSTS; pass++) {
        uint64_t start = clock_now_ns();
        for (int i = 0; i < BURST; i++) recorder_event(lane, TL_GPU_START, JOB, d);
        if (pass >= 0) times[pass] = (double)(clock_now_ns() - start) / BURST;
        recorder_flush(r);
    }
    recorder_stats s = recorder_stats_of(r);
    bench_report(&(bench_row){.name = name, .n = s.dropped == 0 ? BURST : 0, .threads = threads_running}, times, NULL,
                 BURSTS);
    recorder_lane_close(&lane);
    (void)recorder_close(&r, NULL);
}

static void clock_only(void *ctx, size_t n) {
    uint64_t *sum = ctx;
    for (size_t i = 0; i < n; i++) *sum += clock_now_ns();
}

static void read_million(void) {
    timeline_text t = {0};
    for (unsigned i = 0; i < READ_EVENTS / 8; i++) {
        static const char *const EVENT[] = {"SYNTH_START", "SYNTH_END",   "CHAN_SEND", "GPU_PICKUP",
                                            "GPU_START",   "STAGE_START", "STAGE_END", "GPU_END"};
        for (unsigned k = 0; k < 8; k++)
            text_put_f(&t, "TIMELINE,%u.%03u,%s,job-%u,gpu=0 worker=%u partition=%u%s\n", i * 8 + k, k, EVENT[k],
                       i / 10, i % 2, i % 10, k == 5 || k == 6 ? " stage=ntt" : "");
    }
    if (t.failed) return;
    double read_ns[1], analyse_ns[1];
    timeline_log *log = NULL;
    timeline_analysis *a = NULL;
    timeline_options o = TIMELINE_OPTIONS;
    uint64_t start = clock_now_ns();
    if (timeline_log_create(&log, NULL) != CUZK_OK || timeline_log_push(log, t.data, t.len, NULL) != CUZK_OK) return;
    read_ns[0] = (double)(clock_now_ns() - start);
    start = clock_now_ns();
    if (timeline_analyse(&a, log, &o, NULL) != CUZK_OK) return;
    analyse_ns[0] = (double)(clock_now_ns() - start);
    bench_report(&(bench_row){.name = "timeline_read", .n = READ_EVENTS, .threads = 1}, read_ns, NULL, 1);
    bench_report(&(bench_row){.name = "timeline_analyse", .n = READ_EVENTS, .threads = 1}, analyse_ns, NULL, 1);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
    timeline_text_release(&t);
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    double mib[1] = {(double)u.ru_maxrss / 1024};
    bench_report(&(bench_row){.name = "timeline_peak_mib", .n = READ_EVENTS, .threads = 1}, mib, NULL, 1);
}

int main(void) {
    uint64_t sum = 0;
    bench_run(&(bench_row){.name = "clock_now_ns", .n = 1, .threads = 1},
              &(bench_effort){.runs = 9, .iterations = 1 << 16}, clock_only, &sum);
    record("recorder_event_bare", NULL, 1);
    timeline_detail d = TIMELINE_DETAIL_NONE;
    d.gpu = 0, d.worker = 1, d.partition = 7, d.word_key = "stage", d.word = "msm_h";
    record("recorder_event", &d, 1);
    d.text = "bytes=123456789 note=something";
    record("recorder_event_text", &d, 1);
    read_million();
    return 0;
}
