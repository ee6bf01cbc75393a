// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Multiplication in Fp with BMI2 and ADX: mulx writes two registers without touching flags, adcx and adox carry in two
// separate flags, so low and high halves of a row of products are added in two interleaved chains.
#ifndef CUZK_MSM_X86_FP_ADX_H
#define CUZK_MSM_X86_FP_ADX_H

#include "field/fp2.h"

// p, then -1/p mod 2^64, then 0. Memory operands relative to the instruction: they cost no register.
static const uint64_t FP_ADX_CONST[8] = {FP_Q0, FP_Q1, FP_Q2, FP_Q3, FP_Q4, FP_Q5, FP_NINV, 0};

// One product: low half into the OF chain, high half into the CF chain.
#define MAC(m, t, u) "mulxq " m ", %[lo], %[hi]\n\tadoxq %[lo], " t "\n\tadcxq %[hi], " u "\n\t"

// t0..t6 += rdx * (m0, m1, ...), less the carry that is left in OF, which belongs to t6 (LAST).
#define ROW(m0, m1, m2, m3, m4, m5, t0, t1, t2, t3, t4, t5, t6)                                                        \
    "xorl %k[hi], %k[hi]\n\t" MAC(m0, t0, t1) MAC(m1, t1, t2) MAC(m2, t2, t3) MAC(m3, t3, t4) MAC(m4, t4, t5)          \
        MAC(m5, t5, t6)

// It cannot overflow (bounds at fp_mul_lazy_adx).
#define LAST(t) "adoxq %[zero], " t "\n\t"

// t := (t + a * b[i] + k p) / 2^64 with k such that the division is exact: t0 becomes 0 and is the next step's t6.
// k is found by mulx, not imul: it leaves the flags alone, so that the row's last carry can wait until k is on its way.
#define STEP(i, t0, t1, t2, t3, t4, t5, t6)                                                                            \
    "movq 8*" #i                                                                                                       \
    "(%[b]), %%rdx\n\t" ROW("0(%[a])", "8(%[a])", "16(%[a])", "24(%[a])", "32(%[a])", "40(%[a])", t0, t1, t2, t3, t4,  \
                            t5, t6) "movq " t0 ", %%rdx\n\tmulxq %[inverse], %%rdx, %[hi]\n\t" LAST(t6)                \
        ROW("%[q0]", "%[q1]", "%[q2]", "%[q3]", "%[q4]", "%[q5]", t0, t1, t2, t3, t4, t5, t6) LAST(t6)

// out := t mod p for t < 2p. The compiler's own selection costs three instructions a limb.
static inline __attribute__((always_inline)) void fp_reduce_once_adx(fp *out, uint64_t t0, uint64_t t1, uint64_t t2,
                                                                     uint64_t t3, uint64_t t4, uint64_t t5) {
    uint64_t d0 = t0, d1 = t1, d2 = t2, d3 = t3, d4 = t4, d5 = t5;
    __asm__("subq %[q0], %[d0]\n\t"
            "sbbq %[q1], %[d1]\n\t"
            "sbbq %[q2], %[d2]\n\t"
            "sbbq %[q3], %[d3]\n\t"
            "sbbq %[q4], %[d4]\n\t"
            "sbbq %[q5], %[d5]\n\t"
            "cmovcq %[t0], %[d0]\n\t"
            "cmovcq %[t1], %[d1]\n\t"
            "cmovcq %[t2], %[d2]\n\t"
            "cmovcq %[t3], %[d3]\n\t"
            "cmovcq %[t4], %[d4]\n\t"
            "cmovcq %[t5], %[d5]\n\t"
            : [d0] "+&r"(d0), [d1] "+&r"(d1), [d2] "+&r"(d2), [d3] "+&r"(d3), [d4] "+&r"(d4), [d5] "+&r"(d5)
            : [t0] "r"(t0), [t1] "r"(t1), [t2] "r"(t2), [t3] "r"(t3), [t4] "r"(t4), [t5] "r"(t5),
              [q0] "m"(FP_ADX_CONST[0]), [q1] "m"(FP_ADX_CONST[1]), [q2] "m"(FP_ADX_CONST[2]),
              [q3] "m"(FP_ADX_CONST[3]), [q4] "m"(FP_ADX_CONST[4]), [q5] "m"(FP_ADX_CONST[5])
            : "cc");
    *out = (fp){{d0, d1, d2, d3, d4, d5}};
}

// As fp_mul_lazy: t < 3p between steps, so t + a b[i] + k p < 2^64 * 3p fits in seven limbs. The clobber of memory is
// for the operands read through a and b.
static inline __attribute__((always_inline)) void fp_mul_lazy_adx(fp *out, const fp *a, const fp *b) {
    uint64_t t0 = 0, t1 = 0, t2 = 0, t3 = 0, t4 = 0, t5 = 0, t6 = 0, lo, hi;
    __asm__(STEP(0, "%[t0]", "%[t1]", "%[t2]", "%[t3]", "%[t4]", "%[t5]", "%[t6]")
                STEP(1, "%[t1]", "%[t2]", "%[t3]", "%[t4]", "%[t5]", "%[t6]", "%[t0]")
                    STEP(2, "%[t2]", "%[t3]", "%[t4]", "%[t5]", "%[t6]", "%[t0]", "%[t1]")
                        STEP(3, "%[t3]", "%[t4]", "%[t5]", "%[t6]", "%[t0]", "%[t1]", "%[t2]")
                            STEP(4, "%[t4]", "%[t5]", "%[t6]", "%[t0]", "%[t1]", "%[t2]", "%[t3]")
                                STEP(5, "%[t5]", "%[t6]", "%[t0]", "%[t1]", "%[t2]", "%[t3]", "%[t4]")
            : [t0] "+&r"(t0), [t1] "+&r"(t1), [t2] "+&r"(t2), [t3] "+&r"(t3), [t4] "+&r"(t4), [t5] "+&r"(t5),
              [t6] "+&r"(t6), [lo] "=&r"(lo), [hi] "=&r"(hi)
            : [a] "r"(a->l), [b] "r"(b->l), [q0] "m"(FP_ADX_CONST[0]), [q1] "m"(FP_ADX_CONST[1]),
              [q2] "m"(FP_ADX_CONST[2]), [q3] "m"(FP_ADX_CONST[3]), [q4] "m"(FP_ADX_CONST[4]),
              [q5] "m"(FP_ADX_CONST[5]), [inverse] "m"(FP_ADX_CONST[6]), [zero] "m"(FP_ADX_CONST[7])
            : "rdx", "cc", "memory");
    *out = (fp){{t6, t0, t1, t2, t3, t4}};
}

static inline void fp_mul_adx(fp *out, const fp *a, const fp *b) {
    fp t;
    fp_mul_lazy_adx(&t, a, b);
    fp_reduce_once_adx(out, t.l[0], t.l[1], t.l[2], t.l[3], t.l[4], t.l[5]);
}

#undef STEP
#undef LAST
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
