// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vanilla/c1.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "vanilla/c1_reader.h"

struct c1_file {
    c1_content content; // `input` and its memory
    bool enveloped;
    uint64_t sector_number;
};

static cuzk_status check_length(const char *what, size_t len, cuzk_error *err) {
    if (len == 0) return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: expected JSON, found nothing (0 bytes)", what);
    if (len > C1_MAX_BYTES)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: expected at most %d bytes, found %zu", what, (int)C1_MAX_BYTES,
                         len);
    return CUZK_OK;
}

// Reads the C1 file inside an envelope into f->content.
static cuzk_status read_envelope(c1_file *f, const c1_content *envelope, cuzk_error *err) {
    f->enveloped = true;
    f->sector_number = envelope->sector_number;
    uint8_t *json = mem_alloc(MEM_INPUT, base64_decoded_max(envelope->phase1_len) + 1, 1);
    if (json == NULL)
        return cuzk_fail(err, CUZK_ERR_MEMORY, "Phase1Out: no memory for %zu characters of base64",
                         envelope->phase1_len);
    size_t len = 0, bad_at = 0;
    cuzk_status st = CUZK_OK;
    if (!base64_decode(json, &len, &bad_at, envelope->phase1, envelope->phase1_len)) {
        char found[16] = "the end";
        if (bad_at < envelope->phase1_len)
            snprintf(found, sizeof found, "0x%02x", (unsigned)(unsigned char)envelope->phase1[bad_at]);
        st = cuzk_fail(err, CUZK_ERR_FORMAT,
                       "Phase1Out (byte %zu): expected base64 with padding, found %s at character %zu of %zu",
                       envelope->phase1_at + bad_at, found, bad_at, envelope->phase1_len);
    }
    if (st == CUZK_OK) st = check_length("Phase1Out, decoded", len, err);
    if (st == CUZK_OK) {
        st = c1_read(&f->content, json, len, true, err);
        if (st != CUZK_OK) st = cuzk_fail_in(err, st, "Phase1Out, decoded");
    }
    mem_free(json);
    if (st != CUZK_OK) return st;
    const porep_shape *shape = &f->content.input.shape;
    if (shape->sector_size != envelope->sector_size)
        return cuzk_fail(
            err, CUZK_ERR_MISMATCH,
            "SectorSize (byte %zu): expected %llu, the size of registered_proof %s in Phase1Out, found %llu",
            envelope->sector_size_at, (unsigned long long)shape->sector_size, shape->proof_name,
            (unsigned long long)envelope->sector_size);
    return CUZK_OK;
}

cuzk_status c1_parse(c1_file **out, const uint8_t *json, size_t len, cuzk_error *err) {
    *out = NULL;
    cuzk_status st = check_length("C1 file", len, err);
    if (st != CUZK_OK) return st;
    c1_file *f = mem_calloc(MEM_INPUT, 1, sizeof *f);
    if (f == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a C1 file");
    st = c1_read(&f->content, json, len, false, err);
    if (st == CUZK_OK && f->content.enveloped) {
        c1_content envelope = f->content;
        memset(&f->content, 0, sizeof f->content);
        st = read_envelope(f, &envelope, err);
        arena_free(&envelope.memory);
    }
    if (st != CUZK_OK) {
        c1_destroy(&f);
        return st;
    }
    *out = f;
    return CUZK_OK;
}

void c1_destroy(c1_file **f) {
    if (f == NULL || *f == NULL) return;
    arena_free(&(*f)->content.memory);
    mem_free(*f);
    *f = NULL;
}

const porep_input *c1_input(const c1_file *f) { return &f->content.input; }

bool c1_sector_number(const c1_file *f, uint64_t *number) {
    if (f->enveloped) *number = f->sector_number;
    return f->enveloped;
}

void c1_statement(porep_statement *out, const c1_file *f) {
    const porep_input *in = &f->content.input;
    out->replica_id = in->replica_id;
    out->comm_d = in->comm_d;
    out->comm_r = in->comm_r;
    memcpy(out->seed, in->seed, sizeof out->seed);
}
