// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The multiplications of fp8.h. Bounds are stated for one lane.
#include "field/x86/fp8.h"

const uint64_t FP8_MODULUS[FP8_LIMBS] = {0xeffffffffaaab, 0xfeb153ffffb9f, 0x6b0f6241eabff, 0x12bf6730d2a0f,
                                         0x764774b84f385, 0x1ba7b6434bacd, 0x1ea397fe69a4b, 0x000000001a011};
const uint64_t FP8_ONE[FP8_LIMBS] = {0x6480ea8e9b9af, 0x65766c8fe444f, 0x8b540fea96f7d, 0x3b2ee82efd422,
                                     0xa6723e5f0ade5, 0xff6eb6fdd4230, 0xe06ef23c24a25, 0x0000000014c8e};
static const int64_t NINV = 0x3fffcfffcfffd; // -1/p mod 2^52

#define LO(c, a, b) _mm512_madd52lo_epu64(c, a, b) // c + (a b mod 2^52), of the low 52 bits of a and b
#define HI(c, a, b) _mm512_madd52hi_epu64(c, a, b) // c + (a b >> 52)
// What is written once and compiled into several functions; gcc would rather share the code and branch in it.
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

// The lowest column once a multiple of p has been added that makes it divisible by 2^52, divided by 2^52. What is
// added is in (0, 2^52) unless the column is divisible as it is: the quotient is rounded up.
INLINE __m512i carry_out(__m512i column) {
    return _mm512_srai_epi64(_mm512_add_epi64(column, _mm512_set1_epi64(FP8_MASK)), FP8_LIMB_BITS);
}

// Limb by limb (Koc, Acar, Kaliski 1996): t := (t + a b[i] + m p) / 2^52. A column gets at most four terms below 2^52
// a step and passes through eight steps, with a carry below 2^6: it stays below 33 * 2^52 < 2^58. The low half of m
// p[0] is never computed: it only makes the carry (carry_out). At the end t = (a b + m p) / 2^416 with m < 2^416.
void fp8_mul(fp8 *out, const fp8 *a, const fp8 *b) {
    const __m512i ninv = _mm512_set1_epi64(NINV), zero = _mm512_setzero_si512();
    __m512i t[FP8_LIMBS + 1];
    UNROLL for (int j = 0; j < FP8_LIMBS; j++) t[j] = zero;
    UNROLL for (int i = 0; i < FP8_LIMBS; i++) {
        const __m512i b_i = b->l[i];
        t[FP8_LIMBS] = zero;
        t[0] = LO(t[0], a->l[0], b_i);
        const __m512i m = LO(zero, t[0], ninv); // early: everything below waits for it
        UNROLL for (int j = 1; j < FP8_LIMBS; j++) t[j] = LO(t[j], a->l[j], b_i);
        UNROLL for (int j = 0; j < FP8_LIMBS; j++) t[j + 1] = HI(t[j + 1], a->l[j], b_i);
        t[1] = HI(_mm512_add_epi64(t[1], carry_out(t[0])), m, fp8_limb_p(0));
        UNROLL for (int j = 1; j < FP8_LIMBS; j++) t[j] = LO(t[j], m, fp8_limb_p(j));
        UNROLL for (int j = 1; j < FP8_LIMBS; j++) t[j + 1] = HI(t[j + 1], m, fp8_limb_p(j));
        UNROLL for (int j = 0; j < FP8_LIMBS; j++) t[j] = t[j + 1];
    }
    UNROLL for (int j = 0; j < FP8_LIMBS; j++) out->l[j] = t[j];
}

// A column has at most 8 low and 8 high halves: below 2^56.
void fp8_mul_wide(fp8_wide *out, const fp8 *a, const fp8 *b) {
    __m512i t[2 * FP8_LIMBS];
    UNROLL for (int j = 0; j < 2 * FP8_LIMBS; j++) t[j] = _mm512_setzero_si512();
    UNROLL for (int i = 0; i < FP8_LIMBS; i++) {
        const __m512i b_i = b->l[i];
        UNROLL for (int j = 0; j < FP8_LIMBS; j++) t[i + j] = LO(t[i + j], a->l[j], b_i);
        UNROLL for (int j = 0; j < FP8_LIMBS; j++) t[i + j + 1] = HI(t[i + j + 1], a->l[j], b_i);
    }
    UNROLL for (int j = 0; j < 2 * FP8_LIMBS; j++) out->c[j] = t[j];
}

// Products of two different limbs are added once and doubled as columns (a limb has no bit to spare for doubling).
INLINE void sqr_columns(__m512i t[2 * FP8_LIMBS], const fp8 *a) {
    UNROLL for (int j = 0; j < 2 * FP8_LIMBS; j++) t[j] = _mm512_setzero_si512();
    UNROLL for (int i = 0; i < FP8_LIMBS; i++) {
        UNROLL for (int j = i + 1; j < FP8_LIMBS; j++) t[i + j] = LO(t[i + j], a->l[i], a->l[j]);
        UNROLL for (int j = i + 1; j < FP8_LIMBS; j++) t[i + j + 1] = HI(t[i + j + 1], a->l[i], a->l[j]);
    }
    UNROLL for (int j = 1; j < 2 * FP8_LIMBS - 1; j++) t[j] = _mm512_add_epi64(t[j], t[j]);
    UNROLL for (int i = 0; i < FP8_LIMBS; i++) {
        t[2 * i] = LO(t[2 * i], a->l[i], a->l[i]);
        t[2 * i + 1] = HI(t[2 * i + 1], a->l[i], a->l[i]);
    }
}

// One step takes away the lowest column. A column gets at most 8 low and 8 high halves and a carry: it grows by 2^56.
INLINE void reduce_columns(fp8 *out, __m512i t[2 * FP8_LIMBS]) {
    const __m512i ninv = _mm512_set1_epi64(NINV), zero = _mm512_setzero_si512();
    UNROLL for (int i = 0; i < FP8_LIMBS; i++) {
        const __m512i m = LO(zero, t[i], ninv);
        t[i + 1] = HI(_mm512_add_epi64(t[i + 1], carry_out(t[i])), m, fp8_limb_p(0));
        UNROLL for (int j = 1; j < FP8_LIMBS; j++) t[i + j] = LO(t[i + j], m, fp8_limb_p(j));
        UNROLL for (int j = 1; j < FP8_LIMBS; j++) t[i + j + 1] = HI(t[i + j + 1], m, fp8_limb_p(j));
    }
    UNROLL for (int j = 0; j < FP8_LIMBS; j++) out->l[j] = t[FP8_LIMBS + j];
}

void fp8_sqr_wide(fp8_wide *out, const fp8 *a) {
    __m512i t[2 * FP8_LIMBS];
    sqr_columns(t, a);
    UNROLL for (int j = 0; j < 2 * FP8_LIMBS; j++) out->c[j] = t[j];
}
void fp8_reduce_wide(fp8 *out, const fp8_wide *v) {
    __m512i t[2 * FP8_LIMBS];
    UNROLL for (int j = 0; j < 2 * FP8_LIMBS; j++) t[j] = v->c[j];
    reduce_columns(out, t);
}
void fp8_sqr(fp8 *out, const fp8 *a) {
    __m512i t[2 * FP8_LIMBS];
    sqr_columns(t, a);
    reduce_columns(out, t);
}

INLINE void add_p_lanes(fp8 *v, __mmask8 lanes) {
    UNROLL for (int j = 0; j < FP8_LIMBS; j++) v->l[j] = _mm512_mask_add_epi64(v->l[j], lanes, v->l[j], fp8_limb_p(j));
}
// Lanes with a value below zero, once carries are done.
INLINE __mmask8 negative(const fp8 *v) {
    __m512i c = v->l[0];
    UNROLL for (int j = 1; j < FP8_LIMBS; j++) c = _mm512_add_epi64(v->l[j], _mm512_srai_epi64(c, FP8_LIMB_BITS));
    return _mm512_movepi64_mask(c);
}

// A rough shift into [-p, p + 2^370): where v is below -p/2 by its top limb. That limb is off by the carries still in
// the others, below 2^11, against p/2 = 53,000 units of it. Then the sign says whether p is to be added. What may be
// left is [p, p + 2^370); a top limb not below that of p, one random value in 100,000, makes it worth a look.
void fp8_canonical(fp8 *v) {
    fp8 t = *v;
    const __m512i top = _mm512_set1_epi64((int64_t)FP8_MODULUS[FP8_LIMBS - 1]);
    const __m512i half = _mm512_set1_epi64(-(int64_t)(FP8_MODULUS[FP8_LIMBS - 1] / 2));
    add_p_lanes(&t, _mm512_cmplt_epi64_mask(t.l[FP8_LIMBS - 1], half));
    add_p_lanes(&t, negative(&t));
    fp8_carry(&t);
    if (__builtin_expect(_mm512_cmpge_epi64_mask(t.l[FP8_LIMBS - 1], top) != 0, 0)) {
        fp8 d;
        UNROLL for (int j = 0; j < FP8_LIMBS; j++) d.l[j] = _mm512_sub_epi64(t.l[j], fp8_limb_p(j));
        const __mmask8 keep = negative(&d);
        fp8_carry(&d);
        UNROLL for (int j = 0; j < FP8_LIMBS; j++) t.l[j] = _mm512_mask_mov_epi64(d.l[j], keep, t.l[j]);
    }
    *v = t;
}

// 2^464 mod p, see fp8_inv_lanes.
static const uint64_t K464[FP8_LIMBS] = {0x37dbaa0c09d50, 0xb226834dac85f, 0x0647077be8e5b, 0x9ea307a7715aa,
                                         0x65e3c7e53b533, 0xdd93c1a8feab4, 0x9384f92d3e033, 0x0000000002bf6};

static inline void swap_lanes(fp8 *out, const fp8 *a, int distance) {
    const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i other = _mm512_xor_si512(lane, _mm512_set1_epi64(distance));
    UNROLL for (int j = 0; j < FP8_LIMBS; j++) out->l[j] = _mm512_permutexvar_epi64(other, a->l[j]);
}

// Lanes at distance 4, 2, 1 are multiplied until every lane holds the product of all eight, which is inverted; on the
// way back each half's inverse is the whole's times the other half. Write a' for the other lane and M(x, y) for
// fp8_mul: with b = M(a, a'), M(x/b, a') = x/a, so the account of powers of 2 is that of the inversion alone.
// fp_inv(t) is 2^768/t as an integer, M(2^768/t, 2^464) = 2^816/t.
void fp8_inv_lanes(fp8 *out, const fp8 *a) {
    fp8 v[4], other[3], k;
    v[0] = *a;
    for (int level = 0; level < 3; level++) {
        swap_lanes(&other[level], &v[level], 4 >> level);
        fp8_mul(&v[level + 1], &v[level], &other[level]);
        fp8_carry_digits(&v[level + 1]);
    }
    __m512i w[6];
    fp s;
    fp8_trim(&v[3]);
    fp8_canonical(&v[3]);
    fp8_to_words(w, &v[3]);
    for (int i = 0; i < 6; i++) s.l[i] = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(w[i]));
    fp_inv(&s, &s);
    for (int i = 0; i < 6; i++) w[i] = _mm512_set1_epi64((int64_t)s.l[i]);
    fp8_from_words(out, w);
    fp8_set1(&k, K464);
    fp8_mul(out, out, &k);
    fp8_carry_digits(out);
    for (int level = 3; level-- > 0;) {
        fp8_mul(out, out, &other[level]);
        fp8_carry_digits(out);
    }
}
