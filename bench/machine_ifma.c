// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Compiled for CPU_IFMA; runs after a check of the processor only.
#include <immintrin.h>

#include "machine.h"

unsigned long long bench_ifma_loop(unsigned long long iterations) {
    __m512i acc[BENCH_VECTOR_BLOCK];
    const __m512i a = _mm512_set1_epi64(0x0fedcba987654), b = _mm512_set1_epi64(0x0123456789abc);
    for (int k = 0; k < BENCH_VECTOR_BLOCK; k++) acc[k] = _mm512_set1_epi64(k);
    for (unsigned long long i = 0; i < iterations; i++)
        for (int k = 0; k < BENCH_VECTOR_BLOCK; k++) acc[k] = _mm512_madd52lo_epu64(acc[k], a, b);
    __m512i sum = acc[0];
    for (int k = 1; k < BENCH_VECTOR_BLOCK; k++) sum = _mm512_add_epi64(sum, acc[k]);
    return (unsigned long long)_mm512_reduce_add_epi64(sum);
}
