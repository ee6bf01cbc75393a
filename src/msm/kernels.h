// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The inner loop of every sum of points, behind a table: many affine additions with one inversion.
#ifndef CUZK_MSM_KERNELS_H
#define CUZK_MSM_KERNELS_H

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "curve/g1.h"
#include "curve/g2.h"

// Any number of additions can be asked for; kernels work in blocks of at most MSM_BLOCK, one inversion each. Scratch
// comes in units for 16 additions, aligned for vector registers: MSM_SCRATCH(n) units for n additions, and
// MSM_SCRATCH(MSM_BLOCK) are always enough. What is inside is a kernel's own affair.
enum { MSM_SCRATCH_UNIT = 16, MSM_BLOCK = 1024 };
#define MSM_SCRATCH(n) (((n) + MSM_SCRATCH_UNIT - 1) / MSM_SCRATCH_UNIT)
typedef union msm_g1_scratch {
    alignas(64) fp portable[MSM_SCRATCH_UNIT];
    uint64_t vector[2][4 * 64 + 8];
} msm_g1_scratch;
typedef union msm_g2_scratch {
    alignas(64) fp2 portable[MSM_SCRATCH_UNIT];
    uint64_t vector[2][6 * 64 + 8];
} msm_g2_scratch;

// add_batch: acc[a[i]] += (b[i] & 1 ? -1 : 1) * table[b[i] >> 1], i < n.
//
// Exact for all operands: equal points, opposite points, infinity on either side. The a[i] are distinct, and no
// element read through b is written through a (acc and table may be one array). All levels give the same bytes.
// Costs 5 multiplications and a squaring an addition, and an inversion a block: call it with hundreds of additions.
//
// add_pairs: out[a[i]] := +-table[b[2 i] >> 1] +- table[b[2 i + 1] >> 1], i < n, signs as above. The a[i] are distinct
// and `out` does not overlap the table. Exact as add_batch, with the same scratch. It fetches its points from a large
// table in any order, ahead of their use.
typedef void msm_g1_add_batch(g1_affine *acc, const uint32_t *a, const g1_affine *table, const uint32_t *b, size_t n,
                              msm_g1_scratch *scratch);
typedef void msm_g2_add_batch(g2_affine *acc, const uint32_t *a, const g2_affine *table, const uint32_t *b, size_t n,
                              msm_g2_scratch *scratch);

// `level` says what the functions were written for. It is below cpu_current() if this build has nothing better, or if
// the better kernels failed their self-test in this process.
typedef struct msm_g1_kernels {
    cpu_level level;
    msm_g1_add_batch *add_batch, *add_pairs;
} msm_g1_kernels;
typedef struct msm_g2_kernels {
    cpu_level level;
    msm_g2_add_batch *add_batch, *add_pairs;
} msm_g2_kernels;

// The kernels for the current CPU level. The first call at a level above the portable one tests them: known sums of
// multiples of the generator, in a fraction of a millisecond. A level that fails is not used in this process.
const msm_g1_kernels *msm_g1_kernels_get(void);
const msm_g2_kernels *msm_g2_kernels_get(void);
// The kernels of one level, tested or not; NULL if this build has none or the processor lacks it. For tests and
// benches.
const msm_g1_kernels *msm_g1_kernels_at(cpu_level level);
const msm_g2_kernels *msm_g2_kernels_at(cpu_level level);

// The test: true if both functions give the right sums.
bool msm_g1_self_test(const msm_g1_kernels *k);
bool msm_g2_self_test(const msm_g2_kernels *k);

// One function for every group and CPU level: _avx2 has four lanes (CPU_AVX2), _ifma eight of AVX-512 (CPU_IFMA). Both
// leave the rare and the few to _adx, which is x86-64 with BMI2 and ADX.
msm_g1_add_batch msm_g1_add_batch_portable, msm_g1_add_batch_adx, msm_g1_add_batch_avx2, msm_g1_add_batch_ifma;
msm_g1_add_batch msm_g1_add_pairs_portable, msm_g1_add_pairs_adx, msm_g1_add_pairs_avx2, msm_g1_add_pairs_ifma;
msm_g2_add_batch msm_g2_add_batch_portable, msm_g2_add_batch_adx, msm_g2_add_batch_avx2, msm_g2_add_batch_ifma;
msm_g2_add_batch msm_g2_add_pairs_portable, msm_g2_add_pairs_adx, msm_g2_add_pairs_avx2, msm_g2_add_pairs_ifma;

#endif
