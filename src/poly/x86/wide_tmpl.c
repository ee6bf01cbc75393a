// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The kernels of wide.h, compiled once for each way to multiply eight lanes: with WIDE_IFMA and with WIDE_FMA. Between
// calls the vectors of a tile are loose (fr_ifma.h), their limbs below 2^61, their values below 33.1 r < 2^260 = 35.33
// r.
#include "poly/x86/wide_x86.h"

#if defined(WIDE_IFMA)
#include "poly/x86/lanes_ifma.h"
#define WIDE_KERNELS WIDE_KERNELS_IFMA
#define WIDE_FORM WIDE_52
#else
#include "poly/x86/lanes_fma.h"
#define WIDE_KERNELS WIDE_KERNELS_FMA
#define WIDE_FORM WIDE_DOUBLES
#endif

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

static void ask_for(const fr *a) {
    for (int i = 0; i < 4; i++) _mm_prefetch((const char *)(a + 2 * i), _MM_HINT_T0);
}

static void ask_to_write(fr *a) {
    for (int i = 0; i < 4; i++) __builtin_prefetch(a + 2 * i, 1, 3);
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
    const unsigned was = lanes_enter();
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
    lanes_leave(was);
}
static void split_rows(uint64_t *tile, const fr *const row[WIDE_LANES], unsigned bits, const wide_factor *tw) {
    const unsigned was = lanes_enter();
    for (size_t i = 0; i < (size_t)1 << bits >> 1; i++) {
        fr8 even, odd;
        rows_in(&even, &odd, row, i);
        *vec(tile, 2 * i) = even, *vec(tile, 2 * i + 1) = odd;
    }
    split(tile, (size_t)1 << bits, 0, tw);
    lanes_leave(was);
}
static void tile_split(uint64_t *tile, unsigned bits, const wide_factor *tw) {
    const unsigned was = lanes_enter();
    split(tile, (size_t)1 << bits, 0, tw);
    lanes_leave(was);
}
static void tile_merge(uint64_t *tile, unsigned bits, const wide_factor *tw) {
    const unsigned was = lanes_enter();
    merge(tile, (size_t)1 << bits, tw);
    lanes_leave(was);
}

static void tile_scale(uint64_t *tile, unsigned bits, const wide_factor *by) {
    const unsigned was = lanes_enter();
    for (size_t i = 0; i < (size_t)1 << bits; i += 2)
        times_pair(vec(tile, i), vec(tile, i + 1), shared(&by[i]), shared(&by[i + 1]));
    lanes_leave(was);
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
    fr8 x = fr8_product(a, b); // below 1.04 r if a and b are below 1.1 r
    fr8_clean(&x);
    return x;
}

static void pace_start(pace *p, const wide_walk *w, unsigned bits) {
    // Of row i = 8 g + l the exponent is 8 g + l, or with bits reversed 2^(bits - 3) rev(l) + rev(g).
    p->group_bits = bits - 3, p->reversed = w->reversed;
    fr8 fine = fr8_load(w->step), coarse = fine;
    for (unsigned i = 0; i < (w->reversed ? bits - 3 : 3); i++) coarse = pace_product(&coarse, &coarse);
    const fr8 *of_group = w->reversed ? &fine : &coarse, *of_row = w->reversed ? &coarse : &fine;
    fr8 power = fr8_all(WIDE_ONE);
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
    const unsigned was = lanes_enter();
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
    lanes_leave(was);
}

// An element below 6.1 r into memory, below 2.2 r < 2^256.
LIMB_INLINE void store_short(fr *a, fr8 *x) {
    lower(x, WIDE_R3);
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

static void store_columns_plain(fr *a, size_t stride, uint64_t *tile, unsigned bits) {
    const size_t rows = (size_t)1 << bits;
    for (size_t i = 0; i < rows; i++) {
        if (i + AHEAD < rows) ask_to_write(a + (i + AHEAD) * stride);
        fr8 x = *vec(tile, i);
        fr8_clean(&x);
        fr8_reduce_short(&x);
        fr8_store(a + i * stride, &x);
    }
}

static void store_columns(fr *a, size_t stride, uint64_t *tile, unsigned bits, const wide_walk *walk) {
    const unsigned was = lanes_enter();
    if (walk != 0)
        store_columns_walk(a, stride, tile, bits, walk);
    else
        store_columns_plain(a, stride, tile, bits);
    lanes_leave(was);
}

static void store_reversed(fr *a, size_t stride, uint64_t *tile, unsigned bits) {
    const unsigned was = lanes_enter();
    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        fr8 x = *vec(tile, reversed(i, bits));
        fr8_clean(&x);
        fr8_reduce(&x);
        fr8_store(a + i * stride, &x);
    }
    lanes_leave(was);
}

static void store_rows(fr *const row[WIDE_LANES], uint64_t *tile, unsigned bits, bool last) {
    const unsigned was = lanes_enter();
    for (size_t i = 0; i < (size_t)1 << bits >> 1; i++) {
        fr8 even = *vec(tile, 2 * i), odd = *vec(tile, 2 * i + 1);
        fr8_clean(&even), fr8_clean(&odd);
        if (last)
            fr8_reduce(&even), fr8_reduce(&odd);
        else
            fr8_reduce_short(&even), fr8_reduce_short(&odd);
        rows_out(row, i, &even, &odd);
    }
    lanes_leave(was);
}

// Both below 33.1 r, so the product is below 33.1^2/35.33 r + r < 32.1 r.
static void times(uint64_t *tile, const uint64_t *by, unsigned bits) {
    const unsigned was = lanes_enter();
    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        const fr8 x = *vec(tile, i), y = vec_at(by, i);
        *vec(tile, i) = fr8_product(&x, &y);
    }
    lanes_leave(was);
}

// Below 6.1 r minus below 33.1 r, the latter lowered to 17.1 r, plus 18 r.
static void minus(uint64_t *tile, const uint64_t *by, unsigned bits) {
    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        fr8 y = vec_at(by, i);
        lower(&y, WIDE_R16);
        minus_plus(vec(tile, i), &y, WIDE_R18);
    }
}

const wide_kernels WIDE_KERNELS = {
    .form = WIDE_FORM,
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
