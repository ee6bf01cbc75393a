// SPDX-License-Identifier: MIT OR Apache-2.0
#include "r1cs/evaluate_plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "r1cs/vec32.h"

// --- Strips ---

typedef struct strip {
    uint32_t head; // as the group's
    uint32_t row, n;
    const uint32_t *first, *second, *last; // terms of these rows
} strip;

typedef struct strips {
    strip *at;
    size_t n, cap;
} strips;

static uint32_t terms_of(uint32_t head) { return (head & 0xff) + (head >> 8 & 0xff) + (head >> 16 & 0xff); }
static uint32_t coefficient(uint32_t word) { return word >> 24; }
// From the place of one term to that of another; large where it goes back.
static uint32_t step(uint32_t from, uint32_t to) { return (to & PROGRAM_PLACE) - (from & PROGRAM_PLACE); }

// Takes the row into the strip if it goes on like it.
static bool extend(strip *s, uint32_t row, uint32_t head, const uint32_t *terms) {
    const uint32_t distance = row - (s->row + (s->n - 1) * (s->head >> 24));
    if ((s->head & 0xffffff) != head || (s->n == 1 ? distance > PLAN_MAX_STEP : distance != s->head >> 24))
        return false;
    for (uint32_t i = 0, n = terms_of(head); i < n; i++) {
        const uint32_t from_last = step(s->last[i], terms[i]);
        if (coefficient(s->first[i]) != coefficient(terms[i]) || from_last > PLAN_MAX_STEP ||
            (s->n > 1 && from_last != step(s->first[i], s->second[i])))
            return false;
    }
    if (s->n == 1) s->second = terms;
    s->head = head | distance << 24;
    s->last = terms;
    s->n++;
    return true;
}

static bool push(strips *all, const strip *s) {
    if (all->n == all->cap) {
        const size_t cap = all->cap == 0 ? 256 : 2 * all->cap;
        strip *grown = mem_alloc(MEM_CIRCUIT, cap, sizeof *grown);
        if (grown == NULL) return false;
        if (all->n > 0) memcpy(grown, all->at, all->n * sizeof *grown);
        mem_free(all->at);
        all->at = grown;
        all->cap = cap;
    }
    all->at[all->n++] = *s;
    return true;
}

// Two rows that alternate are two strips at once, so the last two may both grow.
static bool cut(strips *all, const program_template *t) {
    const uint32_t *code = t->code;
    for (uint32_t row = 0; row < t->n_rows; row++) {
        const uint32_t head = *code;
        program_row r;
        code = program_row_read(&r, code);
        if (r.wide || (all->n > 0 && extend(&all->at[all->n - 1], row, head, r.terms)) ||
            (all->n > 1 && extend(&all->at[all->n - 2], row, head, r.terms)))
            continue;
        const strip s = {head | 1 << 24, row, 1, r.terms, r.terms, r.terms};
        if (!push(all, &s)) return false;
    }
    return true;
}

// By what a group has in common.
static int compare_shapes(const strip *a, const strip *b) {
    if (a->head != b->head) return a->head < b->head ? -1 : 1;
    for (uint32_t i = 0, n = terms_of(a->head); i < n; i++) {
        const uint32_t x = coefficient(a->first[i]) << 8 | step(a->first[i], a->second[i]),
                       y = coefficient(b->first[i]) << 8 | step(b->first[i], b->second[i]);
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}
static int compare_strips(const void *x, const void *y) {
    const strip *a = x, *b = y;
    const int c = compare_shapes(a, b);
    return c != 0 ? c : (a->row > b->row) - (a->row < b->row);
}

static bool put_group(vec32 *out, const strip *s, uint32_t n) {
    const uint32_t terms = terms_of(s->head);
    const uint64_t words = 2 + terms + (uint64_t)n * (2 + terms);
    if (words > UINT32_MAX || !vec32_reserve(out, (uint32_t)words)) return false;
    uint32_t *at = out->at + out->n;
    *at++ = s->head;
    *at++ = n;
    for (uint32_t i = 0; i < terms; i++) *at++ = coefficient(s->first[i]) | step(s->first[i], s->second[i]) << 8;
    for (const strip *end = s + n; s < end; s++) {
        *at++ = s->row;
        *at++ = s->n;
        for (uint32_t i = 0; i < terms; i++) *at++ = s->first[i] & PROGRAM_PLACE;
    }
    out->n += (uint32_t)words;
    return true;
}

static bool make_strips(vec32 *out, const program_template *t) {
    strips all = {0};
    bool ok = cut(&all, t);
    if (ok && all.n > 0) qsort(all.at, all.n, sizeof *all.at, compare_strips);
    for (size_t from = 0, to; ok && from < all.n; from = to) {
        for (to = from + 1; to < all.n && compare_shapes(&all.at[from], &all.at[to]) == 0;) to++;
        ok = put_group(out, &all.at[from], (uint32_t)(to - from));
    }
    mem_free(all.at);
    return ok;
}

// --- Wide rows ---

// Appends n powers as runs. A term continues the last run that waits for its exponent, if its place is where that run
// goes on. There must be room for n runs.
static uint32_t put_runs(vec32 *out, const uint32_t *powers, uint32_t n) {
    // By sign and exponent: a run's second word, and the place of its last bit.
    uint32_t *waiting[2][PROGRAM_EXPONENTS + 1] = {{NULL}}, last[2][PROGRAM_EXPONENTS + 1];
    const uint32_t before = out->n;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t place = powers[i] & PROGRAM_PLACE, exponent = powers[i] >> 24;
        const int minus = (powers[i] & PROGRAM_MINUS) != 0;
        uint32_t *run = waiting[minus][exponent];
        const uint32_t apart = run == NULL ? 0 : place - last[minus][exponent], bits = run == NULL ? 0 : *run & 0xff;
        if (apart == 0 || apart > PLAN_MAX_STEP || bits == PLAN_RUN_BITS || (bits > 1 && apart != *run >> 8)) {
            run = out->at + out->n + 1;
            out->at[out->n++] = powers[i];
            out->at[out->n++] = 1 | 1 << 8;
        } else {
            *run = (bits + 1) | apart << 8;
            waiting[minus][exponent] = NULL;
        }
        waiting[minus][exponent + 1] = run;
        last[minus][exponent + 1] = place;
    }
    return (out->n - before) / 2;
}

// The kinds of general terms, in the order in which they are written.
enum { BITS, ONES, MINUSES, PRODUCTS, KINDS };

static bool put_lc(vec32 *out, const program_lc *l, const fr *coeffs, const fr *minus_one) {
    const uint64_t most = 6 + 2 * ((uint64_t)l->n_powers + l->n_general);
    if (most > UINT32_MAX || !vec32_reserve(out, (uint32_t)most)) return false;
    const uint32_t head = out->n;
    out->n += 6;
    uint32_t runs = 0, powers = 0, n[KINDS] = {0};
    if (l->n_powers > PLAN_FEW_POWERS) {
        runs = put_runs(out, l->powers, l->n_powers);
    } else {
        powers = l->n_powers;
        for (uint32_t i = 0; i < powers; i++) out->at[out->n++] = l->powers[i];
    }
    for (int kind = 0; kind < KINDS; kind++)
        for (uint32_t i = 0; i < l->n_general; i++) {
            const uint32_t ref = l->general[2 * i], number = l->general[2 * i + 1];
            const int is = (ref & PROGRAM_FIELD) == 0          ? BITS
                           : fr_is_one(&coeffs[number])        ? ONES
                           : fr_eq(&coeffs[number], minus_one) ? MINUSES
                                                               : PRODUCTS;
            if (is != kind) continue;
            n[kind]++;
            out->at[out->n++] = ref;
            if (kind == BITS || kind == PRODUCTS) out->at[out->n++] = number;
        }
    const uint32_t numbers[6] = {runs, powers, n[BITS], n[ONES], n[MINUSES], n[PRODUCTS]};
    memcpy(out->at + head, numbers, sizeof numbers);
    return true;
}

static bool make_wide(vec32 *out, const program_template *t, const fr *coeffs) {
    const uint32_t *code = t->code;
    fr minus_one;
    fr_neg(&minus_one, &FR_ONE);
    for (uint32_t row = 0; row < t->n_rows; row++) {
        program_row r;
        code = program_row_read(&r, code);
        if (!r.wide) continue;
        if (!vec32_push(out, row)) return false;
        for (int k = 0; k < 3; k++)
            if (!put_lc(out, &r.lc[k], coeffs, &minus_one)) return false;
    }
    return true;
}

bool evaluate_plan_make(program_template *t, const fr *coeffs) {
    vec32 words[2] = {{0}, {0}};
    const bool ok = make_strips(&words[0], t) && make_wide(&words[1], t, coeffs) && vec32_copy(&t->strips, &words[0]) &&
                    vec32_copy(&t->wide, &words[1]);
    t->n_strips = words[0].n;
    t->n_wide = words[1].n;
    vec32_free(&words[0]);
    vec32_free(&words[1]);
    return ok;
}
