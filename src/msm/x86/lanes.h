// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The vectors that add_batch_lanes_tmpl.c and coord.h are compiled for: MSM_LANES 8 is field/x86/fp8.h (AVX-512 with
// IFMA), 4 is field/x86/fp4.h (AVX2 with FMA). And what choosing operands takes in either.
#ifndef CUZK_MSM_X86_LANES_H
#define CUZK_MSM_X86_LANES_H

#include "msm/types.h"

#if MSM_LANES == 8

#include "field/x86/fp8_mul.h"
#define V(name) fp8_##name // functions and types
#define FPV fp8            // a vector of elements
#define FPV_ONE FP8_ONE
#define FPV_MODULUS FP8_MODULUS
#define KERNEL(name) MSM(name##_ifma)
enum { LANES = FP8_LANES, RADIX_BITS = FP8_LIMBS * FP8_LIMB_BITS };

// Sets how the processor rounds while a kernel runs, and sets it back.
static inline unsigned lanes_enter(void) { return 0; }
static inline void lanes_leave(unsigned was) { (void)was; }

// to[i] := base + size * index[i] for 32-bit indices in words of 64 bits, the upper halves ignored.
static inline void lanes_address(const void *to[LANES], const void *base, size_t size, __m512i index) {
    const __m512i offset = _mm512_mul_epu32(index, _mm512_set1_epi64((int64_t)size));
    _mm512_store_si512(to, _mm512_add_epi64(offset, _mm512_set1_epi64((int64_t)(uintptr_t)base)));
}
// to[i] := base + size * a[i].
static inline void lanes_plain(const void *to[LANES], const void *base, size_t size, const uint32_t *a) {
    lanes_address(to, base, size, _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)a)));
}
// to[i] := base + size * (b[i] >> 1), bit i of *negate := the lowest of b[i].
static inline void lanes_signed(const void *to[LANES], V(mask) * negate, const void *base, size_t size,
                                const uint32_t *b) {
    const __m512i v = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)b));
    *negate = _mm512_test_epi64_mask(v, _mm512_set1_epi64(1));
    lanes_address(to, base, size, _mm512_srli_epi64(v, 1));
}
// The same for p from b[2 i] and q from b[2 i + 1].
static inline void lanes_pairs(const void *p[LANES], const void *q[LANES], V(mask) * negate_p, V(mask) * negate_q,
                               const void *base, size_t size, const uint32_t *b) {
    const __m512i one = _mm512_set1_epi64(1), v = _mm512_loadu_si512(b), high = _mm512_srli_epi64(v, 32);
    *negate_p = _mm512_test_epi64_mask(v, one), *negate_q = _mm512_test_epi64_mask(high, one);
    lanes_address(p, base, size, _mm512_srli_epi32(v, 1));
    lanes_address(q, base, size, _mm512_srli_epi64(high, 1));
}
// to[i] := other in lanes that are not among those of the mask.
static inline void lanes_divert(void *to[LANES], V(mask) lanes, const void *other) {
    const __m512i v = _mm512_load_si512(to), away = _mm512_set1_epi64((int64_t)(uintptr_t)other);
    _mm512_store_si512(to, _mm512_mask_mov_epi64(away, lanes, v));
}

#elif MSM_LANES == 4

#include "field/x86/fp4.h"
#define V(name) fp4_##name
#define FPV fp4
#define FPV_ONE FP4_ONE
#define FPV_MODULUS FP4_MODULUS
#define KERNEL(name) MSM(name##_avx2)
enum { LANES = FP4_LANES, RADIX_BITS = FP4_LIMBS * FP4_LIMB_BITS };

// Rounding to nearest, without exceptions, whatever our caller has set.
static inline unsigned lanes_enter(void) {
    const unsigned was = _mm_getcsr();
    _mm_setcsr(_MM_MASK_MASK | _MM_ROUND_NEAREST);
    return was;
}
static inline void lanes_leave(unsigned was) { _mm_setcsr(was); }

static inline void lanes_plain(const void *to[LANES], const void *base, size_t size, const uint32_t *a) {
    for (int i = 0; i < LANES; i++) to[i] = (const char *)base + size * a[i];
}
static inline void lanes_signed(const void *to[LANES], V(mask) * negate, const void *base, size_t size,
                                const uint32_t *b) {
    *negate = 0;
    for (int i = 0; i < LANES; i++) {
        to[i] = (const char *)base + size * (b[i] >> 1);
        *negate |= (b[i] & 1) << i;
    }
}
static inline void lanes_pairs(const void *p[LANES], const void *q[LANES], V(mask) * negate_p, V(mask) * negate_q,
                               const void *base, size_t size, const uint32_t *b) {
    *negate_p = *negate_q = 0;
    for (int i = 0; i < LANES; i++) {
        p[i] = (const char *)base + size * (b[2 * i] >> 1), q[i] = (const char *)base + size * (b[2 * i + 1] >> 1);
        *negate_p |= (b[2 * i] & 1) << i, *negate_q |= (b[2 * i + 1] & 1) << i;
    }
}
static inline void lanes_divert(void *to[LANES], V(mask) lanes, const void *other) {
    for (int i = 0; i < LANES; i++) to[i] = (lanes >> i & 1) != 0 ? to[i] : (void *)(uintptr_t)other;
}

#else
#error "compile with MSM_LANES=8 or MSM_LANES=4"
#endif

_Static_assert(sizeof(void *) == sizeof(uint64_t), "addresses are computed in vectors of 64-bit words");

#endif
