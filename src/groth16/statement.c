// SPDX-License-Identifier: MIT OR Apache-2.0
#include "groth16/statement.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "groth16/verify.h"

cuzk_status groth16_check_inputs(const groth16_assignment *a, const fr *inputs, uint32_t n, cuzk_error *err) {
    uint32_t found = 0;
    const fr *got = groth16_assignment_inputs(a, &found);
    if (found != n + 1)
        return cuzk_fail(err, CUZK_ERR_INTERNAL, "the circuit has %" PRIu32 " public inputs, the statement %" PRIu32,
                         found, n + 1);
    for (uint32_t i = 0; i < n; i++)
        if (!fr_eq(&got[i + 1], &inputs[i])) {
            uint8_t g[32], w[32];
            char gt[65], wt[65];
            fr_to_le_bytes(g, &got[i + 1]);
            fr_to_le_bytes(w, &inputs[i]);
            hex_encode(gt, g, sizeof g);
            hex_encode(wt, w, sizeof w);
            return cuzk_fail(err, CUZK_ERR_INPUT, "public input %" PRIu32 ": the circuit has %s, the statement %s", i,
                             gt, wt);
        }
    return CUZK_OK;
}

cuzk_status groth16_verify_bytes(const groth16_vk *vk, const uint8_t bytes[GROTH16_PROOF_BYTES], const fr *inputs,
                                 uint32_t n, cuzk_error *err) {
    groth16_proof proof;
    cuzk_status s = groth16_proof_decode(&proof, bytes, err);
    return s != CUZK_OK ? s : groth16_verify(vk, &proof, inputs, n, err);
}
