// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Sums of points by bucket; private to the *_tmpl.c of this folder, compiled once a group (types.h).
#ifndef CUZK_MSM_SUM_TMPL_H
#define CUZK_MSM_SUM_TMPL_H

#include "msm/sort.h"
#include "msm/types.h"

enum {
    // Entries a task sums at a time, 16384 in G1 and 8192 in G2. Half as many points, 768 KiB, are what its first
    // level leaves of long lists. More share an inversion better, fewer stay in a second-level cache.
    SUM_ENTRIES = 16384 * 96 / (int)sizeof(POINT),
};

// What one thread needs to sum SUM_ENTRIES entries.
typedef struct MSM(workspace) {
    POINT *pts;             // [SUM_ENTRIES]
    MSM(scratch) * scratch; // [MSM_SCRATCH(MSM_BLOCK)]
    uint32_t *a, *b;        // [SUM_ENTRIES / 2], [SUM_ENTRIES]
    uint32_t *start, *len;  // [SUM_ENTRIES] segments
} MSM(workspace);

// One workspace for every thread of the pool, in one allocation; NULL if memory is refused. Free with pool_free_secret:
// it keeps partial sums over secrets.
MSM(workspace) * MSM(workspaces_create)(const pool *p);

// For each of `segments` runs of points pts[start] .. pts[start + len - 1], leaves their sum in pts[start]. The other
// elements keep the partial sums of a binary tree: with i = 2^l * odd, pts[start + i] is the sum of up to 2^l points
// from there on. w->pts may be the array, w->start and w->len the segments.
void MSM(tree_sum)(MSM(workspace) * w, POINT *pts, const uint32_t *start, const uint32_t *len, size_t segments);

// out[k] := sum of the entries of bucket k, k < s->buckets; infinity for an empty one.
// CUZK_ERR_CANCELLED when whoever watches the pool has lost interest.
CUZK_MUST_USE cuzk_status MSM(sum_buckets)(POINT *out, const POINT *bases, const msm_sorted *s, MSM(workspace) * w,
                                           pool *p, cuzk_error *err);

#endif
