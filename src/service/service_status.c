// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A snapshot as JSON. The members outside "cuzk" are those of the public daemon's status, so that its dashboards work;
// what it cannot say is inside.
#include <string.h>

#include <jansson.h>

#include "base/mem.h"
#include "service/service_internal.h"

enum { SHOWN_S = 30 }; // ended jobs stay among the pipelines for so long

// Jansson's integers are signed.
static json_t *number(uint64_t n) { return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n); }
static json_t *text_or_null(const char *s) { return s[0] != 0 ? json_string(s) : json_null(); }

// Every setter takes its value over, also when memory is refused, which is noticed at the end: an object without a
// member that was asked for is not printed.
typedef struct builder {
    bool failed;
} builder;

static void put(builder *b, json_t *object, const char *name, json_t *value) {
    if (json_object_set_new(object, name, value) != 0) b->failed = true;
}
static void put_n(builder *b, json_t *object, const char *name, uint64_t n) { put(b, object, name, number(n)); }
static void put_f(builder *b, json_t *object, const char *name, double x) { put(b, object, name, json_real(x)); }
static void put_s(builder *b, json_t *object, const char *name, const char *s) { put(b, object, name, json_string(s)); }
static void add(builder *b, json_t *array, json_t *value) {
    if (json_array_append_new(array, value) != 0) b->failed = true;
}

static json_t *memory(builder *b, const service_snapshot *n) {
    json_t *o = json_object();
    put_n(b, o, "total_bytes", n->memory_total);
    put_n(b, o, "used_bytes", n->memory_used);
    put_n(b, o, "available_bytes", n->memory_total > n->memory_used ? n->memory_total - n->memory_used : 0);
    return o;
}

static const char *partition_state(runtime_stage stage) {
    switch (stage) {
    case RUNTIME_WAITING: return "pending";
    case RUNTIME_SYNTHESIS: return "synthesizing";
    case RUNTIME_CHANNEL: return "synth_done";
    case RUNTIME_DEVICE:
    case RUNTIME_VERIFY: return "gpu";
    case RUNTIME_PROVEN: return "done";
    case RUNTIME_DROPPED: break;
    }
    return "failed";
}

static json_t *partition(builder *b, const runtime_partition *p, uint32_t index) {
    const bool synthesised = p->synthesis_ns > 0 || p->stage == RUNTIME_SYNTHESIS;
    const bool on_device = p->device_ns > 0 || p->stage == RUNTIME_DEVICE;
    json_t *o = json_object();
    put_n(b, o, "index", index);
    put_s(b, o, "state", partition_state(p->stage));
    put(b, o, "synth_ms", synthesised ? number(p->synthesis_ns / 1000000) : json_null());
    put(b, o, "gpu_ms", on_device ? number(p->device_ns / 1000000) : json_null());
    return o;
}

static bool ended(const service_job_view *j) { return j->state != ENGINE_QUEUED && j->state != ENGINE_RUNNING; }

static json_t *pipelines(builder *b, const service_snapshot *n) {
    json_t *a = json_array();
    for (size_t i = 0; i < n->n_jobs; i++) {
        const service_job_view *j = &n->jobs[i];
        if (ended(j) && j->since_end_s > SHOWN_S) continue;
        json_t *o = json_object(), *parts = json_array();
        put_s(b, o, "job_id", j->job_id);
        put_s(b, o, "proof_kind", service_kind_public_name(j->kind));
        put_f(b, o, "started_secs_ago", j->age_s + j->since_end_s);
        put_n(b, o, "total_partitions", j->partitions);
        put_n(b, o, "partitions_done", j->done);
        for (uint32_t k = 0; k < j->partitions; k++) add(b, parts, partition(b, &j->parts[k], k));
        put(b, o, "partitions", parts);
        add(b, a, o);
    }
    return a;
}

static double seconds_since(const service_snapshot *n, uint64_t ns) {
    return n->taken_ns > ns ? (double)(n->taken_ns - ns) / 1e9 : 0;
}

static json_t *gpu_workers(builder *b, const service_snapshot *n) {
    json_t *a = json_array();
    uint32_t id = 0;
    for (size_t i = 0; i < n->n_workers; i++) {
        const runtime_worker *w = &n->workers[i];
        if (!w->on_device) continue;
        const bool busy = w->job != 0;
        json_t *o = json_object();
        put_n(b, o, "worker_id", id++);
        put_n(b, o, "gpu_ordinal", w->device);
        put_s(b, o, "state", busy ? "proving" : "idle");
        put(b, o, "current_job", busy ? json_string(n->worker_jobs[i]) : json_null());
        put(b, o, "current_partition", busy ? number(w->partition) : json_null());
        put(b, o, "busy_secs", busy ? json_real(seconds_since(n, w->since_ns)) : json_null());
        add(b, a, o);
    }
    return a;
}

static json_t *allocations(builder *b, const service_snapshot *n) {
    json_t *o = json_object(), *srs = json_array();
    for (size_t i = 0; i < n->n_keys; i++) {
        const service_key_view *k = &n->keys[i];
        if (!k->loaded) continue;
        json_t *e = json_object();
        put_s(b, e, "circuit_id", k->circuit_id);
        put_n(b, e, "bytes", k->bytes);
        put_f(b, e, "last_used_secs_ago", k->idle_s);
        put(b, e, "evictable", json_boolean(k->users == 0));
        add(b, srs, e);
    }
    put(b, o, "srs", srs);
    put(b, o, "pce", json_array());
    return o;
}

static service_counts total(const service_snapshot *n) {
    service_counts sum = {0};
    for (uint32_t k = 0; k < SERVICE_KIND_SLOTS; k++) {
        sum.queued += n->by_kind[k].queued;
        sum.running += n->by_kind[k].running;
        sum.completed += n->by_kind[k].completed;
        sum.failed += n->by_kind[k].failed;
        sum.cancelled += n->by_kind[k].cancelled;
    }
    return sum;
}

static json_t *counters(builder *b, const service_snapshot *n) {
    const service_counts sum = total(n);
    json_t *o = json_object(), *completed = json_object(), *failed = json_object();
    for (uint32_t k = 0; k < SERVICE_KIND_SLOTS; k++) {
        const char *name = service_kind_public_name(service_kind_of_slot(k));
        if (n->by_kind[k].completed > 0) put_n(b, completed, name, n->by_kind[k].completed);
        if (n->by_kind[k].failed > 0) put_n(b, failed, name, n->by_kind[k].failed);
    }
    put_n(b, o, "total_completed", sum.completed);
    put_n(b, o, "total_failed", sum.failed);
    put(b, o, "completed_by_kind", completed);
    put(b, o, "failed_by_kind", failed);
    put_n(b, o, "queue_depth", sum.queued);
    return o;
}

static json_t *buffers(builder *b, const service_snapshot *n) {
    const engine_stats *e = &n->stats.engine;
    const uint64_t before = e->synthesising + e->blocked + e->in_channel + e->on_device;
    json_t *o = json_object();
    put_n(b, o, "synth_in_flight", e->synthesising + e->blocked);
    put_n(b, o, "provers_in_flight", e->in_channel + e->on_device);
    put_n(b, o, "aux_in_flight", e->units_live);
    put_n(b, o, "shells_in_flight", 0);
    put_n(b, o, "pending_handles", e->units_live > before ? e->units_live - before : 0); // being verified or freed
    return o;
}

// --- ours ---

static json_t *devices(builder *b, const service_snapshot *n) {
    json_t *a = json_array();
    for (size_t i = 0; i < n->n_devices; i++) {
        const service_device_view *d = &n->devices[i];
        json_t *o = json_object();
        put_n(b, o, "ordinal", d->ordinal);
        put_s(b, o, "name", d->name);
        put(b, o, "healthy", json_boolean(d->healthy));
        put(b, o, "fallback", json_boolean(d->fallback));
        put_n(b, o, "runs", d->runs);
        put_n(b, o, "failures", d->failures);
        put_f(b, o, "busy_secs", d->busy_s);
        put(b, o, "current_job", text_or_null(d->job_id));
        add(b, a, o);
    }
    return a;
}

static json_t *keys(builder *b, const service_snapshot *n) {
    json_t *a = json_array();
    for (size_t i = 0; i < n->n_keys; i++) {
        const service_key_view *k = &n->keys[i];
        json_t *o = json_object();
        put_s(b, o, "circuit_id", k->circuit_id);
        put(b, o, "loaded", json_boolean(k->loaded));
        put(b, o, "loading", json_boolean(k->loading));
        put_n(b, o, "bytes", k->bytes);
        put_n(b, o, "users", k->users);
        put_n(b, o, "loads", k->loads);
        put_f(b, o, "last_used_secs_ago", k->idle_s);
        add(b, a, o);
    }
    return a;
}

static const char *state_name(engine_job_state s) {
    switch (s) {
    case ENGINE_QUEUED: return "queued";
    case ENGINE_RUNNING: return "running";
    case ENGINE_DONE: return "done";
    case ENGINE_STOPPED: return "cancelled";
    case ENGINE_FAILED: break;
    }
    return "failed";
}

static json_t *jobs(builder *b, const service_snapshot *n) {
    static const char *const PRIORITIES[ENGINE_PRIORITIES] = {"low", "normal", "high", "critical"};
    json_t *a = json_array();
    for (size_t i = 0; i < n->n_jobs; i++) {
        const service_job_view *j = &n->jobs[i];
        json_t *o = json_object();
        put_s(b, o, "job_id", j->job_id);
        put_s(b, o, "kind", service_kind_name(j->kind));
        put_s(b, o, "state", state_name(j->state));
        put(b, o, "reason", j->reason != ENGINE_NO_REASON ? json_string(engine_reason_name(j->reason)) : json_null());
        put_s(b, o, "priority", PRIORITIES[j->priority]);
        put_s(b, o, "stage", j->stage);
        put_n(b, o, "partitions", j->partitions);
        put_n(b, o, "partitions_done", j->done);
        put_f(b, o, "age_secs", j->age_s);
        put_f(b, o, "run_secs", j->run_s);
        add(b, a, o);
    }
    return a;
}

static json_t *workers(builder *b, const service_snapshot *n) {
    json_t *a = json_array();
    for (size_t i = 0; i < n->n_workers; i++) {
        const runtime_worker *w = &n->workers[i];
        json_t *o = json_object();
        put_s(b, o, "role", w->on_device ? "device" : "synthesis");
        put(b, o, "device", w->on_device ? number(w->device) : json_null());
        put_n(b, o, "worker", w->worker);
        put(b, o, "job_id", w->job != 0 ? json_string(n->worker_jobs[i]) : json_null());
        put(b, o, "partition", w->job != 0 ? number(w->partition) : json_null());
        put(b, o, "count", w->job != 0 ? number(w->count) : json_null());
        put(b, o, "secs", w->job != 0 ? json_real(seconds_since(n, w->since_ns)) : json_null());
        add(b, a, o);
    }
    return a;
}

static json_t *counts(builder *b, const service_snapshot *n) {
    const service_counts sum = total(n);
    json_t *o = json_object();
    put_n(b, o, "accepted", n->accepted);
    put_n(b, o, "queued", sum.queued);
    put_n(b, o, "running", sum.running);
    put_n(b, o, "completed", sum.completed);
    put_n(b, o, "failed", sum.failed);
    put_n(b, o, "cancelled", sum.cancelled);
    return o;
}

static json_t *engine(builder *b, const service_snapshot *n) {
    const engine_stats *e = &n->stats.engine;
    json_t *o = json_object();
    put_n(b, o, "retries", e->retries);
    put_n(b, o, "fallbacks", e->fallbacks);
    put_n(b, o, "wrong_proofs", n->stats.wrong_proofs);
    put_n(b, o, "discarded_units", e->discarded);
    put_n(b, o, "stage_timeouts", e->stage_timeouts);
    put_n(b, o, "key_loads", e->key_loads);
    put_n(b, o, "key_evictions", e->key_evictions);
    put_n(b, o, "synthesising", e->synthesising);
    put_n(b, o, "blocked", e->blocked);
    put_n(b, o, "in_channel", e->in_channel);
    put_n(b, o, "on_device", e->on_device);
    return o;
}

static json_t *our_memory(builder *b, const service *s, const service_snapshot *n) {
    json_t *o = json_object(), *tags = json_object();
    put(b, o, "limited", json_boolean(s->budget != UINT64_MAX));
    put_n(b, o, "reserved_bytes", n->stats.engine.memory_reserved);
    put_n(b, o, "reserved_peak_bytes", n->stats.engine.memory_peak);
    put_n(b, o, "key_bytes", n->stats.engine.memory_keys);
    put_n(b, o, "input_bytes", n->input_bytes);
    for (int t = 0; t < MEM_TAGS; t++) {
        const mem_usage u = mem_usage_of((mem_tag)t);
        json_t *e = json_object();
        put_n(b, e, "live", u.live);
        put_n(b, e, "peak", u.peak);
        put(b, tags, mem_tag_name((mem_tag)t), e);
    }
    put(b, o, "by_purpose", tags);
    return o;
}

static json_t *timeline(builder *b, service *s) {
    const recorder_stats r = recorder_stats_of(s->rec);
    json_t *o = json_object();
    put_n(b, o, "recorded", r.recorded);
    put_n(b, o, "dropped", r.dropped);
    put_n(b, o, "written", r.written);
    put_n(b, o, "lost", r.lost);
    put_n(b, o, "next_seq", r.next_seq);
    put_n(b, o, "oldest_seq", r.oldest_seq);
    return o;
}

static json_t *limits(builder *b, const service *s) {
    json_t *o = json_object();
    put_n(b, o, "max_pending_jobs", s->opt.engine.max_pending_jobs);
    put_n(b, o, "max_message_bytes", s->max_message);
    put_n(b, o, "max_input_bytes", s->max_input);
    return o;
}

// The newest first.
static json_t *errors(builder *b, service *s, const service_snapshot *n) {
    json_t *a = json_array();
    pthread_mutex_lock(&s->trouble_lock);
    for (uint64_t i = s->n_troubles; i > 0 && s->n_troubles - i < SERVICE_ERRORS_KEPT; i--) {
        const service_trouble *t = &s->troubles[(i - 1) % SERVICE_ERRORS_KEPT];
        json_t *o = json_object();
        put_f(b, o, "secs_ago", seconds_since(n, t->at_ns));
        put_s(b, o, "text", t->text);
        add(b, a, o);
    }
    pthread_mutex_unlock(&s->trouble_lock);
    return a;
}

static json_t *insecure(builder *b, service *s) {
    json_t *a = json_array();
    pthread_mutex_lock(&s->trouble_lock);
    for (size_t i = 0; i < s->insecure.n; i++) add(b, a, json_string(s->insecure.text[i]));
    pthread_mutex_unlock(&s->trouble_lock);
    return a;
}

static json_t *ours(builder *b, service *s, const service_snapshot *n) {
    json_t *o = json_object();
    put_s(b, o, "version", CUZK_VERSION);
    put(b, o, "draining", json_boolean(n->draining));
    put(b, o, "insecure", insecure(b, s));                     // why proofs are worth nothing; empty: they are proofs
    put_f(b, o, "now_ms", (double)recorder_now(s->rec) / 1e6); // in the timeline's time
    put_n(b, o, "resident_bytes", n->resident_bytes);
    put(b, o, "counts", counts(b, n));
    put(b, o, "jobs", jobs(b, n));
    put(b, o, "devices", devices(b, n));
    put(b, o, "workers", workers(b, n));
    put(b, o, "keys", keys(b, n));
    put(b, o, "engine", engine(b, n));
    put(b, o, "memory", our_memory(b, s, n));
    put(b, o, "timeline", timeline(b, s));
    put(b, o, "limits", limits(b, s));
    put(b, o, "errors", errors(b, s, n));
    return o;
}

cuzk_status service_status_json(service *s, char **out, size_t *len, cuzk_error *err) {
    *out = NULL;
    *len = 0;
    service_snapshot *n;
    cuzk_status st = service_look(s, &n, err);
    if (st != CUZK_OK) return st;
    builder b = {0};
    json_t *o = json_object(), *synthesis = json_object();
    put_f(&b, o, "uptime_secs", n->uptime_s);
    put(&b, o, "memory", memory(&b, n));
    put_n(&b, synthesis, "max_concurrent", n->synthesis_max);
    put_n(&b, synthesis, "active", n->stats.engine.synthesising);
    put(&b, o, "synthesis", synthesis);
    put(&b, o, "pipelines", pipelines(&b, n));
    put(&b, o, "gpu_workers", gpu_workers(&b, n));
    put(&b, o, "allocations", allocations(&b, n));
    put(&b, o, "counters", counters(&b, n));
    put(&b, o, "buffers", buffers(&b, n));
    put(&b, o, "cuzk", ours(&b, s, n));
    char *text = b.failed ? NULL : json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(15));
    json_decref(o);
    service_snapshot_free(&n);
    if (text == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a status");
    *out = text;
    *len = strlen(text);
    return CUZK_OK;
}
