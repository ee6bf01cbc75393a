// SPDX-License-Identifier: MIT OR Apache-2.0
#include "poly/kernels.h"

#include "base/cpu.h"

const ntt_kernels *ntt_kernels_get(void) {
    static const ntt_kernels portable = {ntt_split_portable, ntt_merge_portable};
#if defined(NTT_HAVE_ADX)
    static const ntt_kernels adx = {ntt_split_adx, ntt_merge_adx};
    if (cpu_current() >= CPU_AVX2) return &adx;
#endif
    return &portable;
}
