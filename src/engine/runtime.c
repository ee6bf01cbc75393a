// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Making and ending a runtime, the queue of messages, and the calls of other threads.
#include "engine/runtime.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/mem.h"
#include "engine/runtime_internal.h"

runtime_threads runtime_split_threads(unsigned total, unsigned synthesis) {
    const unsigned there = pool_available_threads();
    runtime_threads t = {.total = total == 0 || total > there ? there : total};
    t.synthesis = synthesis == 0 ? 1 : synthesis > t.total ? t.total : synthesis;
    t.device = t.total - t.synthesis + 1;
    return t;
}

engine_config runtime_default_config(void) {
    const uint64_t second = UINT64_C(1000000000);
    return (engine_config){
        .policy = ENGINE_PARTITION,
        .slot_size = 1,
        .batch_size = 1,
        .synthesis_concurrency = 1,
        .lookahead = 1,
        .devices = 1,
        .workers_per_device = 2,
        .max_pending_jobs = 64,
        .critical_places = 4,
        .max_partitions = 64,
        .max_keys = 8,
        .max_finished = 64,
        .memory_budget = UINT64_MAX,
        .max_attempts = 3,
        .ageing_ns = 600 * second,
        .group_by_key = true,
        .key_min_idle_ns = 300 * second,
        .device_failure_limit = 5,
        .device_retry_ns = 60 * second,
    };
}

void runtime_warn(runtime *rt, const char *fmt, ...) {
    if (rt->opt.warn == NULL) return;
    cuzk_error text = {0}; // cleans control characters too
    char raw[CUZK_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(raw, sizeof raw, fmt, args);
    va_end(args);
    (void)cuzk_fail(&text, CUZK_ERR_INTERNAL, "%s", raw);
    rt->opt.warn(rt->opt.warn_ctx, text.text);
}

bool runtime_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t at) {
    if (at == UINT64_MAX) return pthread_cond_wait(cond, lock) == 0;
    const struct timespec t = {(time_t)(at / 1000000000), (long)(at % 1000000000)};
    return pthread_cond_timedwait(cond, lock, &t) == 0;
}

// --- messages ---

void runtime_post(runtime *rt, msg *m, const engine_event *event) {
    m->next = NULL;
    m->event = *event;
    m->call = NULL;
    pthread_mutex_lock(&rt->box_lock);
    if (rt->box_last != NULL)
        rt->box_last->next = m;
    else
        rt->box_first = m;
    rt->box_last = m;
    pthread_cond_signal(&rt->box_some);
    pthread_mutex_unlock(&rt->box_lock);
}

void runtime_run_call(runtime *rt, runtime_call *call, void (*fn)(runtime *, runtime_call *), void *arg) {
    *call = (runtime_call){.fn = fn, .arg = arg};
    call->node.call = call;
    pthread_mutex_lock(&rt->box_lock);
    if (rt->box_last != NULL)
        rt->box_last->next = &call->node;
    else
        rt->box_first = &call->node;
    rt->box_last = &call->node;
    pthread_cond_signal(&rt->box_some);
    pthread_mutex_unlock(&rt->box_lock);
    pthread_mutex_lock(&rt->lock);
    while (!call->done) pthread_cond_wait(&rt->call_done, &rt->lock);
    pthread_mutex_unlock(&rt->lock);
}

// --- making ---

static cuzk_status check_options(const runtime_options *o, cuzk_error *err) {
    if (o->n_devices == 0 || o->devices == NULL) return cuzk_fail(err, CUZK_ERR_USAGE, "engine: no device");
    if (o->n_providers == 0 || o->providers == NULL)
        return cuzk_fail(err, CUZK_ERR_USAGE, "engine: no kind of proof to make");
    for (uint32_t i = 0; i < o->n_providers; i++)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(o->providers[i]->kind, o->providers[k]->kind) == 0)
                return cuzk_fail(err, CUZK_ERR_USAGE, "engine: two providers of %s", o->providers[i]->kind);
    return CUZK_OK;
}

// Synthesis workers have a thread each at least, so there are no more of them than threads. What the devices have was
// decided when they were opened.
static void fit_threads(runtime *rt) {
    runtime_options *o = &rt->opt;
    if (o->threads == 0) return;
    if (o->synthesis_threads == 0 || o->synthesis_threads > o->threads) o->synthesis_threads = o->threads;
    if (o->key_threads > o->threads) o->key_threads = o->threads;
    if (o->engine.synthesis_concurrency > o->synthesis_threads) {
        runtime_warn(rt, "synthesis_concurrency is %" PRIu32 ", but synthesis has only %u threads: so many it is",
                     o->engine.synthesis_concurrency, o->synthesis_threads);
        o->engine.synthesis_concurrency = o->synthesis_threads;
    }
    unsigned on_devices = 0;
    for (uint32_t i = 0; i + o->engine.fallback_devices < o->n_devices; i++)
        on_devices += device_threads(o->devices[i]);
    if (o->synthesis_threads + on_devices > o->threads + 1)
        runtime_warn(rt, "%u threads of synthesis and %u of devices are more than the %u there are",
                     o->synthesis_threads, on_devices, o->threads);
}

static void init_locks(runtime *rt) {
    pthread_condattr_t monotonic; // waits name moments of the clock the core lives by
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&rt->box_lock, NULL);
    pthread_cond_init(&rt->box_some, &monotonic);
    pthread_mutex_init(&rt->lock, NULL);
    pthread_cond_init(&rt->call_done, &monotonic);
    pthread_cond_init(&rt->drain_done, &monotonic);
    pthread_cond_init(&rt->key_changed, &monotonic);
    pthread_mutex_init(&rt->keeper_lock, NULL);
    pthread_cond_init(&rt->keeper_some, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static cuzk_status init_workers(runtime *rt, cuzk_error *err) {
    const engine_config *c = &rt->opt.engine;
    const uint32_t on_devices = c->devices * c->workers_per_device;
    unsigned each = rt->opt.synthesis_threads / c->synthesis_concurrency;
    if (each == 0) each = 1;
    rt->synthesis = mem_calloc(MEM_MISC, c->synthesis_concurrency, sizeof *rt->synthesis);
    rt->device = mem_calloc(MEM_MISC, on_devices, sizeof *rt->device);
    rt->max_deferred = 2 * (c->synthesis_concurrency + on_devices) + 16;
    rt->deferred = mem_calloc(MEM_MISC, rt->max_deferred, sizeof *rt->deferred);
    rt->bench = mem_calloc(MEM_MISC, books_workers(rt), sizeof *rt->bench);
    rt->seen = mem_calloc(MEM_MISC, c->devices, sizeof *rt->seen);
    if (rt->synthesis == NULL || rt->device == NULL || rt->deferred == NULL || rt->bench == NULL || rt->seen == NULL)
        return cuzk_fail(err, CUZK_ERR_MEMORY, "engine: no memory for %" PRIu32 " workers",
                         c->synthesis_concurrency + on_devices);
    for (uint32_t i = 0; i < c->synthesis_concurrency; i++) {
        rt->bench[i].view = (runtime_worker){.device = UINT32_MAX, .worker = i};
        unit_worker_init(&rt->synthesis[i], rt, i);
        cuzk_status s = pool_create(&rt->synthesis[i].pool, each, err);
        if (s != CUZK_OK) return s;
    }
    for (uint32_t i = 0; i < on_devices; i++) {
        rt->bench[c->synthesis_concurrency + i].view = (runtime_worker){
            .on_device = true, .device = i / c->workers_per_device, .worker = i % c->workers_per_device};
        unit_worker_init(&rt->device[i], rt, i);
    }
    unit_worker_init(&rt->verifier, rt, 0);
    return CUZK_OK;
}

static cuzk_status start_threads(runtime *rt, cuzk_error *err) {
    if (!unit_worker_start(&rt->verifier, verifier_main) || !runtime_start_thread(&rt->keeper_thread, keeper_main, rt))
        return cuzk_fail(err, CUZK_ERR_MEMORY, "engine: the system refuses threads");
    rt->keeper_started = true;
    if (!runtime_start_thread(&rt->engine_thread, runtime_engine_main, rt))
        return cuzk_fail(err, CUZK_ERR_MEMORY, "engine: the system refuses threads");
    rt->engine_started = true;
    return CUZK_OK;
}

cuzk_status runtime_create(runtime **out, const runtime_options *options, cuzk_error *err) {
    *out = NULL;
    cuzk_status s = check_options(options, err);
    if (s != CUZK_OK) return s;
    runtime *rt = mem_calloc(MEM_MISC, 1, sizeof *rt);
    if (rt == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "engine: no memory");
    rt->opt = *options;
    rt->opt.engine.devices = options->n_devices;
    fit_threads(rt);
    if (rt->opt.keep_memory_ns == 0) rt->opt.keep_memory_ns = UINT64_C(60000000000);
    rt->timer = rt->trim_at = UINT64_MAX;
    rt->next_token = 1;
    init_locks(rt);
    mem_keep_begin();
    s = engine_core_create(&rt->core, &rt->opt.engine, err);
    if (s == CUZK_OK) s = random_bytes(rt->name_seed, sizeof rt->name_seed, err);
    if (s == CUZK_OK) s = init_workers(rt, err);
    if (s == CUZK_OK) s = start_threads(rt, err);
    if (s != CUZK_OK) {
        runtime_destroy(&rt);
        return s;
    }
    *out = rt;
    return CUZK_OK;
}

// --- ending ---

static void drain_call(runtime *rt, runtime_call *call) {
    (void)call;
    runtime_step(rt, &(engine_event){.kind = ENGINE_EV_DRAIN});
    runtime_leave_keys(rt); // after it: what was accepted until now may still need one
}

static void cancel_all_call(runtime *rt, runtime_call *call) {
    (void)call;
    drain_call(rt, call);
    // Finishing a job may forget others, so the table changes under us: start over until all are terminal. A terminal
    // job's cancel does nothing.
    for (bool again = true; again;) {
        again = false;
        pthread_mutex_lock(&rt->lock);
        engine_job_id id = 0;
        for (size_t i = 0; i < rt->jobs.cap && id == 0; i++) {
            const rjob *j = rt->jobs.slots[i].value;
            if (rt->jobs.slots[i].id != 0 && !j->terminal) id = j->id;
        }
        pthread_mutex_unlock(&rt->lock);
        if (id == 0) break;
        runtime_step(rt, &(engine_event){.kind = ENGINE_EV_CANCEL, .job = id});
        again = true;
    }
}

static bool wait_drained(runtime *rt, uint64_t timeout_ns) {
    const uint64_t now = clock_now_ns(), until = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
    pthread_mutex_lock(&rt->lock);
    while (!rt->drained)
        if (!runtime_wait_until(&rt->drain_done, &rt->lock, until)) break;
    const bool drained = rt->drained;
    pthread_mutex_unlock(&rt->lock);
    return drained;
}

bool runtime_drain(runtime *rt, uint64_t timeout_ns) {
    runtime_call call;
    runtime_run_call(rt, &call, drain_call, NULL);
    return wait_drained(rt, timeout_ns);
}

static void stop_engine(runtime *rt) {
    pthread_mutex_lock(&rt->box_lock);
    rt->stop = true;
    pthread_cond_signal(&rt->box_some);
    pthread_mutex_unlock(&rt->box_lock);
    pthread_join(rt->engine_thread, NULL);
}

static void stop_keeper(runtime *rt) {
    pthread_mutex_lock(&rt->keeper_lock);
    rt->keeper_stop = true;
    pthread_cond_signal(&rt->keeper_some);
    pthread_mutex_unlock(&rt->keeper_lock);
    pthread_join(rt->keeper_thread, NULL);
}

static void free_tables(runtime *rt) {
    for (size_t i = 0; i < rt->keys.cap; i++) {
        rkey *k = rt->keys.slots[i].value;
        if (k == NULL) continue;
        rkey_unload(rt, k);
        mem_free(k->on);
        mem_free(k);
    }
    idmap_free(&rt->keys);
    for (size_t i = 0; i < rt->jobs.cap; i++)
        if (rt->jobs.slots[i].id != 0) rjob_unref(rt, rt->jobs.slots[i].value);
    idmap_free(&rt->jobs);
    idmap_free(&rt->units); // empty: the core has drained
}

void runtime_destroy(runtime **prt) {
    while (!runtime_try_destroy(prt, UINT64_MAX)) {
    }
}

bool runtime_try_destroy(runtime **prt, uint64_t timeout_ns) {
    runtime *rt = *prt;
    if (rt == NULL) return true;
    const engine_config *c = &rt->opt.engine;
    if (rt->engine_started) {
        runtime_call call;
        runtime_run_call(rt, &call, cancel_all_call, NULL);
        if (!wait_drained(rt, timeout_ns)) return false;
        stop_engine(rt);
    }
    *prt = NULL;
    if (rt->keeper_started) stop_keeper(rt);
    for (uint32_t i = 0; rt->synthesis != NULL && i < c->synthesis_concurrency; i++) {
        unit_worker_stop(&rt->synthesis[i]);
        pool_destroy(&rt->synthesis[i].pool);
    }
    for (uint32_t i = 0; rt->device != NULL && i < c->devices * c->workers_per_device; i++)
        unit_worker_stop(&rt->device[i]);
    unit_worker_stop(&rt->verifier);
    free_tables(rt);
    engine_core_destroy(&rt->core);
    mem_keep_end();
    mem_free(rt->synthesis);
    mem_free(rt->device);
    mem_free(rt->deferred);
    mem_free(rt->bench);
    mem_free(rt->seen);
    pthread_cond_destroy(&rt->box_some);
    pthread_mutex_destroy(&rt->box_lock);
    pthread_cond_destroy(&rt->call_done);
    pthread_cond_destroy(&rt->drain_done);
    pthread_cond_destroy(&rt->key_changed);
    pthread_mutex_destroy(&rt->lock);
    pthread_cond_destroy(&rt->keeper_some);
    pthread_mutex_destroy(&rt->keeper_lock);
    mem_free(rt);
    return true;
}
