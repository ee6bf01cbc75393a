// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Writing a proving key: blocks are encoded in parallel, then written in order.
#include "base/bytes.h"
#include "base/mem.h"
#include "groth16/internal.h"

enum { POINTS_A_TASK = 1024, POINTS_A_BLOCK = 64 * POINTS_A_TASK };

typedef struct encoding {
    const g1_affine *g1;
    const g2_affine *g2;
    size_t n;
    uint8_t *out;
} encoding;

static void encode_task(void *ctx, size_t task, unsigned worker) {
    const encoding *e = ctx;
    (void)worker;
    size_t end = (task + 1) * POINTS_A_TASK < e->n ? (task + 1) * POINTS_A_TASK : e->n;
    for (size_t i = task * POINTS_A_TASK; i < end; i++)
        if (e->g1 != 0)
            g1_encode_uncompressed(e->out + i * G1_UNCOMPRESSED, &e->g1[i]);
        else
            g2_encode_uncompressed(e->out + i * G2_UNCOMPRESSED, &e->g2[i]);
}

// g1 or g2 is NULL.
static cuzk_status save_section(file_writer *w, const g1_affine *g1, const g2_affine *g2, uint32_t n, uint8_t *buffer,
                                uint64_t *done, uint64_t total, pool *p, const observer *o, cuzk_error *err) {
    size_t bytes = g1 != 0 ? G1_UNCOMPRESSED : G2_UNCOMPRESSED;
    uint8_t word[KEY_COUNT_BYTES];
    store_be32(word, n);
    cuzk_status status = file_writer_put(w, word, sizeof word, err);
    for (size_t i = 0; i < n && status == CUZK_OK; i += POINTS_A_BLOCK) {
        if (observe_cancelled(o)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "writing of the key was cancelled");
        encoding e = {.n = n - i < POINTS_A_BLOCK ? n - i : POINTS_A_BLOCK, .out = buffer};
        if (g1 != 0)
            e.g1 = g1 + i;
        else
            e.g2 = g2 + i;
        pool_run(p, (e.n + POINTS_A_TASK - 1) / POINTS_A_TASK, encode_task, &e);
        status = file_writer_put(w, buffer, e.n * bytes, err);
        *done += e.n * bytes;
        observe_progress(o, "key_save", *done, total);
    }
    return status;
}

cuzk_status groth16_pk_save(const groth16_pk *pk, const char *path, pool *p, const observer *o, cuzk_error *err) {
    const struct {
        const g1_affine *g1;
        const g2_affine *g2;
        uint32_t n;
    } sections[] = {
        {pk->h, 0, pk->n_h}, {pk->l, 0, pk->n_l}, {pk->a, 0, pk->n_a}, {pk->b_g1, 0, pk->n_b}, {0, pk->b_g2, pk->n_b}};
    if (pk->file != 0) return cuzk_fail(err, CUZK_ERR_USAGE, "%s: the points of this key are in a file already", path);
    uint64_t done = 0, total = 0;
    for (size_t i = 0; i < KEY_SECTIONS; i++) total += (uint64_t)sections[i].n * key_point_bytes((key_section)i);

    uint8_t *buffer = mem_alloc(MEM_MISC, POINTS_A_BLOCK, G2_UNCOMPRESSED);
    if (buffer == 0) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the buffer to write a key");
    file_writer *w = 0;
    observe_begin(o, "key_save");
    cuzk_status status = file_writer_open(&w, path, err);
    if (status == CUZK_OK) status = key_vk_write(w, &pk->vk, err);
    for (size_t i = 0; i < KEY_SECTIONS && status == CUZK_OK; i++)
        status = save_section(w, sections[i].g1, sections[i].g2, sections[i].n, buffer, &done, total, p, o, err);
    if (status == CUZK_OK) status = file_writer_commit(&w, err);
    observe_end(o, "key_save");
    file_writer_abort(&w);
    mem_free(buffer);
    return status;
}
