// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every invariant of docs/engine.md that the state alone can show, counted again from scratch.
#include <stdio.h>

#include "engine/core_internal.h"

static bool broken(char *text, size_t size, const char *what, uint64_t found, uint64_t expected) {
    if (size > 0)
        (void)snprintf(text, size, "%s: found %llu, expected %llu", what, (unsigned long long)found,
                       (unsigned long long)expected);
    return false;
}

static bool check_jobs(const engine_core *c, char *text, size_t size) {
    uint64_t queued = 0, running = 0;
    uint32_t critical = 0;
    for (uint32_t i = 0; i < c->n_live; i++) {
        uint32_t j = c->live[i];
        const job *b = &c->jobs[j];
        if (b->live_pos != i) return broken(text, size, "place of a live job", b->live_pos, i);
        if (b->replies != (terminal(b) ? 1 : 0))
            return broken(text, size, "replies to a job", b->replies, terminal(b) ? 1 : 0);
        queued += b->state == ENGINE_QUEUED;
        running += b->state == ENGINE_RUNNING;
        critical += b->req.priority == ENGINE_CRITICAL;
        uint32_t waiting = 0, alone = 0, done = 0, in_unit = 0;
        const part *p = job_parts(c, j);
        for (uint32_t k = 0; k < b->req.partitions; k++) {
            waiting += p[k].state == PART_WAITING;
            alone += p[k].state == PART_WAITING && p[k].alone;
            done += p[k].state == PART_DONE;
            in_unit += p[k].state == PART_IN_UNIT;
            if (p[k].state == PART_WAITING && k < b->waiting_lo)
                return broken(text, size, "first waiting partition", k, b->waiting_lo);
            if (p[k].attempts > c->cfg.max_attempts)
                return broken(text, size, "attempts of a partition", p[k].attempts, c->cfg.max_attempts);
        }
        if (waiting != b->waiting) return broken(text, size, "waiting partitions", b->waiting, waiting);
        if (alone != b->alone) return broken(text, size, "partitions to come alone", b->alone, alone);
        if (done != b->done) return broken(text, size, "partitions done", b->done, done);
        if (terminal(b) && waiting > 0) return broken(text, size, "waiting partitions of a terminal job", waiting, 0);
        if (!terminal(b) && waiting + done + in_unit != b->req.partitions)
            return broken(text, size, "partitions accounted for", waiting + done + in_unit, b->req.partitions);
        if (terminal(b) && b->units == 0) return broken(text, size, "units of a terminal job with a place", 0, 1);
    }
    if (critical != c->n_critical_live) return broken(text, size, "critical jobs", c->n_critical_live, critical);
    if (c->n_live > c->max_live) return broken(text, size, "live jobs", c->n_live, c->max_live);
    if (c->n_finished > c->cfg.max_finished)
        return broken(text, size, "finished jobs kept", c->n_finished, c->cfg.max_finished);
    if (c->n_live + c->n_finished + c->n_free_jobs != c->max_jobs)
        return broken(text, size, "job slots", c->n_live + c->n_finished + c->n_free_jobs, c->max_jobs);
    for (uint32_t i = 0; i < c->n_finished; i++) {
        const job *b = &c->jobs[c->finished[(c->finished_head + i) % c->max_jobs]];
        if (b->replies != 1) return broken(text, size, "replies to a finished job", b->replies, 1);
        if (b->state == ENGINE_DONE && b->done != b->req.partitions)
            return broken(text, size, "verified partitions of a done job", b->done, b->req.partitions);
    }
    uint64_t sum = queued + running + c->stats.done + c->stats.failed + c->stats.cancelled;
    if (sum != c->stats.accepted) return broken(text, size, "jobs in all states", sum, c->stats.accepted);
    return true;
}

static bool check_units(const engine_core *c, char *text, size_t size) {
    uint32_t holding = 0, channel = 0;
    for (uint32_t i = 0; i < c->max_units; i++) {
        const unit *u = &c->units[i];
        if (u->state == UNIT_FREE) continue;
        if (u->id % c->max_units != i) return broken(text, size, "slot of a unit", u->id % c->max_units, i);
        if (u->n == 0 || u->n > c->unit_parts) return broken(text, size, "partitions of a unit", u->n, c->unit_parts);
        bool wanted = false;
        for (uint32_t k = 0; k < u->n; k++) {
            const job *b = &c->jobs[u->jobs[k]];
            if (b->id != u->parts[k].job) return broken(text, size, "job of a unit", b->id, u->parts[k].job);
            if (b->units == 0) return broken(text, size, "units of a job with one", 0, 1);
            wanted |= !terminal(b);
        }
        if (u->state != UNIT_FREEING && u->dead == wanted)
            return broken(text, size, "a unit is given up", u->dead, !wanted);
        bool worker = u->worker != NO_SLOT, device = u->dev_worker != NO_SLOT;
        if (worker && c->workers[u->worker] != i)
            return broken(text, size, "unit of a synthesis worker", c->workers[u->worker], i);
        if (u->state == UNIT_SYNTH && !worker) return broken(text, size, "worker of a unit in synthesis", 0, 1);
        if (worker && u->state != UNIT_SYNTH && u->state != UNIT_BLOCKED)
            return broken(text, size, "a worker held after synthesis, in stage", u->state, UNIT_BLOCKED);
        if (device != (u->state == UNIT_KERNELS || u->state == UNIT_TAIL))
            return broken(text, size, "a device worker held in stage", u->state, UNIT_KERNELS);
        if (device && c->devices[u->device].workers[u->dev_worker] != i)
            return broken(text, size, "unit of a device worker", c->devices[u->device].workers[u->dev_worker], i);
        if (u->fallback && (u->n != 1 || (device && !core_devices_fallback(c, u->device))))
            return broken(text, size, "a unit for a fallback device, on device", u->device, c->cfg.devices - 1);
        if (u->overdue && !(device && u->dead))
            return broken(text, size, "an overdue unit, in stage", u->state, UNIT_TAIL);
        if (u->state == UNIT_KERNELS && c->devices[u->device].kernels != i)
            return broken(text, size, "unit in the kernel section", c->devices[u->device].kernels, i);
        if (device && !u->dead && c->keys[u->key].state != KEY_LOADED)
            return broken(text, size, "state of the key of a unit on a device", c->keys[u->key].state, KEY_LOADED);
        holding += worker;
        channel += u->state == UNIT_CHANNEL && !u->critical;
    }
    uint32_t taken = 0;
    for (uint32_t w = 0; w < c->cfg.synthesis_concurrency; w++) taken += c->workers[w] != NO_SLOT;
    if (taken != holding) return broken(text, size, "synthesis workers taken", taken, holding);
    if (channel > c->cfg.lookahead) return broken(text, size, "units in the channel", channel, c->cfg.lookahead);
    for (uint32_t d = 0; d < c->cfg.devices; d++) {
        uint32_t inflight = 0;
        for (uint32_t i = 0; i < c->max_units; i++) {
            const unit *u = &c->units[i];
            bool here = u->state == UNIT_KERNELS || u->state == UNIT_TAIL || u->state == UNIT_VERIFY;
            inflight += here && u->device == d;
        }
        if (inflight != c->devices[d].inflight)
            return broken(text, size, "units of a device", c->devices[d].inflight, inflight);
        uint32_t k = c->devices[d].kernels;
        if (k != NO_SLOT && (c->units[k].state != UNIT_KERNELS || c->units[k].device != d))
            return broken(text, size, "stage of the unit in a kernel section", c->units[k].state, UNIT_KERNELS);
    }
    return true;
}

static bool check_memory(const engine_core *c, char *text, size_t size) {
    uint64_t sum = 0;
    for (uint32_t k = 0; k < c->cfg.max_keys; k++) {
        const key_entry *e = &c->keys[k];
        uint32_t refs = 0;
        for (uint32_t i = 0; i < c->max_units; i++) refs += c->units[i].state != UNIT_FREE && c->units[i].key == k;
        if (refs != e->refs) return broken(text, size, "users of a key", e->refs, refs);
        if (e->state == KEY_ABSENT) {
            if (e->bytes != 0) return broken(text, size, "bytes of a key that is gone", e->bytes, 0);
            continue;
        }
        sum += e->bytes;
        for (uint32_t i = 0; i < k; i++)
            if (c->keys[i].state != KEY_ABSENT && c->keys[i].id == e->id)
                return broken(text, size, "entries of one key", 2, 1);
    }
    for (uint32_t i = 0; i < c->max_units; i++)
        if (c->units[i].state != UNIT_FREE) sum += c->units[i].bytes;
    if (sum != c->reserved) return broken(text, size, "bytes reserved", c->reserved, sum);
    if (c->reserved > c->cfg.memory_budget)
        return broken(text, size, "bytes reserved beyond the budget", c->reserved, c->cfg.memory_budget);
    return true;
}

bool engine_core_check(const engine_core *c, char *text, size_t size) {
    if (c->broken) return broken(text, size, "an internal count", 1, 0);
    return check_jobs(c, text, size) && check_units(c, text, size) && check_memory(c, text, size);
}
