// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The count sink: sizes only. Wires and constraints are in the head.
#ifndef CUZK_R1CS_COUNT_H
#define CUZK_R1CS_COUNT_H

#include "r1cs/cs.h"

typedef struct count_sink {
    cs head; // first
    uint64_t nnz[3];
    uint64_t n_bits; // aux wires of kind WIRE_BIT
} count_sink;

void count_init(count_sink *s); // nothing to destroy

#endif
