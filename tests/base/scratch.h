// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A directory for one test, removed with all it holds.
#ifndef CUZK_TESTS_SCRATCH_H
#define CUZK_TESTS_SCRATCH_H

#include <stddef.h>

enum { SCRATCH_PATH = 1024 };

typedef struct scratch {
    char dir[SCRATCH_PATH / 2];
} scratch;

// Each of these ends the test if it cannot do its work.
void scratch_make(scratch *s);
void scratch_remove(scratch *s);
void scratch_path(const scratch *s, char path[SCRATCH_PATH], const char *name);
void scratch_put(const scratch *s, const char *name, const void *data, size_t len); // makes parents too
size_t scratch_count(const scratch *s);                                             // entries in the directory

#endif
