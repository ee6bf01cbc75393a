// SPDX-License-Identifier: MIT OR Apache-2.0
#include "field/lanes.h"

#if defined(LANES_HAVE_IFMA)
#include "field/lanes_ifma.h"
#endif

const lane_ops *lanes_of(cpu_level level) {
#if defined(LANES_HAVE_IFMA)
    if (level == CPU_IFMA && cpu_current() >= CPU_IFMA) return &LANES_IFMA;
#endif
    (void)level;
    return NULL;
}
