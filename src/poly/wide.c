// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Plan and passes of the transforms that work on eight columns at a time. A domain of 2^k points is an array of two
// or three dimensions, each at most 2^11 long; one pass over memory does all levels of one dimension.
// docs/maths/ntt.md, "Eight columns at a time".
#include "poly/wide.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "poly/internal.h"
#include "poly/wide_words.h"

enum { MAX_DIMS = 3, MIN_LOG2 = 2 * WIDE_MIN_BITS };

struct ntt_wide {
    const ntt_domain *d;
    const wide_kernels *k;
    unsigned dims, bits[MAX_DIMS]; // dimension 0 has the largest stride, the last one is contiguous
    unsigned row_bits;             // bits of all dimensions but the last
    unsigned threads;
    size_t tile_words;
    uint64_t *tiles;       // two a thread
    wide_factor *split[2]; // forward, inverse (wide.h)
    wide_factor *merge;    // forward
    wide_factor *coset[2]; // at i: (g^(2^row_bits))^(i reversed), and the inverses
    fr *root_lo, *root_hi; // omega^e for all e, as ntt_powers
    fr shift[2][MAX_DIMS]; // g^(product of the lengths of earlier dimensions), and the inverses
    fr inverse_scale;      // 1 / size
    fr product_scale;      // 1 / (size z), times 16 where the product of A and B comes divided by that
    fr c_scale;            // 1 / (size z)
};

static void to_52(uint64_t out[WIDE_LIMBS], const uint64_t in[4]) {
    const uint64_t m = (UINT64_C(1) << 52) - 1;
    out[0] = in[0] & m;
    out[1] = (in[0] >> 52 | in[1] << 12) & m;
    out[2] = (in[1] >> 40 | in[2] << 24) & m;
    out[3] = (in[2] >> 28 | in[3] << 36) & m;
    out[4] = in[3] >> 16;
}

static void times_16(fr *out, const fr *a) {
    *out = *a;
    for (int i = 0; i < 4; i++) fr_dbl(out, out);
}

static void to_doubles(wide_factor *f) {
    for (int i = 0; i < WIDE_LIMBS; i++)
        for (int j = 0; j < WIDE_LIMBS; j++) {
            const double limb = (double)f->c[i][j];
            memcpy(&f->c[i][j], &limb, sizeof limb);
        }
}

// fr_mul divides by 2^256, so c in the form of fr.h times a plain number is their product, plain.
static void make_factor(wide_factor *f, const fr *c, wide_form form) {
    if (form == WIDE_WORDS) {
        wide_words_factor(f, c);
        return;
    }
    static const fr shift[WIDE_LIMBS - 1] = {{{UINT64_C(1) << 52, 0, 0, 0}},
                                             {{0, UINT64_C(1) << 40, 0, 0}},
                                             {{0, 0, UINT64_C(1) << 28, 0}},
                                             {{0, 0, 0, UINT64_C(1) << 16}}};
    fr t;
    for (int i = 0; i < WIDE_LIMBS - 1; i++) {
        fr_mul(&t, c, &shift[i]);
        to_52(f->c[i], t.l);
    }
    times_16(&t, c);
    to_52(f->c[WIDE_LIMBS - 1], t.l);
    if (form == WIDE_DOUBLES) to_doubles(f);
}

// From the form of fr.h to that of walks.
static void to_radix(fr *x, const ntt_wide *w) {
    if (w->k->form != WIDE_WORDS) times_16(x, x);
}

static void root_power(fr *out, const ntt_wide *w, uint64_t e, bool inverse) {
    const uint64_t n = ntt_size(w->d);
    if (inverse) e = (n - e) & (n - 1);
    fr_mul(out, &w->root_hi[e >> w->d->split], &w->root_lo[e & (((uint64_t)1 << w->d->split) - 1)]);
}

// --- tables ---

static void geometric(fr *out, size_t n, const fr *ratio) {
    fr v = FR_ONE;
    for (size_t i = 0; i < n; i++) {
        out[i] = v;
        fr_mul(&v, &v, ratio);
    }
}

// powers: roots of order 2^bits to all powers, scratch of the caller.
static void fill_split(wide_factor *out, unsigned bits, const fr *powers, wide_form form) {
    for (uint64_t i = 0; i < (uint64_t)1 << (bits - 1); i++)
        make_factor(&out[i], &powers[ntt_reverse_bits(i, bits - 1)], form);
}
static void fill_merge(wide_factor *out, unsigned bits, const fr *powers, wide_form form) {
    make_factor(&out[0], &FR_ONE, form); // not used
    for (unsigned s = 0; s < bits; s++)
        for (size_t h = (size_t)1 << s, j = 0; j < h; j++) make_factor(&out[h + j], &powers[j << (bits - 1 - s)], form);
}

static void fill_tables(ntt_wide *w, unsigned max_bits, fr *powers) {
    const ntt_domain *d = w->d;
    const unsigned last = w->bits[w->dims - 1];
    const wide_form form = w->k->form;
    fr base, g[2] = {FR_GENERATOR};
    fr_inv(&g[1], &g[0]);
    for (int inverse = 0; inverse < 2; inverse++) {
        fr_root_of_unity(&base, max_bits);
        if (inverse) fr_inv(&base, &base);
        geometric(powers, (size_t)1 << max_bits, &base);
        fill_split(w->split[inverse], max_bits, powers, form);
        if (!inverse) fill_merge(w->merge, max_bits, powers, form);
        unsigned done = 0;
        for (unsigned i = 0; i < w->dims; done += w->bits[i], i++)
            fr_pow_u64(&w->shift[inverse][i], &g[inverse], (uint64_t)1 << done);
        geometric(powers, (size_t)1 << last, &w->shift[inverse][w->dims - 1]);
        for (uint64_t i = 0; i < (uint64_t)1 << last; i++)
            make_factor(&w->coset[inverse][i], &powers[ntt_reverse_bits(i, last)], form);
    }
    geometric(w->root_lo, (size_t)1 << d->split, &d->omega);
    fr_pow_u64(&base, &d->omega, (uint64_t)1 << d->split);
    geometric(w->root_hi, (size_t)1 << (d->log2 - d->split), &base);
    w->inverse_scale = d->size_inv;
    fr_mul(&w->c_scale, &d->size_inv, &d->z_inv);
    w->product_scale = w->c_scale;
    to_radix(&w->product_scale, w);
}

// As even as possible, the longer ones first.
static void plan(ntt_wide *w, unsigned log2, unsigned max_bits) {
    w->dims = log2 <= 2 * max_bits ? 2 : (log2 + max_bits - 1) / max_bits;
    for (unsigned i = 0; i < w->dims; i++) w->bits[i] = (log2 + w->dims - 1 - i) / w->dims;
    w->row_bits = log2 - w->bits[w->dims - 1];
}

cuzk_status ntt_wide_create(ntt_wide **out, const ntt_domain *d, const wide_kernels *k, unsigned max_bits, pool *p) {
    *out = 0;
    if (k == 0 || d->log2 < MIN_LOG2) return CUZK_OK;
    ntt_wide *w = mem_calloc(MEM_TABLE, 1, sizeof *w);
    if (w == 0) return CUZK_ERR_MEMORY;
    w->d = d, w->k = k, w->threads = pool_threads(p);
    plan(w, d->log2, max_bits);
    assert(w->dims <= MAX_DIMS && w->bits[w->dims - 1] >= WIDE_MIN_BITS);
    const size_t rows = (size_t)1 << w->bits[0];
    w->tile_words = rows * WIDE_VECTOR;
    w->tiles = mem_alloc(MEM_TABLE, 2 * (size_t)w->threads, w->tile_words * sizeof *w->tiles);
    bool ok = w->tiles != 0;
    for (int i = 0; i < 2; i++) {
        w->split[i] = mem_alloc(MEM_TABLE, rows / 2, sizeof *w->split[i]);
        w->coset[i] = mem_alloc(MEM_TABLE, (size_t)1 << w->bits[w->dims - 1], sizeof *w->coset[i]);
        ok = ok && w->split[i] != 0 && w->coset[i] != 0;
    }
    w->merge = mem_alloc(MEM_TABLE, rows, sizeof *w->merge);
    w->root_lo = mem_alloc(MEM_TABLE, (size_t)1 << d->split, sizeof(fr));
    w->root_hi = mem_alloc(MEM_TABLE, (size_t)1 << (d->log2 - d->split), sizeof(fr));
    fr *powers = mem_alloc(MEM_TABLE, rows, sizeof *powers);
    ok = ok && w->merge != 0 && w->root_lo != 0 && w->root_hi != 0 && powers != 0;
    if (ok)
        fill_tables(w, w->bits[0], powers);
    else
        ntt_wide_destroy(&w);
    mem_free(powers);
    *out = w;
    return ok ? CUZK_OK : CUZK_ERR_MEMORY;
}

void ntt_wide_destroy(ntt_wide **pw) {
    ntt_wide *w = *pw;
    if (w == 0) return;
    for (int i = 0; i < 2; i++) mem_free(w->split[i]), mem_free(w->coset[i]);
    mem_free_secret(w->tiles), mem_free(w->merge), mem_free(w->root_lo), mem_free(w->root_hi);
    mem_free(w);
    *pw = 0;
}

// --- passes over columns ---

// Between the sub-transforms of a dimension and those inside it, element m of row i is multiplied by
// omega_M^(m (i reversed)), M the points of a block. A power of the coset shift and a scale ride along.
typedef struct twist {
    bool inverse;    // of omega
    const fr *shift; // NULL: 1
    const fr *scale; // NULL: 1
} twist;

// Several vectors go through a pass together: threads meet at the end of a pass, and the fewer times the better.
enum { MAX_VECTORS = 3 };

typedef struct column_job {
    const ntt_wide *w;
    unsigned dim;
    fr *a[MAX_VECTORS];
    twist out[MAX_VECTORS]; // after a split
    bool coset;             // evaluations on g omega^i: element e is first multiplied by g^e
} column_job;

static uint64_t *tile_of(const ntt_wide *w, unsigned worker) { return w->tiles + 2 * (size_t)worker * w->tile_words; }
static uint64_t *second_tile_of(const ntt_wide *w, unsigned worker) { return tile_of(w, worker) + w->tile_words; }

// A pool of more threads than there are tiles is not used.
static void run(const ntt_wide *w, pool *p, size_t tasks, void (*fn)(void *, size_t, unsigned), const void *ctx) {
    pool_run(pool_threads(p) <= w->threads ? p : 0, tasks, fn, (void *)ctx);
}

// Tasks for each vector.
static size_t column_tasks(const column_job *j) {
    return (size_t)(ntt_size(j->w->d) >> j->w->bits[j->dim]) / WIDE_LANES;
}

// The eight columns of a task: their vector, their first element in it, the column in its block, and the length of a
// row.
typedef struct columns {
    size_t vector, at, m, stride;
} columns;

static columns columns_of(const column_job *j, size_t task) {
    const ntt_wide *w = j->w;
    const size_t tasks = column_tasks(j);
    unsigned below = 0;
    for (unsigned i = j->dim + 1; i < w->dims; i++) below += w->bits[i];
    const size_t first = task % tasks * WIDE_LANES, block = first >> below, m = first & (((size_t)1 << below) - 1);
    return (columns){task / tasks, (block << (below + w->bits[j->dim])) + m, m, (size_t)1 << below};
}

static void twist_walk(wide_walk *walk, const column_job *j, size_t m, const twist *t) {
    const ntt_wide *w = j->w;
    unsigned apart = 0; // omega_M = omega^(2^apart)
    for (unsigned i = 0; i < j->dim; i++) apart += w->bits[i];
    fr start = t->scale != 0 ? *t->scale : FR_ONE;
    to_radix(&start, w);
    for (size_t l = 0; l < WIDE_LANES; l++) {
        root_power(&walk->step[l], w, (uint64_t)(m + l) << apart, t->inverse);
        if (t->shift != 0) fr_mul(&walk->step[l], &walk->step[l], t->shift);
        to_radix(&walk->step[l], w);
        walk->start[l] = start;
    }
    walk->reversed = true;
}

static void coset_walk(wide_walk *walk, const ntt_wide *w, const columns *c) {
    fr step;
    fr_pow_u64(&step, &FR_GENERATOR, c->stride);
    to_radix(&step, w);
    for (size_t l = 0; l < WIDE_LANES; l++) {
        ntt_power(&walk->start[l], w->d, &w->d->shift, c->m + l);
        to_radix(&walk->start[l], w);
        walk->step[l] = step;
    }
    walk->reversed = false;
}

static void split_task(void *ctx, size_t task, unsigned worker) {
    const column_job *j = ctx;
    const ntt_wide *w = j->w;
    const unsigned bits = w->bits[j->dim];
    const columns c = columns_of(j, task);
    uint64_t *tile = tile_of(w, worker);
    fr *a = j->a[c.vector] + c.at;
    const twist *out = &j->out[c.vector];
    const wide_factor *tw = w->split[out->inverse];
    wide_walk walk;
    if (j->coset) {
        coset_walk(&walk, w, &c);
        w->k->load_columns(tile, a, c.stride, bits, &walk);
        w->k->split(tile, bits, tw);
    } else {
        w->k->split_columns(tile, a, c.stride, bits, tw);
    }
    twist_walk(&walk, j, c.m, out);
    w->k->store_columns(a, c.stride, tile, bits, &walk);
}

static void merge_columns(const column_job *j, const columns *c, fr *a, uint64_t *tile) {
    static const twist in = {0};
    wide_walk walk;
    twist_walk(&walk, j, c->m, &in);
    j->w->k->load_columns(tile, a + c->at, c->stride, j->w->bits[j->dim], &walk);
    j->w->k->merge(tile, j->w->bits[j->dim], j->w->merge);
}

static void merge_task(void *ctx, size_t task, unsigned worker) {
    const column_job *j = ctx;
    uint64_t *tile = tile_of(j->w, worker);
    const columns c = columns_of(j, task);
    merge_columns(j, &c, j->a[c.vector], tile);
    j->w->k->store_columns(j->a[c.vector] + c.at, c.stride, tile, j->w->bits[j->dim], 0);
}

// The last levels of A and of B, a[0] and a[1], on the coset, their product, and its first levels on the way back: into
// B.
static void product_task(void *ctx, size_t task, unsigned worker) {
    const column_job *j = ctx;
    const ntt_wide *w = j->w;
    const unsigned bits = w->bits[j->dim];
    const columns c = columns_of(j, task);
    uint64_t *tile = tile_of(w, worker), *other = second_tile_of(w, worker);
    merge_columns(j, &c, j->a[0], other);
    merge_columns(j, &c, j->a[1], tile);
    w->k->times(tile, other, bits);
    w->k->split(tile, bits, w->split[1]);
    wide_walk walk;
    twist_walk(&walk, j, c.m, &j->out[0]);
    w->k->store_columns(j->a[1] + c.at, c.stride, tile, bits, &walk);
}

// Dimensions [from, dims - 1) of transforms. The twists take the powers of `shift` for each dimension where there is
// one; the first dimension takes `scale`.
typedef struct splits {
    unsigned vectors;
    fr *a[MAX_VECTORS];
    const fr *shift[MAX_VECTORS]; // NULL: none
    const fr *scale[MAX_VECTORS]; // NULL: 1
    bool inverse, coset;
} splits;

static void split_columns(const ntt_wide *w, const splits *s, unsigned from, pool *p) {
    for (unsigned dim = from; dim + 1 < w->dims; dim++) {
        column_job j = {.w = w, .dim = dim, .coset = s->coset && dim == 0};
        for (unsigned v = 0; v < s->vectors; v++) {
            j.a[v] = s->a[v];
            j.out[v] = (twist){s->inverse, s->shift[v] != 0 ? &s->shift[v][dim] : 0, dim == 0 ? s->scale[v] : 0};
        }
        run(w, p, s->vectors * column_tasks(&j), split_task, &j);
    }
}

// --- passes over rows ---

typedef struct row_job {
    const ntt_wide *w;
    fr *a, *b, *c;
    bool inverse;
    const wide_factor *scale; // after the split; NULL: none
} row_job;

// Tasks for each vector.
static size_t row_tasks(const ntt_wide *w) { return ((size_t)1 << w->row_bits) / WIDE_LANES; }

static void rows_of(const fr *row[WIDE_LANES], const ntt_wide *w, const fr *a, size_t task, bool reversed) {
    for (size_t l = 0; l < WIDE_LANES; l++) {
        const size_t i = task * WIDE_LANES + l;
        row[l] = a + ((reversed ? (size_t)ntt_reverse_bits(i, w->row_bits) : i) << w->bits[w->dims - 1]);
    }
}

static void rows_split(const row_job *j, fr *a, size_t task, unsigned worker, bool then_merge) {
    assert(!then_merge || j->scale != NULL); // its carries are what keeps limbs in bounds over two walks
    const ntt_wide *w = j->w;
    const unsigned bits = w->bits[w->dims - 1];
    uint64_t *tile = tile_of(w, worker);
    fr *row[WIDE_LANES];
    rows_of((const fr **)row, w, a, task, false);
    w->k->split_rows(tile, (const fr *const *)row, bits, w->split[j->inverse]);
    if (j->scale != 0) w->k->scale(tile, bits, j->scale);
    if (then_merge) w->k->merge(tile, bits, w->merge);
    w->k->store_rows(row, tile, bits, !then_merge);
}
static void rows_task(void *ctx, size_t task, unsigned worker) {
    const row_job *j = ctx;
    rows_split(j, j->a, task, worker, false);
}
// Of a and b: from evaluations on the domain, whose columns are done, to evaluations on the coset, whose columns are
// not.
static void turn_task(void *ctx, size_t task, unsigned worker) {
    const row_job *j = ctx;
    const size_t tasks = row_tasks(j->w);
    rows_split(j, task < tasks ? j->a : j->b, task % tasks, worker, true);
}

// a := (coefficients of the product, from b) - (those of c), natural order. Eight rows whose reversed indices are
// neighbours give eight neighbours at every step of 2^row_bits.
static void quotient_task(void *ctx, size_t task, unsigned worker) {
    const row_job *j = ctx;
    const ntt_wide *w = j->w;
    const unsigned bits = w->bits[w->dims - 1];
    uint64_t *tile = tile_of(w, worker), *other = second_tile_of(w, worker);
    const fr *row[WIDE_LANES];
    rows_of(row, w, j->c, task, true);
    w->k->split_rows(other, row, bits, w->split[1]);
    rows_of(row, w, j->b, task, true);
    w->k->split_rows(tile, row, bits, w->split[1]);
    w->k->scale(tile, bits, j->scale);
    w->k->minus(tile, other, bits);
    w->k->store_reversed(j->a + task * WIDE_LANES, (size_t)1 << w->row_bits, tile, bits);
}

// --- transforms ---

void ntt_wide_transform(const ntt_wide *w, wide_kind kind, fr *a, pool *p) {
    const bool inverse = kind == WIDE_INVERSE || kind == WIDE_COSET_INVERSE, back = kind == WIDE_COSET_INVERSE;
    const splits s = {.vectors = 1,
                      .a = {a},
                      .shift = {back ? w->shift[1] : 0},
                      .scale = {inverse ? &w->inverse_scale : 0},
                      .inverse = inverse,
                      .coset = kind == WIDE_COSET_FORWARD};
    split_columns(w, &s, 0, p);
    const row_job j = {.w = w, .a = a, .inverse = inverse, .scale = back ? w->coset[1] : 0};
    run(w, p, row_tasks(w), rows_task, &j);
}

void ntt_wide_quotient(const ntt_wide *w, fr *a, fr *b, fr *c, pool *p) {
    const splits down = {.vectors = 3,
                         .a = {a, b, c},
                         .shift = {w->shift[0], w->shift[0], 0},
                         .scale = {&w->inverse_scale, &w->inverse_scale, &w->c_scale},
                         .inverse = true};
    split_columns(w, &down, 0, p);
    const row_job turn = {.w = w, .a = a, .b = b, .inverse = true, .scale = w->coset[0]};
    run(w, p, 2 * row_tasks(w), turn_task, &turn);
    for (unsigned dim = w->dims - 1; dim-- > 1;) {
        const column_job up = {.w = w, .dim = dim, .a = {a, b}};
        run(w, p, 2 * column_tasks(&up), merge_task, &up);
    }
    const column_job product = {.w = w, .a = {a, b}, .out = {{true, &w->shift[1][0], &w->product_scale}}};
    run(w, p, column_tasks(&product), product_task, &product);
    const splits back = {.vectors = 1, .a = {b}, .shift = {w->shift[1]}, .inverse = true};
    split_columns(w, &back, 1, p);
    const row_job last = {.w = w, .a = a, .b = b, .c = c, .scale = w->coset[1]};
    run(w, p, row_tasks(w), quotient_task, &last);
}
