// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Evaluation domains: the 2^k-th roots of unity in Fr, and the number-theoretic transform over them.
#ifndef CUZK_POLY_DOMAIN_H
#define CUZK_POLY_DOMAIN_H

#include "base/cpu.h"
#include "base/pool.h"
#include "field/fr.h"

typedef struct ntt_domain ntt_domain;

// The smallest domain with at least `min_size` points (min_size <= 2^32): its size is the next power of two, as
// bellperson chooses it. Tables are made here, and scratch for as many threads as `p` has: a domain serves one
// transform at a time, which on a pool of more threads may run on the caller alone. Tagged MEM_TABLE.
CUZK_MUST_USE cuzk_status ntt_domain_create(ntt_domain **out, uint64_t min_size, pool *p, cuzk_error *err);
void ntt_domain_destroy(ntt_domain **d);
uint64_t ntt_domain_size(const ntt_domain *d);
unsigned ntt_domain_log2(const ntt_domain *d);
const fr *ntt_domain_omega(const ntt_domain *d);

// The CPU level whose kernels domains use. Lower than cpu_current() when a level gave wrong results in the test that
// each must pass once.
cpu_level ntt_level(void);

// In place on `size` elements, natural order in and out.
//  forward:        a[i] := sum_j a[j] w^(ij)           (coefficients -> evaluations)
//  inverse:        the other way, 1/size included
//  coset_forward:  evaluations on g*w^i, g = FR_GENERATOR
//  coset_inverse:  the other way
void ntt_forward(const ntt_domain *d, fr *a, pool *p);
void ntt_inverse(const ntt_domain *d, fr *a, pool *p);
void ntt_coset_forward(const ntt_domain *d, fr *a, pool *p);
void ntt_coset_inverse(const ntt_domain *d, fr *a, pool *p);

// The quotient of Groth16: given evaluations of A, B, C on the domain (all destroyed), leaves in a[0 .. size-2] the
// coefficients of h = (A B - C)/Z, Z = X^size - 1. Six NTTs: order is never restored between inverse and coset forward.
// b and c are scratch afterwards.
void ntt_quotient(const ntt_domain *d, fr *a, fr *b, fr *c, pool *p);

// lagrange[i] := L_i(x), the Lagrange basis of the domain at x (x not in the domain), i < size.
void ntt_domain_lagrange_at(const ntt_domain *d, fr *lagrange, const fr *x, pool *p);

#endif
