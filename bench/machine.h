// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What this machine can do at most, measured in the process that measures the kernels: virtual machines share their
// processor and have no hardware counters, so a data sheet does not help.
#ifndef CUZK_BENCH_MACHINE_H
#define CUZK_BENCH_MACHINE_H

#include "base/pool.h"

typedef struct bench_machine {
    double ghz;         // clock rate: dependent additions a nanosecond
    double mul_per_ns;  // independent 64 by 64 bit multiplications, one core
    double fma_per_ns;  // multiply-adds of doubles on 256 bits, one core; 0: there are none
    double ifma_per_ns; // AVX-512 IFMA instructions on 512 bits, one core; 0: there are none
} bench_machine;

// Measured at the first call, in a fifth of a second, and printed then as a row of its own:
//   {"bench":"machine","ghz":3.69,"mul_per_ns":3.68,"fma_per_ns":7.36,"ifma_per_ns":3.68}
const bench_machine *bench_machine_get(void);

// Bytes a nanosecond between processor and memory with all threads of the pool at work, by the processor time they
// took; the median of a few runs on arrays that fit no cache. Bytes are what the program names: a processor that reads
// a line before it overwrites it moves more. Rows "memory_fill", "memory_copy" and "memory_triad" are printed. Zeros if
// there is no memory for the arrays.
typedef struct bench_bandwidth {
    double fill;  // write
    double copy;  // read, write
    double triad; // a = b + s c: read twice, write
} bench_bandwidth;
bench_bandwidth bench_bandwidth_measure(pool *p);

// For machine.c: `iterations` times BENCH_VECTOR_BLOCK independent instructions; the result keeps them alive.
enum { BENCH_VECTOR_BLOCK = 12 };
unsigned long long bench_fma_loop(unsigned long long iterations);
unsigned long long bench_ifma_loop(unsigned long long iterations);

#endif
