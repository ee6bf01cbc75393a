// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Eight elements of Fr at a time with AVX-512 IFMA: five limbs of 52 bits, limb j of all eight in one register. For
// files that are compiled with these instructions; nothing here is called before cpu_current() has shown CPU_IFMA.
//
// IFMA multiplies the low 52 bits of its operands and ignores the rest, so a *multiplicand* needs its carries moved up
// (fr8_lift) but no mask. The radix is 2^260 = 35.33 r: values are kept below 2^260 and seldom reduced. Elements of
// fr.h are residues times 2^256; a product with a residue times 2^260 stays in that form (fr8_mul divides by 2^260).
//
// Names of ranges: *lifted*: the true value is in [0, 2^260) and limb 4 is exact, limbs 0..3 hold their low 52 bits and
// perhaps rubbish above. *Clean*: all limbs in [0, 2^52). *Loose*: signed limbs, |limb| < 2^58, value in [0, 2^260).
#ifndef CUZK_FIELD_X86_FR_IFMA_H
#define CUZK_FIELD_X86_FR_IFMA_H

#include <immintrin.h>

#include "field/fr.h"

typedef struct fr8 {
    __m512i l[5];
} fr8;

// r and 2^260 - r in limbs of 52 bits.
static const uint64_t FR52_R[5] = {0xfffff00000001, 0x2fffe5bfefff, 0x9a1d80553bda4, 0x7d483339d8080, 0x73eda753299d};
static const uint64_t FR52_NEG_R[5] = {0xffffffff, 0xfd0001a401000, 0x65e27faac425b, 0x82b7ccc627f7f, 0xf8c1258acd662};

#define FR52_BITS UINT64_C(0xfffffffffffff)

LIMB_INLINE __m512i fr8_word(uint64_t v) { return _mm512_set1_epi64((long long)v); }
LIMB_INLINE __m512i fr8_lo(__m512i acc, __m512i a, __m512i b) { return _mm512_madd52lo_epu64(acc, a, b); }
LIMB_INLINE __m512i fr8_hi(__m512i acc, __m512i a, __m512i b) { return _mm512_madd52hi_epu64(acc, a, b); }

// Carries moved up, one after the other; loose in, lifted out.
LIMB_INLINE void fr8_lift(fr8 *x) {
    for (int i = 0; i < 4; i++) x->l[i + 1] = _mm512_add_epi64(x->l[i + 1], _mm512_srai_epi64(x->l[i], 52));
}
// The same and masked. The mask of limb 4 makes it arithmetic modulo 2^260.
LIMB_INLINE void fr8_clean(fr8 *x) {
    const __m512i m = fr8_word(FR52_BITS);
    fr8_lift(x);
    for (int i = 0; i < 5; i++) x->l[i] = _mm512_and_si512(x->l[i], m);
}

// Four 64-bit limbs of eight elements <-> five limbs of 52 bits. Unpacked limbs are clean; fr8_pack takes clean limbs
// of a value below 2^256.
LIMB_INLINE fr8 fr8_unpack(__m512i w0, __m512i w1, __m512i w2, __m512i w3) {
    const __m512i m = fr8_word(FR52_BITS);
    fr8 x;
    x.l[0] = _mm512_and_si512(w0, m);
    x.l[1] = _mm512_and_si512(_mm512_or_si512(_mm512_srli_epi64(w0, 52), _mm512_slli_epi64(w1, 12)), m);
    x.l[2] = _mm512_and_si512(_mm512_or_si512(_mm512_srli_epi64(w1, 40), _mm512_slli_epi64(w2, 24)), m);
    x.l[3] = _mm512_and_si512(_mm512_or_si512(_mm512_srli_epi64(w2, 28), _mm512_slli_epi64(w3, 36)), m);
    x.l[4] = _mm512_srli_epi64(w3, 16);
    return x;
}
LIMB_INLINE void fr8_pack(__m512i w[4], const fr8 *x) {
    w[0] = _mm512_or_si512(x->l[0], _mm512_slli_epi64(x->l[1], 52));
    w[1] = _mm512_or_si512(_mm512_srli_epi64(x->l[1], 12), _mm512_slli_epi64(x->l[2], 40));
    w[2] = _mm512_or_si512(_mm512_srli_epi64(x->l[2], 24), _mm512_slli_epi64(x->l[3], 28));
    w[3] = _mm512_or_si512(_mm512_srli_epi64(x->l[3], 36), _mm512_slli_epi64(x->l[4], 16));
}

// Eight consecutive elements: z[i] = elements 2i and 2i + 1 <-> w[k] = limb k of all.
LIMB_INLINE void fr8_transpose_in(__m512i w[4], const __m512i z[4]) {
    const __m512i low = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13),
                  high = _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i a = _mm512_permutex2var_epi64(z[0], low, z[1]), b = _mm512_permutex2var_epi64(z[2], low, z[3]);
    const __m512i c = _mm512_permutex2var_epi64(z[0], high, z[1]), d = _mm512_permutex2var_epi64(z[2], high, z[3]);
    w[0] = _mm512_shuffle_i64x2(a, b, 0x44), w[1] = _mm512_shuffle_i64x2(a, b, 0xee);
    w[2] = _mm512_shuffle_i64x2(c, d, 0x44), w[3] = _mm512_shuffle_i64x2(c, d, 0xee);
}
LIMB_INLINE void fr8_transpose_out(__m512i z[4], const __m512i w[4]) {
    const __m512i low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11),
                  high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    const __m512i a = _mm512_permutex2var_epi64(w[0], low, w[1]), b = _mm512_permutex2var_epi64(w[2], low, w[3]);
    const __m512i c = _mm512_permutex2var_epi64(w[0], high, w[1]), d = _mm512_permutex2var_epi64(w[2], high, w[3]);
    const __m512i even = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11),
                  odd = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    z[0] = _mm512_permutex2var_epi64(a, even, b), z[1] = _mm512_permutex2var_epi64(a, odd, b);
    z[2] = _mm512_permutex2var_epi64(c, even, d), z[3] = _mm512_permutex2var_epi64(c, odd, d);
}
LIMB_INLINE fr8 fr8_load(const fr *p) {
    __m512i z[4], w[4];
    for (int i = 0; i < 4; i++) z[i] = _mm512_loadu_si512(p + 2 * i);
    fr8_transpose_in(w, z);
    return fr8_unpack(w[0], w[1], w[2], w[3]);
}
LIMB_INLINE void fr8_store(fr *p, const fr8 *clean) {
    __m512i z[4], w[4];
    fr8_pack(w, clean);
    fr8_transpose_out(z, w);
    for (int i = 0; i < 4; i++) _mm512_storeu_si512(p + 2 * i, z[i]);
}

// One step of Montgomery's method, which takes a limb off: (t + m r) / 2^52 with the m in [0, 2^52) that makes it a
// whole number, below t / 2^52 + r. t[5] counts 2^260; limbs in [0, 2^62). m = -t0 / r = -t0 (1 + 2^32), as r = 1 -
// 2^32 mod 2^64, and its low 52 bits count. It may be wanted before the rest of t is known.
LIMB_INLINE __m512i fr8_down_by(__m512i t0) {
    return _mm512_sub_epi64(_mm512_setzero_si512(), _mm512_add_epi64(t0, _mm512_slli_epi64(t0, 32)));
}
// The low 52 bits of t0 + m r0 are zero: what is carried is t0 >> 52, and one more unless they were zero before.
LIMB_INLINE __m512i fr8_down_carry(__m512i t0) {
    return _mm512_srli_epi64(_mm512_add_epi64(t0, fr8_word(FR52_BITS)), 52);
}
LIMB_INLINE fr8 fr8_down(const __m512i t[6], __m512i m) {
    fr8 x = {{_mm512_add_epi64(t[1], fr8_down_carry(t[0])), t[2], t[3], t[4], t[5]}};
    for (int j = 1; j < 5; j++) x.l[j - 1] = fr8_lo(x.l[j - 1], m, fr8_word(FR52_R[j]));
    for (int j = 0; j < 5; j++) x.l[j] = fr8_hi(x.l[j], m, fr8_word(FR52_R[j]));
    return x;
}

// a b / 2^260 mod r, one limb of b a step; lifted operands, loose and non-negative result below a b / 2^260 + r. A
// column takes at most 5 * 4 terms below 2^52 and a carry, far below 2^58.
LIMB_INLINE fr8 fr8_mul(const fr8 *a, const fr8 *b) {
    const __m512i zero = _mm512_setzero_si512();
    fr8 x = {{zero, zero, zero, zero, zero}};
    for (int i = 0; i < 5; i++) {
        __m512i t[6] = {x.l[0], x.l[1], x.l[2], x.l[3], x.l[4], zero};
        t[0] = fr8_lo(t[0], a->l[0], b->l[i]);
        const __m512i m = fr8_down_by(t[0]);
        for (int j = 1; j < 5; j++) t[j] = fr8_lo(t[j], a->l[j], b->l[i]);
        for (int j = 0; j < 5; j++) t[j + 1] = fr8_hi(t[j + 1], a->l[j], b->l[i]);
        x = fr8_down(t, m);
    }
    return x;
}

// To below 1.4 r; clean in and out, any value below 2^260. k = floor(35 x4 / 2^52) is x/r - k < 1.34, as
// 35/35.33 x/r - 1 < k <= x/r.
LIMB_INLINE void fr8_reduce_short(fr8 *x) {
    const __m512i k = fr8_hi(_mm512_setzero_si512(), x->l[4], fr8_word(35));
    for (int i = 0; i < 5; i++) x->l[i] = fr8_lo(x->l[i], k, fr8_word(FR52_NEG_R[i]));
    for (int i = 0; i < 4; i++) x->l[i + 1] = fr8_hi(x->l[i + 1], k, fr8_word(FR52_NEG_R[i]));
    fr8_clean(x);
}

// The residue below r: one subtraction more is enough.
LIMB_INLINE void fr8_reduce(fr8 *x) {
    const __m512i m = fr8_word(FR52_BITS);
    fr8_reduce_short(x);
    fr8 y;
    for (int i = 0; i < 5; i++) y.l[i] = _mm512_add_epi64(x->l[i], fr8_word(FR52_NEG_R[i]));
    fr8_lift(&y); // bit 52 of limb 4: x + 2^260 - r reached 2^260, so x >= r
    const __mmask8 over = _mm512_test_epi64_mask(y.l[4], fr8_word(UINT64_C(1) << 52));
    for (int i = 0; i < 5; i++) x->l[i] = _mm512_mask_and_epi64(x->l[i], over, y.l[i], m);
}

#endif
