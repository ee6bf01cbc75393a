// SPDX-License-Identifier: MIT OR Apache-2.0
#include "groth16/verify.h"

#include "curve/pairing.h"
#include "msm/msm.h"

cuzk_status groth16_verify(const groth16_vk *vk, const groth16_proof *proof, const fr *inputs, uint32_t n,
                           cuzk_error *err) {
    // n + 1 would wrap for n = 2^32 - 1.
    if (vk->n_ic == 0 || n != vk->n_ic - 1)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "the verifying key takes %u public inputs, %u were given",
                         vk->n_ic == 0 ? 0 : vk->n_ic - 1, n);
    // The pairing counts infinity as one; no honest proof has it, and a forged one must not slip through on it.
    if (g1_affine_is_infinity(&proof->a) || g2_affine_is_infinity(&proof->b) || g1_affine_is_infinity(&proof->c))
        return cuzk_fail(err, CUZK_ERR_INVALID, "the proof holds the point at infinity");

    g1_jac sum;
    cuzk_status status = msm_g1(&sum, vk->ic + 1, inputs, n, 0, err);
    if (status != CUZK_OK) return status;
    g1_jac_add_affine(&sum, &sum, &vk->ic[0]);

    // e(-a, b) e(alpha, beta) e(ic, gamma) e(c, delta) = 1: one Miller loop, one final exponentiation.
    g1_affine p[4] = {{.x = {{0}}}, vk->alpha_g1, {.x = {{0}}}, proof->c};
    const g2_affine q[4] = {proof->b, vk->beta_g2, vk->gamma_g2, vk->delta_g2};
    g1_affine_neg(&p[0], &proof->a);
    g1_jac_to_affine(&p[2], &sum);
    if (!pairing_product_is_one(p, q, 4))
        return cuzk_fail(err, CUZK_ERR_INVALID, "the proof does not verify against this key and these public inputs");
    return CUZK_OK;
}
