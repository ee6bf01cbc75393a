// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Byte order, hexadecimal, base64 and randomness.
#ifndef CUZK_BASE_BYTES_H
#define CUZK_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

static inline uint32_t load_be32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}
static inline void store_be32(uint8_t *p, uint32_t v) {
    p[0] = (uint8_t)(v >> 24), p[1] = (uint8_t)(v >> 16), p[2] = (uint8_t)(v >> 8), p[3] = (uint8_t)v;
}
static inline uint64_t load_be64(const uint8_t *p) { return (uint64_t)load_be32(p) << 32 | load_be32(p + 4); }
static inline void store_be64(uint8_t *p, uint64_t v) {
    store_be32(p, (uint32_t)(v >> 32));
    store_be32(p + 4, (uint32_t)v);
}
static inline uint32_t load_le32(const uint8_t *p) {
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline void store_le32(uint8_t *p, uint32_t v) {
    p[0] = (uint8_t)v, p[1] = (uint8_t)(v >> 8), p[2] = (uint8_t)(v >> 16), p[3] = (uint8_t)(v >> 24);
}
static inline uint64_t load_le64(const uint8_t *p) { return load_le32(p) | (uint64_t)load_le32(p + 4) << 32; }
static inline void store_le64(uint8_t *p, uint64_t v) {
    store_le32(p, (uint32_t)v);
    store_le32(p + 4, (uint32_t)(v >> 32));
}

// Lower-case hex of len bytes and a NUL: out holds 2 * len + 1 characters.
void hex_encode(char *out, const uint8_t *data, size_t len);
// Exactly 2 * len hex digits (either case), nothing else; false otherwise.
bool hex_decode(uint8_t *out, size_t len, const char *text, size_t text_len);

// Standard alphabet with padding, strict: no white space, no missing padding, no stray bits. out holds
// base64_decoded_max(len) bytes. On failure *bad_at is the offset of the first offending character.
size_t base64_decoded_max(size_t len);
bool base64_decode(uint8_t *out, size_t *out_len, size_t *bad_at, const char *text, size_t len);
// Padded; out holds base64_encoded_max(len) characters, which counts the NUL.
static inline size_t base64_encoded_max(size_t len) { return (len + 2) / 3 * 4 + 1; }
void base64_encode(char *out, const uint8_t *data, size_t len);

// Fills data from the operating system's generator (getrandom); CUZK_ERR_IO if it refuses.
CUZK_MUST_USE cuzk_status random_bytes(void *data, size_t len, cuzk_error *err);

#endif
