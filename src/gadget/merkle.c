// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gadget/merkle.h"

#include "gadget/ports.h"
#include "gadget/poseidon.h"
#include "gadget/sha256.h"

static uint32_t log2_of(uint32_t arity) { return arity == 8 ? 3 : arity == 4 ? 2 : arity == 2 ? 1 : 0; }

uint32_t merkle_shape_steps(const merkle_shape *m) { return m->base_steps + (m->sub_arity > 0) + (m->top_arity > 0); }

uint32_t merkle_shape_bits(const merkle_shape *m) {
    return m->base_steps * log2_of(m->base_arity) + log2_of(m->sub_arity) + log2_of(m->top_arity);
}

uint32_t merkle_shape_arity(const merkle_shape *m, uint32_t i) {
    if (i < m->base_steps) return m->base_arity;
    return i == m->base_steps && m->sub_arity > 0 ? m->sub_arity : m->top_arity;
}

num merkle_sha256_pair(cs *s, const num pair[2]) {
    sha256_gadget h;
    boolean bits[FR_BITS], message[512], digest[256], result[256];
    for (uint32_t i = 0; i < 2; i++) {
        cs_enter(s, "%u_num_into_bits", i);
        num_to_bits(s, bits, &pair[i]);
        cs_leave(s);
        boolean_reverse_bytes(message + 256 * i, bits, FR_BITS);
    }
    cs_enter(s, "hash", -1);
    sha256_gadget_digest(&h, s, digest, message, 512);
    cs_leave(s);
    boolean_reverse_bytes(result, digest, 256);
    cs_enter(s, "pack_le", -1);
    const num r = num_pack_bits(s, result, FR_CAPACITY);
    cs_leave(s);
    return r;
}

// One step up: index bits, siblings, the node put in its place among them, and their hash.
static num step_gadget(cs *s, merkle_hash hash, uint32_t arity, const num *node, const merkle_values *v,
                       boolean *bits) {
    const uint32_t n_bits = log2_of(arity);
    for (uint32_t i = 0; i < n_bits; i++) {
        cs_enter(s, "index bit %u", i);
        bits[i] = boolean_alloc(s, v != NULL && (v->index >> i & 1) != 0);
        cs_leave(s);
    }
    num siblings[7], all[8];
    for (uint32_t i = 0; i + 1 < arity; i++) siblings[i] = num_alloc(s, v != NULL ? &v->siblings[i] : NULL);
    num_insert(s, all, node, bits, n_bits, siblings);
    if (s->status != CUZK_OK) return *node;
    cs_enter(s, "computation of commitment hash", -1);
    const num r = hash == MERKLE_SHA256 ? merkle_sha256_pair(s, all) : poseidon_gadget(s, all, arity);
    cs_leave(s);
    return r;
}

static num step(cs *s, merkle_hash hash, uint32_t arity, const num *node, const merkle_values *v, boolean *bits) {
    if (!cs_has_templates(s)) return step_gadget(s, hash, arity, node, v, bits);
    const uint32_t n_bits = log2_of(arity);
    port in = port_of_num(node), out[1 + 3];
    const template_call call = {
        hash == MERKLE_SHA256 ? "Merkle step of SHA-256" : "Merkle step of Poseidon", arity, 1, 1 + n_bits, &in, out};
    if (cs_template_begin(s, &call)) {
        for (uint32_t i = 0; i < n_bits; i++) bits[i] = boolean_of_port(out[1 + i]);
        return num_of_port(out[0]);
    }
    const num r = step_gadget(s, hash, arity, node, v, bits);
    out[0] = port_of_num(&r);
    for (uint32_t i = 0; i < n_bits; i++) out[1 + i] = port_of_boolean(bits[i]);
    cs_template_end(s, &call);
    return r;
}

void merkle_enforce_inclusion(cs *s, const merkle_shape *m, const num *leaf, const merkle_values *steps,
                              const num *root) {
    static const char *const scopes[3] = {"base", "sub", "top"};
    const uint32_t counts[3] = {m->base_steps, m->sub_arity > 0, m->top_arity > 0};
    const uint32_t arities[3] = {m->base_arity, m->sub_arity, m->top_arity};
    boolean bits[MERKLE_MAX_BITS];
    uint32_t n_bits = 0, at = 0;
    if (merkle_shape_bits(m) > MERKLE_MAX_BITS || (s->has_values && steps == NULL)) {
        cs_fail(s, CUZK_ERR_USAGE, "circuit: a Merkle path of %u bits, or one without values", merkle_shape_bits(m));
        return;
    }
    num node = *leaf;
    for (uint32_t part = 0; part < 3; part++) {
        cs_enter(s, scopes[part], -1);
        for (uint32_t i = 0; i < counts[part]; i++, at++) {
            const uint32_t arity = arities[part];
            if (log2_of(arity) == 0 || (m->hash == MERKLE_SHA256 && arity != 2)) {
                cs_fail(s, CUZK_ERR_USAGE, "circuit: no Merkle tree of arity %u with that hash", arity);
                return;
            }
            cs_enter(s, "merkle tree hash %u", i);
            node = step(s, m->hash, arity, &node, s->has_values ? &steps[at] : NULL, bits + n_bits);
            cs_leave(s);
            n_bits += log2_of(arity);
        }
        cs_leave(s);
    }
    cs_enter(s, "path", -1);
    num_pack_into_inputs(s, bits, n_bits);
    cs_leave(s);
    num_enforce_equal(s, "enforce root is correct", &node, root);
}
