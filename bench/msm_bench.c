// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Additions of points, multi-exponentiation in both groups, sums over bits, fixed base: at every processor level that
// this machine and CUZK_CPU allow, from the best one down. Arguments: smallest and largest log2 of the number of terms
// (12 20), then thread counts (1 2; below the best level 1 alone), and the options of bench.h. "ns" is the time of one
// whole sum, or of n additions (add_batch_*: in place, in a second-level cache; add_pairs_*: from random places of all
// points), except for fixed_base_*: there it is the time of one multiplication. msm_*_bits has 98 % of its scalars 0 or
// 1, as a witness has; sum_bits half of its bits set.
#include "bench.h"

#include <string.h>

#include "base/mem.h"
#include "msm/fixed_base.h"
#include "msm/kernels.h"
#include "msm/msm.h"

enum { ADDITIONS = 4096, MIX_OTHERS = 50, FIXED = 1 << 15 }; // one scalar in MIX_OTHERS is no bit

typedef struct state {
    size_t n, most;
    pool *p;
    fr *k, *mix;
    uint64_t *bits;
    g1_affine *p1;
    g2_affine *p2;
    fixed_base_g1 *t1;
    fixed_base_g2 *t2;
    int failed;
} state;

static void run_g1(void *ctx, size_t iterations) {
    state *s = ctx;
    g1_jac out;
    for (size_t i = 0; i < iterations; i++) s->failed |= msm_g1(&out, s->p1, s->k, s->n, s->p, 0) != CUZK_OK;
}
static void run_g1_mix(void *ctx, size_t iterations) {
    state *s = ctx;
    g1_jac out;
    for (size_t i = 0; i < iterations; i++) s->failed |= msm_g1(&out, s->p1, s->mix, s->n, s->p, 0) != CUZK_OK;
}
static void run_g1_sum_bits(void *ctx, size_t iterations) {
    state *s = ctx;
    g1_jac out;
    for (size_t i = 0; i < iterations; i++)
        s->failed |= msm_g1_sum_bits(&out, s->p1, s->bits, s->n, s->p, 0) != CUZK_OK;
}
static void run_g2(void *ctx, size_t iterations) {
    state *s = ctx;
    g2_jac out;
    for (size_t i = 0; i < iterations; i++) s->failed |= msm_g2(&out, s->p2, s->k, s->n, s->p, 0) != CUZK_OK;
}
static void run_g2_mix(void *ctx, size_t iterations) {
    state *s = ctx;
    g2_jac out;
    for (size_t i = 0; i < iterations; i++) s->failed |= msm_g2(&out, s->p2, s->mix, s->n, s->p, 0) != CUZK_OK;
}
// The number of iterations is the number of multiplications.
static void run_fixed_g1(void *ctx, size_t iterations) {
    state *s = ctx;
    s->failed |= fixed_base_g1_mul(s->p1, s->t1, s->k, iterations, s->p, 0) != CUZK_OK;
}
static void run_fixed_g2(void *ctx, size_t iterations) {
    state *s = ctx;
    s->failed |= fixed_base_g2_mul(s->p2, s->t2, s->k, iterations, s->p, 0) != CUZK_OK;
}

// The kernels alone. Every call adds other points, as the sums of the last one are its operands.
typedef struct additions {
    uint32_t a[ADDITIONS], b[ADDITIONS], pairs[2 * ADDITIONS];
    g1_affine p1[2 * ADDITIONS];
    g2_affine p2[2 * ADDITIONS];
    msm_g1_scratch s1[MSM_SCRATCH(MSM_BLOCK)];
    msm_g2_scratch s2[MSM_SCRATCH(MSM_BLOCK)];
    const state *all;
} additions;

static void run_add_g1(void *ctx, size_t iterations) {
    additions *t = ctx;
    for (size_t i = 0; i < iterations; i++) msm_g1_kernels_get()->add_batch(t->p1, t->a, t->p1, t->b, ADDITIONS, t->s1);
}
static void run_add_g2(void *ctx, size_t iterations) {
    additions *t = ctx;
    for (size_t i = 0; i < iterations; i++) msm_g2_kernels_get()->add_batch(t->p2, t->a, t->p2, t->b, ADDITIONS, t->s2);
}
static void run_pairs_g1(void *ctx, size_t iterations) {
    additions *t = ctx;
    for (size_t i = 0; i < iterations; i++)
        msm_g1_kernels_get()->add_pairs(t->p1, t->a, t->all->p1, t->pairs, ADDITIONS, t->s1);
}
static void run_pairs_g2(void *ctx, size_t iterations) {
    additions *t = ctx;
    for (size_t i = 0; i < iterations; i++)
        msm_g2_kernels_get()->add_pairs(t->p2, t->a, t->all->p2, t->pairs, ADDITIONS, t->s2);
}

static int bench_additions(const state *s, unsigned log2) {
    if (s->most < 2 * ADDITIONS) return 0;
    additions *t = mem_calloc(MEM_MISC, 1, sizeof *t);
    if (t == 0) return 1;
    uint64_t seed = 2;
    t->all = s;
    memcpy(t->p1, s->p1, sizeof t->p1), memcpy(t->p2, s->p2, sizeof t->p2);
    for (uint32_t i = 0; i < ADDITIONS; i++) {
        t->a[i] = 2 * i, t->b[i] = (2 * i + 1) << 1 | (i & 1);
        for (int k = 0; k < 2; k++) t->pairs[2 * i + k] = (uint32_t)(bench_random(&seed) >> (63 - log2));
    }
    const struct {
        const char *name;
        bench_work work;
        void (*fn)(void *ctx, size_t iterations);
    } rows[] = {{"add_batch_g1", WORK_G1_ADD, run_add_g1},
                {"add_batch_g2", WORK_G2_ADD, run_add_g2},
                {"add_pairs_g1", WORK_G1_ADD, run_pairs_g1},
                {"add_pairs_g2", WORK_G2_ADD, run_pairs_g2}};
    const bench_effort effort = {.runs = 31, .iterations = 1};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bench_row row = {
            .name = rows[i].name, .n = ADDITIONS, .threads = 1, .work = work_times(rows[i].work, ADDITIONS)};
        bench_run(&row, &effort, rows[i].fn, t);
    }
    mem_free(t);
    return 0;
}

static double additions_random(double n) { return work_sum_additions(n); }
static double additions_mix(double n) {
    return n * (MIX_OTHERS - 1) / MIX_OTHERS / 2 + work_sum_additions(n / MIX_OTHERS);
}
static double additions_bits(double n) { return n / 2; }

static const struct {
    const char *name;
    int group;
    double (*additions)(double n);
    void (*fn)(void *ctx, size_t iterations);
} SUMS[] = {{"msm_g1", 1, additions_random, run_g1},
            {"msm_g1_bits", 1, additions_mix, run_g1_mix},
            {"msm_g1_sum_bits", 1, additions_bits, run_g1_sum_bits},
            {"msm_g2", 2, additions_random, run_g2},
            {"msm_g2_bits", 2, additions_mix, run_g2_mix}};
enum { N_SUMS = sizeof SUMS / sizeof *SUMS };

static void bench_sums(state *s, unsigned from, unsigned to, unsigned threads, const bench_options *o) {
    const bench_effort fixed = {.runs = 1, .iterations = s->most < FIXED ? s->most : FIXED};
    bench_row row = {.name = "fixed_base_g1", .n = 1, .threads = threads};
    bench_run(&row, &fixed, run_fixed_g1, s);
    row.name = "fixed_base_g2";
    bench_run(&row, &fixed, run_fixed_g2, s);
    double last[N_SUMS] = {0};
    for (unsigned log2 = from; log2 <= to; log2 += 2) {
        s->n = (size_t)1 << log2;
        const bench_effort effort = {.runs = 9, .iterations = 1, .budget_ns = o->budget_ns};
        for (int k = 0; k < N_SUMS; k++) {
            if (4 * last[k] > o->skip_ns) continue;
            const bench_work add = SUMS[k].group == 1 ? WORK_G1_ADD : WORK_G2_ADD;
            row = (bench_row){.name = SUMS[k].name,
                              .n = s->n,
                              .threads = threads,
                              .work = work_times(add, SUMS[k].additions((double)s->n))};
            last[k] = bench_run(&row, &effort, SUMS[k].fn, s);
        }
    }
}

int main(int argc, char **argv) {
    bench_options o;
    argc = bench_options_take(&o, argc, argv);
    const unsigned from = argc > 1 ? (unsigned)atoi(argv[1]) : 12, to = argc > 2 ? (unsigned)atoi(argv[2]) : 20;
    const size_t most = (size_t)1 << to, words = (most + 63) / 64;
    state s = {.most = most};
    uint64_t seed = 1;
    // From mem_alloc, as where the library has them: large arrays get large pages.
    s.k = mem_alloc(MEM_MISC, most + 1, sizeof *s.k), s.mix = mem_alloc(MEM_MISC, most, sizeof *s.mix);
    s.bits = mem_alloc(MEM_MISC, words, sizeof *s.bits);
    s.p1 = mem_alloc(MEM_MISC, most, sizeof *s.p1), s.p2 = mem_alloc(MEM_MISC, most, sizeof *s.p2);
    if (s.k == 0 || s.mix == 0 || s.bits == 0 || s.p1 == 0 || s.p2 == 0) return 1;
    for (size_t i = 0; i < words; i++) s.bits[i] = bench_random(&seed);
    for (size_t i = 0; i <= most; i++) {
        uint8_t wide[64];
        for (size_t w = 0; w < 8; w++) {
            const uint64_t v = bench_random(&seed);
            memcpy(wide + 8 * w, &v, 8);
        }
        fr_from_le_bytes_wide(&s.k[i], wide);
        if (i == most) break;
        s.mix[i] = s.k[i];
        if (bench_random(&seed) % MIX_OTHERS != 0) fr_from_u64(&s.mix[i], bench_random(&seed) & 1);
    }
    // The tables production parameters would be made with; the points they give are the bases of the sums, whose
    // scalars are others: one further on.
    if (fixed_base_g1_create(&s.t1, &G1_GENERATOR, 10000000, 0, 0) != CUZK_OK) return 1;
    if (fixed_base_g2_create(&s.t2, &G2_GENERATOR, 700000, 0, 0) != CUZK_OK) return 1;
    if (pool_create(&s.p, 0, 0) != CUZK_OK) return 1;
    run_fixed_g1(&s, most), run_fixed_g2(&s, most);
    pool_destroy(&s.p);
    for (size_t i = 0; i < most; i++) s.k[i] = s.k[i + 1];
    const int best = (int)msm_g1_kernels_get()->level;
    for (int level = best; level >= (o.best ? best : CPU_PORTABLE); level--) {
        cpu_set_mask((cpu_level)level);
        if (msm_g1_kernels_get()->level != (cpu_level)level) continue;
        if (bench_additions(&s, to) != 0) return 1;
        for (int i = 3; i < (argc > 3 ? argc : 5); i++) {
            const unsigned threads = argc > 3 ? (unsigned)atoi(argv[i]) : (unsigned)i - 2;
            if (threads != 1 && level != best) continue;
            if (pool_create(&s.p, threads, 0) != CUZK_OK) return 1;
            bench_sums(&s, from, to, threads, &o);
            pool_destroy(&s.p);
        }
    }
    fixed_base_g1_destroy(&s.t1), fixed_base_g2_destroy(&s.t2);
    mem_free(s.k), mem_free(s.mix), mem_free(s.bits), mem_free(s.p1), mem_free(s.p2);
    return s.failed;
}
