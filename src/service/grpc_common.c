// SPDX-License-Identifier: MIT OR Apache-2.0
#include "service/grpc_common.h"

#include <stdlib.h>
#include <string.h>

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/slice.h>
#include <grpc/support/log.h>
#include <grpc/support/time.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/scrub.h"

// C core calls an error what a stranger on the port can cause at will, so that nothing of it is more than a warning.
static void forward_log(gpr_log_func_args *args) {
    const log_level level = args->severity == GPR_LOG_SEVERITY_ERROR  ? LOG_WARN
                            : args->severity == GPR_LOG_SEVERITY_INFO ? LOG_DEBUG
                                                                      : LOG_TRACE;
    log_write(level, "grpc", NULL, "%s", args->message);
}

void wire_enter(void) {
    gpr_set_log_function(forward_log);
    grpc_init();
}

void wire_leave(void) { grpc_shutdown_blocking(); }

void wire_slice_text(char *out, size_t cap, grpc_slice slice) {
    size_t n = GRPC_SLICE_LENGTH(slice);
    if (n > cap - 1) n = cap - 1;
    if (n > 0) memcpy(out, GRPC_SLICE_START_PTR(slice), n);
    out[n] = 0;
    scrub_text(out);
}

grpc_slice wire_flatten(grpc_byte_buffer *buffer) {
    const size_t len = buffer == NULL ? 0 : grpc_byte_buffer_length(buffer);
    grpc_byte_buffer_reader reader;
    if (len == 0 || grpc_byte_buffer_reader_init(&reader, buffer) == 0) return grpc_empty_slice();
    grpc_slice *first;
    grpc_slice whole = grpc_empty_slice();
    if (grpc_byte_buffer_reader_peek(&reader, &first) != 0 && GRPC_SLICE_LENGTH(*first) == len) {
        whole = grpc_slice_ref(*first);
    } else {
        grpc_byte_buffer_reader_destroy(&reader); // peeking moved it on
        if (grpc_byte_buffer_reader_init(&reader, buffer) == 0) return whole;
        whole = grpc_byte_buffer_reader_readall(&reader);
    }
    grpc_byte_buffer_reader_destroy(&reader);
    return whole;
}

grpc_byte_buffer *wire_pack(const ProtobufCMessage *message) {
    const size_t n = protobuf_c_message_get_packed_size(message);
    grpc_slice slice = grpc_slice_malloc(n);
    if (n > 0) protobuf_c_message_pack(message, GRPC_SLICE_START_PTR(slice));
    grpc_byte_buffer *buffer = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    return buffer;
}

// --- unpacking within a budget ---

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

ProtobufCMessage *wire_unpack(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t len,
                              bool *too_many) {
    budget b = {.left = BUDGET_BASE + 2 * len};
    ProtobufCAllocator allocator = {budget_alloc, budget_free, &b};
    ProtobufCMessage *m = protobuf_c_message_unpack(type, &allocator, len, bytes);
    *too_many = m == NULL && b.spent;
    return m;
}

cuzk_status wire_read_pem(char **out, const char *what, const char *path, cuzk_error *err) {
    uint8_t *data;
    size_t len;
    const cuzk_status st = file_read_all(&data, &len, path, 1 << 20, err);
    if (st != CUZK_OK) return cuzk_fail_in(err, st, "%s", what);
    if (strstr((const char *)data, "-----BEGIN ") == NULL) {
        mem_free(data);
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: %s: no PEM block in it", what, path);
    }
    *out = (char *)data;
    return CUZK_OK;
}

gpr_timespec wire_deadline(uint64_t timeout_ms) {
    if (timeout_ms == 0 || timeout_ms > INT64_MAX / 1000000) return gpr_inf_future(GPR_CLOCK_MONOTONIC);
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis((int64_t)timeout_ms, GPR_TIMESPAN));
}
