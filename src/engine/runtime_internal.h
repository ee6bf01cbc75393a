// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Internal to the runtime: who owns what.
//
//   engine thread   the core, the table of units, the table of keys, the timer
//   box_lock        the queue of messages
//   lock            the table of jobs, their terminal states and watchers, and all that is only there to be looked at
//                   (runtime_books.c writes it down, runtime_views.c hands it out)
//   a worker        the unit it was handed, until it posts its report
//
// Messages lie inside the unit, key or call they are about, so that reporting can never fail for lack of memory.
#ifndef CUZK_ENGINE_RUNTIME_INTERNAL_H
#define CUZK_ENGINE_RUNTIME_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/idmap.h"
#include "engine/runtime.h"

typedef struct msg {
    struct msg *next;
    engine_event event;
    struct runtime_call *call; // instead of an event
} msg;

// A request of another thread, carried out on the engine thread while it waits.
typedef struct runtime_call {
    msg node;
    void (*fn)(runtime *rt, struct runtime_call *call);
    void *arg;
    bool done;
    // Of submits, evictions and preloads: what the core answered.
    bool answered, joined;
    engine_reason reason;
    uint64_t needed, available;
    uint64_t job; // core's id
} runtime_call;

typedef struct watcher {
    struct watcher *next;
    void (*fn)(void *ctx, const runtime_result *result);
    void *ctx;
} watcher;

// Time spent by several at once: each adds its own.
typedef struct stopwatch {
    uint64_t total, since_sum; // of those that run: the sum of their beginnings
    uint32_t running;
} stopwatch;

typedef struct rpart {
    runtime_stage stage;
    uint32_t attempts;
    uint64_t since, synthesis_ns, device_ns;
    bool fell_back;
} rpart;

typedef struct rjob {
    runtime_job token; // our id and the core's token
    engine_job_id id;  // the core's; 0 until accepted
    const provider *prov;
    void *request;
    provider_plan plan;
    char name[TIMELINE_JOB_MAX];
    uint8_t *proof;
    uint64_t submitted_ns;
    uint32_t units; // live ones with a partition of it; engine thread
    // Guarded by `lock`.
    uint32_t refs; // table, units, callers
    pthread_cond_t changed;
    bool terminal;
    engine_job_state state;
    engine_reason reason;
    uint32_t partition, retries;
    engine_priority priority;
    uint64_t accepted_ns, started_ns, finished_ns; // 0: not yet
    stopwatch synthesis, device, verify, key_load;
    rpart *parts; // plan.partitions
    uint32_t parts_proven, fell_back;
    char text[CUZK_ERROR_TEXT_MAX];
    watcher *watchers;
    bool calling; // watchers, just now
} rjob;

typedef struct rkey {
    uint64_t id;
    const provider *prov;
    char name[PROVIDER_KEY_NAME_MAX];
    uint64_t ticket;
    groth16_pk *pk;
    device_key **on; // n_devices
    msg report;
    cuzk_error error;  // of a load that failed
    struct rkey *next; // in the keeper's queue
    bool load;         // what the keeper is to do: load or free
    // Guarded by `lock`, as is the table itself for those who only look.
    bool loading, loaded, freeing;
    uint64_t bytes; // reserved
    uint32_t users;
    uint64_t last_used_ns, loads, load_ns, since;
    cuzk_error failure; // of the newest load, CUZK_OK: none
} rkey;

// What a device was seen to do.
typedef struct rdevice {
    bool unhealthy;
    uint64_t runs, failures, busy_ns;
    engine_unit_id in_kernels; // 0: none
    uint64_t since;
    uint64_t shown_ns; // most that was ever shown as busy
} rdevice;

typedef enum runit_stage { RUNIT_SYNTHESIS, RUNIT_CHANNEL, RUNIT_DEVICE, RUNIT_VERIFY } runit_stage;

typedef struct runit {
    engine_unit_id id;
    uint32_t n;
    uint32_t device, worker; // of its device run
    rkey *key;
    runit_stage stage; // engine thread
    uint32_t place;    // of the worker it holds, in runtime.bench
    uint64_t since;
    _Atomic(const char *) doing; // stage within the device run, for the watchdog's text
    atomic_bool stop;
    bool free_only; // in the verifier's queue: drop buffers instead of verifying
    struct runit *next;
    msg synth, started, kernels, device_report, verified, freed;
    cuzk_error error;         // of the stage that failed
    uint32_t wrong, unjudged; // partitions whose proof did not verify, or could not be verified for lack of memory
    // n each
    rjob **jobs;
    uint32_t *partitions;
    groth16_assignment **assignments;
    groth16_proof *proofs;
} runit;

// Partitions of one job lie side by side in a unit.
static inline bool runit_first_of_job(const runit *u, uint32_t i) { return i == 0 || u->jobs[i] != u->jobs[i - 1]; }

// A thread with a queue of units.
typedef struct unit_worker {
    runtime *rt;
    uint32_t index; // of synthesis: worker; of a device: device * workers_per_device + worker
    pthread_t thread;
    bool ready; // the lock is there
    bool started;
    pthread_mutex_t lock;
    pthread_cond_t some;
    runit *first, *last;
    bool stop;
    pool *pool; // of synthesis
    recorder_lane *lane;
} unit_worker;

struct runtime {
    runtime_options opt;
    engine_core *core;

    pthread_mutex_t box_lock;
    pthread_cond_t box_some; // a message, or a call is done
    msg *box_first, *box_last;
    bool stop;
    pthread_t engine_thread;
    recorder_lane *lane;
    uint64_t timer;
    uint64_t trim_at; // when kept memory goes back to the system; UINT64_MAX: not while there are units, or it has gone
    bool busy;        // there were units after the last step
    bool told_fallback;

    pthread_mutex_t lock;
    pthread_cond_t call_done;
    pthread_cond_t drain_done;
    idmap jobs; // by token
    uint64_t next_token;
    bool drained;
    bool leaving; // drains: nobody waits for keys any more
    runtime_stats stats;
    uint8_t name_seed[8];
    struct bench_place {
        engine_unit_id unit; // 0: idle
        runtime_worker view;
    } * bench;                  // synthesis workers, then those of devices
    rdevice *seen;              // n_devices
    pthread_cond_t key_changed; // a key was loaded, could not be, or was freed

    idmap units, keys; // engine thread
    // Reports of actions that could not even begin.
    engine_event *deferred;
    uint32_t n_deferred, max_deferred;
    runtime_call *current; // the call being carried out: gets REFUSED actions without a job

    unit_worker *synthesis; // synthesis_concurrency
    unit_worker *device;    // n_devices * workers_per_device
    unit_worker verifier;

    pthread_t keeper_thread;
    pthread_mutex_t keeper_lock;
    pthread_cond_t keeper_some;
    rkey *keeper_first, *keeper_last;
    bool keeper_stop, keeper_started, engine_started;
};

// --- runtime.c ---
void runtime_post(runtime *rt, msg *m, const engine_event *event);
// Runs fn on the engine thread and waits for it.
void runtime_run_call(runtime *rt, runtime_call *call, void (*fn)(runtime *, runtime_call *), void *arg);
void runtime_warn(runtime *rt, const char *fmt, ...) CUZK_PRINTF(2, 3);

// False when `at` (monotonic) came first; UINT64_MAX: never.
bool runtime_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t at);

// --- runtime_actions.c: on the engine thread ---
// Steps the core and carries the actions out, and those of what failed at once.
void runtime_step(runtime *rt, const engine_event *event);
void *runtime_engine_main(void *rt);

// --- runtime_jobs.c ---
const provider *runtime_provider(const runtime *rt, const char *kind); // NULL if there is none
cuzk_status rjob_unknown(runtime_job job, cuzk_error *err);            // the error of a job that is not there
rjob *rjob_find(runtime *rt, runtime_job token);                       // takes a reference
void rjob_unref(runtime *rt, rjob *j);
// Engine thread: terminal. Wakes and calls those who wait.
void rjob_finish(runtime *rt, rjob *j, const engine_action *reply);
void rjob_unit_gone(rjob *j); // engine thread
// What went wrong last, unless the job is terminal. partition UINT32_MAX: not of one.
void rjob_set_text(runtime *rt, rjob *j, uint32_t partition, const char *stage, const cuzk_error *why);
// The same for all jobs that need the key.
void rjob_set_key_text(runtime *rt, uint64_t key, const cuzk_error *why);

// --- runtime_keys.c ---
// Engine thread: makes sure that the key has an entry in the table. False when memory is refused.
bool runtime_know_key(runtime *rt, const provider *prov, const provider_plan *plan);
// From here on nobody waits for a key, and one that no job needs is not loaded to its end.
void runtime_leave_keys(runtime *rt);
bool rkey_wanted(runtime *rt, const rkey *k); // from any thread

// --- runtime_books.c: on the engine thread ---
uint32_t books_workers(const runtime *rt);          // places on the bench
unsigned books_key_threads(runtime *rt);            // for a load that starts now; from any thread
bool books_fallback(const runtime *rt, uint32_t d); // is it one?
void books_unit_starts(runtime *rt, runit *u, uint32_t worker);
void books_device_starts(runtime *rt, runit *u);
void books_unit_given_up(runtime *rt, const runit *u); // is being freed
void books_unit_gone(runtime *rt, const runit *u);
void books_report(runtime *rt, runit *u, const engine_event *e);    // before the core hears of it
void books_key_report(runtime *rt, rkey *k, const engine_event *e); // likewise
void books_key_action(runtime *rt, rkey *k, const engine_action *a);
void books_job_accepted(runtime *rt, rjob *j);
void books_job_ends(rjob *j); // with the lock

// --- runtime_views.c: with the lock ---
runtime_times rjob_times(const rjob *j);

// --- runtime_workers.c ---
bool runtime_start_thread(pthread_t *out, void *(*main)(void *), void *arg); // takes no signals
recorder_lane *recorder_lane_open_if(recorder *rec);                         // NULL without a recorder
void unit_worker_init(unit_worker *w, runtime *rt, uint32_t index);
bool unit_worker_start(unit_worker *w, void *(*main)(void *));
bool unit_worker_give(unit_worker *w, runit *u, void *(*main)(void *)); // starts the thread if need be
void unit_worker_stop(unit_worker *w);                                  // waits for it
void *synthesis_main(void *worker);
void *device_main(void *worker);
void *verifier_main(void *worker);
void *keeper_main(void *rt);
void keeper_give(runtime *rt, rkey *k, bool load);
void rkey_unload(runtime *rt, rkey *k);
void runit_drop_buffers(runit *u);

// --- runtime_record.c ---
void runtime_record(runtime *rt, const engine_action *a);

#endif
