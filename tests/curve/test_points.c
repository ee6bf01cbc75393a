// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The group law against the textbook: affine chord and tangent with a division each. Compiled once for G1 and once for
// G2, like the source under test.
#include POINT_TYPES

#include "testing.h"

typedef POINT(affine) affine;
typedef POINT(jac) jac;
typedef POINT(xyzz) xyzz;

static const affine INFINITY_POINT; // x = y = 0

static const affine *generator(void);
static fe random_fe(test_rng *rng);
static void fe_from_u64(fe *out, uint64_t v);
static bool fe_sqrt(fe *out, const fe *a);

#if defined(TEST_G1)
static const affine *generator(void) { return &G1_GENERATOR; }
static fe random_fe(test_rng *rng) {
    fp r;
    do {
        for (size_t i = 0; i < 6; i++) r.l[i] = test_edge_u64(rng);
        r.l[5] &= UINT64_C(0x0fffffffffffffff);
    } while (fp_is_zero(&r));
    return r;
}
static void fe_from_u64(fe *out, uint64_t v) { fp_from_u64(out, v); }
static bool fe_sqrt(fe *out, const fe *a) { return fp_sqrt(out, a); }
#else
static const affine *generator(void) { return &G2_GENERATOR; }
static fe random_fe(test_rng *rng) {
    fp2 r;
    do {
        for (size_t i = 0; i < 6; i++) r.c0.l[i] = test_edge_u64(rng), r.c1.l[i] = test_edge_u64(rng);
        r.c0.l[5] &= UINT64_C(0x0fffffffffffffff);
        r.c1.l[5] &= UINT64_C(0x0fffffffffffffff);
    } while (fp2_is_zero(&r));
    return r;
}
static void fe_from_u64(fe *out, uint64_t v) {
    fp_from_u64(&out->c0, v);
    out->c1 = FP_ONE;
}
static bool fe_sqrt(fe *out, const fe *a) { return fp2_sqrt(out, a); }
#endif

// Chord and tangent, from the definition.
static affine textbook_add(const affine *a, const affine *b) {
    if (POINT(affine_is_infinity)(a)) return *b;
    if (POINT(affine_is_infinity)(b)) return *a;
    fe slope, t;
    affine s;
    if (FE(eq)(&a->x, &b->x)) {
        if (!FE(eq)(&a->y, &b->y)) return INFINITY_POINT;
        FE(sqr)(&slope, &a->x);
        FE(dbl)(&t, &slope);
        FE(add)(&slope, &slope, &t);
        FE(dbl)(&t, &a->y);
    } else {
        FE(sub)(&slope, &b->y, &a->y);
        FE(sub)(&t, &b->x, &a->x);
    }
    FE(inv)(&t, &t);
    FE(mul)(&slope, &slope, &t);
    FE(sqr)(&s.x, &slope);
    FE(sub)(&s.x, &s.x, &a->x);
    FE(sub)(&s.x, &s.x, &b->x);
    FE(sub)(&t, &a->x, &s.x);
    FE(mul)(&t, &t, &slope);
    FE(sub)(&s.y, &t, &a->y);
    return s;
}

// The same point with a random denominator.
static jac random_jac(test_rng *rng, const affine *a) {
    jac j;
    fe z2;
    POINT(jac_from_affine)(&j, a);
    fe z = random_fe(rng);
    FE(sqr)(&z2, &z);
    FE(mul)(&j.x, &j.x, &z2);
    FE(mul)(&z2, &z2, &z);
    FE(mul)(&j.y, &j.y, &z2);
    FE(mul)(&j.z, &j.z, &z);
    return j;
}
static xyzz random_xyzz(test_rng *rng, const affine *a) {
    xyzz j;
    POINT(xyzz_infinity)(&j);
    POINT(xyzz_add_affine)(&j, a);
    fe z = random_fe(rng), z2, z3;
    FE(sqr)(&z2, &z);
    FE(mul)(&z3, &z2, &z);
    FE(mul)(&j.x, &j.x, &z2);
    FE(mul)(&j.y, &j.y, &z3);
    FE(mul)(&j.zz, &j.zz, &z2);
    FE(mul)(&j.zzz, &j.zzz, &z3);
    return j;
}
static void assert_jac(const jac *got, const affine *expected) {
    affine a;
    jac j;
    POINT(jac_to_affine)(&a, got);
    assert_true(POINT(affine_eq)(&a, expected));
    POINT(jac_from_affine)(&j, expected);
    assert_true(POINT(jac_eq)(got, &j));
}
static void assert_xyzz(const xyzz *got, const affine *expected) {
    jac j;
    POINT(xyzz_to_jac)(&j, got);
    assert_jac(&j, expected);
    assert_int_equal(POINT(xyzz_is_infinity)(got), POINT(affine_is_infinity)(expected));
}

enum { SMALL = 8, COUNT = 2 * SMALL + 1 };

// All pairs of -8 G ... 8 G: general sums, doublings, cancellations and infinity in either place.
static void test_all_pairs(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    affine m[COUNT];
    m[SMALL] = INFINITY_POINT;
    for (size_t i = 1; i <= SMALL; i++) {
        m[SMALL + i] = textbook_add(&m[SMALL + i - 1], generator());
        POINT(affine_neg)(&m[SMALL - i], &m[SMALL + i]);
        assert_true(POINT(affine_on_curve)(&m[SMALL + i]));
        assert_true(POINT(affine_in_subgroup)(&m[SMALL + i]));
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < COUNT; k++) {
            affine sum = textbook_add(&m[i], &m[k]);
            jac a = random_jac(&rng, &m[i]), b = random_jac(&rng, &m[k]), c, d;
            xyzz x = random_xyzz(&rng, &m[i]), y = random_xyzz(&rng, &m[k]);

            POINT(jac_add)(&c, &a, &b);
            assert_jac(&c, &sum);
            d = a;
            POINT(jac_add)(&d, &d, &b); // aliases
            assert_jac(&d, &sum);
            d = b;
            POINT(jac_add)(&d, &a, &d);
            assert_jac(&d, &sum);
            POINT(jac_add_affine)(&c, &a, &m[k]);
            assert_jac(&c, &sum);
            d = a;
            POINT(jac_add_affine)(&d, &d, &m[k]);
            assert_jac(&d, &sum);

            xyzz z = x;
            POINT(xyzz_add)(&z, &y);
            assert_xyzz(&z, &sum);
            z = x;
            POINT(xyzz_add_affine)(&z, &m[k]);
            assert_xyzz(&z, &sum);

            assert_int_equal(POINT(jac_eq)(&a, &b), i == k);
            assert_int_equal(POINT(affine_eq)(&m[i], &m[k]), i == k);
        }
        affine twice = textbook_add(&m[i], &m[i]);
        jac a = random_jac(&rng, &m[i]), b;
        xyzz x = random_xyzz(&rng, &m[i]);
        POINT(jac_dbl)(&b, &a);
        assert_jac(&b, &twice);
        POINT(jac_dbl)(&a, &a);
        assert_jac(&a, &twice);
        POINT(jac_add)(&a, &b, &b); // one operand twice
        twice = textbook_add(&twice, &twice);
        assert_jac(&a, &twice);
        POINT(jac_add)(&b, &b, &b);
        assert_jac(&b, &twice);
        POINT(xyzz_dbl)(&x);
        POINT(xyzz_add)(&x, &x);
        assert_xyzz(&x, &twice);
        a = random_jac(&rng, &m[i]);
        POINT(jac_neg)(&a, &a);
        assert_jac(&a, &m[COUNT - 1 - i]);
    }
}

// k a by the textbook, bit by bit.
static affine textbook_mul(const affine *a, const uint64_t *k, size_t n) {
    affine acc = INFINITY_POINT;
    for (size_t i = 64 * n; i-- > 0;) {
        acc = textbook_add(&acc, &acc);
        if (k[i / 64] >> i % 64 & 1) acc = textbook_add(&acc, a);
    }
    return acc;
}

static void test_multiples(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    jac g, p, q;
    POINT(jac_from_affine)(&g, generator());
    for (unsigned round = 0; round < 20; round++) {
        uint64_t k[6];
        size_t n = 1 + test_below(&rng, 6);
        for (size_t i = 0; i < n; i++) k[i] = test_edge_u64(&rng);
        affine expected = textbook_mul(generator(), k, n);
        jac a = random_jac(&rng, generator());
        POINT(jac_mul_limbs)(&p, &a, k, n);
        assert_jac(&p, &expected);

        // (s + t) G = s G + t G, s (t G) = (s t) G
        fr s, t, u;
        uint8_t wide[64];
        for (size_t i = 0; i < 64; i++) wide[i] = (uint8_t)test_u64(&rng);
        fr_from_le_bytes_wide(&s, wide);
        for (size_t i = 0; i < 64; i++) wide[i] = (uint8_t)test_u64(&rng);
        fr_from_le_bytes_wide(&t, wide);
        jac sg, tg;
        POINT(jac_mul)(&sg, &g, &s);
        POINT(jac_mul)(&tg, &g, &t);
        fr_add(&u, &s, &t);
        POINT(jac_mul)(&p, &g, &u);
        POINT(jac_add)(&q, &sg, &tg);
        assert_true(POINT(jac_eq)(&p, &q));
        fr_mul(&u, &s, &t);
        POINT(jac_mul)(&p, &g, &u);
        POINT(jac_mul)(&tg, &tg, &s); // alias
        assert_true(POINT(jac_eq)(&p, &tg));
    }
    uint64_t k[4] = {FR_MODULUS[0], FR_MODULUS[1], FR_MODULUS[2], FR_MODULUS[3]};
    POINT(jac_mul_limbs)(&p, &g, k, 4);
    assert_true(POINT(jac_is_infinity)(&p));
    k[0]--;
    POINT(jac_mul_limbs)(&p, &g, k, 4);
    POINT(jac_neg)(&q, &g);
    assert_true(POINT(jac_eq)(&p, &q));
    POINT(jac_mul)(&p, &g, &FR_ZERO);
    assert_true(POINT(jac_is_infinity)(&p));
    POINT(jac_mul_limbs)(&p, &g, k, 0);
    assert_true(POINT(jac_is_infinity)(&p));
    POINT(jac_infinity)(&q);
    POINT(jac_mul_limbs)(&p, &q, k, 4);
    assert_true(POINT(jac_is_infinity)(&p));
}

static void test_batch_to_affine(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    enum { N = 33 };
    jac in[N];
    affine out[N], expected[N], sum = *generator();
    for (size_t n = 0; n <= N; n += n < 3 ? 1 : 15) {
        for (size_t i = 0; i < n; i++) {
            sum = textbook_add(&sum, generator());
            expected[i] = test_below(&rng, 4) == 0 ? INFINITY_POINT : sum;
            in[i] = random_jac(&rng, &expected[i]);
        }
        POINT(jac_to_affine_batch)(out, in, n);
        for (size_t i = 0; i < n; i++) assert_true(POINT(affine_eq)(&out[i], &expected[i]));
    }
    for (size_t i = 0; i < N; i++) POINT(jac_infinity)(&in[i]);
    POINT(jac_to_affine_batch)(out, in, N);
    for (size_t i = 0; i < N; i++) assert_true(POINT(affine_is_infinity)(&out[i]));
}

// The endomorphism's verdict is that of the multiplication by r, inside and outside the subgroup.
static void test_subgroup(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    unsigned found = 0;
    for (uint64_t x = 0; found < 24; x++) {
        affine a, b;
        jac p, cofactor_part;
        fe y2;
        fe_from_u64(&a.x, x);
        FE(sqr)(&y2, &a.x);
        FE(mul)(&y2, &y2, &a.x);
        FE(add)(&y2, &y2, &CURVE_B);
        if (!fe_sqrt(&a.y, &y2)) continue;
        found++;
        assert_true(POINT(affine_on_curve)(&a));
        POINT(jac_from_affine)(&p, &a);
        POINT(jac_mul_limbs)(&cofactor_part, &p, FR_MODULUS, 4);
        assert_int_equal(POINT(affine_in_subgroup)(&a), POINT(jac_is_infinity)(&cofactor_part));
        assert_false(POINT(affine_in_subgroup)(&a)); // chance below 2^-120
        // A point of the cofactor group alone, and one with a good point added.
        POINT(jac_to_affine)(&b, &cofactor_part);
        assert_true(POINT(affine_on_curve)(&b));
        assert_false(POINT(affine_in_subgroup)(&b));
        jac s = random_jac(&rng, generator());
        POINT(jac_add)(&s, &s, &cofactor_part);
        POINT(jac_to_affine)(&b, &s);
        assert_false(POINT(affine_in_subgroup)(&b));

        a.y = FE_ONE; // off the curve (x^3 + b = 1 has no solution among these x)
        assert_false(POINT(affine_on_curve)(&a));
    }
    assert_true(POINT(affine_in_subgroup)(&INFINITY_POINT));
    assert_true(POINT(affine_on_curve)(&INFINITY_POINT));
    for (unsigned i = 0; i < 8; i++) {
        fr k;
        affine a;
        jac p = random_jac(&rng, generator());
        fr_from_u64(&k, test_u64(&rng));
        fr_sqr(&k, &k);
        POINT(jac_mul)(&p, &p, &k);
        POINT(jac_to_affine)(&a, &p);
        assert_true(POINT(affine_in_subgroup)(&a));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pairs),
        cmocka_unit_test(test_multiples),
        cmocka_unit_test(test_batch_to_affine),
        cmocka_unit_test(test_subgroup),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
