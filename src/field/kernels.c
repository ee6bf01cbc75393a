// SPDX-License-Identifier: MIT OR Apache-2.0
#include "field/kernels.h"

#include "base/cpu.h"
#if defined(FIELD_HAVE_IFMA)
#include "field/x86/fp_vec_ifma.h"
#endif

static void fr_vec_add(fr *out, const fr *a, const fr *b, size_t n) {
    for (size_t i = 0; i < n; i++) fr_add(&out[i], &a[i], &b[i]);
}
static void fr_vec_sub(fr *out, const fr *a, const fr *b, size_t n) {
    for (size_t i = 0; i < n; i++) fr_sub(&out[i], &a[i], &b[i]);
}
static void fr_vec_mul(fr *out, const fr *a, const fr *b, size_t n) {
    for (size_t i = 0; i < n; i++) fr_mul(&out[i], &a[i], &b[i]);
}
static void fp_vec_mul(fp *out, const fp *a, const fp *b, size_t n) {
    for (size_t i = 0; i < n; i++) fp_mul(&out[i], &a[i], &b[i]);
}

static const field_kernel_table PORTABLE = {fr_vec_add, fr_vec_sub, fr_vec_mul, fp_vec_mul};

const field_kernel_table *field_kernels_portable(void) { return &PORTABLE; }

const field_kernel_table *field_kernels(void) {
#if defined(FIELD_HAVE_IFMA)
    static const field_kernel_table ifma = {fr_vec_add, fr_vec_sub, fr_vec_mul, fp_vec_mul_ifma};
    if (cpu_current() >= CPU_IFMA) return &ifma;
#endif
    return &PORTABLE;
}
