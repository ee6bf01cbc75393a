// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The prover: a witness becomes a proof. Stages seen by the observer: "synthesis", "evaluate" (of packed assignments),
// "ntt", "msm_h", "msm_l", "msm_a", "msm_b_g1", "msm_b_g2", "assemble"; with a key of groth16_pk_open a "key_load"
// before each "msm_*".
#ifndef CUZK_GROTH16_PROVE_H
#define CUZK_GROTH16_PROVE_H

#include "circuit/circuit.h"
#include "groth16/key.h"
#include "r1cs/program.h"

typedef struct groth16_blinding {
    fr r, s;
} groth16_blinding;

// Uniform from the operating system.
CUZK_MUST_USE cuzk_status groth16_blinding_random(groth16_blinding *out, cuzk_error *err);
// TEST ONLY: r, s of "LABEL r K", "LABEL s K" for partition k (see groth16_fr_from_label). Proofs made with it leak.
void groth16_blinding_from_label(groth16_blinding *out, const char *label, uint32_t k);
// Overwrites r and s, which open the proof's secrets to whoever learns them. Call it once the proof is made.
void groth16_blinding_wipe(groth16_blinding *b);

// What synthesis hands to the device.
typedef struct groth16_assignment groth16_assignment;

// A circuit's program, and the circuit without an input: should a constraint not hold, it is run to name it (synthesize
// NULL: constraints have numbers only). Both are borrowed.
typedef struct groth16_program {
    const program *rows;
    circuit shape;
} groth16_program;

// The fast way: bits are packed and gadgets compute natively; constraints are looked at by groth16_prove only, as part
// of its evaluation. `p`, and what it points to, must stay as long as the assignment.
CUZK_MUST_USE cuzk_status groth16_synthesize_packed(groth16_assignment **out, const circuit *c,
                                                    const groth16_program *p, const observer *o, cuzk_error *err);
// The reference. Runs the circuit with values and evaluates its constraints as they come. CUZK_ERR_INPUT naming the
// first unsatisfied constraint and its scope, so that no time is spent on a proof that cannot verify.
CUZK_MUST_USE cuzk_status groth16_synthesize(groth16_assignment **out, const circuit *c, const observer *o,
                                             cuzk_error *err);
void groth16_assignment_destroy(groth16_assignment **a);
// Public inputs as synthesised, with the constant one first.
const fr *groth16_assignment_inputs(const groth16_assignment *a, uint32_t *n);

// CUZK_ERR_INPUT naming the first constraint that a packed assignment does not satisfy.
// What groth16_pk_load says of points, where the key's are read only now (groth16_pk_open).
// CUZK_ERR_MISMATCH (with counts expected and found) when key and assignment are of different circuits.
// Consumes what it can of the assignment (evaluations are freed early); the caller still destroys it.
CUZK_MUST_USE cuzk_status groth16_prove(groth16_proof *out, const groth16_pk *pk, groth16_assignment *a,
                                        const groth16_blinding *b, pool *p, const observer *o, cuzk_error *err);

#endif
