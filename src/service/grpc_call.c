// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The life of one call: accepted, its message received, handled, answered once, closed, freed.
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/scrub.h"
#include "service/grpc_internal.h"

rpc_call *rpc_call_new(rpc_server *server) {
    rpc_call *call = mem_calloc(MEM_MISC, 1, sizeof *call);
    if (call == NULL) return NULL;
    if (pthread_mutex_init(&call->lock, NULL) != 0) {
        mem_free(call);
        return NULL;
    }
    call->server = server;
    call->accepted.owner = call->received.owner = call->sent.owner = call->finished.owner = call->closed.owner = call;
    atomic_init(&call->refs, 1);
    grpc_call_details_init(&call->details);
    grpc_metadata_array_init(&call->metadata);
    return call;
}

void rpc_call_ref(rpc_call *call) { atomic_fetch_add_explicit(&call->refs, 1, memory_order_relaxed); }

bool rpc_call_try_ref(rpc_call *call) {
    unsigned n = atomic_load_explicit(&call->refs, memory_order_relaxed);
    while (n != 0 && !atomic_compare_exchange_weak(&call->refs, &n, n + 1))
        ;
    return n != 0;
}

void rpc_call_unref(rpc_call *call) {
    // Release what this thread did to the call, acquire what others did: the last one frees all of it.
    if (atomic_fetch_sub_explicit(&call->refs, 1, memory_order_acq_rel) != 1) return;
    rpc_server *server = call->server;
    const bool joined = call->core != NULL; // else C core never handed it over
    if (joined) rpc_server_leave(server, call);
    if (call->watch != NULL) service_unwatch(server->service, &call->watch, false);
    rpc_drop_request(call);
    if (call->reply != NULL) grpc_byte_buffer_destroy(call->reply);
    if (call->stream_free != NULL) call->stream_free(call->stream);
    grpc_call_details_destroy(&call->details);
    grpc_metadata_array_destroy(&call->metadata);
    if (joined) grpc_call_unref(call->core);
    pthread_mutex_destroy(&call->lock);
    mem_free(call);
    if (joined) rpc_server_left(server);
}

void rpc_drop_request(rpc_call *call) {
    if (call->request == NULL) return;
    grpc_byte_buffer_destroy(call->request);
    call->request = NULL;
    atomic_fetch_sub(&call->server->buffered, call->request_bytes);
    call->request_bytes = 0;
}

void rpc_call_peer(const rpc_call *call, char out[RPC_PEER_MAX]) {
    char *address = grpc_call_get_peer(call->core);
    grpc_auth_context *auth = grpc_call_auth_context(call->core);
    grpc_auth_property_iterator names = grpc_auth_context_find_properties_by_name(auth, GRPC_X509_CN_PROPERTY_NAME);
    const grpc_auth_property *name = grpc_auth_property_iterator_next(&names);
    if (name != NULL)
        snprintf(out, RPC_PEER_MAX, "%s, certificate of %.*s", address, (int)name->value_length, name->value);
    else
        snprintf(out, RPC_PEER_MAX, "%s", address);
    scrub_text(out);
    grpc_auth_context_release(auth);
    gpr_free(address);
}

static void start(rpc_call *call, const grpc_op *ops, size_t n, rpc_tag *tag) {
    rpc_call_ref(call); // of the operation; its tag gives it back
    atomic_store_explicit(&tag->armed, true, memory_order_release);
    const grpc_call_error e = grpc_call_start_batch(call->core, ops, n, tag, NULL);
    // C core refuses a batch only when it was put together wrongly. Better a call that is never freed than one that is
    // freed under somebody's hands.
    assert(e == GRPC_CALL_OK);
    (void)e;
}

// --- answers ---

static void finished(void *owner, bool ok) {
    (void)ok; // the client went away in the meantime
    rpc_call *call = owner;
    rpc_call_unref(call); // of the operation
    rpc_call_unref(call); // until it was answered
}

// Sends the status, behind call->reply where there is one. With call->lock held, nothing on its way.
static void send_end(rpc_call *call) {
    grpc_op ops[3];
    size_t n = 0;
    if (!call->begun) ops[n++] = (grpc_op){.op = GRPC_OP_SEND_INITIAL_METADATA};
    call->begun = true;
    if (call->reply != NULL)
        ops[n++] = (grpc_op){.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = call->reply};
    grpc_slice details = grpc_slice_from_copied_string(call->end.text);
    ops[n] =
        (grpc_op){.op = GRPC_OP_SEND_STATUS_FROM_SERVER,
                  .data.send_status_from_server = {.status = (grpc_status_code)call->end.code,
                                                   .status_details = call->end.code == SERVICE_OK ? NULL : &details}};
    if (call->end.retry_after_ms != 0) {
        char text[16];
        snprintf(text, sizeof text, "%u", (unsigned)call->end.retry_after_ms);
        call->pushback.key = grpc_slice_from_static_string("grpc-retry-pushback-ms");
        call->pushback.value = grpc_slice_from_copied_string(text);
        ops[n].data.send_status_from_server.trailing_metadata = &call->pushback;
        ops[n].data.send_status_from_server.trailing_metadata_count = 1;
    }
    start(call, ops, n + 1, &call->finished);
    grpc_slice_unref(details);
    if (call->end.retry_after_ms != 0) grpc_slice_unref(call->pushback.value);
}

// True for the one who may answer.
static bool claim(rpc_call *call) { return !atomic_exchange(&call->answered, true); }

static void end(rpc_call *call, grpc_byte_buffer *message, const service_error *error) {
    pthread_mutex_lock(&call->lock);
    call->end = *error;
    if (call->sending) {
        call->ending = true; // a stream: the status follows
    } else {
        if (call->reply != NULL) grpc_byte_buffer_destroy(call->reply); // a stream's message that has gone
        call->reply = message;
        send_end(call);
    }
    pthread_mutex_unlock(&call->lock);
}

void rpc_reply(rpc_call *call, grpc_byte_buffer *message) {
    static const service_error ok = {0};
    if (claim(call))
        end(call, message, &ok);
    else
        grpc_byte_buffer_destroy(message);
}

void rpc_fail(rpc_call *call, const service_error *error) {
    if (!claim(call)) return;
    service_error e = *error;
    if (e.code == SERVICE_OK) e.code = SERVICE_INTERNAL; // a failure without a code
    scrub_text(e.text);
    if (e.retry_after_ms != 0) {
        const size_t n = strlen(e.text);
        snprintf(e.text + n, sizeof e.text - n, "; try again in %u ms", (unsigned)e.retry_after_ms);
    }
    end(call, NULL, &e);
}

void rpc_failf(rpc_call *call, service_code code, const char *fmt, ...) {
    service_error e = {.code = code};
    va_list args;
    va_start(args, fmt);
    vsnprintf(e.text, sizeof e.text, fmt, args);
    va_end(args);
    rpc_fail(call, &e);
}

void rpc_finish(rpc_call *call) {
    static const service_error ok = {0};
    if (claim(call)) end(call, NULL, &ok);
}

// --- streams ---

static void read_message(rpc_call *call);

void rpc_call_tick(rpc_call *call) {
    // Whoever comes second leaves it to the first, or to the next tick.
    if (call->stream_tick == NULL || atomic_exchange(&call->ticking, true)) return;
    if (!atomic_load(&call->answered)) call->stream_tick(call);
    atomic_store(&call->ticking, false);
}

static void sent(void *owner, bool ok) {
    rpc_call *call = owner;
    pthread_mutex_lock(&call->lock);
    call->sending = false;
    if (call->reply != NULL) grpc_byte_buffer_destroy(call->reply);
    call->reply = NULL;
    const bool ended = call->ending;
    call->ending = false;
    if (ended) send_end(call);
    pthread_mutex_unlock(&call->lock);
    if (!ended && ok && !atomic_load(&call->answered)) {
        if (call->method->many_requests)
            read_message(call);
        else
            rpc_call_tick(call);
    }
    rpc_call_unref(call);
}

bool rpc_can_send(rpc_call *call) {
    pthread_mutex_lock(&call->lock);
    const bool can = !call->sending && !atomic_load(&call->answered);
    pthread_mutex_unlock(&call->lock);
    return can;
}

bool rpc_send(rpc_call *call, grpc_byte_buffer *message) {
    pthread_mutex_lock(&call->lock);
    const bool can = !call->sending && !atomic_load(&call->answered);
    if (can) {
        grpc_op ops[2];
        size_t n = 0;
        if (!call->begun) ops[n++] = (grpc_op){.op = GRPC_OP_SEND_INITIAL_METADATA};
        ops[n++] = (grpc_op){.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = message};
        call->begun = true;
        call->sending = true;
        if (call->reply != NULL) grpc_byte_buffer_destroy(call->reply);
        call->reply = message;
        start(call, ops, n, &call->sent);
    } else {
        grpc_byte_buffer_destroy(message);
    }
    pthread_mutex_unlock(&call->lock);
    return can;
}

bool rpc_stay_open(rpc_call *call, void *stream, void (*stream_free)(void *), void (*tick)(rpc_call *)) {
    rpc_server *r = call->server;
    call->stream = stream;
    call->stream_free = stream_free;
    pthread_mutex_lock(&r->lock);
    const bool room = r->n_watchers < r->options.max_watchers;
    if (room) {
        r->n_watchers++;
        call->stream_tick = tick;
        pthread_cond_broadcast(&r->changed); // the ticker may be asleep
    }
    pthread_mutex_unlock(&r->lock);
    if (!room) {
        atomic_fetch_add(&r->refused, 1);
        rpc_failf(call, SERVICE_RESOURCE_EXHAUSTED, "%u streams are open already", (unsigned)r->options.max_watchers);
    }
    return room;
}

// --- from the client ---

// Also for calls that were answered long ago: every call closes once.
static void closed(void *owner, bool ok) {
    (void)ok;
    rpc_call *call = owner;
    if (call->cancelled != 0) {
        pthread_mutex_lock(&call->lock);
        atomic_store(&call->gone, true);
        service_watch *watch = call->watch;
        call->watch = NULL;
        const bool abandon = call->abandon && !atomic_load(&call->server->stopping);
        pthread_mutex_unlock(&call->lock);
        if (watch != NULL) service_unwatch(call->server->service, &watch, abandon);
        rpc_failf(call, SERVICE_CANCELLED, "the client went away");
    }
    rpc_call_unref(call);
}

static void busy(rpc_call *call, const char *text) {
    service_error e = {.code = SERVICE_RESOURCE_EXHAUSTED, .retry_after_ms = RPC_RETRY_MS};
    snprintf(e.text, sizeof e.text, "%s", text);
    atomic_fetch_add(&call->server->refused, 1);
    rpc_fail(call, &e);
}

static void received(void *owner, bool ok) {
    rpc_call *call = owner;
    rpc_server *r = call->server;
    atomic_store(&call->complete, true);
    uint64_t before = 0;
    if (call->request != NULL) {
        call->request_bytes = grpc_byte_buffer_length(call->request);
        before = atomic_fetch_add(&r->buffered, call->request_bytes);
    }
    if (atomic_load(&call->answered)) {
        rpc_drop_request(call);
    } else if (call->request == NULL) {
        if (call->method->many_requests && ok) rpc_finish(call); // the client has no more to ask
        // A message over the limit also ends here: C core has closed the call by itself then, with limit and size.
        else
            rpc_failf(call, SERVICE_INVALID_ARGUMENT, "the call came without a message");
    } else if (call->method->place == RPC_INLINE) {
        call->method->handle(call);
        if (!call->method->many_requests) rpc_drop_request(call); // of those the next may be here by now
    } else if (before > 0 && before + call->request_bytes > r->options.max_buffered_bytes) {
        rpc_drop_request(call);
        busy(call, "too many bytes of requests are waiting to be read");
    } else if (!rpc_lane_put(call->method->place == RPC_PARSE ? r->parse : r->keys, call)) {
        rpc_drop_request(call);
        busy(call, "too many requests of this kind are waiting to be read");
    }
    rpc_call_unref(call);
}

static void read_message(rpc_call *call) {
    rpc_drop_request(call);
    const grpc_op op = {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &call->request};
    start(call, &op, 1, &call->received);
}

void rpc_call_serve(rpc_call *call) {
    rpc_server *r = call->server;
    call->began_ns = clock_now_ns();
    call->received.fn = received;
    call->sent.fn = sent;
    call->finished.fn = finished;
    call->closed.fn = closed;
    call->method = rpc_method_find(call->details.method);
    const bool room = rpc_server_join(r, call);

    // The reference that the call came with is the answer's from here on.
    rpc_call_ref(call);
    const grpc_op close = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER, .data.recv_close_on_server.cancelled = &call->cancelled};
    start(call, &close, 1, &call->closed);
    if (call->method == NULL) {
        char path[128];
        wire_slice_text(path, sizeof path, call->details.method);
        rpc_failf(call, SERVICE_UNIMPLEMENTED, "unknown method %s", path);
    } else if (atomic_load(&r->stopping)) {
        rpc_failf(call, SERVICE_UNAVAILABLE, "shutting down");
    } else if (!room) {
        busy(call, "too many calls at a time");
    } else {
        read_message(call);
    }
    rpc_call_unref(call);
}
