// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Follows storage-proofs-porep 19.1 (stacked/circuit/proof.rs).
#include "circuit/porep/circuit.h"

#include "circuit/porep/challenge_circuit.h"
#include "gadget/poseidon.h"

// The partition to prove, or NULL with the system failed.
static const porep_partition *bound_partition(cs *s, const porep_circuit *c) {
    const porep_input *in = c->input;
    if (in == NULL || c->partition >= in->n_partitions || in->partitions[c->partition].challenges == NULL) {
        cs_fail(s, CUZK_ERR_USAGE, "porep circuit: no input for partition %u (the input has %u)", c->partition,
                in == NULL ? 0 : in->n_partitions);
        return NULL;
    }
    if (in->shape.sector_size != c->shape.sector_size || in->shape.challenges < c->shape.challenges ||
        in->shape.layers != c->shape.layers) {
        cs_fail(s, CUZK_ERR_MISMATCH, "porep circuit: the input is for sectors of %llu bytes, the circuit for %llu",
                (unsigned long long)in->shape.sector_size, (unsigned long long)c->shape.sector_size);
        return NULL;
    }
    return &in->partitions[c->partition];
}

static void synthesize(const void *self, cs *s) {
    const porep_circuit *c = self;
    const porep_shape *p = &c->shape;
    const porep_partition *partition = NULL;
    if (s->has_values && (partition = bound_partition(s, c)) == NULL) return;
    if (p->layers == 0 || p->layers > POREP_MAX_LAYERS) {
        cs_fail(s, CUZK_ERR_USAGE, "porep circuit: %u layers (1 to %d)", p->layers, POREP_MAX_LAYERS);
        return;
    }
    const porep_challenge *v = partition != NULL ? partition->challenges : NULL;

    porep_common common = {.shape = p};
    boolean bits[FR_BITS];
    const num replica_id = num_alloc(s, v != NULL ? &c->input->replica_id : NULL);
    cs_enter(s, "replica_id_input", -1);
    num_inputize(s, &replica_id);
    cs_leave(s);
    cs_enter(s, "replica_id_bits", -1);
    num_to_bits(s, bits, &replica_id);
    cs_leave(s);
    boolean_reverse_bytes(common.replica_id, bits, FR_BITS);

    common.comm_d = num_alloc(s, v != NULL ? &c->input->comm_d : NULL);
    cs_enter(s, "comm_d_input", -1);
    num_inputize(s, &common.comm_d);
    cs_leave(s);
    const num comm_r = num_alloc(s, v != NULL ? &c->input->comm_r : NULL);
    cs_enter(s, "comm_r_input", -1);
    num_inputize(s, &comm_r);
    cs_leave(s);

    // The first challenge says what the roots of trees R and C are; the others are held to the same wires.
    common.comm_r_last = num_alloc(s, v != NULL ? &v[0].comm_r_last.root : NULL);
    common.comm_c = num_alloc(s, v != NULL ? &v[0].c_x.path.root : NULL);
    cs_enter(s, "H_comm_c_comm_r_last", -1);
    const num hash = poseidon_gadget(s, (const num[2]){common.comm_c, common.comm_r_last}, 2);
    cs_leave(s);
    num_enforce_equal(s, "enforce comm_r = H(comm_c || comm_r_last)", &comm_r, &hash);

    for (uint32_t i = 0; i < p->challenges && s->status == CUZK_OK; i++) {
        cs_enter(s, "challenge_%u", i);
        porep_challenge_synthesize(s, &common, v != NULL ? &v[i] : NULL);
        cs_leave(s);
    }
}

circuit porep_circuit_bind(const porep_circuit *self) { return (circuit){.synthesize = synthesize, .self = self}; }
