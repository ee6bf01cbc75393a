// SPDX-License-Identifier: MIT OR Apache-2.0
#include "hash/chacha.h"

#include <stddef.h>
#include <string.h>

#include "base/bytes.h"

static inline uint32_t rotl(uint32_t x, unsigned n) { return x << n | x >> (32 - n); }

static inline void quarter(uint32_t *x, size_t a, size_t b, size_t c, size_t d) {
    x[a] += x[b], x[d] = rotl(x[d] ^ x[a], 16);
    x[c] += x[d], x[b] = rotl(x[b] ^ x[c], 12);
    x[a] += x[b], x[d] = rotl(x[d] ^ x[a], 8);
    x[c] += x[d], x[b] = rotl(x[b] ^ x[c], 7);
}

void chacha_block(uint8_t out[64], const uint8_t key[32], uint32_t counter, const uint8_t nonce[12], unsigned rounds) {
    uint32_t in[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, x[16]; // "expand 32-byte k"
    for (size_t i = 0; i < 8; i++) in[4 + i] = load_le32(key + 4 * i);
    in[12] = counter;
    for (size_t i = 0; i < 3; i++) in[13 + i] = load_le32(nonce + 4 * i);
    memcpy(x, in, sizeof x);
    for (unsigned r = 0; r < rounds; r += 2) {
        for (size_t i = 0; i < 4; i++) quarter(x, i, 4 + i, 8 + i, 12 + i);
        for (size_t i = 0; i < 4; i++) quarter(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
    }
    for (size_t i = 0; i < 16; i++) store_le32(out + 4 * i, x[i] + in[i]);
}
