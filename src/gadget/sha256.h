// SPDX-License-Identifier: MIT OR Apache-2.0
//
// SHA-256 (FIPS 180-4) of booleans. Follows bellperson 0.27 (gadgets/sha256.rs) constraint by constraint. Streaming, so
// that the 39 nodes of a label need not be copied into one message: the constraints of a block appear when it is full.
#ifndef CUZK_GADGET_SHA256_H
#define CUZK_GADGET_SHA256_H

#include "gadget/word.h"

typedef struct sha256_gadget {
    cs *s;
    word state[8];
    boolean block[512];
    uint32_t n;      // bits in block
    uint64_t len;    // bits so far
    uint32_t blocks; // done, for scope names
    word_eq eq;
} sha256_gadget; // about 150 KiB: on the stack of a thread with the usual 8 MiB

// The caller enters the hash's scope before begin and leaves it after end.
void sha256_gadget_begin(sha256_gadget *h, cs *s);
// Bits of each byte most significant first.
void sha256_gadget_put(sha256_gadget *h, const boolean *bits, size_t n);
void sha256_gadget_end(sha256_gadget *h, boolean digest[256]);
// One message.
void sha256_gadget_digest(sha256_gadget *h, cs *s, boolean digest[256], const boolean *bits, size_t n);

#endif
