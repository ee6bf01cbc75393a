// SPDX-License-Identifier: MIT OR Apache-2.0
//
// G1: the points of order r on y^2 = x^3 + 4 over Fp.
//
// Affine points carry no infinity flag: infinity is x = y = 0, which is not on the curve. Jacobian points are
// (X/Z^2, Y/Z^3), infinity has Z = 0. XYZZ points are (X/ZZ, Y/ZZZ) with ZZ^3 = ZZZ^2, cheap for sums of affine points.
// The functions of g1.h and g2.h are one source, src/curve/point_tmpl.c, compiled once a field.
#ifndef CUZK_CURVE_G1_H
#define CUZK_CURVE_G1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "field/fp.h"
#include "field/fr.h"

typedef struct g1_affine {
    fp x, y;
} g1_affine;
typedef struct g1_jac {
    fp x, y, z;
} g1_jac;
typedef struct g1_xyzz {
    fp x, y, zz, zzz;
} g1_xyzz;

extern const g1_affine G1_GENERATOR;

bool g1_affine_is_infinity(const g1_affine *a);
bool g1_affine_eq(const g1_affine *a, const g1_affine *b);
void g1_affine_neg(g1_affine *out, const g1_affine *a);
bool g1_affine_on_curve(const g1_affine *a); // infinity counts as on the curve
// On the curve assumed: is r * a infinity? By the endomorphism, about 130 doublings (Scott, eprint 2021/1130).
bool g1_affine_in_subgroup(const g1_affine *a);

void g1_jac_infinity(g1_jac *out);
bool g1_jac_is_infinity(const g1_jac *a);
bool g1_jac_eq(const g1_jac *a, const g1_jac *b);
void g1_jac_from_affine(g1_jac *out, const g1_affine *a);
void g1_jac_to_affine(g1_affine *out, const g1_jac *a);
// n points with one inversion.
void g1_jac_to_affine_batch(g1_affine *out, const g1_jac *a, size_t n);
void g1_jac_neg(g1_jac *out, const g1_jac *a);
void g1_jac_dbl(g1_jac *out, const g1_jac *a); // complete, as all additions here: any operands, aliases allowed
void g1_jac_add(g1_jac *out, const g1_jac *a, const g1_jac *b);
void g1_jac_add_affine(g1_jac *out, const g1_jac *a, const g1_affine *b);
void g1_jac_mul(g1_jac *out, const g1_jac *a, const fr *k);                       // k mod r; variable time
void g1_jac_mul_limbs(g1_jac *out, const g1_jac *a, const uint64_t *k, size_t n); // any integer; variable time

void g1_xyzz_infinity(g1_xyzz *out);
bool g1_xyzz_is_infinity(const g1_xyzz *a);
void g1_xyzz_add_affine(g1_xyzz *acc, const g1_affine *b);
void g1_xyzz_add(g1_xyzz *acc, const g1_xyzz *b);
void g1_xyzz_dbl(g1_xyzz *acc);
void g1_xyzz_to_jac(g1_jac *out, const g1_xyzz *a);

#endif
