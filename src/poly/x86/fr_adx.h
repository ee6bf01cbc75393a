// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Multiplication in Fr with BMI2 and ADX: mulx writes two registers without touching flags, adcx and adox carry in two
// separate flags, so low and high halves of a row of products are added in two interleaved chains.
#ifndef CUZK_POLY_X86_FR_ADX_H
#define CUZK_POLY_X86_FR_ADX_H

#include "field/fr.h"

// r, then -1/r mod 2^64, then 0. Memory operands relative to the instruction: they cost no register.
static const uint64_t FR_ADX_CONST[6] = {FR_Q0, FR_Q1, FR_Q2, FR_Q3, FR_NINV, 0};

// One product: low half into the OF chain, high half into the CF chain.
#define MAC(m, t, u) "mulxq " m ", %[lo], %[hi]\n\tadoxq %[lo], " t "\n\tadcxq %[hi], " u "\n\t"

// t0..t4 += rdx * (m0, m1, ...), less the carry that is left in OF, which belongs to t4 (LAST).
#define ROW(m0, m1, m2, m3, t0, t1, t2, t3, t4)                                                                        \
    "xorl %k[hi], %k[hi]\n\t" MAC(m0, t0, t1) MAC(m1, t1, t2) MAC(m2, t2, t3) MAC(m3, t3, t4)

// It cannot overflow (bounds at fr_mul_adx).
#define LAST(t) "adoxq %[zero], " t "\n\t"

// t := (t + a * b[i] + k r) / 2^64 with k such that the division is exact: t0 becomes 0 and is the next step's t4.
// k is found by mulx, not imul: it leaves the flags alone, so that the row's last carry can wait until k is on its way.
#define STEP(i, t0, t1, t2, t3, t4)                                                                                    \
    "movq 8*" #i "(%[b]), %%rdx\n\t" ROW("0(%[a])", "8(%[a])", "16(%[a])", "24(%[a])", t0, t1, t2, t3,                 \
                                         t4) "movq " t0 ", %%rdx\n\tmulxq %[inverse], %%rdx, %[hi]\n\t" LAST(t4)       \
        ROW("%[q0]", "%[q1]", "%[q2]", "%[q3]", t0, t1, t2, t3, t4) LAST(t4)

// out := t mod r for t < 2r. The compiler's own selection costs three instructions a limb.
static inline __attribute__((always_inline)) void fr_reduce_once_adx(fr *out, uint64_t t0, uint64_t t1, uint64_t t2,
                                                                     uint64_t t3) {
    uint64_t d0 = t0, d1 = t1, d2 = t2, d3 = t3;
    __asm__("subq %[q0], %[d0]\n\t"
            "sbbq %[q1], %[d1]\n\t"
            "sbbq %[q2], %[d2]\n\t"
            "sbbq %[q3], %[d3]\n\t"
            "cmovcq %[t0], %[d0]\n\t"
            "cmovcq %[t1], %[d1]\n\t"
            "cmovcq %[t2], %[d2]\n\t"
            "cmovcq %[t3], %[d3]\n\t"
            : [d0] "+&r"(d0), [d1] "+&r"(d1), [d2] "+&r"(d2), [d3] "+&r"(d3)
            : [t0] "r"(t0), [t1] "r"(t1), [t2] "r"(t2), [t3] "r"(t3), [q0] "m"(FR_ADX_CONST[0]),
              [q1] "m"(FR_ADX_CONST[1]), [q2] "m"(FR_ADX_CONST[2]), [q3] "m"(FR_ADX_CONST[3])
            : "cc");
    *out = (fr){{d0, d1, d2, d3}};
}

// As fr_mul: t < 2r between steps, so t + a b[i] + k r < 2^64 * 2r fits in five limbs, and one conditional subtraction
// at the end is enough. The clobber of memory is for the operands read through a and b.
static inline __attribute__((always_inline)) void fr_mul_adx(fr *out, const fr *a, const fr *b) {
    uint64_t t0 = 0, t1 = 0, t2 = 0, t3 = 0, t4 = 0, lo, hi;
    __asm__(
        STEP(0, "%[t0]", "%[t1]", "%[t2]", "%[t3]", "%[t4]") STEP(1, "%[t1]", "%[t2]", "%[t3]", "%[t4]", "%[t0]")
            STEP(2, "%[t2]", "%[t3]", "%[t4]", "%[t0]", "%[t1]") STEP(3, "%[t3]", "%[t4]", "%[t0]", "%[t1]", "%[t2]")
        : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4), [lo] "=&r"(lo), [hi] "=&r"(hi)
        : [a] "r"(a->l), [b] "r"(b->l), [q0] "m"(FR_ADX_CONST[0]), [q1] "m"(FR_ADX_CONST[1]), [q2] "m"(FR_ADX_CONST[2]),
          [q3] "m"(FR_ADX_CONST[3]), [inverse] "m"(FR_ADX_CONST[4]), [zero] "m"(FR_ADX_CONST[5])
        : "rdx", "cc", "memory");
    fr_reduce_once_adx(out, t4, t0, t1, t2);
}

#undef STEP
#undef LAST
#undef ROW
#undef MAC

#endif
