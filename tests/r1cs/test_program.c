// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Programs of systems that were made up at random: whatever gadgets do within the rules, the program expands to the
// stream that the same calls give directly; calls outside the rules are refused.
#include "made_system.h"

#include "base/mem.h"
#include "r1cs/digest.h"

static void expands_to_the_direct_stream(void **state) {
    (void)state;
    test_rng rng = test_rng_new("expands_to_the_direct_stream");
    for (int round = 0; round < 4; round++) {
        const made m = {.rng = {test_u64(&rng)}};
        digest_sink direct, expanded;
        digest_init(&direct, NULL);
        made_synthesize(&direct.head, &m, 500);
        assert_int_equal(direct.head.status, CUZK_OK);
        cuzk_error err;
        program *p = NULL;
        assert_int_equal(made_program(&p, &m, 500, &err), CUZK_OK);
        digest_init(&expanded, NULL);
        program_expand(p, &expanded.head);
        uint8_t want[32], got[32];
        digest_so_far(want, &direct);
        digest_so_far(got, &expanded);
        assert_memory_equal(got, want, 32);
        program_counts n;
        program_count(&n, p);
        assert_int_equal(n.inputs, direct.head.n_inputs);
        assert_int_equal(n.aux, direct.head.n_aux);
        assert_int_equal(n.rows, direct.head.n_constraints);
        assert_true(n.instances > 200 && n.templates < n.instances);
        const program_densities *d = program_density(p);
        for (uint32_t i = 0; i < n.aux; i++) {
            assert_int_equal(bitmap_get(&d->a_aux, i), bitmap_get(&direct.a_aux, i));
            assert_int_equal(bitmap_get(&d->b_aux, i), bitmap_get(&direct.b_aux, i));
        }
        for (uint32_t i = 0; i < n.inputs; i++)
            assert_int_equal(bitmap_get(&d->b_inputs, i), bitmap_get(&direct.b_inputs, i));
        program_destroy(&p);
        digest_destroy(&direct);
        digest_destroy(&expanded);
    }
}

static void rules_are_enforced(void **state) {
    (void)state;
    const made broken[] = {
        {.rng = {5}, .foreign = true}, {.rng = {5}, .input_inside = true}, {.rng = {5}, .foreign_out = true}};
    for (int i = 0; i < 3; i++) {
        cuzk_error err;
        program *p = NULL;
        assert_int_equal(made_program(&p, &broken[i], 200, &err), CUZK_ERR_INTERNAL);
        assert_non_null(strstr(err.text, "template"));
        assert_null(p);
    }
}

static void an_empty_system_is_a_program(void **state) {
    (void)state;
    cuzk_error err;
    program *p = NULL;
    const made m = {.rng = {1}};
    program_builder *b = NULL;
    assert_int_equal(program_builder_create(&b, NULL, &err), CUZK_OK);
    assert_int_equal(program_builder_finish(&p, &b, &err), CUZK_OK);
    program_counts n;
    program_count(&n, p);
    assert_int_equal(n.inputs, 1);
    assert_int_equal(n.instances, 0);
    program_destroy(&p);
    assert_int_equal(made_program(&p, &m, 0, &err), CUZK_OK);
    program_destroy(&p);
}

static void refused_memory_is_an_error(void **state) {
    (void)state;
    const made m = {.rng = {7}};
    const uint64_t live = mem_usage_total().live;
    bool done = false;
    for (uint64_t nth = 1; !done; nth++) {
        cuzk_error err;
        program *p = NULL;
        mem_test_refuse(nth);
        const cuzk_status s = made_program(&p, &m, 40, &err);
        mem_test_refuse(0);
        done = s == CUZK_OK;
        if (!done) assert_int_equal(s, CUZK_ERR_MEMORY);
        program_destroy(&p);
        assert_int_equal(mem_usage_total().live, live);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expands_to_the_direct_stream),
        cmocka_unit_test(rules_are_enforced),
        cmocka_unit_test(an_empty_system_is_a_program),
        cmocka_unit_test(refused_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
