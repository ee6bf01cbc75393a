// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The record sink: the whole system as compressed sparse rows. Coefficients are numbered in a table of distinct values.
#ifndef CUZK_R1CS_RECORD_H
#define CUZK_R1CS_RECORD_H

#include "r1cs/cs.h"

// Row r has terms [row_end[r-1], row_end[r]) (row_end[-1] = 0).
typedef struct record_matrix {
    uint64_t *row_end;
    wire *wires;
    uint32_t *coeffs; // ids
    uint64_t n_terms, rows_cap, terms_cap;
} record_matrix;

typedef struct record_sink {
    cs head;            // first; head.n_constraints rows
    record_matrix m[3]; // A, B, C
    fr *coeffs;         // distinct coefficients by id; id 0 is 1, id 1 is -1
    uint32_t n_coeffs, coeffs_cap;
    uint32_t *slots; // hash table of ids + 1, 0 is empty
    uint32_t slots_mask;
    uint8_t *kinds; // wire_kind of each aux wire
    uint64_t kinds_cap;
} record_sink;

void record_init(record_sink *s);
void record_destroy(record_sink *s);
// Runs the recorded system against another sink without values, wires and constraints interleaved differently from the
// original but the same constraint stream: all wires first, then all rows.
void record_replay(const record_sink *s, cs *to);

#endif
