// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Records events from many threads and writes them as lines, without ever making a recording thread wait: each thread
// has a ring of its own (one producer, one consumer, no lock), one drain thread of low priority merges the rings by
// time and writes. A full ring drops the event and counts it; a writer that fails (a full disk) loses lines, counts
// them and goes on. Nothing here can fail a proof.
#ifndef CUZK_TIMELINE_RECORDER_H
#define CUZK_TIMELINE_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "timeline/event.h"
#include "timeline/line.h"

typedef struct recorder recorder;
// One thread's ring. Used by one thread at a time; handing it over needs the ordinary synchronisation.
typedef struct recorder_lane recorder_lane;

typedef struct recorder_options {
    const char *path;    // appended to; NULL: none
    int fd;              // or an open descriptor, not closed by the recorder; negative: none
    const char *version; // for the header line; NULL: left out
    uint32_t lane_slots; // events a ring holds, rounded up to a power of two; 0: 4096 (1 MiB a thread)
    uint32_t tail_lines; // newest lines kept in memory for recorder_since, fewer if they have more than 160 bytes
                         // on average; 0: 4096
    // Or a function, called from the drain thread with whole lines; false means they are lost.
    bool (*sink)(void *ctx, const char *lines, size_t len);
    void *sink_ctx;
} recorder_options;
#define RECORDER_OPTIONS ((recorder_options){.fd = -1})

typedef struct recorder_stats {
    uint64_t recorded;   // accepted into a ring
    uint64_t dropped;    // a ring was full
    uint64_t written;    // lines handed to the writer (or to the tail alone, where there is no writer)
    uint64_t lost;       // lines that the writer refused
    uint64_t failures;   // times it refused
    int last_error;      // errno of the newest failure, 0: none
    uint64_t next_seq;   // sequence number of the next line
    uint64_t oldest_seq; // of the oldest line still in memory
} recorder_stats;

// Starts the drain thread and writes the EPOCH line. A path that cannot be opened is an error here, once, so that the
// caller can say so and go on without.
CUZK_MUST_USE cuzk_status recorder_create(recorder **out, const recorder_options *options, cuzk_error *err);
// Writes everything recorded so far and stops. No lane may be in use. CUZK_ERR_IO when lines were lost to the writer.
cuzk_status recorder_close(recorder **r, cuzk_error *err);

// A ring for the calling thread; NULL when memory is refused (recording into NULL is a counted-nowhere no-op).
recorder_lane *recorder_lane_open(recorder *r);
// The thread is done with it; what it recorded is still written.
void recorder_lane_close(recorder_lane **lane);

// Nanoseconds since the recorder's epoch.
uint64_t recorder_now(const recorder *r);

// Records an event now. Never waits, never allocates. `job` (NULL or "": none) and detail->text are copied; a job id
// longer than TIMELINE_JOB_MAX - 1 bytes is shortened to its beginning and a digest. `detail` may be NULL.
void recorder_event(recorder_lane *lane, timeline_kind kind, const char *job, const timeline_detail *detail);

// Waits until everything recorded before the call was handed to the writer and the tail.
void recorder_flush(recorder *r);

recorder_stats recorder_stats_of(recorder *r);

// Copies whole lines with sequence numbers >= *seq into out (at most cap - 1 bytes and a NUL) and moves *seq behind the
// last one copied; *lost is how many lines were asked for that memory no longer holds. Returns the bytes copied.
size_t recorder_since(recorder *r, char *out, uint64_t *seq, uint64_t *lost, size_t cap);

#endif
