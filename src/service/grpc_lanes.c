// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A lane: a few threads that handle what may take a while, in the order it came.
#include <stdlib.h>

#include "service/grpc_internal.h"

struct rpc_lane {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    rpc_call *first, *last;
    size_t waiting, max_waiting;
    bool stop;
    pthread_t *threads;
    unsigned n_threads;
};

static void *lane_main(void *arg) {
    rpc_lane *lane = arg;
    pthread_mutex_lock(&lane->lock);
    for (;;) {
        while (lane->first == NULL && !lane->stop) pthread_cond_wait(&lane->filled, &lane->lock);
        rpc_call *call = lane->first;
        if (call == NULL) break;
        lane->first = call->lane_next;
        if (lane->first == NULL) lane->last = NULL;
        lane->waiting--;
        pthread_mutex_unlock(&lane->lock);
        if (!atomic_load(&call->answered)) call->method->handle(call); // else its client did not wait that long
        rpc_drop_request(call);
        rpc_call_unref(call);
        pthread_mutex_lock(&lane->lock);
    }
    pthread_mutex_unlock(&lane->lock);
    return NULL;
}

cuzk_status rpc_lane_start(rpc_lane **out, unsigned threads, size_t max_waiting, cuzk_error *err) {
    *out = NULL;
    rpc_lane *lane = calloc(1, sizeof *lane);
    if (lane == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "gRPC: out of memory");
    lane->threads = calloc(threads, sizeof *lane->threads);
    lane->max_waiting = max_waiting;
    pthread_mutex_init(&lane->lock, NULL);
    pthread_cond_init(&lane->filled, NULL);
    while (lane->threads != NULL && lane->n_threads < threads &&
           pthread_create(&lane->threads[lane->n_threads], NULL, lane_main, lane) == 0)
        lane->n_threads++;
    if (lane->n_threads < threads) {
        rpc_lane_stop(&lane);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "gRPC: a thread was refused");
    }
    *out = lane;
    return CUZK_OK;
}

bool rpc_lane_put(rpc_lane *lane, rpc_call *call) {
    pthread_mutex_lock(&lane->lock);
    const bool room = lane->waiting < lane->max_waiting && !lane->stop;
    if (room) {
        rpc_call_ref(call);
        call->lane_next = NULL;
        if (lane->last == NULL)
            lane->first = call;
        else
            lane->last->lane_next = call;
        lane->last = call;
        lane->waiting++;
        pthread_cond_signal(&lane->filled);
    }
    pthread_mutex_unlock(&lane->lock);
    return room;
}

void rpc_lane_stop(rpc_lane **lane) {
    rpc_lane *l = *lane;
    if (l == NULL) return;
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    pthread_cond_broadcast(&l->filled);
    pthread_mutex_unlock(&l->lock);
    for (unsigned i = 0; i < l->n_threads; i++) pthread_join(l->threads[i], NULL);
    pthread_cond_destroy(&l->filled);
    pthread_mutex_destroy(&l->lock);
    free(l->threads);
    free(l);
    *lane = NULL;
}
