// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Four lanes of Fp for AVX2 (src/field/x86/fp4.h) against GMP: limbs biased towards 0, 2^51 - 1 and the halfway points
// at which doubles round, other values in every lane, results in place of operands.
#include <gmp.h>

#include "base/cpu.h"
#include "field/x86/fp4.h"
#include "testing.h"

enum { ROUNDS = 20000 };

static test_rng rng;

// A value below 2^bits, in limbs.
static void edge_limbs(uint64_t limbs[FP4_LIMBS], int bits) {
    const bool ones = test_below(&rng, 16) == 0;
    for (int j = 0; j < FP4_LIMBS; j++) {
        const int left = bits - FP4_LIMB_BITS * j;
        uint64_t v = test_edge_u64(&rng);
        if (test_below(&rng, 4) == 0) v = (UINT64_C(1) << 50) + test_below(&rng, 3) - 1;
        if (ones) v = UINT64_MAX;
        limbs[j] = left <= 0 ? 0 : v & (left < FP4_LIMB_BITS ? (UINT64_C(1) << left) - 1 : (uint64_t)LIMB51_MASK);
    }
}

// Tight vectors, and the integers in their lanes.
static void edge_vector(fp4 *out, mpz_t values[FP4_LANES], int bits) {
    for (int lane = 0; lane < FP4_LANES; lane++) {
        uint64_t limbs[FP4_LIMBS];
        edge_limbs(limbs, bits);
        mpz_import(values[lane], FP4_LIMBS, -1, 8, 0, 64 - FP4_LIMB_BITS, limbs);
        for (int j = 0; j < FP4_LIMBS; j++) ((uint64_t *)&out->l[j])[lane] = limbs[j];
    }
}
// A lane of loose limbs as an integer.
static void value_of(mpz_t out, const fp4 *v, int lane) {
    mpz_set_ui(out, 0);
    for (int j = FP4_LIMBS; j-- > 0;) {
        const int64_t limb = ((const int64_t *)&v->l[j])[lane];
        mpz_mul_2exp(out, out, FP4_LIMB_BITS);
        if (limb < 0)
            mpz_sub_ui(out, out, 0 - (unsigned long)limb);
        else
            mpz_add_ui(out, out, (unsigned long)limb);
    }
}

typedef struct numbers {
    mpz_t a[FP4_LANES], b[FP4_LANES], c[FP4_LANES], d[FP4_LANES], p, got, want, t;
} numbers;

static int set_up(void **state) {
    static numbers n;
    rng = test_rng_new("test_fp4");
    for (int i = 0; i < FP4_LANES; i++) mpz_inits(n.a[i], n.b[i], n.c[i], n.d[i], (mpz_ptr)0);
    mpz_inits(n.p, n.got, n.want, n.t, (mpz_ptr)0);
    mpz_import(n.p, 6, -1, 8, 0, 0, FP_MODULUS);
    *state = &n;
    return 0;
}
static int tear_down(void **state) {
    numbers *n = *state;
    for (int i = 0; i < FP4_LANES; i++) mpz_clears(n->a[i], n->b[i], n->c[i], n->d[i], (mpz_ptr)0);
    mpz_clears(n->p, n->got, n->want, n->t, (mpz_ptr)0);
    return 0;
}

// *got is want / 2^408 mod p, and above 0 and below 2p.
static void check_product(numbers *n, const fp4 *product, int lane, const char *what) {
    value_of(n->got, product, lane);
    mpz_mul_2exp(n->t, n->p, 1);
    if (mpz_sgn(n->got) <= 0 || mpz_cmp(n->got, n->t) >= 0) fail_msg("%s: not in (0, 2p)", what);
    mpz_mul_2exp(n->got, n->got, FP4_LIMBS * FP4_LIMB_BITS);
    mpz_sub(n->got, n->got, n->want);
    if (!mpz_divisible_p(n->got, n->p)) fail_msg("%s: lane %d is wrong", what, lane);
}

static void test_products(void **state) {
    numbers *n = *state;
    if (cpu_current() < CPU_AVX2) skip();
    for (int round = 0; round < ROUNDS; round++) {
        // From both below p to as large as a product may be.
        const int bits = 376 + (int)test_below(&rng, 33), others = 784 - bits - 1;
        const bool in_place = round % 2 != 0;
        fp4 a, b, c, d, out;
        edge_vector(&a, n->a, bits), edge_vector(&b, n->b, others);
        edge_vector(&c, n->c, bits), edge_vector(&d, n->d, others);
        fp4_operand_of(&a, &a), fp4_operand_of(&b, &b), fp4_operand_of(&c, &c), fp4_operand_of(&d, &d);

        out = a;
        fp4_mul(&out, in_place ? &out : &a, &b);
        for (int i = 0; i < FP4_LANES; i++) {
            mpz_mul(n->want, n->a[i], n->b[i]);
            check_product(n, &out, i, "a b");
        }
        out = d;
        fp4_mul2(&out, &a, &b, &c, in_place ? &out : &d);
        for (int i = 0; i < FP4_LANES; i++) {
            mpz_mul(n->want, n->a[i], n->b[i]);
            mpz_addmul(n->want, n->c[i], n->d[i]);
            check_product(n, &out, i, "a b + c d");
        }
    }
}

static void test_squares(void **state) {
    numbers *n = *state;
    if (cpu_current() < CPU_AVX2) skip();
    for (int round = 0; round < ROUNDS; round++) {
        const bool in_place = round % 2 != 0;
        fp4 a, b, out;
        edge_vector(&a, n->a, 391), edge_vector(&b, n->b, 391);
        fp4_operand_of(&a, &a), fp4_operand_of(&b, &b);
        out = a;
        fp4_sqr(&out, in_place ? &out : &a);
        for (int i = 0; i < FP4_LANES; i++) {
            mpz_mul(n->want, n->a[i], n->a[i]);
            check_product(n, &out, i, "a^2");
        }
        out = a;
        fp4_sqr2(&out, in_place ? &out : &a, &b);
        for (int i = 0; i < FP4_LANES; i++) {
            mpz_mul(n->want, n->a[i], n->a[i]);
            mpz_addmul(n->want, n->b[i], n->b[i]);
            check_product(n, &out, i, "a^2 + b^2");
        }
    }
}

// Loose limbs, in [-2p, 2p), to the reduced integer, near all multiples of p as well.
static void test_canonical(void **state) {
    numbers *n = *state;
    if (cpu_current() < CPU_AVX2) skip();
    for (int round = 0; round < ROUNDS; round++) {
        fp4 v;
        uint64_t limbs[FP4_LIMBS] = {0};
        for (int lane = 0; lane < FP4_LANES; lane++) {
            edge_limbs(limbs, 380 + (int)test_below(&rng, 2));
            mpz_import(n->a[lane], FP4_LIMBS, -1, 8, 0, 64 - FP4_LIMB_BITS, limbs);
            mpz_mod(n->a[lane], n->a[lane], n->p);
            if (test_below(&rng, 4) == 0) mpz_set_ui(n->a[lane], test_below(&rng, 2));
            if (test_below(&rng, 8) == 0) mpz_sub_ui(n->a[lane], n->p, 1);
            mpz_set_si(n->t, (long)test_below(&rng, 4) - 2);
            mpz_addmul(n->a[lane], n->t, n->p);
            // Limbs rounded down, then 2^51 to 2^58 moved from each to the one below it.
            mpz_set(n->t, n->a[lane]);
            int64_t carried[FP4_LIMBS + 1] = {0};
            for (int j = FP4_LIMBS - 1; j > 0; j--) carried[j] = (int64_t)(test_edge_u64(&rng) >> 57) - 63;
            for (int j = 0; j < FP4_LIMBS; j++) {
                mpz_t low;
                mpz_init(low);
                if (j + 1 < FP4_LIMBS) {
                    mpz_fdiv_r_2exp(low, n->t, FP4_LIMB_BITS);
                    mpz_fdiv_q_2exp(n->t, n->t, FP4_LIMB_BITS);
                } else {
                    mpz_set(low, n->t);
                }
                const int64_t limb = mpz_get_si(low) - carried[j] + carried[j + 1] * (INT64_C(1) << FP4_LIMB_BITS);
                ((int64_t *)&v.l[j])[lane] = limb;
                mpz_clear(low);
            }
            value_of(n->got, &v, lane);
            assert_int_equal(mpz_cmp(n->got, n->a[lane]), 0);
        }
        fp4_canonical(&v);
        for (int lane = 0; lane < FP4_LANES; lane++) {
            for (int j = 0; j < FP4_LIMBS; j++) limbs[j] = ((const uint64_t *)&v.l[j])[lane];
            mpz_import(n->got, FP4_LIMBS, -1, 8, 0, 64 - FP4_LIMB_BITS, limbs);
            mpz_mod(n->want, n->a[lane], n->p);
            if (mpz_cmp(n->got, n->want) != 0) fail_msg("round %d: lane %d is not reduced", round, lane);
        }
    }
}

// Words to limbs and back, and the inverse of four.
static void test_words_and_inverses(void **state) {
    numbers *n = *state;
    if (cpu_current() < CPU_AVX2) skip();
    for (int round = 0; round < ROUNDS / 20; round++) {
        fp in[FP4_LANES], out[FP4_LANES];
        const fp *from[FP4_LANES];
        for (int i = 0; i < FP4_LANES; i++) {
            for (int k = 0; k < 6; k++) in[i].l[k] = test_edge_u64(&rng);
            in[i].l[0] |= 1, in[i].l[5] &= UINT64_C(0xfffffffffffffff);
            from[i] = &in[i];
            mpz_import(n->a[i], 6, -1, 8, 0, 0, in[i].l);
        }
        fp4 v, inverse;
        fp4_vec last = _mm256_setzero_si256();
        for (int pair = 0; pair < 3; pair++) fp4_load_pair(&v, from, pair, &last);
        fp4_rows rows;
        fp4_to_rows(&rows, &v);
        for (int i = 0; i < FP4_LANES; i++) fp4_store_row(&out[i], &rows, i);
        assert_memory_equal(in, out, sizeof in);

        for (int i = 0; i < FP4_LANES; i++) assert_false(mpz_divisible_p(n->a[i], n->p));
        fp4_operand_of(&v, &v);
        fp4_inv_lanes(&inverse, &v);
        fp4_mul(&v, &v, &inverse); // 2^804 / 2^408
        for (int i = 0; i < FP4_LANES; i++) {
            mpz_set_ui(n->want, 1);
            mpz_mul_2exp(n->want, n->want, 804);
            check_product(n, &v, i, "a / a");
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_squares),
        cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_words_and_inverses),
    };
    return cmocka_run_group_tests_name("fp4", tests, set_up, tear_down);
}
