// SPDX-License-Identifier: MIT OR Apache-2.0
//
// 32-bit words of booleans, and their addition modulo 2^32. Follows bellperson 0.27 (gadgets/uint32.rs, multieq.rs).
#ifndef CUZK_GADGET_WORD_H
#define CUZK_GADGET_WORD_H

#include "gadget/boolean.h"

typedef struct word {
    boolean bits[32]; // least significant first
} word;

void word_constant(word *out, uint32_t value);
uint32_t word_value(const word *a);

// A word read rotated right (fill false) or shifted right (fill true: zeros come in from the left).
typedef struct word_view {
    const word *w;
    uint32_t by; // < 32
    bool shift;
} word_view;

// out := a xor b. out must not be a word that is read.
void word_xor(cs *s, word *out, word_view a, word_view b);
void word_choose(cs *s, word *out, const word *a, const word *b, const word *c);
void word_majority(cs *s, word *out, const word *a, const word *b, const word *c);

// Several equations of small numbers packed into one constraint, each shifted beyond the last: sums of words cost one
// constraint for every seven or so, and not one each.
enum {
    WORD_SUM_MAX = 10,    // operands of one sum
    WORD_EQ_MAX_SUMS = 7, // a sum takes at least 33 of the 253 bits
    WORD_EQ_MAX_ITEMS = WORD_EQ_MAX_SUMS * WORD_SUM_MAX * 32,
    WORD_EQ_MAX_BITS = 254, // bits of results
};

typedef struct word_eq {
    cs *s;
    uint32_t ops;       // constraints so far, for their labels
    uint32_t bits_used; // of the field's 254
    uint32_t n_items, n_results;
    fr constant; // coefficient of the constant one on the left
    // Terms of the left side: wire << 32 | negative << 8 | power of two.
    uint64_t items[WORD_EQ_MAX_ITEMS], scratch[WORD_EQ_MAX_ITEMS];
    term results[WORD_EQ_MAX_BITS]; // the right side; ascending by construction
    term left[WORD_EQ_MAX_ITEMS + 1];
} word_eq; // about 140 KiB

void word_eq_init(word_eq *m, cs *s);
// out := the sum of 2 to WORD_SUM_MAX words modulo 2^32; constants only give a constant. out may be an operand.
void word_sum(word_eq *m, word *out, const word *const *operands, uint32_t n);
// Enforces what is left; the word_eq may be used again.
void word_eq_finish(word_eq *m);

#endif
