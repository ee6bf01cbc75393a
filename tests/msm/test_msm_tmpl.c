// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Sums, multi-exponentiation and fixed-base tables against double-and-add from the curve layer. Compiled for each
// group.
#include "testing.h"

#include "base/mem.h"
#include "msm/fixed_base.h"
#include "msm/msm.h"
#include "msm/types.h"

#if MSM_GROUP == 1
#define GENERATOR G1_GENERATOR
#define MSM_MAIN msm_g1
#else
#define GENERATOR G2_GENERATOR
#define MSM_MAIN msm_g2
#endif

static test_rng rng;
static pool *pools[3]; // 1, 2 and 5 threads

static void random_fr(fr *out) {
    uint8_t b[64];
    for (int i = 0; i < 64; i++) b[i] = (uint8_t)test_u64(&rng);
    fr_from_le_bytes_wide(out, b);
}

// A scalar that is often where recoding could go wrong.
static void edge_fr(fr *out) {
    uint64_t l[4] = {0};
    switch (test_below(&rng, 12)) {
    case 0: *out = FR_ZERO; return;
    case 1: *out = FR_ONE; return;
    case 2: fr_neg(out, &FR_ONE); return;
    case 3: // (r-1)/2 and its neighbours
    case 4:
        fr_from_u64(out, 2);
        fr_inv(out, out); // (r+1)/2
        fr_from_u64((fr *)l, test_below(&rng, 4));
        fr_sub(out, out, (fr *)l);
        return;
    case 5: // 2^k, and 2^k - 1
        l[test_below(&rng, 4)] = UINT64_C(1) << test_below(&rng, 62);
        fr_from_limbs(out, l);
        if (test_below(&rng, 2)) fr_sub(out, out, &FR_ONE);
        return;
    case 6: fr_from_u64(out, test_below(&rng, 1000)); return;
    case 7:
        for (int i = 0; i < 4; i++) l[i] = test_edge_u64(&rng);
        l[3] >>= 2;
        fr_from_limbs(out, l);
        return;
    default: random_fr(out);
    }
}

// Points k * generator for small random steps: cheap, and all different with overwhelming probability.
static void random_points(POINT *out, size_t n) {
    JAC *t = malloc((n + 1) * sizeof *t), step;
    fr k;
    random_fr(&k);
    G(jac_from_affine)(&t[0], &GENERATOR);
    G(jac_mul)(&step, &t[0], &k);
    random_fr(&k);
    G(jac_mul)(&t[0], &t[0], &k);
    for (size_t i = 1; i < n; i++) G(jac_add)(&t[i], &t[i - 1], &step);
    G(jac_to_affine_batch)(out, t, n);
    free(t);
}

static void naive(JAC *out, const POINT *bases, const fr *k, size_t n) {
    G(jac_infinity)(out);
    for (size_t i = 0; i < n; i++) {
        JAC t;
        G(jac_from_affine)(&t, &bases[i]);
        G(jac_mul)(&t, &t, &k[i]);
        G(jac_add)(out, out, &t);
    }
}

// All thread counts against `want`.
static void check(const JAC *want, const POINT *bases, const fr *k, size_t n, const char *what) {
    for (size_t t = 0; t < 4; t++) {
        JAC got;
        cuzk_error err = {0};
        if (MSM_MAIN(&got, bases, k, n, t == 3 ? 0 : pools[t], &err) != CUZK_OK) fail_msg("%s: %s", what, err.text);
        if (!G(jac_eq)(&got, want)) fail_msg("%s: wrong sum of %zu terms, pool %zu", what, n, t);
    }
}

static void test_small(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 5, 6, 7, 16, 31, 33, 100, 257};
    POINT p[257];
    fr k[257];
    random_points(p, 257);
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        JAC want;
        for (size_t i = 0; i < sizes[s]; i++) edge_fr(&k[i]);
        naive(&want, p, k, sizes[s]);
        check(&want, p, k, sizes[s], "edge scalars");
        for (size_t i = 0; i < sizes[s]; i++) random_fr(&k[i]);
        naive(&want, p, k, sizes[s]);
        check(&want, p, k, sizes[s], "random scalars");
    }
}

// Bases that make additions degenerate: repeated, opposite, infinite.
static void test_degenerate(void **state) {
    (void)state;
    enum { N = 200 };
    POINT q[3], p[N];
    fr k[N];
    for (int round = 0; round < 6; round++) {
        random_points(q, 3);
        G(affine_neg)(&q[1], &q[0]);
        const fr same = {{test_u64(&rng), test_u64(&rng), test_u64(&rng), 1}}; // some value; round 1 uses it for all
        for (size_t i = 0; i < N; i++) {
            p[i] = round == 0 ? q[0] : q[test_below(&rng, 3)];
            if (round > 0 && test_below(&rng, 4) == 0) p[i] = (POINT){0};
            if (round == 2) p[i] = (POINT){0};
            edge_fr(&k[i]);
            if (round == 1) k[i] = same;
            if (round == 3) fr_from_u64(&k[i], test_below(&rng, 3));
        }
        JAC want;
        naive(&want, p, k, N);
        check(&want, p, k, N, "degenerate bases");
    }
}

// Larger sizes, where several tasks share a bucket and several ranges reduce a window: sum k_i (c_i G) = (sum k_i c_i)
// G.
static void known_multiples(POINT *p, fr *c, size_t n) {
    struct FIXED() * t;
    assert_int_equal(FIXED(_create)(&t, &GENERATOR, n, pools[1], 0), CUZK_OK);
    for (size_t i = 0; i < n; i++) random_fr(&c[i]);
    assert_int_equal(FIXED(_mul)(p, t, c, n, pools[1], 0), CUZK_OK);
    FIXED(_destroy)(&t);
    assert_null(t);
}

static void combine(JAC *want, const fr *c, const fr *k, size_t n) {
    fr sum = FR_ZERO, t;
    for (size_t i = 0; i < n; i++) {
        fr_mul(&t, &c[i], &k[i]);
        fr_add(&sum, &sum, &t);
    }
    G(jac_from_affine)(want, &GENERATOR);
    G(jac_mul)(want, want, &sum);
}

enum { LARGE = MSM_GROUP == 1 ? 1 << 14 : 1 << 12 };

static void test_large(void **state) {
    (void)state;
    POINT *p = malloc(LARGE * sizeof *p);
    fr *c = malloc(LARGE * sizeof *c), *k = malloc(LARGE * sizeof *k);
    known_multiples(p, c, LARGE);
    JAC want;
    for (int mix = 0; mix < 5; mix++) {
        const size_t n = LARGE - (size_t)test_below(&rng, 100);
        for (size_t i = 0; i < n; i++) {
            switch (mix) {
            case 0: random_fr(&k[i]); break;
            case 1: edge_fr(&k[i]); break;
            case 2: // mostly bits
                if (test_below(&rng, 50) == 0)
                    random_fr(&k[i]);
                else
                    fr_from_u64(&k[i], test_below(&rng, 2));
                break;
            case 3: fr_from_u64(&k[i], test_below(&rng, UINT64_C(1) << 20)); break;
            default: k[i] = i == 0 ? FR_GENERATOR : k[0]; // one bucket a window
            }
        }
        combine(&want, c, k, n);
        check(&want, p, k, n, "large");
    }
    // All bases equal, so that sums inside buckets are doublings.
    for (size_t i = 0; i < LARGE; i++) p[i] = p[0], c[i] = c[0], k[i] = i % 3 ? k[0] : FR_ONE;
    combine(&want, c, k, LARGE);
    check(&want, p, k, LARGE, "all bases equal");
    free(p), free(c), free(k);
}

static void test_bits(void **state) {
    (void)state;
    enum { N = 3000 };
    POINT *p = malloc(N * sizeof *p);
    random_points(p, N);
    uint64_t bits[(N + 63) / 64];
    static const size_t sizes[] = {0, 1, 63, 64, 65, 127, 1000, N};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (int fill = 0; fill < 4; fill++) {
            JAC want, got;
            // Bits beyond n must not matter.
            for (size_t w = 0; w < sizeof bits / 8; w++)
                bits[w] = fill == 0 ? 0 : fill == 1 ? UINT64_MAX : fill == 2 ? test_u64(&rng) : test_edge_u64(&rng);
            G(jac_infinity)(&want);
            for (size_t i = 0; i < sizes[s]; i++)
                if ((bits[i / 64] >> i % 64 & 1) != 0) G(jac_add_affine)(&want, &want, &p[i]);
            for (int t = 0; t < 3; t++) {
                assert_int_equal(MSM(sum_bits)(&got, p, bits, sizes[s], pools[t], 0), CUZK_OK);
                assert_true(G(jac_eq)(&got, &want));
            }
        }
    free(p);
}

static void test_classes(void **state) {
    (void)state;
    enum { N = 2000, CLASSES = 300 };
    POINT *p = malloc(N * sizeof *p);
    uint16_t class[N];
    JAC *want = malloc(CLASSES * sizeof *want), *got = malloc(CLASSES * sizeof *got);
    random_points(p, N);
    for (size_t i = 0; i < N; i += 7) p[i] = p[(i + 7) % N];
    for (int mix = 0; mix < 5; mix++) {
        const size_t n = mix == 0 ? 0 : mix == 4 ? 1 : N, classes = mix == 3 ? 1 : CLASSES;
        for (size_t i = 0; i < n; i++) // 1: any; 2: all in one class, the others empty
            class[i] = (uint16_t)(mix == 1 ? test_below(&rng, CLASSES) : mix == 2 ? 17 : 0);
        for (size_t k = 0; k < classes; k++) G(jac_infinity)(&want[k]);
        for (size_t i = 0; i < n; i++) G(jac_add_affine)(&want[class[i]], &want[class[i]], &p[i]);
        for (int t = 0; t < 3; t++) {
            assert_int_equal(MSM(sum_classes)(got, classes, p, class, n, pools[t], 0), CUZK_OK);
            for (size_t k = 0; k < classes; k++)
                if (!G(jac_eq)(&got[k], &want[k])) fail_msg("class %zu, mix %d", k, mix);
        }
    }
    class[3] = CLASSES;
    cuzk_error err = {0};
    assert_int_equal(MSM(sum_classes)(got, CLASSES, p, class, N, pools[1], &err), CUZK_ERR_USAGE);
    assert_non_null(strstr(err.text, "300"));
    free(p), free(want), free(got);
}

static void test_fixed_base(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 1023, 1024, 1500};
    POINT base[1], out[1500];
    fr k[1500];
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        const size_t n = sizes[s];
        random_points(base, 1);
        for (size_t i = 0; i < n; i++) edge_fr(&k[i]);
        for (int t = 0; t < 3; t++) {
            // The expected number only chooses the width of windows.
            static const size_t expected[] = {1, 100, 3000};
            struct FIXED() * table;
            assert_int_equal(FIXED(_create)(&table, base, expected[t], pools[t], 0), CUZK_OK);
            assert_int_equal(FIXED(_mul)(out, table, k, n, pools[t], 0), CUZK_OK);
            for (size_t i = 0; i < n; i += 1 + n / 100) {
                JAC want, got;
                G(jac_from_affine)(&want, base);
                G(jac_mul)(&want, &want, &k[i]);
                G(jac_from_affine)(&got, &out[i]);
                if (!G(jac_eq)(&got, &want)) fail_msg("multiple %zu of %zu", i, n);
            }
            FIXED(_destroy)(&table);
        }
    }
    FIXED(_destroy)(0);
}

#if MSM_GROUP == 1
static void see_scalars(void *ctx, const void *at, size_t bytes) {
    const fr *k = ctx;
    for (size_t i = 0; i + sizeof *k <= bytes; i += sizeof(uint64_t))
        if (memcmp((const char *)at + i, k, sizeof *k) == 0) fail_msg("a scalar is left in memory that is kept");
}

// The scalars' block is overwritten and gone, whatever memory is refused.
static void test_consumed(void **state) {
    (void)state;
    enum { N = 1 << 16 }; // a block that is kept
    POINT *p = malloc(N * sizeof *p);
    fr *c = malloc(N * sizeof *c), *k = malloc(N * sizeof *k);
    known_multiples(p, c, N);
    for (size_t i = 0; i < N; i++) random_fr(&k[i]);
    JAC want, got;
    combine(&want, c, k, N);
    mem_keep_begin();
    const uint64_t before = mem_usage_total().live;
    for (uint64_t refused = 0; refused < 12; refused++) {
        fr *own = mem_alloc(MEM_EVALUATION, N, sizeof *own);
        assert_non_null(own);
        memcpy(own, k, N * sizeof *own);
        mem_test_refuse(refused);
        const cuzk_status status = msm_g1_consume(&got, p, &own, N, pools[1], 0);
        mem_test_refuse(0);
        assert_null(own);
        assert_int_equal(mem_usage_total().live, before);
        assert_true(status == CUZK_OK ? G(jac_eq)(&got, &want) : refused != 0 && status == CUZK_ERR_MEMORY);
        mem_test_kept(see_scalars, &k[N / 2]);
    }
    mem_keep_end();
    free(p), free(c), free(k);
}
#endif

int main(void) {
    rng = test_rng_new(MSM_GROUP == 1 ? "test_msm_g1" : "test_msm_g2");
    static const unsigned threads[] = {1, 2, 5};
    for (int t = 0; t < 3; t++)
        if (pool_create(&pools[t], threads[t], 0) != CUZK_OK) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_fixed_base),
#if MSM_GROUP == 1
        cmocka_unit_test(test_consumed),
#endif
    };
    const int failed = cmocka_run_group_tests(tests, 0, 0);
    for (int t = 0; t < 3; t++) pool_destroy(&pools[t]);
    return failed;
}
