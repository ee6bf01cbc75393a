// SPDX-License-Identifier: MIT OR Apache-2.0
//
// How the server is made, for its own files.
//
// Threads. A few poll the one completion queue: they carry the connections' bytes and run what never waits. What may
// take a while has lanes of its own: `parse` unpacks and admits requests (a C1 file is 51 MB of JSON), `keys` reads and
// frees keys. One more thread, the ticker, looks after streams that stay open and after time limits.
//
// A call is counted by references: one until its answer has gone out, one until C core says that it has closed, and one
// for each operation or thread that still has to do with it. Exactly one answer is given, by whoever comes first
// (`answered`): a handler, the service's callback, the ticker, or the shutdown.
//
// Locks: server->lock (the list of calls, flags), then call->lock. Neither is held while the service is called.
#ifndef CUZK_SERVICE_GRPC_INTERNAL_H
#define CUZK_SERVICE_GRPC_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "service/grpc_common.h"
#include "service/grpc_server.h"
#include "service/listen.h"
#include "service/service.h"

enum { RPC_TICK_MS = 100, RPC_RETRY_MS = 1000 };

typedef struct rpc_call rpc_call;
typedef struct rpc_gate rpc_gate;
typedef struct rpc_lane rpc_lane;
typedef struct rpc_reflection rpc_reflection;

// What C core hands back when an operation has ended.
typedef struct rpc_tag {
    void (*fn)(void *owner, bool ok);
    void *owner;
    // Stored before the operation starts, loaded when it has ended. C core's locks order the two already; where they
    // are not compiled with the thread sanitizer, this is how it learns of it.
    atomic_bool armed;
} rpc_tag;

// --- methods (grpc_methods.c) ---

typedef enum rpc_place { RPC_INLINE, RPC_PARSE, RPC_KEYS } rpc_place;

typedef struct rpc_method {
    const char *path;
    rpc_place place;
    // Has the call's message in call->request and a reference of the call for as long as it runs; answers, or arranges
    // for an answer.
    void (*handle)(rpc_call *call);
    bool many_requests; // handle is called for each, and answers one before it is called for the next
} rpc_method;

// NULL: no such method.
const rpc_method *rpc_method_find(grpc_slice path);

// --- a call (grpc_call.c) ---

struct rpc_call {
    rpc_server *server;
    grpc_call *core;
    grpc_call_details details;
    grpc_metadata_array metadata;
    const rpc_method *method;
    atomic_uint refs;
    atomic_bool answered;
    atomic_bool gone; // the client went away, or its deadline passed
    rpc_tag accepted, received, sent, finished, closed;
    int cancelled; // C core's word on how it closed
    uint64_t began_ns;

    grpc_byte_buffer *request;
    uint64_t request_bytes; // counted in the server's buffered bytes
    atomic_bool complete;   // the message is here

    pthread_mutex_t lock; // of what follows
    grpc_byte_buffer *reply;
    grpc_metadata pushback;
    bool begun;   // initial metadata was sent
    bool sending; // a message of a stream is on its way
    bool ending;  // the status follows when it has gone
    service_error end;
    service_watch *watch;
    bool abandon; // a job that this call alone waits for is not wanted without it

    // A stream's own state: set once by its handler, freed with the call.
    void *stream;
    void (*stream_free)(void *stream);
    void (*_Atomic stream_tick)(rpc_call *call); // see rpc_call_tick; set last, read without a lock
    atomic_bool ticking;

    rpc_call *prev, *next; // server->calls
    rpc_call *lane_next;
};

rpc_call *rpc_call_new(rpc_server *server); // one reference; NULL without memory
void rpc_call_ref(rpc_call *call);
bool rpc_call_try_ref(rpc_call *call); // of one found in the list: false if it is being freed
void rpc_call_unref(rpc_call *call);
void rpc_call_serve(rpc_call *call); // C core has handed over a new call

enum { RPC_PEER_MAX = 256 };
// Who called, for the log: the address, and the common name of the client's certificate where there is one.
void rpc_call_peer(const rpc_call *call, char out[RPC_PEER_MAX]);

// Answers: message and OK, or a failure. Later answers are dropped. Messages are taken.
void rpc_reply(rpc_call *call, grpc_byte_buffer *message);
void rpc_fail(rpc_call *call, const service_error *error);
void rpc_failf(rpc_call *call, service_code code, const char *fmt, ...) CUZK_PRINTF(3, 4);
// A stream's message; false, and the message is gone, while the one before it is on its way or when the stream has
// ended.
bool rpc_send(rpc_call *call, grpc_byte_buffer *message);
bool rpc_can_send(rpc_call *call);
void rpc_finish(rpc_call *call); // OK without a message, after what is on its way
// The message is no longer needed.
void rpc_drop_request(rpc_call *call);
// Makes the call a stream that the ticker looks after; false, and it was answered, when there are too many. Takes
// `stream` either way.
bool rpc_stay_open(rpc_call *call, void *stream, void (*stream_free)(void *), void (*tick)(rpc_call *));
// Lets a stream send what is new, if nothing of it is on its way: from the ticker, and when a message has gone out.
void rpc_call_tick(rpc_call *call);

// --- messages (grpc_codec.c) ---

// Unpacks the call's message; on failure answers INVALID_ARGUMENT and returns NULL. The result needs no allocator to be
// freed: protobuf_c_message_free_unpacked(m, NULL).
void *rpc_unpack(rpc_call *call, const ProtobufCMessageDescriptor *type);

// --- lanes (grpc_lanes.c) ---

CUZK_MUST_USE cuzk_status rpc_lane_start(rpc_lane **out, unsigned threads, size_t max_waiting, cuzk_error *err);
// Will run call->method->handle on a thread of the lane, unless the call was answered before its turn. False when too
// many wait.
CUZK_MUST_USE bool rpc_lane_put(rpc_lane *lane, rpc_call *call);
void rpc_lane_stop(rpc_lane **lane); // runs what waits, see above, and ends

// --- connections (grpc_gate.c) ---

// The two ways into C core (grpc_door.h), and the server's arguments that their handles appear in.
typedef enum rpc_door { RPC_DOOR_PLAIN, RPC_DOOR_TLS, RPC_DOORS } rpc_door;
extern const char *const RPC_DOOR_NAMES[RPC_DOORS];

// `refused` counts those that are sent away, and must outlive the gate.
CUZK_MUST_USE cuzk_status rpc_gate_create(rpc_gate **out, uint32_t max_connections, uint32_t handshake_ms,
                                          atomic_uint_fast64_t *refused, cuzk_error *err);
// A listening, non-blocking socket, which must outlive the gate. Before the start.
CUZK_MUST_USE cuzk_status rpc_gate_add(rpc_gate *g, int fd, bool tls, cuzk_error *err);
// The doors must outlive the gate, and C core must have been started.
CUZK_MUST_USE cuzk_status rpc_gate_start(rpc_gate *g, void *const *doors, cuzk_error *err);
// Before C core is told to shut down. What was handed to it stays its own.
void rpc_gate_close(rpc_gate **g);

// --- addresses (grpc_listen.c) ---

typedef struct rpc_address {
    char shown[LISTEN_ADDRESS_MAX]; // for clients on this machine
    int port;
    listener first, second;
} rpc_address;

// `tls`: whoever comes by TCP must speak it.
CUZK_MUST_USE cuzk_status rpc_listen(rpc_address *out, rpc_gate *gate, bool tls, const char *address, cuzk_error *err);
void rpc_listen_end(rpc_address *a); // when the gate is closed
// Has C core open the doors, that of TLS if there are credentials.
CUZK_MUST_USE cuzk_status rpc_open_doors(grpc_server *core, void *const *doors, grpc_server_credentials *tls,
                                         cuzk_error *err);
// *out is NULL without TLS.
CUZK_MUST_USE cuzk_status rpc_credentials(grpc_server_credentials **out, const rpc_server_options *options,
                                          cuzk_error *err);

// --- streams and health (grpc_stream.c, grpc_health.c, grpc_reflection.c) ---

void rpc_watch_timeline(rpc_call *call);
void rpc_get_timeline(rpc_call *call);
void rpc_health_check(rpc_call *call);
void rpc_health_watch(rpc_call *call);
void rpc_reflect(rpc_call *call);

CUZK_MUST_USE cuzk_status rpc_reflection_create(rpc_reflection **out, cuzk_error *err);
void rpc_reflection_destroy(rpc_reflection **r);

// --- the server (grpc_server.c) ---

struct rpc_server {
    service *service;
    rpc_server_options options; // without its pointers, defaults filled in
    grpc_server *core;
    grpc_completion_queue *cq;
    rpc_address *addresses;
    size_t n_addresses;
    rpc_gate *gate;
    void *doors[RPC_DOORS];
    rpc_lane *parse, *keys;
    rpc_reflection *reflection;
    pthread_t *threads, ticker;
    unsigned n_threads;
    bool ticking;
    rpc_tag down;

    atomic_bool stopping;
    atomic_uint_fast64_t accepted, refused, buffered;
    atomic_uint accepts_owed; // of ACCEPTS, those that memory was refused for

    pthread_mutex_t lock; // of what follows
    pthread_cond_t changed;
    rpc_call *calls;
    uint32_t n_calls, n_watchers;
    bool is_down; // C core has let go of everything
    bool stop_ticker;
};

bool rpc_server_join(rpc_server *r, rpc_call *call); // false: too many calls, and it joined all the same
void rpc_server_leave(rpc_server *r, rpc_call *call);
void rpc_server_left(rpc_server *r); // after the last a call has to do with the server

#endif
