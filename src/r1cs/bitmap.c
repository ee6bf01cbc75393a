// SPDX-License-Identifier: MIT OR Apache-2.0
#include "r1cs/bitmap.h"

#include <string.h>

#include "base/mem.h"

bool bitmap_reserve(bitmap *b, uint64_t n) {
    const uint64_t need = (n + 63) / 64;
    if (need <= b->n_words) return true;
    uint64_t words = b->n_words < 1024 ? 1024 : b->n_words * 2;
    if (words < need) words = need;
    uint64_t *grown = mem_calloc(MEM_CIRCUIT, words, sizeof *grown);
    if (grown == NULL) return false;
    if (b->n_words > 0) memcpy(grown, b->words, b->n_words * sizeof *grown);
    mem_free(b->words);
    b->words = grown;
    b->n_words = words;
    return true;
}

uint64_t bitmap_count(const bitmap *b) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < b->n_words; i++) n += (uint64_t)__builtin_popcountll(b->words[i]);
    return n;
}

void bitmap_free(bitmap *b) {
    mem_free(b->words);
    *b = (bitmap){0};
}
