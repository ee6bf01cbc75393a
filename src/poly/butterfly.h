// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The inner loops of the plain transform. docs/maths/ntt.md names the two butterflies and the tree of blocks.
//
// A *block* is the polynomial modulo X^len - c^2, held in `len` consecutive elements. Level by level it splits into the
// remainders modulo X^(len/2) - c and X^(len/2) + c; c is the block's twiddle tw[block], children are numbered 2*block
// and 2*block + 1. `tw` is the one table of the domain, in bit-reversed order, so a whole block uses one twiddle and
// its descendants use neighbours.
//
// All elements are fully reduced before and after (fr.h).
#ifndef CUZK_POLY_BUTTERFLY_H
#define CUZK_POLY_BUTTERFLY_H

#include <stddef.h>

#include "field/fr.h"

// Cooley-Tukey, natural -> bit-reversed: (u, v) -> (u + c v, u - c v), from length `len` down to blocks of length
// `stop`. len and stop are powers of two, stop <= len.
void ntt_split(fr *x, size_t len, size_t stop, size_t block, const fr *tw);
// Its transpose (Gentleman-Sande), bit-reversed -> natural: (u, v) -> (u + v, c (u - v)), from blocks of length `start`
// up to `len`.
void ntt_merge(fr *x, size_t len, size_t start, size_t block, const fr *tw);

#endif
