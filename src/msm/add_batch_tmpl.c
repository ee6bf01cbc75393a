// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Batch-affine addition, compiled for both groups and for every CPU level: portable, and with MSM_ADX. Montgomery's
// trick turns n inversions into one and 3n multiplications: a forward pass keeps running products of the denominators,
// a backward pass peels off one inverse after the other.
#include "msm/types.h"

#if defined(MSM_ADX)
#include "msm/x86/fp_adx.h"
#define MUL F(mul_adx)
#define SQR F(sqr_adx)
#define MUL_FP_LAZY fp_mul_lazy_adx
#define ADD_BATCH MSM(add_batch_adx)
#define ADD_PAIRS MSM(add_pairs_adx)
#else
#define MUL F(mul)
#define SQR F(sqr)
#define MUL_FP_LAZY fp_mul_lazy
#define ADD_BATCH MSM(add_batch_portable)
#define ADD_PAIRS MSM(add_pairs_portable)
#endif

// For products that are factors of others only: denominators' products, inverses and lambda. Below 2p in G1; in G2,
// where a product is three and sums of them, reduced.
#if MSM_GROUP == 1
#define MUL_LAZY MUL_FP_LAZY
#else
#define MUL_LAZY MUL
#endif

enum { PREFETCH_DISTANCE = 12, STEPS = 8 };

typedef enum addition {
    ADD,    // the general case: lambda = (y2 - y1) / (x2 - x1)
    DOUBLE, // equal points: lambda = 3 x^2 / 2 y
    KEEP,   // the second operand is infinity
    COPY,   // the first operand is infinity
    CANCEL, // opposite points
} addition;

// Which case p + q is (q already with its sign), and its denominator for ADD and DOUBLE. A zero abscissa only
// suggests infinity, (0, y) can be a point: the exact test stays off the usual path.
static inline addition classify(FE *den, const POINT *p, const POINT *q, bool negate) {
    F(sub)(den, &q->x, &p->x);
    const bool same_x = F(is_zero)(den);
    if (__builtin_expect(!same_x && !F(is_zero)(&p->x) && !F(is_zero)(&q->x), 1)) return ADD;
    if (G(affine_is_infinity)(q)) return KEEP;
    if (G(affine_is_infinity)(p)) return COPY;
    if (!same_x) return ADD;
    FE y = q->y;
    if (negate) F(neg)(&y, &y);
    if (!F(eq)(&y, &p->y) || F(is_zero)(&y)) return CANCEL;
    F(dbl)(den, &y);
    return DOUBLE;
}

// The product of the denominators before addition i.
static inline FE *prefix(MSM(scratch) * scratch, size_t i) {
    return &scratch[i / MSM_SCRATCH_UNIT].portable[i % MSM_SCRATCH_UNIT];
}

// An addition on its way through the backward pass: its line first has the numerator of lambda, then lambda.
typedef struct step {
    POINT *p;
    const POINT *q;
    FE line, inverse; // of the denominator
} step;

// Takes addition i off the running inverse. Those without a line are finished here, and false is returned.
static inline bool begin(step *s, POINT *p, const POINT *q, bool negate, FE *run, const FE *before) {
    FE den, y2 = q->y;
    if (negate) F(neg)(&y2, &y2);
    switch (__builtin_expect(classify(&den, p, q, negate), ADD)) {
    case ADD: F(sub)(&s->line, &y2, &p->y); break;
    case DOUBLE:
        SQR(&y2, &p->x);
        F(dbl)(&s->line, &y2);
        F(add)(&s->line, &s->line, &y2);
        break;
    case COPY: p->x = q->x, p->y = y2; return false;
    case CANCEL: *p = (POINT){0}; return false;
    default: return false;
    }
    s->p = p, s->q = q;
    MUL_LAZY(&s->inverse, run, before);
    MUL_LAZY(run, run, &den);
    return true;
}

// The sums of some additions. They are taken one step further in turn, as products that wait for each other would leave
// the multiplier idle.
static void finish(step *s, size_t n) {
    FE x3[STEPS], y3;
    for (size_t i = 0; i < n; i++) MUL_LAZY(&s[i].line, &s[i].line, &s[i].inverse);
    for (size_t i = 0; i < n; i++) {
        SQR(&x3[i], &s[i].line);
        F(sub)(&x3[i], &x3[i], &s[i].p->x);
        F(sub)(&x3[i], &x3[i], &s[i].q->x);
    }
    for (size_t i = 0; i < n; i++) {
        POINT *p = s[i].p;
        F(sub)(&y3, &p->x, &x3[i]);
        MUL(&y3, &y3, &s[i].line);
        F(sub)(&p->y, &y3, &p->y);
        p->x = x3[i];
    }
}

static void add_block(POINT *acc, const uint32_t *a, const POINT *table, const uint32_t *b, size_t n,
                      MSM(scratch) * scratch) {
    FE run = FE_ONE, den;
    for (size_t i = 0; i < n; i++) {
        if (i + PREFETCH_DISTANCE < n) {
            const char *next = (const char *)&table[b[i + PREFETCH_DISTANCE] >> 1];
            __builtin_prefetch(next);
            __builtin_prefetch(next + 64);
        }
        const addition kind = classify(&den, &acc[a[i]], &table[b[i] >> 1], (b[i] & 1) != 0);
        if (__builtin_expect(kind > DOUBLE, 0)) continue;
        *prefix(scratch, i) = run;
        MUL_LAZY(&run, &run, &den);
    }
    MUL(&run, &run, &FE_ONE); // reduced
    F(inv)(&run, &run);
    step s[STEPS];
    size_t steps = 0;
    for (size_t i = n; i-- > 0;) {
        steps += begin(&s[steps], &acc[a[i]], &table[b[i] >> 1], (b[i] & 1) != 0, &run, prefix(scratch, i));
        if (steps == STEPS || i == 0) finish(s, steps), steps = 0;
    }
}

static inline size_t block(size_t n) { return n < MSM_BLOCK ? n : MSM_BLOCK; }

void ADD_BATCH(POINT *acc, const uint32_t *a, const POINT *table, const uint32_t *b, size_t n, MSM(scratch) * scratch) {
    for (size_t at = 0; at < n; at += MSM_BLOCK) add_block(acc, a + at, table, b + at, block(n - at), scratch);
}

// A copy of the first operand, then an addition.
void ADD_PAIRS(POINT *out, const uint32_t *a, const POINT *table, const uint32_t *b, size_t n, MSM(scratch) * scratch) {
    uint32_t second[MSM_BLOCK];
    for (size_t at = 0; at < n; at += MSM_BLOCK) {
        const size_t m = block(n - at);
        for (size_t i = 0; i < m; i++) {
            const uint32_t *e = &b[2 * (at + i)];
            if (at + i + PREFETCH_DISTANCE < n) {
                const char *next = (const char *)&table[e[2 * PREFETCH_DISTANCE] >> 1];
                __builtin_prefetch(next);
                __builtin_prefetch(next + 64);
            }
            POINT *p = &out[a[at + i]];
            *p = table[e[0] >> 1];
            if ((e[0] & 1) != 0) F(neg)(&p->y, &p->y);
            second[i] = e[1];
        }
        add_block(out, a + at, table, second, m, scratch);
    }
}
