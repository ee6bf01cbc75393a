// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The digest sink: hashes the constraint stream, counts, and keeps nothing but density bits.
//
// The canonical stream is the specification of a circuit. One record a constraint, in the order enforced: for A, then
// B, then C: u32 LE number of terms; then each term, inputs before aux, ascending index: u8 kind (0 input, 1 aux), u32
// LE index, 32 bytes LE canonical coefficient.
#ifndef CUZK_R1CS_DIGEST_H
#define CUZK_R1CS_DIGEST_H

#include "base/observer.h"
#include "hash/sha256.h"
#include "r1cs/bitmap.h"
#include "r1cs/cs.h"

typedef struct digest_coeff digest_coeff;

typedef struct digest_sink {
    cs head; // first: a pointer to the sink is a pointer to its head
    sha256 hash;
    uint8_t *buf; // stream bytes not hashed yet
    size_t len;
    digest_coeff *cache; // canonical bytes of recent coefficients
    uint8_t minus_one_bytes[32];
    fr minus_one;
    uint64_t nnz[3];
    bitmap a_aux, b_aux, b_inputs; // variables that occur
    const observer *obs;           // may be NULL; progress and cancellation
} digest_sink;

// On failure the status is in s->head and every later call does nothing; destroy in any case.
void digest_init(digest_sink *s, const observer *obs);
void digest_destroy(digest_sink *s);
// SHA-256 of the stream so far; more may follow.
void digest_so_far(uint8_t out[32], digest_sink *s);

// The operations, for sinks that are a digest and something more. `s` must be the head of a digest_sink.
void digest_init_as(digest_sink *s, const cs_ops *ops, const observer *obs);
void digest_on_alloc(cs *s, wire_kind kind, const fr *value);
void digest_on_alloc_input(cs *s, const fr *value);
void digest_on_enforce(cs *s, lc_view a, lc_view b, lc_view c);

#endif
