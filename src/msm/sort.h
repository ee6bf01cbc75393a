// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Counting sort of entries by bucket, for one or several windows at once. Knows nothing of points.
#ifndef CUZK_MSM_SORT_H
#define CUZK_MSM_SORT_H

#include "msm/recode.h"

// The buckets of a set of windows are numbered through: bucket b of the i-th window is i * per_window + b, and
// bucket b collects the entries of digit b + 1.
typedef struct msm_sorted {
    size_t buckets;     // windows * per_window
    uint32_t *offset;   // [buckets + 1] bucket k holds entry[offset[k]] .. entry[offset[k+1] - 1]
    msm_entry *entries; // [offset[buckets]]
    uint32_t *digits;   // [room], scratch
    size_t room;        // in entries
} msm_sorted;

// Sorts windows [first, first + count) of biased scalars. Digits zero are left out. `out` is zeros, or of an earlier
// call for the same scalars and c: its memory is used again unless this call has more windows.
CUZK_MUST_USE cuzk_status msm_sort_windows(msm_sorted *out, const msm_scalars *s, unsigned c, unsigned first,
                                           unsigned count, pool *p, cuzk_error *err);
// Sorts 0 .. n-1 by class, into an `out` of zeros; CUZK_ERR_USAGE if a class is not below `classes`.
CUZK_MUST_USE cuzk_status msm_sort_classes(msm_sorted *out, const uint16_t *class, size_t n, size_t classes, pool *p,
                                           cuzk_error *err);
void msm_sorted_destroy(msm_sorted *s, pool *p);

#endif
