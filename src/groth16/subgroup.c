// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Are all points of a section in the subgroup of order r? docs/maths/subgroup.md has the argument in full.
//
// Testing one point costs a scalar multiplication, so for millions of points the points are thrown into random classes,
// each class is summed (one cheap addition a point), and only the sums are tested:
//  * one bad point spoils exactly the sum of its class, so it is always found;
//  * several bad points made to cancel pass only if they land in classes where they do: whatever the classes of the
//    others are, at most one of the KEY_CLASSES classes for the last bad point hides it. Probability at most
//    1/KEY_CLASSES a pass, and passes are independent: 2^-24 for two.
// That needs classes the maker of the file cannot foresee, so every one comes straight from the operating system's
// generator: 2 bytes a point, some 10 ms a million points, and no expansion of ours to argue about.
#include <stdio.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "groth16/internal.h"
#include "msm/msm.h"

enum {
    KEY_CLASSES = 4096,
    KEY_PASSES = 2,
    // Below this, testing the points one by one is exact and no slower than testing the sums of two passes.
    ONE_BY_ONE_BELOW = KEY_CLASSES * KEY_PASSES,
    POINTS_A_TASK = 64,
};

// A parallel search for the first point outside the subgroup.
typedef struct search {
    const g1_affine *g1; // one of the two is NULL
    const g2_affine *g2;
    size_t n;
    bool *bad;
} search;

static void search_task(void *ctx, size_t task, unsigned worker) {
    const search *s = ctx;
    (void)worker;
    size_t end = (task + 1) * POINTS_A_TASK < s->n ? (task + 1) * POINTS_A_TASK : s->n;
    for (size_t i = task * POINTS_A_TASK; i < end; i++)
        s->bad[i] = s->g1 != 0 ? !g1_affine_in_subgroup(&s->g1[i]) : !g2_affine_in_subgroup(&s->g2[i]);
}

// *first := index of the first bad point, or n.
static cuzk_status search_first(size_t *first, const g1_affine *g1, const g2_affine *g2, size_t n, pool *p,
                                cuzk_error *err) {
    *first = 0;
    search s = {.g1 = g1, .g2 = g2, .n = n, .bad = mem_calloc(MEM_MISC, n, sizeof(bool))};
    if (s.bad == 0) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory to check %zu points", n);
    pool_run(p, (n + POINTS_A_TASK - 1) / POINTS_A_TASK, search_task, &s);
    while (*first < n && !s.bad[*first]) ++*first;
    mem_free(s.bad);
    return CUZK_OK;
}

static cuzk_status bad_point(const char *path, const char *section, size_t i, size_t n, uint64_t at, cuzk_error *err) {
    return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: section \"%s\": point %zu of %zu at byte %llu %s", path, section, i, n,
                     (unsigned long long)at, point_check_text(POINT_NOT_IN_SUBGROUP));
}

// One pass over a section. *bad := a bad point's index, or n. Sums are `classes` Jacobian points of either group, made
// affine in `affine`; both are the caller's scratch.
typedef struct pass_scratch {
    uint16_t *class;
    void *sums, *affine;
} pass_scratch;

static void pass_scratch_free(pass_scratch *s) {
    mem_free(s->class);
    mem_free(s->sums);
    mem_free(s->affine);
}
static cuzk_status pass_scratch_make(pass_scratch *s, size_t n, size_t sum_bytes, size_t affine_bytes,
                                     cuzk_error *err) {
    *s = (pass_scratch){mem_alloc(MEM_MISC, n, sizeof(uint16_t)), mem_alloc(MEM_MISC, KEY_CLASSES, sum_bytes),
                        mem_alloc(MEM_MISC, KEY_CLASSES, affine_bytes)};
    if (s->class != 0 && s->sums != 0 && s->affine != 0) return CUZK_OK;
    pass_scratch_free(s);
    return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory to check %zu points", n);
}

static cuzk_status draw_classes(uint16_t *class, size_t n, cuzk_error *err) {
    cuzk_status status = random_bytes(class, n * sizeof *class, err);
    for (size_t i = 0; i < n; i++) class[i] &= KEY_CLASSES - 1;
    return status;
}

// The sum of this class failed, so one of its members must.
static cuzk_status member_missing(const char *path, const char *section, cuzk_error *err) {
    return cuzk_fail(err, CUZK_ERR_INTERNAL,
                     "%s: section \"%s\": a sum of points is outside the subgroup, but each of its points is inside",
                     path, section);
}

cuzk_status key_check_subgroup_g1(const g1_affine *points, size_t n, const char *path, const char *section,
                                  uint64_t offset, pool *p, cuzk_error *err) {
    size_t first = 0;
    cuzk_status status;
    if (n < ONE_BY_ONE_BELOW) {
        status = search_first(&first, points, 0, n, p, err);
        if (status != CUZK_OK || first == n) return status;
        return bad_point(path, section, first, n, offset + first * G1_UNCOMPRESSED, err);
    }
    pass_scratch s;
    status = pass_scratch_make(&s, n, sizeof(g1_jac), sizeof(g1_affine), err);
    if (status != CUZK_OK) return status;
    for (int pass = 0; pass < KEY_PASSES && status == CUZK_OK; pass++) {
        status = draw_classes(s.class, n, err);
        if (status == CUZK_OK) status = msm_g1_sum_classes(s.sums, KEY_CLASSES, points, s.class, n, p, err);
        if (status != CUZK_OK) break;
        g1_jac_to_affine_batch(s.affine, s.sums, KEY_CLASSES);
        status = search_first(&first, s.affine, 0, KEY_CLASSES, p, err);
        if (status != CUZK_OK || first == KEY_CLASSES) continue;
        size_t i = 0;
        while (i < n && (s.class[i] != first || g1_affine_in_subgroup(&points[i]))) i++;
        status = i < n ? bad_point(path, section, i, n, offset + i * G1_UNCOMPRESSED, err)
                       : member_missing(path, section, err);
    }
    pass_scratch_free(&s);
    return status;
}

cuzk_status key_check_subgroup_g2(const g2_affine *points, size_t n, const char *path, const char *section,
                                  uint64_t offset, pool *p, cuzk_error *err) {
    size_t first = 0;
    cuzk_status status;
    if (n < ONE_BY_ONE_BELOW) {
        status = search_first(&first, 0, points, n, p, err);
        if (status != CUZK_OK || first == n) return status;
        return bad_point(path, section, first, n, offset + first * G2_UNCOMPRESSED, err);
    }
    pass_scratch s;
    status = pass_scratch_make(&s, n, sizeof(g2_jac), sizeof(g2_affine), err);
    if (status != CUZK_OK) return status;
    for (int pass = 0; pass < KEY_PASSES && status == CUZK_OK; pass++) {
        status = draw_classes(s.class, n, err);
        if (status == CUZK_OK) status = msm_g2_sum_classes(s.sums, KEY_CLASSES, points, s.class, n, p, err);
        if (status != CUZK_OK) break;
        g2_jac_to_affine_batch(s.affine, s.sums, KEY_CLASSES);
        status = search_first(&first, 0, s.affine, KEY_CLASSES, p, err);
        if (status != CUZK_OK || first == KEY_CLASSES) continue;
        size_t i = 0;
        while (i < n && (s.class[i] != first || g2_affine_in_subgroup(&points[i]))) i++;
        status = i < n ? bad_point(path, section, i, n, offset + i * G2_UNCOMPRESSED, err)
                       : member_missing(path, section, err);
    }
    pass_scratch_free(&s);
    return status;
}
