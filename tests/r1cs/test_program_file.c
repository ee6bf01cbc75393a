// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Programs on disk: what was written is read; nothing else is, whatever is done to the bytes.
#include "made_system.h"

#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"
#include "hash/sha256.h"
#include "r1cs/digest.h"
#include "r1cs/program_file.h"

static char path[] = "/tmp/cuzk-program-XXXXXX";
static const program_identity IDENTITY = {"made", 7, {1, 2, 3}};

static program *make(uint64_t seed, int steps) {
    cuzk_error err;
    program *p = NULL;
    const made m = {.rng = {seed}};
    assert_int_equal(made_program(&p, &m, steps, &err), CUZK_OK);
    return p;
}

static void stream_of(uint8_t out[32], const program *p) {
    digest_sink s;
    digest_init(&s, NULL);
    program_expand(p, &s.head);
    assert_int_equal(s.head.status, CUZK_OK);
    digest_so_far(out, &s);
    digest_destroy(&s);
}

static void what_was_written_is_read(void **state) {
    (void)state;
    test_rng r = test_rng_new("what_was_written_is_read");
    cuzk_error err;
    program *p = make(test_u64(&r), 200), *q = NULL;
    program_identity found;
    assert_int_equal(program_save(p, &IDENTITY, path, &err), CUZK_OK);
    assert_int_equal(program_load(&q, &found, &IDENTITY, path, &err), CUZK_OK);
    assert_memory_equal(&found, &IDENTITY, sizeof found);
    program_counts a, b;
    program_count(&a, p);
    program_count(&b, q);
    assert_int_equal(a.inputs, b.inputs);
    assert_int_equal(a.aux, b.aux);
    assert_int_equal(a.fields, b.fields);
    assert_int_equal(a.rows, b.rows);
    assert_int_equal(a.templates, b.templates);
    assert_int_equal(a.instances, b.instances);
    assert_int_equal(a.coeffs, b.coeffs);
    assert_int_equal(a.bytes, b.bytes);
    uint8_t x[32], y[32];
    stream_of(x, p);
    stream_of(y, q);
    assert_memory_equal(x, y, 32);
    // The same bytes again.
    uint8_t *first, *second;
    size_t n_first, n_second;
    assert_int_equal(file_read_all(&first, &n_first, path, PROGRAM_FILE_MAX, &err), CUZK_OK);
    assert_int_equal(program_save(q, &IDENTITY, path, &err), CUZK_OK);
    assert_int_equal(file_read_all(&second, &n_second, path, PROGRAM_FILE_MAX, &err), CUZK_OK);
    assert_int_equal(n_first, n_second);
    assert_memory_equal(first, second, n_first);
    mem_free(first);
    mem_free(second);
    program_destroy(&q);
    program_identity other = IDENTITY;
    other.digest[31] = 1;
    assert_int_equal(program_load(&q, NULL, &other, path, &err), CUZK_ERR_MISMATCH);
    assert_null(q);
    program_destroy(&p);
}

// Not by way of base/file.h: syncing thousands of files takes its time.
static void write_bytes(const uint8_t *bytes, size_t n) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void damaged_files_are_refused(void **state) {
    (void)state;
    test_rng r = test_rng_new("damaged_files_are_refused");
    cuzk_error err;
    program *p = make(test_u64(&r), 12);
    uint8_t *bytes;
    size_t n;
    assert_int_equal(program_save(p, &IDENTITY, path, &err), CUZK_OK);
    assert_int_equal(file_read_all(&bytes, &n, path, PROGRAM_FILE_MAX, &err), CUZK_OK);
    program_destroy(&p);
    for (int i = 0; i < 60; i++) {
        const size_t at = test_below(&r, n);
        bytes[at] ^= (uint8_t)(1 << test_below(&r, 8));
        uint8_t saved = bytes[at];
        write_bytes(bytes, n);
        assert_int_equal(program_load(&p, NULL, NULL, path, &err), CUZK_ERR_FORMAT);
        assert_non_null(strstr(err.text, path));
        write_bytes(bytes, test_below(&r, n));
        assert_int_equal(program_load(&p, NULL, NULL, path, &err), CUZK_ERR_FORMAT);
        assert_null(p);
        assert_int_equal(saved, bytes[at]);
    }
    mem_free(bytes);
}

// A digest that fits does not make a file true: numbers are changed and the digest made again. What is loaded all the
// same holds together: it can be expanded and counted.
static void forged_files_do_no_harm(void **state) {
    (void)state;
    test_rng r = test_rng_new("forged_files_do_no_harm");
    cuzk_error err;
    int refused = 0;
    enum { FORGERIES = 1500 };
    for (int i = 0; i < FORGERIES; i++) {
        static uint8_t *bytes;
        static size_t n;
        if (i % 100 == 0) {
            mem_free(bytes);
            program *p = make(test_u64(&r), 6);
            assert_int_equal(program_save(p, &IDENTITY, path, &err), CUZK_OK);
            assert_int_equal(file_read_all(&bytes, &n, path, PROGRAM_FILE_MAX, &err), CUZK_OK);
            program_destroy(&p);
        }
        uint8_t *forged = mem_alloc(MEM_MISC, n, 1);
        memcpy(forged, bytes, n);
        for (uint64_t k = 1 + test_below(&r, 3); k > 0; k--) {
            // Words behind the head's identity; the tables begin some 100 bytes in.
            const size_t at = 68 + 4 * test_below(&r, test_below(&r, 2) != 0 ? 9 : (n - 32 - 68) / 4);
            store_le32(forged + at, test_below(&r, 2) != 0 ? (uint32_t)test_edge_u64(&r)
                                                           : load_le32(forged + at) + (uint32_t)test_below(&r, 3) - 1);
        }
        sha256_digest(forged + n - 32, forged, n - 32);
        write_bytes(forged, n);
        mem_free(forged);
        program *p = NULL;
        const cuzk_status s = program_load(&p, NULL, NULL, path, &err);
        if (s != CUZK_OK) {
            refused++;
            assert_true(s == CUZK_ERR_FORMAT || s == CUZK_ERR_MEMORY);
            continue;
        }
        uint8_t digest[32];
        stream_of(digest, p);
        program_destroy(&p);
        if (i == FORGERIES - 1) mem_free(bytes);
    }
    print_message("%d of %d refused\n", refused, FORGERIES);
    assert_true(refused > FORGERIES / 4);
}

static void no_file_no_program(void **state) {
    (void)state;
    cuzk_error err;
    program *p = NULL;
    unlink(path);
    assert_int_equal(program_load(&p, NULL, NULL, path, &err), CUZK_ERR_IO);
    p = make(1, 3);
    assert_int_equal(program_save(p, &IDENTITY, "/nonexistent/program", &err), CUZK_ERR_IO);
    program_destroy(&p);
}

static int make_path(void **state) {
    (void)state;
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}
static int drop_path(void **state) {
    (void)state;
    unlink(path);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_written_is_read),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(forged_files_do_no_harm),
        cmocka_unit_test(no_file_no_program),
    };
    return cmocka_run_group_tests(tests, make_path, drop_path);
}
