// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The automatic budget, in made-up file systems and under a real limit; and the runtime's table of numbers.
#include <sys/resource.h>

#include "testing.h"

#include "base/scratch.h"
#include "engine/budget.h"
#include "engine/idmap.h"

static void put(const scratch *s, const char *name, const char *text) { scratch_put(s, name, text, strlen(text)); }

static void the_least_wins(void **state) {
    (void)state;
    scratch s;
    memory_budget b;
    scratch_make(&s);
    b = memory_budget_find(s.dir);
    assert_string_equal(b.source, "nothing");
    assert_true(b.bytes == UINT64_MAX);

    put(&s, "proc/meminfo", "MemTotal: 9000 kB\nMemFree: 1000 kB\n");
    b = memory_budget_find(s.dir);
    assert_int_equal(b.limit, 1000 * 1024);

    put(&s, "proc/meminfo", "MemTotal: 9000 kB\nMemFree: 1000 kB\nMemAvailable: 8000 kB\n");
    b = memory_budget_find(s.dir);
    assert_string_equal(b.source, "MemAvailable");
    assert_int_equal(b.limit, 8000 * 1024);
    assert_int_equal(b.bytes, 7000 * 1024);

    // Version 2: the tightest on the way up; "max" is none.
    put(&s, "proc/self/cgroup", "0::/a/b\n");
    put(&s, "sys/fs/cgroup/a/b/memory.max", "max\n");
    put(&s, "sys/fs/cgroup/a/memory.max", "2048000\n");
    b = memory_budget_find(s.dir);
    assert_string_equal(b.source, "cgroup v2");
    assert_int_equal(b.limit, 2048000);
    put(&s, "sys/fs/cgroup/a/b/memory.max", "1024000\n");
    assert_int_equal(memory_budget_find(s.dir).limit, 1024000);

    // Version 1, in a container that cannot see its group's path; its "no limit" is a very large number.
    put(&s, "proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/docker/0123\n");
    put(&s, "sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    assert_string_equal(memory_budget_find(s.dir).source, "MemAvailable");
    put(&s, "sys/fs/cgroup/memory/memory.limit_in_bytes", "3000000\n");
    b = memory_budget_find(s.dir);
    assert_string_equal(b.source, "cgroup v1");
    assert_int_equal(b.limit, 3000000);

    // Nonsense is no limit, and no crash.
    put(&s, "proc/self/cgroup", "garbage\n0:\n::\n");
    put(&s, "proc/meminfo", "MemAvailable: lots\n");
    assert_string_equal(memory_budget_find(s.dir).source, "nothing");

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    struct rlimit old, r;
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    r = old;
    r.rlim_cur = UINT64_C(1) << 34;
    assert_int_equal(setrlimit(RLIMIT_AS, &r), 0);
    b = memory_budget_find(s.dir);
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
    assert_string_equal(b.source, "RLIMIT_AS");
    assert_true(b.limit == UINT64_C(1) << 34);
#endif
    scratch_remove(&s);
    assert_true(memory_budget_find("").bytes > 0);
}

static void numbers_are_found(void **state) {
    (void)state;
    enum { IDS = 300, STEPS = 20000 };
    static bool in[IDS];
    static int values[IDS];
    test_rng r = test_rng_new("idmap");
    idmap m = {0};
    size_t n = 0;
    assert_null(idmap_get(&m, 1));
    assert_null(idmap_take(&m, 1));
    for (int step = 0; step < STEPS; step++) {
        const uint64_t k = test_below(&r, IDS), id = (k + 1) << (k % 40); // clusters and far ones
        const uint64_t unique = id * 512 + k + 1;
        if (in[k]) {
            assert_ptr_equal(idmap_get(&m, unique), &values[k]);
            if (test_below(&r, 2) == 0) continue;
            assert_ptr_equal(idmap_take(&m, unique), &values[k]);
            n--;
        } else {
            assert_null(idmap_get(&m, unique));
            assert_true(idmap_reserve(&m));
            idmap_put(&m, unique, &values[k]);
            n++;
        }
        in[k] = !in[k];
        assert_int_equal(m.n, n);
    }
    idmap_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_wins),
        cmocka_unit_test(numbers_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
