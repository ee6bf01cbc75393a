// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The Chrome trace format (JSON object form), as Perfetto and chrome://tracing read it. Viewers stack the slices of a
// thread and hide or mangle those that overlap without nesting, so every sequence of spans that do not overlap is a
// thread of its own. Stages stand in the thread of the device run they are in, when they nest there; else in threads of
// their own. Times are whole microseconds; slices are written by start, the longer first.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/lanes.h"
#include "timeline/render.h"

enum { PID_DEVICES = 1, PID_SYNTHESIS, PID_KEYS, PID_STAGES, PID_OTHER, DEPTH = 16 };

static int pid_of(timeline_lane_group g) { return PID_DEVICES + (int)g; }

static void meta(timeline_text *t, const char *what, int pid, uint32_t tid, const char *name) {
    text_put_f(t, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%" PRIu32 ",\"args\":{\"name\":", what, pid, tid);
    text_json_string(t, name);
    text_put(t, "}},\n");
}

static const char *span_word(const timeline_span *x) {
    static const char *const WORD[SPAN_KINDS] = {"synthesis", "channel", "gpu",    "stage",
                                                 "key load",  "pce",     "verify", "memory wait"};
    return WORD[x->kind];
}

static void slice(timeline_text *t, const timeline_analysis *a, const timeline_span *x, int pid, uint32_t tid) {
    text_put(t, "{\"ph\":\"X\",\"cat\":\"");
    text_put(t, span_word(x));
    text_put(t, "\",\"name\":");
    char name[2 * 3 * TIMELINE_NAME_MAX + 64];
    const char *job = timeline_job_name(a, x->job), *word = timeline_name(&a->log->names, x->name);
    if (x->kind == SPAN_STAGE || x->kind == SPAN_SRS_LOAD || x->kind == SPAN_PCE)
        snprintf(name, sizeof name, "%s", word[0] != 0 ? word : span_word(x));
    else if (x->partition >= 0)
        snprintf(name, sizeof name, "%s #%" PRId32, job, x->partition);
    else
        snprintf(name, sizeof name, "%s", job);
    text_json_string(t, name);
    text_put_f(t, ",\"pid\":%d,\"tid\":%" PRIu32 ",\"ts\":%" PRId64 ",\"dur\":%" PRId64 ",\"args\":{\"job\":", pid, tid,
               x->start_us, x->end_us - x->start_us);
    text_json_string(t, job);
    if (x->partition >= 0) text_put_f(t, ",\"partition\":%" PRId32, x->partition);
    if (x->worker >= 0) text_put_f(t, ",\"worker\":%" PRId32, x->worker);
    if (x->flags & SPAN_NO_END) text_put(t, ",\"no_end\":true");
    if (x->flags & SPAN_NO_START) text_put(t, ",\"no_start\":true");
    text_put(t, "}},\n");
}

// A slice and its thread.
typedef struct entry {
    uint32_t span, tid;
    int pid;
} entry;

typedef struct stage_list {
    const timeline_analysis *a;
    entry *entries;
    size_t n;
    uint32_t *inside; // by span: stages assigned to a run's thread + 1
} stage_list;

// Puts the stages of a device's run into its thread: each stage goes to the run of its job and device that holds it, if
// it nests with the stages already there.
static void add_stages(stage_list *l, const timeline_lanes *lanes) {
    const timeline_span *spans = l->a->spans.spans;
    const timeline_lane *stages = NULL;
    // Runs by lane are sorted by start and do not overlap, so a binary search finds the one at a time.
    for (size_t s = 0; s < lanes->n; s++) {
        stages = &lanes->lanes[s];
        if (stages->group != LANES_STAGES) continue;
        for (size_t k = 0; k < stages->n; k++) {
            uint32_t at = lanes->spans[stages->first + k];
            const timeline_span *x = &spans[at];
            for (size_t d = 0; d < lanes->n && l->inside[at] == 0; d++) {
                const timeline_lane *runs = &lanes->lanes[d];
                if (runs->group != LANES_DEVICE || runs->id != stages->id || runs->n == 0) continue;
                size_t lo = 0, hi = runs->n;
                while (lo < hi) {
                    size_t mid = (lo + hi) / 2;
                    if (spans[lanes->spans[runs->first + mid]].start_us <= x->start_us)
                        lo = mid + 1;
                    else
                        hi = mid;
                }
                if (lo == 0) continue;
                const timeline_span *run = &spans[lanes->spans[runs->first + lo - 1]];
                bool own = run->job == x->job && (x->worker < 0 || run->worker < 0 || x->worker == run->worker) &&
                           (x->partition < 0 || run->partition < 0 || x->partition == run->partition);
                if (own && x->end_us <= run->end_us) l->inside[at] = (uint32_t)d + 1;
            }
        }
    }
}

static int by_order(const void *x, const void *y) {
    const entry *a = x, *b = y;
    if (a->pid != b->pid) return a->pid - b->pid;
    if (a->tid != b->tid) return a->tid < b->tid ? -1 : 1;
    return (a->span > b->span) - (a->span < b->span); // spans are by start, longer first, runs before their stages
}

// Within one thread, in order: what does not nest leaves for a thread of its own.
static size_t part_misfits(entry *e, size_t n, entry *misfits, const timeline_span *spans) {
    size_t kept = 0, out = 0;
    int64_t ends[DEPTH];
    size_t depth = 0;
    for (size_t i = 0; i < n; i++) {
        const timeline_span *x = &spans[e[i].span];
        bool new_thread = i == 0 || e[i].pid != e[i - 1].pid || e[i].tid != e[i - 1].tid;
        if (new_thread) depth = 0;
        while (depth > 0 && ends[depth - 1] <= x->start_us) depth--;
        bool fits = depth == 0 || (x->end_us <= ends[depth - 1] && depth < DEPTH);
        if (fits || x->kind != SPAN_STAGE) {
            if (depth < DEPTH) ends[depth++] = x->end_us;
            // A later entry compares with e[i - 1], so thread borders must stay readable: copy after reading.
            e[kept++] = e[i];
        } else {
            misfits[out++] = e[i];
        }
    }
    return kept;
}

static void put_threads(timeline_text *t, const timeline_lanes *lanes) {
    static const char *const NAME[] = {"devices", "synthesis", "keys", "stages apart", "verification, memory"};
    bool named[5] = {false};
    for (size_t i = 0; i < lanes->n; i++) {
        const timeline_lane *l = &lanes->lanes[i];
        if (!named[l->group]) meta(t, "process_name", pid_of(l->group), 0, NAME[l->group]);
        named[l->group] = true;
        meta(t, "thread_name", pid_of(l->group), (uint32_t)i + 1, l->label);
    }
}

cuzk_status timeline_render_trace(timeline_text *t, const timeline_analysis *a, cuzk_error *err) {
    timeline_lanes lanes;
    cuzk_status s = timeline_lanes_build(&lanes, a, LANES_ALL | LANES_WITH_STAGES, err);
    if (s != CUZK_OK) return s;
    size_t n_spans = a->spans.n_spans;
    stage_list l = {.a = a};
    l.entries = mem_alloc(MEM_MISC, n_spans, sizeof *l.entries);
    l.inside = mem_calloc(MEM_MISC, n_spans, sizeof *l.inside);
    entry *misfits = mem_alloc(MEM_MISC, n_spans, sizeof *misfits);
    if (l.entries == NULL || l.inside == NULL || misfits == NULL) {
        mem_free(l.entries);
        mem_free(l.inside);
        mem_free(misfits);
        timeline_lanes_release(&lanes);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a trace of %zu spans", n_spans);
    }
    add_stages(&l, &lanes);
    for (size_t i = 0; i < lanes.n; i++)
        for (size_t k = 0; k < lanes.lanes[i].n; k++) {
            uint32_t at = lanes.spans[lanes.lanes[i].first + k];
            uint32_t home = l.inside[at];
            l.entries[l.n++] =
                home != 0 ? (entry){at, home, PID_DEVICES} : (entry){at, (uint32_t)i + 1, pid_of(lanes.lanes[i].group)};
        }
    if (l.n > 0) qsort(l.entries, l.n, sizeof *l.entries, by_order);
    size_t kept = part_misfits(l.entries, l.n, misfits, a->spans.spans);
    // The lanes of stages do not overlap: a stage that does not nest goes back to its own.
    for (size_t i = 0; i < lanes.n && kept < l.n; i++) {
        if (lanes.lanes[i].group != LANES_STAGES) continue;
        for (size_t k = 0; k < lanes.lanes[i].n; k++) {
            uint32_t at = lanes.spans[lanes.lanes[i].first + k];
            if (l.inside[at] != 0) l.inside[at] = (uint32_t)i + 1 + (uint32_t)lanes.n; // its own lane, marked
        }
    }
    size_t out = l.n - kept;
    for (size_t i = 0; i < out; i++) {
        misfits[i].pid = PID_STAGES;
        misfits[i].tid = l.inside[misfits[i].span] - (uint32_t)lanes.n;
        l.entries[kept + i] = misfits[i];
    }
    text_put(t, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n");
    put_threads(t, &lanes);
    if (l.n > 0) qsort(l.entries, l.n, sizeof *l.entries, by_order);
    for (size_t i = 0; i < l.n; i++)
        slice(t, a, &a->spans.spans[l.entries[i].span], l.entries[i].pid, l.entries[i].tid);
    // The list ends with something that has no comma: the window itself.
    text_put_f(t,
               "{\"ph\":\"M\",\"name\":\"trace_config\",\"pid\":%d,\"tid\":0,\"args\":{\"window_us\":[%" PRId64
               ",%" PRId64 "]}}\n]}\n",
               PID_DEVICES, a->from, a->to);
    mem_free(l.entries);
    mem_free(l.inside);
    mem_free(misfits);
    timeline_lanes_release(&lanes);
    return CUZK_OK;
}
