// SPDX-License-Identifier: MIT OR Apache-2.0
#include "hash/blake2b.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"

static const uint64_t IV[8] = {UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b), UINT64_C(0x3c6ef372fe94f82b),
                               UINT64_C(0xa54ff53a5f1d36f1), UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
                               UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179)};

static const uint8_t SIGMA[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static inline uint64_t rotr(uint64_t x, unsigned n) { return x >> n | x << (64 - n); }

static inline void quarter(uint64_t *v, size_t a, size_t b, size_t c, size_t d, uint64_t x, uint64_t y) {
    v[a] += v[b] + x, v[d] = rotr(v[d] ^ v[a], 32);
    v[c] += v[d], v[b] = rotr(v[b] ^ v[c], 24);
    v[a] += v[b] + y, v[d] = rotr(v[d] ^ v[a], 16);
    v[c] += v[d], v[b] = rotr(v[b] ^ v[c], 63);
}

// total: bytes hashed so far, this block included. Inputs stay far below 2^64, so the counter's high word is zero.
static void compress(uint64_t h[8], const uint8_t block[128], uint64_t total, int last) {
    uint64_t m[16], v[16];
    for (size_t i = 0; i < 16; i++) m[i] = load_le64(block + 8 * i);
    for (size_t i = 0; i < 8; i++) v[i] = h[i], v[i + 8] = IV[i];
    v[12] ^= total;
    if (last) v[14] = ~v[14];
    for (size_t r = 0; r < 12; r++) {
        const uint8_t *s = SIGMA[r % 10];
        for (size_t i = 0; i < 4; i++) quarter(v, i, i + 4, i + 8, i + 12, m[s[2 * i]], m[s[2 * i + 1]]);
        for (size_t i = 0; i < 4; i++)
            quarter(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
    }
    for (size_t i = 0; i < 8; i++) h[i] ^= v[i] ^ v[i + 8];
}

void blake2b(uint8_t *out, size_t out_len, const void *key, size_t key_len, const void *data, size_t len) {
    assert(out_len >= 1 && out_len <= 64 && key_len <= 64);
    const uint8_t *p = data;
    uint8_t block[128] = {0};
    uint64_t h[8], total = 0;
    memcpy(h, IV, sizeof h);
    h[0] ^= UINT64_C(0x01010000) ^ (uint64_t)key_len << 8 ^ out_len;
    if (key_len != 0) {
        memcpy(block, key, key_len);
        total = 128;
        compress(h, block, total, len == 0);
        memset(block, 0, sizeof block);
    }
    for (; len > 128; p += 128, len -= 128) compress(h, p, total += 128, 0);
    if (len != 0 || key_len == 0) {
        if (len != 0) memcpy(block, p, len);
        compress(h, block, total + len, 1);
    }
    uint8_t full[64];
    for (size_t i = 0; i < 8; i++) store_le64(full + 8 * i, h[i]);
    memcpy(out, full, out_len);
}
