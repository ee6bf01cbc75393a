// SPDX-License-Identifier: MIT OR Apache-2.0
//
// G2: the points of order r on y^2 = x^3 + 4(1 + u) over Fp2. Conventions as in g1.h.
#ifndef CUZK_CURVE_G2_H
#define CUZK_CURVE_G2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "field/fp2.h"
#include "field/fr.h"

typedef struct g2_affine {
    fp2 x, y;
} g2_affine;
typedef struct g2_jac {
    fp2 x, y, z;
} g2_jac;
typedef struct g2_xyzz {
    fp2 x, y, zz, zzz;
} g2_xyzz;

extern const g2_affine G2_GENERATOR;

bool g2_affine_is_infinity(const g2_affine *a);
bool g2_affine_eq(const g2_affine *a, const g2_affine *b);
void g2_affine_neg(g2_affine *out, const g2_affine *a);
bool g2_affine_on_curve(const g2_affine *a); // infinity counts as on the curve
// On the curve assumed: is r * a infinity? By the untwist-Frobenius map psi, about 64 doublings (Scott, eprint
// 2021/1130).
bool g2_affine_in_subgroup(const g2_affine *a);

void g2_jac_infinity(g2_jac *out);
bool g2_jac_is_infinity(const g2_jac *a);
bool g2_jac_eq(const g2_jac *a, const g2_jac *b);
void g2_jac_from_affine(g2_jac *out, const g2_affine *a);
void g2_jac_to_affine(g2_affine *out, const g2_jac *a);
// n points with one inversion.
void g2_jac_to_affine_batch(g2_affine *out, const g2_jac *a, size_t n);
void g2_jac_neg(g2_jac *out, const g2_jac *a);
void g2_jac_dbl(g2_jac *out, const g2_jac *a); // complete, as all additions here: any operands, aliases allowed
void g2_jac_add(g2_jac *out, const g2_jac *a, const g2_jac *b);
void g2_jac_add_affine(g2_jac *out, const g2_jac *a, const g2_affine *b);
void g2_jac_mul(g2_jac *out, const g2_jac *a, const fr *k);                       // k mod r; variable time
void g2_jac_mul_limbs(g2_jac *out, const g2_jac *a, const uint64_t *k, size_t n); // any integer; variable time

void g2_xyzz_infinity(g2_xyzz *out);
bool g2_xyzz_is_infinity(const g2_xyzz *a);
void g2_xyzz_add_affine(g2_xyzz *acc, const g2_affine *b);
void g2_xyzz_add(g2_xyzz *acc, const g2_xyzz *b);
void g2_xyzz_dbl(g2_xyzz *acc);
void g2_xyzz_to_jac(g2_jac *out, const g2_xyzz *a);

#endif
