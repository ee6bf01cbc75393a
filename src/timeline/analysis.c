// SPDX-License-Identifier: MIT OR Apache-2.0
#include "timeline/analysis.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/gaps.h"
#include "timeline/pair.h"
#include "timeline/runs.h"

const char *timeline_job_name(const timeline_analysis *a, uint32_t job) { return timeline_name(&a->log->names, job); }

void timeline_analysis_destroy(timeline_analysis **out) {
    if (out == NULL || *out == NULL) return;
    timeline_analysis *a = *out;
    timeline_spans_release(&a->spans);
    if (a->proofs != a->rows) mem_free(a->proofs);
    mem_free(a->rows);
    mem_free(a->gaps);
    mem_free(a->devices);
    mem_free(a->stages);
    mem_free(a);
    *out = NULL;
}

static void warn(timeline_analysis *a, const char *fmt, ...) CUZK_PRINTF(2, 3);
static void warn(timeline_analysis *a, const char *fmt, ...) {
    if (a->n_warnings == TIMELINE_WARNINGS) return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(a->warnings[a->n_warnings], TIMELINE_WARNING_MAX, fmt, ap);
    va_end(ap);
    a->n_warnings++;
}

// --- rows ---

static int64_t earlier(int64_t a, int64_t b) { return a == TIMELINE_NONE || (b != TIMELINE_NONE && b < a) ? b : a; }
static int64_t later(int64_t a, int64_t b) { return b != TIMELINE_NONE && (a == TIMELINE_NONE || b > a) ? b : a; }

// Union of intervals that come sorted by start: add one after the other.
typedef struct sweep {
    int64_t over, sum;
} sweep;

static void sweep_add(sweep *w, int64_t from, int64_t to) {
    if (w->over == TIMELINE_NONE || from > w->over) {
        w->sum += to - from;
        w->over = to;
    } else if (to > w->over) {
        w->sum += to - w->over;
        w->over = to;
    }
}

static timeline_row row_of_unit(const timeline_analysis *a, const timeline_unit *u, const timeline_busy *busy,
                                size_t at) {
    (void)a;
    timeline_row r = {.job = u->job,
                      .partition = u->partition,
                      .count = u->count,
                      .device = u->gpu,
                      .submit = TIMELINE_NONE,
                      .synth_start = u->synth_start,
                      .synth_end = u->synth_end,
                      .synth_us = TIMELINE_NONE,
                      .gpu_start = u->gpu_start,
                      .gpu_end = u->gpu_end,
                      .gpu_us = TIMELINE_NONE,
                      .gap_us = busy->gap_of[at],
                      .units = 1};
    if (u->synth_start != TIMELINE_NONE && u->synth_end != TIMELINE_NONE) r.synth_us = u->synth_end - u->synth_start;
    if (u->gpu_start != TIMELINE_NONE && u->gpu_end != TIMELINE_NONE) r.gpu_us = u->gpu_end - u->gpu_start;
    r.done = u->gpu_end != TIMELINE_NONE;
    return r;
}

// A job's row: from its first to its last unit; the lengths are the unions of its intervals, the gap is the one before
// its first device run. An end that is missing for one unit is missing for the job.
typedef struct row_build {
    timeline_row row;
    sweep synth, gpu;
    bool synth_open, gpu_open, any_open;
} row_build;

static void add_unit(row_build *b, const timeline_unit *u, const timeline_busy *busy, size_t at) {
    timeline_row *r = &b->row;
    r->units++;
    if (u->count > 0) r->count = (r->count < 0 ? 0 : r->count) + u->count;
    r->synth_start = earlier(r->synth_start, u->synth_start);
    r->synth_end = later(r->synth_end, u->synth_end);
    if (u->synth_start != TIMELINE_NONE && u->synth_end == TIMELINE_NONE) b->synth_open = true;
    if (u->gpu_start != TIMELINE_NONE && (r->gpu_start == TIMELINE_NONE || u->gpu_start < r->gpu_start)) {
        r->gpu_start = u->gpu_start;
        r->gap_us = busy->gap_of[at];
        r->device = u->gpu;
    }
    if (r->device < 0) r->device = u->gpu;
    r->gpu_end = later(r->gpu_end, u->gpu_end);
    if (u->gpu_start != TIMELINE_NONE && u->gpu_end == TIMELINE_NONE) b->gpu_open = true;
    // Still before the device: the job is not done.
    if (u->gpu_start == TIMELINE_NONE && u->gpu_end == TIMELINE_NONE) b->any_open = true;
}

static int by_gpu_start(const void *x, const void *y) {
    const timeline_row *a = x, *b = y;
    int64_t s = a->gpu_start != TIMELINE_NONE ? a->gpu_start : INT64_MAX;
    int64_t t = b->gpu_start != TIMELINE_NONE ? b->gpu_start : INT64_MAX;
    if (s != t) return s < t ? -1 : 1;
    s = a->synth_start != TIMELINE_NONE ? a->synth_start : INT64_MAX;
    t = b->synth_start != TIMELINE_NONE ? b->synth_start : INT64_MAX;
    if (s != t) return s < t ? -1 : 1;
    if (a->job != b->job) return a->job < b->job ? -1 : 1;
    return (a->partition > b->partition) - (a->partition < b->partition);
}

static bool has_work(const timeline_unit *u) {
    return u->synth_start != TIMELINE_NONE || u->synth_end != TIMELINE_NONE || u->gpu_start != TIMELINE_NONE ||
           u->gpu_end != TIMELINE_NONE;
}

static bool make_unit_rows(timeline_analysis *a, const timeline_busy *busy, int32_t device) {
    const timeline_spans *s = &a->spans;
    a->rows = mem_alloc(MEM_MISC, s->n_units, sizeof *a->rows);
    if (a->rows == NULL) return false;
    for (size_t i = 0; i < s->n_units; i++)
        if (has_work(&s->units[i]) && (device < 0 || s->units[i].gpu == device))
            a->rows[a->n_rows++] = row_of_unit(a, &s->units[i], busy, i);
    qsort(a->rows, a->n_rows, sizeof *a->rows, by_gpu_start);
    return true;
}

static bool make_proof_rows(timeline_analysis *a, const timeline_busy *busy, int32_t device) {
    const timeline_spans *s = &a->spans;
    row_build *build = mem_alloc(MEM_MISC, s->n_jobs, sizeof *build);
    uint32_t *job_at = mem_alloc(MEM_MISC, a->log->names.n, sizeof *job_at);
    a->proofs = mem_alloc(MEM_MISC, s->n_jobs, sizeof *a->proofs);
    if (build == NULL || job_at == NULL || a->proofs == NULL) {
        mem_free(build);
        mem_free(job_at);
        return false;
    }
    for (uint32_t i = 0; i < s->n_jobs; i++) {
        job_at[s->jobs[i].name] = i;
        build[i] = (row_build){.row = {.job = s->jobs[i].name,
                                       .partition = -1,
                                       .count = -1,
                                       .device = -1,
                                       .submit = s->jobs[i].submit,
                                       .synth_start = TIMELINE_NONE,
                                       .synth_end = TIMELINE_NONE,
                                       .synth_us = TIMELINE_NONE,
                                       .gpu_start = TIMELINE_NONE,
                                       .gpu_end = TIMELINE_NONE,
                                       .gpu_us = TIMELINE_NONE,
                                       .gap_us = TIMELINE_NONE},
                               .synth = {TIMELINE_NONE, 0},
                               .gpu = {TIMELINE_NONE, 0}};
    }
    for (size_t i = 0; i < s->n_units; i++)
        if (has_work(&s->units[i]) && (device < 0 || s->units[i].gpu == device))
            add_unit(&build[job_at[s->units[i].job]], &s->units[i], busy, i);
    for (size_t i = 0; i < s->n_spans; i++) { // by start, as the sweeps want it
        const timeline_span *x = &s->spans[i];
        if (x->unit == TIMELINE_NO_INDEX || (x->flags & SPAN_NO_END) != 0) continue;
        if (device >= 0 && s->units[x->unit].gpu != device) continue;
        row_build *b = &build[job_at[x->job]];
        if (x->kind == SPAN_SYNTH) sweep_add(&b->synth, x->start_us, x->end_us);
        if (x->kind == SPAN_GPU) sweep_add(&b->gpu, x->start_us, x->end_us);
    }
    for (size_t i = 0; i < s->n_jobs; i++) {
        row_build *b = &build[i];
        timeline_row *r = &b->row;
        if (r->units == 0) continue;
        if (b->synth_open) r->synth_end = TIMELINE_NONE;
        if (b->gpu_open) r->gpu_end = TIMELINE_NONE;
        if (r->synth_start != TIMELINE_NONE && r->synth_end != TIMELINE_NONE) r->synth_us = b->synth.sum;
        if (r->gpu_start != TIMELINE_NONE && r->gpu_end != TIMELINE_NONE) r->gpu_us = b->gpu.sum;
        const timeline_job *j = &s->jobs[i];
        bool failed = j->end_kind == TL_JOB_FAIL || j->end_kind == TL_JOB_CANCEL;
        r->done = r->gpu_end != TIMELINE_NONE && !failed && (!b->any_open || j->end_kind == TL_JOB_DONE);
        a->proofs[a->n_proofs++] = *r;
    }
    mem_free(build);
    mem_free(job_at);
    qsort(a->proofs, a->n_proofs, sizeof *a->proofs, by_gpu_start);
    return true;
}

// --- cold and steady ---

// How many proofs, by GPU start, belong to the warm-up. Auto: those whose work began before the loads of keys and PCEs
// ended that started before the first proof was done; at least the first one, which fills the pipeline.
static size_t count_cold(const timeline_analysis *a) {
    if (a->options.warmup >= 0)
        return (uint64_t)a->options.warmup < a->n_proofs ? (size_t)a->options.warmup : a->n_proofs;
    int64_t first_end = TIMELINE_NONE;
    for (size_t i = 0; i < a->n_proofs; i++) first_end = earlier(first_end, a->proofs[i].gpu_end);
    int64_t loads_end = TIMELINE_NONE;
    for (size_t i = 0; i < a->spans.n_spans; i++) {
        const timeline_span *x = &a->spans.spans[i];
        if (x->kind != SPAN_SRS_LOAD && x->kind != SPAN_PCE) continue;
        if (first_end == TIMELINE_NONE || x->start_us <= first_end) loads_end = later(loads_end, x->end_us);
    }
    size_t n = a->n_proofs > 0;
    for (size_t i = 0; loads_end != TIMELINE_NONE && i < a->n_proofs; i++) {
        const timeline_row *r = &a->proofs[i];
        int64_t begin = r->synth_start != TIMELINE_NONE ? r->synth_start : r->gpu_start;
        if (begin != TIMELINE_NONE && begin < loads_end && i + 1 > n) n = i + 1;
    }
    return n;
}

typedef struct mean {
    double sum;
    uint32_t n;
} mean;
static void mean_add(mean *m, int64_t v) {
    if (v == TIMELINE_NONE) return;
    m->sum += (double)v;
    m->n++;
}
static double mean_of(const mean *m) { return m->n == 0 ? -1 : m->sum / m->n; }

// which: -1 all rows, 0 the steady ones, 1 the cold ones.
static void summarise(timeline_summary *out, const timeline_analysis *a, const timeline_busy *busy, int64_t from,
                      int64_t to, int which) {
    *out = (timeline_summary){.present = true,
                              .from_us = from,
                              .to_us = to,
                              .wall_us = to - from,
                              .devices = (uint32_t)a->n_devices,
                              .seconds_per_proof = -1,
                              .proofs_per_minute = -1};
    for (size_t d = 0; d < busy->n_devices; d++)
        if (a->options.device < 0 || a->spans.devices[d].id == a->options.device)
            out->gpu_active_us += timeline_busy_in(busy, d, from, to);
    int64_t room = out->wall_us * (int64_t)a->n_devices;
    out->gpu_idle_us = room - out->gpu_active_us;
    if (room > 0) out->utilization_pct = 100.0 * (double)out->gpu_active_us / (double)room;
    mean synth = {0}, gpu = {0}, gap = {0};
    for (size_t i = 0; i < a->n_rows; i++) {
        const timeline_row *r = &a->rows[i];
        if (which >= 0 && r->cold != (which == 1)) continue;
        out->rows++;
        mean_add(&synth, r->synth_us);
        mean_add(&gpu, r->gpu_us);
        mean_add(&gap, r->gap_us);
    }
    out->avg_synth_us = mean_of(&synth);
    out->avg_gpu_us = mean_of(&gpu);
    out->avg_gap_us = mean_of(&gap);
    for (size_t i = 0; i < a->n_proofs; i++)
        if (a->proofs[i].done && (which < 0 || a->proofs[i].cold == (which == 1))) out->proofs++;
    if (out->proofs > 0 && out->wall_us > 0) {
        out->seconds_per_proof = (double)out->wall_us / 1e6 / out->proofs;
        out->proofs_per_minute = 60 / out->seconds_per_proof;
    }
}

static bool mark_cold(timeline_analysis *a, size_t cold) {
    bool *is_cold = mem_calloc(MEM_MISC, a->log->names.n, sizeof *is_cold);
    if (is_cold == NULL) return false;
    for (size_t i = 0; i < cold; i++) is_cold[a->proofs[i].job] = true;
    for (size_t i = 0; i < a->n_proofs; i++) a->proofs[i].cold = is_cold[a->proofs[i].job];
    for (size_t i = 0; i < a->n_rows; i++) a->rows[i].cold = is_cold[a->rows[i].job];
    mem_free(is_cold);
    return true;
}

// The steady part begins where the last cold device run ended and ends with the last thing a steady row did on a
// device, so that it holds whole cycles: the gap before a run and the run.
static bool split_cold(timeline_analysis *a, const timeline_busy *busy) {
    size_t cold = count_cold(a);
    if (!mark_cold(a, cold)) return false;
    int64_t edge = a->from, last = TIMELINE_NONE;
    for (size_t i = 0; i < a->n_proofs; i++) {
        const timeline_row *r = &a->proofs[i];
        int64_t end = r->gpu_end != TIMELINE_NONE ? r->gpu_end : r->gpu_start;
        if (r->cold && end != TIMELINE_NONE && end > edge) edge = end;
        if (!r->cold) last = later(last, end);
    }
    if (cold > 0) summarise(&a->cold, a, busy, a->from, edge, 1);
    if (last != TIMELINE_NONE && last > edge) summarise(&a->steady, a, busy, edge, last, 0);
    return true;
}

// --- devices and stages ---

static bool has_word(const char *name, const char *word) { return strstr(name, word) != NULL; }

// Stages are told apart by name: copies and waits are no kernels, nor is what the CPU does after them.
static void classify(timeline_stage_use *u, const char *name) {
    u->copy =
        has_word(name, "copy") || has_word(name, "upload") || has_word(name, "download") || has_word(name, "transfer");
    u->kernel = !u->copy && !has_word(name, "wait") && !has_word(name, "lock") && !has_word(name, "final") &&
                !has_word(name, "assemble") && !has_word(name, "verify");
}

static int by_device_and_total(const void *x, const void *y) {
    const timeline_stage_use *a = x, *b = y;
    if (a->device != b->device) return a->device < b->device ? -1 : 1;
    if (a->total_us != b->total_us) return a->total_us > b->total_us ? -1 : 1;
    return (a->name > b->name) - (a->name < b->name);
}

static bool make_stages(timeline_analysis *a, int32_t device) {
    pair_map at = {0};
    size_t cap = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < a->spans.n_spans; i++) {
        const timeline_span *x = &a->spans.spans[i];
        if (x->kind != SPAN_STAGE || (device >= 0 && x->device != device)) continue;
        pair_key key = {x->name, (uint32_t)x->device};
        uint32_t k = pair_map_get(&at, key);
        if (k == TIMELINE_NO_INDEX) {
            k = (uint32_t)a->n_stages;
            ok = pair_grow((void **)&a->stages, &cap, a->n_stages, sizeof *a->stages) && pair_map_put(&at, key, k);
            if (!ok) break;
            a->stages[a->n_stages++] = (timeline_stage_use){.name = x->name, .device = x->device};
            classify(&a->stages[k], timeline_name(&a->log->names, x->name));
        }
        timeline_stage_use *u = &a->stages[k];
        int64_t us = x->end_us - x->start_us;
        u->count++;
        u->total_us += us;
        if (us > u->longest_us) u->longest_us = us;
    }
    pair_map_release(&at);
    if (a->n_stages > 0) qsort(a->stages, a->n_stages, sizeof *a->stages, by_device_and_total);
    return ok;
}

static bool make_devices(timeline_analysis *a, const timeline_busy *busy, int32_t device) {
    const timeline_spans *s = &a->spans;
    sweep *kernel = mem_alloc(MEM_MISC, s->n_devices, sizeof *kernel);
    sweep *copy = mem_alloc(MEM_MISC, s->n_devices, sizeof *copy);
    uint32_t *runs = mem_calloc(MEM_MISC, s->n_devices, sizeof *runs);
    a->devices = mem_alloc(MEM_MISC, s->n_devices, sizeof *a->devices);
    bool ok = kernel != NULL && copy != NULL && runs != NULL && a->devices != NULL;
    for (size_t d = 0; ok && d < s->n_devices; d++) kernel[d] = copy[d] = (sweep){TIMELINE_NONE, 0};
    for (size_t i = 0; ok && i < s->n_spans; i++) {
        const timeline_span *x = &s->spans[i];
        if (x->device < 0) continue;
        if (x->kind == SPAN_GPU) runs[x->device]++;
        if (x->kind != SPAN_STAGE) continue;
        timeline_stage_use u = {0};
        classify(&u, timeline_name(&a->log->names, x->name));
        if (u.kernel) sweep_add(&kernel[x->device], x->start_us, x->end_us);
        if (u.copy) sweep_add(&copy[x->device], x->start_us, x->end_us);
    }
    for (size_t d = 0; ok && d < s->n_devices; d++) {
        if (device >= 0 && (size_t)device != d) continue;
        timeline_device_use *u = &a->devices[a->n_devices++];
        *u = (timeline_device_use){.id = s->devices[d].id,
                                   .configured = s->devices[d].configured,
                                   .unhealthy = s->devices[d].unhealthy,
                                   .runs = runs[d],
                                   .busy_us = timeline_busy_in(busy, d, a->from, a->to),
                                   .kernel_us = TIMELINE_NONE,
                                   .copy_us = copy[d].sum,
                                   .overlap_us = busy->overlap[d]};
        if (kernel[d].over != TIMELINE_NONE || copy[d].over != TIMELINE_NONE) u->kernel_us = kernel[d].sum;
        u->idle_us = a->to - a->from - u->busy_us;
        if (a->to > a->from) u->utilization_pct = 100.0 * (double)u->busy_us / (double)(a->to - a->from);
    }
    mem_free(kernel);
    mem_free(copy);
    mem_free(runs);
    return ok;
}

// --- warnings ---

static void warn_about_log(timeline_analysis *a) {
    const timeline_log *log = a->log;
    for (size_t i = 0; i < log->n_bad && i < TIMELINE_BAD_KEPT; i++)
        warn(a, "line %" PRIu32 ": bad row: %s: '%s'", log->bad[i].line, log->bad[i].why, log->bad[i].begin);
    if (log->n_bad > TIMELINE_BAD_KEPT) warn(a, "bad rows in all: %" PRIu64, log->n_bad);
    if (log->n_bad_detail > 0)
        warn(a, "rows with a number in their detail that does not read: %" PRIu64 " (first: line %" PRIu32 ")",
             log->n_bad_detail, log->bad_detail_line);
    if (log->cut_line != 0) warn(a, "line %" PRIu32 ": the last line is cut off and was left out", log->cut_line);
    for (uint32_t i = 0; i < log->n_unknown_words; i++)
        warn(a, "unknown event %s ignored%s", timeline_name(&log->names, log->unknown[i]),
             i + 1 == TIMELINE_WORDS_KEPT ? " (and perhaps others)" : "");
}

static void warn_about_run(timeline_analysis *a, const timeline_run *run) {
    static const char *const TEXT[ODDITIES] = {
        [ODD_DUPLICATE] = "rows that repeat an earlier one, ignored",
        [ODD_SYNTH_OPEN] = "SYNTH_START without SYNTH_END, closed where it was surely over or at the end of the log",
        [ODD_GPU_OPEN] = "GPU_START without GPU_END, closed where it was surely over or at the end of the log",
        [ODD_OTHER_OPEN] = "other START rows without their END, closed at the end of the log",
        [ODD_SYNTH_NO_START] = "SYNTH_END without SYNTH_START",
        [ODD_GPU_NO_START] = "GPU_END without GPU_START",
        [ODD_OTHER_NO_START] = "other END rows without their START, ignored",
        [ODD_NEGATIVE] = "intervals that end before they start, taken as empty",
        [ODD_DEVICE] = "device runs that do not name their device, taken as on the first one",
        [ODD_DROPS] = "events dropped by the recorder, so figures are incomplete",
        [ODD_NO_JOB] = "rows of a job's life that name no job, ignored",
    };
    if (a->runs > 1) warn(a, "%zu runs in the file; this is run %zu (another: --run N)", a->runs, a->run);
    if (run->disordered > 0) warn(a, "rows out of order, sorted by time: %" PRIu32, run->disordered);
    for (int k = 0; k < ODDITIES; k++) {
        if (a->spans.odd[k] == 0) continue;
        if (a->spans.odd_line[k] != 0)
            warn(a, "%s: %" PRIu64 " (first: line %" PRIu32 ")", TEXT[k], a->spans.odd[k], a->spans.odd_line[k]);
        else
            warn(a, "%s: %" PRIu64, TEXT[k], a->spans.odd[k]);
    }
}

// --- all of it ---

static cuzk_status choose_run(const timeline_run **out, timeline_analysis *a, const timeline_run *runs, size_t n,
                              cuzk_error *err) {
    int64_t want = a->options.run;
    if (want < 0 || (uint64_t)want > n)
        return cuzk_fail(err, CUZK_ERR_USAGE, "run %" PRId64 " is not there: the file has %zu", want, n);
    if (want == 0)
        for (want = (int64_t)n; want > 1 && !runs[want - 1].has_jobs;) want--;
    a->runs = n;
    a->run = (size_t)want;
    a->wall = runs[want - 1].wall;
    *out = &runs[want - 1];
    return CUZK_OK;
}

static cuzk_status fill(timeline_analysis *a, const timeline_run *run, const uint32_t *order, cuzk_error *err) {
    cuzk_status s = timeline_spans_pair(&a->spans, a->log, order + run->first, run->count, err);
    if (s != CUZK_OK) return s;
    if (a->spans.n_spans == 0 && a->spans.n_units == 0)
        return cuzk_fail(err, CUZK_ERR_INPUT, "nothing to analyse: no event of a job in the run");
    a->from = a->spans.from;
    a->to = a->spans.to;
    int32_t device = -1;
    if (a->options.device >= 0) {
        for (size_t d = 0; d < a->spans.n_devices; d++)
            if (a->spans.devices[d].id == a->options.device) device = (int32_t)d;
        if (device < 0)
            return cuzk_fail(err, CUZK_ERR_USAGE, "device %" PRId32 " is not in the log", a->options.device);
    }
    timeline_busy busy;
    s = timeline_busy_of(&busy, &a->spans, err);
    if (s != CUZK_OK) return s;
    bool ok = make_devices(a, &busy, device) && make_stages(a, device) && make_proof_rows(a, &busy, device);
    if (ok && a->options.by_partition) {
        ok = make_unit_rows(a, &busy, device);
    } else if (ok) {
        a->rows = a->proofs;
        a->n_rows = a->n_proofs;
    }
    if (ok) {
        summarise(&a->summary, a, &busy, a->from, a->to, -1);
        ok = split_cold(a, &busy);
    }
    s = ok ? timeline_gaps_find(&a->gaps, &a->n_gaps, &a->spans, &busy, device, err)
           : cuzk_fail(err, CUZK_ERR_MEMORY, "no memory to analyse %zu device runs", a->spans.n_units);
    timeline_busy_release(&busy);
    return s;
}

cuzk_status timeline_analyse(timeline_analysis **out, const timeline_log *log, const timeline_options *options,
                             cuzk_error *err) {
    if (log->n == 0) {
        if (log->n_bad > 0)
            return cuzk_fail(err, CUZK_ERR_INPUT,
                             "nothing to analyse: %" PRIu64 " bad TIMELINE rows and no good one in %" PRIu32
                             " lines; line %" PRIu32 ": %s",
                             log->n_bad, log->lines, log->bad[0].line, log->bad[0].why);
        return cuzk_fail(err, CUZK_ERR_INPUT, "nothing to analyse: no TIMELINE row in %" PRIu32 " lines", log->lines);
    }
    timeline_analysis *a = mem_calloc(MEM_MISC, 1, sizeof *a);
    if (a == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "%zu bytes for an analysis", sizeof *a);
    a->log = log;
    a->options = *options;
    timeline_run *runs = NULL;
    const timeline_run *run = NULL;
    size_t n_runs = 0;
    uint32_t *order = NULL;
    cuzk_status s = timeline_runs_find(&runs, &n_runs, &order, log, err);
    if (s == CUZK_OK) s = choose_run(&run, a, runs, n_runs, err);
    if (s == CUZK_OK) s = fill(a, run, order, err);
    if (s == CUZK_OK) {
        warn_about_log(a);
        warn_about_run(a, run);
    }
    mem_free(runs);
    mem_free(order);
    if (s != CUZK_OK) {
        timeline_analysis_destroy(&a);
        return s;
    }
    *out = a;
    return CUZK_OK;
}
