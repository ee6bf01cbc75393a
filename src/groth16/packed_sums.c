// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A query of the key has a point for each dense wire, inputs first. What a witness sums up to is the sum of the points
// of bits that are set, and a small multi-exponentiation over the inputs and the field elements. No bit becomes a
// scalar.
#include "base/mem.h"
#include "groth16/internal.h"
#include "groth16/packed.h"
#include "msm/msm.h"

// The scalars of one query.
typedef struct query {
    size_t skip;      // inputs in front of the aux wires
    uint64_t *bits;   // of the dense aux wires, by their place behind the inputs
    size_t n;         // dense aux wires
    uint32_t *places; // in the query, of inputs and field elements
    fr *scalars;      // their values
    size_t n_scalars;
} query;

static void query_destroy(query *q) {
    mem_free_secret(q->bits);
    mem_free(q->places);
    mem_free_secret(q->scalars);
    *q = (query){0};
}

// Appends the bits of x under the mask to a bit vector of n bits.
static inline void append(uint64_t *out, size_t n, uint64_t x, uint64_t mask) {
    uint64_t packed = x;
    if (mask != ~UINT64_C(0)) {
        packed = 0;
        for (uint32_t k = 0; mask != 0; mask &= mask - 1) packed |= (x >> __builtin_ctzll(mask) & 1) << k++;
    }
    out[n >> 6] |= packed << (n & 63);
    if ((n & 63) != 0) out[(n >> 6) + 1] |= packed >> (64 - (n & 63));
}

static void take_scalar(query *q, size_t place, const fr *value) {
    q->places[q->n_scalars] = (uint32_t)place;
    q->scalars[q->n_scalars++] = *value;
}

// `aux` says which wires are dense; NULL: all.
static void fill(query *q, const packed_witness *w, const bitmap *aux) {
    const uint64_t words = packed_words(w), tail = w->n_aux & 63;
    uint64_t field = 0;
    for (uint64_t i = 0; i < words; i++) {
        const uint64_t there = i + 1 == words && tail != 0 ? (UINT64_C(1) << tail) - 1 : ~UINT64_C(0);
        const uint64_t dense = aux == 0 ? there : aux->words[i] & there, fields = w->field_mask[i] & there;
        append(q->bits, q->n, w->bits[i], dense);
        for (uint64_t m = fields; m != 0; m &= m - 1, field++) {
            const uint64_t bit = m & -m;
            if ((dense & bit) == 0) continue;
            const size_t place = q->n + (size_t)__builtin_popcountll(dense & (bit - 1));
            take_scalar(q, q->skip + place, &w->fields[field]);
        }
        q->n += (size_t)__builtin_popcountll(dense);
    }
}

// Inputs: all, or those of a bitmap, or none. At most n_aux of the aux wires are dense.
static cuzk_status query_init(query *q, const packed_witness *w, const bitmap *inputs, bool all_inputs,
                              const bitmap *aux, uint64_t n_aux, cuzk_error *err) {
    *q = (query){0};
    q->bits = mem_calloc(MEM_WITNESS, n_aux / 64 + 3, sizeof *q->bits);
    q->places = mem_alloc(MEM_WITNESS, (size_t)w->n_inputs + w->n_fields, sizeof *q->places);
    q->scalars = mem_alloc(MEM_WITNESS, (size_t)w->n_inputs + w->n_fields, sizeof *q->scalars);
    if (q->bits == 0 || q->places == 0 || q->scalars == 0) {
        query_destroy(q);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the scalars of %llu wires", (unsigned long long)n_aux);
    }
    for (uint32_t i = 0; i < w->n_inputs; i++)
        if (all_inputs || (inputs != 0 && bitmap_get(inputs, i))) take_scalar(q, q->skip++, &w->inputs[i]);
    fill(q, w, aux);
    return CUZK_OK;
}

static cuzk_status sum_g1(g1_jac *out, const char *stage, const query *q, const groth16_pk *pk, key_section section,
                          pool *p, const observer *o, cuzk_error *err) {
    if (observe_cancelled(o)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "proving was cancelled");
    key_points bases;
    cuzk_status s = key_points_get(&bases, pk, section, p, o, err);
    if (s != CUZK_OK) return s;
    observe_begin(o, stage);
    g1_jac bits, rest;
    g1_affine *points = mem_alloc(MEM_MSM, q->n_scalars, sizeof *points);
    if (points == 0) s = cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for %zu points", q->n_scalars);
    for (size_t i = 0; s == CUZK_OK && i < q->n_scalars; i++) points[i] = bases.g1[q->places[i]];
    if (s == CUZK_OK) s = msm_g1_sum_bits(&bits, bases.g1 + q->skip, q->bits, q->n, p, err);
    if (s == CUZK_OK) s = msm_g1(&rest, points, q->scalars, q->n_scalars, p, err);
    if (s == CUZK_OK) g1_jac_add(out, &bits, &rest);
    mem_free(points);
    observe_end(o, stage);
    key_points_put(&bases);
    return s;
}

static cuzk_status sum_g2(g2_jac *out, const char *stage, const query *q, const groth16_pk *pk, pool *p,
                          const observer *o, cuzk_error *err) {
    if (observe_cancelled(o)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "proving was cancelled");
    key_points bases;
    cuzk_status s = key_points_get(&bases, pk, KEY_B_G2, p, o, err);
    if (s != CUZK_OK) return s;
    observe_begin(o, stage);
    g2_jac bits, rest;
    g2_affine *points = mem_alloc(MEM_MSM, q->n_scalars, sizeof *points);
    if (points == 0) s = cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for %zu points", q->n_scalars);
    for (size_t i = 0; s == CUZK_OK && i < q->n_scalars; i++) points[i] = bases.g2[q->places[i]];
    if (s == CUZK_OK) s = msm_g2_sum_bits(&bits, bases.g2 + q->skip, q->bits, q->n, p, err);
    if (s == CUZK_OK) s = msm_g2(&rest, points, q->scalars, q->n_scalars, p, err);
    if (s == CUZK_OK) g2_jac_add(out, &bits, &rest);
    mem_free(points);
    observe_end(o, stage);
    key_points_put(&bases);
    return s;
}

cuzk_status packed_sums(groth16_sums *out, const groth16_pk *pk, const groth16_assignment *w, pool *p,
                        const observer *o, cuzk_error *err) {
    const program_densities *d = program_density(w->by.rows);
    query q;
    cuzk_status s = query_init(&q, w->packed, 0, false, 0, pk->n_l, err);
    if (s == CUZK_OK) s = sum_g1(&out->l, "msm_l", &q, pk, KEY_L, p, o, err);
    query_destroy(&q);
    if (s == CUZK_OK) s = query_init(&q, w->packed, 0, true, &d->a_aux, pk->n_a, err);
    if (s == CUZK_OK) s = sum_g1(&out->a, "msm_a", &q, pk, KEY_A, p, o, err);
    query_destroy(&q);
    if (s == CUZK_OK) s = query_init(&q, w->packed, &d->b_inputs, false, &d->b_aux, pk->n_b, err);
    if (s == CUZK_OK) s = sum_g1(&out->b_g1, "msm_b_g1", &q, pk, KEY_B_G1, p, o, err);
    if (s == CUZK_OK) s = sum_g2(&out->b_g2, "msm_b_g2", &q, pk, p, o, err);
    query_destroy(&q);
    return s;
}
