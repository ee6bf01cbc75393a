// SPDX-License-Identifier: MIT OR Apache-2.0
//
// SHA-256 (FIPS 180-4), streaming and one-shot.
#ifndef CUZK_HASH_SHA256_H
#define CUZK_HASH_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct sha256 {
    uint32_t state[8];
    uint64_t len; // bytes so far
    uint8_t block[64];
} sha256;

extern const uint32_t SHA256_IV[8];
extern const uint32_t SHA256_K[64];

void sha256_init(sha256 *h);
void sha256_update(sha256 *h, const void *data, size_t len);
void sha256_final(uint8_t digest[32], sha256 *h); // h must be initialised again before more use
void sha256_digest(uint8_t digest[32], const void *data, size_t len);

// state := compress(state, block) for n blocks of 64 bytes, by the fastest kernel of this processor.
void sha256_compress(uint32_t state[8], const uint8_t *blocks, size_t n);
// The reference, always portable C.
void sha256_compress_portable(uint32_t state[8], const uint8_t *blocks, size_t n);

#endif
