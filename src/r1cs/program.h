// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A program: a whole constraint system as a list of instances of templates. A template is the rows and wires of one
// gadget call, recorded once for one signature; an instance says where its wires begin and which wires it is given.
// Megabytes in place of the tens of gigabytes that matrices take; docs/maths/templates.md explains.
//
// Immutable once built: any number of threads may use one at once.
#ifndef CUZK_R1CS_PROGRAM_H
#define CUZK_R1CS_PROGRAM_H

#include "base/observer.h"
#include "r1cs/bitmap.h"
#include "r1cs/cs.h"

typedef struct program program;

// --- Building ---

// A sink without values that makes a program of what it sees. Templates are known by their signature; what lies between
// them is cut into nameless templates, which are known by their content.
typedef struct program_builder program_builder;
CUZK_MUST_USE cuzk_status program_builder_create(program_builder **out, const observer *o, cuzk_error *err);
cs *program_builder_sink(program_builder *b);
// The program, or the sink's failure. The builder is gone in either case.
CUZK_MUST_USE cuzk_status program_builder_finish(program **out, program_builder **b, cuzk_error *err);
void program_builder_destroy(program_builder **b); // NULL, or one that was not finished
void program_destroy(program **p);

// --- What it holds ---

typedef struct program_counts {
    uint32_t inputs;      // with the constant one
    uint32_t aux, fields; // fields: aux wires of kind WIRE_FIELD
    uint64_t rows;
    uint32_t templates, instances, coeffs;
    uint64_t bytes; // in memory
} program_counts;
void program_count(program_counts *out, const program *p);

// Which variables occur in A and B; inputs are taken to occur in A, as the prover's own rows make them.
typedef struct program_densities {
    bitmap a_aux, b_aux, b_inputs;
} program_densities;
const program_densities *program_density(const program *p);

// Replays the constraint stream into a fresh sink without values: the same rows in the same order as the circuit's own
// code gives. Failures stick in the sink.
void program_expand(const program *p, cs *to);

#endif
