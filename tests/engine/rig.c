// SPDX-License-Identifier: MIT OR Apache-2.0
#include "engine/rig.h"

engine_config rig_config(void) {
    return (engine_config){.policy = ENGINE_PARTITION,
                           .slot_size = 3,
                           .batch_size = 2,
                           .synthesis_concurrency = 1,
                           .lookahead = 1,
                           .devices = 1,
                           .workers_per_device = 1,
                           .max_pending_jobs = 32,
                           .max_partitions = 16,
                           .max_keys = 4,
                           .max_finished = 32,
                           .memory_budget = UINT64_MAX,
                           .max_attempts = 3};
}

void rig_open(rig *r, const engine_config *c) {
    memset(r, 0, sizeof *r);
    r->now = 1000;
    r->timer = UINT64_MAX;
    cuzk_error err;
    assert_int_equal(engine_core_create(&r->core, c, &err), CUZK_OK);
}

void rig_close(rig *r) {
    engine_core_destroy(&r->core);
    assert_null(r->core);
}

static void pend(rig *r, const engine_action *a) {
    engine_event e = {.unit = a->unit, .key = a->key, .ticket = a->ticket, .partition = UINT32_MAX};
    switch (a->kind) {
    case ENGINE_ACT_START_SYNTH: e.kind = ENGINE_EV_SYNTH_DONE; break;
    case ENGINE_ACT_START_DEVICE: e.kind = ENGINE_EV_DEVICE_DONE; break;
    case ENGINE_ACT_VERIFY:
        e.kind = ENGINE_EV_VERIFIED;
        memset(e.ok_mask, 0xff, sizeof e.ok_mask);
        break;
    case ENGINE_ACT_FREE_UNIT: e.kind = ENGINE_EV_UNIT_FREED; break;
    case ENGINE_ACT_LOAD_KEY:
        e.kind = ENGINE_EV_KEY_LOADED;
        e.bytes = a->needed;
        break;
    case ENGINE_ACT_EVICT_KEY: e.kind = ENGINE_EV_KEY_FREED; break;
    default: return;
    }
    if (r->fate != NULL && !r->fate(r, a, &e)) return;
    assert_true(r->n_pending < RIG_PENDING);
    r->pending[r->n_pending++] = e;
}

size_t rig_step(rig *r, engine_event e) {
    const engine_action *a;
    size_t first = r->n_log, n = engine_core_step(r->core, ++r->now, &e, &a);
    for (size_t i = 0; i < n; i++) {
        if (a[i].kind == ENGINE_ACT_SET_TIMER) r->timer = a[i].at;
        if (a[i].kind == ENGINE_ACT_SET_TIMER || a[i].kind == ENGINE_ACT_RECORD) continue;
        assert_true(r->n_log < RIG_LOG);
        r->log[r->n_log++] = a[i];
        pend(r, &a[i]);
    }
    char text[160];
    if (!engine_core_check(r->core, text, sizeof text)) fail_msg("%s", text);
    return first;
}

engine_request rig_request(uint64_t token, uint32_t partitions) {
    engine_request q = {.key = 1,
                        .key_bytes = 10,
                        .partition_bytes = 1,
                        .partitions = partitions,
                        .priority = ENGINE_NORMAL,
                        .token = token};
    memset(q.input_digest, (int)token, sizeof q.input_digest);
    return q;
}

engine_job_id rig_submit(rig *r, const engine_request *q) {
    size_t at = rig_step(r, (engine_event){.kind = ENGINE_EV_SUBMIT, .request = q});
    assert_true(at < r->n_log);
    assert_int_equal(r->log[at].token, q->token);
    return r->log[at].kind == ENGINE_ACT_ACCEPTED ? r->log[at].job : 0;
}

static void deliver(rig *r, size_t i) {
    engine_event e = r->pending[i];
    memmove(&r->pending[i], &r->pending[i + 1], (--r->n_pending - i) * sizeof e);
    rig_step(r, e);
}

bool rig_deliver(rig *r) {
    if (r->n_pending == 0) return false;
    deliver(r, 0);
    return true;
}

bool rig_deliver_kind(rig *r, engine_event_kind kind) {
    for (size_t i = 0; i < r->n_pending; i++)
        if (r->pending[i].kind == kind) {
            deliver(r, i);
            return true;
        }
    return false;
}

void rig_run(rig *r) {
    while (rig_deliver(r)) {
    }
}

void rig_wait_until(rig *r, uint64_t at) {
    assert_true(at > r->now);
    r->now = at - 1;
    r->timer = UINT64_MAX;
    rig_step(r, (engine_event){.kind = ENGINE_EV_TIMER});
}

void rig_cancel(rig *r, engine_job_id job) { rig_step(r, (engine_event){.kind = ENGINE_EV_CANCEL, .job = job}); }

uint32_t rig_count(const rig *r, engine_action_kind kind, engine_job_id job) {
    uint32_t n = 0;
    for (size_t i = 0; i < r->n_log; i++) n += r->log[i].kind == kind && (job == 0 || r->log[i].job == job);
    return n;
}

const engine_action *rig_action(const rig *r, engine_action_kind kind, engine_job_id job, uint32_t nth) {
    for (size_t i = 0; i < r->n_log; i++)
        if (r->log[i].kind == kind && (job == 0 || r->log[i].job == job) && nth-- == 0) return &r->log[i];
    fail_msg("no such action: kind %d job %llu", (int)kind, (unsigned long long)job);
    return NULL;
}

const engine_action *rig_last(const rig *r, engine_action_kind kind) {
    uint32_t n = rig_count(r, kind, 0);
    return rig_action(r, kind, 0, n == 0 ? 0 : n - 1);
}

engine_stats rig_stats(const rig *r) {
    engine_stats s;
    engine_core_stats(r->core, &s);
    return s;
}
