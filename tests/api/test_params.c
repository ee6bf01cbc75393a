// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Parameter files in a folder: names, marker, layout, what params_make_test refuses to replace. Making real ones is for
// the end-to-end tests.
#include "testing.h"

#include <sys/stat.h>
#include <unistd.h>

#include "api/params.h"
#include "base/file.h"
#include "base/mem.h"
#include "groth16/setup.h"
#include "toy.h"

typedef struct fixture {
    char dir[64];
    porep_shape shape;
    params_files files;
    groth16_pk *pk;
    cuzk_error err;
} fixture;

static int setup(void **state) {
    static fixture f;
    memset(&f, 0, sizeof f);
    strcpy(f.dir, "/tmp/cuzk-params-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    assert_int_equal(porep_shape_by_size(&f.shape, 2048, POREP_API_1_1, POREP_INTERACTIVE, &f.err), CUZK_OK);
    assert_int_equal(params_locate(&f.files, f.dir, &f.shape, &f.err), CUZK_OK);
    const toy t = {.x = 3, .y = 35, .copies = 3};
    circuit c = toy_bind(&t);
    groth16_secrets secrets;
    groth16_secrets_from_label(&secrets, "api test");
    assert_int_equal(groth16_setup(&f.pk, &c, &secrets, NULL, NULL, &f.err), CUZK_OK);
    assert_int_equal(groth16_vk_save(&f.pk->vk, f.files.vk, &f.err), CUZK_OK);
    assert_int_equal(groth16_pk_save(f.pk, f.files.params, NULL, NULL, &f.err), CUZK_OK);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    groth16_pk_destroy(&f->pk);
    unlink(f->files.params);
    unlink(f->files.vk);
    unlink(f->files.meta);
    unlink(f->files.insecure);
    return rmdir(f->dir); // fails if anything else was left there
}

static void test_names(void **state) {
    fixture *f = *state;
    char want[256];
    snprintf(want, sizeof want,
             "%s/v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-"
             "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.params",
             f->dir);
    assert_string_equal(f->files.params, want);
    char longest[PARAMS_PATH_MAX];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    params_files files;
    assert_int_equal(params_locate(&files, longest, &f->shape, &f->err), CUZK_ERR_USAGE);
    assert_int_equal(params_locate(&files, "", &f->shape, &f->err), CUZK_ERR_USAGE);
}

static void put(const char *path, const char *text) {
    assert_int_equal(file_write_all(path, text, strlen(text), NULL), CUZK_OK);
}

static void test_marker(void **state) {
    fixture *f = *state;
    char label[PARAMS_LABEL_MAX] = "x";
    assert_int_equal(params_insecure_label(label, &f->files, &f->err), CUZK_OK);
    assert_string_equal(label, ""); // no marker
    put(f->files.insecure, "");
    assert_int_equal(params_insecure_label(label, &f->files, &f->err), CUZK_OK);
    assert_string_equal(label, "(unknown label)"); // an empty marker is a marker
    unlink(f->files.insecure);
    assert_int_equal(mkdir(f->files.insecure, 0777), 0);
    assert_int_equal(params_insecure_label(label, &f->files, &f->err), CUZK_ERR_IO); // unreadable is not absent
    assert_int_equal(rmdir(f->files.insecure), 0);
}

static void test_vk(void **state) {
    fixture *f = *state;
    groth16_vk *vk = NULL;
    assert_int_equal(params_load_vk(&vk, &f->files, 1, &f->err), CUZK_OK);
    groth16_vk_destroy(&vk);
    assert_int_equal(params_load_vk(&vk, &f->files, 39, &f->err), CUZK_ERR_MISMATCH);
    assert_null(vk);
    assert_non_null(strstr(f->err.text, "expected 39 public inputs, found 1"));
    unlink(f->files.vk);
    assert_int_equal(params_load_vk(&vk, &f->files, 1, &f->err), CUZK_ERR_IO);
    assert_non_null(strstr(f->err.text, "2KiB"));
    assert_non_null(strstr(f->err.text, f->files.vk));
}

static void patch(const char *path, size_t at, uint8_t value) {
    FILE *g = fopen(path, "r+b");
    assert_non_null(g);
    assert_int_equal(fseek(g, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(value, g), value);
    assert_int_equal(fclose(g), 0);
}

static size_t size_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return (size_t)st.st_size;
}

static void test_layout(void **state) {
    fixture *f = *state;
    assert_int_equal(params_check_layout(&f->files, &f->err), CUZK_OK);
    size_t whole = size_of(f->files.params), vk = size_of(f->files.vk);
    // Cut anywhere: always noticed.
    for (size_t cut = whole; cut-- > 0;) {
        assert_int_equal(truncate(f->files.params, (off_t)cut), 0);
        assert_int_not_equal(params_check_layout(&f->files, &f->err), CUZK_OK);
        assert_non_null(strstr(f->err.text, f->files.params));
    }
    assert_int_equal(groth16_pk_save(f->pk, f->files.params, NULL, NULL, &f->err), CUZK_OK);
    assert_int_equal(truncate(f->files.params, (off_t)whole + 1), 0);
    assert_int_equal(params_check_layout(&f->files, &f->err), CUZK_ERR_FORMAT);
    assert_non_null(strstr(f->err.text, "after the last section"));
    assert_int_equal(truncate(f->files.params, (off_t)whole), 0);
    assert_int_equal(params_check_layout(&f->files, &f->err), CUZK_OK);
    // A count of 2^32 - 1: no allocation, an error.
    for (int i = 0; i < 4; i++) patch(f->files.params, vk + (size_t)i, 0xff);
    assert_int_equal(params_check_layout(&f->files, &f->err), CUZK_ERR_FORMAT);
    assert_non_null(strstr(f->err.text, "section h"));
    // Another verifying key.
    assert_int_equal(groth16_pk_save(f->pk, f->files.params, NULL, NULL, &f->err), CUZK_OK);
    patch(f->files.vk, 17, 0x55);
    assert_int_equal(params_check_layout(&f->files, &f->err), CUZK_ERR_MISMATCH);
    assert_non_null(strstr(f->err.text, "differ at byte 17"));
}

static void test_make_refuses(void **state) {
    fixture *f = *state;
    params_outcome out;
    // Unmarked files may be production parameters: not even --force replaces them.
    for (int force = 0; force < 2; force++) {
        assert_int_equal(params_make_test(&out, &f->files, &f->shape, "x", force != 0, NULL, NULL, &f->err),
                         CUZK_ERR_USAGE);
        assert_non_null(strstr(f->err.text, "not marked as test parameters"));
    }
    // A label that would not fit its line.
    char longest[PARAMS_LABEL_MAX + 1];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    const char *const labels[] = {"", "a\nb", longest};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(params_make_test(&out, &f->files, &f->shape, labels[i], true, NULL, NULL, &f->err),
                         CUZK_ERR_USAGE);
}

static void test_make_keeps(void **state) {
    fixture *f = *state;
    params_outcome out;
    put(f->files.insecure, "INSECURE TEST PARAMETERS. NEVER USE THEM FOR REAL SECTORS.\n"
                           "The secrets behind the parameter files with this name follow from the label below.\n"
                           "Whoever knows it can forge proofs that these verifying keys accept.\n"
                           "label: x\n");
    // Whole .params, no .meta: only that is made.
    assert_int_equal(params_make_test(&out, &f->files, &f->shape, "x", false, NULL, NULL, &f->err), CUZK_OK);
    assert_true(out.repaired && !out.kept);
    uint8_t *meta = NULL;
    size_t len = 0;
    assert_int_equal(file_read_all(&meta, &len, f->files.meta, 100, &f->err), CUZK_OK);
    assert_int_equal(len, 20);
    assert_memory_equal(meta, "{\"sector_size\":2048}", 20);
    mem_free(meta);
    // Everything there: nothing is done.
    assert_int_equal(params_make_test(&out, &f->files, &f->shape, "x", false, NULL, NULL, &f->err), CUZK_OK);
    assert_true(out.kept && !out.repaired);
    assert_int_equal(out.params_bytes, size_of(f->files.params));
    // A damaged .vk is taken from .params again.
    patch(f->files.vk, 17, 0x55);
    assert_int_equal(params_make_test(&out, &f->files, &f->shape, "x", false, NULL, NULL, &f->err), CUZK_OK);
    assert_true(out.repaired);
    assert_int_equal(params_check_layout(&f->files, &f->err), CUZK_OK);
    // Another label is not the same parameters.
    assert_int_equal(params_make_test(&out, &f->files, &f->shape, "y", false, NULL, NULL, &f->err), CUZK_ERR_USAGE);
    assert_non_null(strstr(f->err.text, "made from the label 'x'"));
}

static bool cancel_at_once(void *ctx) {
    (void)ctx;
    return true;
}

// A forced remake that is interrupted leaves nothing that the new label could be taken for.
static void test_make_interrupted(void **state) {
    fixture *f = *state;
    const observer o = {.cancelled = cancel_at_once};
    params_outcome out;
    char label[PARAMS_LABEL_MAX];
    put(f->files.insecure, ""); // so that the files may be replaced
    assert_int_equal(params_make_test(&out, &f->files, &f->shape, "another", true, NULL, &o, &f->err),
                     CUZK_ERR_CANCELLED);
    assert_int_equal(access(f->files.params, F_OK), -1);
    assert_int_equal(params_insecure_label(label, &f->files, &f->err), CUZK_OK);
    assert_string_equal(label, "another");
    // The marker as written, its label blanked: still a marker.
    uint8_t *marker = NULL;
    size_t len = 0;
    assert_int_equal(file_read_all(&marker, &len, f->files.insecure, 4096, NULL), CUZK_OK);
    char *at = strstr((char *)marker, "another");
    assert_non_null(at);
    strcpy(at, "\n");
    put(f->files.insecure, (char *)marker);
    mem_free(marker);
    assert_int_equal(params_insecure_label(label, &f->files, &f->err), CUZK_OK);
    assert_string_equal(label, "(unknown label)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_marker, setup, teardown),
        cmocka_unit_test_setup_teardown(test_vk, setup, teardown),
        cmocka_unit_test_setup_teardown(test_layout, setup, teardown),
        cmocka_unit_test_setup_teardown(test_make_refuses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_make_keeps, setup, teardown),
        cmocka_unit_test_setup_teardown(test_make_interrupted, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
