// SPDX-License-Identifier: MIT OR Apache-2.0
//
// BLAKE2b (RFC 7693), one-shot, optionally keyed. Filecoin's graph and its synthetic challenges use it.
#ifndef CUZK_HASH_BLAKE2B_H
#define CUZK_HASH_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

// out_len 1 .. 64 bytes; key_len 0 .. 64 (0: no key, key may be NULL).
void blake2b(uint8_t *out, size_t out_len, const void *key, size_t key_len, const void *data, size_t len);

#endif
