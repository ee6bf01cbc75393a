// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The kernels of wide.h in portable C, one element after the other in limbs of 64 bits. A row of a tile is eight
// elements as they lie in memory. Elements of a tile are *loose*, any number below 2^256 = 2.21 r; what a kernel has
// computed is *short*, below r + 2^252 = 1.14 r.
//
// A product a c with a constant c is the sum of a_i c_i over the limbs of a, c_i = c 2^(64 (i + 1)) mod r. It is one
// limb longer than r, and one step of Montgomery's method takes that off: 19 multiplications of limbs, where a product
// of two variables takes 28. It is below 5 r. Instead of a comparison for each subtraction of r, the bits above 2^252
// of a sum name the multiple of r that is taken off.
#include "poly/wide_words.h"

#include <string.h>

typedef struct sum {
    uint64_t l[5];
} sum;

enum { MULTIPLES = 53 };

// i: the largest multiple of r that is not above i 2^252, modulo 2^256, as what is left of a sum is below that.
static const uint64_t MULTIPLE[MULTIPLES][4] = {
    {0x0, 0x0, 0x0, 0x0},
    {0x0, 0x0, 0x0, 0x0},
    {0x0, 0x0, 0x0, 0x0},
    {0x0, 0x0, 0x0, 0x0},
    {0x0, 0x0, 0x0, 0x0},
    {0x0, 0x0, 0x0, 0x0},
    {0x0, 0x0, 0x0, 0x0},
    {0x0, 0x0, 0x0, 0x0},
    {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48},
    {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48},
    {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48},
    {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48},
    {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48},
    {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48},
    {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48},
    {0xfffffffe00000002, 0xa77b4805fffcb7fd, 0x6673b0101343b00a, 0xe7db4ea6533afa90},
    {0xfffffffe00000002, 0xa77b4805fffcb7fd, 0x6673b0101343b00a, 0xe7db4ea6533afa90},
    {0xfffffffe00000002, 0xa77b4805fffcb7fd, 0x6673b0101343b00a, 0xe7db4ea6533afa90},
    {0xfffffffe00000002, 0xa77b4805fffcb7fd, 0x6673b0101343b00a, 0xe7db4ea6533afa90},
    {0xfffffffe00000002, 0xa77b4805fffcb7fd, 0x6673b0101343b00a, 0xe7db4ea6533afa90},
    {0xfffffffe00000002, 0xa77b4805fffcb7fd, 0x6673b0101343b00a, 0xe7db4ea6533afa90},
    {0xfffffffe00000002, 0xa77b4805fffcb7fd, 0x6673b0101343b00a, 0xe7db4ea6533afa90},
    {0xfffffffd00000003, 0xfb38ec08fffb13fc, 0x99ad88181ce5880f, 0x5bc8f5f97cd877d8},
    {0xfffffffd00000003, 0xfb38ec08fffb13fc, 0x99ad88181ce5880f, 0x5bc8f5f97cd877d8},
    {0xfffffffd00000003, 0xfb38ec08fffb13fc, 0x99ad88181ce5880f, 0x5bc8f5f97cd877d8},
    {0xfffffffd00000003, 0xfb38ec08fffb13fc, 0x99ad88181ce5880f, 0x5bc8f5f97cd877d8},
    {0xfffffffd00000003, 0xfb38ec08fffb13fc, 0x99ad88181ce5880f, 0x5bc8f5f97cd877d8},
    {0xfffffffd00000003, 0xfb38ec08fffb13fc, 0x99ad88181ce5880f, 0x5bc8f5f97cd877d8},
    {0xfffffffd00000003, 0xfb38ec08fffb13fc, 0x99ad88181ce5880f, 0x5bc8f5f97cd877d8},
    {0xfffffffc00000004, 0x4ef6900bfff96ffb, 0xcce7602026876015, 0xcfb69d4ca675f520},
    {0xfffffffc00000004, 0x4ef6900bfff96ffb, 0xcce7602026876015, 0xcfb69d4ca675f520},
    {0xfffffffc00000004, 0x4ef6900bfff96ffb, 0xcce7602026876015, 0xcfb69d4ca675f520},
    {0xfffffffc00000004, 0x4ef6900bfff96ffb, 0xcce7602026876015, 0xcfb69d4ca675f520},
    {0xfffffffc00000004, 0x4ef6900bfff96ffb, 0xcce7602026876015, 0xcfb69d4ca675f520},
    {0xfffffffc00000004, 0x4ef6900bfff96ffb, 0xcce7602026876015, 0xcfb69d4ca675f520},
    {0xfffffffc00000004, 0x4ef6900bfff96ffb, 0xcce7602026876015, 0xcfb69d4ca675f520},
    {0xfffffffc00000004, 0x4ef6900bfff96ffb, 0xcce7602026876015, 0xcfb69d4ca675f520},
    {0xfffffffb00000005, 0xa2b4340efff7cbfa, 0x2138283029381a, 0x43a4449fd0137269},
    {0xfffffffb00000005, 0xa2b4340efff7cbfa, 0x2138283029381a, 0x43a4449fd0137269},
    {0xfffffffb00000005, 0xa2b4340efff7cbfa, 0x2138283029381a, 0x43a4449fd0137269},
    {0xfffffffb00000005, 0xa2b4340efff7cbfa, 0x2138283029381a, 0x43a4449fd0137269},
    {0xfffffffb00000005, 0xa2b4340efff7cbfa, 0x2138283029381a, 0x43a4449fd0137269},
    {0xfffffffb00000005, 0xa2b4340efff7cbfa, 0x2138283029381a, 0x43a4449fd0137269},
    {0xfffffffb00000005, 0xa2b4340efff7cbfa, 0x2138283029381a, 0x43a4449fd0137269},
    {0xfffffffa00000006, 0xf671d811fff627f9, 0x335b103039cb101f, 0xb791ebf2f9b0efb1},
    {0xfffffffa00000006, 0xf671d811fff627f9, 0x335b103039cb101f, 0xb791ebf2f9b0efb1},
    {0xfffffffa00000006, 0xf671d811fff627f9, 0x335b103039cb101f, 0xb791ebf2f9b0efb1},
    {0xfffffffa00000006, 0xf671d811fff627f9, 0x335b103039cb101f, 0xb791ebf2f9b0efb1},
    {0xfffffffa00000006, 0xf671d811fff627f9, 0x335b103039cb101f, 0xb791ebf2f9b0efb1},
    {0xfffffffa00000006, 0xf671d811fff627f9, 0x335b103039cb101f, 0xb791ebf2f9b0efb1},
    {0xfffffffa00000006, 0xf671d811fff627f9, 0x335b103039cb101f, 0xb791ebf2f9b0efb1},
    {0xfffffff900000007, 0x4a2f7c14fff483f8, 0x6694e838436ce825, 0x2b7f9346234e6cf9},
    {0xfffffff900000007, 0x4a2f7c14fff483f8, 0x6694e838436ce825, 0x2b7f9346234e6cf9},
};

// 3 r and 5 r.
static const uint64_t R3[5] = {0xfffffffd00000003, 0xfb38ec08fffb13fc, 0x99ad88181ce5880f, 0x5bc8f5f97cd877d8, 0x1},
                      R5[5] = {0xfffffffb00000005, 0xa2b4340efff7cbfa, 0x2138283029381a, 0x43a4449fd0137269, 0x2};

// Short; x below MULTIPLES 2^252.
LIMB_INLINE void shorten(fr *out, const sum *x) {
    const uint64_t *k = MULTIPLE[x->l[4] << 4 | x->l[3] >> 60];
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) out->l[i] = limb_sbb(x->l[i], k[i], &borrow);
}

// (u, v) := (u + t, u - t + k), short, for t <= k <= 5 r, both in five limbs.
LIMB_INLINE void spread(fr *u, fr *v, const sum *t, const uint64_t k[5]) {
    sum x, y;
    uint64_t c = 0, d = 0, b = 0;
    for (int i = 0; i < 4; i++) x.l[i] = limb_adc(u->l[i], t->l[i], &c);
    x.l[4] = t->l[4] + c;
    for (int i = 0; i < 4; i++) y.l[i] = limb_adc(u->l[i], k[i], &d);
    y.l[4] = k[4] + d;
    for (int i = 0; i < 5; i++) y.l[i] = limb_sbb(y.l[i], t->l[i], &b);
    shorten(u, &x), shorten(v, &y);
}

LIMB_INLINE limb_column column_of(const fr *a, const wide_factor *f, int j) {
    limb_column s = limb_column_of(a->l[0], f->c[0][j]);
    for (int i = 1; i < 4; i++) limb_column_mac(&s, a->l[i], f->c[i][j]);
    return s;
}

// a c, below 5 r: terms are below 2^64 r each, and the step adds 2^64 r before it divides by 2^64.
LIMB_INLINE sum product(const fr *a, const wide_factor *f) {
    sum t;
    limb_column s = column_of(a, f, 0), n = column_of(a, f, 1);
    const uint64_t m = fr_multiple(&s);
    limb_column_mac(&n, m, FR_Q1);
    limb_column_add(&s, &n);
    t.l[0] = limb_column_next(&s);
    n = column_of(a, f, 2);
    limb_column_mac(&n, m, FR_Q2);
    limb_column_add(&s, &n);
    t.l[1] = limb_column_next(&s);
    n = column_of(a, f, 3);
    limb_column_mac(&n, m, FR_Q3);
    limb_column_add(&s, &n);
    t.l[2] = limb_column_next(&s);
    t.l[3] = s.l, t.l[4] = s.m;
    return t;
}

// A call: inlined into the loops below, gcc 12 keeps every limb of a sum in memory, which takes 2.5 times as long.
static __attribute__((noinline)) void butterfly(fr *u, fr *v, const wide_factor *c) {
    const sum t = product(v, c);
    spread(u, v, &t, R5);
}
// The same for c = 1.
LIMB_INLINE void plain(fr *u, fr *v) {
    const sum t = {{v->l[0], v->l[1], v->l[2], v->l[3], 0}};
    spread(u, v, &t, R3);
}
LIMB_INLINE void times_constant(fr *a, const wide_factor *c) {
    const sum t = product(a, c);
    shorten(a, &t);
}

// n butterflies with one factor, NULL: 1.
static void butterflies(fr *u, fr *v, size_t n, const wide_factor *c) {
    if (c == 0)
        for (size_t i = 0; i < n; i++) plain(&u[i], &v[i]);
    else
        for (size_t i = 0; i < n; i++) butterfly(&u[i], &v[i], c);
}

static fr *row_of(uint64_t *tile, size_t i) { return (fr *)(void *)tile + i * WIDE_LANES; }

static size_t reversed(size_t i, unsigned bits) {
    size_t out = 0;
    for (unsigned b = 0; b < bits; b++) out = out << 1 | (i >> b & 1);
    return out;
}

// Rows lie far apart in memory. Copied all at once they are fetched side by side, and only then is there work on them.
static void copy_in(uint64_t *tile, const fr *a, size_t stride, unsigned bits) {
    for (size_t i = 0; i < (size_t)1 << bits; i++) memcpy(row_of(tile, i), a + i * stride, WIDE_LANES * sizeof *a);
}

// --- sub-transforms ---

// Depth first, two levels at a time, so that most of them run in the first-level cache.
static void split(fr *x, size_t len, size_t block, const wide_factor *tw) {
    const size_t half = len / 2 * WIDE_LANES, quarter = half / 2;
    const wide_factor *c = block == 0 ? 0 : &tw[block];
    if (len == 2) {
        butterflies(x, x + half, half, c);
        return;
    }
    for (size_t i = 0; i < quarter; i += WIDE_LANES) {
        fr *x0 = x + i, *x1 = x0 + quarter, *x2 = x1 + quarter, *x3 = x2 + quarter;
        butterflies(x0, x2, WIDE_LANES, c);
        butterflies(x1, x3, WIDE_LANES, c);
        butterflies(x0, x1, WIDE_LANES, block == 0 ? 0 : &tw[2 * block]);
        butterflies(x2, x3, WIDE_LANES, &tw[2 * block + 1]);
    }
    if (len == 4) return;
    for (size_t i = 0; i < 4; i++) split(x + i * quarter, len / 4, 4 * block + i, tw);
}

static void merge(fr *x, size_t len, const wide_factor *tw) {
    const size_t rows = len / 4, quarter = rows * WIDE_LANES;
    if (len == 2) {
        butterflies(x, x + WIDE_LANES, WIDE_LANES, 0);
        return;
    }
    if (len > 4)
        for (size_t i = 0; i < 4; i++) merge(x + i * quarter, rows, tw);
    for (size_t i = 0; i < rows; i++) {
        fr *x0 = x + i * WIDE_LANES, *x1 = x0 + quarter, *x2 = x1 + quarter, *x3 = x2 + quarter;
        const wide_factor *c = i == 0 ? 0 : &tw[rows + i];
        butterflies(x0, x1, WIDE_LANES, c);
        butterflies(x2, x3, WIDE_LANES, c);
        butterflies(x0, x2, WIDE_LANES, i == 0 ? 0 : &tw[2 * rows + i]);
        butterflies(x1, x3, WIDE_LANES, &tw[3 * rows + i]);
    }
}

static void tile_split(uint64_t *tile, unsigned bits, const wide_factor *tw) {
    split(row_of(tile, 0), (size_t)1 << bits, 0, tw);
}
static void tile_merge(uint64_t *tile, unsigned bits, const wide_factor *tw) {
    merge(row_of(tile, 0), (size_t)1 << bits, tw);
}
static void split_columns(uint64_t *tile, const fr *a, size_t stride, unsigned bits, const wide_factor *tw) {
    copy_in(tile, a, stride, bits);
    tile_split(tile, bits, tw);
}
static void split_rows(uint64_t *tile, const fr *const row[WIDE_LANES], unsigned bits, const wide_factor *tw) {
    for (size_t i = 0; i < (size_t)1 << bits; i++)
        for (size_t l = 0; l < WIDE_LANES; l++) row_of(tile, i)[l] = row[l][i];
    tile_split(tile, bits, tw);
}

// --- walks ---

// The power of the next row, for each lane.
typedef struct pace {
    fr at[WIDE_LANES]; // short
    wide_factor step[WIDE_LANES];
} pace;

static void pace_start(pace *p, const wide_walk *w) {
    for (size_t l = 0; l < WIDE_LANES; l++) {
        p->at[l] = w->start[l];
        wide_words_factor(&p->step[l], &w->step[l]);
    }
}
static void walk_through(uint64_t *tile, unsigned bits, const wide_walk *walk) {
    pace p;
    pace_start(&p, walk);
    for (size_t i = 0; i < (size_t)1 << bits; i++) {
        fr *row = row_of(tile, walk->reversed ? reversed(i, bits) : i);
        for (size_t l = 0; l < WIDE_LANES; l++) {
            // A short number and a loose one: the sum that is divided is below 1.14 r 2^256 + r 2^256 < 2^512.
            fr_mul(&row[l], &p.at[l], &row[l]);
            times_constant(&p.at[l], &p.step[l]);
        }
    }
}

static void load_columns(uint64_t *tile, const fr *a, size_t stride, unsigned bits, const wide_walk *walk) {
    copy_in(tile, a, stride, bits);
    walk_through(tile, bits, walk);
}

static void store_columns(fr *a, size_t stride, uint64_t *tile, unsigned bits, const wide_walk *walk) {
    if (walk != 0) walk_through(tile, bits, walk);
    for (size_t i = 0; i < (size_t)1 << bits; i++) memcpy(a + i * stride, row_of(tile, i), WIDE_LANES * sizeof *a);
}

// --- rows ---

// Of a short number.
static void reduce(fr *a) { fr_reduce_once(a, a->l[0], a->l[1], a->l[2], a->l[3]); }

static void store_rows(fr *const row[WIDE_LANES], uint64_t *tile, unsigned bits, bool last) {
    for (size_t i = 0; i < (size_t)1 << bits; i++)
        for (size_t l = 0; l < WIDE_LANES; l++) {
            row[l][i] = row_of(tile, i)[l];
            if (last) reduce(&row[l][i]);
        }
}

static void store_reversed(fr *a, size_t stride, uint64_t *tile, unsigned bits) {
    for (size_t i = 0; i < (size_t)1 << bits; i++)
        for (size_t l = 0; l < WIDE_LANES; l++) {
            a[i * stride + l] = row_of(tile, reversed(i, bits))[l];
            reduce(&a[i * stride + l]);
        }
}

static void scale(uint64_t *tile, unsigned bits, const wide_factor *by) {
    for (size_t i = 0; i < (size_t)1 << bits; i++)
        for (size_t l = 0; l < WIDE_LANES; l++) times_constant(&row_of(tile, i)[l], &by[i]);
}

static void times(uint64_t *tile, const uint64_t *by, unsigned bits) {
    fr *a = row_of(tile, 0);
    const fr *b = (const fr *)(const void *)by;
    for (size_t i = 0; i < (size_t)WIDE_LANES << bits; i++) fr_mul(&a[i], &a[i], &b[i]); // short ones
}

static void minus(uint64_t *tile, const uint64_t *by, unsigned bits) {
    fr *a = row_of(tile, 0);
    const fr *b = (const fr *)(const void *)by;
    for (size_t i = 0; i < (size_t)WIDE_LANES << bits; i++) {
        const sum t = {{b[i].l[0], b[i].l[1], b[i].l[2], b[i].l[3], 0}};
        fr sums = a[i];
        spread(&sums, &a[i], &t, R3);
    }
}

void wide_words_factor(wide_factor *f, const fr *c) {
    // c is c 2^256 mod r already, and a step of Montgomery's method divides by 2^64.
    *f = (wide_factor){0};
    fr x = *c;
    for (int i = 3;; i--) {
        for (int j = 0; j < 4; j++) f->c[i][j] = x.l[j];
        if (i == 0) return;
        fr_mul(&x, &x, &(const fr){{0, 0, 0, 1}}); // 2^192 / 2^256
    }
}

const wide_kernels WIDE_KERNELS_WORDS = {
    .form = WIDE_WORDS,
    .load_columns = load_columns,
    .store_columns = store_columns,
    .store_rows = store_rows,
    .store_reversed = store_reversed,
    .split = tile_split,
    .split_columns = split_columns,
    .split_rows = split_rows,
    .merge = tile_merge,
    .scale = scale,
    .times = times,
    .minus = minus,
};
