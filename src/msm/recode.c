// SPDX-License-Identifier: MIT OR Apache-2.0
#include "msm/recode.h"

#include <string.h>

#include "base/mem.h"

enum { SLICE = 4096 };

typedef struct slice_counts {
    size_t ones, rest; // first counts, then where the slice writes
    unsigned bits;
} slice_counts;

typedef struct recode_job {
    msm_scalars *s;
    const fr *scalars;
    size_t n;
    slice_counts *slices;
    uint64_t bias[4];
} recode_job;

static size_t slice_end(size_t task, size_t n) { return (task + 1) * SLICE < n ? (task + 1) * SLICE : n; }

static void count_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    recode_job *j = ctx;
    size_t ones = 0, rest = 0;
    for (size_t i = task * SLICE, end = slice_end(task, j->n); i < end; i++) {
        if (fr_is_zero(&j->scalars[i])) continue;
        if (fr_is_one(&j->scalars[i]))
            ones++;
        else
            rest++;
    }
    j->slices[task] = (slice_counts){ones, rest, 0};
}

static bool limbs_less(const uint64_t a[4], const uint64_t b[4]) {
    for (int i = 3; i > 0; i--)
        if (a[i] != b[i]) return a[i] < b[i];
    return a[0] < b[0];
}
void msm_add_bias(uint64_t a[4], const uint64_t b[4]) {
    uint64_t carry = 0;
    for (int i = 0; i < 4; i++) {
        const uint64_t t = a[i] + carry, u = t + b[i];
        carry = (uint64_t)(t < carry) | (uint64_t)(u < t);
        a[i] = u;
    }
}
static void limbs_sub_from(uint64_t a[4], const uint64_t b[4]) { // a := b - a
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        const uint64_t t = b[i] - a[i], u = t - borrow;
        borrow = (uint64_t)(b[i] < a[i]) | (uint64_t)(t < borrow);
        a[i] = u;
    }
}

bool msm_centre(uint64_t k[4]) {
    uint64_t other[4];
    memcpy(other, k, sizeof other);
    limbs_sub_from(other, FR_MODULUS);
    if (!limbs_less(other, k)) return false;
    memcpy(k, other, sizeof other);
    return true;
}

static void fill_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    recode_job *j = ctx;
    slice_counts *c = &j->slices[task];
    size_t one = c->ones, rest = c->rest;
    uint64_t any[4] = {0};
    for (size_t i = task * SLICE, end = slice_end(task, j->n); i < end; i++) {
        if (fr_is_zero(&j->scalars[i])) continue;
        if (fr_is_one(&j->scalars[i])) {
            j->s->one_of[one++] = (msm_entry)(i << 1);
            continue;
        }
        uint64_t *k = j->s->k[rest];
        fr_to_limbs(k, &j->scalars[i]);
        j->s->rest_of[rest++] = (msm_entry)(i << 1) | (msm_centre(k) ? 1 : 0);
        for (int l = 0; l < 4; l++) any[l] |= k[l];
    }
    c->bits = 0;
    for (unsigned l = 0; l < 4; l++)
        if (any[l] != 0) c->bits = 64 * l + 64 - (unsigned)__builtin_clzll(any[l]);
}

cuzk_status msm_scalars_create(msm_scalars *out, const fr *scalars, size_t n, pool *p, cuzk_error *err) {
    *out = (msm_scalars){0};
    if (n >> MSM_INDEX_BITS != 0)
        return cuzk_fail(err, CUZK_ERR_USAGE, "multi-exponentiation: %zu terms, at most 2^%d - 1 supported", n,
                         MSM_INDEX_BITS);
    const size_t slices = (n + SLICE - 1) / SLICE;
    recode_job j = {.s = out, .scalars = scalars, .n = n};
    j.slices = mem_alloc(MEM_MSM, slices, sizeof *j.slices);
    if (j.slices == 0) goto no_memory;
    pool_run(p, slices, count_task, &j);
    for (size_t i = 0; i < slices; i++) {
        const slice_counts c = j.slices[i];
        j.slices[i].ones = out->ones, j.slices[i].rest = out->rest;
        out->ones += c.ones, out->rest += c.rest;
    }
    out->one_of = mem_alloc(MEM_MSM, out->ones, sizeof *out->one_of);
    out->rest_of = mem_alloc(MEM_MSM, out->rest, sizeof *out->rest_of);
    out->k = mem_alloc(MEM_MSM, out->rest, sizeof *out->k);
    if (out->one_of == 0 || out->rest_of == 0 || out->k == 0) goto no_memory;
    pool_run(p, slices, fill_task, &j);
    for (size_t i = 0; i < slices; i++)
        if (j.slices[i].bits > out->bits) out->bits = j.slices[i].bits;
    mem_free(j.slices);
    return CUZK_OK;
no_memory:
    mem_free(j.slices);
    msm_scalars_destroy(out, p);
    return cuzk_fail(err, CUZK_ERR_MEMORY, "multi-exponentiation: no memory for %zu scalars", n);
}

void msm_scalars_destroy(msm_scalars *s, pool *p) {
    pool_free_secret(p, s->one_of);
    pool_free_secret(p, s->rest_of);
    pool_free_secret(p, s->k);
    *s = (msm_scalars){0};
}

unsigned msm_windows(unsigned bits, unsigned c) {
    // The top digit takes c - 1 bits (it is at most 2^(c-1) with the carry from below), the others c bits each.
    return bits < c ? 1 : 1 + (bits - (c - 1) + c - 1) / c;
}

void msm_bias(uint64_t bias[4], unsigned windows, unsigned c) {
    memset(bias, 0, 4 * sizeof *bias);
    for (unsigned w = 0; w + 1 < windows; w++) {
        const unsigned bit = w * c + c - 1;
        bias[bit / 64] |= (uint64_t)1 << bit % 64;
    }
}

static void bias_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    recode_job *j = ctx;
    for (size_t i = task * SLICE, end = slice_end(task, j->n); i < end; i++) msm_add_bias(j->s->k[i], j->bias);
}

void msm_scalars_bias(msm_scalars *s, unsigned c, pool *p) {
    recode_job j = {.s = s, .n = s->rest};
    msm_bias(j.bias, msm_windows(s->bits, c), c);
    pool_run(p, (s->rest + SLICE - 1) / SLICE, bias_task, &j);
}

typedef struct digits_job {
    uint32_t *out;
    const msm_scalars *s;
    unsigned c, first, count, windows;
} digits_job;

static void digits_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const digits_job *j = ctx;
    const size_t begin = task * SLICE, end = slice_end(task, j->s->rest);
    for (unsigned w = 0; w < j->count; w++) {
        uint32_t *out = j->out + w * j->s->rest;
        for (size_t i = begin; i < end; i++) {
            const int32_t d = msm_digit(j->s->k[i], j->first + w, j->windows, j->c);
            const uint32_t sign = d < 0 ? 1 : 0;
            out[i] = (uint32_t)(d < 0 ? -d : d) << 1 | sign;
        }
    }
}

void msm_scalars_digits(uint32_t *out, const msm_scalars *s, unsigned c, unsigned first, unsigned count, pool *p) {
    digits_job j = {.out = out, .s = s, .c = c, .first = first, .count = count, .windows = msm_windows(s->bits, c)};
    pool_run(p, (s->rest + SLICE - 1) / SLICE, digits_task, &j);
}
