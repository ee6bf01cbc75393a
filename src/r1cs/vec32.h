// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A growable array of 32-bit words.
#ifndef CUZK_R1CS_VEC32_H
#define CUZK_R1CS_VEC32_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

typedef struct vec32 {
    uint32_t *at;
    uint32_t n, cap;
} vec32;

// Room for `more` words behind the n there are. False when memory is refused or 2^32 words are passed.
static inline bool vec32_reserve(vec32 *v, uint32_t more) {
    if (more <= v->cap - v->n) return true;
    uint64_t cap = v->cap < 256 ? 256 : (uint64_t)v->cap * 2;
    while (cap < (uint64_t)v->n + more) cap *= 2;
    if (cap > UINT32_MAX) return false;
    uint32_t *grown = mem_alloc(MEM_CIRCUIT, cap, sizeof *grown);
    if (grown == NULL) return false;
    if (v->n > 0) memcpy(grown, v->at, v->n * sizeof *grown);
    mem_free(v->at);
    v->at = grown;
    v->cap = (uint32_t)cap;
    return true;
}
static inline bool vec32_push(vec32 *v, uint32_t word) {
    if (v->n == v->cap && !vec32_reserve(v, 1)) return false;
    v->at[v->n++] = word;
    return true;
}
// A copy of exact size; false when memory is refused.
static inline bool vec32_copy(uint32_t **out, const vec32 *v) {
    *out = mem_alloc(MEM_CIRCUIT, v->n, sizeof **out);
    if (*out != NULL && v->n > 0) memcpy(*out, v->at, v->n * sizeof **out);
    return *out != NULL;
}
static inline void vec32_free(vec32 *v) {
    mem_free(v->at);
    *v = (vec32){0};
}

#endif
