// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The virtual world: event queue, durations and faults, and its account of jobs, units, keys and devices.
#include "engine/world.h"
#include "engine/world_queue.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_UNITS = 256, MAX_STEPS = 60000, MAX_DEVICES = 4, MAX_WORKERS = 8 };

typedef enum stage { IDLE, SYNTH, READY, ON_DEVICE, RAN, VERIFYING, VERIFIED, FREEING } stage;

typedef struct m_job {
    bool submitted, accepted, forgotten, cancelled, terminal, zombie;
    engine_job_id id;
    engine_job_state state;
    uint64_t since;
    uint32_t replies;
    bool verified[WORLD_PARTS], in_unit[WORLD_PARTS];
    uint16_t fails[WORLD_PARTS], tries[WORLD_PARTS];
    bool fell[WORLD_PARTS], lacked[WORLD_PARTS]; // only for a fallback device; its last failure was a device's memory
    uint32_t units, synth;                       // live units; those not yet in the channel
} m_job;

typedef struct m_unit {
    engine_unit_id id;
    stage st;
    uint32_t n, job[UINT8_MAX + 1];
    uint8_t part[UINT8_MAX + 1];
    bool channel, hung, stopped, kernels, critical, fell, stuck;
    uint32_t worker, device, dev_worker;
    uint64_t key, ticket, bytes; // ticket: of the load of its key
    uint64_t hash;
    uint64_t good[4]; // proofs that are right
} m_unit;

typedef struct m_key {
    bool present, loaded, leaving;
    uint64_t ticket, bytes, idle_since;
} m_key;

typedef struct world {
    const scenario *s;
    engine_core *core;
    uint64_t now, timer;
    world_queue queue;
    m_job job[WORLD_JOBS];
    uint32_t by_id[WORLD_JOBS + 2];
    m_unit unit[MAX_UNITS];
    uint32_t units; // highest used + 1
    m_key key[WORLD_KEYS + 1];
    uint64_t cold;             // a key whose load was asked for by the unit that starts next
    const engine_event *event; // what the core is stepping on
    bool unhealthy[MAX_DEVICES];
    uint64_t unhealthy_since[MAX_DEVICES];
    uint64_t memory;
    bool draining, drained;
    uint32_t live, critical_live, finished;
    world_tally *tally;
    char *text;
    size_t size;
    bool bad;
} world;

static uint64_t mix(uint64_t z) {
    z += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static bool chance(uint64_t h, unsigned tag, uint8_t of256) { return (mix(h + tag * 1000003) & 255) < of256; }

static void fail(world *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void fail(world *w, const char *fmt, ...) {
    if (w->bad) return;
    w->bad = true;
    char what[200];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    (void)snprintf(w->text, w->size, "at %llu: %s", (unsigned long long)w->now, what);
}

static void push(world *w, uint64_t at, engine_event e) {
    if (!world_queue_push(&w->queue, at, e)) fail(w, "too many events are pending");
}

static uint64_t duration(const world *w, uint64_t h, unsigned tag) { return 1 + mix(h + tag * 7919) % w->s->slowest; }

// A report, and now and then the same report again, soon or much later.
static void report(world *w, uint64_t delay, engine_event e, uint64_t h) {
    push(w, w->now + delay, e);
    if (chance(h, 90 + e.kind, w->s->faults.again)) push(w, w->now + delay + mix(h + e.kind) % (6 * w->s->slowest), e);
}

static m_unit *find_unit(world *w, engine_unit_id id) {
    for (uint32_t i = 0; i < w->units; i++)
        if (w->unit[i].st != IDLE && w->unit[i].id == id) return &w->unit[i];
    return NULL;
}

static uint32_t job_of(world *w, engine_job_id id) {
    if (id == 0 || id > WORLD_JOBS || w->by_id[id] == UINT32_MAX) {
        fail(w, "an action names job %llu, which was never accepted", (unsigned long long)id);
        return 0;
    }
    return w->by_id[id];
}

static unsigned rank(const world *w, uint32_t j) {
    unsigned p = (unsigned)w->s->job[j].req.priority;
    uint64_t age = w->s->cfg.ageing_ns;
    if (p >= ENGINE_HIGH || age == 0) return p;
    uint64_t up = (w->now - w->job[j].since) / age;
    return p + up >= ENGINE_HIGH ? ENGINE_HIGH : p + (unsigned)up;
}
// Not behind younger jobs whose key is there.
static bool in_front(const world *w, uint32_t j) {
    const engine_config *c = &w->s->cfg;
    uint64_t key = w->s->job[j].req.key;
    return !c->group_by_key || c->ageing_ns == 0 || w->now - w->job[j].since >= c->ageing_ns ||
           (w->key[key].present && !w->key[key].leaving && key != w->cold);
}
static bool job_before(const world *w, uint32_t a, uint32_t b) {
    unsigned x = rank(w, a), y = rank(w, b);
    if (x != y) return x > y;
    bool fa = in_front(w, a), fb = in_front(w, b);
    return fa != fb ? fa : w->job[a].id < w->job[b].id;
}

static bool has_waiting(const world *w, uint32_t j) {
    const m_job *m = &w->job[j];
    if (!m->accepted || m->terminal) return false;
    if (w->s->cfg.policy == ENGINE_SLOTTED && m->synth > 0) return false;
    for (uint32_t p = 0; p < w->s->job[j].req.partitions; p++)
        if (!m->verified[p] && !m->in_unit[p]) return true;
    return false;
}

static bool all_terminal(const world *w, const m_unit *u) {
    for (uint32_t i = 0; i < u->n; i++)
        if (!w->job[u->job[i]].terminal) return false;
    return true;
}

static bool is_fallback(const world *w, uint32_t d) { return d >= w->s->cfg.devices - w->s->cfg.fallback_devices; }

static bool bad_devices(const world *w, bool fallback, bool all) {
    uint32_t bad = 0, n = 0;
    for (uint32_t d = 0; d < w->s->cfg.devices; d++) {
        if (is_fallback(w, d) != fallback) continue;
        n++;
        bad += w->unhealthy[d];
    }
    return all ? bad == n : bad > 0;
}

// A fallback device is for those that the others cannot prove, and for all while none of the others works.
static bool may_run(const world *w, const m_unit *u, uint32_t d) {
    return is_fallback(w, d) ? u->fell || bad_devices(w, false, true) : !u->fell;
}

// --- actions ---

static void on_accepted(world *w, const engine_action *a) {
    uint32_t j = (uint32_t)a->token - 1;
    const engine_request *r = &w->s->job[j].req;
    if (a->joined) {
        uint32_t o = job_of(w, a->job);
        w->tally->joined++;
        if (memcmp(w->s->job[o].req.input_digest, r->input_digest, 32) != 0)
            fail(w, "a submit joined job %llu, which has another input", (unsigned long long)a->job);
        if (w->job[o].forgotten) fail(w, "a submit joined a forgotten job");
        return;
    }
    if (a->job == 0 || a->job > WORLD_JOBS || w->by_id[a->job] != UINT32_MAX) {
        fail(w, "job id %llu is used twice", (unsigned long long)a->job);
        return;
    }
    w->by_id[a->job] = j;
    w->job[j].accepted = true;
    w->job[j].id = a->job;
    w->job[j].since = w->now;
    w->tally->jobs++;
    w->live++;
    w->critical_live += r->priority == ENGINE_CRITICAL;
    if (w->draining) fail(w, "a job was accepted while draining");
    if (w->live > w->s->cfg.max_pending_jobs + w->s->cfg.critical_places ||
        w->live - w->critical_live > w->s->cfg.max_pending_jobs)
        fail(w, "%u jobs have a place, %u are allowed", w->live, w->s->cfg.max_pending_jobs);
}

static void on_refused(world *w, const engine_action *a) {
    w->tally->reasons[a->reason]++;
    if (a->reason == ENGINE_TOO_BIG && a->needed <= a->available) fail(w, "refused as too big, but it fits");
    if (a->reason == ENGINE_QUEUE_FULL && w->live - w->critical_live < w->s->cfg.max_pending_jobs &&
        w->live < w->s->cfg.max_pending_jobs + w->s->cfg.critical_places)
        fail(w, "refused as full with %u jobs", w->live);
    if (a->reason == ENGINE_DRAINING && !w->draining) fail(w, "refused as draining, but it is not");
}

static void reserve(world *w, uint64_t bytes) {
    w->memory += bytes;
    if (w->memory > w->s->cfg.memory_budget)
        fail(w, "%llu bytes are in use, the budget is %llu", (unsigned long long)w->memory,
             (unsigned long long)w->s->cfg.memory_budget);
}

static void on_load_key(world *w, const engine_action *a) {
    m_key *k = &w->key[a->key];
    if (k->present) {
        fail(w, "key %llu is loaded twice", (unsigned long long)a->key);
        return;
    }
    *k = (m_key){.present = true, .ticket = a->ticket, .bytes = a->needed};
    reserve(w, a->needed);
    w->tally->loads++;
    w->cold = w->event->kind == ENGINE_EV_PRELOAD && w->event->key == a->key ? 0 : a->key;
    uint64_t h = mix(w->s->seed ^ a->ticket * 77 ^ a->key << 32);
    engine_event e = {.kind = ENGINE_EV_KEY_LOADED, .key = a->key, .ticket = a->ticket, .bytes = a->needed};
    if (chance(h, 1, w->s->faults.key_fail)) {
        e.kind = ENGINE_EV_KEY_FAILED;
        e.reason = ENGINE_KEY_FAILED;
    } else if (chance(h, 2, w->s->faults.key_bigger)) {
        e.bytes = a->needed + 1 + mix(h) % (a->needed + 1);
    } else if (chance(h, 3, 64)) {
        e.bytes = a->needed / 2 + 1;
    }
    uint64_t d = duration(w, h, 4);
    if (w->s->cfg.stage_timeout_ns != 0 && chance(h, 5, w->s->faults.hang)) d += 3 * w->s->cfg.stage_timeout_ns;
    report(w, d, e, h);
}

// A unit that is not IDLE uses that load of the key.
static bool key_used(const world *w, uint64_t key) {
    for (uint32_t i = 0; i < w->units; i++)
        if (w->unit[i].st != IDLE && w->unit[i].key == key && w->unit[i].ticket == w->key[key].ticket) return true;
    return false;
}

static bool just_idle(const world *w, uint64_t key) {
    return w->key[key].idle_since + w->s->cfg.key_min_idle_ns > w->now;
}

// A key that was just in use goes for a job that is not CRITICAL: could it not have been spared? Where the world knows
// what the job needs (a partition), and that it needs no place for its key.
static void check_spared(world *w, uint64_t key) {
    const engine_config *c = &w->s->cfg;
    bool other = (w->event->kind == ENGINE_EV_EVICT || w->event->kind == ENGINE_EV_KEY_LOADED) && w->event->key == key;
    if (other || !just_idle(w, key)) return;
    w->tally->fresh_evictions++;
    if (c->policy != ENGINE_PARTITION) return;
    uint32_t first = UINT32_MAX;
    for (uint32_t j = 0; j < w->s->jobs; j++)
        if (has_waiting(w, j) && (first == UINT32_MAX || job_before(w, j, first))) first = j;
    if (first == UINT32_MAX || w->s->job[first].req.priority == ENGINE_CRITICAL) return;
    const engine_request *r = &w->s->job[first].req;
    uint64_t limit = c->memory_budget - c->critical_reserve;
    uint64_t want = w->memory + r->partition_bytes + (w->key[r->key].present ? 0 : r->key_bytes), others = 0;
    if (want <= limit) return; // for its place
    uint32_t places = 0;
    for (uint32_t i = 0; i < w->units; i++) {
        const m_unit *u = &w->unit[i];
        if (u->st == IDLE) continue;
        places += all_terminal(w, u);
        if (!(u->stopped && u->st == ON_DEVICE)) others += u->bytes;
    }
    for (uint64_t k = 1; k <= WORLD_KEYS; k++) {
        const m_key *x = &w->key[k];
        places += x->present;
        bool idle = x->loaded && !key_used(w, k) && !just_idle(w, k) && k != r->key;
        if (x->leaving || idle) others += x->bytes;
    }
    if (places < c->max_keys && others >= want - limit)
        fail(w, "key %llu goes %llu after its last use, though others could make room", (unsigned long long)key,
             (unsigned long long)(w->now - w->key[key].idle_since));
}

static void on_evict_key(world *w, const engine_action *a) {
    m_key *k = &w->key[a->key];
    check_spared(w, a->key);
    if (!k->present || !k->loaded || k->leaving)
        fail(w, "key %llu is evicted but not there", (unsigned long long)a->key);
    for (uint32_t i = 0; i < w->units; i++)
        if (w->unit[i].st != IDLE && w->unit[i].key == a->key && !all_terminal(w, &w->unit[i]))
            fail(w, "key %llu is evicted while unit %llu needs it", (unsigned long long)a->key,
                 (unsigned long long)w->unit[i].id);
    k->leaving = true;
    w->tally->evictions++;
    uint64_t h = mix(w->s->seed ^ a->ticket * 99 ^ a->key << 32);
    report(w, duration(w, h, 1), (engine_event){.kind = ENGINE_EV_KEY_FREED, .key = a->key, .ticket = a->ticket}, h);
}

static void on_start_synth(world *w, const engine_action *a) {
    m_unit *u = NULL;
    for (uint32_t i = 0; i < MAX_UNITS && u == NULL; i++)
        if (w->unit[i].st == IDLE) {
            u = &w->unit[i];
            if (i >= w->units) w->units = i + 1;
        }
    const engine_part *parts;
    uint32_t n = engine_core_unit(w->core, a->unit, &parts);
    if (u == NULL || n == 0 || n > UINT8_MAX || find_unit(w, a->unit) != NULL) {
        fail(w, "unit %llu of %u partitions starts", (unsigned long long)a->unit, n);
        return;
    }
    *u = (m_unit){.id = a->unit, .st = SYNTH, .n = n, .worker = a->worker};
    uint32_t first = job_of(w, parts[0].job);
    const engine_request *r = &w->s->job[first].req;
    u->key = r->key;
    u->ticket = w->key[r->key].ticket;
    u->critical = r->priority == ENGINE_CRITICAL;
    u->hash = w->s->seed;
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        uint32_t j = job_of(w, parts[i].job), p = parts[i].partition;
        m_job *m = &w->job[j];
        if (m->terminal) fail(w, "a partition of job %llu starts, which has ended", (unsigned long long)m->id);
        if (p >= w->s->job[j].req.partitions || m->in_unit[p] || m->verified[p])
            fail(w, "partition %u of job %llu starts, which is not waiting", p, (unsigned long long)m->id);
        if (w->bad) return;
        if (w->s->job[j].req.key != r->key) fail(w, "a unit mixes keys");
        m->in_unit[p] = true;
        u->fell |= m->fell[p];
        if (m->fell[p] && n != 1) fail(w, "a partition for a fallback device starts among others");
        u->hash = mix(u->hash ^ (uint64_t)j << 40 ^ (uint64_t)p << 16 ^ m->tries[p]++);
        u->job[i] = j;
        u->part[i] = (uint8_t)p;
        u->bytes += w->s->job[j].req.partition_bytes;
        if (i == 0 || u->job[i - 1] != j) {
            m->units++;
            m->synth++;
        }
    }
    reserve(w, u->bytes);
    uint32_t running = 0;
    for (uint32_t i = 0; i < w->units; i++) {
        const m_unit *o = &w->unit[i];
        running += o->st == SYNTH;
        if (o != u && o->st == SYNTH && o->worker == a->worker) fail(w, "synthesis worker %u has two units", a->worker);
    }
    if (running > w->s->cfg.synthesis_concurrency)
        fail(w, "%u units in synthesis, %u allowed", running, w->s->cfg.synthesis_concurrency);
    for (uint32_t j = 0; j < w->s->jobs; j++) {
        if (j == first || !has_waiting(w, j)) continue;
        w->tally->grouped += w->job[j].id < w->job[first].id && rank(w, j) == rank(w, first) && !in_front(w, j);
        bool critical = w->s->job[j].req.priority == ENGINE_CRITICAL && !u->critical;
        if (critical || (w->s->cfg.policy != ENGINE_BATCH && job_before(w, j, first)))
            fail(w, "job %llu starts before job %llu", (unsigned long long)parts[0].job,
                 (unsigned long long)w->job[j].id);
    }
    w->cold = 0;
    uint64_t h = u->hash, d = duration(w, h, 1);
    engine_event e = {.kind = ENGINE_EV_SYNTH_DONE, .unit = a->unit};
    if (chance(h, 2, w->s->faults.synth_bad)) {
        e.kind = ENGINE_EV_SYNTH_FAILED;
        e.reason = ENGINE_BAD_INPUT;
        e.partition = chance(h, 3, 128) ? (uint32_t)(h % n) : UINT32_MAX;
    } else if (chance(h, 4, w->s->faults.synth_oom)) {
        e.kind = ENGINE_EV_SYNTH_FAILED;
        e.reason = ENGINE_OUT_OF_MEMORY;
        e.partition = UINT32_MAX;
    }
    u->hung = w->s->cfg.stage_timeout_ns != 0 && chance(h, 5, w->s->faults.hang);
    if (!u->hung) report(w, d, e, h);
}

static void on_start_device(world *w, const engine_action *a) {
    m_unit *u = find_unit(w, a->unit);
    if (u == NULL || u->st != READY) {
        fail(w, "unit %llu goes to a device, but is not synthesised", (unsigned long long)a->unit);
        return;
    }
    if (!w->key[u->key].loaded || w->key[u->key].leaving) fail(w, "a device run without its key");
    if (a->device >= w->s->cfg.devices || a->worker >= w->s->cfg.workers_per_device) fail(w, "no such device worker");
    if (w->bad) return;
    uint32_t others = 0;
    for (uint32_t i = 0; i < w->units; i++) {
        const m_unit *o = &w->unit[i];
        if (o == u) continue;
        if (o->st == ON_DEVICE && o->device == a->device) {
            others++;
            if (o->kernels) fail(w, "two units in the kernel section of device %u", a->device);
            if (o->dev_worker == a->worker) fail(w, "worker %u of device %u has two units", a->worker, a->device);
        }
        if (o->st != READY || !w->key[o->key].loaded || w->key[o->key].leaving || !may_run(w, o, a->device)) continue;
        bool order = w->s->cfg.policy != ENGINE_BATCH && o->channel && o->job[0] != u->job[0];
        if ((o->critical && !u->critical) || (order && job_before(w, o->job[0], u->job[0])))
            fail(w, "unit %llu goes to a device before unit %llu", (unsigned long long)u->id,
                 (unsigned long long)o->id);
    }
    if (!may_run(w, u, a->device)) fail(w, "unit %llu runs on device %u", (unsigned long long)u->id, a->device);
    if (w->unhealthy[a->device] && (others > 0 || w->s->cfg.device_retry_ns == 0 ||
                                    w->now < w->unhealthy_since[a->device] + w->s->cfg.device_retry_ns))
        fail(w, "unhealthy device %u gets a unit", a->device);
    u->st = ON_DEVICE;
    u->kernels = true;
    u->device = a->device;
    u->dev_worker = a->worker;
    uint64_t h = u->hash, d = duration(w, h, 11);
    u->hung = w->s->cfg.stage_timeout_ns != 0 && chance(h, 12, w->s->faults.hang);
    if (!chance(h, 13, w->s->faults.no_started))
        report(w, mix(h) % d, (engine_event){.kind = ENGINE_EV_DEVICE_STARTED, .unit = u->id}, h);
    if (u->hung) return;
    if (chance(h, 14, w->s->faults.device_error)) {
        engine_reason r = chance(h, 15, 128) ? ENGINE_DEVICE_ERROR : ENGINE_OUT_OF_MEMORY;
        report(w, d, (engine_event){.kind = ENGINE_EV_DEVICE_FAILED, .unit = u->id, .reason = r}, h);
        return;
    }
    if (chance(h, 16, 160)) report(w, d, (engine_event){.kind = ENGINE_EV_DEVICE_KERNELS_DONE, .unit = u->id}, h);
    report(w, d + mix(h) % d, (engine_event){.kind = ENGINE_EV_DEVICE_DONE, .unit = u->id}, h);
}

static void on_stop_unit(world *w, const engine_action *a) {
    m_unit *u = find_unit(w, a->unit);
    if (u == NULL || (u->st != SYNTH && u->st != ON_DEVICE) || u->stopped) {
        fail(w, "unit %llu is stopped, but does not run", (unsigned long long)a->unit);
        return;
    }
    if (!all_terminal(w, u)) fail(w, "unit %llu is stopped, but is wanted", (unsigned long long)a->unit);
    u->stopped = true;
    if (!u->hung) return; // ends as it would have
    bool synth = u->st == SYNTH, done = chance(u->hash, 21, 64);
    uint64_t late = 0;
    if (!synth && chance(u->hash, 23, w->s->faults.stuck)) {
        if (chance(u->hash, 24, 128)) {
            u->stuck = true; // never
            w->tally->stuck++;
            return;
        }
        late = 3 * w->s->cfg.stage_timeout_ns;
    }
    engine_event e = {.unit = u->id, .reason = ENGINE_CANCELLED, .partition = UINT32_MAX};
    e.kind = synth ? (done ? ENGINE_EV_SYNTH_DONE : ENGINE_EV_SYNTH_FAILED)
                   : (done ? ENGINE_EV_DEVICE_DONE : ENGINE_EV_DEVICE_FAILED);
    report(w, late + duration(w, u->hash, 22), e, u->hash);
}

static void on_verify(world *w, const engine_action *a) {
    m_unit *u = find_unit(w, a->unit);
    if (u == NULL || u->st != RAN) {
        fail(w, "unit %llu is verified, but has no proofs", (unsigned long long)a->unit);
        return;
    }
    u->st = VERIFYING;
    engine_event e = {.kind = ENGINE_EV_VERIFIED, .unit = u->id};
    for (uint32_t i = 0; i < u->n; i++) {
        uint64_t h = mix(u->hash + i), fate = mix(w->s->seed ^ (uint64_t)u->job[i] << 20 ^ u->part[i]);
        if (chance(h, 31, w->s->faults.wrong) || chance(fate, 32, w->s->faults.always_wrong)) continue;
        e.ok_mask[i / 64] |= UINT64_C(1) << (i % 64);
    }
    memcpy(u->good, e.ok_mask, sizeof u->good);
    e.host = chance(u->hash, 34, w->s->faults.synth_oom); // some could not be judged
    report(w, duration(w, u->hash, 33), e, u->hash);
}

static void on_free_unit(world *w, const engine_action *a) {
    m_unit *u = find_unit(w, a->unit);
    if (u == NULL || (u->st != READY && u->st != RAN && u->st != VERIFIED)) {
        fail(w, "unit %llu is freed in stage %d", (unsigned long long)a->unit, u == NULL ? -1 : (int)u->st);
        return;
    }
    for (uint32_t i = 0; i < u->n; i++) {
        w->job[u->job[i]].in_unit[u->part[i]] = false;
        if (!u->channel && (i == 0 || u->job[i] != u->job[i - 1])) w->job[u->job[i]].synth--;
    }
    u->channel = true; // counted out of synthesis
    u->st = FREEING;
    report(w, duration(w, u->hash, 41), (engine_event){.kind = ENGINE_EV_UNIT_FREED, .unit = u->id}, u->hash);
}

static void retire(world *w, uint32_t j) {
    m_job *m = &w->job[j];
    if (!m->terminal || m->units > 0 || m->zombie) return;
    m->zombie = true;
    w->live--;
    w->critical_live -= w->s->job[j].req.priority == ENGINE_CRITICAL;
    w->finished++;
}

static void on_reply(world *w, const engine_action *a) {
    uint32_t j = job_of(w, a->job);
    m_job *m = &w->job[j];
    const engine_request *r = &w->s->job[j].req;
    if (w->bad) return;
    if (++m->replies != 1) fail(w, "job %llu is answered twice", (unsigned long long)a->job);
    if (a->token != r->token) fail(w, "job %llu is answered with another's token", (unsigned long long)a->job);
    m->terminal = true;
    m->state = a->state;
    w->tally->reasons[a->reason]++;
    if (a->state == ENGINE_DONE) {
        w->tally->done++;
        for (uint32_t p = 0; p < r->partitions; p++)
            if (!m->verified[p])
                fail(w, "job %llu is done, but partition %u was not verified", (unsigned long long)a->job, p);
    } else if (a->state == ENGINE_STOPPED) {
        w->tally->stopped++;
        if (!m->cancelled) fail(w, "job %llu is stopped, but nobody cancelled it", (unsigned long long)a->job);
    } else if (a->state == ENGINE_FAILED) {
        w->tally->failed++;
        if (a->reason == ENGINE_NO_REASON) fail(w, "job %llu fails without a reason", (unsigned long long)a->job);
        if (a->reason == ENGINE_OUT_OF_MEMORY && a->partition < r->partitions && m->lacked[a->partition] &&
            !m->fell[a->partition] && w->s->cfg.fallback_devices > 0 && !bad_devices(w, true, false))
            fail(w, "job %llu fails for device memory, and no fallback device was tried", (unsigned long long)a->job);
        if ((a->reason == ENGINE_WRONG_PROOF || a->reason == ENGINE_DEVICE_ERROR) &&
            (a->partition >= r->partitions || m->fails[a->partition] != w->s->cfg.max_attempts))
            fail(w, "job %llu fails for partition %u after %u of %u attempts", (unsigned long long)a->job, a->partition,
                 a->partition < r->partitions ? m->fails[a->partition] : 0, w->s->cfg.max_attempts);
    } else {
        fail(w, "job %llu is answered in state %d", (unsigned long long)a->job, (int)a->state);
    }
    retire(w, j);
}

static void on_record(world *w, const engine_action *a) {
    if (a->event == TL_CHAN_SEND) {
        m_unit *u = find_unit(w, a->unit);
        if (u == NULL || u->st != READY) {
            fail(w, "unit %llu is sent, but is not ready", (unsigned long long)a->unit);
            return;
        }
        if (!u->channel)
            for (uint32_t i = 0; i < u->n; i++)
                if (i == 0 || u->job[i] != u->job[i - 1]) w->job[u->job[i]].synth--;
        u->channel = true;
    } else if (a->event == TL_RETRY) {
        m_job *m = &w->job[job_of(w, a->job)];
        w->tally->retries++;
        if (m->fails[a->partition] < w->s->cfg.max_attempts) return;
        w->tally->fallbacks++;
        if (!m->lacked[a->partition] || m->fell[a->partition] || w->s->cfg.fallback_devices == 0)
            fail(w, "job %llu: partition %u is tried again after %u failures", (unsigned long long)a->job, a->partition,
                 m->fails[a->partition]);
        m->fell[a->partition] = true;
        m->fails[a->partition] = 0;
    } else if (a->event == TL_MEM_WAIT_START) {
        w->tally->mem_waits++;
        w->tally->critical_waits += w->s->job[job_of(w, a->job)].req.priority == ENGINE_CRITICAL;
    } else if (a->event == TL_DEVICE) {
        w->tally->unhealthy += a->value == 0;
        w->unhealthy[a->device] = a->value == 0;
        w->unhealthy_since[a->device] = w->now;
    }
}

static void carry_out(world *w, const engine_action *a) {
    switch (a->kind) {
    case ENGINE_ACT_ACCEPTED: on_accepted(w, a); break;
    case ENGINE_ACT_REFUSED: on_refused(w, a); break;
    case ENGINE_ACT_LOAD_KEY: on_load_key(w, a); break;
    case ENGINE_ACT_EVICT_KEY: on_evict_key(w, a); break;
    case ENGINE_ACT_START_SYNTH: on_start_synth(w, a); break;
    case ENGINE_ACT_START_DEVICE: on_start_device(w, a); break;
    case ENGINE_ACT_STOP_UNIT: on_stop_unit(w, a); break;
    case ENGINE_ACT_VERIFY: on_verify(w, a); break;
    case ENGINE_ACT_FREE_UNIT: on_free_unit(w, a); break;
    case ENGINE_ACT_REPLY: on_reply(w, a); break;
    case ENGINE_ACT_FORGET: {
        uint32_t j = job_of(w, a->job);
        if (!w->job[j].zombie || w->job[j].forgotten) fail(w, "job %llu is forgotten", (unsigned long long)a->job);
        w->job[j].forgotten = true;
        w->finished--;
        break;
    }
    case ENGINE_ACT_RECORD: on_record(w, a); break;
    case ENGINE_ACT_SET_TIMER:
        w->timer = a->at;
        if (a->at <= w->now) fail(w, "the timer is set to the past");
        break;
    case ENGINE_ACT_DRAINED:
        if (!w->draining || w->drained || w->live > 0) fail(w, "drained with %u jobs", w->live);
        w->drained = true;
        break;
    }
}

// What a report changes in the world, just before the core hears of it. A second copy of a report changes nothing.
static void before_step(world *w, const engine_event *e) {
    m_unit *u = find_unit(w, e->unit);
    switch (e->kind) {
    case ENGINE_EV_CANCEL: {
        uint32_t j = w->by_id[e->job];
        w->job[j].cancelled = true;
        break;
    }
    case ENGINE_EV_DRAIN: w->draining = true; break;
    case ENGINE_EV_SYNTH_DONE:
        if (u != NULL && u->st == SYNTH) u->st = READY;
        break;
    case ENGINE_EV_SYNTH_FAILED:
        if (u == NULL || u->st != SYNTH) break;
        u->st = READY;
        for (uint32_t i = 0; i < u->n && e->reason == ENGINE_OUT_OF_MEMORY; i++) {
            w->job[u->job[i]].fails[u->part[i]]++;
            w->job[u->job[i]].lacked[u->part[i]] = false; // the host's
        }
        break;
    case ENGINE_EV_DEVICE_KERNELS_DONE:
        if (u != NULL && u->st == ON_DEVICE) u->kernels = false;
        break;
    case ENGINE_EV_DEVICE_DONE:
        if (u != NULL && u->st == ON_DEVICE) u->st = RAN;
        break;
    case ENGINE_EV_DEVICE_FAILED:
        if (u == NULL || u->st != ON_DEVICE) break;
        u->st = RAN;
        for (uint32_t i = 0; i < u->n; i++) {
            w->job[u->job[i]].fails[u->part[i]]++;
            w->job[u->job[i]].lacked[u->part[i]] = e->reason == ENGINE_OUT_OF_MEMORY && !is_fallback(w, u->device);
        }
        break;
    case ENGINE_EV_VERIFIED:
        if (u == NULL || u->st != VERIFYING) break;
        u->st = VERIFIED;
        for (uint32_t i = 0; i < u->n; i++) {
            if ((u->good[i / 64] >> (i % 64) & 1) != 0)
                w->job[u->job[i]].verified[u->part[i]] = true;
            else
                w->job[u->job[i]].fails[u->part[i]]++;
            w->job[u->job[i]].lacked[u->part[i]] = false;
        }
        break;
    case ENGINE_EV_KEY_LOADED: {
        m_key *k = &w->key[e->key];
        if (!k->present || k->ticket != e->ticket || k->loaded) break;
        k->loaded = true;
        k->idle_since = w->now;
        if (e->bytes <= k->bytes || e->bytes - k->bytes <= w->s->cfg.memory_budget - w->memory) {
            w->memory = w->memory - k->bytes + e->bytes;
            k->bytes = e->bytes;
        }
        break;
    }
    case ENGINE_EV_PRELOAD:
        if (w->key[e->key].present && !w->key[e->key].leaving && !w->draining) w->key[e->key].idle_since = w->now;
        break;
    case ENGINE_EV_KEY_FAILED:
    case ENGINE_EV_KEY_FREED: {
        m_key *k = &w->key[e->key];
        if (!k->present || k->ticket != e->ticket || (e->kind == ENGINE_EV_KEY_FREED) != k->leaving) break;
        if (e->kind == ENGINE_EV_KEY_FAILED && k->loaded) break;
        w->memory -= k->bytes;
        *k = (m_key){0};
        break;
    }
    case ENGINE_EV_UNIT_FREED:
        if (u == NULL || u->st != FREEING) break;
        w->memory -= u->bytes;
        u->st = IDLE;
        if (u->ticket == w->key[u->key].ticket && !key_used(w, u->key)) w->key[u->key].idle_since = w->now;
        for (uint32_t i = 0; i < u->n; i++)
            if (i == 0 || u->job[i] != u->job[i - 1]) {
                w->job[u->job[i]].units--;
                retire(w, u->job[i]);
            }
        break;
    default: break;
    }
}

static void after_step(world *w) {
    char what[160];
    if (w->bad) return;
    if (!engine_core_check(w->core, what, sizeof what)) fail(w, "engine_core_check: %s", what);
    engine_stats st;
    engine_core_stats(w->core, &st);
    if (st.memory_reserved != w->memory)
        fail(w, "%llu bytes are reserved, %llu in use", (unsigned long long)st.memory_reserved,
             (unsigned long long)w->memory);
    if (st.in_channel > w->s->cfg.lookahead) { // CRITICAL ones do not count
        uint32_t normal = 0;
        for (uint32_t i = 0; i < w->units; i++)
            normal += w->unit[i].st == READY && w->unit[i].channel && !w->unit[i].critical;
        if (normal > w->s->cfg.lookahead) fail(w, "%u units in the channel", normal);
    }
    w->tally->blocked += st.blocked > 0;
    if (w->finished > w->s->cfg.max_finished) fail(w, "%u finished jobs are kept", w->finished);
    uint64_t open = 0;
    for (uint32_t j = 0; j < w->s->jobs; j++) open += w->job[j].accepted && !w->job[j].terminal;
    if (open != st.queued + st.running)
        fail(w, "%llu jobs are open, the core counts %llu", (unsigned long long)open,
             (unsigned long long)(st.queued + st.running));
}

static void step(world *w, const engine_event *e) {
    const engine_action *a;
    w->event = e;
    w->cold = 0;
    before_step(w, e);
    size_t n = engine_core_step(w->core, w->now, e, &a);
    for (size_t i = 0; i < n && !w->bad; i++) carry_out(w, &a[i]);
    after_step(w);
    w->tally->steps++;
}

static void at_the_end(world *w) {
    engine_stats st;
    engine_core_stats(w->core, &st);
    w->tally->timeouts += st.stage_timeouts;
    w->tally->discarded += st.discarded;
    if (w->bad) return;
    for (uint32_t j = 0; j < w->s->jobs; j++)
        if (w->job[j].accepted && w->job[j].replies != 1)
            fail(w, "job %llu is never answered", (unsigned long long)w->job[j].id);
    uint64_t stuck = 0, held = 0;
    for (uint32_t i = 0; i < w->units; i++)
        if (w->unit[i].st != IDLE && w->unit[i].stuck) {
            stuck++;
            held += w->unit[i].bytes;
        }
    if (st.units_live != stuck) fail(w, "%llu units are left", (unsigned long long)st.units_live);
    if (st.queued != 0 || st.running != 0) fail(w, "jobs are left");
    if (st.memory_reserved != st.memory_keys + held) fail(w, "memory is left");
    if (w->draining && !w->drained && stuck == 0) fail(w, "never drained");
}

bool world_run(const scenario *s, world_tally *tally, char *text, size_t size) {
    static world space; // large; tests are single-threaded
    world *w = &space;
    w->s = s;
    w->now = 1000;
    w->units = w->memory = 0;
    world_queue_clear(&w->queue);
    w->timer = UINT64_MAX;
    memset(w->job, 0, sizeof w->job);
    memset(w->by_id, 0xff, sizeof w->by_id);
    memset(w->key, 0, sizeof w->key);
    memset(w->unhealthy, 0, sizeof w->unhealthy);
    w->draining = w->drained = w->bad = false;
    w->live = w->critical_live = w->finished = 0;
    w->tally = tally;
    w->text = text;
    w->size = size;
    for (uint32_t i = 0; i < MAX_UNITS; i++) w->unit[i].st = IDLE;
    cuzk_error err;
    if (engine_core_create(&w->core, &s->cfg, &err) != CUZK_OK) {
        (void)snprintf(text, size, "no core: %s", err.text);
        return false;
    }
    for (uint32_t j = 0; j < s->jobs; j++)
        if (!s->job[j].absent)
            push(w, 1000 + s->job[j].at, (engine_event){.kind = ENGINE_EV_SUBMIT, .request = &s->job[j].req});
    for (uint32_t i = 0; i < s->ops; i++) {
        const world_op *o = &s->op[i];
        if (!o->absent) push(w, 1000 + o->at, (engine_event){.kind = o->kind, .key = o->key, .unit = o->unit});
    }
    for (uint64_t steps = 0; !w->bad; steps++) {
        if (steps == MAX_STEPS) {
            fail(w, "does not come to an end");
            break;
        }
        if (w->timer != UINT64_MAX && w->timer < world_queue_next(&w->queue)) {
            if (w->timer > w->now) w->now = w->timer;
            w->timer = UINT64_MAX;
            step(w, &(engine_event){.kind = ENGINE_EV_TIMER});
            continue;
        }
        if (w->queue.n == 0) break;
        world_item it = world_queue_pop(&w->queue);
        if (it.at > w->now) w->now = it.at;
        if (it.e.kind == ENGINE_EV_CANCEL && (it.e.job = w->job[it.e.token].id) == 0) continue;
        step(w, &it.e);
        if (it.e.kind == ENGINE_EV_SUBMIT) { // cancels name the job, so they come after it
            uint32_t j = (uint32_t)it.e.request->token - 1;
            engine_event c = {.kind = ENGINE_EV_CANCEL, .token = j};
            if (s->job[j].cancel_at != 0) push(w, w->now + s->job[j].cancel_at, c);
            if (s->job[j].cancel_again_at != 0) push(w, w->now + s->job[j].cancel_again_at, c);
        }
    }
    at_the_end(w);
    engine_core_destroy(&w->core);
    return !w->bad;
}
