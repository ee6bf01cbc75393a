// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The daemon's log: one line an entry, on a descriptor. The layers below the service never use it: they return errors.
// Witness, vanilla and proof bytes are never logged, at any level.
#ifndef CUZK_BASE_LOG_H
#define CUZK_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG, LOG_TRACE, LOG_LEVELS } log_level;

typedef struct log_options {
    log_level level;
    bool json; // one JSON object a line: time, level, target, job, message
    int fd;    // not closed
} log_options;

// Until it is called, nothing is written. May be called again, before other threads log.
void log_start(const log_options *options);
bool log_enabled(log_level level);
// `target` is a static word such as "grpc" or "engine"; `job` may be NULL. Control characters and line breaks in the
// text become '?'. The same text from the same target more often than ten times in ten seconds is counted and summed up
// in one line. Never fails: a log that cannot be written (a full disk) loses lines and counts them; a reader that
// does not read holds the caller up for a tenth of a second, once.
void log_write(log_level level, const char *target, const char *job, const char *fmt, ...) CUZK_PRINTF(4, 5);

// Writes the sums of repeated texts whose ten seconds are over, and how many lines were lost if that is not yet said: for
// a daemon to call now and then, so that they are not kept until the next line.
void log_tick(void);
// The same with all sums, at the end.
void log_flush(void);
// Lines that could not be written since the program's start.
uint64_t log_lost(void);
// For tests: where the log takes its monotonic nanoseconds from; NULL: the clock.
void log_test_clock(uint64_t (*now_ns)(void));

bool log_level_from_name(log_level *out, const char *name); // "error" to "trace"
const char *log_level_name(log_level level);

#endif
