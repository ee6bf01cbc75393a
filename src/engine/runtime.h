// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The engine at work: threads around engine_core. One engine thread owns the core and a queue of messages; it steps the
// core and hands its actions to synthesis workers, device workers, a verifier and a key keeper, which report back
// through the queue. All decisions are the core's. docs/engine.md.
//
// Every function may be called from any thread, except that create and destroy must not overlap with others. What only
// looks (progress, jobs, partitions, keys, workers, devices, stats) never waits for work, nor for the engine thread.
#ifndef CUZK_ENGINE_RUNTIME_H
#define CUZK_ENGINE_RUNTIME_H

#include "device/device.h"
#include "engine/core.h"
#include "engine/provider.h"
#include "timeline/recorder.h"

typedef struct runtime runtime;
typedef uint64_t runtime_job; // unique for the life of a runtime, never 0

// How many threads do the heavy work. Synthesis and devices run at the same time, and share what there is but for one
// thread: synthesis takes about a thousandth of a proof, so that its first thread costs the devices less beside theirs
// than one thread less would.
typedef struct runtime_threads {
    unsigned total;     // as many as the process may use, or fewer if asked
    unsigned synthesis; // threads of all synthesis workers together
    unsigned device;    // of devices that compute on this machine's processors: synthesis + device = total + 1
} runtime_threads;

// Splits `total` threads (0, or more than affinity mask and cgroup allow: what they allow). `synthesis` 0: one; more
// than `total`: as many.
runtime_threads runtime_split_threads(unsigned total, unsigned synthesis);

typedef struct runtime_options {
    engine_config engine; // `devices` is set by the runtime; the last fallback_devices of them are for need alone
    device *const *devices;
    uint32_t n_devices; // 1 or more; borrowed, must outlive the runtime
    const provider *const *providers;
    uint32_t n_providers;       // borrowed likewise; kinds must differ
    unsigned threads;           // that may compute, in all; 0: nobody counts
    unsigned synthesis_threads; // shared by engine.synthesis_concurrency workers, at least one each; 0: one each
    unsigned key_threads;       // that load keys, at most; 0: 1
    recorder *rec;              // NULL: nothing is recorded
    // Memory of units and keys that are gone is kept for the next (base/mem.h), as long as the runtime lives; it goes
    // back to the system when there has been no unit for so long, and when an operator evicts a key. 0: a minute.
    uint64_t keep_memory_ns;
    // TEST ONLY: blinding of partition k is that of (label, k), so that proofs can be compared byte for byte; they
    // leak.
    const char *test_blinding;
    // Told once of everything an operator should see (a stage that makes no progress, a key that cannot be loaded, a
    // wrong proof), from the engine's threads; one line without a newline. NULL: nobody.
    void (*warn)(void *ctx, const char *text);
    void *warn_ctx;
} runtime_options;

// Sensible values: policy partition, no memory limit, no watchdog. The synthesis concurrency is 1.
engine_config runtime_default_config(void);

// CUZK_ERR_USAGE for options that make no sense.
//
// With `threads` no more workers than synthesis_threads are made, and a key load uses what synthesis and devices leave
// when it starts; devices that were opened with more than the rest are warned of. Beside them there are threads that
// mostly wait: the engine's, the verifier, the key keeper, and a second worker of each device. All but these three
// start when there is work for them.
CUZK_MUST_USE cuzk_status runtime_create(runtime **out, const runtime_options *options, cuzk_error *err);
// Cancels what is left, waits until it has stopped, frees everything. Waiters get their answer first.
void runtime_destroy(runtime **rt);
// The same, but waits no longer than timeout_ns. False: something does not return (a device's driver, a file system),
// and all of it is still there, *rt too. Try again, or end the process: threads that use this memory cannot be taken
// away.
CUZK_MUST_USE bool runtime_try_destroy(runtime **rt, uint64_t timeout_ns);

typedef struct runtime_request {
    const char *kind; // of a provider
    const uint8_t *input;
    size_t input_len;
    const char *client_id; // same id and same input: the same job; same id and another input: refused. NULL: none
    engine_priority priority;
    uint64_t timeout_ns; // the job fails when it is not done after this long; 0: none
    // NULL, or a further look at the request that the provider bound, on the calling thread: what it refuses is refused
    // as ENGINE_BAD_INPUT. For what a caller says beside the input and must agree with it.
    cuzk_status (*check)(void *ctx, const void *bound, cuzk_error *err);
    void *check_ctx;
} runtime_request;

// Parses the input on the calling thread and hands the job to the engine. When the engine or the provider refuses,
// *reason says why (ENGINE_BAD_INPUT for what the provider refuses) and err gives the details; the status is
// CUZK_ERR_INPUT or what the provider said. `joined` (may be NULL): an earlier job answers this request too.
CUZK_MUST_USE cuzk_status runtime_submit(runtime *rt, runtime_job *out, bool *joined, engine_reason *reason,
                                         const runtime_request *request, cuzk_error *err);

// Where a job's time went, in nanoseconds.
typedef struct runtime_times {
    uint64_t
        queue; // from submission until its first unit started: a worker, memory and place for its key were not free
    uint64_t key_load;  // of its life: its key was being loaded, whoever asked for it; 0: the key was there
    uint64_t synthesis; // sum over its units of the wall time of each, attempts that failed included
    uint64_t device;    // likewise of its device runs, kernels and tail
    uint64_t verify;    // likewise
    uint64_t total;     // from submission until terminal, or until now
} runtime_times;

typedef struct runtime_result {
    runtime_job job;
    engine_job_state state; // ENGINE_QUEUED or ENGINE_RUNNING: not yet terminal
    engine_reason reason;
    uint32_t partitions, partition;     // the latter: the one that failed, or UINT32_MAX
    uint32_t retries;                   // partitions proven again
    uint32_t fell_back;                 // partitions proven by a fallback device
    uint64_t submitted_ns, finished_ns; // monotonic
    runtime_times times;
    const uint8_t *proof; // of ENGINE_DONE alone
    size_t proof_len;
    const char *text; // what went wrong, with stage and partition; "" when done
} runtime_result;

// Waits until the job is terminal or timeout_ns has passed (0: does not wait, UINT64_MAX: for ever). CUZK_ERR_INPUT for
// an unknown job (never there, or too long finished). Result and what it points to are freed by runtime_result_free.
CUZK_MUST_USE cuzk_status runtime_await(runtime *rt, runtime_result **out, runtime_job job, uint64_t timeout_ns,
                                        cuzk_error *err);
void runtime_result_free(runtime_result **r);

// Calls fn once when the job is terminal, from the engine thread (it must return soon and call nothing here that
// waits), or at once from this thread if it is already. `result` is valid during the call.
CUZK_MUST_USE cuzk_status runtime_watch(runtime *rt, runtime_job job,
                                        void (*fn)(void *ctx, const runtime_result *result), void *ctx,
                                        cuzk_error *err);
// True if that watcher was removed before it was called. False if it was called; a call in progress has ended then
// (except when this is called from within it), so that what ctx points to may be freed either way.
bool runtime_unwatch(runtime *rt, runtime_job job, void (*fn)(void *ctx, const runtime_result *result), void *ctx);

// The job and everybody who waits for it get CANCELLED at once; its work stops at the next boundary, and only then
// memory and workers are free again. *was_running (may be NULL): work on it had begun and not ended. Harmless for a job
// that is terminal. CUZK_ERR_INPUT for an unknown one.
CUZK_MUST_USE cuzk_status runtime_cancel(runtime *rt, runtime_job job, bool *was_running, cuzk_error *err);

typedef struct runtime_progress {
    runtime_job job;
    char name[TIMELINE_JOB_MAX]; // in the timeline: the client's id, or a uuid
    const char *kind;
    engine_job_view view;
    runtime_times times;
} runtime_progress;
CUZK_MUST_USE cuzk_status runtime_job_progress(runtime *rt, runtime_progress *out, runtime_job job, cuzk_error *err);
// The jobs known now, oldest first, at most `max` of them; returns how many there are.
size_t runtime_jobs(runtime *rt, runtime_job *out, size_t max);

typedef enum runtime_stage {
    RUNTIME_WAITING, // for its first unit, or to be tried again
    RUNTIME_SYNTHESIS,
    RUNTIME_CHANNEL, // synthesised, waits for the channel, for a device or for its key
    RUNTIME_DEVICE,
    RUNTIME_VERIFY,
    RUNTIME_PROVEN,
    RUNTIME_DROPPED // its job ended before it was proven
} runtime_stage;

typedef struct runtime_partition {
    runtime_stage stage;
    uint32_t attempts;                // times it was started
    uint64_t synthesis_ns, device_ns; // of the newest attempt, until now if it is in that stage
    bool fell_back;                   // proven by a fallback device
} runtime_partition;
// The partitions of a job, at most `max` of them; returns how many it has, 0 for an unknown job.
size_t runtime_partitions(runtime *rt, runtime_partition *out, runtime_job job, size_t max);

// Accepts nothing more and finishes what is there. Waits for keys end at once, and so does the load of a key that no
// job needs, at its next step. True once nothing is left, false when timeout_ns passed first.
bool runtime_drain(runtime *rt, uint64_t timeout_ns);

// --- keys ---

// The key of a kind that `input` names. Asks for its load if there is room now; does not wait for it.
CUZK_MUST_USE cuzk_status runtime_preload(runtime *rt, const char *kind, const uint8_t *input, size_t len,
                                          cuzk_error *err);
// Frees a key that nobody uses. CUZK_ERR_INPUT with the reason when the engine refuses.
CUZK_MUST_USE cuzk_status runtime_evict(runtime *rt, uint64_t key, cuzk_error *err);

// The same by the provider's name of a key ("porep-32g", "toy-10"). Waits until the key is loaded or cannot be: the
// status of the load that failed, CUZK_ERR_MEMORY when there is no room, CUZK_ERR_CANCELLED when draining, also when
// that begins meanwhile, CUZK_ERR_INPUT for a name that no provider knows. *already_loaded: there was nothing to do,
// and *load_ns is 0.
CUZK_MUST_USE cuzk_status runtime_preload_named(runtime *rt, const char *name, bool *already_loaded, uint64_t *load_ns,
                                                cuzk_error *err);
// Waits until the memory is free. A key that is not loaded is no error: *was_loaded and *freed (bytes) tell. Also frees
// a key of that name whose file was replaced meanwhile. CUZK_ERR_INPUT: for *reason ENGINE_NOT_FOUND nobody knows the
// name, for ENGINE_KEY_IN_USE the key is used or being loaded.
CUZK_MUST_USE cuzk_status runtime_evict_named(runtime *rt, const char *name, bool *was_loaded, uint64_t *freed,
                                              engine_reason *reason, cuzk_error *err);

typedef struct runtime_key {
    uint64_t key;
    char name[PROVIDER_KEY_NAME_MAX]; // the provider's
    uint64_t bytes;                   // reserved for it; 0 when it is not there
    uint32_t users;                   // live units
    bool loaded, loading;
    uint64_t last_used_ns; // monotonic: when a unit of it last started; 0: never
    uint64_t loads;        // that succeeded
} runtime_key;
// The keys asked for so far, at most `max` of them; returns how many there are.
size_t runtime_keys(runtime *rt, runtime_key *out, size_t max);

// --- workers and devices ---

typedef struct runtime_worker {
    bool on_device;
    uint32_t device, worker;   // device UINT32_MAX: a synthesis worker
    runtime_job job;           // 0: idle. Of a batch, the first
    uint32_t partition, count; // the unit's first partition, and how many
    uint64_t since_ns;         // monotonic
} runtime_worker;
// What each worker is doing, synthesis first, at most `max`; returns how many there are.
size_t runtime_workers(runtime *rt, runtime_worker *out, size_t max);

typedef struct runtime_device {
    const char *name;
    bool healthy;
    bool fallback;     // for need alone
    uint64_t runs;     // that ended
    uint64_t failures; // of them: failed by the device's fault, or a proof was wrong
    uint64_t busy_ns;  // in kernel sections, until now
} runtime_device;
size_t runtime_devices(runtime *rt, runtime_device *out, size_t max);

// Never waits for work: a picture of a moment ago.
typedef struct runtime_stats {
    engine_stats engine;
    uint64_t witness_bytes, evaluation_bytes, key_bytes, total_bytes; // as measured now, of the whole process
    uint64_t total_peak;
    uint64_t wrong_proofs;   // that did not verify
    uint64_t double_replies; // must be 0
} runtime_stats;
void runtime_stats_of(runtime *rt, runtime_stats *out);

#endif
