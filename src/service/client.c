// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The connection, and calls of one request and one answer.
#include "service/client.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>

#include "base/mem.h"
#include "base/scrub.h"
#include "service/client_internal.h"

enum { RECONNECT_MS = 200, MAX_MESSAGE = 256 << 20 };

const char *client_code_name(int code) {
    static const char *const names[] = {
        "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
        "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
        "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
        "DATA_LOSS", "UNAUTHENTICATED"};
    return code < 0 || code >= (int)(sizeof names / sizeof names[0]) ? "UNKNOWN" : names[code];
}

int client_fail(client_error *err, int code, const char *fmt, ...) {
    if (err != NULL) {
        va_list args;
        va_start(args, fmt);
        vsnprintf(err->text, sizeof err->text, fmt, args);
        va_end(args);
        scrub_text(err->text);
        err->code = code;
        err->retry_after_ms = 0;
    }
    return code;
}

int client_ended(client_error *err, grpc_status_code code, grpc_slice details, const grpc_metadata_array *trailing) {
    if (code == GRPC_STATUS_OK || err == NULL) return (int)code;
    err->code = (int)code;
    err->retry_after_ms = 0;
    wire_slice_text(err->text, sizeof err->text, details);
    for (size_t i = 0; i < trailing->count; i++) {
        if (grpc_slice_str_cmp(trailing->metadata[i].key, "grpc-retry-pushback-ms") != 0) continue;
        char text[24];
        wire_slice_text(text, sizeof text, trailing->metadata[i].value);
        const unsigned long long ms = strtoull(text, NULL, 10);
        err->retry_after_ms = ms > UINT32_MAX ? UINT32_MAX : (uint32_t)ms;
    }
    return (int)code;
}

// --- opening ---

typedef struct target {
    char text[512];
    bool tls;
} target;

static cuzk_status parse_target(target *out, const client_options *o, cuzk_error *err) {
    const char *rest = o->target == NULL ? "" : o->target;
    out->tls = o->tls;
    if (strncmp(rest, "http://", 7) == 0 || strncmp(rest, "https://", 8) == 0) {
        if (rest[4] == 's') out->tls = true;
        rest = strstr(rest, "//") + 2;
    }
    const bool is_unix = strncmp(rest, "unix:", 5) == 0;
    size_t n = strlen(rest);
    while (!is_unix && n > 0 && rest[n - 1] == '/') n--; // as people copy it from a browser
    if (n == 0 || n >= sizeof out->text)
        return cuzk_fail(err, CUZK_ERR_USAGE, "address \"%s\": expected host:port or unix:///path", rest);
    memcpy(out->text, rest, n);
    out->text[n] = 0;
    // C core would wait for a name server to tell it what is wrong with these.
    const char *colon = strrchr(out->text, ':');
    if (!is_unix && (colon == NULL || colon[1] == 0 || strspn(colon + 1, "0123456789") != strlen(colon + 1)))
        return cuzk_fail(err, CUZK_ERR_USAGE, "address \"%s\": expected host:port or unix:///path", out->text);
    if (is_unix && out->text[5] == 0)
        return cuzk_fail(err, CUZK_ERR_USAGE, "address \"%s\": a path belongs behind unix:", out->text);
    return CUZK_OK;
}

static cuzk_status credentials(grpc_channel_credentials **out, bool tls, const client_options *o, cuzk_error *err) {
    if (!tls) {
        *out = grpc_insecure_credentials_create();
        return CUZK_OK;
    }
    if ((o->cert_file == NULL) != (o->key_file == NULL))
        return cuzk_fail(err, CUZK_ERR_USAGE, "a certificate and its key belong together");
    char *ca = NULL, *cert = NULL, *key = NULL;
    cuzk_status st = CUZK_OK;
    if (o->ca_file != NULL) st = wire_read_pem(&ca, "certificate authority", o->ca_file, err);
    if (st == CUZK_OK && o->cert_file != NULL) st = wire_read_pem(&cert, "certificate", o->cert_file, err);
    if (st == CUZK_OK && o->key_file != NULL) st = wire_read_pem(&key, "key", o->key_file, err);
    if (st == CUZK_OK) {
        grpc_ssl_pem_key_cert_pair pair = {key, cert};
        *out = grpc_ssl_credentials_create_ex(ca, cert != NULL ? &pair : NULL, NULL, NULL);
        if (*out == NULL) st = cuzk_fail(err, CUZK_ERR_INPUT, "the certificates were refused");
    }
    mem_free(ca);
    mem_free(cert);
    mem_free(key);
    return st;
}

static grpc_arg integer(const char *key, int value) {
    return (grpc_arg){.type = GRPC_ARG_INTEGER, .key = (char *)(uintptr_t)key, .value.integer = value};
}

cuzk_status client_open(client **out, const client_options *options, cuzk_error *err) {
    *out = NULL;
    target t;
    cuzk_status st = parse_target(&t, options, err);
    if (st != CUZK_OK) return st;
    client *c = calloc(1, sizeof *c);
    if (c == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "client: out of memory");
    wire_enter();
    grpc_channel_credentials *creds = NULL;
    st = credentials(&creds, t.tls, options, err);
    if (st != CUZK_OK) {
        wire_leave();
        free(c);
        return st;
    }
    const uint64_t limit = options->max_message_bytes == 0 ? MAX_MESSAGE : options->max_message_bytes;
    grpc_arg args[8];
    size_t n = 0;
    args[n++] = integer(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, limit > INT32_MAX ? INT32_MAX : (int)limit);
    args[n++] = integer(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    args[n++] = integer(GRPC_ARG_ENABLE_RETRIES, 0); // would keep a copy of every request
    args[n++] = integer(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, RECONNECT_MS);
    args[n++] = integer(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1); // a connection of its own
    if (t.tls && options->server_name != NULL)
        args[n++] = (grpc_arg){.type = GRPC_ARG_STRING,
                               .key = (char *)(uintptr_t)GRPC_SSL_TARGET_NAME_OVERRIDE_ARG,
                               .value.string = (char *)(uintptr_t)options->server_name};
    const grpc_channel_args channel_args = {n, args};
    c->channel = grpc_channel_create(t.text, creds, &channel_args);
    grpc_channel_credentials_release(creds);
    *out = c;
    return CUZK_OK;
}

void client_close(client **c) {
    if (*c == NULL) return;
    grpc_channel_destroy((*c)->channel);
    free(*c);
    *c = NULL;
    wire_leave();
}

// --- one call ---

void client_bytes_free(client_bytes *b) {
    free(b->data);
    *b = (client_bytes){0};
}

grpc_call *client_new_call(client *c, grpc_completion_queue *cq, const char *method, uint64_t timeout_ms) {
    grpc_slice path = grpc_slice_from_copied_string(method);
    grpc_call *call = grpc_channel_create_call(c->channel, NULL, GRPC_PROPAGATE_DEFAULTS, cq, path, NULL,
                                               wire_deadline(timeout_ms), NULL);
    grpc_slice_unref(path);
    return call;
}

int client_exchange(client *c, grpc_slice *reply, const char *method, grpc_byte_buffer *request, uint64_t timeout_ms,
                    client_error *err) {
    grpc_completion_queue *cq = grpc_completion_queue_create_for_pluck(NULL);
    grpc_call *call = client_new_call(c, cq, method, timeout_ms);
    grpc_metadata_array initial, trailing;
    grpc_metadata_array_init(&initial);
    grpc_metadata_array_init(&trailing);
    grpc_byte_buffer *answer = NULL;
    grpc_status_code status = GRPC_STATUS_UNKNOWN;
    grpc_slice details = grpc_empty_slice();
    const grpc_op ops[6] = {
        {.op = GRPC_OP_SEND_INITIAL_METADATA},
        {.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = request},
        {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT},
        {.op = GRPC_OP_RECV_INITIAL_METADATA, .data.recv_initial_metadata.recv_initial_metadata = &initial},
        {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &answer},
        {.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
         .data.recv_status_on_client = {.trailing_metadata = &trailing, .status = &status, .status_details = &details}},
    };
    int code;
    const grpc_call_error started = grpc_call_start_batch(call, ops, 6, call, NULL);
    if (started != GRPC_CALL_OK) {
        code = client_fail(err, CLIENT_INTERNAL, "%s: %s", method, grpc_call_error_to_string(started));
    } else {
        grpc_completion_queue_pluck(cq, call, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
        code = client_ended(err, status, details, &trailing);
        if (code == CLIENT_OK && answer == NULL) code = client_fail(err, CLIENT_INTERNAL, "%s: no answer", method);
    }
    if (code == CLIENT_OK) *reply = wire_flatten(answer);
    grpc_byte_buffer_destroy(request);
    if (answer != NULL) grpc_byte_buffer_destroy(answer);
    grpc_slice_unref(details);
    grpc_metadata_array_destroy(&initial);
    grpc_metadata_array_destroy(&trailing);
    grpc_call_unref(call);
    grpc_completion_queue_shutdown(cq);
    while (grpc_completion_queue_pluck(cq, NULL, gpr_inf_future(GPR_CLOCK_REALTIME), NULL).type != GRPC_QUEUE_SHUTDOWN)
        ;
    grpc_completion_queue_destroy(cq);
    return code;
}

int client_call(client *c, client_bytes *reply, const char *method, const uint8_t *request, size_t len,
                uint64_t timeout_ms, client_error *err) {
    *reply = (client_bytes){0};
    grpc_slice slice = grpc_slice_from_copied_buffer((const char *)request, len);
    grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    int code = client_exchange(c, &slice, method, buffer, timeout_ms, err);
    if (code != CLIENT_OK) return code;
    reply->len = GRPC_SLICE_LENGTH(slice);
    reply->data = malloc(reply->len + 1);
    if (reply->data == NULL)
        code = client_fail(err, CLIENT_RESOURCE_EXHAUSTED, "client: out of memory");
    else if (reply->len > 0)
        memcpy(reply->data, GRPC_SLICE_START_PTR(slice), reply->len);
    grpc_slice_unref(slice);
    return code;
}
