// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The structure of a C1 file as data: which value may stand where. Fact source for names and nesting: the serde types
// SealCommitPhase1Output (filecoin-proofs-api), Proof, ReplicaColumnProof, LabelingProof (storage-proofs-porep) and
// MerkleProof (storage-proofs-core).
#ifndef CUZK_VANILLA_C1_SCHEMA_H
#define CUZK_VANILLA_C1_SCHEMA_H

#include <stddef.h>
#include <stdint.h>

typedef enum c1_kind {
    C1_OBJECT,  // every key of the table once, unknown keys skipped (as serde does)
    C1_VARIANT, // an object with exactly one key of the table: a Rust enum
    C1_ARRAY,
    C1_BYTES,   // an array of 32 numbers 0..255
    C1_ELEMENT, // the same, little-endian, below r
    C1_UINT,
    C1_TEXT,
    C1_NULL,
} c1_kind;

// What a value means, so that the reader knows where it goes and which bounds hold.
typedef enum c1_role {
    C1_ROOT,
    C1_PROOF_NAME,
    C1_VANILLA,
    C1_PARTITIONS,
    C1_CHALLENGES,
    C1_CHALLENGE,
    C1_COMM_D_PROOF,
    C1_COMM_R_LAST_PROOF,
    C1_COLUMN_PROOFS,
    C1_C_X,
    C1_DRG_PARENTS,
    C1_DRG_PARENT,
    C1_EXP_PARENTS,
    C1_EXP_PARENT,
    C1_COLUMN,
    C1_COLUMN_INDEX,
    C1_ROWS,
    C1_ROW,
    C1_COLUMN_PATH,
    C1_TREE,
    C1_TREE_SINGLE,
    C1_TREE_SUB,
    C1_TREE_TOP,
    C1_TREE_ROOT,
    C1_TREE_LEAF,
    C1_SECTION_BASE,
    C1_SECTION_SUB,
    C1_SECTION_TOP,
    C1_STEPS,
    C1_STEP,
    C1_SIBLINGS,
    C1_SIBLING,
    C1_STEP_INDEX,
    C1_LABELINGS,
    C1_LABELING,
    C1_ENCODING,
    C1_PARENTS,
    C1_PARENT,
    C1_LAYER,
    C1_NODE,
    C1_COMM_R,
    C1_COMM_D,
    C1_REPLICA_ID,
    C1_SEED,
    C1_TICKET,
    C1_MARKER,
    C1_SECTOR_NUMBER,
    C1_PHASE1_OUT,
    C1_SECTOR_SIZE,
} c1_role;

typedef struct c1_node c1_node;
typedef struct c1_field {
    const char *name;
    size_t len;
    const c1_node *node;
} c1_field;

struct c1_node {
    c1_kind kind;
    c1_role role;
    uint32_t n_fields;      // C1_OBJECT, C1_VARIANT; at most 32
    const c1_field *fields; // C1_VANILLA has none: its key is the name of a proof
    const c1_node *item;    // C1_ARRAY, and the value behind the key of C1_VANILLA
};

// The root object: the seven keys of a bare file, then the three of an envelope.
enum { C1_BARE_FIELDS = 7, C1_ENVELOPE_FIELDS = 3 };
extern const c1_node C1_SCHEMA;

#endif
