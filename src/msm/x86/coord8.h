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

enum {
    COORD_DEGREE = MSM_GROUP,
    COORD_STEPS = 8, // of other work beside a multiplication (fp8_mul.h)
};

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
// What follows are multiplications with COORD_STEPS steps of other work beside them.
// out := a / d, loose, given the inverse of d's denominator: bounds as for fp8_mul. `out` is not an operand.
FP8_INLINE void coord_over(coord8 *out, const coord8 *a, const coord8 *d, const fp8 *inverse, fp8_beside *beside,
                           void *state) {
    (void)d;
    fp8_mul_beside(&out->c[0], &a->c[0], inverse, beside, state, 0, COORD_STEPS);
}
// Loose, in [0, p + 2^370).
FP8_INLINE void coord_sqr(coord8 *out, const coord8 *a, fp8_beside *beside, void *state) {
    fp8_sqr_beside(&out->c[0], &a->c[0], beside, state, 0, COORD_STEPS);
}
// Loose, in [0, p + 2^370).
FP8_INLINE void coord_mul(coord8 *out, const coord8 *a, const coord8 *b, fp8_beside *beside, void *state) {
    fp8_mul_beside(&out->c[0], &a->c[0], &b->c[0], beside, state, 0, COORD_STEPS);
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
    fp8_sqr2(den, &d->c[0], &d->c[1]);
    fp8_carry_digits(den);
}

// Products are the four of the textbook, two at a time under one reduction. Karatsuba's three have 128 instructions of
// 768 less, but took as long: their columns do not fit into registers, and have to be joined. Two products at a time
// leave no registers for other work: that stands beside single ones.

// out := 2p - v, digits, for a tight v below 2p.
static inline void fp8_opposite(fp8 *out, const fp8 *v) {
    for (int j = 0; j < FP8_LIMBS; j++) out->l[j] = _mm512_sub_epi64(fp8_limb_p(j), v->l[j]);
    fp8_add_p(out);
    fp8_carry_digits(out);
}

// a (d0 - d1 u) n, with n the inverse of the norm: (a0 d0 + a1 d1 + (a1 d0 - a0 d1) u) n, for d1 < 2p.
FP8_INLINE void coord_over(coord8 *out, const coord8 *a, const coord8 *d, const fp8 *inverse, fp8_beside *beside,
                           void *state) {
    fp8 re, im, e;
    fp8_opposite(&e, &d->c[1]);
    fp8_mul2(&re, &a->c[0], &d->c[0], &a->c[1], &d->c[1]);
    fp8_mul2(&im, &a->c[1], &d->c[0], &a->c[0], &e);
    fp8_carry_digits(&re);
    fp8_mul_beside(&out->c[0], &re, inverse, beside, state, 0, COORD_STEPS / 2);
    fp8_carry_digits(&im);
    fp8_mul_beside(&out->c[1], &im, inverse, beside, state, COORD_STEPS / 2, COORD_STEPS);
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
    fp8_mul_beside(&out->c[0], &s, &t, beside, state, 0, COORD_STEPS / 2);
    fp8_mul_beside(&out->c[1], &twice, &a->c[1], beside, state, COORD_STEPS / 2, COORD_STEPS);
}

// a0 b0 - a1 b1 + (a0 b1 + a1 b0) u, for a1 < 2p.
FP8_INLINE void coord_mul(coord8 *out, const coord8 *a, const coord8 *b, fp8_beside *beside, void *state) {
    fp8 re, e;
    fp8_opposite(&e, &a->c[1]);
    fp8_mul2(&re, &a->c[0], &b->c[0], &e, &b->c[1]);
    for (int step = 0; step < COORD_STEPS; step++) beside(state, step);
    fp8_mul2(&out->c[1], &a->c[0], &b->c[1], &a->c[1], &b->c[0]);
    out->c[0] = re;
}

#endif
#endif
