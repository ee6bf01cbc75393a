// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fuzz.h"
#include "groth16/key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t in[GROTH16_PROOF_BYTES] = {0}, again[GROTH16_PROOF_BYTES];
    memcpy(in, data, size < sizeof in ? size : sizeof in);
    groth16_proof proof;
    cuzk_error err = {.status = CUZK_OK};
    cuzk_status st = groth16_proof_decode(&proof, in, &err);
    if (st != CUZK_OK) {
        fuzz_require_error(st, &err);
        return 0;
    }
    groth16_proof_encode(again, &proof);
    fuzz_require(memcmp(again, in, sizeof in) == 0, "one encoding a proof");
    return 0;
}
