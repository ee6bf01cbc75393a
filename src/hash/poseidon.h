// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Poseidon over Fr with the parameters of Filecoin (x^5, 8 full rounds, strength 128), arities 2, 4, 8 and 11, domain
// tag 2^arity - 1 (Merkle trees). docs/maths/poseidon.md derives the constants and the sparse form.
#ifndef CUZK_HASH_POSEIDON_H
#define CUZK_HASH_POSEIDON_H

#include "base/status.h"
#include "field/fr.h"

enum { POSEIDON_MAX_WIDTH = 12, POSEIDON_FULL_ROUNDS = 8, POSEIDON_MAX_PARTIAL_ROUNDS = 57 };

// A sparse MDS factor: dense first column and row, identity elsewhere. With t = width and in[] read before out[]:
// out[0] = sum_j column[j] * in[j];  out[j] = row[j-1] * in[0] + in[j] for j >= 1.
typedef struct poseidon_sparse {
    fr column[POSEIDON_MAX_WIDTH];
    fr row[POSEIDON_MAX_WIDTH - 1];
} poseidon_sparse;

typedef struct poseidon_params {
    uint32_t arity;          // inputs
    uint32_t width;          // arity + 1
    uint32_t partial_rounds; // 55, 56, 57, 57
    fr domain_tag;
    // The textbook form: round_constants[round * width + i], mds[i][j] = 1/(i + width + j), symmetric.
    fr round_constants[(POSEIDON_FULL_ROUNDS + POSEIDON_MAX_PARTIAL_ROUNDS) * POSEIDON_MAX_WIDTH];
    fr mds[POSEIDON_MAX_WIDTH][POSEIDON_MAX_WIDTH];
    // The optimised form, used by hash and gadget alike. Constants are moved through the linear layers until each is
    // added right after an S-box; all but the first full layer of them. compressed_constants is consumed in order:
    //   width                  before the very first S-box layer (coordinate i gets constant i, here and below)
    //   4 x width              after the S-boxes of the full rounds 0..3
    //   partial_rounds         after the one S-box (coordinate 0) of each partial round
    //   3 x width              after the S-boxes of the full rounds 4..6; full round 7, the last, adds nothing
    // n_compressed = 8 * width + partial_rounds in all. The linear layer that follows those additions is mds in full
    // rounds 0..2 and 4..7, pre_sparse in full round 3, and sparse[k] in partial round k = 0, 1, ... in running order.
    // Matrices act on row vectors: out[j] = sum_i in[i] * m[i][j]. The digest is coordinate 1 of the final state.
    uint32_t n_compressed;
    fr compressed_constants[POSEIDON_FULL_ROUNDS * POSEIDON_MAX_WIDTH + POSEIDON_MAX_PARTIAL_ROUNDS];
    fr pre_sparse[POSEIDON_MAX_WIDTH][POSEIDON_MAX_WIDTH];
    poseidon_sparse sparse[POSEIDON_MAX_PARTIAL_ROUNDS];
} poseidon_params;

// Parameters for arity 2, 4, 8 or 11; NULL for any other. Computed from first principles (Grain LFSR) on first use,
// thread-safe, valid for the life of the process.
const poseidon_params *poseidon_params_for(uint32_t arity);

// out := H(in[0 .. arity-1]).
void poseidon_hash(fr *out, const fr *in, const poseidon_params *params);
// The textbook form, for tests.
void poseidon_hash_reference(fr *out, const fr *in, const poseidon_params *params);

#endif
