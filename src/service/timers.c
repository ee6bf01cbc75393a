// SPDX-License-Identifier: MIT OR Apache-2.0
#include "service/timers.h"

#include <pthread.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"

struct timers {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; // the next time, or the end
    pthread_cond_t called;  // a call has ended
    timer_call **heap;      // heap[1..n], the earliest first; heap[call->place] == call
    uint32_t n, cap;
    const timer_call *calling; // only compared: it may be freed by its own call
    bool stop;
};

static void put(timers *t, uint32_t at, timer_call *call) {
    t->heap[at] = call;
    call->place = at;
}

static void sift(timers *t, uint32_t at) {
    timer_call *call = t->heap[at];
    for (; at > 1 && t->heap[at / 2]->at > call->at; at /= 2) put(t, at, t->heap[at / 2]);
    for (uint32_t child = 2 * at; child <= t->n; child = 2 * at) {
        if (child < t->n && t->heap[child + 1]->at < t->heap[child]->at) child++;
        if (t->heap[child]->at >= call->at) break;
        put(t, at, t->heap[child]);
        at = child;
    }
    put(t, at, call);
}

static void take(timers *t, timer_call *call) {
    const uint32_t at = call->place;
    timer_call *last = t->heap[t->n--];
    call->place = 0;
    if (last == call) return;
    put(t, at, last);
    sift(t, at);
}

static void *timers_main(void *arg) {
    timers *t = arg;
    pthread_mutex_lock(&t->lock);
    while (!t->stop) {
        if (t->n == 0) {
            pthread_cond_wait(&t->changed, &t->lock);
            continue;
        }
        timer_call *first = t->heap[1];
        if (first->at > clock_now_ns()) {
            const struct timespec until = {(time_t)(first->at / 1000000000), (long)(first->at % 1000000000)};
            (void)pthread_cond_timedwait(&t->changed, &t->lock, &until);
            continue;
        }
        take(t, first);
        void (*fn)(void *) = first->fn;
        void *ctx = first->ctx;
        t->calling = first;
        pthread_mutex_unlock(&t->lock);
        fn(ctx);
        pthread_mutex_lock(&t->lock);
        t->calling = NULL;
        pthread_cond_broadcast(&t->called);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

cuzk_status timers_create(timers **out, cuzk_error *err) {
    *out = NULL;
    timers *t = mem_calloc(MEM_MISC, 1, sizeof *t);
    if (t == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for timers");
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, &monotonic);
    pthread_cond_init(&t->called, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&t->thread, NULL, timers_main, t) != 0) {
        pthread_mutex_destroy(&t->lock);
        pthread_cond_destroy(&t->changed);
        pthread_cond_destroy(&t->called);
        mem_free(t);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "the system refuses a thread for timers");
    }
    *out = t;
    return CUZK_OK;
}

void timers_destroy(timers **pt) {
    timers *t = *pt;
    if (t == NULL) return;
    *pt = NULL;
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    pthread_cond_destroy(&t->called);
    mem_free(t->heap);
    mem_free(t);
}

static bool grow(timers *t) {
    const uint32_t cap = t->cap == 0 ? 64 : 2 * t->cap;
    timer_call **heap = mem_alloc(MEM_MISC, (size_t)cap + 1, sizeof(timer_call *));
    if (heap == NULL) return false;
    for (uint32_t i = 1; i <= t->n; i++) heap[i] = t->heap[i];
    mem_free(t->heap);
    t->heap = heap;
    t->cap = cap;
    return true;
}

cuzk_status timers_add(timers *t, timer_call *call, cuzk_error *err) {
    pthread_mutex_lock(&t->lock);
    const bool room = t->n < t->cap || (t->n < UINT32_MAX / 4 && grow(t));
    if (room) {
        put(t, ++t->n, call);
        sift(t, call->place);
        if (call->place == 1) pthread_cond_signal(&t->changed);
    }
    pthread_mutex_unlock(&t->lock);
    return room ? CUZK_OK : cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a timer");
}

bool timers_remove(timers *t, timer_call *call) {
    pthread_mutex_lock(&t->lock);
    const bool waiting = call->place != 0;
    if (waiting) take(t, call);
    while (!waiting && t->calling == call && !pthread_equal(pthread_self(), t->thread))
        pthread_cond_wait(&t->called, &t->lock);
    pthread_mutex_unlock(&t->lock);
    return waiting;
}
