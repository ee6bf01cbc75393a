// SPDX-License-Identifier: MIT OR Apache-2.0
#include "r1cs/trace.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"

static void write_line(trace_sink *s) {
    cs *head = &s->digest.head;
    uint8_t hash[32];
    digest_so_far(hash, &s->digest);
    char hex[17], path[SCOPE_TEXT_MAX], line[SCOPE_TEXT_MAX + 96];
    hex_encode(hex, hash, 8);
    scope_format(path, sizeof path, &s->scopes);
    const int n = snprintf(line, sizeof line, "%" PRIu64 " %" PRIu32 " %" PRIu32 " %s %s\n", head->n_constraints + 1,
                           head->n_inputs, head->n_aux, hex, path);
    if (n > 0) s->write(s->ctx, line, (size_t)n);
}

static void on_enforce(cs *head, lc_view a, lc_view b, lc_view c) {
    trace_sink *s = (trace_sink *)head;
    digest_on_enforce(head, a, b, c);
    if ((head->n_constraints + 1) % s->every == 0) write_line(s);
}

static void on_enter(cs *head, const char *fmt, int64_t index) {
    scope_enter(&((trace_sink *)head)->scopes, fmt, index);
}
static void on_leave(cs *head) { scope_leave(&((trace_sink *)head)->scopes); }
static void on_label(cs *head, const char *fmt, int64_t index) {
    scope_label(&((trace_sink *)head)->scopes, fmt, index);
}

static const cs_ops ops = {.alloc = digest_on_alloc,
                           .alloc_input = digest_on_alloc_input,
                           .enforce = on_enforce,
                           .enter = on_enter,
                           .leave = on_leave,
                           .label = on_label};

void trace_init(trace_sink *s, uint64_t every, void (*write)(void *ctx, const char *line, size_t len), void *ctx,
                const observer *obs) {
    s->scopes = (scope_stack){0};
    s->every = every;
    s->write = write;
    s->ctx = ctx;
    digest_init_as(&s->digest, &ops, obs);
}

void trace_destroy(trace_sink *s) { digest_destroy(&s->digest); }
