// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Butterflies. Radix 4 does two levels in one pass over memory; the number of multiplications stays that of radix 2,
// since i is a general element of Fr. Recursion goes depth first, so that a block that fits a cache is finished there,
// whatever the cache's size.
//
// A multiplication is a long chain of instructions that depend on each other, and about as long as what a processor
// looks ahead. So butterflies follow others that they do not depend on: the two levels of a pass take turns by runs of
// some elements, and small blocks are done level by level.
#include "poly/butterfly.h"

enum {
    RUN = 8,    // elements of a run: those of four runs stay in a first-level cache
    SMALL = 64, // blocks of at most this length are done level by level
};

// n butterflies with one twiddle, (u, v) -> (u + c v, u - c v).
static void ct_run(fr *u, fr *v, size_t n, const fr *c) {
    for (size_t i = 0; i < n; i++) {
        fr t;
        fr_mul(&t, &v[i], c);
        fr_sub(&v[i], &u[i], &t);
        fr_add(&u[i], &u[i], &t);
    }
}

// (u, v) -> (u + v, c (u - v)).
static void gs_run(fr *u, fr *v, size_t n, const fr *c) {
    for (size_t i = 0; i < n; i++) {
        fr t;
        fr_sub(&t, &u[i], &v[i]);
        fr_add(&u[i], &u[i], &v[i]);
        fr_mul(&v[i], &t, c);
    }
}

// Both with twiddle one.
static void plain_run(fr *u, fr *v, size_t n) {
    for (size_t i = 0; i < n; i++) {
        fr t;
        fr_sub(&t, &u[i], &v[i]);
        fr_add(&u[i], &u[i], &v[i]);
        v[i] = t;
    }
}

static inline size_t run_of(size_t q) { return q < RUN ? q : RUN; }

// Two levels of one block: c for the block, c0 and c1 for its halves.
static void ct4(fr *x, size_t q, const fr *c, const fr *c0, const fr *c1) {
    const size_t n = run_of(q);
    for (fr *x0 = x; x0 < x + q; x0 += n) {
        fr *x1 = x0 + q, *x2 = x1 + q, *x3 = x2 + q;
        ct_run(x0, x2, n, c);
        ct_run(x1, x3, n, c);
        ct_run(x0, x1, n, c0);
        ct_run(x2, x3, n, c1);
    }
}

// Block 0: c = c0 = 1.
static void ct4_first(fr *x, size_t q, const fr *c1) {
    const size_t n = run_of(q);
    for (fr *x0 = x; x0 < x + q; x0 += n) {
        fr *x1 = x0 + q, *x2 = x1 + q, *x3 = x2 + q;
        plain_run(x0, x2, n);
        plain_run(x1, x3, n);
        plain_run(x0, x1, n);
        ct_run(x2, x3, n, c1);
    }
}

static void gs4(fr *x, size_t q, const fr *c, const fr *c0, const fr *c1) {
    const size_t n = run_of(q);
    for (fr *x0 = x; x0 < x + q; x0 += n) {
        fr *x1 = x0 + q, *x2 = x1 + q, *x3 = x2 + q;
        gs_run(x0, x1, n, c0);
        gs_run(x2, x3, n, c1);
        gs_run(x0, x2, n, c);
        gs_run(x1, x3, n, c);
    }
}

static void gs4_first(fr *x, size_t q, const fr *c1) {
    const size_t n = run_of(q);
    for (fr *x0 = x; x0 < x + q; x0 += n) {
        fr *x1 = x0 + q, *x2 = x1 + q, *x3 = x2 + q;
        plain_run(x0, x1, n);
        gs_run(x2, x3, n, c1);
        plain_run(x0, x2, n);
        plain_run(x1, x3, n);
    }
}

// One level: a block and its relatives at the same level, `blocks` of them from number `block` on.
static void ct_level(fr *x, size_t half, size_t block, size_t blocks, const fr *tw) {
    for (size_t k = 0; k < blocks; k++, x += 2 * half) {
        if (block + k == 0)
            plain_run(x, x + half, half);
        else
            ct_run(x, x + half, half, &tw[block + k]);
    }
}

static void gs_level(fr *x, size_t half, size_t block, size_t blocks, const fr *tw) {
    for (size_t k = 0; k < blocks; k++, x += 2 * half) {
        if (block + k == 0)
            plain_run(x, x + half, half);
        else
            gs_run(x, x + half, half, &tw[block + k]);
    }
}

void ntt_split(fr *x, size_t len, size_t stop, size_t block, const fr *tw) {
    if (len <= SMALL || len / 2 <= stop) {
        for (size_t blocks = 1; len > stop; len /= 2, block *= 2, blocks *= 2) ct_level(x, len / 2, block, blocks, tw);
        return;
    }
    const size_t q = len / 4;
    if (block == 0)
        ct4_first(x, q, &tw[1]);
    else
        ct4(x, q, &tw[block], &tw[2 * block], &tw[2 * block + 1]);
    if (q == stop) return;
    for (size_t i = 0; i < 4; i++) ntt_split(x + i * q, q, stop, 4 * block + i, tw);
}

void ntt_merge(fr *x, size_t len, size_t start, size_t block, const fr *tw) {
    if (len <= SMALL || len / 2 <= start) {
        for (size_t half = start; half < len; half *= 2) {
            const size_t blocks = len / 2 / half;
            gs_level(x, half, block * blocks, blocks, tw);
        }
        return;
    }
    const size_t q = len / 4;
    if (q > start)
        for (size_t i = 0; i < 4; i++) ntt_merge(x + i * q, q, start, 4 * block + i, tw);
    if (block == 0)
        gs4_first(x, q, &tw[1]);
    else
        gs4(x, q, &tw[block], &tw[2 * block], &tw[2 * block + 1]);
}
