// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_SERVICE_WIRE_TEXT_H
#define CUZK_SERVICE_WIRE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

// Strings of a message become C strings, which end at the first NUL: an id with one inside would be taken for another.
// The name of the first string field that has one, also in a message inside; NULL: none has. *at (may be NULL) is the
// byte of the string. The bytes must be such a message (protobuf-c unpacked them); of others it says nothing.
const char *wire_text_cut(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t len, size_t *at);

#endif
