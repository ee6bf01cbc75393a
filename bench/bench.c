// SPDX-License-Identifier: MIT OR Apache-2.0
#include "bench.h"

#include <string.h>

#include "machine.h"

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Processor time of all threads at the machine's limit; 0: not known. Of two limits the higher one holds.
static double limit_ns(const bench_machine *m, const bench_row *row) {
    double limit = 0;
    if (cpu_current() == CPU_IFMA && row->work.ifma > 0 && m->ifma_per_ns > 0)
        limit = row->work.ifma / m->ifma_per_ns;
    else if (cpu_current() >= CPU_AVX2 && row->work.fma > 0 && m->fma_per_ns > 0)
        limit = row->work.fma / m->fma_per_ns;
    else if (row->work.mul > 0)
        limit = row->work.mul / m->mul_per_ns;
    if (row->bytes_per_ns > 0) {
        const double memory = row->threads * row->bytes / row->bytes_per_ns;
        if (memory > limit) limit = memory;
    }
    return limit;
}

void bench_report(const bench_row *row, double *times, double *cpu, unsigned runs) {
    const bench_machine *m = bench_machine_get(); // prints its own row the first time
    qsort(times, runs, sizeof *times, compare);
    printf("{\"bench\":\"%s\",\"%s\":\"%s\",\"n\":%zu,\"ns\":%.2f,\"min_ns\":%.2f,\"max_ns\":%.2f,", row->name,
           row->peer != NULL ? "peer" : "level", row->peer != NULL ? row->peer : cpu_level_name(cpu_current()), row->n,
           times[runs / 2], times[0], times[runs - 1]);
    double taken = times[runs / 2];
    if (cpu != NULL) {
        qsort(cpu, runs, sizeof *cpu, compare);
        const double used = cpu[runs / 2], limit = limit_ns(m, row);
        printf("\"cpu_ns\":%.2f,\"cycles\":%.1f,", used, used * m->ghz);
        taken = used / row->threads;
        if (limit > 0) printf("\"limit_ns\":%.2f,\"share\":%.3f,", limit, limit / used);
    }
    if (row->bytes > 0) printf("\"bytes\":%.0f,\"gbps\":%.2f,", row->bytes, row->bytes / taken);
    printf("\"threads\":%u,\"runs\":%u,\"compiler\":\"%s\"}\n", row->threads, runs, COMPILER);
    fflush(stdout);
}

uint64_t bench_random(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

double bench_cpu_ns(void) {
    struct timespec t;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0 ? (double)t.tv_sec * 1e9 + (double)t.tv_nsec : 0;
}

double bench_run(const bench_row *row, const bench_effort *effort, void (*fn)(void *ctx, size_t iterations),
                 void *ctx) {
    double times[BENCH_MAX_RUNS], cpu[BENCH_MAX_RUNS];
    const unsigned most = effort->runs > BENCH_MAX_RUNS ? BENCH_MAX_RUNS : effort->runs;
    const uint64_t begin = clock_now_ns();
    unsigned runs = 0;
    for (bool warm = false; runs < most; warm = true) {
        const uint64_t start = clock_now_ns();
        const double used = bench_cpu_ns(), budget = effort->budget_ns;
        fn(ctx, effort->iterations);
        const double cpu_taken = bench_cpu_ns() - used, taken = (double)(clock_now_ns() - start);
        if (warm || (budget > 0 && taken > budget / 4)) {
            cpu[runs] = cpu_taken / (double)effort->iterations;
            times[runs++] = taken / (double)effort->iterations;
        }
        if (runs > 0 && budget > 0 && (double)(clock_now_ns() - begin) > budget) break;
    }
    bench_report(row, times, cpu, runs);
    return times[runs / 2];
}

int bench_options_take(bench_options *o, int argc, char **argv) {
    *o = (bench_options){.budget_ns = 2e9, .skip_ns = 60e9};
    int kept = 1;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--best") == 0) {
            o->best = true;
        } else if (strcmp(argv[i], "--budget") == 0 && i + 1 < argc) {
            o->budget_ns = atof(argv[++i]) * 1e6;
        } else if (strcmp(argv[i], "--skip") == 0 && i + 1 < argc) {
            o->skip_ns = atof(argv[++i]) * 1e6;
        } else if (argv[i][0] == '-') {
            fprintf(stderr, "%s: no such option, or one without its value: %s\n", argv[0], argv[i]);
            exit(2);
        } else {
            argv[kept++] = argv[i];
        }
    }
    return kept;
}
