// SPDX-License-Identifier: MIT OR Apache-2.0
//
// How a command reaches a daemon over gRPC: flags that status, bench and prove have in common.
#ifndef CUZK_APP_REMOTE_H
#define CUZK_APP_REMOTE_H

#include "app/app.h"
#include "service/client.h"

#define REMOTE_DEFAULT_ADDR "http://127.0.0.1:9820"

// As given on the command line; NULL: not there.
typedef struct remote_flags {
    const char *addr;
    const char *ca, *cert, *key; // PEM files, for https://
} remote_flags;

// Entries of a table of options, in argp's group `group`; --addr is each command's own.
#define OPTIONS_REMOTE(group)                                                                                          \
    {"ca", OPT_CA, "FILE", 0, "certificates that the daemon's is signed with, for https://", group},                   \
        {"cert", OPT_CERT, "FILE", 0, "certificate to show to a daemon that asks for one, with --key", group}, {       \
        "key", OPT_KEY, "FILE", 0, "its private key", group                                                            \
    }

// Takes OPT_ADDR, OPT_CA, OPT_CERT and OPT_KEY; false for any other.
bool remote_flag(remote_flags *f, int option, const char *arg);

// A client of `target`: f->addr, or what stands for it. CUZK_ERR_USAGE for certificates without https://, so that
// nobody takes a plain connection for a secure one.
CUZK_MUST_USE cuzk_status remote_open(client **c, const remote_flags *f, const char *target, cuzk_error *err);

// Records how a call ended, CUZK_ERR_IO.
cuzk_status remote_failed(cuzk_error *err, const char *target, const client_error *why);

#endif
