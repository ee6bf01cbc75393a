// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The stack of scope names a sink keeps when it has to name constraints. Names are kept as pointer and number and
// formatted only when asked for: a circuit enters hundreds of millions of scopes.
#ifndef CUZK_R1CS_SCOPE_H
#define CUZK_R1CS_SCOPE_H

#include "r1cs/cs.h"

enum { SCOPE_MAX_DEPTH = 64, SCOPE_TEXT_MAX = 512 };

typedef struct scope_name {
    const char *fmt; // static text, at most one "%u"
    int64_t index;   // < 0: none
} scope_name;

typedef struct scope_stack {
    scope_name names[SCOPE_MAX_DEPTH];
    uint32_t depth; // may exceed SCOPE_MAX_DEPTH; deeper names are not kept
    scope_name label;
} scope_stack;

static inline void scope_enter(scope_stack *s, const char *fmt, int64_t index) {
    if (s->depth < SCOPE_MAX_DEPTH) s->names[s->depth] = (scope_name){fmt, index};
    s->depth++;
}
static inline void scope_leave(scope_stack *s) {
    if (s->depth > 0) s->depth--;
}
static inline void scope_label(scope_stack *s, const char *fmt, int64_t index) { s->label = (scope_name){fmt, index}; }

// "scope/scope/label" with a NUL, cut to the size; returns the length without the NUL. An unnamed constraint has an
// empty label, one outside all scopes an empty path: "/label".
size_t scope_format(char *out, size_t size, const scope_stack *s);

#endif
