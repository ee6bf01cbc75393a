// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Internal to timeline: what pairing makes of one run's events.
//
// A *unit* is one attempt to bring one (job, partition) through synthesis, channel and device; the same partition tried
// again is another unit. A *span* is an interval that some lane shows.
#ifndef CUZK_TIMELINE_SPANS_H
#define CUZK_TIMELINE_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline/log.h"

#define TIMELINE_NONE INT64_MIN // a time that was not seen

typedef enum timeline_span_kind {
    SPAN_SYNTH,
    SPAN_CHANNEL, // ready, until a device worker takes it
    SPAN_GPU,
    SPAN_STAGE,
    SPAN_SRS_LOAD,
    SPAN_PCE,
    SPAN_VERIFY,
    SPAN_MEM_WAIT,
    SPAN_KINDS
} timeline_span_kind;

enum {
    SPAN_NO_END = 1,   // its end is not in the log; end_us is where it surely was over, or the end of the log
    SPAN_NO_START = 2, // its start is not in the log; start_us comes from the duration in the END row
    SPAN_CUT_OFF = 4,  // ended by the failure or the cancel of its job
};

typedef struct timeline_span {
    int64_t start_us, end_us;
    uint32_t job, name; // names of the log; name: stage or key
    uint32_t unit;      // of SYNTH, CHANNEL, GPU; else UINT32_MAX
    int32_t device;     // index in devices, -1: none
    int32_t worker;     // -1: not given
    int32_t partition;  // -1: the whole job
    uint8_t kind, flags;
} timeline_span;

typedef struct timeline_unit {
    uint32_t job;
    int32_t partition, count; // count: partitions in it, -1: not given
    int32_t gpu;              // as written, -1: not given; after pairing an index in devices
    int32_t gpu_worker, synth_worker;
    int64_t synth_start, synth_end, channel, pickup, gpu_start, gpu_end; // as seen
    // Where an interval without an END row was surely over: TIMELINE_NONE: not known.
    int64_t synth_over, gpu_over;
    int64_t mem_from, mem_to; // its wait for memory
    uint32_t next_of_job;     // UINT32_MAX: the last
    uint8_t flags;            // UNIT_*
} timeline_unit;

// GUESSED: start from the END's duration. AGAIN: not the first attempt of its partition.
enum { UNIT_SYNTH_GUESSED = 1, UNIT_GPU_GUESSED = 2, UNIT_CUT_OFF = 4, UNIT_AGAIN = 8 };

typedef struct timeline_job {
    uint32_t name;
    int64_t submit;                 // JOB_SUBMIT, or TIMELINE_NONE
    int64_t end;                    // JOB_DONE, JOB_FAIL or JOB_CANCEL
    uint32_t end_kind;              // which, TL_KINDS: none
    int32_t partitions;             // as submitted, -1: not given
    uint32_t first_unit, last_unit; // UINT32_MAX: none
    uint32_t await[3];              // cursors: first unit that may still lack channel, pickup, GPU start
} timeline_job;

typedef struct timeline_device {
    int32_t id;      // gpu=
    bool configured; // a DEVICE row named it
    bool unhealthy;  // at the end
} timeline_device;

// What was odd, counted; each becomes one warning.
typedef enum timeline_oddity {
    ODD_DUPLICATE,      // the same event of the same unit at the same time again
    ODD_SYNTH_OPEN,     // SYNTH_START without SYNTH_END
    ODD_GPU_OPEN,       // GPU_START without GPU_END
    ODD_OTHER_OPEN,     // another START without its END
    ODD_SYNTH_NO_START, // SYNTH_END without SYNTH_START
    ODD_GPU_NO_START,
    ODD_OTHER_NO_START,
    ODD_NEGATIVE, // an END before its START
    ODD_DEVICE,   // a device run whose device is not named
    ODD_DROPS,    // events that the recorder lost
    ODD_NO_JOB,   // an event of the life of a job that names no job
    ODDITIES
} timeline_oddity;

typedef struct timeline_spans {
    timeline_span *spans; // by start, longer first
    size_t n_spans;
    timeline_unit *units; // in order of first appearance
    size_t n_units;
    timeline_job *jobs; // in order of first appearance
    size_t n_jobs;
    timeline_device *devices; // by id
    size_t n_devices;
    int64_t from, to; // first and last event of work; both TIMELINE_NONE if there is none
    int64_t drain;    // DRAIN, or TIMELINE_NONE
    bool has_submits; // the log has JOB_SUBMIT rows
    uint64_t odd[ODDITIES];
    uint32_t odd_line[ODDITIES]; // of the first
} timeline_spans;

// order[0..n): indices of one run's events, by time.
CUZK_MUST_USE cuzk_status timeline_spans_pair(timeline_spans *out, const timeline_log *log, const uint32_t *order,
                                              size_t n, cuzk_error *err);
void timeline_spans_release(timeline_spans *s);

// End of an interval that may lack its END row: seen, else where it was surely over, else `to`.
int64_t timeline_unit_synth_end(const timeline_unit *u, int64_t to);
int64_t timeline_unit_gpu_end(const timeline_unit *u, int64_t to);

#endif
