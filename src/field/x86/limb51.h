// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Products of 51-bit limbs for AVX2 with FMA, four lanes at a time, in double precision: AVX2 multiplies integers of 32
// bits only, but its multiply-adds of doubles are exact where they have to be (after Emmart, Zheng, Weems, "Faster
// modular exponentiation using double precision floating point arithmetic on the GPU", 2018). With C = 2^103, whose
// last fraction bit counts 2^51, and a b < 2^103:
//
//     h = a b + C            one rounding: h = C + 2^51 hi, with hi = a b / 2^51 rounded to nearest
//     s = (C + 3 2^51) - h   exact: 3 2^51 - 2^51 hi
//     l = a b + s            exact: 3 2^51 + lo, with lo = a b - 2^51 hi in [-2^50, 2^50]
//
// So the bits of h are those of C and hi on top, the bits of l those of 3 2^51 and lo. Columns of a product add them as
// integers, and what they get too much is a multiple of two constants that is known beforehand and taken off when a
// column begins. With a factor that may be negative, below 2^50 in magnitude, C is 3 2^102.
//
// The processor must round to nearest.
#ifndef CUZK_FIELD_X86_LIMB51_H
#define CUZK_FIELD_X86_LIMB51_H

#include <immintrin.h>
#include <stdint.h>

#include "field/x86/beside.h"

enum { LIMB51_BITS = 51 };
#define LIMB51_MASK ((INT64_C(1) << LIMB51_BITS) - 1)

// What is added to make |v| < 2^62 positive, so that it can be shifted (AVX2 has no shift with sign), and what v / 2^51
// comes out too large by.
#define LIMB51_LIFT (INT64_C(1) << 62)
#define LIMB51_LIFT_OUT (INT64_C(1) << (62 - LIMB51_BITS))

// C for factors of [0, 2^51) and [0, 2^52), and for signed ones. What the bits of h and l are too large by.
#define LIMB51_C 0x1p103
#define LIMB51_C_SIGNED 0x1.8p103
#define LIMB51_C_LOW 0x1.8p52 // 3 2^51
#define LIMB51_H_BITS UINT64_C(0x4660000000000000)
#define LIMB51_H_BITS_SIGNED UINT64_C(0x4668000000000000)
#define LIMB51_L_BITS UINT64_C(0x4338000000000000)

// A limb in [0, 2^51) as a double, by its bits: put into the fraction of 2^52.
VEC_INLINE __m256i limb51_double(__m256i limb) {
    const __m256i bits = _mm256_or_si256(limb, _mm256_castpd_si256(_mm256_set1_pd(0x1p52)));
    return _mm256_castpd_si256(_mm256_sub_pd(_mm256_castsi256_pd(bits), _mm256_set1_pd(0x1p52)));
}

// *lo += the bits of l, *hi += the bits of h, for a b. As instructions: compilers keep what is loaded once in
// registers, and then have none left for the columns.
VEC_INLINE void limb51_mac(__m256i *lo, __m256i *hi, const void *a, __m256d b, __m256d c, __m256d c_low) {
    __m256d h, l;
    __asm__("vmovapd %[a], %[h]\n\t"
            "vfmadd213pd %[c], %[b], %[h]\n\t"
            "vsubpd %[h], %[c_low], %[l]\n\t"
            "vfmadd231pd %[a], %[b], %[l]\n\t"
            "vpaddq %[h], %[hi], %[hi]\n\t"
            "vpaddq %[l], %[lo], %[lo]"
            : [h] "=&x"(h), [l] "=&x"(l), [hi] "+x"(*hi), [lo] "+x"(*lo)
            : [a] "m"(*(const __m256d *)a), [b] "x"(b), [c] "x"(c), [c_low] "x"(c_low));
}
// Columns t[first .. limbs] += a[first .. limbs - 1] b, for factors that are not negative and for those that are.
VEC_INLINE void limb51_row(__m256i *t, const __m256i *a, int first, int limbs, __m256i b) {
    const __m256d c = _mm256_set1_pd(LIMB51_C), c_low = _mm256_set1_pd(LIMB51_C + LIMB51_C_LOW);
    VEC_UNROLL for (int j = first; j < limbs; j++)
        limb51_mac(&t[j], &t[j + 1], &a[j], _mm256_castsi256_pd(b), c, c_low);
}
VEC_INLINE void limb51_row_signed(__m256i *t, const double (*a)[4], int first, int limbs, __m256d b) {
    const __m256d c = _mm256_set1_pd(LIMB51_C_SIGNED), c_low = _mm256_set1_pd(LIMB51_C_SIGNED + LIMB51_C_LOW);
    VEC_UNROLL for (int j = first; j < limbs; j++) limb51_mac(&t[j], &t[j + 1], a[j], b, c, c_low);
}

// v mod 2^51 in [-2^50, 2^50), as doubles, and *quotient, v less that by 2^51. |v| < 2^61.
VEC_INLINE __m256d limb51_low(__m256i *quotient, __m256i v) {
    const __m256i u = _mm256_add_epi64(v, _mm256_set1_epi64x(LIMB51_LIFT + (INT64_C(1) << 50)));
    const __m256i bits = _mm256_or_si256(_mm256_and_si256(u, _mm256_set1_epi64x(LIMB51_MASK)),
                                         _mm256_castpd_si256(_mm256_set1_pd(0x1p52)));
    *quotient = _mm256_sub_epi64(_mm256_srli_epi64(u, LIMB51_BITS), _mm256_set1_epi64x(LIMB51_LIFT_OUT));
    return _mm256_sub_pd(_mm256_castsi256_pd(bits), _mm256_set1_pd(0x1p52 + 0x1p50));
}

#endif
