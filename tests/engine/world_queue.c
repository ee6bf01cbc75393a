// SPDX-License-Identifier: MIT OR Apache-2.0
#include "engine/world_queue.h"

void world_queue_clear(world_queue *q) { q->n = q->order = 0; }

static bool before(const world_item *a, const world_item *b) {
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

bool world_queue_push(world_queue *q, uint64_t at, engine_event e) {
    if (q->n == WORLD_EVENTS) return false;
    size_t i = q->n++;
    world_item it = {at, q->order++, e};
    while (i > 0 && before(&it, &q->heap[(i - 1) / 2])) {
        q->heap[i] = q->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    q->heap[i] = it;
    return true;
}

uint64_t world_queue_next(const world_queue *q) { return q->n == 0 ? UINT64_MAX : q->heap[0].at; }

world_item world_queue_pop(world_queue *q) {
    world_item top = q->heap[0], last = q->heap[--q->n];
    size_t i = 0;
    for (;;) {
        size_t c = 2 * i + 1;
        if (c >= q->n) break;
        if (c + 1 < q->n && before(&q->heap[c + 1], &q->heap[c])) c++;
        if (!before(&q->heap[c], &last)) break;
        q->heap[i] = q->heap[c];
        i = c;
    }
    q->heap[i] = last;
    return top;
}
