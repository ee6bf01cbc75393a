// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Workers sleep on a condition until there are `places` to take. A run offers as many places as it can use, the caller
// works beside them, and when the counter is used up it takes back the places nobody has filled: a worker that wakes
// late finds none and costs the run nothing.
//
// Work comes in bursts of short runs, the passes of a transform say, and to wake a thread takes tens of microseconds.
// So whoever waits looks out for a moment before it sleeps: a worker for the next run, the caller for the last tasks.
#include "base/pool.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/clock.h"
#include "base/cpu_quota.h"
#include "base/mem.h"

enum {
    MAX_THREADS = 4096,
    LOOK_OUT_NS = 50000, // about what it costs to sleep and be woken, so at worst the waiting costs twice that
};

typedef struct worker {
    pool *owner;
    unsigned index; // 1..threads - 1; 0 is the caller
    pthread_t thread;
} worker;

struct pool {
    unsigned threads; // wanted, the caller included
    unsigned started; // workers that run
    bool tried;       // starting happens once, at the first run that can use a worker
    bool look_out;    // there is a processor for every thread: nobody waits for the one that a look-out takes
    worker *workers;

    pthread_mutex_t turn; // one run at a time: callers on different threads queue up here
    pthread_mutex_t lock; // guards everything below
    pthread_cond_t work;  // places > 0 or stop
    pthread_cond_t idle;  // running == 0
    // Written under `lock` alone. A look-out reads them without, takes the lock and reads them again.
    atomic_uint places;  // workers that may still join the current run
    atomic_uint running; // workers inside it
    atomic_bool stop;

    // The current run. Written by the caller under `lock` while running == 0, read by workers that took a place.
    void (*fn)(void *ctx, size_t task, unsigned worker);
    void *ctx;
    size_t tasks;
    atomic_size_t next; // may overshoot `tasks` by one for each thread

    // Only the caller touches them.
    bool (*unwanted)(void *ctx);
    void *unwanted_ctx;
};

static _Thread_local const pool *inside; // the pool whose task this thread is in: catches a reentrant call

// False: `unwanted` (NULL: not asked) said so. Then nobody finds a task any more; those that were begun end.
static bool work_through(pool *p, unsigned index, bool (*unwanted)(void *ctx)) {
    const pool *outer = inside;
    bool wanted = true;
    inside = p;
    for (;;) {
        if (unwanted != NULL && unwanted(p->unwanted_ctx)) {
            wanted = false;
            atomic_store_explicit(&p->next, p->tasks, memory_order_relaxed);
        }
        size_t task = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
        if (task >= p->tasks) break;
        p->fn(p->ctx, task, index);
    }
    inside = outer;
    return wanted;
}

static unsigned peek(atomic_uint *n) { return atomic_load_explicit(n, memory_order_relaxed); }

static void pause_a_little(void) {
#if defined(__x86_64__)
    for (int i = 0; i < 16; i++) _mm_pause();
#endif
}

// Returns when there may be a place to take, or there was none for a while.
static void look_out_for_work(pool *p) {
    const uint64_t start = clock_now_ns();
    while (peek(&p->places) == 0 && !atomic_load_explicit(&p->stop, memory_order_relaxed)) {
        if (clock_now_ns() - start > LOOK_OUT_NS) return;
        pause_a_little();
    }
}

// The same for the end of a run.
static void look_out_for_the_end(pool *p) {
    const uint64_t start = clock_now_ns();
    while (peek(&p->running) != 0 && clock_now_ns() - start <= LOOK_OUT_NS) pause_a_little();
}

static void *worker_main(void *arg) {
    worker *w = arg;
    pool *p = w->owner;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (p->places == 0 && !p->stop) pthread_cond_wait(&p->work, &p->lock);
        if (p->stop) break;
        p->places--;
        p->running++;
        pthread_mutex_unlock(&p->lock);
        (void)work_through(p, w->index, NULL);
        pthread_mutex_lock(&p->lock);
        if (--p->running == 0) pthread_cond_signal(&p->idle);
        if (p->look_out) {
            pthread_mutex_unlock(&p->lock);
            look_out_for_work(p);
            pthread_mutex_lock(&p->lock);
        }
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

// A system that refuses a thread leaves us with fewer workers, which is slower and still right.
static void start_workers(pool *p) {
    p->tried = true;
    // Signals belong to the threads of the program, not to ours.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (unsigned i = 0; i + 1 < p->threads; i++) {
        worker *w = &p->workers[i];
        w->owner = p;
        w->index = i + 1;
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0) break;
        p->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

cuzk_status pool_create(pool **out, unsigned threads, cuzk_error *err) {
    *out = NULL;
    if (threads == 0) threads = pool_available_threads();
    if (threads > MAX_THREADS) {
        return cuzk_fail(err, CUZK_ERR_USAGE, "thread pool: at most %d threads, asked for %u", (int)MAX_THREADS,
                         threads);
    }
    pool *p = mem_calloc(MEM_MISC, 1, sizeof *p);
    worker *workers = mem_calloc(MEM_MISC, threads - 1, sizeof *workers);
    if (p == NULL || workers == NULL) {
        mem_free(workers);
        mem_free(p);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "thread pool: no memory for %u threads", threads);
    }
    p->threads = threads;
    p->look_out = threads <= pool_available_threads();
    p->workers = workers;
    atomic_init(&p->next, 0);
    int rc[4] = {pthread_mutex_init(&p->turn, NULL), pthread_mutex_init(&p->lock, NULL),
                 pthread_cond_init(&p->work, NULL), pthread_cond_init(&p->idle, NULL)};
    for (int i = 0; i < 4; i++) {
        if (rc[i] == 0) continue;
        if (rc[0] == 0) pthread_mutex_destroy(&p->turn);
        if (rc[1] == 0) pthread_mutex_destroy(&p->lock);
        if (rc[2] == 0) pthread_cond_destroy(&p->work);
        if (rc[3] == 0) pthread_cond_destroy(&p->idle);
        mem_free(workers);
        mem_free(p);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "thread pool: %s", strerror(rc[i]));
    }
    *out = p;
    return CUZK_OK;
}

void pool_destroy(pool **pp) {
    pool *p = *pp;
    if (p == NULL) return;
    *pp = NULL;
    assert(inside != p);
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (unsigned i = 0; i < p->started; i++) pthread_join(p->workers[i].thread, NULL);
    pthread_cond_destroy(&p->idle);
    pthread_cond_destroy(&p->work);
    pthread_mutex_destroy(&p->lock);
    pthread_mutex_destroy(&p->turn);
    mem_free(p->workers);
    mem_free(p);
}

unsigned pool_threads(const pool *p) { return p == NULL ? 1 : p->threads; }

unsigned pool_available_threads(void) {
    unsigned mask = cpu_affinity_count(), quota = cpu_cgroup_limit("");
    unsigned n = mask == 0 ? quota : quota == 0 || mask < quota ? mask : quota;
    return n == 0 ? 1 : n > MAX_THREADS ? MAX_THREADS : n;
}

static bool run(pool *p, size_t tasks, void (*fn)(void *ctx, size_t task, unsigned worker), void *ctx,
                bool (*unwanted)(void *ctx)) {
    if (tasks == 0) return true;
    if (p == NULL) {
        for (size_t i = 0; i < tasks; i++) fn(ctx, i, 0);
        return true;
    }
    assert(inside != p); // would wait for itself
    pthread_mutex_lock(&p->turn);
    if (!p->tried && tasks > 1) start_workers(p);
    pthread_mutex_lock(&p->lock);
    p->fn = fn;
    p->ctx = ctx;
    p->tasks = tasks;
    atomic_store_explicit(&p->next, 0, memory_order_relaxed);
    p->places = tasks - 1 < p->started ? (unsigned)(tasks - 1) : p->started;
    if (p->places == p->started) {
        pthread_cond_broadcast(&p->work);
    } else {
        for (unsigned i = 0; i < p->places; i++) pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);

    const bool wanted = work_through(p, 0, unwanted);

    pthread_mutex_lock(&p->lock);
    p->places = 0;
    if (p->look_out && p->running != 0) {
        pthread_mutex_unlock(&p->lock);
        look_out_for_the_end(p);
        pthread_mutex_lock(&p->lock);
    }
    while (p->running != 0) pthread_cond_wait(&p->idle, &p->lock);
    pthread_mutex_unlock(&p->lock);
    pthread_mutex_unlock(&p->turn);
    return wanted;
}

void pool_run(pool *p, size_t tasks, void (*fn)(void *ctx, size_t task, unsigned worker), void *ctx) {
    (void)run(p, tasks, fn, ctx, NULL);
}

void pool_watch(pool *p, bool (*unwanted)(void *ctx), void *ctx) {
    if (p == NULL) return;
    p->unwanted = unwanted;
    p->unwanted_ctx = ctx;
}

bool pool_run_wanted(pool *p, size_t tasks, void (*fn)(void *ctx, size_t task, unsigned worker), void *ctx) {
    return run(p, tasks, fn, ctx, p == NULL ? NULL : p->unwanted);
}

enum { ZERO_CHUNK = 2 << 20 };

typedef struct zero_job {
    char *at;
    size_t bytes;
} zero_job;

static void zero_task(void *ctx, size_t task, unsigned by) {
    (void)by;
    const zero_job *j = ctx;
    const size_t begin = task * ZERO_CHUNK, left = j->bytes - begin;
    secret_wipe(j->at + begin, left < ZERO_CHUNK ? left : ZERO_CHUNK);
}

void pool_zero(pool *p, void *at, size_t bytes) {
    zero_job j = {at, bytes};
    pool_run(p, (bytes + ZERO_CHUNK - 1) / ZERO_CHUNK, zero_task, &j);
}

void pool_free_secret(pool *p, void *block) {
    if (block == NULL) return;
    pool_zero(p, block, mem_size(block));
    mem_free(block);
}
