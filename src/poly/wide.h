// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Transforms on eight columns at a time; private to poly/. Data is worked on in *tiles*: 2^bits vectors of eight
// elements, limb-sliced where all eight are multiplied at once, that stay in a second-level cache for a whole
// sub-transform. docs/maths/ntt.md, "Eight columns at a time", derives the passes.
#ifndef CUZK_POLY_WIDE_H
#define CUZK_POLY_WIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cpu.h"
#include "base/pool.h"
#include "field/fr.h"

enum {
    WIDE_LANES = 8,
    WIDE_LIMBS = 5,
    WIDE_VECTOR = WIDE_LANES * WIDE_LIMBS, // words of a vector in a tile: 320 bytes
    WIDE_MIN_BITS = 3,
    WIDE_MAX_BITS = 11, // a tile of 2^11 vectors is 640 KiB
};

// How kernels multiply by a constant.
typedef enum wide_form {
    WIDE_52,      // by limbs of 52 bits; products of two variables divide by 2^260
    WIDE_DOUBLES, // the same, and the limbs of a factor are doubles, in the bits of the word
    WIDE_WORDS,   // by limbs of 64 bits, four of them; products divide by 2^256
} wide_form;

// A constant c to multiply by: c[i] = c * 2^(b (i + 1)) mod r (no Montgomery factor) in limbs of b bits, 52 or 64.
typedef struct wide_factor {
    uint64_t c[WIDE_LIMBS][WIDE_LIMBS];
} wide_factor;

// A geometric progression for each lane: row i of a tile is multiplied by start * step^i, or with `reversed` row i by
// start * step^(i with its bits reversed). Residues times 2^260 (WIDE_WORDS: 2^256), below r, in 64-bit limbs.
typedef struct wide_walk {
    fr start[WIDE_LANES], step[WIDE_LANES];
    bool reversed;
} wide_walk;

// Elements in memory are below 2^256 before and after; canonical after store_reversed and the last store_rows. `tile`
// has WIDE_VECTOR << bits words, aligned to 64 bytes, and is in a state of its own between calls. bits is in
// [WIDE_MIN_BITS, WIDE_MAX_BITS].
typedef struct wide_kernels {
    wide_form form;
    // Row i of the tile <-> the eight elements at a + i * stride. The walk of a store may be NULL.
    void (*load_columns)(uint64_t *tile, const fr *a, size_t stride, unsigned bits, const wide_walk *walk);
    void (*store_columns)(fr *a, size_t stride, uint64_t *tile, unsigned bits, const wide_walk *walk);
    // Lane l of row i -> row[l][i].
    void (*store_rows)(fr *const row[WIDE_LANES], uint64_t *tile, unsigned bits, bool last);
    // Row i, bits reversed, goes to the eight elements at a + (i reversed) * stride.
    void (*store_reversed)(fr *a, size_t stride, uint64_t *tile, unsigned bits);
    // The sub-transform of each lane, natural -> bit-reversed order. tw[i], i < 2^(bits-1), is a root of order 2^bits
    // to the power of i with its bits reversed.
    void (*split)(uint64_t *tile, unsigned bits, const wide_factor *tw);
    // The same of what is in memory, by columns or by rows, into the tile.
    void (*split_columns)(uint64_t *tile, const fr *a, size_t stride, unsigned bits, const wide_factor *tw);
    void (*split_rows)(uint64_t *tile, const fr *const row[WIDE_LANES], unsigned bits, const wide_factor *tw);
    // Bit-reversed -> natural order. tw[h + j], j < h = 2^s, is a root of order 2h to the power of j.
    void (*merge)(uint64_t *tile, unsigned bits, const wide_factor *tw);
    // Row i times by[i].
    void (*scale)(uint64_t *tile, unsigned bits, const wide_factor *by);
    // Row i times row i of another tile, over 2^260: their product over 16 as elements of fr.h. (WIDE_WORDS: over
    // 2^256, their product.)
    void (*times)(uint64_t *tile, const uint64_t *by, unsigned bits);
    // Row i, just scaled, minus row i of another tile.
    void (*minus)(uint64_t *tile, const uint64_t *by, unsigned bits);
} wide_kernels;

// The kernels of a level. No test; needs that level.
const wide_kernels *wide_kernels_at(cpu_level level);

// Whether domains with these kernels give what those without give: *good; an error only for want of memory.
CUZK_MUST_USE cuzk_status wide_kernels_try(bool *good, const wide_kernels *w);

// The plan and tables of a domain, whose size and constants are set, in passes of at most max_bits <= WIDE_MAX_BITS
// levels. Serves pools of up to pool_threads(p) threads; with a larger one it works on the caller alone. *out = NULL
// with CUZK_OK if there is no such path: k is NULL, or less than 64 points.
typedef struct ntt_wide ntt_wide;
struct ntt_domain;
CUZK_MUST_USE cuzk_status ntt_wide_create(ntt_wide **out, const struct ntt_domain *d, const wide_kernels *k,
                                          unsigned max_bits, pool *p);
void ntt_wide_destroy(ntt_wide **w);

// As the functions of domain.h, the first two with bit-reversed output.
typedef enum wide_kind { WIDE_FORWARD, WIDE_INVERSE, WIDE_COSET_FORWARD, WIDE_COSET_INVERSE } wide_kind;
void ntt_wide_transform(const ntt_wide *w, wide_kind kind, fr *a, pool *p); // natural -> bit-reversed
void ntt_wide_quotient(const ntt_wide *w, fr *a, fr *b, fr *c, pool *p);    // natural order

#endif
