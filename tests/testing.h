// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What every test includes: cmocka with its prerequisites, and a seeded generator biased towards edges.
#ifndef CUZK_TESTING_H
#define CUZK_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

// splitmix64 (Steele, Lea, Flood 2014): small, fast, good enough for tests.
typedef struct test_rng {
    uint64_t state;
} test_rng;

// Seeded from CUZK_TEST_SEED, or the clock; prints the seed so that a failure can be repeated.
static inline test_rng test_rng_new(const char *test) {
    const char *env = getenv("CUZK_TEST_SEED");
    test_rng r = {env != 0 ? strtoull(env, 0, 0) : (uint64_t)time(0) * UINT64_C(0x9e3779b97f4a7c15)};
    printf("# %s: CUZK_TEST_SEED=0x%llx\n", test, (unsigned long long)r.state);
    return r;
}
static inline uint64_t test_u64(test_rng *r) {
    uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}
static inline uint64_t test_below(test_rng *r, uint64_t n) { return test_u64(r) % n; }
// A limb that is often all zeros, all ones, one bit, or a run of ones: where carries break.
static inline uint64_t test_edge_u64(test_rng *r) {
    switch (test_below(r, 8)) {
    case 0: return 0;
    case 1: return UINT64_MAX;
    case 2: return UINT64_C(1) << test_below(r, 64);
    case 3: return UINT64_MAX << test_below(r, 64);
    case 4: return UINT64_MAX >> test_below(r, 64);
    default: return test_u64(r);
    }
}

#endif
