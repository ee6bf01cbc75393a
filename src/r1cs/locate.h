// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The locate sink: finds the scope of one constraint, by a run without values that stops there.
#ifndef CUZK_R1CS_LOCATE_H
#define CUZK_R1CS_LOCATE_H

#include "r1cs/cs.h"
#include "r1cs/scope.h"

typedef struct locate_sink {
    cs head; // first; its status is CUZK_ERR_CANCELLED once the constraint was found
    uint64_t row;
    scope_stack scopes;
    bool found;
    char text[SCOPE_TEXT_MAX]; // scope and label, once found
} locate_sink;

void locate_init(locate_sink *s, uint64_t row); // nothing to destroy

#endif
