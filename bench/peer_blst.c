// SPDX-License-Identifier: MIT OR Apache-2.0
//
// blst beside field_bench and msm_bench: the same operations, names and sizes, one thread, the same rows with
// "peer":"blst". Built by peer_blst.sh; never part of the build or the tests. Arguments: smallest and largest log2 of
// the number of terms (16 18), and the options of bench.h.
#include <blst.h>
#include <string.h>

#include "bench.h"

enum { LANES = 8 };

typedef struct state {
    blst_fr a[LANES], b;
    blst_fp pa[LANES], pb;
    blst_fp2 qa[LANES], qb;
    blst_p1 j1[LANES];
    blst_p1_affine p1[LANES];
    blst_p2_affine p2[LANES];
    blst_fp12 f;
    byte k[32];
    bool sink;
} state;

static void run_fr_mul(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) blst_fr_mul(&s->a[i % LANES], &s->a[i % LANES], &s->b);
}
static void run_fr_sqr(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) blst_fr_sqr(&s->a[i % LANES], &s->a[i % LANES]);
}
static void run_fr_add(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) blst_fr_add(&s->a[i % LANES], &s->a[i % LANES], &s->b);
}
static void run_fr_inv(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) {
        blst_fr_eucl_inverse(&s->a[0], &s->a[0]);
        blst_fr_add(&s->a[0], &s->a[0], &s->b);
    }
}
static void run_fp_mul(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) blst_fp_mul(&s->pa[i % LANES], &s->pa[i % LANES], &s->pb);
}
static void run_fp_sqr(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) blst_fp_sqr(&s->pa[i % LANES], &s->pa[i % LANES]);
}
static void run_fp_add(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) blst_fp_add(&s->pa[i % LANES], &s->pa[i % LANES], &s->pb);
}
static void run_fp_inv(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) {
        blst_fp_eucl_inverse(&s->pa[0], &s->pa[0]);
        blst_fp_add(&s->pa[0], &s->pa[0], &s->pb);
    }
}
static void run_fp2_mul(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) blst_fp2_mul(&s->qa[i % LANES], &s->qa[i % LANES], &s->qb);
}
static void run_fp2_sqr(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) blst_fp2_sqr(&s->qa[i % LANES], &s->qa[i % LANES]);
}
static void run_g1_jac_add(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++)
        blst_p1_add_or_double_affine(&s->j1[i % LANES], &s->j1[i % LANES], &s->p1[0]);
}
static void run_g1_dbl(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) blst_p1_double(&s->j1[i % LANES], &s->j1[i % LANES]);
}
static void run_g1_mul(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) blst_p1_mult(&s->j1[0], &s->j1[0], s->k, 255);
}
static void run_g1_subgroup(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) s->sink ^= blst_p1_affine_in_g1(&s->p1[i % LANES]);
}
static void run_pairing(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) {
        blst_miller_loop(&s->f, &s->p2[i % LANES], &s->p1[i % LANES]);
        blst_final_exp(&s->f, &s->f);
    }
}

static const struct {
    const char *name;
    size_t iterations;
    void (*fn)(void *ctx, size_t iterations);
} FIELD[] = {
    {"fr_mul", 200000, run_fr_mul},    {"fr_sqr", 200000, run_fr_sqr},
    {"fr_add", 1000000, run_fr_add},   {"fr_inv", 5000, run_fr_inv},
    {"fp_mul", 200000, run_fp_mul},    {"fp_sqr", 200000, run_fp_sqr},
    {"fp_add", 1000000, run_fp_add},   {"fp_inv", 3000, run_fp_inv},
    {"fp2_mul", 50000, run_fp2_mul},   {"fp2_sqr", 50000, run_fp2_sqr},
    {"g1_jac_dbl", 20000, run_g1_dbl}, {"g1_jac_add_affine", 20000, run_g1_jac_add},
    {"g1_jac_mul", 50, run_g1_mul},    {"g1_subgroup", 100, run_g1_subgroup},
    {"pairing", 8, run_pairing},
};

static void bench_field(const blst_p1_affine *p1, const blst_p2_affine *p2, const byte *scalars) {
    static state s;
    memcpy(s.p1, p1, sizeof s.p1), memcpy(s.p2, p2, sizeof s.p2), memcpy(s.k, scalars, sizeof s.k);
    s.pb = p1[LANES].x, s.qb = p2[LANES].x;
    const uint64_t words[4] = {3, 5, 7, 11};
    blst_fr_from_uint64(&s.b, words);
    for (size_t i = 0; i < LANES; i++) {
        s.a[i] = s.b, s.pa[i] = p1[i].y, s.qa[i] = p2[i].y;
        blst_p1_from_affine(&s.j1[i], &p1[i + 1]);
    }
    for (size_t i = 0; i < sizeof FIELD / sizeof *FIELD; i++)
        bench_run(&(bench_row){.name = FIELD[i].name, .peer = "blst", .n = 1, .threads = 1},
                  &(bench_effort){.runs = 9, .iterations = FIELD[i].iterations}, FIELD[i].fn, &s);
}

typedef struct sums {
    size_t n;
    const blst_p1_affine *p1;
    const blst_p2_affine *p2;
    const blst_p1_affine **half; // every second one
    const byte *scalars;
    limb_t *scratch;
} sums;

static void run_g1(void *ctx, size_t iterations) {
    const sums *s = ctx;
    const blst_p1_affine *points[] = {s->p1, 0};
    const byte *ks[] = {s->scalars, 0};
    blst_p1 out;
    for (size_t i = 0; i < iterations; i++) blst_p1s_mult_pippenger(&out, points, s->n, ks, 255, s->scratch);
}
static void run_g2(void *ctx, size_t iterations) {
    const sums *s = ctx;
    const blst_p2_affine *points[] = {s->p2, 0};
    const byte *ks[] = {s->scalars, 0};
    blst_p2 out;
    for (size_t i = 0; i < iterations; i++) blst_p2s_mult_pippenger(&out, points, s->n, ks, 255, s->scratch);
}
static void run_g1_half(void *ctx, size_t iterations) {
    const sums *s = ctx;
    blst_p1 out;
    for (size_t i = 0; i < iterations; i++) blst_p1s_add(&out, s->half, s->n / 2);
}

int main(int argc, char **argv) {
    bench_options o;
    argc = bench_options_take(&o, argc, argv);
    const unsigned from = argc > 1 ? (unsigned)atoi(argv[1]) : 16, to = argc > 2 ? (unsigned)atoi(argv[2]) : 18;
    const size_t most = (size_t)1 << to;
    uint64_t seed = 1;
    byte *scalars = malloc(most * 32);
    blst_p1 *j1 = malloc(most * sizeof *j1);
    blst_p2 *j2 = malloc(most * sizeof *j2);
    blst_p1_affine *p1 = malloc(most * sizeof *p1);
    blst_p2_affine *p2 = malloc(most * sizeof *p2);
    const blst_p1_affine **half = malloc(most / 2 * sizeof *half);
    const size_t scratch1 = blst_p1s_mult_pippenger_scratch_sizeof(most),
                 scratch2 = blst_p2s_mult_pippenger_scratch_sizeof(most);
    limb_t *scratch = malloc(scratch1 > scratch2 ? scratch1 : scratch2);
    if (scalars == 0 || j1 == 0 || j2 == 0 || p1 == 0 || p2 == 0 || half == 0 || scratch == 0) return 1;
    // Distinct points by repeated addition, distinct scalars below 2^254.
    j1[0] = *blst_p1_generator(), j2[0] = *blst_p2_generator();
    blst_p1_double(&j1[0], &j1[0]), blst_p2_double(&j2[0], &j2[0]);
    for (size_t i = 1; i < most; i++) {
        blst_p1_add_or_double(&j1[i], &j1[i - 1], blst_p1_generator());
        blst_p2_add_or_double(&j2[i], &j2[i - 1], blst_p2_generator());
    }
    const blst_p1 *js1[] = {j1, 0};
    const blst_p2 *js2[] = {j2, 0};
    blst_p1s_to_affine(p1, js1, most);
    blst_p2s_to_affine(p2, js2, most);
    for (size_t i = 0; i < most / 2; i++) half[i] = &p1[2 * i + (bench_random(&seed) & 1)];
    for (size_t i = 0; i < most * 32; i += 8) {
        const uint64_t v = i % 32 == 24 ? bench_random(&seed) >> 2 : bench_random(&seed);
        memcpy(scalars + i, &v, 8);
    }
    bench_field(p1, p2, scalars);
    sums s = {.p1 = p1, .p2 = p2, .half = half, .scalars = scalars, .scratch = scratch};
    const bench_effort effort = {.runs = 9, .iterations = 1, .budget_ns = o.budget_ns};
    for (unsigned log2 = from; log2 <= to; log2 += 2) {
        s.n = (size_t)1 << log2;
        bench_run(&(bench_row){.name = "msm_g1", .peer = "blst", .n = s.n, .threads = 1}, &effort, run_g1, &s);
        bench_run(&(bench_row){.name = "msm_g1_sum_bits", .peer = "blst", .n = s.n, .threads = 1}, &effort, run_g1_half,
                  &s);
        bench_run(&(bench_row){.name = "msm_g2", .peer = "blst", .n = s.n, .threads = 1}, &effort, run_g2, &s);
    }
    free(scalars), free(j1), free(j2), free(p1), free(p2), free(half), free(scratch);
    return 0;
}
