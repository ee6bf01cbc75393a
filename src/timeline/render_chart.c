// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The waterfall of characters: one line a lane, one letter a job, time from left to right.
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "timeline/lanes.h"
#include "timeline/render.h"

enum { LABEL_COLUMNS = 11, MIN_COLUMNS = 20, MAX_COLUMNS = 1000, MAX_LANES = 40 };

typedef struct column {
    int64_t covered; // microseconds of any span
    int64_t best;    // of the span that covers most
    uint32_t job;    // its job
    char mark;       // what to show instead of a letter, 0: the letter
} column;

typedef struct chart {
    timeline_text *t;
    const timeline_analysis *a;
    const timeline_palette *palette;
    column *columns;
    size_t n;
    bool colour;
} chart;

// Column i is [edge(i), edge(i + 1)). The product stays in range: lengths are below 2^50, columns below 2^10.
static int64_t edge(const chart *c, size_t i) {
    return c->a->from + (c->a->to - c->a->from) * (int64_t)i / (int64_t)c->n;
}

static size_t column_at(const chart *c, int64_t at) {
    int64_t len = c->a->to - c->a->from;
    if (at <= c->a->from || len == 0) return 0;
    size_t i = (size_t)((at - c->a->from) * (int64_t)c->n / len);
    if (i >= c->n) i = c->n - 1;
    while (i > 0 && edge(c, i) > at) i--;
    while (i + 1 < c->n && edge(c, i + 1) <= at) i++;
    return i;
}

static void clear(chart *c) { memset(c->columns, 0, c->n * sizeof *c->columns); }

static void cover(chart *c, int64_t from, int64_t to, uint32_t job, char mark) {
    if (from < c->a->from) from = c->a->from;
    if (to > c->a->to) to = c->a->to;
    for (size_t i = column_at(c, from); i < c->n && (edge(c, i) < to || (from == to && edge(c, i) <= to)); i++) {
        int64_t x = edge(c, i) > from ? edge(c, i) : from, y = edge(c, i + 1) < to ? edge(c, i + 1) : to;
        int64_t us = y > x ? y - x : 0;
        column *k = &c->columns[i];
        k->covered += us;
        if (us > k->best || (k->best == 0 && k->mark == 0 && k->job == 0)) {
            k->best = us;
            k->job = job == TIMELINE_NO_NAME ? job : job + 1; // 0: nothing
            k->mark = mark;
        }
    }
}

// The nearest of the 6 x 6 x 6 colours that terminals agree about.
static unsigned cube(uint32_t rgb) {
    unsigned r = (rgb >> 16) * 5 / 255, g = (rgb >> 8 & 255) * 5 / 255, b = (rgb & 255) * 5 / 255;
    return 16 + 36 * r + 6 * g + b;
}

static void put_label(const chart *c, const char *label) {
    text_put(c->t, " ");
    text_cell(c->t, label, LABEL_COLUMNS - 2, false);
    text_put(c->t, " ");
}

// A letter where a job covers at least half of the column, ':' where something covers less, '.' where nothing does.
static void put_line(const chart *c, const char *label) {
    put_label(c, label);
    unsigned now = 0;
    for (size_t i = 0; i < c->n; i++) {
        const column *k = &c->columns[i];
        int64_t width = edge(c, i + 1) - edge(c, i);
        char ch = k->job == 0 ? '.' : k->mark != 0 ? k->mark : timeline_palette_letter(c->palette, k->job - 1);
        unsigned colour = 0;
        bool full = k->job != 0 && 2 * k->covered >= width;
        if (k->job != 0 && !full && k->mark == 0) ch = ':';
        if (full && k->mark == 0) colour = cube(timeline_palette_rgb(c->palette, k->job - 1));
        if (c->colour && colour != now) {
            if (colour == 0)
                text_put(c->t, "\033[0m");
            else
                text_put_f(c->t, "\033[30;48;5;%um", colour);
            now = colour;
        }
        text_put_n(c->t, &ch, 1);
    }
    if (now != 0) text_put(c->t, "\033[0m");
    text_put(c->t, "\n");
}

// Labels over their ticks.
static void put_axis(const chart *c) {
    char marks[MAX_COLUMNS + 1], labels[MAX_COLUMNS + 1];
    memset(marks, '-', c->n);
    memset(labels, ' ', c->n);
    int64_t len = c->a->to - c->a->from;
    int64_t step = timeline_tick_step(len, (uint32_t)(c->n / 12));
    size_t free_from = 0;
    for (int64_t at = timeline_first_tick(c->a->from, step); at <= c->a->to; at += step) {
        size_t i = column_at(c, at);
        marks[i] = '|';
        char text[32];
        timeline_tick_label(text, at, step);
        size_t n = strlen(text);
        if (i >= free_from && i + n <= c->n) {
            memcpy(labels + i, text, n);
            free_from = i + n + 1;
        }
    }
    size_t n = c->n;
    while (n > 0 && labels[n - 1] == ' ') n--;
    put_label(c, "");
    text_put_n(c->t, labels, n);
    text_put(c->t, "\n");
    put_label(c, "");
    text_put_n(c->t, marks, c->n);
    text_put(c->t, "\n");
}

static const char CAUSE_MARK[TIMELINE_CAUSES] = {'n', 's', 'c', 'm', 'k', 'd', '?'};

static void put_causes(chart *c, int32_t gpu) {
    clear(c);
    for (size_t i = 0; i < c->a->n_gaps; i++) {
        const timeline_gap *g = &c->a->gaps[i];
        if (c->a->spans.devices[g->device].id == gpu) cover(c, g->from_us, g->to_us, 0, CAUSE_MARK[g->cause]);
    }
    for (size_t i = 0; i < c->n; i++)
        if (c->columns[i].job == 0) c->columns[i].job = 1, c->columns[i].mark = ' ';
    put_line(c, "  idle");
}

static void put_lanes(chart *c, const timeline_lanes *lanes, bool causes) {
    size_t shown = 0;
    for (size_t i = 0; i < lanes->n; i++) {
        const timeline_lane *l = &lanes->lanes[i];
        if (shown++ >= MAX_LANES) continue;
        clear(c);
        for (size_t k = 0; k < l->n; k++) {
            const timeline_span *x = &c->a->spans.spans[lanes->spans[l->first + k]];
            char mark = x->kind == SPAN_SRS_LOAD ? 'k' : x->kind == SPAN_PCE ? 'p' : 0;
            cover(c, x->start_us, x->end_us, x->job, mark);
        }
        put_line(c, l->label);
        bool last_of_device =
            i + 1 == lanes->n || lanes->lanes[i + 1].group != LANES_DEVICE || lanes->lanes[i + 1].id != l->id;
        if (causes && l->group == LANES_DEVICE && last_of_device) put_causes(c, l->id);
    }
    if (shown > MAX_LANES) text_put_f(c->t, " ... and %zu more lanes\n", shown - MAX_LANES);
}

cuzk_status timeline_render_chart(timeline_text *t, const timeline_analysis *a, const timeline_render_options *o,
                                  cuzk_error *err) {
    size_t width = o->width == 0 ? 100 : o->width;
    chart c = {.t = t, .a = a, .colour = o->colour};
    c.n = width > LABEL_COLUMNS + MIN_COLUMNS ? width - LABEL_COLUMNS : MIN_COLUMNS;
    if (c.n > MAX_COLUMNS) c.n = MAX_COLUMNS;
    timeline_lanes lanes;
    timeline_palette palette;
    cuzk_status s = timeline_lanes_build(&lanes, a, 0, err);
    if (s != CUZK_OK) return s;
    c.columns = mem_alloc(MEM_MISC, c.n, sizeof *c.columns);
    if (c.columns == NULL || !timeline_palette_make(&palette, a)) {
        mem_free(c.columns);
        timeline_lanes_release(&lanes);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a chart of %zu columns", c.n);
    }
    c.palette = &palette;
    put_axis(&c);
    put_lanes(&c, &lanes, o->causes);
    bool keys = false;
    for (size_t i = 0; i < lanes.n; i++) keys |= lanes.lanes[i].group == LANES_KEYS;
    if (keys) text_put(t, " keys: k key load, p pre-computed evaluation\n");
    if (o->causes)
        text_put(t, " idle: n no job offered, s synthesis not ready, c channel full, m memory, k key load, d drained, "
                    "? unknown\n");
    timeline_palette_release(&palette);
    mem_free(c.columns);
    timeline_lanes_release(&lanes);
    return CUZK_OK;
}
