// SPDX-License-Identifier: MIT OR Apache-2.0
#include "app/remote.h"

#include <string.h>

bool remote_flag(remote_flags *f, int option, const char *arg) {
    switch (option) {
    case OPT_ADDR: f->addr = arg; return true;
    case OPT_CA: f->ca = arg; return true;
    case OPT_CERT: f->cert = arg; return true;
    case OPT_KEY: f->key = arg; return true;
    default: return false;
    }
}

cuzk_status remote_open(client **c, const remote_flags *f, const char *target, cuzk_error *err) {
    const client_options o = {.target = target, .ca_file = f->ca, .cert_file = f->cert, .key_file = f->key};
    const bool certificates = f->ca != NULL || f->cert != NULL || f->key != NULL;
    *c = NULL;
    if (certificates && strncmp(target, "https://", 8) != 0)
        return cuzk_fail(err, CUZK_ERR_USAGE, "%s: --ca, --cert and --key are for an address with https://", target);
    if ((f->cert != NULL) != (f->key != NULL))
        return cuzk_fail(err, CUZK_ERR_USAGE, "--cert and --key belong together");
    return client_open(c, &o, err);
}

cuzk_status remote_failed(cuzk_error *err, const char *target, const client_error *why) {
    return cuzk_fail(err, CUZK_ERR_IO, "%s: %s: %s", target, client_code_name(why->code), why->text);
}
