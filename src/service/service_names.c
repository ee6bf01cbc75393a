// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Names of the numbers on the wire, and errors in words.
#include <stdarg.h>
#include <stdio.h>

#include "service/service_internal.h"

const char *service_kind_name(service_kind k) {
    switch (k) {
    case SERVICE_POREP: return "porep";
    case SERVICE_SNAP: return "snap";
    case SERVICE_WINDOW_POST: return "window-post";
    case SERVICE_WINNING_POST: return "winning-post";
    case SERVICE_TOY: return "toy";
    case SERVICE_KIND_UNSPECIFIED:
    case SERVICE_KINDS: break;
    }
    return "unspecified";
}

const char *service_kind_public_name(service_kind k) {
    switch (k) {
    case SERVICE_POREP: return "porep-c2";
    case SERVICE_SNAP: return "snap-update";
    default: return service_kind_name(k);
    }
}

const char *service_code_name(service_code c) {
    switch (c) {
    case SERVICE_OK: return "OK";
    case SERVICE_CANCELLED: return "CANCELLED";
    case SERVICE_INVALID_ARGUMENT: return "INVALID_ARGUMENT";
    case SERVICE_DEADLINE_EXCEEDED: return "DEADLINE_EXCEEDED";
    case SERVICE_NOT_FOUND: return "NOT_FOUND";
    case SERVICE_ALREADY_EXISTS: return "ALREADY_EXISTS";
    case SERVICE_RESOURCE_EXHAUSTED: return "RESOURCE_EXHAUSTED";
    case SERVICE_FAILED_PRECONDITION: return "FAILED_PRECONDITION";
    case SERVICE_UNIMPLEMENTED: return "UNIMPLEMENTED";
    case SERVICE_INTERNAL: return "INTERNAL";
    case SERVICE_UNAVAILABLE: return "UNAVAILABLE";
    }
    return "UNKNOWN";
}

uint32_t service_kind_slot(service_kind k) { return k == SERVICE_TOY ? SERVICE_KINDS : (uint32_t)k; }

service_kind service_kind_of_slot(uint32_t slot) { return slot == SERVICE_KINDS ? SERVICE_TOY : (service_kind)slot; }

service_code service_fail(service_error *err, service_code code, const char *fmt, ...) {
    if (err == NULL) return code;
    char raw[CUZK_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(raw, sizeof raw, fmt, args);
    va_end(args);
    cuzk_error clean; // control characters become '?'
    (void)cuzk_fail(&clean, CUZK_ERR_INPUT, "%s", raw);
    *err = (service_error){.code = code};
    snprintf(err->text, sizeof err->text, "%s", clean.text);
    return code;
}
