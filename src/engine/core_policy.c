// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Order and shape of units: which job is next, and which of its partitions go together.
#include "engine/core_internal.h"

// A waiting job rises one priority each ageing_ns, up to HIGH. So every job that is not CRITICAL is, after
// 2 * ageing_ns, behind only those submitted before it (and the CRITICAL ones).
static unsigned effective(const engine_core *c, const job *j) {
    unsigned p = (unsigned)j->req.priority;
    if (p >= ENGINE_HIGH || c->cfg.ageing_ns == 0 || planted(c, ENGINE_BUG_NO_AGEING)) return p;
    uint64_t steps = (c->now - j->submitted) / c->cfg.ageing_ns;
    return steps >= ENGINE_HIGH - p ? ENGINE_HIGH : p + (unsigned)steps;
}

// Of one priority, jobs whose key is there go first, so that keys are not loaded and evicted in turn; but nobody who
// has waited for ageing_ns (which may be 0) lets younger ones pass. Of units, which have a key, this changes nothing.
static bool in_front(const engine_core *c, const job *j) {
    if (!c->cfg.group_by_key || core_keys_there(c, j->req.key)) return true;
    return c->now - j->submitted >= c->cfg.ageing_ns && !planted(c, ENGINE_BUG_ENDLESS_GROUPS);
}

bool core_policy_before(const engine_core *c, uint32_t a, uint32_t pa, uint32_t b, uint32_t pb) {
    if (a == b) return pa < pb;
    const job *x = &c->jobs[a], *y = &c->jobs[b];
    unsigned ea = effective(c, x), eb = effective(c, y);
    if (ea != eb) return ea > eb;
    bool fa = in_front(c, x), fb = in_front(c, y);
    return fa != fb ? fa : x->id < y->id;
}

// A unit stands for the first of its jobs that still wants it; they are in order.
static uint32_t front(const engine_core *c, const unit *u) {
    uint32_t i = 0;
    while (i + 1 < u->n && terminal(&c->jobs[u->jobs[i]])) i++;
    return i;
}

bool core_policy_unit_before(const engine_core *c, const unit *a, const unit *b) {
    uint32_t i = front(c, a), k = front(c, b);
    return core_policy_before(c, a->jobs[i], a->parts[i].partition, b->jobs[k], b->parts[k].partition);
}

uint32_t core_policy_least(const engine_core *c, uint32_t partitions) {
    uint32_t cap = c->cfg.policy == ENGINE_PARTITION ? 1
                   : c->cfg.policy == ENGINE_SLOTTED ? c->cfg.slot_size
                                                     : UNIT_PARTS_MAX;
    return partitions < cap ? partitions : cap;
}

// May b, not yet started, share a unit with a?
static bool mates(const engine_core *c, uint32_t a, uint32_t b) {
    const job *x = &c->jobs[a], *y = &c->jobs[b];
    return y->state == ENGINE_QUEUED && !y->unbatched && y->alone == 0 && x->req.key == y->req.key &&
           x->req.partition_bytes == y->req.partition_bytes && x->req.priority == y->req.priority;
}

bool core_policy_batch_ready(const engine_core *c, uint32_t a) {
    const job *x = &c->jobs[a];
    if (x->state != ENGINE_QUEUED || x->req.priority == ENGINE_CRITICAL || x->unbatched || x->alone > 0 ||
        c->draining || c->n_live >= c->cfg.max_pending_jobs)
        return true;
    uint32_t n = 0;
    uint64_t oldest = NEVER;
    for (uint32_t i = 0; i < c->n_live; i++) {
        if (!mates(c, a, c->live[i])) continue;
        n++;
        if (c->jobs[c->live[i]].submitted < oldest) oldest = c->jobs[c->live[i]].submitted;
    }
    return n >= c->cfg.batch_size || add_sat(oldest, c->cfg.batch_wait_ns) <= c->now;
}

static bool eligible(const engine_core *c, uint32_t j) {
    const job *b = &c->jobs[j];
    if (b->waiting == 0 || (terminal(b) && !planted(c, ENGINE_BUG_ZOMBIE_START))) return false;
    if (c->cfg.policy == ENGINE_SLOTTED && b->in_synth > 0) return false;
    return c->cfg.policy != ENGINE_BATCH || core_policy_batch_ready(c, j);
}

static void plan_add(engine_core *c, uint32_t j, uint32_t partition) {
    plan *p = &c->plan;
    p->parts[p->n] = (engine_part){c->jobs[j].id, c->jobs[j].req.token, partition};
    p->jobs[p->n++] = j;
}

// The first run of waiting partitions, at most `max`; one that must come alone goes first.
static void plan_run(engine_core *c, uint32_t j, uint32_t max) {
    job *b = &c->jobs[j];
    const part *p = job_parts(c, j);
    uint32_t i = b->waiting_lo;
    while (p[i].state != PART_WAITING) i++;
    b->waiting_lo = i;
    if (b->alone > 0) {
        while (p[i].state != PART_WAITING || !p[i].alone) i++;
        max = 1;
    }
    for (uint32_t n = 0; n < max && i < b->req.partitions && p[i].state == PART_WAITING; i++, n++) plan_add(c, j, i);
}

// Adds the oldest jobs that go with the first one, while places, ok_mask and budget allow.
static void plan_mates(engine_core *c, uint32_t first) {
    plan *p = &c->plan;
    uint64_t each = c->jobs[first].req.partition_bytes;
    uint64_t limit = core_memory_limit(c, p->critical);
    engine_job_id last = c->jobs[first].id;
    for (uint32_t n = 1; n < c->cfg.batch_size; n++) {
        uint32_t next = NO_SLOT;
        for (uint32_t i = 0; i < c->n_live; i++) {
            uint32_t j = c->live[i];
            if (c->jobs[j].id > last && mates(c, first, j) && (next == NO_SLOT || c->jobs[j].id < c->jobs[next].id))
                next = j;
        }
        if (next == NO_SLOT) return;
        last = c->jobs[next].id;
        uint32_t parts = p->n + c->jobs[next].req.partitions;
        uint64_t key_bytes = c->jobs[next].req.key_bytes > p->key_bytes ? c->jobs[next].req.key_bytes : p->key_bytes;
        if (parts > c->unit_parts || add_sat(key_bytes, mul_sat(parts, each)) > limit) return;
        plan_run(c, next, UNIT_PARTS_MAX);
    }
}

bool core_policy_next(engine_core *c) {
    uint32_t best = NO_SLOT;
    for (uint32_t i = 0; i < c->n_live; i++) {
        uint32_t j = c->live[i];
        if ((best == NO_SLOT || core_policy_before(c, j, 0, best, 0)) && eligible(c, j)) best = j;
    }
    if (best == NO_SLOT) return false;
    const job *b = &c->jobs[best];
    uint32_t k = core_keys_find(c, b->req.key);
    c->plan.n = 0;
    c->plan.key = b->req.key;
    c->plan.key_bytes = k == NO_SLOT ? b->req.key_bytes : c->keys[k].bytes;
    c->plan.critical = b->req.priority == ENGINE_CRITICAL;
    bool fresh = b->state == ENGINE_QUEUED && b->alone == 0 && !b->unbatched;
    plan_run(c, best, core_policy_least(c, b->req.partitions));
    if (c->cfg.policy == ENGINE_BATCH && fresh && c->plan.n == b->req.partitions) plan_mates(c, best);
    c->plan.bytes = mul_sat(c->plan.n, b->req.partition_bytes);
    return true;
}
