// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The portable kernels that read many points at once. A proving key has ten million of them, and what is done for each
// is most of its loading. A block with anything out of the ordinary in it, be it infinity or a point that is none, does
// not pass; encoding_array_tmpl.c decodes it again one by one, which also finds what is to be said about it.
#include "curve/kernels.h"

// y^2 + (-x^2) x = 4, with one reduction for both products. Their sum is below 2 p^2.
static bool g1_equation(const g1_affine *a, const fp *four) {
    fp u, sum;
    uint64_t s[12], t[12], carry = 0;
    fp_sqr(&u, &a->x);
    fp_neg(&u, &u);
    fp_mul_wide(s, u.l, a->x.l);
    fp_mul_wide(t, a->y.l, a->y.l);
    for (size_t i = 0; i < 12; i++) s[i] = limb_adc(s[i], t[i], &carry);
    fp_reduce_wide(&sum, s);
    return fp_eq(&sum, four);
}

bool g1_decode_block_portable(g1_affine *out, const uint8_t *in, size_t n) {
    fp four;
    fp_from_u64(&four, 4);
    for (size_t i = 0; i < n; i++, in += G1_UNCOMPRESSED)
        // Flags make the first coordinate larger than p. (0, 0), which would read as infinity, is not on the curve.
        if (!fp_from_be_bytes(&out[i].x, in) || !fp_from_be_bytes(&out[i].y, in + G1_UNCOMPRESSED / 2) ||
            !g1_equation(&out[i], &four))
            return false;
    return true;
}

bool g2_decode_block_portable(g2_affine *out, const uint8_t *in, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (g2_decode_uncompressed_unchecked(&out[i], in + i * G2_UNCOMPRESSED) != POINT_OK ||
            g2_affine_is_infinity(&out[i]))
            return false;
    return true;
}
