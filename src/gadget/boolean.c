// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gadget/boolean.h"

#include "gadget/constants.h"
#include "r1cs/lc.h"

static const lc_view EMPTY = {0, 0};

static wire alloc_bit(cs *s, bool value) {
    return cs_alloc(s, WIRE_BIT, s->has_values ? (value ? &FR_ONE : &FR_ZERO) : NULL);
}

static boolean is(wire w, bool value) { return (boolean){w, BOOLEAN_IS, value}; }

// Value of the wire beneath.
static bool wire_value(boolean a) { return a.value != (a.kind == BOOLEAN_NOT); }

uint32_t boolean_terms(term *t, uint32_t n, boolean a, const fr *coeff) {
    switch ((boolean_kind)a.kind) {
    case BOOLEAN_CONSTANT:
        if (a.value) t[n++] = (term){WIRE_ONE, *coeff};
        break;
    case BOOLEAN_IS: t[n++] = (term){a.wire, *coeff}; break;
    case BOOLEAN_NOT:
        t[n++] = (term){WIRE_ONE, *coeff};
        t[n].wire = a.wire;
        fr_neg(&t[n++].coeff, coeff);
        break;
    }
    return n;
}

// Writes x and y in ascending order with one coefficient, or once with its double.
static uint32_t two_terms(term *t, wire x, wire y, const fr *coeff) {
    if (x == y) {
        t[0].wire = x;
        fr_dbl(&t[0].coeff, coeff);
        return 1;
    }
    t[0] = (term){x < y ? x : y, *coeff};
    t[1] = (term){x < y ? y : x, *coeff};
    return 2;
}

boolean boolean_alloc(cs *s, bool value) {
    const wire w = alloc_bit(s, value);
    const term a[2] = {{WIRE_ONE, FR_ONE}, {w, GADGET_MINUS_ONE}};
    const term b = {w, FR_ONE};
    cs_label(s, "boolean constraint", -1);
    cs_enforce(s, (lc_view){a, 2}, (lc_view){&b, 1}, EMPTY);
    return is(w, value);
}

boolean boolean_alloc_unless(cs *s, bool value, boolean must_be_false) {
    const wire w = alloc_bit(s, value);
    const term a[3] = {{WIRE_ONE, FR_ONE}, {must_be_false.wire, GADGET_MINUS_ONE}, {w, GADGET_MINUS_ONE}};
    const term b = {w, FR_ONE};
    cs_label(s, "boolean constraint", -1);
    cs_enforce(s, (lc_view){a, 3}, (lc_view){&b, 1}, EMPTY);
    return is(w, value);
}

// (2a) b = a + b - c for c = a xor b, on the wires themselves.
static boolean xor_wires(cs *s, wire a, wire b, bool value) {
    const wire w = alloc_bit(s, value);
    const term ta = {a, GADGET_TWO}, tb = {b, FR_ONE};
    term tc[3];
    uint32_t n = two_terms(tc, a, b, &FR_ONE);
    tc[n++] = (term){w, GADGET_MINUS_ONE};
    cs_label(s, "xor constraint", -1);
    cs_enforce(s, (lc_view){&ta, 1}, (lc_view){&tb, 1}, (lc_view){tc, n});
    return is(w, value);
}

boolean boolean_xor(cs *s, boolean a, boolean b) {
    if (a.kind == BOOLEAN_CONSTANT) return a.value ? boolean_not(b) : b;
    if (b.kind == BOOLEAN_CONSTANT) return b.value ? boolean_not(a) : a;
    if (a.kind == b.kind) return xor_wires(s, a.wire, b.wire, a.value != b.value);
    // One is negated: the xor of the wires, negated; the plain one comes first.
    const boolean plain = a.kind == BOOLEAN_IS ? a : b, other = a.kind == BOOLEAN_IS ? b : a;
    return boolean_not(xor_wires(s, plain.wire, other.wire, wire_value(plain) != wire_value(other)));
}

boolean boolean_nor(cs *s, boolean a, boolean b) {
    const bool value = !wire_value(a) && !wire_value(b);
    const wire w = alloc_bit(s, value);
    const term ta[2] = {{WIRE_ONE, FR_ONE}, {a.wire, GADGET_MINUS_ONE}};
    const term tb[2] = {{WIRE_ONE, FR_ONE}, {b.wire, GADGET_MINUS_ONE}};
    const term tc = {w, FR_ONE};
    cs_label(s, "nor constraint", -1);
    cs_enforce(s, (lc_view){ta, 2}, (lc_view){tb, 2}, (lc_view){&tc, 1});
    return is(w, value);
}

boolean boolean_and(cs *s, boolean a, boolean b) {
    if ((a.kind == BOOLEAN_CONSTANT && !a.value) || (b.kind == BOOLEAN_CONSTANT && !b.value)) {
        return boolean_constant(false);
    }
    if (a.kind == BOOLEAN_CONSTANT) return b;
    if (b.kind == BOOLEAN_CONSTANT) return a;
    if (a.kind == BOOLEAN_NOT && b.kind == BOOLEAN_NOT) return boolean_nor(s, a, b);
    const bool value = a.value && b.value;
    if (a.kind == BOOLEAN_IS && b.kind == BOOLEAN_IS) {
        const wire w = alloc_bit(s, value);
        const term ta = {a.wire, FR_ONE}, tb = {b.wire, FR_ONE}, tc = {w, FR_ONE};
        cs_label(s, "and constraint", -1);
        cs_enforce(s, (lc_view){&ta, 1}, (lc_view){&tb, 1}, (lc_view){&tc, 1});
        return is(w, value);
    }
    const boolean plain = a.kind == BOOLEAN_IS ? a : b, negated = a.kind == BOOLEAN_IS ? b : a;
    const wire w = alloc_bit(s, value);
    const term ta = {plain.wire, FR_ONE}, tc = {w, FR_ONE};
    const term tb[2] = {{WIRE_ONE, FR_ONE}, {negated.wire, GADGET_MINUS_ONE}};
    cs_label(s, "and not constraint", -1);
    cs_enforce(s, (lc_view){&ta, 1}, (lc_view){tb, 2}, (lc_view){&tc, 1});
    return is(w, value);
}

// a (b - c) = r - c. At least one operand may be negated or a constant true; `r` is newer than all of them.
static void enforce_choose(cs *s, boolean a, boolean b, boolean c, wire r) {
    term ta[4], tb[2], tc[4];
    uint32_t na = boolean_terms(ta, 0, b, &FR_ONE);
    na = terms_normalise(ta, boolean_terms(ta, na, c, &GADGET_MINUS_ONE));
    const uint32_t nb = boolean_terms(tb, 0, a, &FR_ONE);
    uint32_t nc = boolean_terms(tc, 0, c, &GADGET_MINUS_ONE);
    tc[nc++] = (term){r, FR_ONE};
    cs_label(s, "ch computation", -1);
    cs_enforce(s, (lc_view){ta, na}, (lc_view){tb, nb}, (lc_view){tc, nc});
}

boolean boolean_choose(cs *s, boolean a, boolean b, boolean c) {
    const bool value = a.value ? b.value : c.value;
    const bool ka = boolean_is_constant(a), kb = boolean_is_constant(b), kc = boolean_is_constant(c);
    if (ka && kb && kc) return boolean_constant(value);
    if (ka && !a.value) return c;
    if (kb && !b.value) return boolean_and(s, boolean_not(a), c);
    if (kc && !c.value) return boolean_and(s, a, b);
    if (kc) return boolean_not(boolean_and(s, a, boolean_not(b)));
    if (kb) return boolean_not(boolean_and(s, boolean_not(a), boolean_not(c)));
    const wire r = alloc_bit(s, value);
    enforce_choose(s, a, b, c, r);
    return is(r, value);
}

boolean boolean_majority(cs *s, boolean a, boolean b, boolean c) {
    const bool value = (a.value && b.value) || (a.value && c.value) || (b.value && c.value);
    const bool ka = boolean_is_constant(a), kb = boolean_is_constant(b), kc = boolean_is_constant(c);
    if (ka && kb && kc) return boolean_constant(value);
    if (ka && !a.value) return boolean_and(s, b, c);
    if (kb && !b.value) return boolean_and(s, a, c);
    if (kc && !c.value) return boolean_and(s, a, b);
    if (kc) return boolean_not(boolean_and(s, boolean_not(a), boolean_not(b)));
    if (kb) return boolean_not(boolean_and(s, boolean_not(a), boolean_not(c)));
    if (ka) return boolean_not(boolean_and(s, boolean_not(b), boolean_not(c)));

    // The result's wire comes before that of (b and c): (2bc - b - c) a = bc - r.
    const wire r = alloc_bit(s, value);
    cs_enter(s, "b and c", -1);
    const boolean bc = boolean_and(s, b, c);
    cs_leave(s);
    term ta[6], tb[2];
    uint32_t na = boolean_terms(ta, 0, b, &GADGET_MINUS_ONE);
    na = boolean_terms(ta, na, c, &GADGET_MINUS_ONE);
    ta[na++] = (term){bc.wire, GADGET_TWO};
    na = terms_normalise(ta, na);
    const uint32_t nb = boolean_terms(tb, 0, a, &FR_ONE);
    const term tc[2] = {{r, GADGET_MINUS_ONE}, {bc.wire, FR_ONE}};
    cs_label(s, "maj computation", -1);
    cs_enforce(s, (lc_view){ta, na}, (lc_view){tb, nb}, (lc_view){tc, 2});
    return is(r, value);
}

void boolean_enforce_equal(cs *s, boolean a, boolean b) {
    if (boolean_is_constant(a) && boolean_is_constant(b)) {
        if (a.value != b.value) cs_fail(s, CUZK_ERR_INPUT, "circuit: two different constants are to be equal");
        return;
    }
    term t[4];
    uint32_t n;
    if (boolean_is_constant(a) || boolean_is_constant(b)) {
        const boolean constant = boolean_is_constant(a) ? a : b, x = boolean_is_constant(a) ? b : a;
        n = constant.value ? boolean_terms(t, boolean_terms(t, 0, constant, &FR_ONE), x, &GADGET_MINUS_ONE)
                           : boolean_terms(t, 0, x, &FR_ONE);
        cs_label(s, constant.value ? "enforce equal to one" : "enforce equal to zero", -1);
    } else {
        n = boolean_terms(t, boolean_terms(t, 0, a, &FR_ONE), b, &GADGET_MINUS_ONE);
        cs_label(s, "enforce equal", -1);
    }
    cs_enforce(s, EMPTY, EMPTY, (lc_view){t, terms_normalise(t, n)});
}

void boolean_reverse_bytes(boolean out[256], const boolean *in, uint32_t n) {
    for (uint32_t i = 0; i < 256; i++) {
        const uint32_t from = (i & ~7u) + 7 - (i & 7);
        out[i] = from < n ? in[from] : boolean_constant(false);
    }
}
