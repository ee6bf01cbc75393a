// SPDX-License-Identifier: MIT OR Apache-2.0
#include "timeline/row.h"

#include <string.h>

#include "timeline/names.h"

enum { MAX_DEVICE = 4095, MAX_WORKER = 65535, MAX_PARTITION = 1 << 24 };
static const char TAG[] = "TIMELINE,";
enum { TAG_LEN = sizeof TAG - 1 };

// Where "TIMELINE," stands: at the start, or behind white space (a log collector's prefix). NULL if nowhere.
static const char *find_tag(const char *line, size_t len) {
    const char *end = line + len;
    for (const char *p = line; (size_t)(end - p) >= TAG_LEN; p++) {
        p = memchr(p, 'T', (size_t)(end - p));
        if (p == NULL || (size_t)(end - p) < TAG_LEN) return NULL;
        if (memcmp(p, TAG, TAG_LEN) == 0 && (p == line || p[-1] == ' ' || p[-1] == '\t')) return p;
    }
    return NULL;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Decimal milliseconds with up to nine decimals to microseconds, cut. At most 10^12 ms (31 years), so that every sum
// of two times fits and every time is exact as a JSON number.
static bool read_ms(int64_t *us, const char *p, size_t len) {
    size_t i = 0;
    int64_t v = 0;
    while (i < len && is_digit(p[i])) {
        v = v * 10 + (p[i++] - '0');
        if (v > INT64_C(1000000000000)) return false;
    }
    if (i == 0) return false;
    v *= 1000;
    if (i < len) {
        if (p[i++] != '.' || i == len || len - i > 9) return false;
        int64_t unit = 100;
        for (; i < len; i++) {
            if (!is_digit(p[i])) return false;
            v += unit * (p[i] - '0');
            unit /= 10;
        }
    }
    *us = v;
    return true;
}

timeline_row_verdict timeline_row_split(timeline_row_view *out, const char **why, const char *line, size_t len) {
    const char *tag = find_tag(line, len);
    if (tag == NULL) return ROW_NONE;
    const char *p = tag + TAG_LEN, *end = line + len;
    // The tag inside another line may be text about the timeline; only at the start is it surely meant as an event.
    timeline_row_verdict bad = tag == line ? ROW_BAD : ROW_NONE;

    const char *comma = memchr(p, ',', (size_t)(end - p));
    *why = "no event after the offset";
    if (comma == NULL) return bad;
    *why = "the offset is not a number of milliseconds";
    if (!read_ms(&out->at_us, p, (size_t)(comma - p))) return bad;

    p = comma + 1;
    comma = memchr(p, ',', (size_t)(end - p));
    *why = "no job after the event";
    if (comma == NULL) return bad;
    out->word = p;
    out->word_len = (size_t)(comma - p);
    *why = "the event is not a word of capitals";
    if (out->word_len == 0 || out->word_len > 32) return bad;
    for (size_t i = 0; i < out->word_len; i++)
        if (!(p[i] >= 'A' && p[i] <= 'Z') && !is_digit(p[i]) && p[i] != '_') return bad;
    out->kind = timeline_kind_from_word(p, (uint32_t)out->word_len);

    p = comma + 1;
    comma = memchr(p, ',', (size_t)(end - p));
    out->four_commas = comma != NULL;
    out->job = p;
    out->job_len = (size_t)((comma != NULL ? comma : end) - p);
    out->detail = comma != NULL ? comma + 1 : end;
    out->detail_len = (size_t)(end - out->detail);
    *why = "the job is longer than 256 bytes";
    if (out->job_len > TIMELINE_NAME_MAX) return bad;
    return ROW_GOOD;
}

static bool key_is(const char *key, size_t len, const char *want) {
    return strlen(want) == len && memcmp(key, want, len) == 0;
}

static bool read_u64(uint64_t *out, const char *p, size_t len) {
    uint64_t v = 0;
    if (len == 0 || len > 18) return false;
    for (size_t i = 0; i < len; i++) {
        if (!is_digit(p[i])) return false;
        v = v * 10 + (uint64_t)(p[i] - '0');
    }
    *out = v;
    return true;
}

static void read_small(int32_t *out, bool *bad, const char *p, size_t len, uint64_t max) {
    uint64_t v = 0;
    if (read_u64(&v, p, len) && v <= max)
        *out = (int32_t)v;
    else
        *bad = true;
}

// The key whose value names what an event of this kind is about.
static const char *word_key(timeline_kind kind) {
    switch (kind) {
    case TL_EPOCH: return "wall";
    case TL_STAGE_START:
    case TL_STAGE_END: return "stage";
    case TL_SRS_LOAD_START:
    case TL_SRS_LOAD_END:
    case TL_SRS_EVICT:
    case TL_PCE_START:
    case TL_PCE_END: return "key";
    case TL_JOB_FAIL:
    case TL_JOB_CANCEL:
    case TL_RETRY: return "reason";
    case TL_DEVICE: return "state";
    case TL_JOB_SUBMIT:
    case TL_SYNTH_START: return "kind";
    default: return "";
    }
}

void timeline_row_detail_of(timeline_row_detail *out, const timeline_row_view *row) {
    *out = (timeline_row_detail){.gpu = -1, .worker = -1, .partition = -1, .count = -1, .value = UINT64_MAX};
    const char *p = row->detail, *end = p + row->detail_len;
    const char *want = word_key(row->kind);
    // Pairs are parted by spaces, in the public daemon's lines by commas.
    while (p < end) {
        const char *stop = p;
        while (stop < end && *stop != ' ' && *stop != ',') stop++;
        const char *eq = memchr(p, '=', (size_t)(stop - p));
        if (eq != NULL) {
            size_t klen = (size_t)(eq - p), vlen = (size_t)(stop - eq - 1);
            const char *v = eq + 1;
            int64_t us = 0;
            if (key_is(p, klen, "gpu"))
                read_small(&out->gpu, &out->bad, v, vlen, MAX_DEVICE);
            else if (key_is(p, klen, "worker"))
                read_small(&out->worker, &out->bad, v, vlen, MAX_WORKER);
            else if (key_is(p, klen, "partition"))
                read_small(&out->partition, &out->bad, v, vlen, MAX_PARTITION);
            else if (key_is(p, klen, "count") || (row->kind == TL_JOB_SUBMIT && key_is(p, klen, "partitions")))
                read_small(&out->count, &out->bad, v, vlen, MAX_PARTITION);
            else if (key_is(p, klen, "gpu_ms") || key_is(p, klen, "synth_ms")) {
                if (read_ms(&us, v, vlen))
                    out->value = (uint64_t)us;
                else
                    out->bad = true;
            } else if (key_is(p, klen, "bytes") || key_is(p, klen, "drops")) {
                if (!read_u64(&out->value, v, vlen)) out->bad = true;
            } else if (key_is(p, klen, want) && vlen <= TIMELINE_NAME_MAX) {
                out->word = v;
                out->word_len = vlen;
            }
        }
        p = stop + (stop < end);
    }
}
