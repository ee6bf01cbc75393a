// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What this processor offers, as realistic bundles. Kernel tables start portable and are overwritten level by level.
#ifndef CUZK_BASE_CPU_H
#define CUZK_BASE_CPU_H

#include <stdatomic.h>
#include <stdbool.h>

typedef enum cpu_level {
    CPU_PORTABLE = 0,
    CPU_AVX2 = 1, // AVX2, FMA, BMI2, ADX
    CPU_IFMA = 2, // all of the above and AVX-512 F, DQ, BW, VL, IFMA with operating system support
} cpu_level;

// The level kernels are chosen from: what the processor and the operating system offer, lowered by the environment
// variable CUZK_CPU=portable|avx2|ifma and by cpu_set_mask. Read once.
cpu_level cpu_current(void);
// Lowers (never raises) the level; for tests and benches, before any kernel table is used.
void cpu_set_mask(cpu_level highest);
// SHA extensions; false when the level is masked to portable.
bool cpu_has_sha(void);
const char *cpu_level_name(cpu_level level);

// Whether kernels of a level give known answers, as `test` finds it; asked once a process. *verdict is 0 at first. Two
// threads that test at the same time find the same, and nothing but the verdict passes between them.
typedef atomic_int cpu_verdict;
bool cpu_kernels_work(cpu_verdict *verdict, cpu_level level, bool (*test)(cpu_level level));

#endif
