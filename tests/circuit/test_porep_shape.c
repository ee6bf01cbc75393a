// SPDX-License-Identifier: MIT OR Apache-2.0
#include "circuit/porep/shape.h"
#include "testing.h"

// The text after `"key": ` in a line of JSON.
static const char *field(const char *line, const char *key) {
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\"%s\": ", key);
    const char *p = strstr(line, pattern);
    assert_non_null(p);
    return p + strlen(pattern);
}

// The official parameter identifiers, for every size there is a digest of.
static void params_ids(void **state) {
    (void)state;
    FILE *f = fopen("vectors/r1cs.jsonl", "r");
    assert_non_null(f);
    char line[2048], id[POREP_PARAMS_ID_MAX];
    int n = 0;
    while (fgets(line, sizeof line, f) != NULL) {
        if (strncmp(field(line, "kind"), "\"porep\"", 7) != 0) continue;
        n++;
        porep_shape s;
        uint64_t size = strtoull(field(line, "sector_size"), NULL, 10);
        assert_int_equal(porep_shape_by_size(&s, size, POREP_API_1_1, POREP_INTERACTIVE, NULL), CUZK_OK);
        porep_params_id(id, &s);
        const char *want = field(line, "params_id") + 1;
        assert_int_equal(strcspn(want, "\""), strlen(id));
        assert_memory_equal(want, id, strlen(id));
        // Non-interactive and synthetic proofs use the same parameters.
        char other[POREP_PARAMS_ID_MAX];
        assert_int_equal(porep_shape_by_size(&s, size, POREP_API_1_2, POREP_NON_INTERACTIVE, NULL), CUZK_OK);
        porep_params_id(other, &s);
        assert_string_equal(id, other);
        assert_int_equal(porep_shape_by_size(&s, size, POREP_API_1_2, POREP_SYNTHETIC, NULL), CUZK_OK);
        assert_int_equal(porep_shape_by_size(&s, size, POREP_API_1_2, POREP_INTERACTIVE, NULL), CUZK_OK);
        assert_string_equal(s.proof_name, "(unregistered)");
        assert_int_equal(s.api, POREP_API_1_2);
        porep_params_id(other, &s);
        assert_string_equal(id, other);
    }
    fclose(f);
    assert_int_equal(n, 9);
}

static void by_name(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint64_t size;
        porep_api api;
        porep_challenge_kind kind;
        uint8_t id;
        uint32_t partitions;
    } rows[] = {
        {"StackedDrg2KiBV1", 1u << 11, POREP_API_1_0, POREP_INTERACTIVE, 0, 1},
        {"StackedDrg8MiBV1", 1u << 23, POREP_API_1_0, POREP_INTERACTIVE, 1, 1},
        {"StackedDrg512MiBV1", 1u << 29, POREP_API_1_0, POREP_INTERACTIVE, 2, 1},
        {"StackedDrg32GiBV1", UINT64_C(1) << 35, POREP_API_1_0, POREP_INTERACTIVE, 3, 10},
        {"StackedDrg64GiBV1", UINT64_C(1) << 36, POREP_API_1_0, POREP_INTERACTIVE, 4, 10},
        {"StackedDrg2KiBV1_1", 1u << 11, POREP_API_1_1, POREP_INTERACTIVE, 5, 1},
        {"StackedDrg8MiBV1_1", 1u << 23, POREP_API_1_1, POREP_INTERACTIVE, 6, 1},
        {"StackedDrg512MiBV1_1", 1u << 29, POREP_API_1_1, POREP_INTERACTIVE, 7, 1},
        {"StackedDrg32GiBV1_1", UINT64_C(1) << 35, POREP_API_1_1, POREP_INTERACTIVE, 8, 10},
        {"StackedDrg64GiBV1_1", UINT64_C(1) << 36, POREP_API_1_1, POREP_INTERACTIVE, 9, 10},
        {"StackedDrg2KiBV1_1_Feat_SyntheticPoRep", 1u << 11, POREP_API_1_2, POREP_SYNTHETIC, 10, 1},
        {"StackedDrg8MiBV1_1_Feat_SyntheticPoRep", 1u << 23, POREP_API_1_2, POREP_SYNTHETIC, 11, 1},
        {"StackedDrg512MiBV1_1_Feat_SyntheticPoRep", 1u << 29, POREP_API_1_2, POREP_SYNTHETIC, 12, 1},
        {"StackedDrg32GiBV1_1_Feat_SyntheticPoRep", UINT64_C(1) << 35, POREP_API_1_2, POREP_SYNTHETIC, 13, 10},
        {"StackedDrg64GiBV1_1_Feat_SyntheticPoRep", UINT64_C(1) << 36, POREP_API_1_2, POREP_SYNTHETIC, 14, 10},
        {"StackedDrg2KiBV1_2_Feat_NonInteractivePoRep", 1u << 11, POREP_API_1_2, POREP_NON_INTERACTIVE, 15, 13},
        {"StackedDrg8MiBV1_2_Feat_NonInteractivePoRep", 1u << 23, POREP_API_1_2, POREP_NON_INTERACTIVE, 16, 13},
        {"StackedDrg512MiBV1_2_Feat_NonInteractivePoRep", 1u << 29, POREP_API_1_2, POREP_NON_INTERACTIVE, 17, 13},
        {"StackedDrg32GiBV1_2_Feat_NonInteractivePoRep", UINT64_C(1) << 35, POREP_API_1_2, POREP_NON_INTERACTIVE, 18,
         126},
        {"StackedDrg64GiBV1_2_Feat_NonInteractivePoRep", UINT64_C(1) << 36, POREP_API_1_2, POREP_NON_INTERACTIVE, 19,
         126},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        porep_shape s, t;
        assert_int_equal(porep_shape_by_name(&s, rows[i].name, strlen(rows[i].name), NULL), CUZK_OK);
        assert_int_equal(s.sector_size, rows[i].size);
        assert_int_equal(s.api, rows[i].api);
        assert_int_equal(s.kind, rows[i].kind);
        assert_int_equal(s.partitions, rows[i].partitions);
        uint8_t id[32] = {rows[i].id};
        assert_memory_equal(s.porep_id, id, 32);
        assert_string_equal(s.proof_name, rows[i].name);
        assert_int_equal(porep_shape_by_size(&t, rows[i].size, rows[i].api, rows[i].kind, NULL), CUZK_OK);
        assert_string_equal(t.proof_name, rows[i].name);
    }
    porep_shape s;
    cuzk_error err;
    const char *bad[] = {"", "StackedDrg4KiBV1_1", "StackedDrg2KiBV1_", "StackedDrg2KiBV1_1 ", "stackeddrg2kibv1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(porep_shape_by_name(&s, bad[i], strlen(bad[i]), &err), CUZK_ERR_INPUT);
        assert_non_null(strstr(err.text, bad[i]));
    }
}

static void sizes(void **state) {
    (void)state;
    size_t n = 0;
    for (const uint64_t *size = POREP_SECTOR_SIZES; *size != 0; size++, n++) {
        porep_shape s;
        uint64_t parsed = 0;
        char digits[32];
        assert_int_equal(porep_shape_by_size(&s, *size, POREP_API_1_1, POREP_INTERACTIVE, NULL), CUZK_OK);
        // The trees have exactly as many leaves as there are nodes.
        uint64_t leaves = (s.sub_arity ? s.sub_arity : 1) * (uint64_t)(s.top_arity ? s.top_arity : 1);
        for (uint32_t i = 0; i < s.base_steps; i++) leaves *= s.base_arity;
        assert_int_equal(leaves, s.nodes);
        assert_int_equal(UINT64_C(1) << s.tree_d_steps, s.nodes);
        assert_int_equal(s.nodes * 32, *size);
        assert_true(s.layers <= POREP_MAX_LAYERS && s.challenges <= POREP_MAX_CHALLENGES);
        assert_int_equal(porep_parse_size(&parsed, porep_size_name(*size), NULL), CUZK_OK);
        assert_int_equal(parsed, *size);
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)*size);
        parsed = 0;
        assert_int_equal(porep_parse_size(&parsed, digits, NULL), CUZK_OK);
        assert_int_equal(parsed, *size);
    }
    assert_int_equal(n, 10);
    porep_shape s;
    uint64_t size;
    cuzk_error err;
    assert_int_equal(porep_parse_size(&size, "32gib", NULL), CUZK_OK);
    assert_int_equal(size, UINT64_C(1) << 35);
    const char *bad[] = {"", "2", "2Ki", "2KiBx", "3KiB", "-2048", "2048 "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(porep_parse_size(&size, bad[i], &err), CUZK_ERR_USAGE);
        assert_non_null(strstr(err.text, "512MiB"));
    }
    assert_int_equal(porep_shape_by_size(&s, 4095, POREP_API_1_1, POREP_INTERACTIVE, &err), CUZK_ERR_USAGE);
    assert_non_null(strstr(err.text, "4095"));
    assert_int_equal(porep_shape_by_size(&s, 2048, POREP_API_1_0, POREP_SYNTHETIC, &err), CUZK_ERR_USAGE);
    assert_null(porep_size_name(1));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(params_ids), cmocka_unit_test(by_name),
                                       cmocka_unit_test(sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
