// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Building linear combinations. Gadgets with a few terms use an array on the stack and terms_normalise; long ones use
// an `lc`, a growable array that keeps its memory from one constraint to the next.
#ifndef CUZK_R1CS_LC_H
#define CUZK_R1CS_LC_H

#include "r1cs/cs.h"

// Sorts by wire, adds up terms of the same wire, drops zeros; returns the new length. Input that is already in order
// costs one pass of comparisons. In place, no memory.
uint32_t terms_normalise(term *terms, uint32_t n);
// Evaluates a view; values[] by wire kind.
void lc_evaluate(fr *out, lc_view v, const fr *inputs, const fr *aux);

typedef struct lc {
    term *terms;
    uint32_t n, cap;
} lc;

void lc_init(lc *l); // empty, no memory yet
void lc_free(lc *l); // gives the memory back; the lc is empty again
static inline void lc_clear(lc *l) { l->n = 0; }
// Appends coeff * w. False when memory is refused (the lc is unchanged).
CUZK_MUST_USE bool lc_add(lc *l, wire w, const fr *coeff);
// Appends scale * other (scale NULL: 1). `other` must not be `l`.
CUZK_MUST_USE bool lc_add_scaled(lc *l, const fr *scale, const lc *other);
void lc_scale(lc *l, const fr *scale);
// Normalises in place; the view is valid until the next change.
lc_view lc_finish(lc *l);

#endif
