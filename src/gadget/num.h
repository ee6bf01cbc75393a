// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Numbers in wires. Follows bellpepper-core 0.2 (gadgets/num.rs) and storage-proofs-core 19.1 (gadgets/constraint.rs,
// encode.rs, insertion.rs) constraint by constraint.
#ifndef CUZK_GADGET_NUM_H
#define CUZK_GADGET_NUM_H

#include "gadget/boolean.h"

typedef struct num {
    wire wire;
    fr value; // zero in a system without values
} num;

// `value` is ignored in a system without values.
num num_alloc(cs *s, const fr *value);
num num_alloc_input(cs *s, const fr *value);
// A new input equal to a.
void num_inputize(cs *s, const num *a);

// 255 bits, least significant first, whose weighted sum is a. Values at or above the modulus are not excluded: a number
// below 2^255 - r has two such decompositions.
void num_to_bits(cs *s, boolean bits[255], const num *a);
// The same, and the number they spell is below the modulus.
void num_to_bits_strict(cs *s, boolean bits[255], const num *a);

num num_mul(cs *s, const num *a, const num *b);
num num_square(cs *s, const num *a);
void num_assert_nonzero(cs *s, const num *a);

// a = b, under the given label.
void num_enforce_equal(cs *s, const char *label, const num *a, const num *b);
num num_add(cs *s, const num *a, const num *b);
num num_sub(cs *s, const num *a, const num *b);
// Encoding of a node: key + value; decoding: value - key.
num num_encode(cs *s, const num *key, const num *value);
num num_decode(cs *s, const num *key, const num *value);
// condition ? a : b.
num num_pick(cs *s, boolean condition, const num *a, const num *b);

// The n nums of `others` with `element` put in at the place that n_bits bits spell, least significant first: out has
// n + 1 = 2^n_bits elements. For 2, 4 and 8 elements; the bits are allocated bits (BOOLEAN_IS).
void num_insert(cs *s, num *out, const num *element, const boolean *bits, uint32_t n_bits, const num *others);

// A number from at most 254 bits, least significant first.
num num_pack_bits(cs *s, const boolean *bits, uint32_t n);
// Public inputs of 254 bits each.
void num_pack_into_inputs(cs *s, const boolean *bits, uint32_t n);

#endif
