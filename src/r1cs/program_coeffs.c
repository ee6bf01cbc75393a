// SPDX-License-Identifier: MIT OR Apache-2.0
#include "r1cs/program_coeffs.h"

#include <string.h>

#include "base/mem.h"
#include "r1cs/program_format.h"

enum { FIRST_CAPACITY = 1024 };

static uint32_t slot_of(const program_coeffs *c, const fr *coeff) {
    const uint64_t h = (coeff->l[0] ^ coeff->l[1]) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t at = (uint32_t)(h >> 32) & c->slots_mask;
    while (c->slots[at] != 0 && !fr_eq(&c->values[c->slots[at] - 1], coeff)) at = (at + 1) & c->slots_mask;
    return at;
}

static bool rehash(program_coeffs *c, uint32_t size) {
    uint32_t *slots = mem_calloc(MEM_CIRCUIT, size, sizeof *slots);
    if (slots == NULL) return false;
    mem_free(c->slots);
    c->slots = slots;
    c->slots_mask = size - 1;
    for (uint32_t i = 0; i < c->n; i++) c->slots[slot_of(c, &c->values[i])] = i + 1;
    return true;
}

static bool grow(program_coeffs *c) {
    if (c->n < c->cap) return true;
    const uint32_t cap = c->cap == 0 ? FIRST_CAPACITY : 2 * c->cap;
    fr *values = c->n < UINT32_MAX / 8 ? mem_alloc(MEM_CIRCUIT, cap, sizeof *values) : NULL;
    coeff_class *classes = values != NULL ? mem_alloc(MEM_CIRCUIT, cap, sizeof *classes) : NULL;
    if (classes == NULL) {
        mem_free(values);
        return false;
    }
    if (c->n > 0) {
        memcpy(values, c->values, c->n * sizeof *values);
        memcpy(classes, c->classes, c->n * sizeof *classes);
    }
    mem_free(c->values);
    mem_free(c->classes);
    c->values = values;
    c->classes = classes;
    c->cap = cap;
    return true;
}

// Fills in the powers if |value| has few bits set.
static bool few_bits(coeff_class *out, const uint64_t limbs[4]) {
    uint32_t n = 0;
    for (int i = 0; i < 4; i++) n += (uint32_t)__builtin_popcountll(limbs[i]);
    if (n > COEFF_MAX_POWERS) return false;
    for (int i = 0; i < 4; i++)
        for (uint64_t w = limbs[i]; w != 0; w &= w - 1)
            out->exponent[out->n_powers++] = (uint8_t)(64 * i + __builtin_ctzll(w));
    return true;
}

static coeff_class classify(const fr *coeff) {
    coeff_class c = {0};
    uint64_t plus[4], minus[4];
    fr negated;
    fr_neg(&negated, coeff);
    fr_to_limbs(plus, coeff);
    fr_to_limbs(minus, &negated);
    const bool narrow = (plus[1] | plus[2] | plus[3]) == 0, narrow_minus = (minus[1] | minus[2] | minus[3]) == 0;
    if (narrow && plus[0] <= PROGRAM_SMALL) c.small = (int8_t)plus[0];
    if (narrow_minus && minus[0] <= PROGRAM_SMALL) c.small = (int8_t) - (int64_t)minus[0];
    if (!few_bits(&c, plus)) c.minus = few_bits(&c, minus);
    return c;
}

bool program_coeffs_number(program_coeffs *c, uint32_t *number, const fr *coeff) {
    uint32_t at = slot_of(c, coeff);
    if (c->slots[at] == 0) {
        if (!grow(c)) return false;
        c->values[c->n] = *coeff;
        c->classes[c->n] = classify(coeff);
        c->slots[at] = ++c->n;
        if (c->n > c->slots_mask / 2) {
            if (!rehash(c, (c->slots_mask + 1) * 2)) return false;
            at = slot_of(c, coeff);
        }
    }
    *number = c->slots[at] - 1;
    return true;
}

bool program_coeffs_init(program_coeffs *c) {
    *c = (program_coeffs){0};
    return rehash(c, FIRST_CAPACITY);
}

void program_coeffs_free(program_coeffs *c) {
    mem_free(c->values);
    mem_free(c->classes);
    mem_free(c->slots);
    *c = (program_coeffs){0};
}
