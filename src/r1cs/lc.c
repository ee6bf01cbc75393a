// SPDX-License-Identifier: MIT OR Apache-2.0
#include "r1cs/lc.h"

#include <string.h>

#include "base/mem.h"

// Shell sort with the gap sequence of M. Ciura (2001): in place, no recursion, and linear on sorted input. Equal keys
// may change places; they are added up afterwards.
static void sort_terms(term *t, uint32_t n) {
    static const uint32_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++) {
        const uint32_t gap = gaps[g];
        for (uint32_t i = gap; i < n; i++) {
            const term x = t[i];
            uint32_t j = i;
            for (; j >= gap && t[j - gap].wire > x.wire; j -= gap) t[j] = t[j - gap];
            t[j] = x;
        }
    }
}

uint32_t terms_normalise(term *t, uint32_t n) {
    bool ascending = true, zero = false;
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0 && t[i - 1].wire >= t[i].wire) ascending = false;
        zero |= fr_is_zero(&t[i].coeff);
    }
    if (ascending && !zero) return n;
    if (!ascending) sort_terms(t, n);
    uint32_t out = 0;
    for (uint32_t i = 0; i < n;) {
        term sum = t[i++];
        while (i < n && t[i].wire == sum.wire) fr_add(&sum.coeff, &sum.coeff, &t[i++].coeff);
        if (!fr_is_zero(&sum.coeff)) t[out++] = sum;
    }
    return out;
}

void lc_evaluate(fr *out, lc_view v, const fr *inputs, const fr *aux) {
    fr minus_one, sum = FR_ZERO;
    fr_neg(&minus_one, &FR_ONE);
    for (uint32_t i = 0; i < v.n; i++) {
        const term *t = &v.terms[i];
        const fr *x = wire_is_aux(t->wire) ? &aux[wire_index(t->wire)] : &inputs[t->wire];
        if (fr_is_zero(x)) continue;
        if (fr_is_one(&t->coeff)) {
            fr_add(&sum, &sum, x);
        } else if (fr_eq(&t->coeff, &minus_one)) {
            fr_sub(&sum, &sum, x);
        } else if (fr_is_one(x)) {
            fr_add(&sum, &sum, &t->coeff);
        } else {
            fr product;
            fr_mul(&product, &t->coeff, x);
            fr_add(&sum, &sum, &product);
        }
    }
    *out = sum;
}

void lc_init(lc *l) { *l = (lc){0}; }

void lc_free(lc *l) {
    mem_free(l->terms);
    *l = (lc){0};
}

static bool lc_reserve(lc *l, uint32_t more) {
    if (more <= l->cap - l->n) return true;
    uint64_t cap = l->cap < 32 ? 32 : (uint64_t)l->cap * 2;
    while (cap < (uint64_t)l->n + more) cap *= 2;
    if (cap > UINT32_MAX) return false;
    term *grown = mem_alloc(MEM_CIRCUIT, cap, sizeof *grown);
    if (grown == NULL) return false;
    if (l->n > 0) memcpy(grown, l->terms, l->n * sizeof *grown);
    mem_free(l->terms);
    l->terms = grown;
    l->cap = (uint32_t)cap;
    return true;
}

bool lc_add(lc *l, wire w, const fr *coeff) {
    if (!lc_reserve(l, 1)) return false;
    l->terms[l->n++] = (term){w, *coeff};
    return true;
}

bool lc_add_scaled(lc *l, const fr *scale, const lc *other) {
    if (!lc_reserve(l, other->n)) return false;
    term *to = &l->terms[l->n];
    for (uint32_t i = 0; i < other->n; i++) {
        to[i].wire = other->terms[i].wire;
        if (scale == NULL) {
            to[i].coeff = other->terms[i].coeff;
        } else {
            fr_mul(&to[i].coeff, &other->terms[i].coeff, scale);
        }
    }
    l->n += other->n;
    return true;
}

void lc_scale(lc *l, const fr *scale) {
    for (uint32_t i = 0; i < l->n; i++) fr_mul(&l->terms[i].coeff, &l->terms[i].coeff, scale);
}

lc_view lc_finish(lc *l) {
    l->n = terms_normalise(l->terms, l->n);
    return (lc_view){l->terms, l->n};
}
