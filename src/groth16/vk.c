// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Verifying keys: reading with every check, writing.
#include <stdio.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "groth16/internal.h"

// ic points read at a time: 384 KiB.
enum { IC_CHUNK = 4096 };

static cuzk_status bad_point(const file_reader *r, const char *name, uint64_t offset, const char *what,
                             cuzk_error *err) {
    return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: %s at byte %llu %s", file_reader_path(r), name,
                     (unsigned long long)offset, what);
}

// A point of a verifying key: canonical, not infinity, on the curve, in the subgroup. NULL when it is, else what is
// wrong with it.
static const char *check_g1(g1_affine *out, const uint8_t *in) {
    point_check c = g1_decode_uncompressed_unchecked(out, in);
    if (c != POINT_OK) return point_check_text(c);
    if (g1_affine_is_infinity(out)) return "is the point at infinity";
    return g1_affine_in_subgroup(out) ? 0 : point_check_text(POINT_NOT_IN_SUBGROUP);
}
static const char *check_g2(g2_affine *out, const uint8_t *in) {
    point_check c = g2_decode_uncompressed_unchecked(out, in);
    if (c != POINT_OK) return point_check_text(c);
    if (g2_affine_is_infinity(out)) return "is the point at infinity";
    return g2_affine_in_subgroup(out) ? 0 : point_check_text(POINT_NOT_IN_SUBGROUP);
}

static cuzk_status read_ic(groth16_vk *out, file_reader *r, uint64_t *offset, cuzk_error *err) {
    uint8_t *chunk = mem_alloc(MEM_MISC, IC_CHUNK, G1_UNCOMPRESSED);
    if (chunk == 0) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory to read %s", file_reader_path(r));
    cuzk_status status = CUZK_OK;
    for (uint32_t done = 0; done < out->n_ic && status == CUZK_OK;) {
        uint32_t n = out->n_ic - done < IC_CHUNK ? out->n_ic - done : IC_CHUNK;
        status = file_reader_at(r, chunk, (size_t)n * G1_UNCOMPRESSED, *offset, err);
        for (uint32_t i = 0; i < n && status == CUZK_OK; i++, *offset += G1_UNCOMPRESSED) {
            const char *wrong = check_g1(&out->ic[done + i], chunk + (size_t)i * G1_UNCOMPRESSED);
            char name[48];
            if (wrong == 0) continue;
            snprintf(name, sizeof name, "section \"ic\": point %u of %u", done + i, out->n_ic);
            status = bad_point(r, name, *offset, wrong, err);
        }
        done += n;
    }
    mem_free(chunk);
    return status;
}

cuzk_status key_vk_read(groth16_vk *out, file_reader *r, uint64_t *offset, cuzk_error *err) {
    memset(out, 0, sizeof *out);
    uint64_t size = file_reader_size(r), start = *offset;
    if (size < start || size - start < KEY_VK_HEAD_BYTES)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: a verifying key takes at least %d bytes, the file has %llu",
                         file_reader_path(r), KEY_VK_HEAD_BYTES, (unsigned long long)size);
    uint8_t head[KEY_VK_HEAD_BYTES];
    cuzk_status status = file_reader_at(r, head, sizeof head, start, err);
    if (status != CUZK_OK) return status;

    const struct {
        const char *name;
        g1_affine *g1;
        g2_affine *g2;
    } points[] = {{"alpha_g1", &out->alpha_g1, 0}, {"beta_g1", &out->beta_g1, 0},   {"beta_g2", 0, &out->beta_g2},
                  {"gamma_g2", 0, &out->gamma_g2}, {"delta_g1", &out->delta_g1, 0}, {"delta_g2", 0, &out->delta_g2}};
    size_t at = 0;
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
        const char *wrong = points[i].g1 != 0 ? check_g1(points[i].g1, head + at) : check_g2(points[i].g2, head + at);
        if (wrong != 0) return bad_point(r, points[i].name, start + at, wrong, err);
        at += points[i].g1 != 0 ? G1_UNCOMPRESSED : G2_UNCOMPRESSED;
    }

    uint32_t n = load_be32(head + at);
    uint64_t left = size - start - KEY_VK_HEAD_BYTES;
    if (n == 0)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: section \"ic\" at byte %llu has no points, at least one is needed",
                         file_reader_path(r), (unsigned long long)(start + at));
    if (n > left / G1_UNCOMPRESSED)
        return cuzk_fail(err, CUZK_ERR_FORMAT,
                         "%s: section \"ic\" at byte %llu counts %u points of %d bytes, the file has %llu bytes left",
                         file_reader_path(r), (unsigned long long)(start + at), n, G1_UNCOMPRESSED,
                         (unsigned long long)left);
    out->ic = mem_alloc(MEM_KEY, n, sizeof *out->ic);
    if (out->ic == 0) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for %u points of section \"ic\"", n);
    out->n_ic = n;
    *offset = start + KEY_VK_HEAD_BYTES;
    status = read_ic(out, r, offset, err);
    if (status != CUZK_OK) key_vk_release(out);
    return status;
}

void key_vk_release(groth16_vk *vk) {
    mem_free(vk->ic);
    vk->ic = 0;
    vk->n_ic = 0;
}

cuzk_status groth16_vk_load(groth16_vk **out, const char *path, cuzk_error *err) {
    *out = 0;
    file_reader *r = 0;
    cuzk_status status = file_reader_open(&r, path, err);
    if (status != CUZK_OK) return status;
    groth16_vk *vk = mem_calloc(MEM_KEY, 1, sizeof *vk);
    uint64_t offset = 0;
    status =
        vk == 0 ? cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a verifying key") : key_vk_read(vk, r, &offset, err);
    if (status == CUZK_OK && offset != file_reader_size(r))
        status = cuzk_fail(err, CUZK_ERR_FORMAT, "%s: the verifying key ends at byte %llu, the file has %llu bytes",
                           path, (unsigned long long)offset, (unsigned long long)file_reader_size(r));
    file_reader_close(&r);
    if (status != CUZK_OK)
        groth16_vk_destroy(&vk);
    else
        *out = vk;
    return status;
}

void groth16_vk_destroy(groth16_vk **vk) {
    if (vk == 0 || *vk == 0) return;
    key_vk_release(*vk);
    mem_free(*vk);
    *vk = 0;
}

cuzk_status key_vk_write(file_writer *w, const groth16_vk *vk, cuzk_error *err) {
    uint8_t head[KEY_VK_HEAD_BYTES], *at = head;
    g1_encode_uncompressed(at, &vk->alpha_g1), at += G1_UNCOMPRESSED;
    g1_encode_uncompressed(at, &vk->beta_g1), at += G1_UNCOMPRESSED;
    g2_encode_uncompressed(at, &vk->beta_g2), at += G2_UNCOMPRESSED;
    g2_encode_uncompressed(at, &vk->gamma_g2), at += G2_UNCOMPRESSED;
    g1_encode_uncompressed(at, &vk->delta_g1), at += G1_UNCOMPRESSED;
    g2_encode_uncompressed(at, &vk->delta_g2), at += G2_UNCOMPRESSED;
    store_be32(at, vk->n_ic);
    cuzk_status status = file_writer_put(w, head, sizeof head, err);
    for (uint32_t i = 0; i < vk->n_ic && status == CUZK_OK; i++) {
        uint8_t point[G1_UNCOMPRESSED];
        g1_encode_uncompressed(point, &vk->ic[i]);
        status = file_writer_put(w, point, sizeof point, err);
    }
    return status;
}

cuzk_status groth16_vk_save(const groth16_vk *vk, const char *path, cuzk_error *err) {
    file_writer *w = 0;
    cuzk_status status = file_writer_open(&w, path, err);
    if (status == CUZK_OK) status = key_vk_write(w, vk, err);
    if (status == CUZK_OK) status = file_writer_commit(&w, err);
    file_writer_abort(&w);
    return status;
}
