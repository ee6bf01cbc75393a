// SPDX-License-Identifier: MIT OR Apache-2.0
//
// From the configuration to what service, gRPC and HTTP are started with.
#ifndef CUZK_APP_DAEMON_OPTIONS_H
#define CUZK_APP_DAEMON_OPTIONS_H

#include "app/config.h"
#include "base/log.h"
#include "service/grpc_server.h"
#include "service/service.h"

typedef struct daemon_options {
    service_options service; // strings and lists are the configuration's
    rpc_server_options rpc;  // listens at `listen`
    const char *listen[1];
    const char *status_listen; // NULL: no HTTP
    uint32_t max_connections;
    uint64_t shutdown_ms;
    log_level level;
    bool json_log;
    char budget[256];  // how the memory budget came about, for people
    char devices[128]; // likewise
} daemon_options;

// Borrows from `c`. CUZK_ERR_USAGE, naming section.key and where it was set, for values that do not go together; for a
// GPU that is required and not there; for a budget that nothing fits into.
CUZK_MUST_USE cuzk_status daemon_options_make(daemon_options *out, const config *c, cuzk_error *err);

// "partition", "standard", ...
const char *daemon_policy_name(engine_policy p);

#endif
