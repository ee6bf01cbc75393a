// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Several elements at once give the limbs of the portable functions, at every level there is: on operands where carries
// and the last subtraction break, in place, for lengths around the number of lanes, and nothing beside the result.
#include "field/lanes.h"
#include "testing.h"

enum { N = 67, EDGES = 9, PAIRS = EDGES * EDGES };

static const lane_ops *OF; // of the level that is looked at

static fr fr_edge(size_t i) {
    const fr one = {{1}};
    fr last; // r - 1
    fr_neg(&last, &one);
    switch (i) {
    case 0: return FR_ZERO;
    case 1: return one;
    case 2: return FR_ONE;
    case 3: return FR_ROOT_OF_UNITY;
    case 4: return last;
    case 5: return (fr){{0, 1}};
    case 6: return (fr){{UINT64_MAX, UINT64_MAX, UINT64_MAX, last.l[3] - 1}};
    case 7: return (fr){{0, 0, 0, last.l[3]}};
    default: fr_neg(&last, &FR_ONE); return last;
    }
}

static fp fp_edge(size_t i) {
    const fp one = {{1}};
    fp last; // p - 1
    fp_neg(&last, &one);
    switch (i) {
    case 0: return FP_ONE;
    case 1: return one;
    case 2: return last;
    case 3: return (fp){{0, 1}};
    case 4: return (fp){{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, last.l[5] - 1}};
    case 5: return (fp){{0, 0, 0, 0, 0, last.l[5]}};
    case 6: return (fp){{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    case 7: fp_neg(&last, &FP_ONE); return last;
    default: return FP_ZERO;
    }
}

// One of the edges, or limbs like them, anywhere below the modulus.
static fr fr_random(test_rng *rng) {
    if (test_below(rng, 4) == 0) return fr_edge(test_below(rng, EDGES));
    fr a, b;
    for (size_t j = 0; j < 4; j++) a.l[j] = test_edge_u64(rng), b.l[j] = test_edge_u64(rng);
    a.l[3] >>= 2, b.l[3] >>= 2;
    if (test_below(rng, 2) == 0) fr_add(&a, &a, &b);
    return a;
}
static fp fp_random(test_rng *rng) {
    if (test_below(rng, 4) == 0) return fp_edge(test_below(rng, EDGES));
    fp a, b;
    for (size_t j = 0; j < 6; j++) a.l[j] = test_edge_u64(rng), b.l[j] = test_edge_u64(rng);
    a.l[5] >>= 4, b.l[5] >>= 4;
    if (test_below(rng, 2) == 0) fp_add(&a, &a, &b);
    return a;
}

static size_t length(test_rng *rng, size_t round) { return round < 20 ? round : 1 + test_below(rng, N); }

static void fr_products(const fr *a, const fr *b, size_t n) {
    static fr want[PAIRS], got[PAIRS + 2], guard;
    memset(&guard, 0xa5, sizeof guard);
    for (size_t i = 0; i < n; i++) fr_mul(&want[i], &a[i], &b[i]);
    for (int in_place = 0; in_place < 3; in_place++) {
        fr *out = got + 1;
        got[0] = out[n] = guard;
        if (in_place != 0) memcpy(out, in_place == 1 ? a : b, n * sizeof *out);
        OF->fr_mul(out, in_place == 1 ? out : a, in_place == 2 ? out : b, n);
        assert_memory_equal(out, want, n * sizeof *out);
        assert_memory_equal(&got[0], &guard, sizeof guard);
        assert_memory_equal(&out[n], &guard, sizeof guard);
    }
}

static void fr_are_the_portable_ones(void **state) {
    (void)state;
    if (OF == NULL) skip();
    test_rng rng = test_rng_new(__func__);
    static fr a[PAIRS], b[PAIRS];
    for (size_t i = 0; i < PAIRS; i++) a[i] = fr_edge(i / EDGES), b[i] = fr_edge(i % EDGES);
    fr_products(a, b, PAIRS);
    for (size_t round = 0; round < 200; round++) {
        const size_t n = length(&rng, round);
        for (size_t i = 0; i < n; i++) a[i] = fr_random(&rng), b[i] = fr_random(&rng);
        fr_products(a, b, n);
    }
}

static fp fp_expected(lanes_fp_op op, const fp v[LANES_OPERANDS]) {
    fp x = FP_ZERO, y;
    switch (op) {
    case LANES_MUL:
    case LANES_MUL_WIDE: fp_mul(&x, &v[0], &v[1]); break;
    case LANES_SQR:
    case LANES_SQR_WIDE: fp_sqr(&x, &v[0]); break;
    case LANES_MUL2:
        fp_mul(&x, &v[0], &v[1]);
        fp_mul(&y, &v[2], &v[3]);
        fp_add(&x, &x, &y);
        break;
    case LANES_SQR2:
        fp_sqr(&x, &v[0]);
        fp_sqr(&y, &v[1]);
        fp_add(&x, &x, &y);
        break;
    case LANES_INV: fp_inv(&x, &v[0]); break;
    default: fail();
    }
    return x;
}

// operands[k][i], all lengths n; each operand in turn is where the result goes.
static void fp_results(lanes_fp_op op, fp operands[LANES_OPERANDS][PAIRS], size_t n) {
    static const int ARITY[LANES_FP_OPS] = {2, 1, 4, 2, 2, 1, 1};
    static fp want[PAIRS], got[PAIRS + 2], guard;
    memset(&guard, 0xa5, sizeof guard);
    for (size_t i = 0; i < n; i++) {
        const fp v[LANES_OPERANDS] = {operands[0][i], operands[1][i], operands[2][i], operands[3][i]};
        want[i] = fp_expected(op, v);
    }
    for (int in_place = -1; in_place < ARITY[op]; in_place++) {
        const fp *in[LANES_OPERANDS] = {NULL};
        fp *out = got + 1;
        got[0] = out[n] = guard;
        for (int k = 0; k < ARITY[op]; k++) in[k] = operands[k];
        if (in_place >= 0) {
            memcpy(out, operands[in_place], n * sizeof *out);
            in[in_place] = out;
        }
        OF->fp(op, out, in, n);
        if (memcmp(out, want, n * sizeof *out) != 0) fail_msg("operation %d, in place of %d", (int)op, in_place);
        assert_memory_equal(&got[0], &guard, sizeof guard);
        assert_memory_equal(&out[n], &guard, sizeof guard);
    }
}

static void fp_are_the_portable_ones(void **state) {
    (void)state;
    if (OF == NULL) skip();
    test_rng rng = test_rng_new(__func__);
    static fp v[LANES_OPERANDS][PAIRS];
    for (int op = 0; op < LANES_FP_OPS; op++) {
        // Every edge with every other; the sums take them again, the other way round.
        const bool inverse = op == LANES_INV;
        for (size_t i = 0; i < PAIRS; i++) {
            v[0][i] = v[3][i] = fp_edge(i / EDGES);
            v[1][i] = v[2][i] = fp_edge(i % EDGES);
        }
        fp_results((lanes_fp_op)op, v, inverse ? PAIRS - EDGES : PAIRS); // the last edge is 0
        for (size_t round = 0; round < (inverse ? 30 : 200); round++) {
            const size_t n = length(&rng, round);
            for (int k = 0; k < LANES_OPERANDS; k++)
                for (size_t i = 0; i < n; i++) do {
                        v[k][i] = fp_random(&rng);
                    } while (inverse && fp_is_zero(&v[k][i]));
            fp_results((lanes_fp_op)op, v, n);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fr_are_the_portable_ones),
        cmocka_unit_test(fp_are_the_portable_ones),
    };
    int failed = 0;
    for (int level = CPU_AVX2; level <= CPU_IFMA; level++) {
        OF = lanes_of((cpu_level)level);
        printf("# level %s%s\n", cpu_level_name((cpu_level)level),
               OF == NULL ? ": nothing here, or not on this processor" : "");
        failed += cmocka_run_group_tests(tests, 0, 0);
    }
    return failed;
}
