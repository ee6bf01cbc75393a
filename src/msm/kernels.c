// SPDX-License-Identifier: MIT OR Apache-2.0
#include "msm/kernels.h"

enum { LEVELS = CPU_IFMA + 1 };

// By level; a level without functions of its own has none here.
static const msm_g1_kernels G1[LEVELS] = {
    {CPU_PORTABLE, msm_g1_add_batch_portable, msm_g1_add_pairs_portable},
#if defined(MSM_HAVE_X86)
    {CPU_AVX2, msm_g1_add_batch_avx2, msm_g1_add_pairs_avx2},
    {CPU_IFMA, msm_g1_add_batch_ifma, msm_g1_add_pairs_ifma},
#endif
};
static const msm_g2_kernels G2[LEVELS] = {
    {CPU_PORTABLE, msm_g2_add_batch_portable, msm_g2_add_pairs_portable},
#if defined(MSM_HAVE_X86)
    {CPU_AVX2, msm_g2_add_batch_avx2, msm_g2_add_pairs_avx2},
    {CPU_IFMA, msm_g2_add_batch_ifma, msm_g2_add_pairs_ifma},
#endif
};

const msm_g1_kernels *msm_g1_kernels_at(cpu_level level) {
    return level <= cpu_current() && G1[level].add_batch != 0 ? &G1[level] : 0;
}
const msm_g2_kernels *msm_g2_kernels_at(cpu_level level) {
    return level <= cpu_current() && G2[level].add_batch != 0 ? &G2[level] : 0;
}

static bool test_g1(cpu_level level) { return msm_g1_self_test(&G1[level]); }
static bool test_g2(cpu_level level) { return msm_g2_self_test(&G2[level]); }

const msm_g1_kernels *msm_g1_kernels_get(void) {
    static cpu_verdict v[LEVELS];
    for (cpu_level level = cpu_current(); level > CPU_PORTABLE; level--)
        if (G1[level].add_batch != 0 && cpu_kernels_work(&v[level], level, test_g1)) return &G1[level];
    return &G1[CPU_PORTABLE];
}

const msm_g2_kernels *msm_g2_kernels_get(void) {
    static cpu_verdict v[LEVELS];
    for (cpu_level level = cpu_current(); level > CPU_PORTABLE; level--)
        if (G2[level].add_batch != 0 && cpu_kernels_work(&v[level], level, test_g2)) return &G2[level];
    return &G2[CPU_PORTABLE];
}
