// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Fp6 = Fp2[v]/(v^3 - xi), xi = 1 + u, and Fp12 = Fp6[w]/(w^2 - v): the target of the pairing.
#ifndef CUZK_FIELD_FP12_H
#define CUZK_FIELD_FP12_H

#include "field/fp2.h"

typedef struct fp6 {
    fp2 c0, c1, c2; // c0 + c1 v + c2 v^2
} fp6;
typedef struct fp12 {
    fp6 c0, c1; // c0 + c1 w
} fp12;

extern const fp12 FP12_ONE;

void fp6_add(fp6 *out, const fp6 *a, const fp6 *b);
void fp6_sub(fp6 *out, const fp6 *a, const fp6 *b);
void fp6_neg(fp6 *out, const fp6 *a);
void fp6_mul(fp6 *out, const fp6 *a, const fp6 *b);
void fp6_mul_v(fp6 *out, const fp6 *a);
void fp6_inv(fp6 *out, const fp6 *a);

bool fp12_eq(const fp12 *a, const fp12 *b);
bool fp12_is_one(const fp12 *a);
void fp12_mul(fp12 *out, const fp12 *a, const fp12 *b);
void fp12_sqr(fp12 *out, const fp12 *a);
void fp12_conj(fp12 *out, const fp12 *a); // the p^6 Frobenius; the inverse in the cyclotomic subgroup
void fp12_inv(fp12 *out, const fp12 *a);
void fp12_frobenius(fp12 *out, const fp12 *a, unsigned power); // a^(p^power), power 1, 2 or 3
void fp12_cyclotomic_sqr(fp12 *out, const fp12 *a);            // for a with a^(p^6+1) = 1
// Multiplies by a line of the Miller loop: c0 + c1 v + c4 v w (the non-zero places for the M-type twist).
void fp12_mul_by_014(fp12 *f, const fp2 *c0, const fp2 *c1, const fp2 *c4);

#endif
