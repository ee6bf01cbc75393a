// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The engine as a pure, deterministic state machine: step(core, now, event) -> actions. No threads, clocks, files or
// randomness, and no allocation after engine_core_create. The runtime carries its actions out with threads; `simulate`
// and the tests carry them out in virtual time. The same events at the same times give the same actions, always.
//
// Vocabulary. A *job* is a request: one proof of 1..n partitions. A *unit* is a run of consecutive partitions, nearly
// always of one job (policy batch: of several jobs of one circuit), that is synthesised together, waits in the channel
// together and runs on a device together. The policy decides how jobs become units and in which order they start:
//   standard   all partitions of a job are one unit                  (the public daemon with slot_size = 0)
//   slotted    slot_size partitions of a job are one unit; one worker synthesises a job, slot after slot, so that its
//              units reach the devices in order
//   partition  each partition is a unit; units of all jobs flow as they are ready                     (default)
//   batch      up to batch_size jobs of one circuit and priority are one unit: all synthesised, then all proven
//
// Life of a unit: (memory and key reserved together) -> synthesis -> channel -> device -> verification -> freed. Units
// are made when they start; until then a job has waiting partitions. Memory is given back when the runtime reports that
// the buffers are freed. A partition that failed goes back to waiting and comes again as a unit of its own. The rules,
// and why they cannot deadlock: docs/engine.md.
#ifndef CUZK_ENGINE_CORE_H
#define CUZK_ENGINE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "timeline/event.h"

typedef enum engine_policy { ENGINE_STANDARD, ENGINE_SLOTTED, ENGINE_PARTITION, ENGINE_BATCH } engine_policy;
typedef enum engine_priority {
    ENGINE_LOW,
    ENGINE_NORMAL,
    ENGINE_HIGH,
    ENGINE_CRITICAL, // waits at most for one running unit at every stage
    ENGINE_PRIORITIES
} engine_priority;

typedef struct engine_config {
    engine_policy policy;
    uint32_t slot_size;             // slotted: partitions a unit
    uint32_t batch_size;            // batch: jobs a batch
    uint64_t batch_wait_ns;         // batch: an incomplete batch starts after this long
    uint32_t synthesis_concurrency; // units in synthesis at once
    uint32_t lookahead;             // synthesised units that may wait for a device (depth of the channel), >= 1
    uint32_t devices;               // >= 1
    uint32_t fallback_devices;      // the last of them: only for what the others cannot prove; fewer than devices
    uint32_t workers_per_device;    // units on a device at once; only one of them is in the kernel section
    uint32_t max_pending_jobs;      // accepted jobs that are not terminal or still hold units; beyond it: refused
    uint32_t critical_places;       // further places that only CRITICAL jobs may take
    uint32_t max_partitions;        // of one job
    uint32_t max_keys;              // different circuits in the key cache
    uint32_t max_finished;          // results kept for late callers and repeated ids
    uint64_t memory_budget;         // bytes for keys and live units; UINT64_MAX: no limit
    uint64_t critical_reserve;      // of it, only for CRITICAL jobs and their keys
    uint32_t max_attempts;          // device runs a partition may have, >= 1
    uint64_t ageing_ns;             // a waiting job rises one priority (never to CRITICAL) after this long; 0: never
    bool group_by_key;              // of one priority, jobs whose key is there go first; not before one that has waited
                                    // for ageing_ns, and not at all without ageing
    uint64_t key_min_idle_ns;       // a key used within this time makes room for others than CRITICAL jobs only if
                                    // nothing else can
    uint64_t stage_timeout_ns;      // longest synthesis, device run, verification or key load; 0: no watchdog
    uint32_t device_failure_limit;  // consecutive failures until a device is unhealthy; 0: never
    uint64_t device_retry_ns;       // an unhealthy device is tried again after this long; 0: never
    // A test switch: plants one bug (engine/planted.h), so that the invariants can be seen to catch it. 0: none.
    uint32_t planted_bug;
} engine_config;

typedef uint64_t engine_job_id;  // made by the core, unique for its life, never reused
typedef uint64_t engine_unit_id; // likewise: a report that comes late or twice cannot hit another unit

// What a submit brings. Sizes are what one partition needs from synthesis until it is freed, and what its key takes.
typedef struct engine_request {
    uint8_t client_id[16];    // a digest of the caller's id; all zero: none given
    uint8_t input_digest[32]; // same id with the same input joins; with another input is refused
    uint32_t kind;            // for statistics and events only
    uint64_t key;             // identity of the proving key (circuit), non-zero
    uint64_t key_bytes;
    uint64_t partition_bytes;
    uint32_t partitions;
    engine_priority priority;
    uint64_t deadline_ns; // absolute; a job not terminal by then fails with DEADLINE; 0: none
    uint64_t token;       // the runtime's own handle, handed back in actions
} engine_request;

typedef enum engine_reason {
    ENGINE_NO_REASON,
    ENGINE_BAD_INPUT,     // synthesis refused the input, or a device one that does not match its key
    ENGINE_OUT_OF_MEMORY, // device or host
    ENGINE_WRONG_PROOF,   // did not verify
    ENGINE_DEVICE_ERROR,
    ENGINE_STAGE_TIMEOUT,
    ENGINE_DEADLINE,
    ENGINE_KEY_FAILED, // the key could not be loaded
    ENGINE_TOO_BIG,    // needs more than the whole budget: refused at once
    ENGINE_QUEUE_FULL, // refused: max_pending_jobs
    ENGINE_ID_IN_USE,  // refused: the client's id belongs to another input
    ENGINE_DRAINING,   // refused: no more jobs are accepted
    ENGINE_CANCELLED,
    ENGINE_NO_DEVICE,   // every device is unhealthy and none may be tried again
    ENGINE_BAD_REQUEST, // zero partitions, more than max_partitions, key 0
    ENGINE_KEY_IN_USE,  // refused: the key cannot be evicted now
    ENGINE_NOT_FOUND,   // refused: no such key
    ENGINE_REASONS
} engine_reason;
const char *engine_reason_name(engine_reason r);

typedef enum engine_job_state {
    ENGINE_QUEUED,
    ENGINE_RUNNING,
    ENGINE_DONE,
    ENGINE_FAILED,
    ENGINE_STOPPED
} engine_job_state;

typedef enum engine_event_kind {
    ENGINE_EV_SUBMIT,              // request
    ENGINE_EV_CANCEL,              // job
    ENGINE_EV_SYNTH_DONE,          // unit
    ENGINE_EV_SYNTH_FAILED,        // unit, reason (partition: which, or UINT32_MAX)
    ENGINE_EV_DEVICE_STARTED,      // unit: the kernel section begins (optional: else START_DEVICE counts)
    ENGINE_EV_DEVICE_KERNELS_DONE, // unit: left the kernel section; CPU tail work may go on
    ENGINE_EV_DEVICE_DONE,         // unit: proofs of all its partitions are there, unverified
    ENGINE_EV_DEVICE_FAILED,       // unit, reason (BAD_INPUT: key and unit do not match, no retry helps), host
    ENGINE_EV_VERIFIED,            // unit, ok_mask: bit i set when partition i of the unit verified
    ENGINE_EV_KEY_LOADED,          // key, ticket, bytes (what it really takes)
    ENGINE_EV_KEY_FAILED,          // key, ticket, reason
    ENGINE_EV_KEY_FREED,           // key, ticket: after EVICT_KEY was carried out
    ENGINE_EV_UNIT_FREED,          // unit: its buffers are gone, after FREE_UNIT was carried out
    ENGINE_EV_EVICT,               // key, token: asked for by an operator; refused while in use
    ENGINE_EV_PRELOAD,             // key, bytes, token: loaded if there is room now, else refused
    ENGINE_EV_TIMER,               // the time asked for by SET_TIMER has come; harmless if early or late
    ENGINE_EV_DRAIN,               // accept nothing more; finish what is there
} engine_event_kind;

typedef struct engine_event {
    engine_event_kind kind;
    const engine_request *request; // SUBMIT
    engine_job_id job;
    engine_unit_id unit;
    uint64_t key, ticket, bytes;
    uint64_t token;
    engine_reason reason;
    uint32_t partition;  // SYNTH_FAILED: index within the unit
    bool host;           // DEVICE_FAILED, VERIFIED: what failed is the host's fault (memory, threads), not the device's
    uint64_t ok_mask[4]; // units have at most 256 partitions
} engine_event;

typedef enum engine_action_kind {
    ENGINE_ACT_ACCEPTED,     // job, token, state, joined: an earlier job, in that state, has the same id and input; it
                             // keeps its own token and replies once: the runtime keeps the list of those who wait
    ENGINE_ACT_REFUSED,      // token (of a submit, EVICT or PRELOAD), key, reason, needed, available (bytes or places)
    ENGINE_ACT_LOAD_KEY,     // key, ticket: report KEY_LOADED or KEY_FAILED with both
    ENGINE_ACT_EVICT_KEY,    // key, ticket: nobody uses it; free it and report KEY_FREED
    ENGINE_ACT_START_SYNTH,  // unit, worker: synthesise its partitions
    ENGINE_ACT_START_DEVICE, // unit, device, worker: the kernel section is free and belongs to this unit
    ENGINE_ACT_STOP_UNIT,    // unit: nobody wants it; stop at the next boundary, then report done or failed as it comes
    ENGINE_ACT_VERIFY,       // unit: keep the proofs (they outlive the unit), verify them, report VERIFIED
    ENGINE_ACT_FREE_UNIT,    // unit: drop its buffers, then report UNIT_FREED
    ENGINE_ACT_REPLY,        // job, token, state, reason, partition: terminal, exactly once a job
    ENGINE_ACT_FORGET,       // job, token: its result need not be kept any longer
    ENGINE_ACT_RECORD,       // a timeline event: event, at, and what engine/record.h names for it
    ENGINE_ACT_SET_TIMER,    // at: replaces any earlier timer; UINT64_MAX: none
    ENGINE_ACT_DRAINED,      // nothing is left
} engine_action_kind;

typedef struct engine_action {
    engine_action_kind kind;
    engine_job_id job;
    uint64_t token;
    engine_unit_id unit;
    uint32_t device, worker;
    uint64_t key, ticket;
    engine_job_state state;
    engine_reason reason;
    engine_priority priority;
    uint32_t partition, count;
    uint64_t needed, available;
    uint64_t at;
    timeline_kind event;
    uint64_t value; // of RECORD: nanoseconds, bytes or 0/1
    bool joined;
} engine_action;

typedef struct engine_core engine_core;

// All memory the core will ever use. CUZK_ERR_USAGE naming the field of `config` that makes no sense.
CUZK_MUST_USE cuzk_status engine_core_create(engine_core **out, const engine_config *config, cuzk_error *err);
void engine_core_destroy(engine_core **core);

// Takes one event at time `now` (monotonic, never less than before) and appends what is to be done, in order, to the
// core's action list, which stays valid until the next step. Unknown jobs, units and keys are ignored: late reports are
// normal. Returns the number of actions.
size_t engine_core_step(engine_core *core, uint64_t now, const engine_event *event, const engine_action **actions);

// What a unit is made of: `count` partitions, each of a job.
typedef struct engine_part {
    engine_job_id job;
    uint64_t token;
    uint32_t partition;
} engine_part;
uint32_t engine_core_unit(const engine_core *core, engine_unit_id unit, const engine_part **parts);

typedef struct engine_stats {
    uint64_t accepted, refused, joined;
    uint64_t queued, running, done, failed, cancelled; // queued + running + done + failed + cancelled = accepted
    uint64_t retries;                                  // partitions proven again
    uint64_t fallbacks;                                // handed to a fallback device: out of memory on the others
    uint64_t discarded;                                // synthesised units given up to make room for a CRITICAL one
    uint64_t key_loads, key_evictions, stage_timeouts;
    uint64_t units_live, synthesising, blocked, in_channel, on_device; // blocked: finished, the channel is full
    uint64_t memory_reserved, memory_peak, memory_keys;
    uint32_t keys_loaded, devices_healthy;
    bool draining;
} engine_stats;
void engine_core_stats(const engine_core *core, engine_stats *out);

// State of one job, for status calls; false if unknown (never seen or already forgotten).
typedef struct engine_job_view {
    engine_job_state state;
    engine_reason reason;
    engine_priority priority;
    uint32_t partitions, partitions_done;
    uint64_t submitted_ns, started_ns, finished_ns; // 0: not yet
    uint64_t token;
} engine_job_view;
bool engine_core_job(const engine_core *core, engine_job_id job, engine_job_view *out);

// Checks every invariant of docs/engine.md; false and a sentence naming the first one broken.
bool engine_core_check(const engine_core *core, char *text, size_t size);

#endif
