// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Timing for the benches: a few runs, and one line of JSON per measurement with the median, the fastest and the
// slowest:
//
//   {"bench":"fp_mul","level":"ifma","n":1,"ns":41.2,"min_ns":41.0,"max_ns":44.9,"threads":1,"runs":9,
//    "compiler":"gcc 12.2.0"}
//
// `ns` is the time of one operation on n elements, `level` the processor level kernels were chosen from. Where it
// can be told, `cpu_ns` is the median of the processor time of all threads, which other users of the machine disturb
// less. Benches print such rows to standard output and nothing else.
#ifndef CUZK_BENCH_H
#define CUZK_BENCH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/cpu.h"

#if defined(__clang__)
#define BENCH_COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define BENCH_COMPILER "gcc " __VERSION__
#else
#define BENCH_COMPILER "unknown"
#endif

enum { BENCH_MAX_RUNS = 64 };

static inline int bench_compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Prints the row for `runs` times (nanoseconds an operation); sorts them. cpu may be NULL.
static inline void bench_report_cpu(const char *name, size_t n, unsigned threads, double *times, double *cpu,
                                    unsigned runs) {
    qsort(times, runs, sizeof *times, bench_compare);
    printf("{\"bench\":\"%s\",\"level\":\"%s\",\"n\":%zu,\"ns\":%.2f,\"min_ns\":%.2f,\"max_ns\":%.2f,", name,
           cpu_level_name(cpu_current()), n, times[runs / 2], times[0], times[runs - 1]);
    if (cpu != 0) {
        qsort(cpu, runs, sizeof *cpu, bench_compare);
        printf("\"cpu_ns\":%.2f,", cpu[runs / 2]);
    }
    printf("\"threads\":%u,\"runs\":%u,\"compiler\":\"%s\"}\n", threads, runs, BENCH_COMPILER);
    fflush(stdout);
}
static inline void bench_report(const char *name, size_t n, unsigned threads, double *times, unsigned runs) {
    bench_report_cpu(name, n, threads, times, 0, runs);
}

static inline double bench_cpu_ns(void) {
    struct timespec t;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t) == 0 ? (double)t.tv_sec * 1e9 + (double)t.tv_nsec : 0;
}

// Times fn(ctx, iterations), which does the operation that often, `runs` times (at most BENCH_MAX_RUNS) after one
// warm-up run, and prints the row.
static inline void bench_run(const char *name, size_t n, unsigned threads, unsigned runs, size_t iterations,
                             void (*fn)(void *ctx, size_t iterations), void *ctx) {
    double times[BENCH_MAX_RUNS], cpu[BENCH_MAX_RUNS];
    if (runs > BENCH_MAX_RUNS) runs = BENCH_MAX_RUNS;
    fn(ctx, iterations);
    for (unsigned i = 0; i < runs; i++) {
        const uint64_t start = clock_now_ns();
        const double used = bench_cpu_ns();
        fn(ctx, iterations);
        cpu[i] = (bench_cpu_ns() - used) / (double)iterations;
        times[i] = (double)(clock_now_ns() - start) / (double)iterations;
    }
    bench_report_cpu(name, n, threads, times, cpu, runs);
}

#endif
