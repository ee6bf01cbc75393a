// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Many multiples of one point. The table holds k 2^(cw) B for every window w and k in [1, 2^(c-1)]; a multiplication is
// one addition a window. Blocks of scalars walk through the windows together, so that their additions share inversions.
#include "msm/fixed_base.h"

#include <string.h>

#include "base/mem.h"
#include "msm/recode.h"
#include "msm/types.h"

enum {
    BLOCK = 1024,         // scalars a task, additions an inversion
    MAGNITUDE_BITS = 254, // of a centred scalar
    C_MIN = 2,
    C_MAX = 18,
    MAX_WINDOWS = 256,
};
#define TABLE_BYTES_MAX ((size_t)128 << 20)

typedef struct FIXED() table_type;

struct FIXED() {
    unsigned c, windows;
    size_t per_window; // 2^(c-1)
    uint64_t bias[4];
    POINT *table; // [windows][per_window]
};

static unsigned choose_c(size_t n) {
    unsigned best = C_MIN;
    size_t best_cost = SIZE_MAX;
    for (unsigned c = C_MIN; c <= C_MAX; c++) {
        const size_t windows = msm_windows(MAGNITUDE_BITS, c), entries = windows << (c - 1);
        if (entries > TABLE_BYTES_MAX / sizeof(POINT)) break;
        // An addition for each scalar and window, one for each entry of the table.
        const size_t cost = n > (SIZE_MAX >> 10) ? SIZE_MAX - windows : windows * n + entries;
        if (cost < best_cost || n > (SIZE_MAX >> 10)) best = c, best_cost = cost;
    }
    return best;
}

typedef struct fill_job {
    const table_type *t;
    const POINT *bases; // 2^(cw) B
} fill_job;

// Doubles the table of multiples 1 .. m by adding m P to each.
static void fill_task(void *ctx, size_t window, unsigned worker) {
    (void)worker;
    const fill_job *j = ctx;
    const MSM(kernels) *k = MSM(kernels_get)();
    MSM(scratch) scratch[MSM_SCRATCH(BLOCK)];
    uint32_t a[BLOCK], b[BLOCK];
    POINT *row = j->t->table + window * j->t->per_window;
    row[0] = j->bases[window];
    for (size_t m = 1; m < j->t->per_window; m *= 2) {
        memcpy(row + m, row, m * sizeof *row);
        for (size_t at = 0; at < m; at += BLOCK) {
            const size_t n = m - at < BLOCK ? m - at : BLOCK;
            // The last addition doubles m P: its copy at 2m - 1 is separate from the operand at m - 1.
            for (size_t i = 0; i < n; i++) a[i] = (uint32_t)(m + at + i), b[i] = (uint32_t)(m - 1) << 1;
            k->add_batch(row, a, row, b, n, scratch);
        }
    }
}

cuzk_status FIXED(_create)(table_type **out, const POINT *base, size_t n_expected, pool *p, cuzk_error *err) {
    *out = 0;
    table_type *t = mem_calloc(MEM_TABLE, 1, sizeof *t);
    if (t != 0) {
        t->c = choose_c(n_expected);
        t->windows = msm_windows(MAGNITUDE_BITS, t->c);
        t->per_window = (size_t)1 << (t->c - 1);
        msm_bias(t->bias, t->windows, t->c);
        t->table = mem_alloc(MEM_TABLE, t->windows * t->per_window, sizeof *t->table);
    }
    if (t == 0 || t->table == 0) {
        FIXED(_destroy)(&t);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "fixed-base table: no memory");
    }
    JAC power[MAX_WINDOWS];
    POINT bases[MAX_WINDOWS];
    G(jac_from_affine)(&power[0], base);
    for (unsigned w = 1; w < t->windows; w++) {
        power[w] = power[w - 1];
        for (unsigned i = 0; i < t->c; i++) G(jac_dbl)(&power[w], &power[w]);
    }
    G(jac_to_affine_batch)(bases, power, t->windows);
    fill_job j = {t, bases};
    pool_run(p, t->windows, fill_task, &j);
    *out = t;
    return CUZK_OK;
}

void FIXED(_destroy)(table_type **t) {
    if (t == 0 || *t == 0) return;
    mem_free((*t)->table);
    mem_free(*t);
    *t = 0;
}

typedef struct mul_job {
    POINT *out;
    const table_type *t;
    const fr *scalars;
    size_t n;
} mul_job;

static void mul_task(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    const mul_job *j = ctx;
    const table_type *t = j->t;
    const MSM(kernels) *kernels = MSM(kernels_get)();
    MSM(scratch) scratch[MSM_SCRATCH(BLOCK)];
    uint64_t k[BLOCK][4];
    uint32_t a[BLOCK], b[BLOCK];
    bool negated[BLOCK];
    const size_t begin = task * BLOCK, n = j->n - begin < BLOCK ? j->n - begin : BLOCK;
    POINT *out = j->out + begin;
    for (size_t i = 0; i < n; i++) {
        fr_to_limbs(k[i], &j->scalars[begin + i]);
        negated[i] = msm_centre(k[i]);
        msm_add_bias(k[i], t->bias);
        out[i] = (POINT){0};
    }
    for (unsigned w = 0; w < t->windows; w++) {
        size_t m = 0;
        for (size_t i = 0; i < n; i++) {
            const int32_t d = msm_digit(k[i], w, t->windows, t->c);
            if (d == 0) continue;
            const size_t entry = w * t->per_window + (size_t)(d < 0 ? -d : d) - 1;
            const bool negate = (d < 0) != negated[i];
            if (w == 0) { // onto infinity: a copy
                out[i] = t->table[entry];
                if (negate) F(neg)(&out[i].y, &out[i].y);
                continue;
            }
            a[m] = (uint32_t)i;
            b[m] = (uint32_t)entry << 1 | (uint32_t)negate;
            m++;
        }
        if (m > 0) kernels->add_batch(out, a, t->table, b, m, scratch);
    }
}

cuzk_status FIXED(_mul)(POINT *out, const table_type *t, const fr *scalars, size_t n, pool *p, cuzk_error *err) {
    (void)err; // nothing here can fail today; a later table may allocate
    mul_job j = {out, t, scalars, n};
    pool_run(p, (n + BLOCK - 1) / BLOCK, mul_task, &j);
    return CUZK_OK;
}
