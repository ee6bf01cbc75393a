// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Butterflies, compiled once for every CPU level: portable, and with NTT_ADX. Radix 4 does two levels in one pass over
// memory; the number of multiplications stays that of radix 2, since i is a general element of Fr. Recursion goes depth
// first, so that a block that fits a cache is finished there, whatever the cache's size.
#include "poly/kernels.h"

#if defined(NTT_ADX)
#include "poly/x86/fr_adx.h"
#define MUL fr_mul_adx
#define SPLIT ntt_split_adx
#define MERGE ntt_merge_adx
#else
#define MUL fr_mul
#define SPLIT ntt_split_portable
#define MERGE ntt_merge_portable
#endif

static inline void ct(fr *u, fr *v, const fr *c) {
    fr t;
    MUL(&t, v, c);
    fr_sub(v, u, &t);
    fr_add(u, u, &t);
}

static inline void gs(fr *u, fr *v, const fr *c) {
    fr t;
    fr_sub(&t, u, v);
    fr_add(u, u, v);
    MUL(v, &t, c);
}

// Twiddle one.
static inline void plain(fr *u, fr *v) {
    fr t;
    fr_sub(&t, u, v);
    fr_add(u, u, v);
    *v = t;
}

// Two levels of one block: c for the block, c0 and c1 for its halves.
static void ct4(fr *x, size_t q, const fr *c, const fr *c0, const fr *c1) {
    for (size_t i = 0; i < q; i++) {
        fr x0 = x[i], x1 = x[q + i], x2 = x[2 * q + i], x3 = x[3 * q + i];
        ct(&x0, &x2, c);
        ct(&x1, &x3, c);
        ct(&x0, &x1, c0);
        ct(&x2, &x3, c1);
        x[i] = x0, x[q + i] = x1, x[2 * q + i] = x2, x[3 * q + i] = x3;
    }
}

// Block 0: c = c0 = 1.
static void ct4_first(fr *x, size_t q, const fr *c1) {
    for (size_t i = 0; i < q; i++) {
        fr x0 = x[i], x1 = x[q + i], x2 = x[2 * q + i], x3 = x[3 * q + i];
        plain(&x0, &x2);
        plain(&x1, &x3);
        plain(&x0, &x1);
        ct(&x2, &x3, c1);
        x[i] = x0, x[q + i] = x1, x[2 * q + i] = x2, x[3 * q + i] = x3;
    }
}

static void gs4(fr *x, size_t q, const fr *c, const fr *c0, const fr *c1) {
    for (size_t i = 0; i < q; i++) {
        fr x0 = x[i], x1 = x[q + i], x2 = x[2 * q + i], x3 = x[3 * q + i];
        gs(&x0, &x1, c0);
        gs(&x2, &x3, c1);
        gs(&x0, &x2, c);
        gs(&x1, &x3, c);
        x[i] = x0, x[q + i] = x1, x[2 * q + i] = x2, x[3 * q + i] = x3;
    }
}

static void gs4_first(fr *x, size_t q, const fr *c1) {
    for (size_t i = 0; i < q; i++) {
        fr x0 = x[i], x1 = x[q + i], x2 = x[2 * q + i], x3 = x[3 * q + i];
        plain(&x0, &x1);
        gs(&x2, &x3, c1);
        plain(&x0, &x2);
        plain(&x1, &x3);
        x[i] = x0, x[q + i] = x1, x[2 * q + i] = x2, x[3 * q + i] = x3;
    }
}

void SPLIT(fr *x, size_t len, size_t stop, size_t block, const fr *tw) {
    if (len == stop) return;
    if (len / 2 == stop) {
        for (size_t i = 0; i < stop; i++) ct(&x[i], &x[stop + i], &tw[block]);
        return;
    }
    const size_t q = len / 4;
    if (block == 0)
        ct4_first(x, q, &tw[1]);
    else
        ct4(x, q, &tw[block], &tw[2 * block], &tw[2 * block + 1]);
    if (q == stop) return;
    for (size_t i = 0; i < 4; i++) SPLIT(x + i * q, q, stop, 4 * block + i, tw);
}

void MERGE(fr *x, size_t len, size_t start, size_t block, const fr *tw) {
    if (len == start) return;
    if (len / 2 == start) {
        for (size_t i = 0; i < start; i++) gs(&x[i], &x[start + i], &tw[block]);
        return;
    }
    const size_t q = len / 4;
    if (q > start)
        for (size_t i = 0; i < 4; i++) MERGE(x + i * q, q, start, 4 * block + i, tw);
    if (block == 0)
        gs4_first(x, q, &tw[1]);
    else
        gs4(x, q, &tw[block], &tw[2 * block], &tw[2 * block + 1]);
}
