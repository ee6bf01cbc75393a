// SPDX-License-Identifier: MIT OR Apache-2.0
#include "field/fr.h"

#include "base/bytes.h"
#include "field/modinv.h"

const uint64_t FR_MODULUS[4] = {FR_Q0, FR_Q1, FR_Q2, FR_Q3};
const fr FR_ZERO = {{0, 0, 0, 0}};
// 2^256 mod r
const fr FR_ONE = {{UINT64_C(0x00000001fffffffe), UINT64_C(0x5884b7fa00034802), UINT64_C(0x998c4fefecbc4ff5),
                    UINT64_C(0x1824b159acc5056f)}};
const fr FR_GENERATOR = {{UINT64_C(0x0000000efffffff1), UINT64_C(0x17e363d300189c0f), UINT64_C(0xff9c57876f8457b0),
                          UINT64_C(0x351332208fc5a8c4)}};
const fr FR_ROOT_OF_UNITY = {{UINT64_C(0xb9b58d8c5f0e466a), UINT64_C(0x5b1b4c801819d7ec), UINT64_C(0x0af53ae352a31e64),
                              UINT64_C(0x5bf3adda19e9b27b)}};

// 2^512, 2^768 mod r: multiplying by them (and dividing by 2^256) enters Montgomery form once and twice.
static const fr R2 = {{UINT64_C(0xc999e990f3f29c6d), UINT64_C(0x2b6cedcb87925c23), UINT64_C(0x05d314967254398f),
                       UINT64_C(0x0748d9d99f59ff11)}};
static const fr R3 = {{UINT64_C(0xc62c1807439b73af), UINT64_C(0x1b3e0d188cf06990), UINT64_C(0x73d13c71c7b5f418),
                       UINT64_C(0x6e2a5bb9c8db33e9)}};

static const modinv_modulus MODINV_R = {
    5, 0x100000001, {0x3fffffff00000001, 0xef6900bfff96ffb, 0x339d80809a1d8055, 0x3b69d4ca675f520c, 0x73}};

void fr_inv(fr *out, const fr *a) {
    fr t;
    modinv(t.l, a->l, 4, &MODINV_R); // 1/(a R) as an integer; times R^3/R it is R/a
    fr_mul(out, &R3, &t);
}

void fr_inv_batch(fr *a, fr *scratch, size_t n) {
    fr product = FR_ONE, inverse, t;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = product;
        if (!fr_is_zero(&a[i])) fr_mul(&product, &product, &a[i]);
    }
    fr_inv(&inverse, &product);
    for (size_t i = n; i-- > 0;) {
        if (fr_is_zero(&a[i])) continue;
        fr_mul(&t, &inverse, &scratch[i]);
        fr_mul(&inverse, &inverse, &a[i]);
        a[i] = t;
    }
}

void fr_pow(fr *out, const fr *a, const uint64_t *e, size_t n) {
    fr base = *a, acc = FR_ONE;
    while (n > 0 && e[n - 1] == 0) n--;
    for (size_t i = 64 * n; i-- > 0;) {
        fr_sqr(&acc, &acc);
        if (e[i / 64] >> i % 64 & 1) fr_mul(&acc, &acc, &base);
    }
    *out = acc;
}

void fr_pow_u64(fr *out, const fr *a, uint64_t e) { fr_pow(out, a, &e, 1); }

void fr_from_limbs(fr *out, const uint64_t limbs[4]) {
    fr t = {{limbs[0], limbs[1], limbs[2], limbs[3]}};
    fr_mul(out, &R2, &t);
}

void fr_to_limbs(uint64_t limbs[4], const fr *a) {
    static const fr one = {{1, 0, 0, 0}};
    fr t;
    fr_mul(&t, a, &one);
    for (size_t i = 0; i < 4; i++) limbs[i] = t.l[i];
}

void fr_from_u64(fr *out, uint64_t v) { fr_from_limbs(out, (uint64_t[4]){v, 0, 0, 0}); }

bool fr_from_le_bytes(fr *out, const uint8_t bytes[32]) {
    uint64_t limbs[4], borrow = 0;
    for (size_t i = 0; i < 4; i++) {
        limbs[i] = load_le64(bytes + 8 * i);
        (void)limb_sbb(limbs[i], FR_MODULUS[i], &borrow);
    }
    if (borrow == 0) {
        *out = FR_ZERO;
        return false;
    }
    fr_from_limbs(out, limbs);
    return true;
}

void fr_from_le_bytes_wide(fr *out, const uint8_t bytes[64]) {
    fr lo, hi;
    for (size_t i = 0; i < 4; i++) {
        lo.l[i] = load_le64(bytes + 8 * i);
        hi.l[i] = load_le64(bytes + 32 + 8 * i);
    }
    // lo and hi may be above r: they are second operands (see fr_mul).
    fr_mul(&lo, &R2, &lo);
    fr_mul(&hi, &R3, &hi);
    fr_add(out, &lo, &hi);
}

void fr_to_le_bytes(uint8_t bytes[32], const fr *a) {
    uint64_t limbs[4];
    fr_to_limbs(limbs, a);
    for (size_t i = 0; i < 4; i++) store_le64(bytes + 8 * i, limbs[i]);
}

void fr_root_of_unity(fr *out, unsigned log_n) {
    *out = FR_ROOT_OF_UNITY;
    for (unsigned i = log_n; i < FR_TWO_ADICITY; i++) fr_sqr(out, out);
}
