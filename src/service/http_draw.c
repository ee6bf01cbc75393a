// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Pictures of the lines that memory holds, and the thread that makes them.
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "hash/sha256.h"
#include "service/http_internal.h"
#include "timeline/render.h"

// A picture costs a multiple of the lines it is drawn from: the lines and their copies while the text grows, what the
// analysis keeps (1.7 times the lines), the picture while it grows (a trace: four times) and the answer. The lines
// alone are held twice by the text that has grown, and once as the answer.
enum { MAX_WAITING = 8, PIECE = 1 << 18, COST_OF_PICTURE = 10, COST_OF_LINES = 4 };

struct http_drawing {
    const http_route *route;
    void (*done)(void *ctx, http_answer answer);
    void *ctx;
};

struct http_drawer {
    service *s;
    uint64_t budget;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t some;
    http_drawing waiting[MAX_WAITING]; // a ring
    unsigned first, n;
    uint64_t held; // of the budget, by the picture in the making and by answers on their way
    bool stop, joined;
};

// --- the budget ---

static bool take(http_drawer *d, uint64_t n) {
    pthread_mutex_lock(&d->lock);
    // An answer may be larger than what was estimated.
    const bool fits = d->held <= d->budget && n <= d->budget - d->held;
    if (fits) d->held += n;
    pthread_mutex_unlock(&d->lock);
    return fits;
}

void http_drawer_give_back(http_drawer *d, uint64_t held) {
    pthread_mutex_lock(&d->lock);
    d->held -= held;
    pthread_mutex_unlock(&d->lock);
}

// `own` is what the refused one had taken itself.
static http_answer beyond_budget(http_drawer *d, uint64_t own) {
    pthread_mutex_lock(&d->lock);
    const bool alone = d->held == own;
    pthread_mutex_unlock(&d->lock);
    const uint64_t mib = d->budget >> 20;
    if (alone)
        return http_answer_text(503,
                                "the timeline that memory holds is too long to be drawn in %" PRIu64
                                " MiB: lower timeline.tail_lines, or read it in pieces from /timeline\n",
                                mib);
    http_answer a =
        http_answer_text(503, "pictures on their way to others take up the %" PRIu64 " MiB there are for it\n", mib);
    a.retry_s = 1;
    return a;
}

// --- drawing ---

static http_answer no_memory(void) { return http_answer_text(500, "no memory for it\n"); }

// All lines, oldest first, taking `cost` bytes of the budget for each of theirs, also when it fails: then *refusal says
// why.
static bool read_lines(http_drawer *d, timeline_text *out, uint64_t *held, http_answer *refusal, unsigned cost) {
    uint64_t seq = 0, lost = 0;
    bool fits = true;
    char *piece = mem_alloc(MEM_MISC, PIECE, 1);
    for (size_t n;
         piece != NULL && (n = service_timeline_since(d->s, piece, &seq, &lost, PIECE)) > 0 && !out->failed;) {
        fits = take(d, (uint64_t)n * cost);
        if (!fits) break;
        *held += (uint64_t)n * cost;
        text_put_n(out, piece, n);
    }
    if (!fits)
        *refusal = beyond_budget(d, *held);
    else if (piece == NULL || out->failed)
        *refusal = no_memory();
    const bool ok = fits && piece != NULL && !out->failed;
    mem_free(piece);
    return ok;
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

static http_answer picture_of(timeline_text *lines, timeline_format f) {
    timeline_text picture = {0};
    cuzk_error why;
    const cuzk_status st = draw(&picture, lines, f, &why);
    timeline_text_release(lines);
    if (st != CUZK_OK) {
        timeline_text_release(&picture);
        return st == CUZK_ERR_MEMORY ? no_memory() : http_answer_text(404, "nothing to draw yet: %s\n", why.text);
    }
    http_answer a = answer_of(&picture, type_of(f));
    if (f == TIMELINE_HTML && a.code == 200) a.own_policy = policy_of_page(a.body);
    if (f == TIMELINE_SVG) a.policy = "default-src 'none'; style-src 'unsafe-inline'";
    return a;
}

static http_answer answer_route(http_drawer *d, const http_route *route) {
    timeline_format f = TIMELINE_TEXT;
    const bool plain = !timeline_format_from_name(&f, route->picture);
    timeline_text lines = {0};
    uint64_t held = 0;
    http_answer a;
    if (!read_lines(d, &lines, &held, &a, plain ? COST_OF_LINES : COST_OF_PICTURE))
        timeline_text_release(&lines);
    else
        a = plain ? answer_of(&lines, type_of(f)) : picture_of(&lines, f);
    // Drawn: now it is the answer alone, as long as it is on its way.
    pthread_mutex_lock(&d->lock);
    d->held -= held;
    if (a.code == 200) {
        a.file = route->file;
        a.held = a.len;
        d->held += a.held;
    }
    pthread_mutex_unlock(&d->lock);
    return a;
}

// --- the thread ---

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
        w.done(w.ctx, stop ? http_answer_text(503, "shutting down\n") : answer_route(d, w.route));
        pthread_mutex_lock(&d->lock);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

cuzk_status http_drawer_create(http_drawer **out, service *s, uint64_t budget, cuzk_error *err) {
    *out = NULL;
    http_drawer *d = mem_calloc(MEM_MISC, 1, sizeof *d);
    if (d == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "HTTP: no memory");
    d->s = s;
    d->budget = budget;
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
