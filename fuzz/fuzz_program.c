// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The file of a circuit's program. Its SHA-256 is put behind the input here: no fuzzer finds it. What is accepted saves
// back to the same bytes, expands, and evaluates on any witness of its shape without harm.
#define _GNU_SOURCE // memfd_create
#include "fuzz_file.h"
#include "hash/sha256.h"
#include "r1cs/evaluate.h"
#include "r1cs/program_file.h"

enum { MAX_WORK = 1 << 16 }; // rows and wires of what is expanded

// Gives each wire of an expansion a value.
typedef struct filler {
    cs head; // first
    packed_sink *to;
} filler;

static fr value_of(uint32_t i) {
    fr v;
    fr_from_u64(&v, i % 3 == 0 ? 0 : i % 3 == 1 ? 1 : UINT64_C(0x9e3779b97f4a7c15) * i);
    return v;
}
static void on_alloc(cs *s, wire_kind kind, const fr *value) {
    (void)value;
    const fr v = value_of(kind == WIRE_BIT ? s->n_aux & 1 : s->n_aux);
    (void)cs_alloc(&((filler *)s)->to->head, kind, &v);
}
static void on_alloc_input(cs *s, const fr *value) {
    (void)value;
    if (s->n_inputs == 0) return;
    const fr v = value_of(s->n_inputs);
    (void)cs_alloc_input(&((filler *)s)->to->head, &v);
}
static void on_enforce(cs *s, lc_view a, lc_view b, lc_view c) {
    const lc_view all[3] = {a, b, c};
    for (int k = 0; k < 3; k++)
        for (uint32_t i = 0; i < all[k].n; i++) {
            const wire w = all[k].terms[i].wire;
            fuzz_require(i == 0 || all[k].terms[i - 1].wire < w, "terms ascend");
            fuzz_require(wire_index(w) < (wire_is_aux(w) ? UINT32_C(1) << 31 : UINT32_MAX), "a wire");
        }
    (void)s;
}
static const cs_ops FILL = {.alloc = on_alloc, .alloc_input = on_alloc_input, .enforce = on_enforce};

static void use(const program *p) {
    program_counts n;
    program_count(&n, p);
    if (n.rows > MAX_WORK || n.aux > MAX_WORK || n.inputs > MAX_WORK) return;
    packed_sink fill;
    packed_witness *w = NULL;
    cuzk_error err;
    uint64_t failed;
    packed_sink_init(&fill, 0, 0, 0);
    filler f = {.to = &fill};
    cs_init(&f.head, &FILL, false);
    program_expand(p, &f.head);
    fuzz_require(f.head.status == CUZK_OK && f.head.n_constraints == n.rows, "a program expands");
    fuzz_require(packed_sink_finish(&w, &fill, &err) == CUZK_OK && w->n_fields == n.fields, "to the wires it counts");
    fuzz_require(program_evaluate(NULL, NULL, NULL, &failed, p, w, NULL, &err) == CUZK_OK, "and is evaluated");
    packed_destroy(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 1 << 20) return 0;
    uint8_t *whole = malloc(size + 32);
    if (whole == NULL) abort();
    memcpy(whole, data, size);
    sha256_digest(whole + size, data, size);
    char path[64], saved[128];
    const int fd = fuzz_file(path, whole, size + 32);
    program *p = NULL;
    program_identity id;
    cuzk_error err = {.status = CUZK_OK};
    const cuzk_status st = program_load(&p, &id, NULL, path, &err);
    if (st == CUZK_OK) {
        fuzz_temporary(saved, "program");
        fuzz_require(program_save(p, &id, saved, &err) == CUZK_OK, "a loaded program can be saved");
        fuzz_require_same(saved, whole, size + 32);
        unlink(saved);
        use(p);
    } else {
        fuzz_require(p == NULL, "no program on failure");
        fuzz_require_error(st, &err);
    }
    program_destroy(&p);
    close(fd);
    free(whole);
    return 0;
}
