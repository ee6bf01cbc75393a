// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reads logs: ours and the public daemon's, with whatever else is in the file between the events. Nothing in a file is
// an error; what begins like an event and is none is counted, and the first few are kept with their line numbers.
#ifndef CUZK_TIMELINE_LOG_H
#define CUZK_TIMELINE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "timeline/event.h"
#include "timeline/names.h"

typedef struct timeline_event {
    int64_t at_us;
    uint64_t value;      // gpu_ms and synth_ms in microseconds, bytes, drops; UINT64_MAX: not given
    uint32_t line;       // from 1
    uint32_t job, name;  // in log->names, or TIMELINE_NO_NAME; name: stage, key, reason, wall, state or kind
    int32_t gpu, worker; // -1: not given, as the next two
    int32_t partition, count;
    uint32_t kind; // timeline_kind
} timeline_event;

enum { TIMELINE_LINE_LIMIT = 4096, TIMELINE_BAD_KEPT = 8, TIMELINE_WORDS_KEPT = 8 };

typedef struct timeline_bad_row {
    uint32_t line;
    const char *why; // a literal
    char begin[48];  // of the line, cleaned
} timeline_bad_row;

typedef struct timeline_log {
    timeline_event *events; // in the order of the file
    size_t n, cap;
    timeline_names names;
    uint64_t bytes;
    uint32_t lines;
    uint64_t n_bad; // rows refused
    timeline_bad_row bad[TIMELINE_BAD_KEPT];
    uint64_t n_bad_detail; // rows kept, a number in their detail not understood
    uint32_t bad_detail_line;
    uint64_t n_unknown; // rows of words this version does not know
    uint32_t unknown[TIMELINE_WORDS_KEPT];
    uint32_t n_unknown_words;
    uint32_t cut_line; // the last line was cut inside; 0: it was not
    char partial[TIMELINE_LINE_LIMIT];
    size_t partial_len;
    bool overlong; // the current line passed the limit; its rest is skipped
    bool finished;
} timeline_log;

CUZK_MUST_USE cuzk_status timeline_log_create(timeline_log **out, cuzk_error *err);
void timeline_log_destroy(timeline_log **log);
// Any cut of the file into pieces gives the same log. CUZK_ERR_MEMORY when memory is refused; the log stays usable.
CUZK_MUST_USE cuzk_status timeline_log_push(timeline_log *log, const void *data, size_t len, cuzk_error *err);
// The end of the file: judges a last line without a newline. A log may be analysed before (a growing file).
CUZK_MUST_USE cuzk_status timeline_log_finish(timeline_log *log, cuzk_error *err);

#endif
