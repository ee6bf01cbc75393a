// SPDX-License-Identifier: MIT OR Apache-2.0
#include "field/x86/fr_vec_ifma.h"

#include "field/x86/fr_ifma.h"

// x below 2 r, loose: the residue, clean.
LIMB_INLINE void below_r(fr8 *x) {
    const __m512i m = fr8_word(FR52_BITS);
    fr8 y;
    fr8_lift(x);
    for (int i = 0; i < 5; i++) y.l[i] = _mm512_add_epi64(_mm512_and_si512(x->l[i], m), fr8_word(FR52_NEG_R[i]));
    fr8_lift(&y); // bit 52 of limb 4: x + 2^260 - r reached 2^260
    const __mmask8 over = _mm512_test_epi64_mask(y.l[4], fr8_word(UINT64_C(1) << 52));
    for (int i = 0; i < 5; i++) x->l[i] = _mm512_and_si512(_mm512_mask_mov_epi64(x->l[i], over, y.l[i]), m);
}

// With 16 b the division by 2^260 is one by 2^256. 16 b is below 2^260, and the product below
// 16 r^2 / 2^260 + r < 1.46 r.
LIMB_INLINE fr8 mul8(const fr8 *a, const fr8 *b) {
    fr8 c;
    c.l[0] = _mm512_slli_epi64(b->l[0], 4);
    for (int i = 1; i < 5; i++)
        c.l[i] = _mm512_or_si512(_mm512_slli_epi64(b->l[i], 4), _mm512_srli_epi64(b->l[i - 1], 48));
    c = fr8_mul(a, &c); // bits above 52 of its operands do not count
    below_r(&c);
    return c;
}

void fr_vec_mul_ifma(fr *out, const fr *a, const fr *b, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const fr8 x = fr8_load(a + i), y = fr8_load(b + i), s = mul8(&x, &y);
        fr8_store(out + i, &s);
    }
    for (; i < n; i++) fr_mul(&out[i], &a[i], &b[i]);
}
