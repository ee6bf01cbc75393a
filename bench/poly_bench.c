// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Transforms and the quotient at every processor level this machine and CUZK_CPU allow, from the best one down.
// Arguments: smallest and largest log2 of the size (12 22), then thread counts (1 2; below the best level 1 alone), and
// the options of bench.h. "n" is the number of points; "ns" is the time of one whole transform, or of the six of the
// quotient.
#include "bench.h"

#include "base/mem.h"
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

static const struct {
    const char *name;
    double transforms;
    void (*fn)(void *ctx, size_t iterations);
} KERNELS[] = {
    {"ntt_forward", 1, run_forward}, {"ntt_coset_inverse", 1, run_coset_inverse}, {"ntt_quotient", 6, run_quotient}};
enum { N_KERNELS = sizeof KERNELS / sizeof *KERNELS };

// last[k]: time of kernel k at a quarter of this size, 0 at the first.
static int bench_size(unsigned log2, unsigned threads, double last[N_KERNELS], const bench_options *o) {
    const size_t n = (size_t)1 << log2;
    state s = {0};
    if (pool_create(&s.p, threads, 0) != CUZK_OK || ntt_domain_create(&s.d, n, s.p, 0) != CUZK_OK) return 1;
    fr *v[3];
    for (int k = 0; k < 3; k++) {
        v[k] = mem_alloc(MEM_MISC, n, sizeof *v[k]);
        if (v[k] == 0) return 1;
        fr x = FR_GENERATOR;
        for (size_t i = 0; i < n; i++) {
            v[k][i] = x;
            fr_mul(&x, &x, &FR_ROOT_OF_UNITY);
            fr_add(&x, &x, &FR_GENERATOR);
        }
    }
    s.a = v[0], s.b = v[1], s.c = v[2];
    const bench_effort effort = {.runs = 9, .iterations = log2 < 16 ? 16 : 1, .budget_ns = o->budget_ns};
    for (int k = 0; k < N_KERNELS; k++) {
        if (4 * last[k] > o->skip_ns) continue;
        const bench_row row = {.name = KERNELS[k].name,
                               .n = n,
                               .threads = threads,
                               .work = work_times(work_transform(n), KERNELS[k].transforms)};
        last[k] = bench_run(&row, &effort, KERNELS[k].fn, &s);
    }
    for (int k = 0; k < 3; k++) mem_free(v[k]);
    ntt_domain_destroy(&s.d);
    pool_destroy(&s.p);
    return 0;
}

int main(int argc, char **argv) {
    bench_options o;
    argc = bench_options_take(&o, argc, argv);
    const unsigned from = argc > 1 ? (unsigned)atoi(argv[1]) : 12, to = argc > 2 ? (unsigned)atoi(argv[2]) : 22;
    const cpu_level best = ntt_level();
    for (int level = (int)best; level >= (o.best ? (int)best : CPU_PORTABLE); level--) {
        cpu_set_mask((cpu_level)level);
        for (int i = 3; i < (argc > 3 ? argc : 5); i++) {
            const unsigned threads = argc > 3 ? (unsigned)atoi(argv[i]) : (unsigned)i - 2;
            if (threads != 1 && level != (int)best) continue;
            double last[N_KERNELS] = {0};
            for (unsigned log2 = from; log2 <= to; log2 += 2)
                if (bench_size(log2, threads, last, &o) != 0) return 1;
        }
    }
    return 0;
}
