// SPDX-License-Identifier: MIT OR Apache-2.0
#include "made_system.h"

#include "r1cs/lc.h"

enum { MAX_TERMS = 300, ENDS = 5 };

void made_coeff(fr *out, test_rng *r) {
    uint8_t wide[64] = {0};
    switch (test_below(r, 6)) {
    case 0: fr_from_u64(out, 1 + test_below(r, 8)); break;
    case 1: fr_from_u64(out, 9 + test_below(r, 100)); break;
    case 2:
        *out = FR_ONE;
        for (uint64_t n = test_below(r, 256); n > 0; n--) fr_dbl(out, out);
        break;
    case 3: fr_from_u64(out, test_u64(r) | 1); break;
    default:
        for (int i = 0; i < 64; i++) wide[i] = (uint8_t)test_u64(r);
        fr_from_le_bytes_wide(out, wide);
    }
    if (test_below(r, 2) != 0) fr_neg(out, out);
}

// A row over some of the given wires.
static void random_row(cs *s, test_rng *r, const wire *wires, uint32_t n) {
    term t[3][MAX_TERMS];
    lc_view v[3];
    const bool small = test_below(r, 2) != 0;
    for (int k = 0; k < 3; k++) {
        uint32_t len = (uint32_t)test_below(r, test_below(r, 10) == 0 ? MAX_TERMS : 6);
        for (uint32_t i = 0; i < len; i++) {
            t[k][i].wire = wires[test_below(r, n)];
            if (small)
                t[k][i].coeff = FR_ONE;
            else
                made_coeff(&t[k][i].coeff, r);
        }
        v[k] = (lc_view){t[k], terms_normalise(t[k], len)};
    }
    cs_enforce(s, v[0], v[1], v[2]);
}

static wire random_wire(cs *s, test_rng *r) { return cs_alloc(s, test_below(r, 3) == 0 ? WIRE_FIELD : WIRE_BIT, NULL); }

// A gadget of ENDS inputs: what it does follows from the variant and from kinds and repetitions of its inputs.
static void gadget(cs *s, const made *m, uint32_t variant, const port in[ENDS], port out[ENDS], int depth) {
    const template_call call = {depth % 2 == 0 ? "even" : "odd", variant, ENDS, ENDS, in, out};
    if (cs_has_templates(s) && cs_template_begin(s, &call)) return;
    wire wires[64] = {WIRE_ONE};
    uint32_t n = 1;
    test_rng r = {variant + 1};
    for (uint32_t i = 0; i < ENDS; i++) {
        if (in[i].kind != PORT_IS && in[i].kind != PORT_NOT) continue;
        bool seen = false;
        for (uint32_t k = 0; k < n; k++) seen |= wires[k] == in[i].wire;
        if (!seen) wires[n++] = in[i].wire;
        test_u64(&r), r.state += in[i].kind + 2u * seen;
    }
    if (m->foreign) wires[n++] = WIRE_AUX;
    for (uint64_t i = 4 + test_below(&r, 20); i > 0 && n < 60; i--) {
        if (test_below(&r, 2) != 0) wires[n++] = random_wire(s, &r);
        random_row(s, &r, wires, n);
        if (depth < 2 && test_below(&r, 8) == 0 && n < 40) {
            port inner[ENDS], inner_out[ENDS];
            for (uint32_t k = 0; k < ENDS; k++) inner[k] = (port){wires[test_below(&r, n)], PORT_IS};
            gadget(s, m, variant + 100, inner, inner_out, depth + 1);
            for (uint32_t k = 0; k < ENDS; k++)
                if (inner_out[k].kind == PORT_IS) wires[n++] = inner_out[k].wire;
        }
    }
    if (m->input_inside) (void)cs_alloc_input(s, NULL);
    for (uint32_t i = 0; i < ENDS; i++) out[i] = (port){wires[test_below(&r, n)], (uint32_t)test_below(&r, 4)};
    if (m->foreign_out) out[0] = (port){WIRE_AUX, PORT_IS};
    if (cs_has_templates(s)) cs_template_end(s, &call);
}

void made_synthesize(cs *s, const made *m, int steps) {
    test_rng r = m->rng;
    wire recent[40];
    for (int i = 0; i < 40; i++) recent[i] = i % 7 == 0 ? cs_alloc_input(s, NULL) : random_wire(s, &r);
    for (int step = 0; step < steps && s->status == CUZK_OK; step++) {
        switch (test_below(&r, 6)) {
        case 0: recent[test_below(&r, 40)] = random_wire(s, &r); break;
        case 1: recent[test_below(&r, 40)] = cs_alloc_input(s, NULL); break;
        case 2: random_row(s, &r, recent, 40); break;
        default: {
            port in[ENDS], out[ENDS];
            for (uint32_t i = 0; i < ENDS; i++) {
                // Few wires to choose from, so that some are given twice.
                in[i].wire = test_below(&r, 20) == 0 ? WIRE_ONE : recent[1 + test_below(&r, 20)];
                in[i].kind = test_below(&r, 8) == 0 ? PORT_ZERO + (uint32_t)test_below(&r, 2)
                                                    : PORT_IS + (uint32_t)test_below(&r, 2);
            }
            gadget(s, m, (uint32_t)test_below(&r, 3), in, out, 0);
            for (uint32_t i = 0; i < ENDS; i++)
                if (s->status == CUZK_OK && (out[i].kind == PORT_IS || out[i].kind == PORT_NOT))
                    recent[test_below(&r, 40)] = out[i].wire;
        }
        }
    }
}

cuzk_status made_program(program **out, const made *m, int steps, cuzk_error *err) {
    program_builder *b = NULL;
    const cuzk_status s = program_builder_create(&b, NULL, err);
    if (s != CUZK_OK) return s;
    made_synthesize(program_builder_sink(b), m, steps);
    return program_builder_finish(out, &b, err);
}
