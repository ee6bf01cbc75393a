// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Programs of circuits (docs/maths/templates.md), built when first needed and kept: in memory, and in a folder if one
// is given. What a folder holds is a cache and no more: files that cannot be used are written anew.
#ifndef CUZK_API_PCE_H
#define CUZK_API_PCE_H

#include "api/pce_circuit.h"
#include "groth16/prove.h"

enum { PCE_PATH_MAX = 1024 };

// Builds a program, past all caches. Stage "pce".
CUZK_MUST_USE cuzk_status pce_build(program **out, const pce_circuit *c, const observer *o, cuzk_error *err);

typedef struct pce_cache pce_cache;
// dir: copied; NULL or "": memory alone. Created when something is written.
CUZK_MUST_USE cuzk_status pce_cache_create(pce_cache **out, const char *dir, cuzk_error *err);
void pce_cache_destroy(pce_cache **c); // nobody may use its programs any more
// A circuit's program, valid as long as the cache. Any number of threads may ask; those that ask for one that is being
// made wait for it. Stages "pce_load" and "pce", only when there is something to do.
CUZK_MUST_USE cuzk_status pce_cache_get(const groth16_program **out, pce_cache *c, const pce_circuit *of,
                                        const observer *o, cuzk_error *err);
// From now on complaints are also told as they arise, from the thread that asked; before anybody asks. `warn`
// must not call this cache.
void pce_cache_on_complaint(pce_cache *c, void (*warn)(void *ctx, const char *text), void *ctx);
// Why a file could not be used or written, the last time that happened; "" if it never did. At most n bytes.
void pce_cache_complaint(char *out, size_t n, pce_cache *c);

// The witness of `bound`, which is `of` with an input, by its program from the cache; programs NULL: by the reference
// way. Freed by groth16_assignment_destroy, before the cache.
CUZK_MUST_USE cuzk_status pce_synthesize(groth16_assignment **out, pce_cache *programs, const pce_circuit *of,
                                         const circuit *bound, const observer *o, cuzk_error *err);

#endif
