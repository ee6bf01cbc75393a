// SPDX-License-Identifier: MIT OR Apache-2.0
#include "timeline/runs.h"

#include <string.h>

#include "base/mem.h"

typedef struct finder {
    const timeline_log *log;
    bool orderly;
    bool grouped; // by job
    // By job name.
    uint32_t *last;    // index of its last row
    uint32_t *seen;    // kinds it had in the current run, one bit each
    uint32_t *seen_in; // the run that `seen` is about, + 1
    timeline_run *runs;
    size_t n_runs, cap_runs;
} finder;

_Static_assert(TL_KINDS < 32, "kinds fit a mask");

static bool clearly_before(int64_t t, int64_t latest) { return t < latest - latest / 100 && t < latest; }
static bool near_start(int64_t t, int64_t latest) { return t <= latest / 10 && t < latest; }

static bool is_orderly(const timeline_log *log) {
    size_t steps = 0;
    int64_t latest = 0; // since the last step to the start
    for (size_t i = 1; i < log->n; i++) {
        int64_t t = log->events[i].at_us, before = log->events[i - 1].at_us;
        if (before > latest) latest = before;
        if (near_start(t, latest))
            latest = t;
        else if (clearly_before(t, before))
            steps++;
    }
    return steps * 20 <= log->n;
}

static bool begins_run(const finder *f, size_t i, size_t first, int64_t latest, uint32_t reach, const timeline_run *run,
                       bool had_epoch) {
    const timeline_event *e = &f->log->events[i];
    bool more = i + 1 < f->log->n;
    bool next_back = more && f->log->events[i + 1].at_us < latest;
    bool disjoint = reach < i || reach == UINT32_MAX;
    if (i == first) return false;
    if (e->kind == TL_EPOCH) {
        if (e->name != TIMELINE_NO_NAME && e->name == run->wall) return false;
        if (!run->has_jobs && !had_epoch) return false; // only ordinary rows before it: its own run
        return (disjoint && (more || f->orderly)) || (f->orderly && (next_back || had_epoch));
    }
    if (!next_back) return false;
    bool start = near_start(e->at_us, latest);
    if (!f->grouped && disjoint && e->job != TIMELINE_NO_NAME && run->has_jobs && clearly_before(e->at_us, latest) &&
        (start || latest - e->at_us > 1000000))
        return true;
    return f->orderly && start && e->job != TIMELINE_NO_NAME && f->seen_in[e->job] == f->n_runs + 1 &&
           (f->seen[e->job] >> e->kind & 1) != 0;
}

// Rows sorted by job, as `sort` or a person would leave them.
static bool is_grouped(const finder *f) {
    size_t steps = 0, to_start = 0, jobs = 0;
    int64_t latest = 0;
    uint32_t reach = 0;
    bool any = false;
    for (size_t i = 0; i < f->log->n; i++) {
        const timeline_event *e = &f->log->events[i];
        if (e->job == TIMELINE_NO_NAME) continue;
        if (any && reach < i && clearly_before(e->at_us, latest)) {
            steps++;
            to_start += near_start(e->at_us, latest);
            latest = 0;
        }
        if (f->last[e->job] == i) jobs++;
        if (!any || f->last[e->job] > reach) reach = f->last[e->job];
        any = true;
        if (e->at_us > latest) latest = e->at_us;
    }
    return steps > to_start && 2 * steps >= jobs;
}

static bool push_run(finder *f, const timeline_run *run) {
    if (f->n_runs == f->cap_runs) {
        size_t cap = f->cap_runs == 0 ? 16 : f->cap_runs * 2;
        timeline_run *runs = mem_alloc(MEM_MISC, cap, sizeof *runs);
        if (runs == NULL) return false;
        if (f->n_runs > 0) memcpy(runs, f->runs, f->n_runs * sizeof *runs);
        mem_free(f->runs);
        f->runs = runs;
        f->cap_runs = cap;
    }
    f->runs[f->n_runs++] = *run;
    return true;
}

static bool split(finder *f) {
    const timeline_log *log = f->log;
    for (size_t i = 0; i < log->n; i++)
        if (log->events[i].job != TIMELINE_NO_NAME) f->last[log->events[i].job] = (uint32_t)i;
    f->grouped = is_grouped(f);
    timeline_run run = {.wall = TIMELINE_NO_NAME};
    int64_t latest = 0;
    uint32_t reach = UINT32_MAX; // last row of any job of this run so far; UINT32_MAX: no job yet
    bool had_epoch = false;
    for (size_t i = 0; i < log->n; i++) {
        const timeline_event *e = &log->events[i];
        if (begins_run(f, i, run.first, latest, reach, &run, had_epoch)) {
            run.count = (uint32_t)i - run.first;
            if (!push_run(f, &run)) return false;
            run = (timeline_run){.first = (uint32_t)i, .wall = TIMELINE_NO_NAME};
            latest = 0;
            reach = UINT32_MAX;
            had_epoch = false;
        }
        if (e->kind == TL_EPOCH) {
            had_epoch = true;
            if (run.wall == TIMELINE_NO_NAME) run.wall = e->name;
        }
        if (e->at_us < latest) run.disordered++;
        if (e->at_us > latest) latest = e->at_us;
        if (e->job != TIMELINE_NO_NAME) {
            run.has_jobs = true;
            if (reach == UINT32_MAX || f->last[e->job] > reach) reach = f->last[e->job];
            if (f->seen_in[e->job] != f->n_runs + 1) f->seen[e->job] = 0;
            f->seen_in[e->job] = (uint32_t)f->n_runs + 1;
            f->seen[e->job] |= 1u << e->kind;
        }
    }
    run.count = (uint32_t)log->n - run.first;
    return log->n == 0 || push_run(f, &run);
}

// Stable merge sort of order[0..n), bottom up.
static void sort_run(uint32_t *order, uint32_t *spare, size_t n, const timeline_event *events) {
    for (size_t width = 1; width < n; width *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * width) {
            size_t mid = lo + width < n ? lo + width : n, hi = lo + 2 * width < n ? lo + 2 * width : n;
            size_t a = lo, b = mid, k = lo;
            while (a < mid || b < hi) {
                bool left = b == hi;
                if (a < mid && b < hi) {
                    const timeline_event *x = &events[order[a]], *y = &events[order[b]];
                    left = x->at_us != y->at_us ? x->at_us < y->at_us : x->kind <= y->kind;
                }
                spare[k++] = left ? order[a++] : order[b++];
            }
        }
        memcpy(order, spare, n * sizeof *order);
    }
}

cuzk_status timeline_runs_find(timeline_run **runs, size_t *n_runs, uint32_t **order, const timeline_log *log,
                               cuzk_error *err) {
    size_t jobs = log->names.n;
    finder f = {.log = log, .orderly = is_orderly(log)};
    f.last = mem_calloc(MEM_MISC, jobs, sizeof *f.last);
    f.seen = mem_calloc(MEM_MISC, jobs, sizeof *f.seen);
    f.seen_in = mem_calloc(MEM_MISC, jobs, sizeof *f.seen_in);
    uint32_t *index = mem_alloc(MEM_MISC, log->n, sizeof *index);
    uint32_t *spare = NULL;
    bool ok = f.last != NULL && f.seen != NULL && f.seen_in != NULL && index != NULL && split(&f);
    if (ok) {
        for (size_t i = 0; i < log->n; i++) index[i] = (uint32_t)i;
        for (size_t r = 0; ok && r < f.n_runs; r++) {
            if (f.runs[r].disordered == 0) continue;
            if (spare == NULL) spare = mem_alloc(MEM_MISC, log->n, sizeof *spare);
            ok = spare != NULL;
            if (ok) sort_run(index + f.runs[r].first, spare, f.runs[r].count, log->events);
        }
    }
    mem_free(f.last);
    mem_free(f.seen);
    mem_free(f.seen_in);
    mem_free(spare);
    if (!ok) {
        mem_free(f.runs);
        mem_free(index);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory to sort %zu timeline events", log->n);
    }
    *runs = f.runs;
    *n_runs = f.n_runs;
    *order = index;
    return CUZK_OK;
}
