// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Multiplication in Fp with BMI2 and ADX: mulx writes two registers without touching flags, adcx and adox carry in two
// separate flags, so low and high halves of a row of products are added in two interleaved chains.
#ifndef CUZK_MSM_X86_FP_ADX_H
#define CUZK_MSM_X86_FP_ADX_H

#include "field/fp2.h"

// p, then -1/p mod 2^64. Memory operands relative to the instruction: they cost no register.
static const uint64_t FP_ADX_CONST[7] = {FP_Q0, FP_Q1, FP_Q2, FP_Q3, FP_Q4, FP_Q5, FP_NINV};

// One product: low half into the OF chain, high half into the CF chain.
#define MAC(m, t, u) "mulxq " m ", %[lo], %[hi]\n\tadoxq %[lo], " t "\n\tadcxq %[hi], " u "\n\t"

// t0..t6 += rdx * (m0, m1, ...). The last one takes both carries; it cannot overflow (bounds at fp_mul_adx).
#define ROW(m0, m1, m2, m3, m4, m5, t0, t1, t2, t3, t4, t5, t6)                                                        \
    "xorl %k[hi], %k[hi]\n\t" MAC(m0, t0, t1) MAC(m1, t1, t2) MAC(m2, t2, t3) MAC(m3, t3, t4) MAC(m4, t4, t5)          \
        MAC(m5, t5, t6) "movl $0, %k[lo]\n\tadoxq %[lo], " t6 "\n\t"

// t := (t + a * b[i] + k p) / 2^64 with k such that the division is exact: t0 becomes 0 and is the next step's t6.
#define STEP(i, t0, t1, t2, t3, t4, t5, t6)                                                                            \
    "movq 8*" #i "(%[b]), %%rdx\n\t" ROW(                                                                              \
        "0(%[a])", "8(%[a])", "16(%[a])", "24(%[a])", "32(%[a])", "40(%[a])", t0, t1, t2, t3, t4, t5,                  \
        t6) "movq " t0 ", %%rdx\n\timulq %[q6], %%rdx\n\t" ROW("%[q0]", "%[q1]", "%[q2]", "%[q3]", "%[q4]", "%[q5]",   \
                                                               t0, t1, t2, t3, t4, t5, t6)

// As fp_mul: t < 2p between steps, so t + a b[i] + k p < 2^64 * 2p fits in seven limbs, and one conditional subtraction
// at the end is enough. The clobber of memory is for the operands read through a and b.
static inline __attribute__((always_inline)) void fp_mul_adx(fp *out, const fp *a, const fp *b) {
    uint64_t t0 = 0, t1 = 0, t2 = 0, t3 = 0, t4 = 0, t5 = 0, t6 = 0, lo, hi;
    __asm__(
        STEP(0, "%[t0]", "%[t1]", "%[t2]", "%[t3]", "%[t4]", "%[t5]", "%[t6]")
            STEP(1, "%[t1]", "%[t2]", "%[t3]", "%[t4]", "%[t5]", "%[t6]", "%[t0]")
                STEP(2, "%[t2]", "%[t3]", "%[t4]", "%[t5]", "%[t6]", "%[t0]", "%[t1]")
                    STEP(3, "%[t3]", "%[t4]", "%[t5]", "%[t6]", "%[t0]", "%[t1]", "%[t2]")
                        STEP(4, "%[t4]", "%[t5]", "%[t6]", "%[t0]", "%[t1]", "%[t2]", "%[t3]")
                            STEP(5, "%[t5]", "%[t6]", "%[t0]", "%[t1]", "%[t2]", "%[t3]", "%[t4]")
        : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4), [t5] "+&r"(t5),
          [t6] "+&r"(t6), [lo] "=&r"(lo), [hi] "=&r"(hi)
        : [a] "r"(a->l), [b] "r"(b->l), [q0] "m"(FP_ADX_CONST[0]), [q1] "m"(FP_ADX_CONST[1]), [q2] "m"(FP_ADX_CONST[2]),
          [q3] "m"(FP_ADX_CONST[3]), [q4] "m"(FP_ADX_CONST[4]), [q5] "m"(FP_ADX_CONST[5]), [q6] "m"(FP_ADX_CONST[6])
        : "rdx", "cc", "memory");
    fp_reduce_once(out, t6, t0, t1, t2, t3, t4);
}

#undef STEP
#undef ROW
#undef MAC

static inline void fp_sqr_adx(fp *out, const fp *a) { fp_mul_adx(out, a, a); }

// Karatsuba: (a0 + a1 u)(b0 + b1 u) = a0 b0 - a1 b1 + ((a0 + a1)(b0 + b1) - a0 b0 - a1 b1) u.
static inline void fp2_mul_adx(fp2 *out, const fp2 *a, const fp2 *b) {
    fp p, q, s, t;
    fp_add(&s, &a->c0, &a->c1);
    fp_add(&t, &b->c0, &b->c1);
    fp_mul_adx(&p, &a->c0, &b->c0);
    fp_mul_adx(&q, &a->c1, &b->c1);
    fp_mul_adx(&s, &s, &t);
    fp_sub(&out->c0, &p, &q);
    fp_sub(&s, &s, &p);
    fp_sub(&out->c1, &s, &q);
}

// (a0 + a1)(a0 - a1) + 2 a0 a1 u.
static inline void fp2_sqr_adx(fp2 *out, const fp2 *a) {
    fp s, d, t;
    fp_add(&s, &a->c0, &a->c1);
    fp_sub(&d, &a->c0, &a->c1);
    fp_mul_adx(&t, &a->c0, &a->c1);
    fp_mul_adx(&out->c0, &s, &d);
    fp_dbl(&out->c1, &t);
}

#endif
