// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What server and client share of gRPC C core. C core owns the names grpc_*; ours begin with wire_, rpc_ and client_.
#ifndef CUZK_SERVICE_GRPC_COMMON_H
#define CUZK_SERVICE_GRPC_COMMON_H

#include <stdbool.h>

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <protobuf-c/protobuf-c.h>

#include <stdbool.h>

#include "base/status.h"

// Starts C core for one user of it and leaves it for that user. C core counts; the last leave waits until its threads
// have ended, so that it must not come from one of them. What C core has to say goes to our log and never to stderr.
void wire_enter(void);
void wire_leave(void);

// Copies of a slice: as text with a NUL, cut at cap - 1 bytes and scrubbed (base/scrub.h).
void wire_slice_text(char *out, size_t cap, grpc_slice slice);
// The whole buffer as one slice, to be unref'd; copies only when it is in pieces. An empty slice for NULL.
grpc_slice wire_flatten(grpc_byte_buffer *buffer);
// A message as a buffer, packed once. Never NULL: C core ends the process when memory is refused.
grpc_byte_buffer *wire_pack(const ProtobufCMessage *message);

// Bytes of a stranger as a message; free with protobuf_c_message_free_unpacked(m, NULL). protobuf-c sets memory aside
// for each field it meets, some fifty bytes for a field of two, so that there is a budget: twice the bytes (each is
// copied once, and repeated fields need an array) and 1 MiB. NULL for bytes that are no such message, and (*too_many)
// beyond it.
ProtobufCMessage *wire_unpack(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t len, bool *too_many);

// A PEM file of at most 1 MiB, with a NUL; free with mem_free.
CUZK_MUST_USE cuzk_status wire_read_pem(char **out, const char *what, const char *path, cuzk_error *err);

gpr_timespec wire_deadline(uint64_t timeout_ms); // from now; 0: never

#endif
