// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Timing for the benches: a few runs, and one line of JSON per measurement with the median, the fastest and the
// slowest:
//
//   {"bench":"fp_mul","level":"ifma","n":1,"ns":41.2,"min_ns":41.0,"max_ns":44.9,"cpu_ns":41.1,"cycles":151.2,
//    "limit_ns":21.1,"share":0.513,"threads":1,"runs":9,"compiler":"gcc 12.2.0"}
//
// `ns` is the time of one operation on n elements, `level` the processor level kernels were chosen from. `cpu_ns` is
// the median of the processor time of all threads, which other users of the machine disturb less; `cycles` is the same
// in cycles of the clock rate that machine.h measures in the same run.
//
// Where the work of an operation is known, `limit_ns` is the processor time it would take on this machine if nothing
// else cost anything: its multiplications at the measured rate of the multiplier, or its bytes at the measured
// bandwidth of memory; `share` is limit_ns / cpu_ns. Rows with bytes have `gbps` too: bytes over cpu_ns / threads.
//
// Benches print rows to standard output and nothing else.
#ifndef CUZK_BENCH_H
#define CUZK_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "work.h"

enum { BENCH_MAX_RUNS = 64 };

typedef struct bench_row {
    const char *name;
    const char *peer; // another program's name, in place of the level; NULL: ours
    size_t n;
    unsigned threads;
    bench_work work; // of one operation; zeros: not known
    // Moved between processor and memory by one operation, and the bandwidth of memory for that kind of traffic with so
    // many threads; 0: not known.
    double bytes, bytes_per_ns;
} bench_row;

// How long to measure: up to `runs` runs of `iterations` operations each, none begun after budget_ns (0: no end).
typedef struct bench_effort {
    unsigned runs; // at most BENCH_MAX_RUNS
    size_t iterations;
    double budget_ns;
} bench_effort;

// Prints the row for `runs` times (nanoseconds an operation) and processor times, or NULL; sorts both.
void bench_report(const bench_row *row, double *times, double *cpu, unsigned runs);

// Times fn(ctx, iterations), which does the operation that often, and prints the row. The first run is to warm up and
// not counted, unless it alone takes a quarter of the budget. Gives the median in nanoseconds.
double bench_run(const bench_row *row, const bench_effort *effort, void (*fn)(void *ctx, size_t iterations), void *ctx);

// splitmix64: the same inputs in every run.
uint64_t bench_random(uint64_t *state);

// Processor time of all threads of this process.
double bench_cpu_ns(void);

// What sweeps take on their command lines, before or after their own arguments:
//   --budget MS   time for one row (2000)
//   --skip MS     no row that would take longer than this for one run, by the row before it (60000)
//   --best        the best processor level alone, not all
typedef struct bench_options {
    double budget_ns, skip_ns;
    bool best;
} bench_options;
// Takes them out of argv and gives the new argc. Leaves with 2 for an option that is none.
int bench_options_take(bench_options *o, int argc, char **argv);

#endif
