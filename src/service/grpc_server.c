// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Start, the threads, and the end.
#include "service/grpc_server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include "base/clock.h"
#include "base/log.h"
#include "service/grpc_internal.h"

enum {
    PARSERS = 2, // requests unpacked and admitted at a time
    PARSERS_WAITING = 256,
    KEYS_WAITING = 16,
    ACCEPTS = 16, // calls that C core may hand over before it has to wait for a thread
    SECOND_NS = 1000000000,
    MS_NS = 1000000,
    LAST_WORDS_MS = 2000, // for answers to reach their clients when the grace is over
};

// --- threads ---

static void accept_one(rpc_server *r);

static void accepted(void *owner, bool ok) {
    rpc_call *call = owner;
    rpc_server *r = call->server;
    if (!ok) { // shut down
        rpc_call_unref(call);
        return;
    }
    accept_one(r);
    atomic_fetch_add(&r->accepted, 1);
    rpc_call_serve(call);
}

// Lets one more call come in. Without memory the ticker tries again.
static void accept_one(rpc_server *r) {
    if (atomic_load(&r->stopping)) return;
    rpc_call *call = rpc_call_new(r);
    if (call == NULL) {
        log_write(LOG_ERROR, "grpc", NULL, "out of memory: fewer calls are accepted at a time until there is some");
        atomic_fetch_add(&r->accepts_owed, 1);
        return;
    }
    call->accepted.fn = accepted;
    atomic_store_explicit(&call->accepted.armed, true, memory_order_release);
    if (grpc_server_request_call(r->core, &call->core, &call->details, &call->metadata, r->cq, r->cq,
                                 &call->accepted) != GRPC_CALL_OK)
        rpc_call_unref(call);
}

static void *serve_main(void *arg) {
    rpc_server *r = arg;
    for (;;) {
        const grpc_event e = grpc_completion_queue_next(r->cq, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
        if (e.type == GRPC_QUEUE_SHUTDOWN) return NULL;
        if (e.type != GRPC_OP_COMPLETE) continue;
        rpc_tag *tag = e.tag;
        (void)atomic_load_explicit(&tag->armed, memory_order_acquire);
        tag->fn(tag->owner, e.success != 0);
    }
}

static void look_after(rpc_call *call, uint64_t now) {
    const uint64_t limit = (uint64_t)call->server->options.receive_timeout_ms * MS_NS;
    if (!atomic_load(&call->complete) && now - call->began_ns > limit && now > call->began_ns)
        rpc_failf(call, SERVICE_DEADLINE_EXCEEDED, "the message did not arrive within %u ms",
                  (unsigned)call->server->options.receive_timeout_ms);
    else
        rpc_call_tick(call);
}

// The call behind `call` (NULL: the first) that still lives, with a reference. Gives back that of `call`.
static rpc_call *next_call(rpc_server *r, rpc_call *call) {
    pthread_mutex_lock(&r->lock);
    rpc_call *next = call == NULL ? r->calls : call->next;
    while (next != NULL && !rpc_call_try_ref(next)) next = next->next;
    pthread_mutex_unlock(&r->lock);
    if (call != NULL) rpc_call_unref(call);
    return next;
}

static struct timespec after(uint64_t ms) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const uint64_t ns = (uint64_t)t.tv_nsec + ms * MS_NS;
    t.tv_sec += (time_t)(ns / SECOND_NS);
    t.tv_nsec = (long)(ns % SECOND_NS);
    return t;
}

static void *ticker_main(void *arg) {
    rpc_server *r = arg;
    for (;;) {
        pthread_mutex_lock(&r->lock);
        const struct timespec until = after(r->n_watchers > 0 ? RPC_TICK_MS : 10 * RPC_TICK_MS);
        const uint32_t watchers = r->n_watchers;
        int got = 0;
        // A first stream shortens the wait.
        while (!r->stop_ticker && got != ETIMEDOUT && (watchers > 0) == (r->n_watchers > 0))
            got = pthread_cond_timedwait(&r->changed, &r->lock, &until);
        const bool stop = r->stop_ticker;
        pthread_mutex_unlock(&r->lock);
        if (stop) return NULL;
        for (unsigned owed = atomic_exchange(&r->accepts_owed, 0); owed > 0; owed--) accept_one(r);
        const uint64_t now = clock_now_ns();
        for (rpc_call *call = next_call(r, NULL); call != NULL; call = next_call(r, call)) look_after(call, now);
    }
}

// --- the list of calls ---

bool rpc_server_join(rpc_server *r, rpc_call *call) {
    pthread_mutex_lock(&r->lock);
    const bool room = r->n_calls < r->options.max_calls;
    r->n_calls++;
    call->next = r->calls;
    if (r->calls != NULL) r->calls->prev = call;
    r->calls = call;
    pthread_mutex_unlock(&r->lock);
    return room;
}

void rpc_server_leave(rpc_server *r, rpc_call *call) {
    pthread_mutex_lock(&r->lock);
    if (call->prev != NULL)
        call->prev->next = call->next;
    else
        r->calls = call->next;
    if (call->next != NULL) call->next->prev = call->prev;
    if (call->stream_tick != NULL) r->n_watchers--;
    pthread_mutex_unlock(&r->lock);
}

void rpc_server_left(rpc_server *r) {
    pthread_mutex_lock(&r->lock);
    if (--r->n_calls == 0) pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

rpc_server_stats rpc_server_stats_of(rpc_server *r) {
    rpc_server_stats out = {.calls = atomic_load(&r->accepted),
                            .refused = atomic_load(&r->refused),
                            .buffered_bytes = atomic_load(&r->buffered)};
    pthread_mutex_lock(&r->lock);
    out.open = r->n_calls;
    pthread_mutex_unlock(&r->lock);
    return out;
}

int rpc_server_port(const rpc_server *r, size_t i) { return r->addresses[i].port; }
const char *rpc_server_address(const rpc_server *r, size_t i) { return r->addresses[i].shown; }

// --- start ---

static uint32_t or_default(uint32_t value, uint32_t otherwise) { return value == 0 ? otherwise : value; }

static rpc_server_options with_defaults(const rpc_server_options *o) {
    rpc_server_options out = *o;
    out.listen = NULL;
    out.tls_cert = out.tls_key = out.tls_client_ca = NULL;
    if (out.max_message_bytes == 0) out.max_message_bytes = 256u << 20;
    if (out.max_message_bytes > INT32_MAX) out.max_message_bytes = INT32_MAX; // C core's type
    if (out.max_buffered_bytes == 0) out.max_buffered_bytes = 4 * out.max_message_bytes;
    out.max_streams = or_default(out.max_streams, 256);
    out.max_calls = or_default(out.max_calls, 4096);
    out.max_watchers = or_default(out.max_watchers, 64);
    out.receive_timeout_ms = or_default(out.receive_timeout_ms, 600000);
    out.idle_ms = or_default(out.idle_ms, 3600000);
    out.keepalive_ms = or_default(out.keepalive_ms, 60000);
    out.keepalive_timeout_ms = or_default(out.keepalive_timeout_ms, 20000);
    out.handshake_timeout_ms = or_default(out.handshake_timeout_ms, 20000);
    if (out.threads == 0) out.threads = 2;
    // No more than half of what this process may open: it has files to read as well.
    struct rlimit files;
    uint32_t most = 65536;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur / 2 < most) most = (uint32_t)(files.rlim_cur / 2);
    out.max_connections = or_default(out.max_connections, 4096);
    if (out.max_connections > most) out.max_connections = most > 0 ? most : 1;
    return out;
}

static grpc_arg integer(const char *key, uint64_t value) {
    return (grpc_arg){.type = GRPC_ARG_INTEGER,
                      .key = (char *)(uintptr_t)key,
                      .value.integer = value > INT32_MAX ? INT32_MAX : (int)value};
}

// The server's arguments hold where the doors' handles belong; nothing is copied or freed with them.
static void *same(void *p) { return p; }
static void forget(void *p) { (void)p; }
static int compare(void *a, void *b) { return ((uintptr_t)a > (uintptr_t)b) - ((uintptr_t)a < (uintptr_t)b); }
static const grpc_arg_pointer_vtable PLACE = {same, forget, compare};

static void create_core(rpc_server *r) {
    const rpc_server_options *o = &r->options;
    // What connections have received and not handed over counts against this: C core reads a message whole before it
    // looks at the limit of one.
    grpc_resource_quota *quota = grpc_resource_quota_create("cuzk");
    grpc_resource_quota_resize(quota, (size_t)(o->max_buffered_bytes + o->max_message_bytes + (64u << 20)));
    grpc_arg args[16];
    size_t n = 0;
    for (int i = 0; i < RPC_DOORS; i++)
        args[n++] = (grpc_arg){.type = GRPC_ARG_POINTER,
                               .key = (char *)(uintptr_t)RPC_DOOR_NAMES[i],
                               .value.pointer = {&r->doors[i], &PLACE}};
    args[n++] = integer(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, o->max_message_bytes);
    args[n++] = integer(GRPC_ARG_MAX_CONCURRENT_STREAMS, o->max_streams);
    args[n++] = integer(GRPC_ARG_MAX_CONNECTION_IDLE_MS, o->idle_ms);
    args[n++] = integer(GRPC_ARG_KEEPALIVE_TIME_MS, o->keepalive_ms);
    args[n++] = integer(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, o->keepalive_timeout_ms);
    args[n++] = integer(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
    // Clients may ask for signs of life as often themselves, and are not thrown out for it.
    args[n++] = integer(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5000);
    args[n++] = integer(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, o->handshake_timeout_ms);
    // A few compressed bytes would become any number of plain ones, past every limit: identity alone.
    args[n++] = integer(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1u << GRPC_COMPRESS_NONE);
    args[n++] = (grpc_arg){.type = GRPC_ARG_POINTER,
                           .key = (char *)(uintptr_t)GRPC_ARG_RESOURCE_QUOTA,
                           .value.pointer = {quota, grpc_resource_quota_arg_vtable()}};
    const grpc_channel_args channel_args = {n, args};
    r->core = grpc_server_create(&channel_args, NULL);
    grpc_resource_quota_unref(quota);
    r->cq = grpc_completion_queue_create_for_next(NULL);
    grpc_server_register_completion_queue(r->core, r->cq, NULL);
}

static cuzk_status listen_all(rpc_server *r, const rpc_server_options *o, cuzk_error *err) {
    if (o->n_listen == 0) return cuzk_fail(err, CUZK_ERR_USAGE, "gRPC: no address to listen on");
    r->addresses = calloc(o->n_listen, sizeof *r->addresses);
    if (r->addresses == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "gRPC: out of memory");
    grpc_server_credentials *creds = NULL;
    cuzk_status st = rpc_credentials(&creds, o, err);
    if (st == CUZK_OK) st = rpc_open_doors(r->core, r->doors, creds, err);
    for (size_t i = 0; i < o->n_listen && st == CUZK_OK; i++) {
        st = rpc_listen(&r->addresses[i], r->gate, creds != NULL, o->listen[i], err);
        if (st == CUZK_OK) r->n_addresses++;
    }
    if (creds != NULL) grpc_server_credentials_release(creds);
    return st;
}

static void is_down(void *owner, bool ok) {
    (void)ok;
    rpc_server *r = owner;
    pthread_mutex_lock(&r->lock);
    r->is_down = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
}

static cuzk_status start_threads(rpc_server *r, cuzk_error *err) {
    cuzk_status st = rpc_lane_start(&r->parse, PARSERS, PARSERS_WAITING, err);
    if (st == CUZK_OK) st = rpc_lane_start(&r->keys, 1, KEYS_WAITING, err);
    if (st != CUZK_OK) return st;
    r->threads = calloc(r->options.threads, sizeof *r->threads);
    while (r->threads != NULL && r->n_threads < r->options.threads &&
           pthread_create(&r->threads[r->n_threads], NULL, serve_main, r) == 0)
        r->n_threads++;
    r->ticking = pthread_create(&r->ticker, NULL, ticker_main, r) == 0;
    if (r->n_threads < r->options.threads || !r->ticking)
        return cuzk_fail(err, CUZK_ERR_MEMORY, "gRPC: a thread was refused");
    return CUZK_OK;
}

cuzk_status rpc_server_start(rpc_server **out, service *s, const rpc_server_options *options, cuzk_error *err) {
    *out = NULL;
    rpc_server *r = calloc(1, sizeof *r);
    if (r == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "gRPC: out of memory");
    r->service = s;
    r->options = with_defaults(options);
    r->down.fn = is_down;
    r->down.owner = r;
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&r->changed, &attr);
    pthread_condattr_destroy(&attr);
    wire_enter();
    create_core(r);
    const rpc_server_options *o = &r->options;
    cuzk_status st = rpc_reflection_create(&r->reflection, err);
    if (st == CUZK_OK) st = rpc_gate_create(&r->gate, o->max_connections, o->handshake_timeout_ms, &r->refused, err);
    if (st == CUZK_OK) st = listen_all(r, options, err);
    if (st == CUZK_OK) st = start_threads(r, err);
    if (st == CUZK_OK) {
        grpc_server_start(r->core);
        for (int i = 0; i < ACCEPTS; i++) accept_one(r);
        st = rpc_gate_start(r->gate, r->doors, err);
    }
    if (st != CUZK_OK) {
        rpc_server_stop(&r, 0);
        return st;
    }
    *out = r;
    return CUZK_OK;
}

// --- the end ---

// True when `done(r)` holds within ms.
static bool wait_until(rpc_server *r, bool (*done)(const rpc_server *r), uint64_t ms) {
    const struct timespec until = after(ms);
    int got = 0;
    pthread_mutex_lock(&r->lock);
    while (!done(r) && got != ETIMEDOUT) got = pthread_cond_timedwait(&r->changed, &r->lock, &until);
    const bool ok = done(r);
    pthread_mutex_unlock(&r->lock);
    return ok;
}

static bool no_calls(const rpc_server *r) { return r->n_calls == 0; }
static bool core_down(const rpc_server *r) { return r->is_down; }

// What stays open by itself ends at once, what waits for a proof only when the grace is over.
static void answer_open(rpc_server *r, bool streams_only) {
    for (rpc_call *call = next_call(r, NULL); call != NULL; call = next_call(r, call)) {
        if (!streams_only || call->stream_tick != NULL || call->method == NULL || call->method->many_requests)
            rpc_failf(call, SERVICE_UNAVAILABLE, "shutting down");
    }
}

void rpc_server_stop(rpc_server **server, uint32_t grace_ms) {
    rpc_server *r = *server;
    if (r == NULL) return;
    atomic_store(&r->stopping, true);
    rpc_gate_close(&r->gate);
    for (size_t i = 0; i < r->n_addresses; i++) rpc_listen_end(&r->addresses[i]);
    grpc_server_shutdown_and_notify(r->core, r->cq, &r->down);
    answer_open(r, true);
    if (r->n_threads > 0 && !wait_until(r, no_calls, grace_ms)) {
        answer_open(r, false);
        (void)wait_until(r, no_calls, LAST_WORDS_MS);
    }
    // What is handled right now ends; what still waits in a lane was answered and is dropped there.
    rpc_lane_stop(&r->parse);
    rpc_lane_stop(&r->keys);
    grpc_server_cancel_all_calls(r->core);
    if (r->n_threads == 0) { // never started: no other thread will see the tag
        const grpc_event e = grpc_completion_queue_next(r->cq, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
        if (e.type == GRPC_OP_COMPLETE) is_down(r, true);
    }
    while (!wait_until(r, core_down, SECOND_NS / MS_NS) || !wait_until(r, no_calls, SECOND_NS / MS_NS))
        ;
    pthread_mutex_lock(&r->lock);
    r->stop_ticker = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    if (r->ticking) pthread_join(r->ticker, NULL);
    grpc_completion_queue_shutdown(r->cq);
    for (unsigned i = 0; i < r->n_threads; i++) pthread_join(r->threads[i], NULL);
    while (r->n_threads == 0 &&
           grpc_completion_queue_next(r->cq, gpr_inf_future(GPR_CLOCK_REALTIME), NULL).type != GRPC_QUEUE_SHUTDOWN)
        ;
    grpc_server_destroy(r->core);
    grpc_completion_queue_destroy(r->cq);
    rpc_reflection_destroy(&r->reflection);
    wire_leave();
    free(r->addresses);
    free(r->threads);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    free(r);
    *server = NULL;
}
