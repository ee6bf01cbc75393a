// SPDX-License-Identifier: MIT OR Apache-2.0
#include "testing.h"

#include "base/mem.h"
#include "vanilla/arena.h"

// Blocks are zeroed, aligned, apart from each other, and all come back.
static void blocks_are_separate_and_zeroed(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    enum { N = 400 };
    static uint8_t *block[N];
    static size_t size[N];
    uint64_t before = mem_usage_of(MEM_INPUT).live;
    arena a = {0};
    for (int i = 0; i < N; i++) {
        size[i] = test_below(&rng, 8) == 0 ? (size_t)test_below(&rng, 200000) : (size_t)test_below(&rng, 300);
        block[i] = arena_alloc(&a, size[i], 1);
        assert_non_null(block[i]);
        assert_int_equal((uintptr_t)block[i] % 16, 0);
        for (size_t k = 0; k < size[i]; k++) assert_int_equal(block[i][k], 0);
        memset(block[i], 1 + i % 255, size[i]);
    }
    for (int i = 0; i < N; i++)
        for (size_t k = 0; k < size[i]; k++) assert_int_equal(block[i][k], 1 + i % 255);
    arena_free(&a);
    assert_int_equal(mem_usage_of(MEM_INPUT).live, before);
    arena_free(&a);
}

static void absurd_sizes_are_refused(void **state) {
    (void)state;
    arena a = {0};
    assert_null(arena_alloc(&a, SIZE_MAX, 2));
    assert_null(arena_alloc(&a, SIZE_MAX / 2, 1));
    assert_null(arena_alloc(&a, 2, SIZE_MAX / 2 + 1));
    assert_non_null(arena_alloc(&a, 0, 8));
    arena_free(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_separate_and_zeroed),
        cmocka_unit_test(absurd_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
