// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every statement of the PoRep circuit, checked natively. The official verifier of vanilla proofs
// (storage-proofs-porep, stacked/vanilla) checks fewer: it takes the path of the data node and the parents' labels on
// trust and leaves them to the circuit. Here they are named before a circuit is built.
#include "vanilla/porep_check.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "circuit/porep/public_inputs.h"
#include "hash/poseidon.h"
#include "hash/sha256.h"

// A fault and its place, such as "partition 0, challenge 3, layer 2, parent 14". Each caller puts its part in front.
typedef struct fault {
    cuzk_error error;
    char place[96];
} fault;

static cuzk_status CUZK_PRINTF(3, 4) fault_in(fault *f, cuzk_status status, const char *fmt, ...) {
    char place[2 * sizeof f->place + 4];
    va_list args;
    va_start(args, fmt);
    vsnprintf(place, sizeof f->place, fmt, args);
    va_end(args);
    size_t n = strlen(place);
    if (f->place[0] != 0) n += (size_t)snprintf(place + n, sizeof place - n, ", %s", f->place);
    if (n >= sizeof f->place) n = sizeof f->place - 1;
    memcpy(f->place, place, n);
    f->place[n] = 0;
    return status;
}

// What one task shares with the others. Tasks are challenges in file order.
typedef struct run {
    const porep_input *in;
    porep_statement statement;
    uint8_t replica_id[32];
    const poseidon_params *column; // arity = layers
    const poseidon_params *pair;   // comm_r
    atomic_size_t first_fault;     // lowest faulty task so far; SIZE_MAX: none
    pthread_mutex_t lock;          // protects fault
    fault fault;                   // of task first_fault
} run;

typedef char hex_text[65];

static const char *hex_of(hex_text out, const fr *v) {
    uint8_t bytes[32];
    fr_to_le_bytes(bytes, v);
    hex_encode(out, bytes, 32);
    return out;
}

// "what is <a>, other is <b>" if the two differ.
static cuzk_status expect_fr(fault *f, const fr *found, const fr *expected, const char *what, const char *other) {
    if (fr_eq(found, expected)) return CUZK_OK;
    hex_text a, b;
    return cuzk_fail(&f->error, CUZK_ERR_INPUT, "%s is %s, %s is %s", what, hex_of(a, found), other,
                     hex_of(b, expected));
}

static cuzk_status expect_u64(fault *f, uint64_t found, uint64_t expected, const char *what, const char *other) {
    if (found == expected) return CUZK_OK;
    return cuzk_fail(&f->error, CUZK_ERR_INPUT, "%s is %llu, %s is %llu", what, (unsigned long long)found, other,
                     (unsigned long long)expected);
}

// Two nodes of tree D to their parent: SHA-256 cut to 254 bits.
static void hash_pair_254(fr *out, const fr in[2]) {
    uint8_t block[64], digest[32];
    fr_to_le_bytes(block, &in[0]);
    fr_to_le_bytes(block + 32, &in[1]);
    sha256_digest(digest, block, sizeof block);
    digest[31] &= 0x3f;
    (void)fr_from_le_bytes(out, digest); // 254 bits: always below r
}

// Arity of step s of a path in trees C and R, 0 past the end.
static uint32_t step_arity(const porep_shape *shape, uint32_t s) {
    if (s < shape->base_steps) return shape->base_arity;
    s -= shape->base_steps;
    if (s == 0) return shape->sub_arity;
    return s == 1 && shape->sub_arity != 0 ? shape->top_arity : 0;
}

// The path leads from leaf `node` to the root it claims. binary: tree D.
static cuzk_status check_path(fault *f, const porep_shape *shape, const merkle_path *path, bool binary, uint64_t node,
                              const char *node_is) {
    uint32_t steps = shape->tree_d_steps;
    if (!binary) {
        steps = shape->base_steps;
        while (step_arity(shape, steps) != 0) steps++;
    }
    if (path->n_steps != steps)
        return cuzk_fail(&f->error, CUZK_ERR_INPUT, "path has %u steps, expected %u", path->n_steps, steps);
    uint64_t index = 0, weight = 1;
    for (uint32_t s = 0; s < steps; s++) {
        const merkle_step *step = &path->steps[s];
        uint32_t arity = binary ? 2 : step_arity(shape, s);
        if (step->n_siblings + 1 != arity || step->index >= arity)
            return cuzk_fail(&f->error, CUZK_ERR_INPUT, "step %u has %u siblings and index %u, expected %u siblings", s,
                             step->n_siblings, step->index, arity - 1);
        index += weight * step->index;
        weight *= arity;
    }
    cuzk_status st = expect_u64(f, index, node, "leaf number by the path's indices", node_is);
    if (st != CUZK_OK) return st;
    fr current = path->leaf;
    for (uint32_t s = 0; s < steps; s++) {
        const merkle_step *step = &path->steps[s];
        fr nodes[8];
        for (uint32_t i = 0, sibling = 0; i <= step->n_siblings; i++)
            nodes[i] = i == step->index ? current : step->siblings[sibling++];
        if (binary)
            hash_pair_254(&current, nodes);
        else
            poseidon_hash(&current, nodes, poseidon_params_for(step->n_siblings + 1));
    }
    return expect_fr(f, &path->root, &current, "root", "root computed from leaf and siblings");
}

// A column opens to its own hash at its own place in tree C.
static cuzk_status check_column(const run *r, fault *f, const porep_column *c, uint64_t node, const char *node_is) {
    cuzk_status st = expect_u64(f, c->node, node, "node", node_is);
    if (st != CUZK_OK) return st;
    fr hash;
    poseidon_hash(&hash, c->rows, r->column);
    if ((st = expect_fr(f, &c->path.leaf, &hash, "leaf", "hash of the column's rows")) != CUZK_OK) return st;
    return check_path(f, &r->in->shape, &c->path, false, node, node_is);
}

static cuzk_status check_parents(const run *r, fault *f, const porep_column *columns, size_t n, const uint64_t *nodes,
                                 const fr *comm_c, const char *kind) {
    for (size_t i = 0; i < n; i++) {
        cuzk_status st = check_column(r, f, &columns[i], nodes[i], "the graph's parent");
        if (st == CUZK_OK) st = expect_fr(f, &columns[i].path.root, comm_c, "root", "the root of c_x");
        if (st != CUZK_OK) return fault_in(f, st, "%s parent %zu", kind, i);
    }
    return CUZK_OK;
}

// Layer, node and parents of a labeling: DRG parents in the same layer, then expander parents in the layer before
// (none in the first layer), repeated until there are 37.
static cuzk_status check_preimage(fault *f, const porep_challenge *c, const porep_labeling *l, uint32_t layer,
                                  uint64_t node) {
    cuzk_status st = expect_u64(f, l->layer, layer, "layer", "expected");
    if (st == CUZK_OK) st = expect_u64(f, l->node, node, "node", "the challenge");
    if (st != CUZK_OK) return st;
    const uint32_t period = layer == 1 ? POREP_BASE_PARENTS : POREP_BASE_PARENTS + POREP_EXP_PARENTS;
    for (uint32_t p = 0; p < POREP_LABEL_PARENTS; p++) {
        uint32_t i = p % period;
        const fr *row = i < POREP_BASE_PARENTS ? &c->drg_parents[i].rows[layer - 1]
                                               : &c->exp_parents[i - POREP_BASE_PARENTS].rows[layer - 2];
        if ((st = expect_fr(f, &l->parents[p], row, "label", "the parent's column row")) != CUZK_OK)
            return fault_in(f, st, "parent %u", p);
    }
    return CUZK_OK;
}

// SHA-256(replica id ‖ layer ‖ node ‖ zeros to 64 bytes ‖ 37 parents), cut to 254 bits.
static void label_of(fr *out, const uint8_t replica_id[32], const porep_labeling *l) {
    uint8_t text[64 + 32 * POREP_LABEL_PARENTS] = {0}, digest[32];
    memcpy(text, replica_id, 32);
    store_be32(text + 32, l->layer);
    store_be64(text + 36, l->node);
    for (size_t p = 0; p < POREP_LABEL_PARENTS; p++) fr_to_le_bytes(text + 64 + 32 * p, &l->parents[p]);
    sha256_digest(digest, text, sizeof text);
    digest[31] &= 0x3f;
    (void)fr_from_le_bytes(out, digest);
}

static cuzk_status check_labels(const run *r, fault *f, const porep_challenge *c, uint64_t node) {
    const uint32_t layers = r->in->shape.layers;
    for (uint32_t layer = 1; layer <= layers; layer++) {
        const porep_labeling *l = &c->labelings[layer - 1];
        cuzk_status st = check_preimage(f, c, l, layer, node);
        if (st == CUZK_OK) {
            fr label;
            label_of(&label, r->replica_id, l);
            st = expect_fr(f, &c->c_x.rows[layer - 1], &label, "row of c_x", "label computed from the parents");
        }
        if (st != CUZK_OK) return fault_in(f, st, "layer %u", layer);
    }
    // The key that encodes the data node is the last label; the encoding proof repeats its preimage.
    cuzk_status st = check_preimage(f, c, &c->encoding, layers, node);
    if (st == CUZK_OK) {
        fr encoded;
        fr_add(&encoded, &c->comm_d.leaf, &c->c_x.rows[layers - 1]);
        st = expect_fr(f, &c->comm_r_last.leaf, &encoded, "leaf of comm_r_last", "data node plus key");
    }
    if (st != CUZK_OK) return fault_in(f, st, "encoding");
    return CUZK_OK;
}

static const char *challenge_source(porep_challenge_kind kind) {
    switch (kind) {
    case POREP_SYNTHETIC: return "the challenge derived from replica id, comm_r and seed";
    case POREP_NON_INTERACTIVE: return "the challenge derived from replica id and comm_r";
    default: return "the challenge derived from replica id and seed";
    }
}

static cuzk_status check_challenge(const run *r, fault *f, const porep_challenge *c, uint64_t node) {
    const porep_input *in = r->in;
    const porep_shape *shape = &in->shape;
    cuzk_status st = check_path(f, shape, &c->comm_d, true, node, challenge_source(shape->kind));
    if (st == CUZK_OK) st = expect_fr(f, &c->comm_d.root, &in->comm_d, "root", "comm_d");
    if (st != CUZK_OK) return fault_in(f, st, "data node in comm_d");

    st = check_path(f, shape, &c->comm_r_last, false, node, "the challenge");
    if (st != CUZK_OK) return fault_in(f, st, "sealed node in comm_r_last");

    st = check_column(r, f, &c->c_x, node, "the challenge");
    if (st != CUZK_OK) return fault_in(f, st, "column c_x");
    // Holds for every challenge, so all roots of one kind agree, whatever the partition.
    fr roots[2] = {c->c_x.path.root, c->comm_r_last.root}, comm_r;
    poseidon_hash(&comm_r, roots, r->pair);
    if ((st = expect_fr(f, &in->comm_r, &comm_r, "comm_r", "the hash of comm_c and comm_r_last")) != CUZK_OK) return st;

    uint64_t drg[POREP_BASE_PARENTS], exp[POREP_EXP_PARENTS];
    porep_drg_parents(drg, shape, node);
    porep_exp_parents(exp, shape, node);
    st = check_parents(r, f, c->drg_parents, POREP_BASE_PARENTS, drg, &roots[0], "drg");
    if (st == CUZK_OK) st = check_parents(r, f, c->exp_parents, POREP_EXP_PARENTS, exp, &roots[0], "exp");
    if (st == CUZK_OK) st = check_labels(r, f, c, node);
    return st;
}

static void task(void *ctx, size_t index, unsigned worker) {
    (void)worker;
    run *r = ctx;
    if (index > atomic_load(&r->first_fault)) return; // an earlier fault is known, this one would not be reported
    const porep_shape *shape = &r->in->shape;
    const uint32_t k = (uint32_t)(index / shape->challenges), i = (uint32_t)(index % shape->challenges);
    uint64_t nodes[POREP_MAX_CHALLENGES];
    porep_challenges(nodes, shape, &r->statement, k);
    fault f = {{CUZK_OK, ""}, ""};
    cuzk_status st = check_challenge(r, &f, &r->in->partitions[k].challenges[i], nodes[i]);
    if (st == CUZK_OK) return;
    (void)fault_in(&f, st, "partition %u, challenge %u", k, i);
    pthread_mutex_lock(&r->lock);
    if (index < atomic_load(&r->first_fault)) {
        atomic_store(&r->first_fault, index);
        r->fault = f;
    }
    pthread_mutex_unlock(&r->lock);
}

cuzk_status porep_check(const porep_input *in, pool *p, cuzk_error *err) {
    const porep_shape *shape = &in->shape;
    if (in->n_partitions == 0 || in->n_partitions > shape->partitions)
        return cuzk_fail(err, CUZK_ERR_INPUT, "found %u partitions, %s has %u", in->n_partitions, shape->proof_name,
                         shape->partitions);
    run r = {.in = in,
             .statement = {in->replica_id, in->comm_d, in->comm_r, {0}},
             .column = poseidon_params_for(shape->layers),
             .pair = poseidon_params_for(2),
             .first_fault = SIZE_MAX};
    if (r.column == NULL || shape->challenges == 0 || shape->challenges > POREP_MAX_CHALLENGES)
        return cuzk_fail(err, CUZK_ERR_INTERNAL, "no PoRep has %u layers and %u challenges", shape->layers,
                         shape->challenges);
    memcpy(r.statement.seed, in->seed, sizeof in->seed);
    fr_to_le_bytes(r.replica_id, &in->replica_id);
    pthread_mutex_init(&r.lock, NULL);
    pool_run(p, (size_t)in->n_partitions * shape->challenges, task, &r);
    pthread_mutex_destroy(&r.lock);
    if (atomic_load(&r.first_fault) == SIZE_MAX) return CUZK_OK;
    return cuzk_fail(err, r.fault.error.status, "%s: %s", r.fault.place, r.fault.error.text);
}
