// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_HASH_X86_SHA256_SHANI_H
#define CUZK_HASH_X86_SHA256_SHANI_H

#include <stddef.h>
#include <stdint.h>

// sha256_compress with the SHA extensions. Only call where cpu_has_sha() holds.
void sha256_compress_shani(uint32_t state[8], const uint8_t *blocks, size_t n);

#endif
