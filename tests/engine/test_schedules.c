// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Deterministic simulation testing of the engine core: many random schedules, every promise checked after every step.
// Schedule k of a run has the seed CUZK_TEST_SEED + k; with CUZK_TEST_ONE=1 only that one is run, so that a printed
// seed replays exactly. A failing schedule is shrunk and printed.
#include "engine/planted.h"
#include "engine/world.h"
#include "testing.h"

static uint64_t schedules = 100000; // or the program's argument

static void add_reasons(const world_tally *t) {
    for (unsigned r = 0; r < ENGINE_REASONS; r++)
        printf("%s%s %llu", r % 6 == 0 ? "\n#   " : ", ", engine_reason_name((engine_reason)r),
               (unsigned long long)t->reasons[r]);
    printf("\n");
}

static void report(scenario *s, const char *text) {
    printf("# schedule with CUZK_TEST_SEED=0x%llx CUZK_TEST_ONE=1 breaks a promise %s\n", (unsigned long long)s->seed,
           text);
    scenario_shrink(s);
    char small[256];
    world_tally t = {0};
    if (!world_run(s, &t, small, sizeof small)) printf("# shrunk: %s\n", small);
    scenario_print(s);
    fflush(stdout);
}

static void random_schedules(void **state) {
    (void)state;
    test_rng r = test_rng_new("schedules");
    uint64_t n = getenv("CUZK_TEST_ONE") != NULL ? 1 : schedules;
    world_tally t = {0};
    clock_t start = clock();
    for (uint64_t k = 0; k < n; k++) {
        scenario s;
        char text[256];
        scenario_random(&s, r.state + k, ENGINE_BUG_NONE);
        if (world_run(&s, &t, text, sizeof text)) continue;
        report(&s, text);
        fail();
    }
    double cpu = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("# %llu schedules, %llu steps, %llu jobs (%llu done, %llu failed, %llu stopped), %.1f s of CPU\n",
           (unsigned long long)n, (unsigned long long)t.steps, (unsigned long long)t.jobs, (unsigned long long)t.done,
           (unsigned long long)t.failed, (unsigned long long)t.stopped, cpu);
    printf(
        "# joined %llu, retries %llu, discarded %llu, blocked %llu, loads %llu, evictions %llu, timeouts %llu, "
        "waits for memory %llu (critical %llu), unhealthy %llu, fallbacks %llu, stuck %llu, grouped %llu, fresh keys "
        "evicted %llu",
        (unsigned long long)t.joined, (unsigned long long)t.retries, (unsigned long long)t.discarded,
        (unsigned long long)t.blocked, (unsigned long long)t.loads, (unsigned long long)t.evictions,
        (unsigned long long)t.timeouts, (unsigned long long)t.mem_waits, (unsigned long long)t.critical_waits,
        (unsigned long long)t.unhealthy, (unsigned long long)t.fallbacks, (unsigned long long)t.stuck,
        (unsigned long long)t.grouped, (unsigned long long)t.fresh_evictions);
    add_reasons(&t);
    if (n < 10000) return;
    // The schedules go everywhere, or they show nothing.
    const uint64_t counts[] = {t.done,      t.failed,    t.stopped,   t.joined,   t.retries,        t.discarded,
                               t.blocked,   t.loads,     t.evictions, t.timeouts, t.mem_waits,      t.critical_waits,
                               t.unhealthy, t.fallbacks, t.stuck,     t.grouped,  t.fresh_evictions};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) assert_true(counts[i] > n / 1000);
    for (unsigned i = 0; i < ENGINE_REASONS; i++) assert_true(t.reasons[i] > 0);
}

// The same scenario twice: the same steps, whatever ran in between.
static void replays_exactly(void **state) {
    (void)state;
    test_rng r = test_rng_new("replays_exactly");
    for (uint32_t k = 0; k < 200; k++) {
        uint64_t seed = test_u64(&r);
        scenario a, b, other;
        world_tally x = {0}, y = {0}, z = {0};
        char text[256];
        scenario_random(&a, seed, 0);
        scenario_random(&other, seed + 1, 0);
        scenario_random(&b, seed, 0);
        bool first = world_run(&a, &x, text, sizeof text);
        (void)world_run(&other, &z, text, sizeof text);
        assert_int_equal(first, world_run(&b, &y, text, sizeof text));
        assert_memory_equal(&x, &y, sizeof x);
    }
}

// Each planted bug is found soon, and its scenario shrinks to one that still fails.
static void finds_planted_bugs(void **state) {
    (void)state;
    test_rng r = test_rng_new("planted");
    const uint64_t limit = 20000;
    for (uint32_t bug = 1; bug < ENGINE_BUGS; bug++) {
        uint64_t k = 0;
        scenario s;
        char text[256] = "";
        for (; k < limit; k++) {
            world_tally t = {0};
            scenario_random(&s, r.state + k, bug);
            if (!world_run(&s, &t, text, sizeof text)) break;
        }
        if (k == limit) fail_msg("planted bug %u was not found in %llu schedules", bug, (unsigned long long)limit);
        uint32_t jobs = 0, left = 0;
        for (uint32_t i = 0; i < s.jobs; i++) jobs += !s.job[i].absent;
        scenario_shrink(&s);
        for (uint32_t i = 0; i < s.jobs; i++) left += !s.job[i].absent;
        world_tally t = {0};
        char small[256];
        assert_false(world_run(&s, &t, small, sizeof small));
        printf("# bug %2u found by schedule %llu, %u jobs shrunk to %u: %s\n", bug, (unsigned long long)k + 1, jobs,
               left, small);
        assert_true(left <= jobs);
        s.cfg.planted_bug = 0; // the scenario is not at fault
        assert_true(world_run(&s, &t, small, sizeof small));
    }
}

int main(int argc, char **argv) {
    if (argc > 1) schedules = strtoull(argv[1], NULL, 10);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_schedules),
        cmocka_unit_test(replays_exactly),
        cmocka_unit_test(finds_planted_bugs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
