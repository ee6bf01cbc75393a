// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Internal to timeline: busy time of devices and why they were idle.
#ifndef CUZK_TIMELINE_GAPS_H
#define CUZK_TIMELINE_GAPS_H

#include "timeline/analysis.h"

// Merged busy intervals of the devices, one after the other.
typedef struct timeline_busy {
    int64_t *from, *to;
    size_t n;
    size_t *first; // device d: first[d] .. first[d + 1]
    size_t n_devices;
    int64_t *gap_of;  // by unit: idle time of its device before it, TIMELINE_NONE for the first
    int64_t *overlap; // by device: time with more than one run
} timeline_busy;

CUZK_MUST_USE cuzk_status timeline_busy_of(timeline_busy *out, const timeline_spans *s, cuzk_error *err);
void timeline_busy_release(timeline_busy *b);
// Busy time of a device in [from, to).
int64_t timeline_busy_in(const timeline_busy *b, size_t device, int64_t from, int64_t to);

// Every gap of every device (or of `device` alone, an index >= 0) in the window, with causes. *out: mem_free.
CUZK_MUST_USE cuzk_status timeline_gaps_find(timeline_gap **out, size_t *n, const timeline_spans *s,
                                             const timeline_busy *busy, int32_t device, cuzk_error *err);

#endif
