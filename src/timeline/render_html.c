// SPDX-License-Identifier: MIT OR Apache-2.0
//
// web/waterfall.html with the analysis as JSON inside: one file, nothing fetched. Compact arrays, since a log can have
// a million spans; the page's script names the places.
#include <inttypes.h>
#include <string.h>

#include "timeline/lanes.h"
#include "timeline/render.h"
#include "timeline/waterfall_page.h"

static void put_us(timeline_text *t, int64_t us) {
    if (us == TIMELINE_NONE)
        text_put(t, "null");
    else
        text_put_f(t, "%" PRId64, us);
}

// Jobs are numbered by their place in the list of proofs.
static int64_t job_number(const timeline_palette *p, uint32_t job) {
    return job < p->names ? (int64_t)p->place[job] : -1;
}

static void put_span(timeline_text *t, const timeline_analysis *a, const timeline_palette *p, const timeline_span *x) {
    int kind = x->kind == SPAN_SRS_LOAD ? 1 : x->kind == SPAN_PCE ? 2 : 0;
    text_put_f(t, "[%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId32 ",%d,%u", x->start_us, x->end_us,
               job_number(p, x->job), x->partition, kind, (unsigned)x->flags);
    if (kind != 0) {
        text_put(t, ",");
        text_json_string(t, timeline_name(&a->log->names, x->name));
    }
    text_put(t, "]");
}

static void put_lanes(timeline_text *t, const timeline_analysis *a, const timeline_palette *p,
                      const timeline_lanes *lanes) {
    enum { MAX_LANES = 400 }; // a page of more is nothing that anybody can read
    text_put(t, "\"lanes\":[");
    for (size_t i = 0; i < lanes->n && i < MAX_LANES; i++) {
        const timeline_lane *l = &lanes->lanes[i];
        text_put_f(t, "%s\n{\"label\":\"%s\",\"sub\":%" PRIu32 ",\"gpu\":", i > 0 ? "," : "", l->label, l->sub);
        if (l->group == LANES_DEVICE)
            text_put_f(t, "%" PRId32, l->id);
        else
            text_put(t, "null");
        text_put(t, ",\"spans\":[");
        for (size_t k = 0; k < l->n; k++) {
            if (k > 0) text_put(t, ",");
            put_span(t, a, p, &a->spans.spans[lanes->spans[l->first + k]]);
        }
        text_put(t, "]}");
    }
    text_put(t, "]");
}

static void put_gaps(timeline_text *t, const timeline_analysis *a, const timeline_palette *p) {
    text_put(t, ",\n\"gaps\":[");
    for (size_t i = 0; i < a->n_gaps; i++) {
        const timeline_gap *g = &a->gaps[i];
        text_put_f(t, "%s[%" PRId32 ",%" PRId64 ",%" PRId64 ",%d,[", i > 0 ? "," : "", a->spans.devices[g->device].id,
                   g->from_us, g->to_us, (int)g->cause);
        bool first = true;
        for (int c = 0; c < TIMELINE_CAUSES; c++) {
            if (g->share[c] == 0) continue;
            text_put_f(t, "%s[%d,%" PRId64 "]", first ? "" : ",", c, g->share[c]);
            first = false;
        }
        text_put_f(t, "],%" PRId64 "]", job_number(p, g->job));
    }
    text_put(t, "]");
}

static void put_rows(timeline_text *t, const timeline_analysis *a, const timeline_palette *p) {
    text_put(t, ",\n\"rows\":[");
    for (size_t i = 0; i < a->n_rows; i++) {
        const timeline_row *r = &a->rows[i];
        text_put_f(t, "%s[%" PRId64 ",%" PRId32 ",", i > 0 ? "," : "", job_number(p, r->job), r->partition);
        if (r->device >= 0)
            text_put_f(t, "%" PRId32, a->spans.devices[r->device].id);
        else
            text_put(t, "null");
        const int64_t times[] = {r->synth_start, r->synth_end, r->synth_us, r->gpu_start,
                                 r->gpu_end,     r->gpu_us,    r->gap_us};
        for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
            text_put(t, ",");
            put_us(t, times[k]);
        }
        text_put(t, "]");
    }
    text_put(t, "]");
}

static void put_summary(timeline_text *t, const char *key, const timeline_summary *s) {
    text_put_f(t, ",\n\"%s\":", key);
    if (!s->present) {
        text_put(t, "null");
        return;
    }
    text_put_f(t,
               "{\"wall\":%" PRId64 ",\"active\":%" PRId64 ",\"idle\":%" PRId64
               ",\"pct\":%.6f,\"synth\":%.3f,\"gpu\":%.3f,\"gap\":%.3f,\"spp\":%.6f,\"ppm\":%.6f,\"proofs\":%" PRIu32
               "}",
               s->wall_us, s->gpu_active_us, s->gpu_idle_us, s->utilization_pct, s->avg_synth_us, s->avg_gpu_us,
               s->avg_gap_us, s->seconds_per_proof, s->proofs_per_minute, s->proofs);
}

static void put_stages(timeline_text *t, const timeline_analysis *a) {
    text_put(t, ",\n\"stages\":[");
    for (size_t i = 0; i < a->n_stages; i++) {
        const timeline_stage_use *u = &a->stages[i];
        text_put(t, i > 0 ? ",[" : "[");
        text_json_string(t, timeline_name(&a->log->names, u->name));
        text_put_f(t, ",%" PRId32 ",%" PRIu32 ",%" PRId64 ",%" PRId64 ",\"%s\"]",
                   u->device >= 0 ? a->spans.devices[u->device].id : -1, u->count, u->total_us, u->longest_us,
                   u->kernel ? "kernel"
                   : u->copy ? "copy"
                             : "other");
    }
    text_put(t, "]");
}

static void put_data(timeline_text *t, const timeline_analysis *a, const timeline_palette *p,
                     const timeline_lanes *lanes) {
    static const uint32_t CAUSE_RGB[TIMELINE_CAUSES] = {0xd55e00, 0x7b61a8, 0x8c6d31, 0xb22222,
                                                        0x2f7f86, 0x777777, 0xaaaaaa};
    text_put_f(t, "{\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"wall\":", a->from, a->to);
    text_json_string(t, timeline_name(&a->log->names, a->wall));
    text_put(t, ",\n\"jobs\":[");
    for (size_t i = 0; i < a->n_proofs; i++) {
        if (i > 0) text_put(t, ",");
        text_json_string(t, timeline_job_name(a, a->proofs[i].job));
    }
    text_put(t, "],\n\"place\":[");
    for (size_t i = 0; i < a->n_proofs; i++) text_put_f(t, "%s%zu", i > 0 ? "," : "", i);
    text_put(t, "],\n\"palette\":[");
    for (uint32_t i = 0; i < TIMELINE_PALETTE; i++)
        text_put_f(t, "%s\"#%06" PRIx32 "\"", i > 0 ? "," : "", timeline_palette_entry(i));
    text_put(t, "],\n\"causes\":[");
    for (int c = 0; c < TIMELINE_CAUSES; c++)
        text_put_f(t, "%s{\"name\":\"%s\",\"rgb\":\"#%06" PRIx32 "\"}", c > 0 ? "," : "",
                   timeline_cause_name((timeline_cause)c), CAUSE_RGB[c]);
    text_put(t, "],\n");
    put_lanes(t, a, p, lanes);
    put_gaps(t, a, p);
    put_rows(t, a, p);
    put_summary(t, "summary", &a->summary);
    put_summary(t, "cold", &a->cold);
    put_summary(t, "steady", &a->steady);
    put_stages(t, a);
    text_put(t, ",\n\"warnings\":[");
    for (size_t i = 0; i < a->n_warnings; i++) {
        if (i > 0) text_put(t, ",");
        text_json_string(t, a->warnings[i]);
    }
    text_put(t, "]}");
}

cuzk_status timeline_render_html(timeline_text *t, const timeline_analysis *a, const timeline_render_options *o,
                                 cuzk_error *err) {
    (void)o;
    static const char HERE[] = "@DATA@";
    const char *here = strstr(timeline_waterfall_page, HERE);
    if (here == NULL) return cuzk_fail(err, CUZK_ERR_INTERNAL, "the page has no place for the data");
    timeline_lanes lanes;
    timeline_palette palette;
    cuzk_status s = timeline_lanes_build(&lanes, a, 0, err);
    if (s != CUZK_OK) return s;
    if (!timeline_palette_make(&palette, a)) {
        timeline_lanes_release(&lanes);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a page");
    }
    text_put_n(t, timeline_waterfall_page, (size_t)(here - timeline_waterfall_page));
    put_data(t, a, &palette, &lanes);
    text_put(t, here + sizeof HERE - 1);
    timeline_palette_release(&palette);
    timeline_lanes_release(&lanes);
    return CUZK_OK;
}
