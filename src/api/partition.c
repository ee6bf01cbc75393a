// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/partition.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "groth16/verify.h"

// The circuit packs its public inputs itself; the verifier derives them from the statement alone. A proof for inputs
// that differ could never be accepted, so no time is spent on it.
static cuzk_status compare_inputs(const groth16_assignment *a, const partition_job *job, cuzk_error *err) {
    uint32_t n = 0;
    const fr *got = groth16_assignment_inputs(a, &n);
    if (n != job->n_inputs + 1)
        return cuzk_fail(err, CUZK_ERR_INTERNAL, "the circuit has %" PRIu32 " public inputs, the statement %" PRIu32, n,
                         job->n_inputs + 1);
    for (uint32_t i = 0; i < job->n_inputs; i++)
        if (!fr_eq(&got[i + 1], &job->inputs[i])) {
            uint8_t g[32], w[32];
            char gt[65], wt[65];
            fr_to_le_bytes(g, &got[i + 1]);
            fr_to_le_bytes(w, &job->inputs[i]);
            hex_encode(gt, g, sizeof g);
            hex_encode(wt, w, sizeof w);
            return cuzk_fail(err, CUZK_ERR_INPUT, "public input %" PRIu32 ": the circuit has %s, the statement %s", i,
                             gt, wt);
        }
    return CUZK_OK;
}

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
    cuzk_status s = groth16_synthesize(&a, &job->c, o, err);
    if (s == CUZK_OK) s = compare_inputs(a, job, err);
    if (s == CUZK_OK) s = groth16_prove(&proof, pk, a, &b, p, o, err);
    groth16_assignment_destroy(&a);
    groth16_blinding_wipe(&b);
    if (s != CUZK_OK) return s;
    if (job->tamper != NULL) job->tamper(job->tamper_ctx, &proof, number);
    groth16_proof_encode(out, &proof);
    return CUZK_OK;
}

// The bytes that will be handed out are what is verified, through the strict decoder.
static cuzk_status verify_bytes(const uint8_t bytes[GROTH16_PROOF_BYTES], const partition_job *job,
                                const groth16_vk *vk, cuzk_error *err) {
    groth16_proof proof;
    cuzk_status s = groth16_proof_decode(&proof, bytes, err);
    return s != CUZK_OK ? s : groth16_verify(vk, &proof, job->inputs, job->n_inputs, err);
}

cuzk_status partition_prove(uint8_t out[GROTH16_PROOF_BYTES], unsigned *retries, const partition_job *job,
                            const groth16_pk *pk, const groth16_vk *vk, pool *p, const observer *o, cuzk_error *err) {
    uint8_t bytes[GROTH16_PROOF_BYTES];
    for (unsigned number = 0; number < PARTITION_ATTEMPTS; number++) {
        if (observe_cancelled(o)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "cancelled");
        cuzk_status s = attempt(bytes, job, number, pk, p, o, err);
        if (s != CUZK_OK) return cuzk_fail_in(err, s, "partition %" PRIu32, job->index);
        observe_begin(o, "verify");
        s = verify_bytes(bytes, job, vk, err);
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
