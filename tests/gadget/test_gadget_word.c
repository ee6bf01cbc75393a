// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gadget_testing.h"

#include "gadget/word.h"

// A word whose bits are constants, wires or negated wires at random; the kinds come from a seed, so that they are the
// same with and without values.
static void mixed_word(cs *s, word *out, test_rng *kinds, uint32_t value, unsigned n_kinds) {
    for (uint32_t i = 0; i < 32; i++) {
        const bool v = (value >> i & 1) != 0;
        switch (test_below(kinds, n_kinds)) {
        case 0: out->bits[i] = boolean_alloc(s, v); break;
        case 1: out->bits[i] = boolean_not(boolean_alloc(s, !v)); break;
        default: out->bits[i] = boolean_constant(v); break;
        }
    }
}

typedef struct sums {
    uint64_t seed;
    uint32_t n_sums, n_operands[20], values[20][WORD_SUM_MAX];
    unsigned n_kinds; // 1: wires only, 3: all kinds
    uint32_t found[20];
} sums;

static void add(cs *s, void *ctx) {
    sums *t = ctx;
    test_rng kinds = {t->seed};
    static word_eq m;
    static word words[WORD_SUM_MAX];
    word result;
    const word *operands[WORD_SUM_MAX];
    for (uint32_t k = 0; k < WORD_SUM_MAX; k++) word_constant(&words[k], 12345 + k);
    word_eq_init(&m, s);
    for (uint32_t i = 0; i < t->n_sums; i++) {
        for (uint32_t k = 0; k < t->n_operands[i]; k++) {
            // Now and then an operand twice, or one of an earlier sum: terms to be added up.
            if (i == 0 || test_below(&kinds, 3) > 0) mixed_word(s, &words[k], &kinds, t->values[i][k], t->n_kinds);
            operands[k] = &words[k];
        }
        uint32_t want = 0;
        for (uint32_t k = 0; k < t->n_operands[i]; k++) want += word_value(&words[k]);
        word_sum(&m, &result, operands, t->n_operands[i]);
        if (s->has_values) assert_int_equal(word_value(&result), want);
        if (i % 4 == 3) words[0] = result;
    }
    word_eq_finish(&m);
    word_eq_finish(&m); // nothing left
}

static void sums_are_modulo_two_to_32(void **state) {
    (void)state;
    test_rng r = test_rng_new("word");
    for (int round = 0; round < 60; round++) {
        sums t = {.seed = test_u64(&r), .n_kinds = round % 2 == 0 ? 3 : 1};
        t.n_sums = 1 + (uint32_t)test_below(&r, 20);
        for (uint32_t i = 0; i < t.n_sums; i++) {
            t.n_operands[i] = 2 + (uint32_t)test_below(&r, WORD_SUM_MAX - 1);
            for (uint32_t k = 0; k < WORD_SUM_MAX; k++) t.values[i][k] = (uint32_t)test_edge_u64(&r);
        }
        assert_satisfied(add, &t);
        if (round < 8) assert_every_value_matters(add, &t, 0, 20);
    }
}

static void constant_sum(cs *s, void *ctx) {
    static word_eq m;
    word a, b, out;
    word_constant(&a, 0xfffffff0);
    word_constant(&b, 0x21);
    word_eq_init(&m, s);
    word_sum(&m, &out, (const word *const[]){&a, &b}, 2);
    word_eq_finish(&m);
    *(uint32_t *)ctx = word_value(&out);
}

static void constants_cost_nothing(void **state) {
    (void)state;
    uint32_t value;
    assert_int_equal(assert_satisfied(constant_sum, &value), 0);
    assert_int_equal(value, 0x11);
}

typedef struct logic {
    uint64_t seed;
    uint32_t a, b, c, by_a, by_b;
    bool shift;
    uint32_t x, ch, maj;
} logic;

static void bitwise(cs *s, void *ctx) {
    logic *t = ctx;
    test_rng kinds = {t->seed};
    word a, b, c, out;
    mixed_word(s, &a, &kinds, t->a, 3);
    mixed_word(s, &b, &kinds, t->b, 3);
    mixed_word(s, &c, &kinds, t->c, 3);
    word_xor(s, &out, (word_view){&a, t->by_a, false}, (word_view){&b, t->by_b, t->shift});
    t->x = word_value(&out);
    word_choose(s, &out, &a, &b, &c);
    t->ch = word_value(&out);
    word_majority(s, &out, &a, &b, &c);
    t->maj = word_value(&out);
}

static uint32_t rotate(uint32_t v, uint32_t by) { return by == 0 ? v : v >> by | v << (32 - by); }

static void bitwise_operations(void **state) {
    (void)state;
    test_rng r = test_rng_new("word");
    for (int i = 0; i < 100; i++) {
        logic t = {.seed = test_u64(&r),
                   .a = (uint32_t)test_edge_u64(&r),
                   .b = (uint32_t)test_edge_u64(&r),
                   .c = (uint32_t)test_edge_u64(&r),
                   .by_a = (uint32_t)test_below(&r, 32),
                   .by_b = (uint32_t)test_below(&r, 32),
                   .shift = test_below(&r, 2) == 0};
        assert_satisfied(bitwise, &t);
        assert_int_equal(t.x, rotate(t.a, t.by_a) ^ (t.shift ? t.b >> t.by_b : rotate(t.b, t.by_b)));
        assert_int_equal(t.ch, (t.a & t.b) ^ (~t.a & t.c));
        assert_int_equal(t.maj, (t.a & t.b) ^ (t.a & t.c) ^ (t.b & t.c));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_modulo_two_to_32),
                                       cmocka_unit_test(constants_cost_nothing), cmocka_unit_test(bitwise_operations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
