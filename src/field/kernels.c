// SPDX-License-Identifier: MIT OR Apache-2.0
#include "field/kernels.h"

#if defined(FIELD_HAVE_IFMA)
#include "field/x86/fp_vec_ifma.h"
#include "field/x86/fr_vec_ifma.h"
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

#if defined(FIELD_HAVE_IFMA)
static const field_kernel_table IFMA = {fr_vec_add, fr_vec_sub, fr_vec_mul_ifma, fp_vec_mul_ifma};

// All pairs of values where carries and the last subtraction break, against the portable loops.
enum { VALUES = 9, PAIRS = VALUES * VALUES };

static bool knows_fr(const field_kernel_table *k) {
    fr v[VALUES] = {FR_ZERO, FR_ONE, FR_GENERATOR, FR_ROOT_OF_UNITY, {{1, 0, 0, 0}}, {{0, 1, 0, 0}}};
    fr a[PAIRS], b[PAIRS], got[PAIRS], want[PAIRS];
    fr_neg(&v[6], &v[4]); // r - 1
    v[7] = (fr){{UINT64_MAX, UINT64_MAX, UINT64_MAX, v[6].l[3] - 1}};
    v[8] = (fr){{0, 0, 0, v[6].l[3]}};
    for (size_t i = 0; i < PAIRS; i++) a[i] = v[i / VALUES], b[i] = v[i % VALUES];
    k->fr_vec_mul(got, a, b, PAIRS);
    fr_vec_mul(want, a, b, PAIRS);
    for (size_t i = 0; i < PAIRS; i++)
        if (!fr_eq(&got[i], &want[i])) return false;
    return true;
}

static bool knows_fp(const field_kernel_table *k) {
    fp v[VALUES] = {FP_ZERO, FP_ONE, {{1}}, {{0, 1}}}, a[PAIRS], b[PAIRS], got[PAIRS], want[PAIRS];
    fp_from_u64(&v[4], UINT64_MAX);
    fp_neg(&v[5], &v[2]); // p - 1
    v[6] = (fp){{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, v[5].l[5] - 1}};
    v[7] = (fp){{0, 0, 0, 0, 0, v[5].l[5]}};
    fp_neg(&v[8], &v[1]);
    for (size_t i = 0; i < PAIRS; i++) a[i] = v[i / VALUES], b[i] = v[i % VALUES];
    k->fp_vec_mul(got, a, b, PAIRS);
    fp_vec_mul(want, a, b, PAIRS);
    for (size_t i = 0; i < PAIRS; i++)
        if (!fp_eq(&got[i], &want[i])) return false;
    return true;
}

static bool knows_all(cpu_level level) {
    (void)level; // there is one
    return knows_fr(&IFMA) && knows_fp(&IFMA);
}
#endif

const field_kernel_table *field_kernels(void) {
#if defined(FIELD_HAVE_IFMA)
    static cpu_verdict ifma;
    if (cpu_current() >= CPU_IFMA && cpu_kernels_work(&ifma, CPU_IFMA, knows_all)) return &IFMA;
#endif
    return &PORTABLE;
}

cpu_level field_kernels_level(void) { return field_kernels() == &PORTABLE ? CPU_PORTABLE : CPU_IFMA; }
