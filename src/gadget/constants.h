// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Coefficients every gadget uses, ready in Montgomery form.
#ifndef CUZK_GADGET_CONSTANTS_H
#define CUZK_GADGET_CONSTANTS_H

#include "r1cs/cs.h"

extern const fr GADGET_TWO, GADGET_MINUS_ONE;
extern const term GADGET_ONE; // 1 times the constant one: the B of most constraints

enum { GADGET_POWERS = 256 };
// 2^0 .. 2^255 mod r. Computed on first use, thread-safe.
const fr *gadget_powers_of_two(void);

#endif
