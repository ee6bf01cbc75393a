// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What is special to G2; the group law is in point_tmpl.c.
#include "curve/g2.h"

#include "curve/bls_parameter.h"

// The generator of the Zcash BLS12-381 specification.
const g2_affine G2_GENERATOR = {
    {{{UINT64_C(0xf5f28fa202940a10), UINT64_C(0xb3f5fb2687b4961a), UINT64_C(0xa1a893b53e2ae580),
       UINT64_C(0x9894999d1a3caee9), UINT64_C(0x6f67b7631863366b), UINT64_C(0x058191924350bcd7)}},
     {{UINT64_C(0xa5a9c0759e23f606), UINT64_C(0xaaa0c59dbccd60c3), UINT64_C(0x3bb17e18e2867806),
       UINT64_C(0x1b1ab6cc8541b367), UINT64_C(0xc2b6ed0ef2158547), UINT64_C(0x11922a097360edf3)}}},
    {{{UINT64_C(0x4c730af860494c4a), UINT64_C(0x597cfa1f5e369c5a), UINT64_C(0xe7e6856caa0a635a),
       UINT64_C(0xbbefb5e96e0d495f), UINT64_C(0x07d3a975f0ef25a2), UINT64_C(0x0083fd8e7e80dae5)}},
     {{UINT64_C(0xadc0fc92df64b05d), UINT64_C(0x18aa270a2b1461dc), UINT64_C(0x86adac6a3be4eba0),
       UINT64_C(0x79495c4ec93da33a), UINT64_C(0xe7175850a43ccaed), UINT64_C(0x0b2bc2a163de1bf2)}}}};

bool g2_affine_in_subgroup(const g2_affine *a) {
    // psi = twist o Frobenius o untwist, (x, y) -> (conj(x) / xi^((p-1)/3), conj(y) / xi^((p-1)/2)), is the
    // multiplication by p = z mod r on G2. Scott shows that psi(P) = z P holds nowhere else on the curve.
    static const fp2 cx = {
        {{UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000),
          UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}},
        {{UINT64_C(0x890dc9e4867545c3), UINT64_C(0x2af322533285a5d5), UINT64_C(0x50880866309b7e2c),
          UINT64_C(0xa20d1b8c7e881024), UINT64_C(0x14e4f04fe2db9068), UINT64_C(0x14e56d3f1564853a)}}};
    static const fp2 cy = {
        {{UINT64_C(0x3e2f585da55c9ad1), UINT64_C(0x4294213d86c18183), UINT64_C(0x382844c88b623732),
          UINT64_C(0x92ad2afd19103e18), UINT64_C(0x1d794e4fac7cf0b9), UINT64_C(0x0bd592fc7d825ec8)}},
        {{UINT64_C(0x7bcfa7a25aa30fda), UINT64_C(0xdc17dec12a927e7c), UINT64_C(0x2f088dd86b4ebef1),
          UINT64_C(0xd1ca2087da74d4a7), UINT64_C(0x2da2596696cebc1d), UINT64_C(0x0e2b7eedbbfd87d2)}}};
    g2_affine psi;
    g2_jac p;
    if (g2_affine_is_infinity(a)) return true;
    fp2_conj(&psi.x, &a->x);
    fp2_mul(&psi.x, &psi.x, &cx);
    fp2_conj(&psi.y, &a->y);
    fp2_mul(&psi.y, &psi.y, &cy);
    g2_jac_from_affine(&p, a);
    g2_jac_mul_limbs(&p, &p, (uint64_t[1]){BLS_Z_ABS}, 1);
    g2_jac_add_affine(&p, &p, &psi); // |z| P + psi(P)
    return g2_jac_is_infinity(&p);
}
