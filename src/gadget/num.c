// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gadget/num.h"

#include <stdlib.h>

#include "gadget/constants.h"
#include "gadget/ports.h"
#include "r1cs/lc.h"

static const lc_view EMPTY = {0, 0};
num num_alloc(cs *s, const fr *value) {
    if (!s->has_values) return (num){cs_alloc(s, WIRE_FIELD, NULL), FR_ZERO};
    return (num){cs_alloc(s, WIRE_FIELD, value), *value};
}

num num_alloc_input(cs *s, const fr *value) {
    if (!s->has_values) return (num){cs_alloc_input(s, NULL), FR_ZERO};
    return (num){cs_alloc_input(s, value), *value};
}

// x * 1 = y
static void enforce_same(cs *s, wire x, wire y) {
    const term tx = {x, FR_ONE}, ty = {y, FR_ONE};
    cs_enforce(s, (lc_view){&tx, 1}, (lc_view){&GADGET_ONE, 1}, (lc_view){&ty, 1});
}

void num_inputize(cs *s, const num *a) {
    const num input = num_alloc_input(s, &a->value);
    cs_label(s, "enforce input is correct", -1);
    enforce_same(s, input.wire, a->wire);
}

// 0 * 0 = sum of 2^i bits[i] - a
static void enforce_unpacking(cs *s, const boolean bits[FR_BITS], const num *a) {
    const fr *powers = gadget_powers_of_two();
    term t[FR_BITS + 1];
    t[0] = (term){a->wire, GADGET_MINUS_ONE};
    for (uint32_t i = 0; i < FR_BITS; i++) t[i + 1] = (term){bits[i].wire, powers[i]};
    cs_label(s, "unpacking constraint", -1);
    cs_enforce(s, EMPTY, EMPTY, (lc_view){t, terms_normalise(t, FR_BITS + 1)});
}

static bool limb_bit(const uint64_t limbs[4], uint32_t i) { return (limbs[i >> 6] >> (i & 63) & 1) != 0; }

static void to_bits(cs *s, boolean bits[FR_BITS], const num *a) {
    uint64_t limbs[4];
    fr_to_limbs(limbs, &a->value);
    for (uint32_t i = 0; i < FR_BITS; i++) {
        cs_enter(s, "bit %u", i);
        bits[i] = boolean_alloc(s, limb_bit(limbs, i));
        cs_leave(s);
    }
    enforce_unpacking(s, bits, a);
}

static void to_bits_strict(cs *s, boolean bits[FR_BITS], const num *a) {
    uint64_t limbs[4], top[4];
    fr_to_limbs(limbs, &a->value);
    fr_to_limbs(top, &GADGET_MINUS_ONE); // the greatest number allowed

    // From the top: where `top` has a run of ones, remember whether all bits so far equal those of `top`; where it has
    // a zero, the bit must be zero if they do.
    boolean run[FR_BITS], last = boolean_constant(false);
    uint32_t n_run = 0;
    for (uint32_t k = 0; k < FR_BITS; k++) {
        const uint32_t i = FR_BITS - 1 - k;
        if (limb_bit(top, i)) {
            cs_enter(s, "bit %u", k);
            bits[i] = boolean_alloc(s, limb_bit(limbs, i));
            cs_leave(s);
            run[n_run++] = bits[i];
            continue;
        }
        if (n_run > 0) {
            if (!boolean_is_constant(last)) run[n_run++] = last;
            cs_enter(s, "run ending at %u", k);
            last = run[0];
            for (uint32_t j = 1; j < n_run; j++) {
                cs_enter(s, "and %u", j);
                last = boolean_and(s, last, run[j]);
                cs_leave(s);
            }
            cs_leave(s);
            n_run = 0;
        }
        cs_enter(s, "bit %u", k);
        bits[i] = boolean_alloc_unless(s, limb_bit(limbs, i), last);
        cs_leave(s);
    }
    enforce_unpacking(s, bits, a);
}

// The wires of to_bits, from the number itself.
static void to_bits_native(cs *s, boolean bits[FR_BITS], const num *a) {
    uint64_t limbs[4];
    fr_to_limbs(limbs, &a->value);
    const wire first = cs_alloc_bits(s, limbs, FR_BITS);
    for (uint32_t i = 0; i < FR_BITS; i++) bits[i] = (boolean){first + i, BOOLEAN_IS, limb_bit(limbs, i)};
}

// Either of the two above, as a template.
static void to_bits_call(cs *s, boolean bits[FR_BITS], const num *a, bool strict) {
    if (cs_is_native(s) && !strict) {
        to_bits_native(s, bits, a);
        return;
    }
    port in = port_of_num(a), out[FR_BITS];
    const template_call call = {strict ? "num to bits, strict" : "num to bits", 0, 1, FR_BITS, &in, out};
    const bool templates = cs_has_templates(s);
    if (templates && cs_template_begin(s, &call)) {
        for (uint32_t i = 0; i < FR_BITS; i++) bits[i] = boolean_of_port(out[i]);
        return;
    }
    if (strict)
        to_bits_strict(s, bits, a);
    else
        to_bits(s, bits, a);
    if (!templates) return;
    for (uint32_t i = 0; i < FR_BITS; i++) out[i] = port_of_boolean(bits[i]);
    cs_template_end(s, &call);
}

void num_to_bits(cs *s, boolean bits[FR_BITS], const num *a) { to_bits_call(s, bits, a, false); }
void num_to_bits_strict(cs *s, boolean bits[FR_BITS], const num *a) { to_bits_call(s, bits, a, true); }

num num_mul(cs *s, const num *a, const num *b) {
    fr value = FR_ZERO;
    if (s->has_values) fr_mul(&value, &a->value, &b->value);
    const num r = num_alloc(s, &value);
    const term ta = {a->wire, FR_ONE}, tb = {b->wire, FR_ONE}, tr = {r.wire, FR_ONE};
    cs_label(s, "multiplication constraint", -1);
    cs_enforce(s, (lc_view){&ta, 1}, (lc_view){&tb, 1}, (lc_view){&tr, 1});
    return r;
}

num num_square(cs *s, const num *a) {
    fr value = FR_ZERO;
    if (s->has_values) fr_sqr(&value, &a->value);
    const num r = num_alloc(s, &value);
    const term ta = {a->wire, FR_ONE}, tr = {r.wire, FR_ONE};
    cs_label(s, "squaring constraint", -1);
    cs_enforce(s, (lc_view){&ta, 1}, (lc_view){&ta, 1}, (lc_view){&tr, 1});
    return r;
}

void num_assert_nonzero(cs *s, const num *a) {
    fr value = FR_ZERO;
    if (s->has_values) fr_inv(&value, &a->value);
    const num inverse = num_alloc(s, &value);
    const term ta = {a->wire, FR_ONE}, ti = {inverse.wire, FR_ONE};
    cs_label(s, "nonzero assertion constraint", -1);
    cs_enforce(s, (lc_view){&ta, 1}, (lc_view){&ti, 1}, (lc_view){&GADGET_ONE, 1});
}

void num_enforce_equal(cs *s, const char *label, const num *a, const num *b) {
    cs_label(s, label, -1);
    enforce_same(s, a->wire, b->wire);
}

// (x + y) * 1 = z
static void enforce_sum(cs *s, wire x, wire y, wire z) {
    term t[2] = {{x, FR_ONE}, {y, FR_ONE}};
    const term tz = {z, FR_ONE};
    const uint32_t n = terms_normalise(t, 2);
    cs_enforce(s, (lc_view){t, n}, (lc_view){&GADGET_ONE, 1}, (lc_view){&tz, 1});
}

num num_add(cs *s, const num *a, const num *b) {
    fr value;
    fr_add(&value, &a->value, &b->value);
    const num r = num_alloc(s, &value);
    cs_label(s, "sum constraint", -1);
    enforce_sum(s, a->wire, b->wire, r.wire);
    return r;
}

num num_sub(cs *s, const num *a, const num *b) {
    fr value;
    fr_sub(&value, &a->value, &b->value);
    const num r = num_alloc(s, &value);
    cs_label(s, "subtraction constraint", -1);
    enforce_sum(s, r.wire, b->wire, a->wire);
    return r;
}

num num_encode(cs *s, const num *key, const num *value) {
    cs_enter(s, "encode_add", -1);
    const num r = num_add(s, key, value);
    cs_leave(s);
    return r;
}

num num_decode(cs *s, const num *key, const num *value) {
    cs_enter(s, "decode_sub", -1);
    const num r = num_sub(s, value, key);
    cs_leave(s);
    return r;
}

// (b - a) condition = b - r
num num_pick(cs *s, boolean condition, const num *a, const num *b) {
    const num r = num_alloc(s, condition.value ? &a->value : &b->value);
    term ta[2] = {{b->wire, FR_ONE}, {a->wire, GADGET_MINUS_ONE}}, tb[2];
    const uint32_t na = terms_normalise(ta, 2), nb = boolean_terms(tb, 0, condition, &FR_ONE);
    const term tc[2] = {{b->wire, FR_ONE}, {r.wire, GADGET_MINUS_ONE}};
    cs_label(s, "pick", -1);
    cs_enforce(s, (lc_view){ta, na}, (lc_view){tb, nb}, (lc_view){tc, 2});
    return r;
}

static num pick_in(cs *s, const char *scope, boolean condition, const num *a, const num *b) {
    cs_enter(s, scope, -1);
    const num r = num_pick(s, condition, a, b);
    cs_leave(s);
    return r;
}

static void insert_2(cs *s, num *out, const num *a, const boolean *bits, const num *others) {
    out[0] = pick_in(s, "binary insert 0", bits[0], &others[0], a);
    out[1] = pick_in(s, "binary insert 1", bits[0], a, &others[0]);
}

// Names as in the public source: p2_x1 is place 2 when bit 1 is 1 and bit 0 not looked at yet.
static void insert_4(cs *s, num *out, const num *a, const boolean *bits, const num *others) {
    const num *b = &others[0], *c = &others[1], *d = &others[2];
    num t;
    t = pick_in(s, "p0_x0", bits[0], b, a);
    out[0] = pick_in(s, "p0", bits[1], b, &t);
    t = pick_in(s, "p1_x0", bits[0], a, b);
    out[1] = pick_in(s, "p1", bits[1], c, &t);
    t = pick_in(s, "p2_x1", bits[0], d, a);
    out[2] = pick_in(s, "p2", bits[1], &t, c);
    t = pick_in(s, "p3_x1", bits[0], a, d);
    out[3] = pick_in(s, "p3", bits[1], &t, d);
}

static void insert_8(cs *s, num *out, const num *a, const boolean *bits, const num *others) {
    const num *b = &others[0], *c = &others[1], *d = &others[2], *e = &others[3], *f = &others[4], *g = &others[5],
              *h = &others[6];
    const boolean b0 = bits[0], b1 = bits[1], b2 = bits[2];
    cs_enter(s, "b0 nor b1", -1);
    const boolean neither = boolean_nor(s, b0, b1);
    cs_leave(s);
    cs_enter(s, "b0 and b1", -1);
    const boolean both = boolean_and(s, b0, b1);
    cs_leave(s);
    num t;
    t = pick_in(s, "p0_xx0", neither, a, b);
    out[0] = pick_in(s, "p0", b2, b, &t);
    t = pick_in(s, "p1_x00", b0, a, b);
    t = pick_in(s, "p1_xx0", b1, c, &t);
    out[1] = pick_in(s, "p1", b2, c, &t);
    t = pick_in(s, "p2_x10", b0, d, a);
    t = pick_in(s, "p2_xx0", b1, &t, c);
    out[2] = pick_in(s, "p2", b2, d, &t);
    t = pick_in(s, "p3_xx0", both, a, d);
    out[3] = pick_in(s, "p3", b2, e, &t);
    t = pick_in(s, "p4_xx1", neither, a, f);
    out[4] = pick_in(s, "p4", b2, &t, e);
    t = pick_in(s, "p5_x01", b0, a, f);
    t = pick_in(s, "p5_xx1", b1, g, &t);
    out[5] = pick_in(s, "p5", b2, &t, f);
    t = pick_in(s, "p6_x11", b0, h, a);
    t = pick_in(s, "p6_xx1", b1, &t, g);
    out[6] = pick_in(s, "p6", b2, &t, g);
    t = pick_in(s, "p7_xx1", both, a, h);
    out[7] = pick_in(s, "p7", b2, &t, h);
}

void num_insert(cs *s, num *out, const num *element, const boolean *bits, uint32_t n_bits, const num *others) {
    switch (n_bits) {
    case 1: insert_2(s, out, element, bits, others); break;
    case 2: insert_4(s, out, element, bits, others); break;
    case 3: insert_8(s, out, element, bits, others); break;
    default: cs_fail(s, CUZK_ERR_USAGE, "circuit: no insertion among 2^%u numbers (2, 4 or 8)", n_bits); break;
    }
}

// The weighted sum of at most 254 bits: terms (at most 2 n; none if no rows are wanted), and its value.
static uint32_t weighted_sum(const cs *s, term *t, fr *value, const boolean *bits, uint32_t n) {
    const fr *powers = gadget_powers_of_two();
    uint64_t limbs[4] = {0};
    uint32_t n_terms = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (cs_wants_rows(s)) n_terms = boolean_terms(t, n_terms, bits[i], &powers[i]);
        limbs[i >> 6] |= (uint64_t)bits[i].value << (i & 63);
    }
    fr_from_limbs(value, limbs);
    return terms_normalise(t, n_terms);
}

static void enforce_packing(cs *s, const term *t, uint32_t n, wire r, int64_t index) {
    const term tr = {r, FR_ONE};
    cs_label(s, index < 0 ? "packing constraint" : "packing constraint %u", index);
    cs_enforce(s, (lc_view){t, n}, (lc_view){&GADGET_ONE, 1}, (lc_view){&tr, 1});
}

static num pack_bits(cs *s, const boolean *bits, uint32_t n) {
    term t[2 * FR_CAPACITY];
    fr value;
    const uint32_t n_terms = weighted_sum(s, t, &value, bits, n);
    const num r = num_alloc(s, &value);
    enforce_packing(s, t, n_terms, r.wire, -1);
    return r;
}

num num_pack_bits(cs *s, const boolean *bits, uint32_t n) {
    if (n > FR_CAPACITY) n = FR_CAPACITY;
    if (!cs_has_templates(s)) return pack_bits(s, bits, n);
    port in[FR_CAPACITY], out;
    for (uint32_t i = 0; i < n; i++) in[i] = port_of_boolean(bits[i]);
    const template_call call = {"pack", 0, n, 1, in, &out};
    if (cs_template_begin(s, &call)) return num_of_port(out);
    const num r = pack_bits(s, bits, n);
    out = port_of_num(&r);
    cs_template_end(s, &call);
    return r;
}

void num_pack_into_inputs(cs *s, const boolean *bits, uint32_t n) {
    term t[2 * FR_CAPACITY];
    for (uint32_t from = 0; from < n; from += FR_CAPACITY) {
        fr value;
        const uint32_t run = n - from < FR_CAPACITY ? n - from : FR_CAPACITY;
        const uint32_t n_terms = weighted_sum(s, t, &value, bits + from, run);
        const num input = num_alloc_input(s, &value);
        enforce_packing(s, t, n_terms, input.wire, from / FR_CAPACITY);
    }
}
