// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Parts of `cuzk bench`: requests from flags (bench_request.c), a daemon of our own where none is named
// (bench_daemon.c), the load (bench_run.c), and the report (bench_report.c).
#ifndef CUZK_APP_BENCH_H
#define CUZK_APP_BENCH_H

#include "app/app.h"
#include "app/config.h"
#include "service/client.h"

// --- what is asked for ---

typedef struct bench_flags {
    const char *kind; // "porep", "snap", "wpost", "winning", "toy"
    const char *c1, *vanilla;
    const char *randomness, *comm_r_old, *comm_r_new, *comm_d_new; // hexadecimal
    uint64_t registered_proof, sector_number, miner_id, partition;
    uint64_t toy_partitions, toy_log_rows;
} bench_flags;

// A request with the memory it points to; each proof of a run gets a copy with its own seed (toy) or id.
typedef struct bench_request {
    client_proof_request wire;
    const char *kind;
    uint8_t *input; // vanilla_proof, or all of vanilla_proofs
    client_view *views;
    uint8_t fixed[4][32];
} bench_request;

// Reads files. CUZK_ERR_USAGE for flags that do not go together; else what reading them said.
CUZK_MUST_USE cuzk_status bench_request_make(bench_request *out, const bench_flags *flags, cuzk_error *err);
void bench_request_release(bench_request *r);

// --- a daemon in this process ---

typedef struct bench_daemon bench_daemon;
// From the configuration, but on a unix socket of its own in the folder for temporary files.
CUZK_MUST_USE cuzk_status bench_daemon_start(bench_daemon **out, const config *c, cuzk_error *err);
const char *bench_daemon_target(const bench_daemon *d);
void bench_daemon_stop(bench_daemon **d); // NULL is fine

// --- the load ---

typedef struct bench_proof {
    uint32_t number;                                              // order of submission, from 0
    double start_s, end_s;                                        // since the run's start, as seen by the client
    int code;                                                     // of the call; CLIENT_OK: see status
    int status;                                                   // client_job_status
    bool was_cancelled;                                           // by us, on purpose
    uint32_t refusals;                                            // RESOURCE_EXHAUSTED, tried again
    uint64_t queue_ms, key_ms, synthesis_ms, device_ms, total_ms; // as the daemon says
    size_t proof_len;
    char text[CUZK_ERROR_TEXT_MAX]; // of what went wrong
} bench_proof;

typedef struct bench_load {
    uint32_t proofs;      // how many; with duration_s at most so many
    uint32_t concurrency; // in flight: one is submitted whenever one ends
    double duration_s;    // 0: until all are done; else nothing is submitted after it
    bool stress;          // mixes priorities and cancels every tenth
} bench_load;

typedef struct bench_run {
    bench_proof *proofs;
    uint32_t n; // that were submitted
    double wall_s;
    bool stopped; // by a signal; what was in flight was cancelled
    char *lines;  // TIMELINE lines of the run; NULL: the daemon has none
    size_t lines_len;
    uint64_t lost_lines;
    client_status status; // of the daemon, afterwards
    bool has_status;
} bench_run;

CUZK_MUST_USE cuzk_status bench_run_make(bench_run *out, client *c, const bench_request *request,
                                         const bench_load *load, cuzk_error *err);
void bench_run_release(bench_run *r);

// --- the report ---

typedef struct bench_facts {
    const char *kind, *target; // NULL target: a daemon of this process
    uint32_t concurrency;
    const char *waterfall; // path; NULL: none. The format follows the ending
} bench_facts;

// Prints text or JSON and writes the waterfall. The exit code: 1 if a proof failed.
int bench_report(app *a, const bench_run *r, const bench_facts *facts);

#endif
