// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The daemon from its start to its end: service, gRPC, HTTP, signals, the service manager.
#ifndef CUZK_APP_DAEMON_H
#define CUZK_APP_DAEMON_H

#include "app/daemon_options.h"

// Serves until SIGTERM or SIGINT, then drains and stops. CUZK_OK after an orderly end. Before the call no other thread
// may run: signals are blocked here for all. The second signal ends the process at once with 128 + its number.
// `warnings` are logged first.
CUZK_MUST_USE cuzk_status daemon_run(const daemon_options *options, const char *config_path,
                                     const char *const *warnings, size_t n_warnings, cuzk_error *err);

#endif
