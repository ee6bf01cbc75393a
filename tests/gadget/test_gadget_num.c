// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gadget_testing.h"

#include "gadget/constants.h"
#include "gadget/num.h"

static void constants(void **state) {
    (void)state;
    fr f;
    fr_neg(&f, &FR_ONE);
    assert_true(fr_eq(&f, &GADGET_MINUS_ONE));
    fr_from_u64(&f, 2);
    assert_true(fr_eq(&f, &GADGET_TWO));
    assert_true(fr_is_one(&GADGET_ONE.coeff));
    assert_int_equal(GADGET_ONE.wire, WIRE_ONE);
    const fr *powers = gadget_powers_of_two();
    for (int i = 0; i < GADGET_POWERS; i++) {
        fr_pow_u64(&f, &GADGET_TWO, (uint64_t)i);
        assert_true(fr_eq(&f, &powers[i]));
    }
}

typedef struct pair {
    fr a, b;
    bool condition;
    num product, square, sum, difference, encoded, decoded, picked;
    boolean bits[FR_BITS], strict[FR_BITS];
    num packed;
} pair;

static void arithmetic(cs *s, void *ctx) {
    pair *p = ctx;
    const num a = num_alloc(s, &p->a), b = num_alloc(s, &p->b);
    p->product = num_mul(s, &a, &b);
    p->square = num_square(s, &a);
    p->sum = num_add(s, &a, &b);
    p->difference = num_sub(s, &a, &b);
    p->encoded = num_encode(s, &a, &b);
    p->decoded = num_decode(s, &a, &p->encoded);
    p->picked = num_pick(s, boolean_alloc(s, p->condition), &a, &b);
    (void)num_pick(s, boolean_not(boolean_alloc(s, p->condition)), &a, &b);
    (void)num_pick(s, boolean_constant(true), &a, &a);
    (void)num_add(s, &a, &a);
    num_inputize(s, &a);
}

static void arithmetic_matches_the_field(void **state) {
    (void)state;
    test_rng r = test_rng_new("num");
    for (int i = 0; i < 100; i++) {
        pair p = {.a = random_fr(&r), .b = random_fr(&r), .condition = test_below(&r, 2) == 0};
        fr t;
        assert_satisfied(arithmetic, &p);
        fr_mul(&t, &p.a, &p.b);
        assert_true(fr_eq(&t, &p.product.value));
        fr_sqr(&t, &p.a);
        assert_true(fr_eq(&t, &p.square.value));
        fr_add(&t, &p.a, &p.b);
        assert_true(fr_eq(&t, &p.sum.value));
        assert_true(fr_eq(&t, &p.encoded.value));
        assert_true(fr_eq(&p.b, &p.decoded.value));
        fr_sub(&t, &p.a, &p.b);
        assert_true(fr_eq(&t, &p.difference.value));
        assert_true(fr_eq(p.condition ? &p.a : &p.b, &p.picked.value));
    }
    // 17 and 23: no value equals another, so every change shows.
    pair p = {.condition = true};
    fr_from_u64(&p.a, 17);
    fr_from_u64(&p.b, 23);
    assert_every_value_matters(arithmetic, &p, 0, 64);
}

static void decompose(cs *s, void *ctx) {
    pair *p = ctx;
    const num a = num_alloc(s, &p->a);
    num_to_bits(s, p->bits, &a);
    num_to_bits_strict(s, p->strict, &a);
    p->packed = num_pack_bits(s, p->bits, FR_CAPACITY);
}

static void bits_spell_the_number(void **state) {
    (void)state;
    test_rng r = test_rng_new("num");
    for (int i = 0; i < 40; i++) {
        pair p = {.a = i == 0 ? GADGET_MINUS_ONE : random_fr(&r)};
        uint64_t limbs[4];
        assert_satisfied(decompose, &p);
        fr_to_limbs(limbs, &p.a);
        for (uint32_t k = 0; k < FR_BITS; k++) {
            assert_int_equal(p.bits[k].value, limbs[k >> 6] >> (k & 63) & 1);
            assert_int_equal(p.strict[k].value, limbs[k >> 6] >> (k & 63) & 1);
        }
        fr t;
        limbs[3] &= UINT64_MAX >> 2;
        fr_from_limbs(&t, limbs);
        assert_true(fr_eq(&t, &p.packed.value));
    }
    pair p = {.a = GADGET_MINUS_ONE};
    assert_every_value_matters(decompose, &p, 0, 100);
}

// Where a + r fits into 255 bits its bits are a second spelling of a: the loose decomposition takes them, the strict
// one does not.

// Replaces the values that bits get: a sink between gadget and check.
typedef struct forging_sink {
    cs head;
    check_sink check;
    uint64_t bits[4];
    uint32_t next;
} forging_sink;

static void forge_alloc(cs *head, wire_kind kind, const fr *value) {
    forging_sink *f = (forging_sink *)head;
    if (kind == WIRE_BIT) {
        const uint32_t i = f->next++;
        value = (f->bits[i >> 6] >> (i & 63) & 1) != 0 ? &FR_ONE : &FR_ZERO;
    }
    cs_alloc(&f->check.head, kind, value);
}
static void forge_alloc_input(cs *head, const fr *value) {
    if (head->n_inputs > 0) cs_alloc_input(&((forging_sink *)head)->check.head, value);
}
static void forge_enforce(cs *head, lc_view a, lc_view b, lc_view c) {
    cs_enforce(&((forging_sink *)head)->check.head, a, b, c);
}
static const cs_ops forge_ops = {.alloc = forge_alloc, .alloc_input = forge_alloc_input, .enforce = forge_enforce};

static void loose_bits_allow_the_other_spelling(void **state) {
    (void)state;
    static forging_sink f;
    boolean bits[FR_BITS];
    fr five;
    check_init(&f.check, NULL);
    fr_from_u64(&five, 5);
    memcpy(f.bits, FR_MODULUS, sizeof f.bits);
    f.bits[0] += 5;
    cs_init(&f.head, &forge_ops, true);
    const num a = num_alloc(&f.head, &five);
    num_to_bits(&f.head, bits, &a);
    assert_int_equal(f.check.unsatisfied, 0);
    check_destroy(&f.check);
}

// The strict decomposition, given the wires' values of a + r: rebuilt by hand, since the gadget gives correct bits.
typedef struct strict_forger {
    cs head;
    check_sink check;
    uint64_t bits[4];
    int32_t next; // bit allocated next, from the top
} strict_forger;

static void strict_alloc(cs *head, wire_kind kind, const fr *value) {
    cs_alloc(&((strict_forger *)head)->check.head, kind, value);
}
// Bits are what is multiplied with (1 - x): overwrite such a wire's value, and that of an AND by its operands.
static void strict_enforce(cs *head, lc_view a, lc_view b, lc_view c) {
    strict_forger *f = (strict_forger *)head;
    fr *aux = f->check.aux.v;
    if (c.n == 0 && b.n == 1) {
        aux[wire_index(b.terms[0].wire)] = (f->bits[f->next >> 6] >> (f->next & 63) & 1) != 0 ? FR_ONE : FR_ZERO;
        f->next--;
    } else if (a.n == 1 && b.n == 1 && c.n == 1) {
        fr_mul(&aux[wire_index(c.terms[0].wire)], &aux[wire_index(a.terms[0].wire)], &aux[wire_index(b.terms[0].wire)]);
    }
    cs_enforce(&f->check.head, a, b, c);
}
static void strict_alloc_input(cs *head, const fr *value) {
    if (head->n_inputs > 0) cs_alloc_input(&((strict_forger *)head)->check.head, value);
}
static const cs_ops strict_ops = {.alloc = strict_alloc, .alloc_input = strict_alloc_input, .enforce = strict_enforce};

static uint64_t strict_failures(const uint64_t bits_of[4], const fr *value) {
    static strict_forger f;
    boolean bits[FR_BITS];
    f = (strict_forger){.next = FR_BITS - 1};
    memcpy(f.bits, bits_of, sizeof f.bits);
    check_init(&f.check, NULL);
    cs_init(&f.head, &strict_ops, true);
    const num a = num_alloc(&f.head, value);
    num_to_bits_strict(&f.head, bits, &a);
    const uint64_t n = f.check.unsatisfied;
    check_destroy(&f.check);
    return n;
}

static void strict_bits_do_not(void **state) {
    (void)state;
    uint64_t bits[4];
    fr value;
    fr_to_limbs(bits, &GADGET_MINUS_ONE);
    assert_int_equal(strict_failures(bits, &GADGET_MINUS_ONE), 0); // r - 1 is allowed
    for (uint64_t k = 0; k < 6; k++) {
        memcpy(bits, FR_MODULUS, sizeof bits); // r + k is not
        bits[0] += k;
        fr_from_u64(&value, k);
        assert_true(strict_failures(bits, &value) > 0);
    }
}

typedef struct insertion {
    uint32_t n_bits, index;
    fr values[8];
    num out[8];
} insertion;

static void insert(cs *s, void *ctx) {
    insertion *t = ctx;
    num others[7];
    boolean bits[3];
    const num element = num_alloc(s, &t->values[0]);
    for (uint32_t i = 0; i < t->n_bits; i++) bits[i] = boolean_alloc(s, (t->index >> i & 1) != 0);
    for (uint32_t i = 0; i + 1 < 1u << t->n_bits; i++) others[i] = num_alloc(s, &t->values[i + 1]);
    num_insert(s, t->out, &element, bits, t->n_bits, others);
}

static void insertion_at_every_place(void **state) {
    (void)state;
    for (uint32_t n_bits = 1; n_bits <= 3; n_bits++) {
        for (uint32_t index = 0; index < 1u << n_bits; index++) {
            insertion t = {.n_bits = n_bits, .index = index};
            for (uint32_t i = 0; i < 8; i++) fr_from_u64(&t.values[i], 100 + i);
            assert_satisfied(insert, &t);
            for (uint32_t i = 0; i < 1u << n_bits; i++) {
                const uint32_t from = i == index ? 0 : i < index ? i + 1 : i;
                assert_true(fr_eq(&t.out[i].value, &t.values[from]));
            }
            assert_every_value_matters(insert, &t, 0, 64);
        }
    }
    insertion t = {.n_bits = 4};
    count_sink s;
    count_init(&s);
    boolean bits[4] = {{0}};
    num_insert(&s.head, t.out, &t.out[0], bits, 4, &t.out[1]);
    assert_int_equal(s.head.status, CUZK_ERR_USAGE);
}

typedef struct packing {
    uint32_t n;
    const boolean *pattern; // kinds and values, allocated anew
} packing;

static void pack(cs *s, void *ctx) {
    const packing *p = ctx;
    static boolean bits[600];
    for (uint32_t i = 0; i < p->n; i++) {
        const boolean b = p->pattern[i];
        bits[i] = b.kind == BOOLEAN_CONSTANT ? b
                  : b.kind == BOOLEAN_IS     ? boolean_alloc(s, b.value)
                                             : boolean_not(boolean_alloc(s, !b.value));
    }
    num_pack_into_inputs(s, bits, p->n);
}

static void packing_into_inputs(void **state) {
    (void)state;
    test_rng r = test_rng_new("num");
    static boolean pattern[600];
    static const uint32_t sizes[] = {0, 1, 64, 253, 254, 255, 508, 600};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        for (uint32_t i = 0; i < 600; i++) {
            pattern[i] = (boolean){0, (uint8_t)test_below(&r, 3), test_below(&r, 2) == 0};
        }
        packing p = {sizes[k], pattern};
        check_sink s;
        check_init(&s, NULL);
        pack(&s.head, &p);
        assert_int_equal(s.unsatisfied, 0);
        assert_int_equal(s.head.n_inputs, 1 + (sizes[k] + 253) / 254);
        for (uint32_t i = 1; i < s.head.n_inputs; i++) {
            uint64_t limbs[4] = {0};
            for (uint32_t j = 0; j < 254 && 254 * (i - 1) + j < sizes[k]; j++) {
                limbs[j >> 6] |= (uint64_t)pattern[254 * (i - 1) + j].value << (j & 63);
            }
            fr want;
            fr_from_limbs(&want, limbs);
            assert_true(fr_eq(&want, &s.inputs.v[i]));
        }
        check_destroy(&s);
    }
}

static void nonzero(cs *s, void *ctx) {
    const num a = num_alloc(s, ctx);
    num_assert_nonzero(s, &a);
}

static void zero_is_noticed(void **state) {
    (void)state;
    fr seven, zero = FR_ZERO;
    fr_from_u64(&seven, 7);
    assert_satisfied(nonzero, &seven);
    assert_every_value_matters(nonzero, &seven, 0, 4);
    check_sink s;
    check_init(&s, NULL);
    nonzero(&s.head, &zero);
    assert_int_equal(s.unsatisfied, 1);
    assert_string_equal(s.first_scope, "/nonzero assertion constraint");
    check_destroy(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants),
        cmocka_unit_test(arithmetic_matches_the_field),
        cmocka_unit_test(bits_spell_the_number),
        cmocka_unit_test(loose_bits_allow_the_other_spelling),
        cmocka_unit_test(strict_bits_do_not),
        cmocka_unit_test(insertion_at_every_place),
        cmocka_unit_test(packing_into_inputs),
        cmocka_unit_test(zero_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
