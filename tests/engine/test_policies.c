// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Which units are formed, in which order they start, what the channel holds back, and what priorities promise.
#include "engine/rig.h"

static rig R; // large

static engine_job_id submit(uint64_t token, uint32_t partitions, engine_priority p) {
    engine_request q = rig_request(token, partitions);
    q.priority = p;
    return rig_submit(&R, &q);
}

static void standard_takes_whole_proofs(void **state) {
    (void)state;
    engine_config c = rig_config();
    c.policy = ENGINE_STANDARD;
    rig_open(&R, &c);
    submit(1, 10, ENGINE_NORMAL);
    submit(2, 4, ENGINE_NORMAL);
    rig_run(&R);
    assert_int_equal(rig_count(&R, ENGINE_ACT_START_SYNTH, 0), 2);
    assert_int_equal(rig_action(&R, ENGINE_ACT_START_SYNTH, 0, 0)->count, 10);
    assert_int_equal(rig_action(&R, ENGINE_ACT_START_DEVICE, 0, 1)->count, 4);
    assert_int_equal(rig_stats(&R).done, 2);
    rig_close(&R);
}

static void units_have_at_most_256_partitions(void **state) {
    (void)state;
    const engine_policy policies[] = {ENGINE_STANDARD, ENGINE_BATCH};
    for (size_t i = 0; i < 2; i++) {
        engine_config c = rig_config();
        c.policy = policies[i];
        c.max_partitions = 300;
        rig_open(&R, &c);
        engine_job_id job = submit(1, 300, ENGINE_NORMAL);
        while (rig_count(&R, ENGINE_ACT_VERIFY, 0) == 0) assert_true(rig_deliver(&R));
        assert_int_equal(rig_action(&R, ENGINE_ACT_START_SYNTH, job, 0)->count, 256);
        for (size_t k = 0; k < R.n_pending; k++) // the last of the first unit is wrong
            if (R.pending[k].kind == ENGINE_EV_VERIFIED) R.pending[k].ok_mask[3] &= ~(UINT64_C(1) << 63);
        rig_run(&R);
        assert_int_equal(rig_count(&R, ENGINE_ACT_START_SYNTH, job), 3);
        uint32_t counts[2] = {0};
        for (uint32_t k = 1; k < 3; k++) {
            const engine_action *a = rig_action(&R, ENGINE_ACT_START_SYNTH, job, k);
            if (a->count == 44 && a->partition == 256) counts[0]++;
            if (a->count == 1 && a->partition == 255) counts[1]++;
        }
        assert_true(counts[0] == 1 && counts[1] == 1);
        assert_int_equal(rig_stats(&R).done, 1);
        rig_close(&R);
    }
}

static void slotted_takes_slots_in_order(void **state) {
    (void)state;
    engine_config c = rig_config();
    c.policy = ENGINE_SLOTTED;
    c.synthesis_concurrency = 2;
    c.lookahead = 4;
    rig_open(&R, &c);
    engine_job_id a = submit(1, 10, ENGINE_NORMAL);
    assert_int_equal(rig_count(&R, ENGINE_ACT_START_SYNTH, a), 1); // one worker a job, though two are free
    engine_job_id b = submit(2, 10, ENGINE_NORMAL);
    assert_int_equal(rig_count(&R, ENGINE_ACT_START_SYNTH, b), 1);
    rig_run(&R);
    const uint32_t counts[] = {3, 3, 3, 1};
    for (uint32_t j = 0; j < 2; j++)
        for (uint32_t i = 0; i < 4; i++) {
            const engine_action *x = rig_action(&R, ENGINE_ACT_START_DEVICE, j == 0 ? a : b, i);
            assert_int_equal(x->count, counts[i]);
            assert_int_equal(x->partition, 3 * i);
        }
    rig_close(&R);
}

static void partitions_of_one_job_use_all_workers(void **state) {
    (void)state;
    engine_config c = rig_config();
    c.synthesis_concurrency = 4;
    rig_open(&R, &c);
    engine_job_id a = submit(1, 3, ENGINE_NORMAL), b = submit(2, 3, ENGINE_NORMAL);
    assert_int_equal(rig_count(&R, ENGINE_ACT_START_SYNTH, a), 3);
    assert_int_equal(rig_count(&R, ENGINE_ACT_START_SYNTH, b), 1); // across sectors
    rig_run(&R);
    assert_int_equal(rig_stats(&R).done, 2);
    rig_close(&R);
}

static void batches_wait_for_mates(void **state) {
    (void)state;
    engine_config c = rig_config();
    c.policy = ENGINE_BATCH;
    c.batch_size = 3;
    c.batch_wait_ns = 500;
    rig_open(&R, &c);
    engine_job_id a = submit(1, 4, ENGINE_NORMAL), b = submit(2, 4, ENGINE_NORMAL);
    engine_job_id urgent = submit(3, 1, ENGINE_CRITICAL);
    assert_int_equal(rig_count(&R, ENGINE_ACT_START_SYNTH, 0), 1); // the critical one does not wait
    assert_int_equal(rig_last(&R, ENGINE_ACT_START_SYNTH)->job, urgent);
    engine_job_id d = submit(4, 4, ENGINE_NORMAL); // the third mate
    rig_run(&R);
    const engine_action *x = rig_last(&R, ENGINE_ACT_START_DEVICE);
    assert_int_equal(x->job, a);
    assert_int_equal(x->count, 12);
    assert_int_equal(rig_count(&R, ENGINE_ACT_REPLY, b) + rig_count(&R, ENGINE_ACT_REPLY, d), 2);
    engine_job_id last = submit(5, 4, ENGINE_NORMAL); // an incomplete batch starts when its time has come
    assert_int_equal(rig_stats(&R).queued, 1);
    rig_wait_until(&R, R.timer);
    rig_run(&R);
    assert_int_equal(rig_count(&R, ENGINE_ACT_REPLY, last), 1);
    assert_int_equal(rig_stats(&R).done, 5);
    rig_close(&R);
}

static void one_bad_input_does_not_fail_its_batch(void **state) {
    (void)state;
    for (unsigned known = 0; known < 2; known++) {
        engine_config c = rig_config();
        c.policy = ENGINE_BATCH;
        c.batch_size = 2;
        rig_open(&R, &c);
        submit(9, 1, ENGINE_HIGH); // keeps the worker busy until both are there
        engine_job_id bad = submit(1, 2, ENGINE_NORMAL), good = submit(2, 2, ENGINE_NORMAL);
        while (rig_count(&R, ENGINE_ACT_START_SYNTH, bad) == 0) assert_true(rig_deliver(&R));
        assert_int_equal(rig_last(&R, ENGINE_ACT_START_SYNTH)->count, 4);
        for (size_t i = 0; i < R.n_pending; i++)
            if (R.pending[i].kind == ENGINE_EV_SYNTH_DONE) {
                R.pending[i].kind = ENGINE_EV_SYNTH_FAILED;
                R.pending[i].reason = ENGINE_BAD_INPUT;
                R.pending[i].partition = known ? 1 : UINT32_MAX;
            }
        while (rig_count(&R, ENGINE_ACT_START_SYNTH, known ? good : bad) < (known ? 1u : 2u))
            assert_true(rig_deliver(&R));
        if (!known) // each by itself now: the bad one shows
            for (size_t i = 0; i < R.n_pending; i++)
                if (R.pending[i].kind == ENGINE_EV_SYNTH_DONE) {
                    R.pending[i].kind = ENGINE_EV_SYNTH_FAILED;
                    R.pending[i].reason = ENGINE_BAD_INPUT;
                }
        rig_run(&R);
        assert_int_equal(rig_action(&R, ENGINE_ACT_REPLY, bad, 0)->reason, ENGINE_BAD_INPUT);
        assert_int_equal(rig_action(&R, ENGINE_ACT_REPLY, good, 0)->state, ENGINE_DONE);
        rig_close(&R);
    }
}

// The same on a device, which does not say which partition does not match.
static void one_mismatch_does_not_fail_its_batch(void **state) {
    (void)state;
    engine_config c = rig_config();
    c.policy = ENGINE_BATCH;
    c.batch_size = 2;
    rig_open(&R, &c);
    submit(9, 1, ENGINE_HIGH);
    engine_job_id bad = submit(1, 2, ENGINE_NORMAL), good = submit(2, 2, ENGINE_NORMAL);
    for (unsigned times = 1; times <= 2; times++) { // together, then by itself
        while (rig_count(&R, ENGINE_ACT_START_DEVICE, bad) < times) assert_true(rig_deliver(&R));
        const engine_action *start = rig_last(&R, ENGINE_ACT_START_DEVICE);
        assert_int_equal(start->count, times == 1 ? 4 : 2);
        for (size_t i = 0; i < R.n_pending; i++)
            if (R.pending[i].kind == ENGINE_EV_DEVICE_DONE && R.pending[i].unit == start->unit) {
                R.pending[i].kind = ENGINE_EV_DEVICE_FAILED;
                R.pending[i].reason = ENGINE_BAD_INPUT;
            }
    }
    rig_run(&R);
    assert_int_equal(rig_action(&R, ENGINE_ACT_REPLY, bad, 0)->reason, ENGINE_BAD_INPUT);
    assert_int_equal(rig_action(&R, ENGINE_ACT_REPLY, good, 0)->state, ENGINE_DONE);
    assert_int_equal(rig_stats(&R).retries, 0);
    rig_close(&R);
}

static void a_full_channel_holds_the_workers(void **state) {
    (void)state;
    engine_config c = rig_config();
    c.synthesis_concurrency = 2;
    c.lookahead = 1;
    rig_open(&R, &c);
    submit(1, 8, ENGINE_NORMAL);
    assert_true(rig_deliver_kind(&R, ENGINE_EV_KEY_LOADED));
    while (rig_deliver_kind(&R, ENGINE_EV_SYNTH_DONE)) {
    }
    // One on the device, one in the channel, and both workers hold a finished unit.
    engine_stats s = rig_stats(&R);
    assert_int_equal(s.on_device, 1);
    assert_int_equal(s.in_channel, 1);
    assert_int_equal(s.blocked, 2);
    assert_int_equal(s.synthesising, 0);
    assert_int_equal(rig_count(&R, ENGINE_ACT_START_SYNTH, 0), 4);
    // The device takes the next: one blocked unit is sent, and its worker starts another.
    assert_true(rig_deliver_kind(&R, ENGINE_EV_DEVICE_DONE));
    s = rig_stats(&R);
    assert_int_equal(s.in_channel, 1);
    assert_int_equal(s.blocked, 1);
    assert_int_equal(s.synthesising, 1);
    rig_run(&R);
    assert_int_equal(rig_stats(&R).done, 1);
    rig_close(&R);
}

static void one_kernel_section_at_a_time(void **state) {
    (void)state;
    engine_config c = rig_config();
    c.workers_per_device = 2;
    c.lookahead = 4;
    rig_open(&R, &c);
    submit(1, 4, ENGINE_NORMAL);
    assert_true(rig_deliver_kind(&R, ENGINE_EV_KEY_LOADED));
    while (rig_deliver_kind(&R, ENGINE_EV_SYNTH_DONE)) {
    }
    assert_int_equal(rig_count(&R, ENGINE_ACT_START_DEVICE, 0), 1);
    engine_unit_id first = rig_last(&R, ENGINE_ACT_START_DEVICE)->unit;
    rig_step(&R, (engine_event){.kind = ENGINE_EV_DEVICE_STARTED, .unit = first});
    rig_step(&R, (engine_event){.kind = ENGINE_EV_DEVICE_KERNELS_DONE, .unit = first});
    assert_int_equal(rig_count(&R, ENGINE_ACT_START_DEVICE, 0), 2); // beside the tail of the first
    assert_int_equal(rig_last(&R, ENGINE_ACT_START_DEVICE)->worker, 1);
    rig_run(&R);
    assert_int_equal(rig_stats(&R).done, 1);
    rig_close(&R);
}

static void both_devices_are_used(void **state) {
    (void)state;
    engine_config c = rig_config();
    c.devices = 2;
    c.synthesis_concurrency = 4;
    rig_open(&R, &c);
    for (uint64_t i = 1; i <= 20; i++) submit(i, 1, ENGINE_NORMAL);
    rig_run(&R);
    uint32_t on[2] = {0};
    for (uint32_t i = 0; i < 20; i++) on[rig_action(&R, ENGINE_ACT_START_DEVICE, 0, i)->device]++;
    assert_true(on[0] >= 5 && on[1] >= 5);
    rig_close(&R);
}

// Device runs that begin between the submit of `job` and its own.
static uint32_t runs_before(engine_job_id job, size_t from) {
    uint32_t n = 0;
    for (size_t i = from; i < R.n_log; i++) {
        if (R.log[i].kind != ENGINE_ACT_START_DEVICE) continue;
        if (R.log[i].job == job) return n;
        n++;
    }
    fail_msg("job %llu never ran", (unsigned long long)job);
    return 0;
}

static void critical_jobs_go_first(void **state) {
    (void)state;
    for (unsigned full = 0; full < 2; full++) { // once more with the budget full
        engine_config c = rig_config();
        c.synthesis_concurrency = 3;
        c.lookahead = 2;
        if (full) c.memory_budget = 10 + 6;
        rig_open(&R, &c);
        for (uint64_t i = 1; i <= 5; i++) submit(i, 10, ENGINE_NORMAL);
        assert_true(rig_deliver_kind(&R, ENGINE_EV_KEY_LOADED));
        while (rig_deliver_kind(&R, ENGINE_EV_SYNTH_DONE)) {
        } // channel full, all workers blocked
        assert_int_equal(rig_stats(&R).blocked, 3);
        size_t from = R.n_log;
        engine_job_id urgent = submit(9, 1, ENGINE_CRITICAL);
        if (full) { // nothing is free: a unit that only waits is given up
            assert_int_equal(rig_stats(&R).discarded, 1);
            assert_true(rig_deliver_kind(&R, ENGINE_EV_UNIT_FREED));
        }
        assert_int_equal(rig_last(&R, ENGINE_ACT_START_SYNTH)->job, urgent); // took a blocked unit's worker
        assert_true(rig_deliver_kind(&R, ENGINE_EV_SYNTH_DONE));
        assert_true(rig_deliver_kind(&R, ENGINE_EV_DEVICE_DONE)); // the one that was running
        assert_int_equal(runs_before(urgent, from), 0);
        rig_run(&R);
        assert_int_equal(rig_stats(&R).done, 6);
        rig_close(&R);
    }
}

static void a_reserve_is_kept_for_critical_jobs(void **state) {
    (void)state;
    engine_config c = rig_config();
    c.synthesis_concurrency = 8;
    c.memory_budget = 30;
    c.critical_reserve = 15;
    rig_open(&R, &c);
    submit(1, 10, ENGINE_NORMAL);
    assert_int_equal(rig_stats(&R).memory_reserved, 15);
    engine_request q = rig_request(2, 1);
    q.priority = ENGINE_CRITICAL;
    q.key = 2;
    q.partition_bytes = 5;
    assert_true(rig_submit(&R, &q) != 0);
    assert_int_equal(rig_stats(&R).memory_reserved, 30); // at once, while the others are all busy
    q = rig_request(3, 1);
    q.partition_bytes = 6;
    assert_int_equal(rig_submit(&R, &q), 0); // not for others
    rig_run(&R);
    assert_int_equal(rig_stats(&R).done, 2);
    rig_close(&R);
}

static void priorities_and_ageing(void **state) {
    (void)state;
    for (unsigned ageing = 0; ageing < 2; ageing++) {
        engine_config c = rig_config();
        c.ageing_ns = ageing ? 100 : 0;
        rig_open(&R, &c);
        submit(1, 1, ENGINE_NORMAL); // runs
        engine_job_id low = submit(2, 1, ENGINE_LOW);
        engine_job_id normal = submit(3, 1, ENGINE_NORMAL);
        if (ageing) R.now += 200; // LOW has risen to HIGH, and is older
        engine_job_id high = submit(4, 1, ENGINE_HIGH);
        rig_run(&R);
        engine_job_id order[3];
        for (uint32_t i = 0; i < 3; i++) order[i] = rig_action(&R, ENGINE_ACT_START_SYNTH, 0, 1 + i)->job;
        assert_int_equal(order[0], ageing ? low : high);
        assert_int_equal(order[1], normal);
        assert_int_equal(order[2], ageing ? high : low);
        rig_close(&R);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standard_takes_whole_proofs),
        cmocka_unit_test(units_have_at_most_256_partitions),
        cmocka_unit_test(slotted_takes_slots_in_order),
        cmocka_unit_test(partitions_of_one_job_use_all_workers),
        cmocka_unit_test(batches_wait_for_mates),
        cmocka_unit_test(one_bad_input_does_not_fail_its_batch),
        cmocka_unit_test(one_mismatch_does_not_fail_its_batch),
        cmocka_unit_test(a_full_channel_holds_the_workers),
        cmocka_unit_test(one_kernel_section_at_a_time),
        cmocka_unit_test(both_devices_are_used),
        cmocka_unit_test(critical_jobs_go_first),
        cmocka_unit_test(a_reserve_is_kept_for_critical_jobs),
        cmocka_unit_test(priorities_and_ageing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
