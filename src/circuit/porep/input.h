// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a PoRep proof is made from: the vanilla proofs of a C1 file, parsed and checked for shape. The vanilla layer
// fills this; the circuit reads it.
#ifndef CUZK_CIRCUIT_POREP_INPUT_H
#define CUZK_CIRCUIT_POREP_INPUT_H

#include "circuit/porep/shape.h"
#include "field/fr.h"

// One step up a Merkle tree of arity n_siblings + 1.
typedef struct merkle_step {
    uint32_t n_siblings; // 1, 3 or 7
    uint32_t index;      // place of the path's own node among its siblings, 0 .. n_siblings
    fr siblings[7];      // the others in order
} merkle_step;

// From leaf to root. Tree D is binary (SHA-256 cut to 254 bits); trees C and R are of the shape's arities (Poseidon).
typedef struct merkle_path {
    fr leaf, root; // as claimed
    uint32_t n_steps;
    merkle_step *steps;
} merkle_path;

// The labels of one node, one a layer, and the path of their hash in tree C.
typedef struct porep_column {
    uint64_t node;
    fr rows[POREP_MAX_LAYERS]; // shape.layers of them
    merkle_path path;
} porep_column;

// A label to be recomputed: layer 1.., and the parents' labels in hashing order.
typedef struct porep_labeling {
    uint32_t layer;
    uint64_t node;
    fr parents[POREP_LABEL_PARENTS];
} porep_labeling;

typedef struct porep_challenge {
    merkle_path comm_d;      // the data node in tree D
    merkle_path comm_r_last; // the sealed node in tree R
    porep_column c_x;        // the challenged column
    porep_column drg_parents[POREP_BASE_PARENTS];
    porep_column exp_parents[POREP_EXP_PARENTS];
    porep_labeling labelings[POREP_MAX_LAYERS]; // shape.layers of them
    porep_labeling encoding;                    // parents and layer of the key that encodes the data node
} porep_challenge;

typedef struct porep_partition {
    porep_challenge *challenges; // shape.challenges of them
} porep_partition;

// One C1 file.
typedef struct porep_input {
    porep_shape shape;
    fr replica_id, comm_d, comm_r;
    uint8_t seed[32], ticket[32];
    uint32_t n_partitions; // as found in the file; must equal shape.partitions to be proven whole
    porep_partition *partitions;
} porep_input;

#endif
