// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The public interface over layer timeline.
#include "cuzk/timeline.h"

#include <stdlib.h>

#include "timeline/log.h"
#include "timeline/render.h"

struct cuzk_timeline {
    timeline_log *log;
    timeline_analysis *analysis;
    timeline_text rendered;
    cuzk_error error;
};

cuzk_result cuzk_timeline_new(cuzk_timeline **out) {
    if (out == NULL) return CUZK_RESULT_USAGE;
    cuzk_timeline *t = calloc(1, sizeof *t);
    if (t == NULL) return CUZK_RESULT_MEMORY;
    cuzk_status s = timeline_log_create(&t->log, NULL);
    if (s != CUZK_OK) {
        free(t);
        return (cuzk_result)s;
    }
    *out = t;
    return CUZK_RESULT_OK;
}

void cuzk_timeline_free(cuzk_timeline *t) {
    if (t == NULL) return;
    timeline_text_release(&t->rendered);
    timeline_analysis_destroy(&t->analysis);
    timeline_log_destroy(&t->log);
    free(t);
}

const char *cuzk_timeline_error(const cuzk_timeline *t) { return t == NULL ? "" : t->error.text; }

// An analysis points into its log, which grows: what was found before goes.
static void forget(cuzk_timeline *t) {
    timeline_text_release(&t->rendered);
    timeline_analysis_destroy(&t->analysis);
}

cuzk_result cuzk_timeline_add(cuzk_timeline *t, const void *data, size_t len) {
    if (t == NULL) return CUZK_RESULT_USAGE;
    if (data == NULL && len > 0) return (cuzk_result)cuzk_fail(&t->error, CUZK_ERR_USAGE, "data is NULL");
    if (t->log->finished) return (cuzk_result)cuzk_fail(&t->error, CUZK_ERR_USAGE, "the log has ended");
    forget(t);
    return (cuzk_result)timeline_log_push(t->log, data, len, &t->error);
}

cuzk_result cuzk_timeline_end(cuzk_timeline *t) {
    if (t == NULL) return CUZK_RESULT_USAGE;
    forget(t);
    return (cuzk_result)timeline_log_finish(t->log, &t->error);
}

cuzk_result cuzk_timeline_analyse(cuzk_timeline *t, const cuzk_timeline_options *options) {
    if (t == NULL) return CUZK_RESULT_USAGE;
    timeline_options o = TIMELINE_OPTIONS;
    if (options != NULL) {
        o.by_partition = options->by_partition != 0;
        o.device = options->device;
        o.warmup = options->warmup;
        o.run = options->run;
    }
    forget(t);
    return (cuzk_result)timeline_analyse(&t->analysis, t->log, &o, &t->error);
}

static cuzk_status need(cuzk_timeline *t, bool given) {
    if (t == NULL) return CUZK_ERR_USAGE;
    if (!given) return cuzk_fail(&t->error, CUZK_ERR_USAGE, "an argument is NULL");
    if (t->analysis == NULL) return cuzk_fail(&t->error, CUZK_ERR_USAGE, "nothing was analysed yet");
    return CUZK_OK;
}

static double ms(int64_t us) { return us == TIMELINE_NONE ? -1 : (double)us / 1e3; }
static double mean_ms(double us) { return us < 0 ? -1 : us / 1e3; }

cuzk_result cuzk_timeline_figures_of(cuzk_timeline *t, cuzk_timeline_figures *out, cuzk_timeline_part part) {
    cuzk_status s = need(t, out != NULL);
    if (s != CUZK_OK) return (cuzk_result)s;
    if ((int)part < CUZK_TIMELINE_ALL || (int)part > CUZK_TIMELINE_STEADY)
        return (cuzk_result)cuzk_fail(&t->error, CUZK_ERR_USAGE, "no such part: %d", (int)part);
    const timeline_summary *f = part == CUZK_TIMELINE_ALL    ? &t->analysis->summary
                                : part == CUZK_TIMELINE_COLD ? &t->analysis->cold
                                                             : &t->analysis->steady;
    if (!f->present) return (cuzk_result)cuzk_fail(&t->error, CUZK_ERR_INPUT, "the run has no such part");
    *out = (cuzk_timeline_figures){.wall_ms = ms(f->wall_us),
                                   .gpu_active_ms = ms(f->gpu_active_us),
                                   .gpu_idle_ms = ms(f->gpu_idle_us),
                                   .gpu_utilization_pct = f->utilization_pct,
                                   .avg_synth_ms = mean_ms(f->avg_synth_us),
                                   .avg_gpu_ms = mean_ms(f->avg_gpu_us),
                                   .avg_idle_gap_ms = mean_ms(f->avg_gap_us),
                                   .seconds_per_proof = f->seconds_per_proof,
                                   .proofs_per_minute = f->proofs_per_minute,
                                   .proofs = f->proofs};
    return CUZK_RESULT_OK;
}

static int device_id(const timeline_analysis *a, int32_t index) {
    return index < 0 ? -1 : (int)a->spans.devices[index].id;
}

size_t cuzk_timeline_job_count(const cuzk_timeline *t) {
    return t == NULL || t->analysis == NULL ? 0 : t->analysis->n_rows;
}

cuzk_result cuzk_timeline_job_at(cuzk_timeline *t, cuzk_timeline_job *out, size_t index) {
    cuzk_status s = need(t, out != NULL);
    if (s != CUZK_OK) return (cuzk_result)s;
    const timeline_analysis *a = t->analysis;
    if (index >= a->n_rows)
        return (cuzk_result)cuzk_fail(&t->error, CUZK_ERR_USAGE, "row %zu of %zu", index, a->n_rows);
    const timeline_row *r = &a->rows[index];
    *out = (cuzk_timeline_job){.job = timeline_job_name(a, r->job),
                               .partition = (int)r->partition,
                               .device = device_id(a, r->device),
                               .synth_start_ms = ms(r->synth_start),
                               .synth_end_ms = ms(r->synth_end),
                               .synth_ms = ms(r->synth_us),
                               .gpu_start_ms = ms(r->gpu_start),
                               .gpu_end_ms = ms(r->gpu_end),
                               .gpu_ms = ms(r->gpu_us),
                               .idle_gap_ms = ms(r->gap_us)};
    return CUZK_RESULT_OK;
}

size_t cuzk_timeline_gap_count(const cuzk_timeline *t) {
    return t == NULL || t->analysis == NULL ? 0 : t->analysis->n_gaps;
}

cuzk_result cuzk_timeline_gap_at(cuzk_timeline *t, cuzk_timeline_gap *out, size_t index) {
    cuzk_status s = need(t, out != NULL);
    if (s != CUZK_OK) return (cuzk_result)s;
    const timeline_analysis *a = t->analysis;
    if (index >= a->n_gaps)
        return (cuzk_result)cuzk_fail(&t->error, CUZK_ERR_USAGE, "gap %zu of %zu", index, a->n_gaps);
    const timeline_gap *g = &a->gaps[index];
    *out = (cuzk_timeline_gap){.device = device_id(a, g->device),
                               .start_ms = ms(g->from_us),
                               .end_ms = ms(g->to_us),
                               .cause = timeline_cause_name(g->cause),
                               .before_job = g->job == TIMELINE_NO_NAME ? NULL : timeline_job_name(a, g->job)};
    return CUZK_RESULT_OK;
}

const char *cuzk_timeline_warning(const cuzk_timeline *t, size_t index) {
    if (t == NULL || t->analysis == NULL || index >= t->analysis->n_warnings) return NULL;
    return t->analysis->warnings[index];
}

cuzk_result cuzk_timeline_render(cuzk_timeline *t, const char **text, size_t *len, const char *format, uint32_t width) {
    cuzk_status s = need(t, text != NULL && len != NULL && format != NULL);
    if (s != CUZK_OK) return (cuzk_result)s;
    timeline_format f;
    if (!timeline_format_from_name(&f, format))
        return (cuzk_result)cuzk_fail(&t->error, CUZK_ERR_USAGE, "no such format: '%s'", format);
    timeline_render_options o = {.width = width, .causes = true, .stages = t->analysis->n_stages > 0};
    timeline_text_release(&t->rendered);
    s = timeline_render(&t->rendered, t->analysis, f, &o, &t->error);
    if (s != CUZK_OK) return (cuzk_result)s;
    *text = t->rendered.data;
    *len = t->rendered.len;
    return CUZK_RESULT_OK;
}
