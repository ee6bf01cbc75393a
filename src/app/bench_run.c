// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The load: threads that each submit a proof, wait for it and submit the next. Waits are taken in slices, so that a
// signal is heard: then nothing more is submitted and what is in flight is cancelled.
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/bench.h"
#include "app/monitor.h"
#include "base/bytes.h"
#include "base/clock.h"

enum { SLICE_MS = 250, CALL_MS = 600000, DRAW_MS = 200, STACK = 1 << 20, MAX_THREADS = 1024 };

typedef struct load_state {
    client *client;
    const bench_request *request;
    const bench_load *load;
    monitor *monitor;
    uint64_t start_ns;
    bench_proof *proofs; // load->proofs of them
    atomic_uint next, done, failed;
    atomic_bool stop; // no more are submitted
} load_state;

static double since(uint64_t start_ns) { return (double)(clock_now_ns() - start_ns) * 1e-9; }

static void pause_ms(uint32_t ms) {
    const struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
}

static bool is_interrupted(const load_state *l) { return l->monitor->o.cancelled(l->monitor->o.ctx); }
static bool is_stopped(const load_state *l) { return is_interrupted(l) || atomic_load(&l->stop); }

static void note(bench_proof *p, int code, const client_error *err) {
    p->code = code;
    snprintf(p->text, sizeof p->text, "%s: %.480s", client_code_name(code), err->text);
}

// Submits; a full queue is asked again when it says so. False: p says why.
static bool submit(load_state *l, bench_proof *p, client_submitted *job) {
    client_proof_request r = l->request->wire;
    uint8_t seed[8];
    if (r.kind == 1000) { // each toy its own statement
        store_le64(seed, UINT64_C(0x9e3779b97f4a7c15) * (p->number + 1));
        r.vanilla_proof = (client_view){seed, sizeof seed};
    }
    if (l->load->stress) r.priority = 1 + p->number % 4;
    for (;;) {
        client_error err = {0};
        int code = client_submit(l->client, job, &r, CALL_MS, &err);
        if (code == CLIENT_OK) return true;
        if (code != CLIENT_RESOURCE_EXHAUSTED || err.retry_after_ms == 0 || is_stopped(l)) {
            note(p, code, &err);
            return false;
        }
        p->refusals++;
        pause_ms(err.retry_after_ms < 5000 ? err.retry_after_ms : 5000);
    }
}

// Until the job has ended, however it does.
static void await_end(load_state *l, bench_proof *p, const client_submitted *job) {
    client_result r;
    client_error err = {0};
    for (;;) {
        int code = client_await(l->client, &r, job->job_id, SLICE_MS, CALL_MS, &err);
        if (code != CLIENT_OK) {
            note(p, code, &err);
            return;
        }
        if (r.status != CLIENT_JOB_TIMEOUT) break;
        client_result_free(&r);
        if (is_interrupted(l) && !p->was_cancelled) {
            bool ignored;
            p->was_cancelled = true;
            (void)client_cancel(l->client, &ignored, job->job_id, CALL_MS, &err);
        }
    }
    p->status = r.status;
    p->proof_len = r.proof_len;
    p->queue_ms = r.queue_wait_ms;
    p->key_ms = r.srs_load_ms;
    p->synthesis_ms = r.synthesis_ms;
    p->device_ms = r.gpu_compute_ms;
    p->total_ms = r.total_ms;
    snprintf(p->text, sizeof p->text, "%s", r.text);
    client_result_free(&r);
}

static void prove_one(load_state *l, bench_proof *p) {
    client_submitted job;
    client_error err = {0};
    bool ignored;
    p->start_s = since(l->start_ns);
    if (submit(l, p, &job)) {
        if (l->load->stress && p->number % 10 == 9) {
            p->was_cancelled = true;
            (void)client_cancel(l->client, &ignored, job.job_id, CALL_MS, &err);
        }
        await_end(l, p, &job);
    }
    p->end_s = since(l->start_ns);
}

static void *work(void *arg) {
    load_state *l = arg;
    for (;;) {
        if (is_stopped(l) || (l->load->duration_s > 0 && since(l->start_ns) >= l->load->duration_s)) return NULL;
        // Taken only when it will be submitted, so that the numbers have no holes.
        unsigned i = atomic_load(&l->next);
        do {
            if (i >= l->load->proofs) return NULL;
        } while (!atomic_compare_exchange_weak(&l->next, &i, i + 1));
        bench_proof *p = &l->proofs[i];
        p->number = i;
        prove_one(l, p);
        if (p->code != CLIENT_OK || (p->status != CLIENT_JOB_COMPLETED && !p->was_cancelled))
            atomic_fetch_add(&l->failed, 1);
        atomic_fetch_add(&l->done, 1);
        // A daemon that is gone, or that refuses this request, will do the same with the next.
        if (p->code != CLIENT_OK) atomic_store(&l->stop, true);
    }
}

// --- progress ---

static void draw(const load_state *l, bool terminal, double *last) {
    const double now = since(l->start_ns);
    if (now < 1 || (!terminal && now - *last < 1)) return;
    *last = now;
    const unsigned done = atomic_load(&l->done), failed = atomic_load(&l->failed), begun = atomic_load(&l->next);
    char rate[48] = "", of[24] = "", bad[32] = "";
    if (done > 0) snprintf(rate, sizeof rate, ", %.1f proofs/min", 60.0 * done / now);
    if (l->load->duration_s == 0) snprintf(of, sizeof of, " of %" PRIu32, l->load->proofs);
    if (failed > 0) snprintf(bad, sizeof bad, ", %u failed", failed);
    fprintf(stderr, "%s%u%s done, %u in flight%s%s, %.0f s%s", terminal ? "\r\x1b[K" : "progress: ", done, of,
            begun - done, bad, rate, now, terminal ? "" : "\n");
    fflush(stderr);
}

// --- the timeline of the run ---

// Moves *seq behind the newest line, and keeps what is passed, if `keep`. False: the daemon has no timeline.
static bool read_lines(client *c, bench_run *r, uint64_t *seq, bool keep) {
    for (;;) {
        client_lines l;
        client_error err;
        if (client_timeline(c, &l, *seq, 0, CALL_MS, &err) != CLIENT_OK) return false;
        const bool end = l.len == 0;
        if (keep && !end) {
            char *more = realloc(r->lines, r->lines_len + l.len + 1);
            if (more == NULL) {
                client_lines_free(&l);
                return false;
            }
            r->lines = more;
            memcpy(r->lines + r->lines_len, l.text, l.len + 1);
            r->lines_len += l.len;
            r->lost_lines += l.lost;
        }
        *seq = l.next_seq;
        client_lines_free(&l);
        if (end) return true;
    }
}

static size_t count_ends(const bench_run *r) {
    size_t n = 0;
    for (const char *p = r->lines, *end; p != NULL && (end = strchr(p, '\n')) != NULL; p = end + 1) {
        // TIMELINE,<time>,<EVENT>,...
        const char *time = memchr(p, ',', (size_t)(end - p));
        const char *event = time != NULL ? memchr(time + 1, ',', (size_t)(end - time - 1)) : NULL;
        n += event != NULL && (strncmp(event, ",JOB_DONE,", 10) == 0 || strncmp(event, ",JOB_FAIL,", 10) == 0 ||
                               strncmp(event, ",JOB_CANCEL,", 12) == 0);
    }
    return n;
}

// The daemon answers a call before the last events of its job are in the timeline, so that they are waited for.
static void read_to_the_end(client *c, bench_run *r, uint64_t *seq, size_t jobs) {
    enum { TRIES = 40, TRY_MS = 50 };
    for (int i = 0; i < TRIES; i++) {
        const bool all = r->lines != NULL && count_ends(r) >= jobs;
        pause_ms(TRY_MS); // also once after the last job's end: its device run ends a moment later
        if (!read_lines(c, r, seq, true) || all) return;
    }
}

cuzk_status bench_run_make(bench_run *r, client *c, const bench_request *request, const bench_load *load,
                           cuzk_error *err) {
    static monitor m;
    *r = (bench_run){0};
    monitor_init(&m);
    load_state l = {.client = c, .request = request, .load = load, .monitor = &m};
    uint32_t n_threads = load->concurrency < load->proofs ? load->concurrency : load->proofs;
    if (n_threads > MAX_THREADS) n_threads = MAX_THREADS;
    l.proofs = calloc(load->proofs, sizeof *l.proofs);
    pthread_t *threads = calloc(n_threads, sizeof *threads);
    if (l.proofs == NULL || threads == NULL) {
        free(l.proofs);
        free(threads);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for %" PRIu32 " proofs", load->proofs);
    }
    uint64_t seq = 0;
    bool has_lines = read_lines(c, r, &seq, false);
    monitor_catch_signals();
    l.start_ns = clock_now_ns();
    uint32_t started = 0;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    while (started < n_threads && pthread_create(&threads[started], &attr, work, &l) == 0) started++;
    pthread_attr_destroy(&attr);
    double last = 0;
    while (started > 0 && m.show) {
        const unsigned done = atomic_load(&l.done);
        if (done == atomic_load(&l.next) &&
            (done == load->proofs || is_stopped(&l) || (load->duration_s > 0 && since(l.start_ns) >= load->duration_s)))
            break;
        draw(&l, m.terminal, &last);
        m.drawn = m.terminal && since(l.start_ns) >= 1;
        pause_ms(DRAW_MS);
    }
    for (uint32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
    monitor_clear(&m);
    r->wall_s = since(l.start_ns);
    r->proofs = l.proofs;
    r->n = atomic_load(&l.next);
    r->stopped = m.o.cancelled(m.o.ctx);
    free(threads);
    if (started == 0) return cuzk_fail(err, CUZK_ERR_MEMORY, "no thread can be started");
    if (has_lines) read_to_the_end(c, r, &seq, atomic_load(&l.done));
    client_error ignored;
    r->has_status = client_get_status(c, &r->status, CALL_MS, &ignored) == CLIENT_OK;
    return CUZK_OK;
}

void bench_run_release(bench_run *r) {
    free(r->proofs);
    free(r->lines);
    if (r->has_status) client_status_free(&r->status);
    *r = (bench_run){0};
}
