// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Where the time of one run went: rows, device busy time, gaps with their causes, stages, and the figures of the whole,
// the cold and the steady part. The rules are explained in docs/timeline.md.
#ifndef CUZK_TIMELINE_ANALYSIS_H
#define CUZK_TIMELINE_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline/log.h"
#include "timeline/spans.h"

typedef struct timeline_options {
    bool by_partition; // rows are (job, partition) instead of jobs
    int32_t device;    // only this gpu=; negative: all
    int64_t warmup;    // so many proofs are cold; negative: auto
    int64_t run;       // of a file with several runs, from 1; 0: the last one that has jobs
} timeline_options;
#define TIMELINE_OPTIONS ((timeline_options){.device = -1, .warmup = -1})

typedef enum timeline_cause {
    CAUSE_NO_JOB,
    CAUSE_SYNTHESIS,
    CAUSE_CHANNEL,
    CAUSE_MEMORY,
    CAUSE_KEY_LOAD,
    CAUSE_DRAINED,
    CAUSE_UNKNOWN,
    TIMELINE_CAUSES
} timeline_cause;
// "no job offered" and so on.
const char *timeline_cause_name(timeline_cause c);

// Times are microseconds since the epoch of the run, TIMELINE_NONE where not seen.
typedef struct timeline_row {
    uint32_t job;
    int32_t partition, count; // -1: the whole job, not given
    int32_t device;           // index in spans.devices, -1: none
    int64_t submit, synth_start, synth_end, synth_us, gpu_start, gpu_end, gpu_us, gap_us;
    uint32_t units; // attempts behind this row
    bool cold;
    bool done; // ran to its end: every device run of it was seen to end, and the job did not fail
} timeline_row;

typedef struct timeline_gap {
    int32_t device; // index
    int64_t from_us, to_us;
    timeline_cause cause;           // the largest share
    int64_t share[TIMELINE_CAUSES]; // adds up to the gap
    uint32_t job;                   // whose device run ended it; TIMELINE_NO_NAME: the window's end
    int32_t partition;
    bool first; // from the beginning of the window
} timeline_gap;

typedef struct timeline_summary {
    bool present; // there is such a part
    int64_t from_us, to_us;
    uint32_t devices;
    int64_t wall_us, gpu_active_us, gpu_idle_us; // active and idle: over all devices
    double utilization_pct;                      // of wall * devices
    uint32_t rows, proofs;                       // rows with a device start in it; jobs done in it
    // Means over the rows; negative where no row has one.
    double avg_synth_us, avg_gpu_us, avg_gap_us;
    double seconds_per_proof, proofs_per_minute; // negative without a proof
} timeline_summary;

typedef struct timeline_device_use {
    int32_t id;
    bool configured, unhealthy;
    uint32_t runs;
    int64_t busy_us, idle_us; // union of the runs over the window
    int64_t kernel_us;        // union of the kernel stages inside; TIMELINE_NONE: no stages in the log
    int64_t copy_us;          // union of the copy stages
    int64_t overlap_us;       // time with more than one run at once
    double utilization_pct;
} timeline_device_use;

typedef struct timeline_stage_use {
    uint32_t name;
    int32_t device; // index, -1: none
    uint32_t count;
    int64_t total_us, longest_us;
    bool kernel, copy;
} timeline_stage_use;

enum { TIMELINE_WARNING_MAX = 240, TIMELINE_WARNINGS = 48 };

typedef struct timeline_analysis {
    const timeline_log *log; // must outlive the analysis
    timeline_options options;
    size_t runs, run; // how many the file has, which this is (from 1)
    uint32_t wall;    // wall time of the epoch, a name
    timeline_spans spans;
    int64_t from, to;   // the window
    timeline_row *rows; // by GPU start, those without last
    size_t n_rows;
    timeline_row *proofs; // one a job, the same order; the same array as rows unless by_partition
    size_t n_proofs;
    timeline_gap *gaps; // by device, then time
    size_t n_gaps;
    timeline_device_use *devices; // those that options.device leaves
    size_t n_devices;
    timeline_stage_use *stages;
    size_t n_stages;
    timeline_summary summary, cold, steady;
    char warnings[TIMELINE_WARNINGS][TIMELINE_WARNING_MAX];
    size_t n_warnings;
} timeline_analysis;

// CUZK_ERR_INPUT when there is nothing to analyse; CUZK_ERR_USAGE for a run or a device that is not there.
CUZK_MUST_USE cuzk_status timeline_analyse(timeline_analysis **out, const timeline_log *log,
                                           const timeline_options *options, cuzk_error *err);
void timeline_analysis_destroy(timeline_analysis **a);

// The job's id.
const char *timeline_job_name(const timeline_analysis *a, uint32_t job);

#endif
