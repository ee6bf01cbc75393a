// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The calls of cuzk.v1.ProvingEngine as plain C: structs in, structs out.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>

#include "base/scrub.h"
#include "health.pb-c.h"
#include "proving.pb-c.h"
#include "service/client_internal.h"

#define ENGINE "/cuzk.v1.ProvingEngine/"

// Sends `request` and unpacks the answer as `type` (then drop it); NULL and *code otherwise.
static void *talk(client *c, int *code, const ProtobufCMessageDescriptor *type, const char *method,
                  const ProtobufCMessage *request, uint64_t timeout_ms, client_error *err) {
    grpc_slice slice;
    *code = client_exchange(c, &slice, method, wire_pack(request), timeout_ms, err);
    if (*code != CLIENT_OK) return NULL;
    bool too_many;
    ProtobufCMessage *m = wire_unpack(type, GRPC_SLICE_START_PTR(slice), GRPC_SLICE_LENGTH(slice), &too_many);
    grpc_slice_unref(slice);
    if (m == NULL) *code = client_fail(err, CLIENT_INTERNAL, "%s: the answer is no %s", method, type->name);
    return m;
}

static void drop(void *message) { protobuf_c_message_free_unpacked(message, NULL); }

static void take_text(char *out, size_t cap, const char *text) {
    snprintf(out, cap, "%s", text);
    scrub_text(out);
}

// A copy with a NUL behind it; never NULL but for lack of memory.
static void *copy(const void *data, size_t len) {
    char *p = malloc(len + 1);
    if (p == NULL) return NULL;
    if (len > 0) memcpy(p, data, len);
    p[len] = 0;
    return p;
}

static int no_memory(client_error *err) { return client_fail(err, CLIENT_RESOURCE_EXHAUSTED, "client: out of memory"); }

// protobuf-c has no const; what it packs it only reads.
static char *text_of(const char *text) { return (char *)(uintptr_t)(text == NULL ? "" : text); }
static ProtobufCBinaryData bytes_of(client_view v) {
    return (ProtobufCBinaryData){v.len, (uint8_t *)(uintptr_t)v.data};
}

// --- proofs ---

// `many` has room for n_vanilla_proofs.
static void fill_request(Cuzk__V1__SubmitProofRequest *m, ProtobufCBinaryData *many, const client_proof_request *r) {
    cuzk__v1__submit_proof_request__init(m);
    m->request_id = text_of(r->request_id);
    m->proof_kind = (Cuzk__V1__ProofKind)r->kind;
    m->priority = (Cuzk__V1__Priority)r->priority;
    m->sector_size = r->sector_size;
    m->registered_proof = r->registered_proof;
    m->vanilla_proof = bytes_of(r->vanilla_proof);
    for (size_t i = 0; i < r->n_vanilla_proofs; i++) many[i] = bytes_of(r->vanilla_proofs[i]);
    m->vanilla_proofs = many;
    m->n_vanilla_proofs = r->n_vanilla_proofs;
    m->sector_number = r->sector_number;
    m->miner_id = r->miner_id;
    m->partition_index = r->partition_index;
    m->randomness = bytes_of(r->randomness);
    m->comm_r_old = bytes_of(r->comm_r_old);
    m->comm_r_new = bytes_of(r->comm_r_new);
    m->comm_d_new = bytes_of(r->comm_d_new);
}

static int fill_result(client_result *out, const Cuzk__V1__AwaitProofResponse *m, client_error *err) {
    take_text(out->job_id, sizeof out->job_id, m->job_id);
    out->status = (int)m->status;
    out->proof = copy(m->proof.data, m->proof.len);
    if (out->proof == NULL) return no_memory(err);
    out->proof_len = m->proof.len;
    take_text(out->text, sizeof out->text, m->error_message);
    out->queue_wait_ms = m->queue_wait_ms;
    out->srs_load_ms = m->srs_load_ms;
    out->synthesis_ms = m->synthesis_ms;
    out->gpu_compute_ms = m->gpu_compute_ms;
    out->total_ms = m->total_ms;
    return CLIENT_OK;
}

void client_result_free(client_result *r) {
    free(r->proof);
    *r = (client_result){0};
}

int client_submit(client *c, client_submitted *out, const client_proof_request *request, uint64_t timeout_ms,
                  client_error *err) {
    *out = (client_submitted){0};
    ProtobufCBinaryData *many = calloc(request->n_vanilla_proofs + 1, sizeof *many);
    if (many == NULL) return no_memory(err);
    Cuzk__V1__SubmitProofRequest m;
    fill_request(&m, many, request);
    int code;
    Cuzk__V1__SubmitProofResponse *r =
        talk(c, &code, &cuzk__v1__submit_proof_response__descriptor, ENGINE "SubmitProof", &m.base, timeout_ms, err);
    free(many);
    if (r == NULL) return code;
    take_text(out->job_id, sizeof out->job_id, r->job_id);
    out->queue_position = r->queue_position;
    take_text(out->device, sizeof out->device, r->assigned_gpu);
    drop(r);
    return CLIENT_OK;
}

int client_await(client *c, client_result *out, const char *job_id, uint64_t wait_ms, uint64_t timeout_ms,
                 client_error *err) {
    *out = (client_result){0};
    Cuzk__V1__AwaitProofRequest m;
    cuzk__v1__await_proof_request__init(&m);
    m.job_id = text_of(job_id);
    m.timeout_ms = wait_ms;
    int code;
    Cuzk__V1__AwaitProofResponse *r =
        talk(c, &code, &cuzk__v1__await_proof_response__descriptor, ENGINE "AwaitProof", &m.base, timeout_ms, err);
    if (r == NULL) return code;
    code = fill_result(out, r, err);
    drop(r);
    return code;
}

int client_prove(client *c, client_result *out, const client_proof_request *request, uint64_t timeout_ms,
                 client_error *err) {
    *out = (client_result){0};
    ProtobufCBinaryData *many = calloc(request->n_vanilla_proofs + 1, sizeof *many);
    if (many == NULL) return no_memory(err);
    Cuzk__V1__SubmitProofRequest submit;
    fill_request(&submit, many, request);
    Cuzk__V1__ProveRequest m;
    cuzk__v1__prove_request__init(&m);
    m.submit = &submit;
    int code;
    Cuzk__V1__ProveResponse *r =
        talk(c, &code, &cuzk__v1__prove_response__descriptor, ENGINE "Prove", &m.base, timeout_ms, err);
    free(many);
    if (r == NULL) return code;
    code = r->result == NULL ? client_fail(err, CLIENT_INTERNAL, "Prove: an answer without a result")
                             : fill_result(out, r->result, err);
    drop(r);
    return code;
}

int client_cancel(client *c, bool *was_running, const char *job_id, uint64_t timeout_ms, client_error *err) {
    *was_running = false;
    Cuzk__V1__CancelProofRequest m;
    cuzk__v1__cancel_proof_request__init(&m);
    m.job_id = text_of(job_id);
    int code;
    Cuzk__V1__CancelProofResponse *r =
        talk(c, &code, &cuzk__v1__cancel_proof_response__descriptor, ENGINE "CancelProof", &m.base, timeout_ms, err);
    if (r == NULL) return code;
    *was_running = r->was_running != 0;
    drop(r);
    return CLIENT_OK;
}

// --- questions ---

void client_status_free(client_status *s) {
    free(s->devices);
    free(s->keys);
    free(s->queues);
    *s = (client_status){0};
}

static int fill_status(client_status *out, const Cuzk__V1__GetStatusResponse *m, client_error *err) {
    out->devices = calloc(m->n_gpus + 1, sizeof *out->devices);
    out->keys = calloc(m->n_loaded_srs + 1, sizeof *out->keys);
    out->queues = calloc(m->n_queues + 1, sizeof *out->queues);
    if (out->devices == NULL || out->keys == NULL || out->queues == NULL) {
        client_status_free(out);
        return no_memory(err);
    }
    for (size_t i = 0; i < m->n_gpus; i++) {
        const Cuzk__V1__GPUStatus *from = m->gpus[i];
        client_device *to = &out->devices[out->n_devices++];
        to->ordinal = from->ordinal;
        to->vram_total_bytes = from->vram_total_bytes;
        to->vram_free_bytes = from->vram_free_bytes;
        take_text(to->name, sizeof to->name, from->name);
        take_text(to->job_id, sizeof to->job_id, from->current_job_id);
        take_text(to->kind, sizeof to->kind, from->current_proof_kind);
    }
    for (size_t i = 0; i < m->n_loaded_srs; i++) {
        const Cuzk__V1__SRSStatus *from = m->loaded_srs[i];
        client_key *to = &out->keys[out->n_keys++];
        take_text(to->circuit_id, sizeof to->circuit_id, from->circuit_id);
        to->tier = (uint32_t)from->tier;
        to->bytes = from->size_bytes;
        to->users = from->ref_count;
    }
    for (size_t i = 0; i < m->n_queues; i++) {
        const Cuzk__V1__QueueStatus *from = m->queues[i];
        client_queue *to = &out->queues[out->n_queues++];
        take_text(to->kind, sizeof to->kind, from->proof_kind);
        to->pending = from->pending;
        to->in_progress = from->in_progress;
    }
    out->completed = m->total_proofs_completed;
    out->failed = m->total_proofs_failed;
    out->uptime_s = m->uptime_seconds;
    out->memory_used = m->pinned_memory_bytes;
    out->memory_total = m->pinned_memory_limit_bytes;
    return CLIENT_OK;
}

int client_get_status(client *c, client_status *out, uint64_t timeout_ms, client_error *err) {
    *out = (client_status){0};
    Cuzk__V1__GetStatusRequest m;
    cuzk__v1__get_status_request__init(&m);
    int code;
    Cuzk__V1__GetStatusResponse *r =
        talk(c, &code, &cuzk__v1__get_status_response__descriptor, ENGINE "GetStatus", &m.base, timeout_ms, err);
    if (r == NULL) return code;
    code = fill_status(out, r, err);
    drop(r);
    return code;
}

// The whole text of an answer, as the caller's own.
static int give_text(char **out, size_t *len, const char *text, client_error *err) {
    const size_t n = strlen(text);
    *out = copy(text, n);
    if (*out == NULL) return no_memory(err);
    *len = n;
    return CLIENT_OK;
}

int client_status_json(client *c, char **json, size_t *len, uint64_t timeout_ms, client_error *err) {
    *json = NULL;
    *len = 0;
    Cuzk__V1__GetStatusJsonRequest m;
    cuzk__v1__get_status_json_request__init(&m);
    int code;
    Cuzk__V1__GetStatusJsonResponse *r = talk(c, &code, &cuzk__v1__get_status_json_response__descriptor,
                                              ENGINE "GetStatusJson", &m.base, timeout_ms, err);
    if (r == NULL) return code;
    code = give_text(json, len, r->json, err);
    drop(r);
    return code;
}

int client_metrics(client *c, char **text, size_t *len, uint64_t timeout_ms, client_error *err) {
    *text = NULL;
    *len = 0;
    Cuzk__V1__GetMetricsRequest m;
    cuzk__v1__get_metrics_request__init(&m);
    int code;
    Cuzk__V1__GetMetricsResponse *r =
        talk(c, &code, &cuzk__v1__get_metrics_response__descriptor, ENGINE "GetMetrics", &m.base, timeout_ms, err);
    if (r == NULL) return code;
    code = give_text(text, len, r->prometheus_text, err);
    drop(r);
    return code;
}

int client_preload(client *c, bool *already_loaded, uint64_t *load_ms, const char *circuit_id, uint64_t timeout_ms,
                   client_error *err) {
    *already_loaded = false;
    *load_ms = 0;
    Cuzk__V1__PreloadSrsRequest m;
    cuzk__v1__preload_srs_request__init(&m);
    m.circuit_id = text_of(circuit_id);
    int code;
    Cuzk__V1__PreloadSrsResponse *r =
        talk(c, &code, &cuzk__v1__preload_srs_response__descriptor, ENGINE "PreloadSRS", &m.base, timeout_ms, err);
    if (r == NULL) return code;
    *already_loaded = r->already_loaded != 0;
    *load_ms = r->load_time_ms;
    drop(r);
    return CLIENT_OK;
}

int client_evict(client *c, bool *was_loaded, uint64_t *freed_bytes, const char *circuit_id, uint64_t timeout_ms,
                 client_error *err) {
    *was_loaded = false;
    *freed_bytes = 0;
    Cuzk__V1__EvictSrsRequest m;
    cuzk__v1__evict_srs_request__init(&m);
    m.circuit_id = text_of(circuit_id);
    int code;
    Cuzk__V1__EvictSrsResponse *r =
        talk(c, &code, &cuzk__v1__evict_srs_response__descriptor, ENGINE "EvictSRS", &m.base, timeout_ms, err);
    if (r == NULL) return code;
    *was_loaded = r->was_loaded != 0;
    *freed_bytes = r->freed_bytes;
    drop(r);
    return CLIENT_OK;
}

// --- the timeline ---

void client_lines_free(client_lines *l) {
    free(l->text);
    *l = (client_lines){0};
}

static int fill_lines(client_lines *out, const Cuzk__V1__GetTimelineResponse *m, client_error *err) {
    out->len = strlen(m->lines);
    out->text = copy(m->lines, out->len);
    out->next_seq = m->next_seq;
    out->lost = m->lost_lines;
    return out->text == NULL ? no_memory(err) : CLIENT_OK;
}

int client_timeline(client *c, client_lines *out, uint64_t since_seq, uint32_t max_bytes, uint64_t timeout_ms,
                    client_error *err) {
    *out = (client_lines){0};
    Cuzk__V1__GetTimelineRequest m;
    cuzk__v1__get_timeline_request__init(&m);
    m.since_seq = since_seq;
    m.max_bytes = max_bytes;
    int code;
    Cuzk__V1__GetTimelineResponse *r =
        talk(c, &code, &cuzk__v1__get_timeline_response__descriptor, ENGINE "GetTimeline", &m.base, timeout_ms, err);
    if (r == NULL) return code;
    code = fill_lines(out, r, err);
    drop(r);
    return code;
}

int client_watch_timeline(client *c, uint64_t since_seq, uint32_t max_bytes, uint64_t timeout_ms,
                          bool (*fn)(void *ctx, const client_lines *lines), void *ctx, client_error *err) {
    Cuzk__V1__GetTimelineRequest m;
    cuzk__v1__get_timeline_request__init(&m);
    m.since_seq = since_seq;
    m.max_bytes = max_bytes;
    uint8_t packed[32]; // two varints with their tags: at most 17 bytes
    const size_t n = cuzk__v1__get_timeline_request__pack(&m, packed);
    client_stream *s;
    int code = client_stream_open(c, &s, ENGINE "WatchTimeline", timeout_ms, err);
    if (code != CLIENT_OK) return code;
    if (client_stream_send(s, packed, n)) client_stream_half_close(s);
    client_bytes bytes;
    bool more = true;
    while (more && client_stream_next(s, &bytes, &code, err)) {
        Cuzk__V1__GetTimelineResponse *r = cuzk__v1__get_timeline_response__unpack(NULL, bytes.len, bytes.data);
        client_bytes_free(&bytes);
        client_lines lines = {0};
        if (r == NULL) {
            code = client_fail(err, CLIENT_INTERNAL, "WatchTimeline: an answer that is none");
            more = false;
        } else {
            code = fill_lines(&lines, r, err);
            more = code == CLIENT_OK && fn(ctx, &lines);
            drop(r);
        }
        client_lines_free(&lines);
    }
    client_stream_close(&s);
    return code;
}

// --- health ---

int client_healthy(client *c, bool *serving, uint64_t timeout_ms, client_error *err) {
    *serving = false;
    Grpc__Health__V1__HealthCheckRequest m;
    grpc__health__v1__health_check_request__init(&m);
    int code;
    Grpc__Health__V1__HealthCheckResponse *r = talk(c, &code, &grpc__health__v1__health_check_response__descriptor,
                                                    "/grpc.health.v1.Health/Check", &m.base, timeout_ms, err);
    if (r == NULL) return code;
    *serving = r->status == GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING;
    drop(r);
    return CLIENT_OK;
}
