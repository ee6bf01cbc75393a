// SPDX-License-Identifier: MIT OR Apache-2.0
//
// "What if": takes durations and shape of a recorded run, so that it can be simulated on another machine or under
// another policy. The durations are those measured, with whatever contention there was.
#ifndef CUZK_ENGINE_SIMULATE_LOG_H
#define CUZK_ENGINE_SIMULATE_LOG_H

#include "engine/simulate.h"
#include "timeline/analysis.h"

typedef struct simulate_learned {
    simulate_time *times; // of proof i partition p at [i * partitions + p]; owned: simulate_learned_release
    uint32_t proofs, partitions;
    uint32_t concurrency; // most proofs in flight at once
    uint32_t synthesis_concurrency, devices;
    uint32_t unit; // partitions of a unit: 1, a slot, or all
    uint64_t key_load_ns;
} simulate_learned;

// `partitions` 0: as recorded; otherwise each proof's time is shared out evenly among so many. Times that the log lacks
// are the means of those it has. CUZK_ERR_INPUT if it has no device run, or no synthesis.
CUZK_MUST_USE cuzk_status simulate_learn(simulate_learned *out, const timeline_analysis *a, uint32_t partitions,
                                         cuzk_error *err);
void simulate_learned_release(simulate_learned *l);

#endif
