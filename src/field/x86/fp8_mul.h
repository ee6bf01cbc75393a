// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The multiplications of fp8.h with other work between their steps (beside.h). Bounds are stated for one lane.
#ifndef CUZK_FIELD_X86_FP8_MUL_H
#define CUZK_FIELD_X86_FP8_MUL_H

#include "field/x86/beside.h"
#include "field/x86/fp8.h"

static const int64_t FP8_NINV = 0x3fffcfffcfffd; // -1/p mod 2^52

VEC_INLINE __m512i fp8_lo(__m512i c, __m512i a, __m512i b) { // c + (a b mod 2^52), of the low 52 bits of a and b
    return _mm512_madd52lo_epu64(c, a, b);
}
VEC_INLINE __m512i fp8_hi(__m512i c, __m512i a, __m512i b) { // c + (a b >> 52)
    return _mm512_madd52hi_epu64(c, a, b);
}

// The lowest column once a multiple of p has been added that makes it divisible by 2^52, divided by 2^52. What is
// added is in (0, 2^52) unless the column is divisible as it is: the quotient is rounded up.
VEC_INLINE __m512i fp8_carry_out(__m512i column) {
    return _mm512_srai_epi64(_mm512_add_epi64(column, _mm512_set1_epi64(FP8_MASK)), FP8_LIMB_BITS);
}

// Takes the lowest of nine columns away: adds m p, given m, and carries into the next one. The low half of m p[0] is
// never computed: it only makes the carry (fp8_carry_out).
VEC_INLINE void fp8_take_column(__m512i t[FP8_LIMBS + 1], __m512i m) {
    t[1] = fp8_hi(_mm512_add_epi64(t[1], fp8_carry_out(t[0])), m, fp8_limb_p(0));
    VEC_UNROLL for (int j = 1; j < FP8_LIMBS; j++) t[j] = fp8_lo(t[j], m, fp8_limb_p(j));
    VEC_UNROLL for (int j = 1; j < FP8_LIMBS; j++) t[j + 1] = fp8_hi(t[j + 1], m, fp8_limb_p(j));
}
// The last part of a step: t := (t + m p) / 2^52, given m.
VEC_INLINE void fp8_reduce_step(__m512i t[FP8_LIMBS + 1], __m512i m) {
    fp8_take_column(t, m);
    VEC_UNROLL for (int j = 0; j < FP8_LIMBS; j++) t[j] = t[j + 1];
}

// As fp8_mul. Limb by limb (Koc, Acar, Kaliski 1996): t := (t + a b[i] + m p) / 2^52. A column gets at most four terms
// below 2^52 a step and passes through eight steps, with a carry below 2^6: it stays below 33 * 2^52 < 2^58. At the end
// t = (a b + m p) / 2^416 with m < 2^416.
VEC_INLINE void fp8_mul_beside(fp8 *out, const fp8 *a, const fp8 *b, vec_beside *beside, void *state, int from,
                               int to) {
    const __m512i ninv = _mm512_set1_epi64(FP8_NINV), zero = _mm512_setzero_si512();
    const fp8 x = *a; // in registers, whatever is written beside
    __m512i t[FP8_LIMBS + 1];
    VEC_UNROLL for (int j = 0; j < FP8_LIMBS; j++) t[j] = zero;
    VEC_UNROLL for (int i = 0; i < FP8_LIMBS; i++) {
        const __m512i b_i = b->l[i];
        t[FP8_LIMBS] = zero;
        t[0] = fp8_lo(t[0], x.l[0], b_i);
        const __m512i m = fp8_lo(zero, t[0], ninv); // early: everything below waits for it
        VEC_UNROLL for (int j = 1; j < FP8_LIMBS; j++) t[j] = fp8_lo(t[j], x.l[j], b_i);
        VEC_UNROLL for (int j = 0; j < FP8_LIMBS; j++) t[j + 1] = fp8_hi(t[j + 1], x.l[j], b_i);
        fp8_reduce_step(t, m);
        vec_call_beside(i, beside, state, from, to);
    }
    VEC_UNROLL for (int j = 0; j < FP8_LIMBS; j++) out->l[j] = t[j];
}

// Squares by columns of weight 2^(52 j). Products of two different limbs are added once and doubled as columns (a limb
// has no bit to spare for doubling). A column of one square is below 2^56.
enum { FP8_COLUMNS = 2 * FP8_LIMBS };

VEC_INLINE void fp8_add_cross(__m512i t[FP8_COLUMNS], const fp8 *x, int i) {
    VEC_UNROLL for (int j = i + 1; j < FP8_LIMBS; j++) t[i + j] = fp8_lo(t[i + j], x->l[i], x->l[j]);
    VEC_UNROLL for (int j = i + 1; j < FP8_LIMBS; j++) t[i + j + 1] = fp8_hi(t[i + j + 1], x->l[i], x->l[j]);
}
VEC_INLINE void fp8_double_columns(__m512i t[FP8_COLUMNS]) {
    VEC_UNROLL for (int j = 1; j < FP8_COLUMNS - 1; j++) t[j] = _mm512_add_epi64(t[j], t[j]);
}
VEC_INLINE void fp8_add_diagonal(__m512i t[FP8_COLUMNS], const fp8 *x, int i) {
    t[2 * i] = fp8_lo(t[2 * i], x->l[i], x->l[i]);
    t[2 * i + 1] = fp8_hi(t[2 * i + 1], x->l[i], x->l[i]);
}
// out := t / 2^416 mod p in (t / 2^416, t / 2^416 + p), loose, for columns below 2^58 in magnitude. One step takes away
// the lowest column; one gets at most 8 low and 8 high halves and a carry, and grows by 2^56.
VEC_INLINE void fp8_reduce_columns(fp8 *out, __m512i t[FP8_COLUMNS], vec_beside *beside, void *state, int from,
                                   int to) {
    const __m512i ninv = _mm512_set1_epi64(FP8_NINV), zero = _mm512_setzero_si512();
    VEC_UNROLL for (int i = 0; i < FP8_LIMBS; i++) {
        fp8_take_column(t + i, fp8_lo(zero, t[i], ninv));
        vec_call_beside(i, beside, state, from, to);
    }
    VEC_UNROLL for (int j = 0; j < FP8_LIMBS; j++) out->l[j] = t[FP8_LIMBS + j];
}

// As fp8_sqr.
VEC_INLINE void fp8_sqr_beside(fp8 *out, const fp8 *a, vec_beside *beside, void *state, int from, int to) {
    const int half = from + (to - from) / 2;
    const fp8 x = *a;
    __m512i t[FP8_COLUMNS];
    VEC_UNROLL for (int j = 0; j < FP8_COLUMNS; j++) t[j] = _mm512_setzero_si512();
    VEC_UNROLL for (int i = 0; i < FP8_LIMBS; i++) {
        fp8_add_cross(t, &x, i);
        vec_call_beside(i, beside, state, from, half);
    }
    fp8_double_columns(t);
    VEC_UNROLL for (int i = 0; i < FP8_LIMBS; i++) fp8_add_diagonal(t, &x, i);
    fp8_reduce_columns(out, t, beside, state, half, to);
}

#endif
