// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vanilla/arena.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

// Chunks double from FIRST to LAST, so that a small file costs little and a large one few allocations; at most half of
// what is held is unused.
enum { ARENA_FIRST = 64 * 1024, ARENA_LAST = 4 * 1024 * 1024, ARENA_ALIGN = 16 };

struct arena_chunk {
    arena_chunk *older;
    size_t used, size; // bytes behind the head
};
enum { ARENA_HEAD = (sizeof(arena_chunk) + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN };

void *arena_alloc(arena *a, size_t n, size_t size) {
    if (size != 0 && n > (SIZE_MAX / 4) / size) return NULL;
    size_t need = (n * size + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    arena_chunk *c = a->chunks;
    if (c == NULL || c->size - c->used < need) {
        if (a->next_chunk == 0) a->next_chunk = ARENA_FIRST;
        size_t bytes = need > a->next_chunk ? need : a->next_chunk;
        c = mem_alloc(MEM_INPUT, 1, ARENA_HEAD + bytes);
        if (c == NULL) return NULL;
        c->older = a->chunks;
        c->used = 0;
        c->size = bytes;
        a->chunks = c;
        if (a->next_chunk < ARENA_LAST) a->next_chunk *= 2;
    }
    void *p = (uint8_t *)c + ARENA_HEAD + c->used;
    c->used += need;
    memset(p, 0, need);
    return p;
}

void arena_free(arena *a) {
    while (a->chunks != NULL) {
        arena_chunk *c = a->chunks;
        a->chunks = c->older;
        mem_free(c);
    }
    a->next_chunk = 0;
}
