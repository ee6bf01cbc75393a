// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Encodings of points: known ones, and every way to be wrong.
#include "base/bytes.h"
#include "curve/kernels.h"
#include "curve_vectors.h"
#include "testing.h"

static void from_hex(uint8_t *out, size_t len, const char *hex) {
    assert_int_equal(strlen(hex), 2 * len);
    assert_true(hex_decode(out, len, hex, 2 * len));
}

static void test_known_points(void **state) {
    (void)state;
    uint8_t c1[G1_COMPRESSED], u1[G1_UNCOMPRESSED], c2[G2_COMPRESSED], u2[G2_UNCOMPRESSED], bytes[G2_UNCOMPRESSED];
    g1_affine a1, b1;
    g2_affine a2, b2;
    bool saw[2] = {false, false};
    for (size_t i = 0; i < sizeof MULTIPLES / sizeof MULTIPLES[0]; i++) {
        fr k;
        g1_jac j1;
        g2_jac j2;
        from_hex(u1, sizeof u1, MULTIPLES[i].g1);
        from_hex(u2, sizeof u2, MULTIPLES[i].g2);
        from_hex(c1, sizeof c1, COMPRESSED[i].g1);
        from_hex(c2, sizeof c2, COMPRESSED[i].g2);
        assert_int_equal(MULTIPLES[i].k, COMPRESSED[i].k);
        saw[(c1[0] & 0x20) != 0] = true;

        fr_from_u64(&k, MULTIPLES[i].k);
        g1_jac_from_affine(&j1, &G1_GENERATOR);
        g1_jac_mul(&j1, &j1, &k);
        g1_jac_to_affine(&a1, &j1);
        g2_jac_from_affine(&j2, &G2_GENERATOR);
        g2_jac_mul(&j2, &j2, &k);
        g2_jac_to_affine(&a2, &j2);

        g1_encode(bytes, &a1);
        assert_memory_equal(bytes, c1, sizeof c1);
        g1_encode_uncompressed(bytes, &a1);
        assert_memory_equal(bytes, u1, sizeof u1);
        g2_encode(bytes, &a2);
        assert_memory_equal(bytes, c2, sizeof c2);
        g2_encode_uncompressed(bytes, &a2);
        assert_memory_equal(bytes, u2, sizeof u2);

        assert_int_equal(g1_decode(&b1, c1), POINT_OK);
        assert_true(g1_affine_eq(&a1, &b1));
        assert_int_equal(g1_decode_uncompressed_unchecked(&b1, u1), POINT_OK);
        assert_true(g1_affine_eq(&a1, &b1));
        assert_int_equal(g2_decode(&b2, c2), POINT_OK);
        assert_true(g2_affine_eq(&a2, &b2));
        assert_int_equal(g2_decode_uncompressed_unchecked(&b2, u2), POINT_OK);
        assert_true(g2_affine_eq(&a2, &b2));

        // The other sign flag is the negative.
        c1[0] ^= 0x20, c2[0] ^= 0x20;
        assert_int_equal(g1_decode(&b1, c1), POINT_OK);
        g1_affine_neg(&b1, &b1);
        assert_true(g1_affine_eq(&a1, &b1));
        assert_int_equal(g2_decode(&b2, c2), POINT_OK);
        g2_affine_neg(&b2, &b2);
        assert_true(g2_affine_eq(&a2, &b2));
    }
    assert_true(saw[0] && saw[1]);

    // -1/2 times the generator: twice it is the generator's negative.
    g1_jac j1;
    g2_jac j2;
    from_hex(c1, sizeof c1, MINUS_HALF_G1);
    from_hex(c2, sizeof c2, MINUS_HALF_G2);
    assert_int_equal(g1_decode(&a1, c1), POINT_OK);
    assert_int_equal(g2_decode(&a2, c2), POINT_OK);
    g1_jac_from_affine(&j1, &a1);
    g1_jac_dbl(&j1, &j1);
    g1_jac_add_affine(&j1, &j1, &G1_GENERATOR);
    assert_true(g1_jac_is_infinity(&j1));
    g2_jac_from_affine(&j2, &a2);
    g2_jac_dbl(&j2, &j2);
    g2_jac_add_affine(&j2, &j2, &G2_GENERATOR);
    assert_true(g2_jac_is_infinity(&j2));
}

// The four decoders behind one shape, so that bad input is tried on all.
static point_check decode_g1(const uint8_t *in) {
    g1_affine p;
    return g1_decode(&p, in);
}
static point_check decode_g1_uncompressed(const uint8_t *in) {
    g1_affine p;
    return g1_decode_uncompressed_unchecked(&p, in);
}
static point_check decode_g2(const uint8_t *in) {
    g2_affine p;
    return g2_decode(&p, in);
}
static point_check decode_g2_uncompressed(const uint8_t *in) {
    g2_affine p;
    return g2_decode_uncompressed_unchecked(&p, in);
}
static const struct decoder {
    point_check (*decode)(const uint8_t *in);
    size_t len;
    bool compressed;
    void (*generator)(uint8_t *out);
} DECODERS[4];

static void g1_generator_bytes(uint8_t *out) { g1_encode(out, &G1_GENERATOR); }
static void g1_generator_bytes_uncompressed(uint8_t *out) { g1_encode_uncompressed(out, &G1_GENERATOR); }
static void g2_generator_bytes(uint8_t *out) { g2_encode(out, &G2_GENERATOR); }
static void g2_generator_bytes_uncompressed(uint8_t *out) { g2_encode_uncompressed(out, &G2_GENERATOR); }
static const struct decoder DECODERS[4] = {
    {decode_g1, G1_COMPRESSED, true, g1_generator_bytes},
    {decode_g1_uncompressed, G1_UNCOMPRESSED, false, g1_generator_bytes_uncompressed},
    {decode_g2, G2_COMPRESSED, true, g2_generator_bytes},
    {decode_g2_uncompressed, G2_UNCOMPRESSED, false, g2_generator_bytes_uncompressed},
};

// All eight flag combinations on the generator's coordinates and on zeros.
static void test_flags(void **state) {
    (void)state;
    for (size_t d = 0; d < 4; d++) {
        const struct decoder *dec = &DECODERS[d];
        for (unsigned flags = 0; flags < 8; flags++) {
            uint8_t in[G2_UNCOMPRESSED], zero[G2_UNCOMPRESSED] = {0};
            bool compressed = (flags & 4) != 0, infinity = (flags & 2) != 0, larger = (flags & 1) != 0;
            point_check expected_in = POINT_OK, expected_zero = POINT_OK;
            dec->generator(in);
            in[0] = (uint8_t)((in[0] & 0x1f) | flags << 5);
            zero[0] = (uint8_t)(flags << 5);
            if (compressed != dec->compressed || (larger && (infinity || !dec->compressed))) {
                expected_in = expected_zero = POINT_BAD_FLAGS;
            } else if (infinity) {
                expected_in = POINT_BAD_INFINITY;
            } else {
                // x = 0: (0, +-2) is on the curve of G1 but of order 3; 4 (1 + u) is no square; x = y = 0 is no point.
                expected_zero = d == 0 ? POINT_NOT_IN_SUBGROUP : POINT_NOT_ON_CURVE;
            }
            assert_int_equal(dec->decode(in), expected_in);
            assert_int_equal(dec->decode(zero), expected_zero);
        }
    }
}

static void test_infinity(void **state) {
    (void)state;
    for (size_t d = 0; d < 4; d++) {
        const struct decoder *dec = &DECODERS[d];
        uint8_t in[G2_UNCOMPRESSED] = {0};
        in[0] = dec->compressed ? 0xc0 : 0x40;
        assert_int_equal(dec->decode(in), POINT_OK);
        for (size_t bit = 0; bit < 8 * dec->len; bit++) { // any other bit is refused
            if (bit < 8 && bit > 4) continue;
            in[bit / 8] ^= (uint8_t)(1U << bit % 8);
            assert_int_equal(dec->decode(in), POINT_BAD_INFINITY);
            in[bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
    }
    uint8_t out[G2_UNCOMPRESSED], expected[G2_UNCOMPRESSED] = {0};
    g1_affine a1 = {FP_ZERO, FP_ZERO}, b1 = G1_GENERATOR;
    g2_affine a2 = {FP2_ZERO, FP2_ZERO}, b2 = G2_GENERATOR;
    expected[0] = 0xc0;
    g1_encode(out, &a1);
    assert_memory_equal(out, expected, G1_COMPRESSED);
    assert_int_equal(g1_decode(&b1, out), POINT_OK);
    assert_true(g1_affine_is_infinity(&b1));
    g2_encode(out, &a2);
    assert_memory_equal(out, expected, G2_COMPRESSED);
    assert_int_equal(g2_decode(&b2, out), POINT_OK);
    assert_true(g2_affine_is_infinity(&b2));
    expected[0] = 0x40;
    b1 = G1_GENERATOR, b2 = G2_GENERATOR;
    g1_encode_uncompressed(out, &a1);
    assert_memory_equal(out, expected, G1_UNCOMPRESSED);
    assert_int_equal(g1_decode_uncompressed_unchecked(&b1, out), POINT_OK);
    assert_true(g1_affine_is_infinity(&b1));
    g2_encode_uncompressed(out, &a2);
    assert_memory_equal(out, expected, G2_UNCOMPRESSED);
    assert_int_equal(g2_decode_uncompressed_unchecked(&b2, out), POINT_OK);
    assert_true(g2_affine_is_infinity(&b2));
}

// p, p + 1 and 2^381 - 1 in the place of each coordinate; p - 1 is a coordinate.
static void test_coordinates(void **state) {
    (void)state;
    uint8_t modulus[48];
    for (size_t i = 0; i < 6; i++) store_be64(modulus + 40 - 8 * i, FP_MODULUS[i]);
    for (size_t d = 0; d < 4; d++) {
        const struct decoder *dec = &DECODERS[d];
        for (size_t at = 0; at < dec->len; at += 48) {
            for (int kind = 0; kind < 4; kind++) {
                uint8_t in[G2_UNCOMPRESSED], value[48];
                memcpy(value, modulus, 48);
                if (kind == 1) value[47]++;
                if (kind == 2) memset(value, 0xff, 48), value[0] = 0x1f;
                if (kind == 3) value[47]--;
                dec->generator(in);
                if (at == 0) value[0] |= in[0] & 0xe0;
                memcpy(in + at, value, 48);
                if (kind < 3) {
                    assert_int_equal(dec->decode(in), POINT_BAD_COORDINATE);
                } else {
                    assert_int_not_equal(dec->decode(in), POINT_BAD_COORDINATE);
                    assert_int_not_equal(dec->decode(in), POINT_OK);
                }
                // Flag bits in a later coordinate make it too large.
                if (at > 0) {
                    for (unsigned bit = 5; bit < 8; bit++) {
                        dec->generator(in);
                        in[at] |= (uint8_t)(1U << bit);
                        assert_int_equal(dec->decode(in), POINT_BAD_COORDINATE);
                    }
                }
            }
        }
    }
}

// Small x: off the curve where x^3 + b is no square, outside the subgroup where it is one. Failures leave no output.
static void test_curve_and_subgroup(void **state) {
    (void)state;
    unsigned on = 0, off = 0;
    for (uint8_t x = 1; x < 40; x++) {
        uint8_t in[G2_UNCOMPRESSED] = {0};
        g1_affine p = G1_GENERATOR, q = G1_GENERATOR;
        in[0] = 0x80, in[47] = x;
        fp y2, four;
        fp_from_u64(&q.x, x);
        fp_from_u64(&four, 4);
        fp_sqr(&y2, &q.x), fp_mul(&y2, &y2, &q.x), fp_add(&y2, &y2, &four);
        bool on_curve = fp_sqrt(&q.y, &y2);
        assert_int_equal(g1_decode(&p, in), on_curve ? POINT_NOT_IN_SUBGROUP : POINT_NOT_ON_CURVE);
        assert_true(g1_affine_eq(&p, &G1_GENERATOR));
        if (on_curve) {
            on++;
            g1_encode_uncompressed(in, &q);
            assert_int_equal(g1_decode_uncompressed_unchecked(&p, in), POINT_OK); // the subgroup is the caller's matter
            assert_true(g1_affine_eq(&p, &q));
            in[95] ^= 1; // another y
            p = G1_GENERATOR;
            assert_int_equal(g1_decode_uncompressed_unchecked(&p, in), POINT_NOT_ON_CURVE);
            assert_true(g1_affine_eq(&p, &G1_GENERATOR));
        } else {
            off++;
        }
    }
    assert_true(on > 5 && off > 5);
    on = off = 0;
    for (uint8_t x = 1; x < 40; x++) {
        uint8_t in[G2_UNCOMPRESSED] = {0};
        g2_affine p = G2_GENERATOR, q = G2_GENERATOR;
        in[0] = 0x80, in[47] = 1, in[95] = x; // x + u
        fp2 y2, b;
        fp_from_u64(&q.x.c0, x);
        q.x.c1 = FP_ONE;
        fp_from_u64(&b.c0, 4), b.c1 = b.c0;
        fp2_sqr(&y2, &q.x), fp2_mul(&y2, &y2, &q.x), fp2_add(&y2, &y2, &b);
        bool on_curve = fp2_sqrt(&q.y, &y2);
        assert_int_equal(g2_decode(&p, in), on_curve ? POINT_NOT_IN_SUBGROUP : POINT_NOT_ON_CURVE);
        assert_true(g2_affine_eq(&p, &G2_GENERATOR));
        if (on_curve) {
            on++;
            g2_encode_uncompressed(in, &q);
            assert_int_equal(g2_decode_uncompressed_unchecked(&p, in), POINT_OK);
            assert_true(g2_affine_eq(&p, &q));
            in[191] ^= 1;
            p = G2_GENERATOR;
            assert_int_equal(g2_decode_uncompressed_unchecked(&p, in), POINT_NOT_ON_CURVE);
            assert_true(g2_affine_eq(&p, &G2_GENERATOR));
        } else {
            off++;
        }
    }
    assert_true(on > 5 && off > 5);
}

static void test_texts(void **state) {
    (void)state;
    for (int c = POINT_OK; c <= POINT_NOT_IN_SUBGROUP; c++) {
        for (int d = POINT_OK; d < c; d++) {
            assert_string_not_equal(point_check_text((point_check)c), point_check_text((point_check)d));
        }
    }
    assert_string_equal(point_check_text(POINT_NOT_ON_CURVE), "is not on the curve");
}

// ---- arrays of finite points

// The two groups behind one shape. Points are as wide in memory as encoded.
typedef struct group {
    size_t bytes;
    size_t (*decode)(void *out, point_check *why, const uint8_t *in, size_t n);
    bool (*decode_block)(const curve_kernel_table *k, void *out, const uint8_t *in, size_t n);
    point_check (*decode_one)(void *out, const uint8_t *in);
    void (*encode)(uint8_t *out, const void *point);
    void (*multiples)(void *out, size_t n); // of the generator
    void (*with_x)(void *out, const fp *x); // the next x from this one on, counted as it is stored, that has a point
} group;

static size_t array_g1(void *out, point_check *why, const uint8_t *in, size_t n) {
    return g1_decode_finite_array(out, why, in, n);
}
static size_t array_g2(void *out, point_check *why, const uint8_t *in, size_t n) {
    return g2_decode_finite_array(out, why, in, n);
}
static bool block_g1(const curve_kernel_table *k, void *out, const uint8_t *in, size_t n) {
    return k->g1_decode(out, in, n);
}
static bool block_g2(const curve_kernel_table *k, void *out, const uint8_t *in, size_t n) {
    return k->g2_decode(out, in, n);
}
static point_check one_g1(void *out, const uint8_t *in) { return g1_decode_uncompressed_unchecked(out, in); }
static point_check one_g2(void *out, const uint8_t *in) { return g2_decode_uncompressed_unchecked(out, in); }
static void encode_g1(uint8_t *out, const void *point) { g1_encode_uncompressed(out, point); }
static void encode_g2(uint8_t *out, const void *point) { g2_encode_uncompressed(out, point); }
static void multiples_g1(void *out, size_t n) {
    g1_affine *p = out;
    g1_jac j;
    g1_jac_from_affine(&j, &G1_GENERATOR);
    for (size_t i = 0; i < n; i++, g1_jac_add_affine(&j, &j, &G1_GENERATOR)) g1_jac_to_affine(&p[i], &j);
}
static void multiples_g2(void *out, size_t n) {
    g2_affine *p = out;
    g2_jac j;
    g2_jac_from_affine(&j, &G2_GENERATOR);
    for (size_t i = 0; i < n; i++, g2_jac_add_affine(&j, &j, &G2_GENERATOR)) g2_jac_to_affine(&p[i], &j);
}
static void with_x_g1(void *out, const fp *x) {
    g1_affine *p = out;
    const fp unit = {{1}};
    fp y2, four;
    fp_from_u64(&four, 4);
    for (p->x = *x;; fp_add(&p->x, &p->x, &unit)) {
        fp_sqr(&y2, &p->x), fp_mul(&y2, &y2, &p->x), fp_add(&y2, &y2, &four);
        if (fp_sqrt(&p->y, &y2)) return;
    }
}
static void with_x_g2(void *out, const fp *x) {
    g2_affine *p = out;
    const fp unit = {{1}};
    fp2 y2, b;
    fp_from_u64(&b.c0, 4), b.c1 = b.c0;
    for (p->x.c0 = p->x.c1 = *x;; fp_add(&p->x.c1, &p->x.c1, &unit)) {
        fp2_sqr(&y2, &p->x), fp2_mul(&y2, &y2, &p->x), fp2_add(&y2, &y2, &b);
        if (fp2_sqrt(&p->y, &y2)) return;
    }
}
static group G1 = {G1_UNCOMPRESSED, array_g1, block_g1, one_g1, encode_g1, multiples_g1, with_x_g1};
static group G2 = {G2_UNCOMPRESSED, array_g2, block_g2, one_g2, encode_g2, multiples_g2, with_x_g2};

enum { N = 300, SPECIAL = 12 }; // points, of them the last ones special

// Coordinates at both ends, as integers and as stored, where a multiple of p more or less would do: 0, small ones and
// their negatives, and those whose top limbs are those of p.
static void make_points(uint8_t *points, uint8_t *in, const group *g) {
    g->multiples(points, N - SPECIAL);
    for (uint64_t i = 0; i < SPECIAL; i++) {
        fp x = {{i / 4}};
        if (i % 4 == 1) x = (fp){{0, 0, 0, 0, FP_MODULUS[4] - i, FP_MODULUS[5]}};
        if (i % 4 >= 2) fp_from_u64(&x, i / 4);
        if (i % 4 == 3) fp_neg(&x, &x);
        g->with_x(points + (N - SPECIAL + i) * g->bytes, &x);
    }
    for (size_t i = 0; i < N; i++) g->encode(in + i * g->bytes, points + i * g->bytes);
}

// An array decodes as its points do one by one, up to the first that is none.
static void test_array(void **state) {
    const group *g = *state;
    static uint8_t want[N * G2_UNCOMPRESSED], in[N * G2_UNCOMPRESSED], got[N * G2_UNCOMPRESSED];
    make_points(want, in, g);
    point_check why;
    for (size_t n = 0; n <= N; n += n < 20 ? 1 : 35) {
        memset(got, 0x55, sizeof got);
        assert_int_equal(g->decode(got, &why, in, n), n);
        assert_int_equal(why, POINT_OK);
        assert_memory_equal(got, want, n * g->bytes);
        for (size_t i = n * g->bytes; i < sizeof got; i++) assert_int_equal(got[i], 0x55);
    }
    uint8_t good[G2_UNCOMPRESSED], one[G2_UNCOMPRESSED], modulus[48];
    for (size_t i = 0; i < 6; i++) store_be64(modulus + 40 - 8 * i, FP_MODULUS[i]);
    for (size_t at = 0; at < N; at += 23) {
        uint8_t *const point = in + at * g->bytes;
        memcpy(good, point, g->bytes);
        for (size_t byte = 0; byte < g->bytes; byte += 19)
            for (int bit = 0; bit < 8; bit += 7) {
                point[byte] ^= (uint8_t)(1 << bit);
                const point_check expected = g->decode_one(one, point);
                assert_int_not_equal(expected, POINT_OK);
                assert_int_equal(g->decode(got, &why, in, N), at);
                assert_int_equal(why, expected);
                point[byte] ^= (uint8_t)(1 << bit);
            }
        for (size_t coordinate = 0; coordinate < g->bytes; coordinate += 48)
            for (int more = -1; more <= 1; more++) { // p - 1 is a coordinate, p is none
                memcpy(point + coordinate, modulus, 48);
                point[coordinate + 47] = (uint8_t)(point[coordinate + 47] + more);
                assert_int_equal(g->decode(got, &why, in, N), at);
                assert_int_equal(why, more < 0 ? POINT_NOT_ON_CURVE : POINT_BAD_COORDINATE);
                memcpy(point, good, g->bytes);
            }
        memset(point, 0, g->bytes);
        assert_int_equal(g->decode(got, &why, in, N), at);
        assert_int_equal(why, POINT_NOT_ON_CURVE);
        point[0] = 0x40; // infinity is a point, and not a finite one
        assert_int_equal(g->decode(got, &why, in, N), at);
        assert_int_equal(why, POINT_OK);
        memcpy(point, good, g->bytes);
    }
}

// Every kernel says the same as the decoding of each point alone.
static void test_kernels(void **state) {
    const group *g = *state;
    static uint8_t want[N * G2_UNCOMPRESSED], in[N * G2_UNCOMPRESSED], got[N * G2_UNCOMPRESSED];
    make_points(want, in, g);
    const curve_kernel_table *tables[2] = {curve_kernels_portable(), curve_kernels()};
    assert_int_equal(tables[1]->level, cpu_current() >= CPU_IFMA ? CPU_IFMA : CPU_PORTABLE); // it passed its test
    for (size_t t = 0; t < 2; t++)
        for (size_t first = 0; first < N; first += 20)
            for (size_t n = 1; n <= 20; n++) {
                uint8_t *const points = in + first * g->bytes;
                assert_true(g->decode_block(tables[t], got, points, n));
                assert_memory_equal(got, want + first * g->bytes, n * g->bytes);
                points[n * g->bytes - 1] ^= 4; // the last of the block, in each lane
                assert_false(g->decode_block(tables[t], got, points, n));
                points[n * g->bytes - 1] ^= 4;
                points[0] ^= 0x20; // a flag of the first
                assert_false(g->decode_block(tables[t], got, points, n));
                points[0] ^= 0x20;
            }
}

// In G2 the equation has two parts, and one alone is not enough: y^2 = y0^2 - y1^2 + 2 y0 y1 u.
static void test_half_an_equation(void **state) {
    (void)state;
    const curve_kernel_table *tables[2] = {curve_kernels_portable(), curve_kernels()};
    g2_affine first = G2_GENERATOR, second = G2_GENERATOR, got[9];
    fp half, two;
    fp_from_u64(&two, 2);
    fp_inv(&half, &two);
    fp_neg(&first.y.c1, &first.y.c1);
    fp_mul(&second.y.c0, &second.y.c0, &two), fp_mul(&second.y.c1, &second.y.c1, &half);
    for (size_t t = 0; t < 2; t++)
        for (size_t lane = 0; lane < 9; lane++) {
            uint8_t in[9 * G2_UNCOMPRESSED];
            for (size_t i = 0; i < 9; i++) g2_encode_uncompressed(in + i * G2_UNCOMPRESSED, &G2_GENERATOR);
            assert_true(tables[t]->g2_decode(got, in, 9));
            g2_encode_uncompressed(in + lane * G2_UNCOMPRESSED, &first);
            assert_false(tables[t]->g2_decode(got, in, 9));
            g2_encode_uncompressed(in + lane * G2_UNCOMPRESSED, &second);
            assert_false(tables[t]->g2_decode(got, in, 9));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_points),       cmocka_unit_test(test_flags),
        cmocka_unit_test(test_infinity),           cmocka_unit_test(test_coordinates),
        cmocka_unit_test(test_curve_and_subgroup), cmocka_unit_test(test_texts),
        cmocka_unit_test_prestate(test_array, &G1),
        cmocka_unit_test_prestate(test_array, &G2),
        cmocka_unit_test_prestate(test_kernels, &G1),
        cmocka_unit_test_prestate(test_kernels, &G2),
        cmocka_unit_test(test_half_an_equation),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
