// SPDX-License-Identifier: MIT OR Apache-2.0
#include "timeline/pair.h"

#include <string.h>

#include "base/mem.h"

static size_t slot_of(pair_key k, size_t slots) {
    uint64_t z = (k.a ^ (k.b * UINT64_C(0x9e3779b97f4a7c15))) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 31)) * UINT64_C(0x94d049bb133111eb);
    return (size_t)(z ^ (z >> 29)) & (slots - 1);
}

static size_t find(const pair_map *m, pair_key key) {
    size_t i = slot_of(key, m->slots);
    while (m->values[i] != 0 && (m->keys[i].a != key.a || m->keys[i].b != key.b)) i = (i + 1) & (m->slots - 1);
    return i;
}

uint32_t pair_map_get(const pair_map *m, pair_key key) {
    if (m->slots == 0) return TIMELINE_NO_INDEX;
    uint32_t v = m->values[find(m, key)];
    return v == 0 ? TIMELINE_NO_INDEX : v - 1;
}

static bool grow(pair_map *m) {
    pair_map bigger = {.slots = m->slots == 0 ? 256 : m->slots * 2, .n = m->n};
    bigger.keys = mem_alloc(MEM_MISC, bigger.slots, sizeof *bigger.keys);
    bigger.values = mem_calloc(MEM_MISC, bigger.slots, sizeof *bigger.values);
    if (bigger.keys == NULL || bigger.values == NULL) {
        pair_map_release(&bigger);
        return false;
    }
    for (size_t i = 0; i < m->slots; i++) {
        if (m->values[i] == 0) continue;
        size_t at = find(&bigger, m->keys[i]);
        bigger.keys[at] = m->keys[i];
        bigger.values[at] = m->values[i];
    }
    pair_map_release(m);
    *m = bigger;
    return true;
}

bool pair_map_put(pair_map *m, pair_key key, uint32_t value) {
    if (m->n + 1 > m->slots / 2 && !grow(m)) return false;
    size_t i = find(m, key);
    if (m->values[i] == 0) m->n++;
    m->keys[i] = key;
    m->values[i] = value + 1;
    return true;
}

void pair_map_release(pair_map *m) {
    mem_free(m->keys);
    mem_free(m->values);
    *m = (pair_map){0};
}

bool pair_grow(void **items, size_t *cap, size_t n, size_t size) {
    if (n < *cap) return true;
    size_t bigger = *cap == 0 ? 64 : *cap * 2;
    void *p = mem_alloc(MEM_MISC, bigger, size);
    if (p == NULL) return false;
    if (n > 0) memcpy(p, *items, n * size);
    mem_free(*items);
    *items = p;
    *cap = bigger;
    return true;
}
