// SPDX-License-Identifier: MIT OR Apache-2.0
#include "r1cs/scope.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct writer {
    char *out;
    size_t size, len; // len < size
} writer;

static void put(writer *w, const char *text, size_t len) {
    const size_t room = w->size - 1 - w->len;
    if (len > room) len = room;
    memcpy(w->out + w->len, text, len);
    w->len += len;
}

// Not printf: the formats are data here, and the only directive is one %u.
static void put_name(writer *w, scope_name n) {
    if (n.fmt == NULL) return;
    const char *at = n.index < 0 ? NULL : strstr(n.fmt, "%u");
    if (at == NULL) {
        put(w, n.fmt, strlen(n.fmt));
        return;
    }
    char number[24];
    const int digits = snprintf(number, sizeof number, "%" PRId64, n.index);
    put(w, n.fmt, (size_t)(at - n.fmt));
    put(w, number, digits > 0 ? (size_t)digits : 0);
    put(w, at + 2, strlen(at + 2));
}

size_t scope_format(char *out, size_t size, const scope_stack *s) {
    if (size == 0) return 0;
    writer w = {out, size, 0};
    const uint32_t depth = s->depth < SCOPE_MAX_DEPTH ? s->depth : SCOPE_MAX_DEPTH;
    for (uint32_t i = 0; i < depth; i++) {
        if (i > 0) put(&w, "/", 1);
        put_name(&w, s->names[i]);
    }
    put(&w, "/", 1);
    put_name(&w, s->label);
    out[w.len] = 0;
    return w.len;
}
