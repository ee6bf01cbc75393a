// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Where the server listens: TCP addresses and unix sockets, and the credentials of the former. C core says of a failure
// only that there was one, so that the reason is found here.
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "service/grpc_internal.h"

// --- credentials ---

cuzk_status rpc_credentials(grpc_server_credentials **out, const rpc_server_options *o, cuzk_error *err) {
    *out = NULL;
    if (o->tls_cert == NULL && o->tls_key == NULL && o->tls_client_ca == NULL) {
        *out = grpc_insecure_server_credentials_create();
        return CUZK_OK;
    }
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

// --- unix sockets ---

static bool socket_address(struct sockaddr_un *out, const char *path) {
    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof out->sun_path) return false;
    memcpy(out->sun_path, path, strlen(path) + 1);
    return true;
}

// Nobody may answer on the path. A socket that a dead daemon left is removed.
static cuzk_status make_room(const char *path, cuzk_error *err) {
    struct sockaddr_un sa;
    if (path[0] == 0 || !socket_address(&sa, path))
        return cuzk_fail(err, CUZK_ERR_USAGE, "address \"unix:%s\": a path of 1 to %zu bytes is needed", path,
                         sizeof sa.sun_path - 1);
    struct stat st;
    if (lstat(path, &st) != 0) {
        if (errno == ENOENT) return CUZK_OK; // a missing folder shows when the socket is made
        return cuzk_fail(err, CUZK_ERR_IO, "unix socket %s: %s", path, strerror(errno));
    }
    if (!S_ISSOCK(st.st_mode))
        return cuzk_fail(err, CUZK_ERR_IO, "unix socket %s: something else is there, and no socket", path);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0) return cuzk_fail(err, CUZK_ERR_IO, "unix socket %s: %s", path, strerror(errno));
    const int got = connect(fd, (const struct sockaddr *)&sa, sizeof sa);
    const int why = got == 0 ? 0 : errno;
    close(fd);
    if (why == 0 || why == EAGAIN || why == EINPROGRESS) // EAGAIN: it lives, and its queue is full
        return cuzk_fail(err, CUZK_ERR_IO, "unix socket %s: another daemon answers there", path);
    if (why != ECONNREFUSED) return cuzk_fail(err, CUZK_ERR_IO, "unix socket %s: %s", path, strerror(why));
    if (unlink(path) != 0 && errno != ENOENT)
        return cuzk_fail(err, CUZK_ERR_IO, "unix socket %s: a dead one cannot be removed: %s", path, strerror(errno));
    return CUZK_OK;
}

// Why a socket cannot be made there.
static cuzk_status explain_unix(const char *path, cuzk_error *err) {
    struct sockaddr_un sa;
    int why = 0;
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0 || !socket_address(&sa, path)) {
        why = errno;
    } else if (bind(fd, (const struct sockaddr *)&sa, sizeof sa) != 0) {
        why = errno;
    } else {
        unlink(path);
    }
    if (fd >= 0) close(fd);
    return cuzk_fail(err, CUZK_ERR_IO, "unix socket %s: %s", path, why != 0 ? strerror(why) : "cannot be made");
}

static cuzk_status listen_unix(rpc_address *out, grpc_server *core, const char *path, cuzk_error *err) {
    cuzk_status st = make_room(path, err);
    if (st != CUZK_OK) return st;
    out->path = malloc(strlen(path) + 1);
    if (out->path == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "gRPC: out of memory");
    memcpy(out->path, path, strlen(path) + 1);
    snprintf(out->core, sizeof out->core, "unix:%s", path);
    snprintf(out->shown, sizeof out->shown, "%s%s", path[0] == '/' ? "unix://" : "unix:", path);
    grpc_server_credentials *plain = grpc_insecure_server_credentials_create();
    const int got = grpc_server_add_http2_port(core, out->core, plain);
    grpc_server_credentials_release(plain);
    struct stat s;
    if (got == 0) {
        st = explain_unix(path, err);
    } else if (chmod(path, 0660) != 0 || stat(path, &s) != 0) {
        st = cuzk_fail(err, CUZK_ERR_IO, "unix socket %s: %s", path, strerror(errno));
    } else {
        out->dev = (uint64_t)s.st_dev;
        out->ino = (uint64_t)s.st_ino;
        return CUZK_OK;
    }
    free(out->path);
    out->path = NULL;
    return st;
}

void rpc_listen_end(rpc_address *a) {
    struct stat s;
    // C core removes it as well; not one that somebody else has put there since.
    if (a->path != NULL && stat(a->path, &s) == 0 && (uint64_t)s.st_dev == a->dev && (uint64_t)s.st_ino == a->ino)
        unlink(a->path);
    free(a->path);
    a->path = NULL;
}

// --- TCP ---

static cuzk_status explain_tcp(const char *address, const char *host, const char *digits, bool tls, cuzk_error *err) {
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *list = NULL;
    const int bad = getaddrinfo(host, digits, &hints, &list);
    if (bad != 0) return cuzk_fail(err, CUZK_ERR_IO, "address %s: %s", address, gai_strerror(bad));
    int why = 0;
    for (const struct addrinfo *a = list; a != NULL && why == 0; a = a->ai_next) {
        const int fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
        if (fd < 0) continue;
        const int yes = 1;
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
        if (bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, 1) != 0) why = errno;
        close(fd);
    }
    freeaddrinfo(list);
    // The port can be had, so it was not the port.
    return cuzk_fail(err, CUZK_ERR_IO, "address %s: %s", address,
                     why != 0 ? strerror(why)
                     : tls    ? "the TLS certificate and key were refused; do they belong together?"
                              : "cannot be listened on");
}

static cuzk_status listen_tcp(rpc_address *out, grpc_server *core, grpc_server_credentials *creds, bool tls,
                              const char *address, cuzk_error *err) {
    char host[128];
    const char *colon = strrchr(address, ':');
    const size_t n_host = colon == NULL ? 0 : (size_t)(colon - address);
    const char *digits = colon == NULL ? "" : colon + 1;
    const size_t n_digits = strlen(digits);
    const bool bracketed = n_host > 2 && address[0] == '[' && address[n_host - 1] == ']';
    bool ok = n_digits > 0 && n_digits <= 5 && strspn(digits, "0123456789") == n_digits &&
              strtoul(digits, NULL, 10) <= 65535 && n_host < sizeof host;
    if (ok) {
        snprintf(host, sizeof host, "%.*s", (int)(bracketed ? n_host - 2 : n_host), address + (bracketed ? 1 : 0));
        ok = strcspn(host, bracketed ? "[]/ " : "[]/ :") == strlen(host);
    }
    if (!ok)
        return cuzk_fail(err, CUZK_ERR_USAGE, "address \"%s\": expected host:port, [ipv6]:port or unix:///path",
                         address);
    if (n_host == 0) snprintf(host, sizeof host, "0.0.0.0");
    const bool v6 = strchr(host, ':') != NULL;
    snprintf(out->core, sizeof out->core, v6 ? "[%s]:%s" : "%s:%s", host, digits);
    out->port = grpc_server_add_http2_port(core, out->core, creds);
    if (out->port <= 0) {
        out->port = 0;
        return explain_tcp(address, host, digits, tls, err);
    }
    const char *near = strcmp(host, "0.0.0.0") == 0 ? "127.0.0.1" : strcmp(host, "::") == 0 ? "::1" : host;
    snprintf(out->shown, sizeof out->shown, strchr(near, ':') != NULL ? "[%s]:%d" : "%s:%d", near, out->port);
    return CUZK_OK;
}

cuzk_status rpc_listen(rpc_address *out, grpc_server *core, grpc_server_credentials *creds, bool tls,
                       const char *address, cuzk_error *err) {
    if (strncmp(address, "unix:", 5) != 0) return listen_tcp(out, core, creds, tls, address, err);
    const char *path = address + 5;
    if (strncmp(path, "//", 2) == 0) path += 2;
    return listen_unix(out, core, path, err);
}
