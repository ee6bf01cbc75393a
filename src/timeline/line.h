// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Writing one line of a log, and the escape that keeps it one line with four commas.
#ifndef CUZK_TIMELINE_LINE_H
#define CUZK_TIMELINE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline/event.h"

// What an event says beside its kind, time and job. Negative numbers and NULLs are not written. `word_key`, `word` and
// `number_key` must be static strings: the recorder keeps the pointers.
typedef struct timeline_detail {
    int32_t gpu, worker, partition, count;
    const char *word_key, *word;
    const char *number_key;
    uint64_t number;
    const char *text; // further key=value pairs, copied
} timeline_detail;
#define TIMELINE_DETAIL_NONE ((timeline_detail){.gpu = -1, .worker = -1, .partition = -1, .count = -1})

enum { TIMELINE_LINE_MAX = 640 };

// Percent-encodes a job id: ',', '%' and control characters become %XX; with `value` (a value of the detail) also ' '
// and '='. UTF-8 passes. Writes at most cap - 1 characters, whole escapes only, and a NUL; returns the length.
size_t timeline_escape(char *out, size_t cap, const char *text, size_t len, bool value);
// The inverse, in place; a '%' without two hex digits stays as it is. Returns the new length.
size_t timeline_unescape(char *text, size_t len);

// Formats a line with its newline: times in milliseconds with three decimals, an empty job as "-". Returns the length.
size_t timeline_line(char out[TIMELINE_LINE_MAX], uint64_t at_ns, timeline_kind kind, const char *job,
                     const timeline_detail *detail);

#endif
