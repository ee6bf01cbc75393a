// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Setup, proving and verifying together, on circuits small enough to check by hand: keys against the definition of a
// QAP evaluated naively, proofs against the verifier, and every way a caller can go wrong.
#include "testing.h"

#include "base/mem.h"
#include "groth16/prove.h"
#include "groth16/setup.h"
#include "groth16/toy.h"
#include "groth16/verify.h"

static const toy TOYS[] = {
    {.steps = 1, .seed = 3},
    {.steps = 2, .seed = 0}, // zero wires
    {.steps = 5, .seed = 7},
    {.steps = 13, .seed = 2},                // 14 constraints and 2 inputs: a domain without padding
    {.steps = 14, .seed = 2},                // one more: half of the domain is padding
    {.steps = 6, .linear = true, .seed = 9}, // no aux in B
    {.steps = 4, .input_rows = true, .seed = 11},
    {.steps = 3, .empty_b = true, .seed = 1},
    {.steps = 3, .linear = true, .input_rows = true, .empty_b = true, .seed = 1},
    {.steps = 600, .input_rows = true, .seed = 5},
};
enum { N_TOYS = sizeof TOYS / sizeof TOYS[0] };

static groth16_pk *make_key(const toy *t, pool *p) {
    const circuit c = toy_bind(t);
    groth16_secrets secrets;
    groth16_pk *pk;
    cuzk_error err;
    groth16_secrets_from_label(&secrets, "toy");
    assert_int_equal(groth16_setup(&pk, &c, &secrets, p, 0, &err), CUZK_OK);
    return pk;
}

static void make_proof(groth16_proof *out, const toy *t, const groth16_pk *pk, const groth16_blinding *b, pool *p) {
    const circuit c = toy_bind(t);
    groth16_assignment *w;
    cuzk_error err;
    assert_int_equal(groth16_synthesize(&w, &c, 0, &err), CUZK_OK);
    assert_int_equal(groth16_prove(out, pk, w, b, p, 0, &err), CUZK_OK);
    groth16_assignment_destroy(&w);
    assert_null(w);
    groth16_assignment_destroy(&w);
}

static void test_proofs_verify(void **state) {
    (void)state;
    pool *p;
    cuzk_error err;
    assert_int_equal(pool_create(&p, 3, &err), CUZK_OK);
    for (size_t i = 0; i < N_TOYS; i++) {
        const toy *t = &TOYS[i];
        groth16_pk *pk = make_key(t, p);
        fr inputs[TOY_MAX_INPUTS];
        uint32_t n = toy_public_inputs(inputs, t);
        groth16_proof proofs[3];
        groth16_blinding b;
        // Two random blindings and the same one from a label on one thread and on several.
        for (int k = 0; k < 2; k++) {
            assert_int_equal(groth16_blinding_random(&b, &err), CUZK_OK);
            make_proof(&proofs[k], t, pk, &b, p);
            groth16_blinding_wipe(&b);
            assert_true(fr_is_zero(&b.r) && fr_is_zero(&b.s));
        }
        groth16_blinding_from_label(&b, "toy", 4);
        make_proof(&proofs[2], t, pk, &b, 0);
        groth16_proof again;
        make_proof(&again, t, pk, &b, p);
        assert_memory_equal(&again, &proofs[2], sizeof again);
        assert_false(g1_affine_eq(&proofs[0].a, &proofs[1].a));
        assert_false(g2_affine_eq(&proofs[0].b, &proofs[1].b));
        assert_false(g1_affine_eq(&proofs[0].c, &proofs[1].c));
        for (int k = 0; k < 3; k++) {
            assert_int_equal(groth16_verify(&pk->vk, &proofs[k], inputs, n, &err), CUZK_OK);
            for (uint32_t j = 0; j < n; j++) {
                const fr kept = inputs[j];
                fr_add(&inputs[j], &inputs[j], &FR_ONE);
                assert_int_equal(groth16_verify(&pk->vk, &proofs[k], inputs, n, &err), CUZK_ERR_INVALID);
                inputs[j] = kept;
            }
        }
        // Parts of two proofs do not go together.
        groth16_proof mixed = proofs[0];
        mixed.c = proofs[1].c;
        assert_int_equal(groth16_verify(&pk->vk, &mixed, inputs, n, &err), CUZK_ERR_INVALID);
        groth16_pk_destroy(&pk);
    }
    pool_destroy(&p);
}

static void test_inputs_of_an_assignment(void **state) {
    (void)state;
    const toy t = {.steps = 4, .input_rows = true, .seed = 11};
    const circuit c = toy_bind(&t);
    groth16_assignment *w;
    cuzk_error err;
    fr expected[TOY_MAX_INPUTS];
    uint32_t n, wanted = toy_public_inputs(expected, &t);
    assert_int_equal(groth16_synthesize(&w, &c, 0, &err), CUZK_OK);
    const fr *inputs = groth16_assignment_inputs(w, &n);
    assert_int_equal(n, wanted + 1);
    assert_true(fr_is_one(&inputs[0]));
    assert_memory_equal(inputs + 1, expected, wanted * sizeof(fr));
    groth16_assignment_destroy(&w);
}

// ---- the key against the definition

enum { MAX_ROWS = 32, MAX_WIRES = 32 };

// Dense matrices, filled by a sink of our own.
typedef struct matrices {
    cs head;
    fr m[3][MAX_ROWS][MAX_WIRES]; // inputs at 0.., aux at MAX_WIRES / 2..
} matrices;

static void keep_alloc(cs *s, wire_kind kind, const fr *value) { (void)s, (void)kind, (void)value; }
static void keep_input(cs *s, const fr *value) { (void)s, (void)value; }
static void keep(cs *s, lc_view a, lc_view b, lc_view c) {
    matrices *x = (matrices *)s;
    const lc_view lcs[3] = {a, b, c};
    assert_true(s->n_constraints < MAX_ROWS);
    for (int k = 0; k < 3; k++)
        for (uint32_t i = 0; i < lcs[k].n; i++) {
            const term *t = &lcs[k].terms[i];
            x->m[k][s->n_constraints][wire_index(t->wire) + (wire_is_aux(t->wire) ? MAX_WIRES / 2 : 0)] = t->coeff;
        }
}
static const cs_ops KEEP_OPS = {.alloc = keep_alloc, .alloc_input = keep_input, .enforce = keep};

static void lagrange_naive(fr *out, uint32_t log_size, uint32_t i, const fr *tau) {
    fr w, wi = FR_ONE, wj = FR_ONE, numerator = FR_ONE, denominator = FR_ONE;
    fr_root_of_unity(&w, log_size);
    for (uint32_t j = 0; j < i; j++) fr_mul(&wi, &wi, &w);
    for (uint32_t j = 0; j < 1U << log_size; j++, fr_mul(&wj, &wj, &w)) {
        fr x;
        if (j == i) continue;
        fr_sub(&x, tau, &wj), fr_mul(&numerator, &numerator, &x);
        fr_sub(&x, &wi, &wj), fr_mul(&denominator, &denominator, &x);
    }
    fr_inv(&denominator, &denominator);
    fr_mul(out, &numerator, &denominator);
}

static void assert_is_multiple_g1(const g1_affine *a, const fr *k) {
    g1_jac x;
    g1_affine y;
    g1_jac_from_affine(&x, &G1_GENERATOR);
    g1_jac_mul(&x, &x, k);
    g1_jac_to_affine(&y, &x);
    assert_true(g1_affine_eq(a, &y));
}
static void assert_is_multiple_g2(const g2_affine *a, const fr *k) {
    g2_jac x;
    g2_affine y;
    g2_jac_from_affine(&x, &G2_GENERATOR);
    g2_jac_mul(&x, &x, k);
    g2_jac_to_affine(&y, &x);
    assert_true(g2_affine_eq(a, &y));
}

static void check_key(const toy *t) {
    static matrices x;
    const circuit c = toy_bind(t);
    groth16_secrets s;
    groth16_secrets_from_label(&s, "toy");
    memset(&x, 0, sizeof x);
    cs_init(&x.head, &KEEP_OPS, false);
    c.synthesize(c.self, &x.head);
    assert_int_equal(x.head.status, CUZK_OK);
    uint32_t rows = (uint32_t)x.head.n_constraints, log_size = 0;
    for (uint32_t i = 0; i < x.head.n_inputs; i++) x.m[0][rows++][i] = FR_ONE; // input_i * 0 = 0
    while (1U << log_size < rows) log_size++;

    groth16_pk *pk = make_key(t, 0);
    assert_int_equal(pk->n_h + 1, 1U << log_size);
    assert_int_equal(pk->vk.n_ic, x.head.n_inputs);
    assert_int_equal(pk->n_l, x.head.n_aux);

    // h_i = tau^i (tau^size - 1)/delta
    fr h, inverse;
    fr_inv(&inverse, &s.delta);
    fr_pow_u64(&h, &s.tau, UINT64_C(1) << log_size);
    fr_sub(&h, &h, &FR_ONE);
    fr_mul(&h, &h, &inverse);
    for (uint32_t i = 0; i < pk->n_h; i++, fr_mul(&h, &h, &s.tau)) assert_is_multiple_g1(&pk->h[i], &h);

    fr lagrange[MAX_ROWS];
    for (uint32_t i = 0; i < rows; i++) lagrange_naive(&lagrange[i], log_size, i, &s.tau);
    uint32_t n_a = 0, n_b = 0;
    for (uint32_t v = 0; v < x.head.n_inputs + x.head.n_aux; v++) {
        bool aux = v >= x.head.n_inputs;
        uint32_t column = aux ? v - x.head.n_inputs + MAX_WIRES / 2 : v;
        fr at[3] = {FR_ZERO, FR_ZERO, FR_ZERO}, y, e;
        for (int k = 0; k < 3; k++)
            for (uint32_t i = 0; i < rows; i++) {
                fr_mul(&y, &x.m[k][i][column], &lagrange[i]);
                fr_add(&at[k], &at[k], &y);
            }
        if (!fr_is_zero(&at[0])) assert_is_multiple_g1(&pk->a[n_a++], &at[0]);
        if (!fr_is_zero(&at[1])) {
            assert_is_multiple_g1(&pk->b_g1[n_b], &at[1]);
            assert_is_multiple_g2(&pk->b_g2[n_b++], &at[1]);
        }
        fr_mul(&e, &at[0], &s.beta);
        fr_mul(&y, &at[1], &s.alpha);
        fr_add(&e, &e, &y);
        fr_add(&e, &e, &at[2]);
        fr_inv(&y, aux ? &s.delta : &s.gamma);
        fr_mul(&e, &e, &y);
        assert_is_multiple_g1(aux ? &pk->l[v - x.head.n_inputs] : &pk->vk.ic[v], &e);
    }
    assert_int_equal(pk->n_a, n_a);
    assert_int_equal(pk->n_b, n_b);
    assert_is_multiple_g1(&pk->vk.alpha_g1, &s.alpha);
    assert_is_multiple_g1(&pk->vk.beta_g1, &s.beta);
    assert_is_multiple_g1(&pk->vk.delta_g1, &s.delta);
    assert_is_multiple_g2(&pk->vk.beta_g2, &s.beta);
    assert_is_multiple_g2(&pk->vk.gamma_g2, &s.gamma);
    assert_is_multiple_g2(&pk->vk.delta_g2, &s.delta);
    groth16_pk_destroy(&pk);
}

static void test_key_follows_the_definition(void **state) {
    (void)state;
    for (size_t i = 0; i < N_TOYS; i++)
        if (TOYS[i].steps < MAX_WIRES / 2) check_key(&TOYS[i]);
}

// ---- going wrong

static void test_labels(void **state) {
    (void)state;
    // The same element whether hashed whole or in parts.
    fr whole;
    groth16_secrets s;
    groth16_blinding b;
    groth16_secrets_from_label(&s, "cuzk test");
    groth16_fr_from_label(&whole, "cuzk test gamma");
    assert_true(fr_eq(&whole, &s.gamma));
    groth16_blinding_from_label(&b, "x", 4294967295U);
    groth16_fr_from_label(&whole, "x s 4294967295");
    assert_true(fr_eq(&whole, &b.s));
    groth16_fr_from_label(&whole, "x r 4294967295");
    assert_true(fr_eq(&whole, &b.r));
    // SHA-256("\0") || SHA-256("\1") mod r, computed with Python's integers.
    static const uint8_t empty[32] = {0xa0, 0xf4, 0x07, 0xdc, 0x45, 0x47, 0xc8, 0xa8, 0x83, 0x35, 0xed,
                                      0xdf, 0xb6, 0xd1, 0x70, 0xc7, 0x4a, 0x67, 0x64, 0x71, 0x51, 0xe3,
                                      0x4f, 0x40, 0x39, 0x75, 0x97, 0x7a, 0xe9, 0x6c, 0x03, 0x38};
    uint8_t bytes[32];
    groth16_fr_from_label(&whole, "");
    fr_to_le_bytes(bytes, &whole);
    assert_memory_equal(bytes, empty, 32);
}

static void test_wrong_witness_is_named(void **state) {
    (void)state;
    const toy t = {.steps = 9, .wrong = 6, .seed = 2};
    const circuit c = toy_bind(&t);
    groth16_assignment *w = (groth16_assignment *)&w;
    cuzk_error err;
    assert_int_equal(groth16_synthesize(&w, &c, 0, &err), CUZK_ERR_INPUT);
    assert_null(w);
    assert_non_null(strstr(err.text, "constraint 5 "));
    assert_non_null(strstr(err.text, "chain/step_6/square"));
}

static void test_key_of_another_circuit(void **state) {
    (void)state;
    // Each differs from the first in one count: inputs, aux wires, domain, dense A, dense B.
    static const toy base = {.steps = 9, .seed = 2};
    static const struct {
        toy t;
        const char *what;
    } others[] = {{{.steps = 9, .input_rows = true, .seed = 2}, "inputs"},
                  {{.steps = 8, .seed = 2}, "aux wires"},
                  {{.steps = 9, .linear = true, .seed = 2}, "wires in B"},
                  {{.steps = 9, .empty_b = true, .linear = true, .seed = 2}, "wires in B"}};
    groth16_pk *pk = make_key(&base, 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const circuit c = toy_bind(&others[i].t);
        groth16_assignment *w;
        groth16_proof proof;
        groth16_blinding b;
        cuzk_error err;
        groth16_blinding_from_label(&b, "toy", 0);
        assert_int_equal(groth16_synthesize(&w, &c, 0, &err), CUZK_OK);
        assert_int_equal(groth16_prove(&proof, pk, w, &b, 0, 0, &err), CUZK_ERR_MISMATCH);
        assert_non_null(strstr(err.text, others[i].what));
        // Refused before anything was consumed: the right key still works.
        groth16_pk *right = make_key(&others[i].t, 0);
        assert_int_equal(groth16_prove(&proof, right, w, &b, 0, 0, &err), CUZK_OK);
        fr inputs[TOY_MAX_INPUTS];
        uint32_t n = toy_public_inputs(inputs, &others[i].t);
        assert_int_equal(groth16_verify(&right->vk, &proof, inputs, n, &err), CUZK_OK);
        assert_int_equal(groth16_prove(&proof, right, w, &b, 0, 0, &err), CUZK_ERR_USAGE);
        groth16_pk_destroy(&right);
        groth16_assignment_destroy(&w);
    }
    groth16_pk_destroy(&pk);
}

static void test_setup_refuses(void **state) {
    (void)state;
    groth16_secrets good, s;
    groth16_pk *pk;
    cuzk_error err;
    groth16_secrets_from_label(&good, "toy");
    const toy plain = {.steps = 3, .seed = 1}, loose = {.steps = 3, .free_aux = 1, .seed = 1};
    circuit c = toy_bind(&plain);
    fr *const each[] = {&s.alpha, &s.beta, &s.gamma, &s.delta, &s.tau};
    static const char *const names[] = {"alpha", "beta", "gamma", "delta", "tau"};
    for (size_t i = 0; i < 5; i++) {
        s = good;
        *each[i] = FR_ZERO;
        assert_int_equal(groth16_setup(&pk, &c, &s, 0, 0, &err), CUZK_ERR_INPUT);
        assert_non_null(strstr(err.text, names[i]));
        assert_null(pk);
    }
    s = good;
    fr_root_of_unity(&s.tau, 2);
    assert_int_equal(groth16_setup(&pk, &c, &s, 0, 0, &err), CUZK_ERR_INPUT);
    assert_non_null(strstr(err.text, "domain"));
    c = toy_bind(&loose);
    assert_int_equal(groth16_setup(&pk, &c, &good, 0, 0, &err), CUZK_ERR_INPUT);
    assert_non_null(strstr(err.text, "aux wire 4 occurs in no constraint"));
    assert_null(pk);
}

static bool always(void *ctx) { return ++*(int *)ctx > 0; }

static void test_cancelling(void **state) {
    (void)state;
    const toy t = {.steps = 5, .seed = 7};
    const circuit c = toy_bind(&t);
    int polls = 0;
    const observer o = {.cancelled = always, .ctx = &polls};
    groth16_secrets s;
    groth16_pk *none, *pk = make_key(&t, 0);
    groth16_assignment *w;
    groth16_proof proof;
    groth16_blinding b;
    cuzk_error err;
    groth16_secrets_from_label(&s, "toy");
    groth16_blinding_from_label(&b, "toy", 0);
    assert_int_equal(groth16_setup(&none, &c, &s, 0, &o, &err), CUZK_ERR_CANCELLED);
    assert_null(none);
    assert_int_equal(groth16_synthesize(&w, &c, &o, &err), CUZK_ERR_CANCELLED);
    assert_null(w);
    assert_int_equal(groth16_synthesize(&w, &c, 0, &err), CUZK_OK);
    assert_int_equal(groth16_prove(&proof, pk, w, &b, 0, &o, &err), CUZK_ERR_CANCELLED);
    assert_true(polls >= 3);
    groth16_assignment_destroy(&w);
    groth16_pk_destroy(&pk);
}

// Stages nest properly and come in the documented order.
typedef struct stage_log {
    char text[512];
    int depth;
} stage_log;
static void log_begin(void *ctx, const char *stage) {
    stage_log *l = ctx;
    assert_int_equal(l->depth++, 0);
    assert_true(strlen(l->text) + strlen(stage) + 2 < sizeof l->text);
    strcat(l->text, stage);
    strcat(l->text, " ");
}
static void log_end(void *ctx, const char *stage) {
    stage_log *l = ctx;
    (void)stage;
    assert_int_equal(--l->depth, 0);
}

static void test_stages(void **state) {
    (void)state;
    const toy t = {.steps = 5, .seed = 7};
    const circuit c = toy_bind(&t);
    stage_log log = {{0}, 0};
    const observer o = {.stage_begin = log_begin, .stage_end = log_end, .ctx = &log};
    groth16_secrets s;
    groth16_pk *pk;
    groth16_assignment *w;
    groth16_proof proof;
    groth16_blinding b;
    cuzk_error err;
    groth16_secrets_from_label(&s, "toy");
    groth16_blinding_from_label(&b, "toy", 0);
    assert_int_equal(groth16_setup(&pk, &c, &s, 0, &o, &err), CUZK_OK);
    assert_string_equal(log.text, "count tables h lagrange synthesis ic l a b_g1 b_g2 ");
    log.text[0] = 0;
    assert_int_equal(groth16_synthesize(&w, &c, &o, &err), CUZK_OK);
    assert_int_equal(groth16_prove(&proof, pk, w, &b, 0, &o, &err), CUZK_OK);
    assert_string_equal(log.text, "synthesis ntt msm_h msm_l msm_a msm_b_g1 msm_b_g2 assemble ");
    assert_int_equal(log.depth, 0);
    groth16_assignment_destroy(&w);
    groth16_pk_destroy(&pk);
}

// Memory in use when the test began: a test that leaks fails itself, not its successors.
static uint64_t live_before;
static int note_memory(void **state) {
    (void)state;
    live_before = mem_usage_total().live;
    return 0;
}
static int nothing_leaked(void **state) {
    (void)state;
    return mem_usage_total().live == live_before ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_proofs_verify, note_memory, nothing_leaked),
        cmocka_unit_test_setup_teardown(test_inputs_of_an_assignment, note_memory, nothing_leaked),
        cmocka_unit_test_setup_teardown(test_key_follows_the_definition, note_memory, nothing_leaked),
        cmocka_unit_test(test_labels),
        cmocka_unit_test_setup_teardown(test_wrong_witness_is_named, note_memory, nothing_leaked),
        cmocka_unit_test_setup_teardown(test_key_of_another_circuit, note_memory, nothing_leaked),
        cmocka_unit_test_setup_teardown(test_setup_refuses, note_memory, nothing_leaked),
        cmocka_unit_test_setup_teardown(test_cancelling, note_memory, nothing_leaked),
        cmocka_unit_test_setup_teardown(test_stages, note_memory, nothing_leaked),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
