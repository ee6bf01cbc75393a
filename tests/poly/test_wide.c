// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The kernels of every CPU level this processor has against the portable ones, limb by limb.
#include "testing.h"

#include <fenv.h>

#include "base/mem.h"
#include "poly/internal.h"

static test_rng rng;

enum { GUARD = 8 };

// n elements that are not aligned to a vector, between guards.
typedef struct guarded {
    uint64_t *words;
    fr *at;
    size_t n;
} guarded;

static uint64_t guard_word(size_t i) { return UINT64_C(0x5a5a000000000000) + i; }

static guarded guarded_new(size_t n) {
    guarded g = {malloc((4 * n + 2 * GUARD) * sizeof(uint64_t)), 0, n};
    assert_non_null(g.words);
    for (size_t i = 0; i < GUARD; i++) g.words[i] = g.words[GUARD + 4 * n + i] = guard_word(i);
    g.at = (fr *)(void *)(g.words + GUARD);
    return g;
}
static void guarded_free(guarded *g) {
    for (size_t i = 0; i < GUARD; i++) {
        assert_true(g->words[i] == guard_word(i));
        assert_true(g->words[GUARD + 4 * g->n + i] == guard_word(i));
    }
    free(g->words);
}

// Zero, one, r - 1, or limbs of runs of ones, as they lie in memory; below r.
static void edge_fr(fr *out) {
    static const fr zero = {{0}};
    fr one = {{1, 0, 0, 0}};
    switch (test_below(&rng, 8)) {
    case 0: *out = zero; return;
    case 1: *out = one; return;
    case 2: fr_neg(out, &one); return;
    case 3: *out = FR_ONE; return;
    case 4: fr_neg(out, &FR_ONE); return;
    default:
        do {
            for (int i = 0; i < 4; i++) out->l[i] = test_edge_u64(&rng);
            out->l[3] >>= 1;
            uint64_t borrow = 0; // below r?
            for (int i = 0; i < 4; i++) (void)limb_sbb(out->l[i], FR_MODULUS[i], &borrow);
            if (borrow != 0) return;
        } while (true);
    }
}

typedef enum fill { EDGES, ALL_LARGEST, ONE_NONZERO, FILLS } fill;

static void fill_fr(fr *a, size_t n, fill f) {
    fr one = {{1, 0, 0, 0}}, largest;
    fr_neg(&largest, &one);
    for (size_t i = 0; i < n; i++) {
        if (f == EDGES)
            edge_fr(&a[i]);
        else
            a[i] = f == ALL_LARGEST ? largest : FR_ZERO;
    }
    if (f == ONE_NONZERO) edge_fr(&a[test_below(&rng, n)]);
}

static void assert_same(const fr *a, const fr *b, size_t n, const char *what, unsigned log2) {
    for (size_t i = 0; i < n; i++)
        if (!fr_eq(&a[i], &b[i])) fail_msg("%s, 2^%u points: element %zu differs", what, log2, i);
}

// NULL kernels: the plain path, which everything is compared with.
static ntt_domain *domain_of(unsigned log2, const wide_kernels *k, pool *p) {
    ntt_domain *d;
    const cuzk_status status = ntt_domain_create_with(&d, (uint64_t)1 << log2, k, p, 0);
    assert_int_equal(status, CUZK_OK);
    return d;
}

static void (*const TRANSFORMS[])(const ntt_domain *, fr *, pool *) = {ntt_forward, ntt_inverse, ntt_coset_forward,
                                                                       ntt_coset_inverse};
static const char *const NAMES[] = {"forward", "inverse", "coset forward", "coset inverse"};

// Every transform, and the quotient of values that need not have one, in two domains.
static void compare(const ntt_domain *want, const ntt_domain *got, pool *p, fill f) {
    const unsigned log2 = ntt_domain_log2(want);
    const size_t n = (size_t)1 << log2;
    guarded v[3] = {guarded_new(n), guarded_new(n), guarded_new(n)},
            w[3] = {guarded_new(n), guarded_new(n), guarded_new(n)};
    for (size_t t = 0; t < 4; t++) {
        fill_fr(v[0].at, n, f);
        memcpy(w[0].at, v[0].at, n * sizeof(fr));
        TRANSFORMS[t](want, v[0].at, 0);
        TRANSFORMS[t](got, w[0].at, p);
        assert_same(v[0].at, w[0].at, n, NAMES[t], log2);
    }
    for (size_t i = 0; i < 3; i++) {
        fill_fr(v[i].at, n, f);
        memcpy(w[i].at, v[i].at, n * sizeof(fr));
    }
    ntt_quotient(want, v[0].at, v[1].at, v[2].at, 0);
    ntt_quotient(got, w[0].at, w[1].at, w[2].at, p);
    assert_same(v[0].at, w[0].at, n, "quotient", log2);
    for (size_t i = 0; i < 3; i++) guarded_free(&v[i]), guarded_free(&w[i]);
}

// Calls test for the kernels of every level this processor has.
static void for_all_kernels(void (*test)(const wide_kernels *k)) {
    for (int level = CPU_PORTABLE; level <= (int)cpu_current(); level++) test(wide_kernels_at((cpu_level)level));
}

static void sizes_of(const wide_kernels *k) {
    for (unsigned log2 = 0; log2 <= 14; log2++) {
        ntt_domain *want = domain_of(log2, 0, 0), *got = domain_of(log2, k, 0);
        for (int f = 0; f < FILLS; f++)
            if (log2 < 12 || f == EDGES) compare(want, got, 0, (fill)f);
        ntt_domain_destroy(&want), ntt_domain_destroy(&got);
    }
}

static void test_sizes(void **state) {
    (void)state;
    for_all_kernels(sizes_of);
}

// Domains above 2^22 points have three dimensions; with short tiles small ones have them too.
static void dimensions_of(const wide_kernels *k) {
    static const unsigned cases[][2] = {{9, 3}, {10, 4}, {11, 4}, {12, 4}, {13, 5}, {14, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pool *p;
        assert_int_equal(pool_create(&p, 1 + (unsigned)(i % 3), 0), CUZK_OK);
        ntt_domain *want = domain_of(cases[i][0], 0, p), *got = domain_of(cases[i][0], 0, p);
        assert_int_equal(ntt_wide_create(&got->wide, got, k, cases[i][1], p), CUZK_OK);
        assert_non_null(got->wide);
        compare(want, got, p, EDGES);
        ntt_domain_destroy(&want), ntt_domain_destroy(&got);
        pool_destroy(&p);
    }
}

static void test_dimensions(void **state) {
    (void)state;
    for_all_kernels(dimensions_of);
}

// A domain that was made for fewer threads than the pool has.
static void test_more_threads(void **state) {
    (void)state;
    pool *p;
    assert_int_equal(pool_create(&p, 3, 0), CUZK_OK);
    ntt_domain *want = domain_of(12, 0, 0), *got = domain_of(12, wide_kernels_at(cpu_current()), 0);
    compare(want, got, p, EDGES);
    ntt_domain_destroy(&want), ntt_domain_destroy(&got);
    pool_destroy(&p);
}

// A tile's elements in memory may be anything below 2^256: all ones, over and over, in and out.
static void unreduced_in(const wide_kernels *k) {
    for (unsigned bits = WIDE_MIN_BITS; bits <= 8; bits++) {
        ntt_domain *d = domain_of(2 * bits, 0, 0);
        ntt_wide *w;
        assert_int_equal(ntt_wide_create(&w, d, k, WIDE_MAX_BITS, 0), CUZK_OK);
        d->wide = w;
        const size_t all = (size_t)1 << (2 * bits);
        fr *a = malloc(all * sizeof *a), *b = malloc(all * sizeof *b), same;
        assert_true(a != 0 && b != 0);
        const fr ones = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX}}, last_place = {{1, 0, 0, 0}};
        fr_sub(&same, &FR_ONE, &last_place); // FR_ONE is 2^256 mod r, so this is 2^256 - 1 mod r
        for (size_t i = 0; i < all; i++) {
            const bool pick = test_below(&rng, 4) != 0;
            a[i] = pick ? ones : FR_ZERO, b[i] = pick ? same : FR_ZERO;
        }
        ntt_wide_transform(w, WIDE_COSET_INVERSE, a, 0);
        ntt_wide_transform(w, WIDE_COSET_INVERSE, b, 0);
        assert_same(a, b, all, "unreduced", 2 * bits);
        free(a), free(b);
        ntt_domain_destroy(&d);
    }
}

static void test_unreduced(void **state) {
    (void)state;
    for_all_kernels(unreduced_in);
}

// c 2^(b (i + 1)) mod r in limbs of b bits, as wide.h defines it.
static void factor_of(wide_factor *f, const fr *c, wide_form form) {
    const unsigned bits = form == WIDE_WORDS ? 64 : 52, limbs = form == WIDE_WORDS ? 4 : 5;
    fr v = *c, shift;
    fr_from_u64(&shift, UINT64_C(1) << 32);
    fr_mul(&shift, &shift, &shift); // 2^64
    if (bits == 52) fr_from_u64(&shift, UINT64_C(1) << 52);
    for (unsigned i = 0; i < limbs; i++) {
        uint64_t l[4];
        fr_mul(&v, &v, &shift);
        fr_to_limbs(l, &v);
        for (unsigned j = 0; j < limbs; j++) {
            const unsigned at = bits * j % 64, word = bits * j / 64;
            const uint64_t above = at > 12 && word < 3 ? l[word + 1] << (64 - at) : 0;
            f->c[i][j] = l[word] >> at | above;
            if (bits == 52) f->c[i][j] &= (UINT64_C(1) << 52) - 1;
            const double limb = (double)f->c[i][j];
            if (form == WIDE_DOUBLES) memcpy(&f->c[i][j], &limb, sizeof limb);
        }
    }
}

// The residue of an element as it lies between passes, below 2^256.
static void reduce(fr *a) {
    for (fr less = *a;; *a = less) {
        uint64_t borrow = 0;
        for (int i = 0; i < 4; i++) less.l[i] = limb_sbb(a->l[i], FR_MODULUS[i], &borrow);
        if (borrow != 0) return;
    }
}

// Its products have larger limbs than what is loaded plain.
static wide_walk walk_of_ones(const wide_kernels *k, bool reversed) {
    wide_walk ones = {.reversed = reversed};
    for (int l = 0; l < WIDE_LANES; l++) {
        ones.start[l] = FR_ONE;
        for (int i = 0; i < 4 && k->form != WIDE_WORDS; i++) fr_dbl(&ones.start[l], &ones.start[l]);
        ones.step[l] = ones.start[l];
    }
    return ones;
}

// Sub-transforms of every length a tile can have, on eight columns: a plan makes the longest only for 2^21 points.
typedef enum tile_kind { SPLIT, SPLIT_COLUMNS, MERGE, TILE_KINDS } tile_kind;

static void tile_transform(const wide_kernels *k, unsigned bits, tile_kind kind, fill f) {
    static const char *const names[] = {"split", "split of columns", "merge"};
    const bool merge = kind == MERGE;
    const size_t n = (size_t)1 << bits;
    ntt_domain *d = domain_of(bits, 0, 0);
    uint64_t *tile = mem_alloc(MEM_TABLE, n * WIDE_VECTOR, sizeof *tile);
    wide_factor *tw = mem_alloc(MEM_TABLE, n, sizeof *tw);
    fr *rows = malloc(n * WIDE_LANES * sizeof *rows), *column = malloc(n * sizeof *column), power;
    assert_true(tile != 0 && tw != 0 && rows != 0 && column != 0);
    factor_of(&tw[0], &FR_ONE, k->form);
    if (merge)
        for (size_t h = 1; h < n; h *= 2)
            for (size_t j = 0; j < h; j++) {
                fr_pow_u64(&power, ntt_domain_omega(d), j * (n / 2 / h));
                factor_of(&tw[h + j], &power, k->form);
            }
    else
        for (size_t i = 1; i < n / 2; i++) {
            fr_pow_u64(&power, ntt_domain_omega(d), ntt_reverse_bits(i, bits - 1));
            factor_of(&tw[i], &power, k->form);
        }
    fr *was = malloc(n * WIDE_LANES * sizeof *was);
    assert_non_null(was);
    fill_fr(was, n * WIDE_LANES, f);
    memcpy(rows, was, n * WIDE_LANES * sizeof *rows);
    const wide_walk ones = walk_of_ones(k, merge);
    if (kind == SPLIT_COLUMNS) {
        k->split_columns(tile, rows, WIDE_LANES, bits, tw);
    } else {
        k->load_columns(tile, rows, WIDE_LANES, bits, &ones);
        (merge ? k->merge : k->split)(tile, bits, tw);
    }
    k->store_columns(rows, WIDE_LANES, tile, bits, 0);
    for (size_t l = 0; l < WIDE_LANES; l++) {
        for (size_t i = 0; i < n; i++) column[i] = was[WIDE_LANES * i + l];
        (merge ? ntt_merge_all : ntt_split_all)(d, column);
        for (size_t i = 0; i < n; i++) {
            reduce(&rows[WIDE_LANES * i + l]);
            if (!fr_eq(&column[i], &rows[WIDE_LANES * i + l]))
                fail_msg("%s of 2^%u: row %zu, lane %zu differs", names[kind], bits, i, l);
        }
    }
    free(rows), free(column), free(was);
    mem_free(tile), mem_free(tw);
    ntt_domain_destroy(&d);
}

static void tiles_of(const wide_kernels *k) {
    for (unsigned bits = WIDE_MIN_BITS; bits <= WIDE_MAX_BITS; bits++)
        for (int f = 0; f < FILLS; f++)
            for (int kind = 0; kind < TILE_KINDS; kind++) tile_transform(k, bits, (tile_kind)kind, (fill)f);
}

static void test_tiles(void **state) {
    (void)state;
    for_all_kernels(tiles_of);
}

// Products of edge values by constants and by each other, and differences, row by row: 0, 1, -1, r - 1 as it lies in
// memory, and others.
static void products_of(const wide_kernels *k) {
    enum { BITS = 6, ROWS = 1 << BITS, ALL = ROWS * WIDE_LANES };
    uint64_t *tile = mem_alloc(MEM_TABLE, (size_t)2 * ROWS * WIDE_VECTOR, sizeof *tile), *other;
    wide_factor by[ROWS];
    fr *a = malloc(4 * ALL * sizeof *a), *b = a + ALL, *got = b + ALL, *want = got + ALL, c[ROWS], sixteenth;
    assert_true(tile != 0 && a != 0);
    other = tile + (size_t)ROWS * WIDE_VECTOR;
    fill_fr(a, ALL, EDGES), fill_fr(b, ALL, EDGES), fill_fr(c, ROWS, EDGES);
    for (size_t i = 0; i < ROWS; i++) factor_of(&by[i], &c[i], k->form);
    fr_from_u64(&sixteenth, k->form == WIDE_WORDS ? 1 : 16);
    fr_inv(&sixteenth, &sixteenth);
    const wide_walk ones = walk_of_ones(k, false);
    for (int kind = 0; kind < 3; kind++) {
        k->load_columns(tile, a, WIDE_LANES, BITS, &ones);
        k->load_columns(other, b, WIDE_LANES, BITS, &ones);
        if (kind == 0)
            k->times(tile, other, BITS);
        else
            k->scale(tile, BITS, by);
        if (kind == 2) k->minus(tile, other, BITS);
        k->store_columns(got, WIDE_LANES, tile, BITS, 0);
        for (size_t i = 0; i < ALL; i++) {
            reduce(&got[i]);
            fr_mul(&want[i], &a[i], kind == 0 ? &b[i] : &c[i / WIDE_LANES]);
            if (kind == 0) fr_mul(&want[i], &want[i], &sixteenth);
            if (kind == 2) fr_sub(&want[i], &want[i], &b[i]);
        }
        assert_same(want, got, ALL, kind == 0 ? "times" : kind == 1 ? "scale" : "minus", BITS);
    }
    free(a), mem_free(tile);
}

static void test_products(void **state) {
    (void)state;
    for (int round = 0; round < 50; round++) for_all_kernels(products_of);
}

// How the processor rounds, by what it computes: fegetround asks another unit than the one kernels use.
static unsigned rounding(void) {
    const volatile double one = 1, little = 0x1p-60, most = 0x1.8p-53;
    const volatile double up = one + little, down = -one - little, nearest = one + most;
    return (up > 1 ? 1u : 0) | (down < -1 ? 2u : 0) | (nearest > 1 ? 4u : 0);
}

// Rounding belongs to the program: kernels that need another leave it as it was.
static void rounding_after(const wide_kernels *k) {
    static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    static const unsigned of_mode[] = {4, 5, 2, 0};
    ntt_domain *want = domain_of(7, 0, 0), *got = domain_of(7, 0, 0);
    assert_int_equal(ntt_wide_create(&got->wide, got, k, WIDE_MAX_BITS, 0), CUZK_OK);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(fesetround(modes[i]), 0);
        const unsigned before = rounding();
        compare(want, got, 0, EDGES);
        const unsigned after = rounding();
        assert_int_equal(fesetround(FE_TONEAREST), 0);
        assert_int_equal(before, of_mode[i]);
        assert_int_equal(after, before);
    }
    ntt_domain_destroy(&want), ntt_domain_destroy(&got);
}

static void test_rounding(void **state) {
    (void)state;
    for_all_kernels(rounding_after);
}

static void no_scale(uint64_t *tile, unsigned bits, const wide_factor *by) { (void)tile, (void)bits, (void)by; }

static void bad_kernels_are_found(const wide_kernels *k) {
    bool good = false;
    assert_int_equal(wide_kernels_try(&good, k), CUZK_OK);
    assert_true(good);
    wide_kernels bad = *k;
    bad.scale = no_scale;
    assert_int_equal(wide_kernels_try(&good, &bad), CUZK_OK);
    assert_false(good);
}

static void test_bad_kernels_are_found(void **state) {
    (void)state;
    assert_int_equal(ntt_level(), cpu_current());
    for_all_kernels(bad_kernels_are_found);
}

// Every allocation refused in turn.
static void test_no_memory(void **state) {
    (void)state;
    assert_int_equal(ntt_level(), cpu_current()); // tested by now: only the domain's own allocations are refused
    const uint64_t before = mem_usage_total().live;
    for (uint64_t nth = 1; nth < 100; nth++) {
        ntt_domain *d = 0;
        cuzk_error err = {0};
        mem_test_refuse(nth);
        const cuzk_status status = ntt_domain_create(&d, 1 << 10, 0, &err);
        mem_test_refuse(0);
        if (status == CUZK_OK) {
            ntt_domain_destroy(&d);
            assert_true(nth > 3);
            assert_true(mem_usage_total().live == before);
            return;
        }
        assert_int_equal(status, CUZK_ERR_MEMORY);
        assert_null(d);
        assert_true(mem_usage_total().live == before);
    }
    fail_msg("a domain needs a hundred allocations");
}

int main(void) {
    rng = test_rng_new("test_wide");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_dimensions),
        cmocka_unit_test(test_more_threads),
        cmocka_unit_test(test_unreduced),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_bad_kernels_are_found),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
