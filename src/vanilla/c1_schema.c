// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vanilla/c1_schema.h"

#define KEY(text, target)                                                                                              \
    { text, sizeof(text) - 1, target }
#define FIELDS(table) .n_fields = sizeof(table) / sizeof((table)[0]), .fields = table

static const c1_node marker = {.kind = C1_NULL, .role = C1_MARKER};

// One Merkle proof: {"data": {"Single" | "Sub" | "Top": {...}}}. A Single proof has one path of PathElements; Sub and
// Top proofs have one a level of the compound tree, the upper two of one step.
static const c1_node sibling = {.kind = C1_ELEMENT, .role = C1_SIBLING};
static const c1_node siblings = {.kind = C1_ARRAY, .role = C1_SIBLINGS, .item = &sibling};
static const c1_node step_index = {.kind = C1_UINT, .role = C1_STEP_INDEX};
static const c1_field step_fields[] = {KEY("hashes", &siblings), KEY("index", &step_index)};
static const c1_node step = {.kind = C1_OBJECT, .role = C1_STEP, FIELDS(step_fields)};
static const c1_node steps = {.kind = C1_ARRAY, .role = C1_STEPS, .item = &step};
static const c1_field section_fields[] = {KEY("path", &steps)};
static const c1_node section_base = {.kind = C1_OBJECT, .role = C1_SECTION_BASE, FIELDS(section_fields)};
static const c1_node section_sub = {.kind = C1_OBJECT, .role = C1_SECTION_SUB, FIELDS(section_fields)};
static const c1_node section_top = {.kind = C1_OBJECT, .role = C1_SECTION_TOP, FIELDS(section_fields)};
static const c1_node tree_root = {.kind = C1_ELEMENT, .role = C1_TREE_ROOT};
static const c1_node tree_leaf = {.kind = C1_ELEMENT, .role = C1_TREE_LEAF};
static const c1_field single_fields[] = {KEY("root", &tree_root), KEY("leaf", &tree_leaf), KEY("path", &section_base)};
static const c1_field sub_fields[] = {KEY("base_proof", &section_base), KEY("sub_proof", &section_sub),
                                      KEY("root", &tree_root), KEY("leaf", &tree_leaf)};
static const c1_field top_fields[] = {KEY("base_proof", &section_base), KEY("sub_proof", &section_sub),
                                      KEY("top_proof", &section_top), KEY("root", &tree_root), KEY("leaf", &tree_leaf)};
static const c1_node single = {.kind = C1_OBJECT, .role = C1_TREE_SINGLE, FIELDS(single_fields)};
static const c1_node sub = {.kind = C1_OBJECT, .role = C1_TREE_SUB, FIELDS(sub_fields)};
static const c1_node top = {.kind = C1_OBJECT, .role = C1_TREE_TOP, FIELDS(top_fields)};
static const c1_field tree_fields[] = {KEY("Single", &single), KEY("Sub", &sub), KEY("Top", &top)};
static const c1_node tree = {.kind = C1_VARIANT, .role = C1_TREE, FIELDS(tree_fields)};
static const c1_field proof_fields[] = {KEY("data", &tree)};
static const c1_node comm_d_proof = {.kind = C1_OBJECT, .role = C1_COMM_D_PROOF, FIELDS(proof_fields)};
static const c1_node comm_r_last_proof = {.kind = C1_OBJECT, .role = C1_COMM_R_LAST_PROOF, FIELDS(proof_fields)};
static const c1_node column_path = {.kind = C1_OBJECT, .role = C1_COLUMN_PATH, FIELDS(proof_fields)};

// A column with its proof in tree C.
static const c1_node row = {.kind = C1_ELEMENT, .role = C1_ROW};
static const c1_node rows = {.kind = C1_ARRAY, .role = C1_ROWS, .item = &row};
static const c1_node column_index = {.kind = C1_UINT, .role = C1_COLUMN_INDEX};
static const c1_field column_fields[] = {KEY("index", &column_index), KEY("rows", &rows), KEY("_h", &marker)};
static const c1_node column = {.kind = C1_OBJECT, .role = C1_COLUMN, FIELDS(column_fields)};
static const c1_field column_proof_fields[] = {KEY("column", &column), KEY("inclusion_proof", &column_path)};
static const c1_node c_x = {.kind = C1_OBJECT, .role = C1_C_X, FIELDS(column_proof_fields)};
static const c1_node drg_parent = {.kind = C1_OBJECT, .role = C1_DRG_PARENT, FIELDS(column_proof_fields)};
static const c1_node exp_parent = {.kind = C1_OBJECT, .role = C1_EXP_PARENT, FIELDS(column_proof_fields)};
static const c1_node drg_parents = {.kind = C1_ARRAY, .role = C1_DRG_PARENTS, .item = &drg_parent};
static const c1_node exp_parents = {.kind = C1_ARRAY, .role = C1_EXP_PARENTS, .item = &exp_parent};
static const c1_field column_proofs_fields[] = {KEY("c_x", &c_x), KEY("drg_parents", &drg_parents),
                                                KEY("exp_parents", &exp_parents)};
static const c1_node column_proofs = {.kind = C1_OBJECT, .role = C1_COLUMN_PROOFS, FIELDS(column_proofs_fields)};

// Labels and the encoding.
static const c1_node parent = {.kind = C1_ELEMENT, .role = C1_PARENT};
static const c1_node parents = {.kind = C1_ARRAY, .role = C1_PARENTS, .item = &parent};
static const c1_node layer = {.kind = C1_UINT, .role = C1_LAYER};
static const c1_node node = {.kind = C1_UINT, .role = C1_NODE};
static const c1_field labeling_fields[] = {KEY("parents", &parents), KEY("layer_index", &layer), KEY("node", &node)};
static const c1_node labeling = {.kind = C1_OBJECT, .role = C1_LABELING, FIELDS(labeling_fields)};
static const c1_node labelings = {.kind = C1_ARRAY, .role = C1_LABELINGS, .item = &labeling};
static const c1_node encoding = {.kind = C1_OBJECT, .role = C1_ENCODING, FIELDS(labeling_fields)};

static const c1_field challenge_fields[] = {
    KEY("comm_d_proofs", &comm_d_proof), KEY("comm_r_last_proof", &comm_r_last_proof),
    KEY("replica_column_proofs", &column_proofs), KEY("labeling_proofs", &labelings), KEY("encoding_proof", &encoding)};
static const c1_node challenge = {.kind = C1_OBJECT, .role = C1_CHALLENGE, FIELDS(challenge_fields)};
static const c1_node challenges = {.kind = C1_ARRAY, .role = C1_CHALLENGES, .item = &challenge};
static const c1_node partitions = {.kind = C1_ARRAY, .role = C1_PARTITIONS, .item = &challenges};
static const c1_node vanilla = {.kind = C1_VARIANT, .role = C1_VANILLA, .item = &partitions};

static const c1_node proof_name = {.kind = C1_TEXT, .role = C1_PROOF_NAME};
static const c1_node comm_r = {.kind = C1_ELEMENT, .role = C1_COMM_R};
static const c1_node comm_d = {.kind = C1_ELEMENT, .role = C1_COMM_D};
static const c1_node replica_id = {.kind = C1_ELEMENT, .role = C1_REPLICA_ID};
static const c1_node seed = {.kind = C1_BYTES, .role = C1_SEED};
static const c1_node ticket = {.kind = C1_BYTES, .role = C1_TICKET};
static const c1_node sector_number = {.kind = C1_UINT, .role = C1_SECTOR_NUMBER};
static const c1_node phase1_out = {.kind = C1_TEXT, .role = C1_PHASE1_OUT};
static const c1_node sector_size = {.kind = C1_UINT, .role = C1_SECTOR_SIZE};
static const c1_field root_fields[C1_BARE_FIELDS + C1_ENVELOPE_FIELDS] = {KEY("registered_proof", &proof_name),
                                                                          KEY("vanilla_proofs", &vanilla),
                                                                          KEY("comm_r", &comm_r),
                                                                          KEY("comm_d", &comm_d),
                                                                          KEY("replica_id", &replica_id),
                                                                          KEY("seed", &seed),
                                                                          KEY("ticket", &ticket),
                                                                          KEY("SectorNum", &sector_number),
                                                                          KEY("Phase1Out", &phase1_out),
                                                                          KEY("SectorSize", &sector_size)};
const c1_node C1_SCHEMA = {.kind = C1_OBJECT, .role = C1_ROOT, FIELDS(root_fields)};
