// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One thread, the first, waits for signals and reports; all others belong to service, gRPC and HTTP.
#include "app/daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "app/notify.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "service/http.h"

enum { TICK_MS = 1000, DRAIN_TICK_MS = 100, GRACE_MS = 2000, STOP_MS = 10000 };

typedef struct daemon_state {
    const daemon_options *options;
    service *service;
    http_server *http;
    rpc_server *rpc;
    uint64_t timeline_lost;
} daemon_state;

// --- the start ---

// As many files as the system lets us have: connections, keys, caches.
static void raise_file_limit(uint32_t max_connections) {
    enum { OWN_FILES = 64 };
    struct rlimit r;
    if (getrlimit(RLIMIT_NOFILE, &r) != 0) return;
    if (r.rlim_cur != r.rlim_max) {
        r.rlim_cur = r.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &r) != 0)
            log_write(LOG_WARN, "daemon", NULL, "the limit of open files cannot be raised: %s", strerror(errno));
    }
    if (r.rlim_max < 2 * (rlim_t)max_connections + OWN_FILES)
        log_write(LOG_WARN, "daemon", NULL, "only %" PRIu64 " files may be open; daemon.max_connections may need more",
                  (uint64_t)r.rlim_max);
}

static void say_hello(const daemon_options *o, const char *config_path) {
    const engine_config *e = &o->service.engine;
    log_write(LOG_INFO, "daemon", NULL, "cuzk %s, pid %ld, processor level %s, %s", CUZK_VERSION, (long)getpid(),
              cpu_level_name(cpu_current()), config_path != NULL ? config_path : "no configuration file: defaults");
    log_write(LOG_INFO, "daemon", NULL, "%s", o->devices);
    log_write(LOG_INFO, "daemon", NULL, "memory budget %s", o->budget);
    log_write(LOG_INFO, "daemon", NULL,
              "policy %s, %" PRIu32 " in synthesis, %" PRIu32 " may wait for a device, %" PRIu32
              " workers a device; at most %" PRIu32 " jobs",
              daemon_policy_name(e->policy), e->synthesis_concurrency, e->lookahead, e->workers_per_device,
              e->max_pending_jobs);
    log_write(LOG_INFO, "daemon", NULL, "parameters in %s", o->service.params_dir);
    if (access(o->service.params_dir, R_OK | X_OK) != 0)
        log_write(LOG_WARN, "daemon", NULL, "%s cannot be read now: %s; proofs that need it will fail until it can",
                  o->service.params_dir, strerror(errno));
}

static cuzk_status start(daemon_state *d, cuzk_error *err) {
    const daemon_options *o = d->options;
    cuzk_status s = service_create(&d->service, &o->service, err);
    if (s == CUZK_OK) s = rpc_server_start(&d->rpc, d->service, &o->rpc, err);
    if (s != CUZK_OK) return s;
    log_write(LOG_INFO, "daemon", NULL, "gRPC at %s%s", rpc_server_address(d->rpc, 0),
              o->rpc.tls_cert != NULL && rpc_server_port(d->rpc, 0) != 0 ? ", with TLS" : "");
    if (o->status_listen == NULL) return CUZK_OK;
    const http_options http = {.listen = o->status_listen, .max_connections = o->max_connections};
    s = http_start(&d->http, d->service, &http, err);
    if (s != CUZK_OK) return s;
    log_write(LOG_INFO, "daemon", NULL, "HTTP at http://%s/ (the live page; /status, /metrics, /timeline)",
              http_address(d->http));
    return CUZK_OK;
}

// --- signals ---

static void leave_at_once(int number) { _exit(128 + number); }

static void handle(int number, void (*handler)(int)) {
    struct sigaction a;
    memset(&a, 0, sizeof a);
    sigemptyset(&a.sa_mask);
    a.sa_handler = handler;
    sigaction(number, &a, NULL);
}

// Blocked in this thread and all that it starts, so that sigtimedwait sees them.
static void block_signals(sigset_t *ours) {
    sigemptyset(ours);
    sigaddset(ours, SIGTERM);
    sigaddset(ours, SIGINT);
    sigaddset(ours, SIGHUP);
    pthread_sigmask(SIG_BLOCK, ours, NULL);
    handle(SIGXFSZ, SIG_IGN); // a file at its limit is a write error, as a full disk is
}

// From here on the next SIGTERM or SIGINT ends the process, whatever this thread waits for.
static void let_second_signal_through(void) {
    sigset_t both;
    handle(SIGTERM, leave_at_once);
    handle(SIGINT, leave_at_once);
    sigemptyset(&both);
    sigaddset(&both, SIGTERM);
    sigaddset(&both, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &both, NULL);
}

// --- the life ---

// One line for the service manager, from the engine's own counters: a thread that hangs there hangs here, and the
// watchdog hears nothing.
static bool report(daemon_state *d, const char *what, bool watchdog) {
    service_snapshot *now = NULL;
    cuzk_error err;
    char text[512];
    if (service_look(d->service, &now, &err) != CUZK_OK) return false;
    const engine_stats *e = &now->stats.engine;
    snprintf(text, sizeof text,
             "STATUS=%s: %" PRIu64 " running, %" PRIu64 " queued, %" PRIu64 " done, %" PRIu64 " failed, %" PRIu64
             " cancelled%s",
             what, e->running, e->queued, e->done, e->failed, e->cancelled, watchdog ? "\nWATCHDOG=1" : "");
    service_snapshot_free(&now);
    notify_send(text);
    return true;
}

// Lines of the timeline that its file did not take; said as often as it gets worse.
static void tell_of_timeline(daemon_state *d) {
    const recorder_stats r = service_timeline_stats(d->service);
    if (r.lost > d->timeline_lost)
        log_write(LOG_WARN, "daemon", NULL,
                  "timeline: %s does not take it (%s); lines are lost there and kept in memory",
                  d->options->service.timeline_path, strerror(r.last_error));
    d->timeline_lost = r.lost;
}

// Until a signal asks for the end; returns it.
static int serve(daemon_state *d, const sigset_t *signals) {
    const uint64_t watchdog = notify_watchdog_ms();
    const uint64_t tick = watchdog != 0 && watchdog < TICK_MS ? watchdog : TICK_MS;
    const struct timespec wait = {(time_t)(tick / 1000), (long)(tick % 1000 * 1000000)};
    for (;;) {
        int number = sigtimedwait(signals, NULL, &wait);
        if (number == SIGTERM || number == SIGINT) return number;
        if (number == SIGHUP) log_write(LOG_INFO, "daemon", NULL, "SIGHUP: nothing is reloaded; restart to do so");
        if (number < 0 && errno != EAGAIN) continue; // interrupted
        log_tick();
        (void)report(d, "serving", watchdog != 0);
        tell_of_timeline(d);
    }
}

// Lets jobs finish within the time there is. False if some did not.
static bool drain(daemon_state *d) {
    const uint64_t watchdog = notify_watchdog_ms(), start = clock_now_ns();
    const uint64_t limit = d->options->shutdown_ms;
    char text[128];
    // Asked for in time: the manager is told that this may take longer than it would wait by itself.
    snprintf(text, sizeof text, "STOPPING=1\nEXTEND_TIMEOUT_USEC=%" PRIu64, (limit + 30000) * 1000);
    notify_send(text);
    for (;;) {
        const uint64_t passed = (clock_now_ns() - start) / 1000000, left = passed < limit ? limit - passed : 0;
        if (service_drain(d->service, left < DRAIN_TICK_MS ? left : DRAIN_TICK_MS)) return true;
        if (left == 0) return false;
        (void)report(d, "draining", watchdog != 0);
    }
}

// Whoever waits for one of them hears CANCELLED, while the wires are still there to say it.
static void cancel_all(daemon_state *d) {
    service_snapshot *now = NULL;
    cuzk_error why;
    if (service_look(d->service, &now, &why) != CUZK_OK) return;
    for (size_t i = 0; i < now->n_jobs; i++) {
        bool was_running;
        service_error refused;
        const engine_job_state state = now->jobs[i].state;
        if (state == ENGINE_QUEUED || state == ENGINE_RUNNING)
            (void)service_cancel(d->service, now->jobs[i].job_id, &was_running, &refused);
    }
    service_snapshot_free(&now);
}

static void stop(daemon_state *d) {
    if (d->rpc != NULL) rpc_server_stop(&d->rpc, GRACE_MS);
    if (d->http != NULL) http_stop(&d->http);
    if (service_try_destroy(&d->service, STOP_MS)) return;
    log_write(LOG_WARN, "daemon", NULL,
              "something does not stop, even %d s after it was asked to: it ends with the process", STOP_MS / 1000);
}

cuzk_status daemon_run(const daemon_options *options, const char *config_path, const char *const *warnings,
                       size_t n_warnings, cuzk_error *err) {
    daemon_state d = {.options = options};
    sigset_t signals;
    log_start(&(log_options){.level = options->level, .json = options->json_log, .fd = STDERR_FILENO});
    for (size_t i = 0; i < n_warnings; i++) log_write(LOG_WARN, "daemon", NULL, "%s", warnings[i]);
    block_signals(&signals);
    raise_file_limit(options->max_connections);
    say_hello(options, config_path);
    cuzk_status s = start(&d, err);
    if (s != CUZK_OK) {
        stop(&d);
        log_flush();
        return s;
    }
    notify_send("READY=1");
    (void)report(&d, "serving", false);
    log_write(LOG_INFO, "daemon", NULL, "ready");
    int number = serve(&d, &signals);
    log_write(LOG_INFO, "daemon", NULL,
              "%s: nothing more is accepted; jobs may finish within %" PRIu64 " ms; a second signal ends this at once",
              number == SIGTERM ? "SIGTERM" : "SIGINT", options->shutdown_ms);
    let_second_signal_through();
    if (!drain(&d)) {
        log_write(LOG_WARN, "daemon", NULL, "the time is over: what is left is cancelled");
        cancel_all(&d);
    }
    stop(&d);
    log_write(LOG_INFO, "daemon", NULL, "ended");
    log_flush();
    return CUZK_OK;
}
