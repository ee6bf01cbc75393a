// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What is still to happen in the virtual world: events by time, those of one time in the order they were put in.
#ifndef CUZK_TESTS_ENGINE_WORLD_QUEUE_H
#define CUZK_TESTS_ENGINE_WORLD_QUEUE_H

#include "engine/core.h"

enum { WORLD_EVENTS = 4096 };

typedef struct world_item {
    uint64_t at, order;
    engine_event e;
} world_item;

typedef struct world_queue {
    world_item heap[WORLD_EVENTS];
    size_t n;
    uint64_t order;
} world_queue;

void world_queue_clear(world_queue *q);
bool world_queue_push(world_queue *q, uint64_t at, engine_event e); // false: it is full
uint64_t world_queue_next(const world_queue *q);                    // when the first is due; UINT64_MAX: there is none
world_item world_queue_pop(world_queue *q);                         // of a queue that is not empty

#endif
