// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Admission, ids, each reason, cancel in each state, keys and the rest of the core, one at a time.
#include "engine/rig.h"

static void check_reply(const rig *r, engine_job_id job, engine_job_state state, engine_reason reason) {
    assert_int_equal(rig_count(r, ENGINE_ACT_REPLY, job), 1);
    const engine_action *a = rig_action(r, ENGINE_ACT_REPLY, job, 0);
    assert_int_equal(a->state, state);
    assert_int_equal(a->reason, reason);
}

static void check_refused(rig *r, const engine_request *q, engine_reason reason) {
    assert_int_equal(rig_submit(r, q), 0);
    assert_int_equal(rig_last(r, ENGINE_ACT_REFUSED)->reason, reason);
}

static void a_job_is_proven(void **state) {
    (void)state;
    rig r;
    engine_config c = rig_config();
    rig_open(&r, &c);
    engine_request q = rig_request(7, 10);
    engine_job_id job = rig_submit(&r, &q);
    rig_run(&r);
    check_reply(&r, job, ENGINE_DONE, ENGINE_NO_REASON);
    assert_int_equal(rig_action(&r, ENGINE_ACT_REPLY, job, 0)->token, 7);
    assert_int_equal(rig_count(&r, ENGINE_ACT_START_DEVICE, 0), 10);
    assert_int_equal(rig_count(&r, ENGINE_ACT_LOAD_KEY, 0), 1);
    engine_job_view v;
    assert_true(engine_core_job(r.core, job, &v));
    assert_int_equal(v.partitions_done, 10);
    assert_true(v.submitted_ns <= v.started_ns && v.started_ns < v.finished_ns);
    engine_stats s = rig_stats(&r);
    assert_int_equal(s.done, 1);
    assert_int_equal(s.memory_reserved, 10); // the key stays
    rig_close(&r);
}

static void senseless_configurations_are_refused(void **state) {
    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        engine_config c = rig_config();
        const char *name = "";
        switch (i) {
        case 0: c.synthesis_concurrency = 0, name = "synthesis_concurrency"; break;
        case 1: c.lookahead = 0, name = "lookahead"; break;
        case 2: c.devices = 0, name = "devices"; break;
        case 3: c.workers_per_device = 0, name = "workers_per_device"; break;
        case 4: c.max_pending_jobs = 0, name = "max_pending_jobs"; break;
        case 5: c.max_attempts = 0, name = "max_attempts"; break;
        case 6: c.policy = ENGINE_SLOTTED, c.slot_size = 0, name = "slot_size"; break;
        case 7: c.policy = ENGINE_BATCH, c.batch_size = 300, name = "batch_size"; break;
        case 8: c.memory_budget = 5, c.critical_reserve = 5, name = "critical_reserve"; break;
        default: c.policy = (engine_policy)9, name = "policy"; break;
        }
        engine_core *core = NULL;
        cuzk_error err;
        assert_int_equal(engine_core_create(&core, &c, &err), CUZK_ERR_USAGE);
        assert_null(core);
        assert_non_null(strstr(err.text, name));
    }
}

static void bad_requests_are_refused(void **state) {
    (void)state;
    rig r;
    engine_config c = rig_config();
    c.memory_budget = 100;
    rig_open(&r, &c);
    engine_request q = rig_request(1, 0);
    check_refused(&r, &q, ENGINE_BAD_REQUEST);
    q = rig_request(1, 17);
    check_refused(&r, &q, ENGINE_BAD_REQUEST);
    q = rig_request(1, 1);
    q.key = 0;
    check_refused(&r, &q, ENGINE_BAD_REQUEST);
    q = rig_request(1, 1);
    q.priority = ENGINE_PRIORITIES;
    check_refused(&r, &q, ENGINE_BAD_REQUEST);
    q = rig_request(1, 1);
    q.deadline_ns = r.now;
    check_refused(&r, &q, ENGINE_DEADLINE);
    q = rig_request(1, 1);
    q.partition_bytes = 91;
    check_refused(&r, &q, ENGINE_TOO_BIG);
    assert_int_equal(rig_last(&r, ENGINE_ACT_REFUSED)->needed, 101);
    assert_int_equal(rig_last(&r, ENGINE_ACT_REFUSED)->available, 100);
    q.partition_bytes = UINT64_MAX / 2;
    q.partitions = 16;
    check_refused(&r, &q, ENGINE_TOO_BIG); // no overflow
    assert_int_equal(rig_stats(&r).refused, 7);
    q.partition_bytes = 90;
    assert_true(rig_submit(&r, &q) != 0); // one partition at a time fits exactly
    rig_run(&r);
    assert_int_equal(rig_stats(&r).done, 1);
    rig_close(&r);
}

static void the_queue_is_bounded(void **state) {
    (void)state;
    rig r;
    engine_config c = rig_config();
    c.max_pending_jobs = 3;
    c.critical_places = 1;
    rig_open(&r, &c);
    engine_request q[5];
    engine_job_id job[5];
    for (uint64_t i = 0; i < 5; i++) {
        q[i] = rig_request(i + 1, 2);
        if (i == 4) q[i].priority = ENGINE_CRITICAL;
        job[i] = rig_submit(&r, &q[i]);
    }
    assert_true(job[2] != 0 && job[3] == 0 && job[4] != 0); // the critical one has a place of its own
    assert_int_equal(rig_action(&r, ENGINE_ACT_REFUSED, 0, 0)->reason, ENGINE_QUEUE_FULL);
    // A cancelled job keeps its place until its unit has really stopped.
    engine_request late = rig_request(9, 1);
    rig_cancel(&r, job[0]);
    check_reply(&r, job[0], ENGINE_STOPPED, ENGINE_CANCELLED);
    check_refused(&r, &late, ENGINE_QUEUE_FULL);
    rig_run(&r);
    assert_true(rig_submit(&r, &late) != 0);
    rig_run(&r);
    assert_int_equal(rig_stats(&r).done, 4);
    rig_close(&r);
}

static void ids_join_or_are_refused(void **state) {
    (void)state;
    rig r;
    engine_config c = rig_config();
    rig_open(&r, &c);
    engine_request a = rig_request(1, 2), again = rig_request(2, 2), other = rig_request(3, 2);
    a.client_id[3] = again.client_id[3] = other.client_id[3] = 9;
    memcpy(again.input_digest, a.input_digest, sizeof a.input_digest);
    engine_job_id job = rig_submit(&r, &a);
    assert_int_equal(rig_submit(&r, &again), job);
    assert_true(rig_last(&r, ENGINE_ACT_ACCEPTED)->joined);
    check_refused(&r, &other, ENGINE_ID_IN_USE);
    rig_run(&r);
    check_reply(&r, job, ENGINE_DONE, ENGINE_NO_REASON);
    assert_int_equal(rig_submit(&r, &again), job); // done: the result is handed out again
    assert_int_equal(rig_last(&r, ENGINE_ACT_ACCEPTED)->state, ENGINE_DONE);
    check_refused(&r, &other, ENGINE_ID_IN_USE);

    // What was cancelled may be asked for again, with the same input.
    engine_request b = rig_request(4, 2), b2 = rig_request(5, 2), b3 = rig_request(6, 2);
    b.client_id[0] = b2.client_id[0] = b3.client_id[0] = 1;
    memcpy(b2.input_digest, b.input_digest, sizeof b.input_digest);
    engine_job_id first = rig_submit(&r, &b);
    rig_cancel(&r, first);
    check_refused(&r, &b3, ENGINE_ID_IN_USE);
    engine_job_id second = rig_submit(&r, &b2);
    assert_true(second != 0 && second != first);
    rig_run(&r);
    check_reply(&r, first, ENGINE_STOPPED, ENGINE_CANCELLED);
    check_reply(&r, second, ENGINE_DONE, ENGINE_NO_REASON);
    assert_int_equal(rig_submit(&r, &b2), second);
    rig_close(&r);
}

static void finished_jobs_are_forgotten(void **state) {
    (void)state;
    rig r;
    engine_config c = rig_config();
    c.max_finished = 2;
    rig_open(&r, &c);
    engine_job_id job[5];
    for (uint64_t i = 0; i < 5; i++) {
        engine_request q = rig_request(i + 1, 1);
        q.client_id[0] = (uint8_t)(i + 1);
        job[i] = rig_submit(&r, &q);
        rig_run(&r);
    }
    assert_int_equal(rig_count(&r, ENGINE_ACT_FORGET, 0), 3);
    engine_job_view v;
    assert_false(engine_core_job(r.core, job[2], &v));
    assert_true(engine_core_job(r.core, job[3], &v));
    engine_request q = rig_request(1, 1);
    q.client_id[0] = 1;
    engine_job_id again = rig_submit(&r, &q);
    assert_true(again > job[4]); // ids are never used twice
    rig_close(&r);
}

static void draining(void **state) {
    (void)state;
    rig r;
    engine_config c = rig_config();
    rig_open(&r, &c);
    engine_request q = rig_request(1, 3), late = rig_request(2, 1);
    engine_job_id job = rig_submit(&r, &q);
    rig_step(&r, (engine_event){.kind = ENGINE_EV_DRAIN});
    check_refused(&r, &late, ENGINE_DRAINING);
    assert_int_equal(rig_count(&r, ENGINE_ACT_DRAINED, 0), 0);
    rig_run(&r);
    check_reply(&r, job, ENGINE_DONE, ENGINE_NO_REASON);
    rig_step(&r, (engine_event){.kind = ENGINE_EV_DRAIN});
    assert_int_equal(rig_count(&r, ENGINE_ACT_DRAINED, 0), 1);
    rig_close(&r);
}

static void cancel_in_each_state(void **state) {
    (void)state;
    // After how many reports the job is cancelled; reports: key, synthesis, device, verified, freed.
    for (unsigned after = 0; after <= 5; after++) {
        rig r;
        engine_config c = rig_config();
        rig_open(&r, &c);
        engine_request q = rig_request(1, 1), next = rig_request(2, 1);
        engine_job_id job = rig_submit(&r, &q);
        for (unsigned i = 0; i < after; i++) assert_true(rig_deliver(&r));
        bool done = after >= 4;
        rig_cancel(&r, job);
        rig_cancel(&r, job);
        check_reply(&r, job, done ? ENGINE_DONE : ENGINE_STOPPED, done ? ENGINE_NO_REASON : ENGINE_CANCELLED);
        bool running = after <= 2; // in synthesis twice, on the device once
        assert_int_equal(rig_count(&r, ENGINE_ACT_STOP_UNIT, 0), running ? 1 : 0);
        if (running) assert_int_equal(rig_stats(&r).memory_reserved, 11); // until it has really stopped
        rig_run(&r);
        assert_int_equal(rig_stats(&r).memory_reserved, 10);
        engine_job_id other = rig_submit(&r, &next);
        rig_run(&r);
        check_reply(&r, other, ENGINE_DONE, ENGINE_NO_REASON);
        rig_close(&r);
    }
    rig r;
    engine_config c = rig_config();
    rig_open(&r, &c);
    engine_request q = rig_request(1, 1), queued = rig_request(2, 5);
    engine_job_id first = rig_submit(&r, &q), job = rig_submit(&r, &queued);
    rig_cancel(&r, job); // queued: nothing was started for it
    check_reply(&r, job, ENGINE_STOPPED, ENGINE_CANCELLED);
    rig_cancel(&r, 12345);
    rig_cancel(&r, 0);
    rig_run(&r);
    assert_int_equal(rig_count(&r, ENGINE_ACT_START_SYNTH, 0), 1);
    check_reply(&r, first, ENGINE_DONE, ENGINE_NO_REASON);
    rig_close(&r);
}

// --- faults ---

typedef struct fault {
    engine_action_kind at; // which action's report
    uint32_t partition;    // of which partition, UINT32_MAX: any
    uint32_t times;        // the first so many
    engine_event_kind kind;
    engine_reason reason;
    bool never; // the report never comes
} fault;

static bool faulty(rig *r, const engine_action *a, engine_event *e) {
    fault *f = r->ctx;
    if (a->kind != f->at || (f->partition != UINT32_MAX && a->partition != f->partition) || f->times == 0) return true;
    f->times--;
    if (f->never) return false;
    if (a->kind == ENGINE_ACT_VERIFY) {
        memset(e->ok_mask, 0, sizeof e->ok_mask);
        return true;
    }
    e->kind = f->kind;
    e->reason = f->reason;
    return true;
}

static void run_fault(fault f, engine_job_state state, engine_reason reason, uint32_t runs, uint32_t partition) {
    rig r;
    engine_config c = rig_config();
    rig_open(&r, &c);
    r.fate = faulty;
    r.ctx = &f;
    engine_request q = rig_request(1, 10), next = rig_request(2, 10);
    engine_job_id job = rig_submit(&r, &q);
    rig_run(&r);
    check_reply(&r, job, state, reason);
    if (runs != UINT32_MAX) assert_int_equal(rig_count(&r, ENGINE_ACT_START_DEVICE, 0), runs);
    if (partition != UINT32_MAX) assert_int_equal(rig_action(&r, ENGINE_ACT_REPLY, job, 0)->partition, partition);
    f.times = 0;
    engine_job_id good = rig_submit(&r, &next); // one failed job does not poison the next
    rig_run(&r);
    check_reply(&r, good, ENGINE_DONE, ENGINE_NO_REASON);
    assert_int_equal(rig_stats(&r).units_live, 0);
    rig_close(&r);
}

static void faults_end_where_they_should(void **state) {
    (void)state;
    const uint32_t any = UINT32_MAX, always = 1000;
    // A wrong proof of partition 4, once: proven again, alone.
    run_fault((fault){ENGINE_ACT_VERIFY, 4, 1, 0, 0, false}, ENGINE_DONE, ENGINE_NO_REASON, 11, any);
    // Always: three attempts, then the job fails and names it.
    run_fault((fault){ENGINE_ACT_VERIFY, 4, always, 0, 0, false}, ENGINE_FAILED, ENGINE_WRONG_PROOF, any, 4);
    run_fault((fault){ENGINE_ACT_START_DEVICE, 3, 1, ENGINE_EV_DEVICE_FAILED, ENGINE_OUT_OF_MEMORY, false}, ENGINE_DONE,
              ENGINE_NO_REASON, 11, any);
    run_fault((fault){ENGINE_ACT_START_DEVICE, 3, always, ENGINE_EV_DEVICE_FAILED, ENGINE_OUT_OF_MEMORY, false},
              ENGINE_FAILED, ENGINE_OUT_OF_MEMORY, any, 3);
    run_fault((fault){ENGINE_ACT_START_DEVICE, any, always, ENGINE_EV_DEVICE_FAILED, ENGINE_DEVICE_ERROR, false},
              ENGINE_FAILED, ENGINE_DEVICE_ERROR, any, any);
    run_fault((fault){ENGINE_ACT_START_DEVICE, 3, always, ENGINE_EV_DEVICE_FAILED, ENGINE_BAD_INPUT, false},
              ENGINE_FAILED, ENGINE_BAD_INPUT, any, 3);
    run_fault((fault){ENGINE_ACT_START_SYNTH, 2, always, ENGINE_EV_SYNTH_FAILED, ENGINE_BAD_INPUT, false},
              ENGINE_FAILED, ENGINE_BAD_INPUT, any, any);
    run_fault((fault){ENGINE_ACT_START_SYNTH, 2, 2, ENGINE_EV_SYNTH_FAILED, ENGINE_OUT_OF_MEMORY, false}, ENGINE_DONE,
              ENGINE_NO_REASON, 10, any);
    run_fault((fault){ENGINE_ACT_LOAD_KEY, any, 1, ENGINE_EV_KEY_FAILED, ENGINE_KEY_FAILED, false}, ENGINE_FAILED,
              ENGINE_KEY_FAILED, 0, any);
}

static void a_partition_of_a_large_unit_is_proven_again_alone(void **state) {
    (void)state;
    rig r;
    engine_config c = rig_config();
    c.policy = ENGINE_STANDARD;
    rig_open(&r, &c);
    engine_request q = rig_request(1, 10);
    engine_job_id job = rig_submit(&r, &q);
    while (rig_count(&r, ENGINE_ACT_VERIFY, 0) == 0) assert_true(rig_deliver(&r));
    assert_int_equal(rig_stats(&r).memory_reserved, 20);
    r.pending[0].ok_mask[0] = ~(UINT64_C(1) << 4);
    rig_deliver(&r);
    assert_int_equal(rig_last(&r, ENGINE_ACT_START_SYNTH)->count, 1);
    assert_int_equal(rig_last(&r, ENGINE_ACT_START_SYNTH)->partition, 4);
    rig_run(&r);
    check_reply(&r, job, ENGINE_DONE, ENGINE_NO_REASON);
    assert_int_equal(rig_stats(&r).retries, 1);
    rig_close(&r);
}

static void stages_are_watched(void **state) {
    (void)state;
    const engine_action_kind stages[] = {ENGINE_ACT_START_SYNTH, ENGINE_ACT_START_DEVICE, ENGINE_ACT_VERIFY,
                                         ENGINE_ACT_LOAD_KEY};
    for (size_t i = 0; i < 4; i++) {
        rig r;
        engine_config c = rig_config();
        c.stage_timeout_ns = 2000;
        rig_open(&r, &c);
        fault f = {.at = stages[i], .partition = UINT32_MAX, .times = 1, .never = true};
        r.fate = faulty;
        r.ctx = &f;
        engine_request q = rig_request(1, 1);
        engine_job_id job = rig_submit(&r, &q);
        rig_run(&r);
        assert_int_equal(rig_count(&r, ENGINE_ACT_REPLY, 0), 0);
        assert_true(r.timer != UINT64_MAX);
        rig_wait_until(&r, r.timer);
        check_reply(&r, job, ENGINE_FAILED, ENGINE_STAGE_TIMEOUT);
        bool runs = stages[i] == ENGINE_ACT_START_SYNTH || stages[i] == ENGINE_ACT_START_DEVICE;
        assert_int_equal(rig_count(&r, ENGINE_ACT_STOP_UNIT, 0), runs ? 1 : 0);
        rig_run(&r);
        // A stage that hangs holds what it has until the runtime reports.
        if (runs) {
            assert_int_equal(rig_stats(&r).units_live, 1);
            rig_step(&r, (engine_event){.kind = stages[i] == ENGINE_ACT_START_SYNTH ? ENGINE_EV_SYNTH_FAILED
                                                                                    : ENGINE_EV_DEVICE_FAILED,
                                        .unit = rig_last(&r, ENGINE_ACT_STOP_UNIT)->unit,
                                        .reason = ENGINE_CANCELLED,
                                        .partition = UINT32_MAX});
            rig_run(&r);
            assert_int_equal(rig_stats(&r).units_live, 0);
        }
        rig_close(&r);
    }
}

static void deadlines(void **state) {
    (void)state;
    rig r;
    engine_config c = rig_config();
    rig_open(&r, &c);
    engine_request q = rig_request(1, 4), fine = rig_request(2, 1);
    q.deadline_ns = 5000;
    engine_job_id job = rig_submit(&r, &q), other = rig_submit(&r, &fine);
    assert_int_equal(r.timer, 5000);
    rig_deliver(&r);
    rig_wait_until(&r, 5000);
    check_reply(&r, job, ENGINE_FAILED, ENGINE_DEADLINE);
    rig_run(&r);
    check_reply(&r, other, ENGINE_DONE, ENGINE_NO_REASON);
    rig_close(&r);
}

static void sick_devices_rest(void **state) {
    (void)state;
    for (unsigned forever = 0; forever < 2; forever++) {
        rig r;
        engine_config c = rig_config();
        c.device_failure_limit = 2;
        c.device_retry_ns = forever ? 0 : 10000;
        c.max_attempts = 5;
        rig_open(&r, &c);
        fault f = {ENGINE_ACT_START_DEVICE, UINT32_MAX, 2, ENGINE_EV_DEVICE_FAILED, ENGINE_DEVICE_ERROR, false};
        r.fate = faulty;
        r.ctx = &f;
        engine_request q = rig_request(1, 4), next = rig_request(2, 1);
        engine_job_id job = rig_submit(&r, &q);
        rig_run(&r);
        assert_int_equal(rig_stats(&r).devices_healthy, 0);
        assert_int_equal(rig_count(&r, ENGINE_ACT_START_DEVICE, 0), 2);
        if (forever) {
            check_reply(&r, job, ENGINE_FAILED, ENGINE_NO_DEVICE);
            check_refused(&r, &next, ENGINE_NO_DEVICE);
        } else {
            rig_wait_until(&r, r.timer);
            assert_int_equal(rig_count(&r, ENGINE_ACT_START_DEVICE, 0), 3); // one, to see
            rig_run(&r);
            assert_int_equal(rig_stats(&r).devices_healthy, 1);
            check_reply(&r, job, ENGINE_DONE, ENGINE_NO_REASON);
        }
        rig_close(&r);
    }
}

static bool hosts_fault(rig *r, const engine_action *a, engine_event *e) {
    const bool comes = faulty(r, a, e);
    e->host = e->kind == ENGINE_EV_DEVICE_FAILED;
    return comes;
}

static void devices_are_not_blamed_for_others(void **state) {
    (void)state;
    for (unsigned host = 0; host < 2; host++) {
        rig r;
        engine_config c = rig_config();
        c.device_failure_limit = 1;
        c.device_retry_ns = 0;
        rig_open(&r, &c);
        fault f = {ENGINE_ACT_START_DEVICE,
                   UINT32_MAX,
                   2,
                   ENGINE_EV_DEVICE_FAILED,
                   host ? ENGINE_OUT_OF_MEMORY : ENGINE_BAD_INPUT,
                   false};
        r.fate = host ? hosts_fault : faulty;
        r.ctx = &f;
        engine_request q = rig_request(1, 1), next = rig_request(2, 1);
        engine_job_id job = rig_submit(&r, &q);
        rig_run(&r);
        if (host)
            check_reply(&r, job, ENGINE_DONE, ENGINE_NO_REASON);
        else
            check_reply(&r, job, ENGINE_FAILED, ENGINE_BAD_INPUT);
        assert_int_equal(rig_count(&r, ENGINE_ACT_START_DEVICE, 0), host ? 3 : 1);
        assert_int_equal(rig_stats(&r).retries, host ? 2 : 0);
        assert_int_equal(rig_stats(&r).devices_healthy, 1);
        f.times = 0;
        job = rig_submit(&r, &next);
        rig_run(&r);
        check_reply(&r, job, ENGINE_DONE, ENGINE_NO_REASON);
        rig_close(&r);
    }
}

// --- keys ---

static void keys_are_loaded_once_and_evicted_when_idle(void **state) {
    (void)state;
    rig r;
    engine_config c = rig_config();
    c.memory_budget = 14; // room for one key
    c.synthesis_concurrency = 4;
    rig_open(&r, &c);
    engine_request q[8];
    for (uint64_t i = 0; i < 8; i++) {
        q[i] = rig_request(i + 1, 1);
        assert_true(rig_submit(&r, &q[i]) != 0);
    }
    assert_int_equal(rig_count(&r, ENGINE_ACT_LOAD_KEY, 0), 1);
    rig_step(&r, (engine_event){.kind = ENGINE_EV_EVICT, .key = 1, .token = 77});
    assert_int_equal(rig_last(&r, ENGINE_ACT_REFUSED)->reason, ENGINE_KEY_IN_USE);
    assert_int_equal(rig_last(&r, ENGINE_ACT_REFUSED)->token, 77);
    rig_run(&r);
    assert_int_equal(rig_count(&r, ENGINE_ACT_LOAD_KEY, 0), 1);
    // Two circuits in turn: each waits for the other's key to go.
    for (uint64_t i = 0; i < 50; i++) {
        engine_request x = rig_request(100 + i, 2);
        x.key = 1 + i % 2;
        if (i % 10 != 9) assert_true(rig_submit(&r, &x) != 0);
        if (i % 3 == 0) rig_run(&r);
    }
    rig_run(&r);
    assert_int_equal(rig_stats(&r).done, 53);
    assert_true(rig_stats(&r).key_evictions > 10);
    assert_true(rig_stats(&r).memory_peak <= 14);
    // An operator evicts the idle one; a key that is not there cannot be.
    uint64_t there = rig_last(&r, ENGINE_ACT_LOAD_KEY)->key;
    rig_step(&r, (engine_event){.kind = ENGINE_EV_EVICT, .key = there});
    rig_run(&r);
    assert_int_equal(rig_stats(&r).memory_reserved, 0);
    rig_step(&r, (engine_event){.kind = ENGINE_EV_EVICT, .key = there});
    assert_int_equal(rig_last(&r, ENGINE_ACT_REFUSED)->reason, ENGINE_NOT_FOUND);
    rig_close(&r);
}

static void the_least_recently_used_key_goes(void **state) {
    (void)state;
    rig r;
    engine_config c = rig_config();
    c.memory_budget = 31;
    rig_open(&r, &c);
    for (uint64_t k = 1; k <= 3; k++) rig_step(&r, (engine_event){.kind = ENGINE_EV_PRELOAD, .key = k, .bytes = 10});
    rig_run(&r);
    assert_int_equal(rig_stats(&r).keys_loaded, 3);
    rig_step(&r, (engine_event){.kind = ENGINE_EV_PRELOAD, .key = 4, .bytes = 10});
    assert_int_equal(rig_last(&r, ENGINE_ACT_REFUSED)->reason, ENGINE_OUT_OF_MEMORY);
    rig_step(&r, (engine_event){.kind = ENGINE_EV_PRELOAD, .key = 4, .bytes = 99});
    assert_int_equal(rig_last(&r, ENGINE_ACT_REFUSED)->reason, ENGINE_TOO_BIG);
    engine_request a = rig_request(1, 1), b = rig_request(2, 1);
    rig_submit(&r, &a); // uses key 1
    rig_run(&r);
    b.key = 4;
    rig_submit(&r, &b);
    assert_int_equal(rig_last(&r, ENGINE_ACT_EVICT_KEY)->key, 2);
    rig_run(&r);
    assert_int_equal(rig_stats(&r).done, 2);
    rig_close(&r);
}

static void a_key_bigger_than_said_fails_what_it_does_not_leave_room_for(void **state) {
    (void)state;
    rig r;
    engine_config c = rig_config();
    c.memory_budget = 40;
    rig_open(&r, &c);
    engine_request q = rig_request(1, 1);
    engine_job_id job = rig_submit(&r, &q);
    r.pending[0].bytes = 1000;
    assert_int_equal(r.pending[0].kind, ENGINE_EV_KEY_LOADED);
    rig_run(&r);
    check_reply(&r, job, ENGINE_FAILED, ENGINE_TOO_BIG);
    assert_int_equal(rig_stats(&r).memory_reserved, 0);
    rig_close(&r);
}

static void names(void **state) {
    (void)state;
    for (unsigned i = 0; i < ENGINE_REASONS; i++)
        for (unsigned j = 0; j < i; j++)
            assert_string_not_equal(engine_reason_name((engine_reason)i), engine_reason_name((engine_reason)j));
    assert_string_equal(engine_reason_name(ENGINE_REASONS), "UNKNOWN");
    assert_string_equal(engine_reason_name(ENGINE_STAGE_TIMEOUT), "STAGE_TIMEOUT");
    assert_string_equal(engine_reason_name(ENGINE_NOT_FOUND), "NOT_FOUND");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_proven),
        cmocka_unit_test(senseless_configurations_are_refused),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(the_queue_is_bounded),
        cmocka_unit_test(ids_join_or_are_refused),
        cmocka_unit_test(finished_jobs_are_forgotten),
        cmocka_unit_test(draining),
        cmocka_unit_test(cancel_in_each_state),
        cmocka_unit_test(faults_end_where_they_should),
        cmocka_unit_test(a_partition_of_a_large_unit_is_proven_again_alone),
        cmocka_unit_test(stages_are_watched),
        cmocka_unit_test(deadlines),
        cmocka_unit_test(sick_devices_rest),
        cmocka_unit_test(devices_are_not_blamed_for_others),
        cmocka_unit_test(keys_are_loaded_once_and_evicted_when_idle),
        cmocka_unit_test(the_least_recently_used_key_goes),
        cmocka_unit_test(a_key_bigger_than_said_fails_what_it_does_not_leave_room_for),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
