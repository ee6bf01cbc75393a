// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the checks of both groups share (subgroup_tmpl.c).
#ifndef CUZK_GROTH16_SUBGROUP_H
#define CUZK_GROTH16_SUBGROUP_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    KEY_CLASSES = 4096,
    KEY_PASSES = 2,
    // Below this, testing the points one by one is exact and no slower than testing the sums of two passes.
    ONE_BY_ONE_BELOW = KEY_CLASSES * KEY_PASSES,
};

// n classes below KEY_CLASSES that nobody can foresee.
CUZK_MUST_USE cuzk_status key_draw_classes(uint16_t *class, size_t n, cuzk_error *err);
// The error of point i of n, at that byte of the file.
cuzk_status key_bad_point(const char *path, const char *section, size_t i, size_t n, uint64_t at, cuzk_error *err);
// The sum of a class failed, so one of its members must, but none does.
cuzk_status key_member_missing(const char *path, const char *section, cuzk_error *err);

#endif
