// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Jobs as callers see them: submitting, waiting, cancelling, results.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/scrub.h"
#include "engine/runtime_internal.h"
#include "hash/sha256.h"

const provider *runtime_provider(const runtime *rt, const char *kind) {
    for (uint32_t i = 0; i < rt->opt.n_providers; i++)
        if (strcmp(rt->opt.providers[i]->kind, kind) == 0) return rt->opt.providers[i];
    return NULL;
}

// --- life of a job's record ---

static void rjob_destroy(rjob *j) {
    if (j->request != NULL) j->prov->ops->release(j->prov, j->request);
    mem_free(j->proof);
    mem_free(j->parts);
    pthread_cond_destroy(&j->changed);
    mem_free(j);
}

rjob *rjob_find(runtime *rt, runtime_job token) {
    pthread_mutex_lock(&rt->lock);
    rjob *j = idmap_get(&rt->jobs, token);
    if (j != NULL) j->refs++;
    pthread_mutex_unlock(&rt->lock);
    return j;
}

void rjob_unref(runtime *rt, rjob *j) {
    pthread_mutex_lock(&rt->lock);
    const bool last = --j->refs == 0;
    pthread_mutex_unlock(&rt->lock);
    if (last) rjob_destroy(j);
}

// The input is needed until the last unit is gone, and no longer: it may be large.
static void drop_input(rjob *j) {
    if (!j->terminal || j->units > 0 || j->request == NULL) return; // all written by this thread alone
    j->prov->ops->release(j->prov, j->request);
    j->request = NULL;
}

void rjob_unit_gone(rjob *j) {
    j->units--;
    drop_input(j);
}

static void fill_result(runtime_result *out, const rjob *j) {
    const bool done = j->terminal && j->state == ENGINE_DONE;
    *out = (runtime_result){
        .job = j->token,
        .state = j->state,
        .reason = j->reason,
        .partitions = j->plan.partitions,
        .partition = j->partition,
        .retries = j->retries,
        .fell_back = j->fell_back,
        .submitted_ns = j->submitted_ns,
        .finished_ns = j->finished_ns,
        .times = rjob_times(j),
        .proof = done ? j->proof : NULL,
        .proof_len = done ? (size_t)j->plan.partitions * GROTH16_PROOF_BYTES : 0,
        .text = j->text,
    };
}

void rjob_set_text(runtime *rt, rjob *j, uint32_t partition, const char *stage, const cuzk_error *why) {
    pthread_mutex_lock(&rt->lock);
    if (!j->terminal) {
        const char *text = why->text[0] != 0 ? why->text : "no details";
        if (partition == UINT32_MAX)
            snprintf(j->text, sizeof j->text, "%s: %.400s", stage, text);
        else
            snprintf(j->text, sizeof j->text, "partition %" PRIu32 ", %s: %.400s", partition, stage, text);
        scrub_text(j->text); // a cut may have split a character
    }
    pthread_mutex_unlock(&rt->lock);
}

void rjob_set_key_text(runtime *rt, uint64_t key, const cuzk_error *why) {
    pthread_mutex_lock(&rt->lock);
    for (size_t i = 0; i < rt->jobs.cap; i++) {
        rjob *j = rt->jobs.slots[i].value;
        if (rt->jobs.slots[i].id != 0 && !j->terminal && j->plan.key == key) {
            snprintf(j->text, sizeof j->text, "key load: %.400s", why->text);
            scrub_text(j->text);
        }
    }
    pthread_mutex_unlock(&rt->lock);
    runtime_warn(rt, "a key cannot be loaded: %s", why->text);
}

// The text that stays with a terminal job. Called with the lock.
static void final_text(rjob *j) {
    if (j->state == ENGINE_DONE) {
        j->text[0] = 0;
        return;
    }
    char details[CUZK_ERROR_TEXT_MAX];
    const bool told = j->text[0] != 0 && j->state == ENGINE_FAILED && j->reason != ENGINE_DEADLINE;
    snprintf(details, sizeof details, "%s", told ? j->text : "");
    if (told)
        snprintf(j->text, sizeof j->text, "%s: %.440s", engine_reason_name(j->reason), details);
    else if (j->partition != UINT32_MAX)
        snprintf(j->text, sizeof j->text, "%s: partition %" PRIu32, engine_reason_name(j->reason), j->partition);
    else
        snprintf(j->text, sizeof j->text, "%s", engine_reason_name(j->reason));
    scrub_text(j->text);
}

void rjob_finish(runtime *rt, rjob *j, const engine_action *reply) {
    watcher *watchers = NULL;
    pthread_mutex_lock(&rt->lock);
    if (j->terminal) {
        rt->stats.double_replies++;
    } else {
        j->terminal = true;
        j->state = reply->state;
        j->reason = reply->reason;
        j->partition = reply->partition;
        j->finished_ns = clock_now_ns();
        books_job_ends(j);
        final_text(j);
        watchers = j->watchers;
        j->watchers = NULL;
        j->calling = watchers != NULL;
        pthread_cond_broadcast(&j->changed);
    }
    runtime_result r;
    fill_result(&r, j);
    pthread_mutex_unlock(&rt->lock);
    while (watchers != NULL) {
        watcher *w = watchers;
        watchers = w->next;
        w->fn(w->ctx, &r);
        mem_free(w);
    }
    pthread_mutex_lock(&rt->lock);
    if (j->calling) pthread_cond_broadcast(&j->changed);
    j->calling = false;
    pthread_mutex_unlock(&rt->lock);
    drop_input(j);
}

// --- submitting ---

// A client's id as it is, or when it is too long its beginning and a digest of all of it; else a uuid (version 4 in
// form) that no other runtime is likely to use.
static void name_job(const runtime *rt, rjob *j, const char *client_id) {
    uint8_t in[16], d[32];
    if (client_id != NULL && client_id[0] != 0) {
        enum { DIGEST = 17 }; // "~" and 8 bytes in hex
        const size_t len = strlen(client_id);
        snprintf(j->name, sizeof j->name, "%s", client_id);
        if (len < sizeof j->name) return;
        sha256_digest(d, client_id, len);
        char *end = j->name + sizeof j->name - 1 - DIGEST;
        *end = '~';
        hex_encode(end + 1, d, 8);
        return;
    }
    memcpy(in, rt->name_seed, 8);
    store_le64(in + 8, j->token);
    sha256_digest(d, in, sizeof in);
    d[6] = (uint8_t)((d[6] & 0x0f) | 0x40);
    d[8] = (uint8_t)((d[8] & 0x3f) | 0x80);
    char hex[33];
    hex_encode(hex, d, 16);
    snprintf(j->name, sizeof j->name, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16, hex + 20);
}

static void digests(engine_request *out, const runtime_request *r) {
    sha256 h;
    uint8_t d[32];
    sha256_init(&h);
    sha256_update(&h, r->kind, strlen(r->kind) + 1);
    sha256_update(&h, r->input, r->input_len);
    sha256_final(out->input_digest, &h);
    if (r->client_id == NULL || r->client_id[0] == 0) return;
    sha256_digest(d, r->client_id, strlen(r->client_id));
    memcpy(out->client_id, d, sizeof out->client_id);
}

typedef struct submit_arg {
    rjob *job;
    engine_request request;
    bool no_memory;
    runtime_job earlier; // of a joined request
} submit_arg;

static void submit_call(runtime *rt, runtime_call *call) {
    submit_arg *a = call->arg;
    rjob *j = a->job;
    pthread_mutex_lock(&rt->lock);
    bool ok = idmap_reserve(&rt->jobs);
    if (ok) {
        idmap_put(&rt->jobs, j->token, j);
        j->refs++;
    }
    pthread_mutex_unlock(&rt->lock);
    if (!ok || !runtime_know_key(rt, j->prov, &j->plan)) {
        a->no_memory = true;
    } else {
        runtime_step(rt, &(engine_event){.kind = ENGINE_EV_SUBMIT, .request = &a->request});
        engine_job_view v;
        if (call->joined && engine_core_job(rt->core, call->job, &v)) a->earlier = v.token;
    }
    if (ok && (j->id == 0 || a->no_memory)) { // refused, or another job stands for it
        pthread_mutex_lock(&rt->lock);
        (void)idmap_take(&rt->jobs, j->token);
        pthread_mutex_unlock(&rt->lock);
        rjob_unref(rt, j);
    }
}

static rjob *rjob_make(runtime *rt, const provider *prov, const char *client_id) {
    rjob *j = mem_calloc(MEM_MISC, 1, sizeof *j);
    if (j == NULL) return NULL;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&j->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_lock(&rt->lock);
    j->token = rt->next_token++;
    pthread_mutex_unlock(&rt->lock);
    j->refs = 1;
    j->prov = prov;
    j->partition = UINT32_MAX;
    j->submitted_ns = clock_now_ns();
    name_job(rt, j, client_id);
    return j;
}

static uint32_t kind_index(const runtime *rt, const provider *prov) {
    uint32_t i = 0;
    while (i < rt->opt.n_providers && rt->opt.providers[i] != prov) i++;
    return i;
}

static cuzk_status read_answer(const runtime_call *call, const submit_arg *a, runtime_job *out, bool *joined,
                               engine_reason *reason, cuzk_error *err) {
    if (a->no_memory) {
        *reason = ENGINE_OUT_OF_MEMORY;
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a job");
    }
    if (!call->answered || (call->joined && a->earlier == 0))
        return cuzk_fail(err, CUZK_ERR_INTERNAL, "the engine did not answer");
    if (a->job->id == 0 && !call->joined) {
        *reason = call->reason;
        return cuzk_fail(err, CUZK_ERR_INPUT, "refused: %s (needed %" PRIu64 ", available %" PRIu64 ")",
                         engine_reason_name(call->reason), call->needed, call->available);
    }
    *out = call->joined ? a->earlier : a->job->token;
    if (joined != NULL) *joined = call->joined;
    return CUZK_OK;
}

cuzk_status runtime_submit(runtime *rt, runtime_job *out, bool *joined, engine_reason *reason, const runtime_request *r,
                           cuzk_error *err) {
    *out = 0;
    *reason = ENGINE_BAD_INPUT;
    const provider *prov = runtime_provider(rt, r->kind);
    if (prov == NULL) return cuzk_fail(err, CUZK_ERR_INPUT, "no provider of %s", r->kind);
    rjob *j = rjob_make(rt, prov, r->client_id);
    if (j == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a job");
    cuzk_status s = prov->ops->bind(prov, &j->request, &j->plan, r->input, r->input_len, err);
    if (s == CUZK_OK && r->check != NULL) s = r->check(r->check_ctx, j->request, err);
    if (s == CUZK_OK) {
        j->priority = r->priority;
        j->proof = mem_calloc(MEM_MISC, j->plan.partitions, GROTH16_PROOF_BYTES);
        j->parts = mem_calloc(MEM_MISC, j->plan.partitions, sizeof *j->parts);
        if (j->proof == NULL || j->parts == NULL) s = cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a proof");
    }
    if (s == CUZK_OK) {
        submit_arg a = {.job = j,
                        .request = {.kind = kind_index(rt, prov),
                                    .key = j->plan.key,
                                    .key_bytes = j->plan.key_bytes,
                                    .partition_bytes = j->plan.partition_bytes,
                                    .partitions = j->plan.partitions,
                                    .priority = r->priority,
                                    .token = j->token}};
        if (r->timeout_ns != 0)
            a.request.deadline_ns =
                j->submitted_ns > UINT64_MAX - r->timeout_ns ? UINT64_MAX : j->submitted_ns + r->timeout_ns;
        digests(&a.request, r);
        *reason = ENGINE_NO_REASON;
        runtime_call call;
        runtime_run_call(rt, &call, submit_call, &a);
        s = read_answer(&call, &a, out, joined, reason, err);
    }
    rjob_unref(rt, j);
    return s;
}

// --- waiting ---

cuzk_status rjob_unknown(runtime_job job, cuzk_error *err) {
    return cuzk_fail(err, CUZK_ERR_INPUT, "no job %" PRIu64 ": never there, or finished too long ago", job);
}

// A copy that stands alone: the record may be forgotten meanwhile.
static runtime_result *copy_result(const runtime_result *r) {
    const size_t text = strlen(r->text) + 1;
    uint8_t *block = mem_alloc(MEM_MISC, sizeof *r + r->proof_len + text, 1);
    if (block == NULL) return NULL;
    runtime_result *out = (runtime_result *)(void *)block;
    uint8_t *rest = block + sizeof *r;
    *out = *r;
    if (r->proof_len > 0) memcpy(rest, r->proof, r->proof_len);
    if (r->proof != NULL) out->proof = rest;
    memcpy(rest + r->proof_len, r->text, text);
    out->text = (const char *)rest + r->proof_len;
    return out;
}

cuzk_status runtime_await(runtime *rt, runtime_result **out, runtime_job job, uint64_t timeout_ns, cuzk_error *err) {
    *out = NULL;
    rjob *j = rjob_find(rt, job);
    if (j == NULL) return rjob_unknown(job, err);
    const uint64_t now = clock_now_ns(), until = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;
    pthread_mutex_lock(&rt->lock);
    while (!j->terminal && timeout_ns != 0)
        if (!runtime_wait_until(&j->changed, &rt->lock, until)) break;
    runtime_result r;
    fill_result(&r, j);
    *out = copy_result(&r);
    pthread_mutex_unlock(&rt->lock);
    rjob_unref(rt, j);
    return *out != NULL ? CUZK_OK : cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a result");
}

void runtime_result_free(runtime_result **r) {
    mem_free(*r);
    *r = NULL;
}

cuzk_status runtime_watch(runtime *rt, runtime_job job, void (*fn)(void *ctx, const runtime_result *result), void *ctx,
                          cuzk_error *err) {
    rjob *j = rjob_find(rt, job);
    if (j == NULL) return rjob_unknown(job, err);
    watcher *w = mem_calloc(MEM_MISC, 1, sizeof *w);
    if (w == NULL) {
        rjob_unref(rt, j);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a watcher");
    }
    *w = (watcher){.fn = fn, .ctx = ctx};
    runtime_result r;
    pthread_mutex_lock(&rt->lock);
    const bool now = j->terminal;
    if (now) {
        fill_result(&r, j); // nothing of a terminal job changes any more
    } else {
        w->next = j->watchers;
        j->watchers = w;
    }
    pthread_mutex_unlock(&rt->lock);
    if (now) {
        fn(ctx, &r);
        mem_free(w);
    }
    rjob_unref(rt, j);
    return CUZK_OK;
}

bool runtime_unwatch(runtime *rt, runtime_job job, void (*fn)(void *ctx, const runtime_result *result), void *ctx) {
    rjob *j = rjob_find(rt, job);
    if (j == NULL) return false;
    watcher *found = NULL;
    pthread_mutex_lock(&rt->lock);
    for (watcher **at = &j->watchers; *at != NULL; at = &(*at)->next)
        if ((*at)->fn == fn && (*at)->ctx == ctx) {
            found = *at;
            *at = found->next;
            break;
        }
    // It may be in the middle of its call; only the engine thread itself must not wait for that.
    while (found == NULL && j->calling && !pthread_equal(pthread_self(), rt->engine_thread))
        (void)pthread_cond_wait(&j->changed, &rt->lock);
    pthread_mutex_unlock(&rt->lock);
    rjob_unref(rt, j);
    mem_free(found);
    return found != NULL;
}

// --- cancelling ---

typedef struct cancel_arg {
    const rjob *job;
    bool was_running;
} cancel_arg;

static void cancel_call(runtime *rt, runtime_call *call) {
    cancel_arg *a = call->arg;
    pthread_mutex_lock(&rt->lock);
    a->was_running = a->job->started_ns != 0 && !a->job->terminal;
    pthread_mutex_unlock(&rt->lock);
    runtime_step(rt, &(engine_event){.kind = ENGINE_EV_CANCEL, .job = a->job->id});
}

cuzk_status runtime_cancel(runtime *rt, runtime_job job, bool *was_running, cuzk_error *err) {
    rjob *j = rjob_find(rt, job);
    if (j == NULL) return rjob_unknown(job, err);
    cancel_arg a = {.job = j};
    runtime_call call;
    runtime_run_call(rt, &call, cancel_call, &a);
    if (was_running != NULL) *was_running = a.was_running;
    rjob_unref(rt, j);
    return CUZK_OK;
}
