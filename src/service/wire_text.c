// SPDX-License-Identifier: MIT OR Apache-2.0
#include "service/wire_text.h"

#include <stdbool.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 };

typedef struct cursor {
    const uint8_t *at, *end;
} cursor;

static bool varint(cursor *c, uint64_t *out) {
    *out = 0;
    for (unsigned shift = 0; shift < 64 && c->at < c->end; shift += 7) {
        const uint8_t b = *c->at++;
        *out |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) return true;
    }
    return false;
}

// The next field; of one with a length also where its bytes begin and how many there are, else NULL. False at the end.
static bool next_field(cursor *c, uint32_t *number, const uint8_t **bytes, size_t *len) {
    uint64_t key, n = 0;
    *bytes = NULL;
    if (!varint(c, &key)) return false;
    *number = (uint32_t)(key >> 3);
    switch (key & 7) {
    case VARINT: return varint(c, &n);
    case FIXED64: n = 8; break;
    case FIXED32: n = 4; break;
    case LENGTH:
        if (!varint(c, &n)) return false;
        *bytes = c->at;
        break;
    default: return false;
    }
    if (n > (size_t)(c->end - c->at)) return false;
    *len = (size_t)n;
    c->at += n;
    return true;
}

// Calls itself for messages inside; the types have no cycles.
const char *wire_text_cut(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t len, size_t *at) {
    cursor c = {bytes, bytes + len};
    uint32_t number;
    const uint8_t *value;
    size_t n;
    while (len > 0 && next_field(&c, &number, &value, &n)) {
        const ProtobufCFieldDescriptor *f =
            value != NULL ? protobuf_c_message_descriptor_get_field(type, number) : NULL;
        if (f == NULL || n == 0) continue;
        if (f->type == PROTOBUF_C_TYPE_STRING) {
            const uint8_t *nul = memchr(value, 0, n);
            if (nul == NULL) continue;
            if (at != NULL) *at = (size_t)(nul - value);
            return f->name;
        }
        const char *inside = f->type == PROTOBUF_C_TYPE_MESSAGE ? wire_text_cut(f->descriptor, value, n, at) : NULL;
        if (inside != NULL) return inside;
    }
    return NULL;
}
