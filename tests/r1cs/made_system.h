// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Constraint systems made up at random, with and without values, for tests of programs.
#ifndef CUZK_TESTS_R1CS_MADE_SYSTEM_H
#define CUZK_TESTS_R1CS_MADE_SYSTEM_H

#include "testing.h"

#include "r1cs/program.h"

// What is done follows from the generator alone, never from the sink. Without values.
typedef struct made {
    test_rng rng;
    bool foreign, input_inside, foreign_out; // gadgets break a rule
} made;

void made_coeff(fr *out, test_rng *r);
void made_synthesize(cs *s, const made *m, int steps);
cuzk_status made_program(program **out, const made *m, int steps, cuzk_error *err);

#endif
