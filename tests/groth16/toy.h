// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Small circuits for the tests of groth16/: a chain x -> x^2 + k, with variations that reach the corners.
#ifndef CUZK_TESTS_GROTH16_TOY_H
#define CUZK_TESTS_GROTH16_TOY_H

#include <stdint.h>

#include "circuit/circuit.h"

typedef struct toy {
    uint32_t steps;    // of the chain
    bool linear;       // steps are x -> x + k times one: no aux in B
    bool input_rows;   // two more inputs, bound by constraints between inputs alone
    bool empty_b;      // one constraint with an empty B and an empty C
    uint32_t free_aux; // aux wires that no constraint mentions
    uint32_t wrong;    // step (from 1) whose value is off by one; 0: none
    uint64_t seed;     // value of the first wire
} toy;

enum { TOY_MAX_INPUTS = 4 };

circuit toy_bind(const toy *t);
// The public inputs without the constant one, by other means than the circuit; returns how many.
uint32_t toy_public_inputs(fr out[TOY_MAX_INPUTS], const toy *t);

#endif
