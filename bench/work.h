// SPDX-License-Identifier: MIT OR Apache-2.0
//
// How many instructions of the processor's multiplier an operation cannot do without, whatever surrounds them. With the
// rate of these instructions (machine.h) that is the physical limit of a kernel, and rows give their share of it.
//
// Three counts each: `ifma` of AVX-512 IFMA instructions, which multiply in eight lanes (counts are for one element: an
// eighth of the instruction count of eight), `fma` of 256-bit multiply-adds of doubles in four, and `mul` of 64 by 64
// bit multiplications. docs/maths/msm.md and ntt.md derive them:
//   Fp, 8 limbs of 52 bits   product 128, reduction 128, square 72 + 128; for eight
//   Fr, 5 limbs of 52 bits   product 50, reduction 45; by a constant 50 + 9; for eight, or as doubles for four
//   Fp, 8 limbs of 51 bits   product 128, reduction 129, square 72 + 129; for four, as doubles
//   Fp, 6 limbs of 64 bits   product 36, reduction 42, square 21 + 42
//   Fr, 4 limbs of 64 bits   product 16, reduction 20, square 10 + 20
#ifndef CUZK_BENCH_WORK_H
#define CUZK_BENCH_WORK_H

#include <stddef.h>

typedef struct bench_work {
    double ifma, fma, mul;
} bench_work;

#define WORK_FR_MUL ((bench_work){.ifma = 95.0 / 8, .mul = 36})
#define WORK_FP_MUL ((bench_work){.ifma = 256.0 / 8, .mul = 78})
// Affine, with its share of running products and without the inversion; in G2 with the four products of the textbook in
// lanes, and Karatsuba's three without.
#define WORK_G1_ADD ((bench_work){1480.0 / 8, 1486.0 / 4, 453})
#define WORK_G2_ADD ((bench_work){3600.0 / 8, 3612.0 / 4, 1014})

static inline bench_work work_times(bench_work w, double n) { return (bench_work){w.ifma * n, w.fma * n, w.mul * n}; }
static inline bench_work work_plus(bench_work a, bench_work b) {
    return (bench_work){a.ifma + b.ifma, a.fma + b.fma, a.mul + b.mul};
}

// A transform of n points: n/2 log2 n butterflies, n - 1 of them by one; each a product by a constant.
static inline bench_work work_transform(size_t n) {
    double butterflies = 0;
    for (size_t m = n; m > 1; m /= 2) butterflies += (double)n / 2;
    return work_times((bench_work){59.0 / 8, 59.0 / 4, 36}, butterflies - (double)(n - 1));
}

// Additions of a sum with n random scalars of 255 bits: one for each digit of c bits, and two for each bucket of the
// 2^(c-1) of a window (signed digits), at the c that needs the fewest. Sorting, and that buckets wait for memory, is
// what such a sum takes above its limit.
static inline double work_sum_additions(double n) {
    double best = 0;
    for (int c = 2; c <= 24; c++) {
        const double additions = (255 / c + 1) * (n + 2 * (double)(1 << (c - 1)));
        if (best == 0 || additions < best) best = additions;
    }
    return best;
}

#endif
