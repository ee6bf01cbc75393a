// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The optimal ate pairing G1 x G2 -> Fp12 of BLS12-381. docs/maths/pairing.md derives it.
#ifndef CUZK_CURVE_PAIRING_H
#define CUZK_CURVE_PAIRING_H

#include "curve/g1.h"
#include "curve/g2.h"
#include "field/fp12.h"

// Product over i of miller(p[i], q[i]), one shared loop; pairs with an infinity contribute 1. Points must be in their
// subgroups.
void pairing_miller_loop(fp12 *out, const g1_affine *p, const g2_affine *q, size_t n);
// out := f^(3 (p^12 - 1)/r): the factor 3 makes the hard part short and is harmless, 3 does not divide r.
void pairing_final_exp(fp12 *out, const fp12 *f);
// True when the product of e(p[i], q[i]) is one.
bool pairing_product_is_one(const g1_affine *p, const g2_affine *q, size_t n);

#endif
