// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Additions of points, multi-exponentiation in both groups, sums over bits, fixed base: at every processor level that
// this machine and CUZK_CPU allow, from the best one down. Arguments: smallest and largest log2 of the number of terms
// (12 20), then thread counts (1 2). "ns" is the time of one whole sum, or of n additions (add_batch_*: in place, in a
// second-level cache; add_pairs_*: from random places of all points), except for fixed_base_*: there it is the time of
// one multiplication. msm_*_bits has 98 % of its scalars 0 or 1, as a witness has; sum_bits half of its bits set.
#include "bench.h"

#include <string.h>

#include "base/mem.h"
#include "msm/fixed_base.h"
#include "msm/kernels.h"
#include "msm/msm.h"

enum { ADDITIONS = 4096 };

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

static uint64_t next(uint64_t *x) { // splitmix64
    uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

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
        for (int k = 0; k < 2; k++) t->pairs[2 * i + k] = (uint32_t)(next(&seed) >> (63 - log2));
    }
    bench_run("add_batch_g1", ADDITIONS, 1, 31, 1, run_add_g1, t);
    bench_run("add_batch_g2", ADDITIONS, 1, 31, 1, run_add_g2, t);
    bench_run("add_pairs_g1", ADDITIONS, 1, 31, 1, run_pairs_g1, t);
    bench_run("add_pairs_g2", ADDITIONS, 1, 31, 1, run_pairs_g2, t);
    mem_free(t);
    return 0;
}

static void bench_sums(state *s, unsigned from, unsigned to, unsigned threads) {
    bench_run("fixed_base_g1", 1, threads, 1, s->most, run_fixed_g1, s);
    bench_run("fixed_base_g2", 1, threads, 1, s->most, run_fixed_g2, s);
    for (unsigned log2 = from; log2 <= to; log2 += 2) {
        s->n = (size_t)1 << log2;
        const unsigned runs = log2 >= 18 ? 3 : 9;
        bench_run("msm_g1", s->n, threads, runs, 1, run_g1, s);
        bench_run("msm_g1_bits", s->n, threads, runs, 1, run_g1_mix, s);
        bench_run("msm_g1_sum_bits", s->n, threads, runs, 1, run_g1_sum_bits, s);
        bench_run("msm_g2", s->n, threads, runs, 1, run_g2, s);
        bench_run("msm_g2_bits", s->n, threads, runs, 1, run_g2_mix, s);
    }
}

int main(int argc, char **argv) {
    const unsigned from = argc > 1 ? (unsigned)atoi(argv[1]) : 12, to = argc > 2 ? (unsigned)atoi(argv[2]) : 20;
    const size_t most = (size_t)1 << to, words = (most + 63) / 64;
    state s = {.most = most};
    uint64_t seed = 1;
    // From mem_alloc, as where the library has them: large arrays get large pages.
    s.k = mem_alloc(MEM_MISC, most + 1, sizeof *s.k), s.mix = mem_alloc(MEM_MISC, most, sizeof *s.mix);
    s.bits = mem_alloc(MEM_MISC, words, sizeof *s.bits);
    s.p1 = mem_alloc(MEM_MISC, most, sizeof *s.p1), s.p2 = mem_alloc(MEM_MISC, most, sizeof *s.p2);
    if (s.k == 0 || s.mix == 0 || s.bits == 0 || s.p1 == 0 || s.p2 == 0) return 1;
    for (size_t i = 0; i < words; i++) s.bits[i] = next(&seed);
    for (size_t i = 0; i <= most; i++) {
        uint8_t wide[64];
        for (size_t w = 0; w < 8; w++) {
            const uint64_t v = next(&seed);
            memcpy(wide + 8 * w, &v, 8);
        }
        fr_from_le_bytes_wide(&s.k[i], wide);
        if (i == most) break;
        s.mix[i] = s.k[i];
        if (next(&seed) % 50 != 0) fr_from_u64(&s.mix[i], next(&seed) & 1);
    }
    // The tables production parameters would be made with; the points they give are the bases of the sums, whose
    // scalars are others: one further on.
    if (fixed_base_g1_create(&s.t1, &G1_GENERATOR, 10000000, 0, 0) != CUZK_OK) return 1;
    if (fixed_base_g2_create(&s.t2, &G2_GENERATOR, 700000, 0, 0) != CUZK_OK) return 1;
    run_fixed_g1(&s, most), run_fixed_g2(&s, most);
    for (size_t i = 0; i < most; i++) s.k[i] = s.k[i + 1];
    for (int level = (int)cpu_current(); level >= CPU_PORTABLE; level--) {
        cpu_set_mask((cpu_level)level);
        if (msm_g1_kernels_get()->level != (cpu_level)level) continue;
        if (bench_additions(&s, to) != 0) return 1;
        for (int i = 3; i < (argc > 3 ? argc : 5); i++) {
            const unsigned threads = argc > 3 ? (unsigned)atoi(argv[i]) : (unsigned)i - 2;
            if (pool_create(&s.p, threads, 0) != CUZK_OK) return 1;
            bench_sums(&s, from, to, threads);
            pool_destroy(&s.p);
        }
    }
    fixed_base_g1_destroy(&s.t1), fixed_base_g2_destroy(&s.t2);
    mem_free(s.k), mem_free(s.mix), mem_free(s.bits), mem_free(s.p1), mem_free(s.p2);
    return s.failed;
}
