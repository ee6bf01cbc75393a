// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The bodies of the inline functions of fp.h. Everything is straight-line code over scalars, so that compilers keep the
// limbs in registers, and free of branches on values.
#ifndef CUZK_FIELD_FP_INLINE_H
#define CUZK_FIELD_FP_INLINE_H

#include "field/fp.h"
#include "field/limb.h"

// The modulus limb by limb, as literals that fold into the code (FP_MODULUS is the same as an array), and
// -1/modulus mod 2^64.
#define FP_Q0 UINT64_C(0xb9feffffffffaaab)
#define FP_Q1 UINT64_C(0x1eabfffeb153ffff)
#define FP_Q2 UINT64_C(0x6730d2a0f6b0f624)
#define FP_Q3 UINT64_C(0x64774b84f38512bf)
#define FP_Q4 UINT64_C(0x4b1ba7b6434bacd7)
#define FP_Q5 UINT64_C(0x1a0111ea397fe69a)
#define FP_NINV UINT64_C(0x89f3fffcfffcfffd)

static inline bool fp_is_zero(const fp *a) { return (a->l[0] | a->l[1] | a->l[2] | a->l[3] | a->l[4] | a->l[5]) == 0; }
static inline bool fp_eq(const fp *a, const fp *b) {
    return ((a->l[0] ^ b->l[0]) | (a->l[1] ^ b->l[1]) | (a->l[2] ^ b->l[2]) | (a->l[3] ^ b->l[3]) |
            (a->l[4] ^ b->l[4]) | (a->l[5] ^ b->l[5])) == 0;
}

// out := t mod q for t < 2q, without a branch: a difference that borrows is dropped.
LIMB_INLINE void fp_reduce_once(fp *out, uint64_t t0, uint64_t t1, uint64_t t2, uint64_t t3, uint64_t t4, uint64_t t5) {
    uint64_t borrow = 0;
    uint64_t d0 = limb_sbb(t0, FP_Q0, &borrow);
    uint64_t d1 = limb_sbb(t1, FP_Q1, &borrow);
    uint64_t d2 = limb_sbb(t2, FP_Q2, &borrow);
    uint64_t d3 = limb_sbb(t3, FP_Q3, &borrow);
    uint64_t d4 = limb_sbb(t4, FP_Q4, &borrow);
    uint64_t d5 = limb_sbb(t5, FP_Q5, &borrow);
    out->l[0] = limb_select(borrow, t0, d0);
    out->l[1] = limb_select(borrow, t1, d1);
    out->l[2] = limb_select(borrow, t2, d2);
    out->l[3] = limb_select(borrow, t3, d3);
    out->l[4] = limb_select(borrow, t4, d4);
    out->l[5] = limb_select(borrow, t5, d5);
}

static inline void fp_add(fp *out, const fp *a, const fp *b) {
    uint64_t carry = 0; // stays 0 at the end: 2q < 2^384
    uint64_t t0 = limb_adc(a->l[0], b->l[0], &carry);
    uint64_t t1 = limb_adc(a->l[1], b->l[1], &carry);
    uint64_t t2 = limb_adc(a->l[2], b->l[2], &carry);
    uint64_t t3 = limb_adc(a->l[3], b->l[3], &carry);
    uint64_t t4 = limb_adc(a->l[4], b->l[4], &carry);
    uint64_t t5 = limb_adc(a->l[5], b->l[5], &carry);
    fp_reduce_once(out, t0, t1, t2, t3, t4, t5);
}

static inline void fp_dbl(fp *out, const fp *a) { fp_add(out, a, a); }

// What to add to a difference, by its borrow: a negative one gets the modulus back. A load, as the instructions of a
// mask would get between those of the chain of carries, and cost a flag each.
static const uint64_t FP_CORRECTION[2][6] = {{0}, {FP_Q0, FP_Q1, FP_Q2, FP_Q3, FP_Q4, FP_Q5}};

static inline void fp_sub(fp *out, const fp *a, const fp *b) {
    uint64_t borrow = 0, carry = 0;
    uint64_t d0 = limb_sbb(a->l[0], b->l[0], &borrow);
    uint64_t d1 = limb_sbb(a->l[1], b->l[1], &borrow);
    uint64_t d2 = limb_sbb(a->l[2], b->l[2], &borrow);
    uint64_t d3 = limb_sbb(a->l[3], b->l[3], &borrow);
    uint64_t d4 = limb_sbb(a->l[4], b->l[4], &borrow);
    uint64_t d5 = limb_sbb(a->l[5], b->l[5], &borrow);
    const uint64_t *add = FP_CORRECTION[borrow];
    out->l[0] = limb_adc(d0, add[0], &carry);
    out->l[1] = limb_adc(d1, add[1], &carry);
    out->l[2] = limb_adc(d2, add[2], &carry);
    out->l[3] = limb_adc(d3, add[3], &carry);
    out->l[4] = limb_adc(d4, add[4], &carry);
    out->l[5] = limb_adc(d5, add[5], &carry);
}

static inline void fp_neg(fp *out, const fp *a) {
    uint64_t borrow = 0, nonzero = 0 - (uint64_t)!fp_is_zero(a); // -0 is 0, not q
    uint64_t d0 = limb_sbb(FP_Q0, a->l[0], &borrow);
    uint64_t d1 = limb_sbb(FP_Q1, a->l[1], &borrow);
    uint64_t d2 = limb_sbb(FP_Q2, a->l[2], &borrow);
    uint64_t d3 = limb_sbb(FP_Q3, a->l[3], &borrow);
    uint64_t d4 = limb_sbb(FP_Q4, a->l[4], &borrow);
    uint64_t d5 = limb_sbb(FP_Q5, a->l[5], &borrow);
    out->l[0] = d0 & nonzero;
    out->l[1] = d1 & nonzero;
    out->l[2] = d2 & nonzero;
    out->l[3] = d3 & nonzero;
    out->l[4] = d4 & nonzero;
    out->l[5] = d5 & nonzero;
}

// The columns of a product.

LIMB_INLINE limb_column fp_column_0(const uint64_t a[6], const uint64_t b[6]) { return limb_column_of(a[0], b[0]); }
LIMB_INLINE limb_column fp_column_1(const uint64_t a[6], const uint64_t b[6]) {
    limb_column s = limb_column_of(a[1], b[0]);
    limb_column_mac(&s, a[0], b[1]);
    return s;
}
LIMB_INLINE limb_column fp_column_2(const uint64_t a[6], const uint64_t b[6]) {
    limb_column s = limb_column_of(a[2], b[0]);
    limb_column_mac(&s, a[1], b[1]);
    limb_column_mac(&s, a[0], b[2]);
    return s;
}
LIMB_INLINE limb_column fp_column_3(const uint64_t a[6], const uint64_t b[6]) {
    limb_column s = limb_column_of(a[3], b[0]);
    limb_column_mac(&s, a[2], b[1]);
    limb_column_mac(&s, a[1], b[2]);
    limb_column_mac(&s, a[0], b[3]);
    return s;
}
LIMB_INLINE limb_column fp_column_4(const uint64_t a[6], const uint64_t b[6]) {
    limb_column s = limb_column_of(a[4], b[0]);
    limb_column_mac(&s, a[3], b[1]);
    limb_column_mac(&s, a[2], b[2]);
    limb_column_mac(&s, a[1], b[3]);
    limb_column_mac(&s, a[0], b[4]);
    return s;
}
LIMB_INLINE limb_column fp_column_5(const uint64_t a[6], const uint64_t b[6]) {
    limb_column s = limb_column_of(a[5], b[0]);
    limb_column_mac(&s, a[4], b[1]);
    limb_column_mac(&s, a[3], b[2]);
    limb_column_mac(&s, a[2], b[3]);
    limb_column_mac(&s, a[1], b[4]);
    limb_column_mac(&s, a[0], b[5]);
    return s;
}
LIMB_INLINE limb_column fp_column_6(const uint64_t a[6], const uint64_t b[6]) {
    limb_column s = limb_column_of(a[5], b[1]);
    limb_column_mac(&s, a[4], b[2]);
    limb_column_mac(&s, a[3], b[3]);
    limb_column_mac(&s, a[2], b[4]);
    limb_column_mac(&s, a[1], b[5]);
    return s;
}
LIMB_INLINE limb_column fp_column_7(const uint64_t a[6], const uint64_t b[6]) {
    limb_column s = limb_column_of(a[5], b[2]);
    limb_column_mac(&s, a[4], b[3]);
    limb_column_mac(&s, a[3], b[4]);
    limb_column_mac(&s, a[2], b[5]);
    return s;
}
LIMB_INLINE limb_column fp_column_8(const uint64_t a[6], const uint64_t b[6]) {
    limb_column s = limb_column_of(a[5], b[3]);
    limb_column_mac(&s, a[4], b[4]);
    limb_column_mac(&s, a[3], b[5]);
    return s;
}
LIMB_INLINE limb_column fp_column_9(const uint64_t a[6], const uint64_t b[6]) {
    limb_column s = limb_column_of(a[5], b[4]);
    limb_column_mac(&s, a[4], b[5]);
    return s;
}
LIMB_INLINE limb_column fp_column_10(const uint64_t a[6], const uint64_t b[6]) { return limb_column_of(a[5], b[5]); }

// Columns leave most to do at the same time where carries stay in a flag, as limb_adc keeps them on x86-64. Elsewhere
// rows are the shorter code.
#if defined(__x86_64__)

// The multiple of q that makes the low limb of a column's sum divisible by 2^64; the sum goes on to the next column.
LIMB_INLINE uint64_t fp_multiple(limb_column *sum) {
    const uint64_t k = sum->l * FP_NINV;
    limb_column_mac(sum, k, FP_Q0);
    (void)limb_column_next(sum);
    return k;
}

// By Montgomery's method, column by column: (a b + k q) / 2^384, where k < 2^384 makes the sum divisible.
LIMB_INLINE void fp_mul_lazy(fp *out, const fp *a, const fp *b) {
    uint64_t k0, k1, k2, k3, k4, k5, t0, t1, t2, t3, t4, t5;
    limb_column s, sum = fp_column_0(a->l, b->l);
    k0 = fp_multiple(&sum);
    s = fp_column_1(a->l, b->l);
    limb_column_mac(&s, k0, FP_Q1);
    limb_column_add(&sum, &s);
    k1 = fp_multiple(&sum);
    s = fp_column_2(a->l, b->l);
    limb_column_mac(&s, k0, FP_Q2);
    limb_column_mac(&s, k1, FP_Q1);
    limb_column_add(&sum, &s);
    k2 = fp_multiple(&sum);
    s = fp_column_3(a->l, b->l);
    limb_column_mac(&s, k0, FP_Q3);
    limb_column_mac(&s, k1, FP_Q2);
    limb_column_mac(&s, k2, FP_Q1);
    limb_column_add(&sum, &s);
    k3 = fp_multiple(&sum);
    s = fp_column_4(a->l, b->l);
    limb_column_mac(&s, k0, FP_Q4);
    limb_column_mac(&s, k1, FP_Q3);
    limb_column_mac(&s, k2, FP_Q2);
    limb_column_mac(&s, k3, FP_Q1);
    limb_column_add(&sum, &s);
    k4 = fp_multiple(&sum);
    s = fp_column_5(a->l, b->l);
    limb_column_mac(&s, k0, FP_Q5);
    limb_column_mac(&s, k1, FP_Q4);
    limb_column_mac(&s, k2, FP_Q3);
    limb_column_mac(&s, k3, FP_Q2);
    limb_column_mac(&s, k4, FP_Q1);
    limb_column_add(&sum, &s);
    k5 = fp_multiple(&sum);
    s = fp_column_6(a->l, b->l);
    limb_column_mac(&s, k1, FP_Q5);
    limb_column_mac(&s, k2, FP_Q4);
    limb_column_mac(&s, k3, FP_Q3);
    limb_column_mac(&s, k4, FP_Q2);
    limb_column_mac(&s, k5, FP_Q1);
    limb_column_add(&sum, &s);
    t0 = limb_column_next(&sum);
    s = fp_column_7(a->l, b->l);
    limb_column_mac(&s, k2, FP_Q5);
    limb_column_mac(&s, k3, FP_Q4);
    limb_column_mac(&s, k4, FP_Q3);
    limb_column_mac(&s, k5, FP_Q2);
    limb_column_add(&sum, &s);
    t1 = limb_column_next(&sum);
    s = fp_column_8(a->l, b->l);
    limb_column_mac(&s, k3, FP_Q5);
    limb_column_mac(&s, k4, FP_Q4);
    limb_column_mac(&s, k5, FP_Q3);
    limb_column_add(&sum, &s);
    t2 = limb_column_next(&sum);
    s = fp_column_9(a->l, b->l);
    limb_column_mac(&s, k4, FP_Q5);
    limb_column_mac(&s, k5, FP_Q4);
    limb_column_add(&sum, &s);
    t3 = limb_column_next(&sum);
    s = fp_column_10(a->l, b->l);
    limb_column_mac(&s, k5, FP_Q5);
    limb_column_add(&sum, &s);
    t4 = limb_column_next(&sum);
    t5 = sum.l;
    *out = (fp){{t0, t1, t2, t3, t4, t5}};
}

#else

// One step of Montgomery's multiplication, word by word (CIOS: Koc, Acar, Kaliski, "Analyzing and comparing Montgomery
// multiplication algorithms", 1996): t := (t + a * b + m * q) / 2^64, where m makes the sum divisible.
//
// The two carries need no word of their own. For a < 2q and any b, t < 3q stays true:
// (3q + (2^64 - 1) 2q + (2^64 - 1) q) / 2^64 = 3q; and 3q < 2^384 as q has 3 spare top bits, so the last sum c + d does
// not overflow.
LIMB_INLINE void fp_mul_step(uint64_t t[6], const uint64_t a[6], uint64_t b) {
    uint64_t c = 0, d = 0;
    uint64_t t0 = limb_mac(t[0], a[0], b, &c);
    uint64_t m = t0 * FP_NINV;
    (void)limb_mac(t0, m, FP_Q0, &d);
    t[0] = limb_mac(limb_mac(t[1], a[1], b, &c), m, FP_Q1, &d);
    t[1] = limb_mac(limb_mac(t[2], a[2], b, &c), m, FP_Q2, &d);
    t[2] = limb_mac(limb_mac(t[3], a[3], b, &c), m, FP_Q3, &d);
    t[3] = limb_mac(limb_mac(t[4], a[4], b, &c), m, FP_Q4, &d);
    t[4] = limb_mac(limb_mac(t[5], a[5], b, &c), m, FP_Q5, &d);
    t[5] = c + d;
}

LIMB_INLINE void fp_mul_lazy(fp *out, const fp *a, const fp *b) {
    uint64_t t[6] = {0};
    fp_mul_step(t, a->l, b->l[0]);
    fp_mul_step(t, a->l, b->l[1]);
    fp_mul_step(t, a->l, b->l[2]);
    fp_mul_step(t, a->l, b->l[3]);
    fp_mul_step(t, a->l, b->l[4]);
    fp_mul_step(t, a->l, b->l[5]);
    *out = (fp){{t[0], t[1], t[2], t[3], t[4], t[5]}};
}

#endif

static inline void fp_mul(fp *out, const fp *a, const fp *b) {
    fp t;
    fp_mul_lazy(&t, a, b);
    fp_reduce_once(out, t.l[0], t.l[1], t.l[2], t.l[3], t.l[4], t.l[5]);
}

// Products without reduction, for sums of products that are reduced once (fp2_mul).

// t := a * b for any six limbs.
LIMB_INLINE void fp_mul_wide(uint64_t t[12], const uint64_t a[6], const uint64_t b[6]) {
    limb_column s, sum = fp_column_0(a, b);
    t[0] = limb_column_next(&sum);
    s = fp_column_1(a, b), limb_column_add(&sum, &s), t[1] = limb_column_next(&sum);
    s = fp_column_2(a, b), limb_column_add(&sum, &s), t[2] = limb_column_next(&sum);
    s = fp_column_3(a, b), limb_column_add(&sum, &s), t[3] = limb_column_next(&sum);
    s = fp_column_4(a, b), limb_column_add(&sum, &s), t[4] = limb_column_next(&sum);
    s = fp_column_5(a, b), limb_column_add(&sum, &s), t[5] = limb_column_next(&sum);
    s = fp_column_6(a, b), limb_column_add(&sum, &s), t[6] = limb_column_next(&sum);
    s = fp_column_7(a, b), limb_column_add(&sum, &s), t[7] = limb_column_next(&sum);
    s = fp_column_8(a, b), limb_column_add(&sum, &s), t[8] = limb_column_next(&sum);
    s = fp_column_9(a, b), limb_column_add(&sum, &s), t[9] = limb_column_next(&sum);
    s = fp_column_10(a, b), limb_column_add(&sum, &s), t[10] = limb_column_next(&sum);
    t[11] = sum.l;
}

// out := t / 2^384 mod p for t < 2^384 p, so that (t + m p) / 2^384 < 2p. Overwrites t.
LIMB_INLINE void fp_reduce_wide(fp *out, uint64_t t[12]) {
    uint64_t c, m, top = 0; // top: the carry of the row before, into the limb where this row's carry goes
    m = t[0] * FP_NINV, c = 0;
    (void)limb_mac(t[0], m, FP_Q0, &c);
    t[1] = limb_mac(t[1], m, FP_Q1, &c);
    t[2] = limb_mac(t[2], m, FP_Q2, &c);
    t[3] = limb_mac(t[3], m, FP_Q3, &c);
    t[4] = limb_mac(t[4], m, FP_Q4, &c);
    t[5] = limb_mac(t[5], m, FP_Q5, &c);
    t[6] = limb_adc(t[6], c, &top);
    m = t[1] * FP_NINV, c = 0;
    (void)limb_mac(t[1], m, FP_Q0, &c);
    t[2] = limb_mac(t[2], m, FP_Q1, &c);
    t[3] = limb_mac(t[3], m, FP_Q2, &c);
    t[4] = limb_mac(t[4], m, FP_Q3, &c);
    t[5] = limb_mac(t[5], m, FP_Q4, &c);
    t[6] = limb_mac(t[6], m, FP_Q5, &c);
    t[7] = limb_adc(t[7], c, &top);
    m = t[2] * FP_NINV, c = 0;
    (void)limb_mac(t[2], m, FP_Q0, &c);
    t[3] = limb_mac(t[3], m, FP_Q1, &c);
    t[4] = limb_mac(t[4], m, FP_Q2, &c);
    t[5] = limb_mac(t[5], m, FP_Q3, &c);
    t[6] = limb_mac(t[6], m, FP_Q4, &c);
    t[7] = limb_mac(t[7], m, FP_Q5, &c);
    t[8] = limb_adc(t[8], c, &top);
    m = t[3] * FP_NINV, c = 0;
    (void)limb_mac(t[3], m, FP_Q0, &c);
    t[4] = limb_mac(t[4], m, FP_Q1, &c);
    t[5] = limb_mac(t[5], m, FP_Q2, &c);
    t[6] = limb_mac(t[6], m, FP_Q3, &c);
    t[7] = limb_mac(t[7], m, FP_Q4, &c);
    t[8] = limb_mac(t[8], m, FP_Q5, &c);
    t[9] = limb_adc(t[9], c, &top);
    m = t[4] * FP_NINV, c = 0;
    (void)limb_mac(t[4], m, FP_Q0, &c);
    t[5] = limb_mac(t[5], m, FP_Q1, &c);
    t[6] = limb_mac(t[6], m, FP_Q2, &c);
    t[7] = limb_mac(t[7], m, FP_Q3, &c);
    t[8] = limb_mac(t[8], m, FP_Q4, &c);
    t[9] = limb_mac(t[9], m, FP_Q5, &c);
    t[10] = limb_adc(t[10], c, &top);
    m = t[5] * FP_NINV, c = 0;
    (void)limb_mac(t[5], m, FP_Q0, &c);
    t[6] = limb_mac(t[6], m, FP_Q1, &c);
    t[7] = limb_mac(t[7], m, FP_Q2, &c);
    t[8] = limb_mac(t[8], m, FP_Q3, &c);
    t[9] = limb_mac(t[9], m, FP_Q4, &c);
    t[10] = limb_mac(t[10], m, FP_Q5, &c);
    t[11] = limb_adc(t[11], c, &top);
    fp_reduce_once(out, t[6], t[7], t[8], t[9], t[10], t[11]);
}

#if defined(__x86_64__)

// As fp_mul, each product of two different limbs once and then doubled: 63 limb products, not 78.
static inline void fp_sqr(fp *out, const fp *a) {
    uint64_t k0, k1, k2, k3, k4, k5, t0, t1, t2, t3, t4, t5;
    limb_column s, sum = limb_column_of(a->l[0], a->l[0]);
    k0 = fp_multiple(&sum);
    s = limb_column_of(a->l[1], a->l[0]);
    limb_column_add(&s, &s);
    limb_column_mac(&s, k0, FP_Q1);
    limb_column_add(&sum, &s);
    k1 = fp_multiple(&sum);
    s = limb_column_of(a->l[2], a->l[0]);
    limb_column_add(&s, &s);
    limb_column_mac(&s, a->l[1], a->l[1]);
    limb_column_mac(&s, k0, FP_Q2);
    limb_column_mac(&s, k1, FP_Q1);
    limb_column_add(&sum, &s);
    k2 = fp_multiple(&sum);
    s = limb_column_of(a->l[3], a->l[0]);
    limb_column_mac(&s, a->l[2], a->l[1]);
    limb_column_add(&s, &s);
    limb_column_mac(&s, k0, FP_Q3);
    limb_column_mac(&s, k1, FP_Q2);
    limb_column_mac(&s, k2, FP_Q1);
    limb_column_add(&sum, &s);
    k3 = fp_multiple(&sum);
    s = limb_column_of(a->l[4], a->l[0]);
    limb_column_mac(&s, a->l[3], a->l[1]);
    limb_column_add(&s, &s);
    limb_column_mac(&s, a->l[2], a->l[2]);
    limb_column_mac(&s, k0, FP_Q4);
    limb_column_mac(&s, k1, FP_Q3);
    limb_column_mac(&s, k2, FP_Q2);
    limb_column_mac(&s, k3, FP_Q1);
    limb_column_add(&sum, &s);
    k4 = fp_multiple(&sum);
    s = limb_column_of(a->l[5], a->l[0]);
    limb_column_mac(&s, a->l[4], a->l[1]);
    limb_column_mac(&s, a->l[3], a->l[2]);
    limb_column_add(&s, &s);
    limb_column_mac(&s, k0, FP_Q5);
    limb_column_mac(&s, k1, FP_Q4);
    limb_column_mac(&s, k2, FP_Q3);
    limb_column_mac(&s, k3, FP_Q2);
    limb_column_mac(&s, k4, FP_Q1);
    limb_column_add(&sum, &s);
    k5 = fp_multiple(&sum);
    s = limb_column_of(a->l[5], a->l[1]);
    limb_column_mac(&s, a->l[4], a->l[2]);
    limb_column_add(&s, &s);
    limb_column_mac(&s, a->l[3], a->l[3]);
    limb_column_mac(&s, k1, FP_Q5);
    limb_column_mac(&s, k2, FP_Q4);
    limb_column_mac(&s, k3, FP_Q3);
    limb_column_mac(&s, k4, FP_Q2);
    limb_column_mac(&s, k5, FP_Q1);
    limb_column_add(&sum, &s);
    t0 = limb_column_next(&sum);
    s = limb_column_of(a->l[5], a->l[2]);
    limb_column_mac(&s, a->l[4], a->l[3]);
    limb_column_add(&s, &s);
    limb_column_mac(&s, k2, FP_Q5);
    limb_column_mac(&s, k3, FP_Q4);
    limb_column_mac(&s, k4, FP_Q3);
    limb_column_mac(&s, k5, FP_Q2);
    limb_column_add(&sum, &s);
    t1 = limb_column_next(&sum);
    s = limb_column_of(a->l[5], a->l[3]);
    limb_column_add(&s, &s);
    limb_column_mac(&s, a->l[4], a->l[4]);
    limb_column_mac(&s, k3, FP_Q5);
    limb_column_mac(&s, k4, FP_Q4);
    limb_column_mac(&s, k5, FP_Q3);
    limb_column_add(&sum, &s);
    t2 = limb_column_next(&sum);
    s = limb_column_of(a->l[5], a->l[4]);
    limb_column_add(&s, &s);
    limb_column_mac(&s, k4, FP_Q5);
    limb_column_mac(&s, k5, FP_Q4);
    limb_column_add(&sum, &s);
    t3 = limb_column_next(&sum);
    s = limb_column_of(a->l[5], a->l[5]);
    limb_column_mac(&s, k5, FP_Q5);
    limb_column_add(&sum, &s);
    t4 = limb_column_next(&sum);
    t5 = sum.l;
    fp_reduce_once(out, t0, t1, t2, t3, t4, t5);
}

#else

static inline void fp_sqr(fp *out, const fp *a) { fp_mul(out, a, a); }

#endif

#endif
