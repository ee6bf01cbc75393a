// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The public engine over the runtime: it owns the CPU device, the providers and the recorder, and translates.
#include "cuzk/engine.h"

#include <stdlib.h>
#include <string.h>

#include "api/provider_porep.h"
#include "api/provider_toy.h"
#include "base/mem.h"
#include "engine/runtime.h"

enum { KINDS_MAX = 64 };

typedef struct kind {
    provider *prov;
    char *name, *label; // of a toy; NULL: porep
} kind;

struct cuzk_engine {
    cuzk_engine_options options;
    char *timeline_path;
    kind kinds[KINDS_MAX];
    const provider *providers[KINDS_MAX];
    pce_cache *programs; // of all kinds
    uint32_t n_kinds;
    device *cpu;
    recorder *rec;
    runtime *rt; // NULL before the start
};

_Static_assert(sizeof(cuzk_message) == CUZK_ERROR_TEXT_MAX, "a message holds the text of any error");
_Static_assert((int)CUZK_JOB_QUEUED == (int)ENGINE_QUEUED && (int)CUZK_JOB_RUNNING == (int)ENGINE_RUNNING &&
                   (int)CUZK_JOB_DONE == (int)ENGINE_DONE && (int)CUZK_JOB_FAILED == (int)ENGINE_FAILED &&
                   (int)CUZK_JOB_CANCELLED == (int)ENGINE_STOPPED,
               "public job states are the engine's");

static const uint64_t MS = 1000000;

static uint64_t ms_to_ns(uint64_t ms) { return ms > UINT64_MAX / MS ? UINT64_MAX : ms * MS; }

static cuzk_result answer(cuzk_result r, const cuzk_error *err, cuzk_message *message) {
    if (r != CUZK_RESULT_OK && message != NULL) memcpy(message->text, err->text, sizeof message->text);
    return r;
}

static cuzk_result refuse(cuzk_message *message, cuzk_result r, const char *text) {
    cuzk_error err = {0};
    (void)cuzk_fail(&err, CUZK_ERR_USAGE, "%s", text);
    return answer(r, &err, message);
}

// Set to a copy of the text, NULL for NULL.
static bool copy_text(char **out, const char *text) {
    if (text == NULL) return true;
    const size_t n = strlen(text) + 1;
    *out = malloc(n);
    if (*out != NULL) memcpy(*out, text, n);
    return *out != NULL;
}

// --- making and ending ---

void cuzk_engine_options_init(cuzk_engine_options *options) {
    if (options == NULL) return;
    *options = (cuzk_engine_options){.size = sizeof *options};
}

cuzk_result cuzk_engine_new(cuzk_engine **out, const cuzk_engine_options *options, cuzk_message *message) {
    if (out == NULL) return refuse(message, CUZK_RESULT_USAGE, "out is NULL");
    *out = NULL;
    if (options != NULL && (options->size == 0 || options->size > sizeof *options))
        return refuse(message, CUZK_RESULT_USAGE, "options of an unknown size: was cuzk_engine_options_init called?");
    cuzk_engine *e = calloc(1, sizeof *e);
    if (e == NULL) return refuse(message, CUZK_RESULT_MEMORY, "no memory for an engine");
    cuzk_engine_options_init(&e->options);
    if (options != NULL) memcpy(&e->options, options, options->size);
    if (pce_cache_create(&e->programs, NULL, NULL) != CUZK_OK ||
        !copy_text(&e->timeline_path, e->options.timeline_path)) {
        pce_cache_destroy(&e->programs);
        free(e);
        return refuse(message, CUZK_RESULT_MEMORY, "no memory for an engine");
    }
    *out = e;
    return CUZK_RESULT_OK;
}

static void drop_kind(kind *k) {
    if (k->name == NULL)
        provider_porep_destroy(&k->prov);
    else
        provider_toy_destroy(&k->prov);
    free(k->name);
    free(k->label);
}

void cuzk_engine_free(cuzk_engine *e) {
    if (e == NULL) return;
    runtime_destroy(&e->rt);
    (void)recorder_close(&e->rec, NULL); // a timeline that cannot be written is no reason to fail
    device_close(&e->cpu);
    for (uint32_t i = 0; i < e->n_kinds; i++) drop_kind(&e->kinds[i]);
    pce_cache_destroy(&e->programs);
    free(e->timeline_path);
    free(e);
}

// A place for one more kind, or the reason why there is none.
static cuzk_result next_kind(cuzk_engine *e, kind **out, cuzk_message *message) {
    if (e->rt != NULL) return refuse(message, CUZK_RESULT_USAGE, "the engine was started already");
    if (e->n_kinds == KINDS_MAX) return refuse(message, CUZK_RESULT_USAGE, "too many kinds of proof");
    *out = &e->kinds[e->n_kinds];
    **out = (kind){0};
    return CUZK_RESULT_OK;
}

static void keep_kind(cuzk_engine *e, const kind *k) { e->providers[e->n_kinds++] = k->prov; }

cuzk_result cuzk_engine_add_porep(cuzk_engine *e, const char *params_dir, unsigned flags, cuzk_message *message) {
    kind *k = NULL;
    cuzk_error err = {0};
    if (e == NULL || params_dir == NULL) return refuse(message, CUZK_RESULT_USAGE, "engine or params_dir is NULL");
    if ((flags & ~(unsigned)(CUZK_SKIP_VANILLA_CHECK | CUZK_SKIP_SUBGROUP_CHECK)) != 0)
        return refuse(message, CUZK_RESULT_USAGE, "unknown flags");
    cuzk_result r = next_kind(e, &k, message);
    if (r != CUZK_RESULT_OK) return r;
    const provider_porep_options o = {.params_dir = params_dir,
                                      .check =
                                          (flags & CUZK_SKIP_SUBGROUP_CHECK) != 0 ? KEY_CHECK_CURVE : KEY_CHECK_FULL,
                                      .skip_vanilla_check = (flags & CUZK_SKIP_VANILLA_CHECK) != 0,
                                      .programs = e->programs};
    r = (cuzk_result)provider_porep_create(&k->prov, &o, &err);
    if (r == CUZK_RESULT_OK) keep_kind(e, k);
    return answer(r, &err, message);
}

cuzk_result cuzk_engine_add_toy(cuzk_engine *e, const char *name, uint32_t rows, uint32_t partitions, const char *label,
                                cuzk_message *message) {
    kind *k = NULL;
    cuzk_error err = {0};
    if (e == NULL || name == NULL || label == NULL)
        return refuse(message, CUZK_RESULT_USAGE, "engine, kind or label is NULL");
    cuzk_result r = next_kind(e, &k, message);
    if (r != CUZK_RESULT_OK) return r;
    const toy_shape shape = {rows, partitions};
    if (copy_text(&k->name, name) && copy_text(&k->label, label))
        r = (cuzk_result)provider_toy_create(&k->prov, k->name, &shape, k->label, e->programs, &err);
    else
        r = (cuzk_result)cuzk_fail(&err, CUZK_ERR_MEMORY, "no memory for a kind of proof");
    if (r == CUZK_RESULT_OK) {
        keep_kind(e, k);
    } else {
        free(k->name);
        free(k->label);
    }
    return answer(r, &err, message);
}

static bool engine_options(const cuzk_engine_options *o, engine_config *c) {
    static const engine_policy POLICIES[] = {ENGINE_PARTITION, ENGINE_STANDARD, ENGINE_SLOTTED, ENGINE_BATCH};
    if ((unsigned)o->policy >= sizeof POLICIES / sizeof *POLICIES) return false;
    *c = runtime_default_config();
    c->policy = POLICIES[o->policy];
    c->max_partitions = 256; // all of the largest toy
    if (o->slot_size != 0) c->slot_size = o->slot_size;
    if (o->batch_size != 0) c->batch_size = o->batch_size;
    if (o->memory_budget != 0) c->memory_budget = o->memory_budget;
    if (o->max_pending_jobs != 0) c->max_pending_jobs = o->max_pending_jobs;
    if (o->max_attempts != 0) c->max_attempts = o->max_attempts;
    if (o->max_finished != 0) c->max_finished = o->max_finished;
    c->batch_wait_ns = o->batch_wait_ms * MS;
    c->stage_timeout_ns = o->stage_timeout_ms * MS;
    return true;
}

cuzk_result cuzk_engine_start(cuzk_engine *e, cuzk_message *message) {
    cuzk_error err = {0};
    if (e == NULL) return refuse(message, CUZK_RESULT_USAGE, "engine is NULL");
    if (e->rt != NULL) return refuse(message, CUZK_RESULT_USAGE, "the engine was started already");
    const cuzk_engine_options *o = &e->options;
    const runtime_threads threads = runtime_split_threads(o->threads, o->synthesis_threads);
    runtime_options ro = {.devices = &e->cpu,
                          .n_devices = 1,
                          .providers = e->providers,
                          .n_providers = e->n_kinds,
                          .threads = threads.total,
                          .synthesis_threads = threads.synthesis,
                          .key_threads = threads.total,
                          .warn = o->warn,
                          .warn_ctx = o->user};
    if (!engine_options(o, &ro.engine)) return refuse(message, CUZK_RESULT_USAGE, "an unknown policy");
    ro.engine.synthesis_concurrency = threads.synthesis;
    cuzk_status s = CUZK_OK;
    if (e->timeline_path != NULL) {
        recorder_options rec = RECORDER_OPTIONS;
        rec.path = e->timeline_path;
        s = recorder_create(&e->rec, &rec, &err);
        ro.rec = e->rec;
    }
    if (s == CUZK_OK) s = device_open_cpu(&e->cpu, threads.device, &err);
    if (s == CUZK_OK) s = runtime_create(&e->rt, &ro, &err);
    if (s != CUZK_OK) { // may be tried again
        device_close(&e->cpu);
        (void)recorder_close(&e->rec, NULL);
    }
    return answer((cuzk_result)s, &err, message);
}

static bool running(const cuzk_engine *e) { return e != NULL && e->rt != NULL; }

static cuzk_result not_running(cuzk_message *message) {
    return refuse(message, CUZK_RESULT_USAGE, "the engine was not started");
}

// --- jobs ---

cuzk_result cuzk_engine_submit(cuzk_engine *e, cuzk_job *job, int *joined, const cuzk_request *request,
                               cuzk_message *message) {
    static const engine_priority PRIORITIES[] = {ENGINE_NORMAL, ENGINE_LOW, ENGINE_HIGH, ENGINE_CRITICAL};
    if (!running(e)) return not_running(message);
    if (job == NULL || request == NULL || request->kind == NULL || (request->input == NULL && request->input_len > 0))
        return refuse(message, CUZK_RESULT_USAGE, "job, request, kind or input is NULL");
    if ((unsigned)request->priority >= sizeof PRIORITIES / sizeof *PRIORITIES)
        return refuse(message, CUZK_RESULT_USAGE, "an unknown priority");
    const runtime_request r = {.kind = request->kind,
                               .input = request->input != NULL ? request->input : (const uint8_t *)"",
                               .input_len = request->input_len,
                               .client_id = request->id,
                               .priority = PRIORITIES[request->priority],
                               .timeout_ns = ms_to_ns(request->timeout_ms)};
    bool shared = false;
    engine_reason reason;
    cuzk_error err = {0};
    const cuzk_status s = runtime_submit(e->rt, job, &shared, &reason, &r, &err);
    if (joined != NULL) *joined = shared;
    cuzk_result result = (cuzk_result)s;
    if (s != CUZK_OK && reason == ENGINE_QUEUE_FULL) result = CUZK_RESULT_BUSY;
    if (s != CUZK_OK && reason == ENGINE_TOO_BIG) result = CUZK_RESULT_MEMORY;
    if (s != CUZK_OK && reason == ENGINE_DRAINING) result = CUZK_RESULT_CANCELLED;
    return answer(result, &err, message);
}

static double ms(uint64_t ns) { return (double)ns / 1e6; }

static void set_times(cuzk_job_info *info, const runtime_times *t) {
    info->queue_ms = ms(t->queue);
    info->key_load_ms = ms(t->key_load);
    info->synthesis_ms = ms(t->synthesis);
    info->device_ms = ms(t->device);
    info->verify_ms = ms(t->verify);
    info->total_ms = ms(t->total);
}

cuzk_result cuzk_engine_await(cuzk_engine *e, cuzk_job_info *info, cuzk_job job, uint64_t timeout_ms,
                              cuzk_message *message) {
    if (!running(e)) return not_running(message);
    if (info == NULL) return refuse(message, CUZK_RESULT_USAGE, "info is NULL");
    cuzk_error err = {0};
    runtime_result *r = NULL;
    runtime_progress p;
    cuzk_status s = runtime_await(e->rt, &r, job, ms_to_ns(timeout_ms), &err);
    if (s != CUZK_OK) return answer((cuzk_result)s, &err, message);
    *info = (cuzk_job_info){.job = job,
                            .state = (cuzk_job_state)r->state,
                            .reason = engine_reason_name(r->reason),
                            .partitions = r->partitions,
                            .retries = r->retries,
                            .proof_len = r->proof_len};
    set_times(info, &r->times);
    memcpy(info->text, r->text, strlen(r->text) + 1); // texts are at most as long as a message
    if (r->state == ENGINE_DONE)
        info->partitions_done = r->partitions;
    else if (runtime_job_progress(e->rt, &p, job, NULL) == CUZK_OK)
        info->partitions_done = p.view.partitions_done;
    runtime_result_free(&r);
    return CUZK_RESULT_OK;
}

cuzk_result cuzk_engine_progress(cuzk_engine *e, cuzk_job_info *info, cuzk_job job, cuzk_message *message) {
    return cuzk_engine_await(e, info, job, 0, message);
}

cuzk_result cuzk_engine_proof(cuzk_engine *e, uint8_t *proof, size_t *proof_len, cuzk_job job, cuzk_message *message) {
    if (!running(e)) return not_running(message);
    if (proof_len == NULL) return refuse(message, CUZK_RESULT_USAGE, "proof_len is NULL");
    cuzk_error err = {0};
    runtime_result *r = NULL;
    cuzk_result result = (cuzk_result)runtime_await(e->rt, &r, job, 0, &err);
    if (result != CUZK_RESULT_OK) return answer(result, &err, message);
    if (r->state < ENGINE_DONE) {
        result = (cuzk_result)cuzk_fail(&err, CUZK_ERR_USAGE, "the job is not done yet");
    } else if (r->state != ENGINE_DONE) {
        result = r->state == ENGINE_STOPPED ? CUZK_RESULT_CANCELLED : CUZK_RESULT_INTERNAL;
        (void)cuzk_fail(&err, CUZK_ERR_INTERNAL, "%s", r->text);
    } else if (proof == NULL || *proof_len < r->proof_len) {
        result = CUZK_RESULT_BUFFER;
        (void)cuzk_fail(&err, CUZK_ERR_USAGE, "the proof needs %zu bytes, the buffer has %zu", r->proof_len,
                        proof == NULL ? 0 : *proof_len);
        *proof_len = r->proof_len;
    } else {
        memcpy(proof, r->proof, r->proof_len);
        *proof_len = r->proof_len;
    }
    runtime_result_free(&r);
    return answer(result, &err, message);
}

cuzk_result cuzk_engine_cancel(cuzk_engine *e, cuzk_job job, cuzk_message *message) {
    if (!running(e)) return not_running(message);
    cuzk_error err = {0};
    return answer((cuzk_result)runtime_cancel(e->rt, job, NULL, &err), &err, message);
}

cuzk_result cuzk_engine_drain(cuzk_engine *e, int *drained, uint64_t timeout_ms, cuzk_message *message) {
    if (!running(e)) return not_running(message);
    if (drained == NULL) return refuse(message, CUZK_RESULT_USAGE, "drained is NULL");
    *drained = runtime_drain(e->rt, ms_to_ns(timeout_ms));
    return CUZK_RESULT_OK;
}

// --- keys and figures ---

cuzk_result cuzk_engine_preload(cuzk_engine *e, const char *key, cuzk_message *message) {
    if (!running(e)) return not_running(message);
    if (key == NULL) return refuse(message, CUZK_RESULT_USAGE, "key is NULL");
    cuzk_error err = {0};
    bool already;
    uint64_t ns;
    return answer((cuzk_result)runtime_preload_named(e->rt, key, &already, &ns, &err), &err, message);
}

cuzk_result cuzk_engine_evict(cuzk_engine *e, uint64_t *freed, const char *key, cuzk_message *message) {
    if (!running(e)) return not_running(message);
    if (key == NULL) return refuse(message, CUZK_RESULT_USAGE, "key is NULL");
    cuzk_error err = {0};
    bool was_loaded;
    uint64_t bytes;
    engine_reason reason;
    const cuzk_status s = runtime_evict_named(e->rt, key, &was_loaded, &bytes, &reason, &err);
    if (freed != NULL) *freed = bytes;
    return answer((cuzk_result)s, &err, message);
}

void cuzk_engine_figures_of(cuzk_engine *e, cuzk_engine_figures *f) {
    if (f == NULL) return;
    *f = (cuzk_engine_figures){0};
    if (!running(e)) return;
    runtime_stats s;
    runtime_stats_of(e->rt, &s);
    *f = (cuzk_engine_figures){.accepted = s.engine.accepted,
                               .refused = s.engine.refused,
                               .queued = s.engine.queued,
                               .running = s.engine.running,
                               .done = s.engine.done,
                               .failed = s.engine.failed,
                               .cancelled = s.engine.cancelled,
                               .retries = s.engine.retries,
                               .memory_reserved = s.engine.memory_reserved,
                               .memory_peak = s.engine.memory_peak,
                               .keys_loaded = s.engine.keys_loaded};
}
