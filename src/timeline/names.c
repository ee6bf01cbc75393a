// SPDX-License-Identifier: MIT OR Apache-2.0
#include "timeline/names.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

// Length of the well-formed UTF-8 sequence at p (RFC 3629), 0 if there is none; *code is its code point.
static size_t utf8_at(uint32_t *code, const unsigned char *p, size_t len) {
    size_t need = p[0] < 0x80 ? 1 : p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : p[0] >= 0xe0 && p[0] < 0xf0 ? 3 : 0;
    if (p[0] >= 0xf0 && p[0] < 0xf5) need = 4;
    if (need == 0 || need > len) return 0;
    uint32_t c = need == 1 ? p[0] : p[0] & (0xffu >> (need + 1));
    for (size_t i = 1; i < need; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    if ((need == 3 && c < 0x800) || (need == 4 && (c < 0x10000 || c > 0x10ffff)) || (c >= 0xd800 && c < 0xe000))
        return 0;
    *code = c;
    return need;
}

size_t timeline_clean_text(char *out, const char *text, size_t len) {
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        uint32_t c = 0;
        size_t k = utf8_at(&c, (const unsigned char *)text + i, len - i);
        bool bad = k == 0 || c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x202a && c <= 0x202e) ||
                   (c >= 0x2066 && c <= 0x2069) || c == 0x2028 || c == 0x2029;
        if (bad) {
            memcpy(out + n, "\xef\xbf\xbd", 3);
            n += 3;
        } else {
            memcpy(out + n, text + i, k);
            n += k;
        }
        i += k == 0 ? 1 : k;
    }
    out[n] = 0;
    return n;
}

static uint64_t hash_of(const char *text, size_t len) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

static bool grow_slots(timeline_names *s) {
    uint32_t n = s->n_slots == 0 ? 256 : s->n_slots * 2;
    if (n == 0) return false;
    uint32_t *slots = mem_calloc(MEM_MISC, n, sizeof *slots);
    if (slots == NULL) return false;
    for (uint32_t id = 0; id < s->n; id++) {
        const char *t = s->text + s->at[id];
        uint32_t i = (uint32_t)hash_of(t, strlen(t)) & (n - 1);
        while (slots[i] != 0) i = (i + 1) & (n - 1);
        slots[i] = id + 1;
    }
    mem_free(s->slots);
    s->slots = slots;
    s->n_slots = n;
    return true;
}

static bool grow_text(timeline_names *s, size_t need) {
    if (s->text_cap - s->text_len >= need) return true;
    size_t cap = s->text_cap == 0 ? 4096 : s->text_cap * 2;
    if (cap > UINT32_MAX) return false; // offsets have 32 bits
    char *text = mem_alloc(MEM_MISC, cap, 1);
    if (text == NULL) return false;
    if (s->text_len > 0) memcpy(text, s->text, s->text_len);
    mem_free(s->text);
    s->text = text;
    s->text_cap = cap;
    return true;
}

static bool grow_at(timeline_names *s) {
    if (s->n < s->cap) return true;
    uint32_t cap = s->cap == 0 ? 128 : s->cap * 2;
    uint32_t *at = mem_alloc(MEM_MISC, cap, sizeof *at);
    if (at == NULL) return false;
    if (s->n > 0) memcpy(at, s->at, s->n * sizeof *at);
    mem_free(s->at);
    s->at = at;
    s->cap = cap;
    return true;
}

uint32_t timeline_names_add(timeline_names *s, const char *raw, size_t raw_len) {
    char clean[3 * TIMELINE_NAME_MAX + 1];
    if (raw_len > TIMELINE_NAME_MAX) raw_len = TIMELINE_NAME_MAX;
    size_t len = timeline_clean_text(clean, raw, raw_len);
    if (s->n + 1 > s->n_slots / 2 && !grow_slots(s)) return TIMELINE_NO_NAME;
    uint32_t i = (uint32_t)hash_of(clean, len) & (s->n_slots - 1);
    for (; s->slots[i] != 0; i = (i + 1) & (s->n_slots - 1))
        if (strcmp(s->text + s->at[s->slots[i] - 1], clean) == 0) return s->slots[i] - 1;
    if (!grow_text(s, sizeof clean) || !grow_at(s)) return TIMELINE_NO_NAME;
    memcpy(s->text + s->text_len, clean, len + 1);
    s->at[s->n] = (uint32_t)s->text_len;
    s->text_len += len + 1;
    s->slots[i] = s->n + 1;
    return s->n++;
}

const char *timeline_name(const timeline_names *s, uint32_t id) { return id < s->n ? s->text + s->at[id] : ""; }

void timeline_names_release(timeline_names *s) {
    mem_free(s->text);
    mem_free(s->at);
    mem_free(s->slots);
    *s = (timeline_names){0};
}
