// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The bodies of the inline functions of fr.h. Everything is straight-line code over scalars, so that compilers keep the
// limbs in registers, and free of branches on values.
#ifndef CUZK_FIELD_FR_INLINE_H
#define CUZK_FIELD_FR_INLINE_H

#include "field/fr.h"
#include "field/limb.h"

// The modulus limb by limb, as literals that fold into the code (FR_MODULUS is the same as an array), and
// -1/modulus mod 2^64.
#define FR_Q0 UINT64_C(0xffffffff00000001)
#define FR_Q1 UINT64_C(0x53bda402fffe5bfe)
#define FR_Q2 UINT64_C(0x3339d80809a1d805)
#define FR_Q3 UINT64_C(0x73eda753299d7d48)
#define FR_NINV UINT64_C(0xfffffffeffffffff)

static inline bool fr_is_zero(const fr *a) { return (a->l[0] | a->l[1] | a->l[2] | a->l[3]) == 0; }
static inline bool fr_eq(const fr *a, const fr *b) {
    return ((a->l[0] ^ b->l[0]) | (a->l[1] ^ b->l[1]) | (a->l[2] ^ b->l[2]) | (a->l[3] ^ b->l[3])) == 0;
}
static inline bool fr_is_one(const fr *a) { return fr_eq(a, &FR_ONE); }

// out := t mod q for t < 2q, without a branch: a difference that borrows is dropped.
LIMB_INLINE void fr_reduce_once(fr *out, uint64_t t0, uint64_t t1, uint64_t t2, uint64_t t3) {
    uint64_t borrow = 0;
    uint64_t d0 = limb_sbb(t0, FR_Q0, &borrow);
    uint64_t d1 = limb_sbb(t1, FR_Q1, &borrow);
    uint64_t d2 = limb_sbb(t2, FR_Q2, &borrow);
    uint64_t d3 = limb_sbb(t3, FR_Q3, &borrow);
    out->l[0] = limb_select(borrow, t0, d0);
    out->l[1] = limb_select(borrow, t1, d1);
    out->l[2] = limb_select(borrow, t2, d2);
    out->l[3] = limb_select(borrow, t3, d3);
}

static inline void fr_add(fr *out, const fr *a, const fr *b) {
    uint64_t carry = 0; // stays 0 at the end: 2q < 2^256
    uint64_t t0 = limb_adc(a->l[0], b->l[0], &carry);
    uint64_t t1 = limb_adc(a->l[1], b->l[1], &carry);
    uint64_t t2 = limb_adc(a->l[2], b->l[2], &carry);
    uint64_t t3 = limb_adc(a->l[3], b->l[3], &carry);
    fr_reduce_once(out, t0, t1, t2, t3);
}

static inline void fr_dbl(fr *out, const fr *a) { fr_add(out, a, a); }

static inline void fr_sub(fr *out, const fr *a, const fr *b) {
    uint64_t borrow = 0, carry = 0;
    uint64_t d0 = limb_sbb(a->l[0], b->l[0], &borrow);
    uint64_t d1 = limb_sbb(a->l[1], b->l[1], &borrow);
    uint64_t d2 = limb_sbb(a->l[2], b->l[2], &borrow);
    uint64_t d3 = limb_sbb(a->l[3], b->l[3], &borrow);
    uint64_t add = 0 - borrow; // a negative difference gets the modulus back
    out->l[0] = limb_adc(d0, add & FR_Q0, &carry);
    out->l[1] = limb_adc(d1, add & FR_Q1, &carry);
    out->l[2] = limb_adc(d2, add & FR_Q2, &carry);
    out->l[3] = limb_adc(d3, add & FR_Q3, &carry);
}

static inline void fr_neg(fr *out, const fr *a) {
    uint64_t borrow = 0, nonzero = 0 - (uint64_t)!fr_is_zero(a); // -0 is 0, not q
    uint64_t d0 = limb_sbb(FR_Q0, a->l[0], &borrow);
    uint64_t d1 = limb_sbb(FR_Q1, a->l[1], &borrow);
    uint64_t d2 = limb_sbb(FR_Q2, a->l[2], &borrow);
    uint64_t d3 = limb_sbb(FR_Q3, a->l[3], &borrow);
    out->l[0] = d0 & nonzero;
    out->l[1] = d1 & nonzero;
    out->l[2] = d2 & nonzero;
    out->l[3] = d3 & nonzero;
}

// The multiple k of q that makes the low limb l of a column's sum divisible by 2^64; the sum goes on to the next
// column. No multiplication: the low limbs of q and -1/q are 2^64 - 2^32 + 1 and -2^32 - 1. So l + k = 2^32 k mod 2^64,
// and l + k (2^64 - 2^32 + 1) = 2^64 (k - floor(k / 2^32) + the carry of l + k).
LIMB_INLINE uint64_t fr_multiple(limb_column *sum) {
    const uint64_t k = sum->l * FR_NINV, high = k - (k >> 32);
    uint64_t carry = 0;
    (void)limb_adc(sum->l, k, &carry);
    sum->m = limb_adc(sum->m, high, &carry);
    sum->h = limb_adc(sum->h, 0, &carry);
    (void)limb_column_next(sum);
    return k;
}

// Columns leave most to do at the same time where carries stay in a flag, as limb_adc keeps them on x86-64. Elsewhere
// rows are the shorter code.
#if defined(__x86_64__)

// The columns of a product.

LIMB_INLINE limb_column fr_column_0(const uint64_t a[4], const uint64_t b[4]) { return limb_column_of(a[0], b[0]); }
LIMB_INLINE limb_column fr_column_1(const uint64_t a[4], const uint64_t b[4]) {
    limb_column s = limb_column_of(a[1], b[0]);
    limb_column_mac(&s, a[0], b[1]);
    return s;
}
LIMB_INLINE limb_column fr_column_2(const uint64_t a[4], const uint64_t b[4]) {
    limb_column s = limb_column_of(a[2], b[0]);
    limb_column_mac(&s, a[1], b[1]);
    limb_column_mac(&s, a[0], b[2]);
    return s;
}
LIMB_INLINE limb_column fr_column_3(const uint64_t a[4], const uint64_t b[4]) {
    limb_column s = limb_column_of(a[3], b[0]);
    limb_column_mac(&s, a[2], b[1]);
    limb_column_mac(&s, a[1], b[2]);
    limb_column_mac(&s, a[0], b[3]);
    return s;
}
LIMB_INLINE limb_column fr_column_4(const uint64_t a[4], const uint64_t b[4]) {
    limb_column s = limb_column_of(a[3], b[1]);
    limb_column_mac(&s, a[2], b[2]);
    limb_column_mac(&s, a[1], b[3]);
    return s;
}
LIMB_INLINE limb_column fr_column_5(const uint64_t a[4], const uint64_t b[4]) {
    limb_column s = limb_column_of(a[3], b[2]);
    limb_column_mac(&s, a[2], b[3]);
    return s;
}
LIMB_INLINE limb_column fr_column_6(const uint64_t a[4], const uint64_t b[4]) { return limb_column_of(a[3], b[3]); }

// a * b / 2^256 mod q by Montgomery's method, column by column: (a b + k q) / 2^256, where k < 2^256 makes the sum
// divisible. For a < q and any b below 2^256 that is below 2 q, so one subtraction is enough.
static inline void fr_mul(fr *out, const fr *a, const fr *b) {
    uint64_t k0, k1, k2, k3, t0, t1, t2, t3;
    limb_column s, sum = fr_column_0(a->l, b->l);
    k0 = fr_multiple(&sum);
    s = fr_column_1(a->l, b->l);
    limb_column_mac(&s, k0, FR_Q1);
    limb_column_add(&sum, &s);
    k1 = fr_multiple(&sum);
    s = fr_column_2(a->l, b->l);
    limb_column_mac(&s, k0, FR_Q2);
    limb_column_mac(&s, k1, FR_Q1);
    limb_column_add(&sum, &s);
    k2 = fr_multiple(&sum);
    s = fr_column_3(a->l, b->l);
    limb_column_mac(&s, k0, FR_Q3);
    limb_column_mac(&s, k1, FR_Q2);
    limb_column_mac(&s, k2, FR_Q1);
    limb_column_add(&sum, &s);
    k3 = fr_multiple(&sum);
    s = fr_column_4(a->l, b->l);
    limb_column_mac(&s, k1, FR_Q3);
    limb_column_mac(&s, k2, FR_Q2);
    limb_column_mac(&s, k3, FR_Q1);
    limb_column_add(&sum, &s);
    t0 = limb_column_next(&sum);
    s = fr_column_5(a->l, b->l);
    limb_column_mac(&s, k2, FR_Q3);
    limb_column_mac(&s, k3, FR_Q2);
    limb_column_add(&sum, &s);
    t1 = limb_column_next(&sum);
    s = fr_column_6(a->l, b->l);
    limb_column_mac(&s, k3, FR_Q3);
    limb_column_add(&sum, &s);
    t2 = limb_column_next(&sum);
    t3 = sum.l;
    fr_reduce_once(out, t0, t1, t2, t3);
}

#else

// One step of Montgomery's multiplication, word by word (CIOS: Koc, Acar, Kaliski, "Analyzing and comparing Montgomery
// multiplication algorithms", 1996): t := (t + a * b + m * q) / 2^64, where m makes the sum divisible.
//
// The two carries need no word of their own. For a < q and any b, t < 2q stays true:
// (2q + (2^64 - 1) q + (2^64 - 1) q) / 2^64 = 2q; and 2q < 2^256 as q has 1 spare top bit, so the last sum c + d does
// not overflow.
LIMB_INLINE void fr_mul_step(uint64_t t[4], const uint64_t a[4], uint64_t b) {
    uint64_t c = 0, d = 0;
    uint64_t t0 = limb_mac(t[0], a[0], b, &c);
    uint64_t m = t0 * FR_NINV;
    (void)limb_mac(t0, m, FR_Q0, &d);
    t[0] = limb_mac(limb_mac(t[1], a[1], b, &c), m, FR_Q1, &d);
    t[1] = limb_mac(limb_mac(t[2], a[2], b, &c), m, FR_Q2, &d);
    t[2] = limb_mac(limb_mac(t[3], a[3], b, &c), m, FR_Q3, &d);
    t[3] = c + d;
}

// a * b / 2^256 mod q. The proof above lets b be any 4 limbs when a < q.
static inline void fr_mul(fr *out, const fr *a, const fr *b) {
    uint64_t t[4] = {0};
    fr_mul_step(t, a->l, b->l[0]);
    fr_mul_step(t, a->l, b->l[1]);
    fr_mul_step(t, a->l, b->l[2]);
    fr_mul_step(t, a->l, b->l[3]);
    fr_reduce_once(out, t[0], t[1], t[2], t[3]);
}

#endif

#if defined(__x86_64__)

// As fr_mul, each product of two different limbs once and then doubled: 22 limb products, not 28.
static inline void fr_sqr(fr *out, const fr *a) {
    uint64_t k0, k1, k2, k3, t0, t1, t2, t3;
    limb_column s, sum = limb_column_of(a->l[0], a->l[0]);
    k0 = fr_multiple(&sum);
    s = limb_column_of(a->l[1], a->l[0]);
    limb_column_add(&s, &s);
    limb_column_mac(&s, k0, FR_Q1);
    limb_column_add(&sum, &s);
    k1 = fr_multiple(&sum);
    s = limb_column_of(a->l[2], a->l[0]);
    limb_column_add(&s, &s);
    limb_column_mac(&s, a->l[1], a->l[1]);
    limb_column_mac(&s, k0, FR_Q2);
    limb_column_mac(&s, k1, FR_Q1);
    limb_column_add(&sum, &s);
    k2 = fr_multiple(&sum);
    s = limb_column_of(a->l[3], a->l[0]);
    limb_column_mac(&s, a->l[2], a->l[1]);
    limb_column_add(&s, &s);
    limb_column_mac(&s, k0, FR_Q3);
    limb_column_mac(&s, k1, FR_Q2);
    limb_column_mac(&s, k2, FR_Q1);
    limb_column_add(&sum, &s);
    k3 = fr_multiple(&sum);
    s = limb_column_of(a->l[3], a->l[1]);
    limb_column_add(&s, &s);
    limb_column_mac(&s, a->l[2], a->l[2]);
    limb_column_mac(&s, k1, FR_Q3);
    limb_column_mac(&s, k2, FR_Q2);
    limb_column_mac(&s, k3, FR_Q1);
    limb_column_add(&sum, &s);
    t0 = limb_column_next(&sum);
    s = limb_column_of(a->l[3], a->l[2]);
    limb_column_add(&s, &s);
    limb_column_mac(&s, k2, FR_Q3);
    limb_column_mac(&s, k3, FR_Q2);
    limb_column_add(&sum, &s);
    t1 = limb_column_next(&sum);
    s = limb_column_of(a->l[3], a->l[3]);
    limb_column_mac(&s, k3, FR_Q3);
    limb_column_add(&sum, &s);
    t2 = limb_column_next(&sum);
    t3 = sum.l;
    fr_reduce_once(out, t0, t1, t2, t3);
}

#else

static inline void fr_sqr(fr *out, const fr *a) { fr_mul(out, a, a); }

#endif

#endif
