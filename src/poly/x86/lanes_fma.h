// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Eight elements of Fr at a time with AVX2 and FMA: the lanes of wide_tmpl.c as two halves of four. Formats and ranges
// are those of lanes_ifma.h, five limbs of 52 bits in words of 64; only the way to multiply two limbs differs.
//
// A processor without a vector multiplication of integers of 52 bits has one of doubles, whose significands are as
// long. Rounding towards zero, 2^104 + a b is 2^104 + 2^52 floor(a b / 2^52), and its low 52 bits as a word are the
// high half of the product; a b less that half, plus 2^52, is exact, and the low 52 bits of that word are the low half.
// Both words are summed as they are, and what their exponents add is taken off by the value a sum starts at. So the
// rounding mode of the processor is set while a kernel runs (lanes_enter, lanes_leave).
//
// Factors are doubles in memory (wide.h).
#ifndef CUZK_POLY_X86_LANES_FMA_H
#define CUZK_POLY_X86_LANES_FMA_H

#include <immintrin.h>
#include <string.h>

#include "poly/x86/lanes.h"
#include "poly/x86/lanes_fma_words.h"

#if defined(__GNUC__)
#define LANES_CALLED static __attribute__((noinline))
#else
#define LANES_CALLED static
#endif

typedef struct fr8 {
    __m256i l[5][2]; // limb j of lanes 0 .. 3 and of lanes 4 .. 7
} fr8;
typedef struct fr4 {
    __m256i l[5];
} fr4;

// r and 2^260 - r in limbs of 52 bits.
static const uint64_t FR52_R[5] = {0xfffff00000001, 0x2fffe5bfefff, 0x9a1d80553bda4, 0x7d483339d8080, 0x73eda753299d};
static const uint64_t FR52_NEG_R[5] = {0xffffffff, 0xfd0001a401000, 0x65e27faac425b, 0x82b7ccc627f7f, 0xf8c1258acd662};

// Rounding towards zero, and no exceptions whatever the program has asked for, until lanes_leave, which takes what
// lanes_enter returned.
static inline unsigned lanes_enter(void) {
    const unsigned was = _mm_getcsr();
    _mm_setcsr(was | _MM_MASK_MASK | _MM_ROUND_TOWARD_ZERO); // all bits of both
    return was;
}
static inline void lanes_leave(unsigned was) { _mm_setcsr(was); }

// The bits of a double, of a word and of four. (Compilers load a constant double for all lanes at once, and make one of
// a word by three instructions.)
LIMB_INLINE __m256d real4(uint64_t v) {
    double d;
    memcpy(&d, &v, sizeof d);
    return _mm256_set1_pd(d);
}
LIMB_INLINE __m256i word4(uint64_t v) { return _mm256_castpd_si256(real4(v)); }

LIMB_INLINE fr4 fr8_half(const fr8 *x, int h) {
    return (fr4){{x->l[0][h], x->l[1][h], x->l[2][h], x->l[3][h], x->l[4][h]}};
}
LIMB_INLINE void fr8_set_half(fr8 *x, int h, const fr4 *y) {
    for (int j = 0; j < 5; j++) x->l[j][h] = y->l[j];
}

// The same four words in all lanes, in limbs.
LIMB_INLINE fr4 fr4_of(__m256i w0, __m256i w1, __m256i w2, __m256i w3) {
    const __m256i m = word4(LANES_FMA_WORDS.bits);
    fr4 x;
    x.l[0] = _mm256_and_si256(w0, m);
    x.l[1] = _mm256_and_si256(_mm256_or_si256(_mm256_srli_epi64(w0, 52), _mm256_slli_epi64(w1, 12)), m);
    x.l[2] = _mm256_and_si256(_mm256_or_si256(_mm256_srli_epi64(w1, 40), _mm256_slli_epi64(w2, 24)), m);
    x.l[3] = _mm256_and_si256(_mm256_or_si256(_mm256_srli_epi64(w2, 28), _mm256_slli_epi64(w3, 36)), m);
    x.l[4] = _mm256_srli_epi64(w3, 16);
    return x;
}

// Carries moved up; loose limbs (signed, below 2^61) in, lifted out. AVX2 has no arithmetic shift of words, so a limb
// is made positive by 2^62, of which the carry has 2^10.
LIMB_INLINE void fr4_lift(fr4 *x) {
    const __m256i up = word4(LANES_FMA_WORDS.up), between = word4(LANES_FMA_WORDS.between);
    x->l[0] = _mm256_add_epi64(x->l[0], up);
    for (int i = 0; i < 3; i++)
        x->l[i + 1] = _mm256_add_epi64(_mm256_add_epi64(x->l[i + 1], between), _mm256_srli_epi64(x->l[i], 52));
    x->l[4] = _mm256_add_epi64(_mm256_sub_epi64(x->l[4], word4(LANES_FMA_WORDS.down)), _mm256_srli_epi64(x->l[3], 52));
}
LIMB_INLINE void fr4_clean(fr4 *x) {
    fr4_lift(x);
    for (int i = 0; i < 5; i++) x->l[i] = _mm256_and_si256(x->l[i], word4(LANES_FMA_WORDS.bits));
}
LIMB_INLINE void fr8_clean(fr8 *x) {
    for (int h = 0; h < 2; h++) {
        fr4 y = fr8_half(x, h);
        fr4_clean(&y);
        fr8_set_half(x, h, &y);
    }
}

// The low 52 bits of a word as a double.
LIMB_INLINE __m256d real_of(__m256i word) {
    const __m256i w = _mm256_or_si256(_mm256_and_si256(word, word4(LANES_FMA_WORDS.bits)), word4(LANES_FMA_WORDS.low));
    return _mm256_sub_pd(_mm256_castsi256_pd(w), real4(LOW_WORD));
}

typedef struct real {
    __m256d d[5];
} real;

// A loose number to multiply.
LIMB_INLINE real real_from(const fr4 *loose) {
    fr4 x = *loose;
    fr4_lift(&x);
    return (real){{real_of(x.l[0]), real_of(x.l[1]), real_of(x.l[2]), real_of(x.l[3]), real_of(x.l[4])}};
}

// *low and *high += the halves of a b, and LOW_WORD and HIGH_WORD.
LIMB_INLINE __m256d high_half(__m256i *high, __m256d a, __m256d b) {
    const __m256d p = _mm256_fmadd_pd(a, b, real4(HIGH_WORD));
    *high = _mm256_add_epi64(*high, _mm256_castpd_si256(p));
    return p;
}
LIMB_INLINE void halves(__m256i *low, __m256i *high, __m256d a, __m256d b) {
    const __m256d p = high_half(high, a, b), less = _mm256_sub_pd(real4(HIGH_WORD + 1), p);
    *low = _mm256_add_epi64(*low, _mm256_castpd_si256(_mm256_fmadd_pd(a, b, less)));
}
// What a sum starts at that takes so many low and high halves.
LIMB_INLINE __m256i before(unsigned lows, unsigned highs) { return word4(0 - lows * LOW_WORD - highs * HIGH_WORD); }

// Lanes, all ones or zero, of a loose x that are well above k r: if not, x is below k r (1 + 2^-34). Limb 4 may be
// wrong by the carries that are still below, less than 2^10; it must exceed that of k r by more.
LIMB_INLINE __m256i above4(__m256i top, const uint64_t kr[5]) {
    return _mm256_cmpgt_epi64(_mm256_sub_epi64(top, word4(LANES_FMA_WORDS.margin)), word4(kr[4]));
}
// x - k r in those lanes.
LIMB_INLINE __m256i less4(__m256i x, __m256i mask, uint64_t limb) {
    return _mm256_sub_epi64(x, _mm256_and_si256(mask, word4(limb)));
}
LIMB_INLINE void lower(fr8 *x, const uint64_t kr[5]) {
    for (int h = 0; h < 2; h++) {
        const __m256i m = above4(x->l[4][h], kr);
        for (int j = 0; j < 5; j++) x->l[j][h] = less4(x->l[j][h], m, kr[j]);
    }
}

// x - y + k, for a multiple k of r.
LIMB_INLINE void minus_plus(fr8 *x, const fr8 *y, const uint64_t k[5]) {
    for (int j = 0; j < 5; j++)
        for (int h = 0; h < 2; h++)
            x->l[j][h] = _mm256_sub_epi64(_mm256_add_epi64(x->l[j][h], word4(k[j])), y->l[j][h]);
}

// --- in and out ---

// Four rows of four words <-> four columns.
LIMB_INLINE void transpose(__m256i x[4]) {
    const __m256i a = _mm256_unpacklo_epi64(x[0], x[1]), b = _mm256_unpackhi_epi64(x[0], x[1]),
                  c = _mm256_unpacklo_epi64(x[2], x[3]), d = _mm256_unpackhi_epi64(x[2], x[3]);
    x[0] = _mm256_permute2x128_si256(a, c, 0x20), x[1] = _mm256_permute2x128_si256(b, d, 0x20);
    x[2] = _mm256_permute2x128_si256(a, c, 0x31), x[3] = _mm256_permute2x128_si256(b, d, 0x31);
}
// Four elements, clean.
LIMB_INLINE fr4 fr4_in(const fr *a, const fr *b, const fr *c, const fr *d) {
    __m256i x[4] = {_mm256_loadu_si256((const __m256i *)(const void *)a->l),
                    _mm256_loadu_si256((const __m256i *)(const void *)b->l),
                    _mm256_loadu_si256((const __m256i *)(const void *)c->l),
                    _mm256_loadu_si256((const __m256i *)(const void *)d->l)};
    transpose(x);
    return fr4_of(x[0], x[1], x[2], x[3]);
}
// Clean and below 2^256.
LIMB_INLINE void fr4_out(fr *a, fr *b, fr *c, fr *d, const fr4 *x) {
    __m256i w[4] = {_mm256_or_si256(x->l[0], _mm256_slli_epi64(x->l[1], 52)),
                    _mm256_or_si256(_mm256_srli_epi64(x->l[1], 12), _mm256_slli_epi64(x->l[2], 40)),
                    _mm256_or_si256(_mm256_srli_epi64(x->l[2], 24), _mm256_slli_epi64(x->l[3], 28)),
                    _mm256_or_si256(_mm256_srli_epi64(x->l[3], 36), _mm256_slli_epi64(x->l[4], 16))};
    transpose(w);
    _mm256_storeu_si256((__m256i *)(void *)a->l, w[0]), _mm256_storeu_si256((__m256i *)(void *)b->l, w[1]);
    _mm256_storeu_si256((__m256i *)(void *)c->l, w[2]), _mm256_storeu_si256((__m256i *)(void *)d->l, w[3]);
}

LIMB_INLINE fr8 fr8_load(const fr *p) {
    fr8 x;
    for (int h = 0; h < 2; h++, p += 4) {
        const fr4 y = fr4_in(p, p + 1, p + 2, p + 3);
        fr8_set_half(&x, h, &y);
    }
    return x;
}
LIMB_INLINE void fr8_store(fr *p, const fr8 *clean) {
    for (int h = 0; h < 2; h++, p += 4) {
        const fr4 y = fr8_half(clean, h);
        fr4_out(p, p + 1, p + 2, p + 3, &y);
    }
}
LIMB_INLINE fr8 fr8_all(const uint64_t w[4]) {
    const fr4 y = fr4_of(word4(w[0]), word4(w[1]), word4(w[2]), word4(w[3]));
    fr8 x;
    fr8_set_half(&x, 0, &y), fr8_set_half(&x, 1, &y);
    return x;
}

// Elements 2i and 2i + 1 of eight rows.
LIMB_INLINE void rows_in(fr8 *even, fr8 *odd, const fr *const row[WIDE_LANES], size_t i) {
    for (int h = 0; h < 2; h++) {
        const fr *const *r = row + 4 * h;
        const fr4 x = fr4_in(r[0] + 2 * i, r[1] + 2 * i, r[2] + 2 * i, r[3] + 2 * i);
        const fr4 y = fr4_in(r[0] + 2 * i + 1, r[1] + 2 * i + 1, r[2] + 2 * i + 1, r[3] + 2 * i + 1);
        fr8_set_half(even, h, &x), fr8_set_half(odd, h, &y);
    }
}
LIMB_INLINE void rows_out(fr *const row[WIDE_LANES], size_t i, const fr8 *even, const fr8 *odd) {
    for (int h = 0; h < 2; h++) {
        fr *const *r = row + 4 * h;
        const fr4 x = fr8_half(even, h), y = fr8_half(odd, h);
        fr4_out(r[0] + 2 * i, r[1] + 2 * i, r[2] + 2 * i, r[3] + 2 * i, &x);
        fr4_out(r[0] + 2 * i + 1, r[1] + 2 * i + 1, r[2] + 2 * i + 1, r[3] + 2 * i + 1, &y);
    }
}

// --- products of two variables, and reduction ---

LIMB_INLINE __m256d r_real(int j) { return _mm256_set1_pd((double)FR52_R[j]); }

// The m of a step of Montgomery's method: -t0 / r = -t0 (1 + 2^32) modulo 2^52, as r = 1 - 2^32 mod 2^64.
LIMB_INLINE __m256d down_by(__m256i t0) {
    return real_of(_mm256_sub_epi64(_mm256_setzero_si256(), _mm256_add_epi64(t0, _mm256_slli_epi64(t0, 32))));
}
// The low 52 bits of t0 + m r0 are zero: what is carried is t0 >> 52, and one more unless they were zero before.
LIMB_INLINE __m256i down_carry(__m256i t0) {
    return _mm256_srli_epi64(_mm256_add_epi64(t0, word4(LANES_FMA_WORDS.bits)), 52);
}
// (t + m r) / 2^52, of limbs in [0, 2^62).
LIMB_INLINE fr4 down(const __m256i t[6]) {
    const __m256d m = down_by(t[0]);
    __m256i x[6] = {t[0], _mm256_add_epi64(t[1], down_carry(t[0])), t[2], t[3], t[4], t[5]};
    for (int j = 1; j < 6; j++) x[j] = _mm256_add_epi64(x[j], before(j < 5 ? 1 : 0, 1));
    (void)high_half(&x[1], m, r_real(0));
    for (int j = 1; j < 5; j++) halves(&x[j], &x[j + 1], m, r_real(j));
    return (fr4){{x[1], x[2], x[3], x[4], x[5]}};
}

// a b / 2^260 mod r, one limb of b a step: below a b / 2^260 + r. Loose operands in [0, 2^260).
static inline fr8 fr8_product(const fr8 *a, const fr8 *b) {
    fr8 out;
    for (int h = 0; h < 2; h++) {
        const fr4 s = fr8_half(a, h), t = fr8_half(b, h);
        const real x = real_from(&s), y = real_from(&t);
        fr4 sum = {{word4(0), word4(0), word4(0), word4(0), word4(0)}};
        for (int i = 0; i < 5; i++) {
            __m256i c[6];
            for (int j = 0; j < 6; j++)
                c[j] = _mm256_add_epi64(j < 5 ? sum.l[j] : word4(0), before(j < 5 ? 1 : 0, j > 0 ? 1 : 0));
            for (int j = 0; j < 5; j++) halves(&c[j], &c[j + 1], x.d[j], y.d[i]);
            sum = down(c);
        }
        fr8_set_half(&out, h, &sum);
    }
    return out;
}

// To below 1.4 r; clean in and out, any value below 2^260. k = floor(35 x4 / 2^52) is x/r - k < 1.34, as
// 35/35.33 x/r - 1 < k <= x/r.
LIMB_INLINE void fr4_reduce_short(fr4 *x) {
    __m256i high = before(0, 1), over = word4(0);
    (void)high_half(&high, real_of(x->l[4]), _mm256_set1_pd(35));
    const __m256d k = real_of(high);
    for (int j = 0; j < 5; j++) {
        x->l[j] = _mm256_add_epi64(x->l[j], before(1, j > 0 ? 1 : 0));
        halves(&x->l[j], j < 4 ? &x->l[j + 1] : &over, k, _mm256_set1_pd((double)FR52_NEG_R[j]));
    }
    fr4_clean(x);
}
LIMB_INLINE void fr8_reduce_short(fr8 *x) {
    for (int h = 0; h < 2; h++) {
        fr4 y = fr8_half(x, h);
        fr4_reduce_short(&y);
        fr8_set_half(x, h, &y);
    }
}
// The residue below r: one subtraction more is enough.
LIMB_INLINE void fr8_reduce(fr8 *x) {
    for (int h = 0; h < 2; h++) {
        fr4 y = fr8_half(x, h), less;
        fr4_reduce_short(&y);
        for (int j = 0; j < 5; j++) less.l[j] = _mm256_add_epi64(y.l[j], word4(FR52_NEG_R[j]));
        fr4_lift(&less); // bit 52 of limb 4: y + 2^260 - r reached 2^260, so y >= r
        const __m256i bit = word4(UINT64_C(1) << 52), over = _mm256_cmpeq_epi64(_mm256_and_si256(less.l[4], bit), bit);
        for (int j = 0; j < 5; j++)
            y.l[j] = _mm256_blendv_epi8(y.l[j], _mm256_and_si256(less.l[j], word4(LANES_FMA_WORDS.bits)), over);
        fr8_set_half(x, h, &y);
    }
}

// --- products by constants ---

// A constant for each lane: limbs of c 2^(52 (i + 1)) mod r, not always the least residue, as doubles.
typedef struct lane_factor {
    fr8 c[5];
} lane_factor;

// From c 2^260, clean: c[4] is that, the others are below r (1 + 2^-40).
static void lane_factor_from(lane_factor *f, const fr8 *c) {
    for (int h = 0; h < 2; h++) {
        fr4 x = fr8_half(c, h);
        for (int i = 5; i-- > 0;) {
            for (int j = 0; j < 5; j++) f->c[i].l[j][h] = _mm256_castpd_si256(real_of(x.l[j]));
            const __m256i t[6] = {x.l[0], x.l[1], x.l[2], x.l[3], x.l[4], word4(0)};
            x = down(t);
            fr4_clean(&x);
        }
    }
}

LIMB_INLINE factor of_lane(const lane_factor *f) { return (factor){(const uint64_t *)(const void *)f, true}; }

// For one half; a pointer to the first limb of a half steps over those of the other.
LIMB_INLINE __m256d factor_limb(factor f, int i, int j) {
    if (!f.of_lane) return real4(f.words[5 * i + j]);
    return _mm256_castsi256_pd(_mm256_load_si256((const __m256i *)(const void *)(f.words + (5 * i + j) * WIDE_LANES)));
}

// A product a c of one half under way, limb by limb from the lowest: after product_start, product_limb for j = 0 .. 4.
// Terms a_i c_i / 2^52 are below r each for i < 4 and below c_4 for the last one, and the step adds r: the result is
// below 5.01 r + c_4, which is 6.01 r with least residues. Its limbs are in [0, 13 * 2^52).
//
// The lowest limb of a and then column by column, so that m is on its way early and all stays in sixteen registers.
typedef struct product {
    real a;
    __m256i s[6]; // columns
    __m256d m;
} product;

// All terms of a column but that of the lowest limb of a.
LIMB_INLINE void column(product *p, factor c, int j) {
    for (int i = 1; i < 5; i++) halves(&p->s[j], &p->s[j + 1], p->a.d[i], factor_limb(c, i, j));
}
LIMB_INLINE void product_start(product *p, const __m256i *a, factor c) {
    const fr4 x = {{a[0], a[2], a[4], a[6], a[8]}};
    p->a = real_from(&x);
    p->s[0] = word4(LANES_FMA_WORDS.before_first), p->s[5] = word4(LANES_FMA_WORDS.before_last);
    for (int j = 1; j < 5; j++) p->s[j] = word4(LANES_FMA_WORDS.before);
    for (int j = 0; j < 5; j++) halves(&p->s[j], &p->s[j + 1], p->a.d[0], factor_limb(c, 0, j));
    column(p, c, 0);
    p->m = down_by(p->s[0]);
    p->s[1] = _mm256_add_epi64(p->s[1], down_carry(p->s[0]));
    (void)high_half(&p->s[1], p->m, r_real(0));
}
LIMB_INLINE __m256i product_limb(product *p, factor c, int j) {
    if (j < 4) {
        column(p, c, j + 1);
        halves(&p->s[j + 1], &p->s[j + 2], p->m, r_real(j + 1));
    }
    return p->s[j + 1];
}

LIMB_INLINE void times4(__m256i *a, factor c) {
    product p;
    product_start(&p, a, c);
    // Written out: a loop would keep columns in memory.
    a[0] = product_limb(&p, c, 0);
    a[2] = product_limb(&p, c, 1);
    a[4] = product_limb(&p, c, 2);
    a[6] = product_limb(&p, c, 3);
    a[8] = product_limb(&p, c, 4);
}
// Out of line: one is some 300 instructions, and a loop with several must fit a cache of instructions.
LANES_CALLED void times4_shared(__m256i *a, const uint64_t *c) { times4(a, (factor){c, false}); }
LANES_CALLED void times4_of_lane(__m256i *a, const uint64_t *c) { times4(a, (factor){c, true}); }
LIMB_INLINE void times8(fr8 *a, factor c) {
    void (*const times)(__m256i *, const uint64_t *) = c.of_lane ? times4_of_lane : times4_shared;
    times(&a->l[0][0], c.words);
    times(&a->l[0][1], c.of_lane ? c.words + 4 : c.words);
}
LIMB_INLINE void times_pair(fr8 *a, fr8 *b, factor c, factor d) { times8(a, c), times8(b, d); }

// --- butterflies: bounds in lanes_ifma.h ---

LIMB_INLINE void spread4(__m256i *u, __m256i *v, int j, bool first, __m256i m, __m256i t) {
    const __m256i x = first ? less4(u[2 * j], m, WIDE_R16[j]) : u[2 * j];
    u[2 * j] = _mm256_add_epi64(x, t);
    v[2 * j] = _mm256_sub_epi64(_mm256_add_epi64(x, word4(WIDE_R7[j])), t);
}
LIMB_INLINE void butterfly4(__m256i *u, __m256i *v, bool first, factor c) {
    const __m256i m = first ? above4(u[8], WIDE_R16) : word4(0);
    product p;
    product_start(&p, v, c);
    spread4(u, v, 0, first, m, product_limb(&p, c, 0));
    spread4(u, v, 1, first, m, product_limb(&p, c, 1));
    spread4(u, v, 2, first, m, product_limb(&p, c, 2));
    spread4(u, v, 3, first, m, product_limb(&p, c, 3));
    spread4(u, v, 4, first, m, product_limb(&p, c, 4));
}
LANES_CALLED void butterfly4_first(__m256i *u, __m256i *v, const uint64_t *c) {
    butterfly4(u, v, true, (factor){c, false});
}
LANES_CALLED void butterfly4_next(__m256i *u, __m256i *v, const uint64_t *c) {
    butterfly4(u, v, false, (factor){c, false});
}
LIMB_INLINE void butterflies(fr8 *u0, fr8 *v0, fr8 *u1, fr8 *v1, bool first, factor c, factor d) {
    void (*const butterfly)(__m256i *, __m256i *, const uint64_t *) = first ? butterfly4_first : butterfly4_next;
    butterfly(&u0->l[0][0], &v0->l[0][0], c.words), butterfly(&u0->l[0][1], &v0->l[0][1], c.words);
    butterfly(&u1->l[0][0], &v1->l[0][0], d.words), butterfly(&u1->l[0][1], &v1->l[0][1], d.words);
}

LIMB_INLINE void plain(fr8 *u, fr8 *v) {
    for (int h = 0; h < 2; h++) {
        const __m256i m = above4(u->l[4][h], WIDE_R16), n = above4(v->l[4][h], WIDE_R16);
        for (int j = 0; j < 5; j++) {
            const __m256i x = less4(u->l[j][h], m, WIDE_R16[j]), t = less4(v->l[j][h], n, WIDE_R16[j]);
            u->l[j][h] = _mm256_add_epi64(x, t);
            v->l[j][h] = _mm256_sub_epi64(_mm256_add_epi64(x, word4(WIDE_R17[j])), t);
        }
    }
}
LIMB_INLINE void plain_short(fr8 *u, fr8 *v) {
    for (int h = 0; h < 2; h++)
        for (int j = 0; j < 5; j++) spread4(&u->l[0][h], &v->l[0][h], j, false, word4(0), v->l[j][h]);
}

#endif
