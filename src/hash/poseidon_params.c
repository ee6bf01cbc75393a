// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Poseidon's constants from first principles: Grain LFSR, Cauchy matrix, and the optimised form. docs/maths/poseidon.md
// has the derivations; names here follow it. Vectors are rows and matrices act from the right (y = x M), as in neptune,
// whose optimised circuit the gadget has to reproduce.
#include <pthread.h>
#include <stddef.h>

#include "hash/poseidon.h"

enum { W = POSEIDON_MAX_WIDTH, HALF = POSEIDON_FULL_ROUNDS / 2 };

typedef fr matrix[W][W];

// The 80-bit Grain shift register of the Poseidon paper, appendix F. Bit b_0 (oldest) is bit 0 of lo. All taps lie in
// lo.
typedef struct grain {
    uint64_t lo, hi; // b_0 .. b_63, b_64 .. b_79
} grain;

static unsigned grain_step(grain *g) {
    uint64_t s = g->lo;
    uint64_t bit = (s >> 62 ^ s >> 51 ^ s >> 38 ^ s >> 23 ^ s >> 13 ^ s) & 1;
    g->lo = s >> 1 | g->hi << 63;
    g->hi = g->hi >> 1 | bit << 15;
    return (unsigned)bit;
}

// Fields of the initial state are written most significant bit first.
static void grain_put(grain *g, unsigned *at, unsigned bits, uint32_t value) {
    for (unsigned i = bits; i-- > 0; (*at)++) {
        uint64_t bit = value >> i & 1;
        if (*at < 64)
            g->lo |= bit << *at;
        else
            g->hi |= bit << (*at - 64);
    }
}

static grain grain_new(uint32_t width, uint32_t full, uint32_t partial) {
    grain g = {0, 0};
    unsigned at = 0;
    grain_put(&g, &at, 2, 1);        // a prime field
    grain_put(&g, &at, 4, 1);        // S-box x^5
    grain_put(&g, &at, 12, FR_BITS); // 255
    grain_put(&g, &at, 12, width);
    grain_put(&g, &at, 10, full);
    grain_put(&g, &at, 10, partial);
    grain_put(&g, &at, 30, (1u << 30) - 1);
    for (int i = 0; i < 160; i++) (void)grain_step(&g);
    return g;
}

// Self-shrinking output: of each pair of bits the second counts only if the first is 1.
static unsigned grain_bit(grain *g) {
    while (grain_step(g) == 0) (void)grain_step(g);
    return grain_step(g);
}

// 255 bits, most significant first; values not below r are dropped and drawn again.
static void grain_fr(fr *out, grain *g) {
    uint8_t le[32];
    do {
        for (size_t i = 32; i-- > 0;) {
            uint8_t byte = 0;
            for (int b = i == 31 ? 7 : 8; b > 0; b--) byte = (uint8_t)(byte << 1 | grain_bit(g));
            le[i] = byte;
        }
    } while (!fr_from_le_bytes(out, le));
}

// out := v M over the first n coordinates. out must not alias v.
static void row_times(fr *out, const fr *v, fr (*m)[W], size_t n) {
    for (size_t j = 0; j < n; j++) {
        out[j] = FR_ZERO;
        for (size_t i = 0; i < n; i++) {
            fr t;
            fr_mul(&t, &v[i], &m[i][j]);
            fr_add(&out[j], &out[j], &t);
        }
    }
}

// Gauss-Jordan. The matrices here are Cauchy matrices, every leading minor of which is invertible, so the pivots on the
// diagonal are never zero.
static void invert(matrix out, fr (*m)[W], size_t n) {
    matrix a;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            a[i][j] = m[i][j];
            out[i][j] = i == j ? FR_ONE : FR_ZERO;
        }
    }
    for (size_t c = 0; c < n; c++) {
        fr scale, t;
        fr_inv(&scale, &a[c][c]);
        for (size_t j = 0; j < n; j++) {
            fr_mul(&a[c][j], &a[c][j], &scale);
            fr_mul(&out[c][j], &out[c][j], &scale);
        }
        for (size_t i = 0; i < n; i++) {
            if (i == c) continue;
            const fr factor = a[i][c];
            for (size_t j = 0; j < n; j++) {
                fr_mul(&t, &factor, &a[c][j]);
                fr_sub(&a[i][j], &a[i][j], &t);
                fr_mul(&t, &factor, &out[c][j]);
                fr_sub(&out[i][j], &out[i][j], &t);
            }
        }
    }
}

// Moves every key that meets only linear maps back through them, so that each addition happens right after an S-box.
static void compress_constants(poseidon_params *p, fr (*inverse)[W]) {
    const size_t w = p->width, rp = p->partial_rounds;
    const fr *keys = p->round_constants;
    fr *out = p->compressed_constants;
    for (size_t i = 0; i < w; i++) out[i] = keys[i];
    for (size_t r = 1; r < HALF; r++) row_times(out + r * w, keys + r * w, inverse, w);
    // From the first full round after the partial ones backwards. What lands on coordinate 0 must be added after the
    // S-box of that round; the rest passes through it and joins the previous round's key.
    fr acc[W], back[W];
    for (size_t i = 0; i < w; i++) acc[i] = keys[(HALF + rp) * w + i];
    fr *partial = out + (HALF + 1) * w;
    for (size_t r = rp; r-- > 0;) {
        row_times(back, acc, inverse, w);
        partial[r] = back[0];
        acc[0] = keys[(HALF + r) * w];
        for (size_t i = 1; i < w; i++) fr_add(&acc[i], &keys[(HALF + r) * w + i], &back[i]);
    }
    row_times(out + HALF * w, acc, inverse, w);
    for (size_t r = 1; r < HALF; r++) row_times(partial + rp + (r - 1) * w, keys + (HALF + rp + r) * w, inverse, w);
    p->n_compressed = (uint32_t)(POSEIDON_FULL_ROUNDS * w + rp);
}

// Splits M = [m00 v; w N] into sparse factors. With k counted from the last partial round backwards,
//   sparse factor k = [m00, v N^k; N^-(k+1) w, 1],   pre_sparse = [m00, v N^R; w, N^(R+1)].
static void factor_sparse(poseidon_params *p) {
    const size_t n = p->width - 1, rp = p->partial_rounds;
    matrix hat, hat_inverse, power, next;
    fr row[W], column[W], t[W];
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) power[i][j] = hat[i][j] = p->mds[i + 1][j + 1];
        row[i] = p->mds[0][i + 1];
        column[i] = p->mds[i + 1][0];
    }
    invert(hat_inverse, hat, n);
    for (size_t r = rp; r-- > 0;) {
        poseidon_sparse *s = &p->sparse[r];
        row_times(t, column, hat_inverse, n); // N is symmetric, so N^-1 column = (column N^-1) transposed
        s->column[0] = p->mds[0][0];
        for (size_t i = 0; i < n; i++) {
            column[i] = s->column[i + 1] = t[i];
            s->row[i] = row[i];
        }
        row_times(t, row, hat, n);
        for (size_t i = 0; i < n; i++) {
            row[i] = t[i];
            row_times(next[i], power[i], hat, n);
        }
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) power[i][j] = next[i][j];
    }
    p->pre_sparse[0][0] = p->mds[0][0];
    for (size_t i = 0; i < n; i++) {
        p->pre_sparse[0][i + 1] = row[i];
        p->pre_sparse[i + 1][0] = p->mds[i + 1][0];
        for (size_t j = 0; j < n; j++) p->pre_sparse[i + 1][j + 1] = power[i][j];
    }
}

static void build(poseidon_params *p, uint32_t arity, uint32_t partial_rounds) {
    const uint32_t w = arity + 1, rounds = POSEIDON_FULL_ROUNDS + partial_rounds;
    p->arity = arity;
    p->width = w;
    p->partial_rounds = partial_rounds;
    fr_from_u64(&p->domain_tag, (UINT64_C(1) << arity) - 1);
    grain g = grain_new(w, POSEIDON_FULL_ROUNDS, partial_rounds);
    for (size_t i = 0; i < (size_t)rounds * w; i++) grain_fr(&p->round_constants[i], &g);
    for (uint32_t i = 0; i < w; i++) {
        for (uint32_t j = 0; j < w; j++) {
            fr sum;
            fr_from_u64(&sum, i + w + j);
            fr_inv(&p->mds[i][j], &sum);
        }
    }
    matrix inverse;
    invert(inverse, p->mds, w);
    compress_constants(p, inverse);
    factor_sparse(p);
}

static poseidon_params params_2, params_4, params_8, params_11;

// Round numbers: the paper's security bounds for 128 bits with its margin (neptune's round_numbers.rs).
static void build_2(void) { build(&params_2, 2, 55); }
static void build_4(void) { build(&params_4, 4, 56); }
static void build_8(void) { build(&params_8, 8, 57); }
static void build_11(void) { build(&params_11, 11, 57); }

const poseidon_params *poseidon_params_for(uint32_t arity) {
    static pthread_once_t once_2 = PTHREAD_ONCE_INIT, once_4 = PTHREAD_ONCE_INIT, once_8 = PTHREAD_ONCE_INIT,
                          once_11 = PTHREAD_ONCE_INIT;
    switch (arity) {
    case 2: return pthread_once(&once_2, build_2), &params_2;
    case 4: return pthread_once(&once_4, build_4), &params_4;
    case 8: return pthread_once(&once_8, build_8), &params_8;
    case 11: return pthread_once(&once_11, build_11), &params_11;
    default: return NULL;
    }
}
