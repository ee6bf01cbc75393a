// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The kernels of wide.h with AVX-512 IFMA. Between calls the vectors of a tile are loose (fr_ifma.h) and below 29.01 r.
//
// Products by constants use Shoup's method: with c and c' = floor(c 2^260 / r) known, q = floor(a c' / 2^260) is nearly
// floor(a c / r), and a c - q r needs its low 260 bits only. 75 multiplications of limbs instead of 100.
#include "poly/x86/wide_ifma.h"

#include "field/x86/fr_ifma.h"

enum { AHEAD = 8 }; // rows that a strided load asks for before it needs them

static inline fr8 *vec(uint64_t *tile, size_t i) { return (fr8 *)(void *)(tile + i * WIDE_VECTOR); }

static inline size_t reversed(size_t i, unsigned bits) {
    size_t out = 0;
    for (unsigned b = 0; b < bits; b++) out = out << 1 | (i >> b & 1);
    return out;
}

static const uint64_t R9[5] = {0xffff700000009, 0x1afff13bf6fff, 0x6b0982ff1aac4, 0x6789cd0898485, 0x4135ae1ec7689};
static const uint64_t R11[5] = {0xffff50000000b, 0x20ffedf3f4fff, 0x9f4483a99260c, 0x621a337c48586, 0x4fb363092c9c4};
static const uint64_t R18[5] = {0xfffee00000012, 0x35ffe277edfff, 0xd61305fe35588, 0xcf139a113090a, 0x826b5c3d8ed12};

// x - k r if x is well above k r: what stays is below k r (1 + 2^-44) or x - k r. Limb 4 of a loose number may be wrong
// by the carries that are still below, less than 64; it must exceed that of k r by more.
LIMB_INLINE void lower(fr8 *x, const uint64_t kr[5]) {
    const __mmask8 m = _mm512_cmpgt_epi64_mask(x->l[4], fr8_word(kr[4] + 64));
    for (int i = 0; i < 5; i++) x->l[i] = _mm512_mask_sub_epi64(x->l[i], m, x->l[i], fr8_word(kr[i]));
}

// a c mod r, clean and below 10.01 r, for a lifted a. The quotient leaves out the columns below 2^260 of a c': at most
// nine terms below 2^52 in column 4, hence less than 9 + 2^-49; with the rounding of c', q is short by less than 10.01.
LIMB_INLINE fr8 times(const fr8 *a, const wide_factor *f) {
    const __m512i zero = _mm512_setzero_si512();
    fr8 q = {{zero, zero, zero, zero, zero}}, t = q;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            const __m512i c = fr8_word(f->quotient[j]);
            if (i + j >= 5) q.l[i + j - 5] = fr8_lo(q.l[i + j - 5], a->l[i], c);
            if (i + j >= 4) q.l[i + j - 4] = fr8_hi(q.l[i + j - 4], a->l[i], c);
        }
    fr8_lift(&q);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5 - i; j++) {
            const __m512i c = fr8_word(f->c[j]);
            t.l[i + j] = fr8_lo(t.l[i + j], a->l[i], c);
            if (i + j < 4) t.l[i + j + 1] = fr8_hi(t.l[i + j + 1], a->l[i], c);
        }
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5 - i; j++) {
            const __m512i c = fr8_word(FR52_NEG_R[j]);
            t.l[i + j] = fr8_lo(t.l[i + j], q.l[i], c);
            if (i + j < 4) t.l[i + j + 1] = fr8_hi(t.l[i + j + 1], q.l[i], c);
        }
    fr8_clean(&t); // modulo 2^260
    return t;
}

// (u, v) := (u + t, u - t + 11 r), for t below 11 r and u below 18 r.
LIMB_INLINE void spread(fr8 *u, fr8 *v, const fr8 *t) {
    for (int i = 0; i < 5; i++) {
        const __m512i up = _mm512_add_epi64(u->l[i], fr8_word(R11[i]));
        v->l[i] = _mm512_sub_epi64(up, t->l[i]);
        u->l[i] = _mm512_add_epi64(u->l[i], t->l[i]);
    }
}

// (u, v) := (u + c v, u - c v), loose and below 29.01 r in and out. Limbs grow by at
// most 3 * 2^52 a level: 11 levels after a product of rows (21 * 2^52) stay below the 64 * 2^52 that `lower` can take.
LIMB_INLINE void butterfly(fr8 *u, fr8 *v, const wide_factor *f) {
    fr8_lift(v);
    const fr8 t = times(v, f);
    lower(u, R18);
    spread(u, v, &t);
}

// The same for c = 1. v is cleaned, since sums of loose numbers would double their limbs at every level.
LIMB_INLINE void plain(fr8 *u, fr8 *v) {
    fr8_clean(v);
    lower(v, R18);
    lower(v, R9);
    lower(u, R18);
    const fr8 t = *v;
    spread(u, v, &t);
}

static void split(uint64_t *x, size_t len, size_t block, const wide_factor *tw) {
    if (len == 2) {
        fr8 x0 = *vec(x, 0), x1 = *vec(x, 1);
        butterfly(&x0, &x1, &tw[block]);
        *vec(x, 0) = x0, *vec(x, 1) = x1;
        return;
    }
    const size_t q = len / 4;
    const wide_factor *c = &tw[block], *c0 = &tw[2 * block], *c1 = &tw[2 * block + 1];
    if (block == 0)
        for (size_t i = 0; i < q; i++) {
            fr8 x0 = *vec(x, i), x1 = *vec(x, q + i), x2 = *vec(x, 2 * q + i), x3 = *vec(x, 3 * q + i);
            plain(&x0, &x2);
            plain(&x1, &x3);
            plain(&x0, &x1);
            butterfly(&x2, &x3, c1);
            *vec(x, i) = x0, *vec(x, q + i) = x1, *vec(x, 2 * q + i) = x2, *vec(x, 3 * q + i) = x3;
        }
    else
        for (size_t i = 0; i < q; i++) {
            fr8 x0 = *vec(x, i), x1 = *vec(x, q + i), x2 = *vec(x, 2 * q + i), x3 = *vec(x, 3 * q + i);
            butterfly(&x0, &x2, c);
            butterfly(&x1, &x3, c);
            butterfly(&x0, &x1, c0);
            butterfly(&x2, &x3, c1);
            *vec(x, i) = x0, *vec(x, q + i) = x1, *vec(x, 2 * q + i) = x2, *vec(x, 3 * q + i) = x3;
        }
    if (q > 1)
        for (size_t i = 0; i < 4; i++) split(x + i * q * WIDE_VECTOR, q, 4 * block + i, tw);
}

// Row 0 of each quarter: all powers are 1 but one.
static void merge_first(uint64_t *x, size_t q, const wide_factor *f) {
    fr8 x0 = *vec(x, 0), x1 = *vec(x, q), x2 = *vec(x, 2 * q), x3 = *vec(x, 3 * q);
    plain(&x0, &x1);
    plain(&x2, &x3);
    plain(&x0, &x2);
    butterfly(&x1, &x3, f);
    *vec(x, 0) = x0, *vec(x, q) = x1, *vec(x, 2 * q) = x2, *vec(x, 3 * q) = x3;
}

static void merge(uint64_t *x, size_t len, const wide_factor *tw) {
    if (len == 2) {
        fr8 x0 = *vec(x, 0), x1 = *vec(x, 1);
        plain(&x0, &x1);
        *vec(x, 0) = x0, *vec(x, 1) = x1;
        return;
    }
    const size_t q = len / 4;
    if (q > 1)
        for (size_t i = 0; i < 4; i++) merge(x + i * q * WIDE_VECTOR, q, tw);
    merge_first(x, q, &tw[3 * q]);
    for (size_t i = 1; i < q; i++) {
        fr8 x0 = *vec(x, i), x1 = *vec(x, q + i), x2 = *vec(x, 2 * q + i), x3 = *vec(x, 3 * q + i);
        butterfly(&x0, &x1, &tw[q + i]);
        butterfly(&x2, &x3, &tw[q + i]);
        butterfly(&x0, &x2, &tw[2 * q + i]);
        butterfly(&x1, &x3, &tw[3 * q + i]);
        *vec(x, i) = x0, *vec(x, q + i) = x1, *vec(x, 2 * q + i) = x2, *vec(x, 3 * q + i) = x3;
    }
}

static void tile_split(uint64_t *tile, unsigned bits, const wide_factor *tw) { split(tile, (size_t)1 << bits, 0, tw); }
static void tile_merge(uint64_t *tile, unsigned bits, const wide_factor *tw) { merge(tile, (size_t)1 << bits, tw); }

static void tile_scale(uint64_t *tile, unsigned bits, const wide_factor *by) {
    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        fr8 x = *vec(tile, i);
        fr8_lift(&x);
        *vec(tile, i) = times(&x, &by[i]);
    }
}

// Eight neighbours in a walk; eight independent products hide the latency of one.
typedef struct pace {
    fr8 at[8];
    fr8 stride; // step^8
} pace;

static void pace_start(pace *p, const wide_walk *w) {
    const fr8 step = fr8_load(w->step);
    p->at[0] = fr8_load(w->start);
    p->stride = step;
    for (int i = 1; i < 8; i++) {
        p->at[i] = fr8_mul(&p->at[i - 1], &step);
        fr8_clean(&p->at[i]);
    }
    for (int i = 0; i < 3; i++) {
        p->stride = fr8_mul(&p->stride, &p->stride);
        fr8_clean(&p->stride);
    }
}
// Products of a power, below 1.07 r, and a number below 2^260 are below 2.07 r < 2^256.
LIMB_INLINE fr8 pace_times(const pace *p, size_t i, const fr8 *x) {
    fr8 y = fr8_mul(x, &p->at[i]);
    fr8_clean(&y);
    return y;
}
LIMB_INLINE void pace_next(pace *p, size_t i) {
    p->at[i] = fr8_mul(&p->at[i], &p->stride);
    fr8_clean(&p->at[i]);
}

static void ask_for(const fr *a) {
    for (int i = 0; i < 4; i++) _mm_prefetch((const char *)(a + 2 * i), _MM_HINT_T0);
}

static void load_columns(uint64_t *tile, const fr *a, size_t stride, unsigned bits, const wide_walk *walk) {
    const size_t rows = (size_t)1 << bits;
    if (walk == 0) {
        for (size_t i = 0; i < rows; i++) {
            if (i + AHEAD < rows) ask_for(a + (i + AHEAD) * stride);
            *vec(tile, i) = fr8_load(a + i * stride);
        }
        return;
    }
    pace p;
    pace_start(&p, walk);
    for (size_t i = 0; i < rows; i++) {
        const size_t row = walk->reversed ? reversed(i, bits) : i;
        const size_t later = walk->reversed ? reversed(i + AHEAD, bits) : i + AHEAD;
        if (i + AHEAD < rows) ask_for(a + later * stride);
        const fr8 x = fr8_load(a + row * stride);
        *vec(tile, row) = pace_times(&p, i % 8, &x);
        pace_next(&p, i % 8);
    }
}

static void store_columns(fr *a, size_t stride, uint64_t *tile, unsigned bits, const wide_walk *walk) {
    const size_t rows = (size_t)1 << bits;
    if (walk == 0) {
        for (size_t i = 0; i < rows; i++) {
            fr8 x = *vec(tile, i);
            fr8_clean(&x);
            fr8_reduce(&x);
            fr8_store(a + i * stride, &x);
        }
        return;
    }
    pace p;
    pace_start(&p, walk);
    for (size_t i = 0; i < rows; i++) {
        const size_t row = walk->reversed ? reversed(i, bits) : i;
        fr8 x = *vec(tile, row);
        fr8_lift(&x);
        x = pace_times(&p, i % 8, &x);
        fr8_store(a + row * stride, &x);
        pace_next(&p, i % 8);
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

static void load_rows(uint64_t *tile, const fr *const row[WIDE_LANES], unsigned bits) {
    for (size_t i = 0; i < (size_t)1 << bits >> 1; i++) {
        fr8 even, odd;
        rows_in(&even, &odd, row, i);
        *vec(tile, 2 * i) = even, *vec(tile, 2 * i + 1) = odd;
    }
}

static void store_rows(fr *const row[WIDE_LANES], uint64_t *tile, unsigned bits) {
    for (size_t i = 0; i < (size_t)1 << bits >> 1; i++) {
        fr8 even = *vec(tile, 2 * i), odd = *vec(tile, 2 * i + 1);
        __m512i x[8];
        fr8_clean(&even), fr8_clean(&odd);
        fr8_reduce(&even), fr8_reduce(&odd);
        fr8_pack(x, &even), fr8_pack(x + 4, &odd);
        transpose(x);
        for (int l = 0; l < 8; l++) _mm512_storeu_si512(row[l] + 2 * i, x[l]);
    }
}

// b is below 2^256 < 2.21 r, so the product is below b + r < 3.21 r.
static void times_columns(uint64_t *tile, const fr *b, size_t stride, unsigned bits) {
    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        if (i + AHEAD < (size_t)1 << bits) ask_for(b + (i + AHEAD) * stride);
        fr8 x = *vec(tile, i);
        const fr8 y = fr8_load(b + i * stride);
        fr8_lift(&x);
        *vec(tile, i) = fr8_mul(&x, &y);
    }
}

static void minus_rows(uint64_t *tile, const fr *const row[WIDE_LANES], unsigned bits) {
    for (size_t i = 0; i < (size_t)1 << bits >> 1; i++) {
        fr8 x[2] = {*vec(tile, 2 * i), *vec(tile, 2 * i + 1)}, y[2];
        rows_in(&y[0], &y[1], row, i);
        for (int k = 0; k < 2; k++) {
            lower(&x[k], R18);
            for (int j = 0; j < 5; j++) {
                const __m512i up = _mm512_add_epi64(x[k].l[j], fr8_word(R11[j]));
                vec(tile, 2 * i + (size_t)k)->l[j] = _mm512_sub_epi64(up, y[k].l[j]);
            }
        }
    }
}

const wide_kernels WIDE_KERNELS_IFMA = {
    .load_columns = load_columns,
    .store_columns = store_columns,
    .load_rows = load_rows,
    .store_rows = store_rows,
    .store_reversed = store_reversed,
    .split = tile_split,
    .merge = tile_merge,
    .scale = tile_scale,
    .times_columns = times_columns,
    .minus_rows = minus_rows,
};
