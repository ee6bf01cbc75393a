// SPDX-License-Identifier: MIT OR Apache-2.0
//
// How long work shows itself: named stages and progress. The timeline and the progress line are observers.
#ifndef CUZK_BASE_OBSERVER_H
#define CUZK_BASE_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

// All calls come from the thread that called the reporting function, stages nest properly, and a NULL observer or a
// NULL member is skipped. `stage` is a static string such as "ntt" or "msm_h".
typedef struct observer {
    void (*stage_begin)(void *ctx, const char *stage);
    void (*stage_end)(void *ctx, const char *stage);
    void (*progress)(void *ctx, const char *stage, uint64_t done, uint64_t total);
    bool (*cancelled)(void *ctx); // polled between steps; true makes the work return CUZK_ERR_CANCELLED
    void *ctx;
} observer;

static inline void observe_begin(const observer *o, const char *stage) {
    if (o != 0 && o->stage_begin != 0) o->stage_begin(o->ctx, stage);
}
static inline void observe_end(const observer *o, const char *stage) {
    if (o != 0 && o->stage_end != 0) o->stage_end(o->ctx, stage);
}
static inline void observe_progress(const observer *o, const char *stage, uint64_t done, uint64_t total) {
    if (o != 0 && o->progress != 0) o->progress(o->ctx, stage, done, total);
}
static inline bool observe_cancelled(const observer *o) { return o != 0 && o->cancelled != 0 && o->cancelled(o->ctx); }

#endif
