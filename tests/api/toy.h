// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A circuit of two constraints, for keys and proofs that take milliseconds: x^2 = t, x * t = y - x - 5, y public.
#ifndef CUZK_TESTS_API_TOY_H
#define CUZK_TESTS_API_TOY_H

#include "circuit/circuit.h"

typedef struct toy {
    uint64_t x;
    uint64_t y;      // x^3 + x + 5 if honest
    unsigned copies; // so many times both constraints; another number is another circuit
} toy;

static void toy_copy(cs *s, const toy *t, wire y) {
    fr one, minus_one, minus_five, x, xx;
    fr_from_u64(&one, 1);
    fr_neg(&minus_one, &one);
    fr_from_u64(&minus_five, 5);
    fr_neg(&minus_five, &minus_five);
    fr_from_u64(&x, t->x);
    fr_mul(&xx, &x, &x);
    wire wx = cs_alloc(s, WIRE_FIELD, s->has_values ? &x : NULL);
    wire wt = cs_alloc(s, WIRE_FIELD, s->has_values ? &xx : NULL);
    const term lx[] = {{wx, one}}, lt[] = {{wt, one}};
    const term ly[] = {{WIRE_ONE, minus_five}, {y, one}, {wx, minus_one}};
    cs_label(s, "square", -1);
    cs_enforce(s, (lc_view){lx, 1}, (lc_view){lx, 1}, (lc_view){lt, 1});
    cs_label(s, "result", -1);
    cs_enforce(s, (lc_view){lx, 1}, (lc_view){lt, 1}, (lc_view){ly, 3});
}

static void toy_synthesize(const void *self, cs *s) {
    const toy *t = self;
    fr y;
    fr_from_u64(&y, t->y);
    wire wy = cs_alloc_input(s, s->has_values ? &y : NULL);
    for (unsigned i = 0; i < t->copies; i++) {
        cs_enter(s, "copy_%u", (int64_t)i);
        toy_copy(s, t, wy);
        cs_leave(s);
    }
}

static inline circuit toy_bind(const toy *t) { return (circuit){toy_synthesize, t}; }

#endif
