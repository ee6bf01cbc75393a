// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Internal to timeline: a file holds one or several runs of a daemon, each with a clock of its own, and the rows of a
// run may be out of order. Where a run ends is decided by these rules, over the rows in the order of the file:
//
//  1. An EPOCH row begins a run if its wall time is not that of the run it stands in, and
//     (a) no job seen before it in this run appears after it (and it is not the last row of a shuffled file), or (b)
//     the file is orderly (below) and the next row is earlier than the latest so far, or the run had an EPOCH already.
//  2. A row that is clearly earlier than the latest so far (by more than 1 % of it) begins a run if no job seen before
//     it in this run appears after it, the row behind it is earlier than the latest as well, and the step back is to
//     the first tenth of the run or larger than a second; unless the file is grouped by job: there are such places for
//     at least half of its jobs, and not all of them go back to the first tenth.
//  3. A row in the first tenth of the run begins a run if the file is orderly, the row behind it is earlier than the
//     latest as well, and it repeats an event that its job had already in this run (ids that are used again).
//
// Everything else is disorder within one run, and is sorted by time. A file is orderly when at most one row in twenty
// steps clearly back to somewhere else than the first tenth: a shuffled file steps back every other row, a file of two
// runs once.
#ifndef CUZK_TIMELINE_RUNS_H
#define CUZK_TIMELINE_RUNS_H

#include "timeline/log.h"

typedef struct timeline_run {
    uint32_t first, count; // in the order given
    uint32_t disordered;   // rows earlier than a row before them
    uint32_t wall;         // name of the EPOCH's wall time, or TIMELINE_NO_NAME
    bool has_jobs;         // rows of jobs
} timeline_run;

// *order: the events' indices by run, in each run by time (mem_free both). Rows of the same time stay in the order of
// the file, in a disordered run in the order of a job's life.
CUZK_MUST_USE cuzk_status timeline_runs_find(timeline_run **runs, size_t *n_runs, uint32_t **order,
                                             const timeline_log *log, cuzk_error *err);

#endif
