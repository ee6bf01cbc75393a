// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Toys for the engine: by a program, and by the reference way, the same proof, byte for byte.
#include "testing.h"

#include "api/provider_toy.h"
#include "base/bytes.h"
#include "groth16/verify.h"

enum { SHAPES = 4, PARTITIONS = 3 };
static const uint32_t ROWS[SHAPES] = {8, 64, 1024, 2500};

// What an observer saw of a synthesis.
typedef struct stages {
    unsigned built, loaded;
} stages;
static void note(void *ctx, const char *stage) {
    stages *s = ctx;
    s->built += strcmp(stage, "pce") == 0;
    s->loaded += strcmp(stage, "pce_load") == 0;
}

static groth16_proof prove(const provider *p, const groth16_pk *pk, const void *request, uint32_t partition,
                           stages *seen) {
    const observer obs = {.stage_begin = note, .ctx = seen};
    groth16_assignment *a = NULL;
    groth16_blinding b;
    groth16_proof proof;
    cuzk_error err;
    groth16_blinding_from_label(&b, "toy", partition);
    assert_int_equal(p->ops->synthesize(p, &a, request, partition, &obs, &err), CUZK_OK);
    assert_int_equal(groth16_prove(&proof, pk, a, &b, NULL, &obs, &err), CUZK_OK);
    groth16_assignment_destroy(&a);
    return proof;
}

static void either_way_the_same_proof(void **state) {
    (void)state;
    cuzk_error err;
    pce_cache *programs = NULL;
    assert_int_equal(pce_cache_create(&programs, NULL, &err), CUZK_OK);
    for (size_t i = 0; i < SHAPES; i++) {
        const toy_shape shape = {ROWS[i], PARTITIONS};
        provider *fast = NULL, *slow = NULL;
        assert_int_equal(provider_toy_create(&fast, "toy", &shape, "label", programs, &err), CUZK_OK);
        assert_int_equal(provider_toy_create(&slow, "toy", &shape, "label", NULL, &err), CUZK_OK);
        uint8_t input[TOY_INPUT_BYTES];
        store_le64(input, UINT64_C(0x0123456789abcdef) * (i + 1));
        provider_plan plan, reference;
        void *request = NULL, *same = NULL;
        groth16_pk *pk = NULL;
        assert_int_equal(fast->ops->bind(fast, &request, &plan, input, sizeof input, &err), CUZK_OK);
        assert_int_equal(slow->ops->bind(slow, &same, &reference, input, sizeof input, &err), CUZK_OK);
        assert_true(plan.key == reference.key && plan.partitions == PARTITIONS);
        assert_int_equal(fast->ops->load_key(fast, &pk, plan.key, NULL, NULL, &err), CUZK_OK);
        stages seen = {0}, unseen = {0};
        for (uint32_t k = 0; k < PARTITIONS; k++) {
            const groth16_proof want = prove(slow, pk, same, k, &unseen), got = prove(fast, pk, request, k, &seen);
            assert_memory_equal(&got, &want, sizeof got);
            fr public_input;
            fast->ops->public_inputs(fast, &public_input, request, k);
            assert_int_equal(groth16_verify(&pk->vk, &got, &public_input, 1, &err), CUZK_OK);
        }
        assert_int_equal(seen.built, 1); // once for all partitions
        assert_int_equal(seen.loaded + unseen.built + unseen.loaded, 0);
        groth16_pk_destroy(&pk);
        fast->ops->release(fast, request);
        slow->ops->release(slow, same);
        provider_toy_destroy(&fast);
        provider_toy_destroy(&slow);
    }
    pce_cache_destroy(&programs);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(either_way_the_same_proof)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
