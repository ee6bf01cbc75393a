// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Random scenarios, and making a failing one smaller.
#include <stdio.h>
#include <string.h>

#include "engine/world.h"
#include "testing.h"

static bool one_in(test_rng *r, uint64_t n) { return test_below(r, n) == 0; }
static uint8_t sometimes(test_rng *r, uint64_t n, unsigned of256) {
    return one_in(r, n) ? (uint8_t)(1 + test_below(r, of256)) : 0;
}

static void random_config(engine_config *c, test_rng *r) {
    *c = (engine_config){
        .policy = (engine_policy)test_below(r, 4),
        .slot_size = 1 + (uint32_t)test_below(r, 4),
        .batch_size = 1 + (uint32_t)test_below(r, 4),
        .batch_wait_ns = test_below(r, 60),
        .synthesis_concurrency = 1 + (uint32_t)test_below(r, 4),
        .lookahead = 1 + (uint32_t)test_below(r, 3),
        .devices = one_in(r, 2) ? 1 : 1 + (uint32_t)test_below(r, 3),
        .workers_per_device = 1 + (uint32_t)test_below(r, 3),
        .max_pending_jobs = one_in(r, 4) ? 1 + (uint32_t)test_below(r, 4) : 16,
        .critical_places = (uint32_t)test_below(r, 3),
        .max_partitions = 1 + (uint32_t)test_below(r, WORLD_PARTS),
        .max_keys = 1 + (uint32_t)test_below(r, WORLD_KEYS),
        .max_finished = (uint32_t)test_below(r, 6),
        .memory_budget = UINT64_MAX,
        .max_attempts = 1 + (uint32_t)test_below(r, 3),
        .ageing_ns = one_in(r, 3) ? 0 : 1 + test_below(r, 200),
        .stage_timeout_ns = one_in(r, 2) ? 0 : 60 + test_below(r, 100),
        .device_failure_limit = one_in(r, 2) ? 0 : 1 + (uint32_t)test_below(r, 3),
        .device_retry_ns = one_in(r, 4) ? 0 : 1 + test_below(r, 100),
        .group_by_key = one_in(r, 2),
        .key_min_idle_ns = one_in(r, 3) ? 0 : 1 + test_below(r, 400),
    };
    if (!one_in(r, 3)) {
        c->memory_budget = 20 + test_below(r, 200);
        if (one_in(r, 3)) c->critical_reserve = test_below(r, c->memory_budget / 2);
    }
    if (one_in(r, 4)) c->devices += c->fallback_devices = 1;
}

static void random_job(scenario *s, uint32_t i, test_rng *r, uint64_t span) {
    world_job *j = &s->job[i];
    engine_request *q = &j->req;
    uint64_t key = test_below(r, WORLD_KEYS);
    if (one_in(r, 2)) key /= 2;
    j->at = test_below(r, span);
    q->token = i + 1;
    q->key = 1 + key;
    q->key_bytes = s->key_bytes[key];
    q->partition_bytes = one_in(r, 8) ? 0 : test_below(r, 16);
    q->partitions = 1 + (uint32_t)test_below(r, s->cfg.max_partitions < 5 || one_in(r, 4) ? s->cfg.max_partitions : 4);
    q->priority = (engine_priority)test_below(r, ENGINE_PRIORITIES);
    if (one_in(r, 8)) q->deadline_ns = 1000 + j->at + test_below(r, 300);
    if (one_in(r, 40)) q->partitions = (uint32_t)(one_in(r, 2) ? 0 : s->cfg.max_partitions + 1);
    memset(q->input_digest, (int)(i + 1), sizeof q->input_digest);
    if (one_in(r, 3)) {
        q->client_id[0] = (uint8_t)(1 + test_below(r, 3)); // few ids, so that they meet
        if (one_in(r, 2)) memset(q->input_digest, q->client_id[0], sizeof q->input_digest);
    }
    if (one_in(r, 5)) j->cancel_at = 1 + test_below(r, 200);
    if (j->cancel_at != 0 && one_in(r, 2)) j->cancel_again_at = 1 + test_below(r, 300);
}

void scenario_random(scenario *s, uint64_t seed, uint32_t planted) {
    test_rng r = {seed};
    memset(s, 0, sizeof *s);
    s->seed = seed;
    random_config(&s->cfg, &r);
    s->cfg.planted_bug = planted;
    for (uint32_t k = 0; k < WORLD_KEYS; k++) s->key_bytes[k] = test_below(&r, 30);
    s->slowest = 1 + (uint32_t)test_below(&r, one_in(&r, 4) ? 5 : 50);
    bool calm = one_in(&r, 4);
    if (!calm)
        s->faults = (world_faults){.synth_bad = sometimes(&r, 4, 40),
                                   .synth_oom = sometimes(&r, 4, 40),
                                   .device_error = sometimes(&r, 3, 80),
                                   .wrong = sometimes(&r, 3, 80),
                                   .always_wrong = sometimes(&r, 6, 40),
                                   .hang = sometimes(&r, 3, 40),
                                   .key_fail = sometimes(&r, 4, 80),
                                   .key_bigger = sometimes(&r, 4, 80),
                                   .again = sometimes(&r, 2, 120),
                                   .no_started = sometimes(&r, 2, 255)};
    // What never returns keeps its memory and its key for ever, so that there must be enough of both for the others.
    if (s->faults.hang != 0 && one_in(&r, 3)) {
        s->faults.stuck = (uint8_t)(1 + test_below(&r, 255));
        s->cfg.memory_budget = UINT64_MAX;
        s->cfg.critical_reserve = 0;
        s->cfg.max_keys = WORLD_KEYS;
    }
    s->jobs = 1 + (uint32_t)test_below(&r, one_in(&r, 8) ? WORLD_JOBS : 7);
    uint64_t span = 1 + test_below(&r, one_in(&r, 2) ? 20 : 400);
    for (uint32_t i = 0; i < s->jobs; i++) random_job(s, i, &r, span);
    s->ops = (uint32_t)test_below(&r, one_in(&r, 2) ? 1 : WORLD_OPS);
    for (uint32_t i = 0; i < s->ops; i++) {
        static const engine_event_kind KINDS[] = {
            ENGINE_EV_EVICT,        ENGINE_EV_EVICT,      ENGINE_EV_PRELOAD,     ENGINE_EV_DRAIN,
            ENGINE_EV_SYNTH_DONE,   ENGINE_EV_UNIT_FREED, ENGINE_EV_DEVICE_DONE, ENGINE_EV_DEVICE_FAILED,
            ENGINE_EV_SYNTH_FAILED, ENGINE_EV_VERIFIED,   ENGINE_EV_TIMER,       ENGINE_EV_TIMER};
        world_op *o = &s->op[i];
        o->kind = KINDS[test_below(&r, sizeof KINDS / sizeof *KINDS)];
        if (o->kind == ENGINE_EV_DRAIN && !one_in(&r, 3)) o->kind = ENGINE_EV_TIMER;
        o->at = test_below(&r, 2 * span + 200);
        o->key = 1 + test_below(&r, WORLD_KEYS);
        o->unit = one_in(&r, 2) ? test_u64(&r) : 1 + test_below(&r, 3); // 1 to 3: no unit ever has such an id
    }
}

static bool still_fails(const scenario *s) {
    char text[256];
    world_tally tally = {0};
    return !world_run(s, &tally, text, sizeof text);
}

// Tries one change; keeps it if the scenario still fails.
static bool keep(scenario *s, const scenario *changed) {
    if (memcmp(s, changed, sizeof *s) == 0 || !still_fails(changed)) return false;
    *s = *changed;
    return true;
}

// Leaves out jobs and operations, the larger halves first.
static bool fewer(scenario *s) {
    bool smaller = false;
    for (uint32_t n = WORLD_JOBS; n > 0; n /= 2)
        for (uint32_t from = 0; from < s->jobs; from += n) {
            scenario c = *s;
            for (uint32_t i = from; i < from + n && i < c.jobs; i++) c.job[i].absent = true;
            smaller |= keep(s, &c);
        }
    for (uint32_t i = 0; i < s->ops; i++) {
        scenario c = *s;
        c.op[i].absent = true;
        smaller |= keep(s, &c);
    }
    return smaller;
}

static bool simpler_jobs(scenario *s) {
    bool smaller = false;
    for (uint32_t i = 0; i < s->jobs; i++) {
        if (s->job[i].absent) continue;
        for (unsigned change = 0; change < 7; change++) {
            scenario c = *s;
            world_job *j = &c.job[i];
            switch (change) {
            case 0: j->cancel_at = j->cancel_again_at = 0; break;
            case 1: j->cancel_again_at = 0; break;
            case 2: j->req.deadline_ns = 0; break;
            case 3: j->req.partitions = j->req.partitions > 1 ? 1 : j->req.partitions; break;
            case 4: j->req.partitions = j->req.partitions > 1 ? j->req.partitions - 1 : j->req.partitions; break;
            case 5: j->req.priority = ENGINE_NORMAL; break;
            default: memset(j->req.client_id, 0, sizeof j->req.client_id); break;
            }
            smaller |= keep(s, &c);
        }
    }
    return smaller;
}

static bool simpler_world(scenario *s) {
    bool smaller = false;
    for (unsigned change = 0; change < 22; change++) {
        scenario c = *s;
        switch (change) {
        case 0: c.faults.synth_bad = 0; break;
        case 1: c.faults.synth_oom = 0; break;
        case 2: c.faults.device_error = 0; break;
        case 3: c.faults.wrong = c.faults.always_wrong = 0; break;
        case 4: c.faults.hang = 0; break;
        case 5: c.faults.key_fail = 0; break;
        case 6: c.faults.key_bigger = 0; break;
        case 7: c.faults.again = 0; break;
        case 8: c.faults.no_started = 0; break;
        case 9: c.cfg.devices = 1, c.cfg.fallback_devices = 0; break;
        case 10: c.cfg.workers_per_device = 1; break;
        case 11: c.cfg.synthesis_concurrency = 1; break;
        case 12: c.cfg.lookahead = 1; break;
        case 13: c.cfg.stage_timeout_ns = 0; break;
        case 14: c.cfg.ageing_ns = 0; break;
        case 15: c.cfg.memory_budget = UINT64_MAX, c.cfg.critical_reserve = 0; break;
        case 16: c.cfg.critical_reserve = 0; break;
        case 17: c.faults.stuck = 0; break;
        case 18: c.cfg.group_by_key = false; break;
        case 19: c.cfg.key_min_idle_ns = 0; break;
        case 20: c.cfg.devices -= c.cfg.fallback_devices, c.cfg.fallback_devices = 0; break;
        default: c.cfg.device_failure_limit = 0; break;
        }
        smaller |= keep(s, &c);
    }
    return smaller;
}

void scenario_shrink(scenario *s) {
    for (unsigned round = 0; round < 20; round++) {
        bool a = fewer(s), b = simpler_jobs(s), c = simpler_world(s);
        if (!a && !b && !c) return;
    }
}

void scenario_print(const scenario *s) {
    static const char *const POLICIES[] = {"standard", "slotted", "partition", "batch"};
    const engine_config *c = &s->cfg;
    printf("  policy %s slot %u batch %u wait %llu, synthesis %u lookahead %u devices %u (fallback %u) workers %u\n",
           POLICIES[c->policy], c->slot_size, c->batch_size, (unsigned long long)c->batch_wait_ns,
           c->synthesis_concurrency, c->lookahead, c->devices, c->fallback_devices, c->workers_per_device);
    printf("  pending %u+%u finished %u keys %u budget %llu reserve %llu attempts %u ageing %llu timeout %llu "
           "health %u/%llu grouped %d idle %llu\n",
           c->max_pending_jobs, c->critical_places, c->max_finished, c->max_keys, (unsigned long long)c->memory_budget,
           (unsigned long long)c->critical_reserve, c->max_attempts, (unsigned long long)c->ageing_ns,
           (unsigned long long)c->stage_timeout_ns, c->device_failure_limit, (unsigned long long)c->device_retry_ns,
           c->group_by_key, (unsigned long long)c->key_min_idle_ns);
    const world_faults *f = &s->faults;
    printf(
        "  slowest %u, faults: synth %u/%u device %u wrong %u/%u hang %u (stuck %u) key %u/%u again %u no_started %u\n",
        s->slowest, f->synth_bad, f->synth_oom, f->device_error, f->wrong, f->always_wrong, f->hang, f->stuck,
        f->key_fail, f->key_bigger, f->again, f->no_started);
    for (uint32_t i = 0; i < s->jobs; i++) {
        const world_job *j = &s->job[i];
        if (j->absent) continue;
        printf("  job %u at %llu: priority %d, %u x %llu bytes, key %llu of %llu, id %u input %u, deadline %llu, "
               "cancel +%llu +%llu\n",
               i, (unsigned long long)j->at, (int)j->req.priority, j->req.partitions,
               (unsigned long long)j->req.partition_bytes, (unsigned long long)j->req.key,
               (unsigned long long)j->req.key_bytes, j->req.client_id[0], j->req.input_digest[0],
               (unsigned long long)j->req.deadline_ns, (unsigned long long)j->cancel_at,
               (unsigned long long)j->cancel_again_at);
    }
    for (uint32_t i = 0; i < s->ops; i++)
        if (!s->op[i].absent)
            printf("  at %llu: event %d key %llu unit %llu\n", (unsigned long long)s->op[i].at, (int)s->op[i].kind,
                   (unsigned long long)s->op[i].key, (unsigned long long)s->op[i].unit);
}
