// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The passes between transforms: scaling by powers of the coset shift, negation of indices, bit reversal.
#include "poly/internal.h"

enum {
    CHUNK = 4096,
    TILE_LOG2 = 4, // bit reversal works on tiles of 16 x 16 elements: rows of 512 bytes
    TILE = 1 << TILE_LOG2,
};

typedef struct order_job {
    const ntt_domain *d;
    fr *a;
    const fr *b;
    const fr *scale;
    const ntt_powers *t;
    const ntt_permute_args *args;
} order_job;

static uint64_t chunk_end(const order_job *j, size_t task) {
    const uint64_t end = ((uint64_t)task + 1) * CHUNK, n = ntt_size(j->d);
    return end < n ? end : n;
}
static size_t chunks(const ntt_domain *d) { return (size_t)((ntt_size(d) + CHUNK - 1) / CHUNK); }

static void reverse_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const order_job *j = ctx;
    const uint64_t n = ntt_size(j->d);
    // The pair (i, n - i) belongs to the smaller index; 0 and n/2 are their own partners.
    for (uint64_t i = (uint64_t)task * CHUNK, end = chunk_end(j, task); i < end && i <= n / 2; i++) {
        const uint64_t k = (n - i) & (n - 1);
        fr u = j->a[i], v = j->a[k];
        if (j->b != 0) fr_mul(&u, &u, &j->b[i]), fr_mul(&v, &v, &j->b[k]);
        if (j->scale != 0) fr_mul(&u, &u, j->scale), fr_mul(&v, &v, j->scale);
        j->a[k] = u, j->a[i] = v;
    }
}

void ntt_reverse_pass(const ntt_domain *d, fr *a, const fr *b, const fr *scale, pool *p) {
    order_job j = {.d = d, .a = a, .b = b, .scale = scale};
    pool_run(p, chunks(d), reverse_task, &j);
}

static void to_coset_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const order_job *j = ctx;
    for (uint64_t i = (uint64_t)task * CHUNK, end = chunk_end(j, task); i < end; i++) {
        const uint64_t k = ntt_negated_position(i);
        if (k < i) continue;
        fr f, u = j->a[i];
        if (k != i) {
            ntt_power(&f, j->d, j->t, i);
            fr_mul(&j->a[i], &j->a[k], &f);
        }
        ntt_power(&f, j->d, j->t, k);
        fr_mul(&j->a[k], &u, &f);
    }
}

void ntt_to_coset_pass(const ntt_domain *d, fr *a, pool *p) {
    order_job j = {.d = d, .a = a, .t = &d->shift_rev};
    pool_run(p, chunks(d), to_coset_task, &j);
}

static void scale_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const order_job *j = ctx;
    for (uint64_t i = (uint64_t)task * CHUNK, end = chunk_end(j, task); i < end; i++) {
        fr f;
        ntt_power(&f, j->d, j->t, i);
        fr_mul(&j->a[i], &j->a[i], &f);
    }
}

void ntt_scale_pass(const ntt_domain *d, fr *a, const ntt_powers *t, pool *p) {
    order_job j = {.d = d, .a = a, .t = t};
    pool_run(p, chunks(d), scale_task, &j);
}

// What permute_pass stores at natural position k, from the value v found there in bit-reversed order.
static inline void permuted(fr *out, const order_job *j, const fr *v, uint64_t k, const fr *c) {
    const ntt_permute_args *args = j->args;
    fr w = *v, f;
    if (args->t != 0) {
        ntt_power(&f, j->d, args->t, k);
        if (args->t_scale != 0) fr_mul(&w, &w, args->t_scale);
        fr_mul(&w, &w, &f);
    }
    if (c != 0) {
        fr_mul(&f, c, args->c_scale);
        fr_sub(&w, &w, &f);
    }
    *out = w;
}

static const fr *subtrahend(const order_job *j, uint64_t from) {
    return j->args->c == 0 ? 0 : &j->args->c[ntt_negated_position(from)];
}

static void permute_small(const order_job *j) {
    const unsigned bits = j->d->log2;
    for (uint64_t i = 0; i < ntt_size(j->d); i++) {
        const uint64_t k = ntt_reverse_bits(i, bits);
        if (k < i) continue;
        const fr u = j->a[i], v = j->a[k];
        permuted(&j->a[k], j, &u, k, subtrahend(j, i));
        if (k != i) permuted(&j->a[i], j, &v, i, subtrahend(j, k));
    }
}

// An index is (A, M, B) with A and B of 4 bits; its reversal is (rev B, rev M, rev A). The tile of all A, B for one M
// goes to the tile of rev M, transposed. Both tiles are read by rows into buffers, since rows lie a power of two apart
// and would evict each other from a cache before all of a line is used.
typedef struct tile {
    fr v[TILE][TILE]; // [A][B]
} tile;

static void tile_load(tile *t, const fr *a, uint64_t mid, unsigned mid_bits) {
    for (uint64_t r = 0; r < TILE; r++) {
        const fr *row = a + (((r << mid_bits) | mid) << TILE_LOG2);
        for (uint64_t s = 0; s < TILE; s++) t->v[r][s] = row[s];
    }
}

// The values that leave tile `mid`; c is read by rows here too.
static void tile_subtrahend(tile *t, const order_job *j, uint64_t mid, unsigned mid_bits) {
    for (uint64_t r = 0; r < TILE; r++)
        for (uint64_t s = 0; s < TILE; s++) t->v[r][s] = *subtrahend(j, (((r << mid_bits) | mid) << TILE_LOG2) | s);
}

static void tile_store(const order_job *j, const tile *t, const tile *c, uint64_t mid, unsigned mid_bits) {
    for (uint64_t r = 0; r < TILE; r++) {
        const uint64_t base = ((r << mid_bits) | mid) << TILE_LOG2, rr = ntt_reverse_bits(r, TILE_LOG2);
        for (uint64_t s = 0; s < TILE; s++) {
            const uint64_t rs = ntt_reverse_bits(s, TILE_LOG2);
            permuted(&j->a[base | s], j, &t->v[rs][rr], base | s, c == 0 ? 0 : &c->v[rs][rr]);
        }
    }
}

static void permute_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const order_job *j = ctx;
    const unsigned mid_bits = j->d->log2 - 2 * TILE_LOG2;
    const uint64_t m = task, rm = ntt_reverse_bits(m, mid_bits);
    if (rm < m) return;
    tile tm, trm, cm, crm;
    const bool c = j->args->c != 0;
    tile_load(&tm, j->a, m, mid_bits);
    if (c) tile_subtrahend(&cm, j, m, mid_bits);
    if (rm != m) {
        tile_load(&trm, j->a, rm, mid_bits);
        if (c) tile_subtrahend(&crm, j, rm, mid_bits);
        tile_store(j, &trm, c ? &crm : 0, m, mid_bits);
    }
    tile_store(j, &tm, c ? &cm : 0, rm, mid_bits);
}

void ntt_permute_pass(const ntt_domain *d, fr *a, const ntt_permute_args *args, pool *p) {
    order_job j = {.d = d, .a = a, .args = args};
    if (d->log2 < 2 * TILE_LOG2)
        permute_small(&j);
    else
        pool_run(p, (size_t)1 << (d->log2 - 2 * TILE_LOG2), permute_task, &j);
}
