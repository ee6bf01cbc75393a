// SPDX-License-Identifier: MIT OR Apache-2.0
//
// An analysis as text for a terminal, as documents and as pictures.
#ifndef CUZK_TIMELINE_RENDER_H
#define CUZK_TIMELINE_RENDER_H

#include "timeline/analysis.h"
#include "timeline/out.h"

typedef enum timeline_format {
    TIMELINE_TEXT,
    TIMELINE_JSON,
    TIMELINE_CSV,
    TIMELINE_SVG,
    TIMELINE_HTML,
    TIMELINE_TRACE,
    TIMELINE_FORMATS
} timeline_format;

// false: no such format.
bool timeline_format_from_name(timeline_format *out, const char *name);
const char *timeline_format_name(timeline_format f);
// The format that a file's name asks for by its ending: .json, .csv, .svg, .html, .trace.json; .txt, .log and no ending
// at all are text. CUZK_ERR_USAGE for any other ending.
CUZK_MUST_USE cuzk_status timeline_format_of_path(timeline_format *out, const char *path, cuzk_error *err);

typedef struct timeline_render_options {
    uint32_t width; // columns of the text, pixels of the SVG; 0: 100 columns, 1200 pixels
    bool colour;    // text: ANSI colours
    bool causes;    // text: every gap with its cause; (documents always have them)
    bool stages;    // text, json: the stages inside device runs
} timeline_render_options;

// Appends to `out`. CUZK_ERR_MEMORY is the only failure.
CUZK_MUST_USE cuzk_status timeline_render(timeline_text *out, const timeline_analysis *a, timeline_format format,
                                          const timeline_render_options *options, cuzk_error *err);
// Two runs side by side, text or JSON (anything else is CUZK_ERR_USAGE): figures of `a`, of `b`, and b / a.
CUZK_MUST_USE cuzk_status timeline_render_compare(timeline_text *out, const timeline_analysis *a,
                                                  const timeline_analysis *b, const char *name_a, const char *name_b,
                                                  timeline_format format, cuzk_error *err);

// --- one file each; internal to timeline ---

cuzk_status timeline_render_text(timeline_text *t, const timeline_analysis *a, const timeline_render_options *o,
                                 cuzk_error *err);
cuzk_status timeline_render_chart(timeline_text *t, const timeline_analysis *a, const timeline_render_options *o,
                                  cuzk_error *err);
void timeline_render_json(timeline_text *t, const timeline_analysis *a, const timeline_render_options *o);
void timeline_render_csv(timeline_text *t, const timeline_analysis *a);
cuzk_status timeline_render_svg(timeline_text *t, const timeline_analysis *a, const timeline_render_options *o,
                                cuzk_error *err);
cuzk_status timeline_render_html(timeline_text *t, const timeline_analysis *a, const timeline_render_options *o,
                                 cuzk_error *err);
cuzk_status timeline_render_trace(timeline_text *t, const timeline_analysis *a, cuzk_error *err);

// The members "summary", "cold" and "steady" of a document, without braces.
void timeline_json_summaries(timeline_text *t, const timeline_analysis *a, const char *indent);

// Which letter and colour a job has: its place in the order of the rows.
typedef struct timeline_palette {
    uint32_t *place; // by job name
    uint32_t names;
} timeline_palette;
bool timeline_palette_make(timeline_palette *p, const timeline_analysis *a);
void timeline_palette_release(timeline_palette *p);
char timeline_palette_letter(const timeline_palette *p, uint32_t job);
// 24 bits, red first.
uint32_t timeline_palette_rgb(const timeline_palette *p, uint32_t job);
enum { TIMELINE_PALETTE = 12 };
uint32_t timeline_palette_entry(uint32_t i);

// A step of 1, 2 or 5 times a power of ten microseconds, so that at most `ticks` fit into the length; at least 1.
int64_t timeline_tick_step(int64_t length_us, uint32_t ticks);
// The first multiple of the step that is not before `from`.
int64_t timeline_first_tick(int64_t from, int64_t step_us);
// "12.5 s", "3 ms": a time of the axis whose step is `step_us`.
void timeline_tick_label(char out[32], int64_t us, int64_t step_us);

#endif
