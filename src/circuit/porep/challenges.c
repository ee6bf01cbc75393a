// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Which nodes a partition is asked about. Facts: storage-proofs-porep (stacked/vanilla/challenges.rs), FIP-0059
// (synthetic) and FIP-0090 (non-interactive).
#include <string.h>

#include "base/bytes.h"
#include "circuit/porep/public_inputs.h"
#include "hash/blake2b.h"
#include "hash/chacha.h"
#include "hash/sha256.h"

// 256 bits, little-endian, to a node in [1, nodes): node 0 is never challenged.
static uint64_t to_node(const uint8_t bytes[32], uint64_t nodes) {
    uint64_t rest = 0;
    for (size_t i = 8; i-- > 0;) rest = (rest << 32 | load_le32(bytes + 4 * i)) % (nodes - 1); // nodes <= 2^31
    return rest + 1;
}

// One hash a challenge: SHA-256(prefix ‖ index of the challenge in the whole proof).
static void hashed(uint64_t *out, const porep_shape *shape, const sha256 *prefix, uint32_t first) {
    for (uint32_t i = 0; i < shape->challenges; i++) {
        sha256 h = *prefix;
        uint8_t j[4], digest[32];
        store_le32(j, first + i);
        sha256_update(&h, j, 4);
        sha256_final(digest, &h);
        out[i] = to_node(digest, shape->nodes);
    }
}

enum { SYNTHETIC_SET = 1 << 18 };

static void synthetic_key(uint8_t key[32], const char *tag, const uint8_t a[32], const uint8_t b[32]) {
    uint8_t both[64];
    memcpy(both, a, 32);
    memcpy(both + 32, b, 32);
    blake2b(key, 32, tag, strlen(tag), both, sizeof both);
}

// The seed selects, with repetitions, from a set that was fixed at sealing time. Both are ChaCha20 key streams: the set
// takes 32 bytes an element, the selection 4 bytes an index.
static void synthetic(uint64_t *out, const porep_shape *shape, const uint8_t replica_id[32], const uint8_t comm_r[32],
                      const uint8_t seed[32], uint32_t first) {
    static const uint8_t nonce[12] = {'s', 'y', 'n', 't', 'h', '-', 'p', 'o', 'r', 'e', 'p', 0};
    const uint32_t set = shape->nodes < SYNTHETIC_SET ? (uint32_t)shape->nodes : SYNTHETIC_SET;
    uint8_t generate[32], select[32], block[64];
    synthetic_key(generate, "filecoin.io|PoRep|1|Synthetic|1|Generation", replica_id, comm_r);
    synthetic_key(select, "filecoin.io|PoRep|1|Synthetic|1|Selection", replica_id, seed);
    for (uint32_t i = 0; i < shape->challenges; i++) {
        uint32_t word = first + i;
        chacha_block(block, select, word / 16, nonce, 20);
        uint32_t index = load_le32(block + 4 * (word % 16)) % set;
        chacha_block(block, generate, index / 2, nonce, 20);
        out[i] = to_node(block + 32 * (index % 2), shape->nodes);
    }
}

void porep_challenges(uint64_t *out, const porep_shape *shape, const porep_statement *st, uint32_t k) {
    const uint32_t first = shape->challenges * k;
    uint8_t replica_id[32], comm_r[32];
    fr_to_le_bytes(replica_id, &st->replica_id);
    fr_to_le_bytes(comm_r, &st->comm_r);
    sha256 prefix;
    sha256_init(&prefix);
    switch (shape->kind) {
    case POREP_INTERACTIVE:
        sha256_update(&prefix, replica_id, 32);
        sha256_update(&prefix, st->seed, 32);
        hashed(out, shape, &prefix, first);
        break;
    case POREP_SYNTHETIC: synthetic(out, shape, replica_id, comm_r, st->seed, first); break;
    case POREP_NON_INTERACTIVE: {
        static const char tag[] = "filecoin.io|PoRep|1|NonInteractive|1";
        sha256_update(&prefix, tag, sizeof tag - 1);
        sha256_update(&prefix, replica_id, 32);
        sha256_update(&prefix, comm_r, 32);
        hashed(out, shape, &prefix, first);
        break;
    }
    }
}
