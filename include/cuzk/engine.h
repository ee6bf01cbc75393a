// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The proving engine of cuzk as a library: many jobs at once, their partitions synthesised and proven in a pipeline
// under one of four policies, keys loaded once and shared, memory kept within a budget, every proof verified before it
// is handed out.
//
//   cuzk_engine_new -> cuzk_engine_add_porep / _add_toy -> cuzk_engine_start -> submit, await, proof ->
//   cuzk_engine_free
//
// The rules of cuzk.h hold, but for these: an engine has threads of its own and may be used by any number of threads at
// once, except that new, add, start and free must not overlap with other calls. So there is no "last error": each call
// that can fail takes a cuzk_message as its last argument, which may be NULL.
#ifndef CUZK_ENGINE_H
#define CUZK_ENGINE_H

#include <cuzk/cuzk.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cuzk_engine cuzk_engine;
typedef uint64_t cuzk_job; // unique for the life of an engine, never 0

// One line: what, where, expected, found.
typedef struct cuzk_message {
    char text[512];
} cuzk_message;

typedef enum cuzk_policy {
    CUZK_POLICY_PARTITION = 0, // each partition by itself, those of all jobs flow together
    CUZK_POLICY_STANDARD = 1,  // all partitions of a job at once
    CUZK_POLICY_SLOTTED = 2,   // slot_size partitions of a job at once
    CUZK_POLICY_BATCH = 3      // up to batch_size jobs of one circuit at once
} cuzk_policy;

// Start from cuzk_engine_options_init, so that fields added later have their defaults.
typedef struct cuzk_engine_options {
    size_t size; // of this struct; set by cuzk_engine_options_init
    cuzk_policy policy;
    uint32_t slot_size;         // 1 to 256; 0: 1
    uint32_t batch_size;        // 1 to 256; 0: 1
    uint32_t batch_wait_ms;     // an incomplete batch starts after this long
    unsigned threads;           // that compute, in all; 0: as many as the process may use
    unsigned synthesis_threads; // 0: one. All others prove, and one more than those
    uint64_t memory_budget;     // bytes for keys and for partitions being proven; 0: no limit
    uint32_t max_pending_jobs;  // beyond it, cuzk_engine_submit answers CUZK_RESULT_BUSY; 0: 64
    uint32_t max_attempts;      // runs of a partition whose proof fails; 0: 3
    uint32_t max_finished;      // results kept, the newest; 0: 64
    uint32_t stage_timeout_ms;  // a job whose stage makes no end for so long fails; 0: never
    const char *timeline_path;  // events are appended to this file (cuzk/timeline.h reads it); NULL: none. Copied
    // Told of everything an operator should see, one line, from threads of the engine; must return soon. NULL: nobody.
    void (*warn)(void *user, const char *text);
    void *user;
} cuzk_engine_options;

CUZK_API void cuzk_engine_options_init(cuzk_engine_options *options);

// options = NULL: the defaults. No thread runs yet.
CUZK_API cuzk_result cuzk_engine_new(cuzk_engine **out, const cuzk_engine_options *options, cuzk_message *message);
// Accepts NULL. Cancels what is left and waits until it has stopped.
CUZK_API void cuzk_engine_free(cuzk_engine *engine);

// --- kinds of proof, before the start -------------------------------------------------------------------------------

// Kind "porep", all sector sizes: inputs are C1 files, parameters lie in params_dir. flags as of cuzk_porep_prove.
CUZK_API cuzk_result cuzk_engine_add_porep(cuzk_engine *engine, const char *params_dir, unsigned flags,
                                           cuzk_message *message);
// A toy circuit with real proofs, for trying things out: `rows` constraints (8 to 2^24), 1 to 256 partitions, an input
// of 8 bytes. Its key is made from the label, so it is INSECURE. Keys of kinds with the same rows and label are shared.
CUZK_API cuzk_result cuzk_engine_add_toy(cuzk_engine *engine, const char *kind, uint32_t rows, uint32_t partitions,
                                         const char *label, cuzk_message *message);
// CUZK_RESULT_USAGE without a kind, or for options that make no sense.
CUZK_API cuzk_result cuzk_engine_start(cuzk_engine *engine, cuzk_message *message);

// --- jobs -----------------------------------------------------------------------------------------------------------

typedef enum cuzk_priority {
    CUZK_PRIORITY_NORMAL = 0,
    CUZK_PRIORITY_LOW = 1,
    CUZK_PRIORITY_HIGH = 2,
    CUZK_PRIORITY_CRITICAL = 3 // waits at most for one running unit at every stage
} cuzk_priority;

typedef struct cuzk_request {
    const char *kind;
    const uint8_t *input; // borrowed for the call
    size_t input_len;
    const char *id; // NULL: none. The same id with the same input joins the earlier job, with another it is refused
    cuzk_priority priority;
    uint64_t timeout_ms; // the job fails when it is not done after this long; 0: none
} cuzk_request;

// Checks the input on the calling thread and queues the job. *joined (may be NULL) is 1 when an earlier job answers
// this request too. CUZK_RESULT_BUSY: the queue is full, try again later; _MEMORY: larger than the budget; _CANCELLED:
// draining; _INPUT: the id belongs to another input, or there is no such kind; else what is wrong with the input.
CUZK_API cuzk_result cuzk_engine_submit(cuzk_engine *engine, cuzk_job *job, int *joined, const cuzk_request *request,
                                        cuzk_message *message);

typedef enum cuzk_job_state {
    CUZK_JOB_QUEUED = 0,
    CUZK_JOB_RUNNING = 1,
    CUZK_JOB_DONE = 2,
    CUZK_JOB_FAILED = 3,
    CUZK_JOB_CANCELLED = 4
} cuzk_job_state;

typedef struct cuzk_job_info {
    cuzk_job job;
    cuzk_job_state state;
    const char *reason; // of FAILED: "WRONG_PROOF", "BAD_INPUT", "OUT_OF_MEMORY", ...; "NONE" else. Never freed
    uint32_t partitions, partitions_done;
    uint32_t retries;                                                           // partitions proven again
    size_t proof_len;                                                           // 192 a partition, once DONE
    double queue_ms, key_load_ms, synthesis_ms, device_ms, verify_ms, total_ms; // sums over partitions, until now
    char text[512];                                                             // of FAILED: stage, partition and cause
} cuzk_job_info;

// What is known of a job now. CUZK_RESULT_INPUT for an unknown one (never there, or too long finished).
CUZK_API cuzk_result cuzk_engine_progress(cuzk_engine *engine, cuzk_job_info *info, cuzk_job job,
                                          cuzk_message *message);
// The same, once the job is terminal or timeout_ms have passed (UINT64_MAX: waits for ever). Look at info->state.
CUZK_API cuzk_result cuzk_engine_await(cuzk_engine *engine, cuzk_job_info *info, cuzk_job job, uint64_t timeout_ms,
                                       cuzk_message *message);
// The proof of a job that is DONE, as cuzk_porep_prove hands it out. CUZK_RESULT_BUFFER: too little room, the size
// needed is in *proof_len. CUZK_RESULT_CANCELLED for a cancelled job, CUZK_RESULT_INTERNAL for one that failed,
// CUZK_RESULT_USAGE for one that is not terminal.
CUZK_API cuzk_result cuzk_engine_proof(cuzk_engine *engine, uint8_t *proof, size_t *proof_len, cuzk_job job,
                                       cuzk_message *message);
// Everybody who waits for the job is told at once; its work stops at its next step. Harmless for a terminal job.
CUZK_API cuzk_result cuzk_engine_cancel(cuzk_engine *engine, cuzk_job job, cuzk_message *message);
// Accepts nothing more and finishes what is there. *drained is 1 once nothing is left, 0 when timeout_ms passed first.
CUZK_API cuzk_result cuzk_engine_drain(cuzk_engine *engine, int *drained, uint64_t timeout_ms, cuzk_message *message);

// --- keys and figures -----------------------------------------------------------------------------------------------

// Loads a key ahead of its first job and waits for it: "porep-2k", "porep-8m", "porep-512m", "porep-32g", "porep-64g",
// "toy-<partitions>". Keys are loaded when they are first needed, too.
CUZK_API cuzk_result cuzk_engine_preload(cuzk_engine *engine, const char *key, cuzk_message *message);
// Frees one that nobody uses; *freed (may be NULL): bytes, 0 if it was not loaded. CUZK_RESULT_INPUT when it is in use.
CUZK_API cuzk_result cuzk_engine_evict(cuzk_engine *engine, uint64_t *freed, const char *key, cuzk_message *message);

// queued + running + done + failed + cancelled = accepted.
typedef struct cuzk_engine_figures {
    uint64_t accepted, refused, queued, running, done, failed, cancelled;
    uint64_t retries;
    uint64_t memory_reserved, memory_peak; // of the budget, bytes
    uint32_t keys_loaded;
} cuzk_engine_figures;
CUZK_API void cuzk_engine_figures_of(cuzk_engine *engine, cuzk_engine_figures *figures);

#ifdef __cplusplus
}
#endif

#endif
