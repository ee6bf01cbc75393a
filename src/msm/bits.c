// SPDX-License-Identifier: MIT OR Apache-2.0
#include "msm/bits.h"

#include "base/mem.h"

enum { SLICE = 1024 }; // words a task

typedef struct bits_job {
    const uint64_t *bits;
    size_t n;
    size_t *at; // [slices] first counts, then positions
    msm_entry *out;
} bits_job;

// Word w with the bits from n on cleared.
static uint64_t word(const bits_job *j, size_t w) {
    const size_t left = j->n - w * 64;
    return left >= 64 ? j->bits[w] : j->bits[w] & (((uint64_t)1 << left) - 1);
}

static size_t words(const bits_job *j) { return (j->n + 63) / 64; }
static size_t slice_end(const bits_job *j, size_t task) {
    const size_t end = (task + 1) * SLICE;
    return end < words(j) ? end : words(j);
}

static void count_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const bits_job *j = ctx;
    size_t count = 0;
    for (size_t w = task * SLICE; w < slice_end(j, task); w++) count += (size_t)__builtin_popcountll(word(j, w));
    j->at[task] = count;
}

static void fill_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const bits_job *j = ctx;
    msm_entry *out = j->out + j->at[task];
    for (size_t w = task * SLICE; w < slice_end(j, task); w++)
        for (uint64_t v = word(j, w); v != 0; v &= v - 1)
            *out++ = (msm_entry)((w * 64 + (size_t)__builtin_ctzll(v)) << 1);
}

cuzk_status msm_entries_of_bits(msm_entry **out, size_t *count, const uint64_t *bits, size_t n, pool *p,
                                cuzk_error *err) {
    *out = 0, *count = 0;
    if (n >> MSM_INDEX_BITS != 0)
        return cuzk_fail(err, CUZK_ERR_USAGE, "sum over bits: %zu points, at most 2^%d - 1 supported", n,
                         MSM_INDEX_BITS);
    bits_job j = {.bits = bits, .n = n};
    const size_t slices = (words(&j) + SLICE - 1) / SLICE;
    size_t total = 0;
    j.at = mem_alloc(MEM_MSM, slices, sizeof *j.at);
    if (j.at == 0) goto no_memory;
    pool_run(p, slices, count_task, &j);
    for (size_t i = 0; i < slices; i++) {
        const size_t c = j.at[i];
        j.at[i] = total;
        total += c;
    }
    j.out = mem_alloc(MEM_MSM, total, sizeof *j.out);
    if (j.out == 0) goto no_memory;
    pool_run(p, slices, fill_task, &j);
    mem_free(j.at);
    *out = j.out, *count = total;
    return CUZK_OK;
no_memory:
    mem_free(j.at);
    return cuzk_fail(err, CUZK_ERR_MEMORY, "sum over bits: no memory for the list of %zu points", total);
}
