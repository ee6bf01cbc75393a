// SPDX-License-Identifier: MIT OR Apache-2.0
#include "r1cs/count.h"

static void on_alloc(cs *head, wire_kind kind, const fr *value) {
    (void)value;
    ((count_sink *)head)->n_bits += kind == WIRE_BIT;
}

static void on_alloc_input(cs *head, const fr *value) { (void)head, (void)value; }

static void on_enforce(cs *head, lc_view a, lc_view b, lc_view c) {
    count_sink *s = (count_sink *)head;
    s->nnz[0] += a.n, s->nnz[1] += b.n, s->nnz[2] += c.n;
}

static const cs_ops ops = {.alloc = on_alloc, .alloc_input = on_alloc_input, .enforce = on_enforce};

void count_init(count_sink *s) {
    *s = (count_sink){0};
    cs_init(&s->head, &ops, false);
}
