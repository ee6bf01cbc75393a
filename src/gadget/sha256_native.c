// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Which bits of an operation get a wire, and whether the wire holds the result or its negation, depends on which
// operands are constants and which are negated. All of that is worked out here for 32 bits at once, in masks, following
// the cases of gadget/boolean.c in their order; the round follows gadget/sha256.c. Tests compare every wire.
#include "gadget/sha256_native.h"

#include "hash/sha256.h"

// 32 booleans: values, which are constants, which are negated wires (never both).
typedef struct words {
    uint32_t value, constant, negated;
} words;

// Bits of new wires. A block has at most 48 (4 * 32 + 34) + 64 * 224 + 64 * 2 * 35 + 6 * 33 of them.
enum { MAX_BITS = 27000, MAX_WORDS = MAX_BITS / 64 + 2 };
typedef struct stream {
    uint64_t *out, last; // last: bits that do not fill a word yet
    uint32_t n;          // bits so far
} stream;

// n <= 64 bits; those above n must be zero.
static inline void put(stream *o, uint64_t bits, uint32_t n) {
    const uint32_t at = o->n & 63;
    o->last |= bits << at;
    if (at + n >= 64) {
        *o->out++ = o->last;
        o->last = at == 0 ? 0 : bits >> (64 - at);
    }
    o->n += n;
}

// The bits under the mask, packed.
static inline void put_masked(stream *o, uint64_t bits, uint64_t mask) {
    bits &= mask;
    if ((mask & (mask + 1)) == 0) { // from the lowest on: nearly always
        put(o, bits, (uint32_t)__builtin_popcountll(mask));
        return;
    }
    uint64_t packed = 0;
    uint32_t n = 0;
    for (uint64_t m = mask; m != 0; m &= m - 1) packed |= (bits >> __builtin_ctzll(m) & 1) << n++;
    put(o, packed, n);
}

// Bit i to bit 2i.
static inline uint64_t spread(uint32_t x) {
    uint64_t v = x;
    v = (v | v << 16) & UINT64_C(0x0000ffff0000ffff);
    v = (v | v << 8) & UINT64_C(0x00ff00ff00ff00ff);
    v = (v | v << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    v = (v | v << 2) & UINT64_C(0x3333333333333333);
    return (v | v << 1) & UINT64_C(0x5555555555555555);
}

static words constant(uint32_t value) { return (words){value, ~UINT32_C(0), 0}; }
static words not(words a) { return (words){~a.value, a.constant, ~a.negated & ~a.constant}; }

static uint32_t rotate32(uint32_t x, uint32_t n) { return x >> n | x << (32 - n); }
static words rotate(words a, uint32_t n) {
    return (words){rotate32(a.value, n), rotate32(a.constant, n), rotate32(a.negated, n)};
}
static words shift(words a, uint32_t n) {
    return (words){a.value >> n, a.constant >> n | ~(~UINT32_C(0) >> n), a.negated >> n};
}

static words xor
        (stream * o, words a, words b) {
            words r = {a.value ^ b.value, a.constant & b.constant, 0};
            // Of two wires: the xor of the wires, negated if one of them is. With a constant: the other, negated by a
            // true one.
            r.negated = (a.negated ^ b.negated ^ (a.constant & a.value) ^ (b.constant & b.value)) & ~r.constant;
            put_masked(o, r.value ^ r.negated, ~(a.constant | b.constant));
            return r;
        }

        // Its wires are not put yet: *wires says which bits have one.
        static words
    and (uint32_t * wires, words a, words b) {
    *wires = ~(a.constant | b.constant);
    return (words){a.value & b.value, (a.constant & ~a.value) | (b.constant & ~b.value) | (a.constant & b.constant),
                   (a.constant & a.value & b.negated) | (b.constant & b.value & a.negated)};
}

// A result that is put together case by case; the first case that takes a bit keeps it.
typedef struct cases {
    words r;
    uint32_t wires, left; // left: bits no case has taken
} cases;
static void take(cases *c, uint32_t mask, words x, uint32_t wires) {
    mask &= c->left;
    c->left &= ~mask;
    c->r.constant |= x.constant & mask;
    c->r.negated |= x.negated & mask;
    c->wires |= wires & mask;
}
static void take_and(cases *c, uint32_t mask, words a, words b) {
    uint32_t wires;
    const words r = and(&wires, a, b);
    take(c, mask, r, wires);
}
static void take_not_and(cases *c, uint32_t mask, words a, words b) {
    uint32_t wires;
    const words r = and(&wires, a, b);
    take(c, mask, not(r), wires);
}

static words choose(stream *o, words a, words b, words c) {
    cases k = {.r.value = (a.value & b.value) | (~a.value & c.value), .left = ~UINT32_C(0)};
    if ((a.constant | b.constant | c.constant) != 0) {
        take(&k, a.constant & b.constant & c.constant, constant(0), 0);
        take(&k, a.constant & ~a.value, c, 0);
        take_and(&k, b.constant & ~b.value, not(a), c);
        take_and(&k, c.constant & ~c.value, a, b);
        take_not_and(&k, c.constant, a, not(b));
        take_not_and(&k, b.constant, not(a), not(c));
    }
    put_masked(o, k.r.value ^ k.r.negated, k.wires | k.left);
    return k.r;
}

static words majority(stream *o, words a, words b, words c) {
    cases k = {.r.value = (a.value & b.value) | (a.value & c.value) | (b.value & c.value), .left = ~UINT32_C(0)};
    if ((a.constant | b.constant | c.constant) != 0) {
        take(&k, a.constant & b.constant & c.constant, constant(0), 0);
        take_and(&k, a.constant & ~a.value, b, c);
        take_and(&k, b.constant & ~b.value, a, c);
        take_and(&k, c.constant & ~c.value, a, b);
        take_not_and(&k, c.constant, not(a), not(b));
        take_not_and(&k, b.constant, not(a), not(c));
        take_not_and(&k, a.constant, not(b), not(c));
    }
    // Where nothing is constant there are two wires: the result, then b and c.
    const uint32_t one = k.wires | k.left, two = k.left;
    put_masked(o, spread(k.r.value ^ k.r.negated) | spread(b.value & c.value) << 1, spread(one) | spread(two) << 1);
    return k.r;
}

// *at: where the bits of the result begin.
static words sum(stream *o, uint32_t *at, const words *const *operands, uint32_t n) {
    uint32_t constants = ~UINT32_C(0), bits = 0;
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        constants &= operands[i]->constant;
        total += operands[i]->value;
    }
    *at = o->n;
    if (constants == ~UINT32_C(0)) return constant((uint32_t)total);
    for (uint64_t max = (uint64_t)n * UINT32_MAX; max != 0; max >>= 1) bits++;
    put(o, total, bits);
    return (words){(uint32_t)total, 0, 0};
}

static words sigma(stream *o, words w, const uint32_t r[3], bool shifted) {
    const words t = xor(o, rotate(w, r[0]), rotate(w, r[1]));
    return xor(o, t, shifted ? shift(w, r[2]) : rotate(w, r[2]));
}

// Of 32 booleans, bit i at in[i * step].
static words pack(const boolean *in, ptrdiff_t step) {
    words w = {0, 0, 0};
    for (uint32_t i = 0; i < 32; i++, in += step) {
        w.value |= (uint32_t)in->value << i;
        w.constant |= (uint32_t)(in->kind == BOOLEAN_CONSTANT) << i;
        w.negated |= (uint32_t)(in->kind == BOOLEAN_NOT) << i;
    }
    return w;
}

// The rounds; at[j] is where the bits of word j of the new state begin.
static void compress(stream *o, words state[8], uint32_t at[8], const boolean block[512]) {
    static const uint32_t e0[3] = {7, 18, 3}, e1[3] = {17, 19, 10}, c0[3] = {2, 13, 22}, c1[3] = {6, 11, 25};
    words w[64];
    uint32_t skip;
    for (uint32_t i = 0; i < 16; i++) w[i] = pack(block + 32 * i + 31, -1);
    for (uint32_t i = 16; i < 64; i++) {
        const words s0 = sigma(o, w[i - 15], e0, true), s1 = sigma(o, w[i - 2], e1, true);
        w[i] = sum(o, &skip, (const words *const[]){&w[i - 16], &s0, &w[i - 7], &s1}, 4);
    }

    // Slots of a and e as in gadget/sha256.c: before round i, i & 7 is the newest.
    words a[8], e[8];
    for (uint32_t j = 0; j < 4; j++) {
        a[(8 - j) & 7] = state[j];
        e[(8 - j) & 7] = state[4 + j];
    }
    words s0, s1, ch, maj, k;
    const words *next_e[7], *next_a[8];
    for (uint32_t i = 0; i < 64; i++) {
        words *new_a = &a[i & 7], *new_e = &e[i & 7];
        const words *b = &a[(i + 7) & 7], *c = &a[(i + 6) & 7], *d = &a[(i + 5) & 7];
        const words *f = &e[(i + 7) & 7], *g = &e[(i + 6) & 7], *h = &e[(i + 5) & 7];
        if (i > 0) *new_e = sum(o, &skip, next_e, 6);
        const words new_s1 = sigma(o, *new_e, c1, false), new_ch = choose(o, *new_e, *f, *g);
        if (i > 0) *new_a = sum(o, &skip, next_a, 7);
        const words new_s0 = sigma(o, *new_a, c0, false);
        maj = majority(o, *new_a, *b, *c);
        s0 = new_s0, s1 = new_s1, ch = new_ch;
        k = constant(SHA256_K[i]);
        next_e[0] = next_a[0] = h;
        next_e[1] = next_a[1] = &s1;
        next_e[2] = next_a[2] = &ch;
        next_e[3] = next_a[3] = &k;
        next_e[4] = next_a[4] = &w[i];
        next_e[5] = d;
        next_a[5] = &s0, next_a[6] = &maj;
    }

    words out[8];
    next_a[7] = &state[0];
    out[0] = sum(o, &at[0], next_a, 8);
    for (uint32_t j = 1; j < 4; j++) {
        out[j] = sum(o, &at[j], (const words *const[]){&state[j], &a[(64 - j) & 7]}, 2);
    }
    next_e[6] = &state[4];
    out[4] = sum(o, &at[4], next_e, 7);
    for (uint32_t j = 1; j < 4; j++) {
        out[4 + j] = sum(o, &at[4 + j], (const words *const[]){&state[4 + j], &e[(64 - j) & 7]}, 2);
    }
    for (uint32_t j = 0; j < 8; j++) state[j] = out[j];
}

void sha256_native_block(cs *s, word state[8], const boolean block[512]) {
    uint64_t bits[MAX_WORDS];
    stream o = {.out = bits};
    words st[8];
    uint32_t at[8];
    for (uint32_t j = 0; j < 8; j++) st[j] = pack(state[j].bits, 1);
    compress(&o, st, at, block);
    *o.out = o.last;
    const wire first = cs_alloc_bits(s, bits, o.n);
    for (uint32_t j = 0; j < 8; j++) {
        for (uint32_t i = 0; i < 32; i++) {
            const bool v = (st[j].value >> i & 1) != 0;
            state[j].bits[i] = st[j].constant != 0 ? boolean_constant(v) : (boolean){first + at[j] + i, BOOLEAN_IS, v};
        }
    }
}
