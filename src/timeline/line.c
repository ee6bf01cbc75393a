// SPDX-License-Identifier: MIT OR Apache-2.0
#include "timeline/line.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

size_t timeline_escape(char *out, size_t cap, const char *text, size_t len, bool value) {
    static const char HEX[] = "0123456789ABCDEF";
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool escape = c == ',' || c == '%' || c < 0x20 || c == 0x7f || (value && (c == ' ' || c == '='));
        if (n + (escape ? 3 : 1) >= cap) break;
        if (escape) {
            out[n++] = '%';
            out[n++] = HEX[c >> 4];
            out[n++] = HEX[c & 15];
        } else {
            out[n++] = (char)c;
        }
    }
    if (cap > 0) out[n] = 0;
    return n;
}

size_t timeline_unescape(char *text, size_t len) {
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '%' && i + 2 < len && hex_value(text[i + 1]) >= 0 && hex_value(text[i + 2]) >= 0) {
            text[n++] = (char)(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
            i += 2;
        } else {
            text[n++] = text[i];
        }
    }
    return n;
}

// Appends within the bound; a line that would not fit is cut, never overrun.
typedef struct cursor {
    char *out;
    size_t n, cap;
} cursor;

static void put(cursor *c, const char *text, size_t len) {
    if (len > c->cap - c->n) len = c->cap - c->n;
    memcpy(c->out + c->n, text, len);
    c->n += len;
}

static void put_text(cursor *c, const char *text) { put(c, text, strlen(text)); }

static void put_number(cursor *c, const char *key, uint64_t v, bool *first) {
    char t[96];
    int n = snprintf(t, sizeof t, "%s%s=%" PRIu64, *first ? "" : " ", key, v);
    put(c, t, n < 0 ? 0 : (size_t)n < sizeof t ? (size_t)n : sizeof t - 1);
    *first = false;
}

size_t timeline_line(char out[TIMELINE_LINE_MAX], uint64_t at_ns, timeline_kind kind, const char *job,
                     const timeline_detail *d) {
    cursor c = {out, 0, TIMELINE_LINE_MAX - 1}; // room for the newline
    char t[TIMELINE_JOB_MAX * 3 + 1];
    uint64_t us = at_ns / 1000;
    int n = snprintf(t, sizeof t, "TIMELINE,%" PRIu64 ".%03u,%s,", us / 1000, (unsigned)(us % 1000),
                     timeline_kind_word(kind));
    put(&c, t, (size_t)n);
    if (job == NULL || job[0] == 0) {
        put(&c, "-", 1);
    } else {
        size_t len = strlen(job);
        put(&c, t, timeline_escape(t, sizeof t, job, len, false));
    }
    put(&c, ",", 1);
    bool first = true;
    if (d->gpu >= 0) put_number(&c, "gpu", (uint64_t)d->gpu, &first);
    if (d->worker >= 0) put_number(&c, "worker", (uint64_t)d->worker, &first);
    if (d->partition >= 0) put_number(&c, "partition", (uint64_t)d->partition, &first);
    if (d->count >= 0) put_number(&c, "count", (uint64_t)d->count, &first);
    if (d->word_key != NULL && d->word != NULL) {
        if (!first) put(&c, " ", 1);
        put_text(&c, d->word_key);
        put(&c, "=", 1);
        char w[128];
        put(&c, w, timeline_escape(w, sizeof w, d->word, strlen(d->word), true));
        first = false;
    }
    if (d->number_key != NULL) put_number(&c, d->number_key, d->number, &first);
    if (d->text != NULL && d->text[0] != 0) {
        if (!first) put(&c, " ", 1);
        // Free text holds its own spaces and equals signs; only what would break the line is escaped.
        char w[TIMELINE_DETAIL_MAX * 3 + 1];
        size_t len = strlen(d->text), m = 0;
        for (size_t i = 0; i < len && i < TIMELINE_DETAIL_MAX; i++) {
            unsigned char ch = (unsigned char)d->text[i];
            w[m++] = ch < 0x20 || ch == 0x7f ? '?' : (char)ch;
        }
        put(&c, w, m);
    }
    out[c.n++] = '\n';
    return c.n;
}
