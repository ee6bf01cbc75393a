// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Internal to the core: its tables, and what its files offer each other. All tables lie in one block of memory and are
// sized at creation; jobs, units and keys are named by their index ("slot") inside and by their id outside.
#ifndef CUZK_ENGINE_CORE_INTERNAL_H
#define CUZK_ENGINE_CORE_INTERNAL_H

#include "engine/core.h"
#include "engine/planted.h"

#define NO_SLOT UINT32_MAX
#define NEVER UINT64_MAX

enum { UNIT_PARTS_MAX = 256 }; // ok_mask has that many bits

typedef enum part_state { PART_WAITING, PART_IN_UNIT, PART_DONE, PART_DROPPED } part_state;

typedef struct part {
    uint8_t state; // part_state
    bool alone;    // failed before: comes again as a unit of its own
    bool fallback; // was out of memory on the other devices too often; alone, too
    uint16_t attempts;
} part;

typedef struct job {
    engine_job_id id; // 0: the slot is free
    engine_request req;
    engine_job_state state;
    engine_reason reason;
    uint32_t waiting;    // partitions in PART_WAITING
    uint32_t waiting_lo; // no partition below it waits
    uint32_t alone;      // of those that wait, how many must come alone
    uint32_t done;
    uint32_t units;    // live units with a partition of this job
    uint32_t in_synth; // of those, in synthesis or holding their worker
    bool unbatched;    // batch: shared a unit with a bad input once; not again with others
    bool mem_wait;     // MEM_WAIT_START is recorded
    uint32_t mem_part; // for this partition
    uint32_t replies;  // REPLY actions: at most 1, and 1 when terminal
    uint64_t submitted, started, finished;
    uint32_t live_pos;             // index in core.live, NO_SLOT once terminal and without units
    uint32_t next_id, next_client; // hash chains
    bool in_client_chain;
} job;

typedef enum unit_state {
    UNIT_FREE,
    UNIT_SYNTH,   // in synthesis: holds a worker
    UNIT_BLOCKED, // finished, the channel is full: holds its worker unless a CRITICAL unit took it
    UNIT_CHANNEL, // waits for a device
    UNIT_KERNELS, // on a device, in its kernel section
    UNIT_TAIL,    // on a device, after it
    UNIT_VERIFY,
    UNIT_FREEING,
} unit_state;

typedef struct unit {
    engine_unit_id id;
    unit_state state;
    bool dead;    // every job of it is terminal: its results are not wanted
    bool started; // GPU_START is recorded
    bool critical;
    bool fallback; // only for a fallback device
    bool overdue;  // was asked to leave its device a stage_timeout ago, and has not
    uint32_t n;
    engine_part *parts; // of unit_parts places
    uint32_t *jobs;     // slot of the job of each part
    uint32_t key;       // slot
    uint64_t bytes;
    uint32_t worker;             // synthesis worker, or NO_SLOT
    uint32_t device, dev_worker; // dev_worker NO_SLOT when not on it
    uint64_t since, deadline;    // of the stage
    uint64_t arrival;            // a counter, for planted bugs only: order of entering the channel
} unit;

typedef enum key_state { KEY_ABSENT, KEY_LOADING, KEY_LOADED, KEY_EVICTING } key_state;

typedef struct key_entry {
    uint64_t id;
    key_state state;
    uint64_t bytes; // reserved for it
    uint32_t refs;  // live units
    uint64_t ticket;
    uint64_t used;       // counter, for least recently used
    uint64_t idle_since; // when its last user left it, or it was loaded for nobody
    uint64_t since, deadline;
    engine_job_id asked_by;
} key_entry;

typedef struct dev_state {
    uint32_t kernels;  // unit in the kernel section, or NO_SLOT
    uint32_t *workers; // unit of each worker, or NO_SLOT
    uint32_t inflight; // units of this device from START_DEVICE until verified or failed
    uint32_t failures; // consecutive
    bool unhealthy;
    bool shown_bad; // what the last record of it says
    uint64_t retry_at;
} dev_state;

// The next unit as the policy would form it, not yet admitted.
typedef struct plan {
    uint32_t n;
    engine_part *parts;
    uint32_t *jobs;
    uint64_t key, key_bytes, bytes;
    bool critical;
} plan;

struct engine_core {
    engine_config cfg;
    uint64_t now;
    uint32_t max_jobs, max_live, max_units, unit_parts;
    uint32_t hash_mask;

    job *jobs;
    part *parts; // max_partitions a job slot
    uint32_t *live;
    uint32_t n_live; // jobs that hold a place
    uint32_t n_critical_live;
    uint32_t *free_jobs, n_free_jobs;
    uint32_t *finished, finished_head, n_finished; // ring of max_jobs slots, oldest first
    uint32_t *by_id, *by_client;
    engine_job_id next_job;

    unit *units;
    uint64_t next_unit;
    uint32_t *workers; // unit of each synthesis worker, or NO_SLOT
    uint64_t arrivals;

    key_entry *keys;
    uint64_t next_ticket, uses;

    dev_state *devices;
    plan plan;

    uint64_t reserved;
    engine_stats stats; // the counters; the rest is filled on demand
    uint64_t timer;
    bool draining, drained, announced;
    bool broken; // the action list overflowed or a count went below zero: reported by engine_core_check

    engine_action *actions;
    size_t n_actions, max_actions;
};

static inline bool planted(const engine_core *c, engine_bug bug) { return c->cfg.planted_bug == (uint32_t)bug; }
static inline part *job_parts(const engine_core *c, uint32_t j) { return c->parts + (size_t)j * c->cfg.max_partitions; }
static inline bool terminal(const job *j) { return j->state >= ENGINE_DONE; }
static inline uint64_t add_sat(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }
static inline uint64_t mul_sat(uint64_t a, uint64_t b) { return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b; }

// --- core_actions.c: the action list and the records in it ---
engine_action *core_act(engine_core *c, engine_action_kind kind);
void core_act_unit(engine_core *c, engine_action_kind kind, const unit *u);
void core_act_refuse(engine_core *c, uint64_t token, uint64_t key, engine_reason reason, uint64_t needed,
                     uint64_t available);
void core_record_job(engine_core *c, timeline_kind event, const job *j, uint64_t value);
// One record for each run of partitions of the same job.
void core_record_unit(engine_core *c, timeline_kind event, const unit *u, uint64_t at, uint64_t value);
void core_record_key(engine_core *c, timeline_kind event, const key_entry *k, uint64_t value);
void core_record_device(engine_core *c, uint32_t d);

// --- core_jobs.c ---
void core_jobs_submit(engine_core *c, const engine_request *r);
void core_jobs_cancel(engine_core *c, engine_job_id id);
uint32_t core_jobs_find(const engine_core *c, engine_job_id id); // slot or NO_SLOT
// The job becomes terminal: reply, drop what waits, stop or free units that nobody wants any more.
void core_jobs_finish(engine_core *c, uint32_t j, engine_job_state state, engine_reason reason, uint32_t partition);
void core_jobs_fail_key(engine_core *c, uint64_t key, engine_reason reason);
void core_jobs_fail_all(engine_core *c, engine_reason reason);
void core_jobs_fail_fallback(engine_core *c);       // those with a partition that only a fallback device could prove
void core_jobs_release(engine_core *c, uint32_t j); // a unit of it is gone; its place comes back if that was the last
void core_jobs_part_waits(engine_core *c, uint32_t j, uint32_t partition, bool alone);

// --- core_policy.c ---
// True if (job a, partition pa) goes before (job b, partition pb) now.
bool core_policy_before(const engine_core *c, uint32_t a, uint32_t pa, uint32_t b, uint32_t pb);
bool core_policy_unit_before(const engine_core *c, const unit *a, const unit *b);
bool core_policy_next(engine_core *c); // forms core.plan; false if nothing may start
// Smallest unit of a job under the policy, in partitions; its batch may add to it.
uint32_t core_policy_least(const engine_core *c, uint32_t partitions);
bool core_policy_batch_ready(const engine_core *c, uint32_t j);

// --- core_memory.c: budget and keys ---
uint64_t core_memory_limit(const engine_core *c, bool critical);
void core_memory_take(engine_core *c, uint64_t bytes);
void core_memory_give(engine_core *c, uint64_t bytes);
uint32_t core_keys_find(const engine_core *c, uint64_t id); // slot of a key that is not absent
bool core_keys_there(const engine_core *c, uint64_t id);    // loaded or being loaded
void core_keys_leave(engine_core *c, uint32_t k);           // a unit that used it is gone
// While a job waits for memory, the next moment at which a key has been idle for long enough to be evicted.
uint64_t core_keys_next_idle(const engine_core *c);
// Reserves memory and key for core.plan, all or nothing; starts evictions (and, for a critical plan, gives up waiting
// units) when that helps. The slot of the key in *k.
bool core_memory_admit(engine_core *c, uint32_t *k);
void core_keys_loaded(engine_core *c, uint64_t id, uint64_t ticket, uint64_t bytes);
void core_keys_failed(engine_core *c, uint64_t id, uint64_t ticket, engine_reason reason);
void core_keys_freed(engine_core *c, uint64_t id, uint64_t ticket);
void core_keys_evict(engine_core *c, uint64_t id, uint64_t token);
void core_keys_preload(engine_core *c, uint64_t id, uint64_t bytes, uint64_t token);

// --- core_units.c ---
uint32_t core_units_find(const engine_core *c, engine_unit_id id); // slot or NO_SLOT
void core_units_dispatch(engine_core *c);                          // starts everything that may start
void core_units_synth_done(engine_core *c, engine_unit_id id);
void core_units_synth_failed(engine_core *c, engine_unit_id id, engine_reason reason, uint32_t index);
void core_units_verified(engine_core *c, engine_unit_id id, const uint64_t mask[4], bool host);
void core_units_freed(engine_core *c, engine_unit_id id);
void core_units_abandon(engine_core *c, unit *u); // nobody wants it any more
void core_units_discard(engine_core *c, unit *u); // gives a waiting unit up; its partitions wait again
void core_units_free(engine_core *c, unit *u);    // leaves whatever it holds but memory and key, asks for FREE_UNIT
void core_units_pass_channel(engine_core *c, unit *u); // a blocked unit goes straight to a device
// For a unit that is being freed and whose input no retry can help: fails the job of the partition with that index (the
// unit's only job, if nobody knows which partition it is); the rest of a batch comes again.
void core_units_refuse(engine_core *c, unit *u, engine_reason reason, uint32_t index);
// A partition that fails for the last time goes to a fallback device instead, if there is one, may_fall_back is set and
// it was on none yet.
void core_units_retry(engine_core *c, unit *u, const uint64_t ok[4], engine_reason reason, bool may_fall_back);

// --- core_devices.c ---
bool core_devices_dispatch(engine_core *c); // starts one unit on a device; false if none can start
void core_devices_started(engine_core *c, engine_unit_id id);
void core_devices_kernels_done(engine_core *c, engine_unit_id id);
void core_devices_done(engine_core *c, engine_unit_id id);
void core_devices_failed(engine_core *c, engine_unit_id id, engine_reason reason, bool host);
void core_devices_leave(engine_core *c, unit *u);             // gives worker and kernel section back
void core_devices_judge(engine_core *c, uint32_t d, bool ok); // a verdict on a run: health
void core_devices_show(engine_core *c, uint32_t d);           // records whether it works, if that has changed
bool core_devices_bad(const engine_core *c, uint32_t d);      // unhealthy, or stuck
bool core_devices_fallback(const engine_core *c, uint32_t d); // is it one of those?
bool core_devices_lost(const engine_core *c);                 // none will work again, unless what hangs returns
bool core_devices_fallback_lost(const engine_core *c);        // the same of the fallback devices; true without any
void core_devices_mourn(engine_core *c);                      // a device may be lost: fails the jobs that have no other
uint32_t core_devices_healthy(const engine_core *c);

// --- core_timers.c ---
void core_timers_expire(engine_core *c);
void core_timers_set(engine_core *c);
uint64_t core_timers_stage(const engine_core *c); // deadline of a stage that starts now

#endif
