// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The public inputs in the circuit's order (storage-proofs-porep, stacked/circuit/proof.rs): replica id, comm_d,
// comm_r; then, for each challenge, the packed index bits of every Merkle path, which is the number of the path's leaf.
#include "circuit/porep/public_inputs.h"

enum { HEAD = 3, PER_CHALLENGE = 1 + POREP_BASE_PARENTS + POREP_EXP_PARENTS + 3 };

size_t porep_public_inputs_count(const porep_shape *shape) { return HEAD + (size_t)PER_CHALLENGE * shape->challenges; }

void porep_public_inputs(fr *out, const porep_shape *shape, const porep_statement *st, uint32_t k) {
    uint64_t nodes[POREP_MAX_CHALLENGES], parents[POREP_EXP_PARENTS];
    porep_challenges(nodes, shape, st, k);
    *out++ = st->replica_id;
    *out++ = st->comm_d;
    *out++ = st->comm_r;
    for (uint32_t c = 0; c < shape->challenges; c++) {
        fr_from_u64(out++, nodes[c]); // path in tree D
        porep_drg_parents(parents, shape, nodes[c]);
        for (size_t i = 0; i < POREP_BASE_PARENTS; i++) fr_from_u64(out++, parents[i]);
        porep_exp_parents(parents, shape, nodes[c]);
        for (size_t i = 0; i < POREP_EXP_PARENTS; i++) fr_from_u64(out++, parents[i]);
        fr_from_u64(out++, nodes[c]); // the challenge itself, hashed into the labels
        fr_from_u64(out++, nodes[c]); // path in tree R
        fr_from_u64(out++, nodes[c]); // path of its column in tree C
    }
}
