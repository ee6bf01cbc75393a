// SPDX-License-Identifier: MIT OR Apache-2.0
#include "field/fp2.h"

const fp2 FP2_ZERO = {{{0}}, {{0}}};
const fp2 FP2_ONE = {{{UINT64_C(0x760900000002fffd), UINT64_C(0xebf4000bc40c0002), UINT64_C(0x5f48985753c758ba),
                       UINT64_C(0x77ce585370525745), UINT64_C(0x5c071a97a256ec6d), UINT64_C(0x15f65ec3fa80e493)}},
                     {{0}}};

// a + b without reduction, below 2p.
static inline void add_raw(uint64_t out[6], const fp *a, const fp *b) {
    uint64_t carry = 0;
    for (size_t i = 0; i < 6; i++) out[i] = limb_adc(a->l[i], b->l[i], &carry);
}
// a := a - b; all ones if that was negative, else 0.
static inline uint64_t sub_wide(uint64_t a[12], const uint64_t b[12]) {
    uint64_t borrow = 0;
    for (size_t i = 0; i < 12; i++) a[i] = limb_sbb(a[i], b[i], &borrow);
    return 0 - borrow;
}

void fp2_mul(fp2 *out, const fp2 *a, const fp2 *b) {
    // Karatsuba: (a0 + a1)(b0 + b1) - a0 b0 - a1 b1 = a0 b1 + a1 b0 is the coefficient of u. Two reductions, not three.
    static const uint64_t modulus[6] = {FP_Q0, FP_Q1, FP_Q2, FP_Q3, FP_Q4, FP_Q5};
    uint64_t v0[12], v1[12], cross[12], sa[6], sb[6], carry = 0;
    fp_mul_wide(v0, a->c0.l, b->c0.l);
    fp_mul_wide(v1, a->c1.l, b->c1.l);
    add_raw(sa, &a->c0, &a->c1);
    add_raw(sb, &b->c0, &b->c1);
    fp_mul_wide(cross, sa, sb);
    (void)sub_wide(cross, v0);
    (void)sub_wide(cross, v1); // in [0, 2 p^2), and 2p < 2^384
    fp_reduce_wide(&out->c1, cross);
    uint64_t negative = sub_wide(v0, v1); // in (-p^2, p^2): a negative one gets 2^384 p
    for (size_t i = 0; i < 6; i++) v0[6 + i] = limb_adc(v0[6 + i], negative & modulus[i], &carry);
    fp_reduce_wide(&out->c0, v0);
}

void fp2_sqr(fp2 *out, const fp2 *a) {
    // (c0 + c1)(c0 - c1) + 2 c0 c1 u
    fp sum, difference, product;
    fp_add(&sum, &a->c0, &a->c1);
    fp_sub(&difference, &a->c0, &a->c1);
    fp_mul(&product, &a->c0, &a->c1);
    fp_mul(&out->c0, &sum, &difference);
    fp_dbl(&out->c1, &product);
}

void fp2_mul_fp(fp2 *out, const fp2 *a, const fp *b) {
    fp k = *b;
    fp_mul(&out->c0, &a->c0, &k);
    fp_mul(&out->c1, &a->c1, &k);
}

// c0^2 + c1^2, the product with the conjugate.
static void norm(fp *out, const fp2 *a) {
    fp s, t;
    fp_sqr(&s, &a->c0);
    fp_sqr(&t, &a->c1);
    fp_add(out, &s, &t);
}

void fp2_inv(fp2 *out, const fp2 *a) {
    fp n;
    norm(&n, a);
    fp_inv(&n, &n);
    fp_mul(&out->c0, &a->c0, &n);
    fp_neg(&n, &n);
    fp_mul(&out->c1, &a->c1, &n);
}

bool fp2_sqrt(fp2 *out, const fp2 *a) {
    // The complex method: for a root x0 + x1 u, x0^2 = (c0 +- sqrt(norm))/2 and x1 = c1/(2 x0).
    static const fp half = {{UINT64_C(0x1804000000015554), UINT64_C(0x855000053ab00001), UINT64_C(0x633cb57c253c276f),
                             UINT64_C(0x6e22d1ec31ebb502), UINT64_C(0xd3916126f2d14ca2), UINT64_C(0x17fbb8571a006596)}};
    fp2 root = FP2_ZERO, square;
    if (fp_is_zero(&a->c1)) { // of c0 and -c0, one is a square in Fp, as -1 is none
        if (!fp_sqrt(&root.c0, &a->c0)) {
            fp t;
            fp_neg(&t, &a->c0);
            if (!fp_sqrt(&root.c1, &t)) return false;
        }
    } else {
        fp n, t;
        norm(&n, a);
        if (!fp_sqrt(&n, &n)) return false;
        // Not zero with either sign: the norm is not c0^2 as c1 is not zero.
        fp_add(&t, &a->c0, &n);
        fp_mul(&t, &t, &half);
        if (!fp_sqrt(&root.c0, &t)) {
            fp_sub(&t, &a->c0, &n);
            fp_mul(&t, &t, &half);
            if (!fp_sqrt(&root.c0, &t)) return false;
        }
        fp_dbl(&t, &root.c0);
        fp_inv(&t, &t);
        fp_mul(&root.c1, &a->c1, &t);
    }
    fp2_sqr(&square, &root);
    if (!fp2_eq(&square, a)) return false;
    *out = root;
    return true;
}

bool fp2_is_larger_half(const fp2 *a) {
    return fp_is_zero(&a->c1) ? fp_is_larger_half(&a->c0) : fp_is_larger_half(&a->c1);
}
