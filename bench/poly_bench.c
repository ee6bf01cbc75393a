// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Transforms and the quotient at every CPU level this processor has, the highest first. Arguments: smallest and largest
// log2 of the size (12 22), then thread counts (1 2). "n" is the number of points; "ns" is the time of one whole
// transform; names end in the level.
#include "bench.h"

#include <time.h>

#include "base/cpu.h"
#include "poly/domain.h"

static uint64_t cpu_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

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

// A second row, NAME_cpu, has the processor time of all threads: it means something on a busy machine too.
static void bench_one(const char *name, size_t n, unsigned threads, unsigned runs, void (*fn)(void *, size_t),
                      state *s) {
    const size_t iterations = n < (size_t)1 << 16 ? 16 : 1;
    double wall[BENCH_MAX_RUNS], cpu[BENCH_MAX_RUNS];
    fn(s, 1);
    for (unsigned i = 0; i < runs; i++) {
        const uint64_t start = clock_now_ns(), cpu_start = cpu_now_ns();
        fn(s, iterations);
        wall[i] = (double)(clock_now_ns() - start) / (double)iterations;
        cpu[i] = (double)(cpu_now_ns() - cpu_start) / (double)iterations;
    }
    char full[64];
    snprintf(full, sizeof full, "%s_%s", name, cpu_level_name(ntt_level()));
    bench_report(full, n, threads, wall, runs);
    snprintf(full, sizeof full, "%s_%s_cpu", name, cpu_level_name(ntt_level()));
    bench_report(full, n, threads, cpu, runs);
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
    bench_one("ntt_forward", n, threads, runs, run_forward, &s);
    bench_one("ntt_coset_inverse", n, threads, runs, run_coset_inverse, &s);
    bench_one("ntt_quotient", n, threads, runs, run_quotient, &s);
    for (int k = 0; k < 3; k++) free(v[k]);
    ntt_domain_destroy(&s.d);
    pool_destroy(&s.p);
    return 0;
}

int main(int argc, char **argv) {
    const unsigned from = argc > 1 ? (unsigned)atoi(argv[1]) : 12, to = argc > 2 ? (unsigned)atoi(argv[2]) : 22;
    for (int level = (int)ntt_level(); level >= CPU_PORTABLE; level--) {
        cpu_set_mask((cpu_level)level);
        for (unsigned log2 = from; log2 <= to; log2 += 2)
            for (int i = 3; i < (argc > 3 ? argc : 5); i++)
                if (bench_size(log2, argc > 3 ? (unsigned)atoi(argv[i]) : (unsigned)i - 2) != 0) return 1;
    }
    return 0;
}
