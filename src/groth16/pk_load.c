// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Loading a proving key: first the layout from the counts alone, then every point, in parallel blocks.
//
// The file is 1 GiB for the smallest sector and 50 GiB for a real one, comes from a download, and may be cut short or
// replaced while it is read. So: counts are checked against the size before anything is allocated, reads are
// positioned (a file that shrinks gives an error), and every point is checked on its way into Montgomery form.
#include <pthread.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "groth16/internal.h"

enum {
    POINTS_A_TASK = 2048, // 192 or 384 KiB read at once
    TASKS_A_STEP = 64,    // between two reports of progress
};

static const struct {
    const char *name;
    size_t point_bytes;
} SECTIONS[KEY_SECTIONS] = {{"h", G1_UNCOMPRESSED},
                            {"l", G1_UNCOMPRESSED},
                            {"a", G1_UNCOMPRESSED},
                            {"b_g1", G1_UNCOMPRESSED},
                            {"b_g2", G2_UNCOMPRESSED}};

const char *key_section_name(key_section s) { return SECTIONS[s].name; }
size_t key_point_bytes(key_section s) { return SECTIONS[s].point_bytes; }

g1_affine **key_section_g1(groth16_pk *pk, key_section s) {
    switch (s) {
    case KEY_H: return &pk->h;
    case KEY_L: return &pk->l;
    case KEY_A: return &pk->a;
    case KEY_B_G1: return &pk->b_g1;
    default: return 0;
    }
}

uint32_t *key_section_count(groth16_pk *pk, key_section s) {
    switch (s) {
    case KEY_H: return &pk->n_h;
    case KEY_L: return &pk->n_l;
    case KEY_A: return &pk->n_a;
    default: return &pk->n_b;
    }
}

void groth16_pk_destroy(groth16_pk **pk) {
    if (pk == 0 || *pk == 0) return;
    key_vk_release(&(*pk)->vk);
    mem_free((*pk)->h);
    mem_free((*pk)->l);
    mem_free((*pk)->a);
    mem_free((*pk)->b_g1);
    mem_free((*pk)->b_g2);
    mem_free(*pk);
    *pk = 0;
}

// Where each section's points lie.
typedef struct layout {
    uint64_t at[KEY_SECTIONS];
    uint32_t n[KEY_SECTIONS];
} layout;

// Walks over the counts behind the verifying key. Nothing is allocated for what they claim until the last one fits.
static cuzk_status read_layout(layout *out, file_reader *r, uint64_t offset, cuzk_error *err) {
    const char *path = file_reader_path(r);
    uint64_t size = file_reader_size(r);
    for (int s = 0; s < KEY_SECTIONS; s++) {
        uint8_t word[KEY_COUNT_BYTES];
        if (size - offset < KEY_COUNT_BYTES)
            return cuzk_fail(err, CUZK_ERR_FORMAT,
                             "%s: section \"%s\" is missing: its count belongs at byte %llu, the file has %llu bytes",
                             path, SECTIONS[s].name, (unsigned long long)offset, (unsigned long long)size);
        cuzk_status status = file_reader_at(r, word, sizeof word, offset, err);
        if (status != CUZK_OK) return status;
        uint32_t n = load_be32(word);
        uint64_t left = size - offset - KEY_COUNT_BYTES;
        if (n > left / SECTIONS[s].point_bytes)
            return cuzk_fail(
                err, CUZK_ERR_FORMAT,
                "%s: section \"%s\" at byte %llu counts %u points of %zu bytes, the file has %llu bytes left", path,
                SECTIONS[s].name, (unsigned long long)offset, n, SECTIONS[s].point_bytes, (unsigned long long)left);
        out->n[s] = n;
        out->at[s] = offset + KEY_COUNT_BYTES;
        offset = out->at[s] + (uint64_t)n * SECTIONS[s].point_bytes;
    }
    if (offset != size)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: the proving key ends at byte %llu, the file has %llu bytes", path,
                         (unsigned long long)offset, (unsigned long long)size);
    return CUZK_OK;
}

// What the counts of any Groth16 key satisfy: h is one short of the domain, a power of two that holds a row an input
// and at least one more; inputs are all in a; a and b hold at most one point a wire; b_g1 and b_g2 run in parallel.
static cuzk_status check_counts(const layout *l, uint32_t n_ic, const char *path, cuzk_error *err) {
    uint64_t domain = (uint64_t)l->n[KEY_H] + 1, wires = (uint64_t)n_ic + l->n[KEY_L];
    if (l->n[KEY_H] == 0 || (domain & (domain - 1)) != 0 || domain < n_ic)
        return cuzk_fail(err, CUZK_ERR_FORMAT,
                         "%s: section \"h\" has %u points; a power of two less one is needed, at least the %u inputs",
                         path, l->n[KEY_H], n_ic);
    if (l->n[KEY_A] < n_ic || l->n[KEY_A] > wires)
        return cuzk_fail(err, CUZK_ERR_FORMAT,
                         "%s: section \"a\" has %u points; at least the %u inputs are needed, at most all %llu wires",
                         path, l->n[KEY_A], n_ic, (unsigned long long)wires);
    if (l->n[KEY_B_G1] != l->n[KEY_B_G2])
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: section \"b_g1\" has %u points, section \"b_g2\" has %u", path,
                         l->n[KEY_B_G1], l->n[KEY_B_G2]);
    if (l->n[KEY_B_G1] > wires)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: section \"b_g1\" has %u points, the circuit only %llu wires", path,
                         l->n[KEY_B_G1], (unsigned long long)wires);
    return CUZK_OK;
}

// One section on its way in. Tasks report into `failed`, and the lowest task wins, so that the same file always gives
// the same error whatever the threads do.
typedef struct loading {
    file_reader *r;
    key_section section;
    uint64_t at; // of point 0
    uint32_t n;
    g1_affine *g1;
    g2_affine *g2;
    uint8_t *buffers; // one a worker
    size_t first_task;
    pthread_mutex_t lock; // guards the two below
    size_t failed_task;
    cuzk_error failed;
} loading;

static void load_task(void *ctx, size_t task, unsigned worker) {
    loading *l = ctx;
    size_t bytes = SECTIONS[l->section].point_bytes, first = (l->first_task + task) * POINTS_A_TASK;
    size_t n = l->n - first < POINTS_A_TASK ? l->n - first : POINTS_A_TASK;
    uint8_t *buffer = l->buffers + worker * (POINTS_A_TASK * bytes);
    cuzk_error e = {.status = CUZK_OK};
    if (file_reader_at(l->r, buffer, n * bytes, l->at + first * bytes, &e) == CUZK_OK) {
        point_check why;
        const size_t good = l->g1 != 0 ? g1_decode_finite_array(&l->g1[first], &why, buffer, n)
                                       : g2_decode_finite_array(&l->g2[first], &why, buffer, n);
        if (good < n)
            (void)cuzk_fail(&e, CUZK_ERR_FORMAT, "%s: section \"%s\": point %zu of %u at byte %llu %s",
                            file_reader_path(l->r), SECTIONS[l->section].name, first + good, l->n,
                            (unsigned long long)(l->at + (first + good) * bytes),
                            why != POINT_OK ? point_check_text(why) : "is the point at infinity");
    }
    if (e.status == CUZK_OK) return;
    pthread_mutex_lock(&l->lock);
    if (l->first_task + task < l->failed_task) {
        l->failed_task = l->first_task + task;
        l->failed = e;
    }
    pthread_mutex_unlock(&l->lock);
}

static cuzk_status load_section(loading *l, uint64_t *done, uint64_t total, pool *p, const observer *o,
                                cuzk_error *err) {
    size_t tasks = ((size_t)l->n + POINTS_A_TASK - 1) / POINTS_A_TASK;
    for (l->first_task = 0; l->first_task < tasks; l->first_task += TASKS_A_STEP) {
        if (observe_cancelled(o)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "loading of the key was cancelled");
        size_t step = tasks - l->first_task < TASKS_A_STEP ? tasks - l->first_task : TASKS_A_STEP;
        pool_run(p, step, load_task, l);
        if (l->failed_task != SIZE_MAX) return cuzk_fail(err, l->failed.status, "%s", l->failed.text);
        size_t points = (l->first_task + step) * POINTS_A_TASK;
        if (points > l->n) points = l->n;
        observe_progress(o, "key_load", *done + points * SECTIONS[l->section].point_bytes, total);
    }
    *done += (uint64_t)l->n * SECTIONS[l->section].point_bytes;
    return CUZK_OK;
}

static cuzk_status load_points(groth16_pk *pk, file_reader *r, const layout *at, pool *p, const observer *o,
                               cuzk_error *err) {
    uint64_t done = 0, total = 0;
    for (int s = 0; s < KEY_SECTIONS; s++) total += (uint64_t)at->n[s] * SECTIONS[s].point_bytes;
    loading l = {.r = r, .failed_task = SIZE_MAX};
    l.buffers = mem_alloc(MEM_MISC, pool_threads(p), (size_t)POINTS_A_TASK * G2_UNCOMPRESSED);
    if (l.buffers == 0) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the buffers to read a key");
    cuzk_status status = CUZK_OK;
    if (pthread_mutex_init(&l.lock, 0) != 0) {
        mem_free(l.buffers);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a lock");
    }
    for (int i = 0; i < KEY_SECTIONS && status == CUZK_OK; i++) {
        key_section s = (key_section)i;
        g1_affine **g1 = key_section_g1(pk, s);
        l.section = s, l.at = at->at[s], l.n = at->n[s], l.g1 = 0, l.g2 = 0;
        if (g1 != 0)
            l.g1 = *g1 = mem_alloc(MEM_KEY, l.n, sizeof **g1);
        else
            l.g2 = pk->b_g2 = mem_alloc(MEM_KEY, l.n, sizeof *pk->b_g2);
        *key_section_count(pk, s) = l.n;
        if (l.g1 == 0 && l.g2 == 0)
            status = cuzk_fail(err, CUZK_ERR_MEMORY, "%s: no memory for %u points of section \"%s\"",
                               file_reader_path(r), l.n, SECTIONS[s].name);
        else
            status = load_section(&l, &done, total, p, o, err);
    }
    pthread_mutex_destroy(&l.lock);
    mem_free(l.buffers);
    return status;
}

static cuzk_status check_subgroups(const groth16_pk *pk, const layout *at, const char *path, pool *p, const observer *o,
                                   cuzk_error *err) {
    const g1_affine *const g1[] = {[KEY_H] = pk->h, [KEY_L] = pk->l, [KEY_A] = pk->a, [KEY_B_G1] = pk->b_g1};
    for (int s = 0; s < KEY_SECTIONS; s++) {
        if (observe_cancelled(o)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "the check of the key was cancelled");
        cuzk_status status = s == KEY_B_G2
                                 ? key_check_subgroup_g2(pk->b_g2, at->n[s], path, SECTIONS[s].name, at->at[s], p, err)
                                 : key_check_subgroup_g1(g1[s], at->n[s], path, SECTIONS[s].name, at->at[s], p, err);
        if (status != CUZK_OK) return status;
        observe_progress(o, "key_check", (uint64_t)s + 1, KEY_SECTIONS);
    }
    return CUZK_OK;
}

cuzk_status groth16_pk_load(groth16_pk **out, const char *path, key_check check, pool *p, const observer *o,
                            cuzk_error *err) {
    *out = 0;
    file_reader *r = 0;
    cuzk_status status = file_reader_open(&r, path, err);
    if (status != CUZK_OK) return status;
    file_identity before; // anything is read
    const bool identified = file_reader_identity(&before, r);
    groth16_pk *pk = mem_calloc(MEM_KEY, 1, sizeof *pk);
    layout at = {0};
    uint64_t offset = 0;
    observe_begin(o, "key_load");
    status = pk == 0 ? cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a proving key")
                     : key_vk_read(&pk->vk, r, &offset, err);
    if (status == CUZK_OK) status = read_layout(&at, r, offset, err);
    if (status == CUZK_OK) status = check_counts(&at, pk->vk.n_ic, path, err);
    if (status == CUZK_OK) status = load_points(pk, r, &at, p, o, err);
    observe_end(o, "key_load");
    // A file that cannot be identified is one without a receipt.
    const bool passed = status == CUZK_OK && check == KEY_CHECK_ONCE && key_receipt_holds(r);
    if (status == CUZK_OK && check != KEY_CHECK_CURVE && !passed) {
        observe_begin(o, "key_check");
        status = check_subgroups(pk, &at, path, p, o, err);
        observe_end(o, "key_check");
        if (status == CUZK_OK && check == KEY_CHECK_ONCE && identified) key_receipt_leave(r, &before);
    }
    file_reader_close(&r);
    if (status != CUZK_OK)
        groth16_pk_destroy(&pk);
    else
        *out = pk;
    return status;
}
