// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every kernel of the table against the complete additions of the curve layer, on operands chosen to meet each case:
// general, equal, opposite, infinity on either side, and an abscissa of zero that is not infinity.
#include "testing.h"

#include "base/cpu.h"
#include "msm/types.h"

#if MSM_GROUP == 1
#define GENERATOR G1_GENERATOR
#else
#define GENERATOR G2_GENERATOR
#endif

enum { N = 300, TABLE = 40 };
typedef void kernel(POINT *acc, const uint32_t *a, const POINT *table, const uint32_t *b, size_t n, FE *scratch);

static test_rng rng;

static void check(kernel *add_batch, const char *name) {
    POINT table[TABLE], acc[2 * N], before[2 * N];
    JAC p;
    G(jac_from_affine)(&p, &GENERATOR);
    for (int i = 0; i < TABLE; i++) {
        G(jac_to_affine)(&table[i], &p);
        G(jac_add_affine)(&p, &p, &GENERATOR);
        if (i % 3 == 0) G(affine_neg)(&table[i], &table[i]);
    }
    table[0] = (POINT){0};
#if MSM_GROUP == 1
    // (0, 2) is on the curve, outside the subgroup.
    table[1] = (POINT){0};
    fp_from_u64(&table[1].y, 2);
    assert_true(g1_affine_on_curve(&table[1]));
#endif
    static const size_t sizes[] = {0, 1, 2, 3, 17, N};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const size_t n = sizes[s];
        uint32_t a[N], b[N];
        FE scratch[N];
        for (size_t i = 0; i < 2 * N; i++) {
            acc[i] = table[test_below(&rng, TABLE)];
            if (test_below(&rng, 8) == 0) G(affine_neg)(&acc[i], &acc[i]);
        }
        for (size_t i = 0; i < n; i++) { // distinct targets in no order
            a[i] = (uint32_t)(2 * (i * 7 % N) + test_below(&rng, 2));
            b[i] = (uint32_t)(test_below(&rng, TABLE) << 1 | test_below(&rng, 2));
            if (test_below(&rng, 3) == 0) { // equal or opposite
                for (uint32_t k = 0; k < TABLE; k++)
                    if (G(affine_eq)(&table[k], &acc[a[i]])) b[i] = k << 1 | (b[i] & 1);
            }
        }
        memcpy(before, acc, sizeof acc);
        add_batch(acc, a, table, b, n, scratch);
        for (size_t i = 0; i < n; i++) {
            POINT q = table[b[i] >> 1], got = acc[a[i]];
            if ((b[i] & 1) != 0) G(affine_neg)(&q, &q);
            JAC want;
            G(jac_from_affine)(&want, &before[a[i]]);
            G(jac_add_affine)(&want, &want, &q);
            G(jac_to_affine)(&q, &want);
            if (!G(affine_eq)(&q, &got)) fail_msg("%s: addition %zu of %zu", name, i, n);
            before[a[i]] = got;
        }
        assert_memory_equal(before, acc, sizeof acc); // nothing else was touched
    }
}

static void test_portable(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) check(MSM(add_batch_portable), "portable");
}

static void test_adx(void **state) {
    (void)state;
#if defined(__x86_64__)
    if (cpu_current() < CPU_AVX2) skip();
    for (int i = 0; i < 20; i++) check(MSM(add_batch_adx), "adx");
#else
    skip();
#endif
}

int main(void) {
    rng = test_rng_new("test_add_batch");
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_portable), cmocka_unit_test(test_adx)};
    return cmocka_run_group_tests(tests, 0, 0);
}
