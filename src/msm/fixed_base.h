// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Many multiples of one point: a table of windows, then batch-affine additions. For making parameters.
#ifndef CUZK_MSM_FIXED_BASE_H
#define CUZK_MSM_FIXED_BASE_H

#include "base/pool.h"
#include "curve/g1.h"
#include "curve/g2.h"

typedef struct fixed_base_g1 fixed_base_g1;
typedef struct fixed_base_g2 fixed_base_g2;

// Precomputes multiples of `base` for about `n_expected` multiplications (chooses the window width).
CUZK_MUST_USE cuzk_status fixed_base_g1_create(fixed_base_g1 **out, const g1_affine *base, size_t n_expected, pool *p,
                                               cuzk_error *err);
CUZK_MUST_USE cuzk_status fixed_base_g2_create(fixed_base_g2 **out, const g2_affine *base, size_t n_expected, pool *p,
                                               cuzk_error *err);
void fixed_base_g1_destroy(fixed_base_g1 **t);
void fixed_base_g2_destroy(fixed_base_g2 **t);
// out[i] := scalars[i] * base, i < n; a zero scalar gives infinity.
CUZK_MUST_USE cuzk_status fixed_base_g1_mul(g1_affine *out, const fixed_base_g1 *t, const fr *scalars, size_t n,
                                            pool *p, cuzk_error *err);
CUZK_MUST_USE cuzk_status fixed_base_g2_mul(g2_affine *out, const fixed_base_g2 *t, const fr *scalars, size_t n,
                                            pool *p, cuzk_error *err);

#endif
