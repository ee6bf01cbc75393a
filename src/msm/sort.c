// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Three steps: tasks count buckets over (window, slice of the scalars); running sums turn counts into positions;
// the same tasks then put every entry in place. The order inside a bucket depends on nothing but the input.
#include "msm/sort.h"

#include <string.h>

#include "base/mem.h"

enum { TASKS_A_THREAD = 2, SKIP = -1 };

typedef struct sort_job {
    const uint32_t *digits; // [count][n] as of msm_scalars_digits, or NULL and
    const uint16_t *class;
    const msm_entry *base; // [n] of each scalar; with classes it is i << 1
    size_t n;
    unsigned count; // windows
    size_t per_window, slices;
    uint32_t *cursor; // [count][slices][per_window]
    size_t *totals;   // [count]
    bool *bad;        // [count * slices] a class out of range was seen
    msm_sorted *out;
} sort_job;

static inline int64_t bucket_of(const sort_job *j, size_t i, unsigned window) {
    if (j->digits == 0) return j->class[i];
    return (int64_t)(j->digits[window * j->n + i] >> 1) - 1; // SKIP for digit 0
}
static inline msm_entry entry_of(const sort_job *j, size_t i, unsigned window) {
    if (j->digits == 0) return (msm_entry)(i << 1);
    return j->base[i] ^ (j->digits[window * j->n + i] & 1);
}

static void slice_of(const sort_job *j, size_t task, unsigned *window, size_t *begin, size_t *end) {
    const size_t slice = task % j->slices, len = j->n / j->slices, extra = j->n % j->slices;
    *window = (unsigned)(task / j->slices);
    *begin = slice * len + (slice < extra ? slice : extra);
    *end = *begin + len + (slice < extra ? 1 : 0);
}

static void count_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const sort_job *j = ctx;
    uint32_t *count = j->cursor + task * j->per_window;
    memset(count, 0, j->per_window * sizeof *count);
    unsigned window;
    size_t i, end;
    bool bad = false;
    for (slice_of(j, task, &window, &i, &end); i < end; i++) {
        const int64_t b = bucket_of(j, i, window);
        if (b == SKIP) continue;
        if ((size_t)b < j->per_window)
            count[b]++;
        else
            bad = true;
    }
    j->bad[task] = bad;
}

static void total_task(void *ctx, size_t window, unsigned worker) {
    (void)worker;
    const sort_job *j = ctx;
    const uint32_t *count = j->cursor + window * j->slices * j->per_window;
    size_t total = 0;
    for (size_t i = 0; i < j->slices * j->per_window; i++) total += count[i];
    j->totals[window] = total;
}

static void position_task(void *ctx, size_t window, unsigned worker) {
    (void)worker;
    const sort_job *j = ctx;
    uint32_t at = 0;
    for (size_t w = 0; w < window; w++) at += (uint32_t)j->totals[w];
    for (size_t b = 0; b < j->per_window; b++) {
        j->out->offset[window * j->per_window + b] = at;
        for (size_t s = 0; s < j->slices; s++) {
            uint32_t *c = &j->cursor[(window * j->slices + s) * j->per_window + b];
            const uint32_t count = *c;
            *c = at;
            at += count;
        }
    }
    if (window + 1 == j->count) j->out->offset[j->out->buckets] = at;
}

static void place_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const sort_job *j = ctx;
    uint32_t *cursor = j->cursor + task * j->per_window;
    unsigned window;
    size_t i, end;
    for (slice_of(j, task, &window, &i, &end); i < end; i++) {
        const int64_t b = bucket_of(j, i, window);
        if (b != SKIP) j->out->entries[cursor[b]++] = entry_of(j, i, window);
    }
}

static cuzk_status sort(sort_job *j, pool *p, cuzk_error *err) {
    cuzk_status status = CUZK_OK;
    msm_sorted *out = j->out;
    out->buckets = j->count * j->per_window;
    j->slices = (TASKS_A_THREAD * (size_t)pool_threads(p) + j->count - 1) / j->count;
    const size_t tasks = j->count * j->slices;
    j->cursor = mem_alloc(MEM_MSM, tasks * j->per_window, sizeof *j->cursor);
    j->totals = mem_alloc(MEM_MSM, j->count, sizeof *j->totals);
    j->bad = mem_alloc(MEM_MSM, tasks, sizeof *j->bad);
    if (j->cursor == 0 || j->totals == 0 || j->bad == 0) goto no_memory;
    pool_run(p, tasks, count_task, j);
    for (size_t i = 0; i < tasks; i++)
        if (j->bad[i]) {
            status = cuzk_fail(err, CUZK_ERR_USAGE, "sums by class: a class is not below %zu", j->per_window);
            goto done;
        }
    pool_run(p, j->count, total_task, j);
    size_t total = 0;
    for (unsigned w = 0; w < j->count; w++) total += j->totals[w];
    if (total > UINT32_MAX) goto no_memory;
    pool_run(p, j->count, position_task, j);
    pool_run(p, tasks, place_task, j);
    goto done;
no_memory:
    status = cuzk_fail(err, CUZK_ERR_MEMORY, "sorting %zu terms into %zu buckets: no memory", j->n, out->buckets);
done:
    pool_free_secret(p, j->cursor); // how many scalars have which digit
    mem_free(j->totals);
    mem_free(j->bad);
    if (status != CUZK_OK) msm_sorted_destroy(out, p);
    return status;
}

// Room for `entries` entries in `buckets` buckets, and for their digits.
static cuzk_status make_room(msm_sorted *out, size_t entries, size_t buckets, bool digits, pool *p, cuzk_error *err) {
    if (out->room >= entries && out->entries != 0) return CUZK_OK;
    msm_sorted_destroy(out, p);
    out->offset = mem_alloc(MEM_MSM, buckets + 1, sizeof *out->offset);
    out->entries = mem_alloc(MEM_MSM, entries, sizeof *out->entries);
    if (digits) out->digits = mem_alloc(MEM_MSM, entries, sizeof *out->digits);
    out->room = entries;
    if (out->offset != 0 && out->entries != 0 && (!digits || out->digits != 0)) return CUZK_OK;
    msm_sorted_destroy(out, p);
    return cuzk_fail(err, CUZK_ERR_MEMORY, "sorting %zu terms into %zu buckets: no memory", entries, buckets);
}

cuzk_status msm_sort_windows(msm_sorted *out, const msm_scalars *s, unsigned c, unsigned first, unsigned count, pool *p,
                             cuzk_error *err) {
    sort_job j = {.base = s->rest_of, .n = s->rest, .count = count, .out = out};
    j.per_window = (size_t)1 << (c - 1);
    const cuzk_status status = make_room(out, s->rest * count, count * j.per_window, true, p, err);
    if (status != CUZK_OK) return status;
    msm_scalars_digits(out->digits, s, c, first, count, p);
    j.digits = out->digits;
    return sort(&j, p, err);
}

cuzk_status msm_sort_classes(msm_sorted *out, const uint16_t *class, size_t n, size_t classes, pool *p,
                             cuzk_error *err) {
    if (n >> MSM_INDEX_BITS != 0)
        return cuzk_fail(err, CUZK_ERR_USAGE, "sums by class: %zu points, at most 2^%d - 1 supported", n,
                         MSM_INDEX_BITS);
    sort_job j = {.class = class, .n = n, .count = 1, .per_window = classes, .out = out};
    const cuzk_status status = make_room(out, n, classes, false, p, err);
    return status == CUZK_OK ? sort(&j, p, err) : status;
}

void msm_sorted_destroy(msm_sorted *s, pool *p) {
    pool_free_secret(p, s->offset);
    pool_free_secret(p, s->entries);
    pool_free_secret(p, s->digits);
    *s = (msm_sorted){0};
}
