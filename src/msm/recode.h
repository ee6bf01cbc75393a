// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Scalars for multi-exponentiation: sorted into zeros, ones and the rest; the rest centred and cut into signed digits.
// Knows nothing of points.
//
// Centring: s > r/2 becomes r - s with a negated base, so that magnitudes are below 2^254. Digits of c bits are
// d in [-2^(c-1), 2^(c-1) - 1], except the top one, which is in [0, 2^(c-1)]. Adding the constant
// sum 2^(c-1) 2^(cw) over all but the top window makes every digit a plain bit field: d = field - 2^(c-1), with no
// carry from window to window, so windows can be read in any order and by any thread.
#ifndef CUZK_MSM_RECODE_H
#define CUZK_MSM_RECODE_H

#include "base/pool.h"
#include "field/fr.h"

// An entry names a base and a sign: index << 1 | negate.
typedef uint32_t msm_entry;
enum { MSM_INDEX_BITS = 31 };

typedef struct msm_scalars {
    size_t ones;        // scalars equal to one
    msm_entry *one_of;  // [ones] their bases
    size_t rest;        // scalars other than zero and one
    msm_entry *rest_of; // [rest] base, with the sign of the centring
    uint64_t (*k)[4];   // [rest] magnitude, < 2^254; after msm_scalars_bias with the constant added
    unsigned bits;      // every magnitude is below 2^bits
} msm_scalars;

// 40 bytes for each scalar that is neither 0 nor 1, 4 bytes for each 1.
CUZK_MUST_USE cuzk_status msm_scalars_create(msm_scalars *out, const fr *scalars, size_t n, pool *p, cuzk_error *err);
void msm_scalars_destroy(msm_scalars *s, pool *p);

// Windows of c bits that hold magnitudes below 2^bits.
unsigned msm_windows(unsigned bits, unsigned c);
// k := min(k, r - k) for k < r; true if it was replaced, then the base changes sign.
bool msm_centre(uint64_t k[4]);
// The constant that turns the digits of `windows` windows of c bits into bit fields, and its addition (no overflow).
void msm_bias(uint64_t bias[4], unsigned windows, unsigned c);
void msm_add_bias(uint64_t k[4], const uint64_t bias[4]);
// Adds the constant for windows of c bits to every magnitude.
void msm_scalars_bias(msm_scalars *s, unsigned c, pool *p);

// The digit of window w of `windows` windows of c bits, from a biased magnitude.
static inline int32_t msm_digit(const uint64_t k[4], unsigned w, unsigned windows, unsigned c) {
    const unsigned at = w * c, limb = at / 64, shift = at % 64;
    uint64_t v = k[limb] >> shift;
    if (shift + c > 64 && limb < 3) v |= k[limb + 1] << (64 - shift);
    v &= ((uint64_t)1 << c) - 1;
    return (int32_t)v - (w + 1 < windows ? (int32_t)1 << (c - 1) : 0);
}
// out[i * rest + j] := the digit of window first + i of scalar j, i < count: |digit| << 1 | (digit < 0). Sorting walks
// over a window's digits twice, and so reads a fourth of a cache line for what would be half a line a scalar.
void msm_scalars_digits(uint32_t *out, const msm_scalars *s, unsigned c, unsigned first, unsigned count, pool *p);

#endif
