// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A log, read whole and in pieces, analysed in both ways and rendered in every format. The first byte chooses options;
// control bytes stand for whole pieces of rows, so that a mutation hits structure.
#include "fuzz.h"
#include "timeline/render.h"

enum { MAX_TEXT = 1 << 16 };

static const char *const PIECES[0x20] = {
    [0x01] = "TIMELINE,",      [0x02] = ",SYNTH_START,",    [0x03] = ",SYNTH_END,",
    [0x04] = ",CHAN_SEND,",    [0x05] = ",GPU_PICKUP,",     [0x06] = ",GPU_START,",
    [0x07] = ",GPU_END,",      [0x08] = ",STAGE_START,",    [0x0b] = ",STAGE_END,",
    [0x0c] = ",JOB_SUBMIT,",   [0x0e] = ",JOB_DONE,",       [0x0f] = ",JOB_FAIL,",
    [0x10] = ",EPOCH,-,wall=", [0x11] = ",DEVICE,-,gpu=",   [0x12] = ",SRS_LOAD_START,",
    [0x13] = ",SRS_LOAD_END,", [0x14] = ",MEM_WAIT_START,", [0x15] = ",MEM_WAIT_END,",
    [0x16] = ",RETRY,",        [0x17] = ",DRAIN,-,",        [0x18] = " gpu=",
    [0x19] = " worker=",       [0x1a] = " partition=",      [0x1c] = " gpu_ms=",
    [0x1d] = " stage=",        [0x1e] = " count=",
};

static void check(const timeline_log *log, unsigned choice) {
    timeline_options o = TIMELINE_OPTIONS;
    o.by_partition = choice & 1;
    o.warmup = choice & 2 ? -1 : (int)(choice >> 4);
    timeline_analysis *a = NULL;
    cuzk_error err = {.status = CUZK_OK};
    cuzk_status s = timeline_analyse(&a, log, &o, &err);
    if (s != CUZK_OK) {
        fuzz_require(a == NULL, "no analysis on failure");
        fuzz_require_error(s, &err);
        return;
    }
    int64_t idle = 0;
    for (size_t i = 0; i < a->n_gaps; i++) {
        int64_t sum = 0;
        for (int c = 0; c < TIMELINE_CAUSES; c++) sum += a->gaps[i].share[c];
        fuzz_require(sum == a->gaps[i].to_us - a->gaps[i].from_us, "the causes of a gap add up");
        idle += sum;
    }
    fuzz_require(idle == a->summary.gpu_idle_us, "gaps are the idle time");
    fuzz_require(a->summary.gpu_active_us >= 0 && a->summary.utilization_pct <= 100.0000001,
                 "busy at most all the time");
    timeline_render_options ro = {.width = 40 + choice, .causes = true, .stages = true, .colour = choice & 4};
    for (int f = 0; f < TIMELINE_FORMATS; f++) {
        timeline_text t = {0};
        fuzz_require(timeline_render(&t, a, (timeline_format)f, &ro, NULL) == CUZK_OK, "what was analysed renders");
        fuzz_require(t.len > 0 && memchr(t.data, 0, t.len) == NULL, "text without NULs");
        timeline_text_release(&t);
    }
    timeline_analysis_destroy(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    unsigned choice = size > 0 ? data[0] : 0;
    char *text = malloc(MAX_TEXT + 64);
    if (text == NULL) abort();
    size_t n = 0;
    for (size_t i = 1; i < size && n < MAX_TEXT; i++) {
        const char *piece = data[i] < 0x20 ? PIECES[data[i]] : NULL;
        if (piece != NULL) {
            memcpy(text + n, piece, strlen(piece));
            n += strlen(piece);
        } else {
            text[n++] = (char)data[i];
        }
    }
    timeline_log *whole = NULL, *pieces = NULL;
    if (timeline_log_create(&whole, NULL) != CUZK_OK || timeline_log_create(&pieces, NULL) != CUZK_OK) abort();
    fuzz_require(timeline_log_push(whole, text, n, NULL) == CUZK_OK, "a log is read");
    check(whole, choice); // a growing file
    fuzz_require(timeline_log_finish(whole, NULL) == CUZK_OK, "a log ends");
    size_t step = 1 + choice % 7;
    for (size_t at = 0; at < n; at += step)
        fuzz_require(timeline_log_push(pieces, text + at, n - at < step ? n - at : step, NULL) == CUZK_OK, "in pieces");
    fuzz_require(timeline_log_finish(pieces, NULL) == CUZK_OK, "and ends");
    fuzz_require(whole->n == pieces->n && whole->n_bad == pieces->n_bad && whole->lines == pieces->lines,
                 "pieces make no difference");
    free(text);
    check(whole, choice);
    timeline_log_destroy(&whole);
    timeline_log_destroy(&pieces);
    return 0;
}
