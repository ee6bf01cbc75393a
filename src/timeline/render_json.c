// SPDX-License-Identifier: MIT OR Apache-2.0
#include <inttypes.h>

#include "timeline/render.h"

static void member_ms(timeline_text *t, const char *key, int64_t us) {
    text_put_f(t, ", \"%s\": ", key);
    text_json_ms(t, us);
}

static void number(timeline_text *t, const char *key, double v) {
    text_put_f(t, ", \"%s\": ", key);
    text_json_number(t, v);
}

static double ms_of(double us) { return us < 0 ? us : us / 1000; }

static void put_summary(timeline_text *t, const timeline_summary *s) {
    if (!s->present) {
        text_put(t, "null");
        return;
    }
    text_put(t, "{\"wall_ms\": ");
    text_ms(t, s->wall_us);
    member_ms(t, "gpu_active_ms", s->gpu_active_us);
    member_ms(t, "gpu_idle_ms", s->gpu_idle_us);
    number(t, "gpu_utilization_pct", s->utilization_pct);
    number(t, "avg_synth_ms", ms_of(s->avg_synth_us));
    number(t, "avg_gpu_ms", ms_of(s->avg_gpu_us));
    number(t, "avg_idle_gap_ms", ms_of(s->avg_gap_us));
    number(t, "seconds_per_proof", s->seconds_per_proof);
    number(t, "proofs_per_minute", s->proofs_per_minute);
    text_put(t, "}");
}

void timeline_json_summaries(timeline_text *t, const timeline_analysis *a, const char *indent) {
    text_put_f(t, "%s\"summary\": ", indent);
    put_summary(t, &a->summary);
    text_put_f(t, ",\n%s\"cold\": ", indent);
    put_summary(t, &a->cold);
    text_put_f(t, ",\n%s\"steady\": ", indent);
    put_summary(t, &a->steady);
}

static void put_device_id(timeline_text *t, const timeline_analysis *a, int32_t index) {
    if (index >= 0)
        text_put_f(t, "%" PRId32, a->spans.devices[index].id);
    else
        text_put(t, "null");
}

static void put_row(timeline_text *t, const timeline_analysis *a, const timeline_row *r) {
    text_put(t, "{\"job\": ");
    text_json_string(t, timeline_job_name(a, r->job));
    if (a->options.by_partition) {
        if (r->partition >= 0)
            text_put_f(t, ", \"partition\": %" PRId32, r->partition);
        else
            text_put(t, ", \"partition\": null");
    }
    text_put(t, ", \"device\": ");
    put_device_id(t, a, r->device);
    member_ms(t, "synth_start_ms", r->synth_start);
    member_ms(t, "synth_end_ms", r->synth_end);
    member_ms(t, "synth_ms", r->synth_us);
    member_ms(t, "gpu_start_ms", r->gpu_start);
    member_ms(t, "gpu_end_ms", r->gpu_end);
    member_ms(t, "gpu_ms", r->gpu_us);
    member_ms(t, "idle_gap_ms", r->gap_us);
    text_put(t, "}");
}

static void put_gap(timeline_text *t, const timeline_analysis *a, const timeline_gap *g) {
    text_put(t, "{\"device\": ");
    put_device_id(t, a, g->device);
    member_ms(t, "start_ms", g->from_us);
    member_ms(t, "end_ms", g->to_us);
    member_ms(t, "gap_ms", g->to_us - g->from_us);
    text_put_f(t, ", \"cause\": \"%s\", \"before_job\": ", timeline_cause_name(g->cause));
    if (g->job == TIMELINE_NO_NAME)
        text_put(t, "null");
    else
        text_json_string(t, timeline_job_name(a, g->job));
    text_put(t, ", \"causes\": {");
    bool first = true;
    for (int c = 0; c < TIMELINE_CAUSES; c++) {
        if (g->share[c] == 0) continue;
        text_put_f(t, "%s\"%s\": ", first ? "" : ", ", timeline_cause_name((timeline_cause)c));
        text_ms(t, g->share[c]);
        first = false;
    }
    text_put(t, "}}");
}

static void put_device(timeline_text *t, const timeline_device_use *d) {
    text_put_f(t, "{\"device\": %" PRId32 ", \"runs\": %" PRIu32, d->id, d->runs);
    member_ms(t, "busy_ms", d->busy_us);
    member_ms(t, "idle_ms", d->idle_us);
    number(t, "utilization_pct", d->utilization_pct);
    member_ms(t, "overlap_ms", d->overlap_us);
    member_ms(t, "kernel_busy_ms", d->kernel_us);
    member_ms(t, "copy_busy_ms", d->kernel_us == TIMELINE_NONE ? TIMELINE_NONE : d->copy_us);
    text_put_f(t, ", \"healthy\": %s}", d->unhealthy ? "false" : "true");
}

static void put_stage(timeline_text *t, const timeline_analysis *a, const timeline_stage_use *u) {
    text_put(t, "{\"stage\": ");
    text_json_string(t, timeline_name(&a->log->names, u->name));
    text_put(t, ", \"device\": ");
    put_device_id(t, a, u->device);
    text_put_f(t, ", \"count\": %" PRIu32, u->count);
    member_ms(t, "total_ms", u->total_us);
    member_ms(t, "avg_ms", u->total_us / (u->count > 0 ? u->count : 1));
    member_ms(t, "max_ms", u->longest_us);
    text_put_f(t, ", \"class\": \"%s\"}", u->kernel ? "kernel" : u->copy ? "copy" : "other");
}

// A list, one entry a line.
static void open_list(timeline_text *t, const char *key) { text_put_f(t, ",\n  \"%s\": [", key); }
static void next_entry(timeline_text *t, size_t i) { text_put(t, i == 0 ? "\n    " : ",\n    "); }
static void close_list(timeline_text *t, size_t n) { text_put(t, n == 0 ? "]" : "\n  ]"); }

void timeline_render_json(timeline_text *t, const timeline_analysis *a, const timeline_render_options *o) {
    text_put(t, "{\n  \"jobs\": [");
    for (size_t i = 0; i < a->n_rows; i++) {
        next_entry(t, i);
        put_row(t, a, &a->rows[i]);
    }
    close_list(t, a->n_rows);
    text_put(t, ",\n");
    timeline_json_summaries(t, a, "  ");
    open_list(t, "devices");
    for (size_t i = 0; i < a->n_devices; i++) {
        next_entry(t, i);
        put_device(t, &a->devices[i]);
    }
    close_list(t, a->n_devices);
    open_list(t, "gaps");
    for (size_t i = 0; i < a->n_gaps; i++) {
        next_entry(t, i);
        put_gap(t, a, &a->gaps[i]);
    }
    close_list(t, a->n_gaps);
    if (o->stages) {
        open_list(t, "stages");
        for (size_t i = 0; i < a->n_stages; i++) {
            next_entry(t, i);
            put_stage(t, a, &a->stages[i]);
        }
        close_list(t, a->n_stages);
    }
    open_list(t, "warnings");
    for (size_t i = 0; i < a->n_warnings; i++) {
        next_entry(t, i);
        text_json_string(t, a->warnings[i]);
    }
    close_list(t, a->n_warnings);
    text_put(t, "\n}\n");
}
