// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A circuit with its input bound: what setup, prover and digest need to know of any circuit.
#ifndef CUZK_CIRCUIT_CIRCUIT_H
#define CUZK_CIRCUIT_CIRCUIT_H

#include "r1cs/cs.h"

typedef struct circuit {
    // Runs the whole circuit against `s`. With values when s->has_values (input must be bound then).
    // Pure: the same calls in the same order every time. Failures stick in s->status.
    void (*synthesize)(const void *self, cs *s);
    const void *self;
} circuit;

#endif
