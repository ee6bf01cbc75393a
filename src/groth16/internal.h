// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Shared inside groth16/: the sections of key files, and wiping of secrets.
#ifndef CUZK_GROTH16_INTERNAL_H
#define CUZK_GROTH16_INTERNAL_H

#include <string.h>

#include "base/file.h"
#include "curve/encoding.h"
#include "groth16/key.h"

// The fixed head of a verifying key: three points of G1, three of G2, and the count of the ic points.
enum { KEY_COUNT_BYTES = 4, KEY_VK_HEAD_BYTES = 3 * G1_UNCOMPRESSED + 3 * G2_UNCOMPRESSED + KEY_COUNT_BYTES };

// The queries of a .params file in file order.
typedef enum key_section { KEY_H, KEY_L, KEY_A, KEY_B_G1, KEY_B_G2, KEY_SECTIONS } key_section;

const char *key_section_name(key_section s);
size_t key_point_bytes(key_section s); // in the file, uncompressed
// The points of a section of G1; NULL for KEY_B_G2. And the number of points.
g1_affine **key_section_g1(groth16_pk *pk, key_section s);
uint32_t *key_section_count(groth16_pk *pk, key_section s);

// The points of a section while they are needed.
typedef struct key_points {
    const g1_affine *g1; // NULL for KEY_B_G2
    const g2_affine *g2; // NULL for the others
    void *own;           // read for this; NULL: they are the key's
} key_points;

// Reads them if the key does not hold them (stage "key_load").
CUZK_MUST_USE cuzk_status key_points_get(key_points *out, const groth16_pk *pk, key_section s, pool *p,
                                         const observer *o, cuzk_error *err);
void key_points_put(key_points *points); // and clears it

// Reads a whole verifying key at *offset and moves *offset behind it. Every point is checked in full.
CUZK_MUST_USE cuzk_status key_vk_read(groth16_vk *out, file_reader *r, uint64_t *offset, cuzk_error *err);
void key_vk_release(groth16_vk *vk); // frees what it owns, not itself
CUZK_MUST_USE cuzk_status key_vk_write(file_writer *w, const groth16_vk *vk, cuzk_error *err);

// Is every point of the section in the subgroup? Points must be on the curve. Errors name path, section and index;
// `offset` is where the section's first point lies in the file.
CUZK_MUST_USE cuzk_status key_check_subgroup_g1(const g1_affine *points, size_t n, const char *path,
                                                const char *section, uint64_t offset, pool *p, cuzk_error *err);
CUZK_MUST_USE cuzk_status key_check_subgroup_g2(const g2_affine *points, size_t n, const char *path,
                                                const char *section, uint64_t offset, pool *p, cuzk_error *err);

// The receipt of a full check (pk_receipt.c). Does one say that the file, as it is now, has passed?
bool key_receipt_holds(const file_reader *r);
// Leaves one, provided that the file is still what it was `before` the check. A folder that cannot be written to is no
// failure: the next load checks again.
void key_receipt_leave(const file_reader *r, const file_identity *before);

#endif
