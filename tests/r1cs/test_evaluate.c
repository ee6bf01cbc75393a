// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Evaluation of a program against the plain sums over its expanded rows.
#include "made_system.h"

#include "base/mem.h"
#include "r1cs/evaluate.h"
#include "r1cs/lc.h"

// Takes the kinds of wires from an expansion and gives each wire a value.
typedef struct values_sink {
    cs head; // first
    test_rng *rng;
    packed_sink *to;
    fr *inputs, *aux;
    uint32_t n_inputs;
} values_sink;

static void random_value(fr *out, test_rng *r) {
    if (test_below(r, 6) == 0)
        fr_from_u64(out, test_below(r, 2));
    else
        made_coeff(out, r);
}

static void take_input(cs *head, const fr *value) {
    values_sink *s = (values_sink *)head;
    (void)value;
    fr v = FR_ONE;
    if (s->n_inputs > 0) {
        random_value(&v, s->rng);
        (void)cs_alloc_input(&s->to->head, &v);
    }
    s->inputs[s->n_inputs++] = v;
}

static void take_wire(cs *head, wire_kind kind, const fr *value) {
    values_sink *s = (values_sink *)head;
    (void)value;
    fr v;
    if (kind == WIRE_BIT)
        fr_from_u64(&v, test_u64(s->rng) & 1);
    else
        random_value(&v, s->rng);
    const uint64_t bit = (uint64_t)fr_is_one(&v);
    if (kind == WIRE_BIT && test_below(s->rng, 2) != 0)
        (void)cs_alloc_bits(&s->to->head, &bit, 1);
    else
        (void)cs_alloc(&s->to->head, kind, &v);
    s->aux[head->n_aux] = v;
}

static const cs_ops TAKE = {.alloc = take_wire, .alloc_input = take_input};

// Compares row after row.
typedef struct compare_sink {
    cs head; // first
    const fr *inputs, *aux, *a, *b, *c;
    uint64_t first_failed;
} compare_sink;

static void no_input(cs *s, const fr *value) { (void)s, (void)value; }
static void no_wire(cs *s, wire_kind kind, const fr *value) { (void)s, (void)kind, (void)value; }
static void compare_row(cs *head, lc_view a, lc_view b, lc_view c) {
    compare_sink *s = (compare_sink *)head;
    const uint64_t row = head->n_constraints;
    fr x, y, z;
    lc_evaluate(&x, a, s->inputs, s->aux);
    lc_evaluate(&y, b, s->inputs, s->aux);
    lc_evaluate(&z, c, s->inputs, s->aux);
    assert_true(fr_eq(&x, &s->a[row]));
    assert_true(fr_eq(&y, &s->b[row]));
    assert_true(fr_eq(&z, &s->c[row]));
    fr_mul(&x, &x, &y);
    if (s->first_failed == UINT64_MAX && !fr_eq(&x, &z)) s->first_failed = row;
}
static const cs_ops COMPARE = {.alloc = no_wire, .alloc_input = no_input, .enforce = compare_row};

static void rows_are_the_plain_sums(void **state) {
    (void)state;
    test_rng rng = test_rng_new("rows_are_the_plain_sums");
    for (unsigned threads = 1; threads <= 3; threads++) {
        cuzk_error err;
        program *p = NULL;
        pool *pl = NULL;
        const made m = {.rng = {test_u64(&rng)}};
        assert_int_equal(pool_create(&pl, threads, &err), CUZK_OK);
        assert_int_equal(made_program(&p, &m, 300, &err), CUZK_OK);
        program_counts n;
        program_count(&n, p);

        packed_sink fill;
        values_sink take = {.rng = &rng, .to = &fill};
        take.inputs = mem_calloc(MEM_MISC, n.inputs, sizeof(fr));
        take.aux = mem_calloc(MEM_MISC, n.aux, sizeof(fr));
        // From nothing, or with all the room it needs.
        packed_sink_init(&fill, threads == 1 ? 0 : n.inputs, threads == 1 ? 0 : n.aux, threads == 1 ? 0 : n.fields);
        cs_init(&take.head, &TAKE, false);
        program_expand(p, &take.head);
        packed_witness *w = NULL;
        assert_int_equal(packed_sink_finish(&w, &fill, &err), CUZK_OK);
        assert_int_equal(w->n_fields, n.fields);
        for (uint32_t i = 0; i < n.aux; i++) {
            fr v;
            packed_value(&v, w, WIRE_AUX | i);
            assert_true(fr_eq(&v, &take.aux[i]));
        }

        fr *abc = mem_alloc(MEM_MISC, 3 * n.rows, sizeof(fr));
        uint64_t failed = 0;
        assert_int_equal(program_evaluate(abc, abc + n.rows, abc + 2 * n.rows, &failed, p, w, pl, &err), CUZK_OK);
        compare_sink s = {.inputs = take.inputs, .aux = take.aux, .a = abc, .b = abc + n.rows, .c = abc + 2 * n.rows};
        s.first_failed = UINT64_MAX;
        cs_init(&s.head, &COMPARE, false);
        program_expand(p, &s.head);
        assert_int_equal(s.head.status, CUZK_OK);
        assert_int_equal(s.head.n_constraints, n.rows);
        assert_int_equal(failed, s.first_failed);

        uint64_t checked = 0;
        assert_int_equal(program_evaluate(NULL, NULL, NULL, &checked, p, w, pl, &err), CUZK_OK);
        assert_int_equal(checked, failed);
        w->n_aux--;
        assert_int_equal(program_evaluate(abc, abc, abc, &failed, p, w, pl, &err), CUZK_ERR_MISMATCH);
        w->n_aux++;
        mem_free(abc);
        mem_free(take.inputs);
        mem_free(take.aux);
        packed_destroy(&w);
        program_destroy(&p);
        pool_destroy(&pl);
    }
}

// Sums of powers that carry past the field and past 2^256, on either side of zero.
static void large_sums_of_powers(void **state) {
    (void)state;
    enum { BITS = 300, ROWS = 64 };
    test_rng rng = test_rng_new("large_sums_of_powers");
    cuzk_error err;
    program_builder *b = NULL;
    program *p = NULL;
    assert_int_equal(program_builder_create(&b, NULL, &err), CUZK_OK);
    cs *s = program_builder_sink(b);
    wire first = WIRE_ONE;
    for (int i = 0; i < BITS; i++) {
        const wire w = cs_alloc(s, WIRE_BIT, NULL);
        if (i == 0) first = w;
    }
    static term t[ROWS][BITS];
    fr want[ROWS];
    for (int r = 0; r < ROWS; r++) {
        want[r] = FR_ZERO;
        for (uint32_t i = 0; i < BITS; i++) {
            t[r][i] = (term){first + i, FR_ONE};
            const uint64_t k = r == 0 ? 254 : r == 1 ? 255 : 240 + test_below(&rng, 16);
            for (uint64_t n = k; n > 0; n--) fr_dbl(&t[r][i].coeff, &t[r][i].coeff);
            if (r % 3 == 2 || (r % 3 == 0 && test_below(&rng, 2) != 0)) fr_neg(&t[r][i].coeff, &t[r][i].coeff);
            fr_add(&want[r], &want[r], &t[r][i].coeff);
        }
        cs_enforce(s, (lc_view){t[r], BITS}, (lc_view){NULL, 0}, (lc_view){NULL, 0});
    }
    assert_int_equal(program_builder_finish(&p, &b, &err), CUZK_OK);
    packed_sink fill;
    packed_witness *w = NULL;
    uint64_t ones[5];
    memset(ones, 0xff, sizeof ones);
    packed_sink_init(&fill, 0, 0, 0);
    (void)cs_alloc_bits(&fill.head, ones, BITS);
    assert_int_equal(packed_sink_finish(&w, &fill, &err), CUZK_OK);
    fr a[ROWS], bb[ROWS], c[ROWS];
    uint64_t failed = 0;
    assert_int_equal(program_evaluate(a, bb, c, &failed, p, w, NULL, &err), CUZK_OK);
    assert_int_equal(failed, UINT64_MAX);
    for (int r = 0; r < ROWS; r++) {
        assert_true(fr_eq(&a[r], &want[r]));
        assert_true(fr_is_zero(&bb[r]));
    }
    packed_destroy(&w);
    program_destroy(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_the_plain_sums),
        cmocka_unit_test(large_sums_of_powers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
