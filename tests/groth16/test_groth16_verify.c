// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The verifier and verifying keys against the official implementation: its keys load and are written back byte for
// byte, its proofs verify, and nothing near them does.
#include "testing.h"

#include <glob.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"
#include "groth16/verify.h"

static const char POREP_VK[] = "vectors/vk/v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-"
                               "sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f.vk";

enum { MAX_PARTITIONS = 16, MAX_INPUTS = 64 };

// What a golden.json says of each partition, cut out of the text without a JSON parser.
typedef struct golden {
    uint32_t partitions, inputs; // inputs without the constant one
    fr input[MAX_PARTITIONS][MAX_INPUTS];
    uint8_t proof[MAX_PARTITIONS][GROTH16_PROOF_BYTES];
} golden;

static void golden_read(golden *g, const char *name) {
    char path[256];
    uint8_t *data;
    size_t len;
    snprintf(path, sizeof path, "vectors/cases/%s/golden.json", name);
    assert_int_equal(file_read_all(&data, &len, path, 1 << 24, 0), CUZK_OK);
    char *text = malloc(len + 1);
    assert_non_null(text);
    memcpy(text, data, len);
    text[len] = 0;
    mem_free(data);

    memset(g, 0, sizeof *g);
    for (const char *at = text; (at = strstr(at, "\"public_inputs\":[")) != 0;) {
        const char *end = strchr(at, ']');
        uint32_t n = 0;
        at += strlen("\"public_inputs\":[");
        for (; at < end; at += 67, n++) { // "64 digits",
            uint8_t bytes[32];
            fr value;
            assert_true(hex_decode(bytes, 32, at + 1, 64));
            assert_true(fr_from_le_bytes(&value, bytes));
            if (n == 0)
                assert_true(fr_is_one(&value));
            else
                g->input[g->partitions][n - 1] = value;
        }
        g->inputs = n - 1;
        g->partitions++;
    }
    const char *proof = strstr(text, "\"proof\":\"");
    assert_non_null(proof);
    proof += strlen("\"proof\":\"");
    assert_int_equal(strchr(proof, '"') - proof, (long)g->partitions * 2 * GROTH16_PROOF_BYTES);
    for (uint32_t k = 0; k < g->partitions; k++)
        assert_true(hex_decode(g->proof[k], GROTH16_PROOF_BYTES, proof + (size_t)k * 2 * GROTH16_PROOF_BYTES,
                               2 * GROTH16_PROOF_BYTES));
    free(text);
}

static golden g; // too large for the stack

static void test_golden_proofs_verify(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t partitions;
    } cases[] = {
        {"porep-2k-a", 1}, {"porep-2k-zero", 1}, {"porep-2k-synth", 1}, {"porep-2k-v10", 1}, {"porep-2k-ni", 13}};
    groth16_vk *vk;
    cuzk_error err;
    assert_int_equal(groth16_vk_load(&vk, POREP_VK, &err), CUZK_OK);
    assert_int_equal(vk->n_ic, 40);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        golden_read(&g, cases[i].name);
        assert_int_equal(g.partitions, cases[i].partitions);
        for (uint32_t k = 0; k < g.partitions; k++) {
            groth16_proof proof;
            uint8_t again[GROTH16_PROOF_BYTES];
            assert_int_equal(groth16_proof_decode(&proof, g.proof[k], &err), CUZK_OK);
            groth16_proof_encode(again, &proof);
            assert_memory_equal(again, g.proof[k], sizeof again);
            assert_int_equal(groth16_verify(vk, &proof, g.input[k], g.inputs, &err), CUZK_OK);
        }
    }
    // Partitions are bound to their own inputs.
    groth16_proof proof;
    assert_int_equal(groth16_proof_decode(&proof, g.proof[0], &err), CUZK_OK);
    assert_int_equal(groth16_verify(vk, &proof, g.input[1], g.inputs, &err), CUZK_ERR_INVALID);
    groth16_vk_destroy(&vk);
    assert_null(vk);
    groth16_vk_destroy(&vk);
}

static void test_changed_statements_do_not(void **state) {
    (void)state;
    groth16_vk *vk;
    cuzk_error err;
    groth16_proof proof;
    assert_int_equal(groth16_vk_load(&vk, POREP_VK, &err), CUZK_OK);
    golden_read(&g, "porep-2k-a");
    assert_int_equal(groth16_proof_decode(&proof, g.proof[0], &err), CUZK_OK);
    static const uint32_t places[] = {0, 1, 17, 38};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        fr *x = &g.input[0][places[i]], kept = *x;
        fr_add(x, x, &FR_ONE);
        assert_int_equal(groth16_verify(vk, &proof, g.input[0], g.inputs, &err), CUZK_ERR_INVALID);
        *x = kept;
    }
    // The number of inputs is part of the statement: fewer, more, none, and one that wraps.
    assert_int_equal(groth16_verify(vk, &proof, g.input[0], g.inputs - 1, &err), CUZK_ERR_MISMATCH);
    assert_non_null(strstr(err.text, "39"));
    assert_non_null(strstr(err.text, "38"));
    assert_int_equal(groth16_verify(vk, &proof, g.input[0], g.inputs + 1, &err), CUZK_ERR_MISMATCH);
    assert_int_equal(groth16_verify(vk, &proof, g.input[0], 0, &err), CUZK_ERR_MISMATCH);
    assert_int_equal(groth16_verify(vk, &proof, g.input[0], UINT32_MAX, &err), CUZK_ERR_MISMATCH);

    groth16_proof other = proof;
    g1_affine_neg(&other.a, &proof.a);
    assert_int_equal(groth16_verify(vk, &other, g.input[0], g.inputs, &err), CUZK_ERR_INVALID);
    other = proof, other.c = proof.a;
    assert_int_equal(groth16_verify(vk, &other, g.input[0], g.inputs, &err), CUZK_ERR_INVALID);
    other = proof, other.a = (g1_affine){.x = FP_ZERO, .y = FP_ZERO};
    assert_int_equal(groth16_verify(vk, &other, g.input[0], g.inputs, &err), CUZK_ERR_INVALID);
    other = proof, memset(&other.b, 0, sizeof other.b);
    assert_int_equal(groth16_verify(vk, &other, g.input[0], g.inputs, &err), CUZK_ERR_INVALID);

    // Each part of the key counts.
    groth16_vk changed = *vk;
    changed.gamma_g2 = vk->delta_g2, changed.delta_g2 = vk->gamma_g2;
    assert_int_equal(groth16_verify(&changed, &proof, g.input[0], g.inputs, &err), CUZK_ERR_INVALID);
    changed = *vk, changed.alpha_g1 = vk->beta_g1;
    assert_int_equal(groth16_verify(&changed, &proof, g.input[0], g.inputs, &err), CUZK_ERR_INVALID);
    changed = *vk, changed.beta_g2 = vk->delta_g2;
    assert_int_equal(groth16_verify(&changed, &proof, g.input[0], g.inputs, &err), CUZK_ERR_INVALID);
    groth16_vk_destroy(&vk);
}

// A proof with one bit changed is refused when decoded (mostly: the x has no y, or the point is outside the subgroup)
// or, where only the sign of y changed, by the pairing.
static void test_every_flipped_byte_fails(void **state) {
    (void)state;
    test_rng rng = test_rng_new("flipped bytes");
    groth16_vk *vk;
    cuzk_error err;
    assert_int_equal(groth16_vk_load(&vk, POREP_VK, &err), CUZK_OK);
    golden_read(&g, "porep-2k-a");
    for (size_t i = 0; i < GROTH16_PROOF_BYTES; i++) {
        uint8_t bytes[GROTH16_PROOF_BYTES];
        groth16_proof proof;
        memcpy(bytes, g.proof[0], sizeof bytes);
        // The flag bytes get all of their bits tried below.
        bytes[i] ^= (uint8_t)(1 << test_below(&rng, 8));
        if (groth16_proof_decode(&proof, bytes, &err) == CUZK_OK)
            assert_int_equal(groth16_verify(vk, &proof, g.input[0], g.inputs, &err), CUZK_ERR_INVALID);
    }
    static const size_t flags[] = {0, 48, 144};
    static const char names[] = {'a', 'b', 'c'};
    for (size_t i = 0; i < 3; i++)
        for (int bit = 5; bit < 8; bit++) {
            uint8_t bytes[GROTH16_PROOF_BYTES];
            groth16_proof proof;
            memcpy(bytes, g.proof[0], sizeof bytes);
            bytes[flags[i]] ^= (uint8_t)(1 << bit);
            cuzk_status status = groth16_proof_decode(&proof, bytes, &err);
            if (bit == 5) {
                assert_int_equal(status, CUZK_OK);
                assert_int_equal(groth16_verify(vk, &proof, g.input[0], g.inputs, &err), CUZK_ERR_INVALID);
            } else {
                char name[32];
                assert_int_equal(status, CUZK_ERR_FORMAT);
                snprintf(name, sizeof name, "proof point %c at byte %zu", names[i], flags[i]);
                assert_non_null(strstr(err.text, name));
            }
        }
    // Infinity, canonically encoded, in each place.
    for (size_t i = 0; i < 3; i++) {
        uint8_t bytes[GROTH16_PROOF_BYTES];
        groth16_proof proof;
        memcpy(bytes, g.proof[0], sizeof bytes);
        memset(bytes + flags[i], 0, i == 1 ? 96 : 48);
        bytes[flags[i]] = 0xc0;
        assert_int_equal(groth16_proof_decode(&proof, bytes, &err), CUZK_ERR_FORMAT);
        assert_non_null(strstr(err.text, "infinity"));
    }
    groth16_vk_destroy(&vk);
}

static void test_keys_are_written_back(void **state) {
    (void)state;
    glob_t found;
    char path[] = "/tmp/cuzk-test-vk-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(glob("vectors/vk/*.vk", 0, 0, &found), 0);
    assert_true(found.gl_pathc >= 4);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        groth16_vk *vk;
        cuzk_error err;
        uint8_t *a, *b;
        size_t a_len, b_len;
        assert_int_equal(groth16_vk_load(&vk, found.gl_pathv[i], &err), CUZK_OK);
        assert_int_equal(groth16_vk_save(vk, path, &err), CUZK_OK);
        groth16_vk_destroy(&vk);
        assert_int_equal(file_read_all(&a, &a_len, found.gl_pathv[i], 1 << 24, 0), CUZK_OK);
        assert_int_equal(file_read_all(&b, &b_len, path, 1 << 24, 0), CUZK_OK);
        assert_int_equal(a_len, b_len);
        assert_memory_equal(a, b, a_len);
        mem_free(a);
        mem_free(b);
    }
    globfree(&found);
    unlink(path);
}

static void test_another_circuits_key(void **state) {
    (void)state;
    glob_t found;
    golden_read(&g, "porep-2k-a");
    groth16_proof proof;
    cuzk_error err;
    assert_int_equal(groth16_proof_decode(&proof, g.proof[0], &err), CUZK_OK);
    assert_int_equal(glob("vectors/vk/*.vk", 0, 0, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        groth16_vk *vk;
        if (strcmp(found.gl_pathv[i], POREP_VK) == 0) continue;
        assert_int_equal(groth16_vk_load(&vk, found.gl_pathv[i], &err), CUZK_OK);
        assert_int_equal(groth16_verify(vk, &proof, g.input[0], g.inputs, &err), CUZK_ERR_MISMATCH);
        // With as many inputs as the key wants, it still must not verify.
        if (vk->n_ic - 1 <= MAX_INPUTS)
            assert_int_equal(groth16_verify(vk, &proof, g.input[0], vk->n_ic - 1, &err), CUZK_ERR_INVALID);
        groth16_vk_destroy(&vk);
    }
    globfree(&found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_golden_proofs_verify),     cmocka_unit_test(test_changed_statements_do_not),
        cmocka_unit_test(test_every_flipped_byte_fails), cmocka_unit_test(test_keys_are_written_back),
        cmocka_unit_test(test_another_circuits_key),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
