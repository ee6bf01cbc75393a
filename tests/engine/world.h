// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A virtual world around the engine core: it carries the actions out in virtual time, with random durations, faults,
// cancels and stray reports, and keeps its own account of what the core may do. Everything follows from the scenario;
// what happens to one unit is a hash of the scenario's seed and of that unit, so that leaving out a job does not change
// the fate of the others, and a failing scenario can be shrunk.
#ifndef CUZK_TESTS_ENGINE_WORLD_H
#define CUZK_TESTS_ENGINE_WORLD_H

#include "engine/core.h"

enum { WORLD_JOBS = 24, WORLD_OPS = 8, WORLD_PARTS = 16, WORLD_KEYS = 4 };

typedef struct world_job {
    uint64_t at;
    engine_request req;                  // token: index + 1
    uint64_t cancel_at, cancel_again_at; // 0: not
    bool absent;                         // left out by the shrinker
} world_job;

typedef struct world_op {
    uint64_t at;
    engine_event_kind kind; // EVICT, PRELOAD, DRAIN, or a report out of the blue
    uint64_t key, unit;
    bool absent;
} world_op;

// Chances in 1/256.
typedef struct world_faults {
    uint8_t synth_bad, synth_oom, device_error, wrong, always_wrong, hang, key_fail, key_bigger, again, no_started,
        stuck; // of those that hang on a device: never return
} world_faults;

typedef struct scenario {
    uint64_t seed;
    engine_config cfg;
    uint32_t jobs, ops;
    world_job job[WORLD_JOBS];
    world_op op[WORLD_OPS];
    uint64_t key_bytes[WORLD_KEYS];
    uint32_t slowest; // durations are 1 to this
    world_faults faults;
} scenario;

// What happened, to see that the schedules reach everything.
typedef struct world_tally {
    uint64_t steps, jobs, done, failed, stopped, joined, retries, discarded, blocked, evictions, timeouts, loads,
        mem_waits, unhealthy, critical_waits, fallbacks, stuck, grouped, fresh_evictions;
    uint64_t reasons[ENGINE_REASONS];
} world_tally;

// Runs the scenario to its end. False: a promise was broken, and text says which, when and where.
bool world_run(const scenario *s, world_tally *tally, char *text, size_t size);

// A random scenario; `planted` goes into its configuration.
void scenario_random(scenario *s, uint64_t seed, uint32_t planted);
// Leaves out jobs, partitions, operations, faults and sizes as long as it still fails.
void scenario_shrink(scenario *s);
void scenario_print(const scenario *s);

#endif
