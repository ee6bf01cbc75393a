// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The timeline analyser of cuzk as a library: give it the text of a log with TIMELINE lines (of cuzk, or of the public
// Rust daemon; other lines are passed over), ask where the time went and why devices were idle.
//
// The rules of cuzk.h hold. A cuzk_timeline is used by one thread at a time. Times are milliseconds since the epoch of
// the run; a negative number means "not in the log".
#ifndef CUZK_TIMELINE_H
#define CUZK_TIMELINE_H

#include <cuzk/cuzk.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cuzk_timeline cuzk_timeline;

CUZK_API cuzk_result cuzk_timeline_new(cuzk_timeline **out);
// Accepts NULL.
CUZK_API void cuzk_timeline_free(cuzk_timeline *t);
// One line about the last failure; "" before any. Valid until the next call.
CUZK_API const char *cuzk_timeline_error(const cuzk_timeline *t);

// The next bytes of the log, in pieces of any size. Nothing in them is an error.
CUZK_API cuzk_result cuzk_timeline_add(cuzk_timeline *t, const void *data, size_t len);
// The end of the file: a last line without a newline is judged. Nothing can be added afterwards.
CUZK_API cuzk_result cuzk_timeline_end(cuzk_timeline *t);

typedef struct cuzk_timeline_options {
    int by_partition; // rows are partitions instead of proofs
    int device;       // only this device; -1: all
    int64_t warmup;   // so many proofs are cold; -1: auto
    int64_t run;      // of a log with several runs, from 1; 0: the last one with jobs
} cuzk_timeline_options;

// Analyses what was added so far; may be called again after more was added. options = NULL: proofs, all devices, auto,
// the last run. CUZK_RESULT_INPUT when there is nothing to analyse, CUZK_RESULT_USAGE for a device or a run that is not
// there. What the functions below return is about the last successful call, and valid until the next.
CUZK_API cuzk_result cuzk_timeline_analyse(cuzk_timeline *t, const cuzk_timeline_options *options);

typedef enum cuzk_timeline_part {
    CUZK_TIMELINE_ALL = 0,
    CUZK_TIMELINE_COLD = 1,  // until the warm-up left the device
    CUZK_TIMELINE_STEADY = 2 // from then on
} cuzk_timeline_part;

typedef struct cuzk_timeline_figures {
    double wall_ms, gpu_active_ms, gpu_idle_ms; // active and idle: over all devices
    double gpu_utilization_pct;
    double avg_synth_ms, avg_gpu_ms, avg_idle_gap_ms;
    double seconds_per_proof, proofs_per_minute;
    uint32_t proofs;
} cuzk_timeline_figures;

// CUZK_RESULT_INPUT when the run has no such part.
CUZK_API cuzk_result cuzk_timeline_figures_of(cuzk_timeline *t, cuzk_timeline_figures *out, cuzk_timeline_part part);

typedef struct cuzk_timeline_job {
    const char *job; // UTF-8
    int partition;   // -1: the whole job
    int device;      // -1: none
    double synth_start_ms, synth_end_ms, synth_ms, gpu_start_ms, gpu_end_ms, gpu_ms, idle_gap_ms;
} cuzk_timeline_job;

// Rows by the start of their device run.
CUZK_API size_t cuzk_timeline_job_count(const cuzk_timeline *t);
CUZK_API cuzk_result cuzk_timeline_job_at(cuzk_timeline *t, cuzk_timeline_job *out, size_t index);

typedef struct cuzk_timeline_gap {
    int device;
    double start_ms, end_ms;
    const char *cause;      // such as "no job offered"
    const char *before_job; // whose device run ended the gap; NULL: the log's end
} cuzk_timeline_gap;

CUZK_API size_t cuzk_timeline_gap_count(const cuzk_timeline *t);
CUZK_API cuzk_result cuzk_timeline_gap_at(cuzk_timeline *t, cuzk_timeline_gap *out, size_t index);

// What was odd about the log. NULL behind the last one.
CUZK_API const char *cuzk_timeline_warning(const cuzk_timeline *t, size_t index);

// "text", "json", "csv", "svg", "html" or "trace". width: columns of the text, pixels of the SVG, 0: a default. *text
// has a NUL that *len does not count, and belongs to the timeline until its next call.
CUZK_API cuzk_result cuzk_timeline_render(cuzk_timeline *t, const char **text, size_t *len, const char *format,
                                          uint32_t width);

#ifdef __cplusplus
}
#endif

#endif
