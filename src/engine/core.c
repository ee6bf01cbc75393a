// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Creation, the step, and views of the state. The parts: core_jobs (requests, ids, terminal states), core_policy (which
// unit is next), core_memory (budget and keys), core_units (synthesis, channel, verification), core_devices,
// core_timers, core_check.
#include <string.h>

#include "base/mem.h"
#include "engine/core_internal.h"

const char *engine_reason_name(engine_reason r) {
    static const char *const NAMES[ENGINE_REASONS] = {
        "NONE",      "BAD_INPUT",  "OUT_OF_MEMORY", "WRONG_PROOF", "DEVICE_ERROR", "STAGE_TIMEOUT",
        "DEADLINE",  "KEY_FAILED", "TOO_BIG",       "QUEUE_FULL",  "ID_IN_USE",    "DRAINING",
        "CANCELLED", "NO_DEVICE",  "BAD_REQUEST",   "KEY_IN_USE",  "NOT_FOUND"};
    return (unsigned)r < ENGINE_REASONS ? NAMES[r] : "UNKNOWN";
}

// Hands out aligned pieces of one block; a first pass with block NULL adds up the size.
typedef struct carver {
    uint8_t *block;
    uint64_t used;
    bool overflow;
} carver;

static void *carve(carver *v, uint64_t n, uint64_t size) {
    uint64_t bytes = mul_sat(n, size);
    void *p = v->block == NULL ? NULL : v->block + v->used;
    if (bytes > UINT64_MAX / 4 || v->used > UINT64_MAX / 4) {
        v->overflow = true;
        return NULL;
    }
    v->used += (bytes + 15) & ~UINT64_C(15);
    return p;
}

static void layout(engine_core *c, carver *v) {
    const engine_config *f = &c->cfg;
    c->jobs = carve(v, c->max_jobs, sizeof(job));
    c->parts = carve(v, mul_sat(c->max_jobs, f->max_partitions), sizeof(part));
    c->live = carve(v, c->max_live, sizeof(uint32_t));
    c->free_jobs = carve(v, c->max_jobs, sizeof(uint32_t));
    c->finished = carve(v, c->max_jobs, sizeof(uint32_t));
    c->by_id = carve(v, (uint64_t)c->hash_mask + 1, sizeof(uint32_t));
    c->by_client = carve(v, (uint64_t)c->hash_mask + 1, sizeof(uint32_t));
    c->units = carve(v, c->max_units, sizeof(unit));
    // One more than there are units: the last is the plan's.
    uint64_t places = (uint64_t)c->max_units + 1;
    engine_part *parts = carve(v, mul_sat(places, c->unit_parts), sizeof(engine_part));
    uint32_t *slots = carve(v, mul_sat(places, c->unit_parts), sizeof(uint32_t));
    c->workers = carve(v, f->synthesis_concurrency, sizeof(uint32_t));
    c->keys = carve(v, f->max_keys, sizeof(key_entry));
    c->devices = carve(v, f->devices, sizeof(dev_state));
    uint32_t *dev_workers = carve(v, mul_sat(f->devices, f->workers_per_device), sizeof(uint32_t));
    // Worst step: every job ends (REPLY, FORGET and three records), every unit goes through the stages of one step
    // (about ten actions, records once a job of it), every partition of a unit is tried again, every key moves, every
    // device changes.
    uint64_t mates = f->policy == ENGINE_BATCH ? (f->batch_size < c->unit_parts ? f->batch_size : c->unit_parts) : 1;
    uint64_t n = 64 + 8 * (uint64_t)c->max_jobs + mul_sat(c->max_units, 16 + 8 * mates) + 8 * (uint64_t)f->max_keys +
                 4 * (uint64_t)f->devices + 2 * (uint64_t)c->unit_parts;
    c->max_actions = (size_t)n;
    c->actions = carve(v, n, sizeof(engine_action));
    if (v->block == NULL) return;
    for (uint32_t i = 0; i < c->max_units; i++) {
        c->units[i].parts = parts + (size_t)i * c->unit_parts;
        c->units[i].jobs = slots + (size_t)i * c->unit_parts;
    }
    c->plan.parts = parts + (size_t)c->max_units * c->unit_parts;
    c->plan.jobs = slots + (size_t)c->max_units * c->unit_parts;
    for (uint32_t i = 0; i <= c->hash_mask; i++) c->by_id[i] = c->by_client[i] = NO_SLOT;
    for (uint32_t i = 0; i < f->synthesis_concurrency; i++) c->workers[i] = NO_SLOT;
    for (uint32_t d = 0; d < f->devices; d++) {
        c->devices[d].kernels = NO_SLOT;
        c->devices[d].workers = dev_workers + (size_t)d * f->workers_per_device;
        for (uint32_t w = 0; w < f->workers_per_device; w++) c->devices[d].workers[w] = NO_SLOT;
    }
    for (uint32_t i = 0; i < c->max_jobs; i++) c->free_jobs[i] = c->max_jobs - 1 - i;
    c->n_free_jobs = c->max_jobs;
}

static cuzk_status check_config(const engine_config *f, cuzk_error *err) {
    const struct {
        const char *name;
        uint32_t value, min, max;
    } ranges[] = {
        {"synthesis_concurrency", f->synthesis_concurrency, 1, 4096},
        {"lookahead", f->lookahead, 1, 65536},
        {"devices", f->devices, 1, 256},
        {"workers_per_device", f->workers_per_device, 1, 64},
        {"max_pending_jobs", f->max_pending_jobs, 1, 1u << 20},
        {"critical_places", f->critical_places, 0, 1u << 20},
        {"max_partitions", f->max_partitions, 1, 65535},
        {"max_keys", f->max_keys, 1, 4096},
        {"max_finished", f->max_finished, 0, 1u << 20},
        {"max_attempts", f->max_attempts, 1, 65535},
        {"slot_size", f->slot_size, f->policy == ENGINE_SLOTTED ? 1 : 0, UNIT_PARTS_MAX},
        {"batch_size", f->batch_size, f->policy == ENGINE_BATCH ? 1 : 0, UNIT_PARTS_MAX},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (ranges[i].value < ranges[i].min || ranges[i].value > ranges[i].max)
            return cuzk_fail(err, CUZK_ERR_USAGE, "engine: %s is %u, expected %u to %u", ranges[i].name,
                             ranges[i].value, ranges[i].min, ranges[i].max);
    if ((unsigned)f->policy > ENGINE_BATCH)
        return cuzk_fail(err, CUZK_ERR_USAGE, "engine: policy is %u, expected 0 to %u", (unsigned)f->policy,
                         (unsigned)ENGINE_BATCH);
    if (f->fallback_devices >= f->devices)
        return cuzk_fail(err, CUZK_ERR_USAGE, "engine: %u of %u devices are fallback devices", f->fallback_devices,
                         f->devices);
    if (f->critical_reserve >= f->memory_budget && f->critical_reserve != 0)
        return cuzk_fail(err, CUZK_ERR_USAGE, "engine: critical_reserve leaves nothing of memory_budget");
    return CUZK_OK;
}

cuzk_status engine_core_create(engine_core **out, const engine_config *config, cuzk_error *err) {
    cuzk_status s = check_config(config, err);
    if (s != CUZK_OK) return s;
    engine_core *c = mem_calloc(MEM_MISC, 1, sizeof *c);
    if (c == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "engine: no memory for the core");
    c->cfg = *config;
    c->max_live = config->max_pending_jobs + config->critical_places;
    c->max_jobs = c->max_live + config->max_finished;
    // Running and waiting units, as many again that are verified and freed, and two that only CRITICAL jobs may use.
    c->max_units =
        2 * (config->synthesis_concurrency + config->lookahead + config->devices * config->workers_per_device) + 2;
    uint32_t whole = config->max_partitions < UNIT_PARTS_MAX ? config->max_partitions : UNIT_PARTS_MAX;
    c->unit_parts = config->policy == ENGINE_PARTITION                              ? 1
                    : config->policy == ENGINE_SLOTTED && config->slot_size < whole ? config->slot_size
                    : config->policy == ENGINE_BATCH                                ? UNIT_PARTS_MAX
                                                                                    : whole;
    uint32_t buckets = 16;
    while (buckets < 2 * c->max_jobs) buckets *= 2;
    c->hash_mask = buckets - 1;
    carver v = {0};
    layout(c, &v);
    if (!v.overflow) v.block = mem_calloc(MEM_MISC, v.used, 1);
    if (v.block == NULL) {
        mem_free(c);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "engine: no memory for the tables of %u jobs of %u partitions",
                         c->max_jobs, config->max_partitions);
    }
    v.used = 0;
    layout(c, &v);
    c->timer = NEVER;
    c->next_job = 1;
    c->next_unit = 1;
    c->next_ticket = 1;
    *out = c;
    return CUZK_OK;
}

void engine_core_destroy(engine_core **core) {
    if (core == NULL || *core == NULL) return;
    mem_free((*core)->jobs); // the first piece of the block
    mem_free(*core);
    *core = NULL;
}

static void drain(engine_core *c) {
    if (c->draining) return;
    c->draining = true;
    core_act(c, ENGINE_ACT_RECORD)->event = TL_DRAIN;
}

static void maybe_drained(engine_core *c) {
    if (!c->draining || c->drained || c->n_live > 0) return;
    for (uint32_t k = 0; k < c->cfg.max_keys; k++)
        if (c->keys[k].state == KEY_LOADING || c->keys[k].state == KEY_EVICTING) return;
    c->drained = true;
    core_act(c, ENGINE_ACT_DRAINED);
}

size_t engine_core_step(engine_core *c, uint64_t now, const engine_event *e, const engine_action **actions) {
    if (now > c->now) c->now = now;
    c->n_actions = 0;
    if (!c->announced) { // so that a device that never gets work is in the log
        c->announced = true;
        // One that is only there in need is in the log once it is used, or its idleness would count.
        for (uint32_t d = 0; d < c->cfg.devices && !core_devices_fallback(c, d); d++) core_record_device(c, d);
    }
    switch (e->kind) {
    case ENGINE_EV_SUBMIT: core_jobs_submit(c, e->request); break;
    case ENGINE_EV_CANCEL: core_jobs_cancel(c, e->job); break;
    case ENGINE_EV_SYNTH_DONE: core_units_synth_done(c, e->unit); break;
    case ENGINE_EV_SYNTH_FAILED: core_units_synth_failed(c, e->unit, e->reason, e->partition); break;
    case ENGINE_EV_DEVICE_STARTED: core_devices_started(c, e->unit); break;
    case ENGINE_EV_DEVICE_KERNELS_DONE: core_devices_kernels_done(c, e->unit); break;
    case ENGINE_EV_DEVICE_DONE: core_devices_done(c, e->unit); break;
    case ENGINE_EV_DEVICE_FAILED: core_devices_failed(c, e->unit, e->reason, e->host); break;
    case ENGINE_EV_VERIFIED: core_units_verified(c, e->unit, e->ok_mask, e->host); break;
    case ENGINE_EV_KEY_LOADED: core_keys_loaded(c, e->key, e->ticket, e->bytes); break;
    case ENGINE_EV_KEY_FAILED: core_keys_failed(c, e->key, e->ticket, e->reason); break;
    case ENGINE_EV_KEY_FREED: core_keys_freed(c, e->key, e->ticket); break;
    case ENGINE_EV_UNIT_FREED: core_units_freed(c, e->unit); break;
    case ENGINE_EV_EVICT: core_keys_evict(c, e->key, e->token); break;
    case ENGINE_EV_PRELOAD: core_keys_preload(c, e->key, e->bytes, e->token); break;
    case ENGINE_EV_TIMER: c->timer = NEVER; break; // it is used up: set again below
    case ENGINE_EV_DRAIN: drain(c); break;
    }
    core_timers_expire(c);
    core_units_dispatch(c);
    maybe_drained(c);
    core_timers_set(c);
    *actions = c->actions;
    return c->n_actions;
}

uint32_t engine_core_unit(const engine_core *c, engine_unit_id id, const engine_part **parts) {
    uint32_t u = core_units_find(c, id);
    if (u == NO_SLOT) {
        *parts = NULL;
        return 0;
    }
    *parts = c->units[u].parts;
    return c->units[u].n;
}

void engine_core_stats(const engine_core *c, engine_stats *out) {
    *out = c->stats;
    out->queued = out->running = 0;
    for (uint32_t i = 0; i < c->n_live; i++) {
        engine_job_state s = c->jobs[c->live[i]].state;
        out->queued += s == ENGINE_QUEUED;
        out->running += s == ENGINE_RUNNING;
    }
    out->units_live = out->synthesising = out->blocked = out->in_channel = out->on_device = 0;
    for (uint32_t u = 0; u < c->max_units; u++) {
        unit_state s = c->units[u].state;
        out->units_live += s != UNIT_FREE;
        out->synthesising += s == UNIT_SYNTH;
        out->blocked += s == UNIT_BLOCKED;
        out->in_channel += s == UNIT_CHANNEL;
        out->on_device += s == UNIT_KERNELS || s == UNIT_TAIL;
    }
    out->memory_reserved = c->reserved;
    out->memory_keys = 0;
    out->keys_loaded = 0;
    for (uint32_t k = 0; k < c->cfg.max_keys; k++) {
        if (c->keys[k].state == KEY_ABSENT) continue;
        out->memory_keys += c->keys[k].bytes;
        out->keys_loaded += c->keys[k].state == KEY_LOADED;
    }
    out->devices_healthy = core_devices_healthy(c);
    out->draining = c->draining;
}

bool engine_core_job(const engine_core *c, engine_job_id id, engine_job_view *out) {
    uint32_t i = core_jobs_find(c, id);
    if (i == NO_SLOT) return false;
    const job *j = &c->jobs[i];
    *out = (engine_job_view){.state = j->state,
                             .reason = j->reason,
                             .priority = j->req.priority,
                             .partitions = j->req.partitions,
                             .partitions_done = j->done,
                             .submitted_ns = j->submitted,
                             .started_ns = j->started,
                             .finished_ns = j->finished,
                             .token = j->req.token};
    return true;
}
