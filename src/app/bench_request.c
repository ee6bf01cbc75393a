// SPDX-License-Identifier: MIT OR Apache-2.0
#include "app/bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"

enum { INPUT_LIMIT = 256 << 20 };

// The public bench's words too.
static const struct {
    const char *word, *kind;
    uint32_t number;
} KINDS[] = {
    {"porep", "porep", 1},
    {"porep-c2", "porep", 1},
    {"seal-commit", "porep", 1},
    {"snap", "snap", 2},
    {"snap-deals", "snap", 2},
    {"update", "snap", 2},
    {"wpost", "window-post", 3},
    {"window-post", "window-post", 3},
    {"windowpost", "window-post", 3},
    {"winning", "winning-post", 4},
    {"winning-post", "winning-post", 4},
    {"winningpost", "winning-post", 4},
    {"toy", "toy", 1000},
};

static cuzk_status hex32(client_view *out, uint8_t place[32], const char *flag, const char *text, cuzk_error *err) {
    if (text == NULL) return CUZK_OK;
    if (strncmp(text, "0x", 2) == 0) text += 2;
    if (!hex_decode(place, 32, text, strlen(text)))
        return cuzk_fail(err, CUZK_ERR_USAGE, "%s takes 32 bytes as 64 hexadecimal digits, found '%s'", flag, text);
    *out = (client_view){place, 32};
    return CUZK_OK;
}

// A JSON array of base64 strings, or one such string: the form that Curio stores vanilla proofs in.
static cuzk_status read_vanilla(bench_request *r, const char *path, cuzk_error *err) {
    uint8_t *text = NULL;
    size_t len = 0, used = 0;
    cuzk_status s = file_read_all(&text, &len, path, INPUT_LIMIT, err);
    if (s != CUZK_OK) return s;
    json_error_t where;
    json_t *j = json_loadb((const char *)text, len, JSON_DECODE_ANY, &where);
    const size_t n = json_is_array(j) ? json_array_size(j) : json_is_string(j) ? 1 : 0;
    r->input = mem_alloc(MEM_INPUT, base64_decoded_max(len), 1);
    r->views = mem_alloc(MEM_INPUT, n, sizeof *r->views);
    if (j == NULL)
        s = cuzk_fail(err, CUZK_ERR_FORMAT, "%s: line %d: %s", path, where.line, where.text);
    else if (n == 0)
        s = cuzk_fail(err, CUZK_ERR_FORMAT, "%s: expected a list of base64 strings, or one", path);
    else if (r->input == NULL || r->views == NULL)
        s = cuzk_fail(err, CUZK_ERR_MEMORY, "%s: no memory", path);
    for (size_t i = 0; i < n && s == CUZK_OK; i++) {
        const json_t *e = json_is_array(j) ? json_array_get(j, i) : j;
        size_t got = 0, bad = 0;
        if (!json_is_string(e))
            s = cuzk_fail(err, CUZK_ERR_FORMAT, "%s: element %zu is no string", path, i);
        else if (!base64_decode(r->input + used, &got, &bad, json_string_value(e), json_string_length(e)))
            s = cuzk_fail(err, CUZK_ERR_FORMAT, "%s: element %zu is no base64 from its character %zu on", path, i, bad);
        r->views[i] = (client_view){r->input + used, got};
        used += got;
    }
    json_decref(j);
    mem_free(text);
    r->wire.vanilla_proofs = r->views;
    r->wire.n_vanilla_proofs = n;
    return s;
}

static cuzk_status read_input(bench_request *r, const bench_flags *f, cuzk_error *err) {
    const bool porep = strcmp(r->kind, "porep") == 0, toy = strcmp(r->kind, "toy") == 0;
    if (f->c1 != NULL && !porep) return cuzk_fail(err, CUZK_ERR_USAGE, "--c1 is for --kind porep");
    if (f->vanilla != NULL && (porep || toy))
        return cuzk_fail(err, CUZK_ERR_USAGE, "--vanilla is not for --kind %s", r->kind);
    if (toy) {
        r->input = mem_calloc(MEM_INPUT, 8, 1); // the seed, which each proof sets
        if (r->input == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory");
        r->wire.vanilla_proof = (client_view){r->input, 8};
        r->wire.sector_size = f->toy_partitions;
        r->wire.registered_proof = f->toy_log_rows;
        return CUZK_OK;
    }
    if (!porep) {
        if (f->vanilla == NULL) return cuzk_fail(err, CUZK_ERR_USAGE, "--vanilla is needed for --kind %s", r->kind);
        return read_vanilla(r, f->vanilla, err);
    }
    if (f->c1 == NULL) return cuzk_fail(err, CUZK_ERR_USAGE, "--c1 is needed for --kind porep");
    size_t len = 0;
    cuzk_status s = file_read_all(&r->input, &len, f->c1, INPUT_LIMIT, err);
    r->wire.vanilla_proof = (client_view){r->input, len};
    return s;
}

cuzk_status bench_request_make(bench_request *r, const bench_flags *f, cuzk_error *err) {
    *r = (bench_request){0};
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (strcmp(f->kind, KINDS[i].word) == 0) r->kind = KINDS[i].kind, r->wire.kind = KINDS[i].number;
    if (r->kind == NULL)
        return cuzk_fail(err, CUZK_ERR_USAGE, "unknown kind '%s'; kinds: porep, snap, wpost, winning, toy", f->kind);
    r->wire.registered_proof = f->registered_proof;
    r->wire.sector_number = f->sector_number;
    r->wire.miner_id = f->miner_id;
    r->wire.partition_index = (uint32_t)f->partition;
    cuzk_status s = hex32(&r->wire.randomness, r->fixed[0], "--randomness", f->randomness, err);
    if (s == CUZK_OK) s = hex32(&r->wire.comm_r_old, r->fixed[1], "--comm-r-old", f->comm_r_old, err);
    if (s == CUZK_OK) s = hex32(&r->wire.comm_r_new, r->fixed[2], "--comm-r-new", f->comm_r_new, err);
    if (s == CUZK_OK) s = hex32(&r->wire.comm_d_new, r->fixed[3], "--comm-d-new", f->comm_d_new, err);
    if (s == CUZK_OK) s = read_input(r, f, err);
    if (s != CUZK_OK) bench_request_release(r);
    return s;
}

void bench_request_release(bench_request *r) {
    mem_free(r->input);
    mem_free(r->views);
    *r = (bench_request){0};
}
