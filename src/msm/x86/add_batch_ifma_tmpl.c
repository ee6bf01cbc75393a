// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Batch-affine addition, eight at a time (CPU_IFMA), for both groups. The same sums as add_batch_tmpl.c, with the same
// bytes as result: everything stored is fully reduced.
//
// Additions go in groups of eight. Each lane of even and of odd groups has a running product of its own, and one
// inversion serves the sixteen. The way back is a pipeline: while one group gets its slope, the one before it gets its
// x and the one before that its y, so that no multiplication waits for the one before it. Everything but the
// multiplications is cut into steps that are compiled into them (field/x86/fp8_mul.h), where it costs little.
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
#include <stddef.h>

#include "msm/x86/coord8.h"

enum {
    MIN_VECTOR = 6, // fewer are done one by one sooner
    FIRST_BLOCK = 256,
    PAIRS_BLOCK = 512, // with the next block's points it leaves room in a second-level cache
    CHAINS = 2,
    SLOW = 32, // equal points wait in a list of this length
};

// What the way there leaves for the way back.
typedef struct group {
    fp8 before;                // the running product before this group
    fp8 den;                   // its factor
    coord8 x1, x2;             // tight
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
    alignas(64) POINT *out[FP8_LANES];
    const POINT *p[FP8_LANES], *q[FP8_LANES];
    __mmask8 active, negate_p, negate_q;
} operands;

_Static_assert(sizeof(POINT *) == sizeof(uint64_t), "addresses are computed in vectors of 64-bit words");

// &base[index[i]] for 32-bit indices in words of 64 bits, the upper halves ignored.
static inline void addresses(const POINT *to[FP8_LANES], const POINT *base, __m512i index) {
    const __m512i offset = _mm512_mul_epu32(index, _mm512_set1_epi64(sizeof(POINT)));
    _mm512_store_si512(to, _mm512_add_epi64(offset, _mm512_set1_epi64((int64_t)(uintptr_t)base)));
}

// The operands of additions first .. first + 7 < n, but for `out` and `active`.
static inline void choose_operands(operands *o, const batch *j, size_t first) {
    const __m512i one = _mm512_set1_epi64(1);
    if (j->pairs) {
        const __m512i b = _mm512_loadu_si512(&j->b[2 * first]), q = _mm512_srli_epi64(b, 32);
        o->negate_p = _mm512_test_epi64_mask(b, one), o->negate_q = _mm512_test_epi64_mask(q, one);
        addresses(o->p, j->table, _mm512_srli_epi32(b, 1));
        addresses(o->q, j->table, _mm512_srli_epi64(q, 1));
    } else {
        const __m512i b = _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)&j->b[first]));
        o->negate_p = 0, o->negate_q = _mm512_test_epi64_mask(b, one);
        addresses(o->p, j->out, _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)&j->a[first])));
        addresses(o->q, j->table, _mm512_srli_epi64(b, 1));
    }
}

// Additions first .. first + 7; those beyond the end repeat the last one and are not active.
static inline void choose(operands *o, const batch *j, size_t first) {
    const size_t left = j->n - first;
    uint32_t a[FP8_LANES], b[2 * FP8_LANES];
    batch part = *j;
    if (__builtin_expect(left < FP8_LANES, 0)) {
        const size_t width = j->pairs ? 2 : 1;
        for (size_t i = 0; i < FP8_LANES; i++) {
            const size_t at = first + (i < left ? i : left - 1);
            a[i] = j->a[at];
            for (size_t k = 0; k < width; k++) b[width * i + k] = j->b[width * at + k];
        }
        part.a = a, part.b = b, first = 0;
    }
    o->active = (__mmask8)(left < FP8_LANES ? (1u << left) - 1 : 0xff);
    choose_operands(o, &part, first);
    addresses((const POINT **)o->out, j->out, _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)&part.a[first])));
}

// Asks for the points of one addition of eight, into the second-level cache: requests for the first one hold up loads
// while they wait for memory. (Always inline: gcc takes a function that only prefetches for one without effect.)
FP8_INLINE void prefetch_one(const operands *o, int i) {
    for (size_t line = 0; line < sizeof(POINT); line += 64) {
        __builtin_prefetch((const char *)o->p[i] + line, 0, 2);
        __builtin_prefetch((const char *)o->q[i] + line, 0, 2);
    }
}

// A third of eight abscissas or ordinates.
static inline void load_x(coord8 *x, const POINT *const from[FP8_LANES], int pair, __m512i last[COORD_DEGREE]) {
    const FE *at[FP8_LANES];
    for (int i = 0; i < FP8_LANES; i++) at[i] = &from[i]->x;
    coord_load_pair(x, at, pair, last);
}
static inline void load_y(coord8 *y, const POINT *const from[FP8_LANES], int pair, __m512i last[COORD_DEGREE]) {
    const FE *at[FP8_LANES];
    for (int i = 0; i < FP8_LANES; i++) at[i] = &from[i]->y;
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

static void slow_lanes(slow_list *s, const operands *o, size_t first, __mmask8 lanes) {
    for (size_t lane = 0; lane < FP8_LANES; lane++) {
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
static inline void difference(coord8 *d, const coord8 *x1, const coord8 *x2) {
    coord_sub(d, x2, x1);
    coord_add_p(d);
    coord_operand(d);
}

// The way there. While one group's denominators are multiplied, the next group is made ready beside that.
typedef struct outward {
    operands o;
    group *to;
#if MSM_GROUP == 2
    coord8 d;
#endif
    __m512i last[COORD_DEGREE];
    fp8 *run; // its chain's product, before it
} outward;

FP8_INLINE void outward_step(void *state, int step) {
    outward *w = state;
    group *to = w->to;
    if (step < 3) {
        load_x(&to->x1, w->o.p, step, w->last);
    } else if (step < 6) {
        load_x(&to->x2, w->o.q, step - 3, w->last);
    } else if (step == 6) {
        const __mmask8 special =
            coord_maybe_eq(&to->x1, &to->x2) | coord_maybe_zero(&to->x1) | coord_maybe_zero(&to->x2);
        to->lanes = w->o.active & (__mmask8)~special;
        coord8 d;
        difference(&d, &to->x1, &to->x2);
#if MSM_GROUP == 1
        to->den = d.c[0];
#else
        w->d = d;
#endif
    } else {
        fp8 before = *w->run;
        fp8_carry_digits(&before);
        to->before = before;
    }
}
// Lanes that are not general get the denominator 1.
static inline void outward_end(outward *w) {
#if MSM_GROUP == 1
    fp8 *d = &w->to->den;
#else
    fp8 *d = &w->d.c[0];
#endif
    if (__builtin_expect(w->to->lanes != 0xff, 0)) fp8_one_lanes(d, (__mmask8)~w->to->lanes);
#if MSM_GROUP == 2
    coord_denominator(&w->to->den, &w->d);
#endif
}

// Leaves r_i of both chains in the groups, and each lane's product of all its denominators in run.
static void forward(const batch *j, group *groups, fp8 run[CHAINS]) {
    const size_t count = (j->n - 1) / FP8_LANES + 1;
    outward w = {.to = &groups[0], .run = &run[0]};
    choose(&w.o, j, 0);
    for (int step = 0; step < COORD_STEPS; step++) outward_step(&w, step);
    outward_end(&w);
    for (size_t g = 0; g + 1 < count; g++) {
        fp8 *r = &run[g % CHAINS];
        w.to = &groups[g + 1], w.run = &run[(g + 1) % CHAINS];
        choose(&w.o, j, (g + 1) * FP8_LANES);
        fp8_mul_beside(r, &groups[g].before, &groups[g].den, outward_step, &w, 0, COORD_STEPS);
        outward_end(&w);
    }
    fp8_mul(&run[(count - 1) % CHAINS], &groups[count - 1].before, &groups[count - 1].den);
    for (int k = 0; k < CHAINS; k++) fp8_carry_digits(&run[k]);
}

// z[k] := 2^816 / run[k]: one inversion for both, which leaves each the other's product to take away.
static void invert(fp8 z[CHAINS], const fp8 run[CHAINS]) {
    fp8 both;
    fp8_mul(&both, &run[0], &run[1]);
    fp8_carry_digits(&both);
    fp8_inv_lanes(&both, &both);
    for (int k = 0; k < CHAINS; k++) {
        fp8_mul(&z[k], &both, &run[1 - k]);
        fp8_carry_digits(&z[k]);
    }
}

// A group on its way back.
typedef struct work {
    operands o; // the sums of lanes that are not general go nowhere
    const group *from;
    coord8 y1, lambda;
    union {        // little of it, so that three groups stay in a first-level cache
        coord8 dy; // y2 - y1
        coord8 x3; // lambda^2, then x3
    };
    union {
        coord8 d; // x2 - x1, in G2
        coord8 t; // 2^16 (x1 - x3), then its product with lambda, then y3
    };
} work;

// Reduced coordinates as they are stored, a row a lane, and four of those on their way.
static inline void coord_to_rows(__m512i rows[COORD_DEGREE][FP8_LANES], const coord8 *v) {
    for (int k = 0; k < COORD_DEGREE; k++) {
        fp8_to_words(rows[k], &v->c[k]);
        rows[k][6] = rows[k][7] = _mm512_setzero_si512();
        fp8_transpose(rows[k]);
    }
}
static inline void store_rows(__m512i rows[COORD_DEGREE][FP8_LANES], POINT *const out[FP8_LANES], size_t member,
                              int first) {
    for (int lane = first; lane < first + FP8_LANES / 2; lane++)
        for (int k = 0; k < COORD_DEGREE; k++) {
            fp *to = (fp *)((char *)out[lane] + member) + k;
            _mm256_storeu_si256((void *)to->l, _mm512_castsi512_si256(rows[k][lane]));
            _mm_storeu_si128((void *)&to->l[4], _mm512_extracti64x2_epi64(rows[k][lane], 2));
        }
}

// What the steps beside the multiplications of one turn share: three groups, each a stage behind the other.
typedef struct homeward {
    work *slope, *x, *y; // the next group takes the place of y
    fp8 *chain, inverse; // of the slope's denominator
    operands ahead[2];   // points asked for
    bool twice;          // both of them
    __m512i last[COORD_DEGREE];
    __m512i rows[COORD_DEGREE][FP8_LANES];
} homeward;

static inline void take(work *w, const batch *j, const group *groups, size_t g, POINT *nowhere) {
    choose(&w->o, j, g * FP8_LANES);
    w->from = &groups[g];
    const __m512i to = _mm512_load_si512(w->o.out), none = _mm512_set1_epi64((int64_t)(uintptr_t)nowhere);
    _mm512_store_si512(w->o.out, _mm512_mask_mov_epi64(none, w->from->lanes, to));
#if MSM_GROUP == 2
    difference(&w->d, &w->from->x1, &w->from->x2);
    if (__builtin_expect(w->from->lanes != 0xff, 0)) fp8_one_lanes(&w->d.c[0], (__mmask8)~w->from->lanes);
#endif
}

FP8_INLINE void ask(const homeward *h, int i) {
    prefetch_one(&h->ahead[0], i);
    if (h->twice) prefetch_one(&h->ahead[1], i);
}

// Beside the inverse of the slope's denominator: dy = y2 - y1 + p.
FP8_INLINE void beside_inverse(void *state, int step) {
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
FP8_INLINE void beside_chain(void *state, int step) {
    homeward *h = state;
    work *w = h->x;
    if (step == 0) fp8_carry_digits(&h->inverse);
    if (step == 1) {
        coord_sub(&w->x3, &w->x3, &w->from->x1);
        coord_sub(&w->x3, &w->x3, &w->from->x2);
        coord_canonical_begin(&w->x3);
    }
    if (step == 3) coord_carry(&w->x3);
    if (step >= 4) ask(h, step); // 4 .. 7
}
// Beside the slope: 2^16 (x1 - x3 + p), and y3 = lambda (x1 - x3) - y1 of the group before.
FP8_INLINE void beside_slope(void *state, int step) {
    homeward *h = state;
    work *w = h->x, *y = h->y;
    if (step == 0) {
        coord_sub(&w->t, &w->from->x1, &w->x3);
        coord_add_p(&w->t);
        coord_carry(&w->t);
    }
    if (step == 2) coord_shift_operand(&w->t, 16);
    if (step == 4) {
        coord_sub(&y->t, &y->t, &y->y1);
        coord_canonical_begin(&y->t);
    }
    if (step == 6) coord_carry(&y->t);
}
// Beside lambda (x1 - x3): the sums of the group before go where they belong.
FP8_INLINE void beside_product(void *state, int step) {
    homeward *h = state;
    if (step == 0) coord_operand(&h->slope->lambda);
    if (step == 2) coord_to_rows(h->rows, &h->y->x3);
    if (step == 3) store_rows(h->rows, h->y->o.out, offsetof(POINT, x), 0);
    if (step == 4) store_rows(h->rows, h->y->o.out, offsetof(POINT, x), FP8_LANES / 2);
    if (step == 5) coord_to_rows(h->rows, &h->y->t);
    if (step == 6) store_rows(h->rows, h->y->o.out, offsetof(POINT, y), 0);
    if (step == 7) store_rows(h->rows, h->y->o.out, offsetof(POINT, y), FP8_LANES / 2);
}
// Beside lambda^2: the next group's y1.
FP8_INLINE void beside_square(void *state, int step) {
    homeward *h = state;
    if (step == 0) fp8_carry_digits(h->chain);
    if (step >= 1 && step < 4) load_y(&h->y->y1, h->y->o.p, step - 1, h->last);
    if (step == 5) coord_neg_lanes(&h->y->y1, h->y->o.negate_p);
}
// The steps by themselves.
FP8_INLINE void alone(fp8_beside *work_beside, homeward *h) {
    for (int step = 0; step < COORD_STEPS; step++) work_beside(h, step);
}

// z: the inverse of each lane's product. The points of the additions `later` are asked for meanwhile, at an even pace:
// a burst of requests would be dropped.
static void backward(const batch *j, const group *groups, fp8 z[CHAINS], const batch *later) {
    slow_list slow = {.j = j};
    POINT nowhere = {0};
    work space[3] = {0};
    homeward h = {.slope = &space[0], .x = &space[1], .y = &space[2]};
    const size_t count = (j->n - 1) / FP8_LANES + 1;
    // The two groups before the first one are zeros that go nowhere.
    for (int k = 1; k < 3; k++) {
        space[k].from = &groups[count - 1];
        for (int i = 0; i < FP8_LANES; i++) space[k].o.out[i] = &nowhere, space[k].o.p[i] = space[k].o.q[i] = &nowhere;
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < FP8_LANES; i++) h.ahead[k].p[i] = h.ahead[k].q[i] = &nowhere;
    h.twice = later->n > j->n;
    take(h.slope, j, groups, count - 1, &nowhere);
    for (int pair = 0; pair < 3; pair++) load_y(&h.slope->y1, h.slope->o.p, pair, h.last);
    coord_neg_lanes(&h.slope->y1, h.slope->o.negate_p);
    for (size_t g = count; g-- > 0;) {
        const size_t turns = h.twice ? 2 : 1;
        for (size_t k = 0; k < turns; k++) {
            const size_t at = (turns * (count - 1 - g) + k) * FP8_LANES;
            if (at + FP8_LANES <= later->n) choose_operands(&h.ahead[k], later, at);
        }
        const group *from = h.slope->from;
        const __mmask8 other = (__mmask8)(h.slope->o.active & ~from->lanes);
        if (__builtin_expect(other != 0, 0)) slow_lanes(&slow, &h.slope->o, g * FP8_LANES, other);
        h.chain = &z[g % CHAINS];
        fp8_mul_beside(&h.inverse, h.chain, &from->before, beside_inverse, &h, 0, COORD_STEPS);
        fp8_mul_beside(h.chain, h.chain, &from->den, beside_chain, &h, 0, COORD_STEPS);
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
        coord_mul(&h.x->t, &h.x->lambda, &h.x->t, fp8_nothing, 0);
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
    group *groups = (void *)scratch;
    const size_t width = j.pairs ? 2 : 1;
    size_t left = j.n;
    j.n = next_block(0, left, j.pairs);
    if (j.pairs) {
        operands o;
        for (size_t at = 0; at + FP8_LANES <= j.n; at += FP8_LANES) {
            choose_operands(&o, &j, at);
            for (int i = 0; i < FP8_LANES; i++) prefetch_one(&o, i);
        }
    }
    while (left > 0) {
        left -= j.n;
        batch later = j;
        later.a += j.n, later.b += width * j.n, later.n = left > 0 ? next_block(j.n, left, j.pairs) : 0;
        fp8 run[CHAINS], z[CHAINS];
        for (int k = 0; k < CHAINS; k++) fp8_set1(&run[k], FP8_ONE);
        forward(&j, groups, run);
        invert(z, run);
        backward(&j, groups, z, &later);
        j = later;
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
