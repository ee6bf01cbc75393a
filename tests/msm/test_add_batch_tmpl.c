// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every kernel of the table, on operands chosen to meet each case (general, equal, opposite, infinity on either side,
// an abscissa of zero that is not infinity) in batches of every length around the width of the lanes: the portable one
// against the complete additions of the curve layer, the others against the portable one, byte by byte. Coordinates
// far from any curve check the formulas' arithmetic at the edges of the field.
#include "testing.h"

#include <fenv.h>

#include "base/cpu.h"
#include "msm/types.h"

#if MSM_GROUP == 1
#define GENERATOR G1_GENERATOR
#else
#define GENERATOR G2_GENERATOR
#endif

enum { N = 300, TABLE = 40, GUARD = 4 };
typedef MSM(add_batch) kernel;

static test_rng rng;

// A batch of at most N additions into `acc`, whose elements from 2 N on must stay as they are, like `unit` behind the
// scratch a kernel may use.
typedef struct batch {
    POINT table[TABLE], acc[2 * N + GUARD];
    uint32_t a[N], b[N];
    size_t n;
} batch;

static void run(kernel *add_batch, POINT *acc, const batch *t, const char *name) {
    MSM(scratch) scratch[MSM_SCRATCH(N) + 1], guard;
    memset(&guard, 0xa5, sizeof guard);
    memcpy(&scratch[MSM_SCRATCH(t->n)], &guard, sizeof guard);
    add_batch(acc, t->a, t->table, t->b, t->n, scratch);
    if (memcmp(&scratch[MSM_SCRATCH(t->n)], &guard, sizeof guard) != 0)
        fail_msg("%s: wrote behind the scratch of %zu additions", name, t->n);
}

// Distinct targets in no order, b at random; often the table has the target's point or its opposite.
static void choose(batch *t, size_t n, bool degenerate) {
    t->n = n;
    for (size_t i = 0; i < n; i++) {
        t->a[i] = (uint32_t)(2 * (i * 7 % N) + test_below(&rng, 2));
        t->b[i] = (uint32_t)(test_below(&rng, TABLE) << 1 | test_below(&rng, 2));
        if (!degenerate || test_below(&rng, 3) != 0) continue;
        for (uint32_t k = 0; k < TABLE; k++)
            if (memcmp(&t->table[k].x, &t->acc[t->a[i]].x, sizeof(FE)) == 0) t->b[i] = k << 1 | (t->b[i] & 1);
    }
}

// Multiples of the generator of both signs, infinity, and in G1 a point with x = 0.
static void curve_points(batch *t) {
    JAC p;
    G(jac_from_affine)(&p, &GENERATOR);
    for (int i = 0; i < TABLE; i++) {
        G(jac_to_affine)(&t->table[i], &p);
        G(jac_add_affine)(&p, &p, &GENERATOR);
        if (i % 3 == 0) G(affine_neg)(&t->table[i], &t->table[i]);
    }
    t->table[0] = (POINT){0};
#if MSM_GROUP == 1
    // (0, 2) is on the curve, outside the subgroup.
    t->table[1] = (POINT){0};
    fp_from_u64(&t->table[1].y, 2);
    assert_true(g1_affine_on_curve(&t->table[1]));
#endif
    for (size_t i = 0; i < 2 * N + GUARD; i++) {
        t->acc[i] = t->table[test_below(&rng, TABLE)];
        if (test_below(&rng, 8) == 0) G(affine_neg)(&t->acc[i], &t->acc[i]);
    }
}

// A stored coordinate that is often where carries and reductions could go wrong: 0, 1, p - 1, (p - 1)/2, runs of ones.
static void edge_fp(fp *out) {
    const uint64_t which = test_below(&rng, 10);
    memset(out, 0, sizeof *out);
    if (which < 4) {
        for (int i = 0; i < 6; i++) out->l[i] = FP_MODULUS[i];
        if (which < 3) { // p - 1, p - 2^k
            out->l[which == 0 ? 0 : test_below(&rng, 5)] -= which == 0 ? 1 : UINT64_C(1) << test_below(&rng, 60);
        } else { // (p - 1)/2
            for (int i = 0; i < 6; i++) out->l[i] = out->l[i] >> 1 | (i < 5 ? FP_MODULUS[i + 1] << 63 : 0);
        }
        uint64_t borrow = 0; // the change above may have borrowed from nothing: keep it below p
        for (int i = 0; i < 6; i++) (void)limb_sbb(out->l[i], FP_MODULUS[i], &borrow);
        if (borrow == 0) out->l[5] = 0;
    } else if (which == 4) {
        out->l[0] = test_below(&rng, 2);
    } else {
        for (int i = 0; i < 6; i++) out->l[i] = which < 8 ? test_edge_u64(&rng) : test_u64(&rng);
        out->l[5] &= UINT64_MAX >> 4; // below p
    }
}
static void edge_point(POINT *out) {
    fp *part = (fp *)out;
    for (size_t i = 0; i < sizeof(POINT) / sizeof(fp); i++) edge_fp(&part[i]);
    if (test_below(&rng, 20) == 0) *out = (POINT){0};
}

static void against_curve(kernel *add_batch, const char *name) {
    static batch t;
    static POINT before[2 * N + GUARD];
    curve_points(&t);
    static const size_t sizes[] = {0, 1, 2, 3, 17, N};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        choose(&t, sizes[s], true);
        memcpy(before, t.acc, sizeof before);
        run(add_batch, t.acc, &t, name);
        for (size_t i = 0; i < t.n; i++) {
            POINT q = t.table[t.b[i] >> 1], got = t.acc[t.a[i]];
            if ((t.b[i] & 1) != 0) G(affine_neg)(&q, &q);
            JAC want;
            G(jac_from_affine)(&want, &before[t.a[i]]);
            G(jac_add_affine)(&want, &want, &q);
            G(jac_to_affine)(&q, &want);
            if (!G(affine_eq)(&q, &got)) fail_msg("%s: addition %zu of %zu", name, i, t.n);
            before[t.a[i]] = got;
        }
        assert_memory_equal(before, t.acc, sizeof before); // nothing else was touched
    }
}

static void against_portable(kernel *add_batch, const char *name) {
    static batch t;
    static POINT want[2 * N + GUARD], got[2 * N + GUARD];
    for (int kind = 0; kind < 4; kind++) { // points of the curve or anything, degenerate or not
        for (size_t n = 0; n <= 40 + 4; n++) {
            if (kind < 2) {
                curve_points(&t);
            } else {
                for (size_t i = 0; i < TABLE; i++) edge_point(&t.table[i]);
                for (size_t i = 0; i < 2 * N + GUARD; i++) {
                    edge_point(&t.acc[i]);
                    if (kind == 2 && test_below(&rng, 4) == 0) t.acc[i] = t.table[test_below(&rng, TABLE)];
                }
            }
            choose(&t, n <= 40 ? n : N - 44 + n, kind % 2 == 0);
            memcpy(want, t.acc, sizeof want);
            memcpy(got, t.acc, sizeof got);
            run(MSM(add_batch_portable), want, &t, "portable");
            run(add_batch, got, &t, name);
            for (size_t i = 0; i < 2 * N + GUARD; i++)
                if (memcmp(&want[i], &got[i], sizeof(POINT)) != 0)
                    fail_msg("%s: kind %d, %zu additions: element %zu differs", name, kind, t.n, i);
        }
    }
}

// The table is the array that is added to, as in sums: element 2 i + 1 goes into 2 i.
static void aliased(kernel *add_batch, const char *name) {
    static POINT want[2 * N], got[2 * N];
    static batch t;
    MSM(scratch) scratch[MSM_SCRATCH(N)];
    for (size_t n = 1; n <= N; n = n * 3 + 1) {
        curve_points(&t);
        memcpy(want, t.acc, sizeof want);
        memcpy(got, t.acc, sizeof got);
        for (size_t i = 0; i < n; i++) t.a[i] = (uint32_t)(2 * i), t.b[i] = (uint32_t)(2 * i + 1) << 1 | (i & 1);
        MSM(add_batch_portable)(want, t.a, want, t.b, n, scratch);
        add_batch(got, t.a, got, t.b, n, scratch);
        if (memcmp(want, got, sizeof want) != 0) fail_msg("%s: in place, %zu additions", name, n);
    }
}

// Pairs from a table, by the portable add_batch and by the kernel.
static void pairs(kernel *add_pairs, const char *name) {
    static POINT want[2 * N + GUARD], got[2 * N + GUARD];
    static batch t;
    static uint32_t b[2 * N];
    MSM(scratch) scratch[MSM_SCRATCH(N)];
    for (int round = 0; round < 100; round++) {
        curve_points(&t);
        for (size_t i = 0; i < TABLE && round % 2 != 0; i++) edge_point(&t.table[i]);
        choose(&t, round < 50 ? (size_t)round : 50 + test_below(&rng, N - 50), false);
        memcpy(want, t.acc, sizeof want);
        memcpy(got, t.acc, sizeof got);
        for (size_t i = 0; i < t.n; i++) {
            b[2 * i] = (uint32_t)test_below(&rng, 2 * TABLE), b[2 * i + 1] = t.b[i];
            if (test_below(&rng, 4) == 0) b[2 * i] = b[2 * i + 1] ^ (uint32_t)test_below(&rng, 2); // equal, opposite
            want[t.a[i]] = t.table[b[2 * i] >> 1];
            if ((b[2 * i] & 1) != 0) G(affine_neg)(&want[t.a[i]], &want[t.a[i]]);
        }
        MSM(add_batch_portable)(want, t.a, t.table, t.b, t.n, scratch);
        add_pairs(got, t.a, t.table, b, t.n, scratch);
        if (memcmp(want, got, sizeof want) != 0) fail_msg("%s: %zu pairs", name, t.n);
    }
}

// Whatever the caller has set the processor to: kernels may compute in doubles.
static void rounding(kernel *add_batch, const char *name) {
    static const int modes[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(fesetround(modes[i]), 0);
        against_curve(add_batch, name);
        const int after = fegetround();
        assert_int_equal(fesetround(FE_TONEAREST), 0);
        assert_int_equal(after, modes[i]);
    }
}

static void check(cpu_level level) {
    const MSM(kernels) *k = MSM(kernels_at)(level);
    if (k == 0) skip();
    const char *name = cpu_level_name(level);
    assert_int_equal(k->level, level);
    assert_true(MSM(self_test)(k));
    for (int i = 0; i < 20; i++) against_curve(k->add_batch, name);
    for (int i = 0; i < 4 && level != CPU_PORTABLE; i++) against_portable(k->add_batch, name);
    rounding(k->add_batch, name);
    aliased(k->add_batch, name);
    pairs(k->add_pairs, name);
}
static void test_portable(void **state) {
    (void)state;
    check(CPU_PORTABLE);
}
static void test_avx2(void **state) {
    (void)state;
    check(CPU_AVX2);
}
static void test_ifma(void **state) {
    (void)state;
    check(CPU_IFMA);
}

// The best level is the one in use, and the self-test would find a kernel that does one addition in a thousand wrong.
static size_t spoil;
static void spoiled(POINT *acc, const uint32_t *a, const POINT *table, const uint32_t *b, size_t n,
                    MSM(scratch) * scratch) {
    MSM(add_batch_portable)(acc, a, table, b, n, scratch);
    if (spoil < n) ((fp *)&acc[a[spoil]].y)->l[0] ^= 1;
}
static void spoiled_pairs(POINT *out, const uint32_t *a, const POINT *table, const uint32_t *b, size_t n,
                          MSM(scratch) * scratch) {
    MSM(add_pairs_portable)(out, a, table, b, n, scratch);
    if (spoil < n) ((fp *)&out[a[spoil]].x)->l[0] ^= 1;
}
static void test_choice(void **state) {
    (void)state;
    cpu_level best = CPU_PORTABLE;
    for (int level = CPU_PORTABLE; level <= CPU_IFMA; level++)
        if (MSM(kernels_at)((cpu_level)level) != 0) best = (cpu_level)level;
    assert_int_equal(MSM(kernels_get)()->level, best);
    const MSM(kernels) bad_batch = {CPU_PORTABLE, spoiled, MSM(add_pairs_portable)};
    const MSM(kernels) bad_pairs = {CPU_PORTABLE, MSM(add_batch_portable), spoiled_pairs};
    spoil = SIZE_MAX;
    assert_true(MSM(self_test)(&bad_batch));
    assert_true(MSM(self_test)(&bad_pairs));
    for (spoil = 0; spoil < 81; spoil++) {
        assert_false(MSM(self_test)(&bad_batch));
        assert_false(MSM(self_test)(&bad_pairs));
    }
}

int main(void) {
    rng = test_rng_new("test_add_batch");
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_portable), cmocka_unit_test(test_avx2),
                                       cmocka_unit_test(test_ifma), cmocka_unit_test(test_choice)};
    return cmocka_run_group_tests(tests, 0, 0);
}
