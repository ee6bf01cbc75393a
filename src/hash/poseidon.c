// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The Poseidon permutation in its optimised and its textbook form.
#include "hash/poseidon.h"

#include <assert.h>
#include <stddef.h>

#include "field/limb.h"

// -r^-1 mod 2^64, and 4r, 2r, r on five limbs for the reduction below.
static const uint64_t NEG_INV = UINT64_C(0xfffffffeffffffff);
static const uint64_t MULTIPLES[3][5] = {
    {UINT64_C(0xfffffffc00000004), UINT64_C(0x4ef6900bfff96ffb), UINT64_C(0xcce7602026876015),
     UINT64_C(0xcfb69d4ca675f520), 1},
    {UINT64_C(0xfffffffe00000002), UINT64_C(0xa77b4805fffcb7fd), UINT64_C(0x6673b0101343b00a),
     UINT64_C(0xe7db4ea6533afa90), 0},
    {UINT64_C(0xffffffff00000001), UINT64_C(0x53bda402fffe5bfe), UINT64_C(0x3339d80809a1d805),
     UINT64_C(0x73eda753299d7d48), 0},
};

// The 16 partial products of a b by column. Low and high halves have sums of their own, so nothing carries from one
// column to the next until the end: no chain of carries, and compilers do well with it.
static inline void accumulate(u128 lo[7], u128 hi[7], const fr *a, const fr *b) {
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 4; j++) {
            u128 p = (u128)a->l[i] * b->l[j];
            lo[i + j] += (uint64_t)p;
            hi[i + j] += (uint64_t)(p >> 64);
        }
    }
}

// out := acc / 2^256 mod r, the Montgomery reduction of a sum of up to twelve products.
// Bound: acc < 12 r^2 and r < 0.4530 * 2^256, so acc/2^256 + r < 6.44 r: subtracting 4r, 2r and r where they fit leaves
// a value below r.
static inline void reduce(fr *out, uint64_t acc[9]) {
    uint64_t high = 0; // carry out of the limbs reduced so far, worth 2^(64 (i + 4))
    for (size_t i = 0; i < 4; i++) {
        uint64_t m = acc[i] * NEG_INV, carry = 0;
        for (size_t j = 0; j < 4; j++) {
            u128 t = (u128)m * MULTIPLES[2][j] + acc[i + j] + carry;
            acc[i + j] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
        u128 t = (u128)acc[i + 4] + carry + high;
        acc[i + 4] = (uint64_t)t;
        high = (uint64_t)(t >> 64);
    }
    uint64_t t[5] = {acc[4], acc[5], acc[6], acc[7], acc[8] + high};
    for (size_t k = 0; k < 3; k++) {
        uint64_t d[5], borrow = 0;
        for (size_t i = 0; i < 5; i++) {
            u128 x = (u128)t[i] - MULTIPLES[k][i] - borrow;
            d[i] = (uint64_t)x;
            borrow = (uint64_t)(x >> 64) & 1;
        }
        for (size_t i = 0; i < 5; i++) t[i] = borrow ? t[i] : d[i];
    }
    for (size_t i = 0; i < 4; i++) out->l[i] = t[i];
}

// Calls instead of inlining: inlined into the rounds, gcc 12 spills so much that the whole hash takes twice as long.
static __attribute__((noinline)) void times(fr *out, const fr *a, const fr *b) { fr_mul(out, a, b); }

// sum of a[i] b[i stride]; one reduction for the whole sum. n <= 12, so a column's sums stay below 2^70.
static __attribute__((noinline)) void dot(fr *out, const fr *a, const fr *b, size_t stride, size_t n) {
    u128 lo[7] = {0}, hi[7] = {0}, carry = 0;
    uint64_t acc[9];
    for (size_t i = 0; i < n; i++) accumulate(lo, hi, &a[i], &b[i * stride]);
    for (size_t k = 0; k < 7; k++) {
        carry += lo[k];
        acc[k] = (uint64_t)carry;
        carry = (carry >> 64) + hi[k];
    }
    acc[7] = (uint64_t)carry;
    acc[8] = (uint64_t)(carry >> 64);
    reduce(out, acc);
}

static inline void quintic(fr *x) {
    fr t;
    times(&t, x, x);
    times(&t, &t, &t);
    times(x, x, &t);
}

// state := state M.
static void mix(fr *state, const fr m[POSEIDON_MAX_WIDTH][POSEIDON_MAX_WIDTH], size_t w) {
    fr out[POSEIDON_MAX_WIDTH];
    for (size_t j = 0; j < w; j++) dot(&out[j], state, &m[0][j], POSEIDON_MAX_WIDTH, w);
    for (size_t j = 0; j < w; j++) state[j] = out[j];
}

static void mix_sparse(fr *state, const poseidon_sparse *s, size_t w) {
    fr first, t;
    dot(&first, state, s->column, 1, w);
    for (size_t j = 1; j < w; j++) {
        times(&t, &state[0], &s->row[j - 1]);
        fr_add(&state[j], &state[j], &t);
    }
    state[0] = first;
}

static void load(fr *state, const fr *in, const poseidon_params *p) {
    state[0] = p->domain_tag;
    for (size_t i = 0; i < p->arity; i++) state[i + 1] = in[i];
}

void poseidon_hash(fr *out, const fr *in, const poseidon_params *params) {
    const size_t w = params->width, half = POSEIDON_FULL_ROUNDS / 2;
    const fr *key = params->compressed_constants;
    fr state[POSEIDON_MAX_WIDTH];
    load(state, in, params);
    for (size_t i = 0; i < w; i++) fr_add(&state[i], &state[i], key++);
    for (size_t r = 0; r < half; r++) {
        for (size_t i = 0; i < w; i++) {
            quintic(&state[i]);
            fr_add(&state[i], &state[i], key++);
        }
        mix(state, r + 1 < half ? params->mds : params->pre_sparse, w);
    }
    for (size_t r = 0; r < params->partial_rounds; r++) {
        quintic(&state[0]);
        fr_add(&state[0], &state[0], key++);
        mix_sparse(state, &params->sparse[r], w);
    }
    for (size_t r = 1; r < half; r++) {
        for (size_t i = 0; i < w; i++) {
            quintic(&state[i]);
            fr_add(&state[i], &state[i], key++);
        }
        mix(state, params->mds, w);
    }
    assert(key == params->compressed_constants + params->n_compressed);
    // Only coordinate 1 leaves the last round.
    for (size_t i = 0; i < w; i++) quintic(&state[i]);
    dot(out, state, &params->mds[0][1], POSEIDON_MAX_WIDTH, w);
}

void poseidon_hash_reference(fr *out, const fr *in, const poseidon_params *params) {
    const size_t w = params->width, half = POSEIDON_FULL_ROUNDS / 2, partial = params->partial_rounds;
    const fr *key = params->round_constants;
    fr state[POSEIDON_MAX_WIDTH], mixed[POSEIDON_MAX_WIDTH];
    load(state, in, params);
    for (size_t r = 0; r < POSEIDON_FULL_ROUNDS + partial; r++) {
        for (size_t i = 0; i < w; i++) fr_add(&state[i], &state[i], key++);
        const bool full = r < half || r >= half + partial;
        for (size_t i = 0; i < (full ? w : 1); i++) quintic(&state[i]);
        for (size_t j = 0; j < w; j++) {
            mixed[j] = FR_ZERO;
            for (size_t i = 0; i < w; i++) {
                fr t;
                times(&t, &state[i], &params->mds[i][j]);
                fr_add(&mixed[j], &mixed[j], &t);
            }
        }
        for (size_t j = 0; j < w; j++) state[j] = mixed[j];
    }
    *out = state[1];
}
