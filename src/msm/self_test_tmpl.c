// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Known answers for the kernels, from the complete additions of the curve layer: i G + j G = (i + j) G for i and j that
// meet every case. Compiled for both groups.
#include "msm/types.h"

enum {
    SIDE = 9,                 // multiples -4 .. 4
    PAIRS = SIDE * SIDE,      // one batch with all of them: several groups of lanes, and not a multiple of eight
    MULTIPLES = 2 * SIDE - 1, // of the sums, -8 .. 8
};

bool MSM(self_test)(const MSM(kernels) * k) {
#if MSM_GROUP == 1
    const POINT *generator = &G1_GENERATOR;
#else
    const POINT *generator = &G2_GENERATOR;
#endif
    JAC jac[MULTIPLES];
    POINT sum[MULTIPLES], acc[PAIRS];
    G(jac_from_affine)(&jac[0], generator);
    for (int i = 0; i < 3; i++) G(jac_dbl)(&jac[0], &jac[0]);
    G(jac_neg)(&jac[0], &jac[0]); // -8 G
    for (int i = 1; i < MULTIPLES; i++) G(jac_add_affine)(&jac[i], &jac[i - 1], generator);
    G(jac_to_affine_batch)(sum, jac, MULTIPLES);
    const POINT *multiple = sum + SIDE / 2; // multiple[i] = (i - 4) G
    MSM(scratch) scratch[MSM_SCRATCH(PAIRS)];
    uint32_t a[PAIRS], b[PAIRS], both[2 * PAIRS];
    for (uint32_t m = 0; m < PAIRS; m++) {
        const uint32_t i = m / SIDE, j = m % SIDE;
        acc[m] = multiple[i];
        a[m] = m;
        // Half of the operands come as the negative of their opposite.
        b[m] = m % 2 == 0 ? j << 1 : (SIDE - 1 - j) << 1 | 1;
        both[2 * m] = m % 4 < 2 ? i << 1 : (SIDE - 1 - i) << 1 | 1;
        both[2 * m + 1] = b[m];
    }
    bool right = true;
    k->add_batch(acc, a, multiple, b, PAIRS, scratch);
    for (uint32_t m = 0; m < PAIRS; m++) right &= G(affine_eq)(&acc[m], &sum[m / SIDE + m % SIDE]);
    k->add_pairs(acc, a, multiple, both, PAIRS, scratch);
    for (uint32_t m = 0; m < PAIRS; m++) right &= G(affine_eq)(&acc[m], &sum[m / SIDE + m % SIDE]);
    return right;
}
