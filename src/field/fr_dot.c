// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Products are summed column by column over all terms before anything is reduced: 16 multiplications a term and 20 for
// all of them, where fr_mul takes 28 for each.
#include "field/fr_dot.h"

#if defined(FIELD_HAVE_IFMA)
#include "field/x86/fr_dot_ifma.h"
#endif

// 2^512 mod r: FR_ONE times 2^256.
static const uint64_t R2[4] = {UINT64_C(0xc999e990f3f29c6d), UINT64_C(0x2b6cedcb87925c23), UINT64_C(0x05d314967254398f),
                               UINT64_C(0x0748d9d99f59ff11)};

void fr_dot_reduce(fr *out, uint64_t t[9]) {
    // What is above 2^512: then t < 2^512 + 2^62 r.
    uint64_t c = 0, carry = 0, top = 0, d[5], borrow = 0;
    for (int i = 0; i < 4; i++) t[i] = limb_mac(t[i], t[8], R2[i], &c);
    t[4] = limb_adc(t[4], c, &top);
    for (int i = 5; i < 8; i++) t[i] = limb_adc(t[i], 0, &top);
    // Multiples of r below 2^256 r in all make the lower half zero.
    for (int i = 0; i < 4; i++) {
        const uint64_t k = t[i] * FR_NINV;
        c = 0;
        (void)limb_mac(t[i], k, FR_Q0, &c);
        t[i + 1] = limb_mac(t[i + 1], k, FR_Q1, &c);
        t[i + 2] = limb_mac(t[i + 2], k, FR_Q2, &c);
        t[i + 3] = limb_mac(t[i + 3], k, FR_Q3, &c);
        t[i + 4] = limb_adc(t[i + 4], c, &carry);
    }
    t[8] = top + carry;
    // The upper half is below 2^256 + r + 1 < 4 r. 2 r is taken away if it can be, then r.
    const uint64_t twice[5] = {FR_Q0 << 1, FR_Q1 << 1 | FR_Q0 >> 63, FR_Q2 << 1 | FR_Q1 >> 63, FR_Q3 << 1 | FR_Q2 >> 63,
                               0};
    for (int i = 0; i < 5; i++) d[i] = limb_sbb(t[i + 4], twice[i], &borrow);
    for (int i = 0; i < 4; i++) d[i] = limb_select(borrow, t[i + 4], d[i]);
    fr_reduce_once(out, d[0], d[1], d[2], d[3]);
}

// The sum of all a[i] b[j] with i + j = k, over all terms, on top of *sum; its low limb is taken away and returned.
LIMB_INLINE uint64_t column(limb_column *sum, const fr *const *a, const fr *const *b, size_t n, int k) {
    const int low = k < 4 ? 0 : k - 3, high = k < 4 ? k : 3;
    limb_column s = {0, 0, 0};
    for (size_t t = 0; t < n; t++)
        for (int i = low; i <= high; i++) limb_column_mac(&s, a[t]->l[i], b[t]->l[k - i]);
    limb_column_add(sum, &s);
    return limb_column_next(sum);
}

void fr_dot_portable(fr *out, const fr *const *a, const fr *const *b, size_t n) {
    limb_column sum = {0, 0, 0};
    uint64_t t[9];
    t[0] = column(&sum, a, b, n, 0);
    t[1] = column(&sum, a, b, n, 1);
    t[2] = column(&sum, a, b, n, 2);
    t[3] = column(&sum, a, b, n, 3);
    t[4] = column(&sum, a, b, n, 4);
    t[5] = column(&sum, a, b, n, 5);
    t[6] = column(&sum, a, b, n, 6);
    t[7] = sum.l;
    t[8] = sum.m;
    fr_dot_reduce(out, t);
}

#if defined(FIELD_HAVE_IFMA)
// Sums of all pairs of values where carries and the last subtraction break: of 1, 2, ... of them, up to and past what
// fills the lanes.
static bool knows_sums(cpu_level level) {
    enum { VALUES = 6, PAIRS = VALUES * VALUES };
    (void)level; // there is one
    fr v[VALUES] = {FR_ZERO, FR_ONE, {{1}}, {{0, 1}}};
    fr_neg(&v[4], &v[2]); // r - 1
    v[5] = (fr){{UINT64_MAX, UINT64_MAX, UINT64_MAX, FR_Q3 - 1}};
    const fr *a[PAIRS], *b[PAIRS];
    for (size_t i = 0; i < PAIRS; i++) a[i] = &v[i / VALUES], b[i] = &v[VALUES - 1 - i % VALUES];
    for (size_t n = 1; n <= PAIRS; n++) {
        fr got, want;
        fr_dot_ifma(&got, a + PAIRS - n, b + PAIRS - n, n);
        fr_dot_portable(&want, a + PAIRS - n, b + PAIRS - n, n);
        if (!fr_eq(&got, &want)) return false;
    }
    return true;
}
#endif

cpu_level fr_dot_level(void) {
#if defined(FIELD_HAVE_IFMA)
    static cpu_verdict ifma;
    if (cpu_current() >= CPU_IFMA && cpu_kernels_work(&ifma, CPU_IFMA, knows_sums)) return CPU_IFMA;
#endif
    return CPU_PORTABLE;
}

void fr_dot(fr *out, const fr *const *a, const fr *const *b, size_t n) {
#if defined(FIELD_HAVE_IFMA)
    if (fr_dot_level() == CPU_IFMA) {
        fr_dot_ifma(out, a, b, n);
        return;
    }
#endif
    fr_dot_portable(out, a, b, n);
}
