// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Which keys stay and which jobs go first so that they can: grouping by key, and the time a key is spared after its
// use.
#include "engine/rig.h"

static rig R; // large

static engine_job_id submit(uint64_t token, uint64_t key, uint64_t bytes, engine_priority p) {
    engine_request q = rig_request(token, 1);
    q.key = key;
    q.partition_bytes = bytes;
    q.priority = p;
    engine_job_id job = rig_submit(&R, &q);
    assert_true(job != 0);
    return job;
}

static void jobs_are_grouped_by_key(void **state) {
    (void)state;
    for (unsigned grouped = 0; grouped < 2; grouped++) {
        engine_config c = rig_config();
        c.memory_budget = 14; // room for one key
        c.ageing_ns = 100000;
        c.group_by_key = grouped != 0;
        rig_open(&R, &c);
        for (uint64_t i = 0; i < 12; i++) submit(i + 1, 1 + i % 2, 1, ENGINE_NORMAL);
        rig_run(&R);
        assert_int_equal(rig_stats(&R).done, 12);
        assert_int_equal(rig_stats(&R).key_loads, grouped ? 2 : 12);
        rig_close(&R);
    }
}

// Only among jobs of one priority, and only until a job has waited for ageing_ns: then the younger ones wait.
static void grouping_has_bounds(void **state) {
    (void)state;
    for (unsigned ageing = 0; ageing < 2; ageing++) {
        engine_config c = rig_config();
        c.memory_budget = 14;
        c.ageing_ns = ageing ? 50 : 100000;
        c.group_by_key = true;
        rig_open(&R, &c);
        submit(1, 1, 1, ENGINE_HIGH); // runs
        engine_job_id other = submit(2, 2, 1, ENGINE_HIGH), low = submit(3, 1, 1, ENGINE_LOW);
        R.now += 60;
        engine_job_id same = submit(4, 1, 1, ENGINE_HIGH);
        rig_run(&R);
        const engine_job_id first = ageing ? other : same, second = ageing ? same : other;
        assert_int_equal(rig_action(&R, ENGINE_ACT_START_SYNTH, 0, 1)->job, first);
        assert_int_equal(rig_action(&R, ENGINE_ACT_START_SYNTH, 0, 2)->job, second);
        assert_int_equal(rig_action(&R, ENGINE_ACT_START_SYNTH, 0, 3)->job, low);
        assert_int_equal(rig_stats(&R).done, 4);
        rig_close(&R);
    }
    engine_config c = rig_config();
    c.memory_budget = 14;
    c.group_by_key = true; // nobody ages: nobody is overtaken
    rig_open(&R, &c);
    submit(1, 1, 1, ENGINE_NORMAL);
    engine_job_id other = submit(2, 2, 1, ENGINE_NORMAL);
    submit(3, 1, 1, ENGINE_NORMAL);
    rig_run(&R);
    assert_int_equal(rig_action(&R, ENGINE_ACT_START_SYNTH, 0, 1)->job, other);
    rig_close(&R);
}

enum { IDLE_TIME = 1000 };

// Key 1 is idle since *idle; a unit of key 2 with `working` bytes is on its device, and will not end by itself.
static void one_idle_one_working(uint64_t *idle, uint64_t working) {
    engine_config c = rig_config();
    c.memory_budget = 34;
    c.synthesis_concurrency = 2;
    c.key_min_idle_ns = IDLE_TIME;
    rig_open(&R, &c);
    submit(1, 1, 1, ENGINE_NORMAL);
    rig_run(&R);
    *idle = R.now;
    submit(2, 2, working, ENGINE_NORMAL);
    while (rig_count(&R, ENGINE_ACT_START_DEVICE, 0) < 2) assert_true(rig_deliver(&R));
}

static void a_key_just_used_is_spared(void **state) {
    (void)state;
    uint64_t idle;
    for (unsigned hangs = 0; hangs < 2; hangs++) {
        one_idle_one_working(&idle, 10);
        engine_job_id third = submit(3, 3, 4, ENGINE_NORMAL); // lacks 10, which the unit of key 2 will give back
        assert_int_equal(rig_stats(&R).key_evictions, 0);
        assert_int_equal(R.timer, idle + IDLE_TIME);
        if (hangs) { // it does not; nobody waits for it beyond the time of the idle key
            rig_wait_until(&R, R.timer);
            assert_int_equal(rig_last(&R, ENGINE_ACT_EVICT_KEY)->key, 1);
            assert_true(rig_deliver_kind(&R, ENGINE_EV_KEY_FREED));
        } else {
            rig_run(&R);
            assert_int_equal(rig_stats(&R).key_evictions, 0);
        }
        assert_int_equal(rig_count(&R, ENGINE_ACT_START_SYNTH, third), 1);
        rig_run(&R);
        assert_int_equal(rig_stats(&R).done, 3);
        rig_close(&R);
    }
}

static void a_key_goes_when_nothing_else_can(void **state) {
    (void)state;
    uint64_t idle;
    one_idle_one_working(&idle, 2);
    engine_job_id third = submit(3, 3, 8, ENGINE_NORMAL); // lacks 6: the unit of key 2 has only 2
    assert_int_equal(rig_last(&R, ENGINE_ACT_EVICT_KEY)->key, 1);
    assert_true(rig_deliver_kind(&R, ENGINE_EV_KEY_FREED));
    assert_int_equal(rig_count(&R, ENGINE_ACT_START_SYNTH, third), 1);
    rig_run(&R);
    assert_int_equal(rig_stats(&R).done, 3);
    // Nothing runs: no job waits for the clock.
    engine_request q = rig_request(4, 1);
    q.key = 4;
    q.partition_bytes = 24;
    assert_true(rig_submit(&R, &q) != 0);
    assert_int_equal(rig_stats(&R).key_evictions, 3);
    rig_run(&R);
    assert_int_equal(rig_stats(&R).done, 4);
    rig_close(&R);
}

static void a_critical_job_spares_no_key(void **state) {
    (void)state;
    uint64_t idle;
    one_idle_one_working(&idle, 10);
    engine_job_id urgent = submit(3, 3, 4, ENGINE_CRITICAL);
    assert_int_equal(rig_last(&R, ENGINE_ACT_EVICT_KEY)->key, 1);
    assert_true(rig_deliver_kind(&R, ENGINE_EV_KEY_FREED));
    assert_int_equal(rig_count(&R, ENGINE_ACT_START_SYNTH, urgent), 1);
    rig_run(&R);
    assert_int_equal(rig_stats(&R).done, 3);
    rig_close(&R);
}

// A key that was used longer ago goes, though another one alone would be enough too.
static void keys_that_were_idle_for_long_go_first(void **state) {
    (void)state;
    engine_config c = rig_config();
    c.memory_budget = 34;
    c.key_min_idle_ns = IDLE_TIME;
    rig_open(&R, &c);
    submit(1, 1, 1, ENGINE_NORMAL);
    rig_run(&R);
    submit(2, 2, 1, ENGINE_NORMAL);
    rig_run(&R);
    rig_wait_until(&R, R.now + 2 * IDLE_TIME);
    submit(3, 1, 1, ENGINE_NORMAL); // used again
    rig_run(&R);
    submit(4, 3, 10, ENGINE_NORMAL);
    assert_int_equal(rig_stats(&R).key_evictions, 1);
    assert_int_equal(rig_last(&R, ENGINE_ACT_EVICT_KEY)->key, 2);
    rig_run(&R);
    assert_int_equal(rig_stats(&R).done, 4);
    rig_close(&R);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(jobs_are_grouped_by_key),      cmocka_unit_test(grouping_has_bounds),
        cmocka_unit_test(a_key_just_used_is_spared),    cmocka_unit_test(a_key_goes_when_nothing_else_can),
        cmocka_unit_test(a_critical_job_spares_no_key), cmocka_unit_test(keys_that_were_idle_for_long_go_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
