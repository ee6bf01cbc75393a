// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The bodies of the inline functions of fp2.h: those that are only a few limb operations. Multiplications are calls,
// as one of them is some two thousand instructions.
#ifndef CUZK_FIELD_FP2_INLINE_H
#define CUZK_FIELD_FP2_INLINE_H

#include "field/fp2.h"

static inline bool fp2_eq(const fp2 *a, const fp2 *b) { return fp_eq(&a->c0, &b->c0) && fp_eq(&a->c1, &b->c1); }
static inline bool fp2_is_zero(const fp2 *a) { return fp_is_zero(&a->c0) && fp_is_zero(&a->c1); }
static inline void fp2_add(fp2 *out, const fp2 *a, const fp2 *b) {
    fp_add(&out->c0, &a->c0, &b->c0);
    fp_add(&out->c1, &a->c1, &b->c1);
}
static inline void fp2_sub(fp2 *out, const fp2 *a, const fp2 *b) {
    fp_sub(&out->c0, &a->c0, &b->c0);
    fp_sub(&out->c1, &a->c1, &b->c1);
}
static inline void fp2_neg(fp2 *out, const fp2 *a) {
    fp_neg(&out->c0, &a->c0);
    fp_neg(&out->c1, &a->c1);
}
static inline void fp2_dbl(fp2 *out, const fp2 *a) { fp2_add(out, a, a); }
static inline void fp2_conj(fp2 *out, const fp2 *a) {
    out->c0 = a->c0;
    fp_neg(&out->c1, &a->c1);
}
static inline void fp2_mul_xi(fp2 *out, const fp2 *a) { // (c0 + c1 u)(1 + u) = c0 - c1 + (c0 + c1) u
    fp difference;
    fp_sub(&difference, &a->c0, &a->c1);
    fp_add(&out->c1, &a->c0, &a->c1);
    out->c0 = difference;
}

#endif
