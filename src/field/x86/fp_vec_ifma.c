// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Products of arrays of Fp for field_kernels, eight at a time.
#include "field/x86/fp_vec_ifma.h"

#include "field/x86/fp8.h"

// x 2^384 times y 2^384 2^32 over 2^416 is x y 2^384. The second factor is below 2^413.
void fp_vec_mul_ifma(fp *out, const fp *a, const fp *b, size_t n) {
    for (size_t first = 0; first < n; first += FP8_LANES) {
        const size_t left = n - first < FP8_LANES ? n - first : FP8_LANES;
        fp *to[FP8_LANES];
        const fp *x[FP8_LANES], *y[FP8_LANES];
        for (size_t i = 0; i < FP8_LANES; i++) { // beyond the end: the last one again
            const size_t at = first + (i < left ? i : left - 1);
            x[i] = &a[at], y[i] = &b[at], to[i] = &out[at];
        }
        fp8 u, v;
        fp8_load(&u, x);
        fp8_load(&v, y);
        fp8_shift_left(&v, 32);
        fp8_mul(&u, &u, &v);
        fp8_canonical(&u);
        fp8_store(to, &u, (__mmask8)((1u << left) - 1));
    }
}
