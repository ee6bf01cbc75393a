// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Hash gadgets against the plain functions. Constraint counts are those the public implementation's tests state
// (bellperson sha256.rs: 44,874 for 512 bits; neptune circuit.rs: 311, 377 and 505; storage-proofs-porep hash.rs: 598).
#include "gadget_testing.h"

#include "gadget/merkle.h"
#include "gadget/poseidon.h"
#include "gadget/sha256.h"
#include "hash/poseidon.h"
#include "hash/sha256.h"

typedef struct message {
    size_t len, constant_bytes; // the first bytes may be constants
    uint8_t bytes[256], digest[32];
} message;

static void sha(cs *s, void *ctx) {
    message *m = ctx;
    static sha256_gadget h;
    static boolean bits[2048];
    boolean digest[256];
    for (size_t i = 0; i < 8 * m->len; i++) {
        const bool v = (m->bytes[i / 8] >> (7 - i % 8) & 1) != 0;
        bits[i] = i < 8 * m->constant_bytes ? boolean_constant(v) : boolean_alloc(s, v);
    }
    sha256_gadget_digest(&h, s, digest, bits, 8 * m->len);
    memset(m->digest, 0, 32);
    for (size_t i = 0; i < 256; i++) m->digest[i / 8] |= (uint8_t)(digest[i].value << (7 - i % 8));
}

static void sha256_of_all_sorts_of_lengths(void **state) {
    (void)state;
    test_rng r = test_rng_new("hash");
    static const size_t lengths[] = {0, 1, 31, 32, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 200};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        for (int constants = 0; constants < 2; constants++) {
            message m = {.len = lengths[k]};
            m.constant_bytes = constants == 0 ? 0 : test_below(&r, m.len + 1);
            for (size_t i = 0; i < m.len; i++) m.bytes[i] = (uint8_t)test_u64(&r);
            assert_satisfied(sha, &m);
            uint8_t want[32];
            sha256_digest(want, m.bytes, m.len);
            assert_memory_equal(m.digest, want, 32);
        }
    }
    message all_constant = {.len = 64, .constant_bytes = 64};
    assert_int_equal(assert_satisfied(sha, &all_constant), 0);
    message m = {.len = 40};
    assert_every_value_matters(sha, &m, 0, 24);
}

static void sha_block(cs *s, void *ctx) {
    message m = {.len = 64};
    (void)ctx;
    sha(s, &m);
}

static void sha256_size(void **state) {
    (void)state;
    count_sink s;
    count_init(&s);
    sha_block(&s.head, NULL);
    assert_int_equal(s.head.n_constraints, 512 + 44874);
    assert_digest(sha_block, NULL, "f5b5706d8fa6fb52f0a955d46584996bfd764719311ea41c50859b3bdc74cfc5");
}

typedef struct sponge {
    uint32_t arity;
    fr in[11];
    num out;
} sponge;

static void poseidon(cs *s, void *ctx) {
    sponge *p = ctx;
    num in[11];
    for (uint32_t i = 0; i < p->arity; i++) in[i] = num_alloc(s, &p->in[i]);
    p->out = poseidon_gadget(s, in, p->arity);
}

static void poseidon_of_every_arity(void **state) {
    (void)state;
    test_rng r = test_rng_new("hash");
    static const uint32_t arities[4] = {2, 4, 8, 11};
    static const char *const digests[4] = {"71fa790fd33fd267e3002e8fed28d8f9b1e6aefe0b4994a2e46cab8c809197ca",
                                           "c5c6a28e715b41fc005b37fea7f3721845d9d175b222e2b5109a143222785ee1",
                                           "abf8140effeb85d15db49791e6e124ea381c0ae803ba12916e698c3e346f7101",
                                           "abfc656ea1ec5d17711882344003308a804aed7034d4c439dfb2c43c12f5fa81"};
    static const uint64_t sizes[4] = {311, 377, 505, 598};
    for (int k = 0; k < 4; k++) {
        sponge p = {.arity = arities[k]};
        for (int round = 0; round < 5; round++) {
            for (uint32_t i = 0; i < p.arity; i++) p.in[i] = random_fr(&r);
            assert_int_equal(assert_satisfied(poseidon, &p), sizes[k]);
            fr want;
            poseidon_hash(&want, p.in, poseidon_params_for(p.arity));
            assert_true(fr_eq(&want, &p.out.value));
        }
        assert_every_value_matters(poseidon, &p, 0, 60);
        assert_digest(poseidon, &p, digests[k]);
    }
    sponge p = {.arity = 3};
    count_sink s;
    count_init(&s);
    poseidon(&s.head, &p);
    assert_int_equal(s.head.status, CUZK_ERR_USAGE);
}

typedef struct path {
    merkle_shape shape;
    uint64_t index;
    fr leaf, siblings[8][7], root;
} path;

static void include(cs *s, void *ctx) {
    const path *p = ctx;
    merkle_values steps[8];
    uint64_t index = p->index;
    for (uint32_t i = 0; i < merkle_shape_steps(&p->shape); i++) {
        const uint32_t arity = merkle_shape_arity(&p->shape, i);
        steps[i] = (merkle_values){(uint32_t)(index % arity), p->siblings[i]};
        index /= arity;
    }
    const num leaf = num_alloc(s, &p->leaf), root = num_alloc(s, &p->root);
    merkle_enforce_inclusion(s, &p->shape, &leaf, s->has_values ? steps : NULL, &root);
}

// The root by plain functions.
static void climb(path *p) {
    fr node = p->leaf;
    uint64_t index = p->index;
    for (uint32_t i = 0; i < merkle_shape_steps(&p->shape); i++) {
        const uint32_t arity = merkle_shape_arity(&p->shape, i), at = (uint32_t)(index % arity);
        fr all[8];
        for (uint32_t k = 0, from = 0; k < arity; k++) all[k] = k == at ? node : p->siblings[i][from++];
        if (p->shape.hash == MERKLE_POSEIDON) {
            poseidon_hash(&node, all, poseidon_params_for(arity));
        } else {
            uint8_t pair[64], digest[32];
            fr_to_le_bytes(pair, &all[0]);
            fr_to_le_bytes(pair + 32, &all[1]);
            sha256_digest(digest, pair, 64);
            digest[31] &= 0x3f;
            assert_true(fr_from_le_bytes(&node, digest));
        }
        index /= arity;
    }
    p->root = node;
}

static void merkle_paths(void **state) {
    (void)state;
    test_rng r = test_rng_new("hash");
    static const merkle_shape shapes[] = {
        {MERKLE_SHA256, 2, 3, 0, 0},   {MERKLE_POSEIDON, 8, 2, 0, 0}, {MERKLE_POSEIDON, 8, 1, 2, 0},
        {MERKLE_POSEIDON, 8, 2, 8, 2}, {MERKLE_POSEIDON, 4, 2, 0, 0}, {MERKLE_POSEIDON, 2, 1, 4, 8},
    };
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const uint32_t bits = merkle_shape_bits(&shapes[k]);
        for (int round = 0; round < 4; round++) {
            path p = {.shape = shapes[k], .index = test_below(&r, UINT64_C(1) << bits), .leaf = random_fr(&r)};
            for (uint32_t i = 0; i < 8; i++) {
                for (uint32_t j = 0; j < 7; j++) p.siblings[i][j] = random_fr(&r);
            }
            climb(&p);
            check_sink s;
            check_init(&s, NULL);
            include(&s.head, &p);
            assert_int_equal(s.unsatisfied, 0);
            assert_int_equal(s.head.n_inputs, 2);
            fr index;
            fr_from_u64(&index, p.index);
            assert_true(fr_eq(&s.inputs.v[1], &index)); // the place is public
            check_destroy(&s);
            // Another root, or another place, is noticed.
            fr_add(&p.root, &p.root, &FR_ONE);
            check_init(&s, NULL);
            include(&s.head, &p);
            assert_int_equal(s.unsatisfied, 1);
            assert_string_equal(s.first_scope, "/enforce root is correct");
            check_destroy(&s);
            if (round == 0) {
                climb(&p);
                assert_every_value_matters(include, &p, 0, 12);
            }
        }
    }
}

static void trees_that_are_not_supported(void **state) {
    (void)state;
    static const merkle_shape shapes[] = {
        {MERKLE_SHA256, 8, 1, 0, 0}, {MERKLE_POSEIDON, 3, 1, 0, 0}, {MERKLE_SHA256, 2, 65, 0, 0}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        count_sink s;
        count_init(&s);
        const num n = num_alloc(&s.head, NULL);
        merkle_enforce_inclusion(&s.head, &shapes[k], &n, NULL, &n);
        assert_int_equal(s.head.status, CUZK_ERR_USAGE);
    }
    check_sink s;
    check_init(&s, NULL);
    const num n = num_alloc(&s.head, &FR_ONE);
    merkle_enforce_inclusion(&s.head, &(merkle_shape){MERKLE_POSEIDON, 8, 1, 0, 0}, &n, NULL, &n);
    assert_int_equal(s.head.status, CUZK_ERR_USAGE);
    check_destroy(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sha256_of_all_sorts_of_lengths), cmocka_unit_test(sha256_size),
        cmocka_unit_test(poseidon_of_every_arity),        cmocka_unit_test(merkle_paths),
        cmocka_unit_test(trees_that_are_not_supported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
