// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A growing set of small integers: which variables occur in a matrix.
#ifndef CUZK_R1CS_BITMAP_H
#define CUZK_R1CS_BITMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct bitmap {
    uint64_t *words;
    uint64_t n_words;
} bitmap;

// Makes room for integers below `n`. False when memory is refused.
CUZK_MUST_USE bool bitmap_reserve(bitmap *b, uint64_t n);
static inline void bitmap_set(bitmap *b, uint64_t i) { b->words[i >> 6] |= UINT64_C(1) << (i & 63); }
static inline bool bitmap_get(const bitmap *b, uint64_t i) {
    return i >> 6 < b->n_words && (b->words[i >> 6] >> (i & 63) & 1) != 0;
}
uint64_t bitmap_count(const bitmap *b);
void bitmap_free(bitmap *b);

#endif
