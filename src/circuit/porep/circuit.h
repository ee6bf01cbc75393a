// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The PoRep circuit (StackedCircuit of rust-fil-proofs) as a constraint stream.
#ifndef CUZK_CIRCUIT_POREP_CIRCUIT_H
#define CUZK_CIRCUIT_POREP_CIRCUIT_H

#include "circuit/circuit.h"
#include "circuit/porep/input.h"

// One partition. `input` NULL: the shape alone (setup, digests).
typedef struct porep_circuit {
    porep_shape shape;
    const porep_input *input;
    uint32_t partition;
} porep_circuit;

// The result borrows `self`.
circuit porep_circuit_bind(const porep_circuit *self);

#endif
