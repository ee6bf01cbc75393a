// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The kernels of wide.h with AVX-512 IFMA. Between calls the vectors of a tile are loose (fr_ifma.h), their limbs below
// 2^61, their values below 33.1 r < 2^260 = 35.33 r.
//
// A product a c with a constant c is the sum of a_i (c 2^(52 i)), a_i the limbs of a. With the residues of c 2^(52 (i +
// 1)) in a table it is one limb longer than r, and one step of Montgomery's method takes that off: 59 multiplications
// of limbs, where a product of two variables takes 95.
#include "poly/x86/wide_ifma.h"

#include "field/x86/fr_ifma.h"

enum { AHEAD = 8 }; // rows that a strided load asks for before it needs them

static inline fr8 *vec(uint64_t *tile, size_t i) { return (fr8 *)(void *)(tile + i * WIDE_VECTOR); }
static inline fr8 vec_at(const uint64_t *tile, size_t i) {
    return *(const fr8 *)(const void *)(tile + i * WIDE_VECTOR);
}

static inline size_t reversed(size_t i, unsigned bits) {
    size_t out = 0;
    for (unsigned b = 0; b < bits; b++) out = out << 1 | (i >> b & 1);
    return out;
}

static const uint64_t FR260_ONE[4] = {0x22ffffffdd, 0x8d12939700396c23, 0xff1776e6aedf7745,
                                      0x26821fa14f77df20}; // 2^260 mod r
static const uint64_t R3[5] = {0xffffd00000003, 0x8fffb13fcfff, 0xce5880ffb38ec, 0x77d899ad88181, 0x15bc8f5f97cd8};
static const uint64_t R7[5] = {0xffff900000007, 0x14fff483f8fff, 0x36ce8254a2f7c, 0x6cf96694e8384, 0x32b7f9346234e};
static const uint64_t R16[5] = {0xffff000000010, 0x2fffe5bfeffff, 0xa1d80553bda40, 0xd483339d80809, 0x73eda753299d7};
static const uint64_t R17[5] = {0xfffef00000011, 0x32ffe41beefff, 0x3bf585a8f97e4, 0x51cb66d75888a, 0x7b2c81c85c375};
static const uint64_t R18[5] = {0xfffee00000012, 0x35ffe277edfff, 0xd61305fe35588, 0xcf139a113090a, 0x826b5c3d8ed12};

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

static void ask_for(const fr *a) {
    for (int i = 0; i < 4; i++) _mm_prefetch((const char *)(a + 2 * i), _MM_HINT_T0);
}

static void ask_to_write(fr *a) {
    for (int i = 0; i < 4; i++) __builtin_prefetch(a + 2 * i, 1, 3);
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

// A factor that all lanes share, or one for each.
typedef struct factor {
    const uint64_t *words;
    bool of_lane;
} factor;
LIMB_INLINE factor shared(const wide_factor *f) { return (factor){f->c[0], false}; }
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
    const __m512i x = _mm512_mask_sub_epi64(u->l[j], m, u->l[j], fr8_word(R16[j]));
    u->l[j] = _mm512_add_epi64(x, t);
    v->l[j] = _mm512_sub_epi64(_mm512_add_epi64(x, fr8_word(R7[j])), t);
}

// Two butterflies (u, v) := (u + c v, u - c v). Levels go in twos, and before the first of them u is lowered: from 33.1
// r to 17.1 r, to which two levels add 7 r each.
LIMB_INLINE void butterflies(fr8 *u0, fr8 *v0, fr8 *u1, fr8 *v1, bool first, factor c, factor d) {
    fr8 x = *v0, y = *v1;
    fr8_lift(&x), fr8_lift(&y);
    const __mmask8 m = first ? above(u0, R16) : 0, n = first ? above(u1, R16) : 0;
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
    const __mmask8 m = above(u, R16), n = above(v, R16);
    for (int j = 0; j < 5; j++) {
        const __m512i x = _mm512_mask_sub_epi64(u->l[j], m, u->l[j], fr8_word(R16[j])),
                      t = _mm512_mask_sub_epi64(v->l[j], n, v->l[j], fr8_word(R16[j]));
        u->l[j] = _mm512_add_epi64(x, t);
        v->l[j] = _mm512_sub_epi64(_mm512_add_epi64(x, fr8_word(R17[j])), t);
    }
}

// The same for c = 1 and clean numbers below 4.5 r: (u + v, u - v + 7 r).
LIMB_INLINE void plain_short(fr8 *u, fr8 *v) {
    const fr8 t = *v;
    for (int j = 0; j < 5; j++) spread(u, v, j, 0, t.l[j]);
}

// Zero for any number of rows, which a compiler does not know: it would take the words of a factor out of a loop over
// the rows, and there is no room in registers for 25 of them.
static inline size_t never(size_t i) { return i >> 40; }

// Two levels of a block of four times q rows, q even: one of the block, one of its two children.
static void split_twice(uint64_t *x, size_t q, size_t block, const wide_factor *tw) {
    for (size_t i = 0; i < q; i += 2) {
        fr8 *x0 = vec(x, i), *x1 = vec(x, q + i), *x2 = vec(x, 2 * q + i), *x3 = vec(x, 3 * q + i);
        fr8 *y0 = vec(x, i + 1), *y1 = vec(x, q + i + 1), *y2 = vec(x, 2 * q + i + 1), *y3 = vec(x, 3 * q + i + 1);
        const size_t b = block + never(i), again = block + never(i + 1);
        const factor c0 = shared(&tw[2 * b]), c1 = shared(&tw[2 * b + 1]);
        butterflies(x0, x2, x1, x3, true, shared(&tw[b]), shared(&tw[b]));
        butterflies(y0, y2, y1, y3, true, shared(&tw[again]), shared(&tw[again]));
        butterflies(x0, x1, y0, y1, false, c0, c0);
        butterflies(x2, x3, y2, y3, false, c1, c1);
    }
}

// The same for block 0, where three butterflies of four are without a product. x0 stays in block 0 for ever, so it is
// cleaned for the next two levels of doubling.
static void split_first(uint64_t *x, size_t q, const wide_factor *tw) {
    for (size_t i = 0; i < q; i += 2) {
        for (size_t k = i; k < i + 2; k++) {
            fr8 x0 = *vec(x, k), x1 = *vec(x, q + k), *x2 = vec(x, 2 * q + k), *x3 = vec(x, 3 * q + k);
            plain(&x0, x2), plain(&x1, x3), plain(&x0, &x1);
            fr8_clean(&x0);
            *vec(x, k) = x0, *vec(x, q + k) = x1;
        }
        const factor c = shared(&tw[1 + never(i)]);
        butterflies(vec(x, 2 * q + i), vec(x, 3 * q + i), vec(x, 2 * q + i + 1), vec(x, 3 * q + i + 1), true, c, c);
    }
}

// Depth first, so that most levels run in the first-level cache.
static void split(uint64_t *x, size_t len, size_t block, const wide_factor *tw) {
    fr8 *x0 = vec(x, 0), *x1 = vec(x, 1), *x2 = vec(x, 2), *x3 = vec(x, 3);
    if (len == 2) { // of an odd number of levels the last: this block and the next
        butterflies(x0, x1, x2, x3, true, shared(&tw[block]), shared(&tw[block + 1]));
        return;
    }
    const size_t q = len / 4;
    if (q == 1) {
        butterflies(x0, x2, x1, x3, true, shared(&tw[block]), shared(&tw[block]));
        butterflies(x0, x1, x2, x3, false, shared(&tw[2 * block]), shared(&tw[2 * block + 1]));
        return;
    }
    if (block == 0)
        split_first(x, q, tw);
    else
        split_twice(x, q, block, tw);
    for (size_t i = 0; i < 4; i += q == 2 ? 2 : 1) split(x + i * q * WIDE_VECTOR, q, 4 * block + i, tw);
}

// Two levels of two blocks of four rows: all powers are 1 but one.
static void merge_fours(uint64_t *x, const wide_factor *tw) {
    for (size_t i = 0; i < 8; i += 4) {
        fr8 x0 = *vec(x, i), *x1 = vec(x, i + 1), x2 = *vec(x, i + 2), *x3 = vec(x, i + 3);
        plain(&x0, x1), plain(&x2, x3), plain(&x0, &x2);
        *vec(x, i) = x0, *vec(x, i + 2) = x2;
    }
    butterflies(vec(x, 1), vec(x, 3), vec(x, 5), vec(x, 7), true, shared(&tw[3]), shared(&tw[3]));
}

static void merge(uint64_t *x, size_t len, const wide_factor *tw) {
    const size_t q = len / 4;
    if (q == 2)
        for (size_t i = 0; i < 8; i += 2) plain(vec(x, i), vec(x, i + 1));
    else if (q == 4)
        merge_fours(x, tw), merge_fours(x + 8 * WIDE_VECTOR, tw);
    else
        for (size_t i = 0; i < 4; i++) merge(x + i * q * WIDE_VECTOR, q, tw);
    for (size_t i = 0; i < q; i++) {
        fr8 *x0 = vec(x, i), *x1 = vec(x, q + i), *x2 = vec(x, 2 * q + i), *x3 = vec(x, 3 * q + i);
        if (i == 0) // row 0 is never multiplied: clean, lest its limbs double at every level
            fr8_clean(x0), plain(x0, x1), plain(x2, x3);
        else
            butterflies(x0, x1, x2, x3, true, shared(&tw[q + i]), shared(&tw[q + i]));
        butterflies(x0, x2, x1, x3, i == 0, shared(&tw[2 * q + i]), shared(&tw[3 * q + i]));
    }
}

static void split_rest(uint64_t *tile, unsigned bits, const wide_factor *tw) {
    const size_t q = (size_t)1 << bits >> 2;
    for (size_t i = 0; i < 4; i += q == 2 ? 2 : 1) split(tile + i * q * WIDE_VECTOR, q, i, tw);
}
// The first two levels take rows below 2^256 < 2.21 r from memory, and ask for more while they compute.
static void split_columns(uint64_t *tile, const fr *a, size_t stride, unsigned bits, const wide_factor *tw) {
    enum { SOON = 4 };
    const size_t q = (size_t)1 << bits >> 2;
    for (size_t i = 0; i < q; i += 2) {
        for (size_t k = i; k < i + 2; k++) {
            const fr *row = a + k * stride;
            if (k + SOON < q)
                for (size_t j = 0; j < 4; j++) ask_for(row + (j * q + SOON) * stride);
            fr8 x0 = fr8_load(row), x2 = fr8_load(row + 2 * q * stride);
            plain_short(&x0, &x2);
            *vec(tile, 2 * q + k) = x2;
            fr8 x1 = fr8_load(row + q * stride), x3 = fr8_load(row + 3 * q * stride);
            plain_short(&x1, &x3);
            *vec(tile, 3 * q + k) = x3;
            plain_short(&x0, &x1);
            *vec(tile, k) = x0, *vec(tile, q + k) = x1;
        }
        const factor c = shared(&tw[1 + never(i)]);
        fr8 *x2 = vec(tile, 2 * q + i), *x3 = vec(tile, 3 * q + i);
        butterflies(x2, x3, vec(tile, 2 * q + i + 1), vec(tile, 3 * q + i + 1), false, c, c);
    }
    split_rest(tile, bits, tw);
}
static void split_rows(uint64_t *tile, const fr *const row[WIDE_LANES], unsigned bits, const wide_factor *tw) {
    for (size_t i = 0; i < (size_t)1 << bits >> 1; i++) {
        fr8 even, odd;
        rows_in(&even, &odd, row, i);
        *vec(tile, 2 * i) = even, *vec(tile, 2 * i + 1) = odd;
    }
    split(tile, (size_t)1 << bits, 0, tw);
}
static void tile_split(uint64_t *tile, unsigned bits, const wide_factor *tw) { split(tile, (size_t)1 << bits, 0, tw); }
static void tile_merge(uint64_t *tile, unsigned bits, const wide_factor *tw) { merge(tile, (size_t)1 << bits, tw); }

static void tile_scale(uint64_t *tile, unsigned bits, const wide_factor *by) {
    for (size_t i = 0; i < (size_t)1 << bits; i += 2)
        times_pair(vec(tile, i), vec(tile, i + 1), shared(&by[i]), shared(&by[i + 1]));
}

// A walk through the rows of a tile in groups of eight neighbours. The power of a row is `at`, which its group has in
// common, times `low`, which depends on the place in the group alone: two products by known factors instead of one by
// a variable, and no power is made twice.
typedef struct pace {
    lane_factor low[8];
    lane_factor stride;
    fr8 at[2];         // powers of the next two groups, clean, below 6.1 r
    lane_factor of[2]; // of two groups; c[4] is below 6.1 r, so a product is below 11.1 r
    unsigned group_bits;
    bool reversed;
} pace;

static fr8 pace_product(const fr8 *a, const fr8 *b) {
    fr8 x = fr8_mul(a, b); // below 1.04 r if a and b are below 1.1 r
    fr8_clean(&x);
    return x;
}

static void pace_start(pace *p, const wide_walk *w, unsigned bits) {
    // Of row i = 8 g + l the exponent is 8 g + l, or with bits reversed 2^(bits - 3) rev(l) + rev(g).
    p->group_bits = bits - 3, p->reversed = w->reversed;
    fr8 fine = fr8_load(w->step), coarse = fine;
    for (unsigned i = 0; i < (w->reversed ? bits - 3 : 3); i++) coarse = pace_product(&coarse, &coarse);
    const fr8 *of_group = w->reversed ? &fine : &coarse, *of_row = w->reversed ? &coarse : &fine;
    fr8 power =
        fr8_unpack(fr8_word(FR260_ONE[0]), fr8_word(FR260_ONE[1]), fr8_word(FR260_ONE[2]), fr8_word(FR260_ONE[3]));
    for (size_t l = 0; l < 8; l++) {
        lane_factor_from(&p->low[w->reversed ? reversed(l, 3) : l], &power);
        power = pace_product(&power, of_row);
    }
    p->at[0] = fr8_load(w->start);
    p->at[1] = pace_product(&p->at[0], of_group);
    power = pace_product(of_group, of_group);
    lane_factor_from(&p->stride, &power);
}

// The first row of a pair of neighbours; pairs are counted in the order of the walk.
static size_t pace_row(const pace *p, size_t pair) {
    const size_t group = pair / 4;
    return 8 * (p->reversed ? reversed(group, p->group_bits) : group) + 2 * (pair % 4);
}

// Before each pair, from 0 on: makes the factors of two groups when they are due.
static void pace_next(pace *p, size_t pair) {
    if (pair % 8 != 0) return;
    fr8 x = p->at[0], y = p->at[1];
    lane_factor_from(&p->of[0], &x), lane_factor_from(&p->of[1], &y);
    times_pair(&x, &y, of_lane(&p->stride), of_lane(&p->stride));
    fr8_clean(&x), fr8_clean(&y);
    p->at[0] = x, p->at[1] = y;
}

// The two rows of a pair, loose, times their powers: below 6.1 r.
LIMB_INLINE void pace_times(const pace *p, size_t pair, fr8 *x, fr8 *y) {
    const factor of = of_lane(&p->of[pair / 4 % 2]);
    const lane_factor *low = &p->low[2 * (pair % 4)];
    times_pair(x, y, of, of);
    times_pair(x, y, of_lane(&low[0]), of_lane(&low[1]));
}

static void load_columns(uint64_t *tile, const fr *a, size_t stride, unsigned bits, const wide_walk *walk) {
    const size_t pairs = (size_t)1 << bits >> 1;
    pace p;
    pace_start(&p, walk, bits);
    for (size_t i = 0; i < pairs; i++) {
        pace_next(&p, i);
        const size_t row = pace_row(&p, i), later = pace_row(&p, i + AHEAD / 2 < pairs ? i + AHEAD / 2 : i);
        ask_for(a + later * stride), ask_for(a + (later + 1) * stride);
        fr8 x = fr8_load(a + row * stride), y = fr8_load(a + (row + 1) * stride);
        pace_times(&p, i, &x, &y);
        *vec(tile, row) = x, *vec(tile, row + 1) = y;
    }
}

// An element below 6.1 r into memory, below 2.2 r < 2^256.
LIMB_INLINE void store_short(fr *a, fr8 *x) {
    lower(x, R3);
    lower(x, FR52_R);
    fr8_clean(x);
    fr8_store(a, x);
}

static void store_columns_walk(fr *a, size_t stride, uint64_t *tile, unsigned bits, const wide_walk *walk) {
    const size_t pairs = (size_t)1 << bits >> 1;
    pace p;
    pace_start(&p, walk, bits);
    for (size_t i = 0; i < pairs; i++) {
        pace_next(&p, i);
        const size_t row = pace_row(&p, i), later = pace_row(&p, i + AHEAD / 2 < pairs ? i + AHEAD / 2 : i);
        ask_to_write(a + later * stride), ask_to_write(a + (later + 1) * stride);
        fr8 x = *vec(tile, row), y = *vec(tile, row + 1);
        pace_times(&p, i, &x, &y);
        store_short(a + row * stride, &x), store_short(a + (row + 1) * stride, &y);
    }
}

static void store_columns(fr *a, size_t stride, uint64_t *tile, unsigned bits, const wide_walk *walk) {
    if (walk != 0) {
        store_columns_walk(a, stride, tile, bits, walk);
        return;
    }
    const size_t rows = (size_t)1 << bits;
    for (size_t i = 0; i < rows; i++) {
        if (i + AHEAD < rows) ask_to_write(a + (i + AHEAD) * stride);
        fr8 x = *vec(tile, i);
        fr8_clean(&x);
        fr8_reduce_short(&x);
        fr8_store(a + i * stride, &x);
    }
}

static void store_reversed(fr *a, size_t stride, uint64_t *tile, unsigned bits) {
    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        fr8 x = *vec(tile, reversed(i, bits));
        fr8_clean(&x);
        fr8_reduce(&x);
        fr8_store(a + i * stride, &x);
    }
}

// Elements 2i and 2i + 1 of eight rows, clean and below 2^256.
LIMB_INLINE void rows_out(fr *const row[WIDE_LANES], size_t i, const fr8 *even, const fr8 *odd) {
    __m512i x[8];
    fr8_pack(x, even), fr8_pack(x + 4, odd);
    transpose(x);
    for (int l = 0; l < 8; l++) _mm512_storeu_si512(row[l] + 2 * i, x[l]);
}

static void store_rows(fr *const row[WIDE_LANES], uint64_t *tile, unsigned bits, bool last) {
    for (size_t i = 0; i < (size_t)1 << bits >> 1; i++) {
        fr8 even = *vec(tile, 2 * i), odd = *vec(tile, 2 * i + 1);
        fr8_clean(&even), fr8_clean(&odd);
        if (last)
            fr8_reduce(&even), fr8_reduce(&odd);
        else
            fr8_reduce_short(&even), fr8_reduce_short(&odd);
        rows_out(row, i, &even, &odd);
    }
}

// Both below 33.1 r, so the product is below 33.1^2/35.33 r + r < 32.1 r.
static void times(uint64_t *tile, const uint64_t *by, unsigned bits) {
    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        fr8 x = *vec(tile, i), y = vec_at(by, i);
        fr8_lift(&x), fr8_lift(&y);
        *vec(tile, i) = fr8_mul(&x, &y);
    }
}

// Below 6.1 r minus below 33.1 r, the latter lowered to 17.1 r, plus 18 r.
static void minus(uint64_t *tile, const uint64_t *by, unsigned bits) {
    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        fr8 *x = vec(tile, i), y = vec_at(by, i);
        lower(&y, R16);
        for (int j = 0; j < 5; j++) x->l[j] = _mm512_sub_epi64(_mm512_add_epi64(x->l[j], fr8_word(R18[j])), y.l[j]);
    }
}

const wide_kernels WIDE_KERNELS_IFMA = {
    .load_columns = load_columns,
    .store_columns = store_columns,
    .store_rows = store_rows,
    .store_reversed = store_reversed,
    .split = tile_split,
    .split_columns = split_columns,
    .split_rows = split_rows,
    .merge = tile_merge,
    .scale = tile_scale,
    .times = times,
    .minus = minus,
};
