// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/pce.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "circuit/report.h"

// A circuit and its program; stays where it is until the cache ends.
typedef struct entry {
    struct entry *next;
    pce_circuit of;
    program *rows;
    groth16_program by;
} entry;

struct pce_cache {
    char dir[PCE_PATH_MAX]; // "": none
    pthread_mutex_t lock;   // held while a program is made: whoever needs another one waits, too
    entry *entries;
    char complaint[CUZK_ERROR_TEXT_MAX];
    void (*warn)(void *ctx, const char *text); // may be NULL
    void *warn_ctx;
};

cuzk_status pce_build(program **out, const pce_circuit *c, const observer *o, cuzk_error *err) {
    const circuit bound = pce_circuit_bind(c);
    return circuit_program(out, &bound, o, err);
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
    const cuzk_status s = program_load(&e->rows, NULL, &e->of.id, path, &err);
    observe_end(o, "pce_load");
    if (s != CUZK_OK) complain(c, &err);
    return s == CUZK_OK;
}

static void save(pce_cache *c, const entry *e, const char *path) {
    cuzk_error err;
    cuzk_status s = file_make_dirs(c->dir, &err);
    if (s == CUZK_OK) s = program_save(e->rows, &e->of.id, path, &err);
    if (s != CUZK_OK) complain(c, &err);
}

static cuzk_status make(pce_cache *c, entry *e, const observer *o, cuzk_error *err) {
    char path[PCE_PATH_MAX + PCE_NAME_MAX + 2], name[PCE_NAME_MAX];
    if (c->dir[0] == 0) return pce_build(&e->rows, &e->of, o, err);
    pce_file_name(name, &e->of);
    snprintf(path, sizeof path, "%s/%s", c->dir, name);
    if (load(c, e, path, o)) return CUZK_OK;
    const cuzk_status s = pce_build(&e->rows, &e->of, o, err);
    if (s == CUZK_OK) save(c, e, path);
    return s;
}

static cuzk_status add(pce_cache *c, entry **out, const pce_circuit *of, const observer *o, cuzk_error *err) {
    entry *e = mem_calloc(MEM_MISC, 1, sizeof *e);
    if (e == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a circuit's program");
    e->of = *of;
    const cuzk_status s = make(c, e, o, err);
    if (s != CUZK_OK) {
        mem_free(e);
        return s;
    }
    e->by = (groth16_program){e->rows, pce_circuit_bind(&e->of)};
    e->next = c->entries;
    *out = c->entries = e;
    return CUZK_OK;
}

cuzk_status pce_cache_get(const groth16_program **out, pce_cache *c, const pce_circuit *of, const observer *o,
                          cuzk_error *err) {
    pthread_mutex_lock(&c->lock);
    entry *e = c->entries;
    while (e != NULL && memcmp(e->of.id.digest, of->id.digest, sizeof of->id.digest) != 0) e = e->next;
    const cuzk_status s = e != NULL ? CUZK_OK : add(c, &e, of, o, err);
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

cuzk_status pce_synthesize(groth16_assignment **out, pce_cache *programs, const pce_circuit *of, const circuit *bound,
                           const observer *o, cuzk_error *err) {
    if (programs == NULL) return groth16_synthesize(out, bound, o, err);
    const groth16_program *by = NULL;
    const cuzk_status s = pce_cache_get(&by, programs, of, o, err);
    return s == CUZK_OK ? groth16_synthesize_packed(out, bound, by, o, err) : s;
}
