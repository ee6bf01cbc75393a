// SPDX-License-Identifier: MIT OR Apache-2.0
#include "gadget/sha256.h"

#include <string.h>

#include "gadget/ports.h"
#include "gadget/sha256_native.h"
#include "hash/sha256.h"

// out := (w >>> r0) ^ (w >>> r1) ^ (w >>> r2), the last one shifted instead of rotated if asked.
static void sigma(cs *s, word *out, const word *w, const uint32_t r[3], bool shift, const char *first,
                  const char *second) {
    word t;
    cs_enter(s, first, -1);
    word_xor(s, &t, (word_view){w, r[0], false}, (word_view){w, r[1], false});
    cs_leave(s);
    cs_enter(s, second, -1);
    word_xor(s, out, (word_view){&t, 0, false}, (word_view){w, r[2], shift});
    cs_leave(s);
}

static void sum_in(word_eq *eq, const char *scope, word *out, const word *const *operands, uint32_t n) {
    cs_enter(eq->s, scope, -1);
    word_sum(eq, out, operands, n);
    cs_leave(eq->s);
}

static void extend(sha256_gadget *h, word w[64]) {
    static const uint32_t r0[3] = {7, 18, 3}, r1[3] = {17, 19, 10};
    for (uint32_t i = 16; i < 64; i++) {
        word s0, s1;
        cs_enter(h->s, "w extension %u", i);
        sigma(h->s, &s0, &w[i - 15], r0, true, "first xor for s0", "second xor for s0");
        sigma(h->s, &s1, &w[i - 2], r1, true, "first xor for s1", "second xor for s1");
        sum_in(&h->eq, "computation of w[i]", &w[i], (const word *const[]){&w[i - 16], &s0, &w[i - 7], &s1}, 4);
        cs_leave(h->s);
    }
}

// The additions that give a and e of a round are put off to the next round (or to the final addition), so that they
// take the next operands with them: one sum instead of two.
static void compress_gadget(sha256_gadget *h, const boolean block[512]) {
    static const uint32_t r0[3] = {2, 13, 22}, r1[3] = {6, 11, 25};
    cs *s = h->s;
    word w[64];
    for (uint32_t i = 0; i < 16; i++) {
        for (uint32_t j = 0; j < 32; j++) w[i].bits[j] = block[32 * i + 31 - j];
    }
    word_eq_init(&h->eq, s);
    extend(h, w);

    // a_i and e_i live in rings: before round i, slot i & 7 is the newest (a, e), then b, c, d (f, g, h) behind it.
    word a[8], e[8], k, s0, s1, ch, maj;
    for (uint32_t j = 0; j < 4; j++) {
        a[(8 - j) & 7] = h->state[j];
        e[(8 - j) & 7] = h->state[4 + j];
    }
    // Operands of the next e and the next a; the pointers into the rings stay valid until round i + 1 has used them.
    const word *next_e[7], *next_a[8];
    for (uint32_t i = 0; i < 64; i++) {
        word *new_a = &a[i & 7], *new_e = &e[i & 7];
        const word *b = &a[(i + 7) & 7], *c = &a[(i + 6) & 7], *d = &a[(i + 5) & 7];
        const word *f = &e[(i + 7) & 7], *g = &e[(i + 6) & 7], *hh = &e[(i + 5) & 7];
        word new_s0, new_s1, new_ch, new_maj;
        cs_enter(s, "compression round %u", i);
        if (i > 0) sum_in(&h->eq, "deferred e computation", new_e, next_e, 6);
        sigma(s, &new_s1, new_e, r1, false, "first xor for s1", "second xor for s1");
        cs_enter(s, "ch", -1);
        word_choose(s, &new_ch, new_e, f, g);
        cs_leave(s);
        if (i > 0) sum_in(&h->eq, "deferred a computation", new_a, next_a, 7);
        sigma(s, &new_s0, new_a, r0, false, "first xor for s0", "second xor for s0");
        cs_enter(s, "maj", -1);
        word_majority(s, &new_maj, new_a, b, c);
        cs_leave(s);
        cs_leave(s);

        s0 = new_s0, s1 = new_s1, ch = new_ch, maj = new_maj;
        word_constant(&k, SHA256_K[i]);
        const word *const temp1[5] = {hh, &s1, &ch, &k, &w[i]};
        memcpy(next_e, temp1, sizeof temp1);
        memcpy(next_a, temp1, sizeof temp1);
        next_e[5] = d;
        next_a[5] = &s0, next_a[6] = &maj;
    }

    // After 64 rounds a and e are still sums to be done; b, c, d are slots 63, 62, 61 of the ring.
    word out[8];
    const uint32_t at[3] = {63 & 7, 62 & 7, 61 & 7};
    static const char *const scopes[8] = {"deferred h0 computation", "new h1", "new h2", "new h3",
                                          "deferred h4 computation", "new h5", "new h6", "new h7"};
    next_a[7] = &h->state[0];
    sum_in(&h->eq, scopes[0], &out[0], next_a, 8);
    for (uint32_t j = 0; j < 3; j++) {
        sum_in(&h->eq, scopes[1 + j], &out[1 + j], (const word *const[]){&h->state[1 + j], &a[at[j]]}, 2);
    }
    next_e[6] = &h->state[4];
    sum_in(&h->eq, scopes[4], &out[4], next_e, 7);
    for (uint32_t j = 0; j < 3; j++) {
        sum_in(&h->eq, scopes[5 + j], &out[5 + j], (const word *const[]){&h->state[5 + j], &e[at[j]]}, 2);
    }
    word_eq_finish(&h->eq);
    memcpy(h->state, out, sizeof out);
}

static void compress(sha256_gadget *h, const boolean block[512]) {
    if (cs_is_native(h->s)) {
        sha256_native_block(h->s, h->state, block);
        return;
    }
    if (!cs_has_templates(h->s)) {
        compress_gadget(h, block);
        return;
    }
    port in[256 + 512], out[256];
    for (uint32_t i = 0; i < 256; i++) in[i] = port_of_boolean(h->state[i / 32].bits[i % 32]);
    // In order of words and bits, least significant first: wires that follow each other stay together.
    for (uint32_t i = 0; i < 512; i++) in[256 + i] = port_of_boolean(block[(i & ~31u) + 31 - (i & 31)]);
    const template_call call = {.name = "sha256 block", .n_in = 256 + 512, .n_out = 256, .in = in, .out = out};
    if (cs_template_begin(h->s, &call)) {
        for (uint32_t i = 0; i < 256; i++) h->state[i / 32].bits[i % 32] = boolean_of_port(out[i]);
        return;
    }
    compress_gadget(h, block);
    for (uint32_t i = 0; i < 256; i++) out[i] = port_of_boolean(h->state[i / 32].bits[i % 32]);
    cs_template_end(h->s, &call);
}

static void block_full(sha256_gadget *h, const boolean block[512]) {
    cs_enter(h->s, "block %u", h->blocks++);
    compress(h, block);
    cs_leave(h->s);
}

void sha256_gadget_begin(sha256_gadget *h, cs *s) {
    h->s = s;
    h->n = h->blocks = 0;
    h->len = 0;
    for (uint32_t i = 0; i < 8; i++) word_constant(&h->state[i], SHA256_IV[i]);
}

void sha256_gadget_put(sha256_gadget *h, const boolean *bits, size_t n) {
    h->len += n;
    while (n > 0) {
        const size_t room = 512 - h->n, run = n < room ? n : room;
        memcpy(h->block + h->n, bits, run * sizeof *bits);
        h->n += (uint32_t)run;
        bits += run;
        n -= run;
        if (h->n == 512) {
            h->n = 0;
            block_full(h, h->block);
        }
    }
}

void sha256_gadget_end(sha256_gadget *h, boolean digest[256]) {
    const uint64_t len = h->len;
    const boolean one = boolean_constant(true), zero = boolean_constant(false);
    sha256_gadget_put(h, &one, 1);
    while (h->n != 512 - 64) sha256_gadget_put(h, &zero, 1);
    for (uint32_t i = 0; i < 64; i++) {
        const boolean b = boolean_constant((len >> (63 - i) & 1) != 0);
        sha256_gadget_put(h, &b, 1);
    }
    for (uint32_t i = 0; i < 256; i++) digest[i] = h->state[i / 32].bits[31 - i % 32];
}

void sha256_gadget_digest(sha256_gadget *h, cs *s, boolean digest[256], const boolean *bits, size_t n) {
    sha256_gadget_begin(h, s);
    sha256_gadget_put(h, bits, n);
    sha256_gadget_end(h, digest);
}
