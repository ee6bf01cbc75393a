// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What proves. A device takes whole units: synthesised partitions, their blinding and a key that was loaded onto it
// before; it gives back one proof a partition, unverified. It knows nothing of jobs and decides nothing: which unit
// runs where and when, what is tried again and what is verified is the engine's.
//
// A run blocks its thread. Its *kernel section* is the part that needs the device to itself; what follows (assembling
// points on the host) is the tail. The caller admits one run at a time to the kernel section of a device; a second
// worker may then call device_prove as soon as the first run has said that its kernels are done.
#ifndef CUZK_DEVICE_DEVICE_H
#define CUZK_DEVICE_DEVICE_H

#include "groth16/prove.h"

typedef struct device device;
typedef struct device_key device_key; // a proving key as this device holds it

// Why a run failed, as far as it matters for what to do next. Wrong proofs and hangs are not here: a device that has
// them does not know it; the verifier and the watchdog do.
typedef enum device_fault {
    DEVICE_NO_FAULT,
    DEVICE_OUT_OF_MEMORY, // the same unit may succeed later, or in smaller pieces
    DEVICE_BROKEN,        // the device or its driver failed
    DEVICE_STOPPED,       // asked to, through the observer
    DEVICE_MISMATCH,      // key and partition are of different circuits: no retry helps
} device_fault;
const char *device_fault_name(device_fault f);

typedef struct device_run {
    const device_key *key;
    uint32_t n;                            // partitions
    groth16_assignment *const *partitions; // n; their evaluations are used up, the caller still destroys them
    const groth16_blinding *blinding;      // n
    // Stages (those of groth16/prove.h, or a device's own); progress of "partition" before each partition that is
    // proven by itself; `cancelled` is polled between stages and stops the run.
    const observer *obs;
    // Called once from within the run when the kernel section ends, not at all if the run fails before; may be NULL.
    void (*kernels_done)(void *ctx);
    void *ctx;
} device_run;

// Proves all partitions of the run; out[0 .. n-1] is meaningful after CUZK_OK alone. On failure *fault says what kind
// and err what happened, naming the partition within the run.
CUZK_MUST_USE cuzk_status device_prove(device *d, groth16_proof *out, device_fault *fault, const device_run *run,
                                       cuzk_error *err);

// Makes a key ready on the device. `host` must stay until device_key_free. *bytes is what it takes on the device beyond
// the host's copy. May be called while runs are going on.
CUZK_MUST_USE cuzk_status device_key_load(device_key **out, uint64_t *bytes, device *d, const groth16_pk *host,
                                          cuzk_error *err);
void device_key_free(device *d, device_key **key); // no run may be using it

const char *device_name(const device *d); // "cpu", "sim": for people and the log
unsigned device_threads(const device *d); // threads of this process a run keeps busy, at least 1
void device_close(device **d);            // no run, no key may be left

// The prover of groth16/ on a pool of its own with that many threads (0: as many as the process may use); they start at
// the first run. The default device and the reference for all others.
CUZK_MUST_USE cuzk_status device_open_cpu(device **out, unsigned threads, cuzk_error *err);

#endif
