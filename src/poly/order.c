// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Bit reversal, and the passes between plain transforms: scaling by powers of the coset shift, negation of indices.
#include "poly/internal.h"

enum {
    TILE_LOG2 = 4, // bit reversal works on tiles of 16 x 16 elements: rows of 512 bytes
    TILE = 1 << TILE_LOG2,
};

void ntt_reverse_pass(const ntt_domain *d, fr *a, const fr *b, const fr *scale) {
    const uint64_t n = ntt_size(d);
    // The pair (i, n - i) belongs to the smaller index; 0 and n/2 are their own partners.
    for (uint64_t i = 0; i < n && i <= n / 2; i++) {
        const uint64_t k = (n - i) & (n - 1);
        fr u = a[i], v = a[k];
        if (b != 0) fr_mul(&u, &u, &b[i]), fr_mul(&v, &v, &b[k]);
        if (scale != 0) fr_mul(&u, &u, scale), fr_mul(&v, &v, scale);
        a[k] = u, a[i] = v;
    }
}

void ntt_to_coset_pass(const ntt_domain *d, fr *a) {
    for (uint64_t i = 0; i < ntt_size(d); i++) {
        const uint64_t k = ntt_negated_position(i);
        if (k < i) continue;
        fr f, u = a[i];
        if (k != i) {
            ntt_power(&f, d, &d->shift_rev, i);
            fr_mul(&a[i], &a[k], &f);
        }
        ntt_power(&f, d, &d->shift_rev, k);
        fr_mul(&a[k], &u, &f);
    }
}

void ntt_scale_pass(const ntt_domain *d, fr *a, const ntt_powers *t) {
    for (uint64_t i = 0; i < ntt_size(d); i++) {
        fr f;
        ntt_power(&f, d, t, i);
        fr_mul(&a[i], &a[i], &f);
    }
}

void ntt_difference_pass(const ntt_domain *d, fr *a, const fr *c) {
    fr scale;
    fr_mul(&scale, &d->size_inv, &d->z_inv);
    ntt_permute_pass(d, a, 0); // c stays in bit-reversed order, and of negated indices
    for (uint64_t k = 0; k < ntt_size(d); k++) {
        fr f;
        ntt_power(&f, d, &d->unshift, k);
        fr_mul(&f, &f, &d->z_inv);
        fr_mul(&a[k], &a[k], &f);
        fr_mul(&f, &c[ntt_negated_position(ntt_reverse_bits(k, d->log2))], &scale);
        fr_sub(&a[k], &a[k], &f);
    }
}

// --- bit reversal ---

typedef struct permute_job {
    unsigned mid_bits;
    fr *a;
} permute_job;

static void permute_small(fr *a, unsigned bits) {
    for (uint64_t i = 0; i < (uint64_t)1 << bits; i++) {
        const uint64_t k = ntt_reverse_bits(i, bits);
        if (k <= i) continue;
        const fr u = a[i];
        a[i] = a[k], a[k] = u;
    }
}

// An index is (A, M, B) with A and B of 4 bits; its reversal is (rev B, rev M, rev A). The tile of all A, B for one M
// goes to the tile of rev M, transposed. Both tiles are read by rows into buffers, since rows lie a power of two apart
// and would evict each other from a cache before all of a line is used.
typedef struct tile {
    fr v[TILE][TILE]; // [A][B]
} tile;

static void tile_load(tile *t, const permute_job *j, uint64_t mid) {
    for (uint64_t r = 0; r < TILE; r++) {
        const fr *row = j->a + (((r << j->mid_bits) | mid) << TILE_LOG2);
        for (uint64_t s = 0; s < TILE; s++) t->v[r][s] = row[s];
    }
}

static void tile_store(const permute_job *j, const tile *t, uint64_t mid) {
    for (uint64_t r = 0; r < TILE; r++) {
        fr *row = j->a + (((r << j->mid_bits) | mid) << TILE_LOG2);
        const uint64_t rr = ntt_reverse_bits(r, TILE_LOG2);
        for (uint64_t s = 0; s < TILE; s++) row[s] = t->v[ntt_reverse_bits(s, TILE_LOG2)][rr];
    }
}

static void permute_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const permute_job *j = ctx;
    const uint64_t m = task, rm = ntt_reverse_bits(m, j->mid_bits);
    if (rm < m) return;
    tile tm, trm;
    tile_load(&tm, j, m);
    if (rm != m) {
        tile_load(&trm, j, rm);
        tile_store(j, &trm, m);
    }
    tile_store(j, &tm, rm);
}

void ntt_permute_pass(const ntt_domain *d, fr *a, pool *p) {
    if (d->log2 < 2 * TILE_LOG2) {
        permute_small(a, d->log2);
        return;
    }
    permute_job j = {d->log2 - 2 * TILE_LOG2, a};
    pool_run(p, (size_t)1 << j.mid_bits, permute_task, &j);
}
