// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Merkle paths. Follows storage-proofs-core 19.1 (gadgets/por.rs) and filecoin-hashers 14.1 constraint by constraint.
#ifndef CUZK_GADGET_MERKLE_H
#define CUZK_GADGET_MERKLE_H

#include "gadget/num.h"

typedef enum merkle_hash { MERKLE_SHA256, MERKLE_POSEIDON } merkle_hash;

// A tree of trees: base_steps steps of base_arity, then one of sub_arity and one of top_arity where not 0.
typedef struct merkle_shape {
    merkle_hash hash;
    uint32_t base_arity, base_steps, sub_arity, top_arity; // arities 2, 4, 8
} merkle_shape;

enum { MERKLE_MAX_BITS = 64 };

// Steps of a path, and bits of an index, of that shape.
uint32_t merkle_shape_steps(const merkle_shape *shape);
uint32_t merkle_shape_bits(const merkle_shape *shape);
// Arity of step i.
uint32_t merkle_shape_arity(const merkle_shape *shape, uint32_t i);

typedef struct merkle_values {
    uint32_t index;     // place among the siblings
    const fr *siblings; // arity - 1 of them
} merkle_values;

// leaf is in the tree of that root, at a place that becomes a public input (the index bits, packed). `steps` has
// merkle_shape_steps entries, or is NULL in a system without values. The caller enters the scope.
void merkle_enforce_inclusion(cs *s, const merkle_shape *shape, const num *leaf, const merkle_values *steps,
                              const num *root);

// SHA-256 of two numbers of 255 bits, as a number: the digest read little-endian without its two highest bits.
num merkle_sha256_pair(cs *s, const num pair[2]);

#endif
