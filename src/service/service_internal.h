// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Internal to the service. One lock guards the table of jobs, the counts and the figures. It may be held while the
// runtime is asked what it knows (which takes the runtime's lock for a moment), never while anything waits.
#ifndef CUZK_SERVICE_SERVICE_INTERNAL_H
#define CUZK_SERVICE_SERVICE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/budget.h"
#include "service/figures.h"
#include "service/insecure.h"
#include "service/service.h"
#include "service/timers.h"

enum { SERVICE_KIND_SLOTS = SERVICE_KINDS + 1, SERVICE_BUCKETS = 1024, SERVICE_ERRORS_KEPT = 16 };

// Places of kinds in arrays: those of the wire, then the toys.
uint32_t service_kind_slot(service_kind k);
service_kind service_kind_of_slot(uint32_t slot);

// A job that was accepted. It stays in the table for as long as the runtime may know it.
typedef struct job_entry {
    struct job_entry *next_by_id, *next_by_job; // chains; newest first
    struct job_entry *older, *newer;            // all, in the order in which they were entered
    struct job_entry *next_terminal;            // in the order in which they ended
    service *s;
    char id[SERVICE_JOB_ID_MAX];
    runtime_job job;
    service_kind kind;
    engine_priority priority;
    uint64_t input_bytes; // held until it is terminal
    uint64_t entered_ns;
    uint32_t wanted; // submissions that were not abandoned
    bool abandoned;  // the last one was: it is being cancelled, and whoever asks for the same gets another job
    bool counted;    // in `accepted`: the submission that made the job has returned, not only those that joined it
    bool pinned;     // its watches are being called
    bool forgotten;  // not in the table any more; freed when it is not pinned
    service_watch *watches;
    // Once it is terminal, for good.
    bool terminal;
    engine_job_state state;
    engine_reason reason;
    uint32_t partitions;
    uint64_t finished_ns;
    runtime_times times;
} job_entry;

typedef struct service_trouble {
    uint64_t at_ns;
    char text[200];
} service_trouble;

// Of one kind, over the life of the service.
typedef struct kind_counts {
    uint64_t accepted, done, failed, cancelled;
} kind_counts;

struct service {
    service_options opt; // strings are not kept
    uint64_t started_ns;
    uint64_t budget;       // UINT64_MAX: no limit
    uint64_t budget_shown; // what there is when there is no limit
    uint64_t max_message, max_input;
    recorder *rec;
    timers *timers;
    device **devices;
    uint32_t n_devices;
    struct device_plan *device_plans;
    struct pce_cache *programs; // of all kinds
    provider *porep, *toys;     // NULL: not there
    const provider *providers[2];
    char *params_dir; // NULL: none
    char *test_blinding;
    runtime *rt;
    atomic_bool draining;

    pthread_mutex_t lock;
    pthread_cond_t called; // a watch's function has returned
    job_entry *by_id[SERVICE_BUCKETS], *by_job[SERVICE_BUCKETS];
    job_entry *oldest, *newest;
    job_entry *first_terminal, *last_terminal;
    uint32_t n_terminal, max_terminal;
    uint32_t n_ordinary, n_critical; // not terminal
    uint64_t input_bytes;            // of those, and of requests being parsed
    kind_counts counts[SERVICE_KIND_SLOTS];
    figures figures;

    pthread_mutex_t trouble_lock;
    service_trouble troubles[SERVICE_ERRORS_KEPT]; // a ring
    uint64_t n_troubles;
    insecure_reasons insecure; // with trouble_lock
};

// Fills *err and returns the code.
service_code service_fail(service_error *err, service_code code, const char *fmt, ...) CUZK_PRINTF(3, 4);
// Remembers a line for the status, and logs it as a warning; both without what it quotes of inputs. `job` may be NULL.
void service_trouble_note(service *s, const char *job, const char *text);

// Looks again why proofs may be worth nothing (parameters may come while it runs), and logs what is new. Reads files.
void service_check_insecure(service *s);

// --- service_jobs.c ---

job_entry *jobs_by_id(service *s, const char *id);      // the newest with that id, or NULL; with the lock
job_entry *jobs_by_number(service *s, runtime_job job); // with the lock
// Enters an accepted job as *fresh, which becomes NULL, unless it is entered already. `out` gets everything. False, and
// nothing was entered, for one that was joined and is abandoned: it has ended now, and the next of that id is another.
CUZK_MUST_USE bool jobs_enter(service *s, service_submitted *out, job_entry **fresh, runtime_job job, bool joined);
void jobs_free(service *s); // the runtime is gone, and nobody waits

// service_look, and the figures of the same moment (f may be NULL).
CUZK_MUST_USE cuzk_status service_look_with(service *s, service_snapshot **out, figures *f, cuzk_error *err);

// --- devices.c ---

typedef struct device_plan device_plan; // faults of simulated devices; freed after those
// A device by its name: "cpu", or "sim:..." as devices.c explains. CUZK_ERR_USAGE for anything else. What it needs is
// put in front of *plans, also on failure.
CUZK_MUST_USE cuzk_status service_device_open(device **out, device_plan **plans, const char *name, unsigned threads,
                                              cuzk_error *err);
void service_device_plans_free(device_plan **plans);

#endif
