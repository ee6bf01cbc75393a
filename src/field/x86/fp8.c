// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What fp8.h declares: multiplications with nothing beside them (fp8_mul.h), and what is rare or long.
#include "field/x86/fp8_mul.h"

const uint64_t FP8_MODULUS[FP8_LIMBS] = {0xeffffffffaaab, 0xfeb153ffffb9f, 0x6b0f6241eabff, 0x12bf6730d2a0f,
                                         0x764774b84f385, 0x1ba7b6434bacd, 0x1ea397fe69a4b, 0x000000001a011};
const uint64_t FP8_ONE[FP8_LIMBS] = {0x6480ea8e9b9af, 0x65766c8fe444f, 0x8b540fea96f7d, 0x3b2ee82efd422,
                                     0xa6723e5f0ade5, 0xff6eb6fdd4230, 0xe06ef23c24a25, 0x0000000014c8e};

void fp8_mul(fp8 *out, const fp8 *a, const fp8 *b) { fp8_mul_beside(out, a, b, vec_nothing, 0, 0, 0); }

// With six terms a step a column stays below 49 * 2^52 < 2^58.
void fp8_mul2(fp8 *out, const fp8 *a, const fp8 *b, const fp8 *c, const fp8 *d) {
    const __m512i ninv = _mm512_set1_epi64(FP8_NINV), zero = _mm512_setzero_si512();
    __m512i t[FP8_LIMBS + 1];
    VEC_UNROLL for (int j = 0; j < FP8_LIMBS; j++) t[j] = zero;
    VEC_UNROLL for (int i = 0; i < FP8_LIMBS; i++) {
        const __m512i b_i = b->l[i], d_i = d->l[i];
        t[FP8_LIMBS] = zero;
        t[0] = fp8_lo(fp8_lo(t[0], a->l[0], b_i), c->l[0], d_i);
        const __m512i m = fp8_lo(zero, t[0], ninv);
        VEC_UNROLL for (int j = 1; j < FP8_LIMBS; j++) t[j] = fp8_lo(t[j], a->l[j], b_i);
        VEC_UNROLL for (int j = 0; j < FP8_LIMBS; j++) t[j + 1] = fp8_hi(t[j + 1], a->l[j], b_i);
        VEC_UNROLL for (int j = 1; j < FP8_LIMBS; j++) t[j] = fp8_lo(t[j], c->l[j], d_i);
        VEC_UNROLL for (int j = 0; j < FP8_LIMBS; j++) t[j + 1] = fp8_hi(t[j + 1], c->l[j], d_i);
        fp8_reduce_step(t, m);
    }
    VEC_UNROLL for (int j = 0; j < FP8_LIMBS; j++) out->l[j] = t[j];
}
void fp8_sqr(fp8 *out, const fp8 *a) { fp8_sqr_beside(out, a, vec_nothing, 0, 0, 0); }

void fp8_sqr2(fp8 *out, const fp8 *a, const fp8 *b) {
    __m512i t[FP8_COLUMNS];
    VEC_UNROLL for (int j = 0; j < FP8_COLUMNS; j++) t[j] = _mm512_setzero_si512();
    VEC_UNROLL for (int i = 0; i < FP8_LIMBS; i++) fp8_add_cross(t, a, i), fp8_add_cross(t, b, i);
    fp8_double_columns(t);
    VEC_UNROLL for (int i = 0; i < FP8_LIMBS; i++) fp8_add_diagonal(t, a, i), fp8_add_diagonal(t, b, i);
    fp8_reduce_columns(out, t, vec_nothing, 0, 0, 0);
}

// A column has at most 8 low and 8 high halves: below 2^56.
void fp8_mul_wide(fp8_wide *out, const fp8 *a, const fp8 *b) {
    __m512i t[FP8_COLUMNS];
    VEC_UNROLL for (int j = 0; j < FP8_COLUMNS; j++) t[j] = _mm512_setzero_si512();
    VEC_UNROLL for (int i = 0; i < FP8_LIMBS; i++) {
        VEC_UNROLL for (int j = 0; j < FP8_LIMBS; j++) t[i + j] = fp8_lo(t[i + j], a->l[j], b->l[i]);
        VEC_UNROLL for (int j = 0; j < FP8_LIMBS; j++) t[i + j + 1] = fp8_hi(t[i + j + 1], a->l[j], b->l[i]);
    }
    VEC_UNROLL for (int j = 0; j < FP8_COLUMNS; j++) out->c[j] = t[j];
}
void fp8_sqr_wide(fp8_wide *out, const fp8 *a) {
    __m512i t[FP8_COLUMNS];
    VEC_UNROLL for (int j = 0; j < FP8_COLUMNS; j++) t[j] = _mm512_setzero_si512();
    VEC_UNROLL for (int i = 0; i < FP8_LIMBS; i++) fp8_add_cross(t, a, i);
    fp8_double_columns(t);
    VEC_UNROLL for (int i = 0; i < FP8_LIMBS; i++) fp8_add_diagonal(t, a, i);
    VEC_UNROLL for (int j = 0; j < FP8_COLUMNS; j++) out->c[j] = t[j];
}
void fp8_reduce_wide(fp8 *out, const fp8_wide *v) {
    __m512i t[FP8_COLUMNS];
    VEC_UNROLL for (int j = 0; j < FP8_COLUMNS; j++) t[j] = v->c[j];
    fp8_reduce_columns(out, t, vec_nothing, 0, 0, 0);
}

void fp8_canonical_rare(fp8 *v) {
    const __m512i zero = _mm512_setzero_si512();
    fp8_add_p_lanes(v, _mm512_cmplt_epi64_mask(v->l[FP8_LIMBS - 1], zero));
    fp8_carry(v);
    fp8 d;
    VEC_UNROLL for (int j = 0; j < FP8_LIMBS; j++) d.l[j] = _mm512_sub_epi64(v->l[j], fp8_limb_p(j));
    fp8_carry(&d);
    const __mmask8 keep = _mm512_cmplt_epi64_mask(d.l[FP8_LIMBS - 1], zero);
    VEC_UNROLL for (int j = 0; j < FP8_LIMBS; j++) v->l[j] = _mm512_mask_mov_epi64(d.l[j], keep, v->l[j]);
}

// 2^464 mod p, see fp8_inv_lanes.
static const uint64_t K464[FP8_LIMBS] = {0x37dbaa0c09d50, 0xb226834dac85f, 0x0647077be8e5b, 0x9ea307a7715aa,
                                         0x65e3c7e53b533, 0xdd93c1a8feab4, 0x9384f92d3e033, 0x0000000002bf6};

static inline void swap_lanes(fp8 *out, const fp8 *a, int distance) {
    const __m512i lane = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
    const __m512i other = _mm512_xor_si512(lane, _mm512_set1_epi64(distance));
    VEC_UNROLL for (int j = 0; j < FP8_LIMBS; j++) out->l[j] = _mm512_permutexvar_epi64(other, a->l[j]);
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
        fp8_to_operand(&v[level + 1]);
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
    fp8_to_operand(out);
    for (int level = 3; level-- > 0;) {
        fp8_mul(out, out, &other[level]);
        fp8_to_operand(out);
    }
}
