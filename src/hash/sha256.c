// SPDX-License-Identifier: MIT OR Apache-2.0
#include "hash/sha256.h"

#include <pthread.h>
#include <string.h>

#include "base/bytes.h"
#include "base/cpu.h"
#if defined(__x86_64__)
#include "hash/x86/sha256_shani.h"
#endif

const uint32_t SHA256_IV[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

const uint32_t SHA256_K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

typedef void compress_fn(uint32_t state[8], const uint8_t *blocks, size_t n);

static inline uint32_t rotr(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

void sha256_compress_portable(uint32_t state[8], const uint8_t *blocks, size_t n) {
    for (; n != 0; n--, blocks += 64) {
        uint32_t w[64];
        for (size_t i = 0; i < 16; i++) w[i] = load_be32(blocks + 4 * i);
        for (size_t i = 16; i < 64; i++) {
            uint32_t a = w[i - 15], b = w[i - 2];
            uint32_t s0 = rotr(a, 7) ^ rotr(a, 18) ^ a >> 3, s1 = rotr(b, 17) ^ rotr(b, 19) ^ b >> 10;
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (size_t i = 0; i < 64; i++) {
            uint32_t t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + SHA256_K[i] + w[i];
            uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
    }
}

static compress_fn *best = sha256_compress_portable;
static pthread_once_t best_once = PTHREAD_ONCE_INIT;

// The two blocks of FIPS 180-4's example "abcdbcdecdef...nopq", padded; both in one call, so that the chaining between
// blocks is exercised too.
static bool knows_the_answer(compress_fn *f) {
    static const char message[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    static const uint32_t digest[8] = {0x248d6a61, 0xd20638b8, 0xe5c02693, 0x0c3e6039,
                                       0xa33ce459, 0x64ff2167, 0xf6ecedd4, 0x19db06c1};
    uint8_t blocks[128] = {0};
    memcpy(blocks, message, 56);
    blocks[56] = 0x80;
    store_be64(blocks + 120, 56 * 8);
    uint32_t state[8];
    memcpy(state, SHA256_IV, sizeof state);
    f(state, blocks, 2);
    return memcmp(state, digest, sizeof state) == 0;
}

static void choose(void) {
#if defined(__x86_64__)
    if (cpu_has_sha() && knows_the_answer(sha256_compress_shani)) best = sha256_compress_shani;
#endif
}

void sha256_compress(uint32_t state[8], const uint8_t *blocks, size_t n) {
    pthread_once(&best_once, choose);
    best(state, blocks, n);
}

void sha256_init(sha256 *h) {
    memcpy(h->state, SHA256_IV, sizeof h->state);
    h->len = 0;
}

void sha256_update(sha256 *h, const void *data, size_t len) {
    const uint8_t *p = data;
    size_t used = h->len % 64;
    h->len += len;
    if (used != 0) {
        size_t n = 64 - used < len ? 64 - used : len;
        memcpy(h->block + used, p, n);
        p += n, len -= n;
        if (used + n < 64) return;
        sha256_compress(h->state, h->block, 1);
    }
    if (len >= 64) {
        sha256_compress(h->state, p, len / 64);
        p += len / 64 * 64, len %= 64;
    }
    if (len != 0) memcpy(h->block, p, len);
}

void sha256_final(uint8_t digest[32], sha256 *h) {
    size_t used = h->len % 64;
    h->block[used++] = 0x80;
    if (used > 56) {
        memset(h->block + used, 0, 64 - used);
        sha256_compress(h->state, h->block, 1);
        used = 0;
    }
    memset(h->block + used, 0, 56 - used);
    store_be64(h->block + 56, h->len * 8);
    sha256_compress(h->state, h->block, 1);
    for (size_t i = 0; i < 8; i++) store_be32(digest + 4 * i, h->state[i]);
}

void sha256_digest(uint8_t digest[32], const void *data, size_t len) {
    sha256 h;
    sha256_init(&h);
    sha256_update(&h, data, len);
    sha256_final(digest, &h);
}
