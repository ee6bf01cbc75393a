// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Internal to timeline: a growing array and a hash table from 128-bit keys to indices.
#ifndef CUZK_TIMELINE_PAIR_H
#define CUZK_TIMELINE_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMELINE_NO_INDEX UINT32_MAX

typedef struct pair_key {
    uint64_t a, b;
} pair_key;

typedef struct pair_map {
    pair_key *keys;
    uint32_t *values; // index + 1, 0: free slot
    size_t n, slots;
} pair_map;

// TIMELINE_NO_INDEX if absent.
uint32_t pair_map_get(const pair_map *m, pair_key key);
// false when memory is refused.
bool pair_map_put(pair_map *m, pair_key key, uint32_t value);
void pair_map_release(pair_map *m);

// Makes room for one more element of `size` bytes in *items; false when memory is refused.
bool pair_grow(void **items, size_t *cap, size_t n, size_t size);

#endif
