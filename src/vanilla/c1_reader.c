// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The events of yajl (libyajl 2, streaming, one chunk) drive a stack of schema nodes. Nothing recurses. Memory is taken
// where the schema says a structure begins and its size follows from the shape, which the key inside vanilla_proofs
// gives before the first proof; so a file can make the reader hold at most one partition more than it contains.
//
// Nearly all of a production file are 440 thousand arrays of 32 numbers. Where such an array is expected and looks as
// serde writes it, c1_scan.h reads it and yajl is shown "null" instead: the text goes to yajl in pieces that end at
// such arrays. Any other array, spaces included, goes through yajl number by number, so that there is one source of
// errors. The textual path of an error is built only when there is an error.
#include "vanilla/c1_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "vanilla/c1_names.h"
#include "vanilla/c1_scan.h"
#include "vanilla/c1_schema.h"

enum {
    MAX_FRAMES = 24,       // the schema is 15 deep
    MAX_DEPTH = 64,        // with what is skipped
    MAX_PARTITIONS = 1000, // 126 is the most any registered proof has
    MAX_SHOWN = 40,        // characters of a found value in an error
    HASH_BYTES = 32,
};

typedef struct frame {
    const c1_node *node;
    const c1_field *key; // of an object: the current one; NULL before the first and for an unknown one
    uint32_t seen;       // of an object: bit i = fields[i] was there
    uint32_t count;      // of an array: elements begun
} frame;

typedef enum section { SECTION_BASE, SECTION_SUB, SECTION_TOP } section;

typedef struct reader {
    yajl_handle yajl;
    const uint8_t *json;
    size_t len;
    size_t base;    // offset in the text of the piece that yajl has, modulo 2^64
    bool finishing; // all text was fed
    bool inside_envelope;
    c1_content *out;
    cuzk_error *err;
    cuzk_status status;

    frame frames[MAX_FRAMES];
    unsigned depth;
    bool skip_next;      // the next value belongs to an unknown key
    unsigned skip_depth; // containers open inside it

    bool in_hash;
    unsigned n_bytes;
    uint8_t bytes[HASH_BYTES];
    const c1_node *hash;
    bool scanned; // the null that comes stands for an array, which begins at `scanned_at`:
    size_t scanned_at;
    uint8_t scan[HASH_BYTES];

    bool has_name, has_shape;
    porep_shape named;      // by registered_proof
    porep_shape shape;      // by the key in vanilla_proofs: lengths of everything below it
    c1_field vanilla_field; // that key, as the current key of a frame

    // Where values go: the innermost structure of each sort that is open.
    porep_partition *partition;
    porep_challenge *challenge;
    porep_column *column;
    porep_labeling *labeling;
    merkle_path *path;
    merkle_step *step;
    bool tree_d; // `path` is in tree D
    section section;
} reader;

// --- errors ---------------------------------------------------------------------------------------------------------

typedef struct text {
    char at[256];
    size_t len;
} text;

static void text_add(text *t, const char *fmt, ...) CUZK_PRINTF(2, 3);
static void text_add(text *t, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(t->at + t->len, sizeof t->at - t->len, fmt, args);
    va_end(args);
    if (n < 0) return;
    size_t room = sizeof t->at - 1 - t->len;
    t->len += (size_t)n < room ? (size_t)n : room;
}

// "vanilla_proofs.StackedDrg2KiBV1[0][3].labeling_proofs[1].parents[14]" for the value being read.
static void path_text(text *t, const reader *r) {
    t->len = 0, t->at[0] = '\0';
    for (unsigned i = 0; i < r->depth; i++) {
        const frame *f = &r->frames[i];
        if (f->node->kind == C1_ARRAY) {
            if (f->count > 0) text_add(t, "[%u]", f->count - 1);
        } else if (f->key != NULL) {
            text_add(t, "%s%.*s", t->len > 0 ? "." : "", (int)f->key->len, f->key->name);
        }
    }
    if (r->in_hash) text_add(t, "[%u]", r->n_bytes);
    if (t->len == 0) text_add(t, "top level");
}

// Stops the parse; the first failure counts. Returns 0, which is what a callback returns to stop.
static int fail(reader *r, cuzk_status status, size_t at, const char *fmt, ...) CUZK_PRINTF(4, 5);
static int fail(reader *r, cuzk_status status, size_t at, const char *fmt, ...) {
    if (r->status != CUZK_OK) return 0;
    text where;
    char what[320];
    va_list args;
    path_text(&where, r);
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    r->status = cuzk_fail(r->err, status, "%s (byte %zu): %s", where.at, at, what);
    return 0;
}

// How much of the text yajl has taken.
static size_t consumed(const reader *r) { return r->finishing ? r->len : r->base + yajl_get_bytes_consumed(r->yajl); }

static int fail_memory(reader *r, const char *what) {
    return fail(r, CUZK_ERR_MEMORY, consumed(r), "no memory for %s", what);
}

// Offset of the first byte of the current token, given how many bytes back it begins.
static size_t token_at(const reader *r, size_t back) {
    size_t end = consumed(r);
    return end >= back ? end - back : 0;
}
// The same for a string, at its quote: yajl points into the text unless there were escapes; then the end must do.
static size_t string_at(const reader *r, const unsigned char *s) {
    uintptr_t p = (uintptr_t)s, begin = (uintptr_t)r->json;
    return p > begin && p < begin + r->len ? (size_t)(p - begin) - 1 : token_at(r, 0);
}

static const char *kind_text(c1_kind kind) {
    switch (kind) {
    case C1_OBJECT:
    case C1_VARIANT: return "an object";
    case C1_ARRAY: return "an array";
    case C1_BYTES:
    case C1_ELEMENT: return "an array of 32 bytes";
    case C1_UINT: return "an integer";
    case C1_TEXT: return "a string";
    case C1_NULL: return "null";
    }
    return "something else";
}

// A found value for people: printable ASCII, cut.
static const char *shown(char buf[MAX_SHOWN + 4], const char *s, size_t n) {
    size_t k = n < MAX_SHOWN ? n : MAX_SHOWN;
    for (size_t i = 0; i < k; i++) buf[i] = s[i] >= 0x20 && s[i] < 0x7f ? s[i] : '?';
    memcpy(buf + k, n > k ? "..." : "", n > k ? 4 : 1);
    return buf;
}

// --- bounds ---------------------------------------------------------------------------------------------------------

static uint32_t section_arity(const reader *r) {
    if (r->tree_d) return 2;
    switch (r->section) {
    case SECTION_SUB: return r->shape.sub_arity;
    case SECTION_TOP: return r->shape.top_arity;
    default: return r->shape.base_arity;
    }
}
static uint32_t section_steps(const reader *r) {
    if (r->tree_d) return r->shape.tree_d_steps;
    return r->section == SECTION_BASE ? r->shape.base_steps : 1;
}
// First step of the open section within the whole path.
static uint32_t section_first(const reader *r) {
    if (r->tree_d || r->section == SECTION_BASE) return 0;
    return r->shape.base_steps + (r->section == SECTION_TOP ? 1 : 0);
}
static uint32_t path_steps(const reader *r) {
    if (r->tree_d) return r->shape.tree_d_steps;
    return r->shape.base_steps + (r->shape.sub_arity != 0 ? 1 : 0) + (r->shape.top_arity != 0 ? 1 : 0);
}
// How many elements an array must have; for partitions, the most that are read (the count is judged at the end).
static uint32_t array_length(const reader *r, c1_role role) {
    switch (role) {
    case C1_PARTITIONS: return MAX_PARTITIONS;
    case C1_CHALLENGES: return r->shape.challenges;
    case C1_DRG_PARENTS: return POREP_BASE_PARENTS;
    case C1_EXP_PARENTS: return POREP_EXP_PARENTS;
    case C1_ROWS:
    case C1_LABELINGS: return r->shape.layers;
    case C1_PARENTS: return POREP_LABEL_PARENTS;
    case C1_STEPS: return section_steps(r);
    case C1_SIBLINGS: return section_arity(r) - 1;
    default: return 0;
    }
}
static const char *array_noun(c1_role role) {
    switch (role) {
    case C1_PARTITIONS: return "partitions";
    case C1_CHALLENGES: return "challenges";
    case C1_ROWS: return "rows (one a layer)";
    case C1_LABELINGS: return "labeling proofs (one a layer)";
    case C1_STEPS: return "steps of the Merkle path";
    case C1_SIBLINGS: return "siblings";
    default: return "parents";
    }
}

static bool check_sizes(reader *r, size_t at) {
    if (!r->has_name || !r->has_shape || r->named.sector_size == r->shape.sector_size) return true;
    fail(r, CUZK_ERR_MISMATCH, at, "registered_proof is %s, but vanilla_proofs holds %s", r->named.proof_name,
         r->shape.proof_name);
    return false;
}

// --- where a value belongs ------------------------------------------------------------------------------------------

// The schema node for a value that begins now; *node = NULL: it is skipped.
static bool expect(reader *r, const c1_node **node, size_t at) {
    *node = NULL;
    if (r->skip_next || r->skip_depth > 0) {
        r->skip_next = false;
        return true;
    }
    if (r->depth == 0) {
        *node = &C1_SCHEMA;
        return true;
    }
    frame *f = &r->frames[r->depth - 1];
    if (f->node->kind != C1_ARRAY) {
        *node = f->key->node; // an unknown key has set skip_next
        return true;
    }
    uint32_t max = array_length(r, f->node->role);
    f->count++;
    if (f->count > max) {
        fail(r, CUZK_ERR_FORMAT, at, "expected %s%u %s, found more", f->node->role == C1_PARTITIONS ? "at most " : "",
             max, array_noun(f->node->role));
        return false;
    }
    *node = f->node->item;
    return true;
}

static int fail_kind(reader *r, const c1_node *node, size_t at, const char *found) {
    const char *expected = kind_text(node->kind);
    return fail(r, CUZK_ERR_FORMAT, at, "expected %s, found %s", expected, found);
}

static bool push(reader *r, const c1_node *node) {
    if (r->depth == MAX_FRAMES) { // the schema is not that deep
        fail(r, CUZK_ERR_INTERNAL, token_at(r, 1), "reader stack exhausted");
        return false;
    }
    r->frames[r->depth++] = (frame){.node = node};
    return true;
}

static bool skip_push(reader *r) {
    r->skip_depth++;
    if (r->depth + r->skip_depth <= MAX_DEPTH) return true;
    fail(r, CUZK_ERR_FORMAT, token_at(r, 1), "expected at most %d levels of nesting, found more", MAX_DEPTH);
    return false;
}

static uint32_t element(const reader *r) { return r->frames[r->depth - 1].count - 1; }

static bool begin_path(reader *r, merkle_path *path, bool tree_d) {
    r->path = path;
    r->tree_d = tree_d;
    path->n_steps = path_steps(r);
    path->steps = arena_alloc(&r->out->memory, path->n_steps, sizeof *path->steps);
    if (path->steps == NULL) fail_memory(r, "a Merkle path");
    return path->steps != NULL;
}

// Sets the cursors for an object or array that begins; its parent is still on top of the stack.
static bool begin(reader *r, const c1_node *node) {
    switch (node->role) {
    case C1_PARTITIONS:
        r->out->input.partitions = arena_alloc(&r->out->memory, MAX_PARTITIONS, sizeof(porep_partition));
        if (r->out->input.partitions == NULL) return fail_memory(r, "the partitions");
        return true;
    case C1_CHALLENGES:
        r->partition = &r->out->input.partitions[element(r)];
        r->partition->challenges = arena_alloc(&r->out->memory, r->shape.challenges, sizeof(porep_challenge));
        if (r->partition->challenges == NULL) return fail_memory(r, "the challenges of a partition");
        return true;
    case C1_CHALLENGE: r->challenge = &r->partition->challenges[element(r)]; return true;
    case C1_COMM_D_PROOF: return begin_path(r, &r->challenge->comm_d, true);
    case C1_COMM_R_LAST_PROOF: return begin_path(r, &r->challenge->comm_r_last, false);
    case C1_COLUMN_PATH: return begin_path(r, &r->column->path, false);
    case C1_C_X: r->column = &r->challenge->c_x; return true;
    case C1_DRG_PARENT: r->column = &r->challenge->drg_parents[element(r)]; return true;
    case C1_EXP_PARENT: r->column = &r->challenge->exp_parents[element(r)]; return true;
    case C1_SECTION_BASE: r->section = SECTION_BASE; return true;
    case C1_SECTION_SUB: r->section = SECTION_SUB; return true;
    case C1_SECTION_TOP: r->section = SECTION_TOP; return true;
    case C1_STEP:
        r->step = &r->path->steps[section_first(r) + element(r)];
        r->step->n_siblings = section_arity(r) - 1;
        return true;
    case C1_LABELING: r->labeling = &r->challenge->labelings[element(r)]; return true;
    case C1_ENCODING: r->labeling = &r->challenge->encoding; return true;
    default: return true;
    }
}

static fr *element_target(reader *r, c1_role role) {
    switch (role) {
    case C1_COMM_R: return &r->out->input.comm_r;
    case C1_COMM_D: return &r->out->input.comm_d;
    case C1_REPLICA_ID: return &r->out->input.replica_id;
    case C1_TREE_ROOT: return &r->path->root;
    case C1_TREE_LEAF: return &r->path->leaf;
    case C1_SIBLING: return &r->step->siblings[element(r)];
    case C1_ROW: return &r->column->rows[element(r)];
    default: return &r->labeling->parents[element(r)]; // C1_PARENT
    }
}

// --- scalars --------------------------------------------------------------------------------------------------------

static int end_hash(reader *r) {
    const c1_node *node = r->hash;
    r->in_hash = false;
    if (r->n_bytes != HASH_BYTES)
        return fail(r, CUZK_ERR_FORMAT, token_at(r, 1), "expected 32 bytes, found %u", r->n_bytes);
    if (node->kind == C1_BYTES) {
        memcpy(node->role == C1_SEED ? r->out->input.seed : r->out->input.ticket, r->bytes, HASH_BYTES);
        return 1;
    }
    if (!fr_from_le_bytes(element_target(r, node->role), r->bytes)) {
        char hex[2 * HASH_BYTES + 1];
        for (int i = 0; i < HASH_BYTES; i++) snprintf(hex + 2 * i, 3, "%02x", r->bytes[HASH_BYTES - 1 - i]);
        return fail(r, CUZK_ERR_FORMAT, token_at(r, 1), "expected a field element below r, found 0x%s", hex);
    }
    return 1;
}

static int fail_byte(reader *r, const char *s, size_t n) {
    char buf[MAX_SHOWN + 4];
    return fail(r, CUZK_ERR_FORMAT, token_at(r, n), "expected an integer 0..255, found %s", shown(buf, s, n));
}

// Decimal digits only (JSON has no leading zeros, so 20 digits are the most), below 2^64.
static bool parse_uint(uint64_t *out, const char *s, size_t n) {
    uint64_t v = 0;
    if (n == 0 || n > 20) return false;
    for (size_t i = 0; i < n; i++) {
        unsigned d = (unsigned char)s[i] - (unsigned)'0';
        if (d > 9 || v > (UINT64_MAX - d) / 10) return false;
        v = 10 * v + d;
    }
    *out = v;
    return true;
}

static int on_uint(reader *r, const c1_node *node, const char *s, size_t n) {
    uint64_t low = 0, high = UINT64_MAX, v;
    switch (node->role) {
    case C1_COLUMN_INDEX:
    case C1_NODE: high = r->shape.nodes - 1; break;
    case C1_LAYER: low = 1, high = r->shape.layers; break;
    case C1_STEP_INDEX: high = r->step->n_siblings; break;
    default: break;
    }
    if (!parse_uint(&v, s, n) || v < low || v > high) {
        char buf[MAX_SHOWN + 4];
        return fail(r, CUZK_ERR_FORMAT, token_at(r, n), "expected an integer %llu..%llu, found %s",
                    (unsigned long long)low, (unsigned long long)high, shown(buf, s, n));
    }
    switch (node->role) {
    case C1_COLUMN_INDEX: r->column->node = v; break;
    case C1_NODE: r->labeling->node = v; break;
    case C1_LAYER: r->labeling->layer = (uint32_t)v; break;
    case C1_STEP_INDEX: r->step->index = (uint32_t)v; break;
    case C1_SECTOR_NUMBER: r->out->sector_number = v; break;
    case C1_SECTOR_SIZE:
        r->out->sector_size = v;
        r->out->sector_size_at = token_at(r, n);
        break;
    default: break;
    }
    return 1;
}

static int on_number(void *ctx, const char *s, size_t n) {
    reader *r = ctx;
    if (r->in_hash) {
        unsigned v = 0;
        if (n > 3 || r->n_bytes == HASH_BYTES) {
            if (n > 3) return fail_byte(r, s, n);
            return fail(r, CUZK_ERR_FORMAT, token_at(r, n), "expected 32 bytes, found more");
        }
        for (size_t i = 0; i < n; i++) {
            unsigned d = (unsigned char)s[i] - (unsigned)'0';
            if (d > 9) return fail_byte(r, s, n);
            v = 10 * v + d;
        }
        if (v > 255) return fail_byte(r, s, n);
        r->bytes[r->n_bytes++] = (uint8_t)v;
        return 1;
    }
    const c1_node *node;
    if (!expect(r, &node, token_at(r, n))) return 0;
    if (node == NULL) return 1;
    if (node->kind != C1_UINT) {
        char buf[MAX_SHOWN + 4];
        return fail_kind(r, node, token_at(r, n), shown(buf, s, n));
    }
    return on_uint(r, node, s, n);
}

static int on_word(reader *r, bool is_null, const char *found) {
    const c1_node *node;
    size_t at = token_at(r, strlen(found));
    if (r->in_hash) return fail(r, CUZK_ERR_FORMAT, at, "expected an integer 0..255, found %s", found);
    if (!expect(r, &node, at)) return 0;
    if (node == NULL || (is_null && node->kind == C1_NULL)) return 1;
    return fail_kind(r, node, at, found);
}
static int on_null(void *ctx) {
    reader *r = ctx;
    if (!r->scanned) return on_word(r, true, "null");
    const c1_node *node;
    if (!expect(r, &node, r->scanned_at)) return 0;
    r->hash = node;
    r->n_bytes = HASH_BYTES;
    memcpy(r->bytes, r->scan, HASH_BYTES);
    return end_hash(r);
}
static int on_boolean(void *ctx, int value) { return on_word(ctx, false, value ? "true" : "false"); }

static int on_proof_name(reader *r, const char *s, size_t n, size_t at) {
    cuzk_error e = {.status = CUZK_OK};
    cuzk_status st = c1_shape_by_name(&r->named, s, n, &e);
    if (st != CUZK_OK) return fail(r, st, at, "%s", e.text);
    r->has_name = true;
    return check_sizes(r, at);
}

static int on_phase1(reader *r, const unsigned char *s, size_t n, size_t at) {
    c1_content *out = r->out;
    out->phase1 = (const char *)s;
    out->phase1_len = n;
    out->phase1_at = at + 1;
    uintptr_t p = (uintptr_t)s, begin_at = (uintptr_t)r->json;
    if (p >= begin_at && p - begin_at <= r->len) return 1;
    // It had escapes, so it lies in a buffer of yajl's that does not last.
    char *copy = arena_alloc(&out->memory, n, 1);
    if (copy == NULL) return fail_memory(r, "Phase1Out");
    memcpy(copy, s, n);
    out->phase1 = copy;
    return 1;
}

static int on_string(void *ctx, const unsigned char *s, size_t n) {
    reader *r = ctx;
    const c1_node *node;
    char buf[MAX_SHOWN + 4];
    size_t at = string_at(r, s);
    if (r->in_hash)
        return fail(r, CUZK_ERR_FORMAT, at, "expected an integer 0..255, found \"%s\"", shown(buf, (const char *)s, n));
    if (!expect(r, &node, at)) return 0;
    if (node == NULL) return 1;
    if (node->kind != C1_TEXT)
        return fail(r, CUZK_ERR_FORMAT, at, "expected %s, found \"%s\"", kind_text(node->kind),
                    shown(buf, (const char *)s, n));
    if (node->role == C1_PROOF_NAME) return on_proof_name(r, (const char *)s, n, at);
    return on_phase1(r, s, n, at);
}

// --- containers -----------------------------------------------------------------------------------------------------

static int on_start(reader *r, bool array) {
    const c1_node *node;
    size_t at = token_at(r, 1);
    const char *found = array ? "an array" : "an object";
    if (r->in_hash) return fail(r, CUZK_ERR_FORMAT, at, "expected an integer 0..255, found %s", found);
    if (!expect(r, &node, at)) return 0;
    if (node == NULL) return skip_push(r);
    if (array && (node->kind == C1_BYTES || node->kind == C1_ELEMENT)) {
        r->in_hash = true;
        r->n_bytes = 0;
        r->hash = node;
        return 1;
    }
    if (array ? node->kind != C1_ARRAY : node->kind != C1_OBJECT && node->kind != C1_VARIANT)
        return fail_kind(r, node, at, found);
    return begin(r, node) && push(r, node);
}
static int on_start_map(void *ctx) { return on_start(ctx, false); }
static int on_start_array(void *ctx) { return on_start(ctx, true); }

static int on_end_array(void *ctx) {
    reader *r = ctx;
    if (r->in_hash) return end_hash(r);
    if (r->skip_depth > 0) {
        r->skip_depth--;
        return 1;
    }
    const frame f = r->frames[--r->depth];
    uint32_t expected = array_length(r, f.node->role);
    if (f.node->role == C1_PARTITIONS) {
        r->out->input.n_partitions = f.count;
        if (f.count > 0) return 1;
        return fail(r, CUZK_ERR_FORMAT, token_at(r, 1), "expected at least 1 partition, found none");
    }
    if (f.count == expected) return 1;
    return fail(r, CUZK_ERR_FORMAT, token_at(r, 1), "expected %u %s, found %u", expected, array_noun(f.node->role),
                f.count);
}

// The key inside vanilla_proofs: the oldest registered proof of a sector size stands for all of that size.
static int on_vanilla_key(reader *r, frame *f, const char *s, size_t n, size_t at) {
    cuzk_error e = {.status = CUZK_OK};
    char buf[MAX_SHOWN + 4];
    if (f->seen != 0)
        return fail(r, CUZK_ERR_FORMAT, at, "expected one kind of proof, found \"%s\" besides %s", shown(buf, s, n),
                    r->shape.proof_name);
    cuzk_status st = c1_shape_by_name(&r->shape, s, n, &e);
    if (st != CUZK_OK) return fail(r, st, at, "%s", e.text);
    if (r->shape.api != POREP_API_1_0 || r->shape.kind != POREP_INTERACTIVE)
        return fail(r, CUZK_ERR_INPUT, at, "expected a name such as StackedDrg32GiBV1, found %s", r->shape.proof_name);
    f->seen = 1;
    r->has_shape = true;
    r->vanilla_field = (c1_field){r->shape.proof_name, strlen(r->shape.proof_name), f->node->item};
    f->key = &r->vanilla_field;
    return check_sizes(r, at);
}

// Which variant a tree must have follows from its arities.
static bool check_variant(reader *r, const c1_field *key, size_t at) {
    c1_role role = r->tree_d || r->shape.sub_arity == 0 ? C1_TREE_SINGLE
                   : r->shape.top_arity == 0            ? C1_TREE_SUB
                                                        : C1_TREE_TOP;
    if (key->node->role == role) return true;
    fail(r, CUZK_ERR_FORMAT, at, "expected \"%s\" for this tree of %s, found \"%s\"",
         role == C1_TREE_SINGLE ? "Single"
         : role == C1_TREE_SUB  ? "Sub"
                                : "Top",
         r->shape.proof_name, key->name);
    return false;
}

static bool is_envelope_field(uint32_t i) { return i >= C1_BARE_FIELDS; }

// The root is a bare file or an envelope, whichever its first known key belongs to.
static bool check_family(reader *r, const frame *f, uint32_t i, size_t at) {
    const uint32_t bare = (UINT32_C(1) << C1_BARE_FIELDS) - 1;
    if ((f->seen & (is_envelope_field(i) ? bare : ~bare)) == 0) return true;
    fail(r, CUZK_ERR_FORMAT, at, "expected the keys of a C1 file or of an envelope, found a mixture (\"%s\")",
         f->node->fields[i].name);
    return false;
}

static int on_key(void *ctx, const unsigned char *s, size_t n) {
    reader *r = ctx;
    if (r->skip_depth > 0) return 1;
    frame *f = &r->frames[r->depth - 1];
    const c1_node *node = f->node;
    size_t at = string_at(r, s);
    f->key = NULL;
    if (node->role == C1_VANILLA) return on_vanilla_key(r, f, (const char *)s, n, at);
    uint32_t n_fields = node->n_fields;
    if (node->role == C1_ROOT && r->inside_envelope) n_fields = C1_BARE_FIELDS;
    uint32_t i = 0;
    while (i < n_fields && !(node->fields[i].len == n && memcmp(node->fields[i].name, s, n) == 0)) i++;
    if (i == n_fields) {
        if (node->kind != C1_VARIANT) {
            r->skip_next = true;
            return 1;
        }
        char buf[MAX_SHOWN + 4];
        return fail(r, CUZK_ERR_FORMAT, at, "expected \"Single\", \"Sub\" or \"Top\", found \"%s\"",
                    shown(buf, (const char *)s, n));
    }
    uint32_t bit = UINT32_C(1) << i;
    if ((f->seen & bit) != 0)
        return fail(r, CUZK_ERR_FORMAT, at, "key \"%s\" expected once, found twice", node->fields[i].name);
    if (node->kind == C1_VARIANT) {
        if (f->seen != 0)
            return fail(r, CUZK_ERR_FORMAT, at, "expected one variant, found \"%s\" besides", node->fields[i].name);
        if (!check_variant(r, &node->fields[i], at)) return 0;
    }
    if (node->role == C1_ROOT && !check_family(r, f, i, at)) return 0;
    f->seen |= bit;
    f->key = &node->fields[i];
    return 1;
}

static int fail_missing(reader *r, const char *name) {
    return fail(r, CUZK_ERR_FORMAT, token_at(r, 1), "key \"%s\" expected, not found", name);
}

static int on_end_map(void *ctx) {
    reader *r = ctx;
    if (r->skip_depth > 0) {
        r->skip_depth--;
        return 1;
    }
    const frame f = r->frames[--r->depth];
    if (f.node->kind == C1_VARIANT) {
        if (f.seen != 0) return 1;
        return fail_missing(r, f.node->role == C1_VANILLA ? "StackedDrg..." : f.node->fields[0].name);
    }
    uint32_t first = 0, end = f.node->n_fields;
    if (f.node->role == C1_ROOT) {
        r->out->enveloped = f.seen >> C1_BARE_FIELDS != 0;
        first = r->out->enveloped ? C1_BARE_FIELDS : 0;
        end = r->out->enveloped ? C1_BARE_FIELDS + C1_ENVELOPE_FIELDS : C1_BARE_FIELDS;
    }
    for (uint32_t i = first; i < end; i++)
        if ((f.seen >> i & 1) == 0) return fail_missing(r, f.node->fields[i].name);
    return 1;
}

// --- the whole ------------------------------------------------------------------------------------------------------

// What could only be judged when both names were known.
static void finish(reader *r) {
    porep_input *in = &r->out->input;
    if (r->out->enveloped) return;
    const porep_shape *a = &r->named, *b = &r->shape;
    if (a->base_arity != b->base_arity || a->sub_arity != b->sub_arity || a->top_arity != b->top_arity ||
        a->base_steps != b->base_steps || a->tree_d_steps != b->tree_d_steps || a->layers != b->layers ||
        a->challenges != b->challenges) {
        fail(r, CUZK_ERR_MISMATCH, r->len, "registered_proof is %s, whose shape differs from that of %s", a->proof_name,
             b->proof_name);
        return;
    }
    if (in->n_partitions != a->partitions) {
        fail(r, CUZK_ERR_FORMAT, r->len, "vanilla_proofs.%s: expected %u partitions for %s, found %u", b->proof_name,
             a->partitions, a->proof_name, in->n_partitions);
        return;
    }
    in->shape = *a;
}

// yajl's own complaint: the first line of its message, and what it had just read, whose last byte is the trouble.
static void fail_syntax(reader *r) {
    unsigned char *message = yajl_get_error(r->yajl, 0, r->json, r->len);
    const char *what = message != NULL ? (const char *)message : "not JSON";
    int n = (int)strcspn(what, "\n");
    size_t end = consumed(r);
    if (r->finishing || end == 0 || end > r->len) {
        fail(r, CUZK_ERR_FORMAT, r->len, "%.*s, found the end of the text", n, what);
    } else {
        char buf[MAX_SHOWN + 4];
        size_t back = end < 24 ? end : 24;
        fail(r, CUZK_ERR_FORMAT, end - 1, "%.*s, found byte 0x%02x at the end of %s", n, what, r->json[end - 1],
             shown(buf, (const char *)r->json + end - back, back));
    }
    if (message != NULL) yajl_free_error(r->yajl, message);
}

// Whether the value that begins now is a hash. The caller has shown yajl all text before it; that a value may begin
// here at all is for yajl to say.
static bool hash_expected(const reader *r) {
    if (r->depth == 0 || r->in_hash || r->skip_next || r->skip_depth > 0) return false;
    const frame *f = &r->frames[r->depth - 1];
    const c1_node *node = f->node->kind == C1_ARRAY ? f->node->item : f->key != NULL ? f->key->node : NULL;
    return node != NULL && (node->kind == C1_BYTES || node->kind == C1_ELEMENT);
}

// The text from *done to `end`.
static yajl_status feed(reader *r, size_t *done, size_t end) {
    r->base = *done;
    yajl_status st = yajl_parse(r->yajl, r->json + *done, end - *done);
    if (st == yajl_status_ok) *done = end;
    return st;
}

// The scanned array of n bytes at *done. Offsets are those of the text: its end while the null is taken, so that
// complaints about its value name its last byte, and its first byte if yajl did not want a value.
static yajl_status feed_scanned(reader *r, size_t *done, size_t n) {
    static const unsigned char word[4] = {'n', 'u', 'l', 'l'};
    r->scanned = true, r->scanned_at = *done;
    r->base = *done + n - sizeof word;
    yajl_status st = yajl_parse(r->yajl, word, sizeof word);
    r->scanned = false;
    if (st == yajl_status_ok)
        *done += n;
    else
        r->base = *done + 1 - yajl_get_bytes_consumed(r->yajl);
    return st;
}

static yajl_status feed_all(reader *r) {
    const uint8_t *end = r->json + r->len, *at = r->json;
    size_t done = 0, n;
    yajl_status st = yajl_status_ok;
    // The root is no array; a string at the top level is an error that yajl finds.
    if (at < end && *at != '"') at++;
    while (st == yajl_status_ok && (at = c1_scan_array(at, end)) < end) {
        if (!c1_scan_hash(r->scan, &n, at, end)) {
            at++;
            continue;
        }
        st = feed(r, &done, (size_t)(at - r->json));
        if (st == yajl_status_ok && hash_expected(r)) {
            st = feed_scanned(r, &done, n);
            at += n;
        } else {
            at++;
        }
    }
    return st == yajl_status_ok ? feed(r, &done, r->len) : st;
}

cuzk_status c1_read(c1_content *out, const uint8_t *json, size_t len, bool inside_envelope, cuzk_error *err) {
    static const yajl_callbacks callbacks = {
        .yajl_null = on_null,
        .yajl_boolean = on_boolean,
        .yajl_number = on_number, // numbers come as text
        .yajl_string = on_string,
        .yajl_start_map = on_start_map,
        .yajl_map_key = on_key,
        .yajl_end_map = on_end_map,
        .yajl_start_array = on_start_array,
        .yajl_end_array = on_end_array,
    };
    reader r = {.json = json, .len = len, .inside_envelope = inside_envelope, .out = out, .err = err};
    r.yajl = yajl_alloc(&callbacks, NULL, &r);
    if (r.yajl == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the JSON parser");
    yajl_status st = feed_all(&r);
    if (st == yajl_status_ok) {
        r.finishing = true;
        st = yajl_complete_parse(r.yajl);
    }
    if (r.status == CUZK_OK && st != yajl_status_ok) fail_syntax(&r);
    if (r.status == CUZK_OK) finish(&r);
    yajl_free(r.yajl);
    return r.status;
}
