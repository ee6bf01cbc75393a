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
static const fp R2 = {{UINT64_C(0xf4df1f341c341746), UINT64_C(0x0a76e6a609d104f1), UINT64_C(0x8de5476c4c95b6d5),
                       UINT64_C(0x67eb88a9939d83c0), UINT64_C(0x9a793e85b519952d), UINT64_C(0x11988fe592cae3aa)}};
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

// Column c of 2^(64 i + 512) mod p, i = 0..5; 512 = 384 + 2 * 64.
static const uint64_t POWER_COLUMNS[6][6] = {
    {UINT64_C(0x967d3988a62b6c9d), UINT64_C(0x9e2a2b803b8e1ce7), UINT64_C(0x075b3cd7c5ce820f),
     UINT64_C(0xfc8aa5c5cd2dbfd7), UINT64_C(0xf4df1f341c341746), UINT64_C(0x1a2a5bf4cb89af51)},
    {UINT64_C(0x4532383fa8eaff4e), UINT64_C(0xcede519d701f5ab3), UINT64_C(0x3ec6ba621c3edb0b),
     UINT64_C(0x4874042cd26528c7), UINT64_C(0x0a76e6a609d104f1), UINT64_C(0xec71f13afbba7ca3)},
    {UINT64_C(0x8238308703310846), UINT64_C(0xa0a6217e81ab4621), UINT64_C(0x168a13d82bff6bce),
     UINT64_C(0xd01b07fd232a8e28), UINT64_C(0x8de5476c4c95b6d5), UINT64_C(0x7104659032646160)},
    {UINT64_C(0x15efebb5d396d7cf), UINT64_C(0xde9fabaf9eee6510), UINT64_C(0x87663c4bf8c449d2),
     UINT64_C(0x23d6a1069b97e001), UINT64_C(0x67eb88a9939d83c0), UINT64_C(0x480a4a188311a84d)},
    {UINT64_C(0xfab7cd07ee4e16bc), UINT64_C(0xef148e598e4a8041), UINT64_C(0x15f34c83ddc8d830),
     UINT64_C(0xa1a742c38b4c65b3), UINT64_C(0x9a793e85b519952d), UINT64_C(0x6698e5907ad91f53)},
    {UINT64_C(0x02cb5d3a884e56c4), UINT64_C(0x16ae30783dff1a47), UINT64_C(0x0f9628b49caa2e85),
     UINT64_C(0x02050a1527e00758), UINT64_C(0x11988fe592cae3aa), UINT64_C(0x087462075d745072)}};

LIMB_INLINE limb_column power_column(const uint64_t x[6], int c) {
    limb_column s = limb_column_of(x[0], POWER_COLUMNS[c][0]);
    for (int i = 1; i < 6; i++) limb_column_mac(&s, x[i], POWER_COLUMNS[c][i]);
    return s;
}

// x 2^384 mod p for any limbs x. Each limb times its power, below 6 * 2^64 p together, and then two steps of
// Montgomery's reduction, whose divisor 2^128 is in the powers: (sum + k p) / 2^128 < p + 2^-61 p. Two thirds of the
// products of a multiplication by 2^768.
static void from_limbs(fp *out, const uint64_t x[6]) {
    uint64_t t[6], k0, k1;
    limb_column s, sum = power_column(x, 0);
    k0 = sum.l * FP_NINV;
    limb_column_mac(&sum, k0, FP_Q0);
    (void)limb_column_next(&sum);
    s = power_column(x, 1);
    limb_column_mac(&s, k0, FP_Q1);
    limb_column_add(&sum, &s);
    k1 = sum.l * FP_NINV;
    limb_column_mac(&sum, k1, FP_Q0);
    (void)limb_column_next(&sum);
    for (int c = 2; c < 6; c++) {
        s = power_column(x, c);
        limb_column_mac(&s, k0, FP_MODULUS[c]);
        limb_column_mac(&s, k1, FP_MODULUS[c - 1]);
        limb_column_add(&sum, &s);
        t[c - 2] = limb_column_next(&sum);
    }
    limb_column_mac(&sum, k1, FP_Q5);
    t[4] = limb_column_next(&sum);
    t[5] = limb_column_next(&sum);
    fp_reduce_once(out, t[0], t[1], t[2], t[3], t[4], t[5]);
}

bool fp_from_be_bytes(fp *out, const uint8_t bytes[48]) {
    uint64_t limbs[6], borrow = 0;
    for (size_t i = 0; i < 6; i++) {
        limbs[i] = load_be64(bytes + 40 - 8 * i);
        (void)limb_sbb(limbs[i], FP_MODULUS[i], &borrow);
    }
    if (borrow != 0)
        from_limbs(out, limbs);
    else
        *out = FP_ZERO;
    return borrow != 0;
}

void fp_to_be_bytes(uint8_t bytes[48], const fp *a) {
    uint64_t limbs[6];
    to_limbs(limbs, a);
    for (size_t i = 0; i < 6; i++) store_be64(bytes + 40 - 8 * i, limbs[i]);
}

void fp_from_u64(fp *out, uint64_t v) {
    fp t = {{v, 0, 0, 0, 0, 0}};
    fp_mul(out, &R2, &t);
}
