// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Poseidon of numbers: the "legacy" circuit of neptune 11 (circuit.rs) that Filecoin's parameters were made for.
//
// Linear layers cost nothing: they are kept as linear combinations over the outputs of earlier S-boxes, and a wire is
// made only for what enters the next S-box. Which combinations those are depends on the arity alone, so they are worked
// out once per arity and copied into each hash.
#ifndef CUZK_GADGET_POSEIDON_H
#define CUZK_GADGET_POSEIDON_H

#include "gadget/num.h"

// H(in[0 .. arity-1]); arity 2, 4, 8 or 11. The caller enters the hash's scope.
num poseidon_gadget(cs *s, const num *in, uint32_t arity);

#endif
