// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The server around libmicrohttpd: connections, their deadlines, headers. A connection that is waiting for a picture is
// suspended, so that no thread waits with it.
#include "service/http.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "service/http_internal.h"
#include "service/listen.h"
#include "service/timers.h"

enum { THREADS = 2, CONNECTION_MEMORY = 32 * 1024 };

struct http_server {
    service *s;
    http_options opt;
    listener listener;
    struct MHD_Daemon *daemon;
    timers *timers;
    http_drawer *drawer;
};

// One connection, with the moment at which it is cut off.
typedef struct http_connection {
    http_server *h;
    int fd;
    timer_call deadline;
} http_connection;

// One request that waits for a picture.
typedef struct http_request {
    http_server *h;
    struct MHD_Connection *connection;
    const http_route *route;
    bool asked;
    http_answer answer; // set by the drawer before it wakes the connection
    uint64_t held;      // of the drawer's budget, until the request has ended
} http_request;

// --- deadlines ---

static void cut_off(void *ctx) {
    const http_connection *c = ctx;
    shutdown(c->fd, SHUT_RDWR); // its thread sees the end and closes it
}

static void set_deadline(http_connection *c, uint32_t ms) {
    (void)timers_remove(c->h->timers, &c->deadline);
    c->deadline = (timer_call){.at = clock_now_ns() + (uint64_t)ms * 1000000, .fn = cut_off, .ctx = c};
    cuzk_error why;
    if (timers_add(c->h->timers, &c->deadline, &why) != CUZK_OK) cut_off(c); // none may stay for ever
}

static http_connection *of_connection(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *i = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return i != NULL ? i->socket_context : NULL;
}

static void connection_changed(void *cls, struct MHD_Connection *connection, void **context,
                               enum MHD_ConnectionNotificationCode what) {
    http_server *h = cls;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *i = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        http_connection *c = mem_calloc(MEM_MISC, 1, sizeof *c);
        *context = c;
        if (c == NULL) {
            if (i != NULL) shutdown(i->connect_fd, SHUT_RDWR);
            return;
        }
        *c = (http_connection){.h = h, .fd = i != NULL ? i->connect_fd : -1};
        set_deadline(c, h->opt.request_ms);
        return;
    }
    http_connection *c = *context;
    *context = NULL;
    if (c == NULL) return;
    (void)timers_remove(h->timers, &c->deadline); // the descriptor is still open, so nobody else's is shut down
    mem_free(c);
}

static void request_ended(void *cls, struct MHD_Connection *connection, void **context,
                          enum MHD_RequestTerminationCode how) {
    http_server *h = cls;
    http_request *r = *context;
    (void)how;
    *context = NULL;
    if (r != NULL) {
        http_answer_release(&r->answer);
        http_drawer_give_back(h->drawer, r->held);
        mem_free(r);
    }
    http_connection *c = of_connection(connection);
    if (c != NULL) set_deadline(c, h->opt.idle_ms);
}

// --- answers ---

static void header(struct MHD_Response *r, const char *name, const char *value) {
    (void)MHD_add_response_header(r, name, value); // without memory the answer goes without it
}

// Takes the answer over.
static enum MHD_Result send_answer(struct MHD_Connection *connection, http_answer *a) {
    struct MHD_Response *r =
        MHD_create_response_from_buffer(a->len, a->body, a->fixed ? MHD_RESPMEM_PERSISTENT : MHD_RESPMEM_MUST_FREE);
    if (r == NULL) {
        http_answer_release(a);
        return MHD_NO;
    }
    char text[128];
    header(r, "Content-Type", a->type);
    header(r, "X-Content-Type-Options", "nosniff");
    header(r, "Content-Security-Policy",
           a->own_policy != NULL ? a->own_policy
           : a->policy != NULL   ? a->policy
                                 : "default-src 'none'; frame-ancestors 'none'");
    header(r, "X-Frame-Options", "DENY");
    header(r, "Referrer-Policy", "no-referrer");
    header(r, "Cross-Origin-Resource-Policy", "same-origin");
    header(r, "Cache-Control", a->keep ? "no-cache" : "no-store");
    if (a->file != NULL) {
        snprintf(text, sizeof text, "attachment; filename=\"%s\"", a->file);
        header(r, "Content-Disposition", text);
    }
    if (a->retry_s > 0) {
        snprintf(text, sizeof text, "%u", a->retry_s);
        header(r, "Retry-After", text);
    }
    if (a->code == 405) header(r, "Allow", "GET, HEAD");
    const enum MHD_Result done = MHD_queue_response(connection, a->code, r);
    MHD_destroy_response(r); // frees the body when the last byte has gone
    a->fixed = true;
    http_answer_release(a);
    return done;
}

static enum MHD_Result send_text(struct MHD_Connection *connection, unsigned code, const char *text) {
    http_answer a = http_answer_text(code, "%s\n", text);
    return send_answer(connection, &a);
}

// The drawer has finished: the connection goes on, and its thread sends the answer.
static void drawn(void *ctx, http_answer answer) {
    http_request *r = ctx;
    r->answer = answer;
    r->held = answer.held;
    MHD_resume_connection(r->connection);
}

static enum MHD_Result begin(http_server *h, struct MHD_Connection *connection, const char *path, const char *method,
                             void **context) {
    http_connection *c = of_connection(connection);
    if (c != NULL) set_deadline(c, h->opt.answer_ms);
    const bool get = strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
    const http_route *route = http_route_find(path);
    if (route == NULL) return send_text(connection, 404, "there is nothing at this address");
    if (!get) return send_text(connection, 405, "GET and HEAD are all there is");
    if (route->answer != NULL) {
        http_answer a = route->answer(h->s, MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "since"));
        return send_answer(connection, &a);
    }
    http_request *r = mem_calloc(MEM_MISC, 1, sizeof *r);
    if (r == NULL) return send_text(connection, 500, "no memory for it");
    *r = (http_request){.h = h, .connection = connection, .route = route};
    *context = r; // and is called again, when the request is complete
    return MHD_YES;
}

static enum MHD_Result answer(void *cls, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_len, void **context) {
    http_server *h = cls;
    http_request *r = *context;
    (void)version, (void)upload;
    if (r == NULL) return begin(h, connection, url, method, context);
    if (*upload_len > 0) return MHD_NO; // a GET with a body: who sends that gets nothing
    if (r->asked) return send_answer(connection, &r->answer);
    r->asked = true;
    MHD_suspend_connection(connection);
    if (http_drawer_ask(h->drawer, r->route, drawn, r)) return MHD_YES;
    r->answer = http_answer_text(503, "too many pictures are asked for already\n");
    r->answer.retry_s = 1;
    MHD_resume_connection(connection);
    return MHD_YES;
}

static void log_line(void *cls, const char *fmt, va_list args) {
    char text[256];
    (void)cls;
    vsnprintf(text, sizeof text, fmt, args);
    text[strcspn(text, "\n")] = 0;
    log_write(LOG_DEBUG, "http", NULL, "%s", text);
}

// --- starting and stopping ---

static cuzk_status start_daemon(http_server *h, cuzk_error *err) {
    const uint32_t longest = h->opt.answer_ms > h->opt.idle_ms ? h->opt.answer_ms : h->opt.idle_ms;
    h->daemon =
        MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | MHD_USE_ITC, 0,
                         NULL, NULL, answer, h, MHD_OPTION_EXTERNAL_LOGGER, log_line, NULL, //
                         MHD_OPTION_LISTEN_SOCKET, (MHD_socket)h->listener.fd,              //
                         MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS,                    //
                         MHD_OPTION_CONNECTION_LIMIT, (unsigned)h->opt.max_connections,     //
                         MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,     //
                         MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)(longest / 1000 + 1),     // behind our own
                         MHD_OPTION_NOTIFY_CONNECTION, connection_changed, h,               //
                         MHD_OPTION_NOTIFY_COMPLETED, request_ended, h,                     //
                         MHD_OPTION_END);
    if (h->daemon == NULL) return cuzk_fail(err, CUZK_ERR_IO, "HTTP at %s cannot be served", h->listener.address);
    return CUZK_OK;
}

static uint32_t or_else(uint32_t value, uint32_t standard) { return value != 0 ? value : standard; }

cuzk_status http_start(http_server **out, service *s, const http_options *options, cuzk_error *err) {
    *out = NULL;
    http_server *h = mem_calloc(MEM_MISC, 1, sizeof *h);
    if (h == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "HTTP: no memory");
    h->s = s;
    h->listener.fd = -1;
    h->opt =
        (http_options){.max_connections = or_else(options->max_connections, 64),
                       .request_ms = or_else(options->request_ms, 10000),
                       .answer_ms = or_else(options->answer_ms, 60000),
                       .idle_ms = or_else(options->idle_ms, 30000),
                       .picture_bytes = options->picture_bytes != 0 ? options->picture_bytes : UINT64_C(256) << 20};
    if (h->opt.max_connections < THREADS) h->opt.max_connections = THREADS; // one each
    cuzk_status st = timers_create(&h->timers, err);
    if (st == CUZK_OK) st = http_drawer_create(&h->drawer, s, h->opt.picture_bytes, err);
    if (st == CUZK_OK) st = listen_open(&h->listener, options->listen, err);
    if (st == CUZK_OK) st = start_daemon(h, err);
    if (st != CUZK_OK) {
        http_stop(&h);
        return st;
    }
    *out = h;
    return CUZK_OK;
}

const char *http_address(const http_server *h) { return h->listener.address; }
int http_port(const http_server *h) { return h->listener.port; }

void http_stop(http_server **ph) {
    http_server *h = *ph;
    if (h == NULL) return;
    *ph = NULL;
    // First the drawer, which wakes every connection that waits for it: a suspended one cannot be closed.
    if (h->drawer != NULL) http_drawer_stop(h->drawer);
    if (h->daemon != NULL) MHD_stop_daemon(h->daemon);
    listen_close(&h->listener, h->daemon != NULL);
    http_drawer_destroy(&h->drawer);
    timers_destroy(&h->timers);
    mem_free(h);
}
