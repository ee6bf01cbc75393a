// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One pass over one JSON text: a bare C1 file, or an envelope whose Phase1Out is left for the caller to decode.
#ifndef CUZK_VANILLA_C1_READER_H
#define CUZK_VANILLA_C1_READER_H

#include "circuit/porep/input.h"
#include "vanilla/arena.h"

typedef struct c1_content {
    arena memory;      // owns everything below
    porep_input input; // of a bare file
    bool enveloped;    // then the members below are set, and not `input`
    uint64_t sector_number, sector_size;
    size_t sector_size_at; // byte offset of SectorSize
    const char *phase1;    // base64, in the JSON text or in `memory`
    size_t phase1_len;
    size_t phase1_at; // byte offset of its first character
} c1_content;

// Fills *out, all zeros before. On failure out->memory may hold something; the caller frees it in any case.
// inside_envelope: the text came from an envelope, so another envelope is not recognised.
CUZK_MUST_USE cuzk_status c1_read(c1_content *out, const uint8_t *json, size_t len, bool inside_envelope,
                                  cuzk_error *err);

#endif
