// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Why was a device idle? A gap is ended by a unit's device run. Walking back along that unit's life from the end of the
// gap, the first thing that could have been sooner is the cause:
//
//  * ready and not taken: a key load in progress, else unknown (the hand-over);
//  * synthesised and not yet sent: the channel was full;
//  * synthesis itself takes as long as it takes. The part of the gap that it covers is charged to what held the unit up
//    *before* its synthesis, as far back as the gap is long, because that is by how much an earlier start would have
//    shortened the gap:
//      - it waited for memory, or for a key;
//      - it was not offered yet, nobody else was waiting, and a synthesis worker was free: no job offered;
//      - it was not offered yet (or waited) and all workers were busy: synthesis not ready.
//
// So the third proof of two clients in a closed loop, synthesised all through the gap, is "no job offered" for as long
// as its worker had been idle before, and not "synthesis not ready".
//
// Without JOB_SUBMIT rows a unit counts as offered when its synthesis starts, and time with two or more units between
// synthesis and device counts as "channel full" instead of "no job offered": a worker that is blocked in sending looks
// free in such logs.
#include "timeline/gaps.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/pair.h"

const char *timeline_cause_name(timeline_cause c) {
    static const char *const NAME[TIMELINE_CAUSES] = {
        "no job offered", "synthesis not ready", "channel full", "memory", "key load", "drained", "unknown"};
    return (unsigned)c < TIMELINE_CAUSES ? NAME[c] : NAME[CAUSE_UNKNOWN];
}

// --- busy time ---

void timeline_busy_release(timeline_busy *b) {
    mem_free(b->from);
    mem_free(b->to);
    mem_free(b->first);
    mem_free(b->gap_of);
    mem_free(b->overlap);
    *b = (timeline_busy){0};
}

cuzk_status timeline_busy_of(timeline_busy *b, const timeline_spans *s, cuzk_error *err) {
    *b = (timeline_busy){.n_devices = s->n_devices};
    size_t runs = 0;
    for (size_t i = 0; i < s->n_spans; i++) runs += s->spans[i].kind == SPAN_GPU;
    b->from = mem_alloc(MEM_MISC, runs, sizeof *b->from);
    b->to = mem_alloc(MEM_MISC, runs, sizeof *b->to);
    b->first = mem_calloc(MEM_MISC, s->n_devices + 1, sizeof *b->first);
    b->gap_of = mem_alloc(MEM_MISC, s->n_units, sizeof *b->gap_of);
    b->overlap = mem_calloc(MEM_MISC, s->n_devices, sizeof *b->overlap);
    // Spans are sorted by start; a counting sort by device keeps that order.
    size_t *fill = mem_calloc(MEM_MISC, s->n_devices + 1, sizeof *fill);
    if (b->from == NULL || b->to == NULL || b->first == NULL || b->gap_of == NULL || b->overlap == NULL ||
        fill == NULL) {
        mem_free(fill);
        timeline_busy_release(b);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for %zu device runs", runs);
    }
    for (size_t i = 0; i < s->n_units; i++) b->gap_of[i] = TIMELINE_NONE;
    for (size_t i = 0; i < s->n_spans; i++)
        if (s->spans[i].kind == SPAN_GPU) fill[s->spans[i].device + 1]++;
    for (size_t d = 0; d < s->n_devices; d++) fill[d + 1] += fill[d];
    // fill[d]: where device d's intervals start; merged ones take less room, so they are packed afterwards.
    size_t *count = mem_calloc(MEM_MISC, s->n_devices + 1, sizeof *count);
    if (count == NULL) {
        mem_free(fill);
        timeline_busy_release(b);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for %zu devices", s->n_devices);
    }
    for (size_t i = 0; i < s->n_spans; i++) {
        const timeline_span *x = &s->spans[i];
        if (x->kind != SPAN_GPU) continue;
        size_t d = (size_t)x->device, base = fill[d], n = count[d];
        if (n > 0) {
            int64_t over = b->to[base + n - 1];
            int64_t gap = x->start_us - over;
            b->gap_of[x->unit] = gap > 0 ? gap : 0;
            if (gap <= 0) {
                int64_t until = x->end_us < over ? x->end_us : over;
                b->overlap[d] += until - x->start_us;
                if (x->end_us > over) b->to[base + n - 1] = x->end_us;
                continue;
            }
        }
        b->from[base + n] = x->start_us;
        b->to[base + n] = x->end_us;
        count[d]++;
    }
    for (size_t d = 0; d < s->n_devices; d++) {
        b->first[d] = b->n;
        memmove(b->from + b->n, b->from + fill[d], count[d] * sizeof *b->from);
        memmove(b->to + b->n, b->to + fill[d], count[d] * sizeof *b->to);
        b->n += count[d];
    }
    b->first[s->n_devices] = b->n;
    mem_free(fill);
    mem_free(count);
    return CUZK_OK;
}

int64_t timeline_busy_in(const timeline_busy *b, size_t device, int64_t from, int64_t to) {
    int64_t sum = 0;
    for (size_t i = b->first[device]; i < b->first[device + 1]; i++) {
        int64_t x = b->from[i] > from ? b->from[i] : from, y = b->to[i] < to ? b->to[i] : to;
        if (y > x) sum += y - x;
    }
    return sum;
}

// --- the state of the whole engine over time ---

// From `at` until the next step: how many units are in each condition.
typedef struct state {
    int64_t at;
    int32_t busy;    // synthesis workers at work or blocked in sending
    int32_t waiting; // offered, not yet in synthesis
    int32_t channel; // between the end of synthesis and the device
    int32_t memory;  // waiting for memory
    int32_t loads;   // key and PCE loads in progress
} state;

typedef struct states {
    state *s;
    size_t n, cap;
    int32_t workers; // synthesis workers that there are, as far as the log shows
    bool ok;
} states;

static void step(states *t, int64_t from, int64_t to, state d) {
    if (to <= from || !t->ok) return;
    if (!pair_grow((void **)&t->s, &t->cap, t->n, sizeof *t->s)) {
        t->ok = false;
        return;
    }
    t->s[t->n] = d;
    t->s[t->n++].at = from;
    if (!pair_grow((void **)&t->s, &t->cap, t->n, sizeof *t->s)) {
        t->ok = false;
        return;
    }
    t->s[t->n++] = (state){to, -d.busy, -d.waiting, -d.channel, -d.memory, -d.loads};
}

static int by_time(const void *a, const void *b) {
    int64_t x = ((const state *)a)->at, y = ((const state *)b)->at;
    return (x > y) - (x < y);
}

// Another attempt is offered when it begins: nobody knew of it before.
static int64_t offered_at(const int64_t *submit, const timeline_unit *u) {
    int64_t t = u->flags & UNIT_AGAIN ? TIMELINE_NONE : submit[u->job];
    return t != TIMELINE_NONE ? t : u->mem_from != TIMELINE_NONE ? u->mem_from : u->synth_start;
}

static void collect_states(states *t, const timeline_spans *s, const int64_t *submit) {
    *t = (states){.ok = true};
    int32_t named = 0;
    for (size_t i = 0; i < s->n_units; i++) {
        const timeline_unit *u = &s->units[i];
        if (u->synth_worker >= named) named = u->synth_worker + 1;
        if (u->synth_start == TIMELINE_NONE) continue;
        int64_t offered = offered_at(submit, u);
        int64_t end = timeline_unit_synth_end(u, s->to);
        int64_t sent = u->channel != TIMELINE_NONE && u->channel > end ? u->channel : end;
        int64_t taken = u->pickup != TIMELINE_NONE ? u->pickup : u->gpu_start != TIMELINE_NONE ? u->gpu_start : end;
        step(t, u->synth_start, sent, (state){.busy = 1});
        step(t, offered, u->synth_start, (state){.waiting = 1});
        step(t, end, taken, (state){.channel = 1});
    }
    for (size_t i = 0; i < s->n_spans; i++) {
        const timeline_span *x = &s->spans[i];
        if (x->kind == SPAN_SRS_LOAD || x->kind == SPAN_PCE) step(t, x->start_us, x->end_us, (state){.loads = 1});
        if (x->kind == SPAN_MEM_WAIT) step(t, x->start_us, x->end_us, (state){.memory = 1});
    }
    if (!t->ok) return;
    if (t->n > 0) qsort(t->s, t->n, sizeof *t->s, by_time);
    // Sums, one entry a time.
    size_t n = 0;
    state now = {0};
    for (size_t i = 0; i < t->n; i++) {
        now.busy += t->s[i].busy, now.waiting += t->s[i].waiting, now.channel += t->s[i].channel;
        now.memory += t->s[i].memory, now.loads += t->s[i].loads;
        now.at = t->s[i].at;
        if (n > 0 && t->s[n - 1].at == now.at) n--;
        t->s[n++] = now;
    }
    t->n = n;
    t->workers = named;
    for (size_t i = 0; i < n; i++)
        if (t->s[i].busy > t->workers) t->workers = t->s[i].busy;
}

// The last entry with at < time; -1 if none.
static ptrdiff_t before(const states *t, int64_t time) {
    size_t lo = 0, hi = t->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (t->s[mid].at < time)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (ptrdiff_t)lo - 1;
}

// --- causes ---

typedef struct judge {
    const timeline_spans *s;
    const states *t;
    const int64_t *submit; // by job name
} judge;

static void charge(timeline_gap *g, timeline_cause c, int64_t *left, int64_t us) {
    if (us > *left) us = *left;
    if (us <= 0) return;
    g->share[c] += us;
    *left -= us;
}

// What held the unit up at the moments of this state, before its synthesis began.
static timeline_cause held_up_by(const judge *j, const timeline_unit *u, const state *now, int64_t from,
                                 int64_t offered) {
    if (u->mem_from != TIMELINE_NONE && from < u->mem_to && from >= u->mem_from) return CAUSE_MEMORY;
    if (from >= offered) { // it waited
        if (now->loads > 0) return CAUSE_KEY_LOAD;
        if (now->busy >= j->t->workers) return CAUSE_SYNTHESIS;
        if (now->memory > 0) return CAUSE_MEMORY;
        return now->channel > 0 ? CAUSE_CHANNEL : CAUSE_UNKNOWN;
    }
    if (now->busy >= j->t->workers) return CAUSE_SYNTHESIS;
    if (now->waiting > 0) // others came first, and it was not the workers that held them up
        return now->memory > 0    ? CAUSE_MEMORY
               : now->loads > 0   ? CAUSE_KEY_LOAD
               : now->channel > 0 ? CAUSE_CHANNEL
                                  : CAUSE_SYNTHESIS;
    if (!j->s->has_submits && now->channel >= 2) return CAUSE_CHANNEL;
    return CAUSE_NO_JOB;
}

// Walks back from the start of synthesis for at most *left. Not only to where the workers were busy: a job that comes
// after a long silence puts its second partition behind its first, and the silence is still "no job offered".
static void charge_before_synthesis(timeline_gap *g, const judge *j, const timeline_unit *u, int64_t *left) {
    int64_t offered = offered_at(j->submit, u), at = u->synth_start;
    ptrdiff_t i = before(j->t, at);
    while (*left > 0 && at > j->s->from) {
        state now = {0};
        int64_t from = j->s->from;
        if (i >= 0) {
            now = j->t->s[i];
            if (now.at > from) from = now.at;
        }
        // The state is one over [from, at), but the unit's own life may change inside.
        if (offered > from && offered < at) from = offered;
        if (u->mem_from != TIMELINE_NONE) {
            if (u->mem_from > from && u->mem_from < at) from = u->mem_from;
            if (u->mem_to > from && u->mem_to < at) from = u->mem_to;
        }
        // A unit that is waiting is itself counted among the waiting ones; before it was offered it is not.
        timeline_cause c = held_up_by(j, u, &now, from, offered);
        charge(g, c, left, at - from);
        at = from;
        if (i >= 0 && j->t->s[i].at >= at) i--;
    }
    charge(g, CAUSE_SYNTHESIS, left, *left);
}

// Time of [from, to) in which a key was being loaded.
static int64_t load_time(const judge *j, int64_t from, int64_t to) {
    int64_t sum = 0;
    for (ptrdiff_t i = before(j->t, to); i >= 0; i--) {
        int64_t a = j->t->s[i].at > from ? j->t->s[i].at : from;
        int64_t b = (size_t)i + 1 < j->t->n && j->t->s[i + 1].at < to ? j->t->s[i + 1].at : to;
        if (j->t->s[i].loads > 0 && b > a) sum += b - a;
        if (j->t->s[i].at <= from) break;
    }
    return sum;
}

// A gap that a unit ended.
static void judge_unit(timeline_gap *g, const judge *j, const timeline_unit *u) {
    int64_t left = g->to_us - g->from_us;
    int64_t ready = timeline_unit_synth_end(u, g->to_us);
    if (ready > g->to_us) ready = g->to_us;
    int64_t sent = u->channel != TIMELINE_NONE && u->channel > ready ? u->channel : ready;
    if (sent > g->to_us) sent = g->to_us;
    if (u->synth_start == TIMELINE_NONE && u->channel == TIMELINE_NONE && u->synth_end == TIMELINE_NONE) {
        charge(g, CAUSE_KEY_LOAD, &left, load_time(j, g->from_us, g->to_us));
        charge(g, CAUSE_UNKNOWN, &left, left);
        return;
    }
    // Hand-over: ready for the device, not taken.
    int64_t from = sent > g->from_us ? sent : g->from_us;
    if (g->to_us > from) {
        int64_t loads = load_time(j, from, g->to_us);
        charge(g, CAUSE_KEY_LOAD, &left, loads);
        charge(g, CAUSE_UNKNOWN, &left, g->to_us - from - loads);
    }
    from = ready > g->from_us ? ready : g->from_us;
    if (sent > from) charge(g, CAUSE_CHANNEL, &left, sent - from);
    if (left == 0) return;
    if (u->synth_start == TIMELINE_NONE)
        charge(g, CAUSE_SYNTHESIS, &left, left);
    else
        charge_before_synthesis(g, j, u, &left);
}

// A gap that nothing ended: by what the engine was doing meanwhile.
static void judge_end(timeline_gap *g, const judge *j) {
    int64_t left = g->to_us - g->from_us, at = g->to_us;
    ptrdiff_t i = before(j->t, at);
    while (left > 0) {
        state now = {0};
        int64_t from = g->from_us;
        if (i >= 0) {
            now = j->t->s[i];
            if (now.at > from) from = now.at;
        }
        if (j->s->drain != TIMELINE_NONE && j->s->drain > from && j->s->drain < at) from = j->s->drain;
        bool drained = j->s->drain != TIMELINE_NONE && from >= j->s->drain;
        timeline_cause c = CAUSE_NO_JOB;
        if (drained && now.waiting == 0 && now.busy == 0)
            c = CAUSE_DRAINED;
        else if (now.loads > 0)
            c = CAUSE_KEY_LOAD;
        else if (now.channel > 0)
            c = CAUSE_UNKNOWN; // something was ready and this device did not take it
        else if (now.memory > 0)
            c = CAUSE_MEMORY;
        else if (now.busy >= j->t->workers && now.busy > 0)
            c = CAUSE_SYNTHESIS;
        else if (now.waiting > 0)
            c = CAUSE_UNKNOWN;
        charge(g, c, &left, at - from);
        at = from;
        if (i >= 0 && j->t->s[i].at >= at) i--;
        if (at <= g->from_us) break;
    }
    charge(g, CAUSE_UNKNOWN, &left, left);
}

static void name_cause(timeline_gap *g) {
    g->cause = CAUSE_NO_JOB;
    for (int c = 1; c < TIMELINE_CAUSES; c++)
        if (g->share[c] > g->share[g->cause]) g->cause = (timeline_cause)c;
}

typedef struct gap_list {
    timeline_gap *g;
    size_t n, cap;
} gap_list;

static timeline_gap *new_gap(gap_list *l, int32_t device, int64_t from, int64_t to) {
    if (!pair_grow((void **)&l->g, &l->cap, l->n, sizeof *l->g)) return NULL;
    timeline_gap *g = &l->g[l->n++];
    *g = (timeline_gap){.device = device, .from_us = from, .to_us = to, .job = TIMELINE_NO_NAME, .partition = -1};
    return g;
}

static bool gaps_of_device(gap_list *l, const judge *j, const timeline_busy *busy, int32_t device,
                           const uint32_t *unit_at) {
    const timeline_spans *s = j->s;
    int64_t over = s->from;
    for (size_t i = busy->first[device]; i < busy->first[device + 1]; i++) {
        if (busy->from[i] > over) {
            timeline_gap *g = new_gap(l, device, over, busy->from[i]);
            if (g == NULL) return false;
            const timeline_unit *u = &s->units[unit_at[i]];
            g->job = u->job;
            g->partition = u->partition;
            g->first = i == busy->first[device];
            judge_unit(g, j, u);
            name_cause(g);
        }
        over = busy->to[i];
    }
    if (s->to > over) {
        timeline_gap *g = new_gap(l, device, over, s->to);
        if (g == NULL) return false;
        g->first = busy->first[device] == busy->first[device + 1];
        judge_end(g, j);
        name_cause(g);
    }
    return true;
}

// By busy interval: the unit that began it.
static uint32_t *units_of_intervals(const timeline_spans *s, const timeline_busy *busy) {
    uint32_t *unit = mem_alloc(MEM_MISC, busy->n, sizeof *unit);
    size_t *next = mem_alloc(MEM_MISC, s->n_devices, sizeof *next);
    if (unit == NULL || next == NULL) {
        mem_free(unit);
        mem_free(next);
        return NULL;
    }
    for (size_t d = 0; d < s->n_devices; d++) next[d] = busy->first[d];
    for (size_t i = 0; i < s->n_spans; i++) {
        const timeline_span *x = &s->spans[i];
        if (x->kind != SPAN_GPU) continue;
        size_t *k = &next[x->device];
        // The first span of an interval has its start; spans come by start.
        if (*k < busy->first[x->device + 1] && busy->from[*k] == x->start_us) unit[(*k)++] = x->unit;
    }
    mem_free(next);
    return unit;
}

cuzk_status timeline_gaps_find(timeline_gap **out, size_t *n, const timeline_spans *s, const timeline_busy *busy,
                               int32_t device, cuzk_error *err) {
    uint32_t names = 0;
    for (size_t i = 0; i < s->n_jobs; i++)
        if (s->jobs[i].name >= names) names = s->jobs[i].name + 1;
    int64_t *submit = mem_alloc(MEM_MISC, names, sizeof *submit);
    uint32_t *unit_at = units_of_intervals(s, busy);
    states t = {0};
    gap_list l = {0};
    bool ok = submit != NULL && unit_at != NULL;
    if (ok) {
        for (uint32_t i = 0; i < names; i++) submit[i] = TIMELINE_NONE;
        for (size_t i = 0; i < s->n_jobs; i++) submit[s->jobs[i].name] = s->jobs[i].submit;
        collect_states(&t, s, submit);
        ok = t.ok;
    }
    judge j = {s, &t, submit};
    for (size_t d = 0; ok && d < s->n_devices; d++)
        if (device < 0 || (size_t)device == d) ok = gaps_of_device(&l, &j, busy, (int32_t)d, unit_at);
    mem_free(t.s);
    mem_free(submit);
    mem_free(unit_at);
    if (!ok) {
        mem_free(l.g);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the gaps of %zu devices", s->n_devices);
    }
    *out = l.g;
    *n = l.n;
    return CUZK_OK;
}
