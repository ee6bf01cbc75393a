// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Good files: the reference cases against values found in their text by other means, and built files of every shape
// against the values they were built from.
#include "testing.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "vanilla/c1.h"
#include "vanilla/c1_build.h"
#include "vanilla/c1_names.h"

static c1_file *parse(const void *json, size_t len) {
    cuzk_error err = {.status = CUZK_OK};
    c1_file *f = NULL;
    cuzk_status st = c1_parse(&f, json, len, &err);
    if (st != CUZK_OK) fail_msg("%s: %s", cuzk_status_name(st), err.text);
    assert_non_null(f);
    return f;
}
static void load(uint8_t **data, size_t *len, const char *dir, const char *file) {
    char path[128];
    cuzk_error err;
    snprintf(path, sizeof path, "vectors/cases/%s/%s", dir, file);
    if (file_read_all(data, len, path, 64 << 20, &err) != CUZK_OK) fail_msg("%s", err.text);
}
// The text of "key":"value" in a flat JSON file; the oracle's own, so a search will do.
static void meta_hex(uint8_t out[32], const uint8_t *meta, size_t len, const char *key) {
    char pattern[40];
    int n = snprintf(pattern, sizeof pattern, "\"%s\":\"", key);
    for (size_t i = 0; i + (size_t)n + 64 <= len; i++)
        if (memcmp(meta + i, pattern, (size_t)n) == 0) {
            assert_true(hex_decode(out, 32, (const char *)meta + i + n, 64));
            return;
        }
    fail_msg("meta.json has no %s", key);
}
static void assert_fr(const fr *a, const uint8_t bytes[32]) {
    uint8_t found[32];
    fr_to_le_bytes(found, a);
    assert_memory_equal(found, bytes, 32);
}

static void reference_cases_parse(void **state) {
    (void)state;
    static const struct {
        const char *dir, *name;
        uint64_t sector_size;
        uint32_t partitions, tree_d_steps, tree_r_steps;
        uint64_t c_x; // column index of the first challenge
    } cases[] = {
        {"porep-2k-a", "StackedDrg2KiBV1_1", 2048, 1, 6, 2, 39},
        {"porep-2k-v10", "StackedDrg2KiBV1", 2048, 1, 6, 2, 0},
        {"porep-2k-zero", "StackedDrg2KiBV1_1", 2048, 1, 6, 2, 0},
        {"porep-2k-synth", "StackedDrg2KiBV1_1_Feat_SyntheticPoRep", 2048, 1, 6, 2, 0},
        {"porep-2k-ni", "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep", 2048, 13, 6, 2, 37},
        {"porep-8m-a", "StackedDrg8MiBV1_1", 8 << 20, 1, 18, 6, 244835},
        {"porep-4k-a", "StackedDrg4KiBV1_1", 4096, 1, 7, 3, 0},
        {"porep-32k-a", "StackedDrg32KiBV1_1", 32768, 1, 10, 4, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t *json, *meta, want[32];
        size_t len, meta_len;
        load(&json, &len, cases[i].dir, "c1.json");
        load(&meta, &meta_len, cases[i].dir, "meta.json");
        c1_file *f = parse(json, len);
        const porep_input *in = c1_input(f);
        uint64_t number;
        assert_false(c1_sector_number(f, &number));
        assert_string_equal(in->shape.proof_name, cases[i].name);
        assert_int_equal(in->shape.sector_size, cases[i].sector_size);
        assert_int_equal(in->n_partitions, cases[i].partitions);

        meta_hex(want, meta, meta_len, "comm_d");
        assert_fr(&in->comm_d, want);
        meta_hex(want, meta, meta_len, "comm_r");
        assert_fr(&in->comm_r, want);
        meta_hex(want, meta, meta_len, "seed");
        assert_memory_equal(in->seed, want, 32);
        meta_hex(want, meta, meta_len, "ticket");
        assert_memory_equal(in->ticket, want, 32);
        porep_statement st;
        c1_statement(&st, f);
        assert_true(fr_eq(&st.comm_d, &in->comm_d) && fr_eq(&st.comm_r, &in->comm_r));
        assert_true(fr_eq(&st.replica_id, &in->replica_id));
        assert_memory_equal(st.seed, in->seed, 32);

        for (uint32_t p = 0; p < in->n_partitions; p++)
            for (uint32_t c = 0; c < in->shape.challenges; c++) {
                const porep_challenge *ch = &in->partitions[p].challenges[c];
                // Structure a good sector has, whoever reads it: one root a tree, one node everywhere, indices that
                // spell that node in the tree's mixed radix.
                assert_true(fr_eq(&ch->comm_d.root, &in->comm_d));
                assert_int_equal(ch->comm_d.n_steps, cases[i].tree_d_steps);
                assert_int_equal(ch->comm_r_last.n_steps, cases[i].tree_r_steps);
                assert_int_equal(ch->c_x.path.n_steps, cases[i].tree_r_steps);
                assert_true(fr_eq(&ch->c_x.path.root, &ch->drg_parents[5].path.root));
                assert_true(fr_eq(&ch->c_x.path.root, &ch->exp_parents[7].path.root));
                assert_int_equal(ch->encoding.node, ch->c_x.node);
                assert_int_equal(ch->encoding.layer, in->shape.layers);
                for (uint32_t l = 0; l < in->shape.layers; l++) {
                    assert_int_equal(ch->labelings[l].layer, l + 1);
                    assert_int_equal(ch->labelings[l].node, ch->c_x.node);
                    // The first drg parent's label in this layer is the first thing hashed.
                    assert_true(fr_eq(&ch->labelings[l].parents[0], &ch->drg_parents[0].rows[l]));
                }
                uint64_t node = 0, weight = 1;
                for (uint32_t s = 0; s < ch->comm_r_last.n_steps; s++) {
                    const merkle_step *step = &ch->comm_r_last.steps[s];
                    node += weight * step->index;
                    weight *= step->n_siblings + 1;
                }
                assert_int_equal(node, ch->c_x.node);
                assert_int_equal(weight, in->shape.nodes);
            }
        if (cases[i].c_x != 0) assert_int_equal(in->partitions[0].challenges[0].c_x.node, cases[i].c_x);
        c1_destroy(&f);
        assert_null(f);
        mem_free(json);
        mem_free(meta);
    }
}

// --- built files ----------------------------------------------------------------------------------------------------

typedef struct walker {
    const porep_input *in;
    char path[256];
} walker;

static void expect_fr(walker *w, const fr *a, const char *fmt, ...) {
    uint8_t want[32], found[32];
    char path[256];
    va_list args;
    va_start(args, fmt);
    int n = snprintf(path, sizeof path, "%s", w->path);
    vsnprintf(path + n, sizeof path - (size_t)n, fmt, args);
    va_end(args);
    c1_build_hash(want, path);
    fr_to_le_bytes(found, a);
    if (memcmp(want, found, 32) != 0) fail_msg("%s differs", path);
}
static uint64_t number_at(walker *w, const char *fmt, ...) {
    char path[256];
    va_list args;
    va_start(args, fmt);
    int n = snprintf(path, sizeof path, "%s", w->path);
    vsnprintf(path + n, sizeof path - (size_t)n, fmt, args);
    va_end(args);
    return c1_build_number(path);
}
static void expect_path(walker *w, const merkle_path *p, const char *key, bool tree_d) {
    const porep_shape *s = &w->in->shape;
    bool single = tree_d || s->sub_arity == 0;
    const char *variant = single ? "Single" : s->top_arity != 0 ? "Top" : "Sub";
    uint32_t base = tree_d ? s->tree_d_steps : s->base_steps;
    assert_int_equal(p->n_steps, base + (single ? 0 : 1) + (!single && s->top_arity != 0 ? 1 : 0));
    expect_fr(w, &p->root, "%s.data.%s.root", key, variant);
    expect_fr(w, &p->leaf, "%s.data.%s.leaf", key, variant);
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const char *section = single ? "path" : i < base ? "base_proof" : i == base ? "sub_proof" : "top_proof";
        uint32_t arity = tree_d ? 2 : i < base ? s->base_arity : i == base ? s->sub_arity : s->top_arity;
        uint32_t k = i < base ? i : 0;
        assert_int_equal(p->steps[i].n_siblings, arity - 1);
        assert_int_equal(p->steps[i].index,
                         number_at(w, "%s.data.%s.%s.path[%u].index", key, variant, section, k) % arity);
        for (uint32_t j = 0; j + 1 < arity; j++)
            expect_fr(w, &p->steps[i].siblings[j], "%s.data.%s.%s.path[%u].hashes[%u]", key, variant, section, k, j);
    }
}
static void expect_column(walker *w, const porep_column *c, const char *key) {
    char path[64];
    assert_int_equal(c->node, number_at(w, "%s.column.index", key) % w->in->shape.nodes);
    for (uint32_t i = 0; i < POREP_MAX_LAYERS; i++)
        if (i < w->in->shape.layers)
            expect_fr(w, &c->rows[i], "%s.column.rows[%u]", key, i);
        else
            assert_true(fr_is_zero(&c->rows[i]));
    snprintf(path, sizeof path, "%s.inclusion_proof", key);
    expect_path(w, &c->path, path, false);
}
static void expect_labeling(walker *w, const porep_labeling *l, const char *key) {
    assert_int_equal(l->node, number_at(w, "%s.node", key) % w->in->shape.nodes);
    assert_int_equal(l->layer, number_at(w, "%s.layer_index", key) % w->in->shape.layers + 1);
    for (uint32_t i = 0; i < POREP_LABEL_PARENTS; i++) expect_fr(w, &l->parents[i], "%s.parents[%u]", key, i);
}
static void expect_built(const porep_input *in) {
    walker w = {.in = in};
    char name[64], key[64];
    uint8_t bytes[32];
    expect_fr(&w, &in->comm_r, "comm_r");
    expect_fr(&w, &in->comm_d, "comm_d");
    expect_fr(&w, &in->replica_id, "replica_id");
    c1_build_hash(bytes, "seed");
    assert_memory_equal(in->seed, bytes, 32);
    c1_build_hash(bytes, "ticket");
    assert_memory_equal(in->ticket, bytes, 32);
    assert_int_equal(in->n_partitions, in->shape.partitions);
    c1_build_key(name, &in->shape);
    for (uint32_t p = 0; p < in->n_partitions; p++)
        for (uint32_t c = 0; c < in->shape.challenges; c++) {
            const porep_challenge *ch = &in->partitions[p].challenges[c];
            snprintf(w.path, sizeof w.path, "vanilla_proofs.%s[%u][%u].", name, p, c);
            expect_path(&w, &ch->comm_d, "comm_d_proofs", true);
            expect_path(&w, &ch->comm_r_last, "comm_r_last_proof", false);
            expect_column(&w, &ch->c_x, "replica_column_proofs.c_x");
            for (unsigned i = 0; i < POREP_BASE_PARENTS; i++) {
                snprintf(key, sizeof key, "replica_column_proofs.drg_parents[%u]", i);
                expect_column(&w, &ch->drg_parents[i], key);
            }
            for (unsigned i = 0; i < POREP_EXP_PARENTS; i++) {
                snprintf(key, sizeof key, "replica_column_proofs.exp_parents[%u]", i);
                expect_column(&w, &ch->exp_parents[i], key);
            }
            for (unsigned i = 0; i < in->shape.layers; i++) {
                snprintf(key, sizeof key, "labeling_proofs[%u]", i);
                expect_labeling(&w, &ch->labelings[i], key);
            }
            expect_labeling(&w, &ch->encoding, "encoding_proof");
        }
}

// Every size and kind with its keys in the usual order and in reverse: then registered_proof comes last.
static void every_shape_reads_back(void **state) {
    (void)state;
    static const char *const names[] = {
        "StackedDrg2KiBV1",   "StackedDrg2KiBV1_1",   "StackedDrg2KiBV1_1_Feat_SyntheticPoRep",
        "StackedDrg8MiBV1",   "StackedDrg512MiBV1_1", "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep",
        "StackedDrg4KiBV1_1", "StackedDrg16KiBV1",    "StackedDrg32KiBV1_1",
        "StackedDrg16MiBV1",  "StackedDrg1GiBV1_1",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (int reversed = 0; reversed < 2; reversed++) {
            porep_shape shape;
            size_t len;
            assert_int_equal(c1_shape_by_name(&shape, names[i], strlen(names[i]), NULL), CUZK_OK);
            char *json = c1_build(&len, &shape, reversed != 0, NULL);
            c1_file *f = parse(json, len);
            assert_string_equal(c1_input(f)->shape.proof_name, names[i]);
            expect_built(c1_input(f));
            c1_destroy(&f);
            free(json);
        }
}

// A file of production size, for both compound shapes; also the time it takes and the memory it needs.
static void production_shapes_read_back(void **state) {
    (void)state;
    static const char *const names[] = {"StackedDrg32GiBV1_1", "StackedDrg64GiBV1_1_Feat_SyntheticPoRep"};
    for (size_t i = 0; i < 2; i++) {
        porep_shape shape;
        size_t len;
        assert_int_equal(c1_shape_by_name(&shape, names[i], strlen(names[i]), NULL), CUZK_OK);
        char *json = c1_build(&len, &shape, i == 1, NULL);
        uint64_t live = mem_usage_of(MEM_INPUT).live, t = clock_now_ns();
        c1_file *f = parse(json, len);
        t = clock_now_ns() - t;
        live = mem_usage_of(MEM_INPUT).live - live;
        printf("# %s: %zu bytes in %.0f ms, %.0f MB/s, %.1f MB held\n", names[i], len, (double)t / 1e6,
               (double)len * 1e3 / (double)t, (double)live / 1e6);
        assert_true(live < len);
        if (i == 1) expect_built(c1_input(f));
        c1_destroy(&f);
        free(json);
    }
}

// The edits serde would not mind either.
static void harmless_edits_are_accepted(void **state) {
    (void)state;
#define V "vanilla_proofs.StackedDrg2KiBV1"
    static const c1_edit edits[] = {
        {C1_BEFORE, "comm_r", "\"comment\":{\"a\":[1,2.5e3,null,true,\"x\",{\"b\":{}}],\"a\":-1}"},
        {C1_BEFORE, V "[0][1].comm_d_proofs.data.Single.leaf", "\"note\":[[[[]]]],\"note\":1"},
        {C1_RENAME, "comm_r", "\"comm\\u005fr\""},
        {C1_REPLACE, "registered_proof", "\"Stacked\\u0044rg2KiBV1_1\""},
        {C1_BEFORE, "ticket", "\" \\ud83d\\ude00 \xc3\xa4\": \"\\u0000\""},
        {C1_BEFORE, "seed", " \t\r\n\"x\" \n : \t 0 "},
        {C1_BEFORE, "seed", "\"SectorNumber\":1"},
    };
#undef V
    porep_shape shape;
    assert_int_equal(c1_shape_by_name(&shape, "StackedDrg2KiBV1_1", 18, NULL), CUZK_OK);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        size_t len, plain_len;
        char *json = c1_build(&len, &shape, false, &edits[i]), *plain = c1_build(&plain_len, &shape, false, NULL);
        assert_true(len != plain_len); // the edit found its place
        c1_file *f = parse(json, len);
        expect_built(c1_input(f));
        c1_destroy(&f);
        free(json);
        free(plain);
    }
}

// White space around a file, and an envelope, change nothing; 32 MiB of blanks are read at once.
static void envelopes_and_white_space(void **state) {
    (void)state;
    porep_shape shape;
    assert_int_equal(c1_shape_by_name(&shape, "StackedDrg2KiBV1_1", 18, NULL), CUZK_OK);
    size_t len, wrapped_len, blanks = 32 << 20;
    char *json = c1_build(&len, &shape, false, NULL);
    char *wrapped = c1_wrap(&wrapped_len, json, len, UINT64_MAX, 2048);
    c1_file *f = parse(wrapped, wrapped_len);
    uint64_t number = 0;
    assert_true(c1_sector_number(f, &number));
    assert_true(number == UINT64_MAX);
    expect_built(c1_input(f));
    c1_destroy(&f);

    char *padded = malloc(len + blanks);
    assert_non_null(padded);
    memset(padded, ' ', len + blanks);
    memset(padded + 77, '\n', 1000);
    memcpy(padded + blanks / 2, json, len);
    f = parse(padded, len + blanks);
    expect_built(c1_input(f));
    c1_destroy(&f);

    // Base64 with an escape: the JSON string is not contiguous in the file then.
    const char *first = strstr(wrapped, ":\"eyJ"); // base64 of {"
    assert_non_null(first);
    size_t head = (size_t)(first - wrapped) + 2;
    memcpy(padded, wrapped, head);
    memcpy(padded + head, "\\u0065", 6);
    memcpy(padded + head + 6, wrapped + head + 1, wrapped_len - head - 1);
    f = parse(padded, wrapped_len + 5);
    expect_built(c1_input(f));
    c1_destroy(&f);
    free(padded);
    free(wrapped);
    free(json);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_cases_parse),       cmocka_unit_test(every_shape_reads_back),
        cmocka_unit_test(production_shapes_read_back), cmocka_unit_test(harmless_edits_are_accepted),
        cmocka_unit_test(envelopes_and_white_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
