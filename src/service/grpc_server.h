// SPDX-License-Identifier: MIT OR Apache-2.0
//
// cuzk.v1.ProvingEngine, health and reflection over gRPC: a translation of service.h and nothing more. A few threads
// serve all calls; none waits for a proof. (C core owns the names grpc_*, so these begin with rpc_.)
#ifndef CUZK_SERVICE_GRPC_SERVER_H
#define CUZK_SERVICE_GRPC_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct service service; // service/service.h
typedef struct rpc_server rpc_server;

typedef struct rpc_server_options {
    // Addresses, one or more: "0.0.0.0:9820", "[::1]:9820", "localhost:0" (0: a port that is free), "unix:///path".
    // 0.0.0.0 is every IPv4 address, [::] every address; no host is 127.0.0.1.
    const char *const *listen;
    size_t n_listen;
    // 0 takes the default that is named.
    uint64_t max_message_bytes;    // of a request, 256 MiB; larger is RESOURCE_EXHAUSTED
    uint64_t max_buffered_bytes;   // received and not yet parsed, of all calls together: 4 * max_message_bytes
    uint32_t max_connections;      // 4096, and never more than half the files that may be open
    uint32_t max_streams;          // calls at a time of one connection: 256
    uint32_t max_calls;            // calls at a time in all: 4096
    uint32_t max_watchers;         // streams that stay open at a time: 64
    uint32_t receive_timeout_ms;   // from the start of a call until its message is here: 10 minutes
    uint32_t idle_ms;              // a connection without calls is closed after this long: 1 hour
    uint32_t keepalive_ms;         // a silent connection is asked for a sign of life: 1 minute
    uint32_t keepalive_timeout_ms; // and closed when none comes: 20 s
    uint32_t handshake_timeout_ms; // from the connection to its first bytes, and from those to HTTP/2's settings: 20 s
    unsigned threads;              // that serve connections: 2
    // PEM files; NULL: none. With a certificate, TCP addresses speak TLS alone; unix sockets stay plain, their mode
    // guards them. With a client CA, clients need a certificate of it.
    const char *tls_cert, *tls_key, *tls_client_ca;
    bool cancel_on_disconnect; // as in service_options: a Prove whose client went away cancels its job
} rpc_server_options;

// Listens and serves. CUZK_ERR_USAGE for options that make no sense, CUZK_ERR_IO, with address and reason, for one that
// cannot be had: a port in use, a socket that another daemon answers on (one that nobody answers on is replaced), a
// certificate that cannot be read. `s` must outlive the server.
CUZK_MUST_USE cuzk_status rpc_server_start(rpc_server **out, service *s, const rpc_server_options *options,
                                           cuzk_error *err);

// Of listen[i]: the port (0 for a unix socket), and what a client on this machine would open ("127.0.0.1:9820").
int rpc_server_port(const rpc_server *r, size_t i);
const char *rpc_server_address(const rpc_server *r, size_t i);

typedef struct rpc_server_stats {
    uint64_t calls;   // accepted since the start
    uint64_t open;    // now
    uint64_t refused; // for a limit of the options
    uint64_t buffered_bytes;
} rpc_server_stats;
rpc_server_stats rpc_server_stats_of(rpc_server *r);

// Accepts no more; gives open calls grace_ms to end by themselves, answers the rest UNAVAILABLE, closes, removes unix
// sockets and frees. Does not stop the service: drain it first to let waits end with their proofs, and those for a key
// at once, which this would wait for.
void rpc_server_stop(rpc_server **r, uint32_t grace_ms);

#endif
