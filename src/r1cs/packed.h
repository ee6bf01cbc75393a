// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A witness with its bits as bits: about one byte a wire where nearly all wires are bits, in place of 32.
#ifndef CUZK_R1CS_PACKED_H
#define CUZK_R1CS_PACKED_H

#include "r1cs/cs.h"

// Both bit vectors have a bit for each aux wire, in order, and zeros up to the end of their last word.
typedef struct packed_witness {
    fr *inputs;           // with the constant one
    uint64_t *bits;       // values of the bit wires; zero where the wire is a field element
    uint64_t *field_mask; // set: the wire is a field element
    fr *fields;           // their values, in order of wires
    uint32_t *ranks;      // field elements before each run of PACKED_RANK_WORDS words of the mask
    uint32_t n_inputs, n_aux, n_fields;
} packed_witness;

enum { PACKED_RANK_WORDS = 8 };

// The value of any wire that is there.
void packed_value(fr *out, const packed_witness *w, wire at);
// The number among the field elements of aux wire i, if it is one.
static inline uint32_t packed_field_number(const packed_witness *w, uint32_t i) {
    const uint32_t end = i >> 6, first = end & ~(uint32_t)(PACKED_RANK_WORDS - 1);
    uint32_t n = w->ranks[end / PACKED_RANK_WORDS];
    for (uint32_t k = first; k < end; k++) n += (uint32_t)__builtin_popcountll(w->field_mask[k]);
    return n + (uint32_t)__builtin_popcountll(w->field_mask[end] & ((UINT64_C(1) << (i & 63)) - 1));
}
uint64_t packed_words(const packed_witness *w); // of a bit vector
uint64_t packed_bytes(const packed_witness *w); // in memory
// Overwrites the values and frees them.
void packed_destroy(packed_witness **w);

// The sink that fills one: it has values, wants no rows, and takes bits by the word, so gadgets compute natively.
typedef struct packed_sink {
    cs head; // first
    packed_witness *w;
    uint64_t aux_cap, fields_cap, inputs_cap;
} packed_sink;

// Room for so many wires is there from the beginning; more is found when needed.
void packed_sink_init(packed_sink *s, uint32_t inputs, uint32_t aux, uint32_t fields);
// The witness, or the sink's failure. The sink is empty in either case.
CUZK_MUST_USE cuzk_status packed_sink_finish(packed_witness **out, packed_sink *s, cuzk_error *err);

#endif
