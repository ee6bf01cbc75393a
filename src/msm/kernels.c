// SPDX-License-Identifier: MIT OR Apache-2.0
#include "msm/kernels.h"

#include "base/cpu.h"

const msm_g1_kernels *msm_g1_kernels_get(void) {
    static const msm_g1_kernels portable = {msm_g1_add_batch_portable};
#if defined(MSM_HAVE_ADX)
    static const msm_g1_kernels adx = {msm_g1_add_batch_adx};
    if (cpu_current() >= CPU_AVX2) return &adx;
#endif
    return &portable;
}

const msm_g2_kernels *msm_g2_kernels_get(void) {
    static const msm_g2_kernels portable = {msm_g2_add_batch_portable};
#if defined(MSM_HAVE_ADX)
    static const msm_g2_kernels adx = {msm_g2_add_batch_adx};
    if (cpu_current() >= CPU_AVX2) return &adx;
#endif
    return &portable;
}
