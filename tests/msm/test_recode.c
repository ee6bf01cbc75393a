// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Signed digits must add up to the scalar again, and stay inside their range, for every window width.
#include "testing.h"

#include "msm/recode.h"

static test_rng rng;

static void edge_scalar(fr *out, size_t i) {
    uint64_t l[4];
    fr one = FR_ONE, half;
    fr_from_u64(&half, 2);
    fr_inv(&half, &half); // (r+1)/2
    switch (i) {
    case 0: *out = FR_ZERO; return;
    case 1: *out = FR_ONE; return;
    case 2: fr_neg(out, &FR_ONE); return;
    case 3: *out = half; return;
    case 4: fr_sub(out, &half, &one); return;
    default:
        for (int k = 0; k < 4; k++) l[k] = test_edge_u64(&rng);
        l[3] >>= 2;
        fr_from_limbs(out, l);
    }
}

static void test_digits(void **state) {
    (void)state;
    enum { N = 64 };
    fr k[N];
    for (unsigned c = 2; c <= 20; c++) {
        size_t zeros = 0, ones = 0;
        for (size_t i = 0; i < N; i++) {
            edge_scalar(&k[i], i);
            zeros += fr_is_zero(&k[i]), ones += fr_is_one(&k[i]);
        }
        msm_scalars s;
        assert_int_equal(msm_scalars_create(&s, k, N, 0, 0), CUZK_OK);
        assert_int_equal(s.ones, ones);
        assert_int_equal(s.rest, N - zeros - ones);
        assert_true(s.bits <= 254);
        msm_scalars_bias(&s, c, 0);
        const unsigned windows = msm_windows(s.bits, c);
        for (size_t i = 0; i < s.rest; i++) {
            fr sum = FR_ZERO, d;
            for (unsigned w = windows; w-- > 0;) {
                const int32_t digit = msm_digit(s.k[i], w, windows, c);
                assert_in_range((int64_t)digit + (1 << (c - 1)), w + 1 < windows ? 0 : 1 << (c - 1), 1 << c);
                for (unsigned b = 0; b < c; b++) fr_dbl(&sum, &sum);
                fr_from_u64(&d, (uint64_t)(digit < 0 ? -digit : digit));
                if (digit < 0)
                    fr_sub(&sum, &sum, &d);
                else
                    fr_add(&sum, &sum, &d);
            }
            if ((s.rest_of[i] & 1) != 0) fr_neg(&sum, &sum);
            if (!fr_eq(&sum, &k[s.rest_of[i] >> 1])) fail_msg("scalar %zu, c = %u", i, c);
        }
        msm_scalars_destroy(&s, 0);
    }
}

static void test_windows(void **state) {
    (void)state;
    // The table of docs/maths/msm.md.
    static const unsigned c[] = {8, 10, 12, 13, 14, 15, 16, 17, 18, 20};
    static const unsigned want[] = {32, 26, 22, 20, 19, 17, 16, 15, 15, 13};
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) assert_int_equal(msm_windows(254, c[i]), want[i]);
    assert_int_equal(msm_windows(0, 5), 1);
    assert_int_equal(msm_windows(4, 5), 1);
    assert_int_equal(msm_windows(5, 5), 2);
}

static void test_too_many(void **state) {
    (void)state;
    msm_scalars s;
    cuzk_error err = {0};
    assert_int_equal(msm_scalars_create(&s, 0, (size_t)1 << 31, 0, &err), CUZK_ERR_USAGE);
    assert_non_null(strstr(err.text, "2147483648"));
}

int main(void) {
    rng = test_rng_new("test_recode");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digits),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
