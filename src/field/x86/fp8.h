// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Eight elements of Fp side by side, for AVX-512 with IFMA (CPU_IFMA). Limb j of all eight is one vector register.
//
// Numbers. An fp8 stands for eight plain integers, each congruent to some element: limbs of 52 bits, a value of up to
// 416 bits, nothing reduced unless a function says so. There is no fixed Montgomery form. fp8_mul gives
// a b / 2^416 mod p, so that factors of 2 travel with the values; a caller keeps account of them, and what is stored
// as an fp (radix 2^384) can be multiplied as it is. docs/maths/msm.md has the account of an addition of points.
//
// Words used below. *Loose*: limbs are signed and below 2^62 in magnitude; their sum with weights 2^(52 j) is what
// counts. *Tight*: limbs 0 to 6 in [0, 2^52), the top limb has the rest. *Operand*, what is multiplied: the low 52 bits
// of each limb are a value below 2^416 as tight limbs would have it, and what is above them is left over: the
// multiplications read no more, and a mask a limb is saved. Carries run one limb after the other, as one can ripple
// through all of them. (fp4.h has the same functions for AVX2, with operands of another form.)
//
// Only for translation units compiled for these instructions; call nothing here unless cpu_current() is CPU_IFMA.
#ifndef CUZK_FIELD_X86_FP8_H
#define CUZK_FIELD_X86_FP8_H

#include <immintrin.h>
#include <stdalign.h>

#include "field/fp.h"

enum { FP8_LANES = 8, FP8_LIMBS = 8, FP8_LIMB_BITS = 52 };
#define FP8_MASK ((INT64_C(1) << FP8_LIMB_BITS) - 1)

typedef __m512i fp8_vec;
typedef __mmask8 fp8_mask;
typedef struct fp8 {
    fp8_vec l[FP8_LIMBS];
} fp8;
// The columns of a product, of weight 2^(52 j); signed, below 2^62 in magnitude.
typedef struct fp8_wide {
    __m512i c[2 * FP8_LIMBS];
} fp8_wide;

// p, and 2^416 mod p, tight.
extern const uint64_t FP8_MODULUS[FP8_LIMBS], FP8_ONE[FP8_LIMBS];

// Multiplications (there are more in fp8_mul.h) leave out the last carries: results are loose, with limbs below 2^59 in
// magnitude, and take a fp8_carry or fp8_to_operand before they are multiplied. That is a chain of dependent
// instructions, best done where a processor has something else to do beside it, which is not at the end of a
// multiplication.

// out := a b / 2^416 mod p, below p + a b / 2^416. For operands with a b < 2^796; out may be a or b.
void fp8_mul(fp8 *out, const fp8 *a, const fp8 *b);
void fp8_sqr(fp8 *out, const fp8 *a);
// out := (a b + c d) / 2^416 and (a^2 + b^2) / 2^416 mod p, below p more than that; operands, sums below 2^796.
void fp8_mul2(fp8 *out, const fp8 *a, const fp8 *b, const fp8 *c, const fp8 *d);
void fp8_sqr2(fp8 *out, const fp8 *a, const fp8 *b);
// t := a b, a^2 for operands a, b; every column below 2^56.
void fp8_mul_wide(fp8_wide *t, const fp8 *a, const fp8 *b);
void fp8_sqr_wide(fp8_wide *t, const fp8 *a);
// out := t / 2^416 mod p, in (t / 2^416, t / 2^416 + p), for columns below 2^58 in magnitude.
void fp8_reduce_wide(fp8 *out, const fp8_wide *t);
// The rare end of fp8_canonical below: v := the reduced integer for a tight v in [-p, 2p), its top limb signed.
void fp8_canonical_rare(fp8 *v);
// out := 2^816 / a in every lane, an operand, below 2p, for an operand a with no lane congruent to 0. One inversion.
void fp8_inv_lanes(fp8 *out, const fp8 *a);

static inline __m512i fp8_limb_p(int j) { return _mm512_set1_epi64((int64_t)FP8_MODULUS[j]); }

static inline void fp8_set1(fp8 *out, const uint64_t limbs[FP8_LIMBS]) {
    for (int j = 0; j < FP8_LIMBS; j++) out->l[j] = _mm512_set1_epi64((int64_t)limbs[j]);
}

// Loose to tight, or to an operand if the value is in [0, 2^416).
static inline void fp8_carry(fp8 *v) {
    const __m512i mask = _mm512_set1_epi64(FP8_MASK);
    for (int j = 0; j + 1 < FP8_LIMBS; j++) {
        v->l[j + 1] = _mm512_add_epi64(v->l[j + 1], _mm512_srai_epi64(v->l[j], FP8_LIMB_BITS));
        v->l[j] = _mm512_and_si512(v->l[j], mask);
    }
}
static inline void fp8_to_operand(fp8 *v) {
    for (int j = 0; j + 1 < FP8_LIMBS; j++)
        v->l[j + 1] = _mm512_add_epi64(v->l[j + 1], _mm512_srai_epi64(v->l[j], FP8_LIMB_BITS));
}
// Operand to tight.
static inline void fp8_trim(fp8 *v) {
    for (int j = 0; j < FP8_LIMBS; j++) v->l[j] = _mm512_and_si512(v->l[j], _mm512_set1_epi64(FP8_MASK));
}
// The operand of a tight value: here it is the same.
static inline const fp8 *fp8_operand_of(fp8 *space, const fp8 *v) {
    (void)space;
    return v;
}

// Limb by limb, without carries; results are loose.
static inline void fp8_add(fp8 *out, const fp8 *a, const fp8 *b) {
    for (int j = 0; j < FP8_LIMBS; j++) out->l[j] = _mm512_add_epi64(a->l[j], b->l[j]);
}
static inline void fp8_sub(fp8 *out, const fp8 *a, const fp8 *b) {
    for (int j = 0; j < FP8_LIMBS; j++) out->l[j] = _mm512_sub_epi64(a->l[j], b->l[j]);
}
static inline void fp8_add_p(fp8 *v) {
    for (int j = 0; j < FP8_LIMBS; j++) v->l[j] = _mm512_add_epi64(v->l[j], fp8_limb_p(j));
}
static inline void fp8_add_p_lanes(fp8 *v, __mmask8 lanes) {
    for (int j = 0; j < FP8_LIMBS; j++) v->l[j] = _mm512_mask_add_epi64(v->l[j], lanes, v->l[j], fp8_limb_p(j));
}
// v := p - v in the lanes of the mask.
static inline void fp8_neg_lanes(fp8 *v, __mmask8 lanes) {
    for (int j = 0; j < FP8_LIMBS; j++) v->l[j] = _mm512_mask_sub_epi64(v->l[j], lanes, fp8_limb_p(j), v->l[j]);
}
// v := 1 in the lanes of the mask, tight and an operand.
static inline void fp8_one_lanes(fp8 *v, __mmask8 lanes) {
    v->l[0] = _mm512_mask_set1_epi64(v->l[0], lanes, 1);
    for (int j = 1; j < FP8_LIMBS; j++) v->l[j] = _mm512_mask_set1_epi64(v->l[j], lanes, 0);
}
static inline void fp8_one_operand_lanes(fp8 *v, __mmask8 lanes) { fp8_one_lanes(v, lanes); }
// v := v 2^bits, an operand, for a tight v below 2^(416 - bits), bits < 52.
static inline void fp8_shift_left(fp8 *v, unsigned bits) {
    for (int j = FP8_LIMBS; j-- > 1;)
        v->l[j] =
            _mm512_or_si512(_mm512_slli_epi64(v->l[j], bits), _mm512_srli_epi64(v->l[j - 1], FP8_LIMB_BITS - bits));
    v->l[0] = _mm512_slli_epi64(v->l[0], bits);
}

// Lanes whose lowest limb is zero, or equal to that of the other. Of tight limbs.
static inline fp8_mask fp8_low_zero(const fp8 *a) { return _mm512_testn_epi64_mask(a->l[0], a->l[0]); }
static inline fp8_mask fp8_low_eq(const fp8 *a, const fp8 *b) { return _mm512_cmpeq_epi64_mask(a->l[0], b->l[0]); }

// v := the reduced integer, tight, in [0, p), for a loose v in [-2p, 2p) with limbs below 2^60.
//
// The top limb with the carry of the one below, t, tells v / 2^364 up to one unit, and p is 106,513 of them: so the
// signs of t and of t + p / 2^364 say how often p is missing, but for one value in 50,000. Those, and values from p on,
// show in the top limb after the carries: it is not below that of p, or negative.
//
// In three parts, so that other work can stand between them.
static inline void fp8_canonical_begin(fp8 *v) {
    enum { TOP = FP8_LIMBS - 1 };
    const __m512i t = _mm512_add_epi64(v->l[TOP], _mm512_srai_epi64(v->l[TOP - 1], FP8_LIMB_BITS));
    const __mmask8 once = _mm512_movepi64_mask(t);
    const __mmask8 twice = _mm512_movepi64_mask(_mm512_add_epi64(t, fp8_limb_p(TOP)));
    fp8_add_p_lanes(v, once);
    fp8_add_p_lanes(v, twice);
} // then fp8_carry
static inline void fp8_canonical_end(fp8 *v) {
    enum { TOP = FP8_LIMBS - 1 };
    if (__builtin_expect(_mm512_cmpge_epu64_mask(v->l[TOP], fp8_limb_p(TOP)) != 0, 0)) fp8_canonical_rare(v);
}
static inline void fp8_canonical(fp8 *v) {
    fp8_canonical_begin(v);
    fp8_carry(v);
    fp8_canonical_end(v);
}

// 8 x 8 words: word k of m[i] becomes word i of m[k].
static inline void fp8_transpose(__m512i m[8]) {
    __m512i s[8], t[8];
    for (int i = 0; i < 8; i += 2) { // pairs of rows: s[i] the even words, s[i + 1] the odd ones
        s[i] = _mm512_unpacklo_epi64(m[i], m[i + 1]);
        s[i + 1] = _mm512_unpackhi_epi64(m[i], m[i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        t[i] = _mm512_shuffle_i64x2(s[i], s[2 + i], 0x88);
        t[2 + i] = _mm512_shuffle_i64x2(s[i], s[2 + i], 0xdd);
        t[4 + i] = _mm512_shuffle_i64x2(s[4 + i], s[6 + i], 0x88);
        t[6 + i] = _mm512_shuffle_i64x2(s[4 + i], s[6 + i], 0xdd);
    }
    for (int i = 0; i < 2; i++) {
        m[i] = _mm512_shuffle_i64x2(t[i], t[4 + i], 0x88);
        m[2 + i] = _mm512_shuffle_i64x2(t[2 + i], t[6 + i], 0x88);
        m[4 + i] = _mm512_shuffle_i64x2(t[i], t[4 + i], 0xdd);
        m[6 + i] = _mm512_shuffle_i64x2(t[2 + i], t[6 + i], 0xdd);
    }
}

// Six words of 64 bits to eight limbs of 52 and back: the same integers, tight. Words come in three pairs w, one after
// the other; `last` is the second word of the pair before.
static inline void fp8_from_pair(fp8 *out, int pair, __m512i last, const __m512i w[2]) {
    const __m512i mask = _mm512_set1_epi64(FP8_MASK);
#define JOIN(lo, down, hi, up)                                                                                         \
    _mm512_ternarylogic_epi64(_mm512_srli_epi64(lo, down), _mm512_slli_epi64(hi, up), mask, 0xa8) // (x | y) & z
    if (pair == 0) {
        out->l[0] = _mm512_and_si512(w[0], mask);
        out->l[1] = JOIN(w[0], 52, w[1], 12);
    } else if (pair == 1) {
        out->l[2] = JOIN(last, 40, w[0], 24);
        out->l[3] = JOIN(w[0], 28, w[1], 36);
    } else {
        out->l[4] = JOIN(last, 16, w[0], 48);
        out->l[5] = _mm512_and_si512(_mm512_srli_epi64(w[0], 4), mask);
        out->l[6] = JOIN(w[0], 56, w[1], 8);
        out->l[7] = _mm512_srli_epi64(w[1], 44);
    }
#undef JOIN
}
static inline void fp8_from_words(fp8 *out, const __m512i w[6]) {
    for (int pair = 0; pair < 3; pair++) fp8_from_pair(out, pair, w[pair > 0 ? 2 * pair - 1 : 0], &w[2 * pair]);
}
static inline void fp8_to_words(__m512i w[6], const fp8 *v) {
#define JOIN(lo, down, hi, up) _mm512_or_si512(_mm512_srli_epi64(v->l[lo], down), _mm512_slli_epi64(v->l[hi], up))
    w[0] = JOIN(0, 0, 1, 52);
    w[1] = JOIN(1, 12, 2, 40);
    w[2] = JOIN(2, 24, 3, 28);
    w[3] = JOIN(3, 36, 4, 16);
    w[4] = _mm512_or_si512(JOIN(4, 48, 5, 4), _mm512_slli_epi64(v->l[6], 56));
    w[5] = JOIN(6, 8, 7, 44);
#undef JOIN
}

// Eight elements from eight addresses, a third of them at a time: pair 0, 1, 2 in turn, with *last between. Reads
// sixteen-byte pieces of the elements, nothing beside them.
static inline void fp8_load_pair(fp8 *out, const fp *const from[FP8_LANES], int pair, __m512i *last) {
    // Words 2 pair and 2 pair + 1 of lanes 0, 2, 4, 6 and of 1, 3, 5, 7; unpacking sorts them by word.
    __m512i even = _mm512_setzero_si512(), odd = even;
    for (int i = 0; i < 4; i++) {
        const __mmask8 place = (__mmask8)(3u << 2 * i);
        even = _mm512_mask_broadcast_i64x2(even, place, _mm_loadu_si128((const void *)&from[2 * i]->l[2 * pair]));
        odd = _mm512_mask_broadcast_i64x2(odd, place, _mm_loadu_si128((const void *)&from[2 * i + 1]->l[2 * pair]));
    }
    const __m512i w[2] = {_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd)};
    fp8_from_pair(out, pair, pair > 0 ? *last : w[0], w);
    *last = w[1];
}
static inline void fp8_load(fp8 *out, const fp *const from[FP8_LANES]) {
    __m512i last = _mm512_setzero_si512(); // the first pair does not look at it, which gcc -O1 does not see
    for (int pair = 0; pair < 3; pair++) fp8_load_pair(out, from, pair, &last);
}

// Reduced integers as they are stored, an element a lane.
typedef struct fp8_rows {
    __m512i lane[FP8_LANES]; // six words
} fp8_rows;
static inline void fp8_to_rows(fp8_rows *out, const fp8 *v) {
    fp8_to_words(out->lane, v);
    out->lane[6] = out->lane[7] = _mm512_setzero_si512();
    fp8_transpose(out->lane);
}
static inline void fp8_store_row(fp *to, const fp8_rows *rows, int lane) {
    _mm256_storeu_si256((void *)to->l, _mm512_castsi512_si256(rows->lane[lane]));
    _mm_storeu_si128((void *)&to->l[4], _mm512_extracti64x2_epi64(rows->lane[lane], 2));
}
// To eight addresses, of the given lanes; the others are not looked at.
static inline void fp8_store(fp *const to[FP8_LANES], const fp8 *v, fp8_mask lanes) {
    fp8_rows rows;
    fp8_to_rows(&rows, v);
    for (int lane = 0; lane < FP8_LANES; lane++)
        if ((lanes >> lane & 1) != 0) fp8_store_row(to[lane], &rows, lane);
}

#endif
