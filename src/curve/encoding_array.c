// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Many points at once. A proving key has ten million of them, and what is done for each is most of its loading: here
// that is for the kernels, block by block. A block with anything out of the ordinary in it, be it infinity or a point
// that is none, is decoded again one by one, which also finds what is to be said about it.
#include "curve/kernels.h"
#include "field/kernels.h"

enum { BLOCK = 128, COORDINATE = G1_UNCOMPRESSED / 2 }; // a block's arrays take 36 KiB of stack

_Static_assert(sizeof(g1_affine) == 2 * sizeof(fp), "an array of points is an array of coordinates x, y, x, y, ...");

// True when all n points are ordinary: finite and on the curve.
static bool decode_block(g1_affine *out, const uint8_t *in, size_t n, const fp *radix_squared) {
    const field_kernel_table *k = field_kernels();
    fp *c = &out[0].x; // 2n coordinates
    for (size_t i = 0; i < 2 * n; i++)
        // A flag makes the integer larger than the modulus, whose top three bits are zero.
        if (!fp_limbs_from_be_bytes(c[i].l, in + i * COORDINATE)) return false;
    k->fp_vec_mul(c, c, radix_squared, 2 * n);

    fp squares[2 * BLOCK], x[BLOCK], cubes[BLOCK], four;
    k->fp_vec_mul(squares, c, c, 2 * n);
    for (size_t i = 0; i < n; i++) x[i] = out[i].x, cubes[i] = squares[2 * i];
    k->fp_vec_mul(cubes, cubes, x, n);
    fp_from_u64(&four, 4);
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        fp_add(&cubes[i], &cubes[i], &four);
        good &= fp_eq(&cubes[i], &squares[2 * i + 1]); // (0, 0), which would read as infinity, is not on the curve
    }
    return good;
}

bool g1_decode_block_portable(g1_affine *out, const uint8_t *in, size_t n) {
    fp radix_squared[2 * BLOCK];
    for (size_t i = 0; i < 2 * BLOCK && i < 2 * n; i++) radix_squared[i] = FP_RADIX_SQUARED;
    for (size_t from = 0; from < n; from += BLOCK) {
        const size_t count = n - from < BLOCK ? n - from : BLOCK;
        if (!decode_block(out + from, in + from * G1_UNCOMPRESSED, count, radix_squared)) return false;
    }
    return true;
}

bool g2_decode_block_portable(g2_affine *out, const uint8_t *in, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (g2_decode_uncompressed_unchecked(&out[i], in + i * G2_UNCOMPRESSED) != POINT_OK ||
            g2_affine_is_infinity(&out[i]))
            return false;
    return true;
}

// A block that does not pass is decoded one by one up to the point it does not pass for, which says what that is.

size_t g1_decode_finite_array(g1_affine *out, point_check *why, const uint8_t *in, size_t n) {
    g1_decode_block *const decode = curve_kernels()->g1_decode;
    *why = POINT_OK;
    for (size_t from = 0; from < n; from += BLOCK) {
        const size_t count = n - from < BLOCK ? n - from : BLOCK;
        if (decode(out + from, in + from * G1_UNCOMPRESSED, count)) continue;
        for (size_t i = from; i < from + count; i++) {
            *why = g1_decode_uncompressed_unchecked(&out[i], in + i * G1_UNCOMPRESSED);
            if (*why != POINT_OK || g1_affine_is_infinity(&out[i])) return i;
        }
    }
    return n;
}

size_t g2_decode_finite_array(g2_affine *out, point_check *why, const uint8_t *in, size_t n) {
    g2_decode_block *const decode = curve_kernels()->g2_decode;
    *why = POINT_OK;
    for (size_t from = 0; from < n; from += BLOCK) {
        const size_t count = n - from < BLOCK ? n - from : BLOCK;
        if (decode(out + from, in + from * G2_UNCOMPRESSED, count)) continue;
        for (size_t i = from; i < from + count; i++) {
            *why = g2_decode_uncompressed_unchecked(&out[i], in + i * G2_UNCOMPRESSED);
            if (*why != POINT_OK || g2_affine_is_infinity(&out[i])) return i;
        }
    }
    return n;
}
