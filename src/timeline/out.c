// SPDX-License-Identifier: MIT OR Apache-2.0
#include "timeline/out.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

void timeline_text_release(timeline_text *t) {
    mem_free(t->data);
    *t = (timeline_text){0};
}

static bool room(timeline_text *t, size_t n) {
    if (t->failed) return false;
    if (t->cap - t->len > n) return true;
    size_t cap = t->cap == 0 ? 4096 : t->cap;
    while (cap - t->len <= n) {
        if (cap > SIZE_MAX / 2) {
            t->failed = true;
            return false;
        }
        cap *= 2;
    }
    char *data = mem_alloc(MEM_MISC, cap, 1);
    if (data == NULL) {
        t->failed = true;
        return false;
    }
    if (t->len > 0) memcpy(data, t->data, t->len);
    mem_free(t->data);
    t->data = data;
    t->cap = cap;
    return true;
}

void text_put_n(timeline_text *t, const char *s, size_t n) {
    if (!room(t, n)) return;
    memcpy(t->data + t->len, s, n);
    t->len += n;
    t->data[t->len] = 0;
}

void text_put(timeline_text *t, const char *s) { text_put_n(t, s, strlen(s)); }

void text_put_f(timeline_text *t, const char *fmt, ...) {
    char small[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(small, sizeof small, fmt, ap);
    va_end(ap);
    if (n < 0) return;
    if ((size_t)n < sizeof small) {
        text_put_n(t, small, (size_t)n);
        return;
    }
    if (!room(t, (size_t)n)) return;
    va_start(ap, fmt);
    vsnprintf(t->data + t->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    t->len += (size_t)n;
}

void text_repeat(timeline_text *t, char c, size_t n) {
    if (!room(t, n)) return;
    memset(t->data + t->len, c, n);
    t->len += n;
    t->data[t->len] = 0;
}

void text_json_string(timeline_text *t, const char *s) {
    text_put_n(t, "\"", 1);
    for (; *s != 0; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            text_put_f(t, "\\%c", c);
        else if (c < 0x20 || c == 0x7f || c == '<' || c == '>' || c == '&')
            text_put_f(t, "\\u%04x", c);
        else
            text_put_n(t, s, 1);
    }
    text_put_n(t, "\"", 1);
}

void text_csv_field(timeline_text *t, const char *s) {
    bool formula = s[0] != 0 && strchr("=+-@\t\r", s[0]) != NULL;
    if (!formula && strpbrk(s, ",\"\r\n") == NULL) {
        text_put(t, s);
        return;
    }
    text_put(t, formula ? "\"'" : "\"");
    for (; *s != 0; s++) text_put_n(t, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
    text_put(t, "\"");
}

void text_xml(timeline_text *t, const char *s) {
    for (; *s != 0; s++) switch (*s) {
        case '&': text_put(t, "&amp;"); break;
        case '<': text_put(t, "&lt;"); break;
        case '>': text_put(t, "&gt;"); break;
        case '"': text_put(t, "&quot;"); break;
        case '\'': text_put(t, "&#39;"); break;
        default: text_put_n(t, s, 1);
        }
}

void text_ms(timeline_text *t, int64_t us) {
    uint64_t v = us < 0 ? (uint64_t)0 - (uint64_t)us : (uint64_t)us;
    text_put_f(t, "%s%" PRIu64 ".%03u", us < 0 ? "-" : "", v / 1000, (unsigned)(v % 1000));
}

void text_json_ms(timeline_text *t, int64_t us) {
    if (us == INT64_MIN)
        text_put(t, "null");
    else
        text_ms(t, us);
}

void text_json_number(timeline_text *t, double v) {
    if (v < 0)
        text_put(t, "null");
    else
        text_put_f(t, "%.3f", v);
}

void text_duration(char out[32], double us) {
    if (us < 1e6)
        snprintf(out, 32, "%.3f ms", us / 1e3);
    else
        snprintf(out, 32, "%.3f s", us / 1e6);
}

static bool starts_column(const char *s) {
    unsigned char c = (unsigned char)s[0];
    if ((c & 0xc0) == 0x80) return false;
    // Combining diacritical marks, U+0300 to U+036F.
    return !(c == 0xcc || (c == 0xcd && (unsigned char)s[1] < 0xb0));
}

size_t text_width(const char *s) {
    size_t n = 0;
    for (; *s != 0; s++) n += starts_column(s);
    return n;
}

void text_cell(timeline_text *t, const char *s, size_t width, bool right) {
    size_t w = text_width(s);
    if (w <= width) {
        if (right) text_repeat(t, ' ', width - w);
        text_put(t, s);
        if (!right) text_repeat(t, ' ', width - w);
        return;
    }
    size_t n = 0, columns = 0;
    while (s[n] != 0) {
        if (starts_column(s + n) && ++columns == width) break;
        n++;
    }
    text_put_n(t, s, n);
    text_put(t, "…");
}
