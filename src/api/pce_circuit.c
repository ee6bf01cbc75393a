// SPDX-License-Identifier: MIT OR Apache-2.0
#include "api/pce_circuit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "hash/sha256.h"

// Raised when programs that were made before must not be used any more: a circuit's constraints are fixed by the
// official parameters, but a mistake in how they became a program would live on in files.
enum { REVISION = 1, FACTS_MAX = 8 };

static void identify(pce_circuit *c, const char *kind, uint64_t size, const uint32_t *facts, size_t n) {
    uint8_t bytes[4 * (1 + FACTS_MAX)];
    c->id = (program_identity){.size = size};
    memcpy(c->id.kind, kind, strlen(kind));
    store_le32(bytes, REVISION);
    for (size_t i = 0; i < n; i++) store_le32(bytes + 4 * (i + 1), facts[i]);
    sha256 h;
    sha256_init(&h);
    sha256_update(&h, c->id.kind, sizeof c->id.kind);
    sha256_update(&h, bytes, 4 * (n + 1));
    sha256_final(c->id.digest, &h);
}

void pce_of_porep(pce_circuit *out, const porep_shape *s) {
    *out = (pce_circuit){.self.porep = {.shape = *s}};
    const uint32_t facts[] = {s->base_arity,   s->sub_arity, s->top_arity, s->base_steps,
                              s->tree_d_steps, s->layers,    s->challenges};
    const char *size = porep_size_name(s->sector_size);
    identify(out, "porep", s->sector_size, facts, sizeof facts / sizeof *facts);
    snprintf(out->size_name, sizeof out->size_name, "%s", size != NULL ? size : "other");
    out->synthesize = porep_circuit_bind(&out->self.porep).synthesize;
}

void pce_of_toy(pce_circuit *out, const toy_shape *shape) {
    *out = (pce_circuit){.self.toy = {.shape = {.rows = shape->rows, .partitions = 1}}};
    identify(out, "toy", shape->rows, &shape->rows, 1);
    snprintf(out->size_name, sizeof out->size_name, "%" PRIu32, shape->rows);
    out->synthesize = toy_circuit_bind(&out->self.toy).synthesize;
}

// --- By name ---

static cuzk_status porep_by_size(pce_circuit *out, const char *size, cuzk_error *err) {
    uint64_t bytes;
    porep_shape shape;
    cuzk_status s = porep_parse_size(&bytes, size, err);
    // API version and kind of challenges do not change the circuit.
    if (s == CUZK_OK) s = porep_shape_by_size(&shape, bytes, POREP_API_1_1, POREP_INTERACTIVE, err);
    if (s == CUZK_OK) pce_of_porep(out, &shape);
    return s;
}

static cuzk_status toy_by_size(pce_circuit *out, const char *size, cuzk_error *err) {
    toy_shape shape = {.partitions = 1};
    const char *p = size;
    for (; *p >= '0' && *p <= '9' && shape.rows <= TOY_MAX_ROWS; p++)
        shape.rows = 10 * shape.rows + (uint32_t)(*p - '0');
    if (*p != 0)
        return cuzk_fail(err, CUZK_ERR_USAGE, "unknown size of a toy \"%.40s\"; expected its rows, %d to %d", size,
                         TOY_MIN_ROWS, TOY_MAX_ROWS);
    const cuzk_status s = toy_shape_check(&shape, err);
    if (s == CUZK_OK) pce_of_toy(out, &shape);
    return s;
}

typedef cuzk_status (*by_size_fn)(pce_circuit *out, const char *size, cuzk_error *err);

static by_size_fn find_kind(const char *kind) {
    static const struct {
        const char *kind;
        by_size_fn by_size;
    } KINDS[] = {{"porep", porep_by_size}, {"toy", toy_by_size}};
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (strcmp(KINDS[i].kind, kind) == 0) return KINDS[i].by_size;
    return NULL;
}

cuzk_status pce_check_kind(const char *kind, cuzk_error *err) {
    return find_kind(kind) != NULL ? CUZK_OK
                                   : cuzk_fail(err, CUZK_ERR_USAGE, "unknown kind '%.40s'; kinds: porep, toy", kind);
}

cuzk_status pce_by_name(pce_circuit *out, const char *kind, const char *size, cuzk_error *err) {
    const cuzk_status s = pce_check_kind(kind, err);
    return s == CUZK_OK ? find_kind(kind)(out, size, err) : s;
}

cuzk_status pce_by_identity(pce_circuit *out, const program_identity *id, cuzk_error *err) {
    char size[24];
    snprintf(size, sizeof size, "%" PRIu64, id->size);
    if (pce_by_name(out, id->kind, size, NULL) == CUZK_OK && memcmp(out->id.digest, id->digest, sizeof id->digest) == 0)
        return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_MISMATCH, "it is the program of a circuit that is not known here");
}

// --- What there is to be done with one ---

circuit pce_circuit_bind(const pce_circuit *c) { return (circuit){c->synthesize, &c->self}; }

void pce_file_name(char out[PCE_NAME_MAX], const pce_circuit *c) {
    char hex[17];
    hex_encode(hex, c->id.digest, 8);
    snprintf(out, PCE_NAME_MAX, "cuzk-pce-%d-%s-%s-%s.pce", PROGRAM_FILE_VERSION, c->id.kind, c->size_name, hex);
}
