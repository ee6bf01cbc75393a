// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Fp2, Fp6 and Fp12 against schoolbook multiplication in their definitions, which in turn rests on Fp (test_fields.c).
#include "field/fp12.h"
#include "testing.h"

enum { ROUNDS = 300 };

static fp random_fp(test_rng *rng) {
    fp a;
    for (size_t i = 0; i < 6; i++) a.l[i] = test_edge_u64(rng);
    a.l[5] >>= 4;
    if (test_below(rng, 16) == 0) a = FP_ZERO;
    if (test_below(rng, 16) == 0) fp_neg(&a, &FP_ONE);
    return a;
}
static fp2 random_fp2(test_rng *rng) { return (fp2){random_fp(rng), random_fp(rng)}; }
static fp6 random_fp6(test_rng *rng) { return (fp6){random_fp2(rng), random_fp2(rng), random_fp2(rng)}; }
static fp12 random_fp12(test_rng *rng) { return (fp12){random_fp6(rng), random_fp6(rng)}; }

// The definition: four products, u^2 = -1.
static fp2 schoolbook2(const fp2 *a, const fp2 *b) {
    fp2 out;
    fp s, t;
    fp_mul(&s, &a->c0, &b->c0);
    fp_mul(&t, &a->c1, &b->c1);
    fp_sub(&out.c0, &s, &t);
    fp_mul(&s, &a->c0, &b->c1);
    fp_mul(&t, &a->c1, &b->c0);
    fp_add(&out.c1, &s, &t);
    return out;
}

static void test_fp2(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    const fp2 xi = {FP_ONE, FP_ONE};
    unsigned squares = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        fp2 a = random_fp2(&rng), b = random_fp2(&rng), o, e, t;
        if (i % 10 == 1) a.c1 = FP_ZERO;
        if (i % 10 == 2) a.c0 = FP_ZERO;
        e = schoolbook2(&a, &b);
        fp2_mul(&o, &a, &b);
        assert_true(fp2_eq(&o, &e));
        o = a, fp2_mul(&o, &o, &b);
        assert_true(fp2_eq(&o, &e));
        o = b, fp2_mul(&o, &a, &o);
        assert_true(fp2_eq(&o, &e));
        e = schoolbook2(&a, &a);
        fp2_sqr(&o, &a);
        assert_true(fp2_eq(&o, &e));
        o = a, fp2_sqr(&o, &o);
        assert_true(fp2_eq(&o, &e));
        o = a, fp2_mul(&o, &o, &o);
        assert_true(fp2_eq(&o, &e));
        e = schoolbook2(&a, &xi);
        o = a, fp2_mul_xi(&o, &o);
        assert_true(fp2_eq(&o, &e));
        t = (fp2){b.c0, FP_ZERO};
        e = schoolbook2(&a, &t);
        o = a, fp2_mul_fp(&o, &o, &b.c0);
        assert_true(fp2_eq(&o, &e));
        o = a, fp2_mul_fp(&o, &o, &o.c1); // the factor is part of the output
        t = (fp2){a.c1, FP_ZERO};
        e = schoolbook2(&a, &t);
        assert_true(fp2_eq(&o, &e));
        fp2_add(&o, &a, &b), fp2_sub(&o, &o, &b);
        assert_true(fp2_eq(&o, &a));
        fp2_neg(&t, &a), fp2_add(&t, &t, &a);
        assert_true(fp2_is_zero(&t));
        fp2_dbl(&o, &a), fp2_add(&t, &a, &a);
        assert_true(fp2_eq(&o, &t));
        fp2_conj(&o, &a), fp2_mul(&o, &o, &a); // the norm
        assert_true(fp_is_zero(&o.c1));
        // The conjugate is the p-th power.
        if (i % 50 == 0) {
            fp2 power = FP2_ONE;
            for (size_t bit = 384; bit-- > 0;) {
                fp2_sqr(&power, &power);
                if (FP_MODULUS[bit / 64] >> bit % 64 & 1) fp2_mul(&power, &power, &a);
            }
            fp2_conj(&o, &a);
            assert_true(fp2_eq(&o, &power));
        }
        o = a, fp2_inv(&o, &o), fp2_mul(&t, &o, &a);
        assert_true(fp2_is_zero(&a) ? fp2_is_zero(&o) : fp2_eq(&t, &FP2_ONE));

        // Roots: of every square; and of exactly the elements whose norm is a square in Fp.
        fp2_sqr(&t, &a);
        assert_true(fp2_sqrt(&o, &t));
        fp2_sqr(&o, &o);
        assert_true(fp2_eq(&o, &t));
        fp norm;
        fp2_conj(&t, &b), fp2_mul(&t, &t, &b);
        bool is_square = fp_sqrt(&norm, &t.c0);
        assert_int_equal(fp2_sqrt(&o, &b), is_square);
        if (is_square) {
            squares++;
            fp2_sqr(&o, &o);
            assert_true(fp2_eq(&o, &b));
        }
        // The larger half: exactly one of a and -a, by c1 unless that is zero.
        fp2_neg(&t, &a);
        assert_true(fp2_is_zero(&a) || fp2_is_larger_half(&a) != fp2_is_larger_half(&t));
        assert_int_equal(fp2_is_larger_half(&a), fp_is_larger_half(fp_is_zero(&a.c1) ? &a.c0 : &a.c1));
    }
    assert_true(squares > ROUNDS / 4 && squares < ROUNDS);
    fp2 zero = FP2_ZERO, root;
    assert_true(fp2_sqrt(&root, &zero) && fp2_is_zero(&root));
    assert_false(fp2_is_larger_half(&zero));
    // -1 = u^2: no root in Fp, one here.
    fp2 minus_one;
    fp2_neg(&minus_one, &FP2_ONE);
    assert_false(fp_sqrt(&root.c0, &minus_one.c0));
    assert_true(fp2_sqrt(&root, &minus_one));
    // 1 + u generates the tower: it is no square.
    assert_false(fp2_sqrt(&root, &xi));
}

// An element of Fp12 as its six coefficients of w^0 ... w^5, with w^6 = xi.
static void flatten(fp2 out[6], const fp12 *a) {
    out[0] = a->c0.c0, out[2] = a->c0.c1, out[4] = a->c0.c2;
    out[1] = a->c1.c0, out[3] = a->c1.c1, out[5] = a->c1.c2;
}
static fp12 unflatten(const fp2 a[6]) { return (fp12){{a[0], a[2], a[4]}, {a[1], a[3], a[5]}}; }
static fp12 schoolbook12(const fp12 *x, const fp12 *y) {
    fp2 a[6], b[6], o[6], t;
    flatten(a, x), flatten(b, y);
    for (size_t i = 0; i < 6; i++) o[i] = FP2_ZERO;
    for (size_t i = 0; i < 6; i++) {
        for (size_t j = 0; j < 6; j++) {
            t = schoolbook2(&a[i], &b[j]);
            if (i + j >= 6) fp2_mul_xi(&t, &t);
            fp2_add(&o[(i + j) % 6], &o[(i + j) % 6], &t);
        }
    }
    return unflatten(o);
}

static bool fp6_same(const fp6 *a, const fp6 *b) {
    return fp2_eq(&a->c0, &b->c0) && fp2_eq(&a->c1, &b->c1) && fp2_eq(&a->c2, &b->c2);
}

static void test_fp6(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    const fp6 zero = {FP2_ZERO, FP2_ZERO, FP2_ZERO}, one = {FP2_ONE, FP2_ZERO, FP2_ZERO};
    const fp6 v = {FP2_ZERO, FP2_ONE, FP2_ZERO};
    for (unsigned i = 0; i < ROUNDS; i++) {
        fp6 a = random_fp6(&rng), b = random_fp6(&rng), o, t;
        fp12 wide_a = {a, zero}, wide_b = {b, zero}, e = schoolbook12(&wide_a, &wide_b);
        fp6_mul(&o, &a, &b);
        assert_true(fp6_same(&o, &e.c0));
        o = a, fp6_mul(&o, &o, &b);
        assert_true(fp6_same(&o, &e.c0));
        o = b, fp6_mul(&o, &a, &o);
        assert_true(fp6_same(&o, &e.c0));
        o = a, fp6_mul_v(&o, &o), fp6_mul(&t, &a, &v);
        assert_true(fp6_same(&o, &t));
        fp6_add(&o, &a, &b), fp6_sub(&o, &o, &b);
        assert_true(fp6_same(&o, &a));
        fp6_neg(&o, &a), fp6_add(&o, &o, &a);
        assert_true(fp6_same(&o, &zero));
        o = a, fp6_inv(&o, &o), fp6_mul(&o, &o, &a);
        assert_true(fp6_same(&o, &one));
    }
    fp6 o = one;
    fp6_inv(&o, &zero);
    assert_true(fp6_same(&o, &zero));
}

static void test_fp12(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    for (unsigned i = 0; i < ROUNDS; i++) {
        fp12 a = random_fp12(&rng), b = random_fp12(&rng), o, t, e = schoolbook12(&a, &b);
        fp12_mul(&o, &a, &b);
        assert_true(fp12_eq(&o, &e));
        o = a, fp12_mul(&o, &o, &b);
        assert_true(fp12_eq(&o, &e));
        o = b, fp12_mul(&o, &a, &o);
        assert_true(fp12_eq(&o, &e));
        e = schoolbook12(&a, &a);
        o = a, fp12_sqr(&o, &o);
        assert_true(fp12_eq(&o, &e));
        assert_false(fp12_eq(&a, &b));
        o = a, fp12_inv(&o, &o), fp12_mul(&o, &o, &a);
        assert_true(fp12_is_one(&o));
        // A line has three of six coefficients.
        fp2 c0 = random_fp2(&rng), c1 = random_fp2(&rng), c4 = random_fp2(&rng);
        t = (fp12){{c0, c1, FP2_ZERO}, {FP2_ZERO, c4, FP2_ZERO}};
        e = schoolbook12(&a, &t);
        o = a, fp12_mul_by_014(&o, &c0, &c1, &c4);
        assert_true(fp12_eq(&o, &e));
        // Squaring in the cyclotomic subgroup: bring a into it by ^((p^6 - 1)(p^2 + 1)).
        fp12_inv(&o, &a), fp12_conj(&t, &a), fp12_mul(&t, &t, &o);
        fp12_frobenius(&o, &t, 2), fp12_mul(&t, &t, &o);
        fp12_sqr(&e, &t);
        o = t, fp12_cyclotomic_sqr(&o, &o);
        assert_true(fp12_eq(&o, &e));
        fp12_conj(&o, &t), fp12_mul(&o, &o, &t);
        assert_true(fp12_is_one(&o));
    }
}

static void test_frobenius(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    for (unsigned i = 0; i < 4; i++) {
        fp12 a = random_fp12(&rng), power = a, o;
        for (unsigned k = 0; k <= 3; k++) {
            fp12_frobenius(&o, &a, k);
            assert_true(fp12_eq(&o, &power));
            fp12 base = power; // power := power^p
            power = FP12_ONE;
            for (size_t bit = 384; bit-- > 0;) {
                fp12_sqr(&power, &power);
                if (FP_MODULUS[bit / 64] >> bit % 64 & 1) fp12_mul(&power, &power, &base);
            }
        }
        o = a, fp12_frobenius(&o, &o, 3), fp12_frobenius(&o, &o, 3); // p^6
        fp12 c;
        fp12_conj(&c, &a);
        assert_true(fp12_eq(&o, &c));
        fp12_frobenius(&o, &o, 3), fp12_frobenius(&o, &o, 3); // p^12
        assert_true(fp12_eq(&o, &a));
    }
    assert_true(fp12_is_one(&FP12_ONE));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fp2),
        cmocka_unit_test(test_fp6),
        cmocka_unit_test(test_fp12),
        cmocka_unit_test(test_frobenius),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
