// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_GROTH16_VERIFY_H
#define CUZK_GROTH16_VERIFY_H

#include "groth16/key.h"

// inputs: the public inputs without the constant one, n = vk->n_ic - 1 of them (else CUZK_ERR_MISMATCH).
// CUZK_OK when e(a, b) = e(alpha, beta) e(ic, gamma) e(c, delta); CUZK_ERR_INVALID otherwise.
CUZK_MUST_USE cuzk_status groth16_verify(const groth16_vk *vk, const groth16_proof *proof, const fr *inputs, uint32_t n,
                                         cuzk_error *err);

#endif
