// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Where the server listens: TCP addresses and unix sockets, and the credentials of the former.
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "service/grpc_internal.h"

enum { BACKLOG = 128 };

static bool prepare(int fd) { return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0; }

// --- credentials ---

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

static cuzk_status listen_unix(rpc_address *out, rpc_gate *gate, const char *path, cuzk_error *err) {
    cuzk_status st = make_room(path, err);
    if (st != CUZK_OK) return st;
    struct sockaddr_un sa;
    struct stat s;
    (void)socket_address(&sa, path);
    out->path = malloc(strlen(path) + 1);
    if (out->path == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "gRPC: out of memory");
    memcpy(out->path, path, strlen(path) + 1);
    snprintf(out->shown, sizeof out->shown, "%s%s", path[0] == '/' ? "unix://" : "unix:", path);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    bool bound = fd >= 0 && bind(fd, (const struct sockaddr *)&sa, sizeof sa) == 0;
    // The mode is set while nobody can connect yet.
    if (bound && chmod(path, 0660) == 0 && stat(path, &s) == 0 && listen(fd, BACKLOG) == 0 && prepare(fd)) {
        out->dev = (uint64_t)s.st_dev;
        out->ino = (uint64_t)s.st_ino;
        st = rpc_gate_add(gate, fd, err);
        if (st == CUZK_OK) return CUZK_OK;
    } else {
        st = cuzk_fail(err, CUZK_ERR_IO, "unix socket %s: %s", path, strerror(errno));
        if (fd >= 0) close(fd);
    }
    if (bound) unlink(path);
    free(out->path);
    out->path = NULL;
    return st;
}

void rpc_listen_end(rpc_address *a) {
    struct stat s;
    // Not one that somebody else has put there since.
    if (a->path != NULL && stat(a->path, &s) == 0 && (uint64_t)s.st_dev == a->dev && (uint64_t)s.st_ino == a->ino)
        unlink(a->path);
    free(a->path);
    a->path = NULL;
}

// --- TCP ---

static void set_port(struct sockaddr *a, int number) {
    if (a->sa_family == AF_INET6)
        ((struct sockaddr_in6 *)(void *)a)->sin6_port = htons((uint16_t)number);
    else
        ((struct sockaddr_in *)(void *)a)->sin_port = htons((uint16_t)number);
}

static int port_of(int fd) {
    struct sockaddr_storage a;
    socklen_t n = sizeof a;
    if (getsockname(fd, (struct sockaddr *)&a, &n) != 0) return 0;
    return ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)(void *)&a)->sin6_port
                                         : ((struct sockaddr_in *)(void *)&a)->sin_port);
}

// A listening socket, or negative with errno.
static int listen_at(const struct addrinfo *a) {
    const int fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
    const int yes = 1, no = 0;
    if (fd < 0) return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes); // a port that is left over from a daemon just ended
    if (a->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no); // [::] is all of both
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0 && prepare(fd)) return fd;
    const int why = errno;
    close(fd);
    errno = why;
    return -1;
}

// /etc/hosts may name one twice.
static bool seen_before(const struct addrinfo *list, const struct addrinfo *a) {
    for (const struct addrinfo *b = list; b != a; b = b->ai_next) {
        if (b->ai_family != a->ai_family) continue;
        if (a->ai_family == AF_INET6
                ? memcmp(&((struct sockaddr_in6 *)(void *)a->ai_addr)->sin6_addr,
                         &((struct sockaddr_in6 *)(void *)b->ai_addr)->sin6_addr, sizeof(struct in6_addr)) == 0
                : memcmp(&((struct sockaddr_in *)(void *)a->ai_addr)->sin_addr,
                         &((struct sockaddr_in *)(void *)b->ai_addr)->sin_addr, sizeof(struct in_addr)) == 0)
            return true;
    }
    return false;
}

// Every address of the host; with port 0 they share the one that the first gets. At least one must be had, and none of
// a port that was asked for may be somebody else's. Without a gate they are closed again: only whether they can be had
// is asked.
static cuzk_status listen_host(rpc_gate *gate, int *bound, const char *address, const char *host, const char *digits,
                               cuzk_error *err) {
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *list = NULL;
    const int bad = getaddrinfo(host, digits, &hints, &list);
    if (bad != 0) return cuzk_fail(err, CUZK_ERR_IO, "address %s: %s", address, gai_strerror(bad));
    int why = 0;
    size_t n = 0;
    cuzk_status st = CUZK_OK;
    *bound = 0;
    for (const struct addrinfo *a = list; a != NULL && st == CUZK_OK; a = a->ai_next) {
        if (seen_before(list, a)) continue;
        if (*bound != 0) set_port(a->ai_addr, *bound);
        const int fd = listen_at(a);
        if (fd < 0) {
            if (why == 0 || errno == EADDRINUSE) why = errno;
            continue;
        }
        n++;
        *bound = port_of(fd);
        if (gate == NULL)
            close(fd);
        else
            st = rpc_gate_add(gate, fd, err);
    }
    freeaddrinfo(list);
    if (st == CUZK_OK && (n == 0 || (why == EADDRINUSE && strtoul(digits, NULL, 10) != 0)))
        st = cuzk_fail(err, CUZK_ERR_IO, "address %s: %s", address, strerror(why));
    return st;
}

// C core says of a failure only that there was one.
static cuzk_status listen_tls(int *bound, grpc_server *core, grpc_server_credentials *tls, const char *address,
                              const char *host, const char *digits, cuzk_error *err) {
    char name[160];
    snprintf(name, sizeof name, strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host, digits);
    *bound = grpc_server_add_http2_port(core, name, tls);
    if (*bound > 0) return CUZK_OK;
    const cuzk_status st = listen_host(NULL, bound, address, host, digits, err);
    if (st != CUZK_OK) return st;
    // The port can be had, so it was not the port.
    return cuzk_fail(err, CUZK_ERR_IO, "address %s: the TLS certificate and key were refused; do they belong together?",
                     address);
}

static cuzk_status listen_tcp(rpc_address *out, rpc_gate *gate, grpc_server *core, grpc_server_credentials *tls,
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
    const cuzk_status st = tls != NULL ? listen_tls(&out->port, core, tls, address, host, digits, err)
                                       : listen_host(gate, &out->port, address, host, digits, err);
    if (st != CUZK_OK) return st;
    const char *near = strcmp(host, "0.0.0.0") == 0 ? "127.0.0.1" : strcmp(host, "::") == 0 ? "::1" : host;
    snprintf(out->shown, sizeof out->shown, strchr(near, ':') != NULL ? "[%s]:%d" : "%s:%d", near, out->port);
    return CUZK_OK;
}

cuzk_status rpc_listen(rpc_address *out, rpc_gate *gate, grpc_server *core, grpc_server_credentials *tls,
                       const char *address, cuzk_error *err) {
    if (strncmp(address, "unix:", 5) != 0) return listen_tcp(out, gate, core, tls, address, err);
    const char *path = address + 5;
    if (strncmp(path, "//", 2) == 0) path += 2;
    return listen_unix(out, gate, path, err);
}
