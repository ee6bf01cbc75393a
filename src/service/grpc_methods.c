// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The calls of cuzk.v1.ProvingEngine, each a question to the service and its answer in the words of the wire.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grpc/slice.h>

#include "base/log.h"
#include "proving.pb-c.h"
#include "service/grpc_internal.h"

enum { NS_PER_MS = 1000000 };

static void drop(void *message) { protobuf_c_message_free_unpacked(message, NULL); }

// protobuf-c has no const; what it packs it only reads.
static char *text_of(const char *text) { return (char *)(uintptr_t)(text == NULL ? "" : text); }

// Whose doing it is, for whoever wonders later.
static void log_peer(const rpc_call *call, const char *job, const char *key, const char *what) {
    char peer[RPC_PEER_MAX];
    rpc_call_peer(call, peer);
    log_write(LOG_INFO, "grpc", job, "%s%s%s by %s", key != NULL ? "key " : "", key != NULL ? key : "", what, peer);
}

static void reply(rpc_call *call, const ProtobufCMessage *message) { rpc_reply(call, wire_pack(message)); }

// --- proofs ---

static void fill_result(Cuzk__V1__AwaitProofResponse *m, const service_result *result) {
    cuzk__v1__await_proof_response__init(m);
    m->job_id = text_of(result->job_id);
    m->status = (Cuzk__V1__AwaitProofResponse__Status)result->outcome;
    if (result->outcome == SERVICE_JOB_COMPLETED) {
        m->proof.data = (uint8_t *)(uintptr_t)result->proof;
        m->proof.len = result->proof_len;
    } else {
        m->error_message = text_of(result->text);
    }
    const runtime_times *t = &result->times;
    m->queue_wait_ms = t->queue / NS_PER_MS;
    m->srs_load_ms = t->key_load / NS_PER_MS;
    m->synthesis_ms = t->synthesis / NS_PER_MS;
    m->gpu_compute_ms = t->device / NS_PER_MS;
    m->total_ms = t->total / NS_PER_MS;
}

static void awaited(void *ctx, const service_result *result) {
    Cuzk__V1__AwaitProofResponse m;
    fill_result(&m, result);
    reply(ctx, &m.base);
}

static void proven(void *ctx, const service_result *result) {
    Cuzk__V1__AwaitProofResponse inner;
    fill_result(&inner, result);
    Cuzk__V1__ProveResponse m;
    cuzk__v1__prove_response__init(&m);
    m.result = &inner;
    reply(ctx, &m.base);
}

// The answer comes from `fn`, in this call or later.
static void await_job(rpc_call *call, runtime_job job, uint64_t timeout_ms, service_done fn, bool abandon) {
    service *s = call->server->service;
    service_watch *watch = NULL;
    service_error err = {0};
    if (service_await(s, &watch, job, timeout_ms, fn, call, &err) != SERVICE_OK) {
        rpc_fail(call, &err);
        return;
    }
    pthread_mutex_lock(&call->lock);
    const bool gone = atomic_load(&call->gone);
    if (!gone) {
        call->watch = watch;
        call->abandon = abandon;
    }
    pthread_mutex_unlock(&call->lock);
    if (gone) service_unwatch(s, &watch, abandon && !atomic_load(&call->server->stopping));
}

static service_code submit(rpc_call *call, service_submitted *out, const Cuzk__V1__SubmitProofRequest *m,
                           service_error *err) {
    const size_t n = m->n_vanilla_proofs;
    const uint8_t **data = malloc((n + 1) * sizeof *data);
    size_t *lens = malloc((n + 1) * sizeof *lens);
    if (data == NULL || lens == NULL) {
        free(data);
        free(lens);
        *err = (service_error){.code = SERVICE_RESOURCE_EXHAUSTED, .text = "out of memory"};
        return err->code;
    }
    for (size_t i = 0; i < n; i++) {
        data[i] = m->vanilla_proofs[i].data;
        lens[i] = m->vanilla_proofs[i].len;
    }
    const service_request request = {
        .request_id = m->request_id,
        .kind = (uint32_t)m->proof_kind,
        .priority = (uint32_t)m->priority,
        .sector_size = m->sector_size,
        .registered_proof = m->registered_proof,
        .vanilla_proof = m->vanilla_proof.data,
        .vanilla_proof_len = m->vanilla_proof.len,
        .vanilla_proofs = data,
        .vanilla_proof_lens = lens,
        .n_vanilla_proofs = n,
        .sector_number = m->sector_number,
        .miner_id = m->miner_id,
        .partition_index = m->partition_index,
        .randomness = m->randomness.data,
        .randomness_len = m->randomness.len,
        .comm_r_old = m->comm_r_old.data,
        .comm_r_old_len = m->comm_r_old.len,
        .comm_r_new = m->comm_r_new.data,
        .comm_r_new_len = m->comm_r_new.len,
        .comm_d_new = m->comm_d_new.data,
        .comm_d_new_len = m->comm_d_new.len,
    };
    const service_code code = service_submit(call->server->service, out, &request, err);
    if (code == SERVICE_OK) log_peer(call, out->job_id, NULL, "asked for");
    free(data);
    free(lens);
    return code;
}

// The device that works on the job at this moment, "" if none does.
static void name_device(char *out, size_t cap, service *s, const char *job_id) {
    service_snapshot *snap;
    out[0] = 0;
    if (service_look(s, &snap, NULL) != CUZK_OK) return;
    for (size_t i = 0; i < snap->n_devices && out[0] == 0; i++) {
        if (strcmp(snap->devices[i].job_id, job_id) == 0) snprintf(out, cap, "%s", snap->devices[i].name);
    }
    service_snapshot_free(&snap);
}

static void submit_proof(rpc_call *call) {
    Cuzk__V1__SubmitProofRequest *m = rpc_unpack(call, &cuzk__v1__submit_proof_request__descriptor);
    if (m == NULL) return;
    service_submitted out = {0};
    service_error err = {0};
    if (submit(call, &out, m, &err) == SERVICE_OK) {
        Cuzk__V1__SubmitProofResponse answer;
        cuzk__v1__submit_proof_response__init(&answer);
        answer.job_id = out.job_id;
        answer.queue_position = out.queue_position;
        char at[128] = "";
        if (out.joined) name_device(at, sizeof at, call->server->service, out.job_id); // else nobody has it yet
        answer.assigned_gpu = at;
        reply(call, &answer.base);
    } else {
        rpc_fail(call, &err);
    }
    drop(m);
}

static void prove(rpc_call *call) {
    Cuzk__V1__ProveRequest *m = rpc_unpack(call, &cuzk__v1__prove_request__descriptor);
    if (m == NULL) return;
    service_submitted out = {0};
    service_error err = {0};
    service_code code = SERVICE_INVALID_ARGUMENT;
    if (m->submit == NULL)
        err = (service_error){.code = code, .text = "submit: missing"};
    else
        code = submit(call, &out, m->submit, &err);
    drop(m); // before the wait: it may hold a whole C1
    if (code == SERVICE_OK)
        await_job(call, out.job, 0, proven, call->server->options.cancel_on_disconnect);
    else
        rpc_fail(call, &err);
}

static void await_proof(rpc_call *call) {
    Cuzk__V1__AwaitProofRequest *m = rpc_unpack(call, &cuzk__v1__await_proof_request__descriptor);
    if (m == NULL) return;
    runtime_job job;
    service_error err = {0};
    if (service_find(call->server->service, &job, m->job_id, &err) == SERVICE_OK)
        await_job(call, job, m->timeout_ms, awaited, false);
    else
        rpc_fail(call, &err);
    drop(m);
}

static void cancel_proof(rpc_call *call) {
    Cuzk__V1__CancelProofRequest *m = rpc_unpack(call, &cuzk__v1__cancel_proof_request__descriptor);
    if (m == NULL) return;
    bool was_running = false;
    service_error err = {0};
    if (service_cancel(call->server->service, m->job_id, &was_running, &err) == SERVICE_OK) {
        log_peer(call, m->job_id, NULL, was_running ? "cancelled while it ran" : "cancelled");
        Cuzk__V1__CancelProofResponse answer;
        cuzk__v1__cancel_proof_response__init(&answer);
        answer.was_running = was_running;
        reply(call, &answer.base);
    } else {
        rpc_fail(call, &err);
    }
    drop(m);
}

// --- keys ---

static void preload(rpc_call *call) {
    Cuzk__V1__PreloadSrsRequest *m = rpc_unpack(call, &cuzk__v1__preload_srs_request__descriptor);
    if (m == NULL) return;
    bool already = false;
    uint64_t load_ms = 0;
    service_error err = {0};
    if (service_preload(call->server->service, m->circuit_id, &already, &load_ms, &err) == SERVICE_OK) {
        log_peer(call, NULL, m->circuit_id, " asked for");
        Cuzk__V1__PreloadSrsResponse answer;
        cuzk__v1__preload_srs_response__init(&answer);
        answer.already_loaded = already;
        answer.load_time_ms = load_ms;
        reply(call, &answer.base);
    } else {
        rpc_fail(call, &err);
    }
    drop(m);
}

static void evict(rpc_call *call) {
    Cuzk__V1__EvictSrsRequest *m = rpc_unpack(call, &cuzk__v1__evict_srs_request__descriptor);
    if (m == NULL) return;
    bool was_loaded = false;
    uint64_t freed = 0;
    service_error err = {0};
    if (service_evict(call->server->service, m->circuit_id, &was_loaded, &freed, &err) == SERVICE_OK) {
        log_peer(call, NULL, m->circuit_id, " evicted");
        Cuzk__V1__EvictSrsResponse answer;
        cuzk__v1__evict_srs_response__init(&answer);
        answer.was_loaded = was_loaded;
        answer.freed_bytes = freed;
        reply(call, &answer.base);
    } else {
        rpc_fail(call, &err);
    }
    drop(m);
}

// --- questions ---

static void fail_status(rpc_call *call, const cuzk_error *err) {
    rpc_failf(call, err->status == CUZK_ERR_MEMORY ? SERVICE_RESOURCE_EXHAUSTED : SERVICE_INTERNAL, "%s", err->text);
}

static uint32_t to_u32(uint64_t n) { return n > UINT32_MAX ? UINT32_MAX : (uint32_t)n; }

// The arrays of the answer point into these.
typedef struct status_parts {
    Cuzk__V1__GPUStatus *gpus, **gpu_list;
    Cuzk__V1__SRSStatus *keys, **key_list;
    Cuzk__V1__QueueStatus queues[SERVICE_KINDS + 1], *queue_list[SERVICE_KINDS + 1];
} status_parts;

static void fill_status(Cuzk__V1__GetStatusResponse *m, status_parts *p, const service_snapshot *snap) {
    cuzk__v1__get_status_response__init(m);
    for (size_t i = 0; i < snap->n_devices; i++) {
        const service_device_view *from = &snap->devices[i];
        Cuzk__V1__GPUStatus *to = p->gpu_list[i] = &p->gpus[i];
        cuzk__v1__gpustatus__init(to);
        to->ordinal = from->ordinal;
        to->name = text_of(from->name);
        // All devices of this build compute in the machine's memory.
        to->vram_total_bytes = snap->memory_total;
        to->vram_free_bytes = snap->memory_total > snap->memory_used ? snap->memory_total - snap->memory_used : 0;
        to->current_job_id = text_of(from->job_id);
        if (from->job_id[0] != 0) to->current_proof_kind = text_of(service_kind_name(from->kind));
    }
    m->gpus = p->gpu_list;
    m->n_gpus = snap->n_devices;
    for (size_t i = 0; i < snap->n_keys; i++) {
        const service_key_view *from = &snap->keys[i];
        Cuzk__V1__SRSStatus *to = p->key_list[i] = &p->keys[i];
        cuzk__v1__srsstatus__init(to);
        to->circuit_id = text_of(from->circuit_id);
        to->tier = from->loaded    ? CUZK__V1__SRSSTATUS__TIER__HOT
                   : from->loading ? CUZK__V1__SRSSTATUS__TIER__WARM
                                   : CUZK__V1__SRSSTATUS__TIER__COLD;
        to->size_bytes = from->bytes;
        to->ref_count = from->users;
    }
    m->loaded_srs = p->key_list;
    m->n_loaded_srs = snap->n_keys;
    // The toy's line only where there is something to say; that of no kind never.
    for (size_t k = SERVICE_POREP; k <= SERVICE_KINDS; k++) {
        const service_counts *from = &snap->by_kind[k];
        m->total_proofs_completed += from->completed;
        m->total_proofs_failed += from->failed;
        if (k == SERVICE_KINDS && from->queued + from->running + from->completed + from->failed + from->cancelled == 0)
            continue;
        Cuzk__V1__QueueStatus *to = p->queue_list[m->n_queues] = &p->queues[m->n_queues];
        m->n_queues++;
        cuzk__v1__queue_status__init(to);
        to->proof_kind = text_of(service_kind_name(k == SERVICE_KINDS ? SERVICE_TOY : (service_kind)k));
        to->pending = to_u32(from->queued);
        to->in_progress = to_u32(from->running);
    }
    m->queues = p->queue_list;
    m->uptime_seconds = (uint64_t)snap->uptime_s;
    m->pinned_memory_bytes = snap->memory_used;
    m->pinned_memory_limit_bytes = snap->memory_total;
}

static void get_status(rpc_call *call) {
    Cuzk__V1__GetStatusRequest *m = rpc_unpack(call, &cuzk__v1__get_status_request__descriptor);
    if (m == NULL) return;
    drop(m);
    service_snapshot *snap;
    cuzk_error err = {0};
    if (service_look(call->server->service, &snap, &err) != CUZK_OK) {
        fail_status(call, &err);
        return;
    }
    status_parts p = {.gpus = malloc((snap->n_devices + 1) * sizeof *p.gpus),
                      .gpu_list = malloc((snap->n_devices + 1) * sizeof *p.gpu_list),
                      .keys = malloc((snap->n_keys + 1) * sizeof *p.keys),
                      .key_list = malloc((snap->n_keys + 1) * sizeof *p.key_list)};
    if (p.gpus != NULL && p.gpu_list != NULL && p.keys != NULL && p.key_list != NULL) {
        Cuzk__V1__GetStatusResponse answer;
        fill_status(&answer, &p, snap);
        reply(call, &answer.base);
    } else {
        rpc_failf(call, SERVICE_RESOURCE_EXHAUSTED, "out of memory");
    }
    free(p.gpus);
    free(p.gpu_list);
    free(p.keys);
    free(p.key_list);
    service_snapshot_free(&snap);
}

static void get_status_json(rpc_call *call) {
    Cuzk__V1__GetStatusJsonRequest *m = rpc_unpack(call, &cuzk__v1__get_status_json_request__descriptor);
    if (m == NULL) return;
    drop(m);
    char *json;
    size_t len;
    cuzk_error err = {0};
    if (service_status_json(call->server->service, &json, &len, &err) != CUZK_OK) {
        fail_status(call, &err);
        return;
    }
    Cuzk__V1__GetStatusJsonResponse answer;
    cuzk__v1__get_status_json_response__init(&answer);
    answer.json = json;
    reply(call, &answer.base);
    free(json);
}

static void get_metrics(rpc_call *call) {
    Cuzk__V1__GetMetricsRequest *m = rpc_unpack(call, &cuzk__v1__get_metrics_request__descriptor);
    if (m == NULL) return;
    drop(m);
    char *text;
    size_t len;
    cuzk_error err = {0};
    if (service_metrics(call->server->service, &text, &len, &err) != CUZK_OK) {
        fail_status(call, &err);
        return;
    }
    Cuzk__V1__GetMetricsResponse answer;
    cuzk__v1__get_metrics_response__init(&answer);
    answer.prometheus_text = text;
    reply(call, &answer.base);
    free(text);
}

// --- all methods ---

static const rpc_method methods[] = {
    {"/cuzk.v1.ProvingEngine/SubmitProof", RPC_PARSE, submit_proof, false},
    {"/cuzk.v1.ProvingEngine/AwaitProof", RPC_INLINE, await_proof, false},
    {"/cuzk.v1.ProvingEngine/Prove", RPC_PARSE, prove, false},
    {"/cuzk.v1.ProvingEngine/CancelProof", RPC_INLINE, cancel_proof, false},
    {"/cuzk.v1.ProvingEngine/GetStatus", RPC_INLINE, get_status, false},
    {"/cuzk.v1.ProvingEngine/GetStatusJson", RPC_INLINE, get_status_json, false},
    {"/cuzk.v1.ProvingEngine/GetMetrics", RPC_INLINE, get_metrics, false},
    {"/cuzk.v1.ProvingEngine/PreloadSRS", RPC_KEYS, preload, false},
    {"/cuzk.v1.ProvingEngine/EvictSRS", RPC_KEYS, evict, false},
    {"/cuzk.v1.ProvingEngine/GetTimeline", RPC_INLINE, rpc_get_timeline, false},
    {"/cuzk.v1.ProvingEngine/WatchTimeline", RPC_INLINE, rpc_watch_timeline, false},
    {"/grpc.health.v1.Health/Check", RPC_INLINE, rpc_health_check, false},
    {"/grpc.health.v1.Health/Watch", RPC_INLINE, rpc_health_watch, false},
    {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", RPC_INLINE, rpc_reflect, true},
    {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", RPC_INLINE, rpc_reflect, true},
};

const rpc_method *rpc_method_find(grpc_slice path) {
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (grpc_slice_str_cmp(path, methods[i].path) == 0) return &methods[i];
    }
    return NULL;
}
