// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Field operations on whole arrays, through a table. It starts with the portable loops; kernels for a CPU level
// (files of their own, with their own compiler flags) overwrite entries in field_kernels() when cpu_current() allows.
//
// A kernel may use another radix inside, but takes and gives reduced Montgomery elements as declared in fr.h and fp.h,
// and gives the same limbs as the portable loop.
#ifndef CUZK_FIELD_KERNELS_H
#define CUZK_FIELD_KERNELS_H

#include "base/cpu.h"
#include "field/fp.h"
#include "field/fr.h"

// out[i] := a[i] op b[i] for i < n; out may be a or b, other overlaps are not allowed.
typedef struct field_kernel_table {
    void (*fr_vec_add)(fr *out, const fr *a, const fr *b, size_t n);
    void (*fr_vec_sub)(fr *out, const fr *a, const fr *b, size_t n);
    void (*fr_vec_mul)(fr *out, const fr *a, const fr *b, size_t n);
    void (*fp_vec_mul)(fp *out, const fp *a, const fp *b, size_t n);
} field_kernel_table;

// The table for this processor. A level whose kernels do not give known answers, tried at the first call, is not used.
const field_kernel_table *field_kernels(void);
// The level that table was written for: lower than cpu_current() if there are no kernels for it, or bad ones.
cpu_level field_kernels_level(void);
// The portable loops, whatever the processor: what the others are tested against.
const field_kernel_table *field_kernels_portable(void);

#endif
