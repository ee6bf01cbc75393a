// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Public inputs of a PoRep partition, derived from what the verifier knows and from the graph; never from the proof.
#ifndef CUZK_CIRCUIT_POREP_PUBLIC_INPUTS_H
#define CUZK_CIRCUIT_POREP_PUBLIC_INPUTS_H

#include "circuit/porep/shape.h"
#include "field/fr.h"

// What the chain knows of a sector.
typedef struct porep_statement {
    fr replica_id, comm_d, comm_r;
    uint8_t seed[32];
} porep_statement;

// Number of public inputs without the constant one (39 for 2 KiB).
size_t porep_public_inputs_count(const porep_shape *shape);
// Fills out[0 .. count-1] for partition k: replica id, comm_d, comm_r, then for each challenge the packed paths.
void porep_public_inputs(fr *out, const porep_shape *shape, const porep_statement *st, uint32_t k);

// The challenged nodes of partition k, shape->challenges of them, each in [1, nodes).
void porep_challenges(uint64_t *out, const porep_shape *shape, const porep_statement *st, uint32_t k);
// Parents of a node in the depth-robust graph and in the expander.
void porep_drg_parents(uint64_t out[POREP_BASE_PARENTS], const porep_shape *shape, uint64_t node);
void porep_exp_parents(uint64_t out[POREP_EXP_PARENTS], const porep_shape *shape, uint64_t node);

#endif
