// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A gRPC server in front of a fake service, a client of it, and bare connections.
#ifndef CUZK_TESTS_GRPC_BED_H
#define CUZK_TESTS_GRPC_BED_H

#include "testing.h"

#include "fake_service.h"
#include "service/client.h"
#include "service/grpc_server.h"

typedef struct bed {
    service *service;
    rpc_server *server;
    client *client;
} bed;

// `options` may be NULL; without an address it listens on a free port of 127.0.0.1.
bed bed_open(const rpc_server_options *options);
void bed_close(bed *b);           // also asserts that no call is left, and none of its buffered bytes
client *bed_client(const bed *b); // another one

// What a client with these options of its own gets for a question.
int bed_ask(const client_options *o, client_error *err);

// A request of kind toy with one partition.
client_proof_request bed_request(const char *id, const char *input);
void nap(unsigned ms);
// Waits until `holds` is true, at most ten seconds; asserts that it became so.
void eventually(bool (*holds)(void *ctx), void *ctx);

// A bare connection to the server's first address.
int bare_connect(const bed *b);
void bare_connect_with(const bed *b, int fd); // a socket made before
void bare_send(int fd, const void *bytes, size_t n);
// Reads until the peer closes, at most `ms`; true if it did.
bool bare_closed_within(int fd, unsigned ms);
// A folder of the test's own, removed with what is in it by scratch_remove.
void scratch_make(char out[64]);
void scratch_remove(const char *folder);

#endif
