// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Eight points at a time from bytes to Montgomery form, coordinates and curve equation checked.
//
// A coordinate as stored is x S, S = 2^384. fp8_mul divides by 2^416, so that (x S)^2 comes out as x^2 S 2^-32, and
// times x S 2^32 that is x^3 S^2, as wide columns; less (y S)^2 and reduced once it is (x^3 - y^2) S^2 / 2^416, which
// on the curve is -4 S^2 / 2^416 = -2^354 mod p. In G2 this holds for both parts, as its constant is 4 + 4 u.
#include "curve/kernels.h"
#include "field/x86/fp8_radix.h"

enum { G1_WORDS = G1_UNCOMPRESSED / 8, G2_WORDS = G2_UNCOMPRESSED / 8, FP_WORDS = 6, SCALE = 32 };

// p - 2^354
static const uint64_t ON_CURVE[FP8_LIMBS] = {0xeffffffffaaab, 0xfeb153ffffb9f, 0x6b0f6241eabff, 0x12bf6730d2a0f,
                                             0x764774b84f385, 0x1ba7b6434bacd, 0x1e6397fe69a4b, 0x000000001a011};

_Static_assert(sizeof(g1_affine) == 8 * G1_WORDS && sizeof(g2_affine) == 8 * G2_WORDS, "a point is its words");

// The words of n <= 8 points to w, word k of all eight in w[k]; lanes beyond n hold the last point again. A point has
// `words` words, a multiple of 4, and four are transposed at a time: 128-bit pairs of words are [0 1] [2 3].
static inline void load_words(__m512i *w, const uint8_t *in, size_t n, int words) {
    const __m256i *row[FP8_LANES];
    for (size_t lane = 0; lane < FP8_LANES; lane++)
        row[lane] = (const void *)(in + 8 * (lane < n ? lane : n - 1) * (size_t)words);
    for (int k = 0; k < words / 4; k++) {
        __m512i m[4]; // points 0 and 2, 1 and 3, 4 and 6, 5 and 7
        for (int i = 0; i < 4; i++) {
            const int lane = i % 2 + i / 2 * 4;
            m[i] = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256(row[lane] + k)),
                                      _mm256_loadu_si256(row[lane + 2] + k), 1);
        }
        for (int odd = 0; odd < 2; odd++) {
            const __m512i low = odd ? _mm512_unpackhi_epi64(m[0], m[1]) : _mm512_unpacklo_epi64(m[0], m[1]);
            const __m512i high = odd ? _mm512_unpackhi_epi64(m[2], m[3]) : _mm512_unpacklo_epi64(m[2], m[3]);
            w[4 * k + odd] = _mm512_shuffle_i64x2(low, high, 0x88);
            w[4 * k + 2 + odd] = _mm512_shuffle_i64x2(low, high, 0xdd);
        }
    }
}
// The way back.
static inline void store_words(uint8_t *out, const __m512i *w, size_t n, int words) {
    const __m512i first = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0),
                  second = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    for (int k = 0; k < words / 4; k++) {
        for (size_t odd = 0; odd < 2; odd++) { // points 0 2 4 6, then 1 3 5 7
            const __m512i *v = &w[4 * k];
            const __m512i low = odd ? _mm512_unpackhi_epi64(v[0], v[1]) : _mm512_unpacklo_epi64(v[0], v[1]);
            const __m512i high = odd ? _mm512_unpackhi_epi64(v[2], v[3]) : _mm512_unpacklo_epi64(v[2], v[3]);
            const __m512i m[2] = {_mm512_permutex2var_epi64(low, first, high),
                                  _mm512_permutex2var_epi64(low, second, high)};
            for (size_t i = 0; i < 4; i++) {
                const size_t lane = 2 * i + odd;
                if (lane < n)
                    _mm256_storeu_si256((__m256i *)(void *)(out + 8 * lane * (size_t)words) + k,
                                        i % 2 ? _mm512_extracti64x4_epi64(m[i / 2], 1)
                                              : _mm512_castsi512_si256(m[i / 2]));
            }
        }
    }
}

// Six big-endian words to their integer. Returns the lanes in which it is not below p.
static inline __mmask8 coordinate_from_words(fp8 *out, const __m512i big_endian[FP_WORDS]) {
    const __m512i reverse = _mm512_broadcast_i32x4(_mm_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
    __m512i w[FP_WORDS];
    for (int i = 0; i < FP_WORDS; i++) w[i] = _mm512_shuffle_epi8(big_endian[FP_WORDS - 1 - i], reverse);
    fp8_from_words(out, w);
    return fp8_not_below_p(out);
}

static inline void wide_add(fp8_wide *a, const fp8_wide *b) {
    for (int j = 0; j < 2 * FP8_LIMBS; j++) a->c[j] = _mm512_add_epi64(a->c[j], b->c[j]);
}
static inline void wide_sub(fp8_wide *a, const fp8_wide *b) {
    for (int j = 0; j < 2 * FP8_LIMBS; j++) a->c[j] = _mm512_sub_epi64(a->c[j], b->c[j]);
}

// The lanes in which x^3 - y^2, as above, reduces to p - 2^354: for t in (-2^354, 0.9 p) * 2^416 the only integer in
// (t / 2^416, t / 2^416 + p) that is congruent to -2^354.
static inline __mmask8 is_on_curve(const fp8_wide *t) {
    fp8 d, expected;
    fp8_reduce_wide(&d, t);
    fp8_set1(&expected, ON_CURVE);
    fp8_sub(&d, &d, &expected);
    fp8_carry(&d);
    __m512i any = d.l[0];
    for (int j = 1; j < FP8_LIMBS; j++) any = _mm512_or_si512(any, d.l[j]);
    return _mm512_testn_epi64_mask(any, any);
}

// For stored coordinates. The product is below (p + 2^346) * 2^32 p, 0.102 p * 2^416, and p^2 = 2^346 * 2^416.
static inline __mmask8 g1_on_curve(const fp8 *x, const fp8 *y) {
    fp8 u, scaled = *x;
    fp8_wide t, s;
    fp8_sqr(&u, x);
    fp8_to_operand(&u);
    fp8_shift_left(&scaled, SCALE);
    fp8_mul_wide(&t, &u, &scaled);
    fp8_sqr_wide(&s, y);
    wide_sub(&t, &s);
    return is_on_curve(&t);
}

// (a + b)(a - b), which is the first part of (a + b u)^2, with factors in [0, 2p): out = sum * difference.
static inline void fp2_square_factors(fp8 *sum, fp8 *difference, fp8 *twice, const fp8 x[2]) {
    fp8_add(sum, &x[0], &x[1]);
    fp8_to_operand(sum);
    fp8_sub(difference, &x[0], &x[1]);
    fp8_add_p(difference);
    fp8_to_operand(difference);
    fp8_add(twice, &x[0], &x[0]);
    fp8_to_operand(twice);
}

// v + w u = x^2 has parts in [0, p + 2^348). The first part of its product with x, v x0 - w x1, is taken as
// v x0 + (2p - w) x1 to keep it positive: below 0.102 p + 0.204 p. Columns are sums of three products' at most.
static inline __mmask8 g2_on_curve(const fp8 x[2], const fp8 y[2]) {
    fp8 sum, difference, twice, v, w, scaled[2] = {x[0], x[1]};
    fp8_wide t, s;
    fp2_square_factors(&sum, &difference, &twice, x);
    fp8_mul(&v, &sum, &difference);
    fp8_mul(&w, &twice, &x[1]);
    fp8_to_operand(&v);
    fp8_carry(&w);
    fp8_shift_left(&scaled[0], SCALE);
    fp8_shift_left(&scaled[1], SCALE);
    fp2_square_factors(&sum, &difference, &twice, y);

    fp8_mul_wide(&t, &v, &scaled[1]);
    fp8_mul_wide(&s, &w, &scaled[0]);
    wide_add(&t, &s);
    fp8_mul_wide(&s, &twice, &y[1]);
    wide_sub(&t, &s);
    const __mmask8 second = is_on_curve(&t);

    for (int j = 0; j < FP8_LIMBS; j++)
        w.l[j] = _mm512_sub_epi64(_mm512_add_epi64(fp8_limb_p(j), fp8_limb_p(j)), w.l[j]);
    fp8_to_operand(&w);
    fp8_mul_wide(&t, &v, &scaled[0]);
    fp8_mul_wide(&s, &w, &scaled[1]);
    wide_add(&t, &s);
    fp8_mul_wide(&s, &sum, &difference);
    wide_sub(&t, &s);
    return second & is_on_curve(&t);
}

bool g1_decode_block_ifma(g1_affine *out, const uint8_t *in, size_t n) {
    for (size_t first = 0; first < n; first += FP8_LANES) {
        const size_t count = n - first < FP8_LANES ? n - first : FP8_LANES;
        __m512i w[G1_WORDS];
        fp8 x, y;
        load_words(w, in + first * G1_UNCOMPRESSED, count, G1_WORDS);
        __mmask8 bad = coordinate_from_words(&x, &w[0]);
        bad |= coordinate_from_words(&y, &w[FP_WORDS]);
        if (bad != 0) return false;
        fp8_to_radix(&x, &x);
        fp8_to_radix(&y, &y);
        if (g1_on_curve(&x, &y) != 0xff) return false;
        fp8_to_words(&w[0], &x);
        fp8_to_words(&w[FP_WORDS], &y);
        store_words((uint8_t *)&out[first], w, count, G1_WORDS);
    }
    return true;
}

bool g2_decode_block_ifma(g2_affine *out, const uint8_t *in, size_t n) {
    for (size_t first = 0; first < n; first += FP8_LANES) {
        const size_t count = n - first < FP8_LANES ? n - first : FP8_LANES;
        __m512i w[G2_WORDS];
        fp8 x[2], y[2];
        __mmask8 bad = 0;
        load_words(w, in + first * G2_UNCOMPRESSED, count, G2_WORDS);
        for (int part = 0; part < 2; part++) { // the second part comes first
            bad |= coordinate_from_words(&x[1 - part], &w[part * FP_WORDS]);
            bad |= coordinate_from_words(&y[1 - part], &w[(2 + part) * FP_WORDS]);
        }
        if (bad != 0) return false;
        for (int part = 0; part < 2; part++) {
            fp8_to_radix(&x[part], &x[part]);
            fp8_to_radix(&y[part], &y[part]);
        }
        if (g2_on_curve(x, y) != 0xff) return false;
        for (int part = 0; part < 2; part++) {
            fp8_to_words(&w[part * FP_WORDS], &x[part]);
            fp8_to_words(&w[(2 + part) * FP_WORDS], &y[part]);
        }
        store_words((uint8_t *)&out[first], w, count, G2_WORDS);
    }
    return true;
}
