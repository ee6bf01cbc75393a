// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A fixed set of worker threads that runs one loop of independent tasks at a time.
#ifndef CUZK_BASE_POOL_H
#define CUZK_BASE_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

typedef struct pool pool;

// threads = 0: as many as the process may use (affinity mask and cgroup CPU quota honoured). The calling thread of
// pool_run works too, so `threads` counts it: 1 starts no thread. Threads start lazily, at the first pool_run.
CUZK_MUST_USE cuzk_status pool_create(pool **out, unsigned threads, cuzk_error *err);
void pool_destroy(pool **p);

// Threads that pool_run uses, at least 1. A NULL pool counts as 1: everything runs on the caller.
unsigned pool_threads(const pool *p);

// How many threads this process may use, at least 1.
unsigned pool_available_threads(void);

// Calls fn(ctx, i, worker) once for every i in [0, tasks), in any order, on up to pool_threads() threads, and returns
// when all are done. worker < pool_threads(p) is distinct for calls that run at the same time, and 0 is the thread that
// called. Tasks are handed out one by one from an atomic counter, in ascending order, so uneven tasks balance. Not
// reentrant: a task must not call pool_run on its own pool.
void pool_run(pool *p, size_t tasks, void (*fn)(void *ctx, size_t task, unsigned worker), void *ctx);

// For work that somebody may lose interest in. The thread that runs it names who can tell: `unwanted` is then asked by
// that thread alone, before each of its own tasks of pool_run_wanted. NULL: nobody. A NULL pool asks nobody.
void pool_watch(pool *p, bool (*unwanted)(void *ctx), void *ctx);
// pool_run, until `unwanted` says so: then no further task begins, and the answer is false. True: all were done.
CUZK_MUST_USE bool pool_run_wanted(pool *p, size_t tasks, void (*fn)(void *ctx, size_t task, unsigned worker),
                                   void *ctx);

// Overwrites with zeros, by all threads: gigabytes take one thread long, more so where memory is fresh and the system
// has yet to find its pages. The stores stay, as those of secret_wipe.
void pool_zero(pool *p, void *at, size_t bytes);
// mem_free_secret by all threads.
void pool_free_secret(pool *p, void *block);

#endif
