// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Multi-exponentiation in both groups, sums over bits, fixed base. Arguments: smallest and largest log2 of the number
// of terms (12 20), then thread counts (1 2). "ns" is the time of one whole sum, except for fixed_base_*: there it is
// the time of one multiplication. msm_*_bits has 98 % of its scalars 0 or 1, as a witness has.
#include "bench.h"

#include <string.h>

#include "msm/fixed_base.h"
#include "msm/msm.h"

typedef struct state {
    size_t n;
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

static int bench_threads(unsigned from, unsigned to, unsigned threads) {
    const size_t most = (size_t)1 << to, words = (most + 63) / 64;
    state s = {0};
    uint64_t seed = 1;
    s.k = malloc(most * sizeof *s.k), s.mix = malloc(most * sizeof *s.mix), s.bits = malloc(words * sizeof *s.bits);
    s.p1 = malloc(most * sizeof *s.p1), s.p2 = malloc(most * sizeof *s.p2);
    if (s.k == 0 || s.mix == 0 || s.bits == 0 || s.p1 == 0 || s.p2 == 0) return 1;
    if (pool_create(&s.p, threads, 0) != CUZK_OK) return 1;
    for (size_t i = 0; i < words; i++) s.bits[i] = next(&seed);
    for (size_t i = 0; i < most; i++) {
        uint8_t wide[64];
        for (size_t w = 0; w < 8; w++) {
            const uint64_t v = next(&seed);
            memcpy(wide + 8 * w, &v, 8);
        }
        fr_from_le_bytes_wide(&s.k[i], wide);
        s.mix[i] = s.k[i];
        if (next(&seed) % 50 != 0) fr_from_u64(&s.mix[i], next(&seed) & 1);
    }
    // The tables production parameters would be made with; the points they give are the bases below.
    if (fixed_base_g1_create(&s.t1, &G1_GENERATOR, 10000000, s.p, 0) != CUZK_OK) return 1;
    if (fixed_base_g2_create(&s.t2, &G2_GENERATOR, 700000, s.p, 0) != CUZK_OK) return 1;
    bench_run("fixed_base_g1", 1, threads, 1, most, run_fixed_g1, &s);
    bench_run("fixed_base_g2", 1, threads, 1, most, run_fixed_g2, &s);
    for (size_t i = 0; i + 1 < most; i++) s.k[i] = s.k[i + 1]; // other scalars than the points came from
    for (unsigned log2 = from; log2 <= to; log2 += 2) {
        s.n = (size_t)1 << log2;
        const unsigned runs = log2 >= 18 ? 1 : 5;
        bench_run("msm_g1", s.n, threads, runs, 1, run_g1, &s);
        bench_run("msm_g1_bits", s.n, threads, runs, 1, run_g1_mix, &s);
        bench_run("msm_g1_sum_bits", s.n, threads, runs, 1, run_g1_sum_bits, &s);
        bench_run("msm_g2", s.n, threads, runs, 1, run_g2, &s);
        bench_run("msm_g2_bits", s.n, threads, runs, 1, run_g2_mix, &s);
    }
    fixed_base_g1_destroy(&s.t1), fixed_base_g2_destroy(&s.t2);
    pool_destroy(&s.p);
    free(s.k), free(s.mix), free(s.bits), free(s.p1), free(s.p2);
    return s.failed;
}

int main(int argc, char **argv) {
    const unsigned from = argc > 1 ? (unsigned)atoi(argv[1]) : 12, to = argc > 2 ? (unsigned)atoi(argv[2]) : 20;
    for (int i = 3; i < (argc > 3 ? argc : 5); i++)
        if (bench_threads(from, to, argc > 3 ? (unsigned)atoi(argv[i]) : (unsigned)i - 2) != 0) return 1;
    return 0;
}
