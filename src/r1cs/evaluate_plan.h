// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The rows of a template as evaluation reads them; derived from its code, never stored. Private to r1cs/.
//
// Narrow rows are cut into *strips*: rows of one shape, each as far from the last as the one before (1 or 2 rows), with
// terms whose places move on by 0, 1 or 2 from row to row. Circuits that work on words are made of little else, 18 rows
// long on average, and the sums of many rows of a strip are found at once. Strips that differ only in their rows and
// places stand together in a *group*. `strips` is a string of groups:
//
//   nA | nB << 8 | nC << 16 | rows from row to row << 24; number of strips
//   a word for each term: coefficient (a byte) | places from row to row << 8
//   for each strip: its first row, its number of rows, and the place of each term in the first row
//
// `wide` is a string of wide rows, ascending: the row's number, then A, B and C, each as six numbers and so many of
//
//   runs      two words: sign, place and exponent as in program_format.h; number of bits | places between them << 8:
//             bits at places so far apart, of ascending powers of two, at most 64
//   powers    a word as in program_format.h; there are either runs or powers
//   bits      pairs place, number of a coefficient
//   ones      refs of field elements with coefficient 1, and after them
//   minuses   with coefficient -1
//   products  pairs ref of a field element, number of a coefficient
#ifndef CUZK_R1CS_EVALUATE_PLAN_H
#define CUZK_R1CS_EVALUATE_PLAN_H

#include "r1cs/program_format.h"

enum {
    PLAN_MAX_TERMS = 3 * PROGRAM_NARROW_TERMS,
    PLAN_MAX_STEP = 2,    // from place to place and from row to row
    PLAN_FEW_POWERS = 12, // so many powers are not looked through for runs
    PLAN_RUN_BITS = 64,
};

// Makes t->strips and t->wide, of code that has been checked. False when memory is refused.
CUZK_MUST_USE bool evaluate_plan_make(program_template *t, const fr *coeffs);

#endif
