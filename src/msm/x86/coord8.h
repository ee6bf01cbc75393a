// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Eight coordinates side by side, of one group: what add_batch_ifma_tmpl.c needs of Fp or Fp2. MSM_GROUP chooses.
//
// A coordinate here is what is stored, an integer x 2^384 mod p (in G2 two of them), or that times another power of 2;
// the powers are followed in add_batch_ifma_tmpl.c. Words: field/x86/fp8.h.
//
// For Fp2 a denominator d is inverted through its norm, 1/d = (d0 - d1 u) / (d0^2 + d1^2): then running products stay
// in Fp, at 3 multiplications there instead of 3 in Fp2. -1 is no square in Fp, so the norm of d is 0 only if d is.
#ifndef CUZK_MSM_X86_COORD8_H
#define CUZK_MSM_X86_COORD8_H

#include "field/x86/fp8_mul.h"
#include "msm/types.h"

enum { COORD_DEGREE = MSM_GROUP };

typedef struct coord8 {
    fp8 c[COORD_DEGREE];
} coord8;

// A stored coordinate is COORD_DEGREE fp, one after the other. Loading goes by thirds, as fp8_load_pair.
static inline void coord_load_pair(coord8 *out, const FE *const from[FP8_LANES], int pair, __m512i last[COORD_DEGREE]) {
    for (int k = 0; k < COORD_DEGREE; k++) {
        const fp *part[FP8_LANES];
        for (int i = 0; i < FP8_LANES; i++) part[i] = (const fp *)from[i] + k;
        fp8_load_pair(&out->c[k], part, pair, &last[k]);
    }
}
// Lanes in which the lowest word of a coordinate is zero, or that of two is equal: all lanes with a zero or equal
// coordinates, and otherwise one in 2^52.
static inline __mmask8 coord_maybe_zero(const coord8 *a) { return _mm512_testn_epi64_mask(a->c[0].l[0], a->c[0].l[0]); }
static inline __mmask8 coord_maybe_eq(const coord8 *a, const coord8 *b) {
    return _mm512_cmpeq_epi64_mask(a->c[0].l[0], b->c[0].l[0]);
}
static inline void coord_sub(coord8 *out, const coord8 *a, const coord8 *b) {
    for (int k = 0; k < COORD_DEGREE; k++) fp8_sub(&out->c[k], &a->c[k], &b->c[k]);
}
static inline void coord_add_p(coord8 *v) {
    for (int k = 0; k < COORD_DEGREE; k++) fp8_add_p(&v->c[k]);
}
static inline void coord_neg_lanes(coord8 *v, __mmask8 lanes) {
    for (int k = 0; k < COORD_DEGREE; k++) fp8_neg_lanes(&v->c[k], lanes);
}
static inline void coord_carry(coord8 *v) {
    for (int k = 0; k < COORD_DEGREE; k++) fp8_carry(&v->c[k]);
}
// The parts of fp8_canonical.
static inline void coord_canonical_begin(coord8 *v) {
    for (int k = 0; k < COORD_DEGREE; k++) fp8_canonical_begin(&v->c[k]);
}
static inline void coord_canonical_end(coord8 *v) {
    for (int k = 0; k < COORD_DEGREE; k++) fp8_canonical_end(&v->c[k]);
}

#if MSM_GROUP == 1

// Loose to an operand of the multiplications below. In G1 these read digits; in G2 they add parts before they
// multiply, and want tight limbs.
static inline void coord_operand(coord8 *v) { fp8_carry_digits(&v->c[0]); }
// A tight value times 2^bits as an operand; below 2^(415 - bits).
static inline void coord_shift_operand(coord8 *v, unsigned bits) { fp8_shift_left(&v->c[0], bits); }
// What is inverted for 1/d: d, or its norm / 2^416. Digits.
static inline void coord_denominator(fp8 *den, const coord8 *d) { *den = d->c[0]; }
// What follows are multiplications with other work beside them (fp8_mul.h).
// out := a / d, loose, given the inverse of d's denominator: bounds as for fp8_mul.
FP8_INLINE void coord_over(coord8 *out, const coord8 *a, const coord8 *d, const fp8 *inverse, fp8_beside *beside,
                           void *state) {
    (void)d;
    fp8_mul_beside(&out->c[0], &a->c[0], inverse, beside, state);
}
// Loose, in [0, p + 2^370).
FP8_INLINE void coord_sqr(coord8 *out, const coord8 *a, fp8_beside *beside, void *state) {
    fp8_sqr_beside(&out->c[0], &a->c[0], beside, state);
}
// Loose; parts in (-2^370, p + 2^370).
FP8_INLINE void coord_mul(coord8 *out, const coord8 *a, const coord8 *b, fp8_beside *beside, void *state) {
    fp8_mul_beside(&out->c[0], &a->c[0], &b->c[0], beside, state);
}

#else

static inline void coord_operand(coord8 *v) { coord_carry(v); }
static inline void coord_shift_operand(coord8 *v, unsigned bits) {
    for (int k = 0; k < 2; k++) {
        fp8_shift_left(&v->c[k], bits);
        fp8_trim(&v->c[k]);
    }
}

static inline void coord_denominator(fp8 *den, const coord8 *d) {
    fp8_wide s, t;
    fp8_sqr_wide(&s, &d->c[0]);
    fp8_sqr_wide(&t, &d->c[1]);
    for (int j = 0; j < 2 * FP8_LIMBS; j++) s.c[j] = _mm512_add_epi64(s.c[j], t.c[j]); // below 2^57
    fp8_reduce_wide(den, &s);
    fp8_carry_digits(den);
}

// The parts of Karatsuba's products: p = a0 b0, q = a1 b1, r = (a0 + a1) s. Columns of each are below 2^56, so those
// of r - p + q and r - p - q are below 2^58.
FP8_INLINE void coord_products(fp8_wide *p, fp8_wide *q, fp8_wide *r, const coord8 *a, const coord8 *b, const fp8 *s,
                               fp8_beside *beside, void *state) {
    fp8 sum;
    fp8_add(&sum, &a->c[0], &a->c[1]);
    fp8_carry_digits(&sum);
    fp8_mul_wide_beside(r, &sum, s, beside, state);
    fp8_mul_wide(p, &a->c[0], &b->c[0]);
    fp8_mul_wide(q, &a->c[1], &b->c[1]);
}

// a (d0 - d1 u) n, with n the inverse of the norm:
// (a0 + a1 u)(d0 - d1 u) = a0 d0 + a1 d1 + ((a0 + a1)(d0 - d1) - a0 d0 + a1 d1) u.
// For d1 < 2p the factor d0 - d1 + 2p is not negative and both sums are integers >= 0.
FP8_INLINE void coord_over(coord8 *out, const coord8 *a, const coord8 *d, const fp8 *inverse, fp8_beside *beside,
                           void *state) {
    fp8_wide p, q, r;
    fp8 s;
    fp8_sub(&s, &d->c[0], &d->c[1]);
    fp8_add_p(&s), fp8_add_p(&s);
    fp8_carry_digits(&s);
    coord_products(&p, &q, &r, a, d, &s, beside, state);
    for (int j = 0; j < 2 * FP8_LIMBS; j++) {
        r.c[j] = _mm512_add_epi64(_mm512_sub_epi64(r.c[j], p.c[j]), q.c[j]);
        p.c[j] = _mm512_add_epi64(p.c[j], q.c[j]);
    }
    fp8_reduce_wide(&out->c[0], &p);
    fp8_reduce_wide(&out->c[1], &r);
    fp8_carry_digits(&out->c[0]), fp8_carry_digits(&out->c[1]);
    fp8_mul(&out->c[0], &out->c[0], inverse);
    fp8_mul(&out->c[1], &out->c[1], inverse);
}

// (a0 + a1)(a0 - a1) + 2 a0 a1 u, for a1 < 2p.
FP8_INLINE void coord_sqr(coord8 *out, const coord8 *a, fp8_beside *beside, void *state) {
    fp8 s, t, twice;
    fp8_add(&s, &a->c[0], &a->c[1]);
    fp8_carry_digits(&s);
    fp8_sub(&t, &a->c[0], &a->c[1]);
    fp8_add_p(&t), fp8_add_p(&t);
    fp8_carry_digits(&t);
    fp8_add(&twice, &a->c[0], &a->c[0]);
    fp8_carry_digits(&twice);
    fp8_mul_beside(&out->c[0], &s, &t, beside, state);
    fp8_mul(&out->c[1], &twice, &a->c[1]);
}

// a0 b0 - a1 b1 + ((a0 + a1)(b0 + b1) - a0 b0 - a1 b1) u. The first part may be negative, by a1 b1 / 2^416.
FP8_INLINE void coord_mul(coord8 *out, const coord8 *a, const coord8 *b, fp8_beside *beside, void *state) {
    fp8_wide p, q, r;
    fp8 s;
    fp8_add(&s, &b->c[0], &b->c[1]);
    fp8_carry_digits(&s);
    coord_products(&p, &q, &r, a, b, &s, beside, state);
    for (int j = 0; j < 2 * FP8_LIMBS; j++) {
        r.c[j] = _mm512_sub_epi64(_mm512_sub_epi64(r.c[j], p.c[j]), q.c[j]);
        p.c[j] = _mm512_sub_epi64(p.c[j], q.c[j]);
    }
    fp8_reduce_wide(&out->c[0], &p);
    fp8_reduce_wide(&out->c[1], &r);
}

#endif
#endif
