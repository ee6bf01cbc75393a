// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Circuits that programs are made of (api/pce.h), and which of them is which: a program belongs to everything that the
// circuit's constraints depend on, and to nothing else.
#ifndef CUZK_API_PCE_CIRCUIT_H
#define CUZK_API_PCE_CIRCUIT_H

#include "circuit/porep/circuit.h"
#include "circuit/toy/toy.h"
#include "r1cs/program_file.h"

enum { PCE_NAME_MAX = 64, PCE_SIZE_NAME_MAX = 16 };

// A circuit without an input. May be copied.
typedef struct pce_circuit {
    program_identity id;
    char size_name[PCE_SIZE_NAME_MAX]; // of a sector: "2KiB"; of a toy, whose size is its rows: "1024"
    void (*synthesize)(const void *self, cs *s);
    union {
        porep_circuit porep;
        toy_circuit toy;
    } self;
} pce_circuit;

void pce_of_porep(pce_circuit *out, const porep_shape *shape);
void pce_of_toy(pce_circuit *out, const toy_shape *shape);
// As people name it: "porep" and a sector size, "toy" and a number of rows. CUZK_ERR_USAGE naming what is unknown.
CUZK_MUST_USE cuzk_status pce_by_name(pce_circuit *out, const char *kind, const char *size, cuzk_error *err);
CUZK_MUST_USE cuzk_status pce_check_kind(const char *kind, cuzk_error *err);
// As a file names it. CUZK_ERR_MISMATCH unless it is a circuit that exists here, and the same one.
CUZK_MUST_USE cuzk_status pce_by_identity(pce_circuit *out, const program_identity *id, cuzk_error *err);

// The result borrows `c`.
circuit pce_circuit_bind(const pce_circuit *c);
// The name of its program's file: "cuzk-pce-1-porep-2KiB-0123456789abcdef.pce".
void pce_file_name(char out[PCE_NAME_MAX], const pce_circuit *c);

#endif
