// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What happens because time has passed: deadlines of jobs, the watchdog over stages and over devices that do not stop,
// and the next moment at which one of them may be due.
#include "engine/core_internal.h"

uint64_t core_timers_stage(const engine_core *c) {
    return c->cfg.stage_timeout_ns == 0 ? NEVER : add_sat(c->now, c->cfg.stage_timeout_ns);
}

static bool watched(const unit *u) {
    return !u->dead &&
           (u->state == UNIT_SYNTH || u->state == UNIT_KERNELS || u->state == UNIT_TAIL || u->state == UNIT_VERIFY);
}

// Stopped, and still on a device.
static bool leaving(const unit *u) {
    return u->dead && !u->overdue && (u->state == UNIT_KERNELS || u->state == UNIT_TAIL);
}

// Its jobs fail, which stops it. What it holds comes back when the runtime reports, not before: a device that hangs is
// not free.
static void stage_timeout(engine_core *c, unit *u) {
    c->stats.stage_timeouts++;
    u->deadline = NEVER;
    bool device = u->state == UNIT_KERNELS || u->state == UNIT_TAIL;
    for (uint32_t i = 0; i < u->n; i++)
        core_jobs_finish(c, u->jobs[i], ENGINE_FAILED, ENGINE_STAGE_TIMEOUT, u->parts[i].partition);
    if (!device) return;
    core_devices_judge(c, u->device, false);
    if (planted(c, ENGINE_BUG_EARLY_FREE)) {
        core_devices_leave(c, u);
        c->devices[u->device].inflight--;
        core_units_free(c, u);
    }
}

void core_timers_expire(engine_core *c) {
    for (uint32_t i = c->n_live; i-- > 0;) { // backwards: ending a job moves the last one into its place
        uint32_t j = c->live[i];
        uint64_t at = c->jobs[j].req.deadline_ns;
        if (at != 0 && at <= c->now) core_jobs_finish(c, j, ENGINE_FAILED, ENGINE_DEADLINE, NO_SLOT);
    }
    if (c->cfg.stage_timeout_ns == 0) return;
    for (uint32_t i = 0; i < c->max_units; i++)
        if (watched(&c->units[i]) && c->units[i].deadline <= c->now) stage_timeout(c, &c->units[i]);
    bool more = false;
    for (uint32_t i = 0; i < c->max_units; i++) {
        unit *u = &c->units[i];
        if (!leaving(u) || u->deadline > c->now) continue;
        u->overdue = more = true;
        core_devices_show(c, u->device);
    }
    if (more) core_devices_mourn(c);
    for (uint32_t k = 0; k < c->cfg.max_keys; k++) {
        if (c->keys[k].state != KEY_LOADING || c->keys[k].deadline > c->now) continue;
        // The load may still end well; until then whoever asks for the key waits no longer than this.
        c->stats.stage_timeouts++;
        c->keys[k].deadline = core_timers_stage(c);
        core_jobs_fail_key(c, c->keys[k].id, ENGINE_STAGE_TIMEOUT);
    }
}

static void earlier(uint64_t *at, uint64_t t) {
    if (t < *at) *at = t;
}

void core_timers_set(engine_core *c) {
    uint64_t at = NEVER;
    for (uint32_t i = 0; i < c->n_live; i++) {
        const job *b = &c->jobs[c->live[i]];
        if (terminal(b)) continue;
        if (b->req.deadline_ns != 0) earlier(&at, b->req.deadline_ns);
        if (c->cfg.policy == ENGINE_BATCH && b->state == ENGINE_QUEUED) { // an incomplete batch
            uint64_t t = add_sat(b->submitted, c->cfg.batch_wait_ns);
            if (t > c->now) earlier(&at, t);
        }
    }
    if (c->cfg.stage_timeout_ns != 0) {
        for (uint32_t i = 0; i < c->max_units; i++)
            if (watched(&c->units[i]) || leaving(&c->units[i])) earlier(&at, c->units[i].deadline);
        for (uint32_t k = 0; k < c->cfg.max_keys; k++)
            if (c->keys[k].state == KEY_LOADING) earlier(&at, c->keys[k].deadline);
    }
    earlier(&at, core_keys_next_idle(c));
    for (uint32_t d = 0; d < c->cfg.devices; d++)
        if (c->devices[d].unhealthy && c->devices[d].retry_at > c->now) earlier(&at, c->devices[d].retry_at);
    if (at == c->timer) return;
    c->timer = at;
    core_act(c, ENGINE_ACT_SET_TIMER)->at = at;
}
