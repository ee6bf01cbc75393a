// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Requests of the gRPC wire. The first byte chooses the type, the rest are the message.
#include "fuzz.h"
#include "health.pb-c.h"
#include "proving.pb-c.h"
#include "reflection.pb-c.h"
#include "service/grpc_common.h"
#include "service/wire_text.h"

static const ProtobufCMessageDescriptor *const types[] = {
    &cuzk__v1__submit_proof_request__descriptor,         &cuzk__v1__prove_request__descriptor,
    &cuzk__v1__await_proof_request__descriptor,          &cuzk__v1__get_timeline_request__descriptor,
    &cuzk__v1__preload_srs_request__descriptor,          &cuzk__v1__get_status_response__descriptor,
    &grpc__health__v1__health_check_request__descriptor, &grpc__reflection__v1__server_reflection_request__descriptor,
};

static uint8_t *pack(const ProtobufCMessage *m, size_t *len) {
    *len = protobuf_c_message_get_packed_size(m);
    uint8_t *out = malloc(*len + 1);
    if (out == NULL) abort();
    fuzz_require(protobuf_c_message_pack(m, out) == *len, "a message is as long as it says");
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    const ProtobufCMessageDescriptor *type = types[data[0] % (sizeof types / sizeof types[0])];
    bool too_many = false;
    ProtobufCMessage *m = wire_unpack(type, data + 1, size - 1, &too_many);
    fuzz_require(m == NULL || !too_many, "within the budget or refused");
    size_t at = 0;
    const char *field = wire_text_cut(type, data + 1, size - 1, &at);
    fuzz_require(field == NULL || (at < size && memchr(data + 1, 0, size - 1) != NULL), "a NUL is there");
    if (m == NULL) return 0;
    // What was understood, written and read again, is the same. protobuf-c keeps fields it does not know, takes an
    // overlong tag of field 0 for one, and writes it as what it would refuse.
    size_t len, len_again;
    uint8_t *bytes = pack(m, &len);
    protobuf_c_message_free_unpacked(m, NULL);
    m = wire_unpack(type, bytes, len, &too_many);
    if (m != NULL) {
        uint8_t *again = pack(m, &len_again);
        fuzz_require(len == len_again && memcmp(bytes, again, len) == 0, "packed once or twice, the same");
        protobuf_c_message_free_unpacked(m, NULL);
        free(again);
    }
    free(bytes);
    return 0;
}
