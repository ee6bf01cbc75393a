// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The budget and the key cache. A unit takes its memory, and the key it needs with the key's memory, in one step or not
// at all, and needs nothing more until it is freed: no unit ever waits while holding what another waits for, except for
// a load that has its memory already. That, and serving the first in order before all others, is why this cannot
// deadlock (docs/engine.md).
#include "engine/core_internal.h"

uint64_t core_memory_limit(const engine_core *c, bool critical) {
    return c->cfg.memory_budget - (critical ? 0 : c->cfg.critical_reserve);
}

void core_memory_take(engine_core *c, uint64_t bytes) {
    c->reserved += bytes;
    if (c->reserved > c->stats.memory_peak) c->stats.memory_peak = c->reserved;
}

void core_memory_give(engine_core *c, uint64_t bytes) {
    if (bytes > c->reserved) {
        c->broken = true;
        bytes = c->reserved;
    }
    c->reserved -= bytes;
}

static bool fits(const engine_core *c, uint64_t need, bool critical) {
    uint64_t limit = core_memory_limit(c, critical);
    return c->reserved <= limit && need <= limit - c->reserved;
}

uint32_t core_keys_find(const engine_core *c, uint64_t id) {
    for (uint32_t k = 0; k < c->cfg.max_keys; k++)
        if (c->keys[k].state != KEY_ABSENT && c->keys[k].id == id) return k;
    return NO_SLOT;
}

// A slot whose key is gone stays taken while dead units still point to it.
static uint32_t empty_slot(const engine_core *c) {
    for (uint32_t k = 0; k < c->cfg.max_keys; k++)
        if (c->keys[k].state == KEY_ABSENT && c->keys[k].refs == 0) return k;
    return NO_SLOT;
}

static bool idle(const engine_core *c, uint32_t k) {
    return c->keys[k].state == KEY_LOADED && (c->keys[k].refs == 0 || planted(c, ENGINE_BUG_EVICT_IN_USE));
}

bool core_keys_there(const engine_core *c, uint64_t id) {
    uint32_t k = core_keys_find(c, id);
    return k != NO_SLOT && c->keys[k].state != KEY_EVICTING;
}

void core_keys_leave(engine_core *c, uint32_t k) {
    if (--c->keys[k].refs == 0) c->keys[k].idle_since = c->now;
}

// An idle key that was in use within key_min_idle_ns.
static bool fresh(const engine_core *c, uint32_t k) {
    return add_sat(c->keys[k].idle_since, c->cfg.key_min_idle_ns) > c->now && !planted(c, ENGINE_BUG_EVICT_FRESH);
}

uint64_t core_keys_next_idle(const engine_core *c) {
    uint64_t at = NEVER;
    bool waits = false;
    for (uint32_t i = 0; i < c->n_live && !waits; i++) waits = c->jobs[c->live[i]].mem_wait;
    for (uint32_t k = 0; waits && k < c->cfg.max_keys; k++) {
        if (!idle(c, k) || !fresh(c, k)) continue;
        uint64_t t = add_sat(c->keys[k].idle_since, c->cfg.key_min_idle_ns);
        if (t < at) at = t;
    }
    return at;
}

// The key that nobody has used for longest, other than `except`.
static uint32_t oldest_idle(const engine_core *c, uint64_t except) {
    uint32_t best = NO_SLOT;
    for (uint32_t k = 0; k < c->cfg.max_keys; k++) {
        if (!idle(c, k) || c->keys[k].id == except) continue;
        const key_entry *e = &c->keys[k], *b = best == NO_SLOT ? NULL : &c->keys[best];
        if (b == NULL || (e->idle_since != b->idle_since ? e->idle_since < b->idle_since : e->used < b->used)) best = k;
    }
    return best;
}

static void evict(engine_core *c, uint32_t k) {
    c->keys[k].state = KEY_EVICTING;
    c->stats.key_evictions++;
    engine_action *a = core_act(c, ENGINE_ACT_EVICT_KEY);
    a->key = c->keys[k].id;
    a->ticket = c->keys[k].ticket;
    core_record_key(c, TL_SRS_EVICT, &c->keys[k], c->keys[k].bytes);
}

static void load_action(engine_core *c, uint32_t k) {
    engine_action *a = core_act(c, ENGINE_ACT_LOAD_KEY);
    a->key = c->keys[k].id;
    a->ticket = c->keys[k].ticket;
    a->needed = c->keys[k].bytes;
}

// The memory was taken.
static void load(engine_core *c, uint32_t k, uint64_t id, uint64_t bytes, engine_job_id asked_by) {
    c->keys[k] = (key_entry){.id = id,
                             .state = KEY_LOADING,
                             .bytes = bytes,
                             .ticket = c->next_ticket++,
                             .since = c->now,
                             .deadline = core_timers_stage(c),
                             .asked_by = asked_by};
    c->stats.key_loads++;
    load_action(c, k);
    core_record_key(c, TL_SRS_LOAD_START, &c->keys[k], bytes);
}

// A unit that could be given up for a CRITICAL one: synthesised, not yet on a device.
static bool discardable(const unit *u) {
    return (u->state == UNIT_CHANNEL || u->state == UNIT_BLOCKED) && !u->critical;
}

// The plan does not fit. Frees what nobody uses, and for a CRITICAL plan what only waits, but only if that is enough:
// else running units must end first, and then less may be needed. For other plans a key that was just in use stays as
// long as units that are under way will give enough; they end, or the key has been idle for long enough before.
static void make_room(engine_core *c, uint64_t need) {
    uint64_t limit = core_memory_limit(c, c->plan.critical), want = add_sat(c->reserved, need);
    uint64_t lacking = want - limit, coming = 0, could = 0; // want > limit, or it would fit
    uint64_t working = 0;                                   // what units under way hold
    for (uint32_t i = 0; i < c->max_units; i++) {
        const unit *u = &c->units[i];
        if (u->state == UNIT_FREEING)
            coming += u->bytes;
        else if (u->state != UNIT_FREE && !u->overdue)
            working += u->bytes;
        if (c->plan.critical && discardable(u)) could += u->bytes;
    }
    uint64_t stale = 0; // what keys hold that have been idle for long enough
    for (uint32_t k = 0; k < c->cfg.max_keys; k++) {
        if (c->keys[k].state == KEY_EVICTING) coming += c->keys[k].bytes;
        if (!idle(c, k) || c->keys[k].id == c->plan.key) continue;
        could += c->keys[k].bytes;
        if (!fresh(c, k)) stale += c->keys[k].bytes;
    }
    if (coming >= lacking || coming + could < lacking) return;
    const bool spare = !c->plan.critical && coming + stale < lacking;
    if (spare && coming + stale + working >= lacking) return;
    while (coming < lacking) { // the stale ones first: when it is a fresh one's turn, all of them are coming
        uint32_t k = oldest_idle(c, c->plan.key);
        if (k == NO_SLOT || (spare && fresh(c, k) && coming + working >= lacking)) break;
        coming += c->keys[k].bytes;
        evict(c, k);
    }
    if (!c->plan.critical) return;
    while (coming < lacking) {
        unit *last = NULL;
        for (uint32_t i = 0; i < c->max_units; i++) {
            unit *u = &c->units[i];
            if (discardable(u) && (last == NULL || core_policy_unit_before(c, last, u))) last = u;
        }
        if (last == NULL) return;
        coming += last->bytes;
        core_units_discard(c, last);
    }
}

bool core_memory_admit(engine_core *c, uint32_t *out) {
    plan *p = &c->plan;
    uint32_t k = core_keys_find(c, p->key);
    if (k != NO_SLOT && c->keys[k].state == KEY_EVICTING) return false; // comes back when it is gone
    uint32_t slot = k != NO_SLOT ? k : empty_slot(c);
    if (slot == NO_SLOT) {
        bool leaving = false;
        for (uint32_t i = 0; i < c->cfg.max_keys; i++) leaving |= c->keys[i].state == KEY_EVICTING;
        uint32_t old = oldest_idle(c, p->key);
        if (!leaving && old != NO_SLOT) evict(c, old);
        return false;
    }
    uint64_t need = add_sat(p->bytes, k == NO_SLOT ? p->key_bytes : 0);
    if (!fits(c, planted(c, ENGINE_BUG_OVER_BUDGET) ? p->bytes : need, p->critical)) {
        make_room(c, need);
        return false;
    }
    core_memory_take(c, need);
    if (k == NO_SLOT)
        load(c, slot, p->key, p->key_bytes, p->parts[0].job);
    else if (c->keys[k].state == KEY_LOADING && planted(c, ENGINE_BUG_LOAD_TWICE))
        load_action(c, k);
    c->keys[slot].refs++;
    c->keys[slot].used = ++c->uses;
    *out = slot;
    return true;
}

static uint32_t loading(const engine_core *c, uint64_t id, uint64_t ticket) {
    uint32_t k = core_keys_find(c, id);
    return k != NO_SLOT && c->keys[k].state == KEY_LOADING && c->keys[k].ticket == ticket ? k : NO_SLOT;
}

void core_keys_loaded(engine_core *c, uint64_t id, uint64_t ticket, uint64_t bytes) {
    uint32_t k = loading(c, id, ticket);
    if (k == NO_SLOT) return;
    key_entry *e = &c->keys[k];
    core_record_key(c, TL_SRS_LOAD_END, e, c->now - e->since);
    e->state = KEY_LOADED;
    e->idle_since = c->now;
    if (bytes != 0 && bytes <= e->bytes) {
        core_memory_give(c, e->bytes - bytes);
        e->bytes = bytes;
    } else if (bytes > e->bytes) { // more than was said: kept if there is room. A job that would have fitted
                                   // beside the key it named is told when its turn comes
        uint64_t more = bytes - e->bytes;
        if (c->reserved > c->cfg.memory_budget || more > c->cfg.memory_budget - c->reserved) {
            core_jobs_fail_key(c, id, ENGINE_TOO_BIG);
            evict(c, k);
            return;
        }
        core_memory_take(c, more);
        e->bytes = bytes;
    }
}

void core_keys_failed(engine_core *c, uint64_t id, uint64_t ticket, engine_reason reason) {
    uint32_t k = loading(c, id, ticket);
    if (k == NO_SLOT) return;
    key_entry *e = &c->keys[k];
    core_record_key(c, TL_SRS_LOAD_END, e, c->now - e->since);
    core_memory_give(c, e->bytes);
    e->bytes = 0;
    e->state = KEY_ABSENT;
    core_jobs_fail_key(c, id, reason == ENGINE_NO_REASON ? ENGINE_KEY_FAILED : reason);
}

void core_keys_freed(engine_core *c, uint64_t id, uint64_t ticket) {
    uint32_t k = core_keys_find(c, id);
    if (k == NO_SLOT || c->keys[k].state != KEY_EVICTING || c->keys[k].ticket != ticket) return;
    core_memory_give(c, c->keys[k].bytes);
    c->keys[k].bytes = 0;
    c->keys[k].state = KEY_ABSENT;
}

void core_keys_evict(engine_core *c, uint64_t id, uint64_t token) {
    uint32_t k = core_keys_find(c, id);
    if (k == NO_SLOT || c->keys[k].state == KEY_EVICTING)
        core_act_refuse(c, token, id, ENGINE_NOT_FOUND, 0, 0);
    else if (c->keys[k].state == KEY_LOADING || c->keys[k].refs > 0)
        core_act_refuse(c, token, id, ENGINE_KEY_IN_USE, 0, c->keys[k].refs);
    else
        evict(c, k);
}

void core_keys_preload(engine_core *c, uint64_t id, uint64_t bytes, uint64_t token) {
    uint32_t k = core_keys_find(c, id);
    if (id == 0 || c->draining) {
        core_act_refuse(c, token, id, id == 0 ? ENGINE_BAD_REQUEST : ENGINE_DRAINING, 0, 0);
    } else if (k != NO_SLOT && c->keys[k].state != KEY_EVICTING) {
        c->keys[k].used = ++c->uses; // already here or on its way
        c->keys[k].idle_since = c->now;
    } else if (bytes > core_memory_limit(c, false)) {
        core_act_refuse(c, token, id, ENGINE_TOO_BIG, bytes, core_memory_limit(c, false));
    } else if (k != NO_SLOT || empty_slot(c) == NO_SLOT || !fits(c, bytes, false)) {
        uint64_t limit = core_memory_limit(c, false);
        core_act_refuse(c, token, id, ENGINE_OUT_OF_MEMORY, bytes, c->reserved < limit ? limit - c->reserved : 0);
    } else {
        core_memory_take(c, bytes);
        k = empty_slot(c);
        load(c, k, id, bytes, 0);
        c->keys[k].used = ++c->uses;
    }
}
