// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Point encodings of BLS12-381 as Zcash defined them and Filecoin uses them: big-endian coordinates, flags in the three
// top bits of the first byte (0x80 compressed, 0x40 infinity, 0x20 y is the larger root). For Fp2, c1 comes first.
//
// Decoding is strict: exact flags, coordinates below p, infinity all zero, on the curve. The subgroup is checked where
// the name says so.
#ifndef CUZK_CURVE_ENCODING_H
#define CUZK_CURVE_ENCODING_H

#include "curve/g1.h"
#include "curve/g2.h"

enum { G1_COMPRESSED = 48, G1_UNCOMPRESSED = 96, G2_COMPRESSED = 96, G2_UNCOMPRESSED = 192 };

typedef enum point_check {
    POINT_OK = 0,
    POINT_BAD_FLAGS,       // flag bits that contradict the length or each other
    POINT_BAD_COORDINATE,  // a coordinate is not below p
    POINT_BAD_INFINITY,    // infinity with other bits set
    POINT_NOT_ON_CURVE,    // no such point
    POINT_NOT_IN_SUBGROUP, // on the curve, outside the group of order r
} point_check;

// A few words for people, such as "is not on the curve".
const char *point_check_text(point_check c);

void g1_encode(uint8_t out[G1_COMPRESSED], const g1_affine *a);
void g1_encode_uncompressed(uint8_t out[G1_UNCOMPRESSED], const g1_affine *a);
point_check g1_decode(g1_affine *out, const uint8_t in[G1_COMPRESSED]);                          // subgroup checked
point_check g1_decode_uncompressed_unchecked(g1_affine *out, const uint8_t in[G1_UNCOMPRESSED]); // subgroup not checked

void g2_encode(uint8_t out[G2_COMPRESSED], const g2_affine *a);
void g2_encode_uncompressed(uint8_t out[G2_UNCOMPRESSED], const g2_affine *a);
point_check g2_decode(g2_affine *out, const uint8_t in[G2_COMPRESSED]);
point_check g2_decode_uncompressed_unchecked(g2_affine *out, const uint8_t in[G2_UNCOMPRESSED]);

// The *_decode_uncompressed_unchecked above for n finite points in a row, as a proving key holds them, with kernels for
// whole arrays. Returns how many came before the first that is none: n, or less with *why, which is POINT_OK for the
// point at infinity. The points from there on are unspecified.
size_t g1_decode_finite_array(g1_affine *out, point_check *why, const uint8_t *in, size_t n);
size_t g2_decode_finite_array(g2_affine *out, point_check *why, const uint8_t *in, size_t n);

#endif
