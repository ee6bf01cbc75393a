// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Kind "toy", for tests: small circuits of any size and number of partitions, with keys made from a label everybody
// knows. Keys are called by their rows: "toy-10" has 2^10.
#ifndef CUZK_SERVICE_TOYS_H
#define CUZK_SERVICE_TOYS_H

#include "api/pce.h"
#include "engine/provider.h"

enum { TOYS_MIN_LOG = 4, TOYS_MAX_LOG = 18, TOYS_DEFAULT_LOG = 10, TOYS_INPUT_MAX = 16 };
#define TOYS_LABEL "cuzk toy circuits"

// `programs` is borrowed.
CUZK_MUST_USE cuzk_status toys_create(provider **out, pce_cache *programs, cuzk_error *err);
void toys_destroy(provider **p); // no request may be left

// What the provider takes as input: the shape, then the seed. log_rows 0: TOYS_DEFAULT_LOG. CUZK_ERR_USAGE naming the
// field of the request for a shape there is not.
CUZK_MUST_USE cuzk_status toys_input(uint8_t out[TOYS_INPUT_MAX], size_t *out_len, uint64_t log_rows,
                                     uint64_t partitions, const uint8_t *seed, size_t seed_len, cuzk_error *err);

#endif
