// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A frame: the template that is being recorded. Turns rows over wires of the system into rows over places (see
// program_format.h), whatever the wires' numbers are.
#ifndef CUZK_R1CS_PROGRAM_FRAME_H
#define CUZK_R1CS_PROGRAM_FRAME_H

#include "r1cs/bitmap.h"
#include "r1cs/program_coeffs.h"
#include "r1cs/program_format.h"
#include "r1cs/vec32.h"

typedef struct program_frame {
    bool named;                 // slots are those of the signature; else they are found on the way
    uint32_t aux, field, input; // wires there were when it began
    uint64_t row;               // and rows
    uint32_t room;              // for slots
    vec32 slots, slot_fields;   // wire of each slot; its number among the field elements or UINT32_MAX
    vec32 local_fields;         // the same of each own wire
    vec32 field_slots, field_locals;
    vec32 code;
    uint32_t n_rows;
    // Hash table from wire to slot; keys are wires, 0 (which is the constant one) is empty.
    uint32_t *keys, *values;
    uint32_t mask;
} program_frame;

// Begins anew. False when memory is refused.
CUZK_MUST_USE bool program_frame_reset(program_frame *f, uint32_t room);
void program_frame_free(program_frame *f);
// The slot of a wire other than the constant one, or UINT32_MAX.
uint32_t program_frame_slot(const program_frame *f, wire w);
// Finds or adds it; false when memory is refused. There must be room.
CUZK_MUST_USE bool program_frame_add_slot(program_frame *f, uint32_t *slot, wire w, bool is_field);
CUZK_MUST_USE bool program_frame_alloc(program_frame *f, wire_kind kind);

typedef enum frame_outcome { FRAME_OK, FRAME_NO_MEMORY, FRAME_FOREIGN_WIRE, FRAME_TOO_LONG } frame_outcome;
// Appends a row. `fields` says which aux wires of the system are field elements. FRAME_FOREIGN_WIRE: a named frame met
// a wire that is not among its slots.
frame_outcome program_frame_row(program_frame *f, program_coeffs *coeffs, const bitmap *fields, const lc_view row[3]);

#endif
