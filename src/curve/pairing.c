// SPDX-License-Identifier: MIT OR Apache-2.0
//
// docs/maths/pairing.md derives what is computed here.
#include "curve/pairing.h"

#include "curve/bls_parameter.h"

// Pairs that share one loop; more are done in several loops, whose values are multiplied.
enum { MAX_PAIRS = 16 };

// Replaces t by 2 t and multiplies f by the tangent at t, evaluated at p (scaled by 2 Y Z^3, which the final
// exponentiation removes).
static void double_step(fp12 *f, g2_jac *t, const g1_affine *p) {
    fp2 x3, y2, z2, c0, c1, c4;
    fp2_sqr(&x3, &t->x);
    fp2_dbl(&c1, &x3);
    fp2_add(&x3, &x3, &c1); // 3 X^2
    fp2_sqr(&y2, &t->y);
    fp2_dbl(&y2, &y2); // 2 Y^2
    fp2_sqr(&z2, &t->z);
    fp2_mul(&c0, &x3, &t->x);
    fp2_sub(&c0, &c0, &y2); // 3 X^3 - 2 Y^2
    fp2_mul(&c1, &x3, &z2);
    fp2_neg(&c1, &c1);
    fp2_mul_fp(&c1, &c1, &p->x); // -3 X^2 Z^2 x_P
    g2_jac_dbl(t, t);
    fp2_mul(&c4, &t->z, &z2);
    fp2_mul_fp(&c4, &c4, &p->y); // 2 Y Z Z^2 y_P
    fp12_mul_by_014(f, &c0, &c1, &c4);
}

// Replaces t by t + q and multiplies f by the line through them (scaled by Z (X - x_Q Z^2)). t is never +-q in the
// loop: it is m q with 1 < m < r - 1.
static void add_step(fp12 *f, g2_jac *t, const g2_affine *q, const g1_affine *p) {
    fp2 z2, h, r, c0, c1, c4;
    fp2_sqr(&z2, &t->z);
    fp2_mul(&h, &q->x, &z2);
    fp2_sub(&h, &t->x, &h); // X - x_Q Z^2
    fp2_mul(&z2, &z2, &t->z);
    fp2_mul(&r, &q->y, &z2);
    fp2_sub(&r, &t->y, &r); // Y - y_Q Z^3
    fp2_mul(&h, &h, &t->z); // the slope is r/h
    fp2_mul(&c0, &r, &q->x);
    fp2_mul(&c4, &h, &q->y);
    fp2_sub(&c0, &c0, &c4); // r x_Q - h y_Q
    fp2_neg(&c1, &r);
    fp2_mul_fp(&c1, &c1, &p->x);
    fp2_mul_fp(&c4, &h, &p->y);
    fp12_mul_by_014(f, &c0, &c1, &c4);
    g2_jac_add_affine(t, t, q);
}

// At most MAX_PAIRS pairs, none with infinity.
static void shared_loop(fp12 *f, const g1_affine *const *p, const g2_affine *const *q, size_t n) {
    g2_jac t[MAX_PAIRS];
    *f = FP12_ONE;
    for (size_t i = 0; i < n; i++) g2_jac_from_affine(&t[i], q[i]);
    for (unsigned bit = 63; bit-- > 0;) {
        fp12_sqr(f, f);
        for (size_t i = 0; i < n; i++) double_step(f, &t[i], p[i]);
        if ((BLS_Z_ABS >> bit & 1) != 0) {
            for (size_t i = 0; i < n; i++) add_step(f, &t[i], q[i], p[i]);
        }
    }
    fp12_conj(f, f); // z is negative: 1/f, up to factors the final exponentiation removes
}

void pairing_miller_loop(fp12 *out, const g1_affine *p, const g2_affine *q, size_t n) {
    fp12 product = FP12_ONE, f;
    size_t i = 0;
    while (i < n) {
        const g1_affine *ps[MAX_PAIRS];
        const g2_affine *qs[MAX_PAIRS];
        size_t count = 0;
        for (; i < n && count < MAX_PAIRS; i++) {
            if (g1_affine_is_infinity(&p[i]) || g2_affine_is_infinity(&q[i])) continue;
            ps[count] = &p[i], qs[count] = &q[i];
            count++;
        }
        if (count == 0) continue;
        shared_loop(&f, ps, qs, count);
        fp12_mul(&product, &product, &f);
    }
    *out = product;
}

// a^z for a in the cyclotomic subgroup, where inverses are conjugates. out is not a.
static void power_z(fp12 *out, const fp12 *a) {
    *out = *a;
    for (unsigned bit = 63; bit-- > 0;) {
        fp12_cyclotomic_sqr(out, out);
        if ((BLS_Z_ABS >> bit & 1) != 0) fp12_mul(out, out, a);
    }
    fp12_conj(out, out);
}

void pairing_final_exp(fp12 *out, const fp12 *f) {
    fp12 m, t, s;
    // The easy part: f^((p^6 - 1)(p^2 + 1)).
    fp12_conj(&m, f);
    fp12_inv(&t, f);
    fp12_mul(&m, &m, &t);
    fp12_frobenius(&t, &m, 2);
    fp12_mul(&m, &m, &t);
    // The hard part, three times (p^4 - p^2 + 1)/r = (z - 1)^2 (z + p)(z^2 + p^2 - 1) + 3
    // (Hayashida, Hayasaka, Teruya, eprint 2020/875).
    power_z(&t, &m);
    fp12_conj(&s, &m);
    fp12_mul(&t, &t, &s); // ^(z - 1)
    power_z(&s, &t);
    fp12_conj(&t, &t);
    fp12_mul(&t, &t, &s); // ^(z - 1)
    power_z(&s, &t);
    fp12_frobenius(&t, &t, 1);
    fp12_mul(&t, &t, &s); // ^(z + p)
    fp12 u;
    power_z(&s, &t);
    power_z(&u, &s);
    fp12_frobenius(&s, &t, 2);
    fp12_mul(&u, &u, &s);
    fp12_conj(&t, &t);
    fp12_mul(&u, &u, &t); // ^(z^2 + p^2 - 1)
    fp12_cyclotomic_sqr(&t, &m);
    fp12_mul(&t, &t, &m);
    fp12_mul(out, &u, &t); // m^3
}

bool pairing_product_is_one(const g1_affine *p, const g2_affine *q, size_t n) {
    fp12 f;
    pairing_miller_loop(&f, p, q, n);
    pairing_final_exp(&f, &f);
    return fp12_is_one(&f);
}
