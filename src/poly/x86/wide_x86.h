// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_POLY_X86_WIDE_X86_H
#define CUZK_POLY_X86_WIDE_X86_H

#include "poly/wide.h"

extern const wide_kernels WIDE_KERNELS_FMA;  // needs CPU_AVX2
extern const wide_kernels WIDE_KERNELS_IFMA; // needs CPU_IFMA

#endif
