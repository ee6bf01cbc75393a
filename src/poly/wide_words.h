// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_POLY_WIDE_WORDS_H
#define CUZK_POLY_WIDE_WORDS_H

#include "poly/wide.h"

extern const wide_kernels WIDE_KERNELS_WORDS;

// A factor in the form WIDE_WORDS.
void wide_words_factor(wide_factor *f, const fr *c);

#endif
