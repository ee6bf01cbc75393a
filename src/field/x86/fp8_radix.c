// SPDX-License-Identifier: MIT OR Apache-2.0
#include "field/x86/fp8_radix.h"

#include "field/x86/fp8_mul.h"

// Row i is 2^(52 i + 488) mod p, 488 = 384 + 2 * 52.
static const uint64_t POWERS[FP8_LIMBS][FP8_LIMBS] = {
    {0x7c0a654395113, 0x25e4415917316, 0x2d64ab3ca95e0, 0x39aba2d319167, 0x4ac6994d21f85, 0x13fbda2fb92fc,
     0xa91dcb2743363, 0x0000000010ef9},
    {0x3b75c872d9d95, 0xe6178c300c77a, 0xdd06c0bff221a, 0x3bccc80f0fe9b, 0x2e1eb72e9a485, 0x0eddd3119e9eb,
     0x65ce0df56a9f5, 0x0000000019f1d},
    {0x73b8e6753b593, 0x040067db3874c, 0x4a41421fbea94, 0xb2acfb79e022b, 0xee3d0dcedefd3, 0x96461eeab54e5,
     0xdf2bdee92dca2, 0x000000000b913},
    {0xccd7c5ceb20ed, 0x2d87f9b0b2ebb, 0x3be159ed85fa6, 0xf466c7e9d5da1, 0x5ee321d12fc96, 0x3be2d57ee46f7,
     0xa0dc523cce4bb, 0x000000000f58e},
    {0xa0fa5c5cd04c0, 0x038c05c128a65, 0x3aa30d1830518, 0x87e1f864903b5, 0x1306927e9e79c, 0xb7f0d755e0a87,
     0x8a59ec853d37a, 0x000000000c808},
    {0x07a6b11f3388d, 0x55ca494eee88c, 0x0a46295c4e478, 0x117e55a4f6455, 0x1e87576dbea70, 0x911d902117675,
     0x96b82f42bbecb, 0x0000000002cea},
    {0x551039a1d2c25, 0xc857a984373dc, 0x3331128e8da66, 0xba38b82e8f651, 0xbb197b6252a29, 0xcbe4f4e32928c,
     0x80ef81f158c5d, 0x000000000e91f},
    {0x2b89cb0f5996e, 0x9dfc7b0eceb70, 0x481fdf9016e88, 0x96b02532853ca, 0xaf714427883c2, 0x65d21ba9c3c02,
     0x1cc2a44435c2a, 0x00000000138e5}};
// Each limb times its power, below 8 * 2^52 p together, and then two steps of Montgomery's reduction, whose divisor
// 2^104 is in the powers: (sum + m p) / 2^104 with m < 2^104 is below p + 2^-49 p. A column has at most 8 low and 8
// high halves of the products, 2 of each of the multiples of p and a carry: below 2^57.
void fp8_to_radix(fp8 *out, const fp8 *v) {
    enum { STEPS = 2 };
    const __m512i zero = _mm512_setzero_si512(), ninv = _mm512_set1_epi64(FP8_NINV);
    __m512i t[FP8_LIMBS + STEPS];
    VEC_UNROLL for (int j = 0; j < FP8_LIMBS + STEPS; j++) t[j] = zero;
    VEC_UNROLL for (int i = 0; i < FP8_LIMBS; i++) {
        VEC_UNROLL for (int j = 0; j < FP8_LIMBS; j++) {
            const __m512i power = _mm512_set1_epi64((int64_t)POWERS[i][j]);
            t[j] = fp8_lo(t[j], v->l[i], power);
            t[j + 1] = fp8_hi(t[j + 1], v->l[i], power);
        }
    }
    VEC_UNROLL for (int i = 0; i < STEPS; i++) fp8_take_column(t + i, fp8_lo(zero, t[i], ninv));
    fp8 r;
    VEC_UNROLL for (int j = 0; j < FP8_LIMBS; j++) r.l[j] = t[STEPS + j];
    fp8_carry(&r);
    fp8_canonical_end(&r);
    *out = r;
}
