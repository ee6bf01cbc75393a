// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Poseidon over Fr with the parameters of Filecoin (x^5, 8 full rounds, strength 128), arities 2, 4, 8 and 11, domain
// tag 2^arity - 1 (Merkle trees). docs/maths/poseidon.md derives the constants and the sparse form.
#ifndef CUZK_HASH_POSEIDON_H
#define CUZK_HASH_POSEIDON_H

#include "base/status.h"
#include "field/fr.h"

enum { POSEIDON_MAX_WIDTH = 12, POSEIDON_FULL_ROUNDS = 8, POSEIDON_MAX_PARTIAL_ROUNDS = 57 };

// A row of a sparse MDS factor: the dense first column and row, identity elsewhere. With t = width:
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
    // The optimised form, used by hash and gadget alike: constants moved through the linear layer (full rounds take
    // `width` of them, partial rounds one), the pre-sparse matrix of the last full round before the partial ones, and
    // one sparse factor a partial round.
    uint32_t n_compressed;
    fr compressed_constants[POSEIDON_FULL_ROUNDS * POSEIDON_MAX_WIDTH + POSEIDON_MAX_PARTIAL_ROUNDS +
                            POSEIDON_MAX_WIDTH];
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
