// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Lines of the timeline, once and as a stream. A stream has at most one message on its way, so that a reader who does
// not read costs that one; the lines it misses meanwhile are counted for it by the recorder's memory.
#include <stdlib.h>

#include "proving.pb-c.h"
#include "service/grpc_internal.h"

// An answer of the default size, and of the largest, fits what clients take unasked (4 MiB); the smallest holds a line.
enum { LINES_DEFAULT = 1 << 20, LINES_MIN = 4096, LINES_MAX = 3 << 20 };

typedef struct watch {
    uint64_t seq;
    size_t max_bytes;
} watch;

static size_t clamp_bytes(uint32_t asked) {
    const size_t n = asked == 0 ? LINES_DEFAULT : asked;
    return n < LINES_MIN ? LINES_MIN : n > LINES_MAX ? LINES_MAX : n;
}

// The lines since *seq, which moves on; NULL without memory.
static grpc_byte_buffer *lines_since(service *s, uint64_t *seq, size_t max_bytes, size_t *len) {
    char *text = malloc(max_bytes + 1);
    if (text == NULL) return NULL;
    Cuzk__V1__GetTimelineResponse m;
    cuzk__v1__get_timeline_response__init(&m);
    uint64_t lost = 0;
    *len = service_timeline_since(s, text, seq, &lost, max_bytes + 1);
    text[*len] = 0;
    m.lines = text;
    m.next_seq = *seq;
    m.lost_lines = lost;
    grpc_byte_buffer *buffer = wire_pack(&m.base);
    free(text);
    return buffer;
}

static Cuzk__V1__GetTimelineRequest *unpack(rpc_call *call) {
    return rpc_unpack(call, &cuzk__v1__get_timeline_request__descriptor);
}

void rpc_get_timeline(rpc_call *call) {
    Cuzk__V1__GetTimelineRequest *m = unpack(call);
    if (m == NULL) return;
    uint64_t seq = m->since_seq;
    size_t len;
    grpc_byte_buffer *answer = lines_since(call->server->service, &seq, clamp_bytes(m->max_bytes), &len);
    protobuf_c_message_free_unpacked(&m->base, NULL);
    if (answer != NULL)
        rpc_reply(call, answer);
    else
        rpc_failf(call, SERVICE_RESOURCE_EXHAUSTED, "out of memory");
}

static void tick(rpc_call *call) {
    watch *w = call->stream;
    service *s = call->server->service;
    if (!rpc_can_send(call) || service_timeline_stats(s).next_seq <= w->seq) return;
    size_t len = 0;
    grpc_byte_buffer *message = lines_since(s, &w->seq, w->max_bytes, &len);
    if (message == NULL)
        rpc_failf(call, SERVICE_RESOURCE_EXHAUSTED, "out of memory");
    else if (len > 0)
        rpc_send(call, message);
    else
        grpc_byte_buffer_destroy(message);
}

void rpc_watch_timeline(rpc_call *call) {
    Cuzk__V1__GetTimelineRequest *m = unpack(call);
    if (m == NULL) return;
    watch *w = malloc(sizeof *w);
    if (w != NULL) {
        *w = (watch){m->since_seq, clamp_bytes(m->max_bytes)};
        if (rpc_stay_open(call, w, free, tick)) rpc_call_tick(call);
    } else {
        rpc_failf(call, SERVICE_RESOURCE_EXHAUSTED, "out of memory");
    }
    protobuf_c_message_free_unpacked(&m->base, NULL);
}
