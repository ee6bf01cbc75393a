// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Inside a program. Private to r1cs/.
//
// The code of a template is one string of 32-bit words, a row after the other:
//
//   narrow row  nA | nB << 8 | nC << 16, then nA + nB + nC words  ref | coefficient << 24  (a signed byte):
//               bits and the constant one alone, with coefficients of at most PROGRAM_SMALL
//   wide row    PROGRAM_WIDE, then for A, B, C: n_powers, n_general, n_powers words  ref | sign << 23 | exponent << 24
//               (+-2^exponent times a bit), and n_general pairs ref, number of a coefficient
//
// A ref below 2^23 is a *place*: 0 the constant one, 1 + k slot k, 1 + room + k the instance's own wire k. Slots are
// the wires an instance is given. In general terms a ref with PROGRAM_FIELD is a field element: number k of those among
// the slots (PROGRAM_SLOT) or among the instance's own. Places of field elements are not used.
#ifndef CUZK_R1CS_PROGRAM_FORMAT_H
#define CUZK_R1CS_PROGRAM_FORMAT_H

#include "r1cs/program.h"

#define PROGRAM_WIDE UINT32_C(0x01000000)
#define PROGRAM_FIELD UINT32_C(0x80000000)
#define PROGRAM_SLOT UINT32_C(0x40000000)
#define PROGRAM_PLACE UINT32_C(0x007fffff) // mask of a place
#define PROGRAM_MINUS UINT32_C(0x00800000)

enum {
    PROGRAM_SMALL = 8,         // greatest narrow coefficient
    PROGRAM_NARROW_TERMS = 15, // of one linear combination: sums are within PROGRAM_NARROW_SUM
    PROGRAM_NARROW_SUM = PROGRAM_SMALL * PROGRAM_NARROW_TERMS,
    PROGRAM_MAX_PLACES = 1 << 23,
    PROGRAM_EXPONENTS = 256, // exponents of powers of two
};

typedef struct program_template {
    uint32_t *code;
    uint32_t n_code, n_rows;
    uint32_t n_slots, room;      // n_slots <= room
    uint32_t n_locals, n_inputs; // aux wires and inputs that an instance allocates
    uint32_t n_field_locals, n_field_slots;
    uint32_t *field_locals, *field_slots; // which of its own wires and slots are field elements, ascending
    // Bit vectors of the places that occur in A and in B. Derived, not stored.
    uint64_t *dense_a, *dense_b;
    // The rows as evaluation reads them (evaluate_plan.h). Derived, not stored.
    uint32_t *strips, *wide;
    uint32_t n_strips, n_wide; // words
} program_template;

// Consecutive slots hold first, first + step, ...
typedef struct program_run {
    wire first;
    int32_t step;
    uint32_t n;
} program_run;

typedef struct program_instance {
    uint32_t template;
    uint32_t aux, field, input; // indices of its first aux wire, its first field element and its first input
    uint32_t run;               // its slots: runs[run .. run of the next instance)
    uint32_t pad;
    uint64_t row;
} program_instance;

struct program {
    program_template *templates;
    program_instance *instances; // n_instances and a last one that only ends the others
    program_run *runs;
    fr *coeffs;
    uint32_t n_templates, n_instances, n_runs, n_coeffs;
    uint32_t max_slots, max_field_slots, max_places, max_rows; // of any template
    program_densities densities;
};

static inline uint32_t program_places(const program_template *t) { return 1 + t->room + t->n_locals; }

// Fills what is derived: offsets of instances, maxima, densities; and checks every offset on the way, so that nothing
// later reads outside. CUZK_ERR_FORMAT for a program that does not hold together.
CUZK_MUST_USE cuzk_status program_link(program *p, cuzk_error *err);
// The wires of an instance's slots.
void program_slots(wire *out, const program *p, const program_instance *at);

// A row as it is read from the code. terms points at nA + nB + nC words (narrow); for wide rows each matrix has its
// own.
typedef struct program_lc {
    const uint32_t *powers, *general; // general: pairs
    uint32_t n_powers, n_general;
} program_lc;
typedef struct program_row {
    bool wide;
    uint32_t n[3];         // narrow
    const uint32_t *terms; // narrow
    program_lc lc[3];      // wide
} program_row;

// Reads the row at code and returns where the next begins. The code must have been checked.
static inline const uint32_t *program_row_read(program_row *r, const uint32_t *code) {
    const uint32_t head = *code++;
    r->wide = head == PROGRAM_WIDE;
    r->terms = code;
    if (!r->wide) {
        for (int k = 0; k < 3; k++) r->n[k] = head >> 8 * k & 0xff;
        return code + r->n[0] + r->n[1] + r->n[2];
    }
    for (int k = 0; k < 3; k++) {
        program_lc *l = &r->lc[k];
        l->n_powers = code[0];
        l->n_general = code[1];
        l->powers = code + 2;
        l->general = l->powers + l->n_powers;
        code = l->general + 2 * (size_t)l->n_general;
    }
    return code;
}

#endif
