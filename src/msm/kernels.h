// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The inner loop of every sum of points, behind a table: many affine additions with one inversion.
#ifndef CUZK_MSM_KERNELS_H
#define CUZK_MSM_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "curve/g1.h"
#include "curve/g2.h"

// add_batch: acc[a[i]] += (b[i] & 1 ? -1 : 1) * table[b[i] >> 1], i < n.
//
// Exact for all operands: equal points, opposite points, infinity on either side. The a[i] are distinct, and no
// element read through b is written through a (acc and table may be one array). scratch holds n field elements.
// Costs 5 multiplications and a squaring an addition, and one inversion a call: call it with hundreds of additions.
typedef struct msm_g1_kernels {
    void (*add_batch)(g1_affine *acc, const uint32_t *a, const g1_affine *table, const uint32_t *b, size_t n,
                      fp *scratch);
} msm_g1_kernels;

typedef struct msm_g2_kernels {
    void (*add_batch)(g2_affine *acc, const uint32_t *a, const g2_affine *table, const uint32_t *b, size_t n,
                      fp2 *scratch);
} msm_g2_kernels;

// The kernels for the current CPU level.
const msm_g1_kernels *msm_g1_kernels_get(void);
const msm_g2_kernels *msm_g2_kernels_get(void);

// One function for every group and CPU level; _adx is x86-64 with BMI2 and ADX (CPU_AVX2).
void msm_g1_add_batch_portable(g1_affine *acc, const uint32_t *a, const g1_affine *table, const uint32_t *b, size_t n,
                               fp *scratch);
void msm_g1_add_batch_adx(g1_affine *acc, const uint32_t *a, const g1_affine *table, const uint32_t *b, size_t n,
                          fp *scratch);
void msm_g2_add_batch_portable(g2_affine *acc, const uint32_t *a, const g2_affine *table, const uint32_t *b, size_t n,
                               fp2 *scratch);
void msm_g2_add_batch_adx(g2_affine *acc, const uint32_t *a, const g2_affine *table, const uint32_t *b, size_t n,
                          fp2 *scratch);

#endif
