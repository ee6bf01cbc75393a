// SPDX-License-Identifier: MIT OR Apache-2.0
#include "timeline/lanes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/pair.h"

// A span and where it goes.
typedef struct placed {
    timeline_lane_group group;
    int32_t id;
    uint32_t sub, span, unit;
    bool empty; // no length: comes behind what starts with it, so that it never stands inside that
    int64_t start_us;
} placed;

// Which of a group's lanes is free first: a binary heap by the end of the lane's last span.
typedef struct free_lane {
    int64_t over;
    uint32_t sub;
} free_lane;

static bool sooner(free_lane a, free_lane b) { return a.over != b.over ? a.over < b.over : a.sub < b.sub; }

static void sift_down(free_lane *heap, size_t n, size_t i) {
    for (;;) {
        size_t c = 2 * i + 1;
        if (c >= n) return;
        if (c + 1 < n && sooner(heap[c + 1], heap[c])) c++;
        if (!sooner(heap[c], heap[i])) return;
        free_lane x = heap[c];
        heap[c] = heap[i];
        heap[i] = x;
        i = c;
    }
}

static void sift_up(free_lane *heap, size_t i) {
    while (i > 0 && sooner(heap[i], heap[(i - 1) / 2])) {
        free_lane x = heap[i];
        heap[i] = heap[(i - 1) / 2];
        heap[(i - 1) / 2] = x;
        i = (i - 1) / 2;
    }
}

static bool place(placed *p, const timeline_analysis *a, const timeline_span *x, unsigned which) {
    int32_t gpu = x->device < 0 ? -1 : a->spans.devices[x->device].id;
    if (a->options.device >= 0 && gpu >= 0 && gpu != a->options.device) return false;
    p->id = -1;
    switch (x->kind) {
    case SPAN_GPU:
        p->group = LANES_DEVICE;
        p->id = gpu;
        return true;
    case SPAN_SYNTH:
        p->group = LANES_SYNTHESIS;
        p->id = x->worker;
        return true;
    case SPAN_SRS_LOAD:
    case SPAN_PCE: p->group = LANES_KEYS; return true;
    case SPAN_STAGE:
        p->group = LANES_STAGES;
        p->id = gpu;
        return (which & LANES_WITH_STAGES) != 0;
    case SPAN_VERIFY:
    case SPAN_MEM_WAIT: p->group = LANES_OTHER; return (which & LANES_ALL) != 0;
    default: return false;
    }
}

static int by_group(const void *x, const void *y) {
    const placed *a = x, *b = y;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    if (a->start_us != b->start_us) return a->start_us < b->start_us ? -1 : 1;
    if (a->empty != b->empty) return a->empty ? 1 : -1;
    if (a->unit != b->unit) return a->unit < b->unit ? -1 : 1; // as the log has them, not the longer first
    return (a->span > b->span) - (a->span < b->span);
}

static int by_lane(const void *x, const void *y) {
    const placed *a = x, *b = y;
    if (a->group != b->group) return a->group < b->group ? -1 : 1;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    if (a->sub != b->sub) return a->sub < b->sub ? -1 : 1;
    return (a->span > b->span) - (a->span < b->span);
}

static void label(timeline_lane *l) {
    static const char *const GROUP[] = {"gpu", "synth", "keys", "stages", "other"};
    const char *name = GROUP[l->group];
    if (l->group == LANES_SYNTHESIS && l->id < 0)
        snprintf(l->label, sizeof l->label, "%s %u", name, (unsigned)l->sub);
    else if (l->id < 0 && l->sub == 0)
        snprintf(l->label, sizeof l->label, "%s", name);
    else if (l->id < 0)
        snprintf(l->label, sizeof l->label, "%s +%u", name, (unsigned)l->sub);
    else if (l->sub == 0)
        snprintf(l->label, sizeof l->label, "%s %d", name, (int)l->id);
    else
        snprintf(l->label, sizeof l->label, "%s %d +%u", name, (int)l->id, (unsigned)l->sub);
}

void timeline_lanes_release(timeline_lanes *l) {
    mem_free(l->lanes);
    mem_free(l->spans);
    *l = (timeline_lanes){0};
}

cuzk_status timeline_lanes_build(timeline_lanes *out, const timeline_analysis *a, unsigned which, cuzk_error *err) {
    *out = (timeline_lanes){0};
    const timeline_spans *s = &a->spans;
    // Devices without a run have an empty lane of their own.
    placed *p = mem_alloc(MEM_MISC, s->n_spans, sizeof *p);
    free_lane *heap = mem_alloc(MEM_MISC, s->n_spans + 1, sizeof *heap);
    out->spans = mem_alloc(MEM_MISC, s->n_spans, sizeof *out->spans);
    bool ok = p != NULL && heap != NULL && out->spans != NULL;
    size_t n = 0;
    for (uint32_t i = 0; ok && i < s->n_spans; i++) {
        p[n] = (placed){.span = i,
                        .unit = s->spans[i].unit,
                        .empty = s->spans[i].end_us == s->spans[i].start_us,
                        .start_us = s->spans[i].start_us};
        if (place(&p[n], a, &s->spans[i], which)) n++;
    }
    if (ok && n > 0) qsort(p, n, sizeof *p, by_group);
    size_t lanes_free = 0;
    for (size_t i = 0; ok && i < n; i++) {
        if (i == 0 || p[i].group != p[i - 1].group || p[i].id != p[i - 1].id) lanes_free = 0;
        const timeline_span *x = &s->spans[p[i].span];
        if (lanes_free > 0 && heap[0].over <= x->start_us) {
            p[i].sub = heap[0].sub;
            heap[0].over = x->end_us;
            sift_down(heap, lanes_free, 0);
        } else {
            p[i].sub = (uint32_t)lanes_free;
            heap[lanes_free] = (free_lane){x->end_us, (uint32_t)lanes_free};
            sift_up(heap, lanes_free++);
        }
    }
    if (ok && n > 0) qsort(p, n, sizeof *p, by_lane);
    size_t cap = 0, next_idle = 0;
    for (size_t i = 0; ok; i++) {
        // Idle devices in front of whatever comes behind them.
        while (next_idle < s->n_devices) {
            int32_t id = s->devices[next_idle].id;
            bool later = i < n && p[i].group == LANES_DEVICE && p[i].id < id;
            if (later) break;
            next_idle++;
            if (i < n && p[i].group == LANES_DEVICE && p[i].id == id) break;
            if (a->options.device >= 0 && id != a->options.device) continue;
            ok = pair_grow((void **)&out->lanes, &cap, out->n, sizeof *out->lanes);
            if (!ok) break;
            out->lanes[out->n] = (timeline_lane){.group = LANES_DEVICE, .id = id, .first = i};
            label(&out->lanes[out->n++]);
        }
        if (i == n || !ok) break;
        bool same = i > 0 && p[i].group == p[i - 1].group && p[i].id == p[i - 1].id && p[i].sub == p[i - 1].sub;
        if (!same) {
            ok = pair_grow((void **)&out->lanes, &cap, out->n, sizeof *out->lanes);
            if (!ok) break;
            out->lanes[out->n] = (timeline_lane){.group = p[i].group, .id = p[i].id, .sub = p[i].sub, .first = i};
            label(&out->lanes[out->n++]);
        }
        out->lanes[out->n - 1].n++;
        out->spans[i] = p[i].span;
    }
    mem_free(p);
    mem_free(heap);
    if (ok) return CUZK_OK;
    timeline_lanes_release(out);
    return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the lanes of %zu spans", s->n_spans);
}
