// SPDX-License-Identifier: MIT OR Apache-2.0
//
// First byte: which decoder; the rest: an encoding, zeros where it ends early.
#include "curve/encoding.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t in[G2_UNCOMPRESSED] = {0}, again[G2_UNCOMPRESSED];
    if (size == 0) return 0;
    memcpy(in, data + 1, size - 1 < sizeof in ? size - 1 : sizeof in);
    g1_affine a;
    g2_affine b;
    point_check c;
    size_t n;
    switch (data[0] % 4) {
    case 0:
        n = G1_COMPRESSED;
        if ((c = g1_decode(&a, in)) != POINT_OK) break;
        fuzz_require(g1_affine_on_curve(&a) && g1_affine_in_subgroup(&a), "g1: in the group");
        g1_encode(again, &a);
        break;
    case 1:
        n = G1_UNCOMPRESSED;
        if ((c = g1_decode_uncompressed_unchecked(&a, in)) != POINT_OK) break;
        fuzz_require(g1_affine_on_curve(&a), "g1: on the curve");
        g1_encode_uncompressed(again, &a);
        break;
    case 2:
        n = G2_COMPRESSED;
        if ((c = g2_decode(&b, in)) != POINT_OK) break;
        fuzz_require(g2_affine_on_curve(&b) && g2_affine_in_subgroup(&b), "g2: in the group");
        g2_encode(again, &b);
        break;
    default:
        n = G2_UNCOMPRESSED;
        if ((c = g2_decode_uncompressed_unchecked(&b, in)) != POINT_OK) break;
        fuzz_require(g2_affine_on_curve(&b), "g2: on the curve");
        g2_encode_uncompressed(again, &b);
        break;
    }
    if (c == POINT_OK)
        fuzz_require(memcmp(again, in, n) == 0, "one encoding a point");
    else
        fuzz_require(point_check_text(c)[0] != '\0', "a refusal has a reason");
    return 0;
}
