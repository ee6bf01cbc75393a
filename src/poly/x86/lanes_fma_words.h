// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The words of lanes_fma.h, out of sight of its compiler (lanes.h says why).
#ifndef CUZK_POLY_X86_LANES_FMA_WORDS_H
#define CUZK_POLY_X86_LANES_FMA_WORDS_H

#include <stdint.h>

// The doubles 2^52 and 2^104 as words. Multiples of 2^52, so that adding words adds significands.
#define LOW_WORD (UINT64_C(0x433) << 52)
#define HIGH_WORD (UINT64_C(0x467) << 52)

typedef struct lanes_fma_words {
    uint64_t bits;                              // 2^52 - 1
    uint64_t up, between, down;                 // of a lift: 2^62, 2^62 - 2^10, 2^10
    uint64_t low;                               // LOW_WORD
    uint64_t before_first, before, before_last; // what the columns of a product start at
    uint64_t margin;                            // 2048: by what a top limb must exceed that of k r
} lanes_fma_words;

extern const lanes_fma_words LANES_FMA_WORDS;

#endif
