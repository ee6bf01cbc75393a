// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Memory of a proof: keys whose points are read as they are needed, and what is left in memory that is kept.
#include "testing.h"

#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "circuit/report.h"
#include "circuit/toy/toy.h"
#include "groth16/internal.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "groth16/verify.h"

enum { ROWS = 100 };

static char dir[] = "/tmp/cuzk-test-open-XXXXXX";
static char path[64], receipt[80];
static groth16_pk *whole; // the key, in memory
static uint8_t *bytes;    // and as a file
static size_t len;
static uint64_t live;

static groth16_pk *make_key(const circuit *c, pool *p) {
    groth16_secrets secrets;
    groth16_pk *pk;
    groth16_secrets_from_label(&secrets, "toy");
    assert_int_equal(groth16_setup(&pk, c, &secrets, p, 0, 0), CUZK_OK);
    return pk;
}

static int set_up(void **state) {
    (void)state;
    if (mkdtemp(dir) == 0) return -1;
    snprintf(path, sizeof path, "%s/key.params", dir);
    snprintf(receipt, sizeof receipt, "%s.checked", path);
    const toy_circuit t = {{.rows = ROWS, .partitions = 1}, 7, 0};
    const circuit c = toy_circuit_bind(&t);
    whole = make_key(&c, 0);
    if (groth16_pk_save(whole, path, 0, 0, 0) != CUZK_OK) return -1;
    if (file_read_all(&bytes, &len, path, 1 << 24, 0) != CUZK_OK) return -1;
    live = mem_usage_total().live;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    groth16_pk_destroy(&whole);
    mem_free(bytes);
    unlink(receipt);
    unlink(path);
    rmdir(dir);
    return mem_usage_total().live == 0 ? 0 : -1;
}

static void write_file(const uint8_t *data, size_t n) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

// Proves, packed or the reference way.
static cuzk_status prove(groth16_proof *out, const groth16_pk *pk, bool packed, pool *p, const observer *o,
                         cuzk_error *err) {
    const toy_circuit t = {{.rows = ROWS, .partitions = 1}, 7, 0};
    const circuit c = toy_circuit_bind(&t);
    program *rows;
    groth16_assignment *w;
    groth16_blinding b;
    groth16_blinding_from_label(&b, "toy", 1);
    assert_int_equal(circuit_program(&rows, &c, NULL, err), CUZK_OK);
    const groth16_program by = {rows, c};
    assert_int_equal(packed ? groth16_synthesize_packed(&w, &c, &by, 0, err) : groth16_synthesize(&w, &c, 0, err),
                     CUZK_OK);
    const cuzk_status s = groth16_prove(out, pk, w, &b, p, o, err);
    groth16_assignment_destroy(&w);
    program_destroy(&rows);
    return s;
}

static groth16_pk *open_key(void) {
    groth16_pk *pk;
    cuzk_error err;
    assert_int_equal(groth16_pk_open(&pk, path, KEY_CHECK_CURVE, 0, 0, &err), CUZK_OK);
    return pk;
}

// At the beginning of each stage, how much memory keys have.
typedef struct stages {
    char names[400];
    uint64_t h; // of the section h
    bool good;
} stages;

static void note_stage(void *ctx, const char *stage) {
    stages *s = ctx;
    strcat(strcat(s->names, " "), stage);
    const uint64_t key = mem_usage_of(MEM_KEY).live;
    if (strcmp(stage, "msm_h") == 0) s->good = s->good && key == s->h;
}

static void the_same_proof(void **state) {
    (void)state;
    pool *three;
    groth16_proof want, got;
    cuzk_error err;
    assert_int_equal(pool_create(&three, 3, 0), CUZK_OK);
    for (int packed = 0; packed < 2; packed++) {
        assert_int_equal(prove(&want, whole, packed != 0, 0, 0, &err), CUZK_OK);
        groth16_pk *pk = open_key();
        assert_true(pk->h == 0 && pk->l == 0 && pk->a == 0 && pk->b_g1 == 0 && pk->b_g2 == 0);
        const uint64_t key = mem_usage_of(MEM_KEY).live;
        for (int i = 0; i < 2; i++) { // again: each time all is read
            stages s = {.h = key + pk->n_h * sizeof *pk->h, .good = true};
            const observer o = {.stage_begin = note_stage, .ctx = &s};
            memset(&got, 0, sizeof got);
            assert_int_equal(prove(&got, pk, packed != 0, i == 0 ? 0 : three, &o, &err), CUZK_OK);
            assert_memory_equal(&got, &want, sizeof got);
            assert_true(s.good);
            assert_string_equal(s.names + (packed != 0 ? strlen(" evaluate") : 0),
                                " ntt key_load msm_h key_load msm_l key_load msm_a key_load msm_b_g1"
                                " key_load msm_b_g2 assemble");
            assert_int_equal(mem_usage_of(MEM_KEY).live, key);
        }
        assert_int_equal(groth16_pk_save(pk, path, 0, 0, &err), CUZK_ERR_USAGE);
        groth16_pk_destroy(&pk);
    }
    pool_destroy(&three);
    assert_int_equal(mem_usage_total().live, live);
}

// Subgroups are tested over the whole key, so where that is asked for it is loaded; a receipt says that it was.
static void checks_in_full_load_it(void **state) {
    (void)state;
    groth16_pk *pk;
    assert_int_equal(groth16_pk_open(&pk, path, KEY_CHECK_FULL, 0, 0, 0), CUZK_OK);
    assert_true(pk->h != 0 && pk->file == 0);
    groth16_pk_destroy(&pk);
    write_file(bytes, len);
    sleep(4); // more than the resolution of a file's times
    for (int there = 0; there < 2; there++) {
        assert_int_equal(groth16_pk_open(&pk, path, KEY_CHECK_ONCE, 0, 0, 0), CUZK_OK);
        assert_true((pk->h == 0) == (there != 0));
        groth16_pk_destroy(&pk);
    }
}

static void bad_files(void **state) {
    (void)state;
    groth16_pk *pk;
    groth16_proof proof;
    cuzk_error err;
    write_file(bytes, len - 1); // the layout is looked at at once
    assert_int_equal(groth16_pk_open(&pk, path, KEY_CHECK_CURVE, 0, 0, &err), CUZK_ERR_FORMAT);
    assert_null(pk);
    unlink(path);
    assert_int_equal(groth16_pk_open(&pk, path, KEY_CHECK_CURVE, 0, 0, &err), CUZK_ERR_IO);
    assert_null(pk);

    const uint32_t n[KEY_SECTIONS] = {whole->n_h, whole->n_l, whole->n_a, whole->n_b, whole->n_b};
    size_t end = len;
    uint8_t *bad = malloc(len);
    assert_non_null(bad);
    for (int s = KEY_SECTIONS; s-- > 0;) { // backwards: the last byte of each section
        char name[160];
        memcpy(bad, bytes, len);
        bad[end - 1] ^= 1;
        write_file(bad, len);
        snprintf(name, sizeof name, "%s: section \"%s\": point %u of %u ", path, key_section_name((key_section)s),
                 n[s] - 1, n[s]);
        for (int packed = 0; packed < 2; packed++) {
            pk = open_key();
            assert_int_equal(prove(&proof, pk, packed != 0, 0, 0, &err), CUZK_ERR_FORMAT);
            assert_non_null(strstr(err.text, name));
            groth16_pk_destroy(&pk);
            assert_int_equal(mem_usage_total().live, live);
        }
        end -= n[s] * key_point_bytes((key_section)s) + 4;
    }
    free(bad);
    // Changed between the one and the other, though what is read is right.
    write_file(bytes, len);
    pk = open_key();
    assert_int_equal(truncate(path, (off_t)len + 1), 0);
    assert_int_equal(prove(&proof, pk, true, 0, 0, &err), CUZK_ERR_IO);
    assert_non_null(strstr(err.text, "was changed"));
    groth16_pk_destroy(&pk);
    write_file(bytes, len);
    pk = open_key();
    assert_int_equal(truncate(path, (off_t)len / 2), 0);
    assert_int_equal(prove(&proof, pk, true, 0, 0, &err), CUZK_ERR_IO);
    groth16_pk_destroy(&pk);
    write_file(bytes, len);
}

// Cancelled while points are read.
static bool in_key_load;
static void begin_stage(void *ctx, const char *stage) { (void)ctx, in_key_load = strcmp(stage, "key_load") == 0; }
static bool unwanted(void *ctx) { return (void)ctx, in_key_load; }

static void cancelled_in_the_key(void **state) {
    (void)state;
    const observer o = {.stage_begin = begin_stage, .cancelled = unwanted};
    groth16_proof proof;
    cuzk_error err;
    groth16_pk *pk = open_key();
    in_key_load = false;
    assert_int_equal(prove(&proof, pk, true, 0, &o, &err), CUZK_ERR_CANCELLED);
    groth16_pk_destroy(&pk);
    assert_int_equal(mem_usage_total().live, live);
}

static void refused_memory_is_an_error(void **state) {
    (void)state;
    const toy_circuit t = {{.rows = ROWS, .partitions = 1}, 7, 0};
    const circuit c = toy_circuit_bind(&t);
    program *rows;
    assert_int_equal(circuit_program(&rows, &c, NULL, 0), CUZK_OK);
    const groth16_program by = {rows, c};
    groth16_blinding b;
    groth16_blinding_from_label(&b, "toy", 1);
    const uint64_t before = mem_usage_total().live;
    cuzk_status s = CUZK_ERR_MEMORY;
    for (uint64_t nth = 1; s != CUZK_OK; nth++) {
        groth16_assignment *w;
        groth16_proof proof;
        groth16_pk *pk;
        cuzk_error err;
        assert_int_equal(groth16_synthesize_packed(&w, &c, &by, 0, &err), CUZK_OK);
        mem_test_refuse(nth);
        s = groth16_pk_open(&pk, path, KEY_CHECK_CURVE, 0, 0, &err);
        if (s == CUZK_OK) s = groth16_prove(&proof, pk, w, &b, 0, 0, &err);
        mem_test_refuse(0);
        groth16_pk_destroy(&pk);
        groth16_assignment_destroy(&w);
        assert_true(s == CUZK_OK || s == CUZK_ERR_MEMORY);
        assert_int_equal(mem_usage_total().live, before);
    }
    program_destroy(&rows);
}

// ---- kept memory

// A digest of all numbers of more than 48 bits that are kept, wherever they lie: not of lengths, nor of addresses.
static void add_kept(void *ctx, const void *at, size_t n) {
    for (size_t i = 0; i + 8 <= n; i += 8) {
        uint64_t x;
        memcpy(&x, (const uint8_t *)at + i, 8);
        test_rng mixed = {x};
        if (x >> 48 != 0) *(uint64_t *)ctx += test_u64(&mixed);
    }
}

// What two proofs of one circuit leave is the same, tables and nothing else: it knows of no witness. And a proof in
// memory that others left is the same as one in fresh memory.
static void nothing_secret_is_kept(void **state) {
    (void)state;
    enum { LARGE = 40000, WITNESSES = 2 };
    uint64_t left[WITNESSES] = {0}, kept[WITNESSES];
    pool *two;
    cuzk_error err;
    assert_int_equal(pool_create(&two, 2, 0), CUZK_OK);
    const toy_circuit shape = {{.rows = LARGE, .partitions = 1}, 0, 0};
    const circuit plain = toy_circuit_bind(&shape);
    groth16_pk *pk = make_key(&plain, two);
    program *rows;
    assert_int_equal(circuit_program(&rows, &plain, NULL, 0), CUZK_OK);
    const groth16_program by = {rows, plain};
    groth16_blinding b;
    groth16_blinding_from_label(&b, "toy", 1);
    for (int i = 0; i < WITNESSES; i++) {
        const toy_circuit t = {{.rows = LARGE, .partitions = 1}, 1000 + (uint64_t)i, 0};
        const circuit c = toy_circuit_bind(&t);
        groth16_assignment *w;
        groth16_proof fresh, again, third;
        uint32_t n;
        assert_int_equal(groth16_synthesize_packed(&w, &c, &by, 0, &err), CUZK_OK);
        assert_int_equal(groth16_prove(&fresh, pk, w, &b, two, 0, &err), CUZK_OK);
        assert_true(mem_usage_of(MEM_KEPT).live == 0 && mem_usage_of(MEM_KEPT).peak >= 2 * 65536 * sizeof(fr));
        mem_keep_begin();
        assert_int_equal(groth16_prove(&again, pk, w, &b, two, 0, &err), CUZK_OK);
        kept[i] = mem_usage_of(MEM_KEPT).live;
        assert_true(kept[i] >= 3 * 65536 * sizeof(fr)); // the evaluations were there
        mem_test_kept(add_kept, &left[i]);
        assert_int_equal(groth16_prove(&third, pk, w, &b, two, 0, &err), CUZK_OK);
        assert_int_equal(mem_usage_of(MEM_KEPT).live, kept[i]); // and nothing was taken anew
        mem_keep_end();
        assert_int_equal(mem_usage_of(MEM_KEPT).live, 0);
        assert_memory_equal(&again, &fresh, sizeof fresh);
        assert_memory_equal(&third, &fresh, sizeof fresh);
        const fr *in = groth16_assignment_inputs(w, &n);
        assert_int_equal(groth16_verify(&pk->vk, &again, in + 1, n - 1, &err), CUZK_OK);
        groth16_assignment_destroy(&w);
    }
    assert_int_equal(left[0], left[1]);
    program_destroy(&rows);
    groth16_pk_destroy(&pk);
    pool_destroy(&two);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_proof),
        cmocka_unit_test(checks_in_full_load_it),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(cancelled_in_the_key),
        cmocka_unit_test(refused_memory_is_an_error),
        cmocka_unit_test(nothing_secret_is_kept),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
