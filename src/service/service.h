// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The proving service without a wire: what gRPC, HTTP and the tests talk to. It owns the engine's runtime, the devices,
// the kinds of proof and the timeline, turns requests into jobs and answers questions about them. Both wires are
// translations of this header and decide nothing.
//
// Every function may be called from any thread. Those that answer questions never wait for work: a status is there in
// milliseconds while a key of 50 GiB is being read.
#ifndef CUZK_SERVICE_SERVICE_H
#define CUZK_SERVICE_SERVICE_H

#include "engine/runtime.h"

typedef struct service service;

// How a call ended, in the words of gRPC (grpc/status.h has the same numbers).
typedef enum service_code {
    SERVICE_OK = 0,
    SERVICE_CANCELLED = 1,
    SERVICE_INVALID_ARGUMENT = 3, // names the field and, in files, the path and byte offset
    SERVICE_DEADLINE_EXCEEDED = 4,
    SERVICE_NOT_FOUND = 5,
    SERVICE_ALREADY_EXISTS = 6,     // the id belongs to another input
    SERVICE_RESOURCE_EXHAUSTED = 8, // queue full (try again later), or larger than the whole memory budget
    SERVICE_FAILED_PRECONDITION = 9,
    SERVICE_UNIMPLEMENTED = 12, // a kind of proof that this build does not have
    SERVICE_INTERNAL = 13,
    SERVICE_UNAVAILABLE = 14, // draining
} service_code;

// A code other than OK with one line for people.
typedef struct service_error {
    service_code code;
    uint32_t retry_after_ms; // of RESOURCE_EXHAUSTED when trying again makes sense; 0: it does not
    char text[CUZK_ERROR_TEXT_MAX];
} service_error;

// Numbers are those of the wire.
typedef enum service_kind {
    SERVICE_KIND_UNSPECIFIED = 0,
    SERVICE_POREP = 1,
    SERVICE_SNAP = 2,
    SERVICE_WINDOW_POST = 3,
    SERVICE_WINNING_POST = 4,
    SERVICE_TOY = 1000, // ours, for tests, only with service_options.toy_circuits: sector_size partitions of
                        // 2^registered_proof rows (0: 2^10), 8 bytes of seed in vanilla_proof
    SERVICE_KINDS = 5,  // those below 1000, with UNSPECIFIED
} service_kind;
// "porep", "snap", "window-post", "winning-post", "toy".
const char *service_kind_name(service_kind k);
// As the public daemon writes them in its status: "porep-c2", "snap-update", "window-post", "winning-post", "toy".
const char *service_kind_public_name(service_kind k);
const char *service_code_name(service_code c); // "INVALID_ARGUMENT"

typedef struct service_options {
    engine_config engine;       // devices is set here; memory_budget 0: what engine/budget.h finds
    unsigned threads;           // in all; 0: what the process may use
    unsigned synthesis_threads; // 0: a share of them
    unsigned device_threads;    // of the CPU device; 0: the rest
    const char *const *devices; // names: "cpu", "sim:..." (device/sim.h); n_devices 0: one "cpu"
    uint32_t n_devices;
    bool cpu_fallback;          // another "cpu" proves what the devices have no memory for, and all while none works
    const char *params_dir;     // keys
    const char *pce_dir;        // cached circuit programs; NULL: none on disk
    key_check key_check;        // of a key that is loaded
    bool toy_circuits;          // TEST ONLY
    const char *test_blinding;  // TEST ONLY: see runtime_options
    const char *timeline_path;  // appended to; NULL: memory alone
    uint32_t timeline_tail;     // lines kept in memory; 0: 65536
    uint64_t max_message_bytes; // of a request; 0: 256 MiB
    uint64_t max_input_bytes;   // of all requests waiting together; 0: a quarter of the memory budget
    uint64_t job_deadline_ms;   // of requests that bring none; 0: none
    bool cancel_on_disconnect;  // a Prove call whose client went away cancels the job if nobody else waits for it
} service_options;

// Opens devices, starts the threads and the timeline. CUZK_ERR_USAGE for options that make no sense. An unwritable
// timeline is a warning in the log and no failure.
CUZK_MUST_USE cuzk_status service_create(service **out, const service_options *options, cuzk_error *err);
void service_destroy(service **s); // cancels what is left
// The same, but waits no longer than timeout_ms for it to stop. False: something never returned, all is still there,
// and the process can only exit.
CUZK_MUST_USE bool service_try_destroy(service **s, uint64_t timeout_ms);

// --- jobs ---

// A request as it came over the wire. Bytes are borrowed for the call.
typedef struct service_request {
    const char *request_id; // "" or NULL: none; at most 128 bytes, printable
    uint32_t kind;          // as on the wire, unchecked
    uint32_t priority;      // as on the wire; 0: what fits the kind
    uint64_t sector_size, registered_proof;
    const uint8_t *vanilla_proof;
    size_t vanilla_proof_len;
    const uint8_t *const *vanilla_proofs;
    const size_t *vanilla_proof_lens;
    size_t n_vanilla_proofs;
    uint64_t sector_number, miner_id;
    uint32_t partition_index;
    const uint8_t *randomness, *comm_r_old, *comm_r_new, *comm_d_new; // 32 bytes each where the kind wants them
    size_t randomness_len, comm_r_old_len, comm_r_new_len, comm_d_new_len;
    uint64_t deadline_ms; // the job fails when it is not done after this long; 0: the configuration's
} service_request;

enum { SERVICE_JOB_ID_MAX = 129 };

typedef struct service_submitted {
    runtime_job job;
    char job_id[SERVICE_JOB_ID_MAX]; // the client's request id, or a uuid of ours
    uint32_t queue_position;         // jobs in front of it
    bool joined;                     // an earlier request with the same id and input is being answered
} service_submitted;

// Parses and admits. On failure nothing was kept.
service_code service_submit(service *s, service_submitted *out, const service_request *request, service_error *err);

typedef enum service_outcome { // numbers of AwaitProofResponse.Status
    SERVICE_JOB_UNKNOWN = 0,
    SERVICE_JOB_COMPLETED = 1,
    SERVICE_JOB_FAILED = 2,
    SERVICE_JOB_CANCELLED = 3,
    SERVICE_JOB_TIMEOUT = 4, // of the wait: the job goes on
} service_outcome;

typedef struct service_result {
    char job_id[SERVICE_JOB_ID_MAX];
    service_outcome outcome;
    const uint8_t *proof; // of COMPLETED; 192 bytes a partition
    size_t proof_len;
    const char *text; // of the others: stage, partition and cause
    runtime_times times;
    uint32_t fell_back; // partitions that the fallback device proved
} service_result;

// The job of that id (a client's id, or one of ours); NOT_FOUND if there never was one or it is too long finished.
service_code service_find(service *s, runtime_job *out, const char *job_id, service_error *err);
// Calls fn once, when the job is terminal or timeout_ms (0: none) has passed; from a thread of the service, or at once.
// `result` is valid during the call, which must not wait. *watch is for service_unwatch.
typedef struct service_watch service_watch;
typedef void (*service_done)(void *ctx, const service_result *result);
service_code service_await(service *s, service_watch **watch, runtime_job job, uint64_t timeout_ms, service_done fn,
                           void *ctx, service_error *err);
// The waiter is gone. After the return fn is not running and never will be. Frees *watch, also after fn was called.
// `abandon`: if nobody else waits for the job and it is not terminal, cancel it.
void service_unwatch(service *s, service_watch **watch, bool abandon);

// A job that waits or runs becomes CANCELLED, one that has ended stays what it is. *was_running: work on it had begun and
// not ended.
service_code service_cancel(service *s, const char *job_id, bool *was_running, service_error *err);

// Stops accepting; true when everything has ended within timeout_ms. Ends service_preload's waits: UNAVAILABLE.
bool service_drain(service *s, uint64_t timeout_ms);
bool service_draining(const service *s);

// --- keys: "porep-2k", "porep-8m", "porep-512m", "porep-32g", "porep-64g", "toy-10", ... ---

service_code service_preload(service *s, const char *circuit_id, bool *already_loaded, uint64_t *load_ms,
                             service_error *err); // waits for the load
service_code service_evict(service *s, const char *circuit_id, bool *was_loaded, uint64_t *freed_bytes,
                           service_error *err);

// --- questions; arrays belong to the snapshot ---

typedef struct service_job_view {
    char job_id[SERVICE_JOB_ID_MAX];
    service_kind kind;
    engine_job_state state;
    engine_reason reason;
    engine_priority priority;
    const char *stage;   // of what is furthest behind: "queued", "synthesis", "channel", "device", "verify", "done"
    double age_s, run_s; // since submission, since its first unit started; until its end
    double since_end_s;  // of a terminal one
    uint32_t partitions, done;
    const runtime_partition *parts; // partitions of them
} service_job_view;

typedef struct service_key_view {
    char circuit_id[32];
    uint64_t bytes;
    uint32_t users;
    bool loaded, loading;
    double idle_s;
    uint64_t loads;
} service_key_view;

typedef struct service_device_view {
    const char *name;
    uint32_t ordinal;
    bool healthy;
    bool fallback; // for need alone
    uint64_t runs, failures;
    double busy_s; // in kernel sections since the start
    char job_id[SERVICE_JOB_ID_MAX];
    service_kind kind;
} service_device_view;

typedef struct service_counts {
    uint64_t queued, running, completed, failed, cancelled;
} service_counts;

typedef struct service_snapshot {
    uint64_t taken_ns; // clock_now_ns
    double uptime_s;
    runtime_stats stats;                // of the runtime; by_kind is the service's own count
    uint64_t memory_total, memory_used; // the budget (without a limit: what the machine has), what is reserved of it
    uint64_t resident_bytes;            // of the process
    uint64_t input_bytes;               // of requests that wait or run
    uint64_t accepted;                  // the sum of all of by_kind, always
    uint32_t synthesis_max;
    service_counts by_kind[SERVICE_KINDS + 1]; // the last is SERVICE_TOY
    service_job_view *jobs;                    // not terminal, oldest first, then the newest that are
    size_t n_jobs;
    service_key_view *keys;
    size_t n_keys;
    service_device_view *devices;
    size_t n_devices;
    runtime_worker *workers;
    char (*worker_jobs)[SERVICE_JOB_ID_MAX]; // "" where idle
    size_t n_workers;
    bool draining;
} service_snapshot;

CUZK_MUST_USE cuzk_status service_look(service *s, service_snapshot **out, cuzk_error *err);
void service_snapshot_free(service_snapshot **snapshot);

// The same as JSON for /status (free with free()), and as Prometheus text. *len without the NUL.
CUZK_MUST_USE cuzk_status service_status_json(service *s, char **out, size_t *len, cuzk_error *err);
CUZK_MUST_USE cuzk_status service_metrics(service *s, char **out, size_t *len, cuzk_error *err);

// Lines of the timeline: see recorder_since.
size_t service_timeline_since(service *s, char *out, uint64_t *seq, uint64_t *lost, size_t cap);
recorder_stats service_timeline_stats(service *s);

#endif
