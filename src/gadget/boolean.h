// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Booleans: a constant, a wire constrained to 0 or 1, or the negation of such a wire. Operations on constants cost
// nothing; which constraints appear depends on the kinds alone, never on values. The cases and their order follow
// bellpepper-core 0.2 (gadgets/boolean.rs), whose constraint stream is reproduced here.
#ifndef CUZK_GADGET_BOOLEAN_H
#define CUZK_GADGET_BOOLEAN_H

#include "r1cs/cs.h"

typedef enum boolean_kind { BOOLEAN_CONSTANT, BOOLEAN_IS, BOOLEAN_NOT } boolean_kind;

typedef struct boolean {
    wire wire;    // BOOLEAN_IS, BOOLEAN_NOT
    uint8_t kind; // boolean_kind
    bool value;   // of the boolean itself, negation included; false in a system without values unless constant
} boolean;

static inline boolean boolean_constant(bool value) { return (boolean){WIRE_ONE, BOOLEAN_CONSTANT, value}; }
static inline boolean boolean_not(boolean a) {
    if (a.kind != BOOLEAN_CONSTANT) a.kind = a.kind == BOOLEAN_IS ? BOOLEAN_NOT : BOOLEAN_IS;
    a.value = !a.value;
    return a;
}
static inline bool boolean_is_constant(boolean a) { return a.kind == BOOLEAN_CONSTANT; }

// Appends coeff * a to terms (0, 1 or 2 of them), unsorted; returns the new length.
uint32_t boolean_terms(term *terms, uint32_t n, boolean a, const fr *coeff);

// A new wire with (1 - a) a = 0.
boolean boolean_alloc(cs *s, bool value);
// A new wire with (1 - must_be_false - a) a = 0; must_be_false is an allocated bit (BOOLEAN_IS).
boolean boolean_alloc_unless(cs *s, bool value, boolean must_be_false);

boolean boolean_xor(cs *s, boolean a, boolean b);
boolean boolean_and(cs *s, boolean a, boolean b);
// (not a) and (not b), for allocated bits.
boolean boolean_nor(cs *s, boolean a, boolean b);
// a ? b : c, and the majority of three, as SHA-256 uses them.
boolean boolean_choose(cs *s, boolean a, boolean b, boolean c);
boolean boolean_majority(cs *s, boolean a, boolean b, boolean c);
// Two different constants make the system fail (CUZK_ERR_INPUT).
void boolean_enforce_equal(cs *s, boolean a, boolean b);

// Bits as bytes are numbered the other way round inside SHA-256 messages: out[8k + j] = in[8k + 7 - j] for 256 bits, of
// which the given n come from `in` and the rest are constant false. n <= 256.
void boolean_reverse_bytes(boolean out[256], const boolean *in, uint32_t n);

#endif
