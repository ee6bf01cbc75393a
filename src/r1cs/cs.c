// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The head of every sink: counters, and the first failure, which makes every later call a no-op.
#include "r1cs/cs.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

void cs_init(cs *s, const cs_ops *ops, bool has_values) {
    *s = (cs){.ops = ops, .has_values = has_values};
    cs_alloc_input(s, has_values ? &FR_ONE : NULL);
}

wire cs_alloc(cs *s, wire_kind kind, const fr *value) {
    assert(s->has_values == (value != NULL));
    if (s->status != CUZK_OK) return WIRE_ONE;
    if (s->n_aux >= WIRE_AUX - 1) {
        cs_fail(s, CUZK_ERR_USAGE, "circuit: more than %u aux variables", s->n_aux);
        return WIRE_ONE;
    }
    s->ops->alloc(s, kind, value);
    return WIRE_AUX | s->n_aux++;
}

wire cs_alloc_bits(cs *s, const uint64_t *bits, uint32_t n) {
    if (s->status != CUZK_OK) return WIRE_ONE;
    if (n > WIRE_AUX - 1 - s->n_aux) {
        cs_fail(s, CUZK_ERR_USAGE, "circuit: more than %u aux variables", s->n_aux);
        return WIRE_ONE;
    }
    s->ops->alloc_bits(s, bits, n);
    const wire first = WIRE_AUX | s->n_aux;
    s->n_aux += n;
    return first;
}

wire cs_alloc_input(cs *s, const fr *value) {
    assert(s->has_values == (value != NULL));
    if (s->status != CUZK_OK) return WIRE_ONE;
    if (s->n_inputs >= WIRE_AUX - 1) {
        cs_fail(s, CUZK_ERR_USAGE, "circuit: more than %u inputs", s->n_inputs);
        return WIRE_ONE;
    }
    s->ops->alloc_input(s, value);
    return s->n_inputs++;
}

void cs_enforce(cs *s, lc_view a, lc_view b, lc_view c) {
    if (s->status != CUZK_OK) return;
    if (s->ops->enforce != 0) s->ops->enforce(s, a, b, c);
    s->n_constraints++;
}

void cs_fail(cs *s, cuzk_status status, const char *fmt, ...) {
    if (s->status != CUZK_OK) return;
    char text[CUZK_ERROR_TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    s->status = cuzk_fail(&s->error, status, "%s", text);
}
