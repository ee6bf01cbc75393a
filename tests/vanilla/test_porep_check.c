// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The native check of vanilla proofs: real sectors pass; a change of any kind of field is refused, in words that say
// where it is.
#include "base/file.h"
#include "base/mem.h"
#include "hash/poseidon.h"
#include "hash/sha256.h"
#include "testing.h"
#include "vanilla/c1.h"
#include "vanilla/porep_check.h"

static const char *CASES[] = {"porep-2k-a",  "porep-2k-v10",  "porep-2k-synth",
                              "porep-2k-ni", "porep-2k-zero", "porep-8m-a"};
enum { N_CASES = sizeof CASES / sizeof *CASES };

static pool *workers;

static c1_file *open_case(const char *name) {
    char path[256];
    snprintf(path, sizeof path, "vectors/cases/%s/c1.json", name);
    uint8_t *json;
    size_t len;
    c1_file *f = NULL;
    cuzk_error err = {CUZK_OK, ""};
    if (file_read_all(&json, &len, path, C1_MAX_BYTES, &err) != CUZK_OK || c1_parse(&f, json, len, &err) != CUZK_OK)
        fail_msg("%s: %s", path, err.text);
    mem_free(json);
    return f;
}

// The tests change the parsed file in place and put it back.
static porep_input *input_of(c1_file *f) { return (porep_input *)(uintptr_t)c1_input(f); }

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void real_sectors_pass(void **state) {
    (void)state;
    for (size_t c = 0; c < N_CASES; c++) {
        c1_file *f = open_case(CASES[c]);
        cuzk_error err = {CUZK_OK, ""};
        double start = seconds();
        cuzk_status st = porep_check(c1_input(f), workers, &err);
        double took = seconds() - start;
        if (st != CUZK_OK) fail_msg("%s: %s", CASES[c], err.text);
        print_message("%s: %.1f ms, %u partitions\n", CASES[c], took * 1e3, c1_input(f)->n_partitions);
        if (c == 0) assert_int_equal(porep_check(c1_input(f), NULL, NULL), CUZK_OK); // without a pool
        c1_destroy(&f);
    }
}

// On one thread, so that nothing behind the fault is worked on; first_fault_in_file_order has several.
static void expect_fault_with(const porep_input *in, pool *p, const char *words) {
    cuzk_error err = {CUZK_OK, ""};
    assert_int_equal(porep_check(in, p, &err), CUZK_ERR_INPUT);
    if (strstr(err.text, words) == NULL) fail_msg("expected \"%s\" in \"%s\"", words, err.text);
}

static void expect_fault(const porep_input *in, const char *words) { expect_fault_with(in, NULL, words); }

static void bump_fr(fr *x) { fr_add(x, x, &FR_ONE); }

static void change_fr(porep_input *in, fr *x, const char *words) {
    const fr keep = *x;
    bump_fr(x);
    expect_fault(in, words);
    *x = keep;
}

static void change_u32(porep_input *in, uint32_t *x, uint32_t value, const char *words) {
    const uint32_t keep = *x;
    assert_int_not_equal(keep, value);
    *x = value;
    expect_fault(in, words);
    *x = keep;
}

static void change_u64(porep_input *in, uint64_t *x, const char *words) {
    *x ^= 1;
    expect_fault(in, words);
    *x ^= 1;
}

static void change_path(porep_input *in, merkle_path *path, bool column, const char *where) {
    char words[200];
    snprintf(words, sizeof words, "%s: %s is ", where, column ? "leaf" : "root");
    change_fr(in, &path->leaf, words);
    snprintf(words, sizeof words, "%s: root is ", where);
    change_fr(in, &path->root, words);
    for (uint32_t s = 0; s < path->n_steps; s++) {
        merkle_step *step = &path->steps[s];
        snprintf(words, sizeof words, "%s: root is ", where);
        change_fr(in, &step->siblings[s % step->n_siblings], words);
        snprintf(words, sizeof words, "%s: leaf number by the path's indices is ", where);
        change_u32(in, &step->index, (step->index + 1) % (step->n_siblings + 1), words);
        snprintf(words, sizeof words, "%s: step %u has ", where, s);
        change_u32(in, &step->index, step->n_siblings + 1, words);
        change_u32(in, &step->n_siblings, step->n_siblings == 7 ? 3 : 7, words);
    }
    snprintf(words, sizeof words, "%s: path has %u steps, expected %u", where, path->n_steps - 1, path->n_steps);
    change_u32(in, &path->n_steps, path->n_steps - 1, words);
}

static void change_column(porep_input *in, porep_column *c, const char *where) {
    char words[200];
    change_path(in, &c->path, true, where);
    snprintf(words, sizeof words, "%s: leaf is ", where);
    for (uint32_t l = 0; l < in->shape.layers; l++) change_fr(in, &c->rows[l], words);
    snprintf(words, sizeof words, "%s: node is ", where);
    change_u64(in, &c->node, words);
}

static void every_kind_of_field(void **state) {
    (void)state;
    for (size_t f = 0; f < 2; f++) { // both orders of DRG parents; the other cases have the same fields
        c1_file *file = open_case(CASES[f]);
        porep_input *in = input_of(file);
        const uint32_t k = 0, i = 0; // any_value goes everywhere
        porep_challenge *c = &in->partitions[k].challenges[i];
        char where[160];
        const int n = snprintf(where, sizeof where, "partition %u, challenge %u, ", k, i);
        char *rest = where + n;
        const size_t room = sizeof where - (size_t)n;
        snprintf(rest, room, "data node in comm_d");
        change_path(in, &c->comm_d, false, where);
        snprintf(rest, room, "sealed node in comm_r_last");
        change_path(in, &c->comm_r_last, false, where);
        snprintf(rest, room, "column c_x");
        change_column(in, &c->c_x, where);
        snprintf(rest, room, "drg parent 5");
        change_column(in, &c->drg_parents[5], where);
        snprintf(rest, room, "exp parent 7");
        change_column(in, &c->exp_parents[7], where);
        for (uint32_t l = 0; l < in->shape.layers; l++) {
            porep_labeling *lab = &c->labelings[l];
            snprintf(rest, room, "layer %u, parent 14: label is ", l + 1);
            change_fr(in, &lab->parents[14], where);
            snprintf(rest, room, "layer %u, parent 36: label is ", l + 1);
            change_fr(in, &lab->parents[36], where);
            snprintf(rest, room, "layer %u: layer is %u, expected is %u", l + 1, lab->layer + 1, lab->layer);
            change_u32(in, &lab->layer, lab->layer + 1, where);
            snprintf(rest, room, "layer %u: node is ", l + 1);
            change_u64(in, &lab->node, where);
        }
        snprintf(rest, room, "encoding, parent 0: label is ");
        change_fr(in, &c->encoding.parents[0], where);
        snprintf(rest, room, "encoding: layer is 1, expected is 2");
        change_u32(in, &c->encoding.layer, 1, where);
        snprintf(rest, room, "encoding: node is ");
        change_u64(in, &c->encoding.node, where);

        change_fr(in, &in->comm_d, "partition 0, challenge 0, data node in comm_d: root is ");
        change_u32(in, &in->n_partitions, in->shape.partitions + 1, "partitions");
        change_u32(in, &in->n_partitions, 0, "found 0 partitions");
        assert_int_equal(porep_check(in, workers, NULL), CUZK_OK); // everything was put back
        c1_destroy(&file);
    }
}

// What challenges are derived from differs by their kind.
static void challenges_follow_their_sources(void **state) {
    (void)state;
    static const char words[] = "leaf number by the path's indices is ";
    for (size_t f = 0; f < N_CASES - 1; f++) {
        c1_file *file = open_case(CASES[f]);
        porep_input *in = input_of(file);
        // A small sector has few nodes to choose from, so one change may leave the first challenges alone; what is
        // left is caught by the labels (replica id) or the commitment (comm_r).
        fr keep = in->replica_id;
        bump_fr(&in->replica_id);
        bump_fr(&in->replica_id);
        expect_fault(in, words);
        in->replica_id = keep;

        keep = in->comm_r;
        bump_fr(&in->comm_r);
        expect_fault(in, in->shape.kind == POREP_INTERACTIVE ? "challenge 0: comm_r is " : words);
        in->comm_r = keep;

        in->seed[7] ^= 0x5a;
        in->n_partitions = 1;
        if (in->shape.kind == POREP_NON_INTERACTIVE)
            assert_int_equal(porep_check(in, workers, NULL), CUZK_OK);
        else
            expect_fault(in, words);
        c1_destroy(&file);
    }
}

// Recomputes the root of a path from its leaf.
static void mend_path(merkle_path *path, bool binary) {
    fr current = path->leaf;
    for (uint32_t s = 0; s < path->n_steps; s++) {
        fr nodes[8];
        const merkle_step *step = &path->steps[s];
        for (uint32_t i = 0, k = 0; i <= step->n_siblings; i++)
            nodes[i] = i == step->index ? current : step->siblings[k++];
        if (binary) {
            uint8_t text[64], digest[32];
            fr_to_le_bytes(text, &nodes[0]);
            fr_to_le_bytes(text + 32, &nodes[1]);
            sha256_digest(digest, text, 64);
            digest[31] &= 0x3f;
            assert_true(fr_from_le_bytes(&current, digest));
        } else {
            poseidon_hash(&current, nodes, poseidon_params_for(step->n_siblings + 1));
        }
    }
    path->root = current;
}

// Lies that are consistent in themselves, each caught by the one statement that is left to break.
static void consistent_lies(void **state) {
    (void)state;
    c1_file *file = open_case("porep-2k-a");
    porep_input *in = input_of(file);
    porep_challenge *c = &in->partitions[0].challenges[0];

    // Another data node, with a path that fits, under a comm_d that fits.
    fr leaf = c->comm_d.leaf, comm_d = in->comm_d;
    bump_fr(&c->comm_d.leaf);
    mend_path(&c->comm_d, true);
    in->comm_d = c->comm_d.root;
    expect_fault(in, "partition 0, challenge 0, encoding: leaf of comm_r_last is ");
    c->comm_d.leaf = leaf;
    c->comm_d.root = in->comm_d = comm_d;

    // Another column of a parent, whose path leads to another root.
    porep_column *parent = &c->exp_parents[3];
    porep_column keep = *parent;
    bump_fr(&parent->rows[0]);
    poseidon_hash(&parent->path.leaf, parent->rows, poseidon_params_for(2));
    mend_path(&parent->path, false);
    expect_fault(in, "partition 0, challenge 0, exp parent 3: root is ");
    *parent = keep;

    // Another replica tree.
    merkle_path path = c->comm_r_last;
    bump_fr(&c->comm_r_last.leaf);
    mend_path(&c->comm_r_last, false);
    expect_fault(in, "partition 0, challenge 0: comm_r is ");
    c->comm_r_last = path;

    // Another replica id that asks for the same nodes: only the labels tell. One in 63^2 does.
    porep_statement st;
    uint64_t want[2], got[2] = {0, 0};
    c1_statement(&st, file);
    porep_challenges(want, &in->shape, &st, 0);
    fr id = in->replica_id;
    for (int tries = 0; memcmp(want, got, sizeof got) != 0; tries++) {
        assert_true(tries < 1000000);
        bump_fr(&st.replica_id);
        porep_challenges(got, &in->shape, &st, 0);
    }
    in->replica_id = st.replica_id;
    expect_fault(in, "partition 0, challenge 0, layer 1: row of c_x is ");
    in->replica_id = id;

    // Everything was put back.
    assert_int_equal(porep_check(in, workers, NULL), CUZK_OK);
    c1_destroy(&file);
}

static void first_fault_in_file_order(void **state) {
    (void)state;
    c1_file *file = open_case("porep-2k-ni");
    porep_input *in = input_of(file);
    assert_true(in->n_partitions > 2);
    bump_fr(&in->partitions[11].challenges[0].comm_d.leaf);
    bump_fr(&in->partitions[7].challenges[1].encoding.parents[3]);
    bump_fr(&in->partitions[7].challenges[1].labelings[1].parents[20]);
    for (int i = 0; i < 2; i++)
        expect_fault_with(in, workers, "partition 7, challenge 1, layer 2, parent 20: label is ");
    bump_fr(&in->partitions[1].challenges[1].encoding.parents[36]);
    for (int i = 0; i < 2; i++)
        expect_fault_with(in, workers, "partition 1, challenge 1, encoding, parent 36: label is ");
    in->n_partitions = 1; // part of a file can be checked
    assert_int_equal(porep_check(in, workers, NULL), CUZK_OK);
    c1_destroy(&file);
}

// Any field element of a challenge, at random.
static void any_value(void **state) {
    (void)state;
    test_rng rng = test_rng_new("any_value");
    c1_file *file = open_case("porep-2k-v10");
    porep_input *in = input_of(file);
    for (int round = 0; round < 15; round++) {
        porep_challenge *c = &in->partitions[0].challenges[test_below(&rng, in->shape.challenges)];
        uint64_t which = test_below(&rng, 18);
        fr *x = NULL;
        if (which >= 15) {
            porep_labeling *l = which == 15 ? &c->encoding : &c->labelings[which - 16];
            x = &l->parents[test_below(&rng, POREP_LABEL_PARENTS)];
        } else {
            porep_column *col = which == 0  ? &c->c_x
                                : which < 7 ? &c->drg_parents[which - 1]
                                            : &c->exp_parents[which - 7];
            merkle_path *path = &col->path;
            uint64_t pick = test_below(&rng, 5);
            if (pick == 0) path = &c->comm_d;
            if (pick == 1) path = &c->comm_r_last;
            merkle_step *step = &path->steps[test_below(&rng, path->n_steps)];
            switch (test_below(&rng, 4)) {
            case 0: x = &path->leaf; break;
            case 1: x = &path->root; break;
            case 2: x = &col->rows[test_below(&rng, in->shape.layers)]; break;
            default: x = &step->siblings[test_below(&rng, step->n_siblings)]; break;
            }
        }
        const fr keep = *x;
        fr delta;
        fr_from_u64(&delta, UINT64_C(1) << test_below(&rng, 64));
        fr_add(x, x, &delta);
        assert_int_equal(porep_check(in, workers, NULL), CUZK_ERR_INPUT);
        *x = keep;
    }
    assert_int_equal(porep_check(in, workers, NULL), CUZK_OK);
    c1_destroy(&file);
}

static int start_pool(void **state) {
    (void)state;
    return pool_create(&workers, 4, NULL) == CUZK_OK ? 0 : -1;
}
static int stop_pool(void **state) {
    (void)state;
    pool_destroy(&workers);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_sectors_pass),
        cmocka_unit_test(every_kind_of_field),
        cmocka_unit_test(challenges_follow_their_sources),
        cmocka_unit_test(consistent_lies),
        cmocka_unit_test(first_fault_in_file_order),
        cmocka_unit_test(any_value),
    };
    return cmocka_run_group_tests(tests, start_pool, stop_pool);
}
