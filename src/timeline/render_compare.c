// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Two runs side by side. A ratio is that of the second to the first, so 0.5 on a time is twice as fast.
#include <stdio.h>
#include <string.h>

#include "timeline/render.h"

enum { FIGURES = 9, PARTS = 3 };

typedef struct figure {
    const char *key, *text, *unit;
    double value[2]; // negative: not there
} figure;

// Times in milliseconds.
static void figures_of(figure out[FIGURES], const timeline_summary *a, const timeline_summary *b) {
    static const struct {
        const char *key, *text, *unit;
    } NAME[FIGURES] = {{"wall_ms", "wall time", "s"},
                       {"gpu_active_ms", "GPU active", "s"},
                       {"gpu_idle_ms", "GPU idle", "s"},
                       {"gpu_utilization_pct", "GPU utilisation", "%"},
                       {"avg_synth_ms", "avg synthesis", "s"},
                       {"avg_gpu_ms", "avg GPU", "s"},
                       {"avg_idle_gap_ms", "avg idle gap", "s"},
                       {"seconds_per_proof", "s/proof", ""},
                       {"proofs_per_minute", "proofs/min", ""}};
    for (int i = 0; i < FIGURES; i++) out[i] = (figure){NAME[i].key, NAME[i].text, NAME[i].unit, {-1, -1}};
    for (int k = 0; k < 2; k++) {
        const timeline_summary *s = k == 0 ? a : b;
        if (!s->present) continue;
        const double v[FIGURES] = {(double)s->wall_us / 1e3,
                                   (double)s->gpu_active_us / 1e3,
                                   (double)s->gpu_idle_us / 1e3,
                                   s->utilization_pct,
                                   s->avg_synth_us < 0 ? -1 : s->avg_synth_us / 1e3,
                                   s->avg_gpu_us < 0 ? -1 : s->avg_gpu_us / 1e3,
                                   s->avg_gap_us < 0 ? -1 : s->avg_gap_us / 1e3,
                                   s->seconds_per_proof,
                                   s->proofs_per_minute};
        for (int i = 0; i < FIGURES; i++) out[i].value[k] = v[i];
    }
}

// Negative: there is none.
static double ratio_of(double a, double b) { return a > 0 && b >= 0 ? b / a : -1; }

static const char *const PART[PARTS] = {"summary", "cold", "steady"};
static const timeline_summary *part_of(const timeline_analysis *a, int part) {
    return part == 0 ? &a->summary : part == 1 ? &a->cold : &a->steady;
}

static void put_value(timeline_text *t, const figure *f, double v) {
    char n[48] = "-";
    if (v >= 0 && strcmp(f->unit, "s") == 0)
        text_duration(n, v * 1e3);
    else if (v >= 0 && strcmp(f->unit, "%") == 0)
        snprintf(n, sizeof n, "%.1f %%", v);
    else if (v >= 0)
        snprintf(n, sizeof n, "%.3f", v);
    text_cell(t, n, 22, true);
}

static void put_line(timeline_text *t, const figure *f) {
    text_put(t, "  ");
    text_cell(t, f->text, 22, false);
    put_value(t, f, f->value[0]);
    put_value(t, f, f->value[1]);
    double r = ratio_of(f->value[0], f->value[1]);
    char n[48] = "-";
    if (r >= 0) snprintf(n, sizeof n, "x %.3f", r);
    text_cell(t, n, 12, true);
    text_put(t, "\n");
}

static void idle_by_cause(double out[TIMELINE_CAUSES], const timeline_analysis *a) {
    for (int c = 0; c < TIMELINE_CAUSES; c++) out[c] = 0;
    for (size_t i = 0; i < a->n_gaps; i++)
        for (int c = 0; c < TIMELINE_CAUSES; c++) out[c] += (double)a->gaps[i].share[c] / 1e3;
}

static void compare_text(timeline_text *t, const timeline_analysis *a, const timeline_analysis *b, const char *name_a,
                         const char *name_b) {
    text_repeat(t, ' ', 26);
    text_cell(t, name_a, 20, true);
    text_put(t, "  ");
    text_cell(t, name_b, 20, true);
    text_put(t, "  second/first\n");
    for (int part = 0; part < PARTS; part++) {
        const timeline_summary *x = part_of(a, part), *y = part_of(b, part);
        if (!x->present && !y->present) continue;
        text_put_f(t, "%s\n", part == 0 ? "all" : PART[part]);
        figure f[FIGURES];
        figures_of(f, x, y);
        for (int i = 0; i < FIGURES; i++) put_line(t, &f[i]);
        figure proofs = {
            "", "proofs done", "", {x->present ? (double)x->proofs : -1, y->present ? (double)y->proofs : -1}};
        put_line(t, &proofs);
    }
    double idle_a[TIMELINE_CAUSES], idle_b[TIMELINE_CAUSES];
    idle_by_cause(idle_a, a);
    idle_by_cause(idle_b, b);
    text_put(t, "why the GPU was idle\n");
    for (int c = 0; c < TIMELINE_CAUSES; c++) {
        if (idle_a[c] == 0 && idle_b[c] == 0) continue;
        figure f = {"", timeline_cause_name((timeline_cause)c), "s", {idle_a[c], idle_b[c]}};
        put_line(t, &f);
    }
    for (int k = 0; k < 2; k++) {
        const timeline_analysis *x = k == 0 ? a : b;
        if (x->n_warnings == 0) continue;
        text_put_f(t, "\nWarnings about %s\n", k == 0 ? name_a : name_b);
        for (size_t i = 0; i < x->n_warnings; i++) text_put_f(t, "  %s\n", x->warnings[i]);
    }
}

static void json_run(timeline_text *t, const char *key, const timeline_analysis *a, const char *name) {
    text_put_f(t, "  \"%s\": {\n    \"file\": ", key);
    char clean[3 * 256 + 1];
    timeline_clean_text(clean, name, strnlen(name, 256));
    text_json_string(t, clean);
    text_put(t, ",\n");
    timeline_json_summaries(t, a, "    ");
    text_put(t, ",\n    \"warnings\": [");
    for (size_t i = 0; i < a->n_warnings; i++) {
        if (i > 0) text_put(t, ", ");
        text_json_string(t, a->warnings[i]);
    }
    text_put(t, "]\n  },\n");
}

static void compare_json(timeline_text *t, const timeline_analysis *a, const timeline_analysis *b, const char *name_a,
                         const char *name_b) {
    text_put(t, "{\n");
    json_run(t, "first", a, name_a);
    json_run(t, "second", b, name_b);
    text_put(t, "  \"ratio\": {");
    for (int part = 0; part < PARTS; part++) {
        figure f[FIGURES];
        figures_of(f, part_of(a, part), part_of(b, part));
        text_put_f(t, "%s\n    \"%s\": {", part > 0 ? "," : "", PART[part]);
        for (int i = 0; i < FIGURES; i++) {
            text_put_f(t, "%s\"%s\": ", i > 0 ? ", " : "", f[i].key);
            text_json_number(t, ratio_of(f[i].value[0], f[i].value[1]));
        }
        text_put(t, "}");
    }
    text_put(t, "\n  }\n}\n");
}

cuzk_status timeline_render_compare(timeline_text *out, const timeline_analysis *a, const timeline_analysis *b,
                                    const char *name_a, const char *name_b, timeline_format format, cuzk_error *err) {
    if (format == TIMELINE_TEXT)
        compare_text(out, a, b, name_a, name_b);
    else if (format == TIMELINE_JSON)
        compare_json(out, a, b, name_a, name_b);
    else
        return cuzk_fail(err, CUZK_ERR_USAGE, "a comparison is written as text or json");
    return out->failed ? cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a comparison") : CUZK_OK;
}
