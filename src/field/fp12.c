// SPDX-License-Identifier: MIT OR Apache-2.0
#include "field/fp12.h"

const fp12 FP12_ONE = {{{{{UINT64_C(0x760900000002fffd), UINT64_C(0xebf4000bc40c0002), UINT64_C(0x5f48985753c758ba),
                           UINT64_C(0x77ce585370525745), UINT64_C(0x5c071a97a256ec6d), UINT64_C(0x15f65ec3fa80e493)}},
                         {{UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000),
                           UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}}},
                        {{{0}}, {{0}}},
                        {{{0}}, {{0}}}},
                       {{{{0}}, {{0}}}, {{{0}}, {{0}}}, {{{0}}, {{0}}}}};

// Fp6

void fp6_add(fp6 *out, const fp6 *a, const fp6 *b) {
    fp2_add(&out->c0, &a->c0, &b->c0);
    fp2_add(&out->c1, &a->c1, &b->c1);
    fp2_add(&out->c2, &a->c2, &b->c2);
}

void fp6_sub(fp6 *out, const fp6 *a, const fp6 *b) {
    fp2_sub(&out->c0, &a->c0, &b->c0);
    fp2_sub(&out->c1, &a->c1, &b->c1);
    fp2_sub(&out->c2, &a->c2, &b->c2);
}

void fp6_neg(fp6 *out, const fp6 *a) {
    fp2_neg(&out->c0, &a->c0);
    fp2_neg(&out->c1, &a->c1);
    fp2_neg(&out->c2, &a->c2);
}

// (a + b)(c + d) - ac - bd = ad + bc, the cross term of Karatsuba.
static void cross_term(fp2 *out, const fp2 *a, const fp2 *b, const fp2 *c, const fp2 *d, const fp2 *ac, const fp2 *bd) {
    fp2 s, t;
    fp2_add(&s, a, b);
    fp2_add(&t, c, d);
    fp2_mul(&s, &s, &t);
    fp2_sub(&s, &s, ac);
    fp2_sub(out, &s, bd);
}

void fp6_mul(fp6 *out, const fp6 *a, const fp6 *b) {
    // Six products instead of nine: Devegili, O hEigeartaigh, Scott, Dahab, eprint 2006/471, section 4.
    fp2 v0, v1, v2, s01, s02, s12;
    fp2_mul(&v0, &a->c0, &b->c0);
    fp2_mul(&v1, &a->c1, &b->c1);
    fp2_mul(&v2, &a->c2, &b->c2);
    cross_term(&s01, &a->c0, &a->c1, &b->c0, &b->c1, &v0, &v1);
    cross_term(&s02, &a->c0, &a->c2, &b->c0, &b->c2, &v0, &v2);
    cross_term(&s12, &a->c1, &a->c2, &b->c1, &b->c2, &v1, &v2);
    fp2_mul_xi(&s12, &s12); // v^3 = xi
    fp2_add(&out->c0, &v0, &s12);
    fp2_add(&out->c2, &v1, &s02);
    fp2_mul_xi(&v2, &v2);
    fp2_add(&out->c1, &s01, &v2);
}

void fp6_mul_v(fp6 *out, const fp6 *a) {
    fp2 top = a->c2;
    out->c2 = a->c1;
    out->c1 = a->c0;
    fp2_mul_xi(&out->c0, &top);
}

void fp6_inv(fp6 *out, const fp6 *a) {
    // The adjoint over the norm: with A = a0^2 - xi a1 a2, B = xi a2^2 - a0 a1, C = a1^2 - a0 a2,
    // a (A + B v + C v^2) = a0 A + xi (a2 B + a1 C), which lies in Fp2.
    fp2 A, B, C, n, t;
    fp2_sqr(&A, &a->c0);
    fp2_mul(&t, &a->c1, &a->c2);
    fp2_mul_xi(&t, &t);
    fp2_sub(&A, &A, &t);
    fp2_sqr(&B, &a->c2);
    fp2_mul_xi(&B, &B);
    fp2_mul(&t, &a->c0, &a->c1);
    fp2_sub(&B, &B, &t);
    fp2_sqr(&C, &a->c1);
    fp2_mul(&t, &a->c0, &a->c2);
    fp2_sub(&C, &C, &t);
    fp2_mul(&n, &a->c2, &B);
    fp2_mul(&t, &a->c1, &C);
    fp2_add(&n, &n, &t);
    fp2_mul_xi(&n, &n);
    fp2_mul(&t, &a->c0, &A);
    fp2_add(&n, &n, &t);
    fp2_inv(&n, &n);
    fp2_mul(&out->c0, &A, &n);
    fp2_mul(&out->c1, &B, &n);
    fp2_mul(&out->c2, &C, &n);
}

static bool fp6_eq(const fp6 *a, const fp6 *b) {
    return fp2_eq(&a->c0, &b->c0) && fp2_eq(&a->c1, &b->c1) && fp2_eq(&a->c2, &b->c2);
}

// Fp12

bool fp12_eq(const fp12 *a, const fp12 *b) { return fp6_eq(&a->c0, &b->c0) && fp6_eq(&a->c1, &b->c1); }

bool fp12_is_one(const fp12 *a) { return fp12_eq(a, &FP12_ONE); }

void fp12_mul(fp12 *out, const fp12 *a, const fp12 *b) {
    fp6 v0, v1, s, t;
    fp6_mul(&v0, &a->c0, &b->c0);
    fp6_mul(&v1, &a->c1, &b->c1);
    fp6_add(&s, &a->c0, &a->c1);
    fp6_add(&t, &b->c0, &b->c1);
    fp6_mul(&s, &s, &t);
    fp6_sub(&s, &s, &v0);
    fp6_sub(&out->c1, &s, &v1);
    fp6_mul_v(&v1, &v1); // w^2 = v
    fp6_add(&out->c0, &v0, &v1);
}

void fp12_sqr(fp12 *out, const fp12 *a) {
    // c0^2 + v c1^2 = (c0 + c1)(c0 + v c1) - c0 c1 - v c0 c1
    fp6 product, s, t;
    fp6_mul(&product, &a->c0, &a->c1);
    fp6_add(&s, &a->c0, &a->c1);
    fp6_mul_v(&t, &a->c1);
    fp6_add(&t, &t, &a->c0);
    fp6_mul(&s, &s, &t);
    fp6_sub(&s, &s, &product);
    fp6_mul_v(&t, &product);
    fp6_sub(&out->c0, &s, &t);
    fp6_add(&out->c1, &product, &product);
}

void fp12_conj(fp12 *out, const fp12 *a) {
    out->c0 = a->c0;
    fp6_neg(&out->c1, &a->c1);
}

void fp12_inv(fp12 *out, const fp12 *a) {
    // (c0 - c1 w) / (c0^2 - v c1^2)
    fp6 n, t;
    fp6_mul(&n, &a->c0, &a->c0);
    fp6_mul(&t, &a->c1, &a->c1);
    fp6_mul_v(&t, &t);
    fp6_sub(&n, &n, &t);
    fp6_inv(&n, &n);
    fp6_mul(&out->c0, &a->c0, &n);
    fp6_neg(&n, &n);
    fp6_mul(&out->c1, &a->c1, &n);
}

void fp12_frobenius(fp12 *out, const fp12 *a, unsigned power) {
    // (sum of a_i w^i)^p = sum of conj(a_i) w^(ip), and w^(ip) = xi^(i(p-1)/6) w^i as w^6 = xi.
    static const fp2 xi_powers[5] = {
        {{{UINT64_C(0x07089552b319d465), UINT64_C(0xc6695f92b50a8313), UINT64_C(0x97e83cccd117228f),
           UINT64_C(0xa35baecab2dc29ee), UINT64_C(0x1ce393ea5daace4d), UINT64_C(0x08f2220fb0fb66eb)}},
         {{UINT64_C(0xb2f66aad4ce5d646), UINT64_C(0x5842a06bfc497cec), UINT64_C(0xcf4895d42599d394),
           UINT64_C(0xc11b9cba40a8e8d0), UINT64_C(0x2e3813cbe5a0de89), UINT64_C(0x110eefda88847faf)}}},
        {{{UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000),
           UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}},
         {{UINT64_C(0xcd03c9e48671f071), UINT64_C(0x5dab22461fcda5d2), UINT64_C(0x587042afd3851b95),
           UINT64_C(0x8eb60ebe01bacb9e), UINT64_C(0x03f97d6e83d050d2), UINT64_C(0x18f0206554638741)}}},
        {{{UINT64_C(0x7bcfa7a25aa30fda), UINT64_C(0xdc17dec12a927e7c), UINT64_C(0x2f088dd86b4ebef1),
           UINT64_C(0xd1ca2087da74d4a7), UINT64_C(0x2da2596696cebc1d), UINT64_C(0x0e2b7eedbbfd87d2)}},
         {{UINT64_C(0x7bcfa7a25aa30fda), UINT64_C(0xdc17dec12a927e7c), UINT64_C(0x2f088dd86b4ebef1),
           UINT64_C(0xd1ca2087da74d4a7), UINT64_C(0x2da2596696cebc1d), UINT64_C(0x0e2b7eedbbfd87d2)}}},
        {{{UINT64_C(0x890dc9e4867545c3), UINT64_C(0x2af322533285a5d5), UINT64_C(0x50880866309b7e2c),
           UINT64_C(0xa20d1b8c7e881024), UINT64_C(0x14e4f04fe2db9068), UINT64_C(0x14e56d3f1564853a)}},
         {{UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000),
           UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000), UINT64_C(0x0000000000000000)}}},
        {{{UINT64_C(0x82d83cf50dbce43f), UINT64_C(0xa2813e53df9d018f), UINT64_C(0xc6f0caa53c65e181),
           UINT64_C(0x7525cf528d50fe95), UINT64_C(0x4a85ed50f4798a6b), UINT64_C(0x171da0fd6cf8eebd)}},
         {{UINT64_C(0x3726c30af242c66c), UINT64_C(0x7c2ac1aad1b6fe70), UINT64_C(0xa04007fbba4b14a2),
           UINT64_C(0xef517c3266341429), UINT64_C(0x0095ba654ed2226b), UINT64_C(0x02e370eccc86f7dd)}}}};
    *out = *a;
    for (unsigned k = 0; k < power; k++) {
        fp2 *coefficient[6] = {&out->c0.c0, &out->c1.c0, &out->c0.c1, &out->c1.c1, &out->c0.c2, &out->c1.c2};
        for (unsigned i = 0; i < 6; i++) {
            fp2_conj(coefficient[i], coefficient[i]);
            if (i > 0) fp2_mul(coefficient[i], coefficient[i], &xi_powers[i - 1]);
        }
    }
}

// (a + b s)^2 = c + d s in Fp4 = Fp2[s]/(s^2 - xi).
static void fp4_sqr(fp2 *c, fp2 *d, const fp2 *a, const fp2 *b) {
    fp2 a2, b2, s;
    fp2_sqr(&a2, a);
    fp2_sqr(&b2, b);
    fp2_add(&s, a, b);
    fp2_sqr(&s, &s);
    fp2_sub(&s, &s, &a2);
    fp2_sub(d, &s, &b2);
    fp2_mul_xi(&b2, &b2);
    fp2_add(c, &a2, &b2);
}
// out := 3 t - 2 z and out := 3 t + 2 z.
static void three_minus_two(fp2 *out, const fp2 *t, const fp2 *z) {
    fp2 s;
    fp2_sub(&s, t, z);
    fp2_dbl(&s, &s);
    fp2_add(out, &s, t);
}
static void three_plus_two(fp2 *out, const fp2 *t, const fp2 *z) {
    fp2 s;
    fp2_add(&s, t, z);
    fp2_dbl(&s, &s);
    fp2_add(out, &s, t);
}

void fp12_cyclotomic_sqr(fp12 *out, const fp12 *a) {
    // Granger and Scott, eprint 2009/565, section 3.2: with Fp12 over Fp4, s = w^3, the square of
    // A + B w + C w^2 is (3 A^2 - 2 conj A) + (3 s C^2 + 2 conj B) w + (3 B^2 - 2 conj C) w^2.
    // A = (c0.c0, c1.c1), B = (c1.c0, c0.c2), C = (c0.c1, c1.c2).
    fp2 a0, a1, b0, b1, c0, c1;
    fp4_sqr(&a0, &a1, &a->c0.c0, &a->c1.c1);
    fp4_sqr(&b0, &b1, &a->c1.c0, &a->c0.c2);
    fp4_sqr(&c0, &c1, &a->c0.c1, &a->c1.c2);
    fp2_mul_xi(&c1, &c1); // s (c0 + c1 s) = xi c1 + c0 s
    three_minus_two(&out->c0.c0, &a0, &a->c0.c0);
    three_plus_two(&out->c1.c1, &a1, &a->c1.c1);
    three_plus_two(&out->c1.c0, &c1, &a->c1.c0);
    three_minus_two(&out->c0.c2, &c0, &a->c0.c2);
    three_minus_two(&out->c0.c1, &b0, &a->c0.c1);
    three_plus_two(&out->c1.c2, &b1, &a->c1.c2);
}

// a (b0 + b1 v)
static void fp6_mul_by_01(fp6 *out, const fp6 *a, const fp2 *b0, const fp2 *b1) {
    fp2 v0, v1, s01, t;
    fp2_mul(&v0, &a->c0, b0);
    fp2_mul(&v1, &a->c1, b1);
    cross_term(&s01, &a->c0, &a->c1, b0, b1, &v0, &v1);
    fp2_mul(&t, &a->c2, b0);
    fp2_mul(&out->c0, &a->c2, b1);
    fp2_mul_xi(&out->c0, &out->c0);
    fp2_add(&out->c0, &out->c0, &v0);
    out->c1 = s01;
    fp2_add(&out->c2, &v1, &t);
}
// a b1 v
static void fp6_mul_by_1(fp6 *out, const fp6 *a, const fp2 *b1) {
    fp2 t;
    fp2_mul(&t, &a->c2, b1);
    fp2_mul(&out->c2, &a->c1, b1);
    fp2_mul(&out->c1, &a->c0, b1);
    fp2_mul_xi(&out->c0, &t);
}

void fp12_mul_by_014(fp12 *f, const fp2 *c0, const fp2 *c1, const fp2 *c4) {
    // Karatsuba as in fp12_mul, with (c0 + c1 v) and (c4 v) for the second factor.
    fp6 v0, v1, s;
    fp2 c14;
    fp6_mul_by_01(&v0, &f->c0, c0, c1);
    fp6_mul_by_1(&v1, &f->c1, c4);
    fp2_add(&c14, c1, c4);
    fp6_add(&s, &f->c0, &f->c1);
    fp6_mul_by_01(&s, &s, c0, &c14);
    fp6_sub(&s, &s, &v0);
    fp6_sub(&f->c1, &s, &v1);
    fp6_mul_v(&v1, &v1);
    fp6_add(&f->c0, &v0, &v1);
}
