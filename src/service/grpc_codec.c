// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A call's bytes to its message, or to the answer that they are none.
#include <grpc/byte_buffer.h>
#include <grpc/slice.h>

#include "service/grpc_internal.h"
#include "service/wire_text.h"

void *rpc_unpack(rpc_call *call, const ProtobufCMessageDescriptor *type) {
    grpc_slice slice = wire_flatten(call->request);
    rpc_drop_request(call); // its pieces, if it was in pieces
    const size_t len = GRPC_SLICE_LENGTH(slice);
    bool too_many;
    ProtobufCMessage *m = wire_unpack(type, GRPC_SLICE_START_PTR(slice), len, &too_many);
    size_t at = 0;
    const char *cut = m != NULL ? wire_text_cut(type, GRPC_SLICE_START_PTR(slice), len, &at) : NULL;
    grpc_slice_unref(slice);
    if (cut != NULL) {
        protobuf_c_message_free_unpacked(m, NULL);
        rpc_failf(call, SERVICE_INVALID_ARGUMENT, "%s: byte %zu is NUL", cut, at);
        return NULL;
    }
    if (m == NULL && too_many)
        rpc_failf(call, SERVICE_INVALID_ARGUMENT, "%s of %zu bytes: too many fields", type->name, len);
    else if (m == NULL)
        rpc_failf(call, SERVICE_INVALID_ARGUMENT, "%zu bytes are no %s", len, type->name);
    return m;
}
