// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Transforms and the quotient. Arguments: smallest and largest log2 of the size (18 22), then thread counts (1 2).
// "n" is the number of points; "ns" is the time of one whole transform.
#include "bench.h"

#include "poly/domain.h"

typedef struct state {
    ntt_domain *d;
    fr *a, *b, *c;
    pool *p;
} state;

static void run_forward(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) ntt_forward(s->d, s->a, s->p);
}
static void run_coset_inverse(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) ntt_coset_inverse(s->d, s->a, s->p);
}
static void run_quotient(void *ctx, size_t iterations) {
    state *s = ctx;
    for (size_t i = 0; i < iterations; i++) ntt_quotient(s->d, s->a, s->b, s->c, s->p);
}

static int bench_size(unsigned log2, unsigned threads) {
    const size_t n = (size_t)1 << log2;
    state s = {0};
    if (pool_create(&s.p, threads, 0) != CUZK_OK || ntt_domain_create(&s.d, n, s.p, 0) != CUZK_OK) return 1;
    fr *v[3];
    for (int k = 0; k < 3; k++) {
        v[k] = malloc(n * sizeof *v[k]);
        if (v[k] == 0) return 1;
        fr x = FR_GENERATOR;
        for (size_t i = 0; i < n; i++) {
            v[k][i] = x;
            fr_mul(&x, &x, &FR_ROOT_OF_UNITY);
            fr_add(&x, &x, &FR_GENERATOR);
        }
    }
    s.a = v[0], s.b = v[1], s.c = v[2];
    const unsigned runs = log2 >= 20 ? 3 : 7;
    bench_run("ntt_forward", n, threads, runs, 1, run_forward, &s);
    bench_run("ntt_coset_inverse", n, threads, runs, 1, run_coset_inverse, &s);
    bench_run("ntt_quotient", n, threads, runs, 1, run_quotient, &s);
    for (int k = 0; k < 3; k++) free(v[k]);
    ntt_domain_destroy(&s.d);
    pool_destroy(&s.p);
    return 0;
}

int main(int argc, char **argv) {
    const unsigned from = argc > 1 ? (unsigned)atoi(argv[1]) : 18, to = argc > 2 ? (unsigned)atoi(argv[2]) : 22;
    for (unsigned log2 = from; log2 <= to; log2 += 2)
        for (int i = 3; i < (argc > 3 ? argc : 5); i++)
            if (bench_size(log2, argc > 3 ? (unsigned)atoi(argv[i]) : (unsigned)i - 2) != 0) return 1;
    return 0;
}
