// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the runtime must know of a kind of proof: how a request becomes a number of partitions, how a partition is
// synthesised, what it must verify against, and where its key comes from. All functions may be called from several
// threads at once; a request is never changed after it was bound.
#ifndef CUZK_ENGINE_PROVIDER_H
#define CUZK_ENGINE_PROVIDER_H

#include "groth16/prove.h"

typedef struct provider provider;

enum { PROVIDER_KEY_NAME_MAX = 64 };

// What a bound request needs.
typedef struct provider_plan {
    uint32_t partitions;                  // 1 or more
    uint32_t public_inputs;               // of a partition, without the constant one
    uint64_t key;                         // identity of the proving key, non-zero: same number, same points
    uint64_t key_bytes;                   // it takes in memory, or will take
    uint64_t partition_bytes;             // a partition takes from synthesis to proof, at most
    char key_name[PROVIDER_KEY_NAME_MAX]; // for people: "porep-32g", "toy-10"
} provider_plan;

typedef struct provider_ops {
    // Parses and checks an input, refusing early what can never be proven. *request is released by `release`.
    cuzk_status (*bind)(const provider *self, void **request, provider_plan *plan, const uint8_t *input, size_t len,
                        cuzk_error *err);
    void (*release)(const provider *self, void *request);
    cuzk_status (*synthesize)(const provider *self, groth16_assignment **out, const void *request, uint32_t partition,
                              const observer *obs, cuzk_error *err);
    // plan.public_inputs values, from the statement alone.
    void (*public_inputs)(const provider *self, fr *out, const void *request, uint32_t partition);
    // The key of that identity, freed by groth16_pk_destroy. Called once for each load that the engine decides on.
    cuzk_status (*load_key)(const provider *self, groth16_pk **out, uint64_t key, pool *p, const observer *obs,
                            cuzk_error *err);
    // Fills in key, key_bytes and key_name of the key with that name. CUZK_ERR_INPUT: it is none of this provider's;
    // anything else: it is, but cannot be had (its file is missing).
    cuzk_status (*find_key)(const provider *self, provider_plan *plan, const char *name, cuzk_error *err);
} provider_ops;

struct provider {
    const provider_ops *ops;
    const char *kind; // "porep-2KiB", "toy10": requests name it
};

// Bytes of a proving key in memory.
uint64_t provider_key_bytes(const groth16_pk *pk);
// An upper estimate of what a partition takes from synthesis to proof: values and evaluations of the assignment, and
// on the way to the device the gathered scalars and the digits of the sums.
uint64_t provider_partition_bytes(uint64_t rows, uint64_t wires);
// The same of a partition whose witness is packed. `fields` of the wires hold field elements; 0 where those are a few
// in a hundred, as in the circuits of Filecoin.
uint64_t provider_packed_bytes(uint64_t rows, uint64_t wires, uint64_t fields);

#endif
