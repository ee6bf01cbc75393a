// SPDX-License-Identifier: MIT OR Apache-2.0
//
// 64-bit limbs: the carry steps that all field code is built from.
#ifndef CUZK_FIELD_LIMB_H
#define CUZK_FIELD_LIMB_H

#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 i128;

// For the steps of a product, which must never become calls: gcc 12 leaves them out of line where a caller has several
// products, and the transforms then take three times as long.
#if defined(__GNUC__)
#define LIMB_INLINE static inline __attribute__((always_inline))
#else
#define LIMB_INLINE static inline
#endif

// limb_adc: a + b + *carry; limb_sbb: a - b - *borrow. The carry is 0 or 1 before and after.
//
// gcc turns chains of the x86-64 intrinsics (baseline, no flag needed) into add/adc chains, but materialises every
// carry of the generic form: a factor of three for additions.
#if defined(__x86_64__)
LIMB_INLINE uint64_t limb_adc(uint64_t a, uint64_t b, uint64_t *carry) {
    unsigned long long s;
    *carry = _addcarry_u64((unsigned char)*carry, a, b, &s);
    return s;
}
LIMB_INLINE uint64_t limb_sbb(uint64_t a, uint64_t b, uint64_t *borrow) {
    unsigned long long s;
    *borrow = _subborrow_u64((unsigned char)*borrow, a, b, &s);
    return s;
}
#else
LIMB_INLINE uint64_t limb_adc(uint64_t a, uint64_t b, uint64_t *carry) {
    u128 s = (u128)a + b + *carry;
    *carry = (uint64_t)(s >> 64);
    return (uint64_t)s;
}
LIMB_INLINE uint64_t limb_sbb(uint64_t a, uint64_t b, uint64_t *borrow) {
    u128 s = (u128)a - b - *borrow;
    *borrow = (uint64_t)(s >> 64) & 1;
    return (uint64_t)s;
}
#endif

// condition ? a : b for a condition, 0 or 1, that no processor can foresee, so that it must not become a branch.
// (gcc makes one of a plain selection.)
LIMB_INLINE uint64_t limb_select(uint64_t condition, uint64_t a, uint64_t b) {
#if defined(__clang__)
    return condition != 0 ? a : b;
#else
    return b ^ ((0 - condition) & (a ^ b));
#endif
}

// t + a * b + *carry, at most 2^128 - 1: the low half is returned, the high half becomes the new carry.
// (The two forms are the same sum; each is the one its compiler makes the shorter code of.)
LIMB_INLINE uint64_t limb_mac(uint64_t t, uint64_t a, uint64_t b, uint64_t *carry) {
#if defined(__x86_64__) && !defined(__clang__)
    u128 p = (u128)a * b;
    uint64_t lo = (uint64_t)p, hi = (uint64_t)(p >> 64), c = 0, d = 0;
    lo = limb_adc(lo, *carry, &c), hi = limb_adc(hi, 0, &c);
    lo = limb_adc(lo, t, &d), hi = limb_adc(hi, 0, &d); // c is 0 again, but the compiler cannot know
    *carry = hi;
    return lo;
#else
    u128 s = (u128)a * b + t + *carry;
    *carry = (uint64_t)(s >> 64);
    return (uint64_t)s;
#endif
}

// A column of a product of several limbs: the sum of the products of equal weight, (h, m, l) in three limbs. Fewer than
// 2^63 terms cannot overflow it.
//
// A whole multiplication is made of such columns. Each is summed by itself and then added to the carry of those below,
// so that a processor works on the next columns while the multiple of the modulus for this one is still being found.
typedef struct limb_column {
    uint64_t l, m, h;
} limb_column;

// The column of one term: a * b.
LIMB_INLINE limb_column limb_column_of(uint64_t a, uint64_t b) {
    const u128 p = (u128)a * b;
    return (limb_column){(uint64_t)p, (uint64_t)(p >> 64), 0};
}

LIMB_INLINE void limb_column_add(limb_column *s, const limb_column *t) {
    uint64_t c = 0;
    s->l = limb_adc(s->l, t->l, &c);
    s->m = limb_adc(s->m, t->m, &c);
    s->h = limb_adc(s->h, t->h, &c);
}

LIMB_INLINE void limb_column_mac(limb_column *s, uint64_t a, uint64_t b) {
    const limb_column t = limb_column_of(a, b);
    limb_column_add(s, &t);
}

// Takes the low limb away: what is left counts for the next column.
LIMB_INLINE uint64_t limb_column_next(limb_column *s) {
    const uint64_t l = s->l;
    *s = (limb_column){s->m, s->h, 0};
    return l;
}

#endif
