// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Inverses modulo an odd number by the division steps of Bernstein and Yang, shared by Fr and Fp.
#ifndef CUZK_FIELD_MODINV_H
#define CUZK_FIELD_MODINV_H

#include <stddef.h>
#include <stdint.h>

enum { MODINV_MAX_LIMBS = 7 };

// A modulus in 62-bit limbs.
typedef struct modinv_modulus {
    size_t n;                       // limbs in use; the modulus is below 2^(62 n - 2)
    uint64_t inv62;                 // 1/modulus mod 2^62
    int64_t limb[MODINV_MAX_LIMBS]; // least significant first, each in [0, 2^62)
} modinv_modulus;

// out := 1/x mod m for x < m, both `words` 64-bit limbs, plain integers; zero gives zero. Variable time.
void modinv(uint64_t *out, const uint64_t *x, size_t words, const modinv_modulus *m);

#endif
