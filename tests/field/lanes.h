// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The functions that work on several field elements side by side (field/x86), each as a loop over arrays, so that they
// can be held against portable code directly and timed alone. The kernels of msm, poly and curve are made of the same
// functions, in arrangements of their own.
#ifndef CUZK_TESTS_FIELD_LANES_H
#define CUZK_TESTS_FIELD_LANES_H

#include "base/cpu.h"
#include "field/fp.h"
#include "field/fr.h"

typedef enum lanes_fp_op {
    LANES_MUL,      // a b
    LANES_SQR,      // a^2
    LANES_MUL2,     // a b + c d
    LANES_SQR2,     // a^2 + b^2
    LANES_MUL_WIDE, // a b, the product whole before it is reduced
    LANES_SQR_WIDE, // a^2 likewise
    LANES_INV,      // 1 / a, for a that is not 0
    LANES_FP_OPS
} lanes_fp_op;

enum { LANES_OPERANDS = 4 };

// out[i] for i < n, from element i of the operands; all of them reduced Montgomery elements as in fr.h and fp.h. Those
// that an operation has no use for may be NULL. `out` may be one of the operands.
typedef struct lane_ops {
    void (*fr_mul)(fr *out, const fr *a, const fr *b, size_t n);
    void (*fp)(lanes_fp_op op, fp *out, const fp *const in[LANES_OPERANDS], size_t n);
} lane_ops;

// NULL if there are none for exactly this level, or cpu_current() is below it.
const lane_ops *lanes_of(cpu_level level);

#endif
