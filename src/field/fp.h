// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Fp: integers modulo p, the base field of BLS12-381 (381 bits), p = 3 mod 4.
// p = 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab.
//
// As in fr.h: always fully reduced, Montgomery form with radix 2^384, equality of limbs is equality.
#ifndef CUZK_FIELD_FP_H
#define CUZK_FIELD_FP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fp {
    uint64_t l[6]; // little-endian limbs, < p, Montgomery form
} fp;

extern const uint64_t FP_MODULUS[6];
extern const fp FP_ZERO, FP_ONE;

static inline bool fp_eq(const fp *a, const fp *b);
static inline bool fp_is_zero(const fp *a);
static inline void fp_add(fp *out, const fp *a, const fp *b);
static inline void fp_sub(fp *out, const fp *a, const fp *b);
static inline void fp_neg(fp *out, const fp *a);
static inline void fp_dbl(fp *out, const fp *a);
static inline void fp_mul(fp *out, const fp *a, const fp *b);
static inline void fp_sqr(fp *out, const fp *a);
// a * b without the last subtraction, for products of products. a and b may be below 2p, here and in fp_mul; *out is
// below 2p: at most a b / 2^384 + p, and 2^384 > 9p. Not an element for any other function.
static inline void fp_mul_lazy(fp *out, const fp *a, const fp *b);

void fp_inv(fp *out, const fp *a); // zero gives zero; variable time
void fp_pow(fp *out, const fp *a, const uint64_t *e, size_t n);
bool fp_sqrt(fp *out, const fp *a); // false if a is no square
// True when the canonical integer of a is above (p-1)/2: the sign bit of compressed points.
bool fp_is_larger_half(const fp *a);

// 48 bytes big-endian, strict: false unless below p. Flag bits must be cleared by the caller.
bool fp_from_be_bytes(fp *out, const uint8_t bytes[48]);
void fp_to_be_bytes(uint8_t bytes[48], const fp *a);
void fp_from_u64(fp *out, uint64_t v);

#include "field/fp_inline.h" // IWYU pragma: export

#endif
