// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The shapes of Filecoin's proof of replication: sector sizes, trees, layers, challenges, registered proofs.
#ifndef CUZK_CIRCUIT_POREP_SHAPE_H
#define CUZK_CIRCUIT_POREP_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    POREP_BASE_PARENTS = 6,   // DRG parents of a node
    POREP_EXP_PARENTS = 8,    // expander parents of a node
    POREP_LABEL_PARENTS = 37, // parents hashed into a label, with repetitions
    POREP_MAX_LAYERS = 11,
    POREP_MAX_PATH = 32,       // steps of the longest Merkle path
    POREP_MAX_CHALLENGES = 18, // a partition
    POREP_PARAMS_ID_MAX = 192, // longest parameter identifier with its NUL
};

typedef enum porep_api { POREP_API_1_0, POREP_API_1_1, POREP_API_1_2 } porep_api;
typedef enum porep_challenge_kind { POREP_INTERACTIVE, POREP_SYNTHETIC, POREP_NON_INTERACTIVE } porep_challenge_kind;

// Everything the circuit and its public inputs depend on.
typedef struct porep_shape {
    uint64_t sector_size;          // bytes
    uint64_t nodes;                // sector_size / 32
    uint32_t base_arity;           // 8
    uint32_t sub_arity, top_arity; // 0 where absent
    uint32_t base_steps;           // steps of arity 8 below the sub and top trees
    uint32_t tree_d_steps;         // steps of the binary data tree
    uint32_t layers;               // 2 or 11
    uint32_t challenges;           // a partition
    uint32_t partitions;           // a whole proof
    porep_api api;
    porep_challenge_kind kind;
    uint8_t porep_id[32];   // seeds the graph; zeros where no proof is registered
    const char *proof_name; // "StackedDrg2KiBV1_1", or "(unregistered)" for sizes without a registered proof
} porep_shape;

// By the registered proof's name, as in a C1 file. CUZK_ERR_INPUT naming the proof if unknown.
CUZK_MUST_USE cuzk_status porep_shape_by_name(porep_shape *out, const char *proof_name, size_t name_len,
                                              cuzk_error *err);
// By size, API version and challenge kind. CUZK_ERR_USAGE naming the sizes there are. API 1.0 and 1.1 are interactive;
// 1.2 is synthetic or non-interactive.
CUZK_MUST_USE cuzk_status porep_shape_by_size(porep_shape *out, uint64_t sector_size, porep_api api,
                                              porep_challenge_kind kind, cuzk_error *err);
// The sizes there are, smallest first; ends with 0.
extern const uint64_t POREP_SECTOR_SIZES[];
// "2KiB" -> 2048, in any case of letters, or the plain number of bytes. CUZK_ERR_USAGE naming the sizes there are.
CUZK_MUST_USE cuzk_status porep_parse_size(uint64_t *out, const char *text, cuzk_error *err);

// 2048 -> "2KiB"; NULL for a size that is none of POREP_SECTOR_SIZES.
const char *porep_size_name(uint64_t sector_size);

// The identifier in the names of parameter files, "stacked-proof-of-replication-merkletree-...": prefix, then SHA-256
// of the official description of the public parameters. It depends on size, trees, layers and challenges alone: all
// registered proofs of one size share their parameters.
void porep_params_id(char out[POREP_PARAMS_ID_MAX], const porep_shape *shape);

#endif
