// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What fp4.h declares. Bounds are stated for one lane.
#include "field/x86/fp4.h"

const uint64_t FP4_MODULUS[FP4_LIMBS] = {0x6ffffffffaaab, 0x7d62a7ffff73f, 0x2c3d8907aafff, 0x15fb39869507b,
                                         0x64774b84f3851, 0x74f6c869759ae, 0x28e5ff9a692c6, 0x0000000d0088f};
const uint64_t FP4_ONE[FP4_LIMBS] = {0x203480ea898ba, 0x784f92511f43a, 0x14abb951f1acd, 0x3036eedc37606,
                                     0x7ec4609523d53, 0x27f4171bd5266, 0x3d6e0e2e9afdc, 0x0000000c61e67};
// p and (p FP4_NINV + 1) / 2^51.
alignas(32) static const
    double MODULUS[FP4_LIMBS][FP4_LANES] = {{0x6ffffffffaaab, 0x6ffffffffaaab, 0x6ffffffffaaab, 0x6ffffffffaaab},
                                            {0x7d62a7ffff73f, 0x7d62a7ffff73f, 0x7d62a7ffff73f, 0x7d62a7ffff73f},
                                            {0x2c3d8907aafff, 0x2c3d8907aafff, 0x2c3d8907aafff, 0x2c3d8907aafff},
                                            {0x15fb39869507b, 0x15fb39869507b, 0x15fb39869507b, 0x15fb39869507b},
                                            {0x64774b84f3851, 0x64774b84f3851, 0x64774b84f3851, 0x64774b84f3851},
                                            {0x74f6c869759ae, 0x74f6c869759ae, 0x74f6c869759ae, 0x74f6c869759ae},
                                            {0x28e5ff9a692c6, 0x28e5ff9a692c6, 0x28e5ff9a692c6, 0x28e5ff9a692c6},
                                            {0xd0088f, 0xd0088f, 0xd0088f, 0xd0088f}};
alignas(32) static const
    double MULTIPLE[FP4_LIMBS][FP4_LANES] = {{0x97c0fa404f96, 0x97c0fa404f96, 0x97c0fa404f96, 0x97c0fa404f96},
                                             {0x5de1b8e400b50, 0x5de1b8e400b50, 0x5de1b8e400b50, 0x5de1b8e400b50},
                                             {0x28823841e26ee, 0x28823841e26ee, 0x28823841e26ee, 0x28823841e26ee},
                                             {0x6079a7670223f, 0x6079a7670223f, 0x6079a7670223f, 0x6079a7670223f},
                                             {0x194a260896f32, 0x194a260896f32, 0x194a260896f32, 0x194a260896f32},
                                             {0x574de03a8441, 0x574de03a8441, 0x574de03a8441, 0x574de03a8441},
                                             {0x52b11eb513cb3, 0x52b11eb513cb3, 0x52b11eb513cb3, 0x52b11eb513cb3},
                                             {0x6803f9, 0x6803f9, 0x6803f9, 0x6803f9}};
alignas(32) const int64_t FP4_LANES_OF[1 << FP4_LANES][FP4_LANES] = {
    {0, 0, 0, 0},   {-1, 0, 0, 0},   {0, -1, 0, 0},   {-1, -1, 0, 0},  {0, 0, -1, 0},  {-1, 0, -1, 0},
    {0, -1, -1, 0}, {-1, -1, -1, 0}, {0, 0, 0, -1},   {-1, 0, 0, -1},  {0, -1, 0, -1}, {-1, -1, 0, -1},
    {0, 0, -1, -1}, {-1, 0, -1, -1}, {0, -1, -1, -1}, {-1, -1, -1, -1}};

// -1/p mod 2^51, below 2^50.
#define FP4_NINV 0x3fffcfffcfffd

// Reduction takes the lowest column, t[0], away: adds a multiple of p so that it becomes divisible by 2^51. The next
// column can be taken only then, and that chain of eight is what a multiplication waits for. So seven of them add
// multiples of p FP4_NINV, which is -1 mod 2^51: the factor is -t[0] itself, and no product is needed to find it
// (Orup, "Simplifying quotient determination in high-radix modular multiplication", 1995). They leave a sum that may be
// as large as p FP4_NINV / 4, of up to 430 bits; the eighth adds a multiple of p, and divides that by 2^51: what is
// left of both is below p / 4 + p / 2 in magnitude.

// One of the seven: t := (t + m p FP4_NINV) / 2^51 = floor(t / 2^51) + m MULTIPLE, with m = t mod 2^51, and the columns
// move down by one. `next` is how the one begins that comes into sight.
VEC_INLINE void take_column(fp4_vec t[FP4_LIMBS + 1], fp4_vec next) {
    fp4_vec carry;
    const __m256d m = limb51_low(&carry, t[0]);
    VEC_UNROLL for (int j = 0; j < FP4_LIMBS; j++) t[j] = t[j + 1];
    t[0] = _mm256_add_epi64(t[0], carry);
    t[FP4_LIMBS] = next;
    limb51_row_signed(t, MULTIPLE, 0, FP4_LIMBS, m);
}
// The eighth: out := (t + m p) / 2^51, with m = x FP4_NINV mod 2^51 for x = t mod 2^51.
//
// m is the low half of a product, and that of m p[0] is -x: it is never computed. (At x = -2^50 the low half could be
// either of +-2^50. FP4_NINV is 1 mod 4, so the product with it, a tie, rounds to even so that m = -2^50; and p[0] is
// 3 mod 4, so that of m p[0] rounds to a low half of +2^50: -x here too.)
VEC_INLINE void take_last(fp4 *out, fp4_vec t[FP4_LIMBS + 1]) {
    const __m256d c = _mm256_set1_pd(LIMB51_C_SIGNED), ninv = _mm256_set1_pd(FP4_NINV);
    fp4_vec carry;
    const __m256d x = limb51_low(&carry, t[0]);
    const __m256d m = _mm256_fmadd_pd(x, ninv, _mm256_sub_pd(c, _mm256_fmadd_pd(x, ninv, c)));
    t[1] = _mm256_add_epi64(t[1], carry);
    t[1] = _mm256_add_epi64(t[1], _mm256_castpd_si256(_mm256_fmadd_pd(_mm256_load_pd(MODULUS[0]), m, c)));
    limb51_row_signed(t, MODULUS, 1, FP4_LIMBS, m);
    VEC_UNROLL for (int j = 0; j < FP4_LIMBS; j++) out->l[j] = t[j + 1];
}

// How column k begins: less all that it will get too much. It gets `lows` and `highs` halves of products of operands;
// from the seven, rows of eight from column i + 1 on, i < 7; and a row of the eighth from column 7 on, without its
// first low half. Columns 8 to 15, the result's, begin with p.
VEC_INLINE int rows_at(int k) { return k < 0 ? 0 : k < 7 ? k + 1 : k == 7 ? 7 : 14 - k; } // i < 7 with i <= k < i + 8
VEC_INLINE fp4_vec begin(int k, int lows, int highs) {
    const int last_low = k > 7 && k < 15 ? 1 : 0, last_high = k > 7 ? 1 : 0;
    const uint64_t much = (uint64_t)(lows + rows_at(k - 1) + last_low) * LIMB51_L_BITS +
                          (uint64_t)highs * LIMB51_H_BITS +
                          (uint64_t)(rows_at(k - 2) + last_high) * LIMB51_H_BITS_SIGNED;
    return _mm256_set1_epi64x((int64_t)((k < FP4_LIMBS ? 0 : FP4_MODULUS[k - FP4_LIMBS]) - much));
}
// Products of limbs i, j with i + j = k, and those with i <= j.
VEC_INLINE int products(int k) { return k < 0 ? 0 : k < FP4_LIMBS ? k + 1 : 2 * FP4_LIMBS - 1 - k; }
VEC_INLINE int pairs(int k) { return (products(k) + 1) / 2; }
// How column k of n products begins, and of n squares.
VEC_INLINE fp4_vec begin_product(int k, int n) { return begin(k, n * products(k), n * products(k - 1)); }
VEC_INLINE fp4_vec begin_square(int k, int n) { return begin(k, n * pairs(k), n * pairs(k - 1)); }

// As fp4_mul and, where c and d are not NULL, fp4_mul2, limb by limb: t := (t + a b[i] + m p) / 2^51. A column gets at
// most 3 low halves up to 2^50 in magnitude and 3 high ones up to 2^51 a step: below 2^58 with its carries.
VEC_INLINE void multiply(fp4 *out, const fp4 *a, const fp4 *b, const fp4 *c, const fp4 *d) {
    const int n = c != 0 ? 2 : 1;
    fp4_vec t[FP4_LIMBS + 1];
    VEC_UNROLL for (int j = 0; j <= FP4_LIMBS; j++) t[j] = begin_product(j, n);
    VEC_UNROLL for (int i = 0; i < FP4_LIMBS; i++) {
        limb51_row(t, a->l, 0, FP4_LIMBS, b->l[i]);
        if (c != 0) limb51_row(t, c->l, 0, FP4_LIMBS, d->l[i]);
        if (i + 1 < FP4_LIMBS) take_column(t, begin_product(i + 1 + FP4_LIMBS, n));
    }
    take_last(out, t);
}
void fp4_mul(fp4 *out, const fp4 *a, const fp4 *b) { multiply(out, a, b, 0, 0); }
void fp4_mul2(fp4 *out, const fp4 *a, const fp4 *b, const fp4 *c, const fp4 *d) { multiply(out, a, b, c, d); }

// The limbs twice as large: products of two different ones are taken once.
VEC_INLINE void twice_as_large(fp4 *out, const fp4 *a) {
    VEC_UNROLL for (int j = 0; j < FP4_LIMBS; j++) {
        const __m256d v = _mm256_castsi256_pd(a->l[j]);
        out->l[j] = _mm256_castpd_si256(_mm256_add_pd(v, v));
    }
}
// Row i of a square, from column i on: a[i] times itself and twice the limbs above it. Columns 2 i to i + 8.
VEC_INLINE void square_row(fp4_vec t[FP4_LIMBS + 1], const fp4 *a, const fp4 *twice, int i) {
    limb51_row(t, a->l, i, i + 1, a->l[i]);
    limb51_row(t, twice->l, i + 1, FP4_LIMBS, a->l[i]);
}
// a^2 and, if b is not NULL, b^2. All products of column i are in rows up to i / 2.
VEC_INLINE void square(fp4 *out, const fp4 *a, const fp4 *b) {
    const int n = b != 0 ? 2 : 1;
    fp4 a_twice, b_twice;
    fp4_vec t[FP4_LIMBS + 1];
    twice_as_large(&a_twice, a);
    if (b != 0) twice_as_large(&b_twice, b);
    VEC_UNROLL for (int j = 0; j <= FP4_LIMBS; j++) t[j] = begin_square(j, n);
    VEC_UNROLL for (int i = 0; i < FP4_LIMBS; i++) {
        square_row(t, a, &a_twice, i);
        if (b != 0) square_row(t, b, &b_twice, i);
        if (i + 1 < FP4_LIMBS) take_column(t, begin_square(i + 1 + FP4_LIMBS, n));
    }
    take_last(out, t);
}
void fp4_sqr(fp4 *out, const fp4 *a) { square(out, a, 0); }
void fp4_sqr2(fp4 *out, const fp4 *a, const fp4 *b) { square(out, a, b); }

void fp4_canonical_rare(fp4 *v) {
    const fp4_vec zero = _mm256_setzero_si256(), negative = _mm256_cmpgt_epi64(zero, v->l[FP4_LIMBS - 1]);
    VEC_UNROLL for (int j = 0; j < FP4_LIMBS; j++) v->l[j] =
        _mm256_add_epi64(v->l[j], _mm256_and_si256(negative, fp4_limb_p(j)));
    fp4_carry(v);
    fp4 d;
    VEC_UNROLL for (int j = 0; j < FP4_LIMBS; j++) d.l[j] = _mm256_sub_epi64(v->l[j], fp4_limb_p(j));
    fp4_carry(&d);
    const fp4_vec keep = _mm256_cmpgt_epi64(zero, d.l[FP4_LIMBS - 1]);
    VEC_UNROLL for (int j = 0; j < FP4_LIMBS; j++) v->l[j] = _mm256_blendv_epi8(d.l[j], v->l[j], keep);
}

// 2^444 mod p, see fp4_inv_lanes.
static const uint64_t K444[FP4_LIMBS] = {0x29fde37db5e8c, 0x277b3d4b77edd, 0x7e8c9f8c93b22, 0x5f752bb250359,
                                         0x29ef56ac34df6, 0x08c7886f9a490, 0x1b1175a0025d3, 0x0000000b81064};

// As fp8_inv_lanes, with two distances: 2 and 1. fp_inv(t) is 2^768/t as an integer, and that times 2^444 / 2^408 is
// 2^804/t.
void fp4_inv_lanes(fp4 *out, const fp4 *a) {
    fp4 v[3], other[2], k;
    v[0] = *a;
    for (int level = 0; level < 2; level++) {
        VEC_UNROLL for (int j = 0; j < FP4_LIMBS; j++) {
            const fp4_vec x = v[level].l[j];
            other[level].l[j] = level == 0 ? _mm256_permute4x64_epi64(x, 0x4e) : _mm256_permute4x64_epi64(x, 0xb1);
        }
        fp4_mul(&v[level + 1], &v[level], &other[level]);
        if (level == 0) fp4_to_operand(&v[1]);
    }
    fp4_vec w[6];
    fp s;
    fp4_canonical(&v[2]);
    fp4_to_words(w, &v[2]);
    for (int i = 0; i < 6; i++) s.l[i] = (uint64_t)_mm256_extract_epi64(w[i], 0);
    fp_inv(&s, &s);
    for (int i = 0; i < 6; i++) w[i] = _mm256_set1_epi64x((int64_t)s.l[i]);
    fp4_from_words(&v[2], w);
    fp4_set1(&k, K444);
    fp4_mul(out, fp4_operand_of(&v[2], &v[2]), fp4_operand_of(&k, &k));
    fp4_to_operand(out);
    for (int level = 2; level-- > 0;) {
        fp4_mul(out, out, &other[level]);
        fp4_to_operand(out);
    }
}
