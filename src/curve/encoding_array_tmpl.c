// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Many uncompressed points at once, compiled once for each group as point_tmpl.c is.
#include POINT_TYPES

#include <string.h>

#include "curve/kernels.h"

typedef POINT(affine) affine;

enum {
    BLOCK = 128,
    UNCOMPRESSED = 2 * sizeof(fe),
    KNOWN = 9, // eight lanes and one beyond
};

// A block that does not pass is decoded one by one up to the point it does not pass for, which says what that is.
size_t POINT(decode_finite_array)(affine *out, point_check *why, const uint8_t *in, size_t n) {
    POINT(decode_block) *const decode = curve_kernels()->POINT(decode);
    *why = POINT_OK;
    for (size_t from = 0; from < n; from += BLOCK) {
        const size_t count = n - from < BLOCK ? n - from : BLOCK;
        if (decode(out + from, in + from * UNCOMPRESSED, count)) continue;
        for (size_t i = from; i < from + count; i++) {
            *why = POINT(decode_uncompressed_unchecked)(&out[i], in + i * UNCOMPRESSED);
            if (*why != POINT_OK || POINT(affine_is_infinity)(&out[i])) return i;
        }
    }
    return n;
}

// The generator, its double, ... are read as they were written, and not at all once y has another last bit in any one
// place.
bool POINT(decode_block_works)(POINT(decode_block) * decode) {
    uint8_t in[KNOWN * UNCOMPRESSED];
    POINT(jac) sums[KNOWN];
    affine want[KNOWN], got[KNOWN];
    POINT(jac_from_affine)(&sums[0], &GENERATOR);
    for (size_t i = 1; i < KNOWN; i++) POINT(jac_add_affine)(&sums[i], &sums[i - 1], &GENERATOR);
    POINT(jac_to_affine_batch)(want, sums, KNOWN);
    for (size_t i = 0; i < KNOWN; i++) POINT(encode_uncompressed)(in + i * UNCOMPRESSED, &want[i]);
    if (!decode(got, in, KNOWN) || memcmp(got, want, sizeof want) != 0) return false;
    for (size_t i = 0; i < KNOWN; i++) {
        uint8_t *const last = &in[(i + 1) * UNCOMPRESSED - 1];
        *last ^= 1;
        if (decode(got, in, KNOWN)) return false;
        *last ^= 1;
    }
    return true;
}
