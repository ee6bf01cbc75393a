// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Keys as an operator sees them: loading one before it is needed, freeing one that nobody needs.
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "engine/runtime_internal.h"

bool runtime_know_key(runtime *rt, const provider *prov, const provider_plan *plan) {
    if (idmap_get(&rt->keys, plan->key) != NULL) return true;
    if (plan->key == 0) return true; // the core refuses it
    rkey *k = mem_calloc(MEM_MISC, 1, sizeof *k);
    device_key **on = mem_calloc(MEM_MISC, rt->opt.n_devices, sizeof(device_key *));
    pthread_mutex_lock(&rt->lock); // others look at the table
    const bool ok = k != NULL && on != NULL && idmap_reserve(&rt->keys);
    if (ok) {
        k->id = plan->key;
        k->prov = prov;
        k->on = on;
        memcpy(k->name, plan->key_name, sizeof k->name);
        idmap_put(&rt->keys, plan->key, k);
    }
    pthread_mutex_unlock(&rt->lock);
    if (ok) return true;
    mem_free(k);
    mem_free(on);
    return false;
}

void runtime_leave_keys(runtime *rt) {
    pthread_mutex_lock(&rt->lock);
    rt->leaving = true;
    pthread_cond_broadcast(&rt->key_changed);
    pthread_mutex_unlock(&rt->lock);
}

bool rkey_wanted(runtime *rt, const rkey *k) {
    pthread_mutex_lock(&rt->lock);
    bool wanted = !rt->leaving;
    for (size_t i = 0; i < rt->jobs.cap && !wanted; i++) {
        const rjob *j = rt->jobs.slots[i].value;
        wanted = rt->jobs.slots[i].id != 0 && !j->terminal && j->id != 0 && j->plan.key == k->id;
    }
    pthread_mutex_unlock(&rt->lock);
    return wanted;
}

typedef struct key_arg {
    const provider *prov;
    provider_plan plan;
    rkey *key; // entries stay as long as the runtime
    // When it was asked for.
    bool loaded;
    uint64_t loads;
} key_arg;

static void preload_call(runtime *rt, runtime_call *call) {
    key_arg *k = call->arg;
    if (!runtime_know_key(rt, k->prov, &k->plan)) {
        call->answered = true;
        call->reason = ENGINE_OUT_OF_MEMORY;
        return;
    }
    k->key = idmap_get(&rt->keys, k->plan.key);
    if (k->key != NULL) {
        k->loaded = k->key->loaded;
        k->loads = k->key->loads;
    }
    runtime_step(rt, &(engine_event){.kind = ENGINE_EV_PRELOAD, .key = k->plan.key, .bytes = k->plan.key_bytes});
}

static void evict_call(runtime *rt, runtime_call *call) {
    runtime_step(rt, &(engine_event){.kind = ENGINE_EV_EVICT, .key = *(const uint64_t *)call->arg});
}

static cuzk_status refused(const runtime_call *call, cuzk_status status, const char *what, cuzk_error *err) {
    return cuzk_fail(err, status, "%s: %s (needed %" PRIu64 ", available %" PRIu64 ")", what,
                     engine_reason_name(call->reason), call->needed, call->available);
}

cuzk_status runtime_preload(runtime *rt, const char *kind, const uint8_t *input, size_t len, cuzk_error *err) {
    key_arg k = {.prov = runtime_provider(rt, kind)};
    if (k.prov == NULL) return cuzk_fail(err, CUZK_ERR_INPUT, "no provider of %s", kind);
    void *request = NULL;
    cuzk_status s = k.prov->ops->bind(k.prov, &request, &k.plan, input, len, err);
    if (s != CUZK_OK) return s;
    k.prov->ops->release(k.prov, request);
    runtime_call call;
    runtime_run_call(rt, &call, preload_call, &k);
    return call.answered ? refused(&call, CUZK_ERR_INPUT, "the key is not loaded", err) : CUZK_OK;
}

cuzk_status runtime_evict(runtime *rt, uint64_t key, cuzk_error *err) {
    runtime_call call;
    runtime_run_call(rt, &call, evict_call, &key);
    return call.answered ? refused(&call, CUZK_ERR_INPUT, "the key is not evicted", err) : CUZK_OK;
}

// The first provider that knows the name. CUZK_ERR_INPUT: none does.
static cuzk_status find_named(const runtime *rt, key_arg *out, const char *name, cuzk_error *err) {
    for (uint32_t i = 0; i < rt->opt.n_providers; i++) {
        const provider *p = rt->opt.providers[i];
        if (p->ops->find_key == NULL) continue;
        *out = (key_arg){.prov = p};
        const cuzk_status s = p->ops->find_key(p, &out->plan, name, err);
        if (s != CUZK_ERR_INPUT) return s;
    }
    return cuzk_fail(err, CUZK_ERR_INPUT, "no key is called %.100s", name);
}

cuzk_status runtime_preload_named(runtime *rt, const char *name, bool *already_loaded, uint64_t *load_ns,
                                  cuzk_error *err) {
    key_arg k;
    *already_loaded = false;
    *load_ns = 0;
    cuzk_status s = find_named(rt, &k, name, err);
    if (s != CUZK_OK) return s;
    runtime_call call;
    runtime_run_call(rt, &call, preload_call, &k);
    if (call.answered) {
        const bool draining = call.reason == ENGINE_DRAINING;
        return refused(&call, draining ? CUZK_ERR_CANCELLED : CUZK_ERR_MEMORY, name, err);
    }
    *already_loaded = k.loaded;
    if (k.loaded) return CUZK_OK;
    pthread_mutex_lock(&rt->lock);
    while (k.key->loading && !rt->leaving) (void)pthread_cond_wait(&rt->key_changed, &rt->lock);
    const bool left = k.key->loading;
    const bool ok = k.key->loads > k.loads; // it may have been evicted again since
    const cuzk_error why = k.key->failure;
    if (ok) *load_ns = k.key->load_ns;
    pthread_mutex_unlock(&rt->lock);
    if (ok) return CUZK_OK;
    if (left) return cuzk_fail(err, CUZK_ERR_CANCELLED, "%s: was still being loaded when the engine was stopped", name);
    return cuzk_fail(err, why.status != CUZK_OK ? why.status : CUZK_ERR_INTERNAL, "%s: %s", name, why.text);
}

// One of the loaded keys with that name or identity; 0: there is none.
static uint64_t find_loaded(runtime *rt, const char *name, uint64_t id, uint64_t *bytes) {
    uint64_t found = 0;
    pthread_mutex_lock(&rt->lock);
    for (size_t i = 0; i < rt->keys.cap && found == 0; i++) {
        const rkey *k = rt->keys.slots[i].value;
        if (rt->keys.slots[i].id == 0 || !(k->loaded || k->loading)) continue;
        if (k->id != id && strcmp(k->name, name) != 0) continue;
        found = k->id;
        *bytes = k->bytes;
    }
    pthread_mutex_unlock(&rt->lock);
    return found;
}

static void wait_freed(runtime *rt, uint64_t id) {
    pthread_mutex_lock(&rt->lock);
    const rkey *k = idmap_get(&rt->keys, id);
    while (k->freeing) (void)pthread_cond_wait(&rt->key_changed, &rt->lock);
    pthread_mutex_unlock(&rt->lock);
}

cuzk_status runtime_evict_named(runtime *rt, const char *name, bool *was_loaded, uint64_t *freed, engine_reason *reason,
                                cuzk_error *err) {
    key_arg k;
    *was_loaded = false;
    *freed = 0;
    *reason = ENGINE_NO_REASON;
    // A name stays known when its file is gone.
    const bool known = find_named(rt, &k, name, err) != CUZK_ERR_INPUT;
    uint64_t id, bytes = 0;
    while ((id = find_loaded(rt, name, known ? k.plan.key : 0, &bytes)) != 0) {
        runtime_call call;
        runtime_run_call(rt, &call, evict_call, &id);
        if (call.answered && call.reason == ENGINE_NOT_FOUND) continue; // went by itself meanwhile
        if (call.answered) {
            *reason = call.reason;
            return cuzk_fail(err, CUZK_ERR_INPUT, "%s is in use by %" PRIu64 " units, or being loaded", name,
                             call.available);
        }
        wait_freed(rt, id);
        mem_keep_trim(); // it was for the memory that somebody asked
        *was_loaded = true;
        *freed += bytes;
    }
    if (known || *was_loaded) return CUZK_OK;
    *reason = ENGINE_NOT_FOUND;
    return cuzk_fail(err, CUZK_ERR_INPUT, "no key is called %.100s", name);
}
