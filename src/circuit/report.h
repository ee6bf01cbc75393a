// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What can be said about a whole circuit: the digest of its constraints, a trace of them, and the state of a witness.
// The digests are those of the public reference values (tests/vectors/README.md), so two programs can compare notes.
#ifndef CUZK_CIRCUIT_REPORT_H
#define CUZK_CIRCUIT_REPORT_H

#include "base/observer.h"
#include "circuit/circuit.h"
#include "r1cs/packed.h"
#include "r1cs/program.h"

enum { CIRCUIT_SCOPE_MAX = 512 };

// The constraint system itself. Depends on the shape only.
typedef struct circuit_digest_report {
    uint64_t inputs; // with the constant one
    uint64_t aux;
    uint64_t constraints;
    uint64_t nnz[3];         // non-zero coefficients of A, B, C
    uint64_t dense_a_aux;    // aux variables that occur in A
    uint64_t dense_b_inputs; // inputs that occur in B
    uint64_t dense_b_aux;    // aux variables that occur in B
    uint8_t sha256[32];      // of the canonical stream
} circuit_digest_report;

// Where trace lines go: `every` constraints one line, "constraints inputs aux digest scope/label\n" (no NUL counted in
// len). The digest is the first 16 hex digits of the SHA-256 of the stream so far.
typedef struct circuit_trace {
    uint64_t every; // 0: no trace
    void (*write)(void *ctx, const char *line, size_t len);
    void *ctx;
} circuit_trace;

// Runs the circuit without values. trace and observer may be NULL. Stage "synthesis"; progress counts constraints with
// an unknown total (0); honours observer->cancelled.
CUZK_MUST_USE cuzk_status circuit_digest(circuit_digest_report *out, const circuit *c, const circuit_trace *trace,
                                         const observer *obs, cuzk_error *err);

// The circuit as a program of templates (r1cs/program.h), by a run without values. Stage "pce".
CUZK_MUST_USE cuzk_status circuit_program(program **out, const circuit *c, const observer *obs, cuzk_error *err);

// The same report of a circuit's program, expanded again: equal to circuit_digest's if the program is true to its
// circuit. Stage "expand"; progress and observer->cancelled as there.
CUZK_MUST_USE cuzk_status circuit_program_digest(circuit_digest_report *out, const program *p, const observer *obs,
                                                 cuzk_error *err);

// The witness, packed: gadgets compute natively and constraints are not looked at. `expected` gives the room to begin
// with and, unless NULL, what must come out (CUZK_ERR_MISMATCH). Stage "synthesis".
CUZK_MUST_USE cuzk_status circuit_pack(packed_witness **out, const circuit *c, const program_counts *expected,
                                       const observer *obs, cuzk_error *err);

// A witness: what the circuit computes from its bound input, and whether that satisfies the constraints.
typedef struct circuit_witness_report {
    uint64_t inputs, aux, constraints;
    uint64_t aux_zero, aux_one; // aux values equal to 0 and to 1
    uint8_t inputs_sha256[32];  // of all input values, 32 bytes little-endian each, the constant one first
    uint8_t aux_sha256[32];
    uint64_t unsatisfied;                            // constraints that do not hold
    uint64_t first_unsatisfied;                      // index from 0, meaningful if unsatisfied > 0
    char first_unsatisfied_scope[CIRCUIT_SCOPE_MAX]; // its scope path and label, "" if all hold
} circuit_witness_report;

// Runs the circuit with values. An unsatisfied constraint is not a failure of this call: look at out->unsatisfied.
// If public_inputs is not NULL it receives up to max_public_inputs values, the constant one first.
CUZK_MUST_USE cuzk_status circuit_witness(circuit_witness_report *out, fr *public_inputs, size_t max_public_inputs,
                                          const circuit *c, const observer *obs, cuzk_error *err);
// The digests of a packed witness; constraints and unsatisfied are left 0.
void circuit_witness_packed(circuit_witness_report *out, const packed_witness *w);

#endif
