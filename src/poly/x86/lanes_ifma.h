// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Eight elements of Fr at a time with AVX-512 IFMA: the lanes of wide_tmpl.c.
//
// A product a c with a constant c is the sum of a_i (c 2^(52 i)), a_i the limbs of a. With the residues of c 2^(52 (i +
// 1)) in a table it is one limb longer than r, and one step of Montgomery's method takes that off: 59 multiplications
// of limbs, where a product of two variables takes 95.
#ifndef CUZK_POLY_X86_LANES_IFMA_H
#define CUZK_POLY_X86_LANES_IFMA_H

#include "field/x86/fr_ifma.h"
#include "poly/x86/lanes.h"

// Nothing to set and to put back.
static inline unsigned lanes_enter(void) { return 0; }
static inline void lanes_leave(unsigned was) { (void)was; }

LIMB_INLINE fr8 fr8_all(const uint64_t w[4]) {
    return fr8_unpack(fr8_word(w[0]), fr8_word(w[1]), fr8_word(w[2]), fr8_word(w[3]));
}

// a b / 2^260 mod r, of loose operands: below a b / 2^260 + r.
LIMB_INLINE fr8 fr8_product(const fr8 *a, const fr8 *b) {
    fr8 x = *a, y = *b;
    fr8_lift(&x), fr8_lift(&y);
    return fr8_mul(&x, &y);
}

// x - y + k, for a multiple k of r.
LIMB_INLINE void minus_plus(fr8 *x, const fr8 *y, const uint64_t k[5]) {
    for (int j = 0; j < 5; j++) x->l[j] = _mm512_sub_epi64(_mm512_add_epi64(x->l[j], fr8_word(k[j])), y->l[j]);
}

// Lanes of a loose x that are well above k r: if not, x is below k r (1 + 2^-34). Limb 4 may be wrong by the carries
// that are still below, less than 2^10; it must exceed that of k r by more.
LIMB_INLINE __mmask8 above(const fr8 *x, const uint64_t kr[5]) {
    return _mm512_cmpgt_epi64_mask(x->l[4], fr8_word(kr[4] + 2048));
}
// x - k r in those lanes.
LIMB_INLINE void lower(fr8 *x, const uint64_t kr[5]) {
    const __mmask8 m = above(x, kr);
    for (int i = 0; i < 5; i++) x->l[i] = _mm512_mask_sub_epi64(x->l[i], m, x->l[i], fr8_word(kr[i]));
}

// Eight rows of eight words <-> eight columns.
LIMB_INLINE void transpose(__m512i x[8]) {
    __m512i y[8], z[8];
    for (int i = 0; i < 4; i++) {
        y[2 * i] = _mm512_unpacklo_epi64(x[2 * i], x[2 * i + 1]);
        y[2 * i + 1] = _mm512_unpackhi_epi64(x[2 * i], x[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++)
        for (int h = 0; h < 2; h++) {
            z[4 * h + i] = _mm512_shuffle_i64x2(y[4 * h + i], y[4 * h + 2 + i], 0x88);
            z[4 * h + 2 + i] = _mm512_shuffle_i64x2(y[4 * h + i], y[4 * h + 2 + i], 0xdd);
        }
    for (int i = 0; i < 4; i++) {
        x[i] = _mm512_shuffle_i64x2(z[i], z[4 + i], 0x88);
        x[4 + i] = _mm512_shuffle_i64x2(z[i], z[4 + i], 0xdd);
    }
}

// Elements 2i and 2i + 1 of eight rows.
LIMB_INLINE void rows_in(fr8 *even, fr8 *odd, const fr *const row[WIDE_LANES], size_t i) {
    __m512i x[8];
    for (int l = 0; l < 8; l++) x[l] = _mm512_loadu_si512(row[l] + 2 * i);
    transpose(x);
    *even = fr8_unpack(x[0], x[1], x[2], x[3]);
    *odd = fr8_unpack(x[4], x[5], x[6], x[7]);
}

// Elements 2i and 2i + 1 of eight rows, clean and below 2^256.
LIMB_INLINE void rows_out(fr *const row[WIDE_LANES], size_t i, const fr8 *even, const fr8 *odd) {
    __m512i x[8];
    fr8_pack(x, even), fr8_pack(x + 4, odd);
    transpose(x);
    for (int l = 0; l < 8; l++) _mm512_storeu_si512(row[l] + 2 * i, x[l]);
}

// A constant for each lane: limbs of c 2^(52 (i + 1)) mod r, not always the least residue.
typedef struct lane_factor {
    fr8 c[5];
} lane_factor;

// From c 2^260, clean: c[4] is that, the others are below r (1 + 2^-40).
static void lane_factor_from(lane_factor *f, const fr8 *c) {
    fr8 x = *c;
    f->c[4] = x;
    for (int i = 4; i-- > 0;) {
        const __m512i t[6] = {x.l[0], x.l[1], x.l[2], x.l[3], x.l[4], _mm512_setzero_si512()};
        x = fr8_down(t, fr8_down_by(t[0]));
        fr8_clean(&x);
        f->c[i] = x;
    }
}

LIMB_INLINE factor of_lane(const lane_factor *f) { return (factor){(const uint64_t *)(const void *)f, true}; }

LIMB_INLINE __m512i factor_limb(factor f, int i, int j) {
    return f.of_lane ? _mm512_load_si512(f.words + (5 * i + j) * WIDE_LANES) : fr8_word(f.words[5 * i + j]);
}

// A product a c under way, limb by limb from the lowest: after product_start, product_limb for j = 0 .. 4. a is lifted.
// Terms a_i c_i / 2^52 are below r each for i < 4 and below c_4 for the last one, and the step adds r: the result is
// below 5.01 r + c_4, which is 6.01 r with least residues. Its limbs are in [0, 13 * 2^52).
//
// The order is for processors with one store of 64 bytes in two cycles: data that is stored the moment it is computed
// goes there directly, while data that has to wait is read from a register later, in the place of an operand of a
// multiplication. Users store each limb as it comes, and two products take turns, which also hides latency.
typedef struct product {
    __m512i s[6]; // columns
    __m512i m;
} product;

LIMB_INLINE void term(product *p, int j, __m512i a, __m512i c) {
    p->s[j] = fr8_lo(p->s[j], a, c);
    p->s[j + 1] = fr8_hi(p->s[j + 1], a, c);
}
LIMB_INLINE void product_start(product *p, const fr8 *a, factor c) {
    for (int j = 0; j < 6; j++) p->s[j] = _mm512_setzero_si512();
    for (int j = 4; j >= 0; j--) term(p, j, a->l[0], factor_limb(c, 0, j));
    for (int i = 1; i < 5; i++) term(p, 0, a->l[i], factor_limb(c, i, 0));
    p->m = fr8_down_by(p->s[0]);
    p->s[1] = _mm512_add_epi64(p->s[1], fr8_down_carry(p->s[0]));
}
LIMB_INLINE __m512i product_limb(product *p, const fr8 *a, factor c, int j) {
    if (j < 4) {
        for (int i = 1; i < 5; i++) term(p, j + 1, a->l[i], factor_limb(c, i, j + 1));
        p->s[j + 1] = fr8_lo(p->s[j + 1], p->m, fr8_word(FR52_R[j + 1]));
    }
    return fr8_hi(p->s[j + 1], p->m, fr8_word(FR52_R[j]));
}

LIMB_INLINE void times_pair(fr8 *a, fr8 *b, factor c, factor d) {
    fr8 x = *a, y = *b;
    fr8_lift(&x), fr8_lift(&y);
    product p, q;
    product_start(&p, &x, c), product_start(&q, &y, d);
    // Written out: a loop would keep columns in memory.
    a->l[0] = product_limb(&p, &x, c, 0), b->l[0] = product_limb(&q, &y, d, 0);
    a->l[1] = product_limb(&p, &x, c, 1), b->l[1] = product_limb(&q, &y, d, 1);
    a->l[2] = product_limb(&p, &x, c, 2), b->l[2] = product_limb(&q, &y, d, 2);
    a->l[3] = product_limb(&p, &x, c, 3), b->l[3] = product_limb(&q, &y, d, 3);
    a->l[4] = product_limb(&p, &x, c, 4), b->l[4] = product_limb(&q, &y, d, 4);
}

// Limb j of (u, v) := (u + t, u - t + 7 r), for t below 6.1 r; u loses 16 r first in the lanes of m. Limbs grow by less
// than 14 * 2^52.
LIMB_INLINE void spread(fr8 *u, fr8 *v, int j, __mmask8 m, __m512i t) {
    const __m512i x = _mm512_mask_sub_epi64(u->l[j], m, u->l[j], fr8_word(WIDE_R16[j]));
    u->l[j] = _mm512_add_epi64(x, t);
    v->l[j] = _mm512_sub_epi64(_mm512_add_epi64(x, fr8_word(WIDE_R7[j])), t);
}

// Two butterflies (u, v) := (u + c v, u - c v). Levels go in twos, and before the first of them u is lowered: from 33.1
// r to 17.1 r, to which two levels add 7 r each.
LIMB_INLINE void butterflies(fr8 *u0, fr8 *v0, fr8 *u1, fr8 *v1, bool first, factor c, factor d) {
    fr8 x = *v0, y = *v1;
    fr8_lift(&x), fr8_lift(&y);
    const __mmask8 m = first ? above(u0, WIDE_R16) : 0, n = first ? above(u1, WIDE_R16) : 0;
    product p, q;
    product_start(&p, &x, c), product_start(&q, &y, d);
    spread(u0, v0, 0, m, product_limb(&p, &x, c, 0)), spread(u1, v1, 0, n, product_limb(&q, &y, d, 0));
    spread(u0, v0, 1, m, product_limb(&p, &x, c, 1)), spread(u1, v1, 1, n, product_limb(&q, &y, d, 1));
    spread(u0, v0, 2, m, product_limb(&p, &x, c, 2)), spread(u1, v1, 2, n, product_limb(&q, &y, d, 2));
    spread(u0, v0, 3, m, product_limb(&p, &x, c, 3)), spread(u1, v1, 3, n, product_limb(&q, &y, d, 3));
    spread(u0, v0, 4, m, product_limb(&p, &x, c, 4)), spread(u1, v1, 4, n, product_limb(&q, &y, d, 4));
}

// The same for c = 1: (u, v) := (u + v, u - v + 17 r) for numbers below 32.1 r, or 33.1 r if what comes is multiplied
// next. A lowered number may exceed 16 r by e = 2^-30 r, which a sum of sums doubles: eleven levels make it 2^-19 r.
// Limbs double too.
LIMB_INLINE void plain(fr8 *u, fr8 *v) {
    const __mmask8 m = above(u, WIDE_R16), n = above(v, WIDE_R16);
    for (int j = 0; j < 5; j++) {
        const __m512i x = _mm512_mask_sub_epi64(u->l[j], m, u->l[j], fr8_word(WIDE_R16[j])),
                      t = _mm512_mask_sub_epi64(v->l[j], n, v->l[j], fr8_word(WIDE_R16[j]));
        u->l[j] = _mm512_add_epi64(x, t);
        v->l[j] = _mm512_sub_epi64(_mm512_add_epi64(x, fr8_word(WIDE_R17[j])), t);
    }
}

// The same for c = 1 and clean numbers below 4.5 r: (u + v, u - v + 7 r).
LIMB_INLINE void plain_short(fr8 *u, fr8 *v) {
    const fr8 t = *v;
    for (int j = 0; j < 5; j++) spread(u, v, j, 0, t.l[j]);
}

#endif
