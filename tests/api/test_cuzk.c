// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The public library as a user sees it: its header, the shared object, files.
#include <cuzk/cuzk.h>

#include "testing.h"

#include <pthread.h>

#define CASE "vectors/cases/porep-2k-a/"

typedef struct bytes {
    uint8_t *data;
    size_t len;
} bytes;

static bytes read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    bytes b = {malloc(1 << 22), 0};
    assert_non_null(b.data);
    b.len = fread(b.data, 1, 1 << 22, f);
    fclose(f);
    return b;
}

// "proof":"<384 hex digits>" of golden.json.
static void golden_proof(uint8_t out[192]) {
    bytes g = read_file(CASE "golden.json");
    g.data[g.len] = 0;
    const char *at = strstr((const char *)g.data, "\"proof\":\"");
    assert_non_null(at);
    at += 9;
    for (int i = 0; i < 192; i++) {
        unsigned v = 0;
        assert_int_equal(sscanf(at + 2 * i, "%2x", &v), 1);
        out[i] = (uint8_t)v;
    }
    free(g.data);
}

static void test_basics(void **state) {
    (void)state;
    assert_non_null(strchr(cuzk_version(), '.'));
    assert_string_equal(cuzk_result_name(CUZK_RESULT_FORMAT), "FORMAT");
    assert_string_equal(cuzk_result_name(CUZK_RESULT_BUFFER), "BUFFER");
    assert_int_equal(cuzk_context_new(NULL, 0), CUZK_RESULT_USAGE);
    cuzk_context_free(NULL);
    assert_string_equal(cuzk_error_text(NULL), "");
    cuzk_context *ctx = NULL;
    assert_int_equal(cuzk_context_new(&ctx, 1), CUZK_RESULT_OK);
    assert_string_equal(cuzk_error_text(ctx), "");
    size_t n = 0;
    assert_int_equal(cuzk_porep_proof_size(ctx, NULL, (const uint8_t *)"x", 1), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_porep_proof_size(ctx, &n, NULL, 1), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_porep_proof_size(NULL, &n, (const uint8_t *)"x", 1), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_porep_proof_size(ctx, &n, (const uint8_t *)"x", 1), CUZK_RESULT_FORMAT);
    assert_int_not_equal(strlen(cuzk_error_text(ctx)), 0);
    assert_int_equal(cuzk_porep_verify(ctx, NULL, NULL, 0, NULL, 0), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_porep_prove(ctx, NULL, NULL, NULL, NULL, 0, 0), CUZK_RESULT_USAGE);
    assert_int_equal(cuzk_porep_make_test_params(ctx, "/nowhere", 2049, "x"), CUZK_RESULT_USAGE);
    cuzk_context_free(ctx);
}

static void test_buffer(void **state) {
    (void)state;
    cuzk_context *ctx = NULL;
    assert_int_equal(cuzk_context_new(&ctx, 1), CUZK_RESULT_OK);
    bytes c1 = read_file(CASE "c1.json");
    size_t size = 0;
    assert_int_equal(cuzk_porep_proof_size(ctx, &size, c1.data, c1.len), CUZK_RESULT_OK);
    assert_int_equal(size, 192);
    uint8_t proof[192];
    memset(proof, 0xee, sizeof proof);
    const size_t room[] = {0, 191};
    for (int i = 0; i < 2; i++) {
        size = room[i];
        assert_int_equal(cuzk_porep_prove(ctx, proof, &size, "/nowhere", c1.data, c1.len, 0), CUZK_RESULT_BUFFER);
        assert_int_equal(size, 192);
    }
    size = 1000;
    assert_int_equal(cuzk_porep_prove(ctx, NULL, &size, "/nowhere", c1.data, c1.len, 0), CUZK_RESULT_BUFFER);
    assert_int_equal(size, 192);
    // Enough room: now the parameters are looked for.
    assert_int_equal(cuzk_porep_prove(ctx, proof, &size, "/nowhere", c1.data, c1.len, 0), CUZK_RESULT_IO);
    assert_non_null(strstr(cuzk_error_text(ctx), "/nowhere/v28-"));
    assert_int_equal(cuzk_porep_prove(ctx, proof, &size, "/nowhere", c1.data, c1.len, 0x80), CUZK_RESULT_USAGE);
    for (size_t i = 0; i < sizeof proof; i++) assert_int_equal(proof[i], 0xee);
    int insecure = 7;
    assert_int_equal(cuzk_porep_params_insecure(ctx, &insecure, "vectors/vk", c1.data, c1.len), CUZK_RESULT_OK);
    assert_int_equal(insecure, 0);
    free(c1.data);
    cuzk_context_free(ctx);
}

static void verify_golden(cuzk_context *ctx) {
    bytes c1 = read_file(CASE "c1.json");
    uint8_t proof[193];
    golden_proof(proof);
    assert_int_equal(cuzk_porep_verify(ctx, "vectors/vk", c1.data, c1.len, proof, 192), CUZK_RESULT_OK);
    assert_int_equal(cuzk_porep_verify(ctx, "vectors/vk", c1.data, c1.len, proof, 191), CUZK_RESULT_FORMAT);
    assert_int_equal(cuzk_porep_verify(ctx, "vectors/vk", c1.data, c1.len, proof, 193), CUZK_RESULT_FORMAT);
    bytes other = read_file("vectors/cases/porep-2k-v10/c1.json");
    assert_int_equal(cuzk_porep_verify(ctx, "vectors/vk", other.data, other.len, proof, 192), CUZK_RESULT_INVALID);
    free(other.data);
    free(c1.data);
}

static void test_verify(void **state) {
    (void)state;
    cuzk_context *ctx = NULL;
    assert_int_equal(cuzk_context_new(&ctx, 0), CUZK_RESULT_OK);
    verify_golden(ctx);
    cuzk_context_free(ctx);
}

static void *verify_in_thread(void *arg) {
    cuzk_context *ctx = NULL;
    if (cuzk_context_new(&ctx, 1) != CUZK_RESULT_OK) return NULL;
    verify_golden(ctx);
    cuzk_context_free(ctx);
    *(int *)arg = 1;
    return NULL;
}

// Different contexts in different threads at the same time.
static void test_threads(void **state) {
    (void)state;
    pthread_t t[4];
    int done[4] = {0};
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&t[i], NULL, verify_in_thread, &done[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
        assert_int_equal(done[i], 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_basics), cmocka_unit_test(test_buffer),
                                       cmocka_unit_test(test_verify), cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
