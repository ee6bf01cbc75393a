// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Sums of points by bucket: pairwise additions, level by level. docs/maths/msm.md compares this with queues.
#include "msm/sum_tmpl.h"

#include <string.h>

#include "base/mem.h"

enum {
    NONE = -1,
    AHEAD = 8, // segments between the request for an odd point and its use
};

MSM(workspace) * MSM(workspaces_create)(const pool *p) {
    const size_t threads = pool_threads(p), align = 64;
    const size_t head = (threads * sizeof(MSM(workspace)) + align - 1) / align * align;
    const size_t each = MSM_SCRATCH(MSM_BLOCK) * sizeof(MSM(scratch)) + SUM_ENTRIES * sizeof(POINT) +
                        7 * SUM_ENTRIES / 2 * sizeof(uint32_t) + align;
    const size_t stride = (each + align - 1) / align * align;
    uint8_t *m = stride > (SIZE_MAX - head) / threads ? 0 : mem_alloc(MEM_MSM, head + threads * stride, 1);
    if (m == 0) return 0;
    MSM(workspace) *all = (void *)m;
    for (size_t t = 0; t < threads; t++) {
        uint8_t *at = m + head + t * stride;
        MSM(workspace) *w = &all[t];
        w->scratch = (void *)at, at += MSM_SCRATCH(MSM_BLOCK) * sizeof *w->scratch;
        w->pts = (void *)at, at += SUM_ENTRIES * sizeof *w->pts;
        w->a = (void *)at, at += SUM_ENTRIES / 2 * sizeof *w->a;
        w->b = (void *)at, at += SUM_ENTRIES * sizeof *w->b;
        w->start = (void *)at, at += SUM_ENTRIES * sizeof *w->start;
        w->len = (void *)at;
    }
    return all;
}

void MSM(tree_sum)(MSM(workspace) * w, POINT *pts, const uint32_t *start, const uint32_t *len, size_t segments) {
    const MSM(kernels) *k = MSM(kernels_get)();
    size_t longest = 0;
    for (size_t s = 0; s < segments; s++)
        if (len[s] > longest) longest = len[s];
    for (size_t stride = 1; stride < longest; stride *= 2) {
        size_t m = 0;
        for (size_t s = 0; s < segments; s++)
            for (size_t i = 0; i + stride < len[s]; i += 2 * stride) {
                w->a[m] = (uint32_t)(start[s] + i);
                w->b[m] = (uint32_t)(start[s] + i + stride) << 1;
                if (++m == SUM_ENTRIES / 2) {
                    k->add_batch(pts, w->a, pts, w->b, m, w->scratch);
                    m = 0;
                }
            }
        if (m > 0) k->add_batch(pts, w->a, pts, w->b, m, w->scratch);
    }
}

// Tasks take equal runs of entries, whatever buckets they belong to, so that one huge bucket is as good as many small
// ones. A bucket inside a run is finished there; a run's first and last bucket may continue outside, and leave partial
// sums in the fringe: [2 t] from a bucket that began before run t, [2 t + 1] from one that goes on after it.
typedef struct sum_job {
    POINT *out;
    const POINT *bases;
    const msm_sorted *s;
    size_t run; // entries a task, at most SUM_ENTRIES
    MSM(workspace) * w;
    POINT *fringe;
    int64_t *fringe_of; // bucket, or NONE
} sum_job;

// The last bucket that begins at or before entry `at`.
static size_t bucket_at(const msm_sorted *s, size_t at) {
    size_t lo = 0, hi = s->buckets; // offset[lo] <= at < offset[hi]
    while (hi - lo > 1) {
        const size_t mid = lo + (hi - lo) / 2;
        if (s->offset[mid] <= at)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

// The first level: neighbours of every segment (first entry and length as of s, relative to e) are added as they come
// from the table, into w->pts one segment behind the other; an odd one out is copied. Segments become those of w->pts.
static void first_level(MSM(workspace) * w, const POINT *bases, const msm_entry *e, size_t segments) {
    const MSM(kernels) *k = MSM(kernels_get)();
    uint32_t at = 0;
    size_t m = 0;
    for (size_t s = 0; s < segments; s++) {
        if (s + AHEAD < segments && w->len[s + AHEAD] % 2 != 0) {
            const POINT *odd = &bases[e[w->start[s + AHEAD] + w->len[s + AHEAD] - 1] >> 1];
            for (size_t line = 0; line < sizeof *odd; line += 64) __builtin_prefetch((const char *)odd + line);
        }
        const msm_entry *from = e + w->start[s];
        const uint32_t len = w->len[s];
        w->start[s] = at, w->len[s] = (len + 1) / 2;
        for (uint32_t i = 0; i + 1 < len; i += 2) {
            w->a[m] = at++;
            w->b[2 * m] = from[i], w->b[2 * m + 1] = from[i + 1];
            m++;
        }
        if (len % 2 != 0) {
            const msm_entry last = from[len - 1];
            POINT *to = &w->pts[at++];
            *to = bases[last >> 1];
            if ((last & 1) != 0) G(affine_neg)(to, to);
        }
    }
    if (m > 0) k->add_pairs(w->pts, w->a, bases, w->b, m, w->scratch);
}

static void run_task(void *ctx, size_t task, unsigned worker) {
    const sum_job *j = ctx;
    const msm_sorted *s = j->s;
    MSM(workspace) *w = &j->w[worker];
    const size_t total = s->offset[s->buckets], begin = task * j->run;
    const size_t end = begin + j->run < total ? begin + j->run : total;
    const size_t first = bucket_at(s, begin);
    size_t m = 0;
    for (size_t k = first; k < s->buckets && s->offset[k] < end; k++) {
        const size_t from = s->offset[k] < begin ? begin : s->offset[k];
        const size_t to = s->offset[k + 1] < end ? s->offset[k + 1] : end;
        if (from >= to) continue;
        w->start[m] = (uint32_t)(from - begin), w->len[m] = (uint32_t)(to - from);
        m++;
    }
    first_level(w, j->bases, s->entries + begin, m);
    MSM(tree_sum)(w, w->pts, w->start, w->len, m);
    m = 0;
    for (size_t k = first; k < s->buckets && s->offset[k] < end; k++) {
        if (s->offset[k] == s->offset[k + 1]) continue;
        const POINT *sum = &w->pts[w->start[m++]];
        const bool before = s->offset[k]<begin, after = s->offset[k + 1]> end;
        if (before || after) {
            const size_t slot = 2 * task + (before ? 0 : 1);
            j->fringe[slot] = *sum;
            j->fringe_of[slot] = (int64_t)k;
        } else {
            j->out[k] = *sum;
        }
    }
}

// Partial sums of one bucket are neighbours in the fringe: pack them and sum them as segments.
static void sum_fringe(const sum_job *j, size_t slots, uint32_t *start, uint32_t *len, size_t *bucket) {
    size_t m = 0, segments = 0;
    for (size_t i = 0; i < slots; i++) {
        if (j->fringe_of[i] == NONE) continue;
        const size_t k = (size_t)j->fringe_of[i];
        if (segments == 0 || bucket[segments - 1] != k) {
            bucket[segments] = k, start[segments] = (uint32_t)m, len[segments] = 0;
            segments++;
        }
        len[segments - 1]++;
        j->fringe[m++] = j->fringe[i]; // m <= i
    }
    MSM(tree_sum)(&j->w[0], j->fringe, start, len, segments);
    for (size_t i = 0; i < segments; i++) j->out[bucket[i]] = j->fringe[start[i]];
}

cuzk_status MSM(sum_buckets)(POINT *out, const POINT *bases, const msm_sorted *s, MSM(workspace) * w, pool *p,
                             cuzk_error *err) {
    const size_t total = s->offset[s->buckets];
    // Whole runs, but at least a few tasks for every thread when there is little to do.
    size_t run = total / (4 * (size_t)pool_threads(p)) + 1;
    if (run < SUM_ENTRIES / 16) run = SUM_ENTRIES / 16;
    if (run > SUM_ENTRIES) run = SUM_ENTRIES;
    const size_t tasks = (total + run - 1) / run, slots = 2 * tasks;
    sum_job j = {.out = out, .bases = bases, .s = s, .run = run, .w = w};
    j.fringe = mem_alloc(MEM_MSM, slots, sizeof *j.fringe);
    j.fringe_of = mem_alloc(MEM_MSM, slots, sizeof *j.fringe_of);
    uint32_t *segments = mem_alloc(MEM_MSM, 2 * slots, sizeof *segments);
    size_t *bucket = mem_alloc(MEM_MSM, slots, sizeof *bucket);
    bool wanted = true;
    const bool ok = j.fringe != 0 && j.fringe_of != 0 && segments != 0 && bucket != 0;
    if (ok) {
        memset(out, 0, s->buckets * sizeof *out); // infinity
        for (size_t i = 0; i < slots; i++) j.fringe_of[i] = NONE;
        wanted = pool_run_wanted(p, tasks, run_task, &j);
        if (wanted) sum_fringe(&j, slots, segments, segments + slots, bucket);
    }
    pool_free_secret(p, j.fringe);
    mem_free(j.fringe_of);
    mem_free(segments);
    mem_free(bucket);
    if (!ok) return cuzk_fail(err, CUZK_ERR_MEMORY, "multi-exponentiation: no memory for %zu partial sums", slots);
    return wanted ? CUZK_OK : cuzk_fail(err, CUZK_ERR_CANCELLED, "multi-exponentiation was cancelled");
}
