// SPDX-License-Identifier: MIT OR Apache-2.0
//
// grpc.health.v1: serving, until the service drains or the server stops.
#include <stdlib.h>
#include <string.h>

#include "health.pb-c.h"
#include "service/grpc_internal.h"

typedef Grpc__Health__V1__HealthCheckResponse__ServingStatus serving_status;
#define SERVING(name) GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__##name

typedef struct watch {
    bool known;
    int last; // what the client was told, -1: nothing yet
} watch;

static bool is_known(const char *name) {
    static const char *const names[] = {"", "cuzk.v1.ProvingEngine", "grpc.health.v1.Health",
                                        "grpc.reflection.v1.ServerReflection",
                                        "grpc.reflection.v1alpha.ServerReflection"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) return true;
    }
    return false;
}

static serving_status status_now(rpc_server *r) {
    return atomic_load(&r->stopping) || service_draining(r->service) ? SERVING(NOT_SERVING) : SERVING(SERVING);
}

static grpc_byte_buffer *message(serving_status status) {
    Grpc__Health__V1__HealthCheckResponse m;
    grpc__health__v1__health_check_response__init(&m);
    m.status = status;
    return wire_pack(&m.base);
}

void rpc_health_check(rpc_call *call) {
    Grpc__Health__V1__HealthCheckRequest *m = rpc_unpack(call, &grpc__health__v1__health_check_request__descriptor);
    if (m == NULL) return;
    if (is_known(m->service))
        rpc_reply(call, message(status_now(call->server)));
    else
        rpc_failf(call, SERVICE_NOT_FOUND, "service: no %.200s here", m->service);
    protobuf_c_message_free_unpacked(&m->base, NULL);
}

static void tick(rpc_call *call) {
    watch *w = call->stream;
    const serving_status status = w->known ? status_now(call->server) : SERVING(SERVICE_UNKNOWN);
    if ((int)status != w->last && rpc_can_send(call) && rpc_send(call, message(status))) w->last = (int)status;
}

void rpc_health_watch(rpc_call *call) {
    Grpc__Health__V1__HealthCheckRequest *m = rpc_unpack(call, &grpc__health__v1__health_check_request__descriptor);
    if (m == NULL) return;
    watch *w = malloc(sizeof *w);
    if (w != NULL) {
        *w = (watch){is_known(m->service), -1};
        if (rpc_stay_open(call, w, free, tick)) rpc_call_tick(call);
    } else {
        rpc_failf(call, SERVICE_RESOURCE_EXHAUSTED, "out of memory");
    }
    protobuf_c_message_free_unpacked(&m->base, NULL);
}
