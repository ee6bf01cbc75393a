// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Timers: order, removal before, during and after the call, many at once.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "service/timers.h"

enum { MS = 1000000, MANY = 300 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int order[MANY], n_called;

static void note(void *ctx) {
    pthread_mutex_lock(&lock);
    order[n_called++] = (int)(intptr_t)ctx;
    pthread_mutex_unlock(&lock);
}

static int called(void) {
    pthread_mutex_lock(&lock);
    const int n = n_called;
    pthread_mutex_unlock(&lock);
    return n;
}

static void nap(int ms) {
    const struct timespec t = {ms / 1000, (long)(ms % 1000) * MS};
    nanosleep(&t, NULL);
}

static void wait_for(int n) {
    while (called() < n) nap(1);
}

static int start(void **state) {
    n_called = 0;
    timers *t;
    if (timers_create(&t, NULL) != CUZK_OK) return -1;
    *state = t;
    return 0;
}

static int stop(void **state) {
    timers *t = *state;
    timers_destroy(&t);
    return 0;
}

// Added in a shuffled order, a third removed again: the others come by time.
static void test_order(void **state) {
    timers *t = *state;
    static timer_call calls[MANY];
    int place[MANY], expected = 0;
    srand(7);
    for (int i = 0; i < MANY; i++) place[i] = i;
    for (int i = MANY - 1; i > 0; i--) {
        const int k = rand() % (i + 1), swap = place[i];
        place[i] = place[k];
        place[k] = swap;
    }
    const uint64_t from = clock_now_ns() + 100 * (uint64_t)MS;
    for (int i = 0; i < MANY; i++) {
        calls[place[i]] =
            (timer_call){.at = from + (uint64_t)place[i] * 10000, .fn = note, .ctx = (void *)(intptr_t)place[i]};
        assert_int_equal(timers_add(t, &calls[place[i]], NULL), CUZK_OK);
    }
    for (int i = 0; i < MANY; i += 3) assert_true(timers_remove(t, &calls[i]));
    for (int i = 0; i < MANY; i++) expected += i % 3 != 0;
    wait_for(expected);
    nap(5);
    assert_int_equal(called(), expected);
    for (int i = 1; i < expected; i++) assert_true(order[i] > order[i - 1]);
    for (int i = 0; i < MANY; i++) assert_false(timers_remove(t, &calls[i]));
}

static void slow(void *ctx) {
    note(ctx);
    nap(50);
    note(ctx);
}

// Removing one that is being called waits until the call has ended.
static void test_remove_during(void **state) {
    timers *t = *state;
    timer_call call = {.at = clock_now_ns(), .fn = slow};
    assert_int_equal(timers_add(t, &call, NULL), CUZK_OK);
    wait_for(1);
    assert_false(timers_remove(t, &call));
    assert_int_equal(called(), 2);
}

typedef struct chain {
    timers *t;
    timer_call call;
    int left;
} chain;

static void again(void *ctx) {
    chain *c = ctx;
    note(NULL);
    (void)timers_remove(c->t, &c->call); // of itself: does not wait
    c->call.at = clock_now_ns();
    if (--c->left > 0) assert_int_equal(timers_add(c->t, &c->call, NULL), CUZK_OK);
}

static void test_from_within(void **state) {
    chain c = {.t = *state, .left = 10};
    c.call = (timer_call){.at = clock_now_ns(), .fn = again, .ctx = &c};
    assert_int_equal(timers_add(c.t, &c.call, NULL), CUZK_OK);
    wait_for(10);
    assert_false(timers_remove(c.t, &c.call));
}

// What still waits at the end is never called.
static void test_destroy(void **state) {
    (void)state;
    timers *t;
    assert_int_equal(timers_create(&t, NULL), CUZK_OK);
    timer_call call = {.at = UINT64_MAX - 1, .fn = note};
    assert_int_equal(timers_add(t, &call, NULL), CUZK_OK);
    timers_destroy(&t);
    timers_destroy(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_order, start, stop),
        cmocka_unit_test_setup_teardown(test_remove_during, start, stop),
        cmocka_unit_test_setup_teardown(test_from_within, start, stop),
        cmocka_unit_test(test_destroy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
