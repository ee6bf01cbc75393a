// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Field elements from texts: the secrets of test parameters and the blinding of reproducible proofs.
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "groth16/internal.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "hash/sha256.h"

// prefix, one space, name: hashed in pieces, so that no label is too long for a buffer.
static void fr_from_parts(fr *out, const char *prefix, const char *name) {
    uint8_t wide[64];
    for (uint8_t half = 0; half < 2; half++) {
        sha256 h;
        sha256_init(&h);
        sha256_update(&h, prefix, strlen(prefix));
        if (name != 0) {
            sha256_update(&h, " ", 1);
            sha256_update(&h, name, strlen(name));
        }
        sha256_update(&h, &half, 1);
        sha256_final(wide + 32 * half, &h);
    }
    fr_from_le_bytes_wide(out, wide);
}

void groth16_fr_from_label(fr *out, const char *text) { fr_from_parts(out, text, 0); }

void groth16_secrets_from_label(groth16_secrets *out, const char *label) {
    fr_from_parts(&out->alpha, label, "alpha");
    fr_from_parts(&out->beta, label, "beta");
    fr_from_parts(&out->gamma, label, "gamma");
    fr_from_parts(&out->delta, label, "delta");
    fr_from_parts(&out->tau, label, "tau");
}

void groth16_blinding_from_label(groth16_blinding *out, const char *label, uint32_t k) {
    char name[16];
    snprintf(name, sizeof name, "r %u", k);
    fr_from_parts(&out->r, label, name);
    snprintf(name, sizeof name, "s %u", k);
    fr_from_parts(&out->s, label, name);
}

cuzk_status groth16_blinding_random(groth16_blinding *out, cuzk_error *err) {
    // 512 bits reduced mod r: the distance from uniform is below 2^-256.
    uint8_t wide[128];
    cuzk_status status = random_bytes(wide, sizeof wide, err);
    if (status != CUZK_OK) return status;
    fr_from_le_bytes_wide(&out->r, wide);
    fr_from_le_bytes_wide(&out->s, wide + 64);
    secret_wipe(wide, sizeof wide);
    return CUZK_OK;
}

void groth16_blinding_wipe(groth16_blinding *b) { secret_wipe(b, sizeof *b); }
