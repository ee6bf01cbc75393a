// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What a terminal shows: the chart, the table of rows, the figures, and on request gaps and stages.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "timeline/render.h"

enum { JOB_COLUMNS_MAX = 48, NUMBER_COLUMNS = 12 };

typedef struct page {
    timeline_text *t;
    const timeline_analysis *a;
    const timeline_render_options *o;
    bool whole_ms;    // no time has a fraction of a millisecond
    size_t job_width; // of the table's first column
} page;

static void bold(const page *p, const char *s) { text_put_f(p->t, p->o->colour ? "\033[1m%s\033[0m" : "%s", s); }

static void put_time(const page *p, int64_t us, size_t width) {
    char n[48];
    if (us == TIMELINE_NONE)
        snprintf(n, sizeof n, "-");
    else if (p->whole_ms)
        snprintf(n, sizeof n, "%" PRId64, us / 1000);
    else
        snprintf(n, sizeof n, "%" PRId64 ".%03d", us / 1000, (int)(us % 1000));
    text_cell(p->t, n, width, true);
}

static bool whole(int64_t us) { return us == TIMELINE_NONE || us % 1000 == 0; }

static void job_text(const page *p, char out[3 * 256 + 32], const timeline_row *r) {
    const char *name = timeline_job_name(p->a, r->job);
    if (r->partition >= 0 && r->count > 1)
        snprintf(out, 3 * 256 + 32, "%s #%" PRId32 "-%" PRId32, name, r->partition, r->partition + r->count - 1);
    else if (r->partition >= 0)
        snprintf(out, 3 * 256 + 32, "%s #%" PRId32, name, r->partition);
    else
        snprintf(out, 3 * 256 + 32, "%s", name);
}

static void measure(page *p) {
    p->whole_ms = true;
    p->job_width = 8;
    for (size_t i = 0; i < p->a->n_rows; i++) {
        const timeline_row *r = &p->a->rows[i];
        p->whole_ms = p->whole_ms && whole(r->synth_start) && whole(r->synth_end) && whole(r->gpu_start) &&
                      whole(r->gpu_end) && whole(r->synth_us) && whole(r->gpu_us);
        char job[3 * 256 + 32];
        job_text(p, job, r);
        size_t w = text_width(job);
        if (w > p->job_width) p->job_width = w;
    }
    if (p->job_width > JOB_COLUMNS_MAX) p->job_width = JOB_COLUMNS_MAX;
}

static cuzk_status put_table(const page *p, cuzk_error *err) {
    const timeline_analysis *a = p->a;
    bool devices = a->n_devices > 1;
    timeline_palette palette;
    if (!timeline_palette_make(&palette, a)) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the table");
    static const char *const HEAD[] = {"Synth Start", "Synth End", "Synth ms", "GPU Start",
                                       "GPU End",     "GPU ms",    "Idle Gap"};
    timeline_text *t = p->t;
    if (p->o->colour) text_put(t, "\033[1m");
    text_cell(t, "  Job", p->job_width + 2, false);
    if (devices) text_put(t, "  GPU");
    for (size_t i = 0; i < sizeof HEAD / sizeof *HEAD; i++) {
        text_put(t, " ");
        text_cell(t, HEAD[i], NUMBER_COLUMNS, true);
    }
    if (p->o->colour) text_put(t, "\033[0m");
    text_put(t, "\n");
    for (size_t i = 0; i < a->n_rows; i++) {
        const timeline_row *r = &a->rows[i];
        char job[3 * 256 + 32];
        job_text(p, job, r);
        text_put_f(t, "%c ", timeline_palette_letter(&palette, r->job));
        text_cell(t, job, p->job_width, false);
        if (devices && r->device >= 0)
            text_put_f(t, " %4" PRId32, a->spans.devices[r->device].id);
        else if (devices)
            text_put(t, "    -");
        const int64_t times[] = {r->synth_start, r->synth_end, r->synth_us, r->gpu_start,
                                 r->gpu_end,     r->gpu_us,    r->gap_us};
        for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
            text_put(t, " ");
            put_time(p, times[k], NUMBER_COLUMNS);
        }
        text_put(t, "\n");
    }
    timeline_palette_release(&palette);
    return CUZK_OK;
}

// --- figures ---

typedef enum figure {
    FIG_WALL,
    FIG_ACTIVE,
    FIG_IDLE,
    FIG_UTILISATION,
    FIG_SYNTH,
    FIG_GPU,
    FIG_GAP,
    FIG_SECONDS,
    FIG_RATE,
    FIG_PROOFS,
    FIGURES
} figure;

static void put_figure(timeline_text *t, const timeline_summary *s, figure f) {
    char n[48] = "-";
    if (s->present) {
        const double us[FIGURES] = {
            (double)s->wall_us, (double)s->gpu_active_us, (double)s->gpu_idle_us, 0, s->avg_synth_us, s->avg_gpu_us,
            s->avg_gap_us};
        if (f == FIG_UTILISATION)
            snprintf(n, sizeof n, "%.1f %%", s->utilization_pct);
        else if (f == FIG_SECONDS && s->seconds_per_proof >= 0)
            snprintf(n, sizeof n, "%.3f", s->seconds_per_proof);
        else if (f == FIG_RATE && s->proofs_per_minute >= 0)
            snprintf(n, sizeof n, "%.3f", s->proofs_per_minute);
        else if (f == FIG_PROOFS)
            snprintf(n, sizeof n, "%" PRIu32, s->proofs);
        else if (f < FIG_SECONDS && us[f] >= 0)
            text_duration(n, us[f]);
    }
    text_cell(t, n, 14, true);
}

static void put_summary(const page *p) {
    static const char *const NAME[FIGURES] = {"wall time",     "GPU active", "GPU idle",     "GPU utilisation",
                                              "avg synthesis", "avg GPU",    "avg idle gap", "s/proof",
                                              "proofs/min",    "proofs done"};
    timeline_text *t = p->t;
    bold(p, "Summary");
    text_repeat(t, ' ', 11);
    text_cell(t, "all", 14, true);
    text_cell(t, "cold", 14, true);
    text_cell(t, "steady", 14, true);
    text_put(t, "\n");
    for (int f = 0; f < FIGURES; f++) {
        text_put(t, "  ");
        text_cell(t, NAME[f], 16, false);
        put_figure(t, &p->a->summary, (figure)f);
        put_figure(t, &p->a->cold, (figure)f);
        put_figure(t, &p->a->steady, (figure)f);
        text_put(t, "\n");
    }
}

static void put_idle(const page *p) {
    int64_t sum[TIMELINE_CAUSES] = {0}, all = 0;
    for (size_t i = 0; i < p->a->n_gaps; i++)
        for (int c = 0; c < TIMELINE_CAUSES; c++) {
            sum[c] += p->a->gaps[i].share[c];
            all += p->a->gaps[i].share[c];
        }
    if (all == 0) return;
    text_put(p->t, "\n");
    bold(p, "Why the GPU was idle");
    text_put(p->t, "\n");
    for (int c = 0; c < TIMELINE_CAUSES; c++) {
        if (sum[c] == 0) continue;
        char n[32];
        text_put(p->t, "  ");
        text_cell(p->t, timeline_cause_name((timeline_cause)c), 20, false);
        text_duration(n, (double)sum[c]);
        text_cell(p->t, n, 14, true);
        text_put_f(p->t, "%7.1f %%\n", 100.0 * (double)sum[c] / (double)all);
    }
}

static void put_duration(const page *p, int64_t us, size_t width) {
    char n[32];
    text_duration(n, (double)us);
    text_cell(p->t, n, width, true);
}

static void put_devices(const page *p) {
    if (p->a->n_devices < 2 && !p->o->stages) return;
    timeline_text *t = p->t;
    text_put(t, "\n");
    bold(p, "Devices");
    text_put(t, "   runs      run-busy         share   kernel-busy   of run-busy          copy   overlapping\n");
    for (size_t i = 0; i < p->a->n_devices; i++) {
        const timeline_device_use *d = &p->a->devices[i];
        text_put_f(t, "  gpu %-4" PRId32 "%6" PRIu32, d->id, d->runs);
        put_duration(p, d->busy_us, 14);
        text_put_f(t, "%12.1f %%", d->utilization_pct);
        if (d->kernel_us == TIMELINE_NONE) {
            text_put(t, "             -             -             -");
        } else {
            put_duration(p, d->kernel_us, 14);
            text_put_f(t, "%12.1f %%", d->busy_us > 0 ? 100.0 * (double)d->kernel_us / (double)d->busy_us : 0);
            put_duration(p, d->copy_us, 14);
        }
        put_duration(p, d->overlap_us, 14);
        text_put(t, d->unhealthy ? "  unhealthy\n" : "\n");
    }
}

static void put_gaps(const page *p) {
    if (!p->o->causes) return;
    timeline_text *t = p->t;
    text_put(t, "\n");
    bold(p, "Gaps");
    text_put(t, "       GPU        from          to         gap  cause                before\n");
    for (size_t i = 0; i < p->a->n_gaps; i++) {
        const timeline_gap *g = &p->a->gaps[i];
        text_put_f(t, "%14" PRId32, p->a->spans.devices[g->device].id);
        const int64_t times[] = {g->from_us, g->to_us, g->to_us - g->from_us};
        for (int k = 0; k < 3; k++) put_time(p, times[k], NUMBER_COLUMNS);
        text_put(t, "  ");
        text_cell(t, timeline_cause_name(g->cause), 20, false);
        text_put(t, " ");
        if (g->job == TIMELINE_NO_NAME)
            text_put(t, g->first ? "(never used)" : "(the end)");
        else
            text_put(t, timeline_job_name(p->a, g->job));
        if (g->partition >= 0) text_put_f(t, " #%" PRId32, g->partition);
        // Other causes with at least a twentieth of the gap.
        for (int c = 0; c < TIMELINE_CAUSES; c++)
            if (c != (int)g->cause && g->share[c] * 20 >= g->to_us - g->from_us && g->share[c] > 0) {
                text_put_f(t, "; also %s ", timeline_cause_name((timeline_cause)c));
                text_ms(t, g->share[c]);
            }
        text_put(t, "\n");
    }
}

static void put_stages(const page *p) {
    if (!p->o->stages) return;
    timeline_text *t = p->t;
    text_put(t, "\n");
    bold(p, "Stages");
    if (p->a->n_stages == 0) {
        text_put(t, "  none in the log\n");
        return;
    }
    text_put(t, "     GPU  stage                    count         total          mean       longest\n");
    for (size_t i = 0; i < p->a->n_stages; i++) {
        const timeline_stage_use *u = &p->a->stages[i];
        if (u->device >= 0)
            text_put_f(t, "%14" PRId32 "  ", p->a->spans.devices[u->device].id);
        else
            text_put(t, "             -  ");
        text_cell(t, timeline_name(&p->a->log->names, u->name), 20, false);
        text_put_f(t, "%10" PRIu32, u->count);
        put_duration(p, u->total_us, 14);
        put_duration(p, u->count > 0 ? u->total_us / u->count : 0, 14);
        put_duration(p, u->longest_us, 14);
        text_put(t, u->kernel ? "\n" : u->copy ? "  copy\n" : "  no kernel\n");
    }
}

cuzk_status timeline_render_text(timeline_text *t, const timeline_analysis *a, const timeline_render_options *o,
                                 cuzk_error *err) {
    page p = {.t = t, .a = a, .o = o};
    measure(&p);
    cuzk_status s = timeline_render_chart(t, a, o, err);
    if (s != CUZK_OK) return s;
    text_put(t, "\n");
    s = put_table(&p, err);
    if (s != CUZK_OK) return s;
    text_put(t, "\n");
    put_summary(&p);
    put_idle(&p);
    put_devices(&p);
    put_gaps(&p);
    put_stages(&p);
    if (a->n_warnings > 0) {
        text_put(t, "\n");
        bold(&p, "Warnings");
        text_put(t, "\n");
        for (size_t i = 0; i < a->n_warnings; i++) text_put_f(t, "  %s\n", a->warnings[i]);
    }
    return CUZK_OK;
}
