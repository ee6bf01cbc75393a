// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One partition, from circuit to verified proof bytes. Knows nothing of any particular circuit.
#ifndef CUZK_API_PARTITION_H
#define CUZK_API_PARTITION_H

#include "groth16/prove.h"

enum { PARTITION_ATTEMPTS = 3 }; // the first and two more

typedef struct partition_job {
    circuit c; // with its input bound
    // The circuit's program: the witness is packed. NULL: the reference way.
    const groth16_program *by;
    uint32_t index; // names the partition in errors, and numbers the test blinding
    const fr *inputs;
    uint32_t n_inputs;         // public inputs as the verifier derives them, without the constant one
    const char *test_blinding; // NULL: random
    // Tests damage a proof here, before it is verified; NULL otherwise.
    void (*tamper)(void *ctx, groth16_proof *proof, unsigned attempt);
    void *tamper_ctx;
} partition_job;

// Synthesises, proves, encodes, and verifies the encoded bytes against job->inputs. A proof that does not verify is
// made again, PARTITION_ATTEMPTS times in all; *retries grows by the attempts that failed. CUZK_ERR_INTERNAL when none
// verifies, CUZK_ERR_INPUT when the synthesised public inputs are not job->inputs (the challenges answered are not
// those of the seed). `out` is untouched on failure.
CUZK_MUST_USE cuzk_status partition_prove(uint8_t out[GROTH16_PROOF_BYTES], unsigned *retries, const partition_job *job,
                                          const groth16_pk *pk, const groth16_vk *vk, pool *p, const observer *o,
                                          cuzk_error *err);

#endif
