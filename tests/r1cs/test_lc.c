// SPDX-License-Identifier: MIT OR Apache-2.0
#include "testing.h"

#include "r1cs/lc.h"

enum { INPUTS = 8, AUX = 300 };

static fr some_fr(test_rng *r) {
    uint8_t wide[64];
    fr f;
    switch (test_below(r, 6)) {
    case 0: return FR_ZERO;
    case 1: return FR_ONE;
    case 2: fr_neg(&f, &FR_ONE); return f;
    case 3: fr_from_u64(&f, test_edge_u64(r)); return f;
    default:
        for (size_t i = 0; i < sizeof wide; i++) wide[i] = (uint8_t)test_u64(r);
        fr_from_le_bytes_wide(&f, wide);
        return f;
    }
}

static wire some_wire(test_rng *r, uint32_t aux) {
    return test_below(r, 8) == 0 ? (wire)test_below(r, INPUTS) : WIRE_AUX | (wire)test_below(r, aux);
}

static size_t slot(wire w) { return wire_is_aux(w) ? INPUTS + wire_index(w) : w; }

// Coefficients by wire, the obvious way.
static void dense(fr out[INPUTS + AUX], const term *t, uint32_t n) {
    for (size_t i = 0; i < INPUTS + AUX; i++) out[i] = FR_ZERO;
    for (uint32_t i = 0; i < n; i++) fr_add(&out[slot(t[i].wire)], &out[slot(t[i].wire)], &t[i].coeff);
}

static void assert_dense_eq(const fr *a, const fr *b) {
    for (size_t i = 0; i < INPUTS + AUX; i++) assert_true(fr_eq(&a[i], &b[i]));
}

static void assert_normal(const term *t, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        assert_false(fr_is_zero(&t[i].coeff));
        if (i > 0) assert_true(t[i - 1].wire < t[i].wire);
    }
}

static void normalise_is_a_sum_by_wire(void **state) {
    (void)state;
    test_rng r = test_rng_new("lc");
    static term t[3000];
    static fr before[INPUTS + AUX], after[INPUTS + AUX];
    for (int round = 0; round < 400; round++) {
        const uint32_t n = (uint32_t)test_below(&r, round % 20 == 0 ? 3000 : 40);
        const uint32_t aux = 1 + (uint32_t)test_below(&r, AUX);
        for (uint32_t i = 0; i < n; i++) t[i] = (term){some_wire(&r, aux), some_fr(&r)};
        // Now and then a term that cancels another.
        if (n > 2) {
            t[n - 1].wire = t[0].wire;
            fr_neg(&t[n - 1].coeff, &t[0].coeff);
        }
        dense(before, t, n);
        const uint32_t m = terms_normalise(t, n);
        assert_normal(t, m);
        dense(after, t, m);
        assert_dense_eq(before, after);
        assert_int_equal(terms_normalise(t, m), m); // already in order
        dense(after, t, m);
        assert_dense_eq(before, after);
    }
}

static void growing_combinations(void **state) {
    (void)state;
    test_rng r = test_rng_new("lc");
    lc a, b;
    lc_init(&a);
    lc_init(&b);
    static fr da[INPUTS + AUX], db[INPUTS + AUX], found[INPUTS + AUX];
    for (int round = 0; round < 50; round++) {
        lc_clear(&a);
        lc_clear(&b);
        const uint32_t na = (uint32_t)test_below(&r, 200), nb = (uint32_t)test_below(&r, 200);
        for (uint32_t i = 0; i < na; i++) {
            const fr c = some_fr(&r);
            assert_true(lc_add(&a, some_wire(&r, AUX), &c));
        }
        for (uint32_t i = 0; i < nb; i++) {
            const fr c = some_fr(&r);
            assert_true(lc_add(&b, some_wire(&r, AUX), &c));
        }
        dense(da, a.terms, a.n);
        dense(db, b.terms, b.n);
        const fr scale = some_fr(&r), twice = some_fr(&r);
        assert_true(lc_add_scaled(&a, round % 2 == 0 ? &scale : NULL, &b));
        lc_scale(&a, &twice);
        const lc_view v = lc_finish(&a);
        assert_normal(v.terms, v.n);
        dense(found, v.terms, v.n);
        for (size_t i = 0; i < INPUTS + AUX; i++) {
            fr t = db[i];
            if (round % 2 == 0) fr_mul(&t, &t, &scale);
            fr_add(&t, &t, &da[i]);
            fr_mul(&t, &t, &twice);
            assert_true(fr_eq(&t, &found[i]));
        }
    }
    lc_free(&a);
    lc_free(&b);
    assert_int_equal(lc_finish(&a).n, 0);
}

static void evaluation(void **state) {
    (void)state;
    test_rng r = test_rng_new("lc");
    static fr values[INPUTS + AUX];
    static term t[400];
    for (int round = 0; round < 100; round++) {
        for (size_t i = 0; i < INPUTS + AUX; i++) values[i] = some_fr(&r);
        const uint32_t n = (uint32_t)test_below(&r, 400);
        fr want = FR_ZERO, p, found;
        for (uint32_t i = 0; i < n; i++) {
            t[i] = (term){some_wire(&r, AUX), some_fr(&r)};
            fr_mul(&p, &t[i].coeff, &values[slot(t[i].wire)]);
            fr_add(&want, &want, &p);
        }
        lc_evaluate(&found, (lc_view){t, n}, values, values + INPUTS);
        assert_true(fr_eq(&found, &want));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(normalise_is_a_sum_by_wire),
                                       cmocka_unit_test(growing_combinations), cmocka_unit_test(evaluation)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
