// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The parameter files of a circuit in a folder: where they are, whether they belong together, making test ones.
#ifndef CUZK_API_PARAMS_H
#define CUZK_API_PARAMS_H

#include <stdbool.h>

#include "circuit/porep/shape.h"
#include "groth16/key.h"

enum { PARAMS_PATH_MAX = 4096, PARAMS_LABEL_MAX = 256 };

typedef struct params_files {
    char dir[PARAMS_PATH_MAX];
    char params[PARAMS_PATH_MAX]; // DIR/v28-<identifier>.params
    char vk[PARAMS_PATH_MAX];
    char meta[PARAMS_PATH_MAX];
    char insecure[PARAMS_PATH_MAX]; // the marker of test parameters
    char size_name[16];             // "2KiB", for messages
} params_files;

// Names only; nothing is opened. CUZK_ERR_USAGE when the path is too long.
CUZK_MUST_USE cuzk_status params_locate(params_files *out, const char *dir, const porep_shape *shape, cuzk_error *err);

// label becomes the label in the marker, "" when there is no marker. A marker that cannot be read is an error: it
// must not be taken for "secure".
CUZK_MUST_USE cuzk_status params_insecure_label(char label[PARAMS_LABEL_MAX], const params_files *files,
                                                cuzk_error *err);

// The verifying key, checked in full; CUZK_ERR_MISMATCH unless it is for n_inputs public inputs.
CUZK_MUST_USE cuzk_status params_load_vk(groth16_vk **out, const params_files *files, size_t n_inputs, cuzk_error *err);

// In milliseconds: does .params begin with the bytes of .vk, and do its sections fill it exactly? The points
// themselves are looked at when the key is loaded.
CUZK_MUST_USE cuzk_status params_check_layout(const params_files *files, cuzk_error *err);

// What params_make_test found and did.
typedef struct params_outcome {
    bool kept;     // all files were there and whole; nothing was made
    bool repaired; // .params was whole, small files beside it were made again
    uint64_t params_bytes, vk_bytes;
} params_outcome;

// INSECURE parameters from a label, with the marker beside them. The marker is written first, so that there is no
// moment at which such files lie there unmarked. Whole files are kept unless `force`; files without a marker are never
// replaced, they may be production parameters. Each file appears complete or not at all.
CUZK_MUST_USE cuzk_status params_make_test(params_outcome *out, const params_files *files, const porep_shape *shape,
                                           const char *label, bool force, pool *p, const observer *o, cuzk_error *err);

#endif
