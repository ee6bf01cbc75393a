// SPDX-License-Identifier: MIT OR Apache-2.0
#include "curve/kernels.h"

static const curve_kernel_table PORTABLE = {CPU_PORTABLE, g1_decode_block_portable, g2_decode_block_portable};

const curve_kernel_table *curve_kernels_portable(void) { return &PORTABLE; }

#if defined(CURVE_HAVE_IFMA)
static const curve_kernel_table IFMA = {CPU_IFMA, g1_decode_block_ifma, g2_decode_block_ifma};

static bool knows_all(cpu_level level) {
    (void)level; // there is one
    return g1_decode_block_works(IFMA.g1_decode) && g2_decode_block_works(IFMA.g2_decode);
}
#endif

const curve_kernel_table *curve_kernels(void) {
#if defined(CURVE_HAVE_IFMA)
    static cpu_verdict ifma;
    if (cpu_current() >= CPU_IFMA && cpu_kernels_work(&ifma, CPU_IFMA, knows_all)) return &IFMA;
#endif
    return &PORTABLE;
}
