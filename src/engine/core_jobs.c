// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Jobs: admission, ids, and the one way in which a job becomes terminal.
#include <string.h>

#include "engine/core_internal.h"

static uint32_t hash_u64(const engine_core *c, uint64_t x) {
    return (uint32_t)((x * UINT64_C(0x9e3779b97f4a7c15)) >> 40) & c->hash_mask;
}

static uint32_t hash_client(const engine_core *c, const uint8_t id[16]) {
    uint64_t a, b;
    memcpy(&a, id, 8);
    memcpy(&b, id + 8, 8);
    return hash_u64(c, a ^ (b * 0x2545f4914f6cdd1d));
}

static bool has_client(const engine_request *r) {
    static const uint8_t NONE[16];
    return memcmp(r->client_id, NONE, sizeof NONE) != 0;
}

uint32_t core_jobs_find(const engine_core *c, engine_job_id id) {
    if (id == 0) return NO_SLOT;
    uint32_t j = c->by_id[hash_u64(c, id)];
    while (j != NO_SLOT && c->jobs[j].id != id) j = c->jobs[j].next_id;
    return j;
}

static uint32_t find_client(const engine_core *c, const uint8_t id[16]) {
    uint32_t j = c->by_client[hash_client(c, id)];
    while (j != NO_SLOT && memcmp(c->jobs[j].req.client_id, id, 16) != 0) j = c->jobs[j].next_client;
    return j;
}

static void unchain_client(engine_core *c, uint32_t j) {
    if (!c->jobs[j].in_client_chain) return;
    uint32_t *at = &c->by_client[hash_client(c, c->jobs[j].req.client_id)];
    while (*at != j) at = &c->jobs[*at].next_client;
    *at = c->jobs[j].next_client;
    c->jobs[j].in_client_chain = false;
}

// The record of a job that is terminal and holds nothing is dropped.
static void forget(engine_core *c, uint32_t j) {
    engine_action *a = core_act(c, ENGINE_ACT_FORGET);
    a->job = c->jobs[j].id;
    a->token = c->jobs[j].req.token;
    unchain_client(c, j);
    uint32_t *at = &c->by_id[hash_u64(c, c->jobs[j].id)];
    while (*at != j) at = &c->jobs[*at].next_id;
    *at = c->jobs[j].next_id;
    c->jobs[j].id = 0;
    c->free_jobs[c->n_free_jobs++] = j;
}

// Terminal and without units: the place is free for another job, the record joins the finished ones.
static void retire(engine_core *c, uint32_t j) {
    uint32_t at = c->jobs[j].live_pos, last = c->live[c->n_live - 1];
    c->live[at] = last;
    c->jobs[last].live_pos = at;
    c->n_live--;
    c->jobs[j].live_pos = NO_SLOT;
    if (c->jobs[j].req.priority == ENGINE_CRITICAL) c->n_critical_live--;
    c->finished[(c->finished_head + c->n_finished++) % c->max_jobs] = j;
    while (c->n_finished > c->cfg.max_finished && !planted(c, ENGINE_BUG_NEVER_FORGETS)) {
        uint32_t oldest = c->finished[c->finished_head];
        c->finished_head = (c->finished_head + 1) % c->max_jobs;
        c->n_finished--;
        forget(c, oldest);
    }
}

void core_jobs_release(engine_core *c, uint32_t j) {
    if (c->jobs[j].units == 0) {
        c->broken = true;
        return;
    }
    if (--c->jobs[j].units == 0 && terminal(&c->jobs[j]) && c->jobs[j].live_pos != NO_SLOT) retire(c, j);
}

void core_jobs_part_waits(engine_core *c, uint32_t j, uint32_t partition, bool alone) {
    job *b = &c->jobs[j];
    part *p = &job_parts(c, j)[partition];
    if (terminal(b)) {
        p->state = PART_DROPPED;
        return;
    }
    p->state = PART_WAITING;
    p->alone = alone;
    b->waiting++;
    b->alone += alone;
    if (partition < b->waiting_lo) b->waiting_lo = partition;
}

static void refuse_submit(engine_core *c, const engine_request *r, engine_reason reason, uint64_t needed,
                          uint64_t available) {
    c->stats.refused++;
    core_act_refuse(c, r->token, r->key, reason, needed, available);
}

// An earlier job has this id. True if that settles the request.
static bool known_id(engine_core *c, const engine_request *r, uint32_t j) {
    job *b = &c->jobs[j];
    if (memcmp(b->req.input_digest, r->input_digest, sizeof r->input_digest) != 0 &&
        !planted(c, ENGINE_BUG_JOIN_ANY_INPUT)) {
        refuse_submit(c, r, ENGINE_ID_IN_USE, 0, 0);
        return true;
    }
    // What failed or was cancelled may be asked for again: that is a new job, and the id moves to it.
    if (b->state == ENGINE_FAILED || b->state == ENGINE_STOPPED) return false;
    c->stats.joined++;
    engine_action *a = core_act(c, ENGINE_ACT_ACCEPTED);
    a->job = b->id;
    a->token = r->token;
    a->state = b->state;
    a->reason = b->reason;
    a->joined = true;
    return true;
}

void core_jobs_submit(engine_core *c, const engine_request *r) {
    bool critical = r->priority == ENGINE_CRITICAL;
    if (r->partitions == 0 || r->partitions > c->cfg.max_partitions || r->key == 0 ||
        (unsigned)r->priority >= ENGINE_PRIORITIES) {
        refuse_submit(c, r, ENGINE_BAD_REQUEST, r->partitions, c->cfg.max_partitions);
        return;
    }
    uint32_t earlier = has_client(r) ? find_client(c, r->client_id) : NO_SLOT;
    if (earlier != NO_SLOT && known_id(c, r, earlier)) return;
    if (c->draining) {
        refuse_submit(c, r, ENGINE_DRAINING, 0, 0);
        return;
    }
    if (core_devices_lost(c)) {
        refuse_submit(c, r, ENGINE_NO_DEVICE, 1, 0);
        return;
    }
    if (r->deadline_ns != 0 && r->deadline_ns <= c->now) {
        refuse_submit(c, r, ENGINE_DEADLINE, r->deadline_ns, c->now);
        return;
    }
    uint32_t k = core_keys_find(c, r->key);
    uint64_t key_bytes = k != NO_SLOT && c->keys[k].bytes > r->key_bytes ? c->keys[k].bytes : r->key_bytes;
    uint64_t needed = add_sat(key_bytes, mul_sat(core_policy_least(c, r->partitions), r->partition_bytes));
    if (needed > core_memory_limit(c, critical)) {
        refuse_submit(c, r, ENGINE_TOO_BIG, needed, core_memory_limit(c, critical));
        return;
    }
    if (c->n_live >= c->max_live || (!critical && c->n_live - c->n_critical_live >= c->cfg.max_pending_jobs) ||
        c->n_free_jobs == 0) {
        refuse_submit(c, r, ENGINE_QUEUE_FULL, 1, 0);
        return;
    }
    if (earlier != NO_SLOT) unchain_client(c, earlier);

    uint32_t j = c->free_jobs[--c->n_free_jobs];
    job *b = &c->jobs[j];
    *b = (job){.id = c->next_job++,
               .req = *r,
               .state = ENGINE_QUEUED,
               .waiting = r->partitions,
               .submitted = c->now,
               .live_pos = c->n_live};
    memset(job_parts(c, j), 0, r->partitions * sizeof(part)); // all PART_WAITING
    c->live[c->n_live++] = j;
    c->n_critical_live += critical;
    uint32_t h = hash_u64(c, b->id);
    b->next_id = c->by_id[h];
    c->by_id[h] = j;
    if (has_client(r)) {
        h = hash_client(c, r->client_id);
        b->next_client = c->by_client[h];
        c->by_client[h] = j;
        b->in_client_chain = true;
    }
    c->stats.accepted++;
    engine_action *a = core_act(c, ENGINE_ACT_ACCEPTED);
    a->job = b->id;
    a->token = r->token;
    core_record_job(c, TL_JOB_SUBMIT, b, r->kind);
}

static void reply(engine_core *c, job *b, uint32_t partition) {
    b->replies++;
    engine_action *a = core_act(c, ENGINE_ACT_REPLY);
    a->job = b->id;
    a->token = b->req.token;
    a->state = b->state;
    a->reason = b->reason;
    a->partition = partition;
}

static bool wanted(const engine_core *c, const unit *u) {
    for (uint32_t i = 0; i < u->n; i++)
        if (!terminal(&c->jobs[u->jobs[i]])) return true;
    return false;
}

static bool holds(const unit *u, uint32_t j) {
    for (uint32_t i = 0; i < u->n; i++)
        if (u->jobs[i] == j) return true;
    return false;
}

void core_jobs_finish(engine_core *c, uint32_t j, engine_job_state state, engine_reason reason, uint32_t partition) {
    job *b = &c->jobs[j];
    if (terminal(b)) return;
    if (b->state == ENGINE_QUEUED && state == ENGINE_STOPPED && planted(c, ENGINE_BUG_MISCOUNT)) c->stats.failed++;
    b->state = state;
    b->reason = reason;
    b->finished = c->now;
    if (b->mem_wait) core_record_job(c, TL_MEM_WAIT_END, b, 0);
    b->mem_wait = false;
    if (!(state == ENGINE_STOPPED && planted(c, ENGINE_BUG_ZOMBIE_START))) {
        part *p = job_parts(c, j);
        for (uint32_t i = b->waiting_lo; b->waiting > 0 && i < b->req.partitions; i++)
            if (p[i].state == PART_WAITING) {
                p[i].state = PART_DROPPED;
                b->waiting--;
            }
        b->alone = 0;
    }
    switch (state) {
    case ENGINE_DONE: c->stats.done++; break;
    case ENGINE_STOPPED: c->stats.cancelled++; break;
    default: c->stats.failed++; break;
    }
    core_record_job(c,
                    state == ENGINE_DONE      ? TL_JOB_DONE
                    : state == ENGINE_STOPPED ? TL_JOB_CANCEL
                                              : TL_JOB_FAIL,
                    b, 0);
    if (!(reason == ENGINE_DEADLINE && planted(c, ENGINE_BUG_NO_REPLY))) reply(c, b, partition);
    if (b->units == 0) {
        retire(c, j);
        return;
    }
    for (uint32_t i = 0; i < c->max_units; i++) {
        unit *u = &c->units[i];
        if (u->state != UNIT_FREE && !u->dead && holds(u, j) && !wanted(c, u)) core_units_abandon(c, u);
    }
}

void core_jobs_cancel(engine_core *c, engine_job_id id) {
    uint32_t j = core_jobs_find(c, id);
    if (j == NO_SLOT) return;
    if (terminal(&c->jobs[j])) {
        // The planted bug forgets that it answered while the device was still busy with the job.
        if (planted(c, ENGINE_BUG_TWO_REPLIES) && c->jobs[j].state == ENGINE_STOPPED) reply(c, &c->jobs[j], NO_SLOT);
        return;
    }
    core_jobs_finish(c, j, ENGINE_STOPPED, ENGINE_CANCELLED, NO_SLOT);
}

// Backwards, since retiring a job moves the last one into its place.
void core_jobs_fail_key(engine_core *c, uint64_t key, engine_reason reason) {
    for (uint32_t i = c->n_live; i-- > 0;) {
        uint32_t j = c->live[i];
        if (c->jobs[j].req.key == key) core_jobs_finish(c, j, ENGINE_FAILED, reason, NO_SLOT);
    }
}

void core_jobs_fail_fallback(engine_core *c) {
    for (uint32_t i = c->n_live; i-- > 0;) {
        const uint32_t j = c->live[i];
        const part *p = job_parts(c, j);
        uint32_t k = 0;
        while (k < c->jobs[j].req.partitions && !(p[k].fallback && p[k].state != PART_DONE)) k++;
        if (k < c->jobs[j].req.partitions) core_jobs_finish(c, j, ENGINE_FAILED, ENGINE_OUT_OF_MEMORY, k);
    }
}

void core_jobs_fail_all(engine_core *c, engine_reason reason) {
    for (uint32_t i = c->n_live; i-- > 0;) core_jobs_finish(c, c->live[i], ENGINE_FAILED, reason, NO_SLOT);
}
