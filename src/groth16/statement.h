// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A partition against its statement: before it is proven, and before its proof is handed out.
#ifndef CUZK_GROTH16_STATEMENT_H
#define CUZK_GROTH16_STATEMENT_H

#include "groth16/prove.h"

// The circuit packs its public inputs itself; the verifier derives them from the statement alone. A proof for inputs
// that differ could never be accepted, so no time is spent on it. `inputs`: the statement's, without the constant one.
// CUZK_ERR_INPUT names the first that differs, CUZK_ERR_INTERNAL both numbers if there are more or fewer.
CUZK_MUST_USE cuzk_status groth16_check_inputs(const groth16_assignment *a, const fr *inputs, uint32_t n,
                                               cuzk_error *err);

// The bytes that would be handed out are what is verified, through the strict decoder. CUZK_ERR_FORMAT or _INVALID.
CUZK_MUST_USE cuzk_status groth16_verify_bytes(const groth16_vk *vk, const uint8_t proof[GROTH16_PROOF_BYTES],
                                               const fr *inputs, uint32_t n, cuzk_error *err);

#endif
