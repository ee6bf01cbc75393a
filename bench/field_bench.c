// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Field and curve operations, one core. Throughput over eight independent values, as the hot loops have them, except
// where the name ends in _chain: then each operation waits for the one before. fr_vec_* and fp_vec_*, whole arrays by
// functions on several elements at once, come at every processor level that has them, and by the portable functions;
// the rest is the same at all levels.
#include "bench.h"

#include "curve/g1.h"
#include "curve/g2.h"
#include "curve/pairing.h"
#include "field/fp2.h"
#include "field/fr.h"
#include "field/lanes.h"

enum { LANES = 8, VEC = 1024 };

typedef struct bench_state {
    fr a[LANES], b, va[VEC], vb[VEC], vo[VEC];
    fp pa[LANES], pb, vpa[VEC], vpb[VEC], vpo[VEC];
    fp2 qa[LANES], qb;
    g1_xyzz g1[LANES];
    g1_jac j1[LANES];
    g1_affine p1[LANES];
    g2_xyzz g2[LANES];
    g2_affine p2[LANES];
    fp12 f;
    const lane_ops *lanes; // NULL: the portable functions
} bench_state;

static void run_fr_mul(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) fr_mul(&s->a[i % LANES], &s->a[i % LANES], &s->b);
}
static void run_fr_mul_chain(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) fr_mul(&s->a[0], &s->a[0], &s->b);
}
static void run_fr_sqr(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) fr_sqr(&s->a[i % LANES], &s->a[i % LANES]);
}
static void run_fr_add(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) fr_add(&s->a[i % LANES], &s->a[i % LANES], &s->b);
}
static void run_fr_sub(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) fr_sub(&s->a[i % LANES], &s->a[i % LANES], &s->b);
}
static void run_fr_inv(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) {
        fr_inv(&s->a[0], &s->a[0]);
        fr_add(&s->a[0], &s->a[0], &s->b);
    }
}
static void run_fr_vec_mul(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) {
        if (s->lanes != NULL)
            s->lanes->fr_mul(s->vo, s->va, s->vb, VEC);
        else
            for (size_t j = 0; j < VEC; j++) fr_mul(&s->vo[j], &s->va[j], &s->vb[j]);
    }
}
static void run_fr_vec_add(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++)
        for (size_t j = 0; j < VEC; j++) fr_add(&s->vo[j], &s->va[j], &s->vb[j]);
}
static void run_fp_vec_mul(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    const fp *const in[LANES_OPERANDS] = {s->vpa, s->vpb};
    for (size_t i = 0; i < iterations; i++) {
        if (s->lanes != NULL)
            s->lanes->fp(LANES_MUL, s->vpo, in, VEC);
        else
            for (size_t j = 0; j < VEC; j++) fp_mul(&s->vpo[j], &s->vpa[j], &s->vpb[j]);
    }
}
static void run_fp_mul(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) fp_mul(&s->pa[i % LANES], &s->pa[i % LANES], &s->pb);
}
static void run_fp_mul_chain(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) fp_mul(&s->pa[0], &s->pa[0], &s->pb);
}
static void run_fp_sqr(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) fp_sqr(&s->pa[i % LANES], &s->pa[i % LANES]);
}
static void run_fp_add(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) fp_add(&s->pa[i % LANES], &s->pa[i % LANES], &s->pb);
}
static void run_fp_inv(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) {
        fp_inv(&s->pa[0], &s->pa[0]);
        fp_add(&s->pa[0], &s->pa[0], &s->pb);
    }
}
static void run_fp2_mul(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) fp2_mul(&s->qa[i % LANES], &s->qa[i % LANES], &s->qb);
}
static void run_fp2_sqr(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) fp2_sqr(&s->qa[i % LANES], &s->qa[i % LANES]);
}
static void run_g1_add(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) g1_xyzz_add_affine(&s->g1[i % LANES], &s->p1[i / LANES % LANES]);
}
static void run_g1_jac_add(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) g1_jac_add_affine(&s->j1[i % LANES], &s->j1[i % LANES], &s->p1[0]);
}
static void run_g1_dbl(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) g1_jac_dbl(&s->j1[i % LANES], &s->j1[i % LANES]);
}
static void run_g1_mul(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) g1_jac_mul(&s->j1[0], &s->j1[0], &s->b);
}
static void run_g1_subgroup(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) (void)g1_affine_in_subgroup(&s->p1[i % LANES]);
}
static void run_g2_add(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) g2_xyzz_add_affine(&s->g2[i % LANES], &s->p2[i / LANES % LANES]);
}
static void run_pairing(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) {
        pairing_miller_loop(&s->f, &s->p1[i % LANES], &s->p2[i % LANES], 1);
        pairing_final_exp(&s->f, &s->f);
    }
}
static void run_pairing_product_4(void *ctx, size_t iterations) {
    bench_state *s = ctx;
    for (size_t i = 0; i < iterations; i++) (void)pairing_product_is_one(s->p1, s->p2, 4);
}

static void fill(bench_state *s) {
    g1_jac p;
    g2_jac q;
    fr k;
    fr_pow_u64(&k, &FR_GENERATOR, 123456789);
    s->b = k;
    fp_from_u64(&s->pb, 3);
    fp_inv(&s->pb, &s->pb);
    s->qb = (fp2){s->pb, s->pb};
    g1_jac_from_affine(&p, &G1_GENERATOR);
    g2_jac_from_affine(&q, &G2_GENERATOR);
    for (size_t i = 0; i < LANES; i++) {
        fr_mul(&k, &k, &s->b);
        fp_mul(&s->pb, &s->pb, &s->pb);
        s->a[i] = k, s->pa[i] = s->pb, s->qa[i] = (fp2){s->pb, s->pb};
        g1_jac_mul(&p, &p, &k);
        g2_jac_mul(&q, &q, &k);
        s->j1[i] = p;
        g1_jac_to_affine(&s->p1[i], &p);
        g2_jac_to_affine(&s->p2[i], &q);
        g1_xyzz_infinity(&s->g1[i]);
        g2_xyzz_infinity(&s->g2[i]);
        g1_xyzz_add_affine(&s->g1[i], &s->p1[i]);
        g2_xyzz_add_affine(&s->g2[i], &s->p2[i]);
    }
    for (size_t i = 0; i < VEC; i++) {
        s->va[i] = s->a[i % LANES], s->vb[i] = s->b;
        s->vpa[i] = s->pa[i % LANES], s->vpb[i] = s->pb;
    }
}

typedef struct field_row {
    const char *name;
    size_t n, iterations;
    bench_work work; // of one operation on one element
    void (*fn)(void *ctx, size_t iterations);
} field_row;

// Nothing here but the arrays uses vector instructions.
#define MULS(k) ((bench_work){.mul = (k)})
static const field_row SCALARS[] = {
    {"fr_mul", 1, 200000, MULS(36), run_fr_mul},
    {"fr_mul_chain", 1, 200000, MULS(36), run_fr_mul_chain},
    {"fr_sqr", 1, 200000, MULS(30), run_fr_sqr},
    {"fr_add", 1, 1000000, {.mul = 0}, run_fr_add},
    {"fr_sub", 1, 1000000, {.mul = 0}, run_fr_sub},
    {"fr_inv", 1, 5000, {.mul = 0}, run_fr_inv},
    {"fp_mul", 1, 200000, MULS(78), run_fp_mul},
    {"fp_mul_chain", 1, 200000, MULS(78), run_fp_mul_chain},
    {"fp_sqr", 1, 200000, MULS(63), run_fp_sqr},
    {"fp_add", 1, 1000000, {.mul = 0}, run_fp_add},
    {"fp_inv", 1, 3000, {.mul = 0}, run_fp_inv},
    {"fp2_mul", 1, 50000, MULS(192), run_fp2_mul},
    {"fp2_sqr", 1, 50000, MULS(156), run_fp2_sqr},
    {"g1_xyzz_add_affine", 1, 20000, {.mul = 0}, run_g1_add},
    {"g1_jac_add_affine", 1, 20000, {.mul = 0}, run_g1_jac_add},
    {"g1_jac_dbl", 1, 20000, {.mul = 0}, run_g1_dbl},
    {"g1_jac_mul", 1, 50, {.mul = 0}, run_g1_mul},
    {"g1_subgroup", 1, 100, {.mul = 0}, run_g1_subgroup},
    {"g2_xyzz_add_affine", 1, 10000, {.mul = 0}, run_g2_add},
    {"pairing", 1, 8, {.mul = 0}, run_pairing},
    {"pairing_product", 4, 4, {.mul = 0}, run_pairing_product_4},
};
static const field_row ARRAYS[] = {
    {"fr_vec_mul", VEC, 200, {.ifma = 100.0 / 8, .mul = 36}, run_fr_vec_mul},
    {"fp_vec_mul", VEC, 200, {.ifma = 256.0 / 8, .mul = 78}, run_fp_vec_mul},
};
static const field_row SUMS[] = {{"fr_vec_add", VEC, 1000, {.mul = 0}, run_fr_vec_add}};

static void bench_rows(const field_row *rows, size_t n, bench_state *s) {
    for (size_t i = 0; i < n; i++) {
        const bench_row row = {
            .name = rows[i].name, .n = rows[i].n, .threads = 1, .work = work_times(rows[i].work, (double)rows[i].n)};
        const bench_effort effort = {.runs = 9, .iterations = rows[i].iterations};
        bench_run(&row, &effort, rows[i].fn, s);
    }
}

int main(void) {
    static bench_state s;
    fill(&s);
    bench_rows(SCALARS, sizeof SCALARS / sizeof *SCALARS, &s);
    for (int level = (int)cpu_current(); level >= CPU_PORTABLE; level--) {
        cpu_set_mask((cpu_level)level);
        s.lanes = lanes_of((cpu_level)level);
        if (s.lanes != NULL || level == CPU_PORTABLE) bench_rows(ARRAYS, sizeof ARRAYS / sizeof *ARRAYS, &s);
    }
    bench_rows(SUMS, sizeof SUMS / sizeof *SUMS, &s);
    return 0;
}
