// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The trace sink: a digest that says where it is. Every N constraints it writes a line
// "constraints inputs aux first-16-hex-of-digest scope/path/label", to find the first difference of two circuits.
#ifndef CUZK_R1CS_TRACE_H
#define CUZK_R1CS_TRACE_H

#include "r1cs/digest.h"
#include "r1cs/scope.h"

typedef struct trace_sink {
    digest_sink digest; // first
    scope_stack scopes;
    uint64_t every;
    void (*write)(void *ctx, const char *line, size_t len); // line ends with "\n", then a NUL not counted in len
    void *ctx;
} trace_sink;

// every > 0.
void trace_init(trace_sink *s, uint64_t every, void (*write)(void *ctx, const char *line, size_t len), void *ctx,
                const observer *obs);
void trace_destroy(trace_sink *s);

#endif
