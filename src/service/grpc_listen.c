// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Where the server listens, and the credentials of TLS. Plain addresses are listened on here (service/listen.h) and
// watched by the gate; those of TLS by C core.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/grpc_internal.h"

cuzk_status rpc_credentials(grpc_server_credentials **out, const rpc_server_options *o, cuzk_error *err) {
    *out = NULL;
    if (o->tls_cert == NULL && o->tls_key == NULL && o->tls_client_ca == NULL) return CUZK_OK;
    if (o->tls_cert == NULL || o->tls_key == NULL)
        return cuzk_fail(err, CUZK_ERR_USAGE, "TLS needs a certificate and its key");
    char *cert = NULL, *key = NULL, *ca = NULL;
    cuzk_status st = wire_read_pem(&cert, "TLS certificate", o->tls_cert, err);
    if (st == CUZK_OK) st = wire_read_pem(&key, "TLS key", o->tls_key, err);
    if (st == CUZK_OK && o->tls_client_ca != NULL) st = wire_read_pem(&ca, "TLS client CA", o->tls_client_ca, err);
    if (st == CUZK_OK) {
        grpc_ssl_pem_key_cert_pair pair = {key, cert};
        *out = grpc_ssl_server_credentials_create_ex(ca, &pair, 1,
                                                     ca != NULL
                                                         ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                                                         : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
                                                     NULL);
        if (*out == NULL) st = cuzk_fail(err, CUZK_ERR_INPUT, "TLS: the certificate was refused");
    }
    mem_free(cert);
    mem_free(key);
    mem_free(ca);
    return st;
}

// C core says of a failure only that there was one, so that the reason is asked for by listening for a moment.
static cuzk_status listen_tls(rpc_address *out, grpc_server *core, grpc_server_credentials *tls, const char *address,
                              cuzk_error *err) {
    char name[LISTEN_ADDRESS_MAX];
    const char *colon = strrchr(address, ':');
    snprintf(name, sizeof name, "%s%s", colon == address ? "127.0.0.1" : "", address); // no host: this machine
    out->port = strlen(name) + 1 < sizeof name ? grpc_server_add_http2_port(core, name, tls) : 0;
    if (out->port <= 0) {
        listener l;
        out->port = 0;
        const cuzk_status st = listen_open(&l, address, err);
        if (st != CUZK_OK) return st;
        listen_close(&l, false);
        return cuzk_fail(err, CUZK_ERR_IO,
                         "address %s: the TLS certificate and key were refused; do they belong together?", address);
    }
    char *port_text = strrchr(name, ':');
    *port_text = 0;
    const char *near = strcmp(name, "0.0.0.0") == 0 ? "127.0.0.1" : strcmp(name, "[::]") == 0 ? "[::1]" : name;
    snprintf(out->shown, sizeof out->shown, "%.160s:%d", near, out->port);
    return CUZK_OK;
}

cuzk_status rpc_listen(rpc_address *out, rpc_gate *gate, grpc_server *core, grpc_server_credentials *tls,
                       const char *address, cuzk_error *err) {
    out->first.fd = out->second.fd = -1;
    if (tls != NULL && strncmp(address, "unix:", 5) != 0) return listen_tls(out, core, tls, address, err);
    // A client that was told this name may come by either family.
    const bool both = strncmp(address, "localhost:", 10) == 0;
    char text[LISTEN_ADDRESS_MAX];
    if (both) snprintf(text, sizeof text, "127.0.0.1:%.16s", address + 10);
    cuzk_status st = listen_open(&out->first, both ? text : address, err);
    if (st != CUZK_OK) return st;
    st = rpc_gate_add(gate, out->first.fd, err);
    out->port = out->first.port;
    snprintf(out->shown, sizeof out->shown, "%s", out->first.address);
    if (both && st == CUZK_OK) {
        snprintf(text, sizeof text, "[::1]:%d", out->port);
        if (listen_open(&out->second, text, NULL) == CUZK_OK) st = rpc_gate_add(gate, out->second.fd, err);
    }
    if (st != CUZK_OK) rpc_listen_end(out);
    return st;
}

void rpc_listen_end(rpc_address *a) {
    listen_close(&a->first, false);
    listen_close(&a->second, false);
}
