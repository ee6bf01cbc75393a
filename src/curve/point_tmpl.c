// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The group law on y^2 = x^3 + b, compiled once for G1 and once for G2: the build defines POINT_TYPES as the header
// that names the points and the field (point_g1.h, point_g2.h).
//
// Formulas are those of the Explicit-Formulas Database, "Jacobian coordinates with a4=0" and "XYZZ coordinates for
// short Weierstrass curves", under the names given. They fail for equal, opposite and infinite operands, so each
// addition sorts those out first. There are no points with y = 0 on either curve (the group orders are odd).
#include POINT_TYPES

typedef POINT(affine) affine;
typedef POINT(jac) jac;
typedef POINT(xyzz) xyzz;

// Affine

bool POINT(affine_is_infinity)(const affine *a) { return FE(is_zero)(&a->x) && FE(is_zero)(&a->y); }

bool POINT(affine_eq)(const affine *a, const affine *b) { return FE(eq)(&a->x, &b->x) && FE(eq)(&a->y, &b->y); }

void POINT(affine_neg)(affine *out, const affine *a) {
    out->x = a->x;
    FE(neg)(&out->y, &a->y);
}

bool POINT(affine_on_curve)(const affine *a) {
    fe left, right;
    if (POINT(affine_is_infinity)(a)) return true;
    FE(sqr)(&left, &a->y);
    FE(sqr)(&right, &a->x);
    FE(mul)(&right, &right, &a->x);
    FE(add)(&right, &right, &CURVE_B);
    return FE(eq)(&left, &right);
}

// Jacobian

void POINT(jac_infinity)(jac *out) { *out = (jac){FE_ONE, FE_ONE, FE_ZERO}; }

bool POINT(jac_is_infinity)(const jac *a) { return FE(is_zero)(&a->z); }

bool POINT(jac_eq)(const jac *a, const jac *b) {
    bool a_inf = POINT(jac_is_infinity)(a), b_inf = POINT(jac_is_infinity)(b);
    if (a_inf || b_inf) return a_inf && b_inf;
    fe za, zb, s, t;
    FE(sqr)(&za, &a->z);
    FE(sqr)(&zb, &b->z);
    FE(mul)(&s, &a->x, &zb);
    FE(mul)(&t, &b->x, &za);
    if (!FE(eq)(&s, &t)) return false;
    FE(mul)(&za, &za, &a->z);
    FE(mul)(&zb, &zb, &b->z);
    FE(mul)(&s, &a->y, &zb);
    FE(mul)(&t, &b->y, &za);
    return FE(eq)(&s, &t);
}

void POINT(jac_from_affine)(jac *out, const affine *a) {
    if (POINT(affine_is_infinity)(a)) {
        POINT(jac_infinity)(out);
    } else {
        *out = (jac){a->x, a->y, FE_ONE};
    }
}

// (x, y) := (X zi^2, Y zi^3) for zi = 1/Z.
static void scale_by_inverse(affine *out, const jac *a, const fe *zi) {
    fe t;
    FE(sqr)(&t, zi);
    FE(mul)(&out->x, &a->x, &t);
    FE(mul)(&t, &t, zi);
    FE(mul)(&out->y, &a->y, &t);
}

void POINT(jac_to_affine)(affine *out, const jac *a) {
    fe zi;
    FE(inv)(&zi, &a->z); // infinity: 1/0 is 0 here, which gives x = y = 0
    scale_by_inverse(out, a, &zi);
}

void POINT(jac_to_affine_batch)(affine *out, const jac *a, size_t n) {
    // Montgomery's trick: out[i].x holds the product of the Z before i until its turn comes.
    fe product = FE_ONE, zi;
    for (size_t i = 0; i < n; i++) {
        out[i].x = product;
        if (!POINT(jac_is_infinity)(&a[i])) FE(mul)(&product, &product, &a[i].z);
    }
    FE(inv)(&product, &product);
    for (size_t i = n; i-- > 0;) {
        if (POINT(jac_is_infinity)(&a[i])) {
            out[i] = (affine){FE_ZERO, FE_ZERO};
            continue;
        }
        FE(mul)(&zi, &product, &out[i].x);
        FE(mul)(&product, &product, &a[i].z);
        scale_by_inverse(&out[i], &a[i], &zi);
    }
}

void POINT(jac_neg)(jac *out, const jac *a) {
    out->x = a->x, out->z = a->z;
    FE(neg)(&out->y, &a->y);
}

void POINT(jac_dbl)(jac *out, const jac *a) { // dbl-2009-l; Z = 0 stays 0
    fe A, B, C, D, E, z;
    FE(mul)(&z, &a->y, &a->z);
    FE(sqr)(&A, &a->x);
    FE(sqr)(&B, &a->y);
    FE(sqr)(&C, &B);
    FE(add)(&D, &a->x, &B);
    FE(sqr)(&D, &D);
    FE(sub)(&D, &D, &A);
    FE(sub)(&D, &D, &C);
    FE(dbl)(&D, &D);
    FE(dbl)(&E, &A);
    FE(add)(&E, &E, &A);
    FE(sqr)(&A, &E);
    FE(sub)(&A, &A, &D);
    FE(sub)(&out->x, &A, &D);
    FE(sub)(&D, &D, &out->x);
    FE(mul)(&E, &E, &D);
    FE(dbl)(&C, &C);
    FE(dbl)(&C, &C);
    FE(dbl)(&C, &C);
    FE(sub)(&out->y, &E, &C);
    FE(dbl)(&out->z, &z);
}

// The rest of add-2007-bl and madd-2007-bl, which agree once both points have the denominators Z1 Z2:
// h = U2 - U1 and r = S2 - S1 (not both zero), z = the Z3 for a unit h.
static void finish_add(jac *out, const fe *u1, const fe *s1, const fe *h, const fe *r, const fe *z) {
    fe r2, i, j, v, t;
    FE(mul)(&out->z, z, h);
    FE(dbl)(&out->z, &out->z);
    FE(dbl)(&i, h);
    FE(sqr)(&i, &i);
    FE(mul)(&j, h, &i);
    FE(mul)(&v, u1, &i);
    FE(dbl)(&r2, r);
    FE(mul)(&t, s1, &j);
    FE(dbl)(&t, &t);
    FE(sqr)(&out->x, &r2);
    FE(sub)(&out->x, &out->x, &j);
    FE(sub)(&out->x, &out->x, &v);
    FE(sub)(&out->x, &out->x, &v);
    FE(sub)(&v, &v, &out->x);
    FE(mul)(&v, &v, &r2);
    FE(sub)(&out->y, &v, &t);
}

void POINT(jac_add)(jac *out, const jac *a, const jac *b) {
    if (POINT(jac_is_infinity)(a)) {
        *out = *b;
        return;
    }
    if (POINT(jac_is_infinity)(b)) {
        *out = *a;
        return;
    }
    fe za, zb, u1, u2, s1, s2, z;
    FE(sqr)(&za, &a->z);
    FE(sqr)(&zb, &b->z);
    FE(mul)(&u1, &a->x, &zb);
    FE(mul)(&u2, &b->x, &za);
    FE(mul)(&s1, &a->y, &b->z);
    FE(mul)(&s1, &s1, &zb);
    FE(mul)(&s2, &b->y, &a->z);
    FE(mul)(&s2, &s2, &za);
    FE(sub)(&u2, &u2, &u1);
    FE(sub)(&s2, &s2, &s1);
    if (FE(is_zero)(&u2)) { // same x: the same point or opposite ones
        if (FE(is_zero)(&s2)) {
            POINT(jac_dbl)(out, a);
        } else {
            POINT(jac_infinity)(out);
        }
        return;
    }
    FE(mul)(&z, &a->z, &b->z);
    finish_add(out, &u1, &s1, &u2, &s2, &z);
}

void POINT(jac_add_affine)(jac *out, const jac *a, const affine *b) {
    if (POINT(affine_is_infinity)(b)) {
        *out = *a;
        return;
    }
    if (POINT(jac_is_infinity)(a)) {
        *out = (jac){b->x, b->y, FE_ONE};
        return;
    }
    fe za, u1 = a->x, s1 = a->y, z = a->z, u2, s2;
    FE(sqr)(&za, &z);
    FE(mul)(&u2, &b->x, &za);
    FE(mul)(&s2, &b->y, &z);
    FE(mul)(&s2, &s2, &za);
    FE(sub)(&u2, &u2, &u1);
    FE(sub)(&s2, &s2, &s1);
    if (FE(is_zero)(&u2)) {
        if (FE(is_zero)(&s2)) {
            POINT(jac_dbl)(out, a);
        } else {
            POINT(jac_infinity)(out);
        }
        return;
    }
    finish_add(out, &u1, &s1, &u2, &s2, &z);
}

void POINT(jac_mul_limbs)(jac *out, const jac *a, const uint64_t *k, size_t n) {
    // Windows of four bits from the top; leading zeros cost nothing.
    jac table[16], acc;
    POINT(jac_infinity)(&table[0]);
    table[1] = *a;
    for (size_t i = 2; i < 16; i++) {
        if (i % 2 == 0) {
            POINT(jac_dbl)(&table[i], &table[i / 2]);
        } else {
            POINT(jac_add)(&table[i], &table[i - 1], a);
        }
    }
    acc = table[0];
    for (size_t i = 16 * n; i-- > 0;) {
        size_t digit = k[i / 16] >> 4 * (i % 16) & 15;
        if (!POINT(jac_is_infinity)(&acc)) {
            for (size_t j = 0; j < 4; j++) POINT(jac_dbl)(&acc, &acc);
        }
        if (digit != 0) POINT(jac_add)(&acc, &acc, &table[digit]);
    }
    *out = acc;
}

void POINT(jac_mul)(jac *out, const jac *a, const fr *k) {
    uint64_t limbs[4];
    fr_to_limbs(limbs, k);
    POINT(jac_mul_limbs)(out, a, limbs, 4);
}

// XYZZ

void POINT(xyzz_infinity)(xyzz *out) { *out = (xyzz){FE_ONE, FE_ONE, FE_ZERO, FE_ZERO}; }

bool POINT(xyzz_is_infinity)(const xyzz *a) { return FE(is_zero)(&a->zz); }

// dbl-2008-s-1 (mdbl-2008-s-1 when scale is false: the operand has zz = zzz = 1).
static void xyzz_double(xyzz *acc, bool scale) {
    fe u, v, w, s, m;
    FE(dbl)(&u, &acc->y);
    FE(sqr)(&v, &u);
    FE(mul)(&w, &u, &v);
    FE(mul)(&s, &acc->x, &v);
    FE(sqr)(&u, &acc->x);
    FE(dbl)(&m, &u);
    FE(add)(&m, &m, &u);
    FE(sqr)(&acc->x, &m);
    FE(sub)(&acc->x, &acc->x, &s);
    FE(sub)(&acc->x, &acc->x, &s);
    FE(sub)(&s, &s, &acc->x);
    FE(mul)(&s, &s, &m);
    FE(mul)(&u, &w, &acc->y);
    FE(sub)(&acc->y, &s, &u);
    if (scale) {
        FE(mul)(&acc->zz, &acc->zz, &v);
        FE(mul)(&acc->zzz, &acc->zzz, &w);
    } else {
        acc->zz = v, acc->zzz = w;
    }
}

void POINT(xyzz_dbl)(xyzz *acc) { xyzz_double(acc, true); } // zz = 0 stays 0

// The rest of add-2008-s and madd-2008-s: acc holds X1 and Y1 over the common denominators zz and zzz,
// p = U2 - U1 is not zero, r = S2 - S1.
static void finish_xyzz_add(xyzz *acc, const fe *p, const fe *r) {
    fe pp, ppp, q, t;
    FE(sqr)(&pp, p);
    FE(mul)(&ppp, p, &pp);
    FE(mul)(&q, &acc->x, &pp);
    FE(mul)(&t, &acc->y, &ppp);
    FE(mul)(&acc->zz, &acc->zz, &pp);
    FE(mul)(&acc->zzz, &acc->zzz, &ppp);
    FE(sqr)(&acc->x, r);
    FE(sub)(&acc->x, &acc->x, &ppp);
    FE(sub)(&acc->x, &acc->x, &q);
    FE(sub)(&acc->x, &acc->x, &q);
    FE(sub)(&q, &q, &acc->x);
    FE(mul)(&q, &q, r);
    FE(sub)(&acc->y, &q, &t);
}

void POINT(xyzz_add_affine)(xyzz *acc, const affine *b) {
    if (POINT(affine_is_infinity)(b)) return;
    if (POINT(xyzz_is_infinity)(acc)) {
        *acc = (xyzz){b->x, b->y, FE_ONE, FE_ONE};
        return;
    }
    fe p, r;
    FE(mul)(&p, &b->x, &acc->zz);
    FE(mul)(&r, &b->y, &acc->zzz);
    FE(sub)(&p, &p, &acc->x);
    FE(sub)(&r, &r, &acc->y);
    if (FE(is_zero)(&p)) {
        if (FE(is_zero)(&r)) {
            acc->x = b->x, acc->y = b->y;
            xyzz_double(acc, false);
        } else {
            POINT(xyzz_infinity)(acc);
        }
        return;
    }
    finish_xyzz_add(acc, &p, &r);
}

void POINT(xyzz_add)(xyzz *acc, const xyzz *b) {
    if (POINT(xyzz_is_infinity)(b)) return;
    if (POINT(xyzz_is_infinity)(acc)) {
        *acc = *b;
        return;
    }
    xyzz sum;
    fe p, r;
    FE(mul)(&sum.x, &acc->x, &b->zz);
    FE(mul)(&p, &b->x, &acc->zz);
    FE(mul)(&sum.y, &acc->y, &b->zzz);
    FE(mul)(&r, &b->y, &acc->zzz);
    FE(sub)(&p, &p, &sum.x);
    FE(sub)(&r, &r, &sum.y);
    if (FE(is_zero)(&p)) {
        if (FE(is_zero)(&r)) {
            POINT(xyzz_dbl)(acc);
        } else {
            POINT(xyzz_infinity)(acc);
        }
        return;
    }
    FE(mul)(&sum.zz, &acc->zz, &b->zz);
    FE(mul)(&sum.zzz, &acc->zzz, &b->zzz);
    finish_xyzz_add(&sum, &p, &r);
    *acc = sum;
}

void POINT(xyzz_to_jac)(jac *out, const xyzz *a) {
    // Z := ZZ: X/ZZ = X ZZ / Z^2, and Y/ZZZ = Y ZZZ / ZZZ^2 = Y ZZZ / Z^3.
    FE(mul)(&out->x, &a->x, &a->zz);
    FE(mul)(&out->y, &a->y, &a->zzz);
    out->z = a->zz;
}
