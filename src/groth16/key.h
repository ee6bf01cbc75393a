// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Keys and proofs of Groth16, and the files they live in (the layout of the Filecoin parameter cache).
//
// .vk:     alpha_g1, beta_g1, beta_g2, gamma_g2, delta_g1, delta_g2, then u32 BE count and the ic points.
// .params: the same, then h, l, a, b_g1, b_g2, each u32 BE count and points. All points uncompressed.
// .meta:   {"sector_size":2048}
#ifndef CUZK_GROTH16_KEY_H
#define CUZK_GROTH16_KEY_H

#include "base/observer.h"
#include "base/pool.h"
#include "curve/g1.h"
#include "curve/g2.h"

typedef struct groth16_vk {
    g1_affine alpha_g1, beta_g1, delta_g1;
    g2_affine beta_g2, gamma_g2, delta_g2;
    uint32_t n_ic; // inputs, with the constant one
    g1_affine *ic;
} groth16_vk;

// A proving key: points in Montgomery form, queries without their points at infinity.
typedef struct groth16_pk {
    groth16_vk vk;
    uint32_t n_h, n_l, n_a, n_b;
    g1_affine *h; // tau^i Z(tau)/delta, n_h = domain size - 1
    g1_affine *l; // one an aux wire
    g1_affine *a; // dense inputs, then dense aux
    g1_affine *b_g1;
    g2_affine *b_g2;
    struct key_file *file; // of groth16_pk_open: the points are there, and the five arrays NULL. Else NULL
} groth16_pk;

typedef enum key_check {
    KEY_CHECK_CURVE, // encodings and curve equation of every point
    KEY_CHECK_FULL,  // and the subgroup of every point, by random classes (docs/maths/subgroup.md)
    KEY_CHECK_ONCE,  // the subgroups only if no receipt beside the file (PATH.checked) says that this very file, not
                     // written to since, passed before; leaves one if it can
} key_check;

// Reads by positioned reads, never by mapping. Errors name path, section, index, expected and found. Refuses counts
// that do not fit the file before allocating, and trailing bytes. Tagged MEM_KEY.
CUZK_MUST_USE cuzk_status groth16_pk_load(groth16_pk **out, const char *path, key_check check, pool *p,
                                          const observer *o, cuzk_error *err);
// A key for one proof. Layout and verifying key are read and checked now; the points of a section are read, checked and
// tagged MEM_KEY when groth16_prove comes to it, and freed when it is done with them. So the key takes as much memory
// as its longest section, about a third, and their errors come from groth16_prove; CUZK_ERR_IO if the file has changed
// meanwhile. Each further proof reads all of them again. Where `check` asks for subgroups to be tested, which is done
// over the whole key, this is groth16_pk_load.
CUZK_MUST_USE cuzk_status groth16_pk_open(groth16_pk **out, const char *path, key_check check, pool *p,
                                          const observer *o, cuzk_error *err);
void groth16_pk_destroy(groth16_pk **pk);
// CUZK_ERR_USAGE for a key whose points are not in memory.
CUZK_MUST_USE cuzk_status groth16_pk_save(const groth16_pk *pk, const char *path, pool *p, const observer *o,
                                          cuzk_error *err);

// A verifying key is always checked in full.
CUZK_MUST_USE cuzk_status groth16_vk_load(groth16_vk **out, const char *path, cuzk_error *err);
void groth16_vk_destroy(groth16_vk **vk);
CUZK_MUST_USE cuzk_status groth16_vk_save(const groth16_vk *vk, const char *path, cuzk_error *err);

enum { GROTH16_PROOF_BYTES = 192 };
typedef struct groth16_proof {
    g1_affine a, c;
    g2_affine b;
} groth16_proof;

void groth16_proof_encode(uint8_t out[GROTH16_PROOF_BYTES], const groth16_proof *proof); // a, b, c compressed
// Strict: canonical, on the curve, in the subgroup, none at infinity. The error says which point and why.
CUZK_MUST_USE cuzk_status groth16_proof_decode(groth16_proof *out, const uint8_t in[GROTH16_PROOF_BYTES],
                                               cuzk_error *err);

#endif
