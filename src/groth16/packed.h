// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Proving from a packed witness. Private to groth16/.
#ifndef CUZK_GROTH16_PACKED_H
#define CUZK_GROTH16_PACKED_H

#include "groth16/assignment.h"

// The sums a proof is assembled from.
typedef struct groth16_sums {
    g1_jac h, l, a, b_g1;
    g2_jac b_g2;
} groth16_sums;

// Fills a, b and c of the assignment, with room for the whole domain. Stage "evaluate". CUZK_ERR_INPUT naming the first
// constraint that does not hold.
CUZK_MUST_USE cuzk_status packed_evaluate(groth16_assignment *w, pool *p, const observer *o, cuzk_error *err);

// The sums over the witness: l, a, b_g1, b_g2, under their stage names. Bits go to the sums over bits as they are.
CUZK_MUST_USE cuzk_status packed_sums(groth16_sums *out, const groth16_pk *pk, const groth16_assignment *w, pool *p,
                                      const observer *o, cuzk_error *err);

#endif
