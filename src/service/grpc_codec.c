// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Bytes to messages. protobuf-c sets memory aside for each field it meets, some fifty bytes for a field of two: a
// budget keeps a hostile message from costing more than a multiple of its own size.
#include <stdlib.h>

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>

#include "service/grpc_internal.h"

// Beyond twice the message (each byte is copied once, and repeated fields need an array): the message itself.
enum { BUDGET_BASE = 1 << 20 };

typedef struct budget {
    size_t left;
    bool spent;
} budget;

static void *budget_alloc(void *data, size_t n) {
    budget *b = data;
    if (n > b->left) {
        b->spent = true;
        return NULL;
    }
    b->left -= n;
    return malloc(n == 0 ? 1 : n);
}

static void budget_free(void *data, void *p) {
    (void)data;
    free(p);
}

void *rpc_unpack(rpc_call *call, const ProtobufCMessageDescriptor *type) {
    grpc_slice slice = wire_flatten(call->request);
    rpc_drop_request(call); // its pieces, if it was in pieces
    const size_t len = GRPC_SLICE_LENGTH(slice);
    budget b = {.left = BUDGET_BASE + 2 * len};
    ProtobufCAllocator allocator = {budget_alloc, budget_free, &b};
    ProtobufCMessage *m = protobuf_c_message_unpack(type, &allocator, len, GRPC_SLICE_START_PTR(slice));
    grpc_slice_unref(slice);
    if (m == NULL && b.spent)
        rpc_failf(call, SERVICE_INVALID_ARGUMENT, "%s of %zu bytes: too many fields", type->name, len);
    else if (m == NULL)
        rpc_failf(call, SERVICE_INVALID_ARGUMENT, "%zu bytes are no %s", len, type->name);
    return m;
}
