// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Creation of a domain: the twiddle table and the power tables of the coset; Lagrange basis at a point.
#include "poly/domain.h"

#include "base/mem.h"
#include "poly/internal.h"

enum { CHUNK = 1024 }; // elements a task handles in the loops below

static size_t chunks(uint64_t n) { return (size_t)((n + CHUNK - 1) / CHUNK); }
static size_t chunk_end(size_t task, uint64_t n) {
    const uint64_t end = ((uint64_t)task + 1) * CHUNK;
    return (size_t)(end < n ? end : n);
}

// Twiddles by doubling: bit s of an index, reversed, adds size / 2^(s+2) to the exponent, so the entries
// [2^s, 2^(s+1)) are the first 2^s times one root of order 2^(s+2).
static void fill_twiddles(ntt_domain *d) {
    d->twiddles[0] = FR_ONE;
    for (unsigned s = 0; s + 2 <= d->log2; s++) {
        fr root;
        fr_root_of_unity(&root, s + 2);
        for (size_t half = (size_t)1 << s, i = 0; i < half; i++) fr_mul(&d->twiddles[half + i], &d->twiddles[i], &root);
    }
}

static bool powers_alloc(ntt_powers *t, const ntt_domain *d) {
    t->lo = mem_alloc(MEM_TABLE, (size_t)1 << d->split, sizeof(fr));
    t->hi = mem_alloc(MEM_TABLE, (size_t)1 << (d->log2 - d->split), sizeof(fr));
    return t->lo != 0 && t->hi != 0;
}

// out[i] := start * ratio^i for i < 2^bits, or with `reversed` at the position with its bits reversed.
static void geometric(fr *out, unsigned bits, bool reversed, const fr *start, const fr *ratio) {
    fr v = *start;
    for (uint64_t i = 0; i < (uint64_t)1 << bits; i++) {
        out[reversed ? ntt_reverse_bits(i, bits) : i] = v;
        fr_mul(&v, &v, ratio);
    }
}

static void fill_powers(ntt_powers *t, const ntt_domain *d, const fr *base, const fr *scale, bool reversed) {
    // Exponent e = (e >> s, e & m); reversing all log2 bits swaps the roles of the halves and reverses each.
    const unsigned low = d->split, high = d->log2 - d->split;
    fr step;
    fr_pow_u64(&step, base, (uint64_t)1 << (reversed ? high : low));
    geometric(t->lo, low, reversed, &FR_ONE, reversed ? &step : base);
    geometric(t->hi, high, reversed, scale, reversed ? base : &step);
}

static void fill_constants(ntt_domain *d) {
    const uint64_t n = ntt_size(d);
    fr_root_of_unity(&d->omega, d->log2);
    fr_from_u64(&d->size_inv, n);
    fr_inv(&d->size_inv, &d->size_inv);
    fr_pow_u64(&d->z_inv, &FR_GENERATOR, n);
    fr_sub(&d->z_inv, &d->z_inv, &FR_ONE);
    fr_inv(&d->z_inv, &d->z_inv);
}

cuzk_status ntt_domain_create(ntt_domain **out, uint64_t min_size, pool *p, cuzk_error *err) {
    return ntt_domain_create_with(out, min_size, wide_kernels_at(ntt_level()), p, err);
}

cuzk_status ntt_domain_create_with(ntt_domain **out, uint64_t min_size, const wide_kernels *wide, pool *p,
                                   cuzk_error *err) {
    *out = 0;
    if (min_size > (uint64_t)1 << FR_TWO_ADICITY)
        return cuzk_fail(err, CUZK_ERR_USAGE, "evaluation domain: %llu points asked for, at most 2^%d exist",
                         (unsigned long long)min_size, FR_TWO_ADICITY);
    unsigned k = 0;
    while ((uint64_t)1 << k < min_size) k++;
    const uint64_t half = k == 0 ? 1 : (uint64_t)1 << (k - 1);
    ntt_domain *d = half > SIZE_MAX / sizeof(fr) ? 0 : mem_calloc(MEM_TABLE, 1, sizeof *d);
    if (d != 0) {
        d->log2 = k, d->split = k / 2;
        fill_constants(d);
    }
    // With a wide path there is no need of the large table.
    bool ok = d != 0 && ntt_wide_create(&d->wide, d, wide, WIDE_MAX_BITS, p) == CUZK_OK;
    if (ok && d->wide == 0) {
        d->twiddles = mem_alloc(MEM_TABLE, (size_t)half, sizeof(fr));
        ok = d->twiddles != 0;
    }
    if (!ok || !powers_alloc(&d->shift, d) || !powers_alloc(&d->unshift, d) || !powers_alloc(&d->shift_rev, d)) {
        ntt_domain_destroy(&d);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "evaluation domain: no memory for the tables of 2^%u points (%llu MiB)",
                         k, (unsigned long long)(half >> 15));
    }
    fr g_inv;
    fr_inv(&g_inv, &FR_GENERATOR);
    fill_powers(&d->shift, d, &FR_GENERATOR, &FR_ONE, false);
    fill_powers(&d->unshift, d, &g_inv, &d->size_inv, false);
    fill_powers(&d->shift_rev, d, &FR_GENERATOR, &d->size_inv, true);
    if (d->twiddles != 0) fill_twiddles(d);
    *out = d;
    return CUZK_OK;
}

void ntt_domain_destroy(ntt_domain **pd) {
    if (pd == 0 || *pd == 0) return;
    ntt_domain *d = *pd;
    const ntt_powers *t[] = {&d->shift, &d->unshift, &d->shift_rev};
    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) mem_free(t[i]->lo), mem_free(t[i]->hi);
    ntt_wide_destroy(&d->wide);
    mem_free(d->twiddles);
    mem_free(d);
    *pd = 0;
}

uint64_t ntt_domain_size(const ntt_domain *d) { return ntt_size(d); }
unsigned ntt_domain_log2(const ntt_domain *d) { return d->log2; }
const fr *ntt_domain_omega(const ntt_domain *d) { return &d->omega; }

// L_i(x) = (x^n - 1)/n * w^i / (x - w^i): the numerator is X^n - 1 without its root w^i, and n w^-i = n w^(i(n-1)) is
// its derivative at that root.
typedef struct lagrange_job {
    const ntt_domain *d;
    fr *out;
    fr x, scale;
} lagrange_job;

static void lagrange_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const lagrange_job *j = ctx;
    fr power[CHUNK], scratch[CHUNK], w;
    const size_t begin = task * CHUNK, n = chunk_end(task, ntt_size(j->d)) - begin;
    fr *out = j->out + begin;
    fr_pow_u64(&w, &j->d->omega, begin);
    for (size_t i = 0; i < n; i++) {
        fr_mul(&power[i], &w, &j->scale);
        fr_sub(&out[i], &j->x, &w);
        fr_mul(&w, &w, &j->d->omega);
    }
    fr_inv_batch(out, scratch, n);
    for (size_t i = 0; i < n; i++) fr_mul(&out[i], &out[i], &power[i]);
}

void ntt_domain_lagrange_at(const ntt_domain *d, fr *lagrange, const fr *x, pool *p) {
    lagrange_job j = {.d = d, .out = lagrange, .x = *x};
    fr_pow_u64(&j.scale, x, ntt_size(d));
    fr_sub(&j.scale, &j.scale, &FR_ONE);
    fr_mul(&j.scale, &j.scale, &d->size_inv);
    pool_run(p, chunks(ntt_size(d)), lagrange_task, &j);
}
