// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Looking at a service over HTTP/1.1. Nothing can be changed through it:
//
//     /status         JSON, see service_status_json         /timeline?since=N   JSON: lines, next_seq, lost
//     /metrics        Prometheus text                        /timeline.log       what memory holds, as text
//     /healthz        200, or 503 when draining              /waterfall.html, /waterfall.svg, /trace.json
//     /               the live page (web/)                                       the same, drawn when asked
//
// A few threads serve all connections and one thread draws, so that a status never waits for a picture. Whoever is too
// slow, with a request or with taking an answer, is cut off. What is drawn, and every picture until it is taken, has a
// budget of bytes; beyond it the answer is 503.
#ifndef CUZK_SERVICE_HTTP_H
#define CUZK_SERVICE_HTTP_H

#include <stdint.h>

#include "base/status.h"

typedef struct service service; // service/service.h
typedef struct http_server http_server;

typedef struct http_options {
    const char *listen; // service/listen.h: "127.0.0.1:9821", ":0", "unix:///path"
    // 0 takes the default that is named.
    uint32_t max_connections; // 64; more wait to be accepted
    uint32_t request_ms;      // from the first byte a connection may send until the request is complete: 10 s
    uint32_t answer_ms;       // from then until the answer is taken: 60 s
    uint32_t idle_ms;         // between requests: 30 s
    uint64_t picture_bytes;   // of pictures and downloads in the making and on their way: 256 MiB
} http_options;

// CUZK_ERR_USAGE for an address that makes no sense, CUZK_ERR_IO with the reason for one that cannot be had. `s` must
// outlive the server.
CUZK_MUST_USE cuzk_status http_start(http_server **out, service *s, const http_options *options, cuzk_error *err);
// What a client on this machine would open: "127.0.0.1:9821".
const char *http_address(const http_server *h);
int http_port(const http_server *h); // 0 of a unix socket
void http_stop(http_server **h);     // cuts open connections off

#endif
