// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Calls at a time to come: one thread and a heap, however many wait.
#ifndef CUZK_SERVICE_TIMERS_H
#define CUZK_SERVICE_TIMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct timers timers;

// One call to come. Memory of the caller, all zero at first; in at most one queue; may be added again once it was
// called.
typedef struct timer_call {
    uint64_t at; // clock_now_ns
    void (*fn)(void *ctx);
    void *ctx;
    uint32_t place; // in the heap, from 1; 0: not waiting
} timer_call;

CUZK_MUST_USE cuzk_status timers_create(timers **out, cuzk_error *err);
void timers_destroy(timers **t); // what still waits is never called

// Calls t->fn once, at t->at or soon after it, from the thread of the timers; fn must not wait for long, and may add
// and remove others. CUZK_ERR_MEMORY alone.
CUZK_MUST_USE cuzk_status timers_add(timers *t, timer_call *call, cuzk_error *err);
// True if the call will not be made. False if it was made or was never added; it has ended then, except when this is
// called from within it. Either way its memory may be freed.
bool timers_remove(timers *t, timer_call *call);

#endif
