// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The prover's fast way against its reference: the same bytes for the same blinding, the same refusals.
#include "testing.h"

#include "base/mem.h"
#include "circuit/report.h"
#include "circuit/toy/toy.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "groth16/toy.h"
#include "groth16/verify.h"

static groth16_pk *make_key(const circuit *c) {
    groth16_secrets secrets;
    groth16_pk *pk;
    cuzk_error err;
    groth16_secrets_from_label(&secrets, "toy");
    assert_int_equal(groth16_setup(&pk, c, &secrets, 0, 0, &err), CUZK_OK);
    return pk;
}

static program *make_program(const circuit *c) {
    program *p;
    cuzk_error err;
    assert_int_equal(circuit_program(&p, c, NULL, &err), CUZK_OK);
    return p;
}

// The program is true to its circuit, to the last coefficient.
static void same_stream(const program *p, const circuit *c) {
    circuit_digest_report own, expanded;
    cuzk_error err;
    assert_int_equal(circuit_digest(&own, c, NULL, NULL, &err), CUZK_OK);
    assert_int_equal(circuit_program_digest(&expanded, p, NULL, &err), CUZK_OK);
    assert_memory_equal(expanded.sha256, own.sha256, sizeof own.sha256);
    assert_int_equal(expanded.inputs, own.inputs);
    assert_int_equal(expanded.aux, own.aux);
    assert_int_equal(expanded.constraints, own.constraints);
}

// Both ways, on one thread and on three.
static void same_proof(const circuit *c) {
    groth16_pk *pk = make_key(c);
    program *p = make_program(c);
    same_stream(p, c);
    pool *three;
    groth16_blinding b;
    cuzk_error err;
    groth16_blinding_from_label(&b, "toy", 1);
    assert_int_equal(pool_create(&three, 3, &err), CUZK_OK);
    groth16_assignment *slow, *fast;
    groth16_proof want, got;
    assert_int_equal(groth16_synthesize(&slow, c, 0, &err), CUZK_OK);
    const groth16_program by = {p, *c};
    assert_int_equal(groth16_synthesize_packed(&fast, c, &by, 0, &err), CUZK_OK);
    uint32_t n_slow, n_fast;
    const fr *in_slow = groth16_assignment_inputs(slow, &n_slow), *in_fast = groth16_assignment_inputs(fast, &n_fast);
    assert_int_equal(n_fast, n_slow);
    assert_memory_equal(in_fast, in_slow, n_slow * sizeof(fr));
    assert_int_equal(groth16_prove(&want, pk, slow, &b, 0, 0, &err), CUZK_OK);
    // A packed assignment is not used up: it may be proven again.
    for (int k = 0; k < 2; k++) {
        memset(&got, 0, sizeof got);
        assert_int_equal(groth16_prove(&got, pk, fast, &b, k == 0 ? 0 : three, 0, &err), CUZK_OK);
        assert_memory_equal(&got, &want, sizeof got);
    }
    assert_int_equal(groth16_verify(&pk->vk, &got, in_fast + 1, n_fast - 1, &err), CUZK_OK);
    groth16_assignment_destroy(&slow);
    groth16_assignment_destroy(&fast);
    pool_destroy(&three);
    program_destroy(&p);
    groth16_pk_destroy(&pk);
}

static void the_same_bytes(void **state) {
    (void)state;
    static const toy TOYS[] = {{.steps = 1, .seed = 3},
                               {.steps = 2, .seed = 0},
                               {.steps = 13, .seed = 2}, // a domain without padding
                               {.steps = 14, .seed = 2},
                               {.steps = 6, .linear = true, .seed = 9}, // no aux in B
                               {.steps = 3, .linear = true, .input_rows = true, .empty_b = true, .seed = 1},
                               {.steps = 600, .input_rows = true, .seed = 5}};
    for (size_t i = 0; i < sizeof TOYS / sizeof *TOYS; i++) {
        const circuit c = toy_bind(&TOYS[i]);
        same_proof(&c);
    }
    test_rng r = test_rng_new("the_same_bytes");
    for (uint32_t rows = TOY_MIN_ROWS; rows <= 6000; rows = 3 * rows + 1) {
        const toy_circuit t = {{.rows = rows, .partitions = 1}, test_u64(&r), 0};
        const circuit c = toy_circuit_bind(&t);
        same_proof(&c);
    }
}

static void a_wrong_witness_is_named(void **state) {
    (void)state;
    const toy t = {.steps = 9, .wrong = 6, .seed = 2}, right = {.steps = 9, .seed = 2};
    const circuit c = toy_bind(&t), good = toy_bind(&right);
    groth16_pk *pk = make_key(&c);
    program *p = make_program(&c);
    groth16_blinding b;
    cuzk_error err;
    groth16_blinding_from_label(&b, "toy", 1);
    for (int named = 0; named < 2; named++) {
        const groth16_program by = {.rows = p, .shape = named != 0 ? good : (circuit){0}};
        groth16_assignment *w;
        groth16_proof proof;
        assert_int_equal(groth16_synthesize_packed(&w, &c, &by, 0, &err), CUZK_OK);
        assert_int_equal(groth16_prove(&proof, pk, w, &b, 0, 0, &err), CUZK_ERR_INPUT);
        assert_non_null(strstr(err.text, "constraint 5 is not satisfied"));
        assert_true((strstr(err.text, "chain/step_6/square") != NULL) == (named != 0));
        groth16_assignment_destroy(&w);
    }
    program_destroy(&p);
    groth16_pk_destroy(&pk);
}

static void another_circuit_is_refused(void **state) {
    (void)state;
    const toy t = {.steps = 9, .seed = 2}, longer = {.steps = 10, .seed = 2};
    const circuit c = toy_bind(&t), other = toy_bind(&longer);
    groth16_pk *pk = make_key(&other);
    program *p = make_program(&c);
    const groth16_program by = {.rows = p};
    groth16_assignment *w;
    groth16_proof proof;
    groth16_blinding b;
    cuzk_error err;
    groth16_blinding_from_label(&b, "toy", 1);
    assert_int_equal(groth16_synthesize_packed(&w, &other, &by, 0, &err), CUZK_ERR_MISMATCH);
    assert_null(w);
    assert_int_equal(groth16_synthesize_packed(&w, &c, &by, 0, &err), CUZK_OK);
    assert_int_equal(groth16_prove(&proof, pk, w, &b, 0, 0, &err), CUZK_ERR_MISMATCH);
    assert_non_null(strstr(err.text, "aux wires"));
    groth16_assignment_destroy(&w);
    program_destroy(&p);
    groth16_pk_destroy(&pk);
}

// Refuses memory at each allocation in turn.
static void refused_memory_is_an_error(void **state) {
    (void)state;
    const toy_circuit t = {{.rows = 64, .partitions = 1}, 7, 0};
    const circuit c = toy_circuit_bind(&t);
    groth16_pk *pk = make_key(&c);
    program *p = make_program(&c);
    const groth16_program by = {p, c};
    groth16_blinding b;
    groth16_blinding_from_label(&b, "toy", 1);
    const uint64_t live = mem_usage_total().live;
    cuzk_status s = CUZK_ERR_MEMORY;
    for (uint64_t nth = 1; s != CUZK_OK; nth++) {
        groth16_assignment *w = NULL;
        groth16_proof proof;
        cuzk_error err;
        mem_test_refuse(nth);
        s = groth16_synthesize_packed(&w, &c, &by, 0, &err);
        if (s == CUZK_OK) s = groth16_prove(&proof, pk, w, &b, 0, 0, &err);
        mem_test_refuse(0);
        groth16_assignment_destroy(&w);
        assert_true(s == CUZK_OK || s == CUZK_ERR_MEMORY);
        assert_int_equal(mem_usage_total().live, live);
    }
    program_destroy(&p);
    groth16_pk_destroy(&pk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_bytes),
        cmocka_unit_test(a_wrong_witness_is_named),
        cmocka_unit_test(another_circuit_is_refused),
        cmocka_unit_test(refused_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
