// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Products of arrays of Fr with AVX-512 IFMA; contract in field/kernels.h. Needs CPU_IFMA. Sums have no kernel: the way
// into limbs of 52 bits and back costs what it gains (2.4 against 2.5 ns).
#ifndef CUZK_FIELD_X86_FR_VEC_IFMA_H
#define CUZK_FIELD_X86_FR_VEC_IFMA_H

#include "field/fr.h"

void fr_vec_mul_ifma(fr *out, const fr *a, const fr *b, size_t n);

#endif
