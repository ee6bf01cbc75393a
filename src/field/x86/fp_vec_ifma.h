// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_FIELD_X86_FP_VEC_IFMA_H
#define CUZK_FIELD_X86_FP_VEC_IFMA_H

#include "field/fp.h"

// As field_kernel_table's fp_vec_mul (field/kernels.h); for CPU_IFMA only.
void fp_vec_mul_ifma(fp *out, const fp *a, const fp *b, size_t n);

#endif
