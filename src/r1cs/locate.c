// SPDX-License-Identifier: MIT OR Apache-2.0
#include "r1cs/locate.h"

static void on_alloc(cs *head, wire_kind kind, const fr *value) { (void)head, (void)kind, (void)value; }
static void on_alloc_input(cs *head, const fr *value) { (void)head, (void)value; }

static void on_enforce(cs *head, lc_view a, lc_view b, lc_view c) {
    locate_sink *s = (locate_sink *)head;
    (void)a, (void)b, (void)c;
    if (head->n_constraints == s->row) {
        s->found = true;
        scope_format(s->text, sizeof s->text, &s->scopes);
        cs_fail(head, CUZK_ERR_CANCELLED, "constraint %llu was found", (unsigned long long)s->row);
    }
    s->scopes.label = (scope_name){"", -1};
}

static void on_enter(cs *head, const char *fmt, int64_t index) {
    scope_enter(&((locate_sink *)head)->scopes, fmt, index);
}
static void on_leave(cs *head) { scope_leave(&((locate_sink *)head)->scopes); }
static void on_label(cs *head, const char *fmt, int64_t index) {
    scope_label(&((locate_sink *)head)->scopes, fmt, index);
}

static const cs_ops LOCATE_OPS = {.alloc = on_alloc,
                                  .alloc_input = on_alloc_input,
                                  .enforce = on_enforce,
                                  .enter = on_enter,
                                  .leave = on_leave,
                                  .label = on_label};

void locate_init(locate_sink *s, uint64_t row) {
    *s = (locate_sink){.row = row};
    s->scopes.label = (scope_name){"", -1};
    cs_init(&s->head, &LOCATE_OPS, false);
}
