// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A listening socket by its address in words.
#ifndef CUZK_SERVICE_LISTEN_H
#define CUZK_SERVICE_LISTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum { LISTEN_ADDRESS_MAX = 192 };

typedef struct listener {
    int fd;                           // not blocking, closed on exec; -1: none
    int port;                         // 0 of a unix socket
    char address[LISTEN_ADDRESS_MAX]; // what a client on this machine would open: "127.0.0.1:9821", "unix:///path"
    char path[LISTEN_ADDRESS_MAX];    // of a unix socket, else ""
    uint64_t dev, ino;                // of it
} listener;

// "host:port", "[ipv6]:port", "unix:///path" or "unix:path". Port 0 is one that is free; no host is this machine alone,
// 127.0.0.1. CUZK_ERR_USAGE for anything else, CUZK_ERR_IO with the reason for an address that cannot be had. A unix
// socket that nobody answers on is replaced, one that somebody answers on is left alone and refused.
CUZK_MUST_USE cuzk_status listen_open(listener *out, const char *address, cuzk_error *err);
// Closes it, and removes a unix socket that is still ours. `keep_fd`: somebody else closes the descriptor.
void listen_close(listener *l, bool keep_fd);

#endif
