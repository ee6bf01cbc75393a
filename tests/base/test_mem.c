// SPDX-License-Identifier: MIT OR Apache-2.0
#include "testing.h"

#include <pthread.h>

#include "base/mem.h"

static void test_alignment_and_content(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 100001, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, 9000001};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t *p = mem_alloc(MEM_MISC, sizes[i], 1);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        memset(p, 0xa5, sizes[i]);
        mem_free(p);
        p = mem_calloc(MEM_MISC, sizes[i], 1); // likely the block just freed
        assert_non_null(p);
        for (size_t k = 0; k < sizes[i]; k++) {
            if (p[k] != 0) fail_msg("byte %zu of %zu is not zero", k, sizes[i]);
        }
        mem_free(p);
    }
    mem_free(NULL);
}

static void test_absurd_sizes_are_refused(void **state) {
    (void)state;
    mem_usage before = mem_usage_total();
    assert_null(mem_alloc(MEM_KEY, SIZE_MAX, 2));
    assert_null(mem_alloc(MEM_KEY, 2, SIZE_MAX));
    assert_null(mem_alloc(MEM_KEY, SIZE_MAX, 1));
    assert_null(mem_alloc(MEM_KEY, SIZE_MAX / 32 + 1, 32)); // wraps to 0
    assert_null(mem_alloc(MEM_KEY, SIZE_MAX / 32 + 2, 32)); // wraps to 32
    assert_null(mem_alloc(MEM_KEY, (size_t)1 << 32, (size_t)1 << 32));
    assert_null(mem_alloc(MEM_KEY, (size_t)PTRDIFF_MAX, 1));
    assert_null(mem_calloc(MEM_KEY, SIZE_MAX / 32 + 2, 32));
    assert_true(mem_usage_total().live == before.live && mem_usage_total().peak == before.peak);
    void *p = mem_alloc(MEM_KEY, SIZE_MAX, 0);
    assert_non_null(p);
    mem_free(p);
}

static void test_accounting(void **state) {
    (void)state;
    assert_true(mem_usage_of(MEM_WITNESS).live == 0);
    void *a = mem_alloc(MEM_WITNESS, 10, 100), *b = mem_alloc(MEM_MSM, 7, 1), *c = mem_alloc(MEM_WITNESS, 500, 1);
    assert_true(mem_usage_of(MEM_WITNESS).live == 1500);
    assert_true(mem_usage_of(MEM_MSM).live == 7);
    assert_true(mem_usage_total().live == 1507);
    mem_free(a);
    assert_true(mem_usage_of(MEM_WITNESS).live == 500);
    assert_true(mem_usage_of(MEM_WITNESS).peak == 1500);
    assert_true(mem_usage_total().peak >= 1507);
    a = mem_alloc(MEM_WITNESS, 999, 1);
    assert_true(mem_usage_of(MEM_WITNESS).peak == 1500);
    mem_free(a);
    a = mem_alloc(MEM_WITNESS, 1001, 1);
    assert_true(mem_usage_of(MEM_WITNESS).peak == 1501);
    mem_free(a), mem_free(b), mem_free(c);
    assert_true(mem_usage_of(MEM_WITNESS).live == 0 && mem_usage_total().live == 0);
}

static void test_refusal_on_demand(void **state) {
    (void)state;
    mem_test_refuse(3);
    void *a = mem_alloc(MEM_MISC, 1, 1), *b = mem_calloc(MEM_MISC, 1, 1);
    void *c = mem_alloc(MEM_MISC, 1, 1), *d = mem_calloc(MEM_MISC, 1, 1);
    mem_test_refuse(0);
    assert_non_null(a), assert_non_null(b), assert_null(c), assert_null(d);
    mem_free(a), mem_free(b);
    a = mem_alloc(MEM_MISC, 1, 1);
    assert_non_null(a);
    mem_free(a);
}

static void *churn(void *arg) {
    test_rng r = {(uintptr_t)arg};
    void *kept[16] = {0};
    for (int i = 0; i < 20000; i++) {
        size_t slot = test_below(&r, 16);
        mem_free(kept[slot]);
        kept[slot] = mem_alloc((mem_tag)test_below(&r, MEM_TAGS), test_below(&r, 300), 1);
    }
    for (size_t i = 0; i < 16; i++) mem_free(kept[i]);
    return NULL;
}

static void test_accounting_from_threads(void **state) {
    (void)state;
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)), 0);
    for (size_t i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int tag = 0; tag < MEM_TAGS; tag++) {
        assert_true(mem_usage_of((mem_tag)tag).live == 0);
        assert_true(mem_usage_of((mem_tag)tag).peak > 0);
        assert_string_not_equal(mem_tag_name((mem_tag)tag), "unknown");
    }
    assert_true(mem_usage_total().live == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alignment_and_content),
        cmocka_unit_test(test_absurd_sizes_are_refused),
        cmocka_unit_test(test_accounting),
        cmocka_unit_test(test_refusal_on_demand),
        cmocka_unit_test(test_accounting_from_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
