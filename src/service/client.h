// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A small blocking client of the daemon's gRPC service: for `cuzk status`, `cuzk bench` and the tests. It knows the
// wire alone and nothing of the service behind it.
//
// A client is one connection, opened at the first call and again when it was lost. Every function but client_open and
// client_close may be called from several threads at once on one client. Proxies named in the environment are not used.
//
// Calls return a gRPC status code (client_code below; 0 is success) and, for any other, fill `err` (may be NULL). A
// timeout_ms of 0 means no limit; a call that reaches it ends DEADLINE_EXCEEDED. A daemon that is not there is
// UNAVAILABLE at once.
#ifndef CUZK_SERVICE_CLIENT_H
#define CUZK_SERVICE_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct client client;

// Numbers of gRPC, by the names that people know them by.
enum client_code {
    CLIENT_OK = 0,
    CLIENT_CANCELLED = 1,
    CLIENT_UNKNOWN = 2,
    CLIENT_INVALID_ARGUMENT = 3,
    CLIENT_DEADLINE_EXCEEDED = 4,
    CLIENT_NOT_FOUND = 5,
    CLIENT_ALREADY_EXISTS = 6,
    CLIENT_PERMISSION_DENIED = 7,
    CLIENT_RESOURCE_EXHAUSTED = 8,
    CLIENT_FAILED_PRECONDITION = 9,
    CLIENT_ABORTED = 10,
    CLIENT_OUT_OF_RANGE = 11,
    CLIENT_UNIMPLEMENTED = 12,
    CLIENT_INTERNAL = 13,
    CLIENT_UNAVAILABLE = 14,
    CLIENT_DATA_LOSS = 15,
    CLIENT_UNAUTHENTICATED = 16,
};
// "OK", "NOT_FOUND", ...; "code N" never appears: a number that gRPC does not have is "UNKNOWN".
const char *client_code_name(int code);

typedef struct client_error {
    int code;
    uint32_t retry_after_ms; // the server's hint; 0: none
    char text[CUZK_ERROR_TEXT_MAX];
} client_error;

typedef struct client_options {
    // "host:port", "dns:///host:port", "http://host:port", "https://host:port" (TLS), "unix:///path", "unix:path"
    const char *target;
    bool tls;              // or https://
    const char *ca_file;   // who signed the server's certificate; NULL: the system's authorities
    const char *cert_file; // our own certificate and key, where the server asks for one; both or none
    const char *key_file;
    const char *server_name;    // expected in the certificate; NULL: the target's host
    uint64_t max_message_bytes; // of an answer; 0: 256 MiB
} client_options;

// Connects to nothing yet. CUZK_ERR_USAGE for a target that makes no sense, CUZK_ERR_IO for a file.
CUZK_MUST_USE cuzk_status client_open(client **out, const client_options *options, cuzk_error *err);
// No call may be in progress.
void client_close(client **c);

// --- bytes ---

typedef struct client_bytes {
    uint8_t *data; // never NULL after success
    size_t len;
} client_bytes;
void client_bytes_free(client_bytes *b);

// One request, one answer. `method` is "/package.Service/Method".
int client_call(client *c, client_bytes *reply, const char *method, const uint8_t *request, size_t len,
                uint64_t timeout_ms, client_error *err);

// Many requests, many answers. A stream belongs to one thread, except that any thread may cancel it.
typedef struct client_stream client_stream;
int client_stream_open(client *c, client_stream **out, const char *method, uint64_t timeout_ms, client_error *err);
// False when the stream has ended; client_stream_next says how.
bool client_stream_send(client_stream *s, const uint8_t *message, size_t len);
bool client_stream_half_close(client_stream *s); // nothing more will be sent
// True and a message (client_bytes_free), or false and how the stream ended, in *code and err.
bool client_stream_next(client_stream *s, client_bytes *message, int *code, client_error *err);
void client_stream_cancel(client_stream *s);
void client_stream_close(client_stream **s); // cancels what has not ended

// --- the calls of cuzk.v1.ProvingEngine; proto/cuzk/v1/proving.proto says what they mean ---

typedef struct client_view { // borrowed bytes
    const uint8_t *data;
    size_t len;
} client_view;

// Fields as on the wire; all zero is "not set".
typedef struct client_proof_request {
    const char *request_id;
    uint32_t kind, priority;
    uint64_t sector_size, registered_proof;
    client_view vanilla_proof;
    const client_view *vanilla_proofs;
    size_t n_vanilla_proofs;
    uint64_t sector_number, miner_id;
    uint32_t partition_index;
    client_view randomness, comm_r_old, comm_r_new, comm_d_new;
} client_proof_request;

enum { CLIENT_JOB_ID_MAX = 129, CLIENT_NAME_MAX = 64 };

typedef struct client_submitted {
    char job_id[CLIENT_JOB_ID_MAX];
    uint32_t queue_position;
    char device[CLIENT_NAME_MAX]; // that works on it already; "": none
} client_submitted;

enum client_job_status { // AwaitProofResponse.Status
    CLIENT_JOB_UNKNOWN = 0,
    CLIENT_JOB_COMPLETED = 1,
    CLIENT_JOB_FAILED = 2,
    CLIENT_JOB_CANCELLED = 3,
    CLIENT_JOB_TIMEOUT = 4,
};

typedef struct client_result {
    char job_id[CLIENT_JOB_ID_MAX];
    int status;     // client_job_status
    uint8_t *proof; // never NULL after success
    size_t proof_len;
    char text[CUZK_ERROR_TEXT_MAX]; // of a job that did not complete
    uint64_t queue_wait_ms, srs_load_ms, synthesis_ms, gpu_compute_ms, total_ms;
} client_result;
void client_result_free(client_result *r);

int client_submit(client *c, client_submitted *out, const client_proof_request *request, uint64_t timeout_ms,
                  client_error *err);
// wait_ms is the request's timeout_ms (the job's status is then TIMEOUT and the call succeeds); timeout_ms the call's.
int client_await(client *c, client_result *out, const char *job_id, uint64_t wait_ms, uint64_t timeout_ms,
                 client_error *err);
int client_prove(client *c, client_result *out, const client_proof_request *request, uint64_t timeout_ms,
                 client_error *err);
int client_cancel(client *c, bool *was_running, const char *job_id, uint64_t timeout_ms, client_error *err);

typedef struct client_device {
    uint32_t ordinal;
    char name[CLIENT_NAME_MAX];
    uint64_t vram_total_bytes, vram_free_bytes;
    char job_id[CLIENT_JOB_ID_MAX]; // "": idle
    char kind[CLIENT_NAME_MAX];
} client_device;

typedef struct client_key {
    char circuit_id[CLIENT_NAME_MAX];
    uint32_t tier; // 0 hot, 1 warm, 2 cold
    uint64_t bytes;
    uint32_t users;
} client_key;

typedef struct client_queue {
    char kind[CLIENT_NAME_MAX];
    uint32_t pending, in_progress;
} client_queue;

typedef struct client_status {
    client_device *devices;
    size_t n_devices;
    client_key *keys;
    size_t n_keys;
    client_queue *queues;
    size_t n_queues;
    uint64_t completed, failed, uptime_s, memory_used, memory_total;
} client_status;
int client_get_status(client *c, client_status *out, uint64_t timeout_ms, client_error *err);
void client_status_free(client_status *s);
// The document that HTTP /status answers; UNIMPLEMENTED from a daemon that is not ours. Free with free().
int client_status_json(client *c, char **json, size_t *len, uint64_t timeout_ms, client_error *err);

// *text has a NUL that *len does not count; free with free().
int client_metrics(client *c, char **text, size_t *len, uint64_t timeout_ms, client_error *err);
int client_preload(client *c, bool *already_loaded, uint64_t *load_ms, const char *circuit_id, uint64_t timeout_ms,
                   client_error *err);
int client_evict(client *c, bool *was_loaded, uint64_t *freed_bytes, const char *circuit_id, uint64_t timeout_ms,
                 client_error *err);

typedef struct client_lines {
    char *text; // whole lines; never NULL after success, NUL behind it
    size_t len;
    uint64_t next_seq, lost;
} client_lines;
void client_lines_free(client_lines *l);

// max_bytes 0: the server's choice.
int client_timeline(client *c, client_lines *out, uint64_t since_seq, uint32_t max_bytes, uint64_t timeout_ms,
                    client_error *err);
// Calls fn for each answer until it returns false (then the result is 0) or the stream ends (then it is how). Waits in
// between, so that fn is not a way to stop it at once: set a timeout_ms.
int client_watch_timeline(client *c, uint64_t since_seq, uint32_t max_bytes, uint64_t timeout_ms,
                          bool (*fn)(void *ctx, const client_lines *lines), void *ctx, client_error *err);

// True when grpc.health.v1 says that it serves.
int client_healthy(client *c, bool *serving, uint64_t timeout_ms, client_error *err);

#endif
