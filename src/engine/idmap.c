// SPDX-License-Identifier: MIT OR Apache-2.0
#include "engine/idmap.h"

#include "base/mem.h"

enum { FIRST_CAPACITY = 16 };

static size_t home(const idmap *m, uint64_t id) {
    return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (m->cap - 1);
}

static void insert(idmap *m, uint64_t id, void *value) {
    size_t i = home(m, id);
    while (m->slots[i].id != 0) i = (i + 1) & (m->cap - 1);
    m->slots[i] = (idmap_slot){id, value};
}

bool idmap_reserve(idmap *m) {
    if (2 * (m->n + 1) <= m->cap) return true;
    idmap bigger = {.n = m->n, .cap = m->cap == 0 ? FIRST_CAPACITY : 2 * m->cap};
    bigger.slots = mem_calloc(MEM_MISC, bigger.cap, sizeof *bigger.slots);
    if (bigger.slots == NULL) return false;
    for (size_t i = 0; i < m->cap; i++)
        if (m->slots[i].id != 0) insert(&bigger, m->slots[i].id, m->slots[i].value);
    mem_free(m->slots);
    *m = bigger;
    return true;
}

void idmap_put(idmap *m, uint64_t id, void *value) {
    insert(m, id, value);
    m->n++;
}

static size_t find(const idmap *m, uint64_t id) {
    if (m->cap == 0 || id == 0) return SIZE_MAX;
    size_t i = home(m, id);
    while (m->slots[i].id != 0) {
        if (m->slots[i].id == id) return i;
        i = (i + 1) & (m->cap - 1);
    }
    return SIZE_MAX;
}

void *idmap_get(const idmap *m, uint64_t id) {
    size_t i = find(m, id);
    return i == SIZE_MAX ? NULL : m->slots[i].value;
}

void *idmap_take(idmap *m, uint64_t id) {
    size_t hole = find(m, id);
    if (hole == SIZE_MAX) return NULL;
    void *value = m->slots[hole].value;
    // Entries behind the hole move up unless their home lies behind it (Knuth, volume 3, section 6.4, algorithm R).
    for (size_t i = (hole + 1) & (m->cap - 1); m->slots[i].id != 0; i = (i + 1) & (m->cap - 1)) {
        size_t from_home = (i - home(m, m->slots[i].id)) & (m->cap - 1), from_hole = (i - hole) & (m->cap - 1);
        if (from_home < from_hole) continue;
        m->slots[hole] = m->slots[i];
        hole = i;
    }
    m->slots[hole] = (idmap_slot){0, NULL};
    m->n--;
    return value;
}

void idmap_free(idmap *m) {
    mem_free(m->slots);
    *m = (idmap){0};
}
