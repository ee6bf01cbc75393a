// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/partition.h"

#include <inttypes.h>
#include <string.h>

#include "groth16/statement.h"

// One attempt; on success out holds the encoded proof, not yet verified.
static cuzk_status attempt(uint8_t out[GROTH16_PROOF_BYTES], const partition_job *job, unsigned number,
                           const groth16_pk *pk, pool *p, const observer *o, cuzk_error *err) {
    groth16_blinding b;
    if (job->test_blinding != NULL)
        groth16_blinding_from_label(&b, job->test_blinding, job->index);
    else {
        cuzk_status s = groth16_blinding_random(&b, err);
        if (s != CUZK_OK) return s;
    }
    groth16_assignment *a = NULL;
    groth16_proof proof;
    cuzk_status s = job->by != NULL ? groth16_synthesize_packed(&a, &job->c, job->by, o, err)
                                    : groth16_synthesize(&a, &job->c, o, err);
    if (s == CUZK_OK) s = groth16_check_inputs(a, job->inputs, job->n_inputs, err);
    if (s == CUZK_OK) s = groth16_prove(&proof, pk, a, &b, p, o, err);
    groth16_assignment_destroy(&a);
    groth16_blinding_wipe(&b);
    if (s != CUZK_OK) return s;
    if (job->tamper != NULL) job->tamper(job->tamper_ctx, &proof, number);
    groth16_proof_encode(out, &proof);
    return CUZK_OK;
}

cuzk_status partition_prove(uint8_t out[GROTH16_PROOF_BYTES], unsigned *retries, const partition_job *job,
                            const groth16_pk *pk, const groth16_vk *vk, pool *p, const observer *o, cuzk_error *err) {
    uint8_t bytes[GROTH16_PROOF_BYTES];
    for (unsigned number = 0; number < PARTITION_ATTEMPTS; number++) {
        if (observe_cancelled(o)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "cancelled");
        cuzk_status s = attempt(bytes, job, number, pk, p, o, err);
        if (s != CUZK_OK) return cuzk_fail_in(err, s, "partition %" PRIu32, job->index);
        observe_begin(o, "verify");
        s = groth16_verify_bytes(vk, bytes, job->inputs, job->n_inputs, err);
        observe_end(o, "verify");
        if (s == CUZK_OK) {
            memcpy(out, bytes, sizeof bytes);
            return CUZK_OK;
        }
        (*retries)++;
    }
    // The last verdict stays in the text behind this one.
    if (err != NULL) err->status = CUZK_ERR_INTERNAL;
    return cuzk_fail_in(err, CUZK_ERR_INTERNAL, "partition %" PRIu32 ": no proof verified in %d attempts", job->index,
                        PARTITION_ATTEMPTS);
}
