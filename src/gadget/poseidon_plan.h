// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The linear combinations of a Poseidon circuit, worked out once per arity.
#ifndef CUZK_GADGET_POSEIDON_PLAN_H
#define CUZK_GADGET_POSEIDON_PLAN_H

#include "hash/poseidon.h"

// Longest row: the constant, one term a state element, one a partial round.
enum { POSEIDON_PLAN_MAX_TERMS = 1 + POSEIDON_MAX_WIDTH + POSEIDON_MAX_PARTIAL_ROUNDS };

// A term over the S-boxes of the hash: 0 is the constant one, k > 0 the output of the k-th S-box that has a wire.
typedef struct poseidon_plan_term {
    uint32_t sbox;
    fr coeff;
} poseidon_plan_term;

typedef struct poseidon_plan {
    const poseidon_params *params;
    fr first_constant; // state[0] after its first S-box, which sees only the domain tag
    // Row r is terms[row_end[r-1] .. row_end[r]): the input of each S-box from the second round on, in order, and last
    // the result.
    uint32_t n_rows;
    uint32_t *row_end;
    poseidon_plan_term *terms;
} poseidon_plan;

// Arity 2, 4, 8, 11; NULL for others or if memory is refused. Thread-safe, valid for the life of the process.
const poseidon_plan *poseidon_plan_for(uint32_t arity);

#endif
