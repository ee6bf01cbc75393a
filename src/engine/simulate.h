// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The core in virtual time: durations in, a timeline out. What the engine would do with these jobs on that machine.
//
// Durations are those of a whole proof on an otherwise quiet machine; a partition takes its share. Contention: while
// two or more syntheses run at once, each of them takes `synth_contention` times as long, and device runs
// `gpu_contention` times. (One synthesis beside one device run is the normal case, and part of the durations.)
#ifndef CUZK_ENGINE_SIMULATE_H
#define CUZK_ENGINE_SIMULATE_H

#include "engine/core.h"

typedef struct simulate_time {
    uint64_t synth_ns, gpu_ns;
} simulate_time;

typedef struct simulate_config {
    engine_config engine; // the queue is made as long as the load needs
    uint32_t proofs;
    uint32_t concurrency; // closed loop: so many proofs are in flight, one is submitted whenever one completes
    uint64_t arrival_ns;  // not 0: open loop instead, one proof each arrival_ns
    uint32_t partitions;
    simulate_time proof;        // of a whole proof
    const simulate_time *times; // or, not NULL: of proof i partition p at [(i % n_times) * partitions + p]
    uint32_t n_times;
    double synth_contention, gpu_contention; // 1: none
    uint64_t pickup_ns;                      // from the device being free and a unit ready until its kernels start
    uint64_t verify_ns;                      // of a unit
    uint64_t partition_bytes, key_bytes, key_load_ns;
    uint32_t kinds; // circuits, each with a key of its own, that the proofs are of in turn
} simulate_config;

// Five proofs of one kind, two in flight, of 10 partitions; policy partition, one worker of each kind, no limits, keys
// and ageing as the daemon's; everything else 0.
simulate_config simulate_defaults(void);

typedef struct simulate_result {
    uint64_t wall_ns; // until the last reply
    uint64_t busy_ns; // kernel sections, all devices
    uint32_t done, failed, refused;
    engine_reason reason; // why the first of the failed or refused was
    engine_stats stats;
} simulate_result;

// Calls line() for each line of the log, in order of time, beginning with EPOCH; false from it ends the run with
// CUZK_ERR_IO. line may be NULL.
CUZK_MUST_USE cuzk_status simulate_run(simulate_result *out, const simulate_config *config,
                                       bool (*line)(void *ctx, const char *text, size_t len), void *ctx,
                                       cuzk_error *err);

#endif
