// SPDX-License-Identifier: MIT OR Apache-2.0
#include "base/status.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/scrub.h"

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
    scrub_text(text);
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
    scrub_text(text);
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
