// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Makes C1 files of any shape whose every value follows from its JSON path, with at most one fault at a chosen path.
// The proofs inside are nonsense; their structure is right.
#ifndef CUZK_TESTS_C1_BUILD_H
#define CUZK_TESTS_C1_BUILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "circuit/porep/shape.h"

typedef enum c1_action {
    C1_REPLACE, // `text` instead of the value at `path`
    C1_OMIT,    // no such element, no such key
    C1_TWICE,   // the element or the key with its value twice
    C1_RENAME,  // `text` instead of the key (quotes included, so that it may hold escapes)
    C1_BEFORE,  // `text` in front of the element or the key
} c1_action;
typedef struct c1_edit {
    c1_action action;
    const char *path;
    const char *text;
} c1_edit;

// A malloc'd text with a NUL behind it. reversed: the keys of every object in reverse order. edit may be NULL.
char *c1_build(size_t *len, const porep_shape *shape, bool reversed, const c1_edit *edit);
// {"SectorNum": number, "Phase1Out": base64(json), "SectorSize": size}
char *c1_wrap(size_t *len, const char *json, size_t json_len, uint64_t number, uint64_t size);
char *c1_base64(const void *data, size_t len);

// The values at a path: 32 bytes below 2^254, and an integer.
void c1_build_hash(uint8_t out[32], const char *path);
uint64_t c1_build_number(const char *path);
// The key in vanilla_proofs for a registered proof: its name up to "V1".
void c1_build_key(char out[64], const porep_shape *shape);

#endif
