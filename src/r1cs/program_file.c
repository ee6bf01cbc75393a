// SPDX-License-Identifier: MIT OR Apache-2.0
#include "r1cs/program_file.h"

#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"
#include "hash/sha256.h"
#include "r1cs/program_format.h"

static const uint8_t MAGIC[8] = "CUZK PCE";
enum {
    IDENTITY_BYTES = PROGRAM_KIND_MAX + 8 + 32,
    HEAD_BYTES = 8 + 4 + IDENTITY_BYTES + 3 * 4 + 8 + 4 * 4,
    TEMPLATE_BYTES = 8 * 4, // without its code and places
    INSTANCE_BYTES = 2 * 4,
    RUN_BYTES = 3 * 4,
    COEFF_BYTES = 32,
    DIGEST_BYTES = 32,
    BUFFER = 1 << 16,
};

// --- Writing ---

typedef struct writer {
    file_writer *file;
    sha256 hash;
    uint8_t buf[BUFFER];
    size_t n;
    cuzk_status status;
    cuzk_error *err;
} writer;

static void flush(writer *w) {
    sha256_update(&w->hash, w->buf, w->n);
    if (w->status == CUZK_OK) w->status = file_writer_put(w->file, w->buf, w->n, w->err);
    w->n = 0;
}
static uint8_t *room(writer *w, size_t n) {
    if (w->n + n > BUFFER) flush(w);
    w->n += n;
    return w->buf + w->n - n;
}
static void put32(writer *w, uint32_t v) { store_le32(room(w, 4), v); }
static void put64(writer *w, uint64_t v) { store_le64(room(w, 8), v); }
static void put_words(writer *w, const uint32_t *v, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) put32(w, v[i]);
}

static void put_program(writer *w, const program *p, const program_identity *id) {
    program_counts n;
    program_count(&n, p);
    memcpy(room(w, 8), MAGIC, 8);
    put32(w, PROGRAM_FILE_VERSION);
    memcpy(room(w, PROGRAM_KIND_MAX), id->kind, PROGRAM_KIND_MAX);
    put64(w, id->size);
    memcpy(room(w, 32), id->digest, 32);
    put32(w, n.inputs);
    put32(w, n.aux);
    put32(w, n.fields);
    put64(w, n.rows);
    put32(w, p->n_templates);
    put32(w, p->n_instances);
    put32(w, p->n_runs);
    put32(w, p->n_coeffs);
    for (uint32_t i = 0; i < p->n_coeffs; i++) fr_to_le_bytes(room(w, COEFF_BYTES), &p->coeffs[i]);
    for (uint32_t i = 0; i < p->n_templates; i++) {
        const program_template *t = &p->templates[i];
        put_words(w,
                  (const uint32_t[]){t->n_code, t->n_rows, t->n_slots, t->room, t->n_locals, t->n_inputs,
                                     t->n_field_locals, t->n_field_slots},
                  8);
        put_words(w, t->code, t->n_code);
        put_words(w, t->field_locals, t->n_field_locals);
        put_words(w, t->field_slots, t->n_field_slots);
    }
    for (uint32_t i = 0; i < p->n_instances; i++) {
        put32(w, p->instances[i].template);
        put32(w, p->instances[i + 1].run - p->instances[i].run);
    }
    for (uint32_t i = 0; i < p->n_runs; i++) {
        put32(w, p->runs[i].first);
        put32(w, (uint32_t)p->runs[i].step);
        put32(w, p->runs[i].n);
    }
    flush(w);
}

cuzk_status program_save(const program *p, const program_identity *id, const char *path, cuzk_error *err) {
    writer *w = mem_calloc(MEM_CIRCUIT, 1, sizeof *w);
    if (w == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory to write %s", path);
    w->err = err;
    sha256_init(&w->hash);
    w->status = file_writer_open(&w->file, path, err);
    if (w->status == CUZK_OK) put_program(w, p, id);
    uint8_t digest[DIGEST_BYTES];
    sha256_final(digest, &w->hash);
    if (w->status == CUZK_OK) w->status = file_writer_put(w->file, digest, sizeof digest, err);
    if (w->status == CUZK_OK) w->status = file_writer_commit(&w->file, err);
    file_writer_abort(&w->file);
    const cuzk_status s = w->status;
    mem_free(w);
    return s;
}

// --- Reading ---

typedef struct reader {
    const uint8_t *at, *end;
} reader;

static uint64_t left(const reader *r) { return (uint64_t)(r->end - r->at); }
// The caller has asked how much is left.
static uint32_t get32(reader *r) {
    r->at += 4;
    return load_le32(r->at - 4);
}
static uint64_t get64(reader *r) {
    r->at += 8;
    return load_le64(r->at - 8);
}

static cuzk_status bad(cuzk_error *err, const char *what) { return cuzk_fail(err, CUZK_ERR_FORMAT, "%s", what); }
static cuzk_status no_memory(cuzk_error *err) { return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for its tables"); }

static bool get_words(uint32_t **out, reader *r, uint32_t n) {
    *out = mem_alloc(MEM_CIRCUIT, n, sizeof **out);
    if (*out == NULL) return false;
    for (uint32_t i = 0; i < n; i++) (*out)[i] = get32(r);
    return true;
}

static cuzk_status get_template(program_template *t, reader *r, cuzk_error *err) {
    if (left(r) < TEMPLATE_BYTES) return bad(err, "it is cut off in a template");
    t->n_code = get32(r);
    t->n_rows = get32(r);
    t->n_slots = get32(r);
    t->room = get32(r);
    t->n_locals = get32(r);
    t->n_inputs = get32(r);
    t->n_field_locals = get32(r);
    t->n_field_slots = get32(r);
    if (4 * ((uint64_t)t->n_code + t->n_field_locals + t->n_field_slots) > left(r))
        return bad(err, "it is cut off in a template");
    return get_words(&t->code, r, t->n_code) && get_words(&t->field_locals, r, t->n_field_locals) &&
                   get_words(&t->field_slots, r, t->n_field_slots)
               ? CUZK_OK
               : no_memory(err);
}

static cuzk_status get_tables(program *p, reader *r, const uint32_t n[4], cuzk_error *err) {
    if ((uint64_t)n[0] * TEMPLATE_BYTES + (uint64_t)n[1] * INSTANCE_BYTES + (uint64_t)n[2] * RUN_BYTES +
            (uint64_t)n[3] * COEFF_BYTES >
        left(r))
        return bad(err, "it is shorter than its tables");
    p->templates = mem_calloc(MEM_CIRCUIT, n[0], sizeof *p->templates);
    p->instances = mem_calloc(MEM_CIRCUIT, (size_t)n[1] + 1, sizeof *p->instances);
    p->runs = mem_alloc(MEM_CIRCUIT, n[2], sizeof *p->runs);
    p->coeffs = mem_alloc(MEM_CIRCUIT, n[3], sizeof *p->coeffs);
    if (p->templates == NULL || p->instances == NULL || p->runs == NULL || p->coeffs == NULL) return no_memory(err);
    p->n_templates = n[0];
    p->n_instances = n[1];
    p->n_runs = n[2];
    p->n_coeffs = n[3];
    for (uint32_t i = 0; i < n[3]; i++, r->at += COEFF_BYTES)
        if (!fr_from_le_bytes(&p->coeffs[i], r->at)) return bad(err, "a coefficient is not below the modulus");
    for (uint32_t i = 0; i < n[0]; i++) {
        const cuzk_status s = get_template(&p->templates[i], r, err);
        if (s != CUZK_OK) return s;
    }
    if (left(r) != (uint64_t)n[1] * INSTANCE_BYTES + (uint64_t)n[2] * RUN_BYTES)
        return bad(err, "its length is not that of its tables");
    uint64_t run = 0;
    for (uint32_t i = 0; i < n[1]; i++) {
        p->instances[i].template = get32(r);
        p->instances[i].run = (uint32_t)run;
        run += get32(r);
        if (run > n[2]) return bad(err, "its instances have more wires than there are");
    }
    p->instances[n[1]].run = (uint32_t)run;
    for (uint32_t i = 0; i < n[2]; i++) {
        p->runs[i].first = get32(r);
        const uint32_t step = get32(r);
        memcpy(&p->runs[i].step, &step, sizeof step);
        p->runs[i].n = get32(r);
    }
    return program_link(p, err);
}

static cuzk_status parse(program **out, program_identity *id, const program_identity *expected, const uint8_t *data,
                         size_t len, cuzk_error *err) {
    if (len < HEAD_BYTES + DIGEST_BYTES) return bad(err, "it is too short for a program");
    reader r = {data, data + len - DIGEST_BYTES};
    if (memcmp(r.at, MAGIC, sizeof MAGIC) != 0) return bad(err, "it is no program of a circuit");
    r.at += sizeof MAGIC;
    const uint32_t version = get32(&r);
    if (version != PROGRAM_FILE_VERSION)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "it has version %u, expected %d", version, PROGRAM_FILE_VERSION);
    uint8_t digest[DIGEST_BYTES];
    sha256_digest(digest, data, len - DIGEST_BYTES);
    if (memcmp(digest, r.end, DIGEST_BYTES) != 0) return bad(err, "its content does not fit its SHA-256");
    memcpy(id->kind, r.at, PROGRAM_KIND_MAX);
    r.at += PROGRAM_KIND_MAX;
    if (id->kind[PROGRAM_KIND_MAX - 1] != 0) return bad(err, "the kind of its circuit is no text");
    id->size = get64(&r);
    memcpy(id->digest, r.at, sizeof id->digest);
    r.at += sizeof id->digest;
    if (expected != NULL && (memcmp(id->digest, expected->digest, sizeof id->digest) != 0 ||
                             strcmp(id->kind, expected->kind) != 0 || id->size != expected->size))
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "it is the program of another circuit (%.16s, %llu)", id->kind,
                         (unsigned long long)id->size);
    const uint32_t inputs = get32(&r), aux = get32(&r), fields = get32(&r);
    const uint64_t rows = get64(&r);
    const uint32_t templates = get32(&r), instances = get32(&r), runs = get32(&r), coeffs = get32(&r);
    program *p = mem_calloc(MEM_CIRCUIT, 1, sizeof *p);
    if (p == NULL) return no_memory(err);
    cuzk_status s = get_tables(p, &r, (const uint32_t[]){templates, instances, runs, coeffs}, err);
    if (s == CUZK_OK) {
        program_counts n;
        program_count(&n, p);
        if (n.inputs != inputs || n.aux != aux || n.fields != fields || n.rows != rows)
            s = bad(err, "its numbers of wires and rows are not those of its instances");
    }
    if (s != CUZK_OK)
        program_destroy(&p);
    else
        *out = p;
    return s;
}

cuzk_status program_load(program **out, program_identity *found, const program_identity *expected, const char *path,
                         cuzk_error *err) {
    uint8_t *data = NULL;
    size_t len = 0;
    program_identity id = {0};
    *out = NULL;
    cuzk_status s = file_read_all(&data, &len, path, PROGRAM_FILE_MAX, err);
    if (s != CUZK_OK) return s;
    s = parse(out, &id, expected, data, len, err);
    mem_free(data);
    if (s != CUZK_OK) return cuzk_fail_in(err, s, "%s", path);
    if (found != NULL) *found = id;
    return CUZK_OK;
}
