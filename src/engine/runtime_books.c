// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What is written down only so that it can be looked at: where each partition is, where a job's time went, what each
// worker does, how keys and devices fare. The core decides by its own books; nothing here decides anything.
//
// All of it happens on the engine thread, under `lock`. A job that is terminal is not written to any more.
#include "base/clock.h"
#include "engine/runtime_internal.h"

static void watch_start(stopwatch *w, uint64_t now) {
    w->running++;
    w->since_sum += now; // modulo 2^64, as its only use
}

static void watch_stop(stopwatch *w, uint64_t since, uint64_t now) {
    w->running--;
    w->since_sum -= since;
    w->total += now - since;
}

static void watch_freeze(stopwatch *w, uint64_t now) {
    w->total += w->running * now - w->since_sum;
    w->running = 0;
    w->since_sum = 0;
}

// --- workers ---

uint32_t books_workers(const runtime *rt) {
    return rt->opt.engine.synthesis_concurrency + rt->opt.n_devices * rt->opt.engine.workers_per_device;
}

bool books_fallback(const runtime *rt, uint32_t d) { return d >= rt->opt.n_devices - rt->opt.engine.fallback_devices; }

// What is asked for, but no more than synthesis and devices leave of all threads at this moment.
unsigned books_key_threads(runtime *rt) {
    const engine_config *c = &rt->opt.engine;
    const unsigned asked = rt->opt.key_threads == 0 ? 1 : rt->opt.key_threads;
    if (rt->opt.threads == 0) return asked;
    unsigned busy = 0;
    pthread_mutex_lock(&rt->lock);
    for (uint32_t i = 0; i < c->synthesis_concurrency; i++)
        if (rt->bench[i].unit != 0) busy += pool_threads(rt->synthesis[i].pool);
    for (uint32_t d = 0; d < rt->opt.n_devices; d++)
        if (rt->seen[d].in_kernels != 0) busy += device_threads(rt->opt.devices[d]);
    pthread_mutex_unlock(&rt->lock);
    const unsigned left = rt->opt.threads > busy ? rt->opt.threads - busy : 1;
    return asked < left ? asked : left;
}

static void take_place(runtime *rt, runit *u, uint32_t place, uint64_t now) {
    u->place = place;
    rt->bench[place].unit = u->id;
    runtime_worker *v = &rt->bench[place].view;
    v->job = u->jobs[0]->token;
    v->partition = u->partitions[0];
    v->count = u->n;
    v->since_ns = now;
}

// Only its own unit clears a worker: a CRITICAL one may have taken it over.
static void leave_place(runtime *rt, const runit *u) {
    if (rt->bench[u->place].unit != u->id) return;
    rt->bench[u->place].unit = 0;
    rt->bench[u->place].view.job = 0;
    rt->bench[u->place].view.count = 0;
}

// --- units ---

void books_unit_starts(runtime *rt, runit *u, uint32_t worker) {
    const uint64_t now = clock_now_ns();
    pthread_mutex_lock(&rt->lock);
    u->since = now;
    u->stage = RUNIT_SYNTHESIS;
    take_place(rt, u, worker, now);
    u->key->users++;
    u->key->last_used_ns = now;
    for (uint32_t i = 0; i < u->n; i++) {
        rjob *j = u->jobs[i];
        if (j->terminal) continue;
        rpart *p = &j->parts[u->partitions[i]];
        *p = (rpart){.stage = RUNTIME_SYNTHESIS, .attempts = p->attempts + 1, .since = now};
        if (!runit_first_of_job(u, i)) continue;
        watch_start(&j->synthesis, now);
        if (j->started_ns == 0) j->started_ns = now;
        j->state = ENGINE_RUNNING;
    }
    pthread_mutex_unlock(&rt->lock);
}

void books_device_starts(runtime *rt, runit *u) {
    const uint64_t now = clock_now_ns();
    pthread_mutex_lock(&rt->lock);
    u->since = now;
    u->stage = RUNIT_DEVICE;
    take_place(rt, u, rt->opt.engine.synthesis_concurrency + u->device * rt->opt.engine.workers_per_device + u->worker,
               now);
    rt->seen[u->device].in_kernels = u->id;
    rt->seen[u->device].since = now;
    for (uint32_t i = 0; i < u->n; i++) {
        rjob *j = u->jobs[i];
        if (j->terminal) continue;
        j->parts[u->partitions[i]].stage = RUNTIME_DEVICE;
        j->parts[u->partitions[i]].since = now;
        if (runit_first_of_job(u, i)) watch_start(&j->device, now);
    }
    pthread_mutex_unlock(&rt->lock);
}

void books_unit_given_up(runtime *rt, const runit *u) {
    pthread_mutex_lock(&rt->lock);
    for (uint32_t i = 0; i < u->n; i++) {
        rpart *p = &u->jobs[i]->parts[u->partitions[i]];
        if (!u->jobs[i]->terminal && p->stage < RUNTIME_PROVEN) p->stage = RUNTIME_WAITING;
    }
    pthread_mutex_unlock(&rt->lock);
}

void books_unit_gone(runtime *rt, const runit *u) {
    pthread_mutex_lock(&rt->lock);
    u->key->users--;
    pthread_mutex_unlock(&rt->lock);
}

static void synthesis_ends(runit *u, bool done, uint64_t now) {
    for (uint32_t i = 0; i < u->n; i++) {
        rjob *j = u->jobs[i];
        if (j->terminal) continue;
        rpart *p = &j->parts[u->partitions[i]];
        p->synthesis_ns = now - u->since;
        p->stage = done ? RUNTIME_CHANNEL : RUNTIME_WAITING;
        if (runit_first_of_job(u, i)) watch_stop(&j->synthesis, u->since, now);
    }
    u->since = now;
    u->stage = RUNIT_CHANNEL;
}

static void kernels_end(runtime *rt, const runit *u, uint64_t now) {
    rdevice *d = &rt->seen[u->device];
    if (d->in_kernels != u->id) return;
    d->in_kernels = 0;
    d->busy_ns += now - d->since;
}

static void device_ends(runtime *rt, runit *u, const engine_event *e, uint64_t now) {
    const bool done = e->kind == ENGINE_EV_DEVICE_DONE;
    rdevice *d = &rt->seen[u->device];
    kernels_end(rt, u, now);
    d->runs++;
    // Not the device's fault: what the host lacks, a key of another circuit, being stopped.
    d->failures += !done && !e->host && e->reason != ENGINE_BAD_INPUT && e->reason != ENGINE_CANCELLED;
    for (uint32_t i = 0; i < u->n; i++) {
        rjob *j = u->jobs[i];
        if (j->terminal) continue;
        rpart *p = &j->parts[u->partitions[i]];
        p->device_ns = now - u->since;
        p->stage = done ? RUNTIME_VERIFY : RUNTIME_WAITING;
        if (!runit_first_of_job(u, i)) continue;
        watch_stop(&j->device, u->since, now);
        if (done) watch_start(&j->verify, now);
    }
    u->since = now;
    u->stage = RUNIT_VERIFY;
}

static void verification_ends(runtime *rt, runit *u, const engine_event *e, uint64_t now) {
    for (uint32_t i = 0; i < u->n; i++) {
        const bool ok = (e->ok_mask[i / 64] >> (i % 64) & 1) != 0;
        rjob *j = u->jobs[i];
        if (j->terminal) continue;
        j->parts[u->partitions[i]].stage = ok ? RUNTIME_PROVEN : RUNTIME_WAITING;
        j->parts_proven += ok;
        if (ok && books_fallback(rt, u->device)) {
            j->parts[u->partitions[i]].fell_back = true;
            j->fell_back++;
        }
        if (runit_first_of_job(u, i)) watch_stop(&j->verify, u->since, now);
    }
    rt->seen[u->device].failures += u->wrong > 0;
    rt->stats.wrong_proofs += u->wrong;
}

void books_report(runtime *rt, runit *u, const engine_event *e) {
    const uint64_t now = clock_now_ns();
    pthread_mutex_lock(&rt->lock);
    switch (e->kind) {
    case ENGINE_EV_SYNTH_DONE:
    case ENGINE_EV_SYNTH_FAILED:
        leave_place(rt, u);
        synthesis_ends(u, e->kind == ENGINE_EV_SYNTH_DONE, now);
        break;
    case ENGINE_EV_DEVICE_STARTED:
        if (rt->seen[u->device].in_kernels == u->id) rt->seen[u->device].since = now;
        break;
    case ENGINE_EV_DEVICE_KERNELS_DONE: kernels_end(rt, u, now); break;
    case ENGINE_EV_DEVICE_DONE:
    case ENGINE_EV_DEVICE_FAILED:
        leave_place(rt, u);
        device_ends(rt, u, e, now);
        break;
    case ENGINE_EV_VERIFIED: verification_ends(rt, u, e, now); break;
    default: break;
    }
    pthread_mutex_unlock(&rt->lock);
}

// --- keys ---

static void each_waiting(runtime *rt, uint64_t key, bool starts, uint64_t now) {
    for (size_t i = 0; i < rt->jobs.cap; i++) {
        rjob *j = rt->jobs.slots[i].value;
        if (rt->jobs.slots[i].id == 0 || j->terminal || j->id == 0 || j->plan.key != key) continue;
        if (starts)
            watch_start(&j->key_load, now);
        else if (j->key_load.running > 0)
            watch_stop(&j->key_load, j->key_load.since_sum, now);
    }
}

void books_key_action(runtime *rt, rkey *k, const engine_action *a) {
    const uint64_t now = clock_now_ns();
    pthread_mutex_lock(&rt->lock);
    if (a->kind == ENGINE_ACT_LOAD_KEY) {
        k->loading = true;
        k->bytes = a->needed;
        k->since = now;
        each_waiting(rt, k->id, true, now);
    } else {
        k->loaded = false;
        k->freeing = true;
    }
    pthread_mutex_unlock(&rt->lock);
}

void books_key_report(runtime *rt, rkey *k, const engine_event *e) {
    const uint64_t now = clock_now_ns();
    pthread_mutex_lock(&rt->lock);
    if (e->kind == ENGINE_EV_KEY_FREED) {
        k->freeing = false;
        k->bytes = 0;
    } else {
        k->loading = false;
        k->loaded = e->kind == ENGINE_EV_KEY_LOADED;
        k->load_ns = now - k->since;
        k->bytes = !k->loaded ? 0 : e->bytes != 0 ? e->bytes : k->bytes;
        k->loads += k->loaded;
        k->failure = k->error; // of status CUZK_OK when it was loaded
        each_waiting(rt, k->id, false, now);
    }
    pthread_cond_broadcast(&rt->key_changed);
    pthread_mutex_unlock(&rt->lock);
}

// --- jobs ---

void books_job_accepted(runtime *rt, rjob *j) {
    const uint64_t now = clock_now_ns();
    const rkey *k = idmap_get(&rt->keys, j->plan.key);
    pthread_mutex_lock(&rt->lock);
    j->accepted_ns = now;
    if (k != NULL && k->loading) watch_start(&j->key_load, now);
    pthread_mutex_unlock(&rt->lock);
}

void books_job_ends(rjob *j) {
    const uint64_t now = j->finished_ns;
    for (uint32_t i = 0; i < j->plan.partitions; i++) {
        rpart *p = &j->parts[i];
        if (p->stage == RUNTIME_SYNTHESIS) p->synthesis_ns = now - p->since;
        if (p->stage == RUNTIME_DEVICE) p->device_ns = now - p->since;
        if (p->stage != RUNTIME_PROVEN) p->stage = RUNTIME_DROPPED;
    }
    watch_freeze(&j->synthesis, now);
    watch_freeze(&j->device, now);
    watch_freeze(&j->verify, now);
    watch_freeze(&j->key_load, now);
}
