// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Multiplication in Fr with BMI2 and ADX: mulx writes two registers without touching flags, adcx and adox carry in two
// separate flags, so low and high halves of a row of products are added in two interleaved chains.
#ifndef CUZK_POLY_X86_FR_ADX_H
#define CUZK_POLY_X86_FR_ADX_H

#include "field/fr.h"

// r, then -1/r mod 2^64.
static const uint64_t FR_ADX_CONST[5] = {FR_Q0, FR_Q1, FR_Q2, FR_Q3, FR_NINV};

// t0..t4 += rdx * m[0..3]: low halves by the OF chain, high halves by the CF chain. t4 takes both carries; it cannot
// overflow (bounds at fr_mul_adx).
#define ROW(m, t0, t1, t2, t3, t4)                                                                                     \
    "xorl %k[hi], %k[hi]\n\t"                                                                                          \
    "mulxq 0(" m "), %[lo], %[hi]\n\tadoxq %[lo], " t0 "\n\tadcxq %[hi], " t1 "\n\t"                                   \
    "mulxq 8(" m "), %[lo], %[hi]\n\tadoxq %[lo], " t1 "\n\tadcxq %[hi], " t2 "\n\t"                                   \
    "mulxq 16(" m "), %[lo], %[hi]\n\tadoxq %[lo], " t2 "\n\tadcxq %[hi], " t3 "\n\t"                                  \
    "mulxq 24(" m "), %[lo], %[hi]\n\tadoxq %[lo], " t3 "\n\tadcxq %[hi], " t4 "\n\t"                                  \
    "movl $0, %k[lo]\n\tadoxq %[lo], " t4 "\n\t"

// t := (t + a * b[i] + k r) / 2^64 with k such that the division is exact: t0 becomes 0 and is the next step's t4.
#define STEP(i, t0, t1, t2, t3, t4)                                                                                    \
    "movq 8*" #i "(%[b]), %%rdx\n\t" ROW(                                                                              \
        "%[a]", t0, t1, t2, t3, t4) "movq " t0 ", %%rdx\n\timulq 32(%[q]), %%rdx\n\t" ROW("%[q]", t0, t1, t2, t3, t4)

// As fr_mul: t < 2r between steps, so t + a b[i] + k r < 2^64 * 2r fits in five limbs, and one conditional subtraction
// at the end is enough.
static inline __attribute__((always_inline)) void fr_mul_adx(fr *out, const fr *a, const fr *b) {
    uint64_t t0 = 0, t1 = 0, t2 = 0, t3 = 0, t4 = 0, lo, hi;
    __asm__(
        STEP(0, "%[t0]", "%[t1]", "%[t2]", "%[t3]", "%[t4]") STEP(1, "%[t1]", "%[t2]", "%[t3]", "%[t4]", "%[t0]")
            STEP(2, "%[t2]", "%[t3]", "%[t4]", "%[t0]", "%[t1]") STEP(3, "%[t3]", "%[t4]", "%[t0]", "%[t1]", "%[t2]")
        : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4), [lo] "=&r"(lo), [hi] "=&r"(hi)
        : [a] "r"(a->l), [b] "r"(b->l), [q] "r"(FR_ADX_CONST), "m"(*a), "m"(*b), "m"(FR_ADX_CONST)
        : "rdx", "cc");
    fr_reduce_once(out, t4, t0, t1, t2);
}

#undef STEP
#undef ROW

#endif
