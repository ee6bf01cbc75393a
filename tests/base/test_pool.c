// SPDX-License-Identifier: MIT OR Apache-2.0
#include "testing.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/cpu_quota.h"
#include "base/mem.h"
#include "base/pool.h"
#include "scratch.h"

enum { MAX_TASKS = 5000 };

typedef struct record {
    unsigned threads;
    _Atomic unsigned calls[MAX_TASKS];
    _Atomic unsigned inside[64]; // calls in progress, by worker: never above one
    _Atomic unsigned by_worker[64];
    _Atomic bool clash;
    pthread_t caller;
    bool uneven;
} record;

static void note(void *ctx, size_t task, unsigned worker) {
    record *r = ctx;
    if (worker >= r->threads || atomic_fetch_add(&r->inside[worker], 1) != 0) {
        atomic_store(&r->clash, true);
        if (worker >= r->threads) return;
    }
    if ((worker == 0) != (pthread_equal(pthread_self(), r->caller) != 0)) atomic_store(&r->clash, true);
    if (r->uneven && task % 97 == 0) {
        for (volatile unsigned i = 0; i < 200000; i++) {
        }
    }
    if (task % 16 == 3) sched_yield(); // so that tasks overlap also on few processors
    atomic_fetch_add(&r->calls[task], 1);
    atomic_fetch_add(&r->by_worker[worker], 1);
    atomic_fetch_sub(&r->inside[worker], 1);
}

static void check_each_once(record *r, size_t tasks) {
    assert_false(atomic_load(&r->clash));
    for (size_t i = 0; i < MAX_TASKS; i++) assert_int_equal(atomic_load(&r->calls[i]), i < tasks ? 1 : 0);
}

static record *new_record(unsigned threads, bool uneven) {
    record *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->threads = threads;
    r->caller = pthread_self();
    r->uneven = uneven;
    return r;
}

static void test_each_task_once(void **state) {
    (void)state;
    static const size_t counts[] = {0, 1, 2, 3, 7, 8, 9, 100, MAX_TASKS};
    for (unsigned threads = 1; threads <= 9; threads++) {
        pool *p;
        assert_int_equal(pool_create(&p, threads, NULL), CUZK_OK);
        assert_int_equal(pool_threads(p), threads);
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
            record *r = new_record(threads, counts[i] == 100);
            pool_run(p, counts[i], note, r);
            check_each_once(r, counts[i]);
            free(r);
        }
        pool_destroy(&p);
        assert_null(p);
        pool_destroy(&p);
    }
}

static void test_no_pool_is_the_caller(void **state) {
    (void)state;
    record *r = new_record(1, false);
    assert_int_equal(pool_threads(NULL), 1);
    pool_run(NULL, 50, note, r);
    check_each_once(r, 50);
    assert_int_equal(atomic_load(&r->by_worker[0]), 50);
    free(r);
}

// Tasks until somebody loses interest; then no more of them.
typedef struct interest {
    atomic_size_t done;
    size_t enough;
    pthread_t asks; // who may ask
    bool others;
} interest;

static bool had_enough(void *ctx) {
    interest *x = ctx;
    x->others |= pthread_equal(pthread_self(), x->asks) == 0;
    return atomic_load(&x->done) >= x->enough;
}

static void count_one(void *ctx, size_t task, unsigned worker) {
    (void)task, (void)worker;
    atomic_fetch_add(&((interest *)ctx)->done, 1);
    sched_yield();
}

static void test_lost_interest(void **state) {
    (void)state;
    enum { TASKS = 2000 };
    for (unsigned threads = 1; threads <= 5; threads++) {
        pool *p;
        assert_int_equal(pool_create(&p, threads, NULL), CUZK_OK);
        for (size_t enough = 0; enough <= TASKS; enough += TASKS / 4) {
            interest x = {.enough = enough, .asks = pthread_self()};
            pool_watch(p, had_enough, &x);
            const bool all = pool_run_wanted(p, TASKS, count_one, &x);
            const size_t done = atomic_load(&x.done);
            assert_true(all ? done == TASKS : done >= enough);
            if (threads == 1 || enough == 0) assert_false(all);
            if (threads == 1) assert_int_equal(done, enough);
            assert_false(x.others);
            pool_run(p, TASKS, count_one, &x); // whoever does not ask gets all
            assert_int_equal(atomic_load(&x.done), done + TASKS);
            pool_watch(p, NULL, NULL);
            assert_true(pool_run_wanted(p, TASKS, count_one, &x));
            assert_int_equal(atomic_load(&x.done), done + 2 * TASKS);
        }
        pool_destroy(&p);
    }
    interest x = {.enough = 0};
    pool_watch(NULL, had_enough, &x);
    assert_true(pool_run_wanted(NULL, 3, count_one, &x));
    assert_int_equal(atomic_load(&x.done), 3);
}

typedef struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t all;
    unsigned here, wanted;
    unsigned workers; // bit for each worker seen
    bool late;
} meeting;

// Returns only once `wanted` tasks are in it at the same time.
static void meet(void *ctx, size_t task, unsigned worker) {
    (void)task;
    meeting *m = ctx;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 30;
    pthread_mutex_lock(&m->lock);
    if ((m->workers >> worker & 1) != 0) m->late = true; // two at the same time with one number
    m->workers |= 1u << worker;
    if (++m->here == m->wanted) pthread_cond_broadcast(&m->all);
    while (m->here < m->wanted && !m->late) m->late = pthread_cond_timedwait(&m->all, &m->lock, &until) != 0;
    pthread_mutex_unlock(&m->lock);
}

// Workers come whether they still look out for a run or have gone to sleep.
static void check_meetings(unsigned threads) {
    pool *p;
    assert_int_equal(pool_create(&p, threads, NULL), CUZK_OK);
    for (unsigned round = 0; round < 200; round++) {
        if (round % 20 == 0) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        meeting m = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 2 + round % (threads - 1), 0, false};
        pool_run(p, m.wanted, meet, &m);
        assert_false(m.late);
        assert_int_equal(m.here, m.wanted);
    }
    pool_destroy(&p);
}

static void test_all_threads_work_at_once(void **state) {
    (void)state;
    check_meetings(20); // more than most machines have processors for
    check_meetings(2);
}

static void add_one(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    atomic_fetch_add((_Atomic uint64_t *)ctx, task + 1);
}

// Many short runs one after the other: a worker late from one run must not fall into the next.
static void test_many_short_runs(void **state) {
    (void)state;
    pool *p;
    assert_int_equal(pool_create(&p, 4, NULL), CUZK_OK);
    test_rng rng = test_rng_new("test_base_pool");
    for (int round = 0; round < 5000; round++) {
        size_t tasks = test_below(&rng, 12);
        _Atomic uint64_t sum = 0;
        pool_run(p, tasks, add_one, (void *)&sum);
        assert_true(atomic_load(&sum) == tasks * (tasks + 1) / 2);
    }
    pool_destroy(&p);
}

static void add_one_slowly(void *ctx, size_t task, unsigned worker) {
    sched_yield();
    add_one(ctx, task, worker);
}

static void *contend(void *arg) {
    pool *p = arg;
    for (int round = 0; round < 500; round++) {
        _Atomic uint64_t sum = 0;
        pool_run(p, 20, add_one_slowly, (void *)&sum);
        if (atomic_load(&sum) != 210) return p;
    }
    return NULL;
}

static void test_callers_take_turns(void **state) {
    (void)state;
    pool *p;
    assert_int_equal(pool_create(&p, 3, NULL), CUZK_OK);
    pthread_t callers[4];
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&callers[i], NULL, contend, p), 0);
    for (int i = 0; i < 4; i++) {
        void *bad;
        pthread_join(callers[i], &bad);
        assert_null(bad);
    }
    pool_destroy(&p);
}

static void run_inner(void *ctx, size_t task, unsigned worker) {
    (void)worker;
    pool *inner;
    _Atomic uint64_t sum = 0;
    if (pool_create(&inner, 2, NULL) != CUZK_OK) return;
    pool_run(inner, 10, add_one, (void *)&sum);
    pool_destroy(&inner);
    if (atomic_load(&sum) == 55) add_one(ctx, task, 0);
}

static void test_another_pool_inside(void **state) {
    (void)state;
    pool *p;
    _Atomic uint64_t sum = 0;
    assert_int_equal(pool_create(&p, 3, NULL), CUZK_OK);
    pool_run(p, 20, run_inner, (void *)&sum);
    assert_true(atomic_load(&sum) == 210);
    pool_destroy(&p);
}

static void signals_blocked(void *ctx, size_t task, unsigned worker) {
    meet(ctx, task, worker);
    sigset_t now;
    if (worker != 0 && (pthread_sigmask(SIG_SETMASK, NULL, &now) != 0 || !sigismember(&now, SIGINT))) {
        ((meeting *)ctx)->late = true;
    }
}

static void test_workers_take_no_signals(void **state) {
    (void)state;
    pool *p;
    assert_int_equal(pool_create(&p, 3, NULL), CUZK_OK);
    meeting m = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 3, 0, false};
    pool_run(p, 3, signals_blocked, &m);
    assert_false(m.late);
    sigset_t now;
    pthread_sigmask(SIG_SETMASK, NULL, &now);
    assert_false(sigismember(&now, SIGINT)); // the caller's mask came back
    pool_destroy(&p);
}

static void test_creation_can_fail(void **state) {
    (void)state;
    cuzk_error err;
    pool *p = (pool *)&err;
    assert_int_equal(pool_create(&p, 1000000, &err), CUZK_ERR_USAGE);
    assert_null(p);
    for (unsigned n = 1; n <= 2; n++) {
        mem_test_refuse(n);
        cuzk_status s = pool_create(&p, 3, &err);
        mem_test_refuse(0);
        assert_int_equal(s, CUZK_ERR_MEMORY);
        assert_null(p);
    }
    assert_true(mem_usage_total().live == 0);
    assert_int_equal(pool_create(&p, 3, NULL), CUZK_OK); // never run: no thread to join
    pool_destroy(&p);
    assert_int_equal(pool_create(&p, 0, NULL), CUZK_OK);
    assert_int_equal(pool_threads(p), pool_available_threads());
    pool_destroy(&p);
}

static void put_text(const scratch *s, const char *name, const char *text) { scratch_put(s, name, text, strlen(text)); }

static void test_quota_v2(void **state) {
    (void)state;
    scratch s;
    scratch_make(&s);
    assert_int_equal(cpu_cgroup_limit(s.dir), 0); // nothing there
    put_text(&s, "proc/self/cgroup", "0::/a/b\n");
    assert_int_equal(cpu_cgroup_limit(s.dir), 0);
    put_text(&s, "sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    assert_int_equal(cpu_cgroup_limit(s.dir), 0);
    put_text(&s, "sys/fs/cgroup/a/cpu.max", "350000 100000\n");
    assert_int_equal(cpu_cgroup_limit(s.dir), 4); // a parent's limit counts; rounded up
    put_text(&s, "sys/fs/cgroup/a/b/cpu.max", "200000 100000\n");
    assert_int_equal(cpu_cgroup_limit(s.dir), 2);
    put_text(&s, "sys/fs/cgroup/a/b/cpu.max", "1000 100000\n");
    assert_int_equal(cpu_cgroup_limit(s.dir), 1);
    put_text(&s, "proc/self/cgroup", "0::/elsewhere/of/the/host\n"); // seen from inside a container
    assert_int_equal(cpu_cgroup_limit(s.dir), 0);
    put_text(&s, "sys/fs/cgroup/cpu.max", "300000 100000\n");
    assert_int_equal(cpu_cgroup_limit(s.dir), 3);
    put_text(&s, "proc/self/cgroup", "0::/\n");
    assert_int_equal(cpu_cgroup_limit(s.dir), 3);
    put_text(&s, "sys/fs/cgroup/cpu.max", "rubbish\n");
    assert_int_equal(cpu_cgroup_limit(s.dir), 0);
    put_text(&s, "sys/fs/cgroup/cpu.max", "100000 0\n");
    assert_int_equal(cpu_cgroup_limit(s.dir), 0);
    scratch_remove(&s);
}

static void test_quota_v1(void **state) {
    (void)state;
    scratch s;
    scratch_make(&s);
    put_text(&s, "proc/self/cgroup", "7:memory:/x\n5:cpuset:/x\n4:cpu,cpuacct:/x/y\nnonsense\n");
    put_text(&s, "sys/fs/cgroup/cpuset/x/cpu.cfs_quota_us", "100000\n"); // not the cpu controller
    put_text(&s, "sys/fs/cgroup/cpuset/x/cpu.cfs_period_us", "100000\n");
    assert_int_equal(cpu_cgroup_limit(s.dir), 0);
    put_text(&s, "sys/fs/cgroup/cpu,cpuacct/x/y/cpu.cfs_quota_us", "-1\n");
    put_text(&s, "sys/fs/cgroup/cpu,cpuacct/x/y/cpu.cfs_period_us", "100000\n");
    assert_int_equal(cpu_cgroup_limit(s.dir), 0);
    put_text(&s, "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "450000\n");
    put_text(&s, "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
    assert_int_equal(cpu_cgroup_limit(s.dir), 5);
    put_text(&s, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "250000\n");
    put_text(&s, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(cpu_cgroup_limit(s.dir), 3);
    scratch_remove(&s);
}

static void test_this_machine(void **state) {
    (void)state;
    unsigned n = pool_available_threads(), mask = cpu_affinity_count(), quota = cpu_cgroup_limit("");
    printf("# threads %u, affinity %u, quota %u\n", n, mask, quota);
    assert_true(n >= 1 && mask >= 1 && n <= mask);
    assert_true(quota == 0 || n <= quota);
}

// Sizes around the chunks it is shared out in; nothing beside them is touched.
static void test_zero(void **state) {
    (void)state;
    enum { CHUNK = 2 << 20, GUARD = 64 };
    static const size_t sizes[] = {0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 5 * CHUNK + 3};
    static unsigned char m[6 * CHUNK];
    pool *p;
    assert_int_equal(pool_create(&p, 3, NULL), CUZK_OK);
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        const size_t n = sizes[i / 2];
        memset(m, 0xa5, sizeof m);
        pool_zero(i % 2 == 0 ? p : NULL, m + GUARD, n);
        for (size_t k = 0; k < sizeof m; k++)
            if (m[k] != (k >= GUARD && k < GUARD + n ? 0 : 0xa5)) fail_msg("%zu bytes: byte %zu", n, k);
    }
    pool_destroy(&p);
}

static void test_free_secret(void **state) {
    (void)state;
    pool *p;
    assert_int_equal(pool_create(&p, 2, NULL), CUZK_OK);
    const uint64_t before = mem_usage_of(MEM_MISC).live;
    void *block = mem_alloc(MEM_MISC, 3, 1 << 20);
    assert_non_null(block);
    assert_int_equal(mem_size(block), 3 << 20);
    pool_free_secret(p, block);
    pool_free_secret(p, NULL);
    assert_int_equal(mem_usage_of(MEM_MISC).live, before);
    pool_destroy(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_task_once),
        cmocka_unit_test(test_no_pool_is_the_caller),
        cmocka_unit_test(test_lost_interest),
        cmocka_unit_test(test_zero),
        cmocka_unit_test(test_free_secret),
        cmocka_unit_test(test_all_threads_work_at_once),
        cmocka_unit_test(test_many_short_runs),
        cmocka_unit_test(test_callers_take_turns),
        cmocka_unit_test(test_another_pool_inside),
        cmocka_unit_test(test_workers_take_no_signals),
        cmocka_unit_test(test_creation_can_fail),
        cmocka_unit_test(test_quota_v2),
        cmocka_unit_test(test_quota_v1),
        cmocka_unit_test(test_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
