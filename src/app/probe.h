// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Does a gRPC server of our own still take connections? One is opened to it; a server that lives says something first
// (its settings), or, with TLS, answers nonsense with an alert. Nothing here waits.
#ifndef CUZK_APP_PROBE_H
#define CUZK_APP_PROBE_H

#include <stdbool.h>

enum { PROBE_UNKNOWN = -1, PROBE_REFUSED = -2 };

// A descriptor to hand to probe_answered and to close; or PROBE_UNKNOWN when it cannot be found out (no descriptor is
// free), or PROBE_REFUSED when nobody listens. The address is one of rpc_server_address.
int probe_open(const char *address, bool tls);
// The server has said something, or ended the connection: it took it.
bool probe_answered(int fd);

#endif
