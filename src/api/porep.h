// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Whole PoRep proofs: a C1 file becomes proof bytes, proof bytes are verified. The program and the public library both
// go through here.
#ifndef CUZK_API_POREP_H
#define CUZK_API_POREP_H

#include "api/params.h"
#include "vanilla/c1.h"

typedef struct porep_prove_options {
    const char *params_dir;
    const char *test_blinding; // NULL: random blinding. Anything else makes proofs that leak; for comparing bytes only
    bool skip_vanilla_check;
    key_check check;
    bool reference;      // synthesise and evaluate the slow, simple way; the proof is the same
    const char *pce_dir; // where programs of circuits are kept; NULL: nowhere
} porep_prove_options;

typedef struct porep_prove_report {
    char insecure_label[PARAMS_LABEL_MAX];   // "" when the parameters carry no marker
    unsigned retries;                        // proofs thrown away because they did not verify
    char pce_complaint[CUZK_ERROR_TEXT_MAX]; // why a program in pce_dir could not be used or written; "": all is well
} porep_prove_report;

// Reads ("-": standard input) and parses a C1 file; errors name the file. Stages "read", "parse".
CUZK_MUST_USE cuzk_status porep_read_c1(c1_file **out, const char *path, const observer *o, cuzk_error *err);

// Bytes of the whole proof.
size_t porep_proof_bytes(const porep_shape *shape);

// Proves all partitions and verifies each against public inputs derived from the statement alone. *proof (mem_free) is
// set only when all verified. Stages: "vanilla_check", "key_load", "pce" or "pce_load",
// those of groth16/prove.h, "verify".
CUZK_MUST_USE cuzk_status porep_prove(uint8_t **proof, size_t *proof_len, porep_prove_report *report, const c1_file *c1,
                                      const porep_prove_options *options, pool *p, const observer *o, cuzk_error *err);

// Needs the verifying key only. insecure_label as in the report above. proof_name says in errors where the bytes are
// from, NULL: nothing is said.
CUZK_MUST_USE cuzk_status porep_verify(char insecure_label[PARAMS_LABEL_MAX], const c1_file *c1, const char *params_dir,
                                       const char *proof_name, const uint8_t *proof, size_t proof_len,
                                       const observer *o, cuzk_error *err);

#endif
