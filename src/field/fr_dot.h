// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Sums of products in Fr with one reduction for all products.
#ifndef CUZK_FIELD_FR_DOT_H
#define CUZK_FIELD_FR_DOT_H

#include "base/cpu.h"
#include "field/fr.h"

// a[0] b[0] + ... + a[n-1] b[n-1], by pointers; zero for n = 0. out may be any of them. By the fastest kernel this
// processor has and that gives known answers. The time depends on n alone.
void fr_dot(fr *out, const fr *const *a, const fr *const *b, size_t n);
// The level of that kernel.
cpu_level fr_dot_level(void);
// What the others are tested against.
void fr_dot_portable(fr *out, const fr *const *a, const fr *const *b, size_t n);

// The end of all of them: t / 2^256 mod r for a sum t of products, little-endian, whose last limb is below 2^62. t is
// used up.
void fr_dot_reduce(fr *out, uint64_t t[9]);

#endif
