// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the lanes of wide_tmpl.c have in common: multiples of r, and how a factor is named.
#ifndef CUZK_POLY_X86_LANES_H
#define CUZK_POLY_X86_LANES_H

#include "field/fr.h"
#include "poly/wide.h"

// In a file of their own, so that compilers load them for all lanes at once: of a constant they know they make a word
// by an instruction, move it to a vector by another and spread it by a third.
extern const uint64_t WIDE_ONE[4];                                                   // 2^260 mod r
extern const uint64_t WIDE_R3[5], WIDE_R7[5], WIDE_R16[5], WIDE_R17[5], WIDE_R18[5]; // 3 r and so on, limbs of 52 bits

// A factor that all lanes share, or one for each.
typedef struct factor {
    const uint64_t *words;
    bool of_lane;
} factor;
LIMB_INLINE factor shared(const wide_factor *f) { return (factor){f->c[0], false}; }

#endif
