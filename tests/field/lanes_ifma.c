// SPDX-License-Identifier: MIT OR Apache-2.0
#include "field/lanes_ifma.h"

#include <string.h>

#include "field/x86/fp8.h"
#include "field/x86/fr_ifma.h"

// With 16 b the division by 2^260 is one by 2^256. 16 b is below 2^259.
static fr8 product(const fr8 *a, const fr8 *b) {
    fr8 c;
    for (int i = 0; i < 5; i++) c.l[i] = _mm512_slli_epi64(b->l[i], 4);
    fr8_lift(&c);
    c = fr8_mul(a, &c);
    fr8_clean(&c);
    fr8_reduce(&c);
    return c;
}

static void fr_mul_all(fr *out, const fr *a, const fr *b, size_t n) {
    enum { LANES = 8 };
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        const fr8 x = fr8_load(a + i), y = fr8_load(b + i), z = product(&x, &y);
        fr8_store(out + i, &z);
    }
    if (i == n) return;
    fr last[3][LANES] = {{FR_ZERO}};
    memcpy(last[0], a + i, (n - i) * sizeof *a);
    memcpy(last[1], b + i, (n - i) * sizeof *b);
    fr_mul_all(last[2], last[0], last[1], LANES);
    memcpy(out + i, last[2], (n - i) * sizeof *out);
}

// Eight elements x 2^384, of which the operations take 2^416 off: factors of 2 are put in beforehand.
static void fp_op(lanes_fp_op op, fp8 v[LANES_OPERANDS]) {
    fp8_wide t;
    switch (op) {
    case LANES_MUL:
        fp8_shift_left(&v[1], 32);
        fp8_mul(&v[0], &v[0], &v[1]);
        break;
    case LANES_SQR:
        fp8_shift_left(&v[0], 16);
        fp8_sqr(&v[0], &v[0]);
        break;
    case LANES_MUL2:
        fp8_shift_left(&v[1], 32);
        fp8_shift_left(&v[3], 32);
        fp8_mul2(&v[0], &v[0], &v[1], &v[2], &v[3]);
        break;
    case LANES_SQR2:
        fp8_shift_left(&v[0], 16);
        fp8_shift_left(&v[1], 16);
        fp8_sqr2(&v[0], &v[0], &v[1]);
        break;
    case LANES_MUL_WIDE:
        fp8_shift_left(&v[1], 32);
        fp8_mul_wide(&t, &v[0], &v[1]);
        fp8_reduce_wide(&v[0], &t);
        break;
    case LANES_SQR_WIDE:
        fp8_shift_left(&v[0], 16);
        fp8_sqr_wide(&t, &v[0]);
        fp8_reduce_wide(&v[0], &t);
        break;
    case LANES_INV: { // 2^816 / (x 2^384) is 2^432 / x: by 2^368 / 2^416
        static const uint64_t SCALE[FP8_LIMBS] = {[FP8_LIMBS - 1] = UINT64_C(1) << (368 - 52 * (FP8_LIMBS - 1))};
        fp8_set1(&v[1], SCALE);
        fp8_inv_lanes(&v[0], &v[0]);
        fp8_mul(&v[0], &v[0], &v[1]);
        break;
    }
    case LANES_FP_OPS: break;
    }
    fp8_canonical(&v[0]);
}

static void fp_all(lanes_fp_op op, fp *out, const fp *const in[LANES_OPERANDS], size_t n) {
    for (size_t first = 0; first < n; first += FP8_LANES) {
        const size_t left = n - first < FP8_LANES ? n - first : FP8_LANES;
        fp8 v[LANES_OPERANDS];
        fp *to[FP8_LANES];
        for (int k = 0; k < LANES_OPERANDS && in[k] != NULL; k++) {
            const fp *from[FP8_LANES];
            for (size_t i = 0; i < FP8_LANES; i++) from[i] = &in[k][first + (i < left ? i : left - 1)];
            fp8_load(&v[k], from);
        }
        for (size_t i = 0; i < FP8_LANES; i++) to[i] = i < left ? &out[first + i] : NULL; // not looked at
        fp_op(op, v);
        fp8_store(to, &v[0], (__mmask8)((1u << left) - 1));
    }
}

const lane_ops LANES_IFMA = {fr_mul_all, fp_all};
