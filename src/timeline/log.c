// SPDX-License-Identifier: MIT OR Apache-2.0
#include "timeline/log.h"

#include <string.h>

#include "base/mem.h"
#include "timeline/line.h"
#include "timeline/row.h"

cuzk_status timeline_log_create(timeline_log **out, cuzk_error *err) {
    timeline_log *log = mem_calloc(MEM_MISC, 1, sizeof *log);
    if (log == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "%zu bytes for a timeline log", sizeof *log);
    *out = log;
    return CUZK_OK;
}

void timeline_log_destroy(timeline_log **log) {
    if (log == NULL || *log == NULL) return;
    mem_free((*log)->events);
    timeline_names_release(&(*log)->names);
    mem_free(*log);
    *log = NULL;
}

static void note_bad(timeline_log *log, const char *why, const char *line, size_t len) {
    if (log->n_bad < TIMELINE_BAD_KEPT) {
        timeline_bad_row *b = &log->bad[log->n_bad];
        char clean[3 * 40 + 1];
        size_t n = timeline_clean_text(clean, line, len < 40 ? len : 40);
        if (n >= sizeof b->begin) {
            n = sizeof b->begin - 1;
            while (n > 0 && ((unsigned char)clean[n] & 0xc0) == 0x80) n--;
        }
        memcpy(b->begin, clean, n);
        b->begin[n] = 0;
        b->line = log->lines;
        b->why = why;
    }
    log->n_bad++;
}

static cuzk_status out_of_memory(const timeline_log *log, cuzk_error *err) {
    return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the timeline log after %zu events", log->n);
}

static bool grow(timeline_log *log) {
    if (log->n < log->cap) return true;
    size_t cap = log->cap == 0 ? 1024 : log->cap * 2;
    if (cap > UINT32_MAX / 2) return false; // events are indexed by 32 bits
    timeline_event *events = mem_alloc(MEM_MISC, cap, sizeof *events);
    if (events == NULL) return false;
    if (log->n > 0) memcpy(events, log->events, log->n * sizeof *events);
    mem_free(log->events);
    log->events = events;
    log->cap = cap;
    return true;
}

// Interns an escaped text.
static bool intern(uint32_t *id, timeline_log *log, const char *text, size_t len) {
    char plain[TIMELINE_NAME_MAX];
    if (len > sizeof plain) len = sizeof plain;
    if (memchr(text, '%', len) != NULL) {
        memcpy(plain, text, len);
        len = timeline_unescape(plain, len);
        text = plain;
    }
    *id = timeline_names_add(&log->names, text, len);
    return *id != TIMELINE_NO_NAME;
}

// Events that belong to no job say "-", nothing, or a UUID of zeros.
static bool is_no_job(const char *job, size_t len) {
    if (len == 0 || (len == 1 && job[0] == '-')) return true;
    if (len != 36) return false;
    for (size_t i = 0; i < len; i++)
        if (job[i] != '0' && job[i] != '-') return false;
    return true;
}

static void note_unknown(timeline_log *log, uint32_t word) {
    log->n_unknown++;
    for (uint32_t i = 0; i < log->n_unknown_words; i++)
        if (log->unknown[i] == word) return;
    if (log->n_unknown_words < TIMELINE_WORDS_KEPT) log->unknown[log->n_unknown_words++] = word;
}

static cuzk_status add_row(timeline_log *log, const timeline_row_view *row, cuzk_error *err) {
    timeline_row_detail d;
    timeline_row_detail_of(&d, row);
    if (!grow(log)) return out_of_memory(log, err);
    timeline_event e = {.at_us = row->at_us,
                        .value = d.value,
                        .line = log->lines,
                        .job = TIMELINE_NO_NAME,
                        .name = TIMELINE_NO_NAME,
                        .gpu = d.gpu,
                        .worker = d.worker,
                        .partition = d.partition,
                        .count = d.count,
                        .kind = (uint32_t)row->kind};
    if (!is_no_job(row->job, row->job_len) && !intern(&e.job, log, row->job, row->job_len))
        return out_of_memory(log, err);
    if (row->kind == TL_UNKNOWN) {
        if (!intern(&e.name, log, row->word, row->word_len)) return out_of_memory(log, err);
        note_unknown(log, e.name);
    } else if (d.word != NULL && !intern(&e.name, log, d.word, d.word_len)) {
        return out_of_memory(log, err);
    }
    if (d.bad && log->n_bad_detail++ == 0) log->bad_detail_line = log->lines;
    log->events[log->n++] = e;
    return CUZK_OK;
}

static size_t without_cr(const char *line, size_t len) { return len > 0 && line[len - 1] == '\r' ? len - 1 : len; }

static cuzk_status take_line(timeline_log *log, const char *line, size_t len, cuzk_error *err) {
    if (log->lines < UINT32_MAX) log->lines++;
    if (len >= TIMELINE_LINE_LIMIT) {
        if (memcmp(line, "TIMELINE,", 9) == 0) note_bad(log, "the line is longer than 4095 bytes", line, len);
        return CUZK_OK;
    }
    timeline_row_view row;
    const char *why = "";
    switch (timeline_row_split(&row, &why, line, without_cr(line, len))) {
    case ROW_NONE: return CUZK_OK;
    case ROW_BAD: note_bad(log, why, line, len); return CUZK_OK;
    case ROW_GOOD: break;
    }
    return add_row(log, &row, err);
}

cuzk_status timeline_log_push(timeline_log *log, const void *data, size_t len, cuzk_error *err) {
    const char *p = data;
    log->bytes += len;
    while (len > 0) {
        const char *nl = memchr(p, '\n', len);
        size_t piece = nl != NULL ? (size_t)(nl - p) : len;
        cuzk_status s = CUZK_OK;
        if (nl != NULL && log->partial_len == 0 && !log->overlong) {
            s = take_line(log, p, piece, err);
        } else {
            size_t room = sizeof log->partial - log->partial_len;
            size_t n = piece < room ? piece : room;
            memcpy(log->partial + log->partial_len, p, n);
            log->partial_len += n;
            // A full buffer is a line of the limit or more; the rest of it only has to end.
            if (log->partial_len == sizeof log->partial) log->overlong = true;
            if (nl != NULL) {
                s = take_line(log, log->partial, log->partial_len, err);
                log->partial_len = 0;
                log->overlong = false;
            }
        }
        size_t used = piece + (nl != NULL);
        p += used;
        len -= used;
        if (s != CUZK_OK) return s;
    }
    return CUZK_OK;
}

// The last line has no newline: either the file just ends so, or it was cut. It was cut when the part that identifies
// the event is not complete: fewer than four commas and a word this version does not know, a job that is the beginning
// of a known job's id, or no job at all.
static bool looks_cut(const timeline_log *log, const timeline_row_view *row) {
    if (row->four_commas) return false;
    if (row->kind == TL_UNKNOWN || row->job_len == 0) return true;
    for (uint32_t i = 0; i < log->names.n; i++) {
        const char *t = timeline_name(&log->names, i);
        if (strlen(t) > row->job_len && memcmp(t, row->job, row->job_len) == 0) return true;
    }
    return false;
}

cuzk_status timeline_log_finish(timeline_log *log, cuzk_error *err) {
    if (log->finished) return CUZK_OK;
    log->finished = true;
    if (log->partial_len == 0) return CUZK_OK;
    size_t len = log->partial_len;
    log->partial_len = 0;
    timeline_row_view row;
    const char *why = "";
    static const char TAG[] = "TIMELINE,";
    timeline_row_verdict v = len < TIMELINE_LINE_LIMIT
                                 ? timeline_row_split(&row, &why, log->partial, without_cr(log->partial, len))
                                 : ROW_BAD;
    // "TIMEL" at the end of a file is a cut row as well.
    bool stub = len < sizeof TAG - 1 && memcmp(log->partial, TAG, len) == 0;
    if (stub || (v == ROW_BAD && memcmp(log->partial, TAG, sizeof TAG - 1) == 0) ||
        (v == ROW_GOOD && looks_cut(log, &row))) {
        log->lines++;
        log->cut_line = log->lines;
        return CUZK_OK;
    }
    return take_line(log, log->partial, len, err);
}
