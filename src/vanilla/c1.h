// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The C1 file: JSON of the official SealCommitPhase1Output, bare or in the envelope
// {"SectorNum": n, "Phase1Out": base64, "SectorSize": bytes}.
#ifndef CUZK_VANILLA_C1_H
#define CUZK_VANILLA_C1_H

#include "base/observer.h"
#include "base/pool.h"
#include "circuit/porep/input.h"
#include "circuit/porep/public_inputs.h"

typedef struct c1_file c1_file;

enum { C1_MAX_BYTES = 256 * 1024 * 1024 };

// Parses and checks every type, length, range and shape; the error names the JSON path, the byte offset, what was
// expected and what was found. Nothing cryptographic is checked here. The file owns all memory (MEM_INPUT).
CUZK_MUST_USE cuzk_status c1_parse(c1_file **out, const uint8_t *json, size_t len, cuzk_error *err);
void c1_destroy(c1_file **f);

const porep_input *c1_input(const c1_file *f);
// From the envelope; false when the file was bare.
bool c1_sector_number(const c1_file *f, uint64_t *number);
void c1_statement(porep_statement *out, const c1_file *f);

#endif
