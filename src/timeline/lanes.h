// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Internal to timeline: puts spans into lanes, such that the spans of a lane never overlap. Charts and traces share it.
#ifndef CUZK_TIMELINE_LANES_H
#define CUZK_TIMELINE_LANES_H

#include "timeline/analysis.h"

typedef enum timeline_lane_group {
    LANES_DEVICE,
    LANES_SYNTHESIS,
    LANES_KEYS,
    LANES_STAGES,
    LANES_OTHER
} timeline_lane_group;

typedef struct timeline_lane {
    timeline_lane_group group;
    int32_t id;      // DEVICE, STAGES: gpu=; SYNTHESIS: worker, -1 where the log names none
    uint32_t sub;    // 0, or the how manieth further lane that overlapping spans need
    char label[32];  // "gpu 0", "synth 1"
    size_t first, n; // in timeline_lanes.spans
} timeline_lane;

typedef struct timeline_lanes {
    timeline_lane *lanes; // by group, id, sub
    size_t n;
    uint32_t *spans; // indices in analysis->spans.spans, by lane, in a lane by start
} timeline_lanes;

enum { LANES_ALL = 1, LANES_WITH_STAGES = 2 }; // ALL: with verification and waits for memory

CUZK_MUST_USE cuzk_status timeline_lanes_build(timeline_lanes *out, const timeline_analysis *a, unsigned which,
                                               cuzk_error *err);
void timeline_lanes_release(timeline_lanes *l);

#endif
