// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/params.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"
#include "circuit/porep/circuit.h"
#include "groth16/setup.h"

enum {
    G1_BYTES = 96,
    G2_BYTES = 192,
    VK_HEAD_BYTES = 3 * G1_BYTES + 3 * G2_BYTES, // everything before the count of ic
    SMALL_FILE_MAX = 1 << 20,                    // of .vk, .meta and the marker
};

static const char MARKER_HEAD[] = "INSECURE TEST PARAMETERS. NEVER USE THEM FOR REAL SECTORS.\n"
                                  "The secrets behind the parameter files with this name follow from the label below.\n"
                                  "Whoever knows it can forge proofs that these verifying keys accept.\n"
                                  "label: ";

static const char *size_name(char out[16], uint64_t bytes) {
    static const char *const UNIT[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    unsigned u = 0;
    while (u + 1 < sizeof UNIT / sizeof *UNIT && bytes >= 1024 && bytes % 1024 == 0) bytes /= 1024, u++;
    snprintf(out, 16, "%u%s", (unsigned)bytes, UNIT[u]);
    return out;
}

cuzk_status params_locate(params_files *out, const char *dir, const porep_shape *shape, cuzk_error *err) {
    char id[POREP_PARAMS_ID_MAX];
    porep_params_id(id, shape);
    if (dir[0] == 0) return cuzk_fail(err, CUZK_ERR_USAGE, "the folder of the parameters has an empty name");
    struct {
        char *path;
        const char *suffix;
    } const name[] = {{out->params, "params"}, {out->vk, "vk"}, {out->meta, "meta"}, {out->insecure, "insecure"}};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        int n = snprintf(name[i].path, PARAMS_PATH_MAX, "%s/v28-%s.%s", dir, id, name[i].suffix);
        if (n < 0 || n >= PARAMS_PATH_MAX)
            return cuzk_fail(err, CUZK_ERR_USAGE, "the folder's path is too long: %zu characters", strlen(dir));
    }
    snprintf(out->dir, sizeof out->dir, "%s", dir);
    size_name(out->size_name, shape->sector_size);
    return CUZK_OK;
}

// Absent only when the system says so: a dangling link, or a file that cannot be asked about, counts as present, and
// opening it tells what is wrong. A marker in doubt is a marker.
static bool is_present(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

static cuzk_status not_found(const params_files *files, const char *path, cuzk_error *err) {
    return cuzk_fail(err, CUZK_ERR_IO,
                     "no parameters for %s sectors: %s does not exist (test ones are made by `cuzk params`)",
                     files->size_name, path);
}

cuzk_status params_insecure_label(char label[PARAMS_LABEL_MAX], const params_files *files, cuzk_error *err) {
    label[0] = 0;
    if (!is_present(files->insecure)) return CUZK_OK;
    uint8_t *data = NULL;
    size_t len = 0;
    cuzk_status s = file_read_all(&data, &len, files->insecure, SMALL_FILE_MAX, err);
    if (s != CUZK_OK) return s;
    // Any other text marks the files just as well, only the label is unknown then.
    snprintf(label, PARAMS_LABEL_MAX, "(unknown label)");
    size_t head = sizeof MARKER_HEAD - 1;
    if (len > head && memcmp(data, MARKER_HEAD, head) == 0) {
        size_t n = 0;
        while (head + n < len && data[head + n] != '\n' && n + 1 < PARAMS_LABEL_MAX) n++;
        memcpy(label, data + head, n);
        label[n] = 0;
        if (label[0] == 0) snprintf(label, PARAMS_LABEL_MAX, "(unknown label)");
    }
    mem_free(data);
    return CUZK_OK;
}

cuzk_status params_load_vk(groth16_vk **out, const params_files *files, size_t n_inputs, cuzk_error *err) {
    if (!is_present(files->vk)) return not_found(files, files->vk, err);
    groth16_vk *vk = NULL;
    cuzk_status s = groth16_vk_load(&vk, files->vk, err);
    if (s != CUZK_OK) return s;
    if (vk->n_ic != n_inputs + 1) {
        s = cuzk_fail(err, CUZK_ERR_MISMATCH,
                      "%s: verifying key of another circuit: expected %zu public inputs, found %" PRIu32, files->vk,
                      n_inputs, vk->n_ic == 0 ? 0 : vk->n_ic - 1);
        groth16_vk_destroy(&vk);
        return s;
    }
    *out = vk;
    return CUZK_OK;
}

// The sections after the verifying key, from `at` to the end of the file.
static cuzk_status walk_sections(file_reader *r, uint64_t at, cuzk_error *err) {
    static const struct {
        const char *name;
        uint32_t point_bytes;
    } SECTION[] = {{"h", G1_BYTES}, {"l", G1_BYTES}, {"a", G1_BYTES}, {"b_g1", G1_BYTES}, {"b_g2", G2_BYTES}};
    uint64_t size = file_reader_size(r);
    for (size_t i = 0; i < sizeof SECTION / sizeof *SECTION; i++) {
        uint8_t head[4];
        if (size - at < sizeof head)
            return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: truncated before section %s: %" PRIu64 " bytes",
                             file_reader_path(r), SECTION[i].name, size);
        cuzk_status s = file_reader_at(r, head, sizeof head, at, err);
        if (s != CUZK_OK) return s;
        at += sizeof head;
        uint64_t need = (uint64_t)load_be32(head) * SECTION[i].point_bytes;
        if (size - at < need)
            return cuzk_fail(err, CUZK_ERR_FORMAT,
                             "%s: truncated in section %s: its %" PRIu32 " points end at byte %" PRIu64
                             ", the file at %" PRIu64,
                             file_reader_path(r), SECTION[i].name, load_be32(head), at + need, size);
        at += need;
    }
    if (at != size)
        return cuzk_fail(err, CUZK_ERR_FORMAT,
                         "%s: %" PRIu64 " bytes after the last section: expected %" PRIu64 " bytes, found %" PRIu64,
                         file_reader_path(r), size - at, at, size);
    return CUZK_OK;
}

static cuzk_status check_layout(file_reader *r, const uint8_t *vk, size_t vk_len, const char *vk_path,
                                cuzk_error *err) {
    uint64_t size = file_reader_size(r);
    if (size < vk_len)
        return cuzk_fail(err, CUZK_ERR_FORMAT,
                         "%s: truncated in the verifying key: expected at least %zu bytes, found %" PRIu64,
                         file_reader_path(r), vk_len, size);
    uint8_t *head = mem_alloc(MEM_KEY, vk_len, 1);
    if (head == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "%zu bytes for a verifying key", vk_len);
    cuzk_status s = file_reader_at(r, head, vk_len, 0, err);
    if (s == CUZK_OK && memcmp(head, vk, vk_len) != 0) {
        size_t at = 0;
        while (head[at] == vk[at]) at++;
        s = cuzk_fail(err, CUZK_ERR_MISMATCH, "%s does not belong to %s: the verifying keys differ at byte %zu",
                      file_reader_path(r), vk_path, at);
    }
    mem_free(head);
    return s != CUZK_OK ? s : walk_sections(r, vk_len, err);
}

cuzk_status params_check_layout(const params_files *files, cuzk_error *err) {
    if (!is_present(files->params)) return not_found(files, files->params, err);
    if (!is_present(files->vk)) return not_found(files, files->vk, err);
    uint8_t *vk = NULL;
    size_t vk_len = 0;
    file_reader *r = NULL;
    cuzk_status s = file_read_all(&vk, &vk_len, files->vk, SMALL_FILE_MAX, err);
    if (s == CUZK_OK) s = file_reader_open(&r, files->params, err);
    if (s == CUZK_OK) s = check_layout(r, vk, vk_len, files->vk, err);
    file_reader_close(&r);
    mem_free(vk);
    return s;
}

// --- making test parameters ---

static cuzk_status write_marker(const params_files *files, const char *label, cuzk_error *err) {
    char text[sizeof MARKER_HEAD + PARAMS_LABEL_MAX + 1];
    int n = snprintf(text, sizeof text, "%s%s\n", MARKER_HEAD, label);
    return file_write_all(files->insecure, text, (size_t)n, err);
}

static cuzk_status write_meta(const params_files *files, uint64_t sector_size, cuzk_error *err) {
    char text[64];
    int n = snprintf(text, sizeof text, "{\"sector_size\":%" PRIu64 "}", sector_size);
    return file_write_all(files->meta, text, (size_t)n, err);
}

static bool meta_is_whole(const params_files *files, uint64_t sector_size) {
    char want[64];
    int n = snprintf(want, sizeof want, "{\"sector_size\":%" PRIu64 "}", sector_size);
    uint8_t *data = NULL;
    size_t len = 0;
    if (file_read_all(&data, &len, files->meta, SMALL_FILE_MAX, NULL) != CUZK_OK) return false;
    bool whole = len == (size_t)n && memcmp(data, want, len) == 0;
    mem_free(data);
    return whole;
}

// The verifying key that .params begins with, as bytes (mem_free).
static cuzk_status read_vk_prefix(uint8_t **out, size_t *out_len, const params_files *files, cuzk_error *err) {
    file_reader *r = NULL;
    uint8_t count[4];
    uint8_t *data = NULL;
    cuzk_status s = file_reader_open(&r, files->params, err);
    if (s == CUZK_OK) s = file_reader_at(r, count, sizeof count, VK_HEAD_BYTES, err);
    if (s == CUZK_OK) {
        uint64_t len = VK_HEAD_BYTES + 4 + (uint64_t)load_be32(count) * G1_BYTES;
        if (len > file_reader_size(r))
            s = cuzk_fail(err, CUZK_ERR_FORMAT, "%s: truncated in the verifying key", files->params);
        else if ((data = mem_alloc(MEM_KEY, (size_t)len, 1)) == NULL)
            s = cuzk_fail(err, CUZK_ERR_MEMORY, "%" PRIu64 " bytes for a verifying key", len);
        else
            s = file_reader_at(r, data, (size_t)len, 0, err);
        *out_len = (size_t)len;
    }
    file_reader_close(&r);
    if (s != CUZK_OK) {
        mem_free(data);
        return s;
    }
    *out = data;
    return CUZK_OK;
}

// Keeps a whole .params, and makes again what is missing or wrong beside it. *whole is false when .params is absent or
// damaged.
static cuzk_status reuse(params_outcome *out, bool *whole, const params_files *files, uint64_t sector_size,
                         cuzk_error *err) {
    uint8_t *vk = NULL;
    size_t vk_len = 0;
    file_reader *r = NULL;
    cuzk_error ignored;
    *whole = is_present(files->params) && read_vk_prefix(&vk, &vk_len, files, &ignored) == CUZK_OK &&
             file_reader_open(&r, files->params, &ignored) == CUZK_OK && walk_sections(r, vk_len, &ignored) == CUZK_OK;
    cuzk_status s = CUZK_OK;
    if (*whole) {
        out->kept = true;
        out->params_bytes = file_reader_size(r);
        out->vk_bytes = vk_len;
        if (params_check_layout(files, &ignored) != CUZK_OK) {
            s = file_write_all(files->vk, vk, vk_len, err);
            out->repaired = true;
        }
        if (s == CUZK_OK && !meta_is_whole(files, sector_size)) {
            s = write_meta(files, sector_size, err);
            out->repaired = true;
        }
        out->kept = !out->repaired;
    }
    file_reader_close(&r);
    mem_free(vk);
    return s;
}

static cuzk_status make(params_outcome *out, const params_files *files, const porep_shape *shape, const char *label,
                        pool *p, const observer *o, cuzk_error *err);

cuzk_status params_make_test(params_outcome *out, const params_files *files, const porep_shape *shape,
                             const char *label, bool force, pool *p, const observer *o, cuzk_error *err) {
    memset(out, 0, sizeof *out);
    size_t label_len = strlen(label);
    if (label_len == 0 || label_len >= PARAMS_LABEL_MAX || strpbrk(label, "\r\n") != NULL)
        return cuzk_fail(err, CUZK_ERR_USAGE, "a label has 1 to %d characters and no line break", PARAMS_LABEL_MAX - 1);
    cuzk_status s = file_make_dirs(files->dir, err);
    if (s != CUZK_OK) return s;

    bool marked = is_present(files->insecure);
    if (!marked && (is_present(files->params) || is_present(files->vk)))
        return cuzk_fail(err, CUZK_ERR_USAGE,
                         "%s is there and not marked as test parameters; it will not be replaced (move it away first)",
                         is_present(files->params) ? files->params : files->vk);
    if (marked && !force) {
        char found[PARAMS_LABEL_MAX];
        s = params_insecure_label(found, files, err);
        if (s != CUZK_OK) return s;
        bool same = strcmp(found, label) == 0, whole = false;
        if (!same && is_present(files->params))
            return cuzk_fail(err, CUZK_ERR_USAGE, "%s was made from the label '%s'; --force replaces it", files->params,
                             found);
        if (same) s = reuse(out, &whole, files, shape->sector_size, err);
        if (s != CUZK_OK || whole) return s;
    }
    return make(out, files, shape, label, p, o, err);
}

static cuzk_status make(params_outcome *out, const params_files *files, const porep_shape *shape, const char *label,
                        pool *p, const observer *o, cuzk_error *err) {
    // First, and before the minutes of work: the folder can be written to.
    cuzk_status s = write_marker(files, label, err);
    if (s != CUZK_OK) return s;
    // What the old marker stood for must not be taken for the new label's, should we be interrupted.
    if (unlink(files->params) != 0 && errno != ENOENT)
        return cuzk_fail(err, CUZK_ERR_IO, "%s cannot be replaced: %s", files->params, strerror(errno));

    groth16_secrets secrets;
    groth16_secrets_from_label(&secrets, label);
    porep_circuit pc = {.shape = *shape};
    circuit c = porep_circuit_bind(&pc);
    groth16_pk *pk = NULL;
    s = groth16_setup(&pk, &c, &secrets, p, o, err);
    if (s != CUZK_OK) return s;

    observe_begin(o, "save");
    // .params last: where it is, the small files are too.
    s = write_meta(files, shape->sector_size, err);
    if (s == CUZK_OK) s = groth16_vk_save(&pk->vk, files->vk, err);
    if (s == CUZK_OK) s = groth16_pk_save(pk, files->params, p, o, err);
    observe_end(o, "save");
    groth16_pk_destroy(&pk);

    file_reader *r = NULL;
    if (s == CUZK_OK) s = file_reader_open(&r, files->params, err);
    if (s == CUZK_OK) out->params_bytes = file_reader_size(r);
    file_reader_close(&r);
    if (s == CUZK_OK) s = file_reader_open(&r, files->vk, err);
    if (s == CUZK_OK) out->vk_bytes = file_reader_size(r);
    file_reader_close(&r);
    return s;
}
