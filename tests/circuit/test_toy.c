// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Toy circuits: the size is what was asked for, the witness fits, no wire is free, and proofs are real.
#include "testing.h"

#include "circuit/report.h"
#include "circuit/toy/toy.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "groth16/verify.h"
#include "r1cs/check.h"

static const uint32_t ROWS[] = {8, 9, 12, 13, 31, 64, 100, 257, 1024};

static void sizes_are_exact(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        toy_circuit t = {.shape = {ROWS[i], 3}, .seed = 0x123456789abcdef0 + i, .partition = 2};
        circuit c = toy_circuit_bind(&t);
        circuit_witness_report w;
        circuit_digest_report d;
        fr inputs[2], want;
        assert_int_equal(circuit_digest(&d, &c, NULL, NULL, NULL), CUZK_OK);
        assert_int_equal(circuit_witness(&w, inputs, 2, &c, NULL, NULL), CUZK_OK);
        assert_int_equal(d.constraints + d.inputs, ROWS[i]);
        assert_int_equal(w.constraints, d.constraints);
        assert_int_equal(w.inputs, 2);
        assert_int_equal(w.aux, d.aux);
        assert_int_equal(w.unsatisfied, 0);
        toy_public_input(&want, &t.shape, t.seed, t.partition);
        assert_true(fr_eq(&inputs[1], &want));
        if (ROWS[i] >= 100) { // every kind of value
            assert_true(w.aux_zero > 4);
            assert_true(w.aux_one > 4);
            assert_true(w.aux - w.aux_zero - w.aux_one > w.aux / 4);
        }
    }
}

static void no_wire_is_free(void **state) {
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        toy_circuit t = {.shape = {ROWS[i], 1}, .seed = 77 + i};
        circuit c = toy_circuit_bind(&t);
        uint32_t n_aux = 1;
        for (uint32_t flip = 0; flip < n_aux; flip++) {
            check_sink s;
            check_init(&s, NULL);
            s.flip_aux = flip;
            c.synthesize(c.self, &s.head);
            n_aux = s.head.n_aux;
            assert_int_equal(s.head.status, CUZK_OK);
            assert_true(s.unsatisfied > 0);
            check_destroy(&s);
        }
    }
}

static void inputs_differ(void **state) {
    (void)state;
    fr seen[40];
    uint32_t n = 0;
    for (uint64_t seed = 0; seed < 4; seed++)
        for (uint32_t k = 0; k < TOY10.partitions; k++) {
            toy_public_input(&seen[n], &TOY10, seed, k);
            for (uint32_t i = 0; i < n; i++) assert_false(fr_eq(&seen[i], &seen[n]));
            n++;
        }
}

static void proofs_are_real(void **state) {
    (void)state;
    groth16_secrets secrets;
    groth16_secrets_from_label(&secrets, "cuzk test");
    toy_circuit t = {.shape = {64, 2}, .seed = 5};
    circuit c = toy_circuit_bind(&t);
    groth16_pk *pk = NULL;
    assert_int_equal(groth16_setup(&pk, &c, &secrets, NULL, NULL, NULL), CUZK_OK);
    for (uint32_t k = 0; k < 2; k++) {
        t.partition = k;
        groth16_assignment *a = NULL;
        groth16_blinding b;
        groth16_proof proof;
        fr input, other;
        assert_int_equal(groth16_synthesize(&a, &c, NULL, NULL), CUZK_OK);
        assert_int_equal(groth16_blinding_random(&b, NULL), CUZK_OK);
        assert_int_equal(groth16_prove(&proof, pk, a, &b, NULL, NULL, NULL), CUZK_OK);
        groth16_assignment_destroy(&a);
        toy_public_input(&input, &t.shape, t.seed, k);
        toy_public_input(&other, &t.shape, t.seed, 1 - k);
        assert_int_equal(groth16_verify(&pk->vk, &proof, &input, 1, NULL), CUZK_OK);
        assert_int_equal(groth16_verify(&pk->vk, &proof, &other, 1, NULL), CUZK_ERR_INVALID);
    }
    groth16_pk_destroy(&pk);
}

static void bad_shapes_are_named(void **state) {
    (void)state;
    cuzk_error err = {0};
    toy_shape s;
    assert_int_equal(toy_shape_by_name(&s, "toy10", &err), CUZK_OK);
    assert_int_equal(s.partitions, 10);
    assert_int_equal(toy_shape_by_name(&s, "toy2", &err), CUZK_ERR_USAGE);
    assert_non_null(strstr(err.text, "toy2"));
    assert_int_equal(toy_shape_check(&(toy_shape){7, 1}, &err), CUZK_ERR_USAGE);
    assert_int_equal(toy_shape_check(&(toy_shape){TOY_MAX_ROWS + 1, 1}, &err), CUZK_ERR_USAGE);
    assert_int_equal(toy_shape_check(&(toy_shape){8, 0}, &err), CUZK_ERR_USAGE);
    assert_int_equal(toy_shape_check(&(toy_shape){8, 257}, &err), CUZK_ERR_USAGE);
    assert_int_equal(toy_shape_check(&(toy_shape){8, 256}, &err), CUZK_OK);
    uint64_t seed = 0;
    const uint8_t bytes[9] = {1, 2};
    assert_int_equal(toy_parse_input(&seed, bytes, 7, &err), CUZK_ERR_INPUT);
    assert_int_equal(toy_parse_input(&seed, bytes, 9, &err), CUZK_ERR_INPUT);
    assert_int_equal(toy_parse_input(&seed, bytes, 8, &err), CUZK_OK);
    assert_int_equal(seed, 0x201);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_exact), cmocka_unit_test(no_wire_is_free),      cmocka_unit_test(inputs_differ),
        cmocka_unit_test(proofs_are_real), cmocka_unit_test(bad_shapes_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
