// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Why proofs of this service may be worth nothing: parameters whose secrets are public, blinding that can be repeated.
// Whoever looks at the service is told, not the log's readers alone.
#ifndef CUZK_SERVICE_INSECURE_H
#define CUZK_SERVICE_INSECURE_H

#include <stdbool.h>
#include <stddef.h>

enum { INSECURE_MAX = 11, INSECURE_TEXT_MAX = 512 }; // a reason for each of ten sector sizes, and the blinding

typedef struct insecure_reasons {
    char text[INSECURE_MAX][INSECURE_TEXT_MAX];
    size_t n;
} insecure_reasons;

// Looks for the markers of test parameters in `params_dir` (NULL: there are none); reads at most one small file a
// sector size.
void insecure_find(insecure_reasons *out, const char *params_dir, bool test_blinding);

#endif
