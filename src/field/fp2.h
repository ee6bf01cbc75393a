// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Fp2 = Fp[u]/(u^2 + 1).
#ifndef CUZK_FIELD_FP2_H
#define CUZK_FIELD_FP2_H

#include "field/fp.h"

typedef struct fp2 {
    fp c0, c1; // c0 + c1 u
} fp2;

extern const fp2 FP2_ZERO, FP2_ONE;

static inline bool fp2_eq(const fp2 *a, const fp2 *b);
static inline bool fp2_is_zero(const fp2 *a);
static inline void fp2_add(fp2 *out, const fp2 *a, const fp2 *b); // any of the three may alias, here and below
static inline void fp2_sub(fp2 *out, const fp2 *a, const fp2 *b);
static inline void fp2_neg(fp2 *out, const fp2 *a);
static inline void fp2_dbl(fp2 *out, const fp2 *a);
static inline void fp2_mul_xi(fp2 *out, const fp2 *a); // times xi = 1 + u, the non-residue of Fp6
static inline void fp2_conj(fp2 *out, const fp2 *a);   // c0 - c1 u, also the Frobenius map
void fp2_mul(fp2 *out, const fp2 *a, const fp2 *b);
void fp2_sqr(fp2 *out, const fp2 *a);
void fp2_mul_fp(fp2 *out, const fp2 *a, const fp *b);
void fp2_inv(fp2 *out, const fp2 *a);  // zero gives zero; variable time
bool fp2_sqrt(fp2 *out, const fp2 *a); // false if a is no square; variable time
bool fp2_is_larger_half(const fp2 *a); // lexicographic, c1 first: the sign bit of compressed G2 points

#include "field/fp2_inline.h" // IWYU pragma: export

#endif
