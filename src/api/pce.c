// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/pce.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"
#include "circuit/porep/circuit.h"
#include "circuit/report.h"
#include "hash/sha256.h"

// A circuit and its program; stays where it is until the cache ends.
typedef struct entry {
    struct entry *next;
    program_identity id;
    porep_circuit shape; // without an input
    program *rows;
    groth16_program by;
} entry;

struct pce_cache {
    char dir[PCE_PATH_MAX]; // "": none
    pthread_mutex_t lock;   // held while a program is made: whoever needs one of another size waits, too
    entry *entries;
    char complaint[CUZK_ERROR_TEXT_MAX];
    void (*warn)(void *ctx, const char *text); // may be NULL
    void *warn_ctx;
};

// Raised when programs that were made before must not be used any more: a circuit's constraints are fixed by the official
// parameters, but a mistake in how they became a program would live on in files.
enum { REVISION = 1 };

void pce_identity(program_identity *out, const porep_shape *s) {
    *out = (program_identity){.kind = "porep", .size = s->sector_size};
    const uint32_t facts[] = {REVISION,        s->base_arity, s->sub_arity, s->top_arity, s->base_steps,
                              s->tree_d_steps, s->layers,     s->challenges};
    uint8_t bytes[sizeof facts];
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) store_le32(bytes + 4 * i, facts[i]);
    sha256 h;
    sha256_init(&h);
    sha256_update(&h, out->kind, sizeof out->kind);
    sha256_update(&h, bytes, sizeof bytes);
    sha256_final(out->digest, &h);
}

void pce_file_name(char out[PCE_NAME_MAX], const porep_shape *shape) {
    program_identity id;
    char hex[17];
    const char *size = porep_size_name(shape->sector_size);
    pce_identity(&id, shape);
    hex_encode(hex, id.digest, 8);
    snprintf(out, PCE_NAME_MAX, "cuzk-pce-%d-%s-%s-%s.pce", PROGRAM_FILE_VERSION, id.kind,
             size != NULL ? size : "other", hex);
}

cuzk_status pce_build(program **out, const porep_shape *shape, const observer *o, cuzk_error *err) {
    const porep_circuit pc = {.shape = *shape};
    const circuit c = porep_circuit_bind(&pc);
    return circuit_program(out, &c, o, err);
}

cuzk_status pce_cache_create(pce_cache **out, const char *dir, cuzk_error *err) {
    *out = NULL;
    const size_t len = dir != NULL ? strlen(dir) : 0;
    if (len + PCE_NAME_MAX >= PCE_PATH_MAX)
        return cuzk_fail(err, CUZK_ERR_USAGE, "the folder of the circuits' programs has a name of %zu characters", len);
    pce_cache *c = mem_calloc(MEM_MISC, 1, sizeof *c);
    if (c == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a cache of programs");
    if (len > 0) memcpy(c->dir, dir, len + 1);
    pthread_mutex_init(&c->lock, NULL);
    *out = c;
    return CUZK_OK;
}

void pce_cache_destroy(pce_cache **out) {
    pce_cache *c = *out;
    if (c == NULL) return;
    *out = NULL;
    while (c->entries != NULL) {
        entry *e = c->entries;
        c->entries = e->next;
        program_destroy(&e->rows);
        mem_free(e);
    }
    pthread_mutex_destroy(&c->lock);
    mem_free(c);
}

static void complain(pce_cache *c, const cuzk_error *err) {
    memcpy(c->complaint, err->text, sizeof c->complaint);
    if (c->warn != NULL) c->warn(c->warn_ctx, err->text);
}

// Tries the file. No file is no reason to complain.
static bool load(pce_cache *c, entry *e, const char *path, const observer *o) {
    if (access(path, F_OK) != 0) return false;
    cuzk_error err;
    observe_begin(o, "pce_load");
    const cuzk_status s = program_load(&e->rows, NULL, &e->id, path, &err);
    observe_end(o, "pce_load");
    if (s != CUZK_OK) complain(c, &err);
    return s == CUZK_OK;
}

static void save(pce_cache *c, const entry *e, const char *path) {
    cuzk_error err;
    cuzk_status s = file_make_dirs(c->dir, &err);
    if (s == CUZK_OK) s = program_save(e->rows, &e->id, path, &err);
    if (s != CUZK_OK) complain(c, &err);
}

static cuzk_status make(pce_cache *c, entry *e, const observer *o, cuzk_error *err) {
    char path[PCE_PATH_MAX + PCE_NAME_MAX + 2], name[PCE_NAME_MAX];
    if (c->dir[0] == 0) return pce_build(&e->rows, &e->shape.shape, o, err);
    pce_file_name(name, &e->shape.shape);
    snprintf(path, sizeof path, "%s/%s", c->dir, name);
    if (load(c, e, path, o)) return CUZK_OK;
    const cuzk_status s = pce_build(&e->rows, &e->shape.shape, o, err);
    if (s == CUZK_OK) save(c, e, path);
    return s;
}

static cuzk_status add(pce_cache *c, entry **out, const program_identity *id, const porep_shape *shape,
                       const observer *o, cuzk_error *err) {
    entry *e = mem_calloc(MEM_MISC, 1, sizeof *e);
    if (e == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a circuit's program");
    e->id = *id;
    e->shape = (porep_circuit){.shape = *shape};
    const cuzk_status s = make(c, e, o, err);
    if (s != CUZK_OK) {
        mem_free(e);
        return s;
    }
    e->by = (groth16_program){e->rows, porep_circuit_bind(&e->shape)};
    e->next = c->entries;
    *out = c->entries = e;
    return CUZK_OK;
}

cuzk_status pce_cache_get(const groth16_program **out, pce_cache *c, const porep_shape *shape, const observer *o,
                          cuzk_error *err) {
    program_identity id;
    pce_identity(&id, shape);
    pthread_mutex_lock(&c->lock);
    entry *e = c->entries;
    while (e != NULL && memcmp(e->id.digest, id.digest, sizeof id.digest) != 0) e = e->next;
    const cuzk_status s = e != NULL ? CUZK_OK : add(c, &e, &id, shape, o, err);
    pthread_mutex_unlock(&c->lock);
    *out = s == CUZK_OK ? &e->by : NULL;
    return s;
}

void pce_cache_on_complaint(pce_cache *c, void (*warn)(void *ctx, const char *text), void *ctx) {
    c->warn = warn;
    c->warn_ctx = ctx;
}

void pce_cache_complaint(char *out, size_t n, pce_cache *c) {
    pthread_mutex_lock(&c->lock);
    snprintf(out, n, "%s", c->complaint);
    pthread_mutex_unlock(&c->lock);
}
