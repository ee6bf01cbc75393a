// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What tests of the runtime share: toy providers, simulated devices in front of the CPU, and a judge that knows the
// verifying key and derives public inputs itself.
#ifndef CUZK_TESTS_ENGINE_RUNTIME_BED_H
#define CUZK_TESTS_ENGINE_RUNTIME_BED_H

#include <stdatomic.h>

#include "api/provider_toy.h"
#include "base/mem.h"
#include "device/sim.h"
#include "engine/runtime.h"

enum { BED_DEVICES_MAX = 4, BED_ROWS = 16 };
#define BED_LABEL "runtime test"

typedef struct bed {
    pce_cache *programs;
    provider *one, *many; // kinds "one" (1 partition) and "many" (bed.partitions)
    uint32_t partitions;
    const provider *providers[2];
    device *devices[BED_DEVICES_MAX];
    uint32_t n_devices;
    groth16_pk *pk; // the test's own
    runtime_options options;
    runtime *rt;
    atomic_uint warnings;
    char last_warning[CUZK_ERROR_TEXT_MAX];
} bed;

// Providers, and n devices that get their faults from `fault`. Options are filled in and may be changed before
// bed_start.
void bed_make(bed *b, uint32_t partitions, uint32_t n_devices, sim_fault (*fault)(void *, uint64_t, uint32_t),
              void *ctx);
void bed_start(bed *b);
void bed_stop(bed *b);    // destroys the runtime, keeps the devices
void bed_destroy(bed *b); // everything

// Submits a job of a kind with a seed; fails the test unless it is accepted.
runtime_job bed_submit(bed *b, const char *kind, uint64_t seed);
cuzk_status bed_try_submit(bed *b, runtime_job *out, bool *joined, engine_reason *reason, const char *kind,
                           uint64_t seed, const char *client_id, engine_priority priority);
// The proof verifies for that seed, every partition of it.
bool bed_verifies(const bed *b, uint32_t partitions, uint64_t seed, const uint8_t *proof, size_t len);
// Waits for the end of a job, checks that it is done and its proof right.
void bed_expect_done(bed *b, runtime_job job, uint32_t partitions, uint64_t seed);
// The exit code of a program whose group of tests gave `failed`: a failure, too, if memory is not back where it was
// before them.
int bed_memory_is_back(const mem_usage *before, int failed);

#endif
