// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The wires of a SHA-256 block without its constraints: the boolean gadgets, 32 bits at a time.
#ifndef CUZK_GADGET_SHA256_NATIVE_H
#define CUZK_GADGET_SHA256_NATIVE_H

#include "gadget/word.h"

// state := compress(state, block), allocating the same wires in the same order as the gadget, whichever bits of state
// and block are constants or negations. For sinks that are native (cs_is_native).
void sha256_native_block(cs *s, word state[8], const boolean block[512]);

#endif
