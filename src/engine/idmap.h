// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Numbers to pointers, as the runtime needs it: open addressing, no iteration order promised.
#ifndef CUZK_ENGINE_IDMAP_H
#define CUZK_ENGINE_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct idmap_slot {
    uint64_t id; // 0: empty
    void *value;
} idmap_slot;

// Starts zeroed.
typedef struct idmap {
    idmap_slot *slots;
    size_t n, cap; // cap is 0 or a power of two, at least 2n
} idmap;

// Makes room for one more; false when memory is refused. Only then may idmap_put follow.
bool idmap_reserve(idmap *m);
// id != 0, not in the map.
void idmap_put(idmap *m, uint64_t id, void *value);
void *idmap_get(const idmap *m, uint64_t id); // NULL if not there
void *idmap_take(idmap *m, uint64_t id);      // removes it; NULL if not there
void idmap_free(idmap *m);                    // the table, not the values

#endif
