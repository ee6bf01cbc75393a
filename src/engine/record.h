// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a RECORD action says as a line of the timeline: the same words from the runtime and from `simulate`.
#ifndef CUZK_ENGINE_RECORD_H
#define CUZK_ENGINE_RECORD_H

#include "engine/core.h"
#include "timeline/line.h"

typedef struct engine_record {
    timeline_detail detail; // points into text
    char text[TIMELINE_DETAIL_MAX];
} engine_record;

// `a` is a RECORD action. The job's name is the caller's: a->job and a->token tell which it is (job 0: none).
void engine_record_fill(engine_record *out, const engine_action *a);

const char *engine_priority_name(engine_priority p); // "low" to "critical"
const char *engine_policy_name(engine_policy p);     // "standard" to "batch"

#endif
