// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Every operation on every kind of operand and every value.
#include "gadget_testing.h"

#include "gadget/boolean.h"

// Code of an operand: kind (constant, is, not) and value.
static boolean operand(cs *s, unsigned code) {
    const bool value = code & 1;
    switch (code >> 1) {
    case 0: return boolean_constant(value);
    case 1: return boolean_alloc(s, value);
    default: return boolean_not(boolean_alloc(s, !value));
    }
}

enum { CODES = 6 };

typedef enum operation { XOR, AND, CHOOSE, MAJORITY } operation;

typedef struct run {
    operation op;
    unsigned codes[3];
    boolean result;
} run;

static void circuit(cs *s, void *ctx) {
    run *r = ctx;
    const boolean a = operand(s, r->codes[0]), b = operand(s, r->codes[1]), c = operand(s, r->codes[2]);
    switch (r->op) {
    case XOR: r->result = boolean_xor(s, a, b); break;
    case AND: r->result = boolean_and(s, a, b); break;
    case CHOOSE: r->result = boolean_choose(s, a, b, c); break;
    case MAJORITY: r->result = boolean_majority(s, a, b, c); break;
    }
}

static bool expected(const run *r) {
    const bool a = r->codes[0] & 1, b = r->codes[1] & 1, c = r->codes[2] & 1;
    switch (r->op) {
    case XOR: return a != b;
    case AND: return a && b;
    case CHOOSE: return a ? b : c;
    default: return a + b + c >= 2;
    }
}

static void every_operation_on_everything(void **state) {
    (void)state;
    for (unsigned op = XOR; op <= MAJORITY; op++) {
        for (unsigned a = 0; a < CODES; a++) {
            for (unsigned b = 0; b < CODES; b++) {
                for (unsigned c = 0; c < (op >= CHOOSE ? (unsigned)CODES : 1u); c++) {
                    run r = {.op = (operation)op, .codes = {a, b, c}};
                    assert_satisfied(circuit, &r);
                    assert_int_equal(r.result.value, expected(&r));
                    assert_every_value_matters(circuit, &r, (a > 1) + (b > 1) + (c > 1), 16);
                }
            }
        }
    }
}

static void constants_cost_nothing(void **state) {
    (void)state;
    for (unsigned code = 0; code < CODES; code++) {
        for (unsigned op = XOR; op <= AND; op++) {
            run r = {.op = (operation)op, .codes = {1, code, 0}};
            assert_int_equal(assert_satisfied(circuit, &r), code >= 2);
        }
    }
}

static void same_wire_twice(cs *s, void *ctx) {
    boolean *out = ctx;
    const boolean a = boolean_alloc(s, true);
    out[0] = boolean_xor(s, a, a);
    out[1] = boolean_choose(s, a, a, boolean_not(a));
    out[2] = boolean_majority(s, a, a, boolean_not(a));
    out[3] = boolean_xor(s, a, boolean_not(a));
}

static void an_operand_may_repeat(void **state) {
    (void)state;
    boolean out[4];
    assert_satisfied(same_wire_twice, out);
    assert_false(out[0].value);
    assert_true(out[1].value && out[2].value && out[3].value);
}

static void nor(cs *s, void *ctx) {
    const unsigned *v = ctx;
    const boolean a = boolean_alloc(s, v[0] & 1), b = boolean_alloc(s, v[0] >> 1 & 1);
    const boolean n = boolean_nor(s, a, b);
    if (s->has_values) assert_int_equal(n.value, v[0] == 0);
    (void)boolean_alloc_unless(s, v[0] == 0, a);
}

static void allocated_bits(void **state) {
    (void)state;
    for (unsigned v = 0; v < 4; v++) {
        assert_satisfied(nor, &v);
        assert_every_value_matters(nor, &v, 2, 2);
    }
}

static void must_be_false(cs *s, void *ctx) {
    (void)ctx;
    const boolean a = boolean_alloc(s, true);
    (void)boolean_alloc_unless(s, true, a);
}

static void equal_pair(cs *s, void *ctx) {
    const unsigned *codes = ctx;
    const boolean a = operand(s, codes[0]), b = operand(s, codes[1]);
    boolean_enforce_equal(s, a, b);
}

static void equality(void **state) {
    (void)state;
    check_sink s;
    check_init(&s, NULL);
    must_be_false(&s.head, NULL);
    assert_int_equal(s.unsatisfied, 1);
    check_destroy(&s);
    for (unsigned a = 0; a < CODES; a++) {
        for (unsigned b = 0; b < CODES; b++) {
            unsigned codes[2] = {a, b};
            const bool same = (a & 1) == (b & 1), constants = a < 2 && b < 2;
            check_init(&s, NULL);
            equal_pair(&s.head, codes);
            assert_int_equal(s.head.status != CUZK_OK, constants && !same);
            assert_int_equal(s.unsatisfied > 0, !constants && !same);
            check_destroy(&s);
        }
    }
}

static void byte_reversal(void **state) {
    (void)state;
    boolean in[256], out[256];
    for (uint32_t i = 0; i < 256; i++) in[i] = (boolean){WIRE_AUX | i, BOOLEAN_IS, false};
    boolean_reverse_bytes(out, in, 255);
    for (uint32_t i = 0; i < 256; i++) {
        const uint32_t from = i / 8 * 8 + 7 - i % 8;
        if (from == 255) {
            assert_true(boolean_is_constant(out[i]) && !out[i].value);
        } else {
            assert_int_equal(out[i].wire, WIRE_AUX | from);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_on_everything),
        cmocka_unit_test(constants_cost_nothing),
        cmocka_unit_test(an_operand_may_repeat),
        cmocka_unit_test(allocated_bits),
        cmocka_unit_test(equality),
        cmocka_unit_test(byte_reversal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
