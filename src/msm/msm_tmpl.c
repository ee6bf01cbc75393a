// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Multi-exponentiation by Pippenger's buckets, from the parts of this folder: recode, sort, sum, reduce.
#include "msm/msm.h"

#include "base/mem.h"
#include "msm/bits.h"
#include "msm/sum_tmpl.h"

enum {
    // Fewer scalars than this are cheaper one by one.
    MIN_BUCKET_TERMS = 6,
    C_MIN = 2,
    C_MAX = 20,
    // What a bucket costs beside the addition of each term, in quarters of an addition: two additions in the
    // reduction, plus its share of inversions and loop overhead.
    BUCKET_COST_QUARTERS = 10,
    // Buckets one task reduces.
    REDUCE_BUCKETS = SUM_ENTRIES / 16,
    MAX_WINDOWS = 256,
};

// Digits, entries and buckets of the windows in flight; everything else is 40 bytes a term and a few MiB.
#define GROUP_BYTES ((size_t)96 << 20)

static unsigned choose_c(size_t terms, unsigned bits) {
    unsigned best = C_MIN;
    double best_cost = 0;
    for (unsigned c = C_MIN; c <= C_MAX; c++) {
        const double buckets = (double)((size_t)1 << (c - 1));
        const double cost = msm_windows(bits, c) * ((double)terms + BUCKET_COST_QUARTERS / 4.0 * buckets);
        if (c == C_MIN || cost < best_cost) best = c, best_cost = cost;
    }
    return best;
}

// Reduction of buckets B_0 .. B_(R-1), R a power of two: sum of j B_j and sum of B_j.
//
// Pairing neighbours level by level gives T_(l+1)[k] = T_l[2k] + T_l[2k+1], T_0 = B, and
// sum j T_l[j] = 2 sum j T_(l+1)[j] + sum of the odd T_l. One tree sum leaves every T_l in place: T_l[k] at k 2^l for
// odd k. A second one sums the odd ones level by level; the rest is Horner's rule. 2R additions, all in batches.
typedef struct range_sum {
    JAC weighted;
    POINT plain;
} range_sum;

typedef struct reduce_job {
    const POINT *buckets;
    size_t per_window, range, ranges; // ranges of one window
    range_sum *sums;                  // [windows * ranges]
    JAC *windows;
    MSM(workspace) * w;
} reduce_job;

static void range_task(void *ctx, size_t task, unsigned worker) {
    const reduce_job *j = ctx;
    MSM(workspace) *w = &j->w[worker];
    const size_t n = j->range;
    POINT *t = w->pts, *odd = w->pts + n;
    const POINT *b = j->buckets + task * n;
    for (size_t i = 0; i < n; i++) t[i] = b[i];
    w->start[0] = 0, w->len[0] = (uint32_t)n;
    MSM(tree_sum)(w, t, w->start, w->len, 1);
    size_t levels = 0, at = 0;
    for (size_t step = 1; step < n; step *= 2, levels++) {
        w->start[levels] = (uint32_t)at;
        for (size_t i = step; i < n; i += 2 * step) odd[at++] = t[i];
        w->len[levels] = (uint32_t)(at - w->start[levels]);
    }
    MSM(tree_sum)(w, odd, w->start, w->len, levels);
    range_sum *out = &j->sums[task];
    out->plain = t[0];
    G(jac_infinity)(&out->weighted);
    for (size_t l = levels; l-- > 0;) {
        G(jac_dbl)(&out->weighted, &out->weighted);
        G(jac_add_affine)(&out->weighted, &out->weighted, &odd[w->start[l]]);
    }
}

// The window's value, sum (j + 1) B_j, from its ranges: weights inside a range, plus range * index of the range,
// plus 1.
static void window_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const reduce_job *j = ctx;
    const range_sum *s = j->sums + task * j->ranges;
    JAC run, by_range;
    G(jac_infinity)(&run), G(jac_infinity)(&by_range);
    for (size_t r = j->ranges; r-- > 1;) {
        G(jac_add_affine)(&run, &run, &s[r].plain);
        G(jac_add)(&by_range, &by_range, &run);
    }
    G(jac_add_affine)(&run, &run, &s[0].plain);
    for (size_t n = j->range; n > 1; n /= 2) G(jac_dbl)(&by_range, &by_range);
    G(jac_add)(&run, &run, &by_range);
    for (size_t r = 0; r < j->ranges; r++) G(jac_add)(&run, &run, &s[r].weighted);
    j->windows[task] = run;
}

static cuzk_status reduce(JAC *windows, const POINT *buckets, size_t count, size_t per_window, MSM(workspace) * w,
                          pool *p, cuzk_error *err) {
    reduce_job j = {.buckets = buckets, .per_window = per_window, .windows = windows, .w = w};
    j.range = per_window < REDUCE_BUCKETS ? per_window : REDUCE_BUCKETS;
    j.ranges = per_window / j.range;
    j.sums = mem_alloc(MEM_MSM, count * j.ranges, sizeof *j.sums);
    if (j.sums == 0) return cuzk_fail(err, CUZK_ERR_MEMORY, "multi-exponentiation: no memory to reduce buckets");
    pool_run(p, count * j.ranges, range_task, &j);
    pool_run(p, count, window_task, &j);
    pool_free_secret(p, j.sums);
    return CUZK_OK;
}

// The scalars other than 0 and 1.
static cuzk_status sum_windows(JAC *out, const POINT *bases, msm_scalars *s, MSM(workspace) * w, pool *p,
                               cuzk_error *err) {
    const unsigned c = choose_c(s->rest, s->bits), windows = msm_windows(s->bits, c);
    const size_t per_window = (size_t)1 << (c - 1);
    // Windows in flight: as many as GROUP_BYTES holds, in groups of nearly equal size.
    size_t group = GROUP_BYTES / (s->rest * 2 * sizeof(msm_entry) + per_window * (sizeof(POINT) + sizeof(uint32_t)));
    if (group == 0) group = 1;
    if (group > windows) group = windows;
    const size_t groups = (windows + group - 1) / group;
    group = (windows + groups - 1) / groups;
    POINT *buckets = mem_alloc(MEM_MSM, group * per_window, sizeof *buckets);
    if (buckets == 0)
        return cuzk_fail(err, CUZK_ERR_MEMORY, "multi-exponentiation: no memory for %zu buckets", group * per_window);
    msm_scalars_bias(s, c, p);
    JAC window[MAX_WINDOWS];
    cuzk_status status = CUZK_OK;
    msm_sorted sorted = {0};
    for (unsigned first = 0; first < windows && status == CUZK_OK; first += (unsigned)group) {
        const unsigned count = windows - first < group ? windows - first : (unsigned)group;
        status = msm_sort_windows(&sorted, s, c, first, count, p, err);
        if (status == CUZK_OK) status = MSM(sum_buckets)(buckets, bases, &sorted, w, p, err);
        if (status == CUZK_OK) status = reduce(window + first, buckets, count, per_window, w, p, err);
    }
    msm_sorted_destroy(&sorted, p);
    pool_free_secret(p, buckets);
    if (status != CUZK_OK) return status;
    G(jac_infinity)(out);
    for (unsigned i = windows; i-- > 0;) {
        for (unsigned b = 0; b < c; b++) G(jac_dbl)(out, out);
        G(jac_add)(out, out, &window[i]);
    }
    return CUZK_OK;
}

static void sum_one_by_one(JAC *out, const POINT *bases, const msm_scalars *s) {
    G(jac_infinity)(out);
    for (size_t i = 0; i < s->rest; i++) {
        POINT b = bases[s->rest_of[i] >> 1];
        JAC t;
        if ((s->rest_of[i] & 1) != 0) G(affine_neg)(&b, &b);
        G(jac_from_affine)(&t, &b);
        G(jac_mul_limbs)(&t, &t, s->k[i], 4);
        G(jac_add)(out, out, &t);
    }
}

// The sum of the bases of `entries`.
static cuzk_status sum_entries(POINT *out, const POINT *bases, msm_entry *entries, size_t n, MSM(workspace) * w,
                               pool *p, cuzk_error *err) {
    uint32_t offset[2] = {0, (uint32_t)n};
    const msm_sorted one_bucket = {.buckets = 1, .offset = offset, .entries = entries};
    return MSM(sum_buckets)(out, bases, &one_bucket, w, p, err);
}

static cuzk_status no_workspace(const pool *p, cuzk_error *err) {
    return cuzk_fail(err, CUZK_ERR_MEMORY, "multi-exponentiation: no memory for the scratch of %u threads",
                     pool_threads(p));
}

// `done`: the scalars' block if it is to be freed, or NULL.
static cuzk_status msm(JAC *out, const POINT *bases, const fr *scalars, fr *done, size_t n, pool *p, cuzk_error *err) {
    msm_scalars s;
    cuzk_status status = msm_scalars_create(&s, scalars, n, p, err);
    pool_free_secret(p, done);
    if (status != CUZK_OK) return status;
    JAC rest;
    POINT ones = {0};
    MSM(workspace) *w = 0;
    const bool windows = s.rest >= MIN_BUCKET_TERMS;
    if (windows || s.ones > 0) {
        w = MSM(workspaces_create)(p);
        if (w == 0) status = no_workspace(p, err);
    }
    if (status == CUZK_OK && s.ones > 0) status = sum_entries(&ones, bases, s.one_of, s.ones, w, p, err);
    if (status == CUZK_OK) {
        if (windows)
            status = sum_windows(&rest, bases, &s, w, p, err);
        else
            sum_one_by_one(&rest, bases, &s);
    }
    if (status == CUZK_OK) G(jac_add_affine)(out, &rest, &ones);
    pool_free_secret(p, w);
    msm_scalars_destroy(&s, p);
    return status;
}

static cuzk_status sum_bits(JAC *out, const POINT *bases, const uint64_t *bits, size_t n, pool *p, cuzk_error *err) {
    msm_entry *entries;
    size_t count;
    cuzk_status status = msm_entries_of_bits(&entries, &count, bits, n, p, err);
    if (status != CUZK_OK) return status;
    POINT sum = {0};
    if (count > 0) {
        MSM(workspace) *w = MSM(workspaces_create)(p);
        status = w == 0 ? no_workspace(p, err) : sum_entries(&sum, bases, entries, count, w, p, err);
        pool_free_secret(p, w);
    }
    if (status == CUZK_OK) G(jac_from_affine)(out, &sum);
    pool_free_secret(p, entries);
    return status;
}

static cuzk_status sum_classes(JAC *out, size_t classes, const POINT *bases, const uint16_t *class, size_t n, pool *p,
                               cuzk_error *err) {
    msm_sorted sorted = {0};
    cuzk_status status = msm_sort_classes(&sorted, class, n, classes, p, err);
    if (status != CUZK_OK) return status;
    POINT *sums = mem_alloc(MEM_MSM, classes, sizeof *sums);
    MSM(workspace) *w = MSM(workspaces_create)(p);
    status = sums == 0 || w == 0 ? no_workspace(p, err) : MSM(sum_buckets)(sums, bases, &sorted, w, p, err);
    for (size_t k = 0; k < classes && status == CUZK_OK; k++) G(jac_from_affine)(&out[k], &sums[k]);
    pool_free_secret(p, w);
    mem_free(sums);
    msm_sorted_destroy(&sorted, p);
    return status;
}

#if MSM_GROUP == 1
cuzk_status msm_g1(g1_jac *out, const g1_affine *bases, const fr *scalars, size_t n, pool *p, cuzk_error *err) {
    return msm(out, bases, scalars, NULL, n, p, err);
}
cuzk_status msm_g1_consume(g1_jac *out, const g1_affine *bases, fr **scalars, size_t n, pool *p, cuzk_error *err) {
    fr *const done = *scalars;
    *scalars = NULL;
    return msm(out, bases, done, done, n, p, err);
}
cuzk_status msm_g1_sum_bits(g1_jac *out, const g1_affine *bases, const uint64_t *bits, size_t n, pool *p,
                            cuzk_error *err) {
    return sum_bits(out, bases, bits, n, p, err);
}
cuzk_status msm_g1_sum_classes(g1_jac *out, size_t classes, const g1_affine *bases, const uint16_t *class, size_t n,
                               pool *p, cuzk_error *err) {
    return sum_classes(out, classes, bases, class, n, p, err);
}
#else
cuzk_status msm_g2(g2_jac *out, const g2_affine *bases, const fr *scalars, size_t n, pool *p, cuzk_error *err) {
    return msm(out, bases, scalars, NULL, n, p, err);
}
cuzk_status msm_g2_sum_bits(g2_jac *out, const g2_affine *bases, const uint64_t *bits, size_t n, pool *p,
                            cuzk_error *err) {
    return sum_bits(out, bases, bits, n, p, err);
}
cuzk_status msm_g2_sum_classes(g2_jac *out, size_t classes, const g2_affine *bases, const uint16_t *class, size_t n,
                               pool *p, cuzk_error *err) {
    return sum_classes(out, classes, bases, class, n, p, err);
}
#endif
