// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The domain's tables and the passes that transforms are made of; private to poly/.
#ifndef CUZK_POLY_INTERNAL_H
#define CUZK_POLY_INTERNAL_H

#include "poly/domain.h"
#include "poly/wide.h"

// b^e * scale for all e < 2^k from two tables of about 2^(k/2) entries and one multiplication: hi[e >> s] * lo[e & m].
typedef struct ntt_powers {
    fr *lo, *hi;
} ntt_powers;

struct ntt_domain {
    unsigned log2;
    unsigned split;     // s: low bits of an exponent that index the `lo` tables
    fr omega;           // primitive 2^log2-th root of unity
    fr size_inv;        // 2^-log2
    fr z_inv;           // 1 / (g^size - 1): one over the vanishing polynomial anywhere on the coset
    fr *twiddles;       // [i] = omega^(i with log2-1 bits reversed), i < size/2: 32 bytes * size/2. NULL if wide is not
    ntt_wide *wide;     // the path of wide.h, NULL if there is none
    ntt_powers shift;   // g^k, natural order
    ntt_powers unshift; // g^-k / size, natural order
    ntt_powers shift_rev; // at position i: g^(i bit-reversed) / size
};

// As ntt_domain_create, with these kernels, untested; `wide` may be NULL.
CUZK_MUST_USE cuzk_status ntt_domain_create_with(ntt_domain **out, uint64_t min_size, const wide_kernels *wide, pool *p,
                                                 cuzk_error *err);

static inline uint64_t ntt_size(const ntt_domain *d) { return (uint64_t)1 << d->log2; }

static inline void ntt_power(fr *out, const ntt_domain *d, const ntt_powers *t, uint64_t e) {
    fr_mul(out, &t->hi[e >> d->split], &t->lo[e & (((uint64_t)1 << d->split) - 1)]);
}

static inline uint64_t ntt_reverse_bits(uint64_t v, unsigned bits) {
    v = (v >> 1 & UINT64_C(0x5555555555555555)) | (v & UINT64_C(0x5555555555555555)) << 1;
    v = (v >> 2 & UINT64_C(0x3333333333333333)) | (v & UINT64_C(0x3333333333333333)) << 2;
    v = (v >> 4 & UINT64_C(0x0f0f0f0f0f0f0f0f)) | (v & UINT64_C(0x0f0f0f0f0f0f0f0f)) << 4;
    v = __builtin_bswap64(v);
    return bits == 0 ? 0 : v >> (64 - bits);
}

// Position of coefficient -k (mod size) when position i holds coefficient k, both in bit-reversed order: all bits below
// the highest set one are flipped. (-k shares with k its trailing zeros and the one above, and complements the rest.)
static inline uint64_t ntt_negated_position(uint64_t i) {
    return i < 2 ? i : i ^ ((UINT64_C(1) << (63 - (unsigned)__builtin_clzll(i))) - 1);
}

// The plain path, for domains without a wide one: all on the caller alone.

// The two transforms by omega without any reordering (ntt.c): the butterfly (u, v) -> (u + c v, u - c v) and its
// transpose (u, v) -> (u + v, c (u - v)).
void ntt_split_all(const ntt_domain *d, fr *a); // natural -> bit-reversed
void ntt_merge_all(const ntt_domain *d, fr *a); // bit-reversed -> natural

// The passes between them (order.c).

// a[i] := (a[i] or, if b is given, a[i] * b[i]) * scale, then index negation i -> -i mod size. scale may be NULL.
void ntt_reverse_pass(const ntt_domain *d, fr *a, const fr *b, const fr *scale);
// In bit-reversed order: index negation, and times g^k / size. Turns the output of split_all on evaluations over the
// domain into the input of merge_all that gives evaluations over the coset.
void ntt_to_coset_pass(const ntt_domain *d, fr *a);
// a[k] *= t[k]
void ntt_scale_pass(const ntt_domain *d, fr *a, const ntt_powers *t);

// The end of a quotient: a[k] := a[rev k] g^-k / (size z) - c[neg(rev k)] / (size z).
void ntt_difference_pass(const ntt_domain *d, fr *a, const fr *c);

// Bit-reversed -> natural order in place, for both paths.
void ntt_permute_pass(const ntt_domain *d, fr *a, pool *p);

#endif
