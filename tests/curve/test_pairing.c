// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The pairing: a known value, bilinearity, non-degeneracy, products.
#include "base/bytes.h"
#include "curve/pairing.h"
#include "curve_vectors.h"
#include "testing.h"

static fr random_fr(test_rng *rng) {
    fr a;
    uint8_t wide[64];
    for (size_t i = 0; i < 8; i++) store_le64(wide + 8 * i, test_edge_u64(rng));
    fr_from_le_bytes_wide(&a, wide);
    return a;
}
static g1_affine mul1(const g1_affine *a, const fr *k) {
    g1_jac j;
    g1_affine out;
    g1_jac_from_affine(&j, a);
    g1_jac_mul(&j, &j, k);
    g1_jac_to_affine(&out, &j);
    return out;
}
static g2_affine mul2(const g2_affine *a, const fr *k) {
    g2_jac j;
    g2_affine out;
    g2_jac_from_affine(&j, a);
    g2_jac_mul(&j, &j, k);
    g2_jac_to_affine(&out, &j);
    return out;
}
static fp12 pair(const g1_affine *p, const g2_affine *q) {
    fp12 f;
    pairing_miller_loop(&f, p, q, 1);
    pairing_final_exp(&f, &f);
    return f;
}
static fp12 power(const fp12 *a, const uint64_t *e, size_t n) {
    fp12 out = FP12_ONE;
    for (size_t i = 64 * n; i-- > 0;) {
        fp12_sqr(&out, &out);
        if (e[i / 64] >> i % 64 & 1) fp12_mul(&out, &out, a);
    }
    return out;
}

static void test_known_value(void **state) {
    (void)state;
    fp12 f = pair(&G1_GENERATOR, &G2_GENERATOR);
    const fp2 *c[6] = {&f.c0.c0, &f.c0.c1, &f.c0.c2, &f.c1.c0, &f.c1.c1, &f.c1.c2};
    for (size_t i = 0; i < 12; i++) {
        uint8_t expected[48], got[48];
        assert_true(hex_decode(expected, 48, PAIRING_OF_GENERATORS[i], 96));
        fp_to_be_bytes(got, i % 2 == 0 ? &c[i / 2]->c0 : &c[i / 2]->c1);
        assert_memory_equal(got, expected, 48);
    }
    // Not one, and of order r.
    assert_false(fp12_is_one(&f));
    fp12 one = power(&f, FR_MODULUS, 4);
    assert_true(fp12_is_one(&one));
}

// The final exponentiation is ^(3 (p^12 - 1)/r), also outside what Miller loops give: checked as
// f^((p^6-1)(p^2+1)) by inversion and Frobenius, then the exponent 3 (p^4 - p^2 + 1)/r in full.
static void test_final_exponent(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    // (p^4 - p^2 + 1)/r, computed with an independent big-integer program.
    static const uint64_t hard[20] = {
        UINT64_C(0xe516c3f438e3ba79), UINT64_C(0xfa9912aae208ccf1), UINT64_C(0x905ce937335d5b68),
        UINT64_C(0xc71a2629b0dea236), UINT64_C(0x83774940996754c8), UINT64_C(0x21d160aeb6a1e799),
        UINT64_C(0x2ed0b283ed237db4), UINT64_C(0x915c97f36c6f1821), UINT64_C(0x67f17fcbde783765),
        UINT64_C(0x2378b9039096d1b7), UINT64_C(0x7988f8761bdc51dc), UINT64_C(0x2076995003fc77a1),
        UINT64_C(0x827eca0ba621315b), UINT64_C(0xe5a72bce8d63cb9f), UINT64_C(0xf68f7764c28b6f8a),
        UINT64_C(0x2f230063cf081517), UINT64_C(0x94506632528d6a9a), UINT64_C(0xd3cde88eeb996ca3),
        UINT64_C(0xc0bd38c3195c899e), UINT64_C(0x000f686b3d807d01)};
    for (unsigned i = 0; i < 3; i++) {
        fp12 f, t, m, got, expected, square;
        fp *coefficients = (fp *)&f;
        for (size_t k = 0; k < 12; k++) {
            for (size_t j = 0; j < 6; j++) coefficients[k].l[j] = test_edge_u64(&rng);
            coefficients[k].l[5] >>= 4;
        }
        pairing_final_exp(&got, &f);
        fp12_inv(&t, &f), fp12_frobenius(&m, &f, 3), fp12_frobenius(&m, &m, 3), fp12_mul(&m, &m, &t);
        fp12_frobenius(&t, &m, 1), fp12_frobenius(&t, &t, 1), fp12_mul(&m, &m, &t);
        expected = power(&m, hard, 20);
        fp12_sqr(&square, &expected), fp12_mul(&expected, &expected, &square);
        assert_true(fp12_eq(&got, &expected));
        t = f, pairing_final_exp(&t, &t); // alias
        assert_true(fp12_eq(&got, &t));
    }
}

static void test_bilinear(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    fp12 base = pair(&G1_GENERATOR, &G2_GENERATOR);
    for (unsigned i = 0; i < 6; i++) {
        fr a = random_fr(&rng), b = random_fr(&rng), ab;
        uint64_t e[4];
        fr_mul(&ab, &a, &b);
        fr_to_limbs(e, &ab);
        g1_affine ap = mul1(&G1_GENERATOR, &a), bp = mul1(&G1_GENERATOR, &b), abp = mul1(&G1_GENERATOR, &ab), np;
        g2_affine aq = mul2(&G2_GENERATOR, &a), bq = mul2(&G2_GENERATOR, &b), nq;
        fp12 x = pair(&ap, &bq), y = pair(&abp, &G2_GENERATOR), z = pair(&bp, &aq), w = power(&base, e, 4);
        assert_true(fp12_eq(&x, &y));
        assert_true(fp12_eq(&x, &z));
        assert_true(fp12_eq(&x, &w));
        // e(-P, Q) = e(P, -Q) = 1/e(P, Q)
        g1_affine_neg(&np, &ap);
        g2_affine_neg(&nq, &bq);
        y = pair(&np, &bq), z = pair(&ap, &nq);
        assert_true(fp12_eq(&y, &z));
        fp12_mul(&y, &y, &x);
        assert_true(fp12_is_one(&y));
        // e(P + P', Q) = e(P, Q) e(P', Q)
        g1_jac sum;
        g1_affine s;
        g1_jac_from_affine(&sum, &ap);
        g1_jac_add_affine(&sum, &sum, &bp);
        g1_jac_to_affine(&s, &sum);
        x = pair(&ap, &bq), y = pair(&bp, &bq), z = pair(&s, &bq);
        fp12_mul(&x, &x, &y);
        assert_true(fp12_eq(&x, &z));
    }
}

static void test_products(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    enum { N = 35 }; // more than one shared loop
    g1_affine p[N];
    g2_affine q[N];
    fp12 product = FP12_ONE, f;
    fr sum = FR_ZERO;
    for (size_t i = 0; i < N - 1; i++) {
        fr a = random_fr(&rng), b = random_fr(&rng);
        p[i] = mul1(&G1_GENERATOR, &a);
        q[i] = mul2(&G2_GENERATOR, &b);
        if (i % 5 == 1) p[i] = (g1_affine){FP_ZERO, FP_ZERO}, a = FR_ZERO;
        if (i % 7 == 2) q[i] = (g2_affine){FP2_ZERO, FP2_ZERO}, b = FR_ZERO;
        fr_mul(&a, &a, &b);
        fr_add(&sum, &sum, &a);
    }
    // The last pair makes the product one.
    fr_neg(&sum, &sum);
    p[N - 1] = mul1(&G1_GENERATOR, &sum);
    q[N - 1] = G2_GENERATOR;
    assert_true(pairing_product_is_one(p, q, N));
    for (size_t n = 0; n < N; n += n < 4 ? 1 : 15) {
        product = FP12_ONE;
        for (size_t i = 0; i < n; i++) {
            f = pair(&p[i], &q[i]);
            fp12_mul(&product, &product, &f);
        }
        pairing_miller_loop(&f, p, q, n);
        pairing_final_exp(&f, &f);
        assert_true(fp12_eq(&f, &product));
        assert_int_equal(pairing_product_is_one(p, q, n), fp12_is_one(&product));
    }
    p[N - 1] = G1_GENERATOR; // another last pair does not
    assert_false(pairing_product_is_one(p, q, N));

    // Infinity on either side contributes one; nothing at all is one.
    g1_affine o1 = {FP_ZERO, FP_ZERO};
    g2_affine o2 = {FP2_ZERO, FP2_ZERO};
    assert_true(pairing_product_is_one(&o1, &G2_GENERATOR, 1));
    assert_true(pairing_product_is_one(&G1_GENERATOR, &o2, 1));
    assert_true(pairing_product_is_one(&o1, &o2, 1));
    assert_true(pairing_product_is_one(&o1, &o2, 0));
    assert_false(pairing_product_is_one(&G1_GENERATOR, &G2_GENERATOR, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_value),
        cmocka_unit_test(test_final_exponent),
        cmocka_unit_test(test_bilinear),
        cmocka_unit_test(test_products),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
