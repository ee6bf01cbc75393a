// SPDX-License-Identifier: MIT OR Apache-2.0
#include "curve/encoding.h"

#include <string.h>

enum { FLAG_COMPRESSED = 0x80, FLAG_INFINITY = 0x40, FLAG_LARGER = 0x20, FLAGS = 0xe0, FP_BYTES = 48 };

const char *point_check_text(point_check c) {
    switch (c) {
    case POINT_OK: return "is a point";
    case POINT_BAD_FLAGS: return "has flag bits that do not fit together";
    case POINT_BAD_COORDINATE: return "has a coordinate that is not below the field modulus";
    case POINT_BAD_INFINITY: return "is marked as infinity but has other bits set";
    case POINT_NOT_ON_CURVE: return "is not on the curve";
    case POINT_NOT_IN_SUBGROUP: return "is on the curve but outside the group of prime order";
    }
    return "has an unknown fault";
}

// A decoded first byte. Flags must be exactly those of a point of this form: the compression bit as `compressed` says,
// the larger-root bit only in compressed, finite points.
static point_check check_flags(uint8_t first, bool compressed) {
    bool is_compressed = (first & FLAG_COMPRESSED) != 0;
    if (is_compressed != compressed) return POINT_BAD_FLAGS;
    if ((first & FLAG_LARGER) != 0 && (!compressed || (first & FLAG_INFINITY) != 0)) return POINT_BAD_FLAGS;
    return POINT_OK;
}

static bool all_zero_but_flags(const uint8_t *in, size_t len) {
    uint8_t any = (uint8_t)(in[0] & ~FLAGS);
    for (size_t i = 1; i < len; i++) any |= in[i];
    return any == 0;
}

// The coordinate at the start of an encoding, flags masked.
static bool first_coordinate(fp *out, const uint8_t *in) {
    uint8_t bytes[FP_BYTES];
    memcpy(bytes, in, FP_BYTES);
    bytes[0] &= (uint8_t)~FLAGS;
    return fp_from_be_bytes(out, bytes);
}

void g1_encode(uint8_t out[G1_COMPRESSED], const g1_affine *a) {
    fp_to_be_bytes(out, &a->x);
    out[0] |= FLAG_COMPRESSED;
    if (g1_affine_is_infinity(a)) {
        out[0] |= FLAG_INFINITY;
    } else if (fp_is_larger_half(&a->y)) {
        out[0] |= FLAG_LARGER;
    }
}

void g1_encode_uncompressed(uint8_t out[G1_UNCOMPRESSED], const g1_affine *a) {
    fp_to_be_bytes(out, &a->x);
    fp_to_be_bytes(out + FP_BYTES, &a->y);
    if (g1_affine_is_infinity(a)) out[0] |= FLAG_INFINITY;
}

point_check g1_decode(g1_affine *out, const uint8_t in[G1_COMPRESSED]) {
    point_check c = check_flags(in[0], true);
    if (c != POINT_OK) return c;
    if ((in[0] & FLAG_INFINITY) != 0) {
        if (!all_zero_but_flags(in, G1_COMPRESSED)) return POINT_BAD_INFINITY;
        *out = (g1_affine){FP_ZERO, FP_ZERO};
        return POINT_OK;
    }
    g1_affine p;
    fp y2, four;
    if (!first_coordinate(&p.x, in)) return POINT_BAD_COORDINATE;
    fp_sqr(&y2, &p.x);
    fp_mul(&y2, &y2, &p.x);
    fp_from_u64(&four, 4);
    fp_add(&y2, &y2, &four);
    if (!fp_sqrt(&p.y, &y2)) return POINT_NOT_ON_CURVE;
    if (fp_is_larger_half(&p.y) != ((in[0] & FLAG_LARGER) != 0)) fp_neg(&p.y, &p.y);
    if (!g1_affine_in_subgroup(&p)) return POINT_NOT_IN_SUBGROUP;
    *out = p;
    return POINT_OK;
}

point_check g1_decode_uncompressed_unchecked(g1_affine *out, const uint8_t in[G1_UNCOMPRESSED]) {
    point_check c = check_flags(in[0], false);
    if (c != POINT_OK) return c;
    if ((in[0] & FLAG_INFINITY) != 0) {
        if (!all_zero_but_flags(in, G1_UNCOMPRESSED)) return POINT_BAD_INFINITY;
        *out = (g1_affine){FP_ZERO, FP_ZERO};
        return POINT_OK;
    }
    g1_affine p;
    if (!first_coordinate(&p.x, in) || !fp_from_be_bytes(&p.y, in + FP_BYTES)) return POINT_BAD_COORDINATE;
    // x = y = 0 without the flag would read as infinity.
    if (g1_affine_is_infinity(&p) || !g1_affine_on_curve(&p)) return POINT_NOT_ON_CURVE;
    *out = p;
    return POINT_OK;
}

// c1 first, as in the specification.
static void fp2_to_bytes(uint8_t out[2 * FP_BYTES], const fp2 *a) {
    fp_to_be_bytes(out, &a->c1);
    fp_to_be_bytes(out + FP_BYTES, &a->c0);
}

void g2_encode(uint8_t out[G2_COMPRESSED], const g2_affine *a) {
    fp2_to_bytes(out, &a->x);
    out[0] |= FLAG_COMPRESSED;
    if (g2_affine_is_infinity(a)) {
        out[0] |= FLAG_INFINITY;
    } else if (fp2_is_larger_half(&a->y)) {
        out[0] |= FLAG_LARGER;
    }
}

void g2_encode_uncompressed(uint8_t out[G2_UNCOMPRESSED], const g2_affine *a) {
    fp2_to_bytes(out, &a->x);
    fp2_to_bytes(out + 2 * FP_BYTES, &a->y);
    if (g2_affine_is_infinity(a)) out[0] |= FLAG_INFINITY;
}

point_check g2_decode(g2_affine *out, const uint8_t in[G2_COMPRESSED]) {
    point_check c = check_flags(in[0], true);
    if (c != POINT_OK) return c;
    if ((in[0] & FLAG_INFINITY) != 0) {
        if (!all_zero_but_flags(in, G2_COMPRESSED)) return POINT_BAD_INFINITY;
        *out = (g2_affine){FP2_ZERO, FP2_ZERO};
        return POINT_OK;
    }
    g2_affine p;
    fp2 y2;
    fp four;
    if (!first_coordinate(&p.x.c1, in) || !fp_from_be_bytes(&p.x.c0, in + FP_BYTES)) return POINT_BAD_COORDINATE;
    fp2_sqr(&y2, &p.x);
    fp2_mul(&y2, &y2, &p.x);
    fp_from_u64(&four, 4);
    fp_add(&y2.c0, &y2.c0, &four);
    fp_add(&y2.c1, &y2.c1, &four);
    if (!fp2_sqrt(&p.y, &y2)) return POINT_NOT_ON_CURVE;
    if (fp2_is_larger_half(&p.y) != ((in[0] & FLAG_LARGER) != 0)) fp2_neg(&p.y, &p.y);
    if (!g2_affine_in_subgroup(&p)) return POINT_NOT_IN_SUBGROUP;
    *out = p;
    return POINT_OK;
}

point_check g2_decode_uncompressed_unchecked(g2_affine *out, const uint8_t in[G2_UNCOMPRESSED]) {
    point_check c = check_flags(in[0], false);
    if (c != POINT_OK) return c;
    if ((in[0] & FLAG_INFINITY) != 0) {
        if (!all_zero_but_flags(in, G2_UNCOMPRESSED)) return POINT_BAD_INFINITY;
        *out = (g2_affine){FP2_ZERO, FP2_ZERO};
        return POINT_OK;
    }
    g2_affine p;
    if (!first_coordinate(&p.x.c1, in) || !fp_from_be_bytes(&p.x.c0, in + FP_BYTES) ||
        !fp_from_be_bytes(&p.y.c1, in + 2 * FP_BYTES) || !fp_from_be_bytes(&p.y.c0, in + 3 * FP_BYTES)) {
        return POINT_BAD_COORDINATE;
    }
    if (g2_affine_is_infinity(&p) || !g2_affine_on_curve(&p)) return POINT_NOT_ON_CURVE;
    *out = p;
    return POINT_OK;
}
