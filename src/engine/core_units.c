// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Units before and after the device: synthesis workers, the bounded channel, verification, retries, freeing.
//
// A unit that finishes synthesis enters the channel if fewer than `lookahead` units are in it. Otherwise it is blocked:
// it keeps its worker, which starts nothing else, until a device takes a unit. CRITICAL units do not count and always
// enter, and a CRITICAL job that waits for a worker takes that of a blocked unit.
#include "engine/core_internal.h"

uint32_t core_units_find(const engine_core *c, engine_unit_id id) {
    uint32_t u = (uint32_t)(id % c->max_units);
    const unit *x = &c->units[u];
    if (x->state == UNIT_FREE) return NO_SLOT;
    return x->id == id || planted(c, ENGINE_BUG_STALE_REPORT) ? u : NO_SLOT;
}

// The unit in `state`, or NULL: reports that come late or twice find it elsewhere.
static unit *unit_in(engine_core *c, engine_unit_id id, unit_state state) {
    uint32_t u = core_units_find(c, id);
    return u != NO_SLOT && c->units[u].state == state ? &c->units[u] : NULL;
}

static void leave_worker(engine_core *c, unit *u) {
    if (u->worker != NO_SLOT) c->workers[u->worker] = NO_SLOT;
    u->worker = NO_SLOT;
}

// Out of synthesis and its aftermath.
static void leave_synthesis(engine_core *c, unit *u) {
    leave_worker(c, u);
    for (uint32_t i = 0; i < u->n; i++)
        if (i == 0 || u->jobs[i] != u->jobs[i - 1]) c->jobs[u->jobs[i]].in_synth--;
}

void core_units_free(engine_core *c, unit *u) {
    if (u->state == UNIT_SYNTH || u->state == UNIT_BLOCKED) leave_synthesis(c, u);
    u->state = UNIT_FREEING;
    u->deadline = NEVER;
    core_act_unit(c, ENGINE_ACT_FREE_UNIT, u);
}

void core_units_abandon(engine_core *c, unit *u) {
    u->dead = true;
    switch (u->state) {
    case UNIT_SYNTH: core_act_unit(c, ENGINE_ACT_STOP_UNIT, u); break; // its report will free it
    case UNIT_KERNELS:
    case UNIT_TAIL: // likewise
        core_act_unit(c, ENGINE_ACT_STOP_UNIT, u);
        u->deadline = core_timers_stage(c); // until then; else it is overdue
        break;
    case UNIT_BLOCKED:
    case UNIT_CHANNEL: core_units_free(c, u); break;
    case UNIT_VERIFY: // freed when verified
    case UNIT_FREEING:
    case UNIT_FREE: break;
    }
}

void core_units_discard(engine_core *c, unit *u) {
    c->stats.discarded++;
    core_units_free(c, u);
    for (uint32_t i = 0; i < u->n; i++) {
        const part *p = &job_parts(c, u->jobs[i])[u->parts[i].partition];
        core_jobs_part_waits(c, u->jobs[i], u->parts[i].partition, p->attempts > 0 || p->fallback);
    }
}

// Settles each partition of a unit that is being freed: bit i of `ok` set: done; else it is proven again alone, or its
// job fails. Jobs that are terminal already are left alone.
void core_units_retry(engine_core *c, unit *u, const uint64_t ok[4], engine_reason reason, bool may_fall_back) {
    for (uint32_t i = 0; i < u->n; i++) {
        uint32_t j = u->jobs[i], number = u->parts[i].partition;
        job *b = &c->jobs[j];
        part *p = &job_parts(c, j)[number];
        if (terminal(b)) continue;
        if ((ok[i / 64] >> (i % 64) & 1) != 0) {
            p->state = PART_DONE;
            if (++b->done == b->req.partitions) core_jobs_finish(c, j, ENGINE_DONE, ENGINE_NO_REASON, NO_SLOT);
            continue;
        }
        if (!planted(c, ENGINE_BUG_ENDLESS_RETRIES)) p->attempts++;
        if (p->attempts >= c->cfg.max_attempts && may_fall_back && !p->fallback && !core_devices_fallback_lost(c)) {
            p->fallback = true;
            p->attempts = 0;
            c->stats.fallbacks++;
        }
        if (p->attempts >= c->cfg.max_attempts) {
            core_jobs_finish(c, j, ENGINE_FAILED, reason, number);
            continue;
        }
        c->stats.retries++;
        engine_action *a = core_act(c, ENGINE_ACT_RECORD);
        a->event = TL_RETRY;
        a->job = b->id;
        a->token = b->req.token;
        a->partition = number;
        a->reason = reason;
        a->device = u->device;
        if (!planted(c, ENGINE_BUG_LOST_RETRY)) core_jobs_part_waits(c, j, number, true);
    }
}

void core_units_synth_done(engine_core *c, engine_unit_id id) {
    unit *u = unit_in(c, id, UNIT_SYNTH);
    if (u == NULL) return;
    core_record_unit(c, TL_SYNTH_END, u, c->now, c->now - u->since);
    if (u->dead) {
        core_units_free(c, u);
        return;
    }
    u->state = UNIT_BLOCKED; // dispatch moves it on
    u->since = c->now;
    u->deadline = NEVER;
}

void core_units_refuse(engine_core *c, unit *u, engine_reason reason, uint32_t index) {
    bool one = u->jobs[0] == u->jobs[u->n - 1];
    if (index < u->n || one) {
        uint32_t at = index < u->n ? index : 0;
        core_jobs_finish(c, u->jobs[at], ENGINE_FAILED, reason, index < u->n ? u->parts[at].partition : NO_SLOT);
    }
    // The others of a batch did nothing wrong. If nobody knows whose input is bad, each comes again by itself.
    for (uint32_t i = 0; i < u->n; i++) {
        if (terminal(&c->jobs[u->jobs[i]])) continue;
        c->jobs[u->jobs[i]].unbatched = true;
        const part *p = &job_parts(c, u->jobs[i])[u->parts[i].partition];
        core_jobs_part_waits(c, u->jobs[i], u->parts[i].partition, p->attempts > 0 || p->fallback);
    }
}

void core_units_synth_failed(engine_core *c, engine_unit_id id, engine_reason reason, uint32_t index) {
    static const uint64_t NONE[4];
    unit *u = unit_in(c, id, UNIT_SYNTH);
    if (u == NULL) return;
    core_record_unit(c, TL_SYNTH_END, u, c->now, c->now - u->since);
    core_units_free(c, u);
    if (u->dead) return;
    if (reason == ENGINE_OUT_OF_MEMORY) { // may pass
        core_units_retry(c, u, NONE, reason, false);
        return;
    }
    if (reason == ENGINE_NO_REASON) reason = ENGINE_BAD_INPUT;
    core_units_refuse(c, u, reason, index);
}

void core_units_verified(engine_core *c, engine_unit_id id, const uint64_t mask[4], bool host) {
    unit *u = unit_in(c, id, UNIT_VERIFY);
    if (u == NULL) return;
    uint32_t good = 0;
    for (uint32_t i = 0; i < u->n; i++) good += (uint32_t)(mask[i / 64] >> (i % 64) & 1);
    static const uint64_t ALL[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    if (good > 0 && planted(c, ENGINE_BUG_UNVERIFIED)) mask = ALL;
    core_record_unit(c, TL_VERIFY_END, u, c->now, good == u->n);
    c->devices[u->device].inflight--;
    u->state = UNIT_FREEING; // so that a job that ends below does not free it first
    if (!u->dead) {
        if (!host || good == u->n) core_devices_judge(c, u->device, good == u->n);
        core_units_retry(c, u, mask, host ? ENGINE_OUT_OF_MEMORY : ENGINE_WRONG_PROOF, false);
    }
    core_units_free(c, u);
}

void core_units_freed(engine_core *c, engine_unit_id id) {
    unit *u = unit_in(c, id, UNIT_FREEING);
    if (u == NULL) return;
    if (!(u->dead && planted(c, ENGINE_BUG_LEAK_MEMORY))) core_memory_give(c, u->bytes);
    core_keys_leave(c, u->key);
    u->state = UNIT_FREE;
    for (uint32_t i = 0; i < u->n; i++)
        if (i == 0 || u->jobs[i] != u->jobs[i - 1]) core_jobs_release(c, u->jobs[i]);
}

void core_units_pass_channel(engine_core *c, unit *u) {
    leave_synthesis(c, u);
    u->state = UNIT_CHANNEL;
    u->arrival = ++c->arrivals;
    core_record_unit(c, TL_CHAN_SEND, u, c->now, 0);
}

// Moves the first of the blocked units that may enter. False if none may.
static bool refill_channel(engine_core *c) {
    uint32_t waiting = 0;
    unit *best = NULL;
    for (uint32_t i = 0; i < c->max_units; i++) {
        unit *u = &c->units[i];
        waiting += u->state == UNIT_CHANNEL && !u->critical;
        if (u->state == UNIT_BLOCKED && (best == NULL || core_policy_unit_before(c, u, best))) best = u;
    }
    uint32_t depth = c->cfg.lookahead + planted(c, ENGINE_BUG_DEEP_CHANNEL);
    if (best == NULL || (!best->critical && waiting >= depth)) return false;
    core_units_pass_channel(c, best);
    return true;
}

// A worker for the plan: a free one, or for a CRITICAL plan that of the last blocked unit.
static uint32_t find_worker(const engine_core *c, unit **loser) {
    *loser = NULL;
    for (uint32_t w = 0; w < c->cfg.synthesis_concurrency; w++)
        if (c->workers[w] == NO_SLOT) return w;
    if (!c->plan.critical) return NO_SLOT;
    for (uint32_t w = 0; w < c->cfg.synthesis_concurrency; w++) {
        unit *u = &c->units[c->workers[w]];
        bool takes = u->state == UNIT_BLOCKED || planted(c, ENGINE_BUG_EXTRA_SYNTHESIS);
        if (takes && !u->critical && (*loser == NULL || core_policy_unit_before(c, *loser, u))) *loser = u;
    }
    return *loser == NULL ? NO_SLOT : (*loser)->worker;
}

// Two places are kept for CRITICAL units, so that slow verification of others cannot take them all.
static unit *find_place(engine_core *c, bool critical) {
    uint32_t places = 0, last = 0;
    for (uint32_t i = c->max_units; i-- > 0;)
        if (c->units[i].state == UNIT_FREE) {
            places++;
            last = i;
        }
    return places > (critical ? 0 : 2) ? &c->units[last] : NULL;
}

static void take_parts(engine_core *c, unit *u) {
    const plan *p = &c->plan;
    for (uint32_t i = 0; i < p->n; i++) {
        u->parts[i] = p->parts[i];
        u->jobs[i] = p->jobs[i];
        job *b = &c->jobs[p->jobs[i]];
        part *x = &job_parts(c, p->jobs[i])[p->parts[i].partition];
        x->state = PART_IN_UNIT;
        b->waiting--;
        b->alone -= x->alone;
        if (i > 0 && p->jobs[i] == p->jobs[i - 1]) continue;
        b->units++;
        b->in_synth++;
        if (b->state == ENGINE_QUEUED) {
            b->state = ENGINE_RUNNING;
            b->started = c->now;
        }
        if (b->mem_wait) core_record_job(c, TL_MEM_WAIT_END, b, 0);
        b->mem_wait = false;
    }
    u->n = p->n;
}

// Starts the synthesis of the unit that is first in order. If that one cannot start, none does: what it lacks comes
// back as units end, and would otherwise be taken again and again by smaller ones.
static bool start_synthesis(engine_core *c) {
    if (!core_policy_next(c)) return false;
    uint64_t alone = add_sat(c->plan.key_bytes, c->plan.bytes);
    if (alone > core_memory_limit(c, c->plan.critical)) { // the key turned out bigger than the request said
        core_jobs_finish(c, c->plan.jobs[0], ENGINE_FAILED, ENGINE_TOO_BIG, c->plan.parts[0].partition);
        return true;
    }
    unit *loser;
    uint32_t worker = find_worker(c, &loser), k;
    unit *u = find_place(c, c->plan.critical);
    if (worker == NO_SLOT || u == NULL) return false;
    if (!core_memory_admit(c, &k)) {
        job *b = &c->jobs[c->plan.jobs[0]];
        if (!b->mem_wait) {
            b->mem_part = c->plan.parts[0].partition;
            core_record_job(c, TL_MEM_WAIT_START, b, c->plan.bytes);
        }
        b->mem_wait = true;
        return false;
    }
    if (loser != NULL) leave_worker(c, loser);
    uint32_t slot = (uint32_t)(u - c->units);
    take_parts(c, u);
    u->id = c->next_unit++ * c->max_units + slot;
    u->state = UNIT_SYNTH;
    u->dead = u->started = false;
    u->critical = c->plan.critical;
    u->overdue = false;
    u->fallback = job_parts(c, u->jobs[0])[u->parts[0].partition].fallback;
    u->key = k;
    u->bytes = c->plan.bytes;
    u->worker = worker;
    u->device = u->dev_worker = NO_SLOT;
    u->since = c->now;
    u->deadline = core_timers_stage(c);
    c->workers[worker] = slot;
    core_act_unit(c, ENGINE_ACT_START_SYNTH, u);
    core_record_unit(c, TL_SYNTH_START, u, c->now, 0);
    return true;
}

void core_units_dispatch(engine_core *c) {
    do {
        do {
            while (refill_channel(c)) {
            }
        } while (core_devices_dispatch(c));
    } while (start_synthesis(c));
}
