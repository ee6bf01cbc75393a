// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Coordinates side by side, one a lane, of one group: what add_batch_lanes_tmpl.c needs of Fp or Fp2. MSM_GROUP and
// MSM_LANES choose.
//
// A coordinate here is what is stored, an integer x 2^384 mod p (in G2 two of them), or that times another power of 2;
// the powers are followed in add_batch_lanes_tmpl.c. Words: field/x86/fp8.h.
//
// For Fp2 a denominator d is inverted through its norm, 1/d = (d0 - d1 u) / (d0^2 + d1^2): then running products stay
// in Fp, at 3 multiplications there instead of 3 in Fp2. -1 is no square in Fp, so the norm of d is 0 only if d is.
#ifndef CUZK_MSM_X86_COORD_H
#define CUZK_MSM_X86_COORD_H

#include "msm/types.h"
#include "msm/x86/lanes.h"

enum {
    COORD_DEGREE = MSM_GROUP,
    COORD_STEPS = 8, // of other work beside a multiplication (field/x86/beside.h)
};

typedef struct coord {
    FPV c[COORD_DEGREE];
} coord;

// A stored coordinate is COORD_DEGREE fp, one after the other. Loading goes by thirds, as fp8_load_pair.
static inline void coord_load_pair(coord *out, const FE *const from[LANES], int pair, V(vec) last[COORD_DEGREE]) {
    for (int k = 0; k < COORD_DEGREE; k++) {
        const fp *part[LANES];
        for (int i = 0; i < LANES; i++) part[i] = (const fp *)from[i] + k;
        V(load_pair)(&out->c[k], part, pair, &last[k]);
    }
}
// Lanes in which the lowest limb of a coordinate is zero, or that of two is equal: all lanes with a zero or equal
// coordinates, and otherwise one in 2^51 or fewer.
static inline V(mask) coord_maybe_zero(const coord *a) { return V(low_zero)(&a->c[0]); }
static inline V(mask) coord_maybe_eq(const coord *a, const coord *b) { return V(low_eq)(&a->c[0], &b->c[0]); }
static inline void coord_sub(coord *out, const coord *a, const coord *b) {
    for (int k = 0; k < COORD_DEGREE; k++) V(sub)(&out->c[k], &a->c[k], &b->c[k]);
}
static inline void coord_add_p(coord *v) {
    for (int k = 0; k < COORD_DEGREE; k++) V(add_p)(&v->c[k]);
}
static inline void coord_neg_lanes(coord *v, V(mask) lanes) {
    for (int k = 0; k < COORD_DEGREE; k++) V(neg_lanes)(&v->c[k], lanes);
}
static inline void coord_carry(coord *v) {
    for (int k = 0; k < COORD_DEGREE; k++) V(carry)(&v->c[k]);
}
// The parts of V(canonical).
static inline void coord_canonical_begin(coord *v) {
    for (int k = 0; k < COORD_DEGREE; k++) V(canonical_begin)(&v->c[k]);
}
static inline void coord_canonical_end(coord *v) {
    for (int k = 0; k < COORD_DEGREE; k++) V(canonical_end)(&v->c[k]);
}

// A tight value times 2^bits, as coord_mul's second operand; below 2^(RADIX_BITS - 1 - bits).
static inline void coord_shift_left(coord *v, int bits) {
    for (int k = 0; k < COORD_DEGREE; k++) V(shift_left)(&v->c[k], bits);
}

#if MSM_GROUP == 1

// Loose to what coord_sqr, coord_over and coord_mul's first argument take: here operands. In G2 they add parts before
// they multiply, and want tight limbs.
static inline void coord_operand(coord *v) { V(to_operand)(&v->c[0]); }
// What is inverted for 1/d: d, or its norm by the radix. An operand.
static inline void coord_denominator(FPV *den, const coord *d) { *den = d->c[0]; }
// What follows are multiplications with COORD_STEPS steps of other work beside them.
// out := a / d, loose, given the inverse of d's denominator: bounds as for V(mul). `out` is not an operand.
VEC_INLINE void coord_over(coord *out, const coord *a, const coord *d, const FPV *inverse, vec_beside *beside,
                           void *state) {
    (void)d;
    V(mul_beside)(&out->c[0], &a->c[0], inverse, beside, state, 0, COORD_STEPS);
}
// Loose, in [0, 2p).
VEC_INLINE void coord_sqr(coord *out, const coord *a, vec_beside *beside, void *state) {
    V(sqr_beside)(&out->c[0], &a->c[0], beside, state, 0, COORD_STEPS);
}
// Loose, in [0, 2p).
VEC_INLINE void coord_mul(coord *out, const coord *a, const coord *b, vec_beside *beside, void *state) {
    V(mul_beside)(&out->c[0], &a->c[0], &b->c[0], beside, state, 0, COORD_STEPS);
}

#else

static inline void coord_operand(coord *v) { coord_carry(v); }

static inline void coord_denominator(FPV *den, const coord *d) {
    FPV re, im;
    V(sqr2)(den, V(operand_of)(&re, &d->c[0]), V(operand_of)(&im, &d->c[1]));
    V(to_operand)(den);
}

// Products are the four of the textbook, two at a time under one reduction. Karatsuba's three have a sixth less
// instructions, but took as long: their columns do not fit into registers, and have to be joined. Two products at a
// time leave no registers for other work: that stands beside single ones.

// out := 2p - v, an operand, for a tight v below 2p.
static inline void coord_opposite(FPV *out, const FPV *v) {
    V(set1)(out, FPV_MODULUS);
    V(sub)(out, out, v);
    V(add_p)(out);
    V(to_operand)(out);
}

// a (d0 - d1 u) n, with n the inverse of the norm: (a0 d0 + a1 d1 + (a1 d0 - a0 d1) u) n, for d1 < 2p.
VEC_INLINE void coord_over(coord *out, const coord *a, const coord *d, const FPV *inverse, vec_beside *beside,
                           void *state) {
    FPV re, im, e, space[4];
    coord_opposite(&e, &d->c[1]);
    const FPV *a0 = V(operand_of)(&space[0], &a->c[0]), *a1 = V(operand_of)(&space[1], &a->c[1]);
    const FPV *d0 = V(operand_of)(&space[2], &d->c[0]), *d1 = V(operand_of)(&space[3], &d->c[1]);
    V(mul2)(&re, a0, d0, a1, d1);
    V(mul2)(&im, a1, d0, a0, &e);
    V(to_operand)(&re);
    V(mul_beside)(&out->c[0], &re, inverse, beside, state, 0, COORD_STEPS / 2);
    V(to_operand)(&im);
    V(mul_beside)(&out->c[1], &im, inverse, beside, state, COORD_STEPS / 2, COORD_STEPS);
}

// (a0 + a1)(a0 - a1) + 2 a0 a1 u, for a1 < 2p.
VEC_INLINE void coord_sqr(coord *out, const coord *a, vec_beside *beside, void *state) {
    FPV s, t, twice, space;
    V(add)(&s, &a->c[0], &a->c[1]);
    V(to_operand)(&s);
    V(sub)(&t, &a->c[0], &a->c[1]);
    V(add_p)(&t), V(add_p)(&t);
    V(to_operand)(&t);
    V(add)(&twice, &a->c[0], &a->c[0]);
    V(to_operand)(&twice);
    V(mul_beside)(&out->c[0], &s, &t, beside, state, 0, COORD_STEPS / 2);
    V(mul_beside)(&out->c[1], &twice, V(operand_of)(&space, &a->c[1]), beside, state, COORD_STEPS / 2, COORD_STEPS);
}

// a0 b0 - a1 b1 + (a0 b1 + a1 b0) u, for a1 < 2p.
VEC_INLINE void coord_mul(coord *out, const coord *a, const coord *b, vec_beside *beside, void *state) {
    FPV re, e, space[2];
    coord_opposite(&e, &a->c[1]);
    const FPV *a0 = V(operand_of)(&space[0], &a->c[0]), *a1 = V(operand_of)(&space[1], &a->c[1]);
    V(mul2)(&re, a0, &b->c[0], &e, &b->c[1]);
    for (int step = 0; step < COORD_STEPS; step++) beside(state, step);
    V(mul2)(&out->c[1], a0, &b->c[1], a1, &b->c[0]);
    out->c[0] = re;
}

#endif
#endif
