// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What synthesis leaves for the prover. Private to groth16/.
#ifndef CUZK_GROTH16_ASSIGNMENT_H
#define CUZK_GROTH16_ASSIGNMENT_H

#include "groth16/prove.h"
#include "r1cs/bitmap.h"
#include "r1cs/packed.h"

// A growing array of field elements; capacity doubles, so after the last growth it is a power of two.
typedef struct fr_vec {
    fr *at;
    uint64_t n, cap;
} fr_vec;

// In one of two forms. Packed: `packed` and `by` are set, a, b and c are empty until the proof is begun, and the rest
// is not used. Else everything is in the vectors.
struct groth16_assignment {
    packed_witness *packed;
    groth16_program by;
    fr_vec inputs, aux; // values; inputs with the constant one
    // A·w, B·w, C·w by row: the constraints, then the prover's own row `input_i * 0 = 0` an input. NULL once consumed.
    fr_vec a, b, c;
    uint64_t rows;
    bool used; // proven: the evaluations are gone
    // Wires with a coefficient in A or B: the key holds points for these alone. Inputs are all dense in A.
    bitmap a_aux, b_inputs, b_aux;
};

// Frees a vector of secrets, overwriting it first, by the threads of p (NULL: the caller's).
void fr_vec_wipe(fr_vec *v, pool *p);

#endif
