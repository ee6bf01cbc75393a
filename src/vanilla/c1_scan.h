// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The short cut for what a C1 file is made of: arrays of 32 numbers below 256. Whoever does not look exactly so is left
// to the parser, which finds the words for what is wrong.
#ifndef CUZK_VANILLA_C1_SCAN_H
#define CUZK_VANILLA_C1_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// "[d,d,...,d]" at `at`: 32 numbers 0..255 as JSON writes them, no space. True: *len is its length and `out` has the
// bytes. False: anything else, or fewer than 132 bytes before `end`.
bool c1_scan_hash(uint8_t out[32], size_t *len, const uint8_t *at, const uint8_t *end);

// The first '[' in [at, end) that follows ':', ',' or '[' directly and is outside strings; `end` if there is none. `at`
// is outside strings, and the byte before it may be read.
const uint8_t *c1_scan_array(const uint8_t *at, const uint8_t *end);

#endif
