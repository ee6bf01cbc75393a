// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Values from text and back. Everything that is not exactly understood is refused.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "app/config.h"

// "12", "12.5", then spaces, then a unit. The value is whole + part / scale.
typedef struct quantity {
    uint64_t whole, part, scale;
    const char *unit; // the rest of the text
} quantity;

static bool parse_quantity(quantity *q, const char *text) {
    const char *p = text;
    *q = (quantity){.scale = 1};
    if (*p < '0' || *p > '9') return false;
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t d = (uint64_t)(*p - '0');
        if (q->whole > (UINT64_MAX - d) / 10) return false;
        q->whole = 10 * q->whole + d;
    }
    if (*p == '.') {
        if (p[1] < '0' || p[1] > '9') return false;
        for (p++; *p >= '0' && *p <= '9'; p++) {
            if (q->scale > 100000000) return false; // nine digits are enough
            q->part = 10 * q->part + (uint64_t)(*p - '0');
            q->scale *= 10;
        }
    }
    while (*p == ' ') p++;
    q->unit = p;
    return true;
}

// The quantity in multiples of 1 / unit, rounded down; false on overflow.
static bool scale_quantity(uint64_t *out, const quantity *q, uint64_t unit) {
    if (q->whole > UINT64_MAX / unit) return false;
    // part < scale <= 10^9, and unit / scale * part + ... never exceeds unit.
    uint64_t whole = q->whole * unit, part = unit / q->scale * q->part + unit % q->scale * q->part / q->scale;
    if (whole > UINT64_MAX - part) return false;
    *out = whole + part;
    return true;
}

typedef struct unit {
    const char *name;
    uint64_t size;
} unit;

static const unit SIZES[] = {
    {"B", 1},
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {"KB", UINT64_C(1000)},
    {"MB", UINT64_C(1000000)},
    {"GB", UINT64_C(1000000000)},
    {"TB", UINT64_C(1000000000000)},
};
static const unit TIMES[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"min", 60000}, {"h", 3600000}, {"d", 86400000}};
enum { N_SIZES = sizeof SIZES / sizeof *SIZES, N_TIMES = sizeof TIMES / sizeof *TIMES };

static bool parse_with_units(uint64_t *out, const char *text, const unit *units, size_t n, uint64_t plain) {
    quantity q;
    if (!parse_quantity(&q, text)) return false;
    if (*q.unit == 0) return q.scale == 1 && text[strlen(text) - 1] != ' ' && scale_quantity(out, &q, plain);
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(q.unit, units[i].name) == 0) return scale_quantity(out, &q, units[i].size);
    return false;
}

bool config_parse_size(uint64_t *bytes, const char *text) { return parse_with_units(bytes, text, SIZES, N_SIZES, 1); }

bool config_parse_duration(uint64_t *ms, uint32_t unit_ms, const char *text) {
    return parse_with_units(ms, text, TIMES, N_TIMES, unit_ms);
}

void config_format_size(char out[32], uint64_t bytes) {
    static const char *const NAMES[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    if (bytes == 0) {
        snprintf(out, 32, "0");
        return;
    }
    int u = 0;
    while (u < 4 && bytes % 1024 == 0) {
        bytes /= 1024;
        u++;
    }
    // 1536 MiB reads better as 1.5GiB; only halves and quarters, which are exact.
    if (u < 4 && bytes > 1024 && bytes % 256 == 0)
        snprintf(out, 32, bytes % 512 == 0 ? "%" PRIu64 ".%d%s" : "%" PRIu64 ".%02d%s", bytes / 1024,
                 bytes % 512 == 0 ? 5 : (int)(bytes % 1024 * 100 / 1024), NAMES[u + 1]);
    else
        snprintf(out, 32, "%" PRIu64 "%s", bytes, NAMES[u]);
}

void config_format_duration(char out[32], uint64_t ms) {
    if (ms == 0)
        snprintf(out, 32, "0s");
    else if (ms % 3600000 == 0)
        snprintf(out, 32, "%" PRIu64 "h", ms / 3600000);
    else if (ms % 60000 == 0)
        snprintf(out, 32, "%" PRIu64 "m", ms / 60000);
    else if (ms % 1000 == 0)
        snprintf(out, 32, "%" PRIu64 "s", ms / 1000);
    else
        snprintf(out, 32, "%" PRIu64 "ms", ms);
}

bool config_in_range(const config_key *key, uint64_t number) { return number >= key->min && number <= key->max; }

static void format_bound(char out[32], const config_key *key, uint64_t n) {
    if (key->type == CONFIG_SIZE)
        config_format_size(out, n);
    else if (key->type == CONFIG_DURATION)
        config_format_duration(out, n);
    else
        snprintf(out, 32, "%" PRIu64, n);
}

void config_expected(char out[CONFIG_WHERE_MAX], const config_key *key) {
    char low[32], high[32];
    const bool open = key->max == UINT64_MAX;
    format_bound(low, key, key->min);
    format_bound(high, key, key->max);
    switch (key->type) {
    case CONFIG_BOOL: snprintf(out, CONFIG_WHERE_MAX, "true or false"); return;
    case CONFIG_INTEGER: snprintf(out, CONFIG_WHERE_MAX, "a whole number from %s to %s", low, high); return;
    case CONFIG_SIZE:
        snprintf(out, CONFIG_WHERE_MAX, "%sa size such as \"256GiB\"%s%s%s%s", key->automatic ? "\"auto\" or " : "",
                 key->min > 1 ? " of at least " : "", key->min > 1 ? low : "", open ? "" : " and at most ",
                 open ? "" : high);
        return;
    case CONFIG_DURATION:
        snprintf(out, CONFIG_WHERE_MAX, "a time such as \"5m\" or \"300s\", from %s to %s", low, high);
        return;
    case CONFIG_TEXT: snprintf(out, CONFIG_WHERE_MAX, key->filled ? "text that is not empty" : "text"); return;
    case CONFIG_CHOICE: {
        int n = 0;
        for (const char *p = key->choices; *p != 0 && n < CONFIG_WHERE_MAX - 64;) {
            size_t len = strcspn(p, "|");
            const char *join = p == key->choices ? "" : p[len] == 0 ? " or " : ", ";
            n += snprintf(out + n, (size_t)(CONFIG_WHERE_MAX - n), "%s\"%.*s\"", join, (int)len, p);
            p += len + (p[len] == '|');
        }
        return;
    }
    case CONFIG_LIST:
        if (key->numbers)
            snprintf(out, CONFIG_WHERE_MAX, "a list of whole numbers from %s to %s", low, high);
        else
            snprintf(out, CONFIG_WHERE_MAX, "a list of words");
        return;
    }
}

void config_value_release(config_value *v) {
    free(v->text);
    for (size_t i = 0; i < v->n_list; i++) free(v->list[i]);
    free(v->list);
    *v = (config_value){0};
}

bool config_value_copy_list(config_value *v, const char *const *words, size_t n) {
    v->list = calloc(n + 1, sizeof *v->list);
    if (v->list == NULL) return false;
    for (; v->n_list < n; v->n_list++) {
        v->list[v->n_list] = strdup(words[v->n_list]);
        if (v->list[v->n_list] == NULL) return false;
    }
    return true;
}

static bool parse_bool(uint64_t *out, const char *text) {
    static const char *const WORDS[2][6] = {{"false", "0", "no", "off", "", NULL}, {"true", "1", "yes", "on", NULL}};
    for (int b = 0; b < 2; b++)
        for (int i = 0; WORDS[b][i] != NULL; i++)
            if (strcasecmp(text, WORDS[b][i]) == 0) {
                *out = (uint64_t)b;
                return true;
            }
    return false;
}

static bool parse_number(uint64_t *out, const char *text) {
    quantity q;
    if (!parse_quantity(&q, text) || q.scale != 1 || *q.unit != 0 || text[strlen(text) - 1] == ' ') return false;
    *out = q.whole;
    return true;
}

static bool parse_choice(config_value *v, const config_key *key, const char *text) {
    for (const char *p = key->choices; *p != 0; v->number++) {
        size_t len = strcspn(p, "|");
        if (strlen(text) == len && strncmp(p, text, len) == 0) return (v->text = strdup(text)) != NULL;
        p += len + (p[len] == '|');
    }
    return false;
}

// "a,b, c"; words that hold commas themselves are separated by semicolons: "a,b; c" or "a,b;". "" is the empty list.
static bool parse_list(config_value *v, const config_key *key, const char *text) {
    const char *words[64];
    char *copy = strdup(text);
    size_t n = 0;
    bool ok = copy != NULL;
    const char separator = strchr(text, ';') != NULL ? ';' : ',';
    for (char *p = copy; ok && *text != 0 && p != NULL;) {
        char *comma = strchr(p, separator);
        if (comma != NULL) *comma = 0;
        while (*p == ' ') p++;
        for (char *e = p + strlen(p); e > p && e[-1] == ' ';) *--e = 0;
        uint64_t number = 0;
        ok = n < sizeof words / sizeof *words && *p != 0 &&
             (!key->numbers || (parse_number(&number, p) && config_in_range(key, number)));
        if (ok) words[n++] = p;
        p = comma != NULL && (separator == ',' || comma[1] != 0) ? comma + 1 : NULL;
    }
    ok = ok && config_value_copy_list(v, words, n);
    free(copy);
    return ok;
}

bool config_is_plain_text(const char *text) {
    for (const unsigned char *p = (const unsigned char *)text; *p != 0; p++)
        if (*p < 0x20 || *p == 0x7f) return false;
    return true;
}

bool config_value_from_text(config_value *v, const config_key *key, const char *text, char why[CONFIG_WHERE_MAX]) {
    config_value made = {0};
    bool ok = false;
    switch (key->type) {
    case CONFIG_BOOL: ok = parse_bool(&made.number, text); break;
    case CONFIG_INTEGER: ok = parse_number(&made.number, text) && config_in_range(key, made.number); break;
    case CONFIG_SIZE:
        made.automatic = key->automatic && strcmp(text, "auto") == 0;
        ok = made.automatic || (config_parse_size(&made.number, text) && config_in_range(key, made.number));
        break;
    case CONFIG_DURATION:
        ok = config_parse_duration(&made.number, key->unit_ms, text) && config_in_range(key, made.number);
        break;
    case CONFIG_TEXT:
        ok = config_is_plain_text(text) && (!key->filled || *text != 0) && (made.text = strdup(text)) != NULL;
        break;
    case CONFIG_CHOICE: ok = parse_choice(&made, key, text); break;
    case CONFIG_LIST: ok = parse_list(&made, key, text); break;
    }
    if (!ok) {
        char expected[CONFIG_WHERE_MAX];
        config_expected(expected, key);
        snprintf(why, CONFIG_WHERE_MAX, "expected %.300s, found \"%.150s\"", expected, text);
        config_value_release(&made);
        return false;
    }
    config_value_release(v);
    *v = made;
    return true;
}
