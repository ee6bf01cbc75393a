// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/provider_porep.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "api/params.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"
#include "circuit/porep/circuit.h"
#include "hash/sha256.h"
#include "vanilla/c1.h"
#include "vanilla/porep_check.h"

// A parameter file that requests asked for.
typedef struct key_entry {
    struct key_entry *next;
    uint64_t key;
    char path[PARAMS_PATH_MAX];
} key_entry;

typedef struct porep_provider {
    provider head;
    provider_porep_options options;
    char dir[PARAMS_PATH_MAX];
    pthread_mutex_t lock;
    key_entry *keys;
} porep_provider;

typedef struct porep_request {
    c1_file *c1;
    porep_statement statement;
} porep_request;

static porep_provider *of(const provider *self) { return (porep_provider *)(uintptr_t)self; }

static cuzk_status identity(uint64_t *key, uint64_t *bytes, const char *path, cuzk_error *err) {
    struct stat st;
    if (stat(path, &st) != 0) return cuzk_fail(err, CUZK_ERR_IO, "%s cannot be found: %s", path, strerror(errno));
    const uint64_t facts[5] = {(uint64_t)st.st_dev, (uint64_t)st.st_ino, (uint64_t)st.st_size,
                               (uint64_t)st.st_mtim.tv_sec, (uint64_t)st.st_mtim.tv_nsec};
    uint8_t digest[32];
    sha256 h;
    sha256_init(&h);
    sha256_update(&h, facts, sizeof facts);
    sha256_update(&h, path, strlen(path));
    sha256_final(digest, &h);
    *key = load_le64(digest) | 1;
    *bytes = (uint64_t)st.st_size;
    return CUZK_OK;
}

static cuzk_status remember(porep_provider *p, uint64_t key, const char *path, cuzk_error *err) {
    cuzk_status s = CUZK_OK;
    pthread_mutex_lock(&p->lock);
    key_entry *e = p->keys;
    while (e != NULL && e->key != key) e = e->next;
    if (e == NULL) {
        e = mem_calloc(MEM_MISC, 1, sizeof *e);
        if (e != NULL) {
            e->key = key;
            memcpy(e->path, path, strlen(path) + 1); // as long as in params_files
            e->next = p->keys;
            p->keys = e;
        } else {
            s = cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the name of a key");
        }
    }
    pthread_mutex_unlock(&p->lock);
    return s;
}

// Points of h and of l, from the file: behind the verifying key, whose length is that of .vk.
static cuzk_status read_counts(uint64_t *n_h, uint64_t *n_l, const params_files *files, cuzk_error *err) {
    enum { G1_BYTES = 96 };
    file_reader *vk = NULL, *params = NULL;
    uint8_t count[4];
    cuzk_status s = file_reader_open(&vk, files->vk, err);
    if (s == CUZK_OK) s = file_reader_open(&params, files->params, err);
    uint64_t at = s == CUZK_OK ? file_reader_size(vk) : 0;
    if (s == CUZK_OK) s = file_reader_at(params, count, sizeof count, at, err);
    if (s == CUZK_OK) {
        *n_h = load_be32(count);
        at += sizeof count + *n_h * G1_BYTES;
        s = file_reader_at(params, count, sizeof count, at, err);
        if (s == CUZK_OK) *n_l = load_be32(count);
    }
    file_reader_close(&vk);
    file_reader_close(&params);
    return s;
}

// "2KiB" is called "porep-2k".
static void key_name(char out[PROVIDER_KEY_NAME_MAX], uint64_t sector_size) {
    const char *size = porep_size_name(sector_size);
    size_t digits = strspn(size, "0123456789");
    snprintf(out, PROVIDER_KEY_NAME_MAX, "porep-%.*s%c", (int)digits, size, size[digits] | 0x20);
}

static cuzk_status find_file(porep_provider *p, provider_plan *plan, const params_files *files, cuzk_error *err) {
    cuzk_status s = identity(&plan->key, &plan->key_bytes, files->params, err);
    if (s == CUZK_OK) s = remember(p, plan->key, files->params, err);
    // Points take in memory what they take in the file.
    plan->key_bytes += sizeof(groth16_pk);
    return s;
}

static cuzk_status find_key(const provider *self, provider_plan *plan, const char *name, cuzk_error *err) {
    porep_provider *p = of(self);
    *plan = (provider_plan){0};
    for (const uint64_t *size = POREP_SECTOR_SIZES; *size != 0; size++) {
        key_name(plan->key_name, *size);
        if (strcmp(plan->key_name, name) != 0) continue;
        porep_shape shape;
        params_files files;
        cuzk_status s = porep_shape_by_size(&shape, *size, POREP_API_1_1, POREP_INTERACTIVE, err);
        if (s == CUZK_OK) s = params_locate(&files, p->dir, &shape, err);
        return s != CUZK_OK ? s : find_file(p, plan, &files, err);
    }
    return cuzk_fail(err, CUZK_ERR_INPUT, "porep has no key called %.100s", name);
}

static cuzk_status make_plan(porep_provider *p, provider_plan *plan, const porep_input *in, cuzk_error *err) {
    params_files files;
    groth16_vk *vk = NULL;
    uint64_t n_h = 0, n_l = 0;
    *plan = (provider_plan){.partitions = in->shape.partitions,
                            .public_inputs = (uint32_t)porep_public_inputs_count(&in->shape)};
    cuzk_status s = params_locate(&files, p->dir, &in->shape, err);
    if (s == CUZK_OK) s = params_load_vk(&vk, &files, plan->public_inputs, err);
    groth16_vk_destroy(&vk);
    if (s == CUZK_OK) s = params_check_layout(&files, err);
    if (s == CUZK_OK) s = find_file(p, plan, &files, err);
    if (s == CUZK_OK) s = read_counts(&n_h, &n_l, &files, err);
    key_name(plan->key_name, in->shape.sector_size);
    plan->partition_bytes =
        p->options.programs == NULL ? provider_partition_bytes(n_h + 1, n_l) : provider_packed_bytes(n_h + 1, n_l, 0);
    return s;
}

cuzk_status provider_porep_need(uint64_t *key_bytes, uint64_t *partition_bytes, const char *params_dir,
                                uint64_t sector_size, cuzk_error *err) {
    porep_shape shape;
    params_files files;
    uint64_t n_h = 0, n_l = 0, key;
    cuzk_status s = porep_shape_by_size(&shape, sector_size, POREP_API_1_1, POREP_INTERACTIVE, err);
    if (s == CUZK_OK) s = params_locate(&files, params_dir, &shape, err);
    if (s == CUZK_OK) s = params_check_layout(&files, err);
    if (s == CUZK_OK) s = identity(&key, key_bytes, files.params, err);
    if (s == CUZK_OK) s = read_counts(&n_h, &n_l, &files, err);
    if (s == CUZK_OK) *partition_bytes = provider_packed_bytes(n_h + 1, n_l, 0);
    return s;
}

static void request_destroy(porep_request *r) {
    c1_destroy(&r->c1);
    mem_free(r);
}

static cuzk_status bind(const provider *self, void **request, provider_plan *plan, const uint8_t *input, size_t len,
                        cuzk_error *err) {
    porep_provider *p = of(self);
    porep_request *r = mem_calloc(MEM_INPUT, 1, sizeof *r);
    if (r == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a request");
    cuzk_status s = len > C1_MAX_BYTES
                        ? cuzk_fail(err, CUZK_ERR_INPUT, "a C1 file has at most %d bytes, found %zu", C1_MAX_BYTES, len)
                        : c1_parse(&r->c1, input, len, err);
    // A file that disagrees with itself is the caller's matter; a mismatch from here on is one of the parameters.
    if (s == CUZK_ERR_MISMATCH) s = CUZK_ERR_INPUT;
    if (s == CUZK_OK) {
        const porep_input *in = c1_input(r->c1);
        c1_statement(&r->statement, r->c1);
        if (in->n_partitions != in->shape.partitions)
            s = cuzk_fail(err, CUZK_ERR_INPUT, "%s has %" PRIu32 " partitions, found %" PRIu32, in->shape.proof_name,
                          in->shape.partitions, in->n_partitions);
        if (s == CUZK_OK) s = make_plan(p, plan, in, err);
        if (s == CUZK_OK && !p->options.skip_vanilla_check) s = porep_check(in, NULL, err);
    }
    if (s != CUZK_OK) {
        request_destroy(r);
        return s;
    }
    *request = r;
    return CUZK_OK;
}

static void release(const provider *self, void *request) {
    (void)self;
    request_destroy(request);
}

static cuzk_status synthesize(const provider *self, groth16_assignment **out, const void *request, uint32_t partition,
                              const observer *obs, cuzk_error *err) {
    const porep_provider *p = of(self);
    const porep_request *r = request;
    const porep_input *in = c1_input(r->c1);
    const porep_circuit pc = {.shape = in->shape, .input = in, .partition = partition};
    const circuit c = porep_circuit_bind(&pc);
    pce_circuit which;
    pce_of_porep(&which, &in->shape);
    return pce_synthesize(out, p->options.programs, &which, &c, obs, err);
}

provider_porep_facts provider_porep_facts_of(const void *request) {
    const porep_request *r = request;
    const porep_shape *shape = &c1_input(r->c1)->shape;
    provider_porep_facts f = {.sector_size = shape->sector_size, .proof_name = shape->proof_name};
    f.has_sector_number = c1_sector_number(r->c1, &f.sector_number);
    return f;
}

static void public_inputs(const provider *self, fr *out, const void *request, uint32_t partition) {
    (void)self;
    const porep_request *r = request;
    porep_public_inputs(out, &c1_input(r->c1)->shape, &r->statement, partition);
}

static cuzk_status load_key(const provider *self, groth16_pk **out, uint64_t key, pool *threads, const observer *obs,
                            cuzk_error *err) {
    porep_provider *p = of(self);
    pthread_mutex_lock(&p->lock);
    const key_entry *e = p->keys; // entries stay as they are until the provider ends
    while (e != NULL && e->key != key) e = e->next;
    pthread_mutex_unlock(&p->lock);
    if (e == NULL) return cuzk_fail(err, CUZK_ERR_INTERNAL, "no file for key %016" PRIx64, key);
    uint64_t now = 0, bytes;
    cuzk_status s = identity(&now, &bytes, e->path, err);
    if (s == CUZK_OK && now != key)
        s = cuzk_fail(err, CUZK_ERR_MISMATCH, "%s was replaced since the proof was asked for", e->path);
    if (s == CUZK_OK) s = groth16_pk_load(out, e->path, p->options.check, threads, obs, err);
    return s;
}

static const provider_ops POREP_OPS = {bind, release, synthesize, public_inputs, load_key, find_key};

cuzk_status provider_porep_create(provider **out, const provider_porep_options *options, cuzk_error *err) {
    *out = NULL;
    const size_t len = strlen(options->params_dir);
    if (len == 0 || len >= PARAMS_PATH_MAX)
        return cuzk_fail(err, CUZK_ERR_USAGE, "the folder of the parameters has a name of %zu characters", len);
    porep_provider *p = mem_calloc(MEM_MISC, 1, sizeof *p);
    if (p == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the provider of porep");
    p->head = (provider){&POREP_OPS, "porep"};
    p->options = *options;
    memcpy(p->dir, options->params_dir, len + 1);
    p->options.params_dir = p->dir;
    pthread_mutex_init(&p->lock, NULL);
    *out = &p->head;
    return CUZK_OK;
}

void provider_porep_destroy(provider **out) {
    if (*out == NULL) return;
    porep_provider *p = of(*out);
    *out = NULL;
    while (p->keys != NULL) {
        key_entry *e = p->keys;
        p->keys = e->next;
        mem_free(e);
    }
    pthread_mutex_destroy(&p->lock);
    mem_free(p);
}
