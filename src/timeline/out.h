// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A growing text, and the escapes of the formats that are written. A refused allocation makes the text `failed`; what
// is put afterwards is dropped, so that only the end needs a check.
#ifndef CUZK_TIMELINE_OUT_H
#define CUZK_TIMELINE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef struct timeline_text {
    char *data; // NUL-terminated once something was put
    size_t len, cap;
    bool failed;
} timeline_text;

void timeline_text_release(timeline_text *t);
void text_put(timeline_text *t, const char *s);
void text_put_n(timeline_text *t, const char *s, size_t n);
void text_put_f(timeline_text *t, const char *fmt, ...) CUZK_PRINTF(2, 3);
void text_repeat(timeline_text *t, char c, size_t n);

// A JSON string with its quotes. `s` is UTF-8. '<', '>' and '&' are escaped too, so that it may stand in HTML.
void text_json_string(timeline_text *t, const char *s);
// A CSV field: quoted where it has to be (RFC 4180). A field that a spreadsheet would take as a formula gets a "'".
void text_csv_field(timeline_text *t, const char *s);
// Text or attribute of XML and HTML.
void text_xml(timeline_text *t, const char *s);

// Microseconds as milliseconds with three decimals, exactly.
void text_ms(timeline_text *t, int64_t us);
// The same, or null for TIMELINE_NONE.
void text_json_ms(timeline_text *t, int64_t us);
// A number with three decimals, null where negative.
void text_json_number(timeline_text *t, double v);

// For people: "12.345 s", below a second "12.345 ms".
void text_duration(char out[32], double us);

// Columns that UTF-8 text takes: code points without the combining ones.
size_t text_width(const char *s);
// Puts s padded or cut ("…") to `width` columns; to the right when `right`.
void text_cell(timeline_text *t, const char *s, size_t width, bool right);

#endif
