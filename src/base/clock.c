// SPDX-License-Identifier: MIT OR Apache-2.0
#include "base/clock.h"

#include <time.h>

uint64_t clock_now_ns(void) {
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &t); // cannot fail for this clock on Linux (clock_gettime(2))
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}
