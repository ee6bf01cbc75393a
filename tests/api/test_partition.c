// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One partition, with a circuit of a few constraints: what is handed out was verified, what does not verify is made
// again, what cannot verify is refused.
#include "testing.h"

#include "api/partition.h"
#include "circuit/report.h"
#include "groth16/setup.h"
#include "groth16/verify.h"
#include "toy.h"

static const toy HONEST = {.x = 3, .y = 35, .copies = 3};

typedef struct fixture {
    groth16_pk *pk;
    fr y;
    circuit c;
    partition_job job;
    uint8_t out[GROTH16_PROOF_BYTES];
    unsigned retries;
    cuzk_error err;
} fixture;

static int setup(void **state) {
    static fixture f;
    memset(&f, 0, sizeof f);
    groth16_secrets secrets;
    groth16_secrets_from_label(&secrets, "api test");
    f.c = toy_bind(&HONEST);
    assert_int_equal(groth16_setup(&f.pk, &f.c, &secrets, NULL, NULL, &f.err), CUZK_OK);
    fr_from_u64(&f.y, HONEST.y);
    f.job = (partition_job){.c = f.c, .index = 7, .inputs = &f.y, .n_inputs = 1};
    memset(f.out, 0xee, sizeof f.out);
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    groth16_pk_destroy(&f->pk);
    return 0;
}

static cuzk_status run(fixture *f) {
    return partition_prove(f->out, &f->retries, &f->job, f->pk, &f->pk->vk, NULL, NULL, &f->err);
}

static bool verifies(fixture *f) {
    groth16_proof p;
    return groth16_proof_decode(&p, f->out, NULL) == CUZK_OK &&
           groth16_verify(&f->pk->vk, &p, &f->y, 1, NULL) == CUZK_OK;
}

static bool untouched(const fixture *f) {
    for (size_t i = 0; i < sizeof f->out; i++)
        if (f->out[i] != 0xee) return false;
    return true;
}

static void test_honest(void **state) {
    fixture *f = *state;
    assert_int_equal(run(f), CUZK_OK);
    assert_true(verifies(f));
    assert_int_equal(f->retries, 0);
}

static void test_blinding(void **state) {
    fixture *f = *state;
    uint8_t first[GROTH16_PROOF_BYTES];
    assert_int_equal(run(f), CUZK_OK);
    memcpy(first, f->out, sizeof first);
    assert_int_equal(run(f), CUZK_OK);
    assert_memory_not_equal(first, f->out, sizeof first); // random
    assert_true(verifies(f));
    f->job.test_blinding = "label";
    assert_int_equal(run(f), CUZK_OK);
    memcpy(first, f->out, sizeof first);
    assert_int_equal(run(f), CUZK_OK);
    assert_memory_equal(first, f->out, sizeof first); // the same
    f->job.index = 8;
    assert_int_equal(run(f), CUZK_OK);
    assert_memory_not_equal(first, f->out, sizeof first); // numbered by partition
    assert_true(verifies(f));
}

// With the circuit's program, which is true to it, the same bytes as without; and a lie is named as it is without.
static void test_by_its_program(void **state) {
    fixture *f = *state;
    program *p = NULL;
    circuit_digest_report own, expanded;
    uint8_t want[GROTH16_PROOF_BYTES];
    assert_int_equal(circuit_program(&p, &f->c, NULL, &f->err), CUZK_OK);
    assert_int_equal(circuit_digest(&own, &f->c, NULL, NULL, &f->err), CUZK_OK);
    assert_int_equal(circuit_program_digest(&expanded, p, NULL, &f->err), CUZK_OK);
    assert_memory_equal(expanded.sha256, own.sha256, sizeof own.sha256);
    f->job.test_blinding = "label";
    assert_int_equal(run(f), CUZK_OK);
    memcpy(want, f->out, sizeof want);
    memset(f->out, 0xee, sizeof f->out);
    const groth16_program by = {p, f->c};
    f->job.by = &by;
    assert_int_equal(run(f), CUZK_OK);
    assert_memory_equal(f->out, want, sizeof want);
    const toy liar = {.x = 3, .y = 36, .copies = 3};
    fr y;
    fr_from_u64(&y, liar.y);
    f->job.c = toy_bind(&liar);
    f->job.inputs = &y;
    assert_int_equal(run(f), CUZK_ERR_INPUT);
    assert_non_null(strstr(f->err.text, "copy_0"));
    program_destroy(&p);
}

// Swaps in a point that decodes but makes the proof wrong, in the first *left attempts.
static void damage(void *ctx, groth16_proof *proof, unsigned attempt) {
    if (attempt < *(const unsigned *)ctx) proof->c = proof->a;
}

static void test_retries(void **state) {
    fixture *f = *state;
    for (unsigned bad = 0; bad < PARTITION_ATTEMPTS; bad++) {
        f->retries = 0;
        f->job.tamper = damage;
        f->job.tamper_ctx = &bad;
        assert_int_equal(run(f), CUZK_OK);
        assert_int_equal(f->retries, bad);
        assert_true(verifies(f));
    }
}

static void test_never_unverified(void **state) {
    fixture *f = *state;
    unsigned bad = PARTITION_ATTEMPTS;
    f->job.tamper = damage;
    f->job.tamper_ctx = &bad;
    assert_int_equal(run(f), CUZK_ERR_INTERNAL);
    assert_int_equal(f->err.status, CUZK_ERR_INTERNAL);
    assert_non_null(strstr(f->err.text, "partition 7: no proof verified in 3 attempts"));
    assert_int_equal(f->retries, PARTITION_ATTEMPTS);
    assert_true(untouched(f));
}

static void test_other_statement(void **state) {
    fixture *f = *state;
    fr other;
    fr_from_u64(&other, 36);
    f->job.inputs = &other;
    assert_int_equal(run(f), CUZK_ERR_INPUT);
    assert_non_null(strstr(f->err.text, "partition 7: public input 0"));
    assert_true(untouched(f));
    f->job.n_inputs = 0;
    assert_int_equal(run(f), CUZK_ERR_INTERNAL);
    assert_true(untouched(f));
}

static void test_unsatisfied(void **state) {
    fixture *f = *state;
    const toy liar = {.x = 3, .y = 36, .copies = 3};
    fr y;
    fr_from_u64(&y, liar.y);
    f->job.c = toy_bind(&liar);
    f->job.inputs = &y;
    assert_int_equal(run(f), CUZK_ERR_INPUT);
    assert_non_null(strstr(f->err.text, "partition 7"));
    assert_non_null(strstr(f->err.text, "copy_0"));
    assert_true(untouched(f));
}

static void test_other_circuit(void **state) {
    fixture *f = *state;
    const toy longer = {.x = 3, .y = 35, .copies = 4};
    f->job.c = toy_bind(&longer);
    assert_int_equal(run(f), CUZK_ERR_MISMATCH);
    assert_true(untouched(f));
}

static bool always(void *ctx) {
    (void)ctx;
    return true;
}

static void test_cancelled(void **state) {
    fixture *f = *state;
    const observer o = {.cancelled = always};
    assert_int_equal(partition_prove(f->out, &f->retries, &f->job, f->pk, &f->pk->vk, NULL, &o, &f->err),
                     CUZK_ERR_CANCELLED);
    assert_true(untouched(f));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_honest, setup, teardown),
        cmocka_unit_test_setup_teardown(test_blinding, setup, teardown),
        cmocka_unit_test_setup_teardown(test_by_its_program, setup, teardown),
        cmocka_unit_test_setup_teardown(test_retries, setup, teardown),
        cmocka_unit_test_setup_teardown(test_never_unverified, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_statement, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unsatisfied, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_circuit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancelled, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
