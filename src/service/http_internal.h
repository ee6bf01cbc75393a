// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Internal to the HTTP server: what the three parts know of each other.
#ifndef CUZK_SERVICE_HTTP_INTERNAL_H
#define CUZK_SERVICE_HTTP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "service/service.h"

// An answer, owned by whoever holds it.
typedef struct http_answer {
    unsigned code;
    char *body; // freed with free(), unless it is `fixed`
    size_t len;
    bool fixed;
    const char *type;   // Content-Type
    const char *policy; // Content-Security-Policy; NULL: nothing is allowed
    char *own_policy;   // instead of it, freed with free(); NULL: none
    const char *file;   // offered for saving under this name; NULL: shown
    bool keep;          // may be cached: it only changes with the program
    unsigned retry_s;   // of a refusal: Retry-After; 0: none
    uint64_t held;      // of the drawer's budget, for http_drawer_give_back when the answer is gone
} http_answer;
void http_answer_release(http_answer *a);
// A text for people.
http_answer http_answer_text(unsigned code, const char *fmt, ...) CUZK_PRINTF(2, 3);

// What there is: an answer at once, or a picture, which takes long and is left to the thread that draws.
typedef struct http_route {
    const char *path;
    http_answer (*answer)(service *s, const char *since); // `since`: of /timeline, else NULL
    const char *picture; // where `answer` is NULL: of timeline_format_name, or "log" for the lines themselves
    const char *file;    // of a picture: the name it is offered for saving under; NULL: shown
} http_route;
const http_route *http_route_find(const char *path); // NULL: nothing is there

// --- http_draw.c ---

typedef struct http_drawer http_drawer; // a thread that draws, one picture after the other
typedef struct http_drawing http_drawing;

// `budget`: bytes of what is being drawn, by estimate, and of the answers that were not given back.
CUZK_MUST_USE cuzk_status http_drawer_create(http_drawer **out, service *s, uint64_t budget, cuzk_error *err);
// What is still asked for is answered with a refusal, through `done`; nothing can be asked for afterwards.
void http_drawer_stop(http_drawer *d);
void http_drawer_destroy(http_drawer **d);
// Calls done(ctx, answer), which takes the answer over, from the drawer's thread. False: too many wait, or it was
// stopped; done is never called then.
bool http_drawer_ask(http_drawer *d, const http_route *route, void (*done)(void *ctx, http_answer answer), void *ctx);
// The answer that held so many bytes was sent or dropped.
void http_drawer_give_back(http_drawer *d, uint64_t held);

#endif
