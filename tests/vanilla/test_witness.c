// SPDX-License-Identifier: MIT OR Apache-2.0
//
// From a C1 file to the witness: every input and aux value is the official one, and a wrong value is noticed at the
// constraint that says so. Without arguments one partition of each case; with "all" the 13 of the non-interactive one.
#include "testing.h"

#include <jansson.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "circuit/porep/circuit.h"
#include "circuit/report.h"
#include "vanilla/c1.h"

static bool all_partitions;

typedef struct test_case {
    c1_file *c1;
    json_t *golden;
    porep_circuit circuit;
} test_case;

static void load(test_case *t, const char *name) {
    char path[128];
    uint8_t *json;
    size_t len;
    cuzk_error err;
    *t = (test_case){0};
    snprintf(path, sizeof path, "vectors/cases/%s/c1.json", name);
    assert_int_equal(file_read_all(&json, &len, path, C1_MAX_BYTES, &err), CUZK_OK);
    assert_int_equal(c1_parse(&t->c1, json, len, &err), CUZK_OK);
    mem_free(json);
    snprintf(path, sizeof path, "vectors/cases/%s/golden.json", name);
    t->golden = json_load_file(path, 0, NULL);
    assert_non_null(t->golden);
    t->circuit.input = c1_input(t->c1);
    t->circuit.shape = t->circuit.input->shape;
}

static void unload(test_case *t) {
    c1_destroy(&t->c1);
    json_decref(t->golden);
}

static void assert_hex(const json_t *expected, const uint8_t found[32]) {
    char hex[65];
    hex_encode(hex, found, 32);
    assert_string_equal(hex, json_string_value(expected));
}

// The packed witness is the same one.
static void check_packed(const circuit *c, const circuit_witness_report *want) {
    cuzk_error err;
    program *p = NULL;
    packed_witness *w = NULL;
    assert_int_equal(circuit_program(&p, c, NULL, &err), CUZK_OK);
    program_counts n;
    program_count(&n, p);
    const uint64_t start = clock_now_ns();
    assert_int_equal(circuit_pack(&w, c, &n, NULL, &err), CUZK_OK);
    print_message("packed in %.2f ms, %.3f bytes a constraint\n", (double)(clock_now_ns() - start) * 1e-6,
                  (double)packed_bytes(w) / (double)n.rows);
    assert_true(packed_bytes(w) <= 2 * n.rows);
    circuit_witness_report r;
    circuit_witness_packed(&r, w);
    assert_int_equal(r.inputs, want->inputs);
    assert_int_equal(r.aux, want->aux);
    assert_int_equal(r.aux_zero, want->aux_zero);
    assert_int_equal(r.aux_one, want->aux_one);
    assert_memory_equal(r.inputs_sha256, want->inputs_sha256, 32);
    assert_memory_equal(r.aux_sha256, want->aux_sha256, 32);
    packed_destroy(&w);
    program_destroy(&p);
}

static void check_partition(test_case *t, uint32_t k) {
    const json_t *want = json_array_get(json_object_get(t->golden, "partitions"), k);
    assert_non_null(want);
    t->circuit.partition = k;
    const circuit c = porep_circuit_bind(&t->circuit);
    circuit_witness_report r;
    fr inputs[64];
    cuzk_error err;
    assert_int_equal(circuit_witness(&r, inputs, 64, &c, NULL, &err), CUZK_OK);
    assert_string_equal(r.first_unsatisfied_scope, "");
    assert_int_equal(r.unsatisfied, 0);
    assert_int_equal(r.inputs, json_integer_value(json_object_get(want, "inputs")));
    assert_int_equal(r.aux, json_integer_value(json_object_get(want, "aux")));
    assert_int_equal(r.constraints, json_integer_value(json_object_get(want, "constraints")));
    assert_int_equal(r.aux_zero, json_integer_value(json_object_get(want, "aux_zero")));
    assert_int_equal(r.aux_one, json_integer_value(json_object_get(want, "aux_one")));
    assert_hex(json_object_get(want, "inputs_sha256"), r.inputs_sha256);
    assert_hex(json_object_get(want, "aux_sha256"), r.aux_sha256);
    check_packed(&c, &r);
    const json_t *public_inputs = json_object_get(want, "public_inputs");
    assert_int_equal(json_array_size(public_inputs), r.inputs);
    for (size_t i = 0; i < r.inputs; i++) {
        uint8_t bytes[32];
        fr_to_le_bytes(bytes, &inputs[i]);
        assert_hex(json_array_get(public_inputs, i), bytes);
    }
}

static void witnesses_are_the_official_ones(void **state) {
    (void)state;
    static const char *const names[] = {"porep-2k-a",  "porep-2k-v10", "porep-2k-synth", "porep-2k-zero",
                                        "porep-2k-ni", "porep-4k-a",   "porep-32k-a",    "porep-8m-a"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        test_case t;
        print_message("%s\n", names[i]);
        load(&t, names[i]);
        check_partition(&t, 0);
        unload(&t);
    }
}

static void thirteen_partitions_of_the_non_interactive_case(void **state) {
    (void)state;
    test_case t;
    load(&t, "porep-2k-ni");
    for (uint32_t k = 0; k < 13; k++) check_partition(&t, k);
    unload(&t);
}

static void assert_fails_at(const test_case *t, const char *scope) {
    const circuit c = porep_circuit_bind(&t->circuit);
    circuit_witness_report r;
    cuzk_error err;
    assert_int_equal(circuit_witness(&r, NULL, 0, &c, NULL, &err), CUZK_OK);
    assert_true(r.unsatisfied > 0);
    assert_string_equal(r.first_unsatisfied_scope, scope);
}

// The input is borrowed read-only by the circuit; the test owns the file and may spoil it.
static void wrong_values_fail_where_they_should(void **state) {
    (void)state;
    test_case t;
    load(&t, "porep-2k-a");
    porep_input *in = (porep_input *)t.circuit.input;
    porep_challenge *first = &in->partitions[0].challenges[0];
    fr good;

    good = in->comm_r;
    fr_add(&in->comm_r, &in->comm_r, &FR_ONE);
    assert_fails_at(&t, "/enforce comm_r = H(comm_c || comm_r_last)");
    in->comm_r = good;

    good = first->comm_d.leaf;
    fr_add(&first->comm_d.leaf, &good, &FR_ONE);
    assert_fails_at(&t, "challenge_0/comm_d_inclusion/enforce root is correct");
    first->comm_d.leaf = good;

    fr *row = &first->exp_parents[3].rows[1];
    good = *row;
    fr_sub(row, row, &FR_ONE);
    assert_fails_at(&t, "challenge_0/exp_parent_3_inclusion/enforce root is correct");
    *row = good;

    first->labelings[0].node ^= 1;
    assert_fails_at(&t, "challenge_0/comm_r_last_data_inclusion/enforce root is correct");
    first->labelings[0].node ^= 1;

    in->replica_id.l[0] ^= 2;
    assert_fails_at(&t, "challenge_0/comm_r_last_data_inclusion/enforce root is correct");
    in->replica_id.l[0] ^= 2;
    unload(&t);
}

static void assert_refused(const porep_circuit *p, const char *text) {
    const circuit c = porep_circuit_bind(p);
    circuit_witness_report r;
    cuzk_error err = {0};
    assert_int_not_equal(circuit_witness(&r, NULL, 0, &c, NULL, &err), CUZK_OK);
    assert_non_null(strstr(err.text, text));
}

static void inputs_of_another_shape_are_refused(void **state) {
    (void)state;
    test_case t;
    load(&t, "porep-2k-a");
    porep_circuit p = t.circuit;
    p.partition = 1;
    assert_refused(&p, "no input for partition 1 (the input has 1)");
    p = t.circuit;
    p.input = NULL;
    assert_refused(&p, "no input");
    p = t.circuit;
    p.shape.sector_size = 4096;
    assert_refused(&p, "the input is for sectors of 2048 bytes, the circuit for 4096");

    porep_input *in = (porep_input *)t.circuit.input;
    merkle_path *path = &in->partitions[0].challenges[0].comm_r_last;
    path->n_steps--;
    assert_refused(&t.circuit, "steps, expected");
    path->n_steps++;
    path->steps[0].n_siblings = 3;
    assert_refused(&t.circuit, "expected arity 8");
    path->steps[0].n_siblings = 7;
    path->steps[0].index = 8;
    assert_refused(&t.circuit, "expected arity 8");
    unload(&t);
}

int main(int argc, char **argv) {
    all_partitions = argc > 1 && strcmp(argv[1], "all") == 0;
    const struct CMUnitTest quick[] = {
        cmocka_unit_test(witnesses_are_the_official_ones),
        cmocka_unit_test(wrong_values_fail_where_they_should),
        cmocka_unit_test(inputs_of_another_shape_are_refused),
    };
    const struct CMUnitTest all[] = {cmocka_unit_test(thirteen_partitions_of_the_non_interactive_case)};
    return all_partitions ? cmocka_run_group_tests(all, NULL, NULL) : cmocka_run_group_tests(quick, NULL, NULL);
}
