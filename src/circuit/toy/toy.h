// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Toy circuits of any size and number of partitions, so that everything around a prover can be tested with real proofs
// in milliseconds. A partition shows that somebody knows a start value, given in bits, from which the chain
// x -> x^2 + k leads to the public output; a parity of the bits is added at the end, so that wires holding 0 and 1 and
// wires holding large numbers are both plenty, as in the circuits this project is about.
#ifndef CUZK_CIRCUIT_TOY_H
#define CUZK_CIRCUIT_TOY_H

#include <stddef.h>

#include "circuit/circuit.h"

enum {
    TOY_MIN_ROWS = 8,
    TOY_MAX_ROWS = 1 << 24,
    TOY_MAX_PARTITIONS = 256,
    TOY_INPUT_BYTES = 8,   // the seed, little-endian
    TOY_PUBLIC_INPUTS = 1, // without the constant one
};

typedef struct toy_shape {
    uint32_t rows;       // constraints with the prover's own two rows for inputs: a power of two fills its domain
    uint32_t partitions; // of a proof
} toy_shape;

extern const toy_shape TOY10; // ten partitions, as a PoRep has them; 2^10 rows
extern const toy_shape TOY1;  // one, as a PoSt has; 2^10 rows

// "toy10" or "toy1"; CUZK_ERR_USAGE naming them otherwise.
CUZK_MUST_USE cuzk_status toy_shape_by_name(toy_shape *out, const char *name, cuzk_error *err);
// CUZK_ERR_USAGE naming the limit that is broken.
CUZK_MUST_USE cuzk_status toy_shape_check(const toy_shape *shape, cuzk_error *err);
// CUZK_ERR_INPUT unless it has TOY_INPUT_BYTES bytes.
CUZK_MUST_USE cuzk_status toy_parse_input(uint64_t *seed, const uint8_t *input, size_t len, cuzk_error *err);

// One partition. The constraints depend on shape.rows alone: all partitions, and shapes that differ in the number of
// partitions only, share their parameters.
typedef struct toy_circuit {
    toy_shape shape;
    uint64_t seed; // the witness; not looked at by a system without values
    uint32_t partition;
} toy_circuit;

// The result borrows `self`.
circuit toy_circuit_bind(const toy_circuit *self);

// The public input of a partition, by plain arithmetic and not by way of the circuit.
void toy_public_input(fr *out, const toy_shape *shape, uint64_t seed, uint32_t partition);

#endif
