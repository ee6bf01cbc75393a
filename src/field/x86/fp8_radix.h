// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Eight plain integers to what an fp holds for them, for AVX-512 with IFMA; words and limits as in fp8.h.
#ifndef CUZK_FIELD_X86_FP8_RADIX_H
#define CUZK_FIELD_X86_FP8_RADIX_H

#include "field/x86/fp8.h"

// The lanes of a tight v >= 0 that are not below p.
static inline __mmask8 fp8_not_below_p(const fp8 *v) {
    const __m512i top = fp8_limb_p(FP8_LIMBS - 1);
    if (__builtin_expect(_mm512_cmpge_epi64_mask(v->l[FP8_LIMBS - 1], top) == 0, 1)) return 0; // but 1 in 100,000
    __m512i c = _mm512_sub_epi64(v->l[0], fp8_limb_p(0));
    for (int j = 1; j < FP8_LIMBS; j++)
        c = _mm512_add_epi64(_mm512_sub_epi64(v->l[j], fp8_limb_p(j)), _mm512_srai_epi64(c, FP8_LIMB_BITS));
    return (__mmask8)~_mm512_movepi64_mask(c);
}

// out := v 2^384 mod p, reduced and tight, for any tight v in [0, 2^416); out may be v. Three fifths of the cost of
// fp8_mul, and nothing is left to reduce.
void fp8_to_radix(fp8 *out, const fp8 *v);

#endif
