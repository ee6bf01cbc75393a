// SPDX-License-Identifier: MIT OR Apache-2.0
#include "timeline/render.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

static const char *const FORMAT[TIMELINE_FORMATS] = {"text", "json", "csv", "svg", "html", "trace"};

bool timeline_format_from_name(timeline_format *out, const char *name) {
    for (int i = 0; i < TIMELINE_FORMATS; i++)
        if (strcmp(FORMAT[i], name) == 0) {
            *out = (timeline_format)i;
            return true;
        }
    return false;
}

cuzk_status timeline_format_of_path(timeline_format *out, const char *path, cuzk_error *err) {
    static const struct {
        const char *ending;
        timeline_format format;
    } ENDINGS[] = {{".trace.json", TIMELINE_TRACE}, {".json", TIMELINE_JSON}, {".csv", TIMELINE_CSV},
                   {".svg", TIMELINE_SVG},          {".html", TIMELINE_HTML}, {".txt", TIMELINE_TEXT},
                   {".log", TIMELINE_TEXT}};
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const size_t len = strlen(name);
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        const size_t n = strlen(ENDINGS[i].ending);
        if (len <= n || strcmp(name + len - n, ENDINGS[i].ending) != 0) continue;
        *out = ENDINGS[i].format;
        return CUZK_OK;
    }
    const char *dot = strrchr(name, '.');
    *out = TIMELINE_TEXT;
    if (dot == NULL || dot == name) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_USAGE,
                     "%s: no waterfall has the ending %s; there are .txt, .json, .csv, .svg, .html and .trace.json",
                     path, dot);
}

const char *timeline_format_name(timeline_format f) { return (unsigned)f < TIMELINE_FORMATS ? FORMAT[f] : "?"; }

cuzk_status timeline_render(timeline_text *out, const timeline_analysis *a, timeline_format format,
                            const timeline_render_options *o, cuzk_error *err) {
    cuzk_status s = CUZK_OK;
    switch (format) {
    case TIMELINE_TEXT: s = timeline_render_text(out, a, o, err); break;
    case TIMELINE_JSON: timeline_render_json(out, a, o); break;
    case TIMELINE_CSV: timeline_render_csv(out, a); break;
    case TIMELINE_SVG: s = timeline_render_svg(out, a, o, err); break;
    case TIMELINE_HTML: s = timeline_render_html(out, a, o, err); break;
    case TIMELINE_TRACE: s = timeline_render_trace(out, a, err); break;
    default: s = cuzk_fail(err, CUZK_ERR_USAGE, "no such format: %d", (int)format); break;
    }
    if (s == CUZK_OK && out->failed)
        s = cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a %s of more than %zu bytes", timeline_format_name(format),
                      out->len);
    return s;
}

// --- what renderers share ---

bool timeline_palette_make(timeline_palette *p, const timeline_analysis *a) {
    p->names = a->log->names.n;
    p->place = mem_calloc(MEM_MISC, p->names, sizeof *p->place);
    if (p->place == NULL) return false;
    for (size_t i = 0; i < a->n_proofs; i++) p->place[a->proofs[i].job] = (uint32_t)i;
    return true;
}

void timeline_palette_release(timeline_palette *p) {
    mem_free(p->place);
    p->place = NULL;
}

char timeline_palette_letter(const timeline_palette *p, uint32_t job) {
    return job < p->names ? (char)('A' + p->place[job] % 26) : '#';
}

// Colours that stay apart for people with the common colour deficiencies and on both light and dark ground (after the
// qualitative schemes of Okabe and Ito, and of Tol).
static const uint32_t RGB[TIMELINE_PALETTE] = {0x4477aa, 0xee6677, 0x228833, 0xccbb44, 0x66ccee, 0xaa3377,
                                               0xe69f00, 0x0072b2, 0xcc6677, 0x44aa99, 0x999933, 0x882255};

uint32_t timeline_palette_entry(uint32_t i) { return RGB[i % TIMELINE_PALETTE]; }

uint32_t timeline_palette_rgb(const timeline_palette *p, uint32_t job) {
    return job < p->names ? RGB[p->place[job] % TIMELINE_PALETTE] : 0x888888;
}

int64_t timeline_tick_step(int64_t length_us, uint32_t ticks) {
    if (ticks == 0) ticks = 1;
    int64_t step = 1;
    for (;;) {
        static const int64_t NICE[] = {1, 2, 5};
        for (int i = 0; i < 3; i++)
            if (length_us / (step * NICE[i]) < ticks) return step * NICE[i];
        if (step > INT64_MAX / 100) return step;
        step *= 10;
    }
}

int64_t timeline_first_tick(int64_t from, int64_t step) { return (from + step - 1) / step * step; }

void timeline_tick_label(char out[32], int64_t us, int64_t step_us) {
    const char *unit = "us";
    int64_t scale = 1;
    if (step_us >= 100000)
        unit = "s", scale = 1000000;
    else if (step_us >= 100)
        unit = "ms", scale = 1000;
    int decimals = 0;
    for (int64_t s = scale; s > step_us; s /= 10) decimals++;
    snprintf(out, 32, "%.*f %s", decimals, (double)us / (double)scale, unit);
}
