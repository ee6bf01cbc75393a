// SPDX-License-Identifier: MIT OR Apache-2.0
#include "curve/encoding.h"
#include "groth16/key.h"

void groth16_proof_encode(uint8_t out[GROTH16_PROOF_BYTES], const groth16_proof *proof) {
    g1_encode(out, &proof->a);
    g2_encode(out + G1_COMPRESSED, &proof->b);
    g1_encode(out + G1_COMPRESSED + G2_COMPRESSED, &proof->c);
}

static cuzk_status bad_point(const char *name, int offset, const char *what, cuzk_error *err) {
    return cuzk_fail(err, CUZK_ERR_FORMAT, "proof point %s at byte %d %s", name, offset, what);
}

cuzk_status groth16_proof_decode(groth16_proof *out, const uint8_t in[GROTH16_PROOF_BYTES], cuzk_error *err) {
    enum { B_AT = G1_COMPRESSED, C_AT = G1_COMPRESSED + G2_COMPRESSED };
    groth16_proof p;
    point_check c;
    if ((c = g1_decode(&p.a, in)) != POINT_OK) return bad_point("a", 0, point_check_text(c), err);
    if ((c = g2_decode(&p.b, in + B_AT)) != POINT_OK) return bad_point("b", B_AT, point_check_text(c), err);
    if ((c = g1_decode(&p.c, in + C_AT)) != POINT_OK) return bad_point("c", C_AT, point_check_text(c), err);
    if (g1_affine_is_infinity(&p.a)) return bad_point("a", 0, "is the point at infinity", err);
    if (g2_affine_is_infinity(&p.b)) return bad_point("b", B_AT, "is the point at infinity", err);
    if (g1_affine_is_infinity(&p.c)) return bad_point("c", C_AT, "is the point at infinity", err);
    *out = p;
    return CUZK_OK;
}
