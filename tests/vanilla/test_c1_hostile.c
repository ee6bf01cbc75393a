// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Bad files: each must fail with the status and the words given, leave nothing behind, and never crash.
#include "testing.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/mem.h"
#include "vanilla/c1.h"
#include "vanilla/c1_build.h"
#include "vanilla/c1_names.h"

#define V "vanilla_proofs.StackedDrg2KiBV1"
#define CH V "[0][1]"
#define X5 "[0,0,0,0,0]"
#define ZEROS31 "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]"
#define ZEROS33 "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]"
// r, little-endian
#define ORDER                                                                                                          \
    "[1,0,0,0,255,255,255,255,254,91,254,255,2,164,189,83,5,216,161,9,8,216,57,51,72,125,157,41,83,167,237,115]"
#define ONES                                                                                                           \
    "[255,255,255,255,255,255,255,255,255,255,255,255,255,255,255,255,255,255,255,255,255,255,255,255,255,255,255,"    \
    "255,255,255,255,255]"

// Every word of a '|'-separated list must be in the text.
static void assert_words(const char *text, const char *words, const char *what) {
    char word[160];
    while (*words != '\0') {
        size_t n = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)n, words);
        if (strstr(text, word) == NULL) fail_msg("%s: \"%s\" is not in: %s", what, word, text);
        words += n + (words[n] == '|');
    }
}
static void refuse(const void *json, size_t len, cuzk_status status, const char *words, const char *what) {
    cuzk_error err = {.status = CUZK_OK};
    c1_file *f = NULL;
    uint64_t live = mem_usage_of(MEM_INPUT).live;
    // An exact copy on the heap, so that AddressSanitizer sees one byte too many.
    uint8_t *copy = malloc(len > 0 ? len : 1);
    assert_non_null(copy);
    memcpy(copy, json, len);
    cuzk_status st = c1_parse(&f, copy, len, &err);
    free(copy);
    if (st != status)
        fail_msg("%s: expected %s, found %s: %s", what, cuzk_status_name(status), cuzk_status_name(st), err.text);
    assert_null(f);
    assert_int_equal(err.status, status);
    assert_words(err.text, words, what);
    assert_int_equal(mem_usage_of(MEM_INPUT).live, live);
}

typedef struct faulty {
    const char *proof;
    c1_edit edit;
    cuzk_status status;
    const char *words;
} faulty;
#define K2 "StackedDrg2KiBV1_1"
#define F CUZK_ERR_FORMAT

static const faulty FAULTS[] = {
    // Bytes and field elements.
    {K2, {C1_REPLACE, "comm_r", ZEROS31}, F, "comm_r (byte |expected 32 bytes, found 31"},
    {K2, {C1_REPLACE, "comm_d", ZEROS33}, F, "comm_d[32]|expected 32 bytes, found more"},
    {K2, {C1_REPLACE, "seed", "[]"}, F, "seed|expected 32 bytes, found 0"},
    {K2, {C1_REPLACE, "ticket[31]", "256"}, F, "ticket[31]|expected an integer 0..255, found 256"},
    {K2, {C1_REPLACE, "replica_id[7]", "-1"}, F, "replica_id[7]|0..255, found -1"},
    {K2, {C1_REPLACE, "replica_id[7]", "-0"}, F, "replica_id[7]|0..255, found -0"},
    {K2, {C1_REPLACE, "replica_id[7]", "1.5"}, F, "replica_id[7]|0..255, found 1.5"},
    {K2, {C1_REPLACE, "replica_id[7]", "1e2"}, F, "replica_id[7]|0..255, found 1e2"},
    {K2, {C1_REPLACE, "replica_id[7]", "1E0"}, F, "replica_id[7]|0..255, found 1E0"},
    {K2,
     {C1_REPLACE, "replica_id[7]", "99999999999999999999999999999999999999999999999999"},
     F,
     "replica_id[7]|0..255, found 99999999999999|..."},
    {K2, {C1_REPLACE, "replica_id[7]", "007"}, F, "replica_id[8]"}, // the next token is 0 where a comma must be
    {K2, {C1_REPLACE, "replica_id[7]", "\"7\""}, F, "replica_id[7]|0..255, found \"7\""},
    {K2, {C1_REPLACE, "replica_id[7]", "null"}, F, "replica_id[7]|0..255, found null"},
    {K2, {C1_REPLACE, "replica_id[7]", "true"}, F, "replica_id[7]|0..255, found true"},
    {K2, {C1_REPLACE, "replica_id[7]", "[7]"}, F, "replica_id[7]|0..255, found an array"},
    {K2, {C1_REPLACE, "replica_id[7]", "{}"}, F, "replica_id[7]|0..255, found an object"},
    {K2, {C1_REPLACE, "replica_id", "\"abc\""}, F, "replica_id (|expected an array of 32 bytes, found \"abc\""},
    {K2, {C1_REPLACE, "replica_id", "12"}, F, "replica_id (|expected an array of 32 bytes, found 12"},
    {K2, {C1_REPLACE, "replica_id", "{}"}, F, "replica_id (|expected an array of 32 bytes, found an object"},
    {K2, {C1_REPLACE, "replica_id", ORDER}, F, "replica_id|expected a field element below r, found 0x73eda753299d7d48"},
    {K2, {C1_REPLACE, "comm_r", ONES}, F, "comm_r|below r, found 0xffff"},
    {K2, {C1_REPLACE, "comm_d", ORDER}, F, "comm_d|below r"},
    {K2, {C1_REPLACE, CH ".comm_d_proofs.data.Single.root", ORDER}, F, CH ".comm_d_proofs.data.Single.root|below r"},
    {K2,
     {C1_REPLACE, CH ".comm_r_last_proof.data.Single.leaf", ONES},
     F,
     CH ".comm_r_last_proof.data.Single.leaf|below r"},
    {K2,
     {C1_REPLACE, CH ".comm_r_last_proof.data.Single.path.path[1].hashes[6]", ORDER},
     F,
     CH ".comm_r_last_proof.data.Single.path.path[1].hashes[6]|below r"},
    {K2,
     {C1_REPLACE, CH ".replica_column_proofs.exp_parents[7].column.rows[1]", ORDER},
     F,
     CH ".replica_column_proofs.exp_parents[7].column.rows[1]|below r"},
    {K2, {C1_REPLACE, CH ".labeling_proofs[1].parents[14]", ORDER}, F, CH ".labeling_proofs[1].parents[14]|below r"},
    {K2, {C1_REPLACE, CH ".encoding_proof.parents[36]", ONES}, F, CH ".encoding_proof.parents[36]|below r"},
    // Lengths.
    {K2,
     {C1_OMIT, CH ".labeling_proofs[1].parents[36]", 0},
     F,
     CH ".labeling_proofs[1].parents (|expected 37 parents, found 36"},
    {K2,
     {C1_TWICE, CH ".labeling_proofs[1].parents[36]", 0},
     F,
     CH ".labeling_proofs[1].parents[37] (|expected 37 parents, found more"},
    {K2,
     {C1_REPLACE, CH ".encoding_proof.parents", "[]"},
     F,
     CH ".encoding_proof.parents (|expected 37 parents, found 0"},
    {K2, {C1_OMIT, CH ".labeling_proofs[1]", 0}, F, CH ".labeling_proofs (|expected 2 labeling proofs|found 1"},
    {K2, {C1_TWICE, CH ".labeling_proofs[1]", 0}, F, CH ".labeling_proofs[2] (|expected 2 labeling proofs|found more"},
    {K2, {C1_OMIT, CH ".replica_column_proofs.c_x.column.rows[0]", 0}, F, ".c_x.column.rows (|expected 2 rows|found 1"},
    {K2,
     {C1_TWICE, CH ".replica_column_proofs.c_x.column.rows[0]", 0},
     F,
     ".c_x.column.rows[2] (|expected 2 rows|found more"},
    {K2, {C1_OMIT, CH ".replica_column_proofs.drg_parents[5]", 0}, F, ".drg_parents (|expected 6 parents, found 5"},
    {K2,
     {C1_TWICE, CH ".replica_column_proofs.drg_parents[5]", 0},
     F,
     ".drg_parents[6] (|expected 6 parents, found more"},
    {K2, {C1_OMIT, CH ".replica_column_proofs.exp_parents[5]", 0}, F, ".exp_parents (|expected 8 parents, found 7"},
    {K2,
     {C1_TWICE, CH ".replica_column_proofs.exp_parents[5]", 0},
     F,
     ".exp_parents[8] (|expected 8 parents, found more"},
    {K2,
     {C1_OMIT, CH ".comm_d_proofs.data.Single.path.path[3]", 0},
     F,
     CH ".comm_d_proofs.data.Single.path.path (|expected 6 steps|found 5"},
    {K2,
     {C1_TWICE, CH ".comm_d_proofs.data.Single.path.path[3]", 0},
     F,
     CH ".comm_d_proofs.data.Single.path.path[6] (|expected 6 steps|found more"},
    {K2, {C1_OMIT, CH ".comm_r_last_proof.data.Single.path.path[0]", 0}, F, ".path.path (|expected 2 steps|found 1"},
    {K2,
     {C1_TWICE, CH ".comm_r_last_proof.data.Single.path.path[0]", 0},
     F,
     ".path.path[2] (|expected 2 steps|found more"},
    {K2, {C1_REPLACE, CH ".comm_r_last_proof.data.Single.path.path", "[]"}, F, ".path.path (|expected 2 steps|found 0"},
    {K2,
     {C1_TWICE, CH ".comm_d_proofs.data.Single.path.path[3].hashes[0]", 0},
     F,
     ".path[3].hashes[1] (|expected 1 siblings, found more"},
    {K2,
     {C1_OMIT, CH ".comm_r_last_proof.data.Single.path.path[1].hashes[0]", 0},
     F,
     ".path[1].hashes (|expected 7 siblings, found 6"},
    {K2,
     {C1_TWICE, CH ".comm_r_last_proof.data.Single.path.path[1].hashes[0]", 0},
     F,
     ".path[1].hashes[7] (|expected 7 siblings, found more"},
    {K2,
     {C1_REPLACE, CH ".comm_r_last_proof.data.Single.path.path[1].hashes[0]", X5},
     F,
     ".path[1].hashes[0]|expected 32 bytes, found 5"},
    {K2, {C1_OMIT, CH, 0}, F, V "[0] (|expected 2 challenges, found 1"},
    {K2, {C1_TWICE, CH, 0}, F, V "[0][2] (|expected 2 challenges, found more"},
    {K2, {C1_REPLACE, V "[0]", "[]"}, F, V "[0] (|expected 2 challenges, found 0"},
    {K2, {C1_REPLACE, V, "[]"}, F, V " (|expected at least 1 partition, found none"},
    {K2, {C1_OMIT, V "[0]", 0}, F, V " (|expected at least 1 partition, found none"},
    {K2, {C1_TWICE, V "[0]", 0}, F, V ": expected 1 partitions for " K2 ", found 2"},
    {"StackedDrg2KiBV1_2_Feat_NonInteractivePoRep", {C1_OMIT, V "[5]", 0}, F, "expected 13 partitions|found 12"},
    {"StackedDrg2KiBV1_2_Feat_NonInteractivePoRep", {C1_TWICE, V "[12]", 0}, F, "expected 13 partitions|found 14"},
    // Integers.
    {K2,
     {C1_REPLACE, CH ".encoding_proof.node", "64"},
     F,
     CH ".encoding_proof.node|expected an integer 0..63, found 64"},
    {K2, {C1_REPLACE, CH ".encoding_proof.node", "-1"}, F, ".encoding_proof.node|0..63, found -1"},
    {K2, {C1_REPLACE, CH ".encoding_proof.node", "3.0"}, F, ".encoding_proof.node|0..63, found 3.0"},
    {K2, {C1_REPLACE, CH ".encoding_proof.node", "1e1"}, F, ".encoding_proof.node|0..63, found 1e1"},
    {K2,
     {C1_REPLACE, CH ".encoding_proof.node", "18446744073709551616"},
     F,
     ".encoding_proof.node|found 18446744073709551616"},
    {K2,
     {C1_REPLACE, CH ".encoding_proof.node", "18446744073709551617"},
     F,
     ".encoding_proof.node|found 18446744073709551617"},
    {K2, {C1_REPLACE, CH ".encoding_proof.layer_index", "0"}, F, ".encoding_proof.layer_index|1..2, found 0"},
    {K2, {C1_REPLACE, CH ".labeling_proofs[0].layer_index", "3"}, F, ".labeling_proofs[0].layer_index|1..2, found 3"},
    {K2,
     {C1_REPLACE, CH ".replica_column_proofs.c_x.column.index", "4294967296"},
     F,
     ".c_x.column.index|0..63, found 4294967296"},
    {K2, {C1_REPLACE, CH ".comm_d_proofs.data.Single.path.path[0].index", "2"}, F, ".path[0].index|0..1, found 2"},
    {K2, {C1_REPLACE, CH ".comm_r_last_proof.data.Single.path.path[0].index", "8"}, F, ".path[0].index|0..7, found 8"},
    {K2, {C1_REPLACE, CH ".encoding_proof.node", "\"3\""}, F, ".encoding_proof.node|expected an integer, found \"3\""},
    {K2, {C1_REPLACE, CH ".encoding_proof.node", "[3]"}, F, ".encoding_proof.node|expected an integer, found an array"},
    {K2, {C1_REPLACE, CH ".encoding_proof.node", "false"}, F, ".encoding_proof.node|expected an integer, found false"},
    // Kinds.
    {K2, {C1_REPLACE, CH ".encoding_proof", "null"}, F, CH ".encoding_proof (|expected an object, found null"},
    {K2, {C1_REPLACE, CH, "null"}, F, CH " (|expected an object, found null"},
    {K2, {C1_REPLACE, V "[0]", "null"}, F, V "[0] (|expected an array, found null"},
    {K2, {C1_REPLACE, V, "null"}, F, V " (|expected an array, found null"},
    {K2, {C1_REPLACE, V, "{}"}, F, V " (|expected an array, found an object"},
    {K2, {C1_REPLACE, "vanilla_proofs", "null"}, F, "vanilla_proofs (|expected an object, found null"},
    {K2, {C1_REPLACE, "vanilla_proofs", "[]"}, F, "vanilla_proofs (|expected an object, found an array"},
    {K2, {C1_REPLACE, CH ".comm_d_proofs.data", "[]"}, F, ".comm_d_proofs.data (|expected an object, found an array"},
    {K2, {C1_REPLACE, CH ".replica_column_proofs.c_x.column._h", "0"}, F, ".c_x.column._h|expected null, found 0"},
    {K2,
     {C1_REPLACE, CH ".replica_column_proofs.c_x.column._h", "{}"},
     F,
     ".c_x.column._h|expected null, found an object"},
    {K2, {C1_REPLACE, "registered_proof", "7"}, F, "registered_proof|expected a string, found 7"},
    // Keys: missing, twice.
    {K2, {C1_OMIT, "comm_r", 0}, F, "top level|key \"comm_r\" expected, not found"},
    {K2, {C1_OMIT, "registered_proof", 0}, F, "key \"registered_proof\" expected, not found"},
    {K2, {C1_OMIT, "vanilla_proofs", 0}, F, "key \"vanilla_proofs\" expected, not found"},
    {K2, {C1_OMIT, "ticket", 0}, F, "key \"ticket\" expected, not found"},
    {K2, {C1_OMIT, V, 0}, F, "vanilla_proofs (|expected, not found"},
    {K2, {C1_OMIT, CH ".labeling_proofs", 0}, F, CH " (|key \"labeling_proofs\" expected, not found"},
    {K2, {C1_OMIT, CH ".encoding_proof.parents", 0}, F, CH ".encoding_proof (|key \"parents\" expected, not found"},
    {K2, {C1_OMIT, CH ".comm_d_proofs.data", 0}, F, CH ".comm_d_proofs (|key \"data\" expected, not found"},
    {K2,
     {C1_OMIT, CH ".comm_d_proofs.data.Single", 0},
     F,
     CH ".comm_d_proofs.data (|key \"Single\" expected, not found"},
    {K2, {C1_OMIT, CH ".replica_column_proofs.c_x.column._h", 0}, F, ".c_x.column (|key \"_h\" expected, not found"},
    {K2, {C1_RENAME, "comm_r", "\"comm_R\""}, F, "key \"comm_r\" expected, not found"},
    {K2, {C1_RENAME, "comm_r", "\"comm_r\\u0000\""}, F, "key \"comm_r\" expected, not found"},
    {K2, {C1_RENAME, "comm_r", "\"\""}, F, "key \"comm_r\" expected, not found"},
    {K2, {C1_TWICE, "comm_r", 0}, F, "key \"comm_r\" expected once, found twice"},
    {K2, {C1_TWICE, "registered_proof", 0}, F, "key \"registered_proof\" expected once, found twice"},
    {K2, {C1_TWICE, "vanilla_proofs", 0}, F, "key \"vanilla_proofs\" expected once, found twice"},
    {K2, {C1_TWICE, CH ".encoding_proof", 0}, F, CH " (|key \"encoding_proof\" expected once, found twice"},
    {K2, {C1_TWICE, CH ".comm_d_proofs.data.Single", 0}, F, "key \"Single\" expected once, found twice"},
    {K2, {C1_TWICE, V, 0}, F, "expected one kind of proof, found \"StackedDrg2KiBV1\" besides"},
    {K2, {C1_BEFORE, "comm_d", "\"comm\\u005fd\":" ZEROS31}, F, "comm_d"},
    // Names of proofs, and variants of trees.
    {K2,
     {C1_REPLACE, "registered_proof", "\"StackedDrg3KiBV1_1\""},
     CUZK_ERR_INPUT,
     "registered_proof (|StackedDrg3KiBV1_1"},
    {K2, {C1_REPLACE, "registered_proof", "\"\""}, CUZK_ERR_INPUT, "registered_proof ("},
    {K2, {C1_REPLACE, "registered_proof", "\"StackedDrg2KiBV1_1\\u0000\""}, CUZK_ERR_INPUT, "registered_proof ("},
    {K2,
     {C1_REPLACE, "registered_proof", "\"StackedDrg8MiBV1_1\""},
     CUZK_ERR_MISMATCH,
     "registered_proof is StackedDrg8MiBV1_1|vanilla_proofs holds StackedDrg2KiBV1"},
    {K2,
     {C1_REPLACE, "registered_proof", "\"StackedDrg2KiBV1_2_Feat_NonInteractivePoRep\""},
     F,
     "expected 13 partitions|found 1"},
    {K2,
     {C1_RENAME, V, "\"StackedDrg8MiBV1\""},
     CUZK_ERR_MISMATCH,
     "registered_proof is StackedDrg2KiBV1_1|vanilla_proofs holds StackedDrg8MiBV1"},
    {K2, {C1_RENAME, V, "\"StackedDrg2KiBV1_1\""}, CUZK_ERR_INPUT, "vanilla_proofs (|found StackedDrg2KiBV1_1"},
    {K2, {C1_RENAME, V, "\"StackedDrg2KiBV2\""}, CUZK_ERR_INPUT, "vanilla_proofs (|StackedDrg2KiBV2"},
    {K2,
     {C1_RENAME, CH ".comm_d_proofs.data.Single", "\"Sub\""},
     F,
     "expected \"Single\" for this tree of StackedDrg2KiBV1, found \"Sub\""},
    {K2, {C1_RENAME, CH ".comm_r_last_proof.data.Single", "\"Top\""}, F, "expected \"Single\"|found \"Top\""},
    {K2,
     {C1_RENAME, CH ".comm_r_last_proof.data.Single", "\"Double\""},
     F,
     "expected \"Single\", \"Sub\" or \"Top\", found \"Double\""},
    {K2,
     {C1_BEFORE, CH ".comm_d_proofs.data.Single", "\"x\":1"},
     F,
     "expected \"Single\", \"Sub\" or \"Top\", found \"x\""},
    {"StackedDrg4KiBV1",
     {C1_RENAME, "vanilla_proofs.StackedDrg4KiBV1[0][0].comm_r_last_proof.data.Sub", "\"Single\""},
     F,
     "expected \"Sub\"|found \"Single\""},
    {"StackedDrg32KiBV1",
     {C1_RENAME, "vanilla_proofs.StackedDrg32KiBV1[0][0].comm_r_last_proof.data.Top", "\"Sub\""},
     F,
     "expected \"Top\"|found \"Sub\""},
    {"StackedDrg32KiBV1",
     {C1_RENAME, "vanilla_proofs.StackedDrg32KiBV1[0][0].comm_d_proofs.data.Single", "\"Top\""},
     F,
     "expected \"Single\"|found \"Top\""},
    {"StackedDrg32KiBV1",
     {C1_OMIT, "vanilla_proofs.StackedDrg32KiBV1[0][0].comm_r_last_proof.data.Top.top_proof", 0},
     F,
     ".data.Top (|key \"top_proof\" expected, not found"},
    {"StackedDrg32KiBV1",
     {C1_TWICE, "vanilla_proofs.StackedDrg32KiBV1[0][0].comm_r_last_proof.data.Top.top_proof.path[0]", 0},
     F,
     ".top_proof.path[1] (|expected 1 steps|found more"},
    {"StackedDrg32KiBV1",
     {C1_TWICE, "vanilla_proofs.StackedDrg32KiBV1[0][0].comm_r_last_proof.data.Top.top_proof.path[0].hashes[0]", 0},
     F,
     ".top_proof.path[0].hashes[1] (|expected 1 siblings"},
    {"StackedDrg32KiBV1",
     {C1_OMIT, "vanilla_proofs.StackedDrg32KiBV1[0][0].comm_r_last_proof.data.Top.sub_proof.path[0].hashes[6]", 0},
     F,
     ".sub_proof.path[0].hashes (|expected 7 siblings, found 6"},
    {"StackedDrg32KiBV1",
     {C1_OMIT, "vanilla_proofs.StackedDrg32KiBV1[0][0].comm_r_last_proof.data.Top.base_proof.path[1]", 0},
     F,
     ".base_proof.path (|expected 2 steps|found 1"},
    {"StackedDrg4KiBV1",
     {C1_REPLACE, "vanilla_proofs.StackedDrg4KiBV1[0][0].comm_r_last_proof.data.Sub.sub_proof.path[0].index", "2"},
     F,
     ".sub_proof.path[0].index|0..1, found 2"},
    // Bare and envelope mixed.
    {K2, {C1_BEFORE, "comm_d", "\"SectorSize\":2048"}, F, "found a mixture (\"SectorSize\")"},
    {K2, {C1_BEFORE, "registered_proof", "\"Phase1Out\":\"\""}, F, "found a mixture (\"registered_proof\")"},
    // Syntax.
    {K2, {C1_REPLACE, "comm_d", "[1,2,]"}, F, "comm_d|byte 0x5d"},
    {K2, {C1_REPLACE, "comm_d", "[1 2]"}, F, "comm_d"},
    {K2, {C1_REPLACE, "comm_d", "nul"}, F, "comm_d|lexical error"},
    {K2, {C1_REPLACE, "comm_d", "NaN"}, F, "comm_d|lexical error"},
    {K2, {C1_REPLACE, "comm_d", "'a'"}, F, "comm_d|lexical error|byte 0x27"},
    {K2, {C1_REPLACE, "comm_d", "/* */[]"}, F, "comm_d"},
    {K2, {C1_RENAME, "comm_d", "comm_d"}, F, "lexical error"},
    {K2, {C1_RENAME, "comm_d", "\"\xff\xfe\""}, F, "invalid bytes in UTF8 string"},
    {K2, {C1_RENAME, "comm_d", "\"\xc3\""}, F, "invalid bytes in UTF8 string"},
    {K2, {C1_RENAME, "comm_d", "\"\n\""}, F, "invalid character inside string"},
    {K2, {C1_RENAME, "comm_d", "\"\\x\""}, F, "inside a string"},
    {K2, {C1_RENAME, "comm_d", "\"\\u12g4\""}, F, "invalid"},
};

// The offset in a message about a replaced scalar is where that scalar stands.
static void assert_offset(const char *text, const char *json, size_t len, const c1_edit *e) {
    const char *at = strstr(text, "(byte ");
    assert_non_null(at);
    unsigned long long n = strtoull(at + 6, NULL, 10);
    assert_true(n < len);
    if (strncmp(json + n, e->text, strlen(e->text)) != 0) fail_msg("%s: wrong offset in: %s", e->path, text);
}

// Each fault in a file with its keys in the usual order and, where the message does not depend on it, in reverse.
static void faults_are_named(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++) {
        const faulty *f = &FAULTS[i];
        porep_shape shape;
        size_t len, plain_len;
        assert_int_equal(c1_shape_by_name(&shape, f->proof, strlen(f->proof), NULL), CUZK_OK);
        char *json = c1_build(&len, &shape, false, &f->edit), *plain = c1_build(&plain_len, &shape, false, NULL);
        if (len == plain_len && memcmp(json, plain, len) == 0) fail_msg("no such path: %s", f->edit.path);
        refuse(json, len, f->status, f->words, f->edit.path);
        cuzk_error err = {.status = CUZK_OK};
        c1_file *c1 = NULL;
        bool scalar = f->edit.action == C1_REPLACE && strchr("[{/n'N0", f->edit.text[0]) == NULL;
        if (scalar && f->status != CUZK_ERR_MISMATCH && strchr(f->edit.text, '\\') == NULL &&
            strstr(f->words, "partitions") == NULL) {
            assert_int_equal(c1_parse(&c1, (const uint8_t *)json, len, &err), f->status);
            assert_offset(err.text, json, len, &f->edit);
        }
        free(json);
        free(plain);
        // In reverse order another fault of the same file may come first, but it is a failure all the same.
        json = c1_build(&len, &shape, true, &f->edit);
        cuzk_status st = c1_parse(&c1, (const uint8_t *)json, len, &err);
        if (st == CUZK_OK) fail_msg("accepted in reverse: %s", f->edit.path);
        assert_true(err.text[0] != '\0');
        free(json);
    }
}

static void texts_that_are_no_file(void **state) {
    (void)state;
    static const struct {
        const char *text, *words;
    } texts[] = {
        {"", "found nothing (0 bytes)"},
        {" ", "premature EOF|found the end"},
        {"{}", "top level|key \"registered_proof\" expected, not found"},
        {"[]", "top level|expected an object, found an array"},
        {"null", "expected an object, found null"},
        {"7", "expected an object, found 7"},
        {"\"x\"", "expected an object, found \"x\""},
        {"true", "expected an object, found true"},
        {"{", "premature EOF"},
        {"}", "found byte 0x7d"},
        {"{\"a\":1}", "key \"registered_proof\" expected"},
        {"{\"a\"}", "found byte 0x7d"},
        {"{\"a\":}", "found byte 0x7d"},
        {"{\"a\":1,}", "found byte 0x7d"},
        {"{,}", "found byte 0x2c"},
        {"\xef\xbb\xbf{}", "lexical error|found byte"},
        {"{\"vanilla_proofs\":{}}", "vanilla_proofs (|expected, not found"},
        {"{\"vanilla_proofs\":{\"\":[]}}", ""},
        {"{\"SectorNum\":1}", "key \"Phase1Out\" expected, not found"},
        {"{\"SectorNum\":1,\"Phase1Out\":\"\",\"SectorSize\":2048}", "Phase1Out, decoded|found nothing (0 bytes)"},
        {"{\"SectorNum\":-1,\"Phase1Out\":\"\",\"SectorSize\":2048}", "SectorNum|found -1"},
        {"{\"SectorNum\":1,\"Phase1Out\":{},\"SectorSize\":2048}", "Phase1Out|expected a string, found an object"},
        {"{\"SectorNum\":1,\"Phase1Out\":\"e30\",\"SectorSize\":2048}", "Phase1Out (byte |expected base64"},
        {"{\"SectorNum\":1,\"Phase1Out\":\"e30!\",\"SectorSize\":2048}",
         "Phase1Out (byte 31)|expected base64 with padding, found 0x21 at character 3"},
        {"{\"SectorNum\":1,\"Phase1Out\":\"e3 0\",\"SectorSize\":2048}", "expected base64 with padding, found 0x20 at character 2"},
        {"{\"SectorNum\":1,\"Phase1Out\":\"e3=0\",\"SectorSize\":2048}", "expected base64"},
        {"{\"SectorNum\":1,\"Phase1Out\":\"e30=e30=\",\"SectorSize\":2048}", "expected base64"},
        {"{\"SectorNum\":1,\"Phase1Out\":\"e30\\n=\",\"SectorSize\":2048}", "expected base64"},
        {"{\"SectorNum\":1,\"Phase1Out\":\"e30=\",\"SectorSize\":2048}",
         "Phase1Out, decoded|key \"registered_proof\" expected"},
        {"{\"SectorNum\":1,\"Phase1Out\":\"AAAA\",\"SectorSize\":2048}", "Phase1Out, decoded|lexical error"},
        {"{\"SectorNum\":1,\"Phase1Out\":\"e30=\",\"Phase1Out\":\"e30=\"}",
         "key \"Phase1Out\" expected once, found twice"},
        {"{\"SectorSize\":2048,\"registered_proof\":\"StackedDrg2KiBV1_1\"}", "mixture (\"registered_proof\")"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cuzk_error err = {.status = CUZK_OK};
        c1_file *f = NULL;
        cuzk_status st = c1_parse(&f, (const uint8_t *)texts[i].text, strlen(texts[i].text), &err);
        if (st == CUZK_OK) fail_msg("accepted: %s", texts[i].text);
        refuse(texts[i].text, strlen(texts[i].text), st, texts[i].words, texts[i].text);
        assert_true(st == F || st == CUZK_ERR_INPUT);
    }
    refuse("{\"a\":0\0}", 8, F, "byte 0x00", "NUL between tokens");
}

// What follows the file, what it is wrapped in, how large it is.
static void around_the_file(void **state) {
    (void)state;
    porep_shape shape;
    size_t len, n;
    assert_int_equal(c1_shape_by_name(&shape, K2, strlen(K2), NULL), CUZK_OK);
    char *json = c1_build(&len, &shape, false, NULL);
    json = realloc(json, len + 16);
    assert_non_null(json);
    static const char *const junk[] = {"{}", "x", "]", "1", ",", "\"\"", " null"};
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        memcpy(json + len, junk[i], strlen(junk[i]));
        refuse(json, len + strlen(junk[i]), F, "(byte ", junk[i]);
    }
    memcpy(json + len, "\0", 1);
    refuse(json, len + 1, F, "found byte 0x00", "NUL behind the file");

    char *wrapped = c1_wrap(&n, json, len, 1, 8 << 20);
    refuse(wrapped, n, CUZK_ERR_MISMATCH, "SectorSize|expected 2048|StackedDrg2KiBV1_1|found 8388608", "SectorSize");
    free(wrapped);
    wrapped = c1_wrap(&n, json, len - 1, 1, 2048);
    refuse(wrapped, n, F, "Phase1Out, decoded: |premature EOF", "truncated inside");
    free(wrapped);
    wrapped = c1_wrap(&n, json, len, 1, 2048);
    char *twice = c1_wrap(&n, wrapped, n, 1, 2048);
    refuse(twice, n, F, "Phase1Out, decoded|key \"registered_proof\" expected, not found",
           "an envelope in an envelope");
    free(twice);
    free(wrapped);
    free(json);

    // More than the limit is refused before it is looked at; blanks up to it are read and are no file.
    size_t most = C1_MAX_BYTES;
    char *blanks = malloc(most + 1);
    assert_non_null(blanks);
    memset(blanks, ' ', 32 << 20);
    cuzk_error err;
    c1_file *f = NULL;
    assert_int_equal(c1_parse(&f, (uint8_t *)blanks, most + 1, &err), F);
    assert_words(err.text, "expected at most 268435456 bytes, found 268435457", "too large");
    assert_int_equal(c1_parse(&f, (uint8_t *)blanks, 32 << 20, &err), F);
    assert_words(err.text, "premature EOF", "blanks");
    free(blanks);
}

static void deep_nesting(void **state) {
    (void)state;
    static const char *const open[] = {"[", "{\"a\":", "[{\"a\":["};
    enum { DEPTH = 10000 };
    for (size_t i = 0; i < 3; i++)
        for (int known = 0; known < 2; known++) {
            size_t unit = strlen(open[i]), n = 0;
            char *text = malloc(unit * DEPTH + 64);
            assert_non_null(text);
            n = (size_t)sprintf(text, known ? "{\"seed\":[" : "{\"other\":");
            for (int k = 0; k < DEPTH; k++) memcpy(text + n, open[i], unit), n += unit;
            refuse(text, n, F, known ? "seed[0]|expected an integer 0..255" : "at most 64 levels", "deep");
            free(text);
        }
    // 62 levels below the root are fine.
    char text[400];
    size_t n = (size_t)sprintf(text, "{\"other\":");
    for (int k = 0; k < 63; k++) text[n++] = '[';
    for (int k = 0; k < 63; k++) text[n++] = ']';
    text[n++] = '}';
    refuse(text, n, F, "key \"registered_proof\" expected", "not deep");
}

// A real file cut anywhere: a clean failure each time.
static void truncations(void **state) {
    (void)state;
    uint8_t *json;
    size_t len, tried = 0;
    cuzk_error err;
    assert_int_equal(file_read_all(&json, &len, "vectors/cases/porep-2k-a/c1.json", 1 << 20, &err), CUZK_OK);
    for (size_t n = 0; n < len; n++) {
        bool structural = json[n] == '{' || json[n] == '}' || json[n] == ':' || json[n] == '"' ||
                          (n > 0 && json[n - 1] == '[' && json[n] == '[');
        if (n > 700 && n + 700 < len && !(structural && n % 7 == 0) && n % 1009 != 0) continue;
        refuse(json, n, F, n > 0 ? "found the end of the text" : "0 bytes", "truncated");
        tried++;
    }
    assert_true(tried > 1500);
    mem_free(json);
}

// Random damage to a real file: never a crash, and a failure always says something.
static void damage(void **state) {
    (void)state;
    test_rng rng = test_rng_new(__func__);
    uint8_t *json;
    size_t len;
    cuzk_error err;
    static const char palette[] = "{}[]:,\"\\0123456789-+.eEntf \n\x7f";
    assert_int_equal(file_read_all(&json, &len, "vectors/cases/porep-32k-a/c1.json", 1 << 20, &err), CUZK_OK);
    uint8_t *bad = malloc(len);
    assert_non_null(bad);
    uint64_t live = mem_usage_of(MEM_INPUT).live;
    for (int i = 0; i < 400; i++) {
        size_t n = len;
        memcpy(bad, json, len);
        for (uint64_t k = test_below(&rng, 4) + 1; k > 0; k--) {
            size_t at = (size_t)test_below(&rng, test_below(&rng, 2) == 0 ? 2000 : n);
            if (test_below(&rng, 4) == 0) { // cut out a piece
                size_t cut = (size_t)test_below(&rng, 40);
                if (at + cut > n) cut = n - at;
                memmove(bad + at, bad + at + cut, n - at - cut);
                n -= cut;
            } else {
                bad[at] = test_below(&rng, 4) == 0 ? (uint8_t)test_u64(&rng)
                                                   : (uint8_t)palette[test_below(&rng, sizeof palette - 1)];
            }
        }
        c1_file *f = NULL;
        err.text[0] = '\0';
        cuzk_status st = c1_parse(&f, bad, n, &err);
        if (st == CUZK_OK) {
            assert_non_null(f);
        } else {
            assert_null(f);
            assert_true(err.text[0] != '\0');
            assert_int_equal(err.status, st);
        }
        c1_destroy(&f);
        assert_int_equal(mem_usage_of(MEM_INPUT).live, live);
    }
    free(bad);
    mem_free(json);
}

// A NULL error is allowed everywhere, and destroy takes what is not there.
static void null_arguments(void **state) {
    (void)state;
    c1_file *f = NULL;
    assert_int_equal(c1_parse(&f, (const uint8_t *)"[", 1, NULL), F);
    assert_int_equal(
        c1_parse(&f, (const uint8_t *)"{\"SectorNum\":1,\"Phase1Out\":\"e30=\",\"SectorSize\":1}", 47, NULL), F);
    c1_destroy(&f);
    c1_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_are_named), cmocka_unit_test(texts_that_are_no_file),
        cmocka_unit_test(around_the_file),  cmocka_unit_test(deep_nesting),
        cmocka_unit_test(truncations),      cmocka_unit_test(damage),
        cmocka_unit_test(null_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
