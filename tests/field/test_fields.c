// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Fr and Fp against GMP, on operands biased towards the places where carries break.
#include <gmp.h>

#include "base/bytes.h"
#include "field/fp.h"
#include "field/fr.h"
#include "field/fr_dot.h"
#include "testing.h"

enum { ROUNDS = 20000, MAX_LIMBS = 6 };

// One table for both fields, so that the tests below are written once. Elements are their limbs here.
typedef struct field_ops {
    const char *name;
    size_t limbs;
    const uint64_t *modulus, *one;
    void (*add)(uint64_t *, const uint64_t *, const uint64_t *);
    void (*sub)(uint64_t *, const uint64_t *, const uint64_t *);
    void (*mul)(uint64_t *, const uint64_t *, const uint64_t *);
    void (*sqr)(uint64_t *, const uint64_t *);
    void (*dbl)(uint64_t *, const uint64_t *);
    void (*neg)(uint64_t *, const uint64_t *);
    void (*inv)(uint64_t *, const uint64_t *);
    void (*pow)(uint64_t *, const uint64_t *, const uint64_t *, size_t);
    bool (*eq)(const uint64_t *, const uint64_t *);
    bool (*is_zero)(const uint64_t *);
} field_ops;

static fr as_fr(const uint64_t *a) { return (fr){{a[0], a[1], a[2], a[3]}}; }
static void r_add(uint64_t *o, const uint64_t *a, const uint64_t *b) { fr_add((fr *)o, (const fr *)a, (const fr *)b); }
static void r_sub(uint64_t *o, const uint64_t *a, const uint64_t *b) { fr_sub((fr *)o, (const fr *)a, (const fr *)b); }
static void r_mul(uint64_t *o, const uint64_t *a, const uint64_t *b) { fr_mul((fr *)o, (const fr *)a, (const fr *)b); }
static void r_sqr(uint64_t *o, const uint64_t *a) { fr_sqr((fr *)o, (const fr *)a); }
static void r_dbl(uint64_t *o, const uint64_t *a) { fr_dbl((fr *)o, (const fr *)a); }
static void r_neg(uint64_t *o, const uint64_t *a) { fr_neg((fr *)o, (const fr *)a); }
static void r_inv(uint64_t *o, const uint64_t *a) { fr_inv((fr *)o, (const fr *)a); }
static void r_pow(uint64_t *o, const uint64_t *a, const uint64_t *e, size_t n) { fr_pow((fr *)o, (const fr *)a, e, n); }
static bool r_eq(const uint64_t *a, const uint64_t *b) { return fr_eq((const fr *)a, (const fr *)b); }
static bool r_is_zero(const uint64_t *a) { return fr_is_zero((const fr *)a); }
static void p_add(uint64_t *o, const uint64_t *a, const uint64_t *b) { fp_add((fp *)o, (const fp *)a, (const fp *)b); }
static void p_sub(uint64_t *o, const uint64_t *a, const uint64_t *b) { fp_sub((fp *)o, (const fp *)a, (const fp *)b); }
static void p_mul(uint64_t *o, const uint64_t *a, const uint64_t *b) { fp_mul((fp *)o, (const fp *)a, (const fp *)b); }
static void p_sqr(uint64_t *o, const uint64_t *a) { fp_sqr((fp *)o, (const fp *)a); }
static void p_dbl(uint64_t *o, const uint64_t *a) { fp_dbl((fp *)o, (const fp *)a); }
static void p_neg(uint64_t *o, const uint64_t *a) { fp_neg((fp *)o, (const fp *)a); }
static void p_inv(uint64_t *o, const uint64_t *a) { fp_inv((fp *)o, (const fp *)a); }
static void p_pow(uint64_t *o, const uint64_t *a, const uint64_t *e, size_t n) { fp_pow((fp *)o, (const fp *)a, e, n); }
static bool p_eq(const uint64_t *a, const uint64_t *b) { return fp_eq((const fp *)a, (const fp *)b); }
static bool p_is_zero(const uint64_t *a) { return fp_is_zero((const fp *)a); }

static const field_ops FR = {"Fr",  4,     FR_MODULUS, FR_ONE.l, r_add, r_sub, r_mul,
                             r_sqr, r_dbl, r_neg,      r_inv,    r_pow, r_eq,  r_is_zero};
static const field_ops FP = {"Fp",  6,     FP_MODULUS, FP_ONE.l, p_add, p_sub, p_mul,
                             p_sqr, p_dbl, p_neg,      p_inv,    p_pow, p_eq,  p_is_zero};

static void import(mpz_t out, const uint64_t *limbs, size_t n) { mpz_import(out, n, -1, 8, 0, 0, limbs); }
static void export(uint64_t *limbs, size_t n, const mpz_t v) {
    assert_true(mpz_sgn(v) >= 0 && mpz_sizeinbase(v, 2) <= 64 * n);
    memset(limbs, 0, 8 * n);
    mpz_export(limbs, 0, -1, 8, 0, 0, v);
}

// A reduced element: random edge limbs, or within 2 of 0, q/2 and q.
static void random_element(test_rng *rng, const field_ops *f, mpz_t q, uint64_t *out) {
    mpz_t v;
    mpz_init(v);
    uint64_t near = test_below(rng, 3);
    switch (test_below(rng, 12)) {
    case 0: mpz_set_ui(v, near); break;
    case 1: mpz_sub_ui(v, q, 1 + near); break;
    case 2:
        mpz_fdiv_q_2exp(v, q, 1);
        mpz_add_ui(v, v, near);
        break;
    default:
        for (size_t i = 0; i < f->limbs; i++) out[i] = test_edge_u64(rng);
        import(v, out, f->limbs);
        mpz_mod(v, v, q);
    }
    export(out, f->limbs, v);
    mpz_clear(v);
}

static void check(const field_ops *f, const char *op, const uint64_t *got, mpz_t expected, const mpz_t q) {
    mpz_t v;
    mpz_init(v);
    mpz_mod(expected, expected, q);
    import(v, got, f->limbs);
    if (mpz_cmp(v, expected) != 0) gmp_printf("%s %s: expected %Zx, found %Zx\n", f->name, op, expected, v);
    assert_int_equal(mpz_cmp(v, expected), 0);
    mpz_clear(v);
}

static void test_arithmetic(void **state) {
    const field_ops *f = *state;
    test_rng rng = test_rng_new(f->name);
    uint64_t a[MAX_LIMBS], b[MAX_LIMBS], o[MAX_LIMBS], e[3];
    mpz_t q, R, Rinv, x, y, z;
    mpz_inits(q, R, Rinv, x, y, z, NULL);
    import(q, f->modulus, f->limbs);
    mpz_setbit(R, 64 * f->limbs);
    mpz_invert(Rinv, R, q);
    mpz_set(z, R);
    check(f, "one", f->one, z, q);
    for (unsigned i = 0; i < ROUNDS; i++) {
        random_element(&rng, f, q, a);
        random_element(&rng, f, q, b);
        import(x, a, f->limbs);
        import(y, b, f->limbs);

        f->add(o, a, b), mpz_add(z, x, y), check(f, "add", o, z, q);
        f->sub(o, a, b), mpz_sub(z, x, y), check(f, "sub", o, z, q);
        f->dbl(o, a), mpz_add(z, x, x), check(f, "dbl", o, z, q);
        f->neg(o, a), mpz_neg(z, x), check(f, "neg", o, z, q);
        f->sqr(o, a), mpz_mul(z, x, x), mpz_mul(z, z, Rinv), check(f, "sqr", o, z, q);
        f->mul(o, a, b), mpz_mul(z, x, y), mpz_mul(z, z, Rinv), check(f, "mul", o, z, q);
        // Aliases: the same operand twice, the output over the first, the second, or both.
        f->mul(o, a, a), mpz_mul(z, x, x), mpz_mul(z, z, Rinv), check(f, "mul(a,a)", o, z, q);
        memcpy(o, a, sizeof o), f->mul(o, o, b), mpz_mul(z, x, y), mpz_mul(z, z, Rinv), check(f, "mul over a", o, z, q);
        memcpy(o, b, sizeof o), f->mul(o, a, o), mpz_mul(z, x, y), mpz_mul(z, z, Rinv), check(f, "mul over b", o, z, q);
        memcpy(o, a, sizeof o), f->mul(o, o, o), mpz_mul(z, x, x), mpz_mul(z, z, Rinv),
            check(f, "mul in place", o, z, q);
        memcpy(o, a, sizeof o), f->sqr(o, o), check(f, "sqr in place", o, z, q);
        memcpy(o, a, sizeof o), f->add(o, o, b), mpz_add(z, x, y), check(f, "add over a", o, z, q);
        memcpy(o, b, sizeof o), f->add(o, a, o), check(f, "add over b", o, z, q);
        memcpy(o, b, sizeof o), f->sub(o, a, o), mpz_sub(z, x, y), check(f, "sub over b", o, z, q);
        memcpy(o, a, sizeof o), f->sub(o, o, b), check(f, "sub over a", o, z, q);
        memcpy(o, a, sizeof o), f->sub(o, o, o), mpz_set_ui(z, 0), check(f, "sub in place", o, z, q);
        memcpy(o, a, sizeof o), f->neg(o, o), mpz_neg(z, x), check(f, "neg in place", o, z, q);
        memcpy(o, a, sizeof o), f->dbl(o, o), mpz_add(z, x, x), check(f, "dbl in place", o, z, q);

        assert_int_equal(f->eq(a, b), mpz_cmp(x, y) == 0);
        assert_true(f->eq(a, a));
        assert_int_equal(f->is_zero(a), mpz_sgn(x) == 0);

        if (i % 8 == 0) {
            // The inverse in Montgomery form: R^2 / x.
            f->inv(o, a);
            if (mpz_invert(z, x, q) == 0) mpz_set_ui(z, 0);
            mpz_mul(z, z, R), mpz_mul(z, z, R), check(f, "inv", o, z, q);
            memcpy(o, a, sizeof o), f->inv(o, o), check(f, "inv in place", o, z, q);
        }
        if (i % 64 == 0) {
            size_t n = test_below(&rng, 4);
            for (size_t j = 0; j < n; j++) e[j] = test_edge_u64(&rng);
            f->pow(o, a, e, n);
            mpz_mul(x, x, Rinv); // out of Montgomery form
            import(y, e, n);
            mpz_powm(z, x, y, q), mpz_mul(z, z, R), check(f, "pow", o, z, q);
            memcpy(o, a, sizeof o), f->pow(o, o, e, n), check(f, "pow in place", o, z, q);
        }
    }
    // One limb different is different.
    for (size_t i = 0; i < f->limbs; i++) {
        memset(a, 0, sizeof a), memset(b, 0, sizeof b);
        b[i] = 1;
        assert_false(f->eq(a, b));
        assert_false(f->is_zero(b));
    }
    mpz_clears(q, R, Rinv, x, y, z, NULL);
}

// Factors up to 2p - 1, the result below 2p and the product's residue; fp_mul takes the same factors.
static void test_fp_mul_lazy(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    mpz_t p, twice, R, Rinv, x, y, z;
    mpz_inits(p, twice, R, Rinv, x, y, z, NULL);
    import(p, FP_MODULUS, 6);
    mpz_add(twice, p, p);
    mpz_setbit(R, 384);
    mpz_invert(Rinv, R, p);
    uint64_t a[MAX_LIMBS], b[MAX_LIMBS];
    fp fa, fb, o;
    for (unsigned i = 0; i < ROUNDS; i++) {
        random_element(&rng, &FP, p, a);
        random_element(&rng, &FP, p, b);
        import(x, a, 6), import(y, b, 6);
        if (test_below(&rng, 4) != 0) mpz_add(x, x, p);
        if (test_below(&rng, 4) != 0) mpz_add(y, y, p);
        if (i == 0) mpz_sub_ui(x, twice, 1), mpz_sub_ui(y, twice, 1);
        export(fa.l, 6, x), export(fb.l, 6, y);
        mpz_mul(z, x, y), mpz_mul(z, z, Rinv), mpz_mod(z, z, p);
        fp_mul(&o, &fa, &fb), check(&FP, "mul of factors below 2p", o.l, z, p);
        fp_mul_lazy(&o, &fa, &fb);
        import(x, o.l, 6);
        assert_true(mpz_cmp(x, twice) < 0);
        mpz_mod(x, x, p);
        assert_int_equal(mpz_cmp(x, z), 0);
        fp_mul_lazy(&fa, &fa, &fb); // over a
        assert_true(fp_eq(&fa, &o));
    }
    mpz_clears(p, twice, R, Rinv, x, y, z, NULL);
}

// Small and special operands of the inverse, each checked by multiplication.
static void test_inverse_edges(void **state) {
    const field_ops *f = *state;
    uint64_t a[MAX_LIMBS], o[MAX_LIMBS];
    for (size_t bit = 0; bit < 64 * f->limbs - 4; bit++) {
        for (int sign = 0; sign < 2; sign++) {
            memset(a, 0, sizeof a);
            a[bit / 64] = UINT64_C(1) << bit % 64;
            if (sign) f->neg(a, a);
            f->inv(o, a);
            f->mul(o, o, a);
            assert_true(f->eq(o, f->one));
        }
    }
    memset(a, 0, sizeof a);
    memset(o, 0xff, sizeof o);
    f->inv(o, a);
    assert_true(f->is_zero(o));
    f->inv(o, f->one);
    assert_true(f->eq(o, f->one));
}

static void put_le(uint8_t *bytes, size_t len, const mpz_t v) {
    memset(bytes, 0, len);
    mpz_export(bytes, 0, -1, 1, 0, 0, v);
}

static void test_fr_bytes(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    mpz_t r, v, w;
    mpz_inits(r, v, w, NULL);
    import(r, FR_MODULUS, 4);
    uint8_t in[64], out[32];
    fr a, b;
    for (int d = -3; d <= 3; d++) { // around r
        if (d < 0) {
            mpz_sub_ui(v, r, (unsigned)-d);
        } else {
            mpz_add_ui(v, r, (unsigned)d);
        }
        put_le(in, 32, v);
        a = FR_ONE;
        assert_int_equal(fr_from_le_bytes(&a, in), d < 0);
        if (d < 0) {
            fr_to_le_bytes(out, &a);
            assert_memory_equal(in, out, 32);
            fr_from_u64(&b, (unsigned)-d);
            fr_neg(&b, &b);
            assert_true(fr_eq(&a, &b));
        } else {
            assert_true(fr_is_zero(&a));
        }
    }
    memset(in, 0xff, 64); // 2^256 - 1, and 2^512 - 1 below
    assert_false(fr_from_le_bytes(&a, in));
    for (unsigned i = 0; i < 2000; i++) {
        for (size_t j = 0; j < 8; j++) store_le64(in + 8 * j, i == 0 ? UINT64_MAX : test_edge_u64(&rng));
        mpz_import(v, 64, -1, 1, 0, 0, in);
        mpz_mod(v, v, r);
        put_le(out, 32, v);
        fr_from_le_bytes_wide(&a, in);
        assert_true(fr_from_le_bytes(&b, out));
        assert_true(fr_eq(&a, &b));
        uint64_t limbs[4];
        fr_to_limbs(limbs, &a);
        import(w, limbs, 4);
        assert_int_equal(mpz_cmp(v, w), 0);
        fr_from_limbs(&b, limbs);
        assert_true(fr_eq(&a, &b));
    }
    fr_from_u64(&a, UINT64_MAX);
    fr_to_le_bytes(out, &a);
    for (size_t i = 0; i < 32; i++) assert_int_equal(out[i], i < 8 ? 0xff : 0);
    fr_from_u64(&a, 1);
    assert_true(fr_is_one(&a));
    fr_from_u64(&a, 7);
    assert_true(fr_eq(&a, &FR_GENERATOR));
    assert_false(fr_is_one(&a));
    mpz_clears(r, v, w, NULL);
}

static void test_fr_roots(void **state) {
    (void)state;
    fr w, t, previous = FR_ONE;
    for (unsigned k = 0; k <= FR_TWO_ADICITY; k++) {
        fr_root_of_unity(&w, k);
        t = w;
        for (unsigned i = 0; i < k; i++) {
            assert_false(fr_is_one(&t)); // primitive
            fr_sqr(&t, &t);
        }
        assert_true(fr_is_one(&t));
        fr_sqr(&t, &w);
        assert_true(fr_eq(&t, &previous)); // each is the square of the next
        previous = w;
    }
    assert_true(fr_eq(&w, &FR_ROOT_OF_UNITY));
    // 7^((r-1)/2^32)
    uint64_t e[4];
    for (size_t i = 0; i < 4; i++) e[i] = FR_MODULUS[i] >> 32 | (i < 3 ? FR_MODULUS[i + 1] << 32 : 0);
    fr_pow(&t, &FR_GENERATOR, e, 4);
    assert_true(fr_eq(&t, &FR_ROOT_OF_UNITY));
    // 7 is no square.
    for (size_t i = 0; i < 4; i++) e[i] = FR_MODULUS[i] >> 1 | (i < 3 ? FR_MODULUS[i + 1] << 63 : 0);
    fr_pow(&t, &FR_GENERATOR, e, 4);
    fr_neg(&t, &t);
    assert_true(fr_is_one(&t));
    fr_pow_u64(&t, &FR_GENERATOR, 3);
    fr_from_u64(&w, 343);
    assert_true(fr_eq(&t, &w));
}

static void test_fr_inv_batch(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    enum { N = 50 };
    fr a[N], b[N], scratch[N], t;
    for (size_t n = 0; n <= N; n++) {
        for (size_t i = 0; i < n; i++) {
            uint64_t l[4] = {test_edge_u64(&rng), test_edge_u64(&rng), test_edge_u64(&rng), test_u64(&rng) >> 2};
            a[i] = test_below(&rng, 5) == 0 ? FR_ZERO : as_fr(l);
            b[i] = a[i];
        }
        fr_inv_batch(b, scratch, n);
        for (size_t i = 0; i < n; i++) {
            fr_inv(&t, &a[i]);
            assert_true(fr_eq(&t, &b[i]));
        }
    }
}

static void test_fp_bytes_and_roots(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    mpz_t p, v, half;
    mpz_inits(p, v, half, NULL);
    import(p, FP_MODULUS, 6);
    mpz_fdiv_q_2exp(half, p, 1);
    uint8_t in[48], out[48];
    fp a, b, square;
    unsigned squares = 0;
    for (unsigned i = 0; i < 600; i++) {
        if (i < 7) {
            mpz_set(v, p);
            if (i < 4)
                mpz_sub_ui(v, v, 4 - i);
            else
                mpz_add_ui(v, v, i - 4); // p - 4 ... p + 2
        } else if (i < 14) {
            mpz_set(v, half);
            if (i < 10)
                mpz_sub_ui(v, v, 10 - i);
            else
                mpz_add_ui(v, v, i - 10);
        } else if (i == 14) {
            mpz_set_ui(v, 0);
        } else if (i == 15) {
            mpz_set_ui(v, 0);
            mpz_setbit(v, 384);
            mpz_sub_ui(v, v, 1);
        } else {
            uint64_t l[6];
            for (size_t j = 0; j < 6; j++) l[j] = test_edge_u64(&rng);
            l[5] >>= test_below(&rng, 8);
            import(v, l, 6);
        }
        memset(in, 0, 48);
        mpz_export(in + 48 - (mpz_sizeinbase(v, 256) * (mpz_sgn(v) != 0)), 0, 1, 1, 0, 0, v);
        a = FP_ONE;
        bool below = mpz_cmp(v, p) < 0;
        assert_int_equal(fp_from_be_bytes(&a, in), below);
        if (!below) {
            assert_true(fp_is_zero(&a));
            continue;
        }
        fp_to_be_bytes(out, &a);
        assert_memory_equal(in, out, 48);
        assert_int_equal(fp_is_larger_half(&a), mpz_cmp(v, half) > 0);
        bool is_square = mpz_sgn(v) == 0 || mpz_legendre(v, p) == 1;
        b = FP_ONE;
        assert_int_equal(fp_sqrt(&b, &a), is_square);
        if (is_square) {
            squares++;
            fp_sqr(&square, &b);
            assert_true(fp_eq(&square, &a));
            b = a;
            assert_true(fp_sqrt(&b, &b)); // alias
            fp_sqr(&b, &b);
            assert_true(fp_eq(&b, &a));
        }
    }
    assert_true(squares > 50);
    fp_from_u64(&a, UINT64_MAX);
    fp_to_be_bytes(out, &a);
    for (size_t i = 0; i < 48; i++) assert_int_equal(out[i], i < 40 ? 0 : 0xff);
    mpz_clears(p, v, half, NULL);
}

// Sums of products are those of the plain functions, on either side of what is reduced at once; a worst sum is among
// them: every product (r - 1)^2.
static void test_fr_dot(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    enum { N = 1030 };
    static fr a[N], b[N];
    static const fr *pa[N], *pb[N];
    assert_int_equal(fr_dot_level(), cpu_current() >= CPU_IFMA ? CPU_IFMA : CPU_PORTABLE); // it gave known answers
    const fr largest = {{FR_MODULUS[0] - 1, FR_MODULUS[1], FR_MODULUS[2], FR_MODULUS[3]}};
    for (size_t round = 0; round < 60; round++) {
        const size_t n = round < 20 ? round : round == 20 ? N : round == 21 ? 256 : 1 + test_below(&rng, N);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < 4; j++) a[i].l[j] = test_edge_u64(&rng), b[i].l[j] = test_edge_u64(&rng);
            a[i].l[3] >>= 2, b[i].l[3] >>= 2;
            if (round % 4 == 0) a[i] = b[i] = largest;
            pa[i] = &a[i], pb[n - 1 - i] = &b[i]; // in any order
        }
        fr expected = FR_ZERO, got;
        for (size_t i = 0; i < n; i++) {
            fr_mul(&got, pa[i], pb[i]);
            fr_add(&expected, &expected, &got);
        }
        fr_dot_portable(&got, pa, pb, n);
        assert_true(fr_eq(&got, &expected));
        fr_dot(&got, pa, pb, n);
        assert_true(fr_eq(&got, &expected));
        if (n == 0) continue;
        fr_dot(&a[0], pa, pb, n); // in place
        assert_true(fr_eq(&a[0], &expected));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_arithmetic, (void *)&FR),
        cmocka_unit_test_prestate(test_arithmetic, (void *)&FP),
        cmocka_unit_test_prestate(test_inverse_edges, (void *)&FR),
        cmocka_unit_test_prestate(test_inverse_edges, (void *)&FP),
        cmocka_unit_test(test_fp_mul_lazy),
        cmocka_unit_test(test_fr_bytes),
        cmocka_unit_test(test_fr_roots),
        cmocka_unit_test(test_fr_inv_batch),
        cmocka_unit_test(test_fp_bytes_and_roots),
        cmocka_unit_test(test_fr_dot),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
