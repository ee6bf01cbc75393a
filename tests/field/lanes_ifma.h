// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_TESTS_FIELD_LANES_IFMA_H
#define CUZK_TESTS_FIELD_LANES_IFMA_H

#include "field/lanes.h"

extern const lane_ops LANES_IFMA; // for CPU_IFMA only

#endif
