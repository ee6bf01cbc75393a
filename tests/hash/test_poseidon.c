// SPDX-License-Identifier: MIT OR Apache-2.0
#include "base/bytes.h"
#include "hash/poseidon.h"
#include "testing.h"

static const uint32_t ARITIES[] = {2, 4, 8, 11};

// The text after `"key":` in a line of JSON.
static const char *field(const char *line, const char *key) {
    char pattern[64];
    snprintf(pattern, sizeof pattern, "\"%s\":", key);
    const char *p = strstr(line, pattern);
    assert_non_null(p);
    return p + strlen(pattern);
}

static void official_vectors(void **state) {
    (void)state;
    FILE *f = fopen("vectors/poseidon.jsonl", "r");
    assert_non_null(f);
    char line[1024];
    int n = 0;
    for (; fgets(line, sizeof line, f) != NULL; n++) {
        const poseidon_params *p = poseidon_params_for((uint32_t)strtoul(field(line, "arity"), NULL, 10));
        assert_non_null(p);
        assert_int_equal(p->partial_rounds, strtoul(field(line, "partial_rounds"), NULL, 10));
        assert_int_equal(POSEIDON_FULL_ROUNDS, strtoul(field(line, "full_rounds"), NULL, 10));
        uint8_t want[32], got[32];
        assert_true(hex_decode(want, 32, field(line, "domain_tag") + 1, 64));
        fr_to_le_bytes(got, &p->domain_tag);
        assert_memory_equal(got, want, 32);
        fr in[11], out;
        for (uint32_t i = 0; i < p->arity; i++) fr_from_u64(&in[i], i + 1);
        assert_true(hex_decode(want, 32, field(line, "hash_le") + 1, 64));
        poseidon_hash(&out, in, p);
        fr_to_le_bytes(got, &out);
        assert_memory_equal(got, want, 32);
        poseidon_hash_reference(&out, in, p);
        fr_to_le_bytes(got, &out);
        assert_memory_equal(got, want, 32);
    }
    fclose(f);
    assert_int_equal(n, 4);
}

static void shapes(void **state) {
    (void)state;
    for (uint32_t arity = 0; arity < 20; arity++) {
        const poseidon_params *p = poseidon_params_for(arity);
        if (arity != 2 && arity != 4 && arity != 8 && arity != 11) {
            assert_null(p);
            continue;
        }
        assert_int_equal(p->arity, arity);
        assert_int_equal(p->width, arity + 1);
        assert_int_equal(p->n_compressed, 8 * p->width + p->partial_rounds);
        assert_ptr_equal(p, poseidon_params_for(arity));
        for (uint32_t i = 0; i < p->width; i++)
            for (uint32_t j = 0; j < p->width; j++) assert_true(fr_eq(&p->mds[i][j], &p->mds[j][i]));
    }
}

static void random_fr(fr *out, test_rng *rng) {
    uint64_t l[4];
    do {
        for (size_t i = 0; i < 4; i++) l[i] = test_edge_u64(rng);
        l[3] >>= 1;
    } while (l[3] >= FR_MODULUS[3]);
    fr_from_limbs(out, l);
}

static void optimised_equals_textbook(void **state) {
    (void)state;
    test_rng rng = test_rng_new("optimised_equals_textbook");
    for (size_t a = 0; a < 4; a++) {
        const poseidon_params *p = poseidon_params_for(ARITIES[a]);
        for (int round = 0; round < 60; round++) {
            fr in[11], fast, slow;
            for (uint32_t i = 0; i < p->arity; i++) {
                random_fr(&in[i], &rng);
                if (test_below(&rng, 4) == 0) fr_neg(&in[i], &in[i]); // near r
            }
            poseidon_hash(&fast, in, p);
            poseidon_hash_reference(&slow, in, p);
            assert_true(fr_eq(&fast, &slow));
            poseidon_hash(&in[0], in, p); // output over an input
            assert_true(fr_eq(&in[0], &slow));
        }
    }
}

// Every input must matter: a changed one changes the digest.
static void inputs_matter(void **state) {
    (void)state;
    for (size_t a = 0; a < 4; a++) {
        const poseidon_params *p = poseidon_params_for(ARITIES[a]);
        fr in[11], base, out;
        for (uint32_t i = 0; i < p->arity; i++) fr_from_u64(&in[i], 7 * i);
        poseidon_hash(&base, in, p);
        for (uint32_t i = 0; i < p->arity; i++) {
            fr keep = in[i];
            fr_add(&in[i], &in[i], &FR_ONE);
            poseidon_hash(&out, in, p);
            assert_false(fr_eq(&out, &base));
            in[i] = keep;
        }
    }
}

static void speed(void **state) {
    (void)state;
    for (size_t a = 0; a < 4; a++) {
        const poseidon_params *p = poseidon_params_for(ARITIES[a]);
        fr in[11];
        for (uint32_t i = 0; i < p->arity; i++) fr_from_u64(&in[i], i);
        struct timespec t0, t1;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
        enum { N = 200 };
        for (int i = 0; i < N; i++) poseidon_hash(&in[0], in, p);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
        print_message("arity %2u: %.2f us a hash\n", p->arity,
                      ((double)(t1.tv_sec - t0.tv_sec) * 1e9 + (double)(t1.tv_nsec - t0.tv_nsec)) / N / 1000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(official_vectors), cmocka_unit_test(shapes), cmocka_unit_test(optimised_equals_textbook),
        cmocka_unit_test(inputs_matter),    cmocka_unit_test(speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
