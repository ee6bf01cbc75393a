// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Multi-exponentiation: sum of scalars[i] * bases[i]. docs/maths/msm.md explains buckets and batch-affine addition.
//
// Scalars are classified once: zeros cost nothing, ones go to a batch-affine tree, the rest to signed windows with
// batch-affine buckets. Bases are affine, in the subgroup; infinity among them is allowed. The functions for G1 and G2
// are one source compiled twice.
//
// Scratch (MEM_MSM), for q scalars other than 0 and 1, o ones and T threads: 40 q + 4 o bytes, at most 256 MiB or one
// window's lists and buckets, and about 1.9 MiB T; 350 MiB for 2^22 random scalars in G1. What in it tells of scalars
// is overwritten before it is freed. The result does not depend on the number of threads. At most 2^31 - 1 terms.
// CUZK_ERR_CANCELLED soon after whoever watches the pool (pool_watch) has lost interest.
#ifndef CUZK_MSM_MSM_H
#define CUZK_MSM_MSM_H

#include "base/pool.h"
#include "curve/g1.h"
#include "curve/g2.h"

CUZK_MUST_USE cuzk_status msm_g1(g1_jac *out, const g1_affine *bases, const fr *scalars, size_t n, pool *p,
                                 cuzk_error *err);
// As msm_g1, for scalars in a block of mem_alloc that are not needed any more: they are overwritten and freed as soon
// as they have been read, so that what the sum needs next can lie in their place (mem_keep_begin). *scalars is NULL
// afterwards, whatever the result.
CUZK_MUST_USE cuzk_status msm_g1_consume(g1_jac *out, const g1_affine *bases, fr **scalars, size_t n, pool *p,
                                         cuzk_error *err);
CUZK_MUST_USE cuzk_status msm_g2(g2_jac *out, const g2_affine *bases, const fr *scalars, size_t n, pool *p,
                                 cuzk_error *err);

// Sum of bases[i] over set bits i of `bits` (bit i is bits[i/64] >> i%64).
CUZK_MUST_USE cuzk_status msm_g1_sum_bits(g1_jac *out, const g1_affine *bases, const uint64_t *bits, size_t n, pool *p,
                                          cuzk_error *err);
CUZK_MUST_USE cuzk_status msm_g2_sum_bits(g2_jac *out, const g2_affine *bases, const uint64_t *bits, size_t n, pool *p,
                                          cuzk_error *err);

// Sums by class: out[k] := sum of bases[i] with class[i] = k, k < classes. For random class assignments this is the
// batch subgroup test of groth16/: one bad point spoils exactly one sum.
CUZK_MUST_USE cuzk_status msm_g1_sum_classes(g1_jac *out, size_t classes, const g1_affine *bases, const uint16_t *class,
                                             size_t n, pool *p, cuzk_error *err);
CUZK_MUST_USE cuzk_status msm_g2_sum_classes(g2_jac *out, size_t classes, const g2_affine *bases, const uint16_t *class,
                                             size_t n, pool *p, cuzk_error *err);

#endif
