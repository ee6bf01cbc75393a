// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The cache of programs: one program a circuit, whoever asks and however often; files are used, mended, or done
// without.
#include "testing.h"

#include <pthread.h>
#include <unistd.h>

#include "api/pce.h"
#include "circuit/report.h"

static porep_shape shape_of(uint64_t size, porep_api api, porep_challenge_kind kind) {
    porep_shape s;
    cuzk_error err;
    assert_int_equal(porep_shape_by_size(&s, size, api, kind, &err), CUZK_OK);
    return s;
}

static pce_circuit circuit_of(uint64_t size, porep_api api) {
    const porep_shape s = shape_of(size, api, POREP_INTERACTIVE);
    pce_circuit c;
    pce_of_porep(&c, &s);
    return c;
}

static pce_circuit named(const char *kind, const char *size) {
    pce_circuit c;
    cuzk_error err;
    assert_int_equal(pce_by_name(&c, kind, size, &err), CUZK_OK);
    return c;
}

static void identities(void **state) {
    (void)state;
    program_identity ids[32];
    uint32_t n = 0;
    for (const uint64_t *size = POREP_SECTOR_SIZES; *size != 0; size++, n++) {
        const pce_circuit c = circuit_of(*size, POREP_API_1_1);
        ids[n] = c.id;
        assert_string_equal(ids[n].kind, "porep");
        assert_int_equal(ids[n].size, *size);
        for (uint32_t k = 0; k < n; k++) assert_memory_not_equal(ids[k].digest, ids[n].digest, 32);
        // What does not change the circuit does not change its identity.
        const pce_circuit old = circuit_of(*size, POREP_API_1_0);
        assert_memory_equal(old.id.digest, ids[n].digest, 32);
        char a[PCE_NAME_MAX], b[PCE_NAME_MAX];
        pce_file_name(a, &c);
        pce_file_name(b, &old);
        assert_string_equal(a, b);
    }
    // Files that caches hold go on being found.
    char name[PCE_NAME_MAX];
    const pce_circuit first = circuit_of(2048, POREP_API_1_1);
    pce_file_name(name, &first);
    assert_string_equal(name, "cuzk-pce-1-porep-2KiB-9938d65dff1c085d.pce");
}

static void circuits_have_names(void **state) {
    (void)state;
    cuzk_error err;
    pce_circuit c, found;
    const pce_circuit porep = circuit_of(2048, POREP_API_1_1), by_name = named("porep", "2KiB");
    assert_memory_equal(&by_name.id, &porep.id, sizeof porep.id);
    pce_of_toy(&c, &TOY10);
    const pce_circuit toy = named("toy", "1024");
    assert_memory_equal(&toy.id, &c.id, sizeof c.id);
    assert_string_equal(toy.size_name, "1024");
    pce_of_toy(&c, &TOY1); // the number of partitions changes no constraint
    assert_memory_equal(&toy.id, &c.id, sizeof c.id);
    const pce_circuit larger = named("toy", "1025");
    assert_memory_not_equal(larger.id.digest, toy.id.digest, sizeof toy.id.digest);
    char name[PCE_NAME_MAX];
    pce_file_name(name, &toy);
    assert_memory_equal(name, "cuzk-pce-1-toy-1024-", 20);

    assert_int_equal(pce_by_identity(&found, &toy.id, &err), CUZK_OK);
    assert_string_equal(found.size_name, "1024");
    assert_int_equal(pce_by_identity(&found, &porep.id, &err), CUZK_OK);
    assert_string_equal(found.size_name, "2KiB");
    program_identity other = toy.id;
    other.digest[31] ^= 1;
    assert_int_equal(pce_by_identity(&found, &other, &err), CUZK_ERR_MISMATCH);
    other = toy.id;
    other.size = 7;
    assert_int_equal(pce_by_identity(&found, &other, &err), CUZK_ERR_MISMATCH);
    other.kind[0] = 'z';
    assert_int_equal(pce_by_identity(&found, &other, &err), CUZK_ERR_MISMATCH);

    static const char *const NO_TOYS[] = {"", "7", "16777217", "4294968320", "1KiB", "-1", "10 "};
    for (size_t i = 0; i < sizeof NO_TOYS / sizeof *NO_TOYS; i++)
        assert_int_equal(pce_by_name(&c, "toy", NO_TOYS[i], &err), CUZK_ERR_USAGE);
    assert_int_equal(pce_by_name(&c, "porep", "1024", &err), CUZK_ERR_USAGE);
    assert_int_equal(pce_by_name(&c, "snap", "2KiB", &err), CUZK_ERR_USAGE);
    assert_non_null(strstr(err.text, "porep, toy"));
}

// A program from its cache is that of the circuit that was asked for, and not of another with the same size.
static void programs_are_their_circuits(void **state) {
    (void)state;
    static const char *const ROWS[] = {"8", "2048", "9000"};
    pce_cache *cache = NULL;
    cuzk_error err;
    assert_int_equal(pce_cache_create(&cache, NULL, &err), CUZK_OK);
    const groth16_program *by = NULL, *again = NULL;
    const pce_circuit porep = circuit_of(2048, POREP_API_1_1);
    assert_int_equal(pce_cache_get(&by, cache, &porep, NULL, &err), CUZK_OK);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const pce_circuit c = named("toy", ROWS[i]);
        const circuit bound = pce_circuit_bind(&c);
        circuit_digest_report want, found, shape;
        assert_int_equal(pce_cache_get(&by, cache, &c, NULL, &err), CUZK_OK);
        assert_int_equal(circuit_digest(&want, &bound, NULL, NULL, &err), CUZK_OK);
        assert_int_equal(circuit_program_digest(&found, by->rows, NULL, &err), CUZK_OK);
        assert_int_equal(circuit_digest(&shape, &by->shape, NULL, NULL, &err), CUZK_OK);
        assert_memory_equal(found.sha256, want.sha256, sizeof want.sha256);
        assert_memory_equal(shape.sha256, want.sha256, sizeof want.sha256);
        assert_int_equal(pce_cache_get(&again, cache, &c, NULL, &err), CUZK_OK);
        assert_ptr_equal(again, by);
    }
    pce_cache_destroy(&cache);
}

typedef struct asker {
    pce_cache *cache;
    const groth16_program *got;
} asker;
static void *ask(void *ctx) {
    asker *a = ctx;
    const pce_circuit c = circuit_of(2048, POREP_API_1_1);
    cuzk_error err;
    if (pce_cache_get(&a->got, a->cache, &c, NULL, &err) != CUZK_OK) a->got = NULL;
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
    const pce_circuit other = circuit_of(4096, POREP_API_1_1);
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
    const pce_circuit two = circuit_of(2048, POREP_API_1_1);
    const groth16_program *by = NULL;
    pce_cache *c = NULL;
    cuzk_error err;
    assert_int_equal(pce_cache_create(&c, dir, &err), CUZK_OK);
    pce_cache_on_complaint(c, tell, &o);
    assert_int_equal(pce_cache_get(&by, c, &two, &obs, &err), CUZK_OK);
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
    const pce_circuit two = circuit_of(2048, POREP_API_1_1);
    pce_file_name(name, &two);
    snprintf(path, sizeof path, "%s/%s", dir, name);

    once o = get_once(dir); // makes the folder as well
    assert_true(o.built && !o.loaded);
    assert_string_equal(o.complaint, "");
    o = get_once(dir);
    assert_true(o.loaded && !o.built);
    assert_string_equal(o.complaint, "");

    // Another circuit's file under this name, then half a file, then none at all.
    const pce_circuit other = circuit_of(4096, POREP_API_1_1);
    program *p = NULL;
    cuzk_error err;
    assert_int_equal(pce_build(&p, &other, NULL, &err), CUZK_OK);
    assert_int_equal(program_save(p, &other.id, path, &err), CUZK_OK);
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
        cmocka_unit_test(circuits_have_names),
        cmocka_unit_test(programs_are_their_circuits),
        cmocka_unit_test(many_ask_for_one),
        cmocka_unit_test(files_are_used_and_mended),
        cmocka_unit_test(long_names_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
