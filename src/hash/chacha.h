// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The ChaCha block function (RFC 8439), with the number of rounds as an argument: Filecoin draws the graph with ChaCha8
// and synthetic challenges with ChaCha20.
#ifndef CUZK_HASH_CHACHA_H
#define CUZK_HASH_CHACHA_H

#include <stdint.h>

// 64 bytes of key stream for one block. rounds is even. With an all-zero nonce and a counter below 2^32 this is also
// Bernstein's original variant with its 64-bit counter.
void chacha_block(uint8_t out[64], const uint8_t key[32], uint32_t counter, const uint8_t nonce[12], unsigned rounds);

#endif
