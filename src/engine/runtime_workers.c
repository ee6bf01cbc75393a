// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The threads that do the work: synthesis, devices, verification and freeing, keys.
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/runtime_internal.h"
#include "groth16/statement.h"

bool runtime_start_thread(pthread_t *out, void *(*main)(void *), void *arg) {
    // Signals belong to the threads of the program, not to ours.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool ok = pthread_create(out, NULL, main, arg) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

recorder_lane *recorder_lane_open_if(recorder *rec) { return rec == NULL ? NULL : recorder_lane_open(rec); }

// --- queues ---

void unit_worker_init(unit_worker *w, runtime *rt, uint32_t index) {
    w->rt = rt;
    w->index = index;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->some, NULL);
    w->ready = true;
}

bool unit_worker_start(unit_worker *w, void *(*main)(void *)) {
    if (!w->started) w->started = runtime_start_thread(&w->thread, main, w);
    return w->started;
}

bool unit_worker_give(unit_worker *w, runit *u, void *(*main)(void *)) {
    if (!unit_worker_start(w, main)) return false;
    pthread_mutex_lock(&w->lock);
    u->next = NULL;
    if (w->last != NULL)
        w->last->next = u;
    else
        w->first = u;
    w->last = u;
    pthread_cond_signal(&w->some);
    pthread_mutex_unlock(&w->lock);
    return true;
}

// NULL: stop.
static runit *unit_worker_take(unit_worker *w) {
    pthread_mutex_lock(&w->lock);
    while (w->first == NULL && !w->stop) pthread_cond_wait(&w->some, &w->lock);
    runit *u = w->first;
    if (u != NULL) {
        w->first = u->next;
        if (w->first == NULL) w->last = NULL;
    }
    pthread_mutex_unlock(&w->lock);
    return u;
}

void unit_worker_stop(unit_worker *w) {
    if (!w->ready) return;
    if (w->started) {
        pthread_mutex_lock(&w->lock);
        w->stop = true;
        pthread_cond_signal(&w->some);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
    }
    pthread_cond_destroy(&w->some);
    pthread_mutex_destroy(&w->lock);
    w->ready = w->started = false;
}

static engine_reason reason_of(cuzk_status s, engine_reason otherwise) {
    return s == CUZK_ERR_MEMORY ? ENGINE_OUT_OF_MEMORY : s == CUZK_ERR_CANCELLED ? ENGINE_CANCELLED : otherwise;
}

static bool unit_stopped(void *ctx) { return atomic_load_explicit(&((runit *)ctx)->stop, memory_order_relaxed); }

// --- synthesis ---

typedef struct synthesis_run {
    unit_worker *w;
    runit *u;
    pthread_mutex_t lock; // also of the worker's lane, which all threads of its pool record into
    uint32_t failed;      // lowest index of those that failed, UINT32_MAX: none
    cuzk_status status;
} synthesis_run;

// The public inputs of partition i as the statement has them, freed by the caller; NULL when memory is refused.
static fr *statement_of(const runit *u, uint32_t i) {
    const rjob *j = u->jobs[i];
    fr *inputs = mem_alloc(MEM_MISC, j->plan.public_inputs, sizeof *inputs);
    if (inputs != NULL) j->prov->ops->public_inputs(j->prov, inputs, j->request, u->partitions[i]);
    return inputs;
}

static cuzk_status check_inputs(const runit *u, uint32_t i, cuzk_error *err) {
    fr *inputs = statement_of(u, i);
    if (inputs == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for public inputs");
    const cuzk_status s = groth16_check_inputs(u->assignments[i], inputs, u->jobs[i]->plan.public_inputs, err);
    mem_free(inputs);
    return s;
}

// One partition of a run, and what is to be seen of it: the program of its circuit being loaded or made.
typedef struct synthesis_watch {
    synthesis_run *run;
    const rjob *job;
} synthesis_watch;

static void record_pce(const synthesis_watch *x, const char *stage, timeline_kind kind) {
    if (strncmp(stage, "pce", 3) != 0) return;
    char key[PROVIDER_KEY_NAME_MAX + 8];
    timeline_detail t = TIMELINE_DETAIL_NONE;
    snprintf(key, sizeof key, "key=%s", x->job->plan.key_name);
    t.text = key; // copied: the job may be gone when the line is written
    pthread_mutex_lock(&x->run->lock);
    recorder_event(x->run->w->lane, kind, x->job->name, &t);
    pthread_mutex_unlock(&x->run->lock);
}
static void pce_begin(void *ctx, const char *stage) { record_pce(ctx, stage, TL_PCE_START); }
static void pce_end(void *ctx, const char *stage) { record_pce(ctx, stage, TL_PCE_END); }
static bool synthesis_stopped(void *ctx) { return unit_stopped(((const synthesis_watch *)ctx)->run->u); }

static void synthesise_one(void *ctx, size_t i, unsigned worker) {
    synthesis_run *run = ctx;
    runit *u = run->u;
    const rjob *j = u->jobs[i];
    (void)worker;
    cuzk_error err = {0};
    synthesis_watch watch = {run, j};
    const observer obs = {
        .stage_begin = pce_begin, .stage_end = pce_end, .cancelled = synthesis_stopped, .ctx = &watch};
    cuzk_status s = unit_stopped(u) ? cuzk_fail(&err, CUZK_ERR_CANCELLED, "stopped")
                                    : j->prov->ops->synthesize(j->prov, &u->assignments[i], j->request,
                                                               u->partitions[i], &obs, &err);
    if (s == CUZK_OK) s = check_inputs(u, (uint32_t)i, &err);
    if (s == CUZK_OK) return;
    pthread_mutex_lock(&run->lock);
    if (i < run->failed) {
        run->failed = (uint32_t)i;
        run->status = s;
        u->error = err;
    }
    pthread_mutex_unlock(&run->lock);
}

void *synthesis_main(void *arg) {
    unit_worker *w = arg;
    w->lane = recorder_lane_open_if(w->rt->opt.rec);
    for (runit *u; (u = unit_worker_take(w)) != NULL;) {
        synthesis_run run = {.w = w, .u = u, .failed = UINT32_MAX};
        pthread_mutex_init(&run.lock, NULL);
        pool_run(w->pool, u->n, synthesise_one, &run);
        pthread_mutex_destroy(&run.lock);
        engine_event e = {.kind = ENGINE_EV_SYNTH_DONE, .unit = u->id, .partition = UINT32_MAX};
        if (run.failed != UINT32_MAX) {
            e.kind = ENGINE_EV_SYNTH_FAILED;
            e.partition = run.failed;
            e.reason = reason_of(run.status, ENGINE_BAD_INPUT);
        }
        runtime_post(w->rt, &u->synth, &e); // from here on the unit is not ours
    }
    recorder_lane_close(&w->lane);
    return NULL;
}

// --- devices ---

typedef struct device_watch {
    unit_worker *w;
    runit *u;
    uint32_t at; // partition of the unit that is being proven
} device_watch;

static timeline_detail stage_detail(const device_watch *d, const char *stage) {
    timeline_detail t = TIMELINE_DETAIL_NONE;
    t.gpu = (int32_t)d->u->device;
    t.worker = (int32_t)d->u->worker;
    t.partition = (int32_t)d->u->partitions[d->at];
    t.word_key = "stage";
    t.word = stage;
    return t;
}

static void stage_begin(void *ctx, const char *stage) {
    const device_watch *d = ctx;
    atomic_store_explicit(&d->u->doing, stage, memory_order_relaxed);
    const timeline_detail t = stage_detail(d, stage);
    recorder_event(d->w->lane, TL_STAGE_START, d->u->jobs[d->at]->name, &t);
}

static void stage_end(void *ctx, const char *stage) {
    const device_watch *d = ctx;
    const timeline_detail t = stage_detail(d, stage);
    recorder_event(d->w->lane, TL_STAGE_END, d->u->jobs[d->at]->name, &t);
}

static void progress(void *ctx, const char *stage, uint64_t done, uint64_t total) {
    device_watch *d = ctx;
    (void)total;
    if (strcmp(stage, "partition") == 0 && done < d->u->n) d->at = (uint32_t)done;
}

static bool device_stopped(void *ctx) { return unit_stopped(((device_watch *)ctx)->u); }

static void kernels_done(void *ctx) {
    const device_watch *d = ctx;
    runtime_post(d->w->rt, &d->u->kernels, &(engine_event){.kind = ENGINE_EV_DEVICE_KERNELS_DONE, .unit = d->u->id});
}

static engine_reason fault_reason(device_fault f) {
    switch (f) {
    case DEVICE_OUT_OF_MEMORY: return ENGINE_OUT_OF_MEMORY;
    case DEVICE_STOPPED: return ENGINE_CANCELLED;
    case DEVICE_MISMATCH: return ENGINE_BAD_INPUT;
    default: return ENGINE_DEVICE_ERROR;
    }
}

static cuzk_status make_blinding(groth16_blinding *out, const runtime *rt, const runit *u, cuzk_error *err) {
    for (uint32_t i = 0; i < u->n; i++) {
        if (rt->opt.test_blinding != NULL) {
            groth16_blinding_from_label(&out[i], rt->opt.test_blinding, u->partitions[i]);
            continue;
        }
        cuzk_status s = groth16_blinding_random(&out[i], err);
        if (s != CUZK_OK) return s;
    }
    return CUZK_OK;
}

// *host: it failed before the device had a part in it.
static cuzk_status prove_unit(unit_worker *w, runit *u, device_fault *fault, bool *host) {
    runtime *rt = w->rt;
    *fault = DEVICE_OUT_OF_MEMORY;
    *host = true;
    groth16_blinding *blinding = mem_calloc(MEM_WITNESS, u->n, sizeof *blinding);
    if (blinding == NULL) return cuzk_fail(&u->error, CUZK_ERR_MEMORY, "no memory for blinding factors");
    cuzk_status s = make_blinding(blinding, rt, u, &u->error);
    if (s != CUZK_OK) {
        *fault = DEVICE_BROKEN;
    } else {
        *host = false;
        device_watch d = {.w = w, .u = u};
        const observer obs = {stage_begin, stage_end, progress, device_stopped, &d};
        const device_run run = {.key = u->key->on[u->device],
                                .n = u->n,
                                .partitions = u->assignments,
                                .blinding = blinding,
                                .obs = &obs,
                                .kernels_done = kernels_done,
                                .ctx = &d};
        s = device_prove(rt->opt.devices[u->device], u->proofs, fault, &run, &u->error);
    }
    for (uint32_t i = 0; i < u->n; i++) groth16_blinding_wipe(&blinding[i]);
    mem_free(blinding);
    return s;
}

void *device_main(void *arg) {
    unit_worker *w = arg;
    w->lane = recorder_lane_open_if(w->rt->opt.rec);
    for (runit *u; (u = unit_worker_take(w)) != NULL;) {
        device_fault fault;
        bool host;
        runtime_post(w->rt, &u->started, &(engine_event){.kind = ENGINE_EV_DEVICE_STARTED, .unit = u->id});
        const cuzk_status s = prove_unit(w, u, &fault, &host);
        engine_event e = {.kind = ENGINE_EV_DEVICE_DONE, .unit = u->id, .partition = UINT32_MAX};
        if (s != CUZK_OK) {
            e.kind = ENGINE_EV_DEVICE_FAILED;
            e.reason = fault_reason(fault);
            e.host = host;
        }
        runtime_post(w->rt, &u->device_report, &e);
    }
    recorder_lane_close(&w->lane);
    return NULL;
}

// --- verification and freeing ---

static cuzk_status verify_one(const runit *u, uint32_t i, uint8_t bytes[GROTH16_PROOF_BYTES], cuzk_error *err) {
    fr *inputs = statement_of(u, i);
    if (inputs == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for public inputs");
    groth16_proof_encode(bytes, &u->proofs[i]);
    const cuzk_status s = groth16_verify_bytes(&u->key->pk->vk, bytes, inputs, u->jobs[i]->plan.public_inputs, err);
    mem_free(inputs);
    return s;
}

// Partitions that could not be judged for lack of memory are no wrong proofs; they come again like these, but nothing
// is held against the device.
static void verify_unit(runtime *rt, runit *u) {
    engine_event e = {.kind = ENGINE_EV_VERIFIED, .unit = u->id};
    u->wrong = u->unjudged = 0;
    for (uint32_t i = 0; i < u->n; i++) {
        uint8_t bytes[GROTH16_PROOF_BYTES];
        cuzk_error err = {0};
        const cuzk_status s = verify_one(u, i, bytes, &err);
        if (s != CUZK_OK) {
            if (u->wrong + u->unjudged == 0) u->error = err; // of the first
            if (s == CUZK_ERR_MEMORY)
                u->unjudged++;
            else
                u->wrong++;
            continue;
        }
        e.ok_mask[i / 64] |= UINT64_C(1) << (i % 64);
        // Read by others only once the job is done, which the engine hears of after this.
        memcpy(u->jobs[i]->proof + (size_t)u->partitions[i] * GROTH16_PROOF_BYTES, bytes, sizeof bytes);
    }
    e.host = u->wrong == 0 && u->unjudged > 0;
    runtime_post(rt, &u->verified, &e);
}

void runit_drop_buffers(runit *u) {
    for (uint32_t i = 0; u->assignments != NULL && i < u->n; i++) groth16_assignment_destroy(&u->assignments[i]);
}

void *verifier_main(void *arg) {
    unit_worker *w = arg;
    for (runit *u; (u = unit_worker_take(w)) != NULL;) {
        if (!u->free_only) {
            verify_unit(w->rt, u);
            continue;
        }
        runit_drop_buffers(u);
        runtime_post(w->rt, &u->freed, &(engine_event){.kind = ENGINE_EV_UNIT_FREED, .unit = u->id});
    }
    return NULL;
}

// --- keys ---

void keeper_give(runtime *rt, rkey *k, bool load) {
    pthread_mutex_lock(&rt->keeper_lock);
    k->load = load;
    k->next = NULL;
    if (rt->keeper_last != NULL)
        rt->keeper_last->next = k;
    else
        rt->keeper_first = k;
    rt->keeper_last = k;
    pthread_cond_signal(&rt->keeper_some);
    pthread_mutex_unlock(&rt->keeper_lock);
}

void rkey_unload(runtime *rt, rkey *k) {
    for (uint32_t d = 0; d < rt->opt.n_devices; d++) device_key_free(rt->opt.devices[d], &k->on[d]);
    groth16_pk_destroy(&k->pk);
}

typedef struct key_watch {
    runtime *rt;
    const rkey *key;
} key_watch;

static bool key_unwanted(void *ctx) {
    const key_watch *w = ctx;
    return !rkey_wanted(w->rt, w->key);
}

static void load_key(runtime *rt, rkey *k) {
    key_watch watch = {rt, k};
    const observer obs = {.cancelled = key_unwanted, .ctx = &watch};
    engine_event e = {.kind = ENGINE_EV_KEY_LOADED, .key = k->id, .ticket = k->ticket};
    k->error = (cuzk_error){0};
    pool *threads = NULL; // lives no longer than the load
    cuzk_status s = pool_create(&threads, books_key_threads(rt), &k->error);
    if (s == CUZK_OK) s = k->prov->ops->load_key(k->prov, &k->pk, k->id, threads, &obs, &k->error);
    pool_destroy(&threads);
    if (s == CUZK_OK) e.bytes = provider_key_bytes(k->pk);
    for (uint32_t d = 0; s == CUZK_OK && d < rt->opt.n_devices; d++) {
        uint64_t more = 0;
        s = observe_cancelled(&obs) ? cuzk_fail(&k->error, CUZK_ERR_CANCELLED, "loading of the key was cancelled")
                                    : device_key_load(&k->on[d], &more, rt->opt.devices[d], k->pk, &k->error);
        e.bytes += more;
    }
    if (s != CUZK_OK) {
        rkey_unload(rt, k);
        e.kind = ENGINE_EV_KEY_FAILED;
        e.reason = reason_of(s, ENGINE_KEY_FAILED);
    }
    runtime_post(rt, &k->report, &e);
}

void *keeper_main(void *arg) {
    runtime *rt = arg;
    for (;;) {
        pthread_mutex_lock(&rt->keeper_lock);
        while (rt->keeper_first == NULL && !rt->keeper_stop) pthread_cond_wait(&rt->keeper_some, &rt->keeper_lock);
        rkey *k = rt->keeper_first;
        if (k != NULL) {
            rt->keeper_first = k->next;
            if (rt->keeper_first == NULL) rt->keeper_last = NULL;
        }
        const bool stop = rt->keeper_stop;
        pthread_mutex_unlock(&rt->keeper_lock);
        if (stop || k == NULL) break;
        if (k->load) {
            load_key(rt, k);
            continue;
        }
        rkey_unload(rt, k);
        runtime_post(rt, &k->report, &(engine_event){.kind = ENGINE_EV_KEY_FREED, .key = k->id, .ticket = k->ticket});
    }
    return NULL;
}
