// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The coefficients of a program that is being built: distinct values by number, and how each may be written shorter.
#ifndef CUZK_R1CS_PROGRAM_COEFFS_H
#define CUZK_R1CS_PROGRAM_COEFFS_H

#include "r1cs/cs.h"

enum { COEFF_MAX_POWERS = 4 };

typedef struct coeff_class {
    int8_t small;     // the value itself if it is within PROGRAM_SMALL, else 0
    uint8_t n_powers; // the value is the sum of so many powers of two or of their negatives, 0: of too many
    bool minus;
    uint8_t exponent[COEFF_MAX_POWERS];
} coeff_class;

typedef struct program_coeffs {
    fr *values;
    coeff_class *classes;
    uint32_t n, cap;
    uint32_t *slots; // hash table of numbers + 1, 0 is empty
    uint32_t slots_mask;
} program_coeffs;

CUZK_MUST_USE bool program_coeffs_init(program_coeffs *c);
void program_coeffs_free(program_coeffs *c);
// The number of a coefficient, added if new. False when memory is refused.
CUZK_MUST_USE bool program_coeffs_number(program_coeffs *c, uint32_t *number, const fr *coeff);

#endif
