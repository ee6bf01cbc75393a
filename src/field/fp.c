// SPDX-License-Identifier: MIT OR Apache-2.0
#include "field/fp.h"

#include "base/bytes.h"
#include "field/modinv.h"

const uint64_t FP_MODULUS[6] = {FP_Q0, FP_Q1, FP_Q2, FP_Q3, FP_Q4, FP_Q5};
const fp FP_ZERO = {{0, 0, 0, 0, 0, 0}};
// 2^384 mod p
const fp FP_ONE = {{UINT64_C(0x760900000002fffd), UINT64_C(0xebf4000bc40c0002), UINT64_C(0x5f48985753c758ba),
                    UINT64_C(0x77ce585370525745), UINT64_C(0x5c071a97a256ec6d), UINT64_C(0x15f65ec3fa80e493)}};

// 2^768 and 2^1152 mod p, as in fr.c.
const fp FP_RADIX_SQUARED = {{UINT64_C(0xf4df1f341c341746), UINT64_C(0x0a76e6a609d104f1), UINT64_C(0x8de5476c4c95b6d5),
                              UINT64_C(0x67eb88a9939d83c0), UINT64_C(0x9a793e85b519952d),
                              UINT64_C(0x11988fe592cae3aa)}};
static const fp R3 = {{UINT64_C(0xed48ac6bd94ca1e0), UINT64_C(0x315f831e03a7adf8), UINT64_C(0x9a53352a615e29dd),
                       UINT64_C(0x34c04e5e921e1761), UINT64_C(0x2512d43565724728), UINT64_C(0x0aa6346091755d4d)}};

static const modinv_modulus MODINV_P = {7,
                                        0x360c000300030003,
                                        {0x39feffffffffaaab, 0x3aaffffac54ffffe, 0x330d2a0f6b0f6241, 0x1dd2e13ce144afd9,
                                         0x1ba7b6434bacd764, 0x447a8e5ff9a692c, 0x1a0}};

void fp_inv(fp *out, const fp *a) {
    fp t;
    modinv(t.l, a->l, 6, &MODINV_P); // 1/(a R) as an integer; times R^3/R it is R/a
    fp_mul(out, &R3, &t);
}

void fp_pow(fp *out, const fp *a, const uint64_t *e, size_t n) {
    fp base = *a, acc = FP_ONE;
    while (n > 0 && e[n - 1] == 0) n--;
    for (size_t i = 64 * n; i-- > 0;) {
        fp_sqr(&acc, &acc);
        if (e[i / 64] >> i % 64 & 1) fp_mul(&acc, &acc, &base);
    }
    *out = acc;
}

bool fp_sqrt(fp *out, const fp *a) {
    // p = 3 mod 4: a^((p+1)/4) is a root if there is one.
    static const uint64_t e[6] = {UINT64_C(0xee7fbfffffffeaab), UINT64_C(0x07aaffffac54ffff),
                                  UINT64_C(0xd9cc34a83dac3d89), UINT64_C(0xd91dd2e13ce144af),
                                  UINT64_C(0x92c6e9ed90d2eb35), UINT64_C(0x0680447a8e5ff9a6)};
    fp root, square;
    fp_pow(&root, a, e, 6);
    fp_sqr(&square, &root);
    if (!fp_eq(&square, a)) return false;
    *out = root;
    return true;
}

static void to_limbs(uint64_t limbs[6], const fp *a) {
    static const fp one = {{1, 0, 0, 0, 0, 0}};
    fp t;
    fp_mul(&t, a, &one);
    for (size_t i = 0; i < 6; i++) limbs[i] = t.l[i];
}

bool fp_is_larger_half(const fp *a) {
    static const uint64_t half[6] = {UINT64_C(0xdcff7fffffffd555), UINT64_C(0x0f55ffff58a9ffff),
                                     UINT64_C(0xb39869507b587b12), UINT64_C(0xb23ba5c279c2895f),
                                     UINT64_C(0x258dd3db21a5d66b), UINT64_C(0x0d0088f51cbff34d)}; // (p-1)/2
    uint64_t limbs[6], borrow = 0;
    to_limbs(limbs, a);
    for (size_t i = 0; i < 6; i++) (void)limb_sbb(half[i], limbs[i], &borrow);
    return borrow != 0;
}

bool fp_limbs_from_be_bytes(uint64_t limbs[6], const uint8_t bytes[48]) {
    uint64_t borrow = 0;
    for (size_t i = 0; i < 6; i++) {
        limbs[i] = load_be64(bytes + 40 - 8 * i);
        (void)limb_sbb(limbs[i], FP_MODULUS[i], &borrow);
    }
    return borrow != 0;
}

bool fp_from_be_bytes(fp *out, const uint8_t bytes[48]) {
    fp t;
    if (!fp_limbs_from_be_bytes(t.l, bytes)) {
        *out = FP_ZERO;
        return false;
    }
    fp_mul(out, &FP_RADIX_SQUARED, &t);
    return true;
}

void fp_to_be_bytes(uint8_t bytes[48], const fp *a) {
    uint64_t limbs[6];
    to_limbs(limbs, a);
    for (size_t i = 0; i < 6; i++) store_be64(bytes + 40 - 8 * i, limbs[i]);
}

void fp_from_u64(fp *out, uint64_t v) {
    fp t = {{v, 0, 0, 0, 0, 0}};
    fp_mul(out, &FP_RADIX_SQUARED, &t);
}
