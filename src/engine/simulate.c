// SPDX-License-Identifier: MIT OR Apache-2.0
#include "engine/simulate.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/record.h"

// Something that takes time; it ends with an event for the core.
typedef enum task_kind { TASK_FIXED, TASK_SYNTH, TASK_GPU } task_kind;
typedef struct task {
    task_kind kind;
    double left; // nanoseconds of work at full speed
    uint64_t order;
    engine_event end;
} task;

typedef struct sim {
    const simulate_config *f;
    engine_core *core;
    uint64_t now, timer, order;
    task *tasks;
    size_t n_tasks, max_tasks;
    uint32_t submitted, ended;
    engine_request *requests; // by proof
    uint64_t next_arrival;
    uint32_t to_submit; // closed loop: places that became free
    simulate_result *out;
    bool (*line)(void *ctx, const char *text, size_t len);
    void *ctx;
    bool stop, overflow;
} sim;

simulate_config simulate_defaults(void) {
    const uint64_t second = UINT64_C(1000000000);
    return (simulate_config){
        .engine = {.policy = ENGINE_PARTITION,
                   .slot_size = 1,
                   .batch_size = 2,
                   .synthesis_concurrency = 1,
                   .lookahead = 1,
                   .devices = 1,
                   .workers_per_device = 1,
                   .max_keys = 4,
                   .max_finished = 16,
                   .memory_budget = UINT64_MAX,
                   .max_attempts = 1,
                   .ageing_ns = 600 * second,
                   .group_by_key = true,
                   .key_min_idle_ns = 300 * second},
        .kinds = 1,
        .proofs = 5,
        .concurrency = 2,
        .partitions = 10,
        .synth_contention = 1,
        .gpu_contention = 1,
    };
}

static void put_line(sim *s, uint64_t at, timeline_kind kind, const char *job, const timeline_detail *d) {
    char text[TIMELINE_LINE_MAX];
    if (s->line == NULL || s->stop) return;
    size_t n = timeline_line(text, at, kind, job, d);
    if (!s->line(s->ctx, text, n)) s->stop = true;
}

static void add(sim *s, task_kind kind, double work, engine_event end) {
    if (s->n_tasks == s->max_tasks) {
        s->overflow = true;
        return;
    }
    s->tasks[s->n_tasks++] = (task){kind, work, s->order++, end};
}

// Work of all partitions of a unit.
static double work_of(const sim *s, engine_unit_id unit, bool gpu) {
    const engine_part *p;
    uint32_t n = engine_core_unit(s->core, unit, &p);
    const simulate_config *f = s->f;
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (f->times == NULL) {
            sum += (double)(gpu ? f->proof.gpu_ns : f->proof.synth_ns) / f->partitions;
        } else {
            size_t at = (size_t)((p[i].token - 1) % f->n_times) * f->partitions + p[i].partition;
            sum += (double)(gpu ? f->times[at].gpu_ns : f->times[at].synth_ns);
        }
    }
    return round(sum);
}

static void record(sim *s, const engine_action *a) {
    engine_record r;
    engine_record_fill(&r, a);
    char name[32] = "";
    if (a->job != 0) (void)snprintf(name, sizeof name, "P%" PRIu64, a->token);
    put_line(s, a->at, a->event, name, &r.detail);
    if (a->event == TL_GPU_END) s->out->busy_ns += a->value;
}

static void ended(sim *s, bool done, engine_reason reason) {
    s->ended++;
    s->to_submit++;
    s->out->wall_ns = s->now;
    if (done) {
        s->out->done++;
    } else if (s->out->reason == ENGINE_NO_REASON) {
        s->out->reason = reason;
    }
}

static void carry_out(sim *s, const engine_action *a) {
    const simulate_config *f = s->f;
    engine_event e = {.unit = a->unit, .key = a->key, .ticket = a->ticket};
    switch (a->kind) {
    case ENGINE_ACT_LOAD_KEY:
        e.kind = ENGINE_EV_KEY_LOADED;
        e.bytes = a->needed;
        add(s, TASK_FIXED, (double)f->key_load_ns, e);
        break;
    case ENGINE_ACT_EVICT_KEY:
        e.kind = ENGINE_EV_KEY_FREED;
        add(s, TASK_FIXED, 0, e);
        break;
    case ENGINE_ACT_START_SYNTH:
        e.kind = ENGINE_EV_SYNTH_DONE;
        add(s, TASK_SYNTH, work_of(s, a->unit, false), e);
        break;
    case ENGINE_ACT_START_DEVICE:
        e.kind = ENGINE_EV_DEVICE_STARTED;
        add(s, TASK_FIXED, (double)f->pickup_ns, e);
        break;
    case ENGINE_ACT_VERIFY:
        e.kind = ENGINE_EV_VERIFIED;
        memset(e.ok_mask, 0xff, sizeof e.ok_mask);
        add(s, TASK_FIXED, (double)f->verify_ns, e);
        break;
    case ENGINE_ACT_FREE_UNIT:
        e.kind = ENGINE_EV_UNIT_FREED;
        add(s, TASK_FIXED, 0, e);
        break;
    case ENGINE_ACT_REPLY:
        if (a->state != ENGINE_DONE) s->out->failed++;
        ended(s, a->state == ENGINE_DONE, a->reason);
        break;
    case ENGINE_ACT_REFUSED:
        s->out->refused++;
        ended(s, false, a->reason);
        break;
    case ENGINE_ACT_RECORD: record(s, a); break;
    case ENGINE_ACT_SET_TIMER: s->timer = a->at; break;
    case ENGINE_ACT_ACCEPTED:
    case ENGINE_ACT_STOP_UNIT: // nothing is cancelled here
    case ENGINE_ACT_FORGET:
    case ENGINE_ACT_DRAINED: break;
    }
}

static void step(sim *s, engine_event e) {
    const engine_action *a;
    size_t n = engine_core_step(s->core, s->now, &e, &a);
    for (size_t i = 0; i < n; i++) carry_out(s, &a[i]);
    // The kernels begin: only now is it known, and it is no action.
    if (e.kind == ENGINE_EV_DEVICE_STARTED)
        add(s, TASK_GPU, work_of(s, e.unit, true), (engine_event){.kind = ENGINE_EV_DEVICE_DONE, .unit = e.unit});
}

static void submit(sim *s) {
    uint32_t i = s->submitted++;
    engine_request *r = &s->requests[i];
    *r = (engine_request){.key = 1 + i % s->f->kinds,
                          .key_bytes = s->f->key_bytes,
                          .partition_bytes = s->f->partition_bytes,
                          .partitions = s->f->partitions,
                          .priority = ENGINE_NORMAL,
                          .token = i + 1};
    step(s, (engine_event){.kind = ENGINE_EV_SUBMIT, .request = r});
}

static double slowness(const sim *s, task_kind kind, uint32_t syntheses) {
    if (syntheses < 2 || kind == TASK_FIXED) return 1;
    return kind == TASK_SYNTH ? s->f->synth_contention : s->f->gpu_contention;
}

// One event: whatever is due first. False when nothing will ever happen again.
static bool advance(sim *s) {
    uint32_t syntheses = 0;
    for (size_t i = 0; i < s->n_tasks; i++) syntheses += s->tasks[i].kind == TASK_SYNTH;
    uint64_t at = UINT64_MAX;
    size_t first = SIZE_MAX;
    for (size_t i = 0; i < s->n_tasks; i++) {
        const task *t = &s->tasks[i];
        uint64_t end = s->now + (uint64_t)llround(t->left * slowness(s, t->kind, syntheses));
        if (first == SIZE_MAX || end < at || (end == at && t->order < s->tasks[first].order)) {
            at = end;
            first = i;
        }
    }
    bool arrival = s->submitted < s->f->proofs && s->f->arrival_ns != 0 && s->next_arrival < at;
    if (arrival) at = s->next_arrival;
    bool timer = s->timer < at;
    if (timer) at = s->timer > s->now ? s->timer : s->now;
    if (at == UINT64_MAX) return false;
    for (size_t i = 0; i < s->n_tasks; i++) {
        task *t = &s->tasks[i];
        t->left -= (double)(at - s->now) / slowness(s, t->kind, syntheses);
        if (t->left < 0) t->left = 0;
    }
    s->now = at;
    if (timer) {
        s->timer = UINT64_MAX;
        step(s, (engine_event){.kind = ENGINE_EV_TIMER});
    } else if (arrival) {
        s->next_arrival += s->f->arrival_ns;
        submit(s);
    } else {
        task t = s->tasks[first];
        s->tasks[first] = s->tasks[--s->n_tasks];
        step(s, t.end);
    }
    return true;
}

static cuzk_status check(const simulate_config *f, cuzk_error *err) {
    if (f->proofs == 0 || f->partitions == 0 || f->kinds == 0 || (f->arrival_ns == 0 && f->concurrency == 0))
        return cuzk_fail(err, CUZK_ERR_USAGE, "simulate: no proofs, no partitions, no kinds or no concurrency");
    if (!(f->synth_contention >= 1) || !(f->gpu_contention >= 1) || f->synth_contention > 1000 ||
        f->gpu_contention > 1000)
        return cuzk_fail(err, CUZK_ERR_USAGE, "simulate: contention must be 1 to 1000");
    return CUZK_OK;
}

static cuzk_status run(sim *s, cuzk_error *err) {
    timeline_detail d = TIMELINE_DETAIL_NONE;
    d.text = "wall=1970-01-01T00:00:00.000Z version=simulate";
    put_line(s, 0, TL_EPOCH, "", &d);
    s->to_submit = s->f->arrival_ns == 0 ? s->f->concurrency : 0;
    // Each event brings some unit further; the bound only guards against a fault of the core.
    uint64_t bound = 1000 + (uint64_t)s->f->proofs * s->f->partitions * 64;
    for (uint64_t n = 0; n < bound && !s->stop; n++) {
        if (s->f->arrival_ns == 0 && s->to_submit > 0 && s->submitted < s->f->proofs) {
            s->to_submit--;
            submit(s);
            continue;
        }
        if (!advance(s)) break;
    }
    engine_core_stats(s->core, &s->out->stats);
    if (s->stop) return cuzk_fail(err, CUZK_ERR_IO, "simulate: the log could not be written");
    if (s->overflow || s->ended != s->f->proofs)
        return cuzk_fail(err, CUZK_ERR_INTERNAL, "simulate: %u of %u proofs ended", s->ended, s->f->proofs);
    return CUZK_OK;
}

cuzk_status simulate_run(simulate_result *out, const simulate_config *config,
                         bool (*line)(void *ctx, const char *text, size_t len), void *ctx, cuzk_error *err) {
    memset(out, 0, sizeof *out);
    cuzk_status st = check(config, err);
    if (st != CUZK_OK) return st;
    sim s = {.f = config, .out = out, .line = line, .ctx = ctx, .timer = UINT64_MAX};
    engine_config e = config->engine;
    e.max_partitions = config->partitions;
    if (e.max_keys < config->kinds) e.max_keys = config->kinds;
    uint32_t wanted =
        config->arrival_ns != 0 || config->concurrency > config->proofs ? config->proofs : config->concurrency;
    // A job keeps its place until its last unit is freed, a moment after the reply that brings the next one.
    if (e.max_pending_jobs < 2 * (uint64_t)wanted) e.max_pending_jobs = 2 * wanted;
    st = engine_core_create(&s.core, &e, err);
    if (st != CUZK_OK) return st;
    // Live units, and keys.
    s.max_tasks = 64 + config->kinds +
                  8 * ((size_t)e.synthesis_concurrency + e.lookahead + (size_t)e.devices * e.workers_per_device);
    s.tasks = mem_calloc(MEM_MISC, s.max_tasks, sizeof *s.tasks);
    s.requests = mem_calloc(MEM_MISC, config->proofs, sizeof *s.requests);
    if (s.tasks == NULL || s.requests == NULL)
        st = cuzk_fail(err, CUZK_ERR_MEMORY, "simulate: no memory for %u proofs", config->proofs);
    else
        st = run(&s, err);
    mem_free(s.tasks);
    mem_free(s.requests);
    engine_core_destroy(&s.core);
    return st;
}
