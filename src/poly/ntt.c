// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The transforms, then the quotient of Groth16: the wide path where a domain has it, and the plain one for small
// domains, on the caller alone. docs/maths/ntt.md derives both.
#include "poly/internal.h"

// Level by level. The blocks of 2 half elements of a level are numbered from the left, and each has one twiddle.
void ntt_split_all(const ntt_domain *d, fr *a) {
    const size_t n = (size_t)ntt_size(d);
    for (size_t half = n / 2; half > 0; half /= 2)
        for (size_t i = 0; i < n / 2; i++) {
            const size_t block = i / half;
            fr *u = a + i + block * half, *v = u + half, t;
            fr_mul(&t, v, &d->twiddles[block]);
            fr_sub(v, u, &t);
            fr_add(u, u, &t);
        }
}

void ntt_merge_all(const ntt_domain *d, fr *a) {
    const size_t n = (size_t)ntt_size(d);
    for (size_t half = 1; half < n; half *= 2)
        for (size_t i = 0; i < n / 2; i++) {
            const size_t block = i / half;
            fr *u = a + i + block * half, *v = u + half, t;
            fr_sub(&t, u, v);
            fr_add(u, u, v);
            fr_mul(v, &t, &d->twiddles[block]);
        }
}

static bool wide(const ntt_domain *d, wide_kind kind, fr *a, pool *p) {
    if (d->wide == 0) return false;
    ntt_wide_transform(d->wide, kind, a, p);
    ntt_permute_pass(d, a, p);
    return true;
}

void ntt_forward(const ntt_domain *d, fr *a, pool *p) {
    if (wide(d, WIDE_FORWARD, a, p)) return;
    ntt_split_all(d, a);
    ntt_permute_pass(d, a, p);
}

// The inverse is the forward transform with indices negated on one side, and 1/size.
void ntt_inverse(const ntt_domain *d, fr *a, pool *p) {
    if (wide(d, WIDE_INVERSE, a, p)) return;
    ntt_reverse_pass(d, a, 0, &d->size_inv);
    ntt_forward(d, a, p);
}

void ntt_coset_forward(const ntt_domain *d, fr *a, pool *p) {
    if (wide(d, WIDE_COSET_FORWARD, a, p)) return;
    ntt_scale_pass(d, a, &d->shift);
    ntt_forward(d, a, p);
}

void ntt_coset_inverse(const ntt_domain *d, fr *a, pool *p) {
    if (wide(d, WIDE_COSET_INVERSE, a, p)) return;
    ntt_reverse_pass(d, a, 0, 0);
    ntt_split_all(d, a);
    ntt_permute_pass(d, a, p);
    ntt_scale_pass(d, a, &d->unshift);
}

// A and B go to the coset, their product comes back as coefficients of A B mod (X^n - g^n); C is of degree below n
// already and needs no coset: h = (AB mod (X^n - g^n) - C) / (g^n - 1), coefficient by coefficient. Six transforms.
void ntt_quotient(const ntt_domain *d, fr *a, fr *b, fr *c, pool *p) {
    if (d->wide != 0) {
        ntt_wide_quotient(d->wide, a, b, c, p);
        return;
    }
    fr *ab[] = {a, b};
    for (int i = 0; i < 2; i++) {
        ntt_split_all(d, ab[i]);
        ntt_to_coset_pass(d, ab[i]);
        ntt_merge_all(d, ab[i]);
    }
    ntt_split_all(d, c); // coefficients times n, negated indices, bit-reversed
    ntt_reverse_pass(d, a, b, 0);
    ntt_split_all(d, a);
    ntt_difference_pass(d, a, c);
}
