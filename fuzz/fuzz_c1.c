// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A valid C1 file has at least 50 kB, almost all of it digits; no fuzzer gets far in such a haystack. So control bytes,
// which JSON does not allow anyway, stand for whole pieces of a 2 KiB sector's file: a seed is a few hundred bytes, and
// a mutation hits structure. Byte 0x10 in front wraps the rest into an envelope.
#include "fuzz.h"
#include "vanilla/c1.h"
#include "vanilla/porep_check.h"

enum { MAX_TEXT = 1 << 18, ENVELOPE = 0x10 };

// PIECES[b]: what byte b stands for; a piece uses pieces of smaller bytes only, so expansion ends.
static const char *const PIECES[0x10] = {
    [0x01] = "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]",
    [0x02] = "\1,\1,\1,\1,\1,\1,\1",
    [0x03] = "\2,\2,\2,\2,\2,\1,\1",
    [0x04] = "{\"hashes\":[\1],\"index\":0}",
    [0x05] = "{\"hashes\":[\2],\"index\":0}",
    [0x06] = "{\"data\":{\"Single\":{\"root\":\1,\"leaf\":\1,\"path\":{\"path\":[\5,\5]}}}}",
    [0x07] = "{\"column\":{\"index\":0,\"rows\":[\1,\1],\"_h\":null},\"inclusion_proof\":\6}",
    [0x08] = "{\"parents\":[\3],\"layer_index\":1,\"node\":0}",
    [0x0e] =
        "{\"comm_d_proofs\":{\"data\":{\"Single\":{\"root\":\1,\"leaf\":\1,\"path\":{\"path\":[\4,\4,\4,\4,\4,\4]}}}},"
        "\"comm_r_last_proof\":\6,\"replica_column_proofs\":{\"c_x\":\7,\"drg_parents\":[\7,\7,\7,\7,\7,\7],"
        "\"exp_parents\":[\7,\7,\7,\7,\7,\7,\7,\7]},\"labeling_proofs\":[\10,\10],\"encoding_proof\":\10}",
};

typedef struct text {
    uint8_t *at;
    size_t len;
} text;

// Depth: at most the number of pieces.
static void expand(text *t, const uint8_t *data, size_t size, unsigned below) {
    for (size_t i = 0; i < size && t->len < MAX_TEXT; i++) {
        if (data[i] < below && PIECES[data[i]] != NULL)
            expand(t, (const uint8_t *)PIECES[data[i]], strlen(PIECES[data[i]]), data[i]);
        else
            t->at[t->len++] = data[i];
    }
}

static text wrap(const text *inner) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    text t = {malloc(inner->len / 3 * 4 + 256), 0};
    if (t.at == NULL) abort();
    t.len = (size_t)sprintf((char *)t.at, "{\"SectorNum\":7,\"Phase1Out\":\"");
    const uint8_t *p = inner->at;
    for (size_t i = 0; i < inner->len; i += 3) {
        uint32_t v = (uint32_t)p[i] << 16 | (i + 1 < inner->len ? (uint32_t)p[i + 1] << 8 : 0) |
                     (i + 2 < inner->len ? p[i + 2] : 0);
        t.at[t.len++] = (uint8_t)digits[v >> 18];
        t.at[t.len++] = (uint8_t)digits[v >> 12 & 63];
        t.at[t.len++] = i + 1 < inner->len ? (uint8_t)digits[v >> 6 & 63] : '=';
        t.at[t.len++] = i + 2 < inner->len ? (uint8_t)digits[v & 63] : '=';
    }
    t.len += (size_t)sprintf((char *)t.at + t.len, "\",\"SectorSize\":2048}");
    return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    text t = {malloc(MAX_TEXT), 0};
    if (t.at == NULL) abort();
    bool envelope = size > 0 && data[0] == ENVELOPE;
    expand(&t, data + envelope, size - envelope, 0x10);
    if (envelope) {
        text wrapped = wrap(&t);
        free(t.at);
        t = wrapped;
    } else {
        t.at = realloc(t.at, t.len > 0 ? t.len : 1); // the exact size, for AddressSanitizer
        if (t.at == NULL) abort();
    }

    c1_file *f = NULL;
    cuzk_error err = {.status = CUZK_OK};
    cuzk_status st = c1_parse(&f, t.at, t.len, &err);
    free(t.at);
    if (st == CUZK_OK) {
        uint64_t number = 0;
        fuzz_require(f != NULL && c1_sector_number(f, &number) == envelope, "an envelope is recognised");
        st = porep_check(c1_input(f), NULL, &err);
        fuzz_require(st != CUZK_OK, "no sector is all zeros");
    } else {
        fuzz_require(f == NULL, "no file on failure");
    }
    fuzz_require_error(st, &err);
    c1_destroy(&f);
    return 0;
}
