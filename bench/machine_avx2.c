// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Compiled for CPU_AVX2; runs after a check of the processor only.
#include <immintrin.h>

#include "machine.h"

unsigned long long bench_fma_loop(unsigned long long iterations) {
    __m256d acc[BENCH_VECTOR_BLOCK];
    const __m256d a = _mm256_set1_pd(0.75), b = _mm256_set1_pd(1.25);
    for (int k = 0; k < BENCH_VECTOR_BLOCK; k++) acc[k] = _mm256_set1_pd(k);
    for (unsigned long long i = 0; i < iterations; i++)
        for (int k = 0; k < BENCH_VECTOR_BLOCK; k++) acc[k] = _mm256_fmadd_pd(acc[k], a, b);
    __m256d sum = acc[0];
    for (int k = 1; k < BENCH_VECTOR_BLOCK; k++) sum = _mm256_add_pd(sum, acc[k]);
    return (unsigned long long)_mm256_movemask_pd(sum);
}
