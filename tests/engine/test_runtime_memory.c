// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Memory between proofs: kept while there is work, given back when there is none.
#include "testing.h"

#include "base/mem.h"
#include "engine/runtime_bed.h"

// Large enough that evaluations are pages of their own.
enum { ROWS = 1 << 15 };

static const uint64_t HOUR_NS = UINT64_C(3600000000000);

static void doze(void) { nanosleep(&(struct timespec){0, 1000000}, NULL); }
static uint64_t kept(void) { return mem_usage_of(MEM_KEPT).live; }

typedef struct large_bed {
    bed b;
    provider *large;
} large_bed;

static void start(large_bed *l, uint64_t keep_memory_ns) {
    const toy_shape shape = {ROWS, 1};
    bed_make(&l->b, 1, 1, NULL, NULL);
    assert_int_equal(provider_toy_create(&l->large, "large", &shape, BED_LABEL, l->b.programs, NULL), CUZK_OK);
    l->b.providers[1] = l->large;
    l->b.options.keep_memory_ns = keep_memory_ns;
    bed_start(&l->b);
}

static void prove(large_bed *l, uint64_t seed) {
    runtime_result *r = NULL;
    assert_int_equal(runtime_await(l->b.rt, &r, bed_submit(&l->b, "large", seed), UINT64_MAX, NULL), CUZK_OK);
    assert_int_equal(r->state, ENGINE_DONE);
    runtime_result_free(&r);
}

static void finish(large_bed *l) {
    bed_stop(&l->b);
    assert_int_equal(kept(), 0);
    provider_toy_destroy(&l->large);
    bed_destroy(&l->b);
}

// The units are freed a moment after the answer.
static void wait_freed(large_bed *l) {
    runtime_stats s;
    do {
        doze();
        runtime_stats_of(l->b.rt, &s);
    } while (s.engine.units_live != 0);
}

static void the_next_proof_has_it(void **state) {
    (void)state;
    large_bed l;
    start(&l, HOUR_NS);
    prove(&l, 1);
    wait_freed(&l);
    const uint64_t first = kept();
    assert_true(first >= 3 * ROWS * sizeof(fr));
    for (uint64_t seed = 2; seed < 5; seed++) {
        prove(&l, seed);
        wait_freed(&l);
        assert_int_equal(kept(), first); // nothing new was taken, nothing was lost
    }
    finish(&l);
}

static void an_idle_engine_gives_it_back(void **state) {
    (void)state;
    large_bed l;
    start(&l, 1000000);
    for (uint64_t seed = 1; seed < 3; seed++) {
        prove(&l, seed);
        while (kept() != 0) doze(); // or the test's limit comes
    }
    finish(&l);
    start(&l, 0); // the default is no moment
    prove(&l, 1);
    wait_freed(&l);
    assert_true(kept() != 0);
    finish(&l);
}

static void evicting_a_key_gives_it_back(void **state) {
    (void)state;
    large_bed l;
    bool was_loaded;
    uint64_t freed;
    engine_reason reason;
    runtime_key keys[2];
    start(&l, HOUR_NS);
    prove(&l, 1);
    wait_freed(&l);
    assert_int_equal(runtime_keys(l.b.rt, keys, 2), 1);
    const uint64_t key = mem_usage_of(MEM_KEY).live;
    assert_int_equal(runtime_evict_named(l.b.rt, keys[0].name, &was_loaded, &freed, &reason, NULL), CUZK_OK);
    assert_true(was_loaded && freed >= ROWS * sizeof(g1_affine) && mem_usage_of(MEM_KEY).live <= key - freed);
    assert_int_equal(kept(), 0);
    prove(&l, 2);
    finish(&l);
}

int main(void) {
    const mem_usage before = mem_usage_total();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_proof_has_it),
        cmocka_unit_test(an_idle_engine_gives_it_back),
        cmocka_unit_test(evicting_a_key_gives_it_back),
    };
    return bed_memory_is_back(&before, cmocka_run_group_tests(tests, NULL, NULL));
}
