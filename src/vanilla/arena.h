// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A bump allocator for parsed input: many small pieces that live and die together.
#ifndef CUZK_VANILLA_ARENA_H
#define CUZK_VANILLA_ARENA_H

#include <stddef.h>

typedef struct arena_chunk arena_chunk;
// All zeros is an empty arena.
typedef struct arena {
    arena_chunk *chunks; // newest first
    size_t next_chunk;   // bytes of the next one
} arena;

// n * size zeroed bytes aligned to 16; NULL when the product overflows or memory is refused. Tagged MEM_INPUT.
void *arena_alloc(arena *a, size_t n, size_t size);
// Frees everything; the arena is empty again.
void arena_free(arena *a);

#endif
