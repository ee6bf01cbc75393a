// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The cache of programs: one program a circuit, whoever asks and however often; files are used, mended, or done
// without.
#include "testing.h"

#include <pthread.h>
#include <unistd.h>

#include "api/pce.h"

static porep_shape shape_of(uint64_t size, porep_api api, porep_challenge_kind kind) {
    porep_shape s;
    cuzk_error err;
    assert_int_equal(porep_shape_by_size(&s, size, api, kind, &err), CUZK_OK);
    return s;
}

static void identities(void **state) {
    (void)state;
    program_identity ids[32];
    uint32_t n = 0;
    for (const uint64_t *size = POREP_SECTOR_SIZES; *size != 0; size++, n++) {
        const porep_shape s = shape_of(*size, POREP_API_1_1, POREP_INTERACTIVE);
        pce_identity(&ids[n], &s);
        assert_string_equal(ids[n].kind, "porep");
        assert_int_equal(ids[n].size, *size);
        for (uint32_t k = 0; k < n; k++) assert_memory_not_equal(ids[k].digest, ids[n].digest, 32);
        // What does not change the circuit does not change its identity.
        const porep_shape old = shape_of(*size, POREP_API_1_0, POREP_INTERACTIVE);
        program_identity same;
        pce_identity(&same, &old);
        assert_memory_equal(same.digest, ids[n].digest, 32);
        char a[PCE_NAME_MAX], b[PCE_NAME_MAX];
        pce_file_name(a, &s);
        pce_file_name(b, &old);
        assert_string_equal(a, b);
    }
}

typedef struct asker {
    pce_cache *cache;
    const groth16_program *got;
} asker;
static void *ask(void *ctx) {
    asker *a = ctx;
    const porep_shape s = shape_of(2048, POREP_API_1_1, POREP_INTERACTIVE);
    cuzk_error err;
    if (pce_cache_get(&a->got, a->cache, &s, NULL, &err) != CUZK_OK) a->got = NULL;
    return NULL;
}

static void many_ask_for_one(void **state) {
    (void)state;
    enum { ASKERS = 4 };
    cuzk_error err;
    pce_cache *c = NULL;
    assert_int_equal(pce_cache_create(&c, NULL, &err), CUZK_OK);
    pthread_t threads[ASKERS];
    asker askers[ASKERS];
    for (int i = 0; i < ASKERS; i++) {
        askers[i] = (asker){.cache = c};
        assert_int_equal(pthread_create(&threads[i], NULL, ask, &askers[i]), 0);
    }
    for (int i = 0; i < ASKERS; i++) {
        pthread_join(threads[i], NULL);
        assert_non_null(askers[i].got);
        assert_ptr_equal(askers[i].got, askers[0].got);
    }
    const porep_shape other = shape_of(4096, POREP_API_1_1, POREP_INTERACTIVE);
    const groth16_program *two = NULL;
    assert_int_equal(pce_cache_get(&two, c, &other, NULL, &err), CUZK_OK);
    assert_ptr_not_equal(two, askers[0].got);
    program_counts n;
    program_count(&n, two->rows);
    assert_int_equal(n.rows, 2788733);
    pce_cache_destroy(&c);
}

// Asks a new cache once; which of the stages there were, and the complaint.
typedef struct once {
    bool loaded, built;
    char complaint[CUZK_ERROR_TEXT_MAX], told[CUZK_ERROR_TEXT_MAX];
} once;
static void note(void *ctx, const char *stage) {
    once *o = ctx;
    o->loaded |= strcmp(stage, "pce_load") == 0;
    o->built |= strcmp(stage, "pce") == 0;
}
static void tell(void *ctx, const char *text) { snprintf(((once *)ctx)->told, CUZK_ERROR_TEXT_MAX, "%s", text); }
static once get_once(const char *dir) {
    once o = {0};
    const observer obs = {.stage_begin = note, .ctx = &o};
    const porep_shape s = shape_of(2048, POREP_API_1_1, POREP_INTERACTIVE);
    const groth16_program *by = NULL;
    pce_cache *c = NULL;
    cuzk_error err;
    assert_int_equal(pce_cache_create(&c, dir, &err), CUZK_OK);
    pce_cache_on_complaint(c, tell, &o);
    assert_int_equal(pce_cache_get(&by, c, &s, &obs, &err), CUZK_OK);
    program_counts n;
    program_count(&n, by->rows);
    assert_int_equal(n.rows, 2687921);
    pce_cache_complaint(o.complaint, sizeof o.complaint, c);
    assert_string_equal(o.complaint, o.told);
    pce_cache_destroy(&c);
    return o;
}

static void files_are_used_and_mended(void **state) {
    (void)state;
    char base[] = "/tmp/cuzk-pce-XXXXXX", dir[64], name[PCE_NAME_MAX], path[192], deep[256];
    assert_non_null(mkdtemp(base));
    snprintf(dir, sizeof dir, "%s/a/b", base);
    const porep_shape s = shape_of(2048, POREP_API_1_1, POREP_INTERACTIVE);
    pce_file_name(name, &s);
    snprintf(path, sizeof path, "%s/%s", dir, name);

    once o = get_once(dir); // makes the folder as well
    assert_true(o.built && !o.loaded);
    assert_string_equal(o.complaint, "");
    o = get_once(dir);
    assert_true(o.loaded && !o.built);
    assert_string_equal(o.complaint, "");

    // Another circuit's file under this name, then half a file, then none at all.
    const porep_shape other = shape_of(4096, POREP_API_1_1, POREP_INTERACTIVE);
    program_identity id;
    program *p = NULL;
    cuzk_error err;
    pce_identity(&id, &other);
    assert_int_equal(pce_build(&p, &other, NULL, &err), CUZK_OK);
    assert_int_equal(program_save(p, &id, path, &err), CUZK_OK);
    program_destroy(&p);
    o = get_once(dir);
    assert_true(o.loaded && o.built);
    assert_non_null(strstr(o.complaint, "another circuit"));
    assert_int_equal(truncate(path, 100000), 0);
    o = get_once(dir);
    assert_true(o.loaded && o.built);
    assert_non_null(strstr(o.complaint, path));
    o = get_once(dir);
    assert_true(o.loaded && !o.built);

    // A folder that cannot be: the program is there all the same.
    snprintf(deep, sizeof deep, "%s/below", path);
    o = get_once(deep);
    assert_true(o.built && !o.loaded);
    assert_non_null(strstr(o.complaint, name));

    unlink(path);
    rmdir(dir);
    snprintf(dir, sizeof dir, "%s/a", base);
    rmdir(dir);
    assert_int_equal(rmdir(base), 0); // nothing else was left there
}

static void long_names_are_refused(void **state) {
    (void)state;
    char dir[2000];
    memset(dir, 'x', sizeof dir);
    dir[sizeof dir - 1] = 0;
    pce_cache *c = NULL;
    cuzk_error err;
    assert_int_equal(pce_cache_create(&c, dir, &err), CUZK_ERR_USAGE);
    assert_null(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identities),
        cmocka_unit_test(many_ask_for_one),
        cmocka_unit_test(files_are_used_and_mended),
        cmocka_unit_test(long_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
