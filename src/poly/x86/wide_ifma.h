// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_POLY_X86_WIDE_IFMA_H
#define CUZK_POLY_X86_WIDE_IFMA_H

#include "poly/wide.h"

// Needs CPU_IFMA.
extern const wide_kernels WIDE_KERNELS_IFMA;

#endif
