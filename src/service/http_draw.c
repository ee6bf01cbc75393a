// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Pictures of the lines that memory holds, and the thread that makes them.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "hash/sha256.h"
#include "service/http_internal.h"
#include "timeline/render.h"

enum { MAX_WAITING = 8, PIECE = 1 << 18 };

// --- drawing ---

// All lines, oldest first. False without memory.
static bool read_lines(service *s, timeline_text *out) {
    uint64_t seq = 0, lost = 0;
    char *piece = mem_alloc(MEM_MISC, PIECE, 1);
    if (piece == NULL) return false;
    for (size_t n; (n = service_timeline_since(s, piece, &seq, &lost, PIECE)) > 0 && !out->failed;)
        text_put_n(out, piece, n);
    mem_free(piece);
    return !out->failed;
}

// The page's only script, by its digest, so that nothing else that might stand in it is run.
static char *policy_of_page(const char *html) {
    static const char BEGIN[] = "<script>", END[] = "</script>";
    const char *from = strstr(html, BEGIN), *to = from != NULL ? strstr(from, END) : NULL;
    uint8_t digest[32];
    char base64[45];
    timeline_text t = {0};
    if (to == NULL) return NULL;
    from += sizeof BEGIN - 1;
    sha256_digest(digest, from, (size_t)(to - from));
    base64_encode(base64, digest, sizeof digest);
    text_put_f(&t,
               "default-src 'none'; script-src 'sha256-%s'; style-src 'unsafe-inline'; img-src data:; "
               "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
               base64);
    char *copy = t.failed ? NULL : strdup(t.data);
    timeline_text_release(&t);
    return copy;
}

static http_answer no_memory(void) { return http_answer_text(500, "no memory for it\n"); }

static const char *type_of(timeline_format f) {
    switch (f) {
    case TIMELINE_HTML: return "text/html; charset=utf-8";
    case TIMELINE_SVG: return "image/svg+xml";
    case TIMELINE_TRACE:
    case TIMELINE_JSON: return "application/json";
    default: return "text/plain; charset=utf-8";
    }
}

// Takes the text over, copying it once: answers are freed with free().
static http_answer answer_of(timeline_text *t, const char *type) {
    http_answer a = {.code = 200, .type = type, .len = t->len};
    a.body = t->failed ? NULL : malloc(t->len + 1);
    if (a.body != NULL && t->len > 0) memcpy(a.body, t->data, t->len);
    if (a.body != NULL) a.body[t->len] = 0;
    timeline_text_release(t);
    return a.body != NULL ? a : no_memory();
}

static cuzk_status draw(timeline_text *out, const timeline_text *lines, timeline_format f, cuzk_error *err) {
    timeline_log *log = NULL;
    timeline_analysis *analysis = NULL;
    const timeline_options options = TIMELINE_OPTIONS;
    const timeline_render_options render = {.causes = true, .stages = true};
    cuzk_status s = timeline_log_create(&log, err);
    if (s == CUZK_OK && lines->len > 0) s = timeline_log_push(log, lines->data, lines->len, err);
    if (s == CUZK_OK) s = timeline_log_finish(log, err);
    if (s == CUZK_OK) s = timeline_analyse(&analysis, log, &options, err);
    if (s == CUZK_OK) s = timeline_render(out, analysis, f, &render, err);
    timeline_analysis_destroy(&analysis);
    timeline_log_destroy(&log);
    return s;
}

http_answer http_draw_waterfall(service *s, const char *format) {
    timeline_text lines = {0}, picture = {0};
    timeline_format f = TIMELINE_TEXT;
    const bool plain = !timeline_format_from_name(&f, format); // "log"
    if (!read_lines(s, &lines)) {
        timeline_text_release(&lines);
        return no_memory();
    }
    if (plain) return answer_of(&lines, type_of(TIMELINE_TEXT));
    cuzk_error why;
    const cuzk_status st = draw(&picture, &lines, f, &why);
    timeline_text_release(&lines);
    if (st != CUZK_OK) {
        timeline_text_release(&picture);
        return st == CUZK_ERR_MEMORY ? no_memory() : http_answer_text(404, "nothing to draw yet: %s\n", why.text);
    }
    http_answer a = answer_of(&picture, type_of(f));
    if (f == TIMELINE_HTML && a.code == 200) a.own_policy = policy_of_page(a.body);
    if (f == TIMELINE_SVG) a.policy = "default-src 'none'; style-src 'unsafe-inline'";
    return a;
}

// --- the thread ---

struct http_drawing {
    const http_route *route;
    void (*done)(void *ctx, http_answer answer);
    void *ctx;
};

struct http_drawer {
    service *s;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t some;
    http_drawing waiting[MAX_WAITING]; // a ring
    unsigned first, n;
    bool stop, joined;
};

static void *drawer_main(void *arg) {
    http_drawer *d = arg;
    pthread_mutex_lock(&d->lock);
    while (!d->stop || d->n > 0) {
        if (d->n == 0) {
            pthread_cond_wait(&d->some, &d->lock);
            continue;
        }
        const http_drawing w = d->waiting[d->first];
        const bool stop = d->stop;
        d->first = (d->first + 1) % MAX_WAITING;
        d->n--;
        pthread_mutex_unlock(&d->lock);
        w.done(w.ctx, stop ? http_answer_text(503, "shutting down\n") : w.route->answer(d->s, NULL));
        pthread_mutex_lock(&d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

cuzk_status http_drawer_create(http_drawer **out, service *s, cuzk_error *err) {
    *out = NULL;
    http_drawer *d = mem_calloc(MEM_MISC, 1, sizeof *d);
    if (d == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "HTTP: no memory");
    d->s = s;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->some, NULL);
    d->joined = pthread_create(&d->thread, NULL, drawer_main, d) != 0;
    if (d->joined) {
        http_drawer_destroy(&d);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "HTTP: the system refuses a thread");
    }
    *out = d;
    return CUZK_OK;
}

void http_drawer_stop(http_drawer *d) {
    if (d->joined) return;
    pthread_mutex_lock(&d->lock);
    d->stop = true;
    pthread_cond_signal(&d->some);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
    d->joined = true;
}

void http_drawer_destroy(http_drawer **pd) {
    http_drawer *d = *pd;
    if (d == NULL) return;
    *pd = NULL;
    http_drawer_stop(d);
    pthread_mutex_destroy(&d->lock);
    pthread_cond_destroy(&d->some);
    mem_free(d);
}

bool http_drawer_ask(http_drawer *d, const http_route *route, void (*done)(void *ctx, http_answer answer), void *ctx) {
    pthread_mutex_lock(&d->lock);
    const bool taken = !d->stop && d->n < MAX_WAITING;
    if (taken) {
        d->waiting[(d->first + d->n++) % MAX_WAITING] = (http_drawing){route, done, ctx};
        pthread_cond_signal(&d->some);
    }
    pthread_mutex_unlock(&d->lock);
    return taken;
}
