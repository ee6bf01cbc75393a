// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The check sink: keeps the values, evaluates every constraint, and names the first that does not hold.
#ifndef CUZK_R1CS_CHECK_H
#define CUZK_R1CS_CHECK_H

#include "base/observer.h"
#include "r1cs/cs.h"
#include "r1cs/scope.h"

// A growable array of values.
typedef struct check_values {
    fr *v;
    uint64_t cap;
} check_values;

typedef struct check_sink {
    cs head; // first
    scope_stack scopes;
    check_values inputs, aux; // head.n_inputs and head.n_aux of them
    uint64_t unsatisfied;
    uint64_t first_unsatisfied; // index from 0, meaningful if unsatisfied > 0
    char first_scope[SCOPE_TEXT_MAX];
    uint64_t flip_aux;   // tests: this aux value is replaced by 1 - value (UINT64_MAX: none)
    const observer *obs; // may be NULL
} check_sink;

void check_init(check_sink *s, const observer *obs);
void check_destroy(check_sink *s);

typedef struct check_summary {
    uint8_t inputs_sha256[32], aux_sha256[32]; // of the values, 32 bytes little-endian each, in order
    uint64_t aux_zero, aux_one;
} check_summary;
void check_summarise(check_summary *out, const check_sink *s);

#endif
