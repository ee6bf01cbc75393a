// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Sector sizes, trees and registered proofs. Facts: filecoin-proofs (constants.rs, parameters.rs) and
// filecoin-proofs-api (registry.rs), version 19.1.
#include "circuit/porep/shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "hash/sha256.h"

const uint64_t POREP_SECTOR_SIZES[] = {UINT64_C(1) << 11,
                                       UINT64_C(1) << 12,
                                       UINT64_C(1) << 14,
                                       UINT64_C(1) << 15,
                                       UINT64_C(1) << 23,
                                       UINT64_C(1) << 24,
                                       UINT64_C(1) << 29,
                                       UINT64_C(1) << 30,
                                       UINT64_C(1) << 35,
                                       UINT64_C(1) << 36,
                                       0};

// In the order of POREP_SECTOR_SIZES. The shapes repeat with base, 2, 8, 8+2 trees on top of the base trees.
static const struct size_row {
    const char *name;
    uint8_t sub_arity, top_arity;
    uint8_t big;       // production: 11 layers, 18 challenges a partition
    int8_t registered; // place among the registered sizes, -1 if there is no registered proof of this size
} SIZES[] = {
    {"2KiB", 0, 0, 0, 0},  {"4KiB", 2, 0, 0, -1},  {"16KiB", 8, 0, 0, -1}, {"32KiB", 8, 2, 0, -1},
    {"8MiB", 0, 0, 0, 1},  {"16MiB", 2, 0, 0, -1}, {"512MiB", 0, 0, 0, 2}, {"1GiB", 2, 0, 0, -1},
    {"32GiB", 8, 0, 1, 3}, {"64GiB", 8, 2, 1, 4},
};
enum { N_SIZES = sizeof SIZES / sizeof *SIZES, N_REGISTERED = 5, N_FAMILIES = 4, FAMILY_1_1 = 1 };

static const char SIZES_TEXT[] = "2KiB, 4KiB, 16KiB, 32KiB, 8MiB, 16MiB, 512MiB, 1GiB, 32GiB or 64GiB";

// Registered proofs come in families over the five registered sizes; number = 5 * family + place of the size. The
// synthetic family was named 1.1 before it was published as a feature of API 1.2.
static const struct family {
    porep_api api;
    porep_challenge_kind kind;
    const char *names[N_REGISTERED];
} FAMILIES[N_FAMILIES] = {
    {POREP_API_1_0,
     POREP_INTERACTIVE,
     {"StackedDrg2KiBV1", "StackedDrg8MiBV1", "StackedDrg512MiBV1", "StackedDrg32GiBV1", "StackedDrg64GiBV1"}},
    {POREP_API_1_1,
     POREP_INTERACTIVE,
     {"StackedDrg2KiBV1_1", "StackedDrg8MiBV1_1", "StackedDrg512MiBV1_1", "StackedDrg32GiBV1_1",
      "StackedDrg64GiBV1_1"}},
    {POREP_API_1_2,
     POREP_SYNTHETIC,
     {"StackedDrg2KiBV1_1_Feat_SyntheticPoRep", "StackedDrg8MiBV1_1_Feat_SyntheticPoRep",
      "StackedDrg512MiBV1_1_Feat_SyntheticPoRep", "StackedDrg32GiBV1_1_Feat_SyntheticPoRep",
      "StackedDrg64GiBV1_1_Feat_SyntheticPoRep"}},
    {POREP_API_1_2,
     POREP_NON_INTERACTIVE,
     {"StackedDrg2KiBV1_2_Feat_NonInteractivePoRep", "StackedDrg8MiBV1_2_Feat_NonInteractivePoRep",
      "StackedDrg512MiBV1_2_Feat_NonInteractivePoRep", "StackedDrg32GiBV1_2_Feat_NonInteractivePoRep",
      "StackedDrg64GiBV1_2_Feat_NonInteractivePoRep"}},
};

static uint32_t log2_exact(uint64_t n) {
    uint32_t log = 0;
    while (n >> (log + 1) != 0) log++;
    return log;
}

static void fill(porep_shape *out, size_t size, size_t family) {
    const struct size_row *s = &SIZES[size];
    const struct family *f = &FAMILIES[family];
    porep_shape r = {0};
    r.sector_size = POREP_SECTOR_SIZES[size];
    r.nodes = r.sector_size / 32;
    r.base_arity = 8;
    r.sub_arity = s->sub_arity;
    r.top_arity = s->top_arity;
    r.tree_d_steps = log2_exact(r.nodes);
    uint64_t base_trees = (uint64_t)(s->sub_arity ? s->sub_arity : 1) * (s->top_arity ? s->top_arity : 1);
    r.base_steps = log2_exact(r.nodes / base_trees) / 3;
    r.layers = s->big ? 11 : 2;
    // 176 challenges a proof (2253 non-interactive), spread over partitions of at most 18.
    r.challenges = s->big ? 18 : 2;
    r.partitions = f->kind == POREP_NON_INTERACTIVE ? (s->big ? 126 : 13) : (s->big ? 10 : 1);
    r.api = f->api;
    r.kind = f->kind;
    r.proof_name = "(unregistered)";
    if (s->registered >= 0) {
        // The registered number, then a nonce that has always been zero.
        store_le64(r.porep_id, (uint64_t)N_REGISTERED * family + (uint64_t)s->registered);
        r.proof_name = f->names[s->registered];
    }
    *out = r;
}

cuzk_status porep_shape_by_name(porep_shape *out, const char *proof_name, size_t name_len, cuzk_error *err) {
    for (size_t i = 0; i < N_SIZES; i++) {
        if (SIZES[i].registered < 0) continue;
        for (size_t f = 0; f < N_FAMILIES; f++) {
            const char *name = FAMILIES[f].names[SIZES[i].registered];
            if (strlen(name) == name_len && memcmp(name, proof_name, name_len) == 0) {
                fill(out, i, f);
                return CUZK_OK;
            }
        }
    }
    return cuzk_fail(err, CUZK_ERR_INPUT,
                     "unknown registered seal proof \"%.*s\"; expected a name such as \"StackedDrg32GiBV1_1\"",
                     (int)(name_len < 80 ? name_len : 80), proof_name);
}

cuzk_status porep_shape_by_size(porep_shape *out, uint64_t sector_size, porep_api api, porep_challenge_kind kind,
                                cuzk_error *err) {
    for (size_t i = 0; i < N_SIZES; i++) {
        if (POREP_SECTOR_SIZES[i] != sector_size) continue;
        for (size_t f = 0; f < N_FAMILIES; f++) {
            if (FAMILIES[f].api != api || FAMILIES[f].kind != kind) continue;
            fill(out, i, f);
            return CUZK_OK;
        }
        if (api == POREP_API_1_2 && kind == POREP_INTERACTIVE) {
            // A configuration the official library accepts though nobody registered it: the graph of 1.1, id zero.
            fill(out, i, FAMILY_1_1);
            out->api = api;
            memset(out->porep_id, 0, sizeof out->porep_id);
            out->proof_name = "(unregistered)";
            return CUZK_OK;
        }
        return cuzk_fail(err, CUZK_ERR_USAGE,
                         "no proof of replication with this API version and kind of challenges: API 1.0 and 1.1 are "
                         "interactive only, API 1.2 is interactive, synthetic or non-interactive");
    }
    return cuzk_fail(err, CUZK_ERR_USAGE, "no sector size of %llu bytes; expected %s", (unsigned long long)sector_size,
                     SIZES_TEXT);
}

static bool same_letters(const char *a, const char *b) {
    for (; *a != 0 && *b != 0; a++, b++) {
        int x = *a >= 'A' && *a <= 'Z' ? *a + 32 : *a, y = *b >= 'A' && *b <= 'Z' ? *b + 32 : *b;
        if (x != y) return false;
    }
    return *a == *b;
}

cuzk_status porep_parse_size(uint64_t *out, const char *text, cuzk_error *err) {
    for (size_t i = 0; i < N_SIZES; i++) {
        char digits[24];
        snprintf(digits, sizeof digits, "%llu", (unsigned long long)POREP_SECTOR_SIZES[i]);
        if (same_letters(text, SIZES[i].name) || strcmp(text, digits) == 0) {
            *out = POREP_SECTOR_SIZES[i];
            return CUZK_OK;
        }
    }
    return cuzk_fail(err, CUZK_ERR_USAGE, "unknown sector size \"%.40s\"; expected %s", text, SIZES_TEXT);
}

const char *porep_size_name(uint64_t sector_size) {
    for (size_t i = 0; i < N_SIZES; i++)
        if (POREP_SECTOR_SIZES[i] == sector_size) return SIZES[i].name;
    return NULL;
}

void porep_params_id(char out[POREP_PARAMS_ID_MAX], const porep_shape *shape) {
    // The text is part of the format: parameter files are named after its digest (storage-proofs-porep, params.rs;
    // storage-proofs-core, drgraph.rs and parameter_cache.rs).
    char tree[64], text[400], hex[65];
    snprintf(tree, sizeof tree, "merkletree-poseidon_hasher-%u-%u-%u", shape->base_arity, shape->sub_arity,
             shape->top_arity);
    int n = snprintf(text, sizeof text,
                     "layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{expansion_degree: %d "
                     "base_graph: drgraph::BucketGraph{size: %llu; degree: %d; hasher: poseidon_hasher} }, "
                     "challenges: LayerChallenges { layers: %u, max_count: %u }, tree: %s }",
                     POREP_EXP_PARENTS, (unsigned long long)shape->nodes, POREP_BASE_PARENTS, shape->layers,
                     shape->challenges, tree);
    uint8_t digest[32];
    sha256_digest(digest, text, (size_t)n);
    hex_encode(hex, digest, 32);
    snprintf(out, POREP_PARAMS_ID_MAX, "stacked-proof-of-replication-%s-sha256_hasher-%s", tree, hex);
}
