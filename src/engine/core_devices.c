// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Devices: who runs where, one kernel section at a time, and health.
#include "engine/core_internal.h"

static unit *on_device(engine_core *c, engine_unit_id id) {
    uint32_t u = core_units_find(c, id);
    if (u == NO_SLOT) return NULL;
    unit *x = &c->units[u];
    return x->state == UNIT_KERNELS || x->state == UNIT_TAIL ? x : NULL;
}

bool core_devices_fallback(const engine_core *c, uint32_t d) { return d >= c->cfg.devices - c->cfg.fallback_devices; }

// Whoever is in its kernel section, or has all its workers, was asked to leave long ago: nothing can run there until he
// does, which may be never.
static bool stuck(const engine_core *c, const dev_state *d) {
    if (d->kernels != NO_SLOT && c->units[d->kernels].overdue) return true;
    for (uint32_t w = 0; w < c->cfg.workers_per_device; w++)
        if (d->workers[w] == NO_SLOT || !c->units[d->workers[w]].overdue) return false;
    return true;
}

bool core_devices_bad(const engine_core *c, uint32_t d) { return c->devices[d].unhealthy || stuck(c, &c->devices[d]); }

void core_devices_show(engine_core *c, uint32_t d) {
    const bool bad = core_devices_bad(c, d);
    if (bad == c->devices[d].shown_bad) return;
    c->devices[d].shown_bad = bad;
    core_record_device(c, d);
}

// All that are not for need alone.
static bool others_bad(const engine_core *c) {
    for (uint32_t d = 0; d < c->cfg.devices - c->cfg.fallback_devices; d++)
        if (!core_devices_bad(c, d)) return false;
    return true;
}

// An unhealthy device whose time has come takes one unit, and the verdict on it decides.
static bool usable(const engine_core *c, const dev_state *d) {
    if (!d->unhealthy || planted(c, ENGINE_BUG_UNHEALTHY_DEVICE)) return true;
    return d->retry_at != NEVER && d->retry_at <= c->now && d->inflight == 0;
}

static uint32_t free_worker(const engine_core *c, const dev_state *d) {
    for (uint32_t w = 0; w < c->cfg.workers_per_device; w++)
        if (d->workers[w] == NO_SLOT) return w;
    return NO_SLOT;
}

// Healthy before doubtful, then the least busy, then the first.
static uint32_t choose_device(const engine_core *c, bool fallback) {
    uint32_t best = NO_SLOT;
    for (uint32_t i = 0; i < c->cfg.devices; i++) {
        const dev_state *d = &c->devices[i];
        if (core_devices_fallback(c, i) != fallback) continue;
        bool busy = d->kernels != NO_SLOT && !planted(c, ENGINE_BUG_SHARED_KERNELS);
        if (busy || !usable(c, d) || free_worker(c, d) == NO_SLOT) continue;
        if (best == NO_SLOT) {
            best = i;
            continue;
        }
        const dev_state *b = &c->devices[best];
        if (d->unhealthy != b->unhealthy ? b->unhealthy : d->inflight < b->inflight) best = i;
    }
    return best;
}

// The first unit in the channel whose key is there. If there is none, a blocked unit may pass through: else a channel
// full of units that wait for a load would hold up one that does not. Nor do those that are only for a fallback device
// hold up the others. That one takes only them, as long as another device works.
static unit *choose_unit(engine_core *c, bool fallback) {
    const bool any = fallback && (others_bad(c) || planted(c, ENGINE_BUG_EAGER_FALLBACK));
    unit *best = NULL;
    for (unit_state s = UNIT_CHANNEL; best == NULL && s >= UNIT_BLOCKED; s--)
        for (uint32_t i = 0; i < c->max_units; i++) {
            unit *u = &c->units[i];
            if (u->state != s || c->keys[u->key].state != KEY_LOADED) continue;
            if (u->fallback != fallback && !any) continue;
            if (best == NULL || (planted(c, ENGINE_BUG_CHANNEL_FIFO) ? u->arrival < best->arrival
                                                                     : core_policy_unit_before(c, u, best)))
                best = u;
        }
    return best;
}

bool core_devices_dispatch(engine_core *c) {
    uint32_t i = NO_SLOT;
    unit *u = NULL;
    for (int fallback = 0; fallback < 2 && u == NULL; fallback++) {
        i = choose_device(c, fallback);
        if (i != NO_SLOT) u = choose_unit(c, fallback);
    }
    if (u == NULL) return false;
    if (u->state == UNIT_BLOCKED) core_units_pass_channel(c, u);
    dev_state *d = &c->devices[i];
    uint32_t slot = (uint32_t)(u - c->units);
    u->state = UNIT_KERNELS;
    u->started = false;
    u->device = i;
    u->dev_worker = free_worker(c, d);
    u->since = c->now;
    u->deadline = core_timers_stage(c);
    d->kernels = slot;
    d->workers[u->dev_worker] = slot;
    d->inflight++;
    core_act_unit(c, ENGINE_ACT_START_DEVICE, u);
    core_record_unit(c, TL_GPU_PICKUP, u, c->now, 0);
    return true;
}

void core_devices_started(engine_core *c, engine_unit_id id) {
    unit *u = on_device(c, id);
    if (u == NULL || u->state != UNIT_KERNELS || u->started) return;
    u->started = true;
    u->since = c->now;
    core_record_unit(c, TL_GPU_START, u, c->now, 0);
}

static void end_kernels(engine_core *c, unit *u) {
    if (!u->started) core_record_unit(c, TL_GPU_START, u, u->since, 0);
    core_record_unit(c, TL_GPU_END, u, c->now, c->now - u->since);
    u->state = UNIT_TAIL;
    if (c->devices[u->device].kernels == (uint32_t)(u - c->units)) c->devices[u->device].kernels = NO_SLOT;
}

void core_devices_kernels_done(engine_core *c, engine_unit_id id) {
    unit *u = on_device(c, id);
    if (u == NULL || u->state != UNIT_KERNELS) return;
    end_kernels(c, u);
    core_devices_show(c, u->device);
}

void core_devices_leave(engine_core *c, unit *u) {
    if (u->state == UNIT_KERNELS) end_kernels(c, u);
    c->devices[u->device].workers[u->dev_worker] = NO_SLOT;
    u->dev_worker = NO_SLOT;
    u->overdue = false;
    core_devices_show(c, u->device);
}

void core_devices_done(engine_core *c, engine_unit_id id) {
    unit *u = on_device(c, id);
    if (u == NULL) return;
    core_devices_leave(c, u);
    if (u->dead) {
        c->devices[u->device].inflight--;
        core_units_free(c, u);
        return;
    }
    u->state = UNIT_VERIFY;
    u->since = c->now;
    u->deadline = core_timers_stage(c);
    core_act_unit(c, ENGINE_ACT_VERIFY, u);
    core_record_unit(c, TL_VERIFY_START, u, c->now, 0);
}

void core_devices_failed(engine_core *c, engine_unit_id id, engine_reason reason, bool host) {
    static const uint64_t NONE[4];
    unit *u = on_device(c, id);
    if (u == NULL) return;
    core_devices_leave(c, u);
    c->devices[u->device].inflight--;
    u->state = UNIT_FREEING; // so that a job that ends below does not stop it
    if (!u->dead && reason == ENGINE_BAD_INPUT) {
        // No device could prove it.
        core_units_refuse(c, u, reason, u->n == 1 ? 0 : NO_SLOT);
    } else if (!u->dead) {
        if (!host) core_devices_judge(c, u->device, false);
        const bool lacks_memory = reason == ENGINE_OUT_OF_MEMORY && !host && !core_devices_fallback(c, u->device);
        core_units_retry(c, u, NONE, reason == ENGINE_NO_REASON ? ENGINE_DEVICE_ERROR : reason, lacks_memory);
    }
    core_units_free(c, u);
}

void core_devices_judge(engine_core *c, uint32_t i, bool ok) {
    dev_state *d = &c->devices[i];
    if (ok) {
        d->failures = 0;
        d->unhealthy = false;
        core_devices_show(c, i);
        return;
    }
    d->failures++;
    if (c->cfg.device_failure_limit == 0 || (!d->unhealthy && d->failures < c->cfg.device_failure_limit)) return;
    d->retry_at = c->cfg.device_retry_ns == 0 ? NEVER : add_sat(c->now, c->cfg.device_retry_ns);
    d->unhealthy = true;
    core_devices_show(c, i);
    core_devices_mourn(c);
}

static bool lost(const engine_core *c, uint32_t i) {
    const dev_state *d = &c->devices[i];
    if (d->unhealthy && d->retry_at == NEVER) return true;
    return stuck(c, d) && !planted(c, ENGINE_BUG_BLIND_TO_STUCK);
}

bool core_devices_fallback_lost(const engine_core *c) {
    for (uint32_t d = c->cfg.devices - c->cfg.fallback_devices; d < c->cfg.devices; d++)
        if (!lost(c, d)) return false;
    return true;
}

void core_devices_mourn(engine_core *c) {
    if (core_devices_lost(c))
        core_jobs_fail_all(c, ENGINE_NO_DEVICE);
    else if (core_devices_fallback_lost(c))
        core_jobs_fail_fallback(c);
}

bool core_devices_lost(const engine_core *c) {
    for (uint32_t d = 0; d < c->cfg.devices; d++)
        if (!lost(c, d)) return false;
    return true;
}

uint32_t core_devices_healthy(const engine_core *c) {
    uint32_t n = 0;
    for (uint32_t d = 0; d < c->cfg.devices; d++) n += !core_devices_bad(c, d);
    return n;
}
