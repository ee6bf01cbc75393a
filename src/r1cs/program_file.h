// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Programs on disk. Little-endian throughout:
//
//   magic "CUZK PCE", u32 version, kind (16 bytes, zero padded), u64 size, 32 bytes of identity
//   u32 inputs, aux, fields; u64 rows; u32 templates, instances, runs, coefficients
//   coefficients, 32 bytes each, below r
//   templates: u32 words of code, rows, slots, room, own wires, inputs, field elements among own wires, among slots;
//              then the code, the places of the field elements among own wires, and among slots
//   instances: u32 template, u32 runs
//   runs: u32 first, i32 step, u32 n
//   SHA-256 of everything before
//
// A file is a cache: whoever cannot use it builds the program again. A digest that fits, other numbers that do not hold
// together, and so on, are CUZK_ERR_FORMAT; nothing is allocated before it is known that the file holds as much.
#ifndef CUZK_R1CS_PROGRAM_FILE_H
#define CUZK_R1CS_PROGRAM_FILE_H

#include "r1cs/program.h"

enum { PROGRAM_FILE_VERSION = 1, PROGRAM_KIND_MAX = 16 };
#define PROGRAM_FILE_MAX ((size_t)512 << 20)

// Which circuit a program is of.
typedef struct program_identity {
    char kind[PROGRAM_KIND_MAX]; // "porep", zeros behind
    uint64_t size;               // for people: the sector size
    uint8_t digest[32];          // of everything the circuit depends on
} program_identity;

// Written to a temporary file, synced, renamed.
CUZK_MUST_USE cuzk_status program_save(const program *p, const program_identity *id, const char *path, cuzk_error *err);
// `found` receives the file's identity; NULL: not wanted. If `expected` is not NULL, the program of another circuit is
// CUZK_ERR_MISMATCH. Errors name the file.
CUZK_MUST_USE cuzk_status program_load(program **out, program_identity *found, const program_identity *expected,
                                       const char *path, cuzk_error *err);

#endif
