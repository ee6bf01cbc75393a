// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_BASE_CLOCK_H
#define CUZK_BASE_CLOCK_H

#include <stdint.h>

// Monotonic nanoseconds since an arbitrary start; never goes back.
uint64_t clock_now_ns(void);

#endif
