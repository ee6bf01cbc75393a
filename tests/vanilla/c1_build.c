// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vanilla/c1_build.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct builder {
    char *text;
    size_t len, cap;
    char path[256];
    size_t path_len;
    const porep_shape *shape;
    const c1_edit *edit;
    bool reversed;
} builder;

typedef void emit_fn(builder *b, uint32_t arg);
typedef struct member {
    const char *key;
    emit_fn *emit;
    uint32_t arg;
} member;

static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
uint64_t c1_build_number(const char *path) {
    uint64_t h = UINT64_C(0xcbf29ce484222325); // FNV-1a
    for (; *path != '\0'; path++) h = (h ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
    return mix(h);
}
void c1_build_hash(uint8_t out[32], const char *path) {
    uint64_t h = c1_build_number(path);
    for (int i = 0; i < 32; i++) {
        if (i % 8 == 0) h = mix(h + UINT64_C(0x9e3779b97f4a7c15));
        out[i] = (uint8_t)(h >> 8 * (i % 8));
    }
    out[31] &= 0x3f;
}
void c1_build_key(char out[64], const porep_shape *shape) {
    const char *v = strstr(shape->proof_name, "V1");
    snprintf(out, 64, "%.*s", v != NULL ? (int)(v + 2 - shape->proof_name) : 63, shape->proof_name);
}

static void put(builder *b, const char *s, size_t n) {
    if (b->len + n + 1 > b->cap) {
        b->cap = 2 * b->cap + n + 1024;
        b->text = realloc(b->text, b->cap);
        if (b->text == NULL) abort();
    }
    memcpy(b->text + b->len, s, n);
    b->len += n;
    b->text[b->len] = '\0';
}
static void puts_(builder *b, const char *s) { put(b, s, strlen(s)); }
static void put_number(builder *b, uint64_t v) {
    char buf[24];
    put(b, buf, (size_t)snprintf(buf, sizeof buf, "%" PRIu64, v));
}
static void comma(builder *b) {
    char last = b->text[b->len - 1];
    if (last != '{' && last != '[') put(b, ",", 1);
}

// One element (key NULL) or one member, with the edit applied if it is meant.
static void value(builder *b, const char *key, uint32_t index, emit_fn *emit, uint32_t arg) {
    size_t mark = b->path_len;
    size_t room = sizeof b->path - mark;
    b->path_len += (size_t)(key != NULL ? snprintf(b->path + mark, room, "%s%s", mark > 0 ? "." : "", key)
                                        : snprintf(b->path + mark, room, "[%u]", index));
    const c1_edit *e = b->edit != NULL && strcmp(b->edit->path, b->path) == 0 ? b->edit : NULL;
    int times = e == NULL ? 1 : e->action == C1_OMIT ? 0 : e->action == C1_TWICE ? 2 : 1;
    if (e != NULL && e->action == C1_BEFORE) comma(b), puts_(b, e->text);
    for (int i = 0; i < times; i++) {
        comma(b);
        if (key != NULL && e != NULL && e->action == C1_RENAME) {
            puts_(b, e->text), put(b, ":", 1);
        } else if (key != NULL) {
            put(b, "\"", 1), puts_(b, key), put(b, "\":", 2);
        }
        if (e != NULL && e->action == C1_REPLACE)
            puts_(b, e->text);
        else
            emit(b, arg);
    }
    b->path_len = mark;
    b->path[mark] = '\0';
}
static void object(builder *b, const member *m, uint32_t n) {
    put(b, "{", 1);
    for (uint32_t i = 0; i < n; i++) {
        const member *x = &m[b->reversed ? n - 1 - i : i];
        value(b, x->key, 0, x->emit, x->arg);
    }
    put(b, "}", 1);
}
static void array(builder *b, uint32_t n, emit_fn *emit, uint32_t arg) {
    put(b, "[", 1);
    for (uint32_t i = 0; i < n; i++) value(b, NULL, i, emit, arg);
    put(b, "]", 1);
}

static void emit_byte(builder *b, uint32_t v) { put_number(b, v); }
static void emit_hash(builder *b, uint32_t arg) {
    uint8_t bytes[32];
    (void)arg;
    c1_build_hash(bytes, b->path);
    bool edited = b->edit != NULL && strncmp(b->edit->path, b->path, b->path_len) == 0;
    put(b, "[", 1);
    for (uint32_t i = 0; i < 32; i++) {
        if (edited) {
            value(b, NULL, i, emit_byte, bytes[i]);
        } else {
            if (i > 0) put(b, ",", 1);
            put_number(b, bytes[i]);
        }
    }
    put(b, "]", 1);
}
static void emit_index(builder *b, uint32_t below) { put_number(b, c1_build_number(b->path) % below); }
static void emit_node(builder *b, uint32_t arg) {
    (void)arg;
    put_number(b, c1_build_number(b->path) % b->shape->nodes);
}
static void emit_null(builder *b, uint32_t arg) {
    (void)arg;
    puts_(b, "null");
}
static void emit_layer(builder *b, uint32_t layers) { put_number(b, c1_build_number(b->path) % layers + 1); }

static void emit_hashes(builder *b, uint32_t n) { array(b, n, emit_hash, 0); }
static void emit_step(builder *b, uint32_t arity) {
    member m[] = {{"hashes", emit_hashes, arity - 1}, {"index", emit_index, arity}};
    object(b, m, 2);
}
// arg: arity * 256 + steps
static void emit_steps(builder *b, uint32_t arg) { array(b, arg % 256, emit_step, arg / 256); }
static void emit_section(builder *b, uint32_t arg) {
    member m[] = {{"path", emit_steps, arg}};
    object(b, m, 1);
}
static void emit_single(builder *b, uint32_t arg) {
    member m[] = {{"root", emit_hash, 0}, {"leaf", emit_hash, 0}, {"path", emit_section, arg}};
    object(b, m, 3);
}
static void emit_compound(builder *b, uint32_t arg) {
    const porep_shape *s = b->shape;
    member m[5] = {{"base_proof", emit_section, arg}, {"sub_proof", emit_section, s->sub_arity * 256 + 1}};
    uint32_t n = 2;
    if (s->top_arity != 0) m[n++] = (member){"top_proof", emit_section, s->top_arity * 256 + 1};
    m[n++] = (member){"root", emit_hash, 0};
    m[n++] = (member){"leaf", emit_hash, 0};
    object(b, m, n);
}
static void emit_data(builder *b, uint32_t tree_d) {
    const porep_shape *s = b->shape;
    bool single = tree_d != 0 || s->sub_arity == 0;
    uint32_t base = tree_d != 0 ? 2 * 256 + s->tree_d_steps : s->base_arity * 256 + s->base_steps;
    member m[] = {{single ? "Single" : s->top_arity != 0 ? "Top" : "Sub", single ? emit_single : emit_compound, base}};
    object(b, m, 1);
}
static void emit_proof(builder *b, uint32_t tree_d) {
    member m[] = {{"data", emit_data, tree_d}};
    object(b, m, 1);
}
static void emit_column(builder *b, uint32_t arg) {
    (void)arg;
    member m[] = {{"index", emit_node, 0}, {"rows", emit_hashes, b->shape->layers}, {"_h", emit_null, 0}};
    object(b, m, 3);
}
static void emit_column_proof(builder *b, uint32_t arg) {
    (void)arg;
    member m[] = {{"column", emit_column, 0}, {"inclusion_proof", emit_proof, 0}};
    object(b, m, 2);
}
static void emit_column_proofs(builder *b, uint32_t n) { array(b, n, emit_column_proof, 0); }
static void emit_columns(builder *b, uint32_t arg) {
    (void)arg;
    member m[] = {
        {"c_x", emit_column_proof, 0}, {"drg_parents", emit_column_proofs, 6}, {"exp_parents", emit_column_proofs, 8}};
    object(b, m, 3);
}
static void emit_labeling(builder *b, uint32_t arg) {
    (void)arg;
    member m[] = {{"parents", emit_hashes, 37}, {"layer_index", emit_layer, b->shape->layers}, {"node", emit_node, 0}};
    object(b, m, 3);
}
static void emit_labelings(builder *b, uint32_t n) { array(b, n, emit_labeling, 0); }
static void emit_challenge(builder *b, uint32_t arg) {
    (void)arg;
    member m[] = {{"comm_d_proofs", emit_proof, 1},
                  {"comm_r_last_proof", emit_proof, 0},
                  {"replica_column_proofs", emit_columns, 0},
                  {"labeling_proofs", emit_labelings, b->shape->layers},
                  {"encoding_proof", emit_labeling, 0}};
    object(b, m, 5);
}
static void emit_challenges(builder *b, uint32_t n) { array(b, n, emit_challenge, 0); }
static void emit_partitions(builder *b, uint32_t arg) {
    (void)arg;
    array(b, b->shape->partitions, emit_challenges, b->shape->challenges);
}
static void emit_vanilla(builder *b, uint32_t arg) {
    (void)arg;
    char key[64];
    c1_build_key(key, b->shape);
    member m[] = {{key, emit_partitions, 0}};
    object(b, m, 1);
}
static void emit_name(builder *b, uint32_t arg) {
    (void)arg;
    put(b, "\"", 1), puts_(b, b->shape->proof_name), put(b, "\"", 1);
}

char *c1_build(size_t *len, const porep_shape *shape, bool reversed, const c1_edit *edit) {
    builder b = {.shape = shape, .edit = edit, .reversed = reversed};
    member m[] = {{"registered_proof", emit_name, 0},
                  {"vanilla_proofs", emit_vanilla, 0},
                  {"comm_r", emit_hash, 0},
                  {"comm_d", emit_hash, 0},
                  {"replica_id", emit_hash, 0},
                  {"seed", emit_hash, 0},
                  {"ticket", emit_hash, 0}};
    object(&b, m, 7);
    *len = b.len;
    return b.text;
}

char *c1_base64(const void *data, size_t len) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *p = data;
    char *out = malloc((len + 2) / 3 * 4 + 1), *o = out;
    if (out == NULL) abort();
    for (size_t i = 0; i < len; i += 3) {
        uint32_t v = (uint32_t)p[i] << 16 | (i + 1 < len ? (uint32_t)p[i + 1] << 8 : 0) | (i + 2 < len ? p[i + 2] : 0);
        *o++ = digits[v >> 18];
        *o++ = digits[v >> 12 & 63];
        *o++ = i + 1 < len ? digits[v >> 6 & 63] : '=';
        *o++ = i + 2 < len ? digits[v & 63] : '=';
    }
    *o = '\0';
    return out;
}

char *c1_wrap(size_t *len, const char *json, size_t json_len, uint64_t number, uint64_t size) {
    builder b = {0};
    char *base64 = c1_base64(json, json_len);
    puts_(&b, "{\"SectorNum\":"), put_number(&b, number);
    puts_(&b, ",\"Phase1Out\":\""), puts_(&b, base64);
    puts_(&b, "\",\"SectorSize\":"), put_number(&b, size), puts_(&b, "}");
    free(base64);
    *len = b.len;
    return b.text;
}
