// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Calls of many requests and many answers. Each step is one batch that is waited for, except the final status, which is
// asked for at once and arrives when it may.
#include <stdlib.h>
#include <string.h>

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>

#include "service/client_internal.h"

struct client_stream {
    grpc_completion_queue *cq;
    grpc_call *call;
    grpc_metadata_array initial, trailing;
    grpc_status_code status;
    grpc_slice details;
    char end_tag, step_tag; // their addresses are the tags
    bool end_asked;         // the final status has not been waited for
    bool begun;             // the server's initial metadata was asked for: once, with its first message
};

static bool pluck(client_stream *s, void *tag) {
    const grpc_event e = grpc_completion_queue_pluck(s->cq, tag, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
    return e.type == GRPC_OP_COMPLETE && e.success != 0;
}

static bool step(client_stream *s, const grpc_op *op) {
    return grpc_call_start_batch(s->call, op, 1, &s->step_tag, NULL) == GRPC_CALL_OK && pluck(s, &s->step_tag);
}

int client_stream_open(client *c, client_stream **out, const char *method, uint64_t timeout_ms, client_error *err) {
    *out = NULL;
    client_stream *s = calloc(1, sizeof *s);
    if (s == NULL) return client_fail(err, CLIENT_RESOURCE_EXHAUSTED, "client: out of memory");
    s->cq = grpc_completion_queue_create_for_pluck(NULL);
    s->call = client_new_call(c, s->cq, method, timeout_ms);
    grpc_metadata_array_init(&s->initial);
    grpc_metadata_array_init(&s->trailing);
    s->details = grpc_empty_slice();
    const grpc_op end = {.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
                         .data.recv_status_on_client = {
                             .trailing_metadata = &s->trailing, .status = &s->status, .status_details = &s->details}};
    const grpc_op begin = {.op = GRPC_OP_SEND_INITIAL_METADATA};
    s->end_asked = grpc_call_start_batch(s->call, &end, 1, &s->end_tag, NULL) == GRPC_CALL_OK;
    // A failure to send is a call that has ended, and client_stream_next will tell how.
    (void)step(s, &begin);
    *out = s;
    return CLIENT_OK;
}

bool client_stream_send(client_stream *s, const uint8_t *message, size_t len) {
    grpc_slice slice = grpc_slice_from_copied_buffer((const char *)message, len);
    grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    const grpc_op op = {.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = buffer};
    const bool ok = step(s, &op);
    grpc_byte_buffer_destroy(buffer);
    return ok;
}

bool client_stream_half_close(client_stream *s) {
    const grpc_op op = {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT};
    return step(s, &op);
}

static int wait_end(client_stream *s, client_error *err) {
    if (s->end_asked) pluck(s, &s->end_tag);
    s->end_asked = false;
    return client_ended(err, s->status, s->details, &s->trailing);
}

bool client_stream_next(client_stream *s, client_bytes *message, int *code, client_error *err) {
    *message = (client_bytes){0};
    grpc_byte_buffer *buffer = NULL;
    const grpc_op ops[2] = {
        {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &buffer},
        {.op = GRPC_OP_RECV_INITIAL_METADATA, .data.recv_initial_metadata.recv_initial_metadata = &s->initial}};
    const size_t n_ops = s->begun ? 1 : 2;
    s->begun = true;
    const bool ok =
        grpc_call_start_batch(s->call, ops, n_ops, &s->step_tag, NULL) == GRPC_CALL_OK && pluck(s, &s->step_tag);
    if (!ok || buffer == NULL) {
        if (buffer != NULL) grpc_byte_buffer_destroy(buffer);
        *code = wait_end(s, err);
        return false;
    }
    const grpc_slice slice = wire_flatten(buffer);
    grpc_byte_buffer_destroy(buffer);
    message->len = GRPC_SLICE_LENGTH(slice);
    message->data = malloc(message->len + 1);
    if (message->data != NULL && message->len > 0) memcpy(message->data, GRPC_SLICE_START_PTR(slice), message->len);
    grpc_slice_unref(slice);
    if (message->data != NULL) return true;
    client_stream_cancel(s);
    (void)wait_end(s, NULL);
    *code = client_fail(err, CLIENT_RESOURCE_EXHAUSTED, "client: out of memory");
    return false;
}

void client_stream_cancel(client_stream *s) { grpc_call_cancel(s->call, NULL); }

void client_stream_close(client_stream **stream) {
    client_stream *s = *stream;
    if (s == NULL) return;
    if (s->end_asked) client_stream_cancel(s);
    (void)wait_end(s, NULL);
    grpc_call_unref(s->call);
    grpc_slice_unref(s->details);
    grpc_metadata_array_destroy(&s->initial);
    grpc_metadata_array_destroy(&s->trailing);
    grpc_completion_queue_shutdown(s->cq);
    while (grpc_completion_queue_pluck(s->cq, NULL, gpr_inf_future(GPR_CLOCK_REALTIME), NULL).type !=
           GRPC_QUEUE_SHUTDOWN)
        ;
    grpc_completion_queue_destroy(s->cq);
    free(s);
    *stream = NULL;
}
