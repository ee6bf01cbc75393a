// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Batch-affine addition, eight at a time (CPU_IFMA), for both groups. The same sums as add_batch_tmpl.c, with the same
// bytes as result: everything stored is fully reduced.
//
// Additions go in groups of eight, each lane with a running product of its own, and one inversion for the eight. The
// way back is a pipeline: while one group is loaded and gets its slope, the one before it gets its x and the one
// before that its y. A processor looks ahead by less than one vector multiplication; so between any two of them
// stands work that needs neither, and no multiplication waits for the one before it.
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
#include <stdbool.h>

#include "msm/x86/coord8.h"

enum {
    MIN_VECTOR = 6,        // fewer are done one by one sooner
    AHEAD = 4 * FP8_LANES, // additions between the request for a point and its use
    FIRST_BLOCK = 256,
    SLOW = 32, // equal points wait in a list of this length
};

// What the way there leaves for the way back.
typedef struct group {
    fp8 before;                // the running product before this group
    fp8 den;                   // its factor
    alignas(64) uint8_t lanes; // those added by the general formula
} group;

_Static_assert(FP8_LANES * sizeof(MSM(scratch)) == MSM_SCRATCH_UNIT * sizeof(group), "scratch for a group");

// Additions of either function of the table. With pairs, both operands come from the table; otherwise the first one is
// where the sum goes.
typedef struct batch {
    POINT *out;
    const uint32_t *a;
    const POINT *table;
    const uint32_t *b; // [n], with pairs [2 n]
    size_t n;
    bool pairs;
} batch;

// Eight additions of them: *out := +-*p +-*q.
typedef struct operands {
    POINT *out[FP8_LANES];
    const POINT *p[FP8_LANES], *q[FP8_LANES];
    __mmask8 active, negate_p, negate_q;
} operands;

// Additions first .. first + 7; those beyond the end repeat the last one and are not active.
static inline void choose(operands *o, const batch *j, size_t first) {
    unsigned negate_p = 0, negate_q = 0;
    for (size_t i = 0; i < FP8_LANES; i++) {
        const size_t at = first + i < j->n ? first + i : j->n - 1;
        o->out[i] = &j->out[j->a[at]];
        if (j->pairs) {
            const uint32_t l = j->b[2 * at], r = j->b[2 * at + 1];
            o->p[i] = &j->table[l >> 1], o->q[i] = &j->table[r >> 1];
            negate_p |= (l & 1) << i, negate_q |= (r & 1) << i;
        } else {
            const uint32_t r = j->b[at];
            o->p[i] = o->out[i], o->q[i] = &j->table[r >> 1];
            negate_q |= (r & 1) << i;
        }
    }
    const size_t left = j->n > first ? j->n - first : 0;
    o->active = (__mmask8)(left >= FP8_LANES ? 0xff : (1u << left) - 1);
    o->negate_p = (__mmask8)negate_p, o->negate_q = (__mmask8)negate_q;
}

// Always inline: gcc takes a function that only prefetches for one without effect, and drops the calls.
#define PREFETCH static inline __attribute__((always_inline)) void
PREFETCH prefetch_point(const POINT *p) {
    for (size_t line = 0; line < sizeof *p; line += 64) __builtin_prefetch((const char *)p + line);
}
PREFETCH prefetch(const batch *j, size_t first, size_t count) {
    for (size_t i = first; i < first + count && i < j->n; i++) {
        prefetch_point(&j->table[j->b[j->pairs ? 2 * i : i] >> 1]);
        prefetch_point(j->pairs ? &j->table[j->b[2 * i + 1] >> 1] : &j->out[j->a[i]]);
    }
}

static inline void load_x(coord8 *x1, coord8 *x2, const operands *o) {
    const FE *at[FP8_LANES];
    for (int i = 0; i < FP8_LANES; i++) at[i] = &o->p[i]->x;
    coord_load(x1, at);
    for (int i = 0; i < FP8_LANES; i++) at[i] = &o->q[i]->x;
    coord_load(x2, at);
}
// With their signs, in [0, p].
static inline void load_y(coord8 *y1, coord8 *y2, const operands *o) {
    const FE *at[FP8_LANES];
    for (int i = 0; i < FP8_LANES; i++) at[i] = &o->p[i]->y;
    coord_load(y1, at);
    for (int i = 0; i < FP8_LANES; i++) at[i] = &o->q[i]->y;
    coord_load(y2, at);
    if (o->negate_p != 0) coord_neg_lanes(y1, o->negate_p);
    if (o->negate_q != 0) coord_neg_lanes(y2, o->negate_q);
}

// x2 - x1 + p, and 1 in the lanes that are not general.
static inline void difference(coord8 *d, const coord8 *x1, const coord8 *x2, __mmask8 general) {
    coord_sub(d, x2, x1);
    coord_add_p(d);
    coord_operand(d);
    if (__builtin_expect(general != 0xff, 0)) fp8_one_lanes(&d->c[0], (__mmask8)~general);
}

static inline void store(const operands *o, const coord8 *x, const coord8 *y, __mmask8 lanes) {
    FE *at[FP8_LANES];
    for (int i = 0; i < FP8_LANES; i++) at[i] = &o->out[i]->x;
    coord_store(at, x, lanes);
    for (int i = 0; i < FP8_LANES; i++) at[i] = &o->out[i]->y;
    coord_store(at, y, lanes);
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
    if (s->n > 0) MSM(add_batch_portable)(s->j->out, s->a, s->j->table, s->b, s->n, scratch);
    s->n = 0;
}

static void slow_lanes(slow_list *s, const operands *o, size_t first, __mmask8 lanes) {
    for (size_t lane = 0; lane < FP8_LANES; lane++) {
        if ((lanes >> lane & 1) == 0) continue;
        POINT *p = o->out[lane];
        const POINT *q = o->q[lane];
        const uint32_t negate_q = (uint32_t)(o->negate_q >> lane & 1);
        if (s->j->pairs) {
            *p = *o->p[lane];
            if ((o->negate_p >> lane & 1) != 0) G(affine_neg)(p, p);
        }
        if (G(affine_is_infinity)(q)) continue;
        if (G(affine_is_infinity)(p)) {
            *p = *q;
            if (negate_q != 0) G(affine_neg)(p, p);
            continue;
        }
        s->a[s->n] = s->j->a[first + lane], s->b[s->n] = (uint32_t)(q - s->j->table) << 1 | negate_q;
        if (++s->n == SLOW) slow_flush(s);
    }
}

// The way there: r_i, and the product of all denominators of a lane in the end.
static void forward(const batch *j, group *groups, fp8 *run) {
    for (size_t first = 0, g = 0; first < j->n; first += FP8_LANES, g++) {
        operands o;
        coord8 x1, x2, d;
        prefetch(j, first + AHEAD, FP8_LANES);
        choose(&o, j, first);
        load_x(&x1, &x2, &o);
        group *to = &groups[g];
        to->lanes = o.active & (__mmask8) ~(coord_maybe_eq(&x1, &x2) | coord_maybe_zero(&x1) | coord_maybe_zero(&x2));
        difference(&d, &x1, &x2, to->lanes);
        coord_denominator(&to->den, &d);
        fp8_carry_digits(run);
        to->before = *run;
        fp8_mul(run, run, &to->den);
    }
    fp8_carry_digits(run);
}

// A group on its way back.
typedef struct work {
    operands o;
    __mmask8 lanes;
    coord8 x1, x2, y1;
    coord8 d, dy, lambda;
    coord8 x3; // first lambda^2
    coord8 t;  // 2^16 (x1 - x3), then its product with lambda
    fp8 inverse;
} work;

static inline void take(work *w, const batch *j, const group *groups, size_t g) {
    choose(&w->o, j, g * FP8_LANES);
    w->lanes = groups[g].lanes;
    load_x(&w->x1, &w->x2, &w->o);
#if MSM_GROUP == 2
    difference(&w->d, &w->x1, &w->x2, w->lanes);
#endif
}
static inline void find_dy(work *w) {
    load_y(&w->y1, &w->dy, &w->o);
    coord_sub(&w->dy, &w->dy, &w->y1);
    coord_add_p(&w->dy);
    coord_operand(&w->dy);
}
static inline void find_x3(work *w) {
    coord_sub(&w->x3, &w->x3, &w->x1);
    coord_sub(&w->x3, &w->x3, &w->x2);
    coord_canonical(&w->x3);
    coord_sub(&w->t, &w->x1, &w->x3);
    coord_add_p(&w->t);
    coord_operand_shifted(&w->t, 16);
}
static inline void find_y3(work *w) {
    coord_sub(&w->t, &w->t, &w->y1);
    coord_canonical(&w->t);
    store(&w->o, &w->x3, &w->t, w->lanes);
}

// z: the inverse of each lane's product. The points of the additions `later` are asked for meanwhile, at an even pace.
static void backward(const batch *j, const group *groups, fp8 *z, const batch *later) {
    slow_list slow = {.j = j};
    work space[3], *now = &space[0], *before = &space[1], *first = &space[2];
    const size_t count = (j->n - 1) / FP8_LANES + 1;
    take(now, j, groups, count - 1);
    for (size_t left = count + 2; left-- > 0;) { // group left - 2 gets its slope, left - 1 its x, left its y
        const bool slope = left >= 2, x = left >= 1 && left <= count, y = left < count;
        const group *from = &groups[slope ? left - 2 : 0];
        const size_t ahead = (count + 1 - left) * FP8_LANES; // asked for in small portions: a burst would be dropped
        if (slope) {
            const __mmask8 other = (__mmask8)(now->o.active & ~now->lanes);
            if (__builtin_expect(other != 0, 0)) slow_lanes(&slow, &now->o, (left - 2) * FP8_LANES, other);
            fp8_mul(&now->inverse, z, &from->before);
            prefetch(later, ahead, 2);
            find_dy(now);
            fp8_mul(z, z, &from->den);
            prefetch(later, ahead + 2, 2);
        }
        if (x) find_x3(before);
        if (slope) fp8_carry_digits(&now->inverse);
        if (slope) coord_over(&now->lambda, &now->dy, &now->d, &now->inverse);
        prefetch(later, ahead + 4, 2);
        if (y) find_y3(first);
        if (x) coord_mul(&before->t, &before->lambda, &before->t);
        prefetch(later, ahead + 6, 2);
        work *const next = first;
        if (left >= 3) take(next, j, groups, left - 3);
        fp8_carry_digits(z);
        if (slope) coord_operand(&now->lambda);
        if (slope) coord_sqr(&now->x3, &now->lambda);
        first = before, before = now, now = next;
    }
    slow_flush(&slow);
}

static void add(batch j, MSM(scratch) * scratch) {
    group *groups = (void *)scratch;
    const size_t n = j.n, width = j.pairs ? 2 : 1;
    batch later = j;
    for (size_t at = 0; at < n; at += j.n) {
        j.a += at == 0 ? 0 : j.n, j.b += at == 0 ? 0 : width * j.n;
        // The first block waits for its points and is small; then equal blocks.
        j.n = (n - at) / ((n - at + MSM_BLOCK - 1) / MSM_BLOCK);
        if (at == 0 && j.pairs && n > MSM_BLOCK) j.n = FIRST_BLOCK;
        later.a = j.a + j.n, later.b = j.b + width * j.n, later.n = n - at - j.n;
        fp8 run;
        fp8_set1(&run, FP8_ONE);
        forward(&j, groups, &run);
        fp8_inv_lanes(&run, &run);
        backward(&j, groups, &run, &later);
    }
}

void MSM(add_batch_ifma)(POINT *acc, const uint32_t *a, const POINT *table, const uint32_t *b, size_t n,
                         MSM(scratch) * scratch) {
    if (n < MIN_VECTOR)
        MSM(add_batch_adx)(acc, a, table, b, n, scratch);
    else
        add((batch){acc, a, table, b, n, false}, scratch);
}
void MSM(add_pairs_ifma)(POINT *out, const uint32_t *a, const POINT *table, const uint32_t *b, size_t n,
                         MSM(scratch) * scratch) {
    if (n < MIN_VECTOR)
        MSM(add_pairs_adx)(out, a, table, b, n, scratch);
    else
        add((batch){out, a, table, b, n, true}, scratch);
}
