// SPDX-License-Identifier: MIT OR Apache-2.0
//
// From an assignment to a proof (Groth 2016, section 3.2, in the form bellman gave it):
//
//   A = alpha + sum w_i a_i + r delta                 B = beta + sum w_i b_i + s delta          (in G2, and in G1)
//   C = sum h_i H_i + sum_aux w_i l_i + s A + r B1'   with B1' = beta + sum w_i b_i  in G1
//
// s A contains r s delta, so r B1' must not: B in G1 is taken without its s delta. The group elements are those of
// bellperson whatever the order of summation, so the bytes agree too.
#include "base/mem.h"
#include "groth16/assignment.h"
#include "groth16/internal.h"
#include "groth16/packed.h"
#include "msm/msm.h"
#include "poly/domain.h"

static cuzk_status mismatch(const char *what, uint64_t key, uint64_t witness, cuzk_error *err) {
    return cuzk_fail(err, CUZK_ERR_MISMATCH, "the key is of another circuit: it has %llu %s, the circuit has %llu",
                     (unsigned long long)key, what, (unsigned long long)witness);
}

static uint64_t next_power_of_two(uint64_t n) {
    uint64_t size = 1;
    while (size < n) size *= 2;
    return size;
}

static cuzk_status check_key(const groth16_pk *pk, const groth16_assignment *w, cuzk_error *err) {
    const packed_witness *packed = w->packed;
    const program_densities plain = {w->a_aux, w->b_aux, w->b_inputs},
                            *d = packed != NULL ? program_density(w->by.rows) : &plain;
    const uint64_t inputs = packed != NULL ? packed->n_inputs : w->inputs.n,
                   aux = packed != NULL ? packed->n_aux : w->aux.n, domain = next_power_of_two(w->rows),
                   dense_a = inputs + bitmap_count(&d->a_aux),
                   dense_b = bitmap_count(&d->b_inputs) + bitmap_count(&d->b_aux);
    if (pk->vk.n_ic != inputs) return mismatch("inputs (with the constant one)", pk->vk.n_ic, inputs, err);
    if (pk->n_l != aux) return mismatch("aux wires", pk->n_l, aux, err);
    if ((uint64_t)pk->n_h + 1 != domain) return mismatch("points in the domain", (uint64_t)pk->n_h + 1, domain, err);
    if (pk->n_a != dense_a) return mismatch("wires in A", pk->n_a, dense_a, err);
    if (pk->n_b != dense_b) return mismatch("wires in B", pk->n_b, dense_b, err);
    if (g1_affine_is_infinity(&pk->vk.delta_g1) || g2_affine_is_infinity(&pk->vk.delta_g2))
        return cuzk_fail(err, CUZK_ERR_INPUT, "delta of the key is the point at infinity: its proofs hide nothing");
    return CUZK_OK;
}

// Pads an evaluation to the domain. After its last doubling a vector has the domain's size anyway, except when the
// circuit is tiny.
static cuzk_status pad(fr_vec *v, uint64_t size, pool *p, cuzk_error *err) {
    if (v->cap < size) {
        fr *bigger = mem_alloc(MEM_EVALUATION, size, sizeof(fr));
        if (bigger == 0)
            return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for %llu evaluations", (unsigned long long)size);
        memcpy(bigger, v->at, v->n * sizeof(fr));
        uint64_t n = v->n;
        fr_vec_wipe(v, p);
        *v = (fr_vec){bigger, n, size};
    }
    pool_zero(p, v->at + v->n, (size - v->n) * sizeof(fr));
    v->n = size;
    return CUZK_OK;
}

// a := coefficients of the quotient; b and c are gone. The domain's tables live only here.
static cuzk_status quotient(groth16_assignment *w, pool *p, cuzk_error *err) {
    ntt_domain *d = 0;
    cuzk_status status = ntt_domain_create(&d, w->rows, p, err);
    if (status != CUZK_OK) return status;
    uint64_t size = ntt_domain_size(d);
    status = pad(&w->a, size, p, err);
    if (status == CUZK_OK) status = pad(&w->b, size, p, err);
    if (status == CUZK_OK) status = pad(&w->c, size, p, err);
    if (status == CUZK_OK) ntt_quotient(d, w->a.at, w->b.at, w->c.at, p);
    ntt_domain_destroy(&d);
    fr_vec_wipe(&w->b, p);
    fr_vec_wipe(&w->c, p);
    return status;
}

// The values of dense wires in key order: inputs, then aux. `inputs` NULL takes all inputs. At most inputs + aux.
static cuzk_status gather(fr_vec *out, const groth16_assignment *w, const bitmap *inputs, const bitmap *aux, uint64_t n,
                          cuzk_error *err) {
    *out = (fr_vec){mem_alloc(MEM_WITNESS, n, sizeof(fr)), 0, n};
    if (out->at == 0) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for %llu scalars", (unsigned long long)n);
    for (uint64_t i = 0; i < w->inputs.n; i++)
        if (inputs == 0 || bitmap_get(inputs, i)) out->at[out->n++] = w->inputs.at[i];
    for (uint64_t i = 0; i < w->aux.n; i++)
        if (bitmap_get(aux, i)) out->at[out->n++] = w->aux.at[i];
    return CUZK_OK;
}

// With `consume`, the scalars are gone afterwards, if only by its end.
static cuzk_status stage_g1(g1_jac *out, const char *stage, const groth16_pk *pk, key_section section, fr_vec *scalars,
                            bool consume, size_t n, pool *p, const observer *o, cuzk_error *err) {
    if (observe_cancelled(o)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "proving was cancelled");
    key_points bases;
    cuzk_status status = key_points_get(&bases, pk, section, p, o, err);
    if (status != CUZK_OK) return status;
    observe_begin(o, stage);
    status = consume ? msm_g1_consume(out, bases.g1, &scalars->at, n, p, err)
                     : msm_g1(out, bases.g1, scalars->at, n, p, err);
    if (consume) *scalars = (fr_vec){0};
    observe_end(o, stage);
    key_points_put(&bases);
    return status;
}

static cuzk_status stage_g2(g2_jac *out, const char *stage, const groth16_pk *pk, const fr *scalars, size_t n, pool *p,
                            const observer *o, cuzk_error *err) {
    if (observe_cancelled(o)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "proving was cancelled");
    key_points bases;
    cuzk_status status = key_points_get(&bases, pk, KEY_B_G2, p, o, err);
    if (status != CUZK_OK) return status;
    observe_begin(o, stage);
    status = msm_g2(out, bases.g2, scalars, n, p, err);
    observe_end(o, stage);
    key_points_put(&bases);
    return status;
}

static cuzk_status make_sums(groth16_sums *out, const groth16_pk *pk, groth16_assignment *w, pool *p, const observer *o,
                             cuzk_error *err) {
    cuzk_status status = w->packed != NULL ? packed_evaluate(w, p, o, err) : CUZK_OK;
    if (status != CUZK_OK) return status;
    w->used = true;
    if (observe_cancelled(o)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "proving was cancelled");
    observe_begin(o, "ntt");
    status = quotient(w, p, err);
    observe_end(o, "ntt");
    if (status == CUZK_OK) status = stage_g1(&out->h, "msm_h", pk, KEY_H, &w->a, true, pk->n_h, p, o, err);
    fr_vec_wipe(&w->a, p);
    if (w->packed != NULL) return status == CUZK_OK ? packed_sums(out, pk, w, p, o, err) : status;
    if (status == CUZK_OK) status = stage_g1(&out->l, "msm_l", pk, KEY_L, &w->aux, false, pk->n_l, p, o, err);

    fr_vec dense = {0};
    if (status == CUZK_OK) status = gather(&dense, w, 0, &w->a_aux, pk->n_a, err);
    if (status == CUZK_OK) status = stage_g1(&out->a, "msm_a", pk, KEY_A, &dense, true, pk->n_a, p, o, err);
    fr_vec_wipe(&dense, p);
    if (status == CUZK_OK) status = gather(&dense, w, &w->b_inputs, &w->b_aux, pk->n_b, err);
    if (status == CUZK_OK) status = stage_g1(&out->b_g1, "msm_b_g1", pk, KEY_B_G1, &dense, false, pk->n_b, p, o, err);
    if (status == CUZK_OK) status = stage_g2(&out->b_g2, "msm_b_g2", pk, dense.at, pk->n_b, p, o, err);
    fr_vec_wipe(&dense, p);
    return status;
}

static void assemble(groth16_proof *out, const groth16_vk *vk, const groth16_sums *m,
                     const groth16_blinding *blinding) {
    g1_jac a, b1, c, t;
    g1_jac_from_affine(&t, &vk->delta_g1);
    g1_jac_mul(&a, &t, &blinding->r);
    g1_jac_add_affine(&a, &a, &vk->alpha_g1);
    g1_jac_add(&a, &a, &m->a);

    g2_jac b, t2;
    g2_jac_from_affine(&t2, &vk->delta_g2);
    g2_jac_mul(&b, &t2, &blinding->s);
    g2_jac_add_affine(&b, &b, &vk->beta_g2);
    g2_jac_add(&b, &b, &m->b_g2);

    g1_jac_add_affine(&b1, &m->b_g1, &vk->beta_g1);
    g1_jac_mul(&b1, &b1, &blinding->r);
    g1_jac_mul(&c, &a, &blinding->s);
    g1_jac_add(&c, &c, &b1);
    g1_jac_add(&c, &c, &m->h);
    g1_jac_add(&c, &c, &m->l);

    g1_jac_to_affine(&out->a, &a);
    g2_jac_to_affine(&out->b, &b);
    g1_jac_to_affine(&out->c, &c);
}

cuzk_status groth16_prove(groth16_proof *out, const groth16_pk *pk, groth16_assignment *a, const groth16_blinding *b,
                          pool *p, const observer *o, cuzk_error *err) {
    if (a->packed == 0 && a->used)
        return cuzk_fail(err, CUZK_ERR_USAGE, "this assignment has been proven before: synthesise it again");
    cuzk_status status = check_key(pk, a, err);
    if (status != CUZK_OK) return status;
    // Without the blinding, these open the witness: they are secrets as well.
    groth16_sums m;
    if (o != NULL) pool_watch(p, o->cancelled, o->ctx); // within the long sums, too
    // The scratch of the sums lies where the evaluations were, and so do points that are read for this proof.
    mem_keep_begin();
    status = make_sums(&m, pk, a, p, o, err);
    mem_keep_end();
    pool_watch(p, NULL, NULL);
    if (status == CUZK_OK) {
        observe_begin(o, "assemble");
        assemble(out, &pk->vk, &m, b);
        observe_end(o, "assemble");
    }
    secret_wipe(&m, sizeof m);
    return status;
}
