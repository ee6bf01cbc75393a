// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The waterfall as one SVG: lanes with bars, hatched gaps with their causes, a time axis, a legend and the figures.
// Every bar has a <title>, which browsers show as a tooltip. Bars narrower than a tenth of a pixel are merged, so that
// a log of a million events stays a picture of a few hundred kilobytes.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "timeline/lanes.h"
#include "timeline/render.h"

enum { LEFT = 92, RIGHT = 16, TOP = 64, LANE = 26, BAR = 18, MAX_LANES = 60, LEGEND = 18 };

typedef struct drawing {
    timeline_text *t;
    const timeline_analysis *a;
    const timeline_palette *palette;
    double width; // of the part with bars
} drawing;

static double x_of(const drawing *d, int64_t us) {
    int64_t len = d->a->to - d->a->from;
    return LEFT + (len > 0 ? d->width * (double)(us - d->a->from) / (double)len : 0);
}

static const uint32_t CAUSE_RGB[TIMELINE_CAUSES] = {0xd55e00, 0x7b61a8, 0x8c6d31, 0xb22222,
                                                    0x2f7f86, 0x777777, 0xaaaaaa};

static void put_head(const drawing *d, unsigned width, unsigned height) {
    text_put_f(d->t,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" "
               "font-family=\"system-ui,Helvetica,Arial,sans-serif\" font-size=\"12\">\n",
               width, height, width, height);
    text_put(d->t, "<defs>\n");
    for (int c = 0; c < TIMELINE_CAUSES; c++)
        text_put_f(d->t,
                   "<pattern id=\"c%d\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
                   "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#%06" PRIx32
                   "\" fill-opacity=\"0.12\"/><rect width=\"1.6\" height=\"6\" fill=\"#%06" PRIx32
                   "\" fill-opacity=\"0.75\"/></pattern>\n",
                   c, CAUSE_RGB[c], CAUSE_RGB[c]);
    text_put_f(d->t, "</defs>\n<rect width=\"%u\" height=\"%u\" fill=\"#ffffff\"/>\n", width, height);
}

static void put_title(const drawing *d) {
    const timeline_summary *s = &d->a->summary;
    char wall[32];
    text_duration(wall, (double)s->wall_us);
    text_put_f(d->t,
               "<text x=\"12\" y=\"22\" font-size=\"15\" font-weight=\"600\" fill=\"#1c2430\">%s, %" PRIu32
               " proof%s, GPU %.1f %% busy",
               wall, s->proofs, s->proofs == 1 ? "" : "s", s->utilization_pct);
    if (d->a->steady.present) text_put_f(d->t, " (steady state %.1f %%)", d->a->steady.utilization_pct);
    if (s->seconds_per_proof >= 0) {
        text_duration(wall, s->seconds_per_proof * 1e6);
        text_put_f(d->t, ", %s a proof", wall);
    }
    text_put(d->t, "</text>\n");
}

static void put_axis(const drawing *d, unsigned bottom) {
    int64_t len = d->a->to - d->a->from, step = timeline_tick_step(len, (uint32_t)(d->width / 90));
    for (int64_t at = timeline_first_tick(d->a->from, step); at <= d->a->to; at += step) {
        double x = x_of(d, at);
        char label[32];
        timeline_tick_label(label, at, step);
        text_put_f(d->t, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%u\" stroke=\"#dfe3e8\"/>\n", x, TOP - 8, x,
                   bottom);
        text_put_f(d->t, "<text x=\"%.1f\" y=\"%d\" fill=\"#5b6673\" text-anchor=\"%s\">%s</text>\n", x, TOP - 14,
                   x > LEFT + d->width - 30 ? "end"
                   : at == 0                ? "start"
                                            : "middle",
                   label);
    }
}

static void put_bar(const drawing *d, const timeline_span *x, int64_t from, int64_t to, size_t merged, unsigned y) {
    double a = x_of(d, from), w = x_of(d, to) - a;
    uint32_t rgb = x->kind == SPAN_SRS_LOAD ? 0x2f7f86
                   : x->kind == SPAN_PCE    ? 0x8c6d31
                                            : timeline_palette_rgb(d->palette, x->job);
    const char *job = timeline_job_name(d->a, x->job);
    text_put_f(d->t,
               "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" rx=\"2\" fill=\"#%06" PRIx32 "\"%s><title>", a,
               y, w < 0.6 ? 0.6 : w, BAR, merged > 1 ? 0x888888u : rgb,
               x->flags & SPAN_NO_END ? " fill-opacity=\"0.6\" stroke=\"#b22222\" stroke-dasharray=\"3 2\"" : "");
    if (merged > 1) {
        text_put_f(d->t, "%zu spans", merged);
    } else {
        text_xml(d->t, job[0] != 0 ? job : timeline_name(&d->a->log->names, x->name));
        if (x->partition >= 0) text_put_f(d->t, " #%" PRId32, x->partition);
    }
    text_put(d->t, ": ");
    text_ms(d->t, from);
    text_put(d->t, " to ");
    text_ms(d->t, to);
    text_put(d->t, " ms, ");
    text_ms(d->t, to - from);
    text_put_f(d->t, " ms%s</title></rect>\n", x->flags & SPAN_NO_END ? ", no end in the log" : "");
    // A label that fits: the letter of the table and, with room, the id.
    if (merged > 1 || w < 14) return;
    size_t room = (size_t)((w - 8) / 7.2);
    char label[3 * 256 + 32], letter = timeline_palette_letter(d->palette, x->job);
    if (x->kind == SPAN_SRS_LOAD || x->kind == SPAN_PCE)
        snprintf(label, sizeof label, "%s", x->kind == SPAN_PCE ? "PCE" : "key");
    else if (x->partition >= 0)
        snprintf(label, sizeof label, "%c #%" PRId32 " %.8s", letter, x->partition, job);
    else
        snprintf(label, sizeof label, "%c %s", letter, job);
    if (text_width(label) > room && x->partition < 0 && x->kind != SPAN_SRS_LOAD && x->kind != SPAN_PCE)
        snprintf(label, sizeof label, "%c %.8s", letter, job);
    if (text_width(label) > room) label[1] = 0;
    text_put_f(d->t, "<text x=\"%.2f\" y=\"%u\" fill=\"#ffffff\" pointer-events=\"none\">", a + 4, y + 13);
    char clean[3 * sizeof label];
    timeline_clean_text(clean, label, strlen(label)); // "%.8s" may have cut a character
    text_xml(d->t, clean);
    text_put(d->t, "</text>\n");
}

static void put_lane(const drawing *d, const timeline_lanes *lanes, const timeline_lane *l, unsigned y) {
    text_put_f(d->t, "<text x=\"12\" y=\"%u\" fill=\"#1c2430\">%s</text>\n", y + 13, l->label);
    text_put_f(d->t, "<rect x=\"%d\" y=\"%u\" width=\"%.1f\" height=\"%d\" fill=\"#f4f6f8\"/>\n", LEFT, y, d->width,
               BAR);
    int64_t least = (int64_t)((double)(d->a->to - d->a->from) / d->width / 10);
    for (size_t k = 0; k < l->n;) {
        const timeline_span *x = &d->a->spans.spans[lanes->spans[l->first + k]];
        int64_t to = x->end_us;
        size_t merged = 1;
        // Short spans with short distances become one bar.
        while (k + merged < l->n && x->end_us - x->start_us < least) {
            const timeline_span *next = &d->a->spans.spans[lanes->spans[l->first + k + merged]];
            if (next->end_us - next->start_us >= least || next->start_us - to >= least) break;
            to = next->end_us;
            merged++;
        }
        put_bar(d, x, x->start_us, to, merged, y);
        k += merged;
    }
}

static void put_gaps(const drawing *d, int32_t gpu, unsigned y) {
    double per_us = d->width / (double)(d->a->to > d->a->from ? d->a->to - d->a->from : 1);
    for (size_t i = 0; i < d->a->n_gaps; i++) {
        const timeline_gap *g = &d->a->gaps[i];
        double w = (double)(g->to_us - g->from_us) * per_us;
        if (d->a->spans.devices[g->device].id != gpu || w < 0.5) continue;
        text_put_f(d->t, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"url(#c%d)\"><title>idle ",
                   x_of(d, g->from_us), y, w, BAR, (int)g->cause);
        text_ms(d->t, g->to_us - g->from_us);
        text_put_f(d->t, " ms: %s</title></rect>\n", timeline_cause_name(g->cause));
        size_t need = strlen(timeline_cause_name(g->cause));
        if (w > (double)need * 6.5 + 12)
            text_put_f(d->t,
                       "<text x=\"%.2f\" y=\"%u\" text-anchor=\"middle\" fill=\"#3a4450\" pointer-events=\"none\" "
                       "stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\">%s</text>\n",
                       x_of(d, g->from_us) + w / 2, y + 13, timeline_cause_name(g->cause));
    }
}

static void put_legend(const drawing *d, unsigned y) {
    double x = LEFT;
    text_put_f(d->t, "<text x=\"12\" y=\"%u\" fill=\"#5b6673\">GPU idle</text>\n", y + 11);
    for (int c = 0; c < TIMELINE_CAUSES; c++) {
        int64_t sum = 0;
        for (size_t i = 0; i < d->a->n_gaps; i++) sum += d->a->gaps[i].share[c];
        if (sum == 0) continue;
        char label[64], time[32];
        text_duration(time, (double)sum);
        snprintf(label, sizeof label, "%s %s", timeline_cause_name((timeline_cause)c), time);
        double need = 34 + 7.2 * (double)strlen(label);
        if (x + need > LEFT + d->width) {
            x = LEFT;
            y += LEGEND;
        }
        text_put_f(d->t, "<rect x=\"%.1f\" y=\"%u\" width=\"14\" height=\"14\" fill=\"url(#c%d)\"/>\n", x, y, c);
        text_put_f(d->t, "<text x=\"%.1f\" y=\"%u\" fill=\"#3a4450\">%s</text>\n", x + 19, y + 11, label);
        x += need;
    }
}

cuzk_status timeline_render_svg(timeline_text *t, const timeline_analysis *a, const timeline_render_options *o,
                                cuzk_error *err) {
    timeline_lanes lanes;
    timeline_palette palette;
    cuzk_status s = timeline_lanes_build(&lanes, a, 0, err);
    if (s != CUZK_OK) return s;
    if (!timeline_palette_make(&palette, a)) {
        timeline_lanes_release(&lanes);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for an SVG");
    }
    unsigned width = o->width < 200 ? 1200 : o->width;
    size_t shown = lanes.n < MAX_LANES ? lanes.n : MAX_LANES;
    unsigned bottom = TOP + (unsigned)shown * LANE, height = bottom + 2 * LEGEND + 14;
    drawing d = {t, a, &palette, (double)width - LEFT - RIGHT};
    put_head(&d, width, height);
    put_title(&d);
    put_axis(&d, bottom);
    for (size_t i = 0; i < shown; i++) {
        unsigned y = TOP + (unsigned)i * LANE;
        const timeline_lane *l = &lanes.lanes[i];
        put_lane(&d, &lanes, l, y);
        if (l->group == LANES_DEVICE && l->sub == 0) put_gaps(&d, l->id, y);
    }
    if (shown < lanes.n)
        text_put_f(t, "<text x=\"12\" y=\"%u\" fill=\"#b22222\">%zu more lanes are not shown</text>\n",
                   bottom + LEGEND + 26, lanes.n - shown);
    put_legend(&d, bottom + 10);
    text_put(t, "</svg>\n");
    timeline_palette_release(&palette);
    timeline_lanes_release(&lanes);
    return CUZK_OK;
}
