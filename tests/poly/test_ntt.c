// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The transforms against the definition, against each other, and against school-book polynomial arithmetic.
#include "testing.h"

#include "poly/domain.h"

static test_rng rng;

static void random_fr(fr *out) {
    uint8_t b[64] = {0};
    switch (test_below(&rng, 8)) {
    case 0: fr_from_u64(out, test_below(&rng, 3)); break;
    case 1: fr_from_u64(out, test_below(&rng, 3)), fr_neg(out, out); break;
    default:
        for (int i = 0; i < 64; i++) b[i] = (uint8_t)test_u64(&rng);
        fr_from_le_bytes_wide(out, b);
    }
}
static fr *random_vec(size_t n) {
    fr *a = malloc(n * sizeof *a);
    assert_non_null(a);
    for (size_t i = 0; i < n; i++) random_fr(&a[i]);
    return a;
}
static fr *copy_vec(const fr *a, size_t n) {
    fr *b = malloc(n * sizeof *b);
    assert_non_null(b);
    memcpy(b, a, n * sizeof *b);
    return b;
}
static void assert_vec(const fr *a, const fr *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!fr_eq(&a[i], &b[i])) fail_msg("element %zu of %zu differs", i, n);
}
static ntt_domain *domain(uint64_t n, pool *p) {
    ntt_domain *d;
    cuzk_error err = {0};
    if (ntt_domain_create(&d, n, p, &err) != CUZK_OK) fail_msg("%s", err.text);
    return d;
}

// sum_j a[j] x^j
static void eval(fr *out, const fr *a, size_t n, const fr *x) {
    fr v = FR_ZERO;
    for (size_t i = n; i-- > 0;) {
        fr_mul(&v, &v, x);
        fr_add(&v, &v, &a[i]);
    }
    *out = v;
}

static void test_definition(void **state) {
    (void)state;
    for (unsigned k = 0; k <= 9; k++) {
        const size_t n = (size_t)1 << k;
        ntt_domain *d = domain(n, 0);
        assert_int_equal(ntt_domain_size(d), n);
        assert_int_equal(ntt_domain_log2(d), k);
        fr w, x, y, *a = random_vec(n), *f = copy_vec(a, n), *c = copy_vec(a, n);
        fr_root_of_unity(&w, k);
        assert_true(fr_eq(&w, ntt_domain_omega(d)));
        ntt_forward(d, f, 0);
        ntt_coset_forward(d, c, 0);
        x = FR_ONE;
        for (size_t i = 0; i < n; i++) {
            eval(&y, a, n, &x);
            assert_true(fr_eq(&y, &f[i]));
            fr gx;
            fr_mul(&gx, &FR_GENERATOR, &x);
            eval(&y, a, n, &gx);
            assert_true(fr_eq(&y, &c[i]));
            fr_mul(&x, &x, &w);
        }
        ntt_inverse(d, f, 0);
        assert_vec(f, a, n);
        ntt_coset_inverse(d, c, 0);
        assert_vec(c, a, n);
        ntt_domain_destroy(&d);
        assert_null(d);
        free(a), free(f), free(c);
    }
}

// Sizes that use every number of column passes a test can afford, and 1, 2, 3 threads with equal results.
static void test_threads_and_round_trips(void **state) {
    (void)state;
    static const unsigned sizes[] = {8, 13, 14, 15, 18};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const size_t n = (size_t)1 << sizes[s];
        fr *a = random_vec(n), *first[3] = {0};
        for (unsigned threads = 1; threads <= 3; threads++) {
            pool *p;
            assert_int_equal(pool_create(&p, threads, 0), CUZK_OK);
            ntt_domain *d = domain(n, p);
            fr *v[3] = {copy_vec(a, n), copy_vec(a, n), copy_vec(a, n)};
            ntt_forward(d, v[0], p);
            ntt_coset_forward(d, v[1], p);
            ntt_coset_inverse(d, v[2], p);
            if (threads == 1) {
                // Spot checks against the definition at points that are not special.
                for (int t = 0; t < 2; t++) {
                    const size_t i = (size_t)test_below(&rng, n);
                    fr x, y;
                    fr_pow_u64(&x, ntt_domain_omega(d), i);
                    eval(&y, a, n, &x);
                    assert_true(fr_eq(&y, &v[0][i]));
                    fr_mul(&x, &x, &FR_GENERATOR);
                    eval(&y, a, n, &x);
                    assert_true(fr_eq(&y, &v[1][i]));
                }
                for (int t = 0; t < 3; t++) first[t] = copy_vec(v[t], n);
            } else {
                for (int t = 0; t < 3; t++) assert_vec(v[t], first[t], n);
            }
            ntt_inverse(d, v[0], p);
            ntt_coset_inverse(d, v[1], p);
            ntt_coset_forward(d, v[2], p);
            for (int t = 0; t < 3; t++) assert_vec(v[t], a, n), free(v[t]);
            ntt_domain_destroy(&d);
            pool_destroy(&p);
        }
        for (int t = 0; t < 3; t++) free(first[t]);
        free(a);
    }
}

static void test_coset_is_scaling(void **state) {
    (void)state;
    const size_t n = 1 << 14;
    ntt_domain *d = domain(n, 0);
    fr *a = random_vec(n), *b = copy_vec(a, n), g = FR_ONE;
    for (size_t i = 0; i < n; i++) {
        fr_mul(&b[i], &b[i], &g);
        fr_mul(&g, &g, &FR_GENERATOR);
    }
    ntt_coset_forward(d, a, 0);
    ntt_forward(d, b, 0);
    assert_vec(a, b, n);
    free(a), free(b);
    ntt_domain_destroy(&d);
}

static void test_linear_and_convolution(void **state) {
    (void)state;
    const size_t n = 256;
    ntt_domain *d = domain(n, 0);
    fr *a = random_vec(n), *b = random_vec(n), k, t;
    random_fr(&k);
    fr *s = copy_vec(a, n), *c = calloc(n, sizeof *c), *fa = copy_vec(a, n), *fb = copy_vec(b, n);
    for (size_t i = 0; i < n; i++) {
        fr_mul(&t, &k, &b[i]);
        fr_add(&s[i], &s[i], &t);
        for (size_t j = 0; j < n; j++) { // cyclic
            fr_mul(&t, &a[i], &b[j]);
            fr_add(&c[(i + j) % n], &c[(i + j) % n], &t);
        }
    }
    ntt_forward(d, fa, 0), ntt_forward(d, fb, 0), ntt_forward(d, s, 0);
    for (size_t i = 0; i < n; i++) {
        fr_mul(&t, &k, &fb[i]);
        fr_add(&t, &t, &fa[i]);
        assert_true(fr_eq(&t, &s[i]));
        fr_mul(&fa[i], &fa[i], &fb[i]);
    }
    ntt_inverse(d, fa, 0);
    assert_vec(fa, c, n);
    free(a), free(b), free(s), free(c), free(fa), free(fb);
    ntt_domain_destroy(&d);
}

// a, b: evaluations. c: evaluations of a polynomial with a b - c divisible by Z, that is c = a b on the domain; or with
// `valid` false any c, when the result is (A B mod (X^n - g^n) - C) / z, which need not be a quotient.
static void check_quotient(size_t n, pool *p) {
    ntt_domain *d = domain(n, p);
    fr *a = random_vec(n), *b = random_vec(n), *c = malloc(n * sizeof *c);
    for (size_t i = 0; i < n; i++) fr_mul(&c[i], &a[i], &b[i]);
    fr *pa = copy_vec(a, n), *pb = copy_vec(b, n), *pc = copy_vec(c, n);
    ntt_inverse(d, pa, p), ntt_inverse(d, pb, p), ntt_inverse(d, pc, p);
    ntt_quotient(d, a, b, c, p);
    if (n <= 512) {
        // A B - C by the school book; division by X^n - 1 adds the upper coefficients down.
        fr *prod = calloc(2 * n, sizeof *prod), t;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                fr_mul(&t, &pa[i], &pb[j]);
                fr_add(&prod[i + j], &prod[i + j], &t);
            }
        for (size_t i = 0; i < n; i++) fr_sub(&prod[i], &prod[i], &pc[i]);
        for (size_t i = 0; i < n; i++) {
            fr_add(&t, &prod[i], &prod[i + n]); // remainder
            assert_true(fr_is_zero(&t));
        }
        assert_vec(a, prod + n, n - 1);
        free(prod);
    } else {
        // At a random point: h(x) (x^n - 1) = A(x) B(x) - C(x).
        fr x, ha, va, vb, vc, z;
        random_fr(&x);
        eval(&ha, a, n - 1, &x), eval(&va, pa, n, &x), eval(&vb, pb, n, &x), eval(&vc, pc, n, &x);
        fr_pow_u64(&z, &x, n);
        fr_sub(&z, &z, &FR_ONE);
        fr_mul(&ha, &ha, &z);
        fr_mul(&va, &va, &vb);
        fr_sub(&va, &va, &vc);
        assert_true(fr_eq(&ha, &va));
    }
    free(a), free(b), free(c), free(pa), free(pb), free(pc);
    ntt_domain_destroy(&d);
}

static void test_quotient(void **state) {
    (void)state;
    for (size_t n = 1; n <= 256; n *= 2) check_quotient(n, 0);
    pool *p;
    assert_int_equal(pool_create(&p, 2, 0), CUZK_OK);
    check_quotient(512, p);
    check_quotient(1 << 13, p);
    check_quotient(1 << 14, p);
    check_quotient(1 << 16, p);
    pool_destroy(&p);
}

static void test_lagrange(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 2, 4, 64, 1024, 4096};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const size_t n = sizes[s];
        pool *p;
        assert_int_equal(pool_create(&p, 1 + s % 3, 0), CUZK_OK);
        ntt_domain *d = domain(n, p);
        fr x, sum = FR_ZERO, inter = FR_ZERO, y, t, *l = malloc(n * sizeof *l), *a = random_vec(n);
        do random_fr(&x), fr_pow_u64(&t, &x, n);
        while (fr_is_one(&t)); // not in the domain
        ntt_domain_lagrange_at(d, l, &x, p);
        eval(&y, a, n, &x);
        ntt_forward(d, a, p);
        for (size_t i = 0; i < n; i++) {
            fr_add(&sum, &sum, &l[i]);
            fr_mul(&t, &l[i], &a[i]);
            fr_add(&inter, &inter, &t);
        }
        assert_true(fr_is_one(&sum));
        assert_true(fr_eq(&inter, &y));
        free(l), free(a);
        ntt_domain_destroy(&d);
        pool_destroy(&p);
    }
}

static void test_sizes(void **state) {
    (void)state;
    static const uint64_t asked[] = {0, 1, 2, 3, 4, 5, 1000, 1024, 1025};
    static const uint64_t got[] = {1, 1, 2, 4, 4, 8, 1024, 1024, 2048};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        ntt_domain *d = domain(asked[i], 0);
        assert_int_equal(ntt_domain_size(d), got[i]);
        ntt_domain_destroy(&d);
    }
    ntt_domain *d = 0;
    cuzk_error err = {0};
    assert_int_equal(ntt_domain_create(&d, (UINT64_C(1) << 32) + 1, 0, &err), CUZK_ERR_USAGE);
    assert_null(d);
    assert_non_null(strstr(err.text, "4294967297"));
    ntt_domain_destroy(&d);
    ntt_domain_destroy(0);
}

int main(void) {
    rng = test_rng_new("test_ntt");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition),
        cmocka_unit_test(test_threads_and_round_trips),
        cmocka_unit_test(test_coset_is_scaling),
        cmocka_unit_test(test_linear_and_convolution),
        cmocka_unit_test(test_quotient),
        cmocka_unit_test(test_lagrange),
        cmocka_unit_test(test_sizes),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
