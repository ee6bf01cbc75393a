// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The transforms: a few passes over memory, each with as many levels as a tile can hold, then the quotient of Groth16.
// docs/maths/ntt.md derives the order of passes.
#include <string.h>

#include "poly/internal.h"

enum {
    LOCAL_LOG2 = 13, // a block of 2^13 elements, 256 KiB, is finished by one task inside a second-level cache
    TILE_LOG2 = 11,  // a tile of columns: 64 KiB on the stack
    TILE_ROWS_LOG2 = 6,
    MAX_PASSES = (FR_TWO_ADICITY - LOCAL_LOG2 + TILE_ROWS_LOG2 - 1) / TILE_ROWS_LOG2,
};

// Levels [level, level + levels) of the tree. A block at `level` is cut into 2^levels rows of `row` elements; columns
// are independent, so a task takes some columns of all rows. Rows lie a power of two apart and would fall on the same
// few cache sets, hence the copy into a contiguous tile; there ntt_split sees a block like any other.
typedef struct column_job {
    const fr *tw;
    fr *a;
    size_t row;     // elements a row
    size_t columns; // elements of a row a task takes
    unsigned levels;
    bool merge;
} column_job;

static void column_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const column_job *j = ctx;
    _Alignas(64) fr tile[1 << TILE_LOG2];
    const size_t rows = (size_t)1 << j->levels, tiles = j->row / j->columns;
    const size_t block = task / tiles;
    fr *base = j->a + block * rows * j->row + (task % tiles) * j->columns;
    for (size_t r = 0; r < rows; r++) memcpy(tile + r * j->columns, base + r * j->row, j->columns * sizeof(fr));
    (j->merge ? ntt_merge : ntt_split)(tile, rows * j->columns, j->columns, block, j->tw);
    for (size_t r = 0; r < rows; r++) memcpy(base + r * j->row, tile + r * j->columns, j->columns * sizeof(fr));
}

static void column_pass(const ntt_domain *d, fr *a, unsigned level, unsigned levels, bool merge, pool *p) {
    column_job j = {d->twiddles, a, 0, (size_t)1 << (TILE_LOG2 - levels), levels, merge};
    j.row = (size_t)1 << (d->log2 - level - levels);
    pool_run(p, ((size_t)1 << level) * (j.row / j.columns), column_task, &j);
}

typedef struct local_job {
    const fr *tw;
    fr *a;
    size_t len;
    bool merge;
} local_job;

static void local_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const local_job *j = ctx;
    (j->merge ? ntt_merge : ntt_split)(j->a + task * j->len, j->len, 1, task, j->tw);
}

static void local_pass(const ntt_domain *d, fr *a, unsigned log2, bool merge, pool *p) {
    local_job j = {d->twiddles, a, (size_t)1 << log2, merge};
    pool_run(p, (size_t)1 << (d->log2 - log2), local_task, &j);
}

// Splits the levels above the local blocks as evenly as possible into column passes: cuts[i]..cuts[i+1] is pass i.
static unsigned plan(const ntt_domain *d, unsigned cuts[MAX_PASSES + 1]) {
    const unsigned above = d->log2 > LOCAL_LOG2 ? d->log2 - LOCAL_LOG2 : 0;
    const unsigned passes = (above + TILE_ROWS_LOG2 - 1) / TILE_ROWS_LOG2;
    cuts[0] = 0;
    for (unsigned i = 1; i <= passes; i++) cuts[i] = above * i / passes;
    return passes;
}

void ntt_split_all(const ntt_domain *d, fr *a, pool *p) {
    unsigned cuts[MAX_PASSES + 1];
    const unsigned passes = plan(d, cuts);
    for (unsigned i = 0; i < passes; i++) column_pass(d, a, cuts[i], cuts[i + 1] - cuts[i], false, p);
    local_pass(d, a, d->log2 - cuts[passes], false, p);
}

void ntt_merge_all(const ntt_domain *d, fr *a, pool *p) {
    unsigned cuts[MAX_PASSES + 1];
    const unsigned passes = plan(d, cuts);
    local_pass(d, a, d->log2 - cuts[passes], true, p);
    for (unsigned i = passes; i-- > 0;) column_pass(d, a, cuts[i], cuts[i + 1] - cuts[i], true, p);
}

static bool wide(const ntt_domain *d, wide_kind kind, fr *a, pool *p) {
    if (d->wide == 0) return false;
    ntt_wide_transform(d->wide, kind, a, p);
    ntt_permute_pass(d, a, &(ntt_permute_args){0}, p);
    return true;
}

void ntt_forward(const ntt_domain *d, fr *a, pool *p) {
    if (wide(d, WIDE_FORWARD, a, p)) return;
    ntt_split_all(d, a, p);
    ntt_permute_pass(d, a, &(ntt_permute_args){0}, p);
}

// The inverse is the forward transform with indices negated on one side, and 1/size.
void ntt_inverse(const ntt_domain *d, fr *a, pool *p) {
    if (wide(d, WIDE_INVERSE, a, p)) return;
    ntt_reverse_pass(d, a, 0, &d->size_inv, p);
    ntt_forward(d, a, p);
}

void ntt_coset_forward(const ntt_domain *d, fr *a, pool *p) {
    if (wide(d, WIDE_COSET_FORWARD, a, p)) return;
    ntt_scale_pass(d, a, &d->shift, p);
    ntt_forward(d, a, p);
}

void ntt_coset_inverse(const ntt_domain *d, fr *a, pool *p) {
    if (wide(d, WIDE_COSET_INVERSE, a, p)) return;
    ntt_reverse_pass(d, a, 0, 0, p);
    ntt_split_all(d, a, p);
    ntt_permute_pass(d, a, &(ntt_permute_args){.t = &d->unshift}, p);
}

// A and B go to the coset, their product comes back as coefficients of A B mod (X^n - g^n); C is of degree below n
// already and needs no coset: h = (AB mod (X^n - g^n) - C) / (g^n - 1), coefficient by coefficient. Six transforms.
void ntt_quotient(const ntt_domain *d, fr *a, fr *b, fr *c, pool *p) {
    if (d->wide != 0) {
        ntt_wide_quotient(d->wide, a, b, c, p);
        return;
    }
    fr *ab[] = {a, b};
    for (int i = 0; i < 2; i++) {
        ntt_split_all(d, ab[i], p);
        ntt_to_coset_pass(d, ab[i], p);
        ntt_merge_all(d, ab[i], p);
    }
    ntt_split_all(d, c, p); // coefficients times n, negated indices, bit-reversed
    ntt_reverse_pass(d, a, b, 0, p);
    ntt_split_all(d, a, p);
    fr c_scale;
    fr_mul(&c_scale, &d->size_inv, &d->z_inv);
    const ntt_permute_args args = {.t = &d->unshift, .t_scale = &d->z_inv, .c = c, .c_scale = &c_scale};
    ntt_permute_pass(d, a, &args, p);
}
