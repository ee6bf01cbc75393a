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
static uint32_t choose_device(const engine_core *c) {
    uint32_t best = NO_SLOT;
    for (uint32_t i = 0; i < c->cfg.devices; i++) {
        const dev_state *d = &c->devices[i];
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
// full of units that wait for a load would hold up one that does not.
static unit *choose_unit(engine_core *c) {
    unit *best = NULL;
    for (unit_state s = UNIT_CHANNEL; best == NULL && s >= UNIT_BLOCKED; s--)
        for (uint32_t i = 0; i < c->max_units; i++) {
            unit *u = &c->units[i];
            if (u->state != s || c->keys[u->key].state != KEY_LOADED) continue;
            if (best == NULL || (planted(c, ENGINE_BUG_CHANNEL_FIFO) ? u->arrival < best->arrival
                                                                     : core_policy_unit_before(c, u, best)))
                best = u;
        }
    return best;
}

bool core_devices_dispatch(engine_core *c) {
    uint32_t i = choose_device(c);
    unit *u = i == NO_SLOT ? NULL : choose_unit(c);
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
    if (u != NULL && u->state == UNIT_KERNELS) end_kernels(c, u);
}

void core_devices_leave(engine_core *c, unit *u) {
    if (u->state == UNIT_KERNELS) end_kernels(c, u);
    c->devices[u->device].workers[u->dev_worker] = NO_SLOT;
    u->dev_worker = NO_SLOT;
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
        core_units_retry(c, u, NONE, reason == ENGINE_NO_REASON ? ENGINE_DEVICE_ERROR : reason);
    }
    core_units_free(c, u);
}

void core_devices_judge(engine_core *c, uint32_t i, bool ok) {
    dev_state *d = &c->devices[i];
    if (ok) {
        d->failures = 0;
        if (d->unhealthy) {
            d->unhealthy = false;
            core_record_device(c, i);
        }
        return;
    }
    d->failures++;
    if (c->cfg.device_failure_limit == 0 || (!d->unhealthy && d->failures < c->cfg.device_failure_limit)) return;
    d->retry_at = c->cfg.device_retry_ns == 0 ? NEVER : add_sat(c->now, c->cfg.device_retry_ns);
    if (!d->unhealthy) {
        d->unhealthy = true;
        core_record_device(c, i);
    }
    if (core_devices_lost(c)) core_jobs_fail_all(c, ENGINE_NO_DEVICE);
}

bool core_devices_lost(const engine_core *c) {
    for (uint32_t d = 0; d < c->cfg.devices; d++)
        if (!c->devices[d].unhealthy || c->devices[d].retry_at != NEVER) return false;
    return true;
}

uint32_t core_devices_healthy(const engine_core *c) {
    uint32_t n = 0;
    for (uint32_t d = 0; d < c->cfg.devices; d++) n += !c->devices[d].unhealthy;
    return n;
}
