// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Batch-affine addition, a vector of additions at a time, for both groups: with eight lanes (CPU_IFMA) and with four
// (CPU_AVX2), as lanes.h has it. The same sums as add_batch_tmpl.c, with the same bytes as result: everything stored is
// fully reduced.
//
// Additions go in groups of LANES. Each lane of even and of odd groups has a running product of its own, and one
// inversion serves them all. The way back is a pipeline: while one group gets its slope, the one before it gets its
// x and the one before that its y, so that no multiplication waits for the one before it. Everything but the
// multiplications is cut into steps that are compiled into them (field/x86/beside.h), where it costs little.
//
// Powers of 2. Stored coordinates are x 2^384; M(a, b) = a b / 2^RADIX_BITS, which is 2^416 in eight lanes and 2^408 in
// four. Write [e] for "times 2^e", here for eight (and four).
//
//     d = x2 - x1 [384]            running products r_i = M(r_(i-1), d_i), whatever power they have
//     z_n = 2^816 / r_n (804)      V(inv_lanes)
//     1/d_i = M(z_i, r_(i-1)) [432] (420): the powers in r cancel, 2^816 / 2^384; z_(i-1) = M(z_i, d_i)
//     lambda = M(y2 - y1, 1/d) [384 + 432 - 416 = 400] (396)
//     x3 = M(lambda, lambda) - x1 - x2 [400 + 400 - 416 = 384]
//     y3 = M(lambda, 2^16 (x1 - x3)) - y1 [400 + 400 - 416 = 384] (2^12)
//
// so nothing is converted on the way in or out. In G2 the running products are of norms, M(d0, d0) + M(d1, d1), and
// 1/d is M(conjugate of d, inverse norm): the powers come out the same.
//
// Bounds. Loaded coordinates are below p; differences get p or 2p added and are below 3p < 2^383; a product of two such
// values by the radix is below 2^(2 * 383 - 408), and what M gives is in [0, 2p). The largest operands are lambda and
// 2^SHIFT (x1 - x3 + p), below 2^398 (2^12 and 2^394): their product by the radix is below 2^368.
#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>

#include "msm/x86/coord.h"

enum {
    SHIFT = (RADIX_BITS - 384) / 2,
    ALL = (1 << LANES) - 1, // lanes
    MIN_VECTOR = 6,         // fewer are done one by one sooner
    FIRST_BLOCK = 256,
    PAIRS_BLOCK = 512, // with the next block's points it leaves room in a second-level cache
    CHAINS = 2,
    SLOW = 32, // equal points wait in a list of this length
};

// What the way there leaves for the way back.
typedef struct group {
    FPV before;                    // the running product before this group
    FPV den;                       // its factor
    coord x1, x2;                  // tight
    alignas(V(vec)) V(mask) lanes; // those added by the general formula
} group;

_Static_assert(LANES * sizeof(MSM(scratch)) == MSM_SCRATCH_UNIT * sizeof(group), "scratch for a group");

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

// A group of them: *out := +-*p +-*q.
typedef struct operands {
    alignas(64) POINT *out[LANES];
    const POINT *p[LANES], *q[LANES];
    V(mask) active, negate_p, negate_q;
} operands;

// The operands of additions first .. first + LANES - 1 < n, but for `out` and `active`.
static inline void choose_operands(operands *o, const batch *j, size_t first) {
    const void **p = (const void **)o->p, **q = (const void **)o->q;
    if (j->pairs) {
        lanes_pairs(p, q, &o->negate_p, &o->negate_q, j->table, sizeof(POINT), &j->b[2 * first]);
    } else {
        o->negate_p = 0;
        lanes_plain(p, j->out, sizeof(POINT), &j->a[first]);
        lanes_signed(q, &o->negate_q, j->table, sizeof(POINT), &j->b[first]);
    }
}

// Additions first .. first + LANES - 1; those beyond the end repeat the last one and are not active.
static inline void choose(operands *o, const batch *j, size_t first) {
    const size_t left = j->n - first;
    uint32_t a[LANES], b[2 * LANES];
    batch part = *j;
    if (__builtin_expect(left < LANES, 0)) {
        const size_t width = j->pairs ? 2 : 1;
        for (size_t i = 0; i < LANES; i++) {
            const size_t at = first + (i < left ? i : left - 1);
            a[i] = j->a[at];
            for (size_t k = 0; k < width; k++) b[width * i + k] = j->b[width * at + k];
        }
        part.a = a, part.b = b, first = 0;
    }
    o->active = (V(mask))(left < LANES ? (1u << left) - 1 : ALL);
    choose_operands(o, &part, first);
    lanes_plain((const void **)o->out, j->out, sizeof(POINT), &part.a[first]);
}

// Asks for the points of one addition of a group, into the second-level cache: requests for the first one hold up loads
// while they wait for memory. (Always inline: gcc takes a function that only prefetches for one without effect.)
VEC_INLINE void prefetch_one(const operands *o, int i) {
    for (size_t line = 0; line < sizeof(POINT); line += 64) {
        __builtin_prefetch((const char *)o->p[i] + line, 0, 2);
        __builtin_prefetch((const char *)o->q[i] + line, 0, 2);
    }
}

// A third of a group's abscissas or ordinates.
static inline void load_x(coord *x, const POINT *const from[LANES], int pair, V(vec) last[COORD_DEGREE]) {
    const FE *at[LANES];
    for (int i = 0; i < LANES; i++) at[i] = &from[i]->x;
    coord_load_pair(x, at, pair, last);
}
static inline void load_y(coord *y, const POINT *const from[LANES], int pair, V(vec) last[COORD_DEGREE]) {
    const FE *at[LANES];
    for (int i = 0; i < LANES; i++) at[i] = &from[i]->y;
    coord_load_pair(y, at, pair, last);
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

static void slow_lanes(slow_list *s, const operands *o, size_t first, V(mask) lanes) {
    for (size_t lane = 0; lane < LANES; lane++) {
        if ((lanes >> lane & 1) == 0) continue;
        POINT *p = &s->j->out[s->j->a[first + lane]];
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

// x2 - x1 + p.
static inline void difference(coord *d, const coord *x1, const coord *x2) {
    coord_sub(d, x2, x1);
    coord_add_p(d);
    coord_operand(d);
}

// The way there. While one group's denominators are multiplied, the next group is made ready beside that.
typedef struct outward {
    operands o;
    group *to;
#if MSM_GROUP == 2
    coord d;
#endif
    V(vec) last[COORD_DEGREE];
    FPV *run; // its chain's product, before it
} outward;

VEC_INLINE void outward_step(void *state, int step) {
    outward *w = state;
    group *to = w->to;
    if (step < 3) {
        load_x(&to->x1, w->o.p, step, w->last);
    } else if (step < 6) {
        load_x(&to->x2, w->o.q, step - 3, w->last);
    } else if (step == 6) {
        const V(mask) special =
            coord_maybe_eq(&to->x1, &to->x2) | coord_maybe_zero(&to->x1) | coord_maybe_zero(&to->x2);
        to->lanes = w->o.active & (V(mask)) ~special;
        coord d;
        difference(&d, &to->x1, &to->x2);
#if MSM_GROUP == 1
        to->den = d.c[0];
#else
        w->d = d;
#endif
    } else {
        FPV before = *w->run;
        V(to_operand)(&before);
        to->before = before;
    }
}
// Lanes that are not general get the denominator 1.
static inline void outward_end(outward *w) {
#if MSM_GROUP == 1
    if (__builtin_expect(w->to->lanes != ALL, 0)) V(one_operand_lanes)(&w->to->den, ALL & ~w->to->lanes);
#else
    if (__builtin_expect(w->to->lanes != ALL, 0)) V(one_lanes)(&w->d.c[0], ALL & ~w->to->lanes);
    coord_denominator(&w->to->den, &w->d);
#endif
}

// Leaves r_i of both chains in the groups, and each lane's product of all its denominators in run.
static void forward(const batch *j, group *groups, FPV run[CHAINS]) {
    const size_t count = (j->n - 1) / LANES + 1;
    outward w = {.to = &groups[0], .run = &run[0]};
    choose(&w.o, j, 0);
    for (int step = 0; step < COORD_STEPS; step++) outward_step(&w, step);
    outward_end(&w);
    for (size_t g = 0; g + 1 < count; g++) {
        FPV *r = &run[g % CHAINS];
        w.to = &groups[g + 1], w.run = &run[(g + 1) % CHAINS];
        choose(&w.o, j, (g + 1) * LANES);
        V(mul_beside)(r, &groups[g].before, &groups[g].den, outward_step, &w, 0, COORD_STEPS);
        outward_end(&w);
    }
    V(mul)(&run[(count - 1) % CHAINS], &groups[count - 1].before, &groups[count - 1].den);
    for (int k = 0; k < CHAINS; k++) V(to_operand)(&run[k]);
}

// z[k] := 2^816 / run[k] (2^804): one inversion for both, which leaves each the other's product to take away.
static void invert(FPV z[CHAINS], const FPV run[CHAINS]) {
    FPV both;
    V(mul)(&both, &run[0], &run[1]);
    V(to_operand)(&both);
    V(inv_lanes)(&both, &both);
    for (int k = 0; k < CHAINS; k++) {
        V(mul)(&z[k], &both, &run[1 - k]);
        V(to_operand)(&z[k]);
    }
}

// A group on its way back.
typedef struct work {
    operands o; // the sums of lanes that are not general go nowhere
    const group *from;
    coord y1, lambda;
    union {       // little of it, so that three groups stay in a first-level cache
        coord dy; // y2 - y1
        coord x3; // lambda^2, then x3
    };
    union {
        coord d; // x2 - x1, in G2
        coord t; // 2^SHIFT (x1 - x3), then its product with lambda, then y3
    };
} work;

// Reduced coordinates as they are stored, a row a lane, and half of those on their way.
static inline void coord_to_rows(V(rows) rows[COORD_DEGREE], const coord *v) {
    for (int k = 0; k < COORD_DEGREE; k++) V(to_rows)(&rows[k], &v->c[k]);
}
static inline void store_rows(const V(rows) rows[COORD_DEGREE], POINT *const out[LANES], size_t member, int first) {
    for (int lane = first; lane < first + LANES / 2; lane++)
        for (int k = 0; k < COORD_DEGREE; k++) V(store_row)((fp *)((char *)out[lane] + member) + k, &rows[k], lane);
}

// What the steps beside the multiplications of one turn share: three groups, each a stage behind the other.
typedef struct homeward {
    work *slope, *x, *y; // the next group takes the place of y
    FPV *chain, inverse; // of the slope's denominator
    operands ahead[2];   // points asked for
    bool twice;          // both of them
    V(vec) last[COORD_DEGREE];
    V(rows) rows[COORD_DEGREE];
} homeward;

static inline void take(work *w, const batch *j, const group *groups, size_t g, POINT *nowhere) {
    choose(&w->o, j, g * LANES);
    w->from = &groups[g];
    lanes_divert((void **)w->o.out, w->from->lanes, nowhere);
#if MSM_GROUP == 2
    difference(&w->d, &w->from->x1, &w->from->x2);
    if (__builtin_expect(w->from->lanes != ALL, 0)) V(one_lanes)(&w->d.c[0], ALL & ~w->from->lanes);
#endif
}

VEC_INLINE void ask(const homeward *h, int i) {
    if (i >= LANES) return;
    prefetch_one(&h->ahead[0], i);
    if (h->twice) prefetch_one(&h->ahead[1], i);
}

// Beside the inverse of the slope's denominator: dy = y2 - y1 + p.
VEC_INLINE void beside_inverse(void *state, int step) {
    homeward *h = state;
    work *w = h->slope;
    if (step < 3) load_y(&w->dy, w->o.q, step, h->last);
    if (step == 3) {
        coord_neg_lanes(&w->dy, w->o.negate_q);
        coord_sub(&w->dy, &w->dy, &w->y1);
        coord_add_p(&w->dy);
        coord_operand(&w->dy);
    }
    if (step >= 4) ask(h, step - 4); // 0 .. 3
}
// Beside the chain's next inverse: x3 = lambda^2 - x1 - x2.
VEC_INLINE void beside_chain(void *state, int step) {
    homeward *h = state;
    work *w = h->x;
    if (step == 0) V(to_operand)(&h->inverse);
    if (step == 1) {
        coord_sub(&w->x3, &w->x3, &w->from->x1);
        coord_sub(&w->x3, &w->x3, &w->from->x2);
        coord_canonical_begin(&w->x3);
    }
    if (step == 3) coord_carry(&w->x3);
    if (step >= 4) ask(h, step); // 4 .. 7
}
// Beside the slope: 2^SHIFT (x1 - x3 + p), and y3 = lambda (x1 - x3) - y1 of the group before.
VEC_INLINE void beside_slope(void *state, int step) {
    homeward *h = state;
    work *w = h->x, *y = h->y;
    if (step == 0) {
        coord_sub(&w->t, &w->from->x1, &w->x3);
        coord_add_p(&w->t);
        coord_carry(&w->t);
    }
    if (step == 2) coord_shift_left(&w->t, SHIFT);
    if (step == 4) {
        coord_sub(&y->t, &y->t, &y->y1);
        coord_canonical_begin(&y->t);
    }
    if (step == 6) coord_carry(&y->t);
}
// Beside lambda (x1 - x3): the sums of the group before go where they belong.
VEC_INLINE void beside_product(void *state, int step) {
    homeward *h = state;
    if (step == 0) coord_operand(&h->slope->lambda);
    if (step == 2) coord_to_rows(h->rows, &h->y->x3);
    if (step == 3) store_rows(h->rows, h->y->o.out, offsetof(POINT, x), 0);
    if (step == 4) store_rows(h->rows, h->y->o.out, offsetof(POINT, x), LANES / 2);
    if (step == 5) coord_to_rows(h->rows, &h->y->t);
    if (step == 6) store_rows(h->rows, h->y->o.out, offsetof(POINT, y), 0);
    if (step == 7) store_rows(h->rows, h->y->o.out, offsetof(POINT, y), LANES / 2);
}
// Beside lambda^2: the next group's y1.
VEC_INLINE void beside_square(void *state, int step) {
    homeward *h = state;
    if (step == 0) V(to_operand)(h->chain);
    if (step >= 1 && step < 4) load_y(&h->y->y1, h->y->o.p, step - 1, h->last);
    if (step == 5) coord_neg_lanes(&h->y->y1, h->y->o.negate_p);
}
// The steps by themselves.
VEC_INLINE void alone(vec_beside *work_beside, homeward *h) {
    for (int step = 0; step < COORD_STEPS; step++) work_beside(h, step);
}

// z: the inverse of each lane's product. The points of the additions `later` are asked for meanwhile, at an even pace:
// a burst of requests would be dropped.
static void backward(const batch *j, const group *groups, FPV z[CHAINS], const batch *later) {
    slow_list slow = {.j = j};
    POINT nowhere = {0};
    work space[3] = {0};
    homeward h = {.slope = &space[0], .x = &space[1], .y = &space[2]};
    const size_t count = (j->n - 1) / LANES + 1;
    // The two groups before the first one are zeros that go nowhere.
    for (int k = 1; k < 3; k++) {
        space[k].from = &groups[count - 1];
        for (int i = 0; i < LANES; i++) space[k].o.out[i] = &nowhere, space[k].o.p[i] = space[k].o.q[i] = &nowhere;
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < LANES; i++) h.ahead[k].p[i] = h.ahead[k].q[i] = &nowhere;
    h.twice = later->n > j->n;
    take(h.slope, j, groups, count - 1, &nowhere);
    for (int pair = 0; pair < 3; pair++) load_y(&h.slope->y1, h.slope->o.p, pair, h.last);
    coord_neg_lanes(&h.slope->y1, h.slope->o.negate_p);
    for (size_t g = count; g-- > 0;) {
        const size_t turns = h.twice ? 2 : 1;
        for (size_t k = 0; k < turns; k++) {
            const size_t at = (turns * (count - 1 - g) + k) * LANES;
            if (at + LANES <= later->n) choose_operands(&h.ahead[k], later, at);
        }
        const group *from = h.slope->from;
        const V(mask) other = (V(mask))(h.slope->o.active & ~from->lanes);
        if (__builtin_expect(other != 0, 0)) slow_lanes(&slow, &h.slope->o, g * LANES, other);
        h.chain = &z[g % CHAINS];
        V(mul_beside)(&h.inverse, h.chain, &from->before, beside_inverse, &h, 0, COORD_STEPS);
        V(mul_beside)(h.chain, h.chain, &from->den, beside_chain, &h, 0, COORD_STEPS);
        coord_canonical_end(&h.x->x3);
        coord_over(&h.slope->lambda, &h.slope->dy, &h.slope->d, &h.inverse, beside_slope, &h);
        coord_canonical_end(&h.y->t);
        coord_mul(&h.x->t, &h.x->lambda, &h.x->t, beside_product, &h);
        if (g > 0) take(h.y, j, groups, g - 1, &nowhere);
        coord_sqr(&h.slope->x3, &h.slope->lambda, beside_square, &h);
        work *const done = h.y;
        h.y = h.x, h.x = h.slope, h.slope = done;
    }
    for (int last = 0; last < 2; last++) { // the pipeline runs dry
        alone(beside_chain, &h);
        coord_canonical_end(&h.x->x3);
        alone(beside_slope, &h);
        coord_canonical_end(&h.y->t);
        alone(beside_product, &h);
        coord_mul(&h.x->t, &h.x->lambda, &h.x->t, vec_nothing, 0);
        h.y = h.x, h.x = h.slope;
    }
    slow_flush(&slow);
}

// Sizes of blocks: the points of the next one are asked for during one. With pairs, which come from anywhere, the first
// is small, and the next ones grow until they are equal parts of what is left.
static size_t next_block(size_t last, size_t left, bool pairs) {
    if (last == 0 && left <= MSM_BLOCK) return left; // another inversion would cost more than waiting
    const size_t block = pairs ? PAIRS_BLOCK : MSM_BLOCK;
    const size_t blocks = (left + block - 1) / block, equal = (left + blocks - 1) / blocks;
    const size_t most = !pairs ? block : last == 0 ? FIRST_BLOCK : 2 * last;
    return equal < most ? equal : most;
}

static void add(batch j, MSM(scratch) * scratch) {
    const unsigned was = lanes_enter();
    group *groups = (void *)scratch;
    const size_t width = j.pairs ? 2 : 1;
    size_t left = j.n;
    j.n = next_block(0, left, j.pairs);
    if (j.pairs) {
        operands o;
        for (size_t at = 0; at + LANES <= j.n; at += LANES) {
            choose_operands(&o, &j, at);
            for (int i = 0; i < LANES; i++) prefetch_one(&o, i);
        }
    }
    while (left > 0) {
        left -= j.n;
        batch later = j;
        later.a += j.n, later.b += width * j.n, later.n = left > 0 ? next_block(j.n, left, j.pairs) : 0;
        FPV run[CHAINS], z[CHAINS];
        for (int k = 0; k < CHAINS; k++) {
            FPV one;
            V(set1)(&one, FPV_ONE);
            run[k] = *V(operand_of)(&one, &one);
        }
        forward(&j, groups, run);
        invert(z, run);
        backward(&j, groups, z, &later);
        j = later;
    }
    lanes_leave(was);
}

void KERNEL(add_batch)(POINT *acc, const uint32_t *a, const POINT *table, const uint32_t *b, size_t n,
                       MSM(scratch) * scratch) {
    if (n < MIN_VECTOR)
        MSM(add_batch_adx)(acc, a, table, b, n, scratch);
    else
        add((batch){acc, a, table, b, n, false}, scratch);
}
void KERNEL(add_pairs)(POINT *out, const uint32_t *a, const POINT *table, const uint32_t *b, size_t n,
                       MSM(scratch) * scratch) {
    if (n < MIN_VECTOR)
        MSM(add_pairs_adx)(out, a, table, b, n, scratch);
    else
        add((batch){out, a, table, b, n, true}, scratch);
}
