// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Bernstein and Yang, "Fast constant-time gcd computation and modular inversion" (eprint 2019/266), in the
// variable-time form: 62 division steps at a time run on the low words alone and give a 2x2 matrix, which is then
// applied to the full numbers.
//
// State: f odd, g, with f = d x and g = e x modulo m (up to the powers of two that each round divides out). When g
// reaches 0, f is +-gcd = +-1 and d is +-1/x.
#include "field/modinv.h"

#include <stdbool.h>

#include "field/limb.h"

#define LOW62 (UINT64_MAX >> 2)

// Numbers in n signed 62-bit limbs: all limbs but the top one in [0, 2^62), the sign in the top one.
typedef struct signed62 {
    int64_t v[MODINV_MAX_LIMBS];
} signed62;

// 2^-62 (u v; q r) is what 62 division steps do to (f, g); |u| + |v| <= 2^62 and |q| + |r| <= 2^62.
typedef struct step_matrix {
    int64_t u, v, q, r;
} step_matrix;

static unsigned trailing_zeros(uint64_t x) { return (unsigned)__builtin_ctzll(x); }

// 62 division steps on the low 64 bits of f and g; returns the new eta (minus the delta of the paper).
static int64_t division_steps(int64_t eta, uint64_t f, uint64_t g, step_matrix *t) {
    uint64_t u = 1, v = 0, q = 0, r = 1; // two's complement
    unsigned left = 62;
    for (;;) {
        // Halve g as often as it is even, at most `left` times (the ones at the top stop the count there).
        unsigned z = trailing_zeros(g | UINT64_MAX << left);
        g >>= z, u <<= z, v <<= z;
        eta -= (int64_t)z, left -= z;
        if (left == 0) break;
        if (eta < 0) { // swap, with one sign changed
            uint64_t s;
            eta = -eta;
            s = f, f = g, g = 0 - s;
            s = u, u = q, q = 0 - s;
            s = v, v = r, r = 0 - s;
        }
        // g += w f clears as many low bits of g as steps may pass before the next swap, up to 6:
        // w = -g/f modulo that power of two. f (f^2 - 2) is -1/f modulo 64.
        unsigned bits = eta + 1 > (int64_t)left ? left : (unsigned)(eta + 1);
        if (bits > 6) bits = 6;
        uint64_t w = f * g * (f * f - 2) & ((UINT64_C(1) << bits) - 1);
        g += f * w, q += u * w, r += v * w;
    }
    *t = (step_matrix){(int64_t)u, (int64_t)v, (int64_t)q, (int64_t)r};
    return eta;
}

// (f, g) := t (f, g) / 2^62, exact.
static void update_fg(signed62 *f, signed62 *g, size_t n, const step_matrix *t) {
    i128 cf = (i128)t->u * f->v[0] + (i128)t->v * g->v[0];
    i128 cg = (i128)t->q * f->v[0] + (i128)t->r * g->v[0];
    cf >>= 62, cg >>= 62; // the low 62 bits are zero
    for (size_t i = 1; i < n; i++) {
        cf += (i128)t->u * f->v[i] + (i128)t->v * g->v[i];
        cg += (i128)t->q * f->v[i] + (i128)t->r * g->v[i];
        f->v[i - 1] = (int64_t)((uint64_t)cf & LOW62);
        g->v[i - 1] = (int64_t)((uint64_t)cg & LOW62);
        cf >>= 62, cg >>= 62;
    }
    f->v[n - 1] = (int64_t)cf, g->v[n - 1] = (int64_t)cg;
}

// (d, e) := t (d, e) / 2^62 mod m, both kept in (-2m, m): for negative ones m is added first, then the multiple of m
// that makes the sum divisible by 2^62.
static void update_de(signed62 *d, signed62 *e, const modinv_modulus *m, const step_matrix *t) {
    size_t n = m->n;
    int64_t sd = d->v[n - 1] >> 63, se = e->v[n - 1] >> 63;
    int64_t md = (t->u & sd) + (t->v & se), me = (t->q & sd) + (t->r & se);
    i128 cd = (i128)t->u * d->v[0] + (i128)t->v * e->v[0];
    i128 ce = (i128)t->q * d->v[0] + (i128)t->r * e->v[0];
    md -= (int64_t)((m->inv62 * (uint64_t)cd + (uint64_t)md) & LOW62);
    me -= (int64_t)((m->inv62 * (uint64_t)ce + (uint64_t)me) & LOW62);
    cd += (i128)m->limb[0] * md, ce += (i128)m->limb[0] * me;
    cd >>= 62, ce >>= 62;
    for (size_t i = 1; i < n; i++) {
        cd += (i128)t->u * d->v[i] + (i128)t->v * e->v[i] + (i128)m->limb[i] * md;
        ce += (i128)t->q * d->v[i] + (i128)t->r * e->v[i] + (i128)m->limb[i] * me;
        d->v[i - 1] = (int64_t)((uint64_t)cd & LOW62);
        e->v[i - 1] = (int64_t)((uint64_t)ce & LOW62);
        cd >>= 62, ce >>= 62;
    }
    d->v[n - 1] = (int64_t)cd, e->v[n - 1] = (int64_t)ce;
}

// a := a + k b for k in {-1, 0, 1}, carries propagated.
static void add_multiple(signed62 *a, const int64_t *b, int64_t k, size_t n) {
    int64_t carry = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        carry += a->v[i] + k * b[i];
        a->v[i] = (int64_t)((uint64_t)carry & LOW62);
        carry >>= 62;
    }
    a->v[n - 1] += carry + k * b[n - 1];
}

static bool is_zero(const signed62 *a, size_t n) {
    int64_t any = 0;
    for (size_t i = 0; i < n; i++) any |= a->v[i];
    return any == 0;
}

void modinv(uint64_t *out, const uint64_t *x, size_t words, const modinv_modulus *m) {
    size_t n = m->n;
    signed62 f = {{0}}, g = {{0}}, d = {{0}}, e = {{1}};
    for (size_t i = 0; i < n; i++) {
        size_t bit = 62 * i, w = bit / 64, s = bit % 64;
        uint64_t v = w < words ? x[w] >> s : 0;
        if (s > 2 && w + 1 < words) v |= x[w + 1] << (64 - s);
        f.v[i] = m->limb[i];
        g.v[i] = (int64_t)(v & LOW62);
    }
    int64_t eta = -1;
    // Theorem 11.2 of the paper bounds the number of steps, so this ends: 49/17 of the bits plus a constant.
    while (!is_zero(&g, n)) {
        step_matrix t;
        uint64_t f0 = (uint64_t)f.v[0] | (uint64_t)f.v[1] << 62, g0 = (uint64_t)g.v[0] | (uint64_t)g.v[1] << 62;
        eta = division_steps(eta, f0, g0, &t);
        update_de(&d, &e, m, &t);
        update_fg(&f, &g, n, &t);
    }
    // The result is d times the sign of f, moved from (-2m, m) into [0, m).
    if (d.v[n - 1] < 0) add_multiple(&d, m->limb, 1, n);
    if (f.v[n - 1] < 0) {
        signed62 zero = {{0}};
        add_multiple(&zero, d.v, -1, n);
        d = zero;
    }
    if (d.v[n - 1] < 0) add_multiple(&d, m->limb, 1, n);
    for (size_t i = 0; i < words; i++) {
        size_t bit = 64 * i, w = bit / 62, s = bit % 62;
        uint64_t v = (uint64_t)d.v[w] >> s;
        if (w + 1 < n) v |= (uint64_t)d.v[w + 1] << (62 - s);
        if (s > 60 && w + 2 < n) v |= (uint64_t)d.v[w + 2] << (124 - s);
        out[i] = v;
    }
}
