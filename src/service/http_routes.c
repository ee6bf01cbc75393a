// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What answers which address.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/http_internal.h"
#include "service/pages.h"
#include "timeline/out.h"

enum { TIMELINE_BYTES = 1 << 20 };

void http_answer_release(http_answer *a) {
    if (!a->fixed) free(a->body);
    free(a->own_policy);
    *a = (http_answer){0};
}

http_answer http_answer_text(unsigned code, const char *fmt, ...) {
    char text[CUZK_ERROR_TEXT_MAX + 64];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    http_answer a = {.code = code, .type = "text/plain; charset=utf-8", .body = strdup(text)};
    if (a.body != NULL)
        a.len = strlen(a.body);
    else
        a.fixed = true; // of no bytes
    return a;
}

static http_answer made(cuzk_status st, char *body, size_t len, const char *type, const cuzk_error *why) {
    if (st != CUZK_OK) return http_answer_text(500, "%s\n", why->text);
    return (http_answer){.code = 200, .body = body, .len = len, .type = type};
}

static http_answer status(service *s, const char *since) {
    (void)since;
    char *body;
    size_t len;
    cuzk_error why;
    const cuzk_status st = service_status_json(s, &body, &len, &why);
    return made(st, body, len, "application/json", &why);
}

static http_answer metrics(service *s, const char *since) {
    (void)since;
    char *body;
    size_t len;
    cuzk_error why;
    const cuzk_status st = service_metrics(s, &body, &len, &why);
    return made(st, body, len, "text/plain; version=0.0.4; charset=utf-8", &why);
}

static http_answer health(service *s, const char *since) {
    (void)since;
    return service_draining(s) ? http_answer_text(503, "draining\n") : http_answer_text(200, "ok\n");
}

// Digits alone, and no more than fit.
static bool parse_since(uint64_t *out, const char *text) {
    *out = 0;
    if (text == NULL) return true;
    if (text[0] == 0) return false;
    for (; *text != 0; text++) {
        const unsigned digit = (unsigned)(*text - '0');
        if (digit > 9 || *out > (UINT64_MAX - digit) / 10) return false;
        *out = *out * 10 + digit;
    }
    return true;
}

static http_answer timeline(service *s, const char *since) {
    uint64_t seq, lost = 0;
    if (!parse_since(&seq, since)) return http_answer_text(400, "since: expected the number of a line\n");
    char *lines = mem_alloc(MEM_MISC, TIMELINE_BYTES, 1);
    if (lines == NULL) return http_answer_text(500, "no memory for it\n");
    service_timeline_since(s, lines, &seq, &lost, TIMELINE_BYTES);
    timeline_text t = {0};
    text_put(&t, "{\"lines\":[");
    bool first = true;
    for (char *line = lines, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = 0;
        if (!first) text_put(&t, ",");
        first = false;
        text_json_string(&t, line);
    }
    mem_free(lines);
    text_put_f(&t, "],\"next_seq\":%" PRIu64 ",\"lost\":%" PRIu64 "}", seq, lost);
    char *body = t.failed ? NULL : malloc(t.len + 1);
    if (body != NULL) memcpy(body, t.data, t.len + 1);
    const size_t len = t.len;
    timeline_text_release(&t);
    if (body == NULL) return http_answer_text(500, "no memory for it\n");
    return (http_answer){.code = 200, .body = body, .len = len, .type = "application/json"};
}

// --- the page ---

static http_answer page(const char *body, size_t len, const char *type) {
    return (http_answer){.code = 200,
                         .body = (char *)(uintptr_t)body,
                         .len = len,
                         .fixed = true,
                         .type = type,
                         .policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
                                   "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                         .keep = true};
}

static http_answer live_html(service *s, const char *since) {
    (void)s, (void)since;
    return page(page_live_html, page_live_html_len, "text/html; charset=utf-8");
}
static http_answer live_css(service *s, const char *since) {
    (void)s, (void)since;
    return page(page_live_css, page_live_css_len, "text/css; charset=utf-8");
}
static http_answer live_js(service *s, const char *since) {
    (void)s, (void)since;
    return page(page_live_js, page_live_js_len, "text/javascript; charset=utf-8");
}
static http_answer live_model_js(service *s, const char *since) {
    (void)s, (void)since;
    return page(page_live_model_js, page_live_model_js_len, "text/javascript; charset=utf-8");
}
static http_answer live_draw_js(service *s, const char *since) {
    (void)s, (void)since;
    return page(page_live_draw_js, page_live_draw_js_len, "text/javascript; charset=utf-8");
}

const http_route *http_route_find(const char *path) {
    static const http_route ROUTES[] = {
        {"/status", status, NULL, NULL},
        {"/metrics", metrics, NULL, NULL},
        {"/healthz", health, NULL, NULL},
        {"/timeline", timeline, NULL, NULL},
        {"/timeline.log", NULL, "log", "timeline.log"},
        {"/waterfall.html", NULL, "html", NULL},
        {"/waterfall.svg", NULL, "svg", NULL},
        {"/trace.json", NULL, "trace", "trace.json"},
        {"/", live_html, NULL, NULL},
        {"/live.html", live_html, NULL, NULL},
        {"/live.css", live_css, NULL, NULL},
        {"/live.js", live_js, NULL, NULL},
        {"/live-model.js", live_model_js, NULL, NULL},
        {"/live-draw.js", live_draw_js, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof ROUTES / sizeof ROUTES[0]; i++)
        if (strcmp(ROUTES[i].path, path) == 0) return &ROUTES[i];
    return NULL;
}
