// SPDX-License-Identifier: MIT OR Apache-2.0
#include "base/status.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Length of the well-formed UTF-8 sequence at p (NUL-terminated), 0 if malformed (RFC 3629, table in section 4).
static size_t utf8_length(const unsigned char *p) {
    if (p[0] < 0x80) return 1;
    size_t n = p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0; // also stops at the NUL
    }
    if (n == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f))) return 0;
    if (n == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))) return 0;
    return n;
}

// Leaves printable ASCII and well-formed UTF-8. Everything that could move a terminal's cursor, start an escape
// sequence or break a line becomes '?', one for each byte: C0 and C1 controls, DEL and malformed bytes.
static void scrub(char *text) {
    unsigned char *p = (unsigned char *)text;
    while (*p != 0) {
        size_t n = utf8_length(p);
        if (n == 0 || p[0] < 0x20 || p[0] == 0x7f) {
            *p++ = '?';
        } else if (n == 2 && p[0] == 0xc2 && p[1] < 0xa0) {
            p[0] = p[1] = '?';
            p += 2;
        } else {
            p += n;
        }
    }
}

// The text is made in a local buffer first, because arguments may point into err->text.
static void format(char text[CUZK_ERROR_TEXT_MAX], cuzk_status status, const char *fmt, va_list args) {
    if (vsnprintf(text, CUZK_ERROR_TEXT_MAX, fmt, args) < 0) {
        snprintf(text, CUZK_ERROR_TEXT_MAX, "%s", cuzk_status_name(status));
    }
}

cuzk_status cuzk_fail(cuzk_error *err, cuzk_status status, const char *fmt, ...) {
    if (err == NULL) return status;
    char text[CUZK_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    format(text, status, fmt, args);
    va_end(args);
    scrub(text);
    err->status = status;
    memcpy(err->text, text, sizeof text);
    return status;
}

cuzk_status cuzk_fail_in(cuzk_error *err, cuzk_status status, const char *fmt, ...) {
    if (err == NULL) return status;
    char text[CUZK_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    format(text, status, fmt, args);
    va_end(args);
    if (err->status == CUZK_OK) { // a callee that failed without saying why: the context is all there is
        err->status = status;
        err->text[0] = 0;
    }
    size_t n = strlen(text);
    const char *parts[2] = {n == 0 || err->text[0] == 0 ? "" : ": ", err->text};
    for (size_t i = 0; i < 2; i++) {
        size_t len = strnlen(parts[i], CUZK_ERROR_TEXT_MAX), room = CUZK_ERROR_TEXT_MAX - 1 - n;
        if (len > room) len = room;
        memcpy(text + n, parts[i], len);
        n += len;
    }
    text[n] = 0;
    scrub(text);
    memcpy(err->text, text, sizeof text);
    return err->status;
}

const char *cuzk_status_name(cuzk_status status) {
    switch (status) {
    case CUZK_OK: return "OK";
    case CUZK_ERR_USAGE: return "USAGE";
    case CUZK_ERR_IO: return "IO";
    case CUZK_ERR_FORMAT: return "FORMAT";
    case CUZK_ERR_INPUT: return "INPUT";
    case CUZK_ERR_MISMATCH: return "MISMATCH";
    case CUZK_ERR_INVALID: return "INVALID";
    case CUZK_ERR_MEMORY: return "MEMORY";
    case CUZK_ERR_CANCELLED: return "CANCELLED";
    case CUZK_ERR_INTERNAL: return "INTERNAL";
    }
    return "UNKNOWN";
}
