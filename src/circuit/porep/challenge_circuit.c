// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Follows storage-proofs-porep 19.1 (stacked/circuit/params.rs, create_label.rs, column.rs, hash.rs).
#include "circuit/porep/challenge_circuit.h"

#include "gadget/merkle.h"
#include "gadget/poseidon.h"
#include "gadget/sha256.h"

enum { PARENTS = POREP_BASE_PARENTS + POREP_EXP_PARENTS };

// The labels of one node, in wires.
typedef struct column {
    num rows[POREP_MAX_LAYERS];
} column;

static merkle_shape tree_d(const porep_shape *p) {
    return (merkle_shape){.hash = MERKLE_SHA256, .base_arity = 2, .base_steps = p->tree_d_steps};
}

static merkle_shape tree_r(const porep_shape *p) {
    return (merkle_shape){MERKLE_POSEIDON, p->base_arity, p->base_steps, p->sub_arity, p->top_arity};
}

// The path as the gadget wants it. A path of another shape fails the system.
static void inclusion(cs *s, const char *scope, int64_t index, const merkle_shape *m, const num *leaf,
                      const merkle_path *path, const num *root) {
    merkle_values steps[POREP_MAX_PATH];
    const uint32_t n = merkle_shape_steps(m);
    if (n > POREP_MAX_PATH) {
        cs_fail(s, CUZK_ERR_USAGE, "circuit: a Merkle path of %u steps (at most %d)", n, POREP_MAX_PATH);
        return;
    }
    if (path != NULL) {
        if (path->n_steps != n) {
            cs_fail(s, CUZK_ERR_INPUT, "circuit: %s: a Merkle path has %u steps, expected %u", scope, path->n_steps, n);
            return;
        }
        for (uint32_t i = 0; i < n; i++) {
            const merkle_step *step = &path->steps[i];
            const uint32_t arity = merkle_shape_arity(m, i);
            if (step->n_siblings + 1 != arity || step->index >= arity) {
                cs_fail(s, CUZK_ERR_INPUT,
                        "circuit: %s: step %u of a Merkle path has %u siblings and place %u, expected arity %u", scope,
                        i, step->n_siblings, step->index, arity);
                return;
            }
            steps[i] = (merkle_values){step->index, step->siblings};
        }
    }
    cs_enter(s, scope, index);
    merkle_enforce_inclusion(s, m, leaf, path != NULL ? steps : NULL, root);
    cs_leave(s);
}

// Labels of a parent, their hash, and its place in tree C.
static void parent_column(cs *s, column *out, const porep_common *common, const char *const scopes[3], uint32_t i,
                          const porep_column *values) {
    const porep_shape *p = common->shape;
    const merkle_shape m = tree_r(p);
    cs_enter(s, scopes[0], i);
    for (uint32_t r = 0; r < p->layers; r++) out->rows[r] = num_alloc(s, values != NULL ? &values->rows[r] : NULL);
    cs_leave(s);
    cs_enter(s, scopes[1], i);
    const num hash = poseidon_gadget(s, out->rows, p->layers);
    cs_leave(s);
    inclusion(s, scopes[2], i, &m, &hash, values != NULL ? &values->path : NULL, &common->comm_c);
}

// 255 bits of a label as SHA-256 reads them, padded to 32 bytes.
static void label_bits(cs *s, boolean out[256], const char *scope, uint32_t i, const num *label) {
    boolean bits[FR_BITS];
    cs_enter(s, scope, i);
    num_to_bits(s, bits, label);
    cs_leave(s);
    boolean_reverse_bytes(out, bits, FR_BITS);
}

// The label of the challenged node in a layer (from 1): SHA-256 of replica id, layer, node and 37 parents, the few
// there are repeated in turn; 254 bits of it.
static num create_label(cs *s, const porep_common *common, uint32_t layer, const boolean node[64],
                        const boolean (*parents)[256], uint32_t n_parents) {
    sha256_gadget h;
    boolean second[256], digest[256], bits[256];
    for (uint32_t i = 0; i < 32; i++) second[i] = boolean_constant((layer >> (31 - i) & 1) != 0);
    for (uint32_t i = 0; i < 64; i++) second[32 + i] = node[63 - i];
    for (uint32_t i = 96; i < 256; i++) second[i] = boolean_constant(false);
    cs_enter(s, "create_label", -1);
    cs_enter(s, "hash", -1);
    sha256_gadget_begin(&h, s);
    sha256_gadget_put(&h, common->replica_id, 256);
    sha256_gadget_put(&h, second, 256);
    for (uint32_t i = 0; i < POREP_LABEL_PARENTS; i++) sha256_gadget_put(&h, parents[i % n_parents], 256);
    sha256_gadget_end(&h, digest);
    cs_leave(s);
    boolean_reverse_bytes(bits, digest, 256);
    cs_enter(s, "result_num", -1);
    const num label = num_pack_bits(s, bits, FR_CAPACITY);
    cs_leave(s);
    cs_leave(s);
    return label;
}

static num labeling(cs *s, const porep_common *common, uint32_t layer, const boolean node[64],
                    const column drg[POREP_BASE_PARENTS], const column exp[POREP_EXP_PARENTS]) {
    boolean parents[PARENTS][256];
    uint32_t n = 0;
    cs_enter(s, "labeling_%u", layer);
    for (uint32_t i = 0; i < POREP_BASE_PARENTS; i++, n++) {
        label_bits(s, parents[n], "drg_parent_%u_bits", n, &drg[i].rows[layer - 1]);
    }
    // Expander parents are labels of the layer before; the first layer has none.
    for (uint32_t i = 0; i < POREP_EXP_PARENTS && layer > 1; i++, n++) {
        label_bits(s, parents[n], "exp_parent_%u_bits", n, &exp[i].rows[layer - 2]);
    }
    const num label = create_label(s, common, layer, node, (const boolean(*)[256])parents, n);
    cs_leave(s);
    return label;
}

// The challenged node's number as a public input; returns its bits.
static void challenge_input(cs *s, boolean node[64], uint64_t value) {
    cs_enter(s, "challenge", -1);
    for (uint32_t i = 0; i < 64; i++) {
        cs_enter(s, "allocated bit %u", i);
        node[i] = boolean_alloc(s, (value >> i & 1) != 0);
        cs_leave(s);
    }
    cs_leave(s);
    cs_enter(s, "challenge input", -1);
    num_pack_into_inputs(s, node, 64);
    cs_leave(s);
}

void porep_challenge_synthesize(cs *s, const porep_common *common, const porep_challenge *v) {
    static const char *const drg_scopes[3] = {"drg_parent_%u_num", "drg_parent_%u_constraint",
                                              "drg_parent_%u_inclusion"};
    static const char *const exp_scopes[3] = {"exp_parent_%u_num", "exp_parent_%u_constraint",
                                              "exp_parent_%u_inclusion"};
    const porep_shape *p = common->shape;
    const merkle_shape d = tree_d(p), r = tree_r(p);

    // The data node is in tree D.
    const num data = num_alloc(s, v != NULL ? &v->comm_d.leaf : NULL);
    inclusion(s, "comm_d_inclusion", -1, &d, &data, v != NULL ? &v->comm_d : NULL, &common->comm_d);

    // The labels of its parents are in tree C.
    column drg[POREP_BASE_PARENTS], exp[POREP_EXP_PARENTS];
    for (uint32_t i = 0; i < POREP_BASE_PARENTS; i++) {
        parent_column(s, &drg[i], common, drg_scopes, i, v != NULL ? &v->drg_parents[i] : NULL);
    }
    for (uint32_t i = 0; i < POREP_EXP_PARENTS; i++) {
        parent_column(s, &exp[i], common, exp_scopes, i, v != NULL ? &v->exp_parents[i] : NULL);
    }

    // Its own labels follow from them, layer by layer.
    boolean node[64];
    num labels[POREP_MAX_LAYERS];
    challenge_input(s, node, v != NULL ? v->labelings[0].node : 0);
    for (uint32_t layer = 1; layer <= p->layers && s->status == CUZK_OK; layer++) {
        labels[layer - 1] = labeling(s, common, layer, node, drg, exp);
    }
    if (s->status != CUZK_OK) return;

    // Data plus the last label is in tree R.
    cs_enter(s, "encode_node", -1);
    const num encoded = num_encode(s, &labels[p->layers - 1], &data);
    cs_leave(s);
    inclusion(s, "comm_r_last_data_inclusion", -1, &r, &encoded, v != NULL ? &v->comm_r_last : NULL,
              &common->comm_r_last);

    // The labels are in tree C.
    cs_enter(s, "c_x_column_hash", -1);
    const num hash = poseidon_gadget(s, labels, p->layers);
    cs_leave(s);
    inclusion(s, "c_x_inclusion", -1, &r, &hash, v != NULL ? &v->c_x.path : NULL, &common->comm_c);
}
