// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Evaluation of a program against the plain sums over its expanded rows.
#include "made_system.h"

#include "base/mem.h"
#include "r1cs/evaluate.h"
#include "r1cs/evaluate_plan.h"
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

// Gives a program's wires random values and compares all its rows.
static void compare_rows(const program *p, test_rng *rng, unsigned threads, bool room) {
    cuzk_error err;
    pool *pl = NULL;
    assert_int_equal(pool_create(&pl, threads, &err), CUZK_OK);
    program_counts n;
    program_count(&n, p);

    packed_sink fill;
    values_sink take = {.rng = rng, .to = &fill};
    take.inputs = mem_calloc(MEM_MISC, n.inputs, sizeof(fr));
    take.aux = mem_calloc(MEM_MISC, n.aux, sizeof(fr));
    // From nothing, or with all the room it needs.
    packed_sink_init(&fill, room ? n.inputs : 0, room ? n.aux : 0, room ? n.fields : 0);
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

    uint64_t *const words = mem_alloc(MEM_MISC, 3 * n.rows + 1, sizeof(fr));
    for (int shift = 0; shift < 2; shift++) {
        // Vectors need not be aligned to more than their elements are.
        fr *const abc = (fr *)(words + shift);
        memset(abc, 0xff, 3 * n.rows * sizeof(fr));
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
    }
    mem_free(words);
    mem_free(take.inputs);
    mem_free(take.aux);
    packed_destroy(&w);
    pool_destroy(&pl);
}

static void rows_are_the_plain_sums(void **state) {
    (void)state;
    test_rng rng = test_rng_new("rows_are_the_plain_sums");
    for (unsigned threads = 1; threads <= 3; threads++) {
        cuzk_error err;
        program *p = NULL;
        const made m = {.rng = {test_u64(&rng)}};
        assert_int_equal(made_program(&p, &m, 300, &err), CUZK_OK);
        compare_rows(p, &rng, threads, threads != 1);
        program_destroy(&p);
    }
}

// --- Circuits of words ---

enum { WORD_WIRES = 1000, LONGEST = 70, FARTHEST = 4 * LONGEST };

// A linear combination that moves over the wires from row to row.
typedef struct moving {
    uint32_t n, from[20], step[20];
    fr coeff[20];
} moving;

static void random_moving(moving *m, test_rng *r) {
    static const uint64_t SIZES[] = {1, 1, 1, 2, 7, 8, 9};
    const bool extreme = test_below(r, 8) == 0; // sums up to the bound of narrow rows, and past it
    m->n = extreme ? 14 + (uint32_t)test_below(r, 3) : (uint32_t)test_below(r, 5);
    const bool minus = test_below(r, 2) != 0;
    for (uint32_t i = 0; i < m->n; i++) {
        m->from[i] = (uint32_t)test_below(r, WORD_WIRES - FARTHEST);
        m->step[i] = extreme ? 1 : (uint32_t)test_below(r, 8) == 0 ? 3 : (uint32_t)test_below(r, 3);
        fr_from_u64(&m->coeff[i], extreme ? 8 : SIZES[test_below(r, 7)]);
        if (extreme ? minus : test_below(r, 2) != 0) fr_neg(&m->coeff[i], &m->coeff[i]);
    }
}

// The i-th row's.
static lc_view moved(term *t, const moving *m, wire first, uint32_t i) {
    uint32_t n = 0;
    for (; n < m->n; n++) {
        // One of the terms in eight is the constant one.
        const wire w = m->from[n] % 8 == 0 && m->step[n] == 0 ? WIRE_ONE : first + m->from[n] + i * m->step[n];
        t[n] = (term){w, m->coeff[n]};
    }
    return (lc_view){t, terms_normalise(t, n)};
}

// Bits times ascending powers, some of them twice.
static lc_view random_powers(term *t, test_rng *r, wire first) {
    uint32_t n = 0;
    for (uint64_t runs = test_below(r, 6); runs > 0; runs--) {
        const uint32_t bits = 1 + (uint32_t)test_below(r, 80), step = 1 + (uint32_t)test_below(r, 3);
        const uint32_t from = (uint32_t)test_below(r, WORD_WIRES - 3 * 80);
        fr power = FR_ONE;
        for (uint64_t k = test_below(r, 2) == 0 ? test_below(r, 256) : 64 * test_below(r, 4); k > 0; k--)
            fr_dbl(&power, &power);
        if (test_below(r, 3) == 0) fr_neg(&power, &power);
        for (uint32_t i = 0; i < bits; i++, n++) {
            t[n] = (term){first + from + i * step, power};
            fr_dbl(&power, &power);
        }
    }
    return (lc_view){t, terms_normalise(t, n)};
}

// Rows that go on alike over words of bits, one kind of row or two in turn, with a field element here and there.
static void rows_over_words(void **state) {
    (void)state;
    test_rng rng = test_rng_new("rows_over_words");
    for (int round = 0; round < 8; round++) {
        cuzk_error err;
        program_builder *b = NULL;
        program *p = NULL;
        assert_int_equal(program_builder_create(&b, NULL, &err), CUZK_OK);
        cs *s = program_builder_sink(b);
        wire first = WIRE_ONE;
        for (int i = 0; i < WORD_WIRES; i++) {
            const wire w = cs_alloc(s, round % 2 != 0 && test_below(&rng, 100) == 0 ? WIRE_FIELD : WIRE_BIT, NULL);
            if (i == 0) first = w;
        }
        for (int block = 0; block < 60; block++) {
            moving m[2][3];
            for (int k = 0; k < 6; k++) random_moving(&m[k / 3][k % 3], &rng);
            const uint32_t kinds = 1 + (uint32_t)test_below(&rng, 2);
            for (uint32_t i = 0, rows = (uint32_t)test_below(&rng, LONGEST) * kinds; i < rows; i++) {
                term t[3][20];
                lc_view v[3];
                for (int k = 0; k < 3; k++) v[k] = moved(t[k], &m[i % kinds][k], first, i / kinds);
                cs_enforce(s, v[0], v[1], v[2]);
            }
            term t[3][400];
            cs_enforce(s, random_powers(t[0], &rng, first), random_powers(t[1], &rng, first),
                       random_powers(t[2], &rng, first));
        }
        assert_int_equal(program_builder_finish(&p, &b, &err), CUZK_OK);
        compare_rows(p, &rng, 1 + (unsigned)round % 2, true);
        program_destroy(&p);
    }
}

// 40 rows 2 x y = x + y - z and 40 others between them are two strips, whatever the order of the wires in memory, and
// a packed word is one run: what makes evaluation fast.
static void alike_rows_are_strips(void **state) {
    (void)state;
    enum { ROWS = 40 };
    cuzk_error err;
    program_builder *b = NULL;
    program *p = NULL;
    assert_int_equal(program_builder_create(&b, NULL, &err), CUZK_OK);
    cs *s = program_builder_sink(b);
    wire w[2 * ROWS + 1];
    for (int i = 0; i <= 2 * ROWS; i++) w[i] = cs_alloc(s, WIRE_BIT, NULL);
    fr two, minus, power = FR_ONE;
    fr_from_u64(&two, 2);
    fr_neg(&minus, &FR_ONE);
    for (int i = 0; i < ROWS; i++) {
        const term a = {w[i], two}, y = {w[2 * i + 1], FR_ONE};
        const term c[3] = {{w[i], FR_ONE}, {w[i + ROWS], FR_ONE}, {w[2 * ROWS], minus}};
        cs_enforce(s, (lc_view){&a, 1}, (lc_view){&y, 1}, (lc_view){c, 3});
        const term d[2] = {{WIRE_ONE, FR_ONE}, {w[i], minus}};
        cs_enforce(s, (lc_view){d, 2}, (lc_view){&y, 1}, (lc_view){NULL, 0});
    }
    term packed[ROWS];
    for (int i = 0; i < ROWS; i++, fr_dbl(&power, &power)) packed[i] = (term){w[2 * i], power};
    cs_enforce(s, (lc_view){packed, ROWS}, (lc_view){NULL, 0}, (lc_view){NULL, 0});
    assert_int_equal(program_builder_finish(&p, &b, &err), CUZK_OK);
    assert_int_equal(p->n_templates, 1);
    const program_template *t = &p->templates[0];
    // Place 1 is the first wire: they are all the instance's own.
    const uint32_t room = t->room;
    const uint32_t strips[] = {
        2 | 1 << 8 | 2u << 24,
        1,
        1 | 0 << 8,
        255 | 1 << 8,
        1 | 2 << 8, // shape: 1 - x, y, nothing
        1,
        ROWS,
        0,
        room + 1,
        room + 2, // and its strip
        1 | 1 << 8 | 3 << 16 | 2u << 24,
        1,
        2 | 1 << 8,
        1 | 2 << 8,
        1 | 1 << 8,
        1 | 1 << 8,
        255 | 0 << 8,
        0,
        ROWS,
        room + 1,
        room + 2,
        room + 1,
        room + 1 + ROWS,
        room + 1 + 2 * ROWS,
    };
    const uint32_t wide[] = {2 * ROWS, 1, 0, 0, 0, 0, 0, room + 1, ROWS | 2 << 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    const uint32_t n_strips = sizeof strips / sizeof *strips, n_wide = sizeof wide / sizeof *wide;
    assert_int_equal(t->n_strips, n_strips);
    assert_int_equal(t->n_wide, n_wide);
    assert_memory_equal(t->wide, wide, sizeof wide);
    // Groups stand in any order.
    const bool swapped = t->strips[0] != strips[0];
    assert_memory_equal(t->strips + (swapped ? n_strips - 10 : 0), strips, 10 * sizeof *strips);
    assert_memory_equal(t->strips + (swapped ? 0 : 10), strips + 10, (n_strips - 10) * sizeof *strips);
    program_destroy(&p);
}

// x z = x with all x one holds where z is one; every so often a row is wide. Of several rows that do not hold the first
// is named, wherever they lie in strips.
static void the_first_failed_row_is_named(void **state) {
    (void)state;
    enum { ROWS = 300, WORDS = (ROWS + 63) / 64 };
    test_rng rng = test_rng_new("the_first_failed_row_is_named");
    cuzk_error err;
    program_builder *b = NULL;
    program *p = NULL;
    assert_int_equal(program_builder_create(&b, NULL, &err), CUZK_OK);
    cs *s = program_builder_sink(b);
    wire x[ROWS], z[ROWS];
    fr large;
    fr_from_u64(&large, UINT64_C(1) << 40);
    for (int i = 0; i < ROWS; i++) x[i] = cs_alloc(s, WIRE_BIT, NULL);
    for (int i = 0; i < ROWS; i++) z[i] = cs_alloc(s, WIRE_BIT, NULL);
    for (int i = 0; i < ROWS; i++) {
        const term a = {x[i], i % 41 == 7 ? large : FR_ONE}, c = {z[i], FR_ONE};
        cs_enforce(s, (lc_view){&a, 1}, (lc_view){&c, 1}, (lc_view){&a, 1});
    }
    assert_int_equal(program_builder_finish(&p, &b, &err), CUZK_OK);
    for (int round = 0; round < 100; round++) {
        uint64_t ones[WORDS], zs[WORDS], want = UINT64_MAX, failed = 0;
        memset(ones, 0xff, sizeof ones);
        memset(zs, 0xff, sizeof zs);
        for (uint64_t n = test_below(&rng, 4); n > 0; n--) {
            const uint64_t row = test_below(&rng, 5) == 0 ? 41 * test_below(&rng, 7) + 7 : test_below(&rng, ROWS);
            zs[row / 64] &= ~(UINT64_C(1) << row % 64);
            if (row < want) want = row;
        }
        packed_sink fill;
        packed_witness *w = NULL;
        packed_sink_init(&fill, 0, 0, 0);
        (void)cs_alloc_bits(&fill.head, ones, ROWS);
        (void)cs_alloc_bits(&fill.head, zs, ROWS);
        assert_int_equal(packed_sink_finish(&w, &fill, &err), CUZK_OK);
        assert_int_equal(program_evaluate(NULL, NULL, NULL, &failed, p, w, NULL, &err), CUZK_OK);
        assert_int_equal(failed, want);
        packed_destroy(&w);
    }
    program_destroy(&p);
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
        cmocka_unit_test(rows_are_the_plain_sums), cmocka_unit_test(rows_over_words),
        cmocka_unit_test(alike_rows_are_strips),   cmocka_unit_test(the_first_failed_row_is_named),
        cmocka_unit_test(large_sums_of_powers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
