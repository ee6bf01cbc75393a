// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_MSM_BITS_H
#define CUZK_MSM_BITS_H

#include "msm/recode.h"

// The positive entries of all i < n with bit i set (bits[i/64] >> i%64), in order; free with mem_free.
CUZK_MUST_USE cuzk_status msm_entries_of_bits(msm_entry **out, size_t *count, const uint64_t *bits, size_t n, pool *p,
                                              cuzk_error *err);

#endif
