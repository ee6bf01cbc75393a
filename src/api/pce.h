// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Programs of the PoRep circuits (docs/maths/templates.md), built when first needed and kept: in memory, and in a
// folder if one is given. What a folder holds is a cache and no more: files that cannot be used are written anew.
#ifndef CUZK_API_PCE_H
#define CUZK_API_PCE_H

#include "circuit/porep/shape.h"
#include "groth16/prove.h"
#include "r1cs/program_file.h"

enum { PCE_PATH_MAX = 1024, PCE_NAME_MAX = 64 };

// Which circuit a shape has: everything that its constraints depend on, and nothing else.
void pce_identity(program_identity *out, const porep_shape *shape);
// The name of its file: "cuzk-pce-1-porep-2KiB-0123456789abcdef.pce".
void pce_file_name(char out[PCE_NAME_MAX], const porep_shape *shape);
// Builds a program, past all caches. Stage "pce".
CUZK_MUST_USE cuzk_status pce_build(program **out, const porep_shape *shape, const observer *o, cuzk_error *err);

typedef struct pce_cache pce_cache;
// dir: copied; NULL or "": memory alone. Created when something is written.
CUZK_MUST_USE cuzk_status pce_cache_create(pce_cache **out, const char *dir, cuzk_error *err);
void pce_cache_destroy(pce_cache **c); // nobody may use its programs any more
// The program of a shape's circuit, valid as long as the cache. Any number of threads may ask; those that ask for one
// that is being made wait for it. Stages "pce_load" and "pce", only when there is something to do.
CUZK_MUST_USE cuzk_status pce_cache_get(const groth16_program **out, pce_cache *c, const porep_shape *shape,
                                        const observer *o, cuzk_error *err);
// From now on complaints are also told as they arise, from the thread that asked; before anybody asks. `warn`
// must not call this cache.
void pce_cache_on_complaint(pce_cache *c, void (*warn)(void *ctx, const char *text), void *ctx);
// Why a file could not be used or written, the last time that happened; "" if it never did. At most n bytes.
void pce_cache_complaint(char *out, size_t n, pce_cache *c);

#endif
