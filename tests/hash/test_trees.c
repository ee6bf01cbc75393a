// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The hashes against a sealed 2 KiB sector: its data tree (SHA-256 cut to 254 bits), column tree and replica tree
// (Poseidon, arity 8), and its commitments. A tree file holds the leaves, then each row above, the root last.
#include "base/bytes.h"
#include "hash/poseidon.h"
#include "hash/sha256.h"
#include "testing.h"

enum { NODES = 64 };

static const char *CASES[] = {"porep-2k-a", "porep-2k-v10", "porep-2k-synth", "porep-2k-ni", "porep-2k-zero"};

static void read_exact(uint8_t *out, size_t len, const char *name, const char *file) {
    char path[256];
    snprintf(path, sizeof path, "vectors/cases/%s/%s", name, file);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    assert_int_equal(fread(out, 1, len, f), len);
    assert_int_equal(fgetc(f), EOF);
    fclose(f);
}

static void data_trees(void **state) {
    (void)state;
    for (size_t c = 0; c < 5; c++) {
        uint8_t tree[(2 * NODES - 1) * 32], staged[NODES * 32];
        read_exact(tree, sizeof tree, CASES[c], "cache/sc-02-data-tree-d.dat");
        read_exact(staged, sizeof staged, CASES[c], "staged");
        assert_memory_equal(tree, staged, sizeof staged);
        uint8_t *row = tree, *parent = tree + NODES * 32;
        for (size_t n = NODES; n > 1; n /= 2) {
            for (size_t i = 0; i < n / 2; i++, parent += 32) {
                uint8_t digest[32];
                sha256_digest(digest, row + 64 * i, 64);
                digest[31] &= 0x3f;
                assert_memory_equal(digest, parent, 32);
            }
            row += 32 * n;
        }
        assert_ptr_equal(parent, tree + sizeof tree);
    }
}

static void replica_trees(void **state) {
    (void)state;
    const poseidon_params *p2 = poseidon_params_for(2), *p8 = poseidon_params_for(8);
    for (size_t c = 0; c < 5; c++) {
        uint8_t layer[2][NODES * 32], tree_c[73 * 32], sealed[NODES * 32], p_aux[64], tree_r[32], bytes[32];
        read_exact(layer[0], sizeof layer[0], CASES[c], "cache/sc-02-data-layer-1.dat");
        read_exact(layer[1], sizeof layer[1], CASES[c], "cache/sc-02-data-layer-2.dat");
        read_exact(tree_c, sizeof tree_c, CASES[c], "cache/sc-02-data-tree-c.dat");
        read_exact(tree_r, sizeof tree_r, CASES[c], "cache/sc-02-data-tree-r-last.dat");
        read_exact(sealed, sizeof sealed, CASES[c], "sealed");
        read_exact(p_aux, sizeof p_aux, CASES[c], "cache/p_aux"); // comm_c, comm_r_last
        fr rows[2][NODES];                                        // leaves of trees C and R
        for (size_t i = 0; i < NODES; i++) {
            fr column[2];
            for (size_t l = 0; l < 2; l++) assert_true(fr_from_le_bytes(&column[l], layer[l] + 32 * i));
            poseidon_hash(&rows[0][i], column, p2);
            fr_to_le_bytes(bytes, &rows[0][i]);
            assert_memory_equal(bytes, tree_c + 32 * i, 32);
            assert_true(fr_from_le_bytes(&rows[1][i], sealed + 32 * i));
        }
        for (size_t t = 0; t < 2; t++) {
            fr up[8], root;
            for (size_t i = 0; i < 8; i++) {
                poseidon_hash(&up[i], rows[t] + 8 * i, p8);
                fr_to_le_bytes(bytes, &up[i]);
                if (t == 0) assert_memory_equal(bytes, tree_c + 32 * (NODES + i), 32);
            }
            poseidon_hash(&root, up, p8);
            fr_to_le_bytes(bytes, &root);
            assert_memory_equal(bytes, t == 0 ? tree_c + 32 * 72 : tree_r, 32);
            assert_memory_equal(bytes, p_aux + 32 * t, 32);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(data_trees), cmocka_unit_test(replica_trees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
