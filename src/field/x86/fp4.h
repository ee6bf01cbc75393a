// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Four elements of Fp side by side, for AVX2 with FMA (CPU_AVX2). Limb j of all four is one vector register. The same
// functions as fp8.h, so that what is built on either is one source; what is said there is not repeated here.
//
// Numbers. An fp4 stands for four plain integers, each congruent to some element, in limbs of 51 bits: up to 408 bits.
// Multiplications give a b / 2^408 mod p.
//
// What is multiplied is doubles (limb51.h), everything else integers. *Loose* and *tight* are as in fp8.h, with 51
// bits. An *operand* has the tight limbs of a value in [0, 2^408) as doubles, by their bits: only multiplications and
// fp4_one_operand_lanes take one.
//
// Only for translation units compiled for these instructions; call nothing here unless cpu_current() is CPU_AVX2 or
// more.
#ifndef CUZK_FIELD_X86_FP4_H
#define CUZK_FIELD_X86_FP4_H

#include <stdalign.h>

#include "field/fp.h"
#include "field/x86/limb51.h"

enum { FP4_LANES = 4, FP4_LIMBS = 8, FP4_LIMB_BITS = LIMB51_BITS };

typedef __m256i fp4_vec;
typedef uint32_t fp4_mask; // a bit a lane
typedef struct fp4 {
    fp4_vec l[FP4_LIMBS];
} fp4;

// p and 2^408 mod p, tight.
extern const uint64_t FP4_MODULUS[FP4_LIMBS], FP4_ONE[FP4_LIMBS];
// The lanes of a mask as words of ones.
extern const int64_t FP4_LANES_OF[1 << FP4_LANES][FP4_LANES];

// Results are loose, with limbs below 2^59 in magnitude, and in (s + p / 4, s + 7 p / 4) with s = a b / 2^408 (or wider
// by p / 2^49): below 2p for operands with a b < 2^784. out may be a or b.
void fp4_mul(fp4 *out, const fp4 *a, const fp4 *b);
void fp4_sqr(fp4 *out, const fp4 *a);
// The same for a b + c d and a^2 + b^2.
void fp4_mul2(fp4 *out, const fp4 *a, const fp4 *b, const fp4 *c, const fp4 *d);
void fp4_sqr2(fp4 *out, const fp4 *a, const fp4 *b);
// The rare end of fp4_canonical: v := the reduced integer for a tight v in [-p, 2p), its top limb signed.
void fp4_canonical_rare(fp4 *v);
// out := 2^804 / a in every lane, an operand, below 2p, for an operand a with no lane congruent to 0. One inversion.
void fp4_inv_lanes(fp4 *out, const fp4 *a);

static inline fp4_vec fp4_limb_p(int j) { return _mm256_set1_epi64x((int64_t)FP4_MODULUS[j]); }
static inline fp4_vec fp4_lanes_of(fp4_mask lanes) { return _mm256_load_si256((const void *)FP4_LANES_OF[lanes]); }
static inline fp4_mask fp4_signs(fp4_vec v) { return (fp4_mask)_mm256_movemask_pd(_mm256_castsi256_pd(v)); }

static inline void fp4_set1(fp4 *out, const uint64_t limbs[FP4_LIMBS]) {
    for (int j = 0; j < FP4_LIMBS; j++) out->l[j] = _mm256_set1_epi64x((int64_t)limbs[j]);
}

// Limb j of loose limbs with the carry from below, plus LIMB51_LIFT; `lifted` is the one of j - 1.
static inline fp4_vec fp4_lifted(const fp4 *v, int j, fp4_vec lifted) {
    if (j == 0) return _mm256_add_epi64(v->l[0], _mm256_set1_epi64x(LIMB51_LIFT));
    return _mm256_add_epi64(_mm256_add_epi64(v->l[j], _mm256_set1_epi64x(LIMB51_LIFT - LIMB51_LIFT_OUT)),
                            _mm256_srli_epi64(lifted, FP4_LIMB_BITS));
}
// Loose to tight; the top limb may come out signed.
static inline void fp4_carry(fp4 *v) {
    const fp4_vec mask = _mm256_set1_epi64x(LIMB51_MASK);
    fp4_vec s = fp4_lifted(v, 0, _mm256_setzero_si256());
    for (int j = 0; j + 1 < FP4_LIMBS; j++) {
        v->l[j] = _mm256_and_si256(s, mask);
        s = fp4_lifted(v, j + 1, s);
    }
    v->l[FP4_LIMBS - 1] = _mm256_sub_epi64(s, _mm256_set1_epi64x(LIMB51_LIFT));
}
// Loose to operand, for values in [0, 2^408).
static inline void fp4_to_operand(fp4 *v) {
    const fp4_vec mask = _mm256_set1_epi64x(LIMB51_MASK);
    fp4_vec s = fp4_lifted(v, 0, _mm256_setzero_si256());
    for (int j = 0; j < FP4_LIMBS; j++) {
        v->l[j] = limb51_double(_mm256_and_si256(s, mask));
        if (j + 1 < FP4_LIMBS) s = fp4_lifted(v, j + 1, s);
    }
}
// The operand of a tight value below 2^408, not signed, in `space`.
static inline const fp4 *fp4_operand_of(fp4 *space, const fp4 *v) {
    for (int j = 0; j < FP4_LIMBS; j++) space->l[j] = limb51_double(v->l[j]);
    return space;
}

// Limb by limb, without carries; results are loose.
static inline void fp4_add(fp4 *out, const fp4 *a, const fp4 *b) {
    for (int j = 0; j < FP4_LIMBS; j++) out->l[j] = _mm256_add_epi64(a->l[j], b->l[j]);
}
static inline void fp4_sub(fp4 *out, const fp4 *a, const fp4 *b) {
    for (int j = 0; j < FP4_LIMBS; j++) out->l[j] = _mm256_sub_epi64(a->l[j], b->l[j]);
}
static inline void fp4_add_p(fp4 *v) {
    for (int j = 0; j < FP4_LIMBS; j++) v->l[j] = _mm256_add_epi64(v->l[j], fp4_limb_p(j));
}
// v := p - v in the lanes of the mask.
static inline void fp4_neg_lanes(fp4 *v, fp4_mask lanes) {
    const fp4_vec which = fp4_lanes_of(lanes);
    for (int j = 0; j < FP4_LIMBS; j++)
        v->l[j] = _mm256_blendv_epi8(v->l[j], _mm256_sub_epi64(fp4_limb_p(j), v->l[j]), which);
}
// v := 1 in the lanes of the mask, as integers and as an operand.
static inline void fp4_one_lanes(fp4 *v, fp4_mask lanes) {
    const fp4_vec which = fp4_lanes_of(lanes);
    for (int j = 0; j < FP4_LIMBS; j++)
        v->l[j] = _mm256_blendv_epi8(v->l[j], _mm256_set1_epi64x(j == 0 ? 1 : 0), which);
}
static inline void fp4_one_operand_lanes(fp4 *v, fp4_mask lanes) {
    const fp4_vec which = fp4_lanes_of(lanes), one = _mm256_castpd_si256(_mm256_set1_pd(1));
    for (int j = 0; j < FP4_LIMBS; j++)
        v->l[j] = _mm256_blendv_epi8(v->l[j], j == 0 ? one : _mm256_setzero_si256(), which);
}
// v := v 2^bits, an operand, for a tight v below 2^(408 - bits), bits < 51.
static inline void fp4_shift_left(fp4 *v, int bits) {
    const fp4_vec mask = _mm256_set1_epi64x(LIMB51_MASK);
    for (int j = FP4_LIMBS; j-- > 0;) {
        fp4_vec s = _mm256_slli_epi64(v->l[j], bits);
        if (j > 0) s = _mm256_or_si256(s, _mm256_srli_epi64(v->l[j - 1], FP4_LIMB_BITS - bits));
        v->l[j] = limb51_double(_mm256_and_si256(s, mask));
    }
}
// Lanes whose lowest limb is zero, or equal to that of the other.
static inline fp4_mask fp4_low_zero(const fp4 *a) {
    return fp4_signs(_mm256_cmpeq_epi64(a->l[0], _mm256_setzero_si256()));
}
static inline fp4_mask fp4_low_eq(const fp4 *a, const fp4 *b) {
    return fp4_signs(_mm256_cmpeq_epi64(a->l[0], b->l[0]));
}

// v := the reduced integer, tight, in [0, p), for a loose v in [-2p, 2p) with limbs below 2^60. As fp8_canonical: the
// top limb of p is 13,633,679.
static inline void fp4_canonical_begin(fp4 *v) {
    enum { TOP = FP4_LIMBS - 1 };
    const fp4_vec zero = _mm256_setzero_si256();
    const fp4_vec lifted = _mm256_add_epi64(v->l[TOP - 1], _mm256_set1_epi64x(LIMB51_LIFT));
    const fp4_vec below = _mm256_srli_epi64(lifted, FP4_LIMB_BITS);
    const fp4_vec t = _mm256_add_epi64(v->l[TOP], _mm256_sub_epi64(below, _mm256_set1_epi64x(LIMB51_LIFT_OUT)));
    const fp4_vec once = _mm256_cmpgt_epi64(zero, t);
    const fp4_vec twice = _mm256_cmpgt_epi64(zero, _mm256_add_epi64(t, fp4_limb_p(TOP)));
    for (int j = 0; j < FP4_LIMBS; j++) {
        const fp4_vec p = fp4_limb_p(j);
        v->l[j] = _mm256_add_epi64(v->l[j], _mm256_and_si256(once, p));
        v->l[j] = _mm256_add_epi64(v->l[j], _mm256_and_si256(twice, p));
    }
} // then fp4_carry
static inline void fp4_canonical_end(fp4 *v) {
    const fp4_vec top = v->l[FP4_LIMBS - 1];
    const fp4_vec above = _mm256_cmpgt_epi64(top, _mm256_set1_epi64x((int64_t)FP4_MODULUS[FP4_LIMBS - 1] - 1));
    if (__builtin_expect(fp4_signs(_mm256_or_si256(above, top)) != 0, 0)) fp4_canonical_rare(v);
}
static inline void fp4_canonical(fp4 *v) {
    fp4_canonical_begin(v);
    fp4_carry(v);
    fp4_canonical_end(v);
}

// Six words of 64 bits to limbs and back, the same integers, tight. Words come in three pairs w, one after the other;
// `last` is the second word of the pair before.
static inline fp4_vec fp4_join(fp4_vec lo, int down, fp4_vec hi, int up) {
    return _mm256_or_si256(_mm256_srli_epi64(lo, down), _mm256_slli_epi64(hi, up));
}
static inline void fp4_from_pair(fp4 *out, int pair, fp4_vec last, const fp4_vec w[2]) {
    const fp4_vec mask = _mm256_set1_epi64x(LIMB51_MASK);
    if (pair == 0) {
        out->l[0] = _mm256_and_si256(w[0], mask);
        out->l[1] = _mm256_and_si256(fp4_join(w[0], 51, w[1], 13), mask);
    } else if (pair == 1) {
        out->l[2] = _mm256_and_si256(fp4_join(last, 38, w[0], 26), mask);
        out->l[3] = _mm256_and_si256(fp4_join(w[0], 25, w[1], 39), mask);
        out->l[4] = _mm256_and_si256(_mm256_srli_epi64(w[1], 12), mask);
    } else {
        out->l[5] = _mm256_and_si256(fp4_join(last, 63, w[0], 1), mask);
        out->l[6] = _mm256_and_si256(fp4_join(w[0], 50, w[1], 14), mask);
        out->l[7] = _mm256_srli_epi64(w[1], 37);
    }
}
static inline void fp4_from_words(fp4 *out, const fp4_vec w[6]) {
    for (int pair = 0; pair < 3; pair++) fp4_from_pair(out, pair, w[pair > 0 ? 2 * pair - 1 : 0], &w[2 * pair]);
}
static inline void fp4_to_words(fp4_vec w[6], const fp4 *v) {
    w[0] = fp4_join(v->l[0], 0, v->l[1], 51);
    w[1] = fp4_join(v->l[1], 13, v->l[2], 38);
    w[2] = fp4_join(v->l[2], 26, v->l[3], 25);
    w[3] = _mm256_or_si256(fp4_join(v->l[3], 39, v->l[4], 12), _mm256_slli_epi64(v->l[5], 63));
    w[4] = fp4_join(v->l[5], 1, v->l[6], 50);
    w[5] = fp4_join(v->l[6], 14, v->l[7], 37);
}

// Four elements from four addresses, a third of them at a time: pair 0, 1, 2 in turn, with *last between. Reads
// sixteen-byte pieces of the elements, nothing beside them.
static inline void fp4_load_pair(fp4 *out, const fp *const from[FP4_LANES], int pair, fp4_vec *last) {
    const __m128i *at[FP4_LANES];
    for (int i = 0; i < FP4_LANES; i++) at[i] = (const void *)&from[i]->l[2 * pair];
    const fp4_vec even = _mm256_loadu2_m128i(at[2], at[0]), odd = _mm256_loadu2_m128i(at[3], at[1]);
    const fp4_vec w[2] = {_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd)};
    fp4_from_pair(out, pair, pair > 0 ? *last : w[0], w);
    *last = w[1];
}

// Reduced integers as they are stored, an element a lane.
typedef struct fp4_rows {
    fp4_vec low[FP4_LANES]; // words 0 to 3
    fp4_vec high[2];        // words 4 and 5, of lanes 0 and 2, of 1 and 3
} fp4_rows;
static inline void fp4_to_rows(fp4_rows *out, const fp4 *v) {
    fp4_vec w[6];
    fp4_to_words(w, v);
    const fp4_vec a = _mm256_unpacklo_epi64(w[0], w[1]), b = _mm256_unpackhi_epi64(w[0], w[1]);
    const fp4_vec c = _mm256_unpacklo_epi64(w[2], w[3]), d = _mm256_unpackhi_epi64(w[2], w[3]);
    out->low[0] = _mm256_permute2x128_si256(a, c, 0x20);
    out->low[1] = _mm256_permute2x128_si256(b, d, 0x20);
    out->low[2] = _mm256_permute2x128_si256(a, c, 0x31);
    out->low[3] = _mm256_permute2x128_si256(b, d, 0x31);
    out->high[0] = _mm256_unpacklo_epi64(w[4], w[5]);
    out->high[1] = _mm256_unpackhi_epi64(w[4], w[5]);
}
static inline void fp4_store_row(fp *to, const fp4_rows *rows, int lane) {
    const fp4_vec high = rows->high[lane & 1];
    _mm256_storeu_si256((void *)to->l, rows->low[lane]);
    _mm_storeu_si128((void *)&to->l[4], lane < 2 ? _mm256_castsi256_si128(high) : _mm256_extracti128_si256(high, 1));
}

// As fp8_mul_beside and fp8_sqr_beside, but the other work comes after the multiplication: its own instructions are
// enough for all units, and compiled into every place where it is used they would not fit into a first-level cache.
VEC_INLINE void fp4_mul_beside(fp4 *out, const fp4 *a, const fp4 *b, vec_beside *beside, void *state, int from,
                               int to) {
    fp4_mul(out, a, b);
    for (int step = from; step < to; step++) beside(state, step);
}
VEC_INLINE void fp4_sqr_beside(fp4 *out, const fp4 *a, vec_beside *beside, void *state, int from, int to) {
    fp4_sqr(out, a);
    for (int step = from; step < to; step++) beside(state, step);
}

#endif
