// SPDX-License-Identifier: MIT OR Apache-2.0
#define _DEFAULT_SOURCE // MAP_ANONYMOUS
#include "testing.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"

static void test_alignment_and_content(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 100001, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 9000001};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        uint8_t *p = mem_alloc(MEM_MISC, sizes[i], 1);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 64, 0);
        memset(p, 0xa5, sizes[i]);
        mem_free(p);
        p = mem_calloc(MEM_MISC, sizes[i], 1); // likely the block just freed
        assert_non_null(p);
        for (size_t k = 0; k < sizes[i]; k++) {
            if (p[k] != 0) fail_msg("byte %zu of %zu is not zero", k, sizes[i]);
        }
        mem_free(p);
    }
    mem_free(NULL);
}

static void test_absurd_sizes_are_refused(void **state) {
    (void)state;
    mem_usage before = mem_usage_total();
    assert_null(mem_alloc(MEM_KEY, SIZE_MAX, 2));
    assert_null(mem_alloc(MEM_KEY, 2, SIZE_MAX));
    assert_null(mem_alloc(MEM_KEY, SIZE_MAX, 1));
    assert_null(mem_alloc(MEM_KEY, SIZE_MAX / 32 + 1, 32)); // wraps to 0
    assert_null(mem_alloc(MEM_KEY, SIZE_MAX / 32 + 2, 32)); // wraps to 32
    assert_null(mem_alloc(MEM_KEY, (size_t)1 << 32, (size_t)1 << 32));
    assert_null(mem_alloc(MEM_KEY, (size_t)PTRDIFF_MAX, 1));
    assert_null(mem_calloc(MEM_KEY, SIZE_MAX / 32 + 2, 32));
    assert_true(mem_usage_total().live == before.live && mem_usage_total().peak == before.peak);
    void *p = mem_alloc(MEM_KEY, SIZE_MAX, 0);
    assert_non_null(p);
    mem_free(p);
}

static void test_accounting(void **state) {
    (void)state;
    assert_true(mem_usage_of(MEM_WITNESS).live == 0);
    void *a = mem_alloc(MEM_WITNESS, 10, 100), *b = mem_alloc(MEM_MSM, 7, 1), *c = mem_alloc(MEM_WITNESS, 500, 1);
    assert_true(mem_usage_of(MEM_WITNESS).live == 1500);
    assert_true(mem_usage_of(MEM_MSM).live == 7);
    assert_true(mem_usage_total().live == 1507);
    mem_free(a);
    assert_true(mem_usage_of(MEM_WITNESS).live == 500);
    assert_true(mem_usage_of(MEM_WITNESS).peak == 1500);
    assert_true(mem_usage_total().peak >= 1507);
    a = mem_alloc(MEM_WITNESS, 999, 1);
    assert_true(mem_usage_of(MEM_WITNESS).peak == 1500);
    mem_free(a);
    a = mem_alloc(MEM_WITNESS, 1001, 1);
    assert_true(mem_usage_of(MEM_WITNESS).peak == 1501);
    mem_free(a), mem_free(b), mem_free(c);
    assert_true(mem_usage_of(MEM_WITNESS).live == 0 && mem_usage_total().live == 0);
}

static void test_refusal_on_demand(void **state) {
    (void)state;
    mem_test_refuse(3);
    void *a = mem_alloc(MEM_MISC, 1, 1), *b = mem_calloc(MEM_MISC, 1, 1);
    void *c = mem_alloc(MEM_MISC, 1, 1), *d = mem_calloc(MEM_MISC, 1, 1);
    mem_test_refuse(0);
    assert_non_null(a), assert_non_null(b), assert_null(c), assert_null(d);
    mem_free(a), mem_free(b);
    a = mem_alloc(MEM_MISC, 1, 1);
    assert_non_null(a);
    mem_free(a);
}

static void *churn(void *arg) {
    test_rng r = {(uintptr_t)arg};
    void *kept[16] = {0};
    for (int i = 0; i < 20000; i++) {
        size_t slot = test_below(&r, 16);
        mem_free(kept[slot]);
        kept[slot] = mem_alloc((mem_tag)test_below(&r, MEM_KEPT), test_below(&r, 300), 1);
    }
    for (size_t i = 0; i < 16; i++) mem_free(kept[i]);
    return NULL;
}

static void test_accounting_from_threads(void **state) {
    (void)state;
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)), 0);
    for (size_t i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    for (int tag = 0; tag < MEM_TAGS; tag++) {
        assert_true(mem_usage_of((mem_tag)tag).live == 0);
        assert_true(mem_usage_of((mem_tag)tag).peak > 0 || tag == MEM_KEPT);
        assert_string_not_equal(mem_tag_name((mem_tag)tag), "unknown");
    }
    assert_true(mem_usage_total().live == 0);
}

enum { MIB = 1 << 20 };

static uint64_t kept(void) { return mem_usage_of(MEM_KEPT).live; }
static void sum_kept(void *ctx, const void *at, size_t bytes) { (void)at, *(uint64_t *)ctx += bytes; }
static uint64_t seen(void) {
    uint64_t all = 0;
    mem_test_kept(sum_kept, &all);
    return all;
}

// Pages of this process that are there. What has gone back to the system is not.
static uint64_t resident(void) {
    unsigned long long pages = 0, there = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%llu %llu", &pages, &there), 2);
    fclose(f);
    return there * (uint64_t)sysconf(_SC_PAGESIZE);
}

// Sanitizers keep notes on memory in memory, and those stay.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

// Has the process less than `bytes` more than before?
static bool grew_less(uint64_t before, uint64_t bytes) { return SANITIZED || resident() < before + bytes; }

static uint8_t *filled(mem_tag tag, size_t bytes, uint8_t with) {
    uint8_t *p = mem_alloc(tag, bytes, 1);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % 64, 0);
    memset(p, with, bytes);
    return p;
}

static size_t count(const uint8_t *p, size_t bytes, uint8_t what) {
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) n += p[i] == what;
    return n;
}

static void test_nothing_is_kept_unasked(void **state) {
    (void)state;
    const uint64_t before = resident();
    uint8_t *p = filled(MEM_MISC, 64 * MIB, 1);
    assert_true(resident() >= before + 60 * MIB);
    mem_free(p);
    assert_true(grew_less(before, 8 * MIB));
    assert_true(kept() == 0 && seen() == 0);
}

static void test_kept_memory_serves_the_next(void **state) {
    (void)state;
    mem_keep_begin();
    uint8_t *p = filled(MEM_EVALUATION, 10 * MIB, 0x5a);
    mem_free(p);
    assert_true(mem_usage_of(MEM_EVALUATION).live == 0 && mem_usage_total().live == 0);
    assert_true(kept() >= 10 * MIB && kept() <= 12 * MIB);
    assert_true(seen() < kept() && seen() > kept() - 4096);
    uint8_t *q = mem_alloc(MEM_MSM, 10 * MIB, 1);
    assert_ptr_equal(q, p);
    assert_int_equal(count(q, 10 * MIB, 0x5a), 10 * MIB);
    assert_true(kept() == 0 && mem_usage_of(MEM_MSM).live == 10 * MIB);
    // A shorter one takes a part, and what is left serves another.
    mem_free(q);
    q = filled(MEM_MSM, 5 * MIB, 1);
    assert_true(kept() > 0 && kept() <= 6 * MIB);
    p = filled(MEM_MSM, 4 * MIB, 2);
    assert_true(kept() == 0);
    assert_int_equal(count(q, 5 * MIB, 1), 5 * MIB);
    mem_free(q), mem_free(p);
    mem_keep_end();
    assert_true(kept() == 0 && seen() == 0);
}

// Three stretches with others between them that stay: no one of them is long enough for what comes, all together are.
static void test_kept_pages_move_together(void **state) {
    (void)state;
    mem_keep_begin();
    uint8_t *part[6], *whole;
    for (size_t i = 0; i < 6; i++) part[i] = filled(MEM_KEY, 8 * MIB - 64, (uint8_t)(i + 1)); // with its head: 8 MiB
    for (size_t i = 0; i < 6; i += 2) mem_free(part[i]);
    assert_true(kept() == 24 * MIB);
    const uint64_t before = resident();
    whole = mem_alloc(MEM_MSM, 30 * MIB - 64, 1);
    assert_non_null(whole);
    assert_true(kept() == 0);
    for (uint8_t i = 1; i <= 5; i += 2) assert_true(count(whole, 24 * MIB - 64, i) > 8 * MIB - 4096);
    memset(whole, 7, 30 * MIB - 64);
    assert_true(grew_less(before, 8 * MIB)); // 6 of them new
    for (size_t i = 1; i < 6; i += 2) assert_int_equal(count(part[i], 8 * MIB - 64, (uint8_t)(i + 1)), 8 * MIB - 64);
    // What was moved together can be taken apart and moved again.
    mem_free(whole);
    assert_true(kept() == 30 * MIB);
    part[0] = filled(MEM_KEY, 14 * MIB - 64, 10), part[2] = filled(MEM_KEY, 8 * MIB - 64, 11);
    part[4] = filled(MEM_KEY, 8 * MIB - 64, 12);
    assert_true(kept() == 0);
    mem_free(part[0]), mem_free(part[4]);
    whole = filled(MEM_MSM, 22 * MIB - 64, 13);
    assert_true(kept() == 0);
    assert_int_equal(count(part[2], 8 * MIB - 64, 11), 8 * MIB - 64);
    mem_free(whole), mem_free(part[1]), mem_free(part[2]), mem_free(part[3]), mem_free(part[5]);
    assert_true(kept() == 54 * MIB);
    mem_keep_end();
    assert_true(kept() == 0);
}

// However much goes in and out, in whatever sizes: what is kept and what is in use are no more than was in use at once.
static void test_no_more_than_at_the_most(void **state) {
    (void)state;
    test_rng r = {20};
    void *held[8] = {0};
    uint64_t live = 0, most = 0, size[8] = {0};
    mem_keep_begin();
    for (int i = 0; i < 2000; i++) {
        const size_t slot = test_below(&r, 8);
        mem_free(held[slot]);
        live -= size[slot];
        size[slot] = 2 * MIB * (3 + test_below(&r, 40));
        held[slot] = mem_alloc((mem_tag)test_below(&r, MEM_KEPT), size[slot] - 64, 1);
        assert_non_null(held[slot]);
        memset(held[slot], 1, 1);
        live += size[slot];
        if (live > most) most = live;
        assert_true(live + kept() <= most);
    }
    for (size_t i = 0; i < 8; i++) mem_free(held[i]);
    assert_true(kept() == most);
    mem_keep_end();
}

static void test_trim_gives_back(void **state) {
    (void)state;
    const uint64_t before = resident();
    mem_keep_begin(), mem_keep_begin();
    mem_free(filled(MEM_KEY, 64 * MIB, 1));
    assert_true(resident() >= before + 60 * MIB);
    mem_keep_trim();
    assert_true(kept() == 0 && grew_less(before, 8 * MIB));
    mem_free(filled(MEM_KEY, 64 * MIB, 1));
    mem_keep_end();
    assert_true(kept() >= 64 * MIB); // another one still asks for it
    mem_keep_end();
    assert_true(kept() == 0 && grew_less(before, 8 * MIB));
}

// What lies there is given back before anything is refused.
static void test_memory_is_short(void **state) {
    (void)state;
    if (SANITIZED) skip(); // terabytes of address space are taken
    mem_keep_begin();
    mem_free(filled(MEM_MISC, 256 * MIB, 1));
    struct rlimit was, now;
    assert_int_equal(getrlimit(RLIMIT_AS, &was), 0);
    unsigned long long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%llu", &pages), 1);
    fclose(f);
    now = was;
    now.rlim_cur = pages * (uint64_t)sysconf(_SC_PAGESIZE) + 100 * MIB;
    assert_int_equal(setrlimit(RLIMIT_AS, &now), 0);
    void *probe = mmap(NULL, 512 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (probe != MAP_FAILED) { // an emulated processor (qemu-user) takes no such limit
        munmap(probe, 512 * MIB);
        assert_int_equal(setrlimit(RLIMIT_AS, &was), 0);
        mem_keep_end();
        skip();
    }
    void *large = mem_alloc(MEM_MISC, 320 * MIB, 1); // no room to move 256 MiB to
    void *none = mem_alloc(MEM_MISC, 320 * MIB, 1);
    assert_int_equal(setrlimit(RLIMIT_AS, &was), 0);
    assert_non_null(large), assert_null(none);
    assert_true(kept() == 0);
    mem_free(large);
    mem_keep_end();
}

static void *churn_large(void *arg) {
    test_rng r = {(uintptr_t)arg};
    const uint8_t mark = (uint8_t)(uintptr_t)arg;
    mem_keep_begin();
    for (int i = 0; i < 200; i++) {
        const size_t bytes = 4 * MIB + test_below(&r, 12 * MIB);
        uint8_t *p = mem_alloc(MEM_MSM, bytes, 1);
        p[0] = p[bytes / 2] = p[bytes - 1] = mark;
        sched_yield();
        if (p[0] != mark || p[bytes / 2] != mark || p[bytes - 1] != mark) return arg;
        mem_free(p);
        if (test_below(&r, 20) == 0) mem_keep_trim();
    }
    mem_keep_end();
    return NULL;
}

static void test_keeping_from_threads(void **state) {
    (void)state;
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn_large, (void *)(i + 1)), 0);
    for (size_t i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_true(kept() == 0 && mem_usage_total().live == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alignment_and_content),
        cmocka_unit_test(test_absurd_sizes_are_refused),
        cmocka_unit_test(test_accounting),
        cmocka_unit_test(test_refusal_on_demand),
        cmocka_unit_test(test_accounting_from_threads),
        cmocka_unit_test(test_nothing_is_kept_unasked),
        cmocka_unit_test(test_kept_memory_serves_the_next),
        cmocka_unit_test(test_kept_pages_move_together),
        cmocka_unit_test(test_no_more_than_at_the_most),
        cmocka_unit_test(test_trim_gives_back),
        cmocka_unit_test(test_memory_is_short),
        cmocka_unit_test(test_keeping_from_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
