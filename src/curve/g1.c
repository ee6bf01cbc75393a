// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What is special to G1; the group law is in point_tmpl.c.
#include "curve/g1.h"

#include "curve/bls_parameter.h"

// The generator of the Zcash BLS12-381 specification.
const g1_affine G1_GENERATOR = {
    {{UINT64_C(0x5cb38790fd530c16), UINT64_C(0x7817fc679976fff5), UINT64_C(0x154f95c7143ba1c1),
      UINT64_C(0xf0ae6acdf3d0e747), UINT64_C(0xedce6ecc21dbf440), UINT64_C(0x120177419e0bfb75)}},
    {{UINT64_C(0xbaac93d50ce72271), UINT64_C(0x8c22631a7918fd8e), UINT64_C(0xdd595f13570725ce),
      UINT64_C(0x51ac582950405194), UINT64_C(0x0e1c8c3fad0059c0), UINT64_C(0x0bbc3efc5008a26a)}}};

bool g1_affine_in_subgroup(const g1_affine *a) {
    // phi(x, y) = (beta x, y) for a cube root of unity beta is the multiplication by -z^2 on G1, for one of the two
    // beta. Scott shows that phi(P) = -z^2 P holds nowhere else on the curve.
    static const fp beta = {{UINT64_C(0x30f1361b798a64e8), UINT64_C(0xf3b8ddab7ece5a2a), UINT64_C(0x16a8ca3ac61577f7),
                             UINT64_C(0xc26a2ff874fd029b), UINT64_C(0x3636b76660701c6e), UINT64_C(0x051ba4ab241b6160)}};
    g1_affine phi;
    g1_jac p;
    if (g1_affine_is_infinity(a)) return true;
    fp_mul(&phi.x, &a->x, &beta);
    phi.y = a->y;
    g1_jac_from_affine(&p, a);
    g1_jac_mul_limbs(&p, &p, (uint64_t[2]){BLS_Z_SQUARED_LOW, BLS_Z_SQUARED_HIGH}, 2);
    g1_jac_add_affine(&p, &p, &phi);
    return g1_jac_is_infinity(&p);
}
