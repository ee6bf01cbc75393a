// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Batch-affine addition, eight at a time (CPU_IFMA), for both groups. The same sums as add_batch_tmpl.c, with the same
// bytes as result: everything stored is fully reduced.
//
// Additions go in pairs of groups of eight. Each of the two groups has a running product in every lane: sixteen chains,
// which one inversion serves. Two groups at a time, because a multiplication takes longer than the processor's units
// are busy with it, and the other group fills the gap.
//
// Powers of 2. Stored coordinates are x 2^384; M(a, b) = a b / 2^416. Write [e] for "times 2^e".
//
//     d = x2 - x1 [384]            running products r_i = M(r_(i-1), d_i), whatever power they have
//     z_n = 2^816 / r_n            fp8_inv_lanes
//     1/d_i = M(z_i, r_(i-1)) [432]: the powers in r cancel, 2^816 / 2^384; z_(i-1) = M(z_i, d_i)
//     lambda = M(y2 - y1, 1/d) [384 + 432 - 416 = 400]
//     x3 = M(lambda, lambda) - x1 - x2 [400 + 400 - 416 = 384]
//     y3 = M(lambda, 2^16 (x1 - x3)) - y1 [400 + 400 - 416 = 384]
//
// so nothing is converted on the way in or out. In G2 the running products are of norms, M(d0, d0) + M(d1, d1), and
// 1/d is M(conjugate of d, inverse norm): the powers come out the same.
//
// Bounds. Loaded coordinates are below p; differences get p or 2p added and are below 3p < 2^383; a product of two such
// values is below p + 2^(2 * 383 - 416) < p + 2^350. The largest operands are lambda, below 2p, and 2^16 (x1 - x3 + p),
// below 2^398: y3's product is below p + 2^365.
#include <stdalign.h>

#include "msm/x86/coord8.h"

enum {
    PAIR = 2,                // groups side by side
    STEP = PAIR * FP8_LANES, // additions a step
    MIN_VECTOR = 6,          // fewer are done one by one sooner
    AHEAD = 2 * STEP,        // additions between the request for a point and its use
    SLOW = 32,               // equal points wait in a list of this length
};

typedef struct group {
    fp8 before; // the running product before this group
#if MSM_GROUP == 2
    fp8 norm;
#endif
    alignas(64) uint8_t lanes; // those added by the general formula
} group;

_Static_assert(PAIR * sizeof(group) == sizeof(MSM(scratch)), "scratch for one step");

// Eight operands of additions.
typedef struct operands {
    POINT *p[FP8_LANES];
    const POINT *q[FP8_LANES];
    __mmask8 active, negate;
} operands;

typedef struct batch {
    POINT *acc;
    const uint32_t *a;
    const POINT *table;
    const uint32_t *b;
    size_t n;
} batch;

// Additions first .. first + 7; those beyond the end repeat the last one and are not active.
static inline void choose(operands *o, const batch *j, size_t first) {
    unsigned negate = 0;
    for (size_t i = 0; i < FP8_LANES; i++) {
        const size_t at = first + i < j->n ? first + i : j->n - 1;
        o->p[i] = &j->acc[j->a[at]];
        o->q[i] = &j->table[j->b[at] >> 1];
        negate |= (j->b[at] & 1) << i;
    }
    const size_t left = j->n > first ? j->n - first : 0;
    o->active = (__mmask8)(left >= FP8_LANES ? 0xff : (1u << left) - 1);
    o->negate = (__mmask8)negate;
}

static inline void load_x(coord8 *x1, coord8 *x2, const operands *o) {
    const FE *at[FP8_LANES];
    for (int i = 0; i < FP8_LANES; i++) at[i] = &o->p[i]->x;
    coord_load(x1, at);
    for (int i = 0; i < FP8_LANES; i++) at[i] = &o->q[i]->x;
    coord_load(x2, at);
}
// y2 with its sign, in [0, p].
static inline void load_y(coord8 *y1, coord8 *y2, const operands *o) {
    const FE *at[FP8_LANES];
    for (int i = 0; i < FP8_LANES; i++) at[i] = &o->p[i]->y;
    coord_load(y1, at);
    for (int i = 0; i < FP8_LANES; i++) at[i] = &o->q[i]->y;
    coord_load(y2, at);
    coord_neg_lanes(y2, o->negate);
}

// x2 - x1 + p, and 1 in the lanes that are not general.
static inline void difference(coord8 *d, const coord8 *x1, const coord8 *x2, __mmask8 general) {
    coord_sub(d, x2, x1);
    coord_add_p(d);
    coord_carry(d);
    fp8_one_lanes(&d->c[0], (__mmask8)~general);
}

static inline void store(const operands *o, const coord8 *x, const coord8 *y, __mmask8 lanes) {
    FE *at[FP8_LANES];
    for (int i = 0; i < FP8_LANES; i++) at[i] = &o->p[i]->x;
    coord_store(at, x, lanes);
    for (int i = 0; i < FP8_LANES; i++) at[i] = &o->p[i]->y;
    coord_store(at, y, lanes);
}

static inline void prefetch(const batch *j, size_t first) {
    for (size_t i = first; i < first + STEP && i < j->n; i++) {
        const char *p = (const char *)&j->acc[j->a[i]], *q = (const char *)&j->table[j->b[i] >> 1];
        for (size_t line = 0; line < sizeof(POINT); line += 64)
            __builtin_prefetch(p + line), __builtin_prefetch(q + line);
    }
}

// What the general formula cannot do: an operand at infinity or with x = 0, or equal abscissas. Infinity is settled
// here, the others wait for the portable kernel. Their a[i] are distinct from all others, so the order is free.
typedef struct slow_list {
    const batch *j;
    uint32_t a[SLOW], b[SLOW];
    size_t n;
} slow_list;

static void slow_flush(slow_list *s) {
    MSM(scratch) scratch[MSM_SCRATCH(SLOW)];
    if (s->n > 0) MSM(add_batch_portable)(s->j->acc, s->a, s->j->table, s->b, s->n, scratch);
    s->n = 0;
}

static void slow_lanes(slow_list *s, const operands *o, size_t first, __mmask8 lanes) {
    for (size_t lane = 0; lane < FP8_LANES; lane++) {
        if ((lanes >> lane & 1) == 0) continue;
        POINT *p = o->p[lane];
        const POINT *q = o->q[lane];
        if (G(affine_is_infinity)(q)) continue;
        if (G(affine_is_infinity)(p)) {
            *p = *q;
            if ((o->negate >> lane & 1) != 0) G(affine_neg)(p, p);
            continue;
        }
        s->a[s->n] = s->j->a[first + lane], s->b[s->n] = s->j->b[first + lane];
        if (++s->n == SLOW) slow_flush(s);
    }
}

static void forward(const batch *j, group *groups, fp8 run[PAIR]) {
    for (size_t first = 0, g = 0; first < j->n; first += STEP, g += PAIR) {
        prefetch(j, first + AHEAD);
        for (size_t k = 0; k < PAIR; k++) {
            operands o;
            coord8 x1, x2, d;
            fp8 space;
            choose(&o, j, first + k * FP8_LANES);
            load_x(&x1, &x2, &o);
            const __mmask8 general =
                (__mmask8)(o.active & ~(coord_eq(&x1, &x2) | coord_is_zero(&x1) | coord_is_zero(&x2)));
            group *to = &groups[g + k];
            to->lanes = general;
            to->before = run[k];
            if (general == 0) continue;
            difference(&d, &x1, &x2, general);
            const fp8 *den = coord_denominator(&space, &d);
#if MSM_GROUP == 2
            to->norm = *den;
#endif
            fp8_mul(&run[k], &run[k], den);
        }
    }
}

typedef struct lane_work {
    operands o;
    coord8 x1, y1, x2, lambda, t;
    fp8 inverse;
} lane_work;

static void backward(const batch *j, const group *groups, fp8 z[PAIR]) {
    slow_list slow = {.j = j};
    lane_work work[PAIR];
    for (size_t first = (j->n - 1) / STEP * STEP, left = (j->n - 1) / STEP + 1; left-- > 0; first -= STEP) {
        const group *from = &groups[left * PAIR];
        if (first >= STEP) prefetch(j, first - STEP);
        for (size_t k = 0; k < PAIR; k++) {
            lane_work *w = &work[k];
            choose(&w->o, j, first + k * FP8_LANES);
            const __mmask8 other = (__mmask8)(w->o.active & ~from[k].lanes);
            if (__builtin_expect(other != 0, 0)) slow_lanes(&slow, &w->o, first + k * FP8_LANES, other);
        }
        if ((from[0].lanes | from[1].lanes) == 0) continue;
        coord8 d[PAIR];
        for (size_t k = 0; k < PAIR; k++) {
            lane_work *w = &work[k];
            load_x(&w->x1, &w->x2, &w->o);
            difference(&d[k], &w->x1, &w->x2, from[k].lanes);
            fp8_mul(&w->inverse, &z[k], &from[k].before);
        }
        for (size_t k = 0; k < PAIR; k++) {
            if (from[k].lanes == 0) continue;
#if MSM_GROUP == 2
            fp8_mul(&z[k], &z[k], &from[k].norm);
#else
            fp8_mul(&z[k], &z[k], &d[k].c[0]);
#endif
        }
        for (size_t k = 0; k < PAIR; k++) {
            lane_work *w = &work[k];
            coord8 y2;
            load_y(&w->y1, &y2, &w->o);
            coord_sub(&y2, &y2, &w->y1);
            coord_add_p(&y2);
            coord_carry(&y2);
            coord_over(&w->lambda, &y2, &d[k], &w->inverse);
        }
        for (size_t k = 0; k < PAIR; k++) {
            lane_work *w = &work[k];
            coord_sqr(&w->t, &w->lambda);
            coord_sub(&w->t, &w->t, &w->x1);
            coord_sub(&w->t, &w->t, &w->x2);
            coord_canonical(&w->t);
        }
        for (size_t k = 0; k < PAIR; k++) {
            lane_work *w = &work[k];
            coord8 y3;
            coord_sub(&y3, &w->x1, &w->t);
            coord_add_p(&y3);
            coord_carry(&y3);
            coord_shift_left(&y3, 16);
            coord_mul(&y3, &w->lambda, &y3);
            coord_sub(&y3, &y3, &w->y1);
            coord_canonical(&y3);
            store(&w->o, &w->t, &y3, from[k].lanes);
        }
    }
    slow_flush(&slow);
}

void MSM(add_batch_ifma)(POINT *acc, const uint32_t *a, const POINT *table, const uint32_t *b, size_t n,
                         MSM(scratch) * scratch) {
    if (n < MIN_VECTOR) {
        MSM(add_batch_adx)(acc, a, table, b, n, scratch);
        return;
    }
    const batch j = {acc, a, table, b, n};
    group *groups = (void *)scratch;
    fp8 run[PAIR], z[PAIR], both;
    for (size_t k = 0; k < PAIR; k++) fp8_set1(&run[k], FP8_ONE);
    forward(&j, groups, run);
    // C / r_0 = M(C / M(r_0, r_1), r_1).
    fp8_mul(&both, &run[0], &run[1]);
    fp8_inv_lanes(&both, &both);
    fp8_mul(&z[0], &both, &run[1]);
    fp8_mul(&z[1], &both, &run[0]);
    backward(&j, groups, z);
}
