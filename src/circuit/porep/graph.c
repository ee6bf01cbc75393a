// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The stacked depth-robust graph: bucket sampling inside a layer (Alwen, Blocki, Harsha 2017) and a Feistel-permuted
// expander between layers (Chung's construction). Facts: storage-proofs-core (drgraph.rs, crypto/feistel.rs) and
// storage-proofs-porep (stacked/vanilla/graph.rs).
#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "circuit/porep/public_inputs.h"
#include "hash/blake2b.h"
#include "hash/chacha.h"
#include "hash/sha256.h"

static void domain_seed(uint8_t out[32], const char *tag, const uint8_t porep_id[32]) {
    sha256 h;
    sha256_init(&h);
    sha256_update(&h, tag, strlen(tag));
    sha256_update(&h, porep_id, 32);
    sha256_final(out, &h);
}

// ceil(log2(x)) for x >= 2. The official code takes it in floating point, which is exact here: x < 2^54.
static uint64_t ceil_log2(uint64_t x) {
    uint64_t log = 0;
    for (x--; x != 0; x >>= 1) log++;
    return log;
}

void porep_drg_parents(uint64_t out[POREP_BASE_PARENTS], const porep_shape *shape, uint64_t node) {
    assert(node < shape->nodes);
    enum { SAMPLED = POREP_BASE_PARENTS - 1, WORDS = 2 * SAMPLED };
    if (node < 2) {
        for (size_t i = 0; i < POREP_BASE_PARENTS; i++) out[i] = 0;
        return;
    }
    uint8_t seed[32], stream[128];
    static const uint8_t nonce[12] = {0};
    domain_seed(seed, "Filecoin_DRSample", shape->porep_id);
    store_le32(seed + 28, (uint32_t)node);
    chacha_block(stream, seed, 0, nonce, 8);
    chacha_block(stream + 64, seed, 1, nonce, 8);

    // Each node is SAMPLED nodes of the metagraph. A parent is drawn by choosing a bucket [2^(b-1), 2^b] of distances
    // and then a distance in it. The predecessor was last in API 1.0 and is first since, so that hashing cannot start
    // early.
    const bool old = shape->api == POREP_API_1_0;
    uint64_t *sampled = old ? out : out + 1;
    const uint64_t meta = node * SAMPLED, buckets = ceil_log2(meta);
    for (size_t i = 0; i < SAMPLED; i++) {
        uint64_t bucket = load_le64(stream + 16 * i) % buckets + 1;
        uint64_t largest = UINT64_C(1) << bucket < meta ? UINT64_C(1) << bucket : meta;
        uint64_t smallest = largest >> 1 > 2 ? largest >> 1 : 2;
        uint64_t distance = smallest + load_le64(stream + 16 * i + 8) % (largest - smallest + 1);
        uint64_t parent = (meta - distance) / SAMPLED;
        sampled[i] = parent == node ? node - 1 : parent;
    }
    out[old ? SAMPLED : 0] = node - 1;
}

// Three Feistel rounds on 2 * half bits; the round function is BLAKE2b of the right half and the round key, both
// big-endian, cut to its first eight bytes.
static uint64_t feistel(uint64_t index, const uint64_t keys[4], unsigned half) {
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    uint64_t left = index >> half & mask, right = index & mask;
    for (size_t r = 0; r < 3; r++) {
        uint8_t data[16], digest[64];
        store_be64(data, right);
        store_be64(data + 8, keys[r]);
        blake2b(digest, sizeof digest, NULL, 0, data, sizeof data);
        uint64_t next = left ^ (load_be64(digest) & mask);
        left = right;
        right = next;
    }
    return left << half | right;
}

void porep_exp_parents(uint64_t out[POREP_EXP_PARENTS], const porep_shape *shape, uint64_t node) {
    assert(node < shape->nodes);
    uint8_t seed[32];
    domain_seed(seed, "Filecoin_Feistel", shape->porep_id);
    uint64_t keys[4];
    for (size_t i = 0; i < 4; i++) keys[i] = load_le64(seed + 8 * i);
    // A permutation of all (node, parent) pairs: walk the permutation of the next power of four until it lands inside.
    const uint64_t elements = shape->nodes * POREP_EXP_PARENTS;
    unsigned half = 1;
    while (UINT64_C(1) << 2 * half < elements) half++;
    for (size_t i = 0; i < POREP_EXP_PARENTS; i++) {
        uint64_t x = node * POREP_EXP_PARENTS + i;
        do x = feistel(x, keys, half);
        while (x >= elements);
        // API 1.0 cut the number to 32 bits before the division, which keeps parents in the lower part of large
        // sectors.
        if (shape->api == POREP_API_1_0) x = (uint32_t)x;
        out[i] = x / POREP_EXP_PARENTS;
    }
}
