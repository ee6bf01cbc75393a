// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Internal to timeline: one line of a log taken apart.
#ifndef CUZK_TIMELINE_ROW_H
#define CUZK_TIMELINE_ROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline/event.h"

// Views into the line.
typedef struct timeline_row_view {
    int64_t at_us;
    timeline_kind kind;
    const char *word, *job, *detail;
    size_t word_len, job_len, detail_len;
    bool four_commas; // the detail is there, if empty; without it the line may have been cut
} timeline_row_view;

typedef enum timeline_row_verdict {
    ROW_NONE, // an ordinary line of a log
    ROW_GOOD,
    ROW_BAD, // begins like an event and is none; *why says what is wrong
} timeline_row_verdict;

timeline_row_verdict timeline_row_split(timeline_row_view *out, const char **why, const char *line, size_t len);

// The detail's pairs that the analysis knows. Absent numbers are -1, an absent value UINT64_MAX, an absent word NULL.
typedef struct timeline_row_detail {
    int32_t gpu, worker, partition, count;
    uint64_t value; // *_ms as microseconds, bytes, drops
    const char *word;
    size_t word_len; // stage, key, reason, wall or state, as the kind has it
    bool bad;        // a number of a known key does not read
} timeline_row_detail;
void timeline_row_detail_of(timeline_row_detail *out, const timeline_row_view *row);

#endif
