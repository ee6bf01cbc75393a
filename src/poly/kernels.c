// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What each CPU level has, and the test that a level must pass before it is used.
#include <stdatomic.h>

#include "base/mem.h"
#include "poly/internal.h"
#include "poly/wide_words.h"
#if defined(NTT_HAVE_WIDE)
#include "poly/x86/wide_x86.h"
#endif

const wide_kernels *wide_kernels_at(cpu_level level) {
#if defined(NTT_HAVE_WIDE)
    if (level >= CPU_IFMA) return &WIDE_KERNELS_IFMA;
    if (level >= CPU_AVX2) return &WIDE_KERNELS_FMA;
#endif
    (void)level;
    return &WIDE_KERNELS_WORDS;
}

// The quotient and a transform of 2^7 points, values that are zero, small, just below r, and spread over all of Fr.
enum { TEST_LOG2 = 7, TEST_SIZE = 1 << TEST_LOG2 };

typedef struct test_run {
    fr a[TEST_SIZE], b[TEST_SIZE], c[TEST_SIZE];
} test_run;

static cuzk_status run_test(test_run *t, const wide_kernels *w) {
    fr x = FR_GENERATOR;
    for (size_t i = 0; i < TEST_SIZE; i++) {
        fr_mul(&x, &x, &FR_ROOT_OF_UNITY);
        fr_add(&x, &x, &FR_ONE);
        t->a[i] = x;
        fr_from_u64(&t->b[i], i % 5);
        if (i % 3 == 0) fr_neg(&t->b[i], &t->b[i]);
        fr_mul(&t->c[i], &t->a[i], i % 2 == 0 ? &t->b[i] : &x);
    }
    ntt_domain *d = 0;
    const cuzk_status status = ntt_domain_create_with(&d, TEST_SIZE, w, 0, 0);
    if (status != CUZK_OK) return status;
    ntt_quotient(d, t->a, t->b, t->c, 0);
    for (size_t i = 0; i < TEST_SIZE; i++) t->b[i] = t->a[i];
    ntt_coset_forward(d, t->b, 0);
    ntt_domain_destroy(&d);
    return CUZK_OK;
}

cuzk_status wide_kernels_try(bool *good, const wide_kernels *w) {
    *good = false;
    test_run *t = mem_alloc(MEM_TABLE, 2, sizeof *t);
    cuzk_status status = t != 0 ? CUZK_OK : CUZK_ERR_MEMORY;
    if (status == CUZK_OK) status = run_test(&t[0], 0);
    if (status == CUZK_OK) status = run_test(&t[1], w);
    *good = status == CUZK_OK;
    for (size_t i = 0; *good && i < TEST_SIZE; i++)
        *good = fr_eq(&t[0].a[i], &t[1].a[i]) && fr_eq(&t[0].b[i], &t[1].b[i]);
    mem_free(t);
    return status;
}

// Bit 2 level: it has been tried; bit 2 level + 1: it is bad. Two threads that try at the same time find the same.
static atomic_uint verdicts;

static bool works(cpu_level level) {
    const unsigned shift = 2 * (unsigned)level, known = atomic_load_explicit(&verdicts, memory_order_relaxed) >> shift;
    if ((known & 1) != 0) return (known & 2) == 0;
    bool good;
    // Without memory nothing is known, and the next caller tries again.
    if (wide_kernels_try(&good, wide_kernels_at(level)) != CUZK_OK) return false;
    atomic_fetch_or_explicit(&verdicts, (good ? 1u : 3u) << shift, memory_order_relaxed);
    return good;
}

cpu_level ntt_level(void) {
    int level = (int)cpu_current();
    while (level > CPU_PORTABLE && !works((cpu_level)level)) level--;
    return (cpu_level)level;
}
