// SPDX-License-Identifier: MIT OR Apache-2.0
#include "curve/kernels.h"

#include <string.h>

static const curve_kernel_table PORTABLE = {CPU_PORTABLE, g1_decode_block_portable, g2_decode_block_portable};

const curve_kernel_table *curve_kernels_portable(void) { return &PORTABLE; }

#if defined(CURVE_HAVE_IFMA)
static const curve_kernel_table IFMA = {CPU_IFMA, g1_decode_block_ifma, g2_decode_block_ifma};

// Eight lanes and one beyond: the generator, its double, ... are read as the portable loops read them, and not at all
// once y is another root's in any one place.
enum { POINTS = 9 };

static bool knows_g1(const curve_kernel_table *k) {
    uint8_t in[POINTS * G1_UNCOMPRESSED];
    g1_jac sums[POINTS];
    g1_affine want[POINTS], got[POINTS];
    g1_jac_from_affine(&sums[0], &G1_GENERATOR);
    for (size_t i = 1; i < POINTS; i++) g1_jac_add_affine(&sums[i], &sums[i - 1], &G1_GENERATOR);
    g1_jac_to_affine_batch(want, sums, POINTS);
    for (size_t i = 0; i < POINTS; i++) g1_encode_uncompressed(in + i * G1_UNCOMPRESSED, &want[i]);
    if (!k->g1_decode(got, in, POINTS) || memcmp(got, want, sizeof want) != 0) return false;
    for (size_t i = 0; i < POINTS; i++) {
        in[(i + 1) * G1_UNCOMPRESSED - 1] ^= 1;
        if (k->g1_decode(got, in, POINTS)) return false;
        in[(i + 1) * G1_UNCOMPRESSED - 1] ^= 1;
    }
    return true;
}

static bool knows_g2(const curve_kernel_table *k) {
    uint8_t in[POINTS * G2_UNCOMPRESSED];
    g2_jac sums[POINTS];
    g2_affine want[POINTS], got[POINTS];
    g2_jac_from_affine(&sums[0], &G2_GENERATOR);
    for (size_t i = 1; i < POINTS; i++) g2_jac_add_affine(&sums[i], &sums[i - 1], &G2_GENERATOR);
    g2_jac_to_affine_batch(want, sums, POINTS);
    for (size_t i = 0; i < POINTS; i++) g2_encode_uncompressed(in + i * G2_UNCOMPRESSED, &want[i]);
    if (!k->g2_decode(got, in, POINTS) || memcmp(got, want, sizeof want) != 0) return false;
    for (size_t i = 0; i < POINTS; i++) {
        in[(i + 1) * G2_UNCOMPRESSED - 1] ^= 1;
        if (k->g2_decode(got, in, POINTS)) return false;
        in[(i + 1) * G2_UNCOMPRESSED - 1] ^= 1;
    }
    return true;
}

static bool knows_all(cpu_level level) {
    (void)level; // there is one
    return knows_g1(&IFMA) && knows_g2(&IFMA);
}
#endif

const curve_kernel_table *curve_kernels(void) {
#if defined(CURVE_HAVE_IFMA)
    static cpu_verdict ifma;
    if (cpu_current() >= CPU_IFMA && cpu_kernels_work(&ifma, CPU_IFMA, knows_all)) return &IFMA;
#endif
    return &PORTABLE;
}
