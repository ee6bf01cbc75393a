// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_FUZZ_H
#define CUZK_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A promise of the function under test, also in builds without assert().
static inline void fuzz_require(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "broken promise: %s\n", what);
    abort();
}
// Failures carry a status and one printable line.
static inline void fuzz_require_error(cuzk_status status, const cuzk_error *err) {
    fuzz_require(status != CUZK_OK && err->status == status, "the status is in the error");
    fuzz_require(err->text[0] != '\0', "the error says something");
    fuzz_require(memchr(err->text, '\0', sizeof err->text) != 0, "the text ends");
    for (const char *c = err->text; *c != '\0'; c++)
        fuzz_require((unsigned char)*c >= 0x20 && *c != 0x7f, "the text is one line");
    fuzz_require(status != CUZK_ERR_INTERNAL, "input is not an internal error");
}

#endif
