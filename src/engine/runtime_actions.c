// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The engine thread: messages become events of the core, actions of the core become work.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "engine/runtime_internal.h"

// A report that is made as soon as the actions at hand are carried out, of what the host lacks. The list has room for
// one a worker and more; were it full, the stage would run into its watchdog.
static void defer(runtime *rt, engine_event_kind kind, engine_unit_id unit, engine_reason reason) {
    if (rt->n_deferred == rt->max_deferred) return;
    rt->deferred[rt->n_deferred++] =
        (engine_event){.kind = kind, .unit = unit, .reason = reason, .partition = UINT32_MAX, .host = true};
}

// --- units ---

static void unit_destroy(runtime *rt, runit *u) {
    for (uint32_t i = 0; i < u->n; i++)
        if (u->jobs != NULL && u->jobs[i] != NULL) {
            rjob_unit_gone(u->jobs[i]);
            rjob_unref(rt, u->jobs[i]);
        }
    runit_drop_buffers(u);
    mem_free(u->jobs);
    mem_free(u->partitions);
    mem_free(u->assignments);
    mem_free(u->proofs);
    mem_free(u);
}

static runit *unit_make(runtime *rt, engine_unit_id id, uint64_t key) {
    const engine_part *parts = NULL;
    const uint32_t n = engine_core_unit(rt->core, id, &parts);
    runit *u = mem_calloc(MEM_MISC, 1, sizeof *u);
    if (u == NULL) return NULL;
    u->id = id;
    u->n = n;
    u->key = idmap_get(&rt->keys, key);
    u->jobs = mem_calloc(MEM_MISC, n, sizeof *u->jobs);
    u->partitions = mem_calloc(MEM_MISC, n, sizeof *u->partitions);
    u->assignments = mem_calloc(MEM_MISC, n, sizeof(groth16_assignment *));
    u->proofs = mem_calloc(MEM_MISC, n, sizeof *u->proofs);
    bool ok = n > 0 && u->key != NULL && u->jobs != NULL && u->partitions != NULL && u->assignments != NULL &&
              u->proofs != NULL && idmap_reserve(&rt->units);
    for (uint32_t i = 0; ok && i < n; i++) {
        u->partitions[i] = parts[i].partition;
        u->jobs[i] = rjob_find(rt, parts[i].token);
        if (u->jobs[i] != NULL) u->jobs[i]->units++;
        ok = u->jobs[i] != NULL;
    }
    if (!ok) {
        unit_destroy(rt, u);
        return NULL;
    }
    idmap_put(&rt->units, id, u);
    return u;
}

static void start_synthesis(runtime *rt, const engine_action *a) {
    runit *u = unit_make(rt, a->unit, a->key);
    if (u != NULL) {
        books_unit_starts(rt, u, a->worker);
        if (unit_worker_give(&rt->synthesis[a->worker], u, synthesis_main)) return;
        (void)cuzk_fail(&u->error, CUZK_ERR_MEMORY, "the system refuses a thread");
    }
    defer(rt, ENGINE_EV_SYNTH_FAILED, a->unit, ENGINE_OUT_OF_MEMORY);
}

static void start_device(runtime *rt, const engine_action *a) {
    runit *u = idmap_get(&rt->units, a->unit);
    if (u == NULL) return;
    u->device = a->device;
    u->worker = a->worker;
    if (books_fallback(rt, u->device) && !rt->told_fallback) {
        rt->told_fallback = true;
        runtime_warn(
            rt, "job %s: partition %" PRIu32 " goes to the fallback device %" PRIu32 " (%s), as others may from now on",
            u->jobs[0]->name, u->partitions[0], u->device, device_name(rt->opt.devices[u->device]));
    }
    books_device_starts(rt, u);
    unit_worker *w = &rt->device[a->device * rt->opt.engine.workers_per_device + a->worker];
    if (unit_worker_give(w, u, device_main)) return;
    (void)cuzk_fail(&u->error, CUZK_ERR_MEMORY, "the system refuses a thread");
    defer(rt, ENGINE_EV_DEVICE_FAILED, a->unit, ENGINE_OUT_OF_MEMORY);
}

static void verify_or_free(runtime *rt, const engine_action *a, bool free_only) {
    runit *u = idmap_get(&rt->units, a->unit);
    if (u == NULL) { // it could not even be made
        if (free_only) defer(rt, ENGINE_EV_UNIT_FREED, a->unit, ENGINE_NO_REASON);
        return;
    }
    u->free_only = free_only;
    if (free_only) books_unit_given_up(rt, u);
    (void)unit_worker_give(&rt->verifier, u, verifier_main); // runs since the beginning
}

// --- replies ---

// What the watchdog saw, before the core lets the unit go; told before the job is answered.
static void describe_timeout(runtime *rt, rjob *j, uint32_t partition) {
    static const char *const STAGE[] = {"synthesis", "the channel", "the device", "verification"};
    const unsigned long long limit = rt->opt.engine.stage_timeout_ns / 1000000;
    cuzk_error why = {0};
    for (size_t i = 0; i < rt->units.cap; i++) {
        runit *u = rt->units.slots[i].value;
        for (uint32_t k = 0; u != NULL && k < u->n; k++) {
            if (u->jobs[k] != j || u->partitions[k] != partition) continue;
            const unsigned long long ms = (clock_now_ns() - u->since) / 1000000;
            const char *doing = atomic_load(&u->doing);
            if (u->stage == RUNIT_DEVICE)
                (void)cuzk_fail(&why, CUZK_ERR_INTERNAL,
                                "no end after %llu ms (limit %llu ms): device %" PRIu32 ", worker %" PRIu32 ", in %s",
                                ms, limit, u->device, u->worker, doing == NULL ? "no stage" : doing);
            else
                (void)cuzk_fail(&why, CUZK_ERR_INTERNAL, "no end after %llu ms (limit %llu ms)", ms, limit);
            runtime_warn(rt, "job %s: partition %" PRIu32 ", %s: %s", j->name, partition, STAGE[u->stage], why.text);
            rjob_set_text(rt, j, partition, STAGE[u->stage], &why);
            return;
        }
    }
    (void)cuzk_fail(&why, CUZK_ERR_INTERNAL, "its key was not loaded within %llu ms", limit);
    runtime_warn(rt, "job %s: %s", j->name, why.text);
    rjob_set_text(rt, j, UINT32_MAX, "key load", &why);
}

static void reply(runtime *rt, const engine_action *a) {
    rjob *j = rjob_find(rt, a->token);
    if (j == NULL) return;
    if (a->reason == ENGINE_STAGE_TIMEOUT) describe_timeout(rt, j, a->partition);
    rjob_finish(rt, j, a);
    rjob_unref(rt, j);
}

static void record(runtime *rt, const engine_action *a) {
    if (a->event == TL_RETRY) {
        rjob *j = rjob_find(rt, a->token);
        if (j != NULL) {
            pthread_mutex_lock(&rt->lock);
            j->retries++;
            pthread_mutex_unlock(&rt->lock);
            runtime_warn(rt, "job %s: partition %" PRIu32 " is proven again: %s", j->name, a->partition,
                         engine_reason_name(a->reason));
            rjob_unref(rt, j);
        }
    } else if (a->event == TL_DEVICE) {
        pthread_mutex_lock(&rt->lock);
        rt->seen[a->device].unhealthy = a->value == 0;
        pthread_mutex_unlock(&rt->lock);
        if (a->value == 0) runtime_warn(rt, "device %" PRIu32 " failed too often and is left alone for now", a->device);
    }
    runtime_record(rt, a);
}

static void answer(runtime *rt, const engine_action *a) {
    runtime_call *call = rt->current;
    if (a->kind == ENGINE_ACT_ACCEPTED && !a->joined) {
        rjob *j = rjob_find(rt, a->token);
        if (j != NULL) {
            pthread_mutex_lock(&rt->lock);
            j->id = a->job;
            pthread_mutex_unlock(&rt->lock);
            books_job_accepted(rt, j);
            rjob_unref(rt, j);
        }
    }
    if (call == NULL) return;
    call->answered = true;
    call->job = a->job;
    call->joined = a->joined;
    call->reason = a->reason;
    call->needed = a->needed;
    call->available = a->available;
}

static void forget(runtime *rt, const engine_action *a) {
    pthread_mutex_lock(&rt->lock);
    rjob *j = idmap_take(&rt->jobs, a->token);
    pthread_mutex_unlock(&rt->lock);
    if (j != NULL) rjob_unref(rt, j);
}

static void carry_out(runtime *rt, const engine_action *a) {
    runit *u;
    switch (a->kind) {
    case ENGINE_ACT_ACCEPTED:
    case ENGINE_ACT_REFUSED: answer(rt, a); break;
    case ENGINE_ACT_LOAD_KEY:
    case ENGINE_ACT_EVICT_KEY: {
        rkey *k = idmap_get(&rt->keys, a->key);
        if (k == NULL) break; // every key is made known before the core hears of it
        k->ticket = a->ticket;
        books_key_action(rt, k, a);
        keeper_give(rt, k, a->kind == ENGINE_ACT_LOAD_KEY);
        break;
    }
    case ENGINE_ACT_START_SYNTH: start_synthesis(rt, a); break;
    case ENGINE_ACT_START_DEVICE: start_device(rt, a); break;
    case ENGINE_ACT_STOP_UNIT:
        u = idmap_get(&rt->units, a->unit);
        if (u != NULL) atomic_store(&u->stop, true);
        break;
    case ENGINE_ACT_VERIFY: verify_or_free(rt, a, false); break;
    case ENGINE_ACT_FREE_UNIT: verify_or_free(rt, a, true); break;
    case ENGINE_ACT_REPLY: reply(rt, a); break;
    case ENGINE_ACT_FORGET: forget(rt, a); break;
    case ENGINE_ACT_RECORD: record(rt, a); break;
    case ENGINE_ACT_SET_TIMER: rt->timer = a->at; break;
    case ENGINE_ACT_DRAINED:
        pthread_mutex_lock(&rt->lock);
        rt->drained = true;
        pthread_cond_broadcast(&rt->drain_done);
        pthread_mutex_unlock(&rt->lock);
        break;
    }
}

// Before the actions are carried out, so that who is answered finds himself counted. Also says when memory that is kept
// goes: after the last unit.
static void publish(runtime *rt) {
    engine_stats s;
    engine_core_stats(rt->core, &s);
    pthread_mutex_lock(&rt->lock);
    rt->stats.engine = s;
    pthread_mutex_unlock(&rt->lock);
    const bool busy = s.units_live != 0;
    if (busy)
        rt->trim_at = UINT64_MAX;
    else if (rt->busy)
        rt->trim_at = clock_now_ns() + rt->opt.keep_memory_ns;
    rt->busy = busy;
}

static void step_once(runtime *rt, const engine_event *event) {
    const engine_action *actions = NULL;
    const size_t n = engine_core_step(rt->core, clock_now_ns(), event, &actions);
    publish(rt);
    for (size_t i = 0; i < n; i++) carry_out(rt, &actions[i]);
}

// --- reports ---

// The first partition of each job whose proof failed, which is the one that the core names, and how many did.
static void note_verification(runtime *rt, runit *u, const engine_event *e) {
    const uint32_t failed = u->wrong + u->unjudged;
    if (failed > 1) {
        char why[CUZK_ERROR_TEXT_MAX];
        snprintf(why, sizeof why, "%.400s", u->error.text);
        (void)cuzk_fail(&u->error, u->error.status, "%s (%" PRIu32 " of %" PRIu32 " partitions failed)", why, failed,
                        u->n);
    }
    const rjob *told = NULL;
    for (uint32_t i = 0; i < u->n; i++) {
        if ((e->ok_mask[i / 64] >> (i % 64) & 1) != 0 || u->jobs[i] == told) continue;
        rjob_set_text(rt, u->jobs[i], u->partitions[i], "verification", &u->error);
        told = u->jobs[i];
    }
}

// Keeps what the report says for people; the core hears of kinds of failures only.
static void take_notes(runtime *rt, const engine_event *e) {
    runit *u = idmap_get(&rt->units, e->unit);
    rkey *key = idmap_get(&rt->keys, e->key);
    if (u != NULL) books_report(rt, u, e);
    switch (e->kind) {
    case ENGINE_EV_SYNTH_FAILED:
        for (uint32_t i = 0; u != NULL && i < u->n; i++)
            if (e->partition == i || (e->partition >= u->n && runit_first_of_job(u, i)))
                rjob_set_text(rt, u->jobs[i], u->partitions[i], "synthesis", &u->error);
        break;
    case ENGINE_EV_DEVICE_FAILED: // the whole run; the core names the first partition of it
        for (uint32_t i = 0; u != NULL && i < u->n; i++)
            if (runit_first_of_job(u, i)) rjob_set_text(rt, u->jobs[i], u->partitions[i], "device", &u->error);
        break;
    case ENGINE_EV_VERIFIED:
        if (u != NULL) note_verification(rt, u, e);
        break;
    case ENGINE_EV_KEY_FAILED:
        if (key != NULL) rjob_set_key_text(rt, e->key, &key->error);
        if (key != NULL) books_key_report(rt, key, e);
        break;
    case ENGINE_EV_KEY_LOADED:
    case ENGINE_EV_KEY_FREED:
        if (key != NULL) books_key_report(rt, key, e);
        break;
    default: break;
    }
}

void runtime_step(runtime *rt, const engine_event *event) {
    step_once(rt, event);
    while (rt->n_deferred > 0) {
        const engine_event first = rt->deferred[0];
        memmove(rt->deferred, rt->deferred + 1, --rt->n_deferred * sizeof *rt->deferred);
        take_notes(rt, &first);
        step_once(rt, &first);
    }
}

static void handle(runtime *rt, msg *m) {
    if (m->call != NULL) {
        runtime_call *call = m->call;
        rt->current = call;
        call->fn(rt, call);
        rt->current = NULL;
        pthread_mutex_lock(&rt->lock);
        call->done = true; // and is no longer ours
        pthread_cond_broadcast(&rt->call_done);
        pthread_mutex_unlock(&rt->lock);
        return;
    }
    // The message may be used again, or freed, while the core steps.
    const engine_event e = m->event;
    take_notes(rt, &e);
    runtime_step(rt, &e);
    if (e.kind == ENGINE_EV_UNIT_FREED) {
        runit *u = idmap_take(&rt->units, e.unit);
        if (u != NULL) {
            books_unit_gone(rt, u);
            unit_destroy(rt, u);
        }
    }
}

void *runtime_engine_main(void *arg) {
    runtime *rt = arg;
    rt->lane = recorder_lane_open_if(rt->opt.rec);
    runtime_step(rt, &(engine_event){.kind = ENGINE_EV_TIMER}); // announces the devices
    for (;;) {
        pthread_mutex_lock(&rt->box_lock);
        const uint64_t wake = rt->timer < rt->trim_at ? rt->timer : rt->trim_at;
        while (rt->box_first == NULL && !rt->stop && clock_now_ns() < wake)
            (void)runtime_wait_until(&rt->box_some, &rt->box_lock, wake);
        msg *m = rt->box_first;
        rt->box_first = rt->box_last = NULL;
        const bool stop = rt->stop;
        pthread_mutex_unlock(&rt->box_lock);
        if (clock_now_ns() >= rt->timer) {
            rt->timer = UINT64_MAX;
            runtime_step(rt, &(engine_event){.kind = ENGINE_EV_TIMER});
        }
        if (clock_now_ns() >= rt->trim_at) {
            rt->trim_at = UINT64_MAX;
            mem_keep_trim();
        }
        const bool worked = m != NULL;
        while (m != NULL) {
            msg *next = m->next;
            handle(rt, m);
            m = next;
        }
        if (stop && !worked) break;
    }
    recorder_lane_close(&rt->lane);
    return NULL;
}
