// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Where the server listens (service/listen.h, watched by the gate), and what C core asks of those who come.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/grpc_door.h"
#include "service/grpc_internal.h"

const char *const RPC_DOOR_NAMES[RPC_DOORS] = {RPC_DOOR_PREFIX "plain", RPC_DOOR_PREFIX "tls"};

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

cuzk_status rpc_open_doors(grpc_server *core, void *const *doors, grpc_server_credentials *tls, cuzk_error *err) {
    grpc_server_credentials *plain = grpc_insecure_server_credentials_create();
    (void)grpc_server_add_http2_port(core, RPC_DOOR_NAMES[RPC_DOOR_PLAIN], plain); // what it returns is a port's number
    grpc_server_credentials_release(plain);
    if (doors[RPC_DOOR_PLAIN] == NULL)
        return cuzk_fail(err, CUZK_ERR_INTERNAL, "gRPC C core %s takes no connections from outside",
                         grpc_version_string());
    if (tls == NULL) return CUZK_OK;
    (void)grpc_server_add_http2_port(core, RPC_DOOR_NAMES[RPC_DOOR_TLS], tls);
    // C core says of a failure only that there was one.
    return doors[RPC_DOOR_TLS] != NULL
               ? CUZK_OK
               : cuzk_fail(err, CUZK_ERR_INPUT, "the TLS certificate and key were refused; do they belong together?");
}

cuzk_status rpc_listen(rpc_address *out, rpc_gate *gate, bool tls, const char *address, cuzk_error *err) {
    out->first.fd = out->second.fd = -1;
    if (strncmp(address, "unix:", 5) == 0) tls = false;
    // A client that was told this name may come by either family.
    const bool both = strncmp(address, "localhost:", 10) == 0;
    char text[LISTEN_ADDRESS_MAX];
    if (both) snprintf(text, sizeof text, "127.0.0.1:%.16s", address + 10);
    cuzk_status st = listen_open(&out->first, both ? text : address, err);
    if (st != CUZK_OK) return st;
    st = rpc_gate_add(gate, out->first.fd, tls, err);
    out->port = out->first.port;
    snprintf(out->shown, sizeof out->shown, "%s", out->first.address);
    if (both && st == CUZK_OK) {
        snprintf(text, sizeof text, "[::1]:%d", out->port);
        if (listen_open(&out->second, text, NULL) == CUZK_OK) st = rpc_gate_add(gate, out->second.fd, tls, err);
    }
    if (st != CUZK_OK) rpc_listen_end(out);
    return st;
}

void rpc_listen_end(rpc_address *a) {
    listen_close(&a->first, false);
    listen_close(&a->second, false);
}
