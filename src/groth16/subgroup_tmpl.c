// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Are all points of a section in the subgroup of order r? docs/maths/subgroup.md has the argument in full. One source,
// compiled once for each group: SUBGROUP_TYPES names the header with its types.
//
// Testing one point costs a scalar multiplication, so for millions of points the points are thrown into random classes,
// each class is summed (one cheap addition a point), and only the sums are tested:
//  * one bad point spoils exactly the sum of its class, so it is always found;
//  * several bad points made to cancel pass only if they land in classes where they do: whatever the classes of the
//    others are, at most one of the KEY_CLASSES classes for the last bad point hides it. Probability at most
//    1/KEY_CLASSES a pass, and passes are independent: 2^-24 for two.
// That needs classes the maker of the file cannot foresee, so every one comes straight from the operating system's
// generator: 2 bytes a point, some 10 ms a million points, and no expansion of ours to argue about.
#include SUBGROUP_TYPES

#include "base/mem.h"
#include "groth16/subgroup.h"

typedef POINT(affine) affine;
typedef POINT(jac) jac;

enum { POINTS_A_TASK = 64 };

// A parallel search for the first point outside the subgroup.
typedef struct search {
    const affine *points;
    size_t n;
    bool *bad;
} search;

static void search_task(void *ctx, size_t task, unsigned worker) {
    const search *s = ctx;
    (void)worker;
    size_t end = (task + 1) * POINTS_A_TASK < s->n ? (task + 1) * POINTS_A_TASK : s->n;
    for (size_t i = task * POINTS_A_TASK; i < end; i++) s->bad[i] = !POINT(affine_in_subgroup)(&s->points[i]);
}

// *first := index of the first bad point, or n.
static cuzk_status search_first(size_t *first, const affine *points, size_t n, pool *p, cuzk_error *err) {
    *first = 0;
    search s = {.points = points, .n = n, .bad = mem_calloc(MEM_MISC, n, sizeof(bool))};
    if (s.bad == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory to check %zu points", n);
    pool_run(p, (n + POINTS_A_TASK - 1) / POINTS_A_TASK, search_task, &s);
    while (*first < n && !s.bad[*first]) ++*first;
    mem_free(s.bad);
    return CUZK_OK;
}

// Of a pass: the class of each point, and the sum of each class.
typedef struct scratch {
    uint16_t *class; // n
    jac *sums;       // KEY_CLASSES
    affine *as_affine;
} scratch;

static void scratch_free(scratch *s) {
    mem_free(s->class);
    mem_free(s->sums);
    mem_free(s->as_affine);
}

static cuzk_status scratch_make(scratch *s, size_t n, cuzk_error *err) {
    *s = (scratch){mem_alloc(MEM_MISC, n, sizeof(uint16_t)), mem_alloc(MEM_MISC, KEY_CLASSES, sizeof(jac)),
                   mem_alloc(MEM_MISC, KEY_CLASSES, sizeof(affine))};
    if (s->class != NULL && s->sums != NULL && s->as_affine != NULL) return CUZK_OK;
    scratch_free(s);
    return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory to check %zu points", n);
}

cuzk_status CHECK_SUBGROUP(const affine *points, size_t n, const char *path, const char *section, uint64_t offset,
                           pool *p, cuzk_error *err) {
    size_t first = 0;
    cuzk_status status;
    if (n < ONE_BY_ONE_BELOW) {
        status = search_first(&first, points, n, p, err);
        if (status != CUZK_OK || first == n) return status;
        return key_bad_point(path, section, first, n, offset + first * POINT_BYTES, err);
    }
    scratch s;
    status = scratch_make(&s, n, err);
    if (status != CUZK_OK) return status;
    for (int pass = 0; pass < KEY_PASSES && status == CUZK_OK; pass++) {
        status = key_draw_classes(s.class, n, err);
        if (status == CUZK_OK) status = SUM_CLASSES(s.sums, KEY_CLASSES, points, s.class, n, p, err);
        if (status != CUZK_OK) break;
        POINT(jac_to_affine_batch)(s.as_affine, s.sums, KEY_CLASSES);
        status = search_first(&first, s.as_affine, KEY_CLASSES, p, err);
        if (status != CUZK_OK || first == KEY_CLASSES) continue;
        size_t i = 0;
        while (i < n && (s.class[i] != first || POINT(affine_in_subgroup)(&points[i]))) i++;
        status = i < n ? key_bad_point(path, section, i, n, offset + i * POINT_BYTES, err)
                       : key_member_missing(path, section, err);
    }
    scratch_free(&s);
    return status;
}
