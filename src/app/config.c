// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Where values come from: defaults, file, environment, flags.
#include "app/config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/toml_shim.h"
#include "base/file.h"
#include "base/mem.h"

enum { FILE_LIMIT = 1 << 20, WORD_MAX = 64 };

static cuzk_status no_memory(cuzk_error *err) { return cuzk_fail(err, CUZK_ERR_MEMORY, "configuration: no memory"); }

cuzk_status config_create(config **out, cuzk_error *err) {
    config *c = calloc(1, sizeof *c);
    if (c == NULL) return no_memory(err);
    for (int i = 0; i < CONFIG_KEYS; i++) {
        char why[CONFIG_WHERE_MAX];
        if (!config_value_from_text(&c->values[i], &CONFIG_TABLE[i], CONFIG_TABLE[i].fallback, why)) {
            config_destroy(&c);
            return cuzk_fail(err, CUZK_ERR_INTERNAL, "default of %s.%s: %s", CONFIG_TABLE[i].section,
                             CONFIG_TABLE[i].name, why);
        }
    }
    *out = c;
    return CUZK_OK;
}

void config_destroy(config **c) {
    if (*c == NULL) return;
    for (int i = 0; i < CONFIG_KEYS; i++) config_value_release(&(*c)->values[i]);
    free((*c)->path);
    free(*c);
    *c = NULL;
}

// --- names ---

static int find_key(const char *section, const char *name) {
    for (int i = 0; i < CONFIG_KEYS; i++)
        if (strcmp(CONFIG_TABLE[i].section, section) == 0 && strcmp(CONFIG_TABLE[i].name, name) == 0) return i;
    return -1;
}

static bool is_section(const char *name) {
    for (size_t i = 0; i < CONFIG_N_SECTIONS; i++)
        if (strcmp(CONFIG_SECTIONS[i].name, name) == 0) return true;
    return false;
}

// Letters to change, insert or drop to make b of a; words beyond WORD_MAX are far from everything.
static unsigned distance(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    unsigned row[WORD_MAX + 1];
    if (n > WORD_MAX || m > WORD_MAX) return WORD_MAX;
    for (size_t j = 0; j <= m; j++) row[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        unsigned corner = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[m];
}

static bool is_near(unsigned d, const char *word) { return d <= 2 || d <= strlen(word) / 3; }

static const char *nearest_section(const char *word) {
    const char *best = NULL;
    unsigned least = WORD_MAX;
    for (size_t i = 0; i < CONFIG_N_SECTIONS; i++) {
        unsigned d = distance(word, CONFIG_SECTIONS[i].name);
        if (d < least) least = d, best = CONFIG_SECTIONS[i].name;
    }
    return best != NULL && is_near(least, word) ? best : NULL;
}

// The key whose name is nearest, those of `section` first; -1: none is near.
static int nearest_key(const char *section, const char *word) {
    int best = -1;
    unsigned least = WORD_MAX;
    for (int i = 0; i < CONFIG_KEYS; i++) {
        unsigned d = 2 * distance(word, CONFIG_TABLE[i].name) + (strcmp(section, CONFIG_TABLE[i].section) != 0);
        if (d < least) least = d, best = i;
    }
    return best >= 0 && is_near(least / 2, word) ? best : -1;
}

// `where` is "FILE:LINE" or what stands in its place.
static cuzk_status unknown_key(const char *where, const char *section, const char *name, cuzk_error *err) {
    char hint[WORD_MAX * 2 + 32] = "";
    if (!is_section(section)) {
        const char *near = nearest_section(section);
        if (near != NULL) snprintf(hint, sizeof hint, "; did you mean [%s]?", near);
        return cuzk_fail(err, CUZK_ERR_USAGE, "%s: %s: there is no such section%s", where, section, hint);
    }
    int near = nearest_key(section, name);
    if (near >= 0)
        snprintf(hint, sizeof hint, "; did you mean %s.%s?", CONFIG_TABLE[near].section, CONFIG_TABLE[near].name);
    return cuzk_fail(err, CUZK_ERR_USAGE, "%s: %s.%s: there is no such key%s", where, section, name, hint);
}

// --- the file ---

// A TOML value, which has a type of its own, as the key wants it.
static bool take_item(config_value *v, const config_key *key, const toml_item *t, char why[CONFIG_WHERE_MAX]) {
    char number[32], expected[CONFIG_WHERE_MAX];
    config_expected(expected, key);
    const bool text = t->type == TOML_STRING, whole = t->type == TOML_INTEGER;
    const bool one = key->type == CONFIG_LIST && !key->numbers && text; // one word is a list too
    bool fits = false;
    switch (key->type) {
    case CONFIG_BOOL: fits = t->type == TOML_BOOL; break;
    case CONFIG_INTEGER: fits = whole; break;
    case CONFIG_SIZE:
    case CONFIG_DURATION: fits = text || whole; break;
    case CONFIG_TEXT:
    case CONFIG_CHOICE: fits = text; break;
    case CONFIG_LIST: fits = t->type == TOML_LIST || one; break;
    }
    if (!fits) {
        if (text)
            snprintf(why, CONFIG_WHERE_MAX, "expected %.300s, found the string \"%.100s\"", expected, t->string);
        else if (whole)
            snprintf(why, CONFIG_WHERE_MAX, "expected %.300s, found the integer %" PRId64, expected, t->integer);
        else
            snprintf(why, CONFIG_WHERE_MAX, "expected %.300s, found %s", expected, t->type_name);
        return false;
    }
    if (text && strlen(t->string) != t->string_len) {
        snprintf(why, CONFIG_WHERE_MAX, "expected %.300s, found a string with a NUL in it", expected);
        return false;
    }
    if (t->type == TOML_BOOL) return config_value_from_text(v, key, t->boolean ? "true" : "false", why);
    if (whole) {
        snprintf(number, sizeof number, "%" PRId64, t->integer);
        return config_value_from_text(v, key, number, why);
    }
    if (text && !one) return config_value_from_text(v, key, t->string, why);

    const char *const single[1] = {t->string};
    const char *const *words = one ? single : t->elements;
    const size_t n = one ? 1 : t->n_elements;
    if (!one && t->other != NULL) {
        snprintf(why, CONFIG_WHERE_MAX, "expected %.300s, found %s in the list", expected, t->other);
        return false;
    }
    config_value made = {0};
    for (size_t i = 0; i < n; i++) {
        if (key->numbers ? config_value_from_text(&made, key, words[i], why) && made.n_list == 1
                         : words[i][0] != 0 && config_is_plain_text(words[i]))
            continue;
        snprintf(why, CONFIG_WHERE_MAX, "expected %.300s, found \"%.100s\" in the list", expected, words[i]);
        config_value_release(&made);
        return false;
    }
    config_value_release(&made);
    if (!config_value_copy_list(&made, words, n)) {
        config_value_release(&made);
        snprintf(why, CONFIG_WHERE_MAX, "no memory");
        return false;
    }
    config_value_release(v);
    *v = made;
    return true;
}

cuzk_status config_read_text(config *c, const char *name, const char *text, size_t len, cuzk_error *err) {
    toml_mistake mistake = {0};
    toml_document *d = toml_read(text, len, &mistake);
    if (d == NULL && mistake.line == 0) return cuzk_fail(err, CUZK_ERR_MEMORY, "%s: %s", name, mistake.text);
    if (d == NULL)
        return cuzk_fail(err, CUZK_ERR_USAGE, "%s:%" PRIu32 ": not TOML: column %" PRIu32 ": %s", name, mistake.line,
                         mistake.column, mistake.text);
    cuzk_status s = CUZK_OK;
    char where[CONFIG_WHERE_MAX], why[CONFIG_WHERE_MAX];
    for (size_t i = 0; i < toml_count(d) && s == CUZK_OK; i++) {
        const toml_item *t = toml_at(d, i);
        snprintf(where, sizeof where, "%.400s:%" PRIu32, name, t->line);
        if (t->section[0] == 0 && is_section(t->key)) {
            s = cuzk_fail(err, CUZK_ERR_USAGE, "%s: %s: expected a section [%s], found %s", where, t->key, t->key,
                          t->type_name);
        } else if (t->section[0] == 0) {
            int near = nearest_key("", t->key);
            if (near >= 0)
                s = cuzk_fail(err, CUZK_ERR_USAGE, "%s: %s: keys stand in sections; did you mean %s in [%s]?", where,
                              t->key, CONFIG_TABLE[near].name, CONFIG_TABLE[near].section);
            else
                s = cuzk_fail(err, CUZK_ERR_USAGE, "%s: %s: keys stand in sections; there is no such key", where,
                              t->key);
        } else if (t->key[0] == 0) {
            if (!is_section(t->section))
                s = unknown_key(where, t->section, "", err);
            else if (t->type != TOML_TABLE)
                s = cuzk_fail(err, CUZK_ERR_USAGE, "%s: %s: expected a section [%s], found %s", where, t->section,
                              t->section, t->type_name);
        } else {
            int id = find_key(t->section, t->key);
            if (id < 0) {
                s = unknown_key(where, t->section, t->key, err);
            } else if (!take_item(&c->values[id], &CONFIG_TABLE[id], t, why)) {
                s = cuzk_fail(err, CUZK_ERR_USAGE, "%s: %s.%s: %s", where, t->section, t->key, why);
            } else {
                c->values[id].source = CONFIG_FROM_FILE;
                c->values[id].line = t->line;
            }
        }
    }
    toml_free(d);
    if (s != CUZK_OK) return s;
    char *path = strdup(name);
    if (path == NULL) return no_memory(err);
    free(c->path);
    c->path = path;
    return CUZK_OK;
}

cuzk_status config_read_file(config *c, const char *path, bool must_exist, cuzk_error *err) {
    if (!must_exist && access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) return CUZK_OK;
    uint8_t *text = NULL;
    size_t len = 0;
    cuzk_status s = file_read_all(&text, &len, path, FILE_LIMIT, err);
    if (s == CUZK_ERR_MEMORY) return s;
    if (s != CUZK_OK) { // whatever it is: the configuration that was asked for is not there
        cuzk_error why = *err;
        return cuzk_fail(err, CUZK_ERR_USAGE, "configuration: %s", why.text);
    }
    s = config_read_text(c, path, (const char *)text, len, err);
    mem_free(text);
    return s;
}

// --- environment and flags ---

// "CUZK_SCHEDULER_MAX_BATCH_WAIT_MS".
static void environment_name(char out[2 * WORD_MAX], const config_key *key) {
    snprintf(out, 2 * WORD_MAX, "CUZK_%s_%s", key->section, key->name);
    for (char *p = out; *p != 0; p++)
        if (*p >= 'a' && *p <= 'z') *p = (char)(*p - 'a' + 'A');
}

// Does it begin with CUZK_<SECTION>_?
static bool is_like_ours(const char *name) {
    for (size_t i = 0; i < CONFIG_N_SECTIONS; i++) {
        char prefix[2 * WORD_MAX];
        const config_key key = {.section = CONFIG_SECTIONS[i].name, .name = ""};
        environment_name(prefix, &key);
        if (strncmp(name, prefix, strlen(prefix)) == 0) return true;
    }
    return false;
}

cuzk_status config_read_environment(config *c, const char **strange, char *const *environment, cuzk_error *err) {
    *strange = NULL;
    for (; *environment != NULL; environment++) {
        const char *entry = *environment, *equals = strchr(entry, '=');
        if (equals == NULL || strncmp(entry, "CUZK_", 5) != 0) continue;
        bool found = false;
        for (int i = 0; i < CONFIG_KEYS && !found; i++) {
            char name[2 * WORD_MAX], why[CONFIG_WHERE_MAX];
            environment_name(name, &CONFIG_TABLE[i]);
            found = strlen(name) == (size_t)(equals - entry) && strncmp(entry, name, strlen(name)) == 0;
            if (!found) continue;
            if (!config_value_from_text(&c->values[i], &CONFIG_TABLE[i], equals + 1, why))
                return cuzk_fail(err, CUZK_ERR_USAGE, "environment %s: %s.%s: %s", name, CONFIG_TABLE[i].section,
                                 CONFIG_TABLE[i].name, why);
            c->values[i].source = CONFIG_FROM_ENVIRONMENT;
        }
        if (!found && *strange == NULL && is_like_ours(entry)) *strange = entry;
    }
    return CUZK_OK;
}

cuzk_status config_set(config *c, config_id id, const char *flag, const char *text, cuzk_error *err) {
    char why[CONFIG_WHERE_MAX];
    if (!config_value_from_text(&c->values[id], &CONFIG_TABLE[id], text, why))
        return cuzk_fail(err, CUZK_ERR_USAGE, "%s: %s.%s: %s", flag, CONFIG_TABLE[id].section, CONFIG_TABLE[id].name,
                         why);
    c->values[id].source = CONFIG_FROM_FLAG;
    return CUZK_OK;
}

cuzk_status config_set_word(config *c, const char *word, cuzk_error *err) {
    char copy[2 * WORD_MAX];
    const char *equals = strchr(word, '=');
    size_t len = equals != NULL ? (size_t)(equals - word) : 0;
    if (len == 0 || len >= sizeof copy || memchr(word, '.', len) == NULL)
        return cuzk_fail(err, CUZK_ERR_USAGE, "--set takes section.key=value, found '%s'", word);
    memcpy(copy, word, len);
    copy[len] = 0;
    char *dot = strchr(copy, '.');
    *dot = 0;
    int id = find_key(copy, dot + 1);
    if (id < 0) return unknown_key("--set", copy, dot + 1, err);
    return config_set(c, (config_id)id, "--set", equals + 1, err);
}

// --- where and what ---

void config_where(char out[CONFIG_WHERE_MAX], const config *c, config_id id) {
    char name[2 * WORD_MAX];
    switch (c->values[id].source) {
    case CONFIG_FROM_DEFAULT: snprintf(out, CONFIG_WHERE_MAX, "default"); return;
    case CONFIG_FROM_FILE: snprintf(out, CONFIG_WHERE_MAX, "%.480s:%" PRIu32, c->path, c->values[id].line); return;
    case CONFIG_FROM_ENVIRONMENT:
        environment_name(name, &CONFIG_TABLE[id]);
        snprintf(out, CONFIG_WHERE_MAX, "environment %s", name);
        return;
    case CONFIG_FROM_FLAG: snprintf(out, CONFIG_WHERE_MAX, "flag"); return;
    }
}

// Appends a basic string of TOML. Values have no control characters.
static void put_string(char *out, size_t size, const char *s) {
    size_t n = strlen(out);
    if (n + 3 > size) return;
    out[n++] = '"';
    for (; *s != 0 && n + 4 < size; s++) {
        if (*s == '"' || *s == '\\') out[n++] = '\\';
        out[n++] = *s;
    }
    out[n++] = '"';
    out[n] = 0;
}

static void put_word(char *out, size_t size, const char *s) {
    size_t n = strlen(out);
    snprintf(out + n, size - n, "%s", s);
}

void config_format(char *out, size_t size, const config_key *key, const config_value *v) {
    char text[32] = "auto";
    out[0] = 0;
    switch (key->type) {
    case CONFIG_BOOL: put_word(out, size, v->number != 0 ? "true" : "false"); return;
    case CONFIG_INTEGER:
        snprintf(text, sizeof text, "%" PRIu64, v->number);
        put_word(out, size, text);
        return;
    case CONFIG_SIZE:
        if (!v->automatic) config_format_size(text, v->number);
        put_string(out, size, text);
        return;
    case CONFIG_DURATION:
        if (key->unit_ms == 1) { // the name of the key says the unit
            snprintf(text, sizeof text, "%" PRIu64, v->number);
            put_word(out, size, text);
            return;
        }
        config_format_duration(text, v->number);
        put_string(out, size, text);
        return;
    case CONFIG_TEXT:
    case CONFIG_CHOICE: put_string(out, size, v->text); return;
    case CONFIG_LIST:
        put_word(out, size, "[");
        for (size_t i = 0; i < v->n_list; i++) {
            if (i > 0) put_word(out, size, ", ");
            if (key->numbers)
                put_word(out, size, v->list[i]);
            else
                put_string(out, size, v->list[i]);
        }
        put_word(out, size, "]");
        return;
    }
}
