// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_SERVICE_CLIENT_INTERNAL_H
#define CUZK_SERVICE_CLIENT_INTERNAL_H

#include "service/client.h"
#include "service/grpc_common.h"

struct client {
    grpc_channel *channel;
};

// One request, one answer, as C core has them: takes `request`; *reply is to be unref'd after success.
int client_exchange(client *c, grpc_slice *reply, const char *method, grpc_byte_buffer *request, uint64_t timeout_ms,
                    client_error *err);

// Fills err (may be NULL) and returns code.
int client_fail(client_error *err, int code, const char *fmt, ...) CUZK_PRINTF(3, 4);
// How a call ended, out of what C core received.
int client_ended(client_error *err, grpc_status_code code, grpc_slice details, const grpc_metadata_array *trailing);

grpc_call *client_new_call(client *c, grpc_completion_queue *cq, const char *method, uint64_t timeout_ms);

#endif
