// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A device for tests and demonstrations: takes the time it is told to and fails when it is told to. Proofs come from
// another device behind it, or are canned. Several of them make a machine with several devices.
#ifndef CUZK_DEVICE_SIM_H
#define CUZK_DEVICE_SIM_H

#include <stdatomic.h>

#include "device/device.h"

typedef enum sim_fault_kind {
    SIM_GOOD,
    SIM_DELAY,         // the kernel section takes `delay_ns` longer
    SIM_OUT_OF_MEMORY, // after half of the kernel section
    SIM_WRONG,         // the proof of one partition is of another statement: well-formed, does not verify
    SIM_HANG,          // does nothing until it is stopped
    SIM_ABORT,         // the driver fails in the middle
    SIM_STUCK,         // does nothing, not even when it is stopped, until sim_release
    SIM_FAULTS
} sim_fault_kind;

typedef struct sim_fault {
    sim_fault_kind kind;
    uint64_t delay_ns;  // DELAY
    uint32_t partition; // WRONG: index within the run, modulo its length
} sim_fault;

// Devices of one machine slow each other down: while b runs are in kernel sections, durations are multiplied by
// 1 + (b - 1) * slowdown_percent / 100, as seen at the beginning of each slice of time.
typedef struct sim_machine {
    atomic_uint busy;
    uint32_t slowdown_percent;
} sim_machine;

typedef struct sim_options {
    device *inner; // makes the proofs, in the kernel section; closed with the sim. NULL: all proofs are `canned`
    groth16_proof canned;
    uint64_t kernel_ns, tail_ns; // of a partition, and of a run; beside what `inner` takes
    sim_machine *machine;        // NULL: alone
    // Which fault the run with this number (from 0, in order of arrival) has; NULL: none. Called from the threads that
    // prove.
    sim_fault (*fault)(void *ctx, uint64_t run, uint32_t partitions);
    void *ctx;
} sim_options;

CUZK_MUST_USE cuzk_status device_open_sim(device **out, const sim_options *options, cuzk_error *err);

// What came to pass, so far.
typedef struct sim_stats {
    uint64_t runs, partitions;
    uint64_t faults[SIM_FAULTS]; // runs by what they were told
    uint64_t overlaps;           // runs that began while another was in the kernel section: 0 if the caller keeps order
    uint64_t keys;               // loaded now
} sim_stats;
void sim_release(device *sim);             // lets the runs return that are stuck, now and from now on
sim_stats sim_stats_of(const device *sim); // of a device made by device_open_sim

#endif
