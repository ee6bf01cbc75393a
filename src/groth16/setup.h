// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Making parameters from known secrets. INSECURE by nature: whoever knows the secrets can forge proofs. For tests only.
#ifndef CUZK_GROTH16_SETUP_H
#define CUZK_GROTH16_SETUP_H

#include "circuit/circuit.h"
#include "groth16/key.h"

typedef struct groth16_secrets {
    fr alpha, beta, gamma, delta, tau;
} groth16_secrets;

// A field element from a text: SHA-256(text||0x00) || SHA-256(text||0x01), read little-endian, mod r.
void groth16_fr_from_label(fr *out, const char *text);
// The five secrets are the elements of "LABEL alpha", "LABEL beta", ...
void groth16_secrets_from_label(groth16_secrets *out, const char *label);

// The same key, point for point, as bellperson's generate_parameters with the standard generators: the constraints of
// the circuit, then one row `input_i * 0 = 0` an input; domain = next power of two.
CUZK_MUST_USE cuzk_status groth16_setup(groth16_pk **out, const circuit *c, const groth16_secrets *secrets, pool *p,
                                        const observer *o, cuzk_error *err);

#endif
