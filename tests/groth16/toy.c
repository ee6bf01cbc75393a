// SPDX-License-Identifier: MIT OR Apache-2.0
#include "groth16/toy.h"

// Terms must come in ascending order of wires; all our combinations name the constant one first, then inputs, then aux.
static lc_view view(const term *terms, uint32_t n) { return (lc_view){terms, n}; }

static void next(fr *out, const fr *x, uint32_t k, bool linear) {
    fr c;
    fr_from_u64(&c, k);
    if (linear)
        *out = *x;
    else
        fr_sqr(out, x);
    fr_add(out, out, &c);
}

static void synthesize(const void *self, cs *s) {
    const toy *t = self;
    const bool v = s->has_values;
    fr x, minus_one, k;
    fr_neg(&minus_one, &FR_ONE);
    fr_from_u64(&x, t->seed);
    const term one = {WIRE_ONE, FR_ONE};
    wire w = cs_alloc(s, WIRE_FIELD, v ? &x : 0);
    cs_enter(s, "chain", -1);
    for (uint32_t i = 1; i <= t->steps; i++) {
        cs_enter(s, "step_%u", i);
        next(&x, &x, i, t->linear);
        if (t->wrong == i) fr_add(&x, &x, &FR_ONE);
        wire y = cs_alloc(s, WIRE_FIELD, v ? &x : 0);
        fr_from_u64(&k, i);
        if (t->linear) {
            const term a[] = {{WIRE_ONE, k}, {w, FR_ONE}}, c = {y, FR_ONE};
            cs_label(s, "sum", -1);
            cs_enforce(s, view(a, 2), view(&one, 1), view(&c, 1));
        } else {
            fr_neg(&k, &k);
            const term a = {w, FR_ONE}, c[] = {{WIRE_ONE, k}, {y, FR_ONE}};
            cs_label(s, "square", -1);
            cs_enforce(s, view(&a, 1), view(&a, 1), view(c, 2));
        }
        w = y;
        cs_leave(s);
    }
    cs_leave(s);
    wire out = cs_alloc_input(s, v ? &x : 0);
    const term difference[] = {{out, minus_one}, {w, FR_ONE}};
    cs_label(s, "output", -1);
    cs_enforce(s, view(difference, 2), view(&one, 1), view(0, 0));
    if (t->input_rows) {
        fr squared, doubled;
        fr_sqr(&squared, &x);
        fr_dbl(&doubled, &x);
        wire sq = cs_alloc_input(s, v ? &squared : 0), db = cs_alloc_input(s, v ? &doubled : 0);
        const term o = {out, FR_ONE}, q = {sq, FR_ONE}, two[] = {{out, FR_ONE}, {db, minus_one}};
        cs_enforce(s, view(&o, 1), view(&o, 1), view(&q, 1));
        // (out - 2 out) * 1 = -out
        const term minus = {out, minus_one};
        cs_enforce(s, view(two, 2), view(&one, 1), view(&minus, 1));
    }
    if (t->empty_b) {
        const term a = {w, FR_ONE};
        cs_enforce(s, view(&a, 1), view(0, 0), view(0, 0));
    }
    for (uint32_t i = 0; i < t->free_aux; i++) (void)cs_alloc(s, WIRE_FIELD, v ? &FR_ONE : 0);
}

circuit toy_bind(const toy *t) { return (circuit){synthesize, t}; }

uint32_t toy_public_inputs(fr out[TOY_MAX_INPUTS], const toy *t) {
    fr x;
    fr_from_u64(&x, t->seed);
    for (uint32_t i = 1; i <= t->steps; i++) next(&x, &x, i, t->linear);
    out[0] = x;
    if (!t->input_rows) return 1;
    fr_mul(&out[1], &x, &x);
    fr_add(&out[2], &x, &x);
    return 3;
}
