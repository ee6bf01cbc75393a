// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Fr: integers modulo r, the order of the BLS12-381 groups (255 bits).
// r = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001; r - 1 = 2^32 * odd.
//
// An `fr` is always fully reduced and in Montgomery form, value * 2^256 mod r, so equality is equality of limbs and
// there is no lazy range to track between calls. Kernels that keep values in [0, 2r) or [0, 4r) inside (the NTT) say so
// in their own header and reduce before they return. Kernels of another radix convert at their borders and are checked
// against these functions.
//
// Timing: mul, sqr, add, sub, neg take the same time for all values; inv, pow and the conversions need not.
#ifndef CUZK_FIELD_FR_H
#define CUZK_FIELD_FR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct fr {
    uint64_t l[4]; // little-endian limbs, < r, Montgomery form
} fr;

extern const uint64_t FR_MODULUS[4]; // r, little-endian limbs
extern const fr FR_ZERO, FR_ONE;
extern const fr FR_GENERATOR;     // 7: a generator of the multiplicative group and the coset shift of the NTT
extern const fr FR_ROOT_OF_UNITY; // of order 2^32: 7^((r-1)/2^32)
enum { FR_TWO_ADICITY = 32, FR_BITS = 255, FR_CAPACITY = 254 };

// The small operations are inline (see fr_inline.h, included below): they are the body of every hot loop.
static inline bool fr_eq(const fr *a, const fr *b);
static inline bool fr_is_zero(const fr *a);
static inline bool fr_is_one(const fr *a);
static inline void fr_add(fr *out, const fr *a, const fr *b); // any of the three may alias, here and below
static inline void fr_sub(fr *out, const fr *a, const fr *b);
static inline void fr_neg(fr *out, const fr *a);
static inline void fr_dbl(fr *out, const fr *a);
static inline void fr_mul(fr *out, const fr *a, const fr *b);
static inline void fr_sqr(fr *out, const fr *a);

// 1/a; zero gives zero. Variable time.
void fr_inv(fr *out, const fr *a);
// In place a[i] := 1/a[i], zeros stay zero; one inversion and 3n multiplications. scratch holds n elements.
void fr_inv_batch(fr *a, fr *scratch, size_t n);
// a^e for an exponent of n limbs, little-endian. Variable time.
void fr_pow(fr *out, const fr *a, const uint64_t *e, size_t n);
void fr_pow_u64(fr *out, const fr *a, uint64_t e);

void fr_from_u64(fr *out, uint64_t v);
// 32 bytes little-endian, strict: false (and *out = 0) unless the integer is below r.
bool fr_from_le_bytes(fr *out, const uint8_t bytes[32]);
// Any 64 bytes as a little-endian integer, reduced mod r.
void fr_from_le_bytes_wide(fr *out, const uint8_t bytes[64]);
void fr_to_le_bytes(uint8_t bytes[32], const fr *a);
// Out of Montgomery form and back: canonical little-endian limbs, < r.
void fr_to_limbs(uint64_t limbs[4], const fr *a);
void fr_from_limbs(fr *out, const uint64_t limbs[4]); // precondition: limbs < r

// A primitive root of unity of order 2^log_n, log_n <= 32.
void fr_root_of_unity(fr *out, unsigned log_n);

#include "field/fr_inline.h" // IWYU pragma: export

#endif
