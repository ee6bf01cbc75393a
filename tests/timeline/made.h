// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Logs made in tests.
#ifndef CUZK_TESTS_TIMELINE_MADE_H
#define CUZK_TESTS_TIMELINE_MADE_H

#include "testing.h"
#include "timeline/analysis.h"
#include "timeline/out.h"

// A log from text; fails the test when memory is refused.
timeline_log *made_log(const char *text, size_t len);
timeline_log *made_log_of(const char *text);
timeline_log *made_log_file(const char *path);
// Analyses; fails the test when that fails.
timeline_analysis *made_analysis(const timeline_log *log, const timeline_options *options);

// The row of a job (and partition, -1: any); NULL if absent.
const timeline_row *made_row(const timeline_analysis *a, const char *job, int32_t partition);
// The gap that ends at this time on the device gpu=; NULL if absent.
const timeline_gap *made_gap(const timeline_analysis *a, int32_t gpu, int64_t to_us);
// Is there a warning that holds this text?
bool made_warned(const timeline_analysis *a, const char *text);

// Appends "TIMELINE,<ms>,<event>,<job>,<detail>\n".
void made_put(timeline_text *t, double ms, const char *event, const char *job, const char *detail);
// One proof of the standard pipeline, times in ms: its rows in order of time are appended unsorted by others.
void made_proof(timeline_text *t, const char *job, double synth_start, double synth_end, double gpu_start,
                double gpu_end);

#endif
