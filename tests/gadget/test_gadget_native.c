// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Three ways through the same gadgets: the constraint-building code with values, the native code that computes wires in
// words, and templates. All wires are equal, and so is the constraint stream that the program expands to.
#include "gadget_testing.h"

#include "gadget/merkle.h"
#include "gadget/poseidon.h"
#include "gadget/sha256.h"
#include "r1cs/packed.h"
#include "r1cs/program.h"

// A circuit whose shape and values follow from a seed alone; `constants` and `negations` in 16ths.
typedef struct mixed {
    uint64_t seed;
    uint32_t constants, negations, repeats;
} mixed;

static boolean random_bit(cs *s, test_rng *r, const mixed *m, const boolean *before, uint32_t n) {
    const bool v = (test_u64(r) & 1) != 0;
    if (test_below(r, 16) < m->constants) return boolean_constant(v);
    boolean b = n > 0 && test_below(r, 16) < m->repeats ? before[test_below(r, n)] : boolean_alloc(s, v);
    return test_below(r, 16) < m->negations ? boolean_not(b) : b;
}

// Without values a boolean's own value must not steer anything: the generator is used the same number of times.
static void blocks(cs *s, void *ctx) {
    const mixed *m = ctx;
    static sha256_gadget h;
    static boolean bits[1024];
    boolean digest[256];
    test_rng r = {m->seed};
    for (uint32_t i = 0; i < 1024; i++) bits[i] = random_bit(s, &r, m, bits, i);
    for (int i = 0; i < 2; i++) { // the second time from templates
        sha256_gadget_begin(&h, s);
        // A state that is not the constant one from the beginning.
        for (uint32_t k = 0; k < 256; k++)
            h.state[k / 32].bits[k % 32] = k % 64 < 20 ? bits[k] : h.state[k / 32].bits[k % 32];
        sha256_gadget_put(&h, bits, 1024);
        sha256_gadget_end(&h, digest);
    }
    (void)num_pack_bits(s, digest, FR_CAPACITY);
}

static void numbers(cs *s, void *ctx) {
    const mixed *m = ctx;
    test_rng r = {m->seed};
    static const uint32_t arities[4] = {2, 4, 8, 11};
    num in[11];
    boolean bits[FR_BITS];
    for (int i = 0; i < 11; i++) {
        const fr v = random_fr(&r);
        in[i] = num_alloc(s, &v);
    }
    in[5] = in[2];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 4; i++) in[i] = poseidon_gadget(s, in, arities[i]);
        num_to_bits(s, bits, &in[0]);
        for (uint32_t i = 0; i < FR_BITS; i += 3) bits[i] = boolean_not(bits[i]);
        in[6] = num_pack_bits(s, bits, FR_CAPACITY);
        num_to_bits_strict(s, bits, &in[1]);
        num_pack_into_inputs(s, bits, FR_BITS);
        in[7] = merkle_sha256_pair(s, in + 6);
        for (int sha = 0; sha < 2; sha++) {
            const merkle_shape shape =
                sha != 0 ? (merkle_shape){MERKLE_SHA256, 2, 2, 0, 0} : (merkle_shape){MERKLE_POSEIDON, 8, 2, 4, 2};
            fr siblings[4][7];
            merkle_values steps[4];
            for (int k = 0; k < 4; k++) {
                for (int j = 0; j < 7; j++) siblings[k][j] = random_fr(&r);
                steps[k] = (merkle_values){(uint32_t)test_below(&r, 2), siblings[k]};
            }
            // The root is another number: the row does not hold, and nobody asks here.
            merkle_enforce_inclusion(s, &shape, &in[3], s->has_values ? steps : NULL, &in[4]);
        }
    }
}

static void compare(small_circuit run, void *ctx) {
    check_sink slow;
    packed_sink fast;
    digest_sink direct, expanded;
    packed_witness *w = NULL;
    program *p = NULL;
    program_builder *b = NULL;
    cuzk_error err;

    check_init(&slow, NULL);
    run(&slow.head, ctx);
    assert_int_equal(slow.head.status, CUZK_OK);
    packed_sink_init(&fast, 0, 0, 0);
    run(&fast.head, ctx);
    assert_int_equal(packed_sink_finish(&w, &fast, &err), CUZK_OK);
    assert_int_equal(w->n_inputs, slow.head.n_inputs);
    assert_int_equal(w->n_aux, slow.head.n_aux);
    for (uint32_t i = 0; i < w->n_inputs; i++) assert_true(fr_eq(&w->inputs[i], &slow.inputs.v[i]));
    for (uint32_t i = 0; i < w->n_aux; i++) {
        fr v;
        packed_value(&v, w, WIRE_AUX | i);
        if (!fr_eq(&v, &slow.aux.v[i])) fail_msg("aux wire %u of %u differs", i, w->n_aux);
    }

    digest_init(&direct, NULL);
    run(&direct.head, ctx);
    assert_int_equal(program_builder_create(&b, NULL, &err), CUZK_OK);
    run(program_builder_sink(b), ctx);
    assert_int_equal(program_builder_finish(&p, &b, &err), CUZK_OK);
    digest_init(&expanded, NULL);
    program_expand(p, &expanded.head);
    uint8_t want[32], got[32];
    digest_so_far(want, &direct);
    digest_so_far(got, &expanded);
    assert_memory_equal(got, want, 32);
    program_counts n;
    program_count(&n, p);
    assert_int_equal(n.inputs, w->n_inputs);
    assert_int_equal(n.aux, w->n_aux);
    assert_int_equal(n.fields, w->n_fields);

    digest_destroy(&direct);
    digest_destroy(&expanded);
    program_destroy(&p);
    packed_destroy(&w);
    check_destroy(&slow);
}

static void sha256_blocks_of_all_sorts_of_bits(void **state) {
    (void)state;
    test_rng r = test_rng_new("native");
    static const uint32_t mixes[][3] = {{0, 0, 0}, {16, 0, 0}, {0, 16, 0}, {8, 8, 0},
                                        {4, 4, 4}, {1, 1, 15}, {15, 8, 0}};
    for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++) {
        mixed m = {test_u64(&r), mixes[i][0], mixes[i][1], mixes[i][2]};
        compare(blocks, &m);
    }
}

static void numbers_hashes_and_paths(void **state) {
    (void)state;
    test_rng r = test_rng_new("numbers");
    for (int i = 0; i < 4; i++) {
        mixed m = {.seed = test_u64(&r)};
        compare(numbers, &m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_blocks_of_all_sorts_of_bits),
        cmocka_unit_test(numbers_hashes_and_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
