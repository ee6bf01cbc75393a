// SPDX-License-Identifier: MIT OR Apache-2.0
#include "service/listen.h"

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

enum { BACKLOG = 128 };

static bool prepare(int fd) {
    const int flags = fcntl(fd, F_GETFL);
    return fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 && flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

// --- unix sockets ---

// Nobody may answer there. A socket that a dead process left is removed.
static cuzk_status make_room(const struct sockaddr_un *sa, cuzk_error *err) {
    const char *path = sa->sun_path;
    struct stat st;
    if (lstat(path, &st) != 0) return CUZK_OK; // bind will say what else is wrong
    if (!S_ISSOCK(st.st_mode))
        return cuzk_fail(err, CUZK_ERR_IO, "unix socket %s: something else is there, and no socket", path);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    const bool ready = fd >= 0 && prepare(fd);
    const int why = !ready ? errno : connect(fd, (const struct sockaddr *)sa, sizeof *sa) == 0 ? 0 : errno;
    if (fd >= 0) close(fd);
    if (ready && (why == 0 || why == EAGAIN || why == EINPROGRESS)) // EAGAIN: it lives, and its queue is full
        return cuzk_fail(err, CUZK_ERR_IO, "unix socket %s: another program answers there", path);
    if (why != ECONNREFUSED) return cuzk_fail(err, CUZK_ERR_IO, "unix socket %s: %s", path, strerror(why));
    if (unlink(path) != 0 && errno != ENOENT)
        return cuzk_fail(err, CUZK_ERR_IO, "unix socket %s: a dead one cannot be removed: %s", path, strerror(errno));
    return CUZK_OK;
}

static cuzk_status open_unix(listener *out, const char *path, cuzk_error *err) {
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    struct stat st;
    if (path[0] == 0 || strlen(path) >= sizeof sa.sun_path)
        return cuzk_fail(err, CUZK_ERR_USAGE, "unix socket %s: a path of 1 to %zu bytes is needed", path,
                         sizeof sa.sun_path - 1);
    memcpy(sa.sun_path, path, strlen(path) + 1);
    const cuzk_status s = make_room(&sa, err);
    if (s != CUZK_OK) return s;
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    // Its mode is set before anybody can connect.
    if (fd < 0 || !prepare(fd) || bind(fd, (const struct sockaddr *)&sa, sizeof sa) != 0 || chmod(path, 0660) != 0 ||
        lstat(path, &st) != 0 || listen(fd, BACKLOG) != 0) {
        const int why = errno;
        if (fd >= 0) close(fd);
        return cuzk_fail(err, CUZK_ERR_IO, "unix socket %s: %s", path, strerror(why));
    }
    out->fd = fd;
    out->dev = (uint64_t)st.st_dev;
    out->ino = (uint64_t)st.st_ino;
    snprintf(out->path, sizeof out->path, "%s", path);
    snprintf(out->address, sizeof out->address, "unix:%s%s", path[0] == '/' ? "//" : "", path);
    return CUZK_OK;
}

// --- TCP ---

// 0 and a socket, or errno.
static int open_one(int *out, const struct addrinfo *a) {
    const int yes = 1, fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
    if (fd < 0) return errno;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 || !prepare(fd) ||
        bind(fd, a->ai_addr, a->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        const int why = errno;
        close(fd);
        return why;
    }
    *out = fd;
    return 0;
}

static void name_tcp(listener *out) {
    struct sockaddr_storage sa;
    socklen_t len = sizeof sa;
    char host[128] = "?", port[8] = "0";
    if (getsockname(out->fd, (struct sockaddr *)&sa, &len) == 0)
        (void)getnameinfo((const struct sockaddr *)&sa, len, host, sizeof host, port, sizeof port,
                          NI_NUMERICHOST | NI_NUMERICSERV);
    const char *near = strcmp(host, "0.0.0.0") == 0 ? "127.0.0.1" : strcmp(host, "::") == 0 ? "::1" : host;
    snprintf(out->address, sizeof out->address, strchr(near, ':') != NULL ? "[%s]:%s" : "%s:%s", near, port);
    out->port = atoi(port);
}

static cuzk_status open_tcp(listener *out, const char *address, cuzk_error *err) {
    char host[128];
    const char *colon = strrchr(address, ':');
    const size_t n_host = colon != NULL ? (size_t)(colon - address) : 0;
    const char *digits = colon != NULL ? colon + 1 : "";
    const size_t n_digits = strlen(digits);
    const bool bracketed = n_host > 2 && address[0] == '[' && address[n_host - 1] == ']';
    if (colon == NULL || n_digits == 0 || n_digits > 5 || strspn(digits, "0123456789") != n_digits ||
        strtoul(digits, NULL, 10) > 65535 || n_host >= sizeof host ||
        (!bracketed && (memchr(address, ':', n_host) != NULL || memchr(address, '[', n_host) != NULL)))
        return cuzk_fail(err, CUZK_ERR_USAGE, "address \"%.100s\": expected host:port, [ipv6]:port or unix:///path",
                         address);
    if (n_host == 0)
        snprintf(host, sizeof host, "127.0.0.1");
    else
        snprintf(host, sizeof host, "%.*s", (int)(bracketed ? n_host - 2 : n_host), address + (bracketed ? 1 : 0));
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *list = NULL;
    const int bad = getaddrinfo(host, digits, &hints, &list);
    if (bad != 0) return cuzk_fail(err, CUZK_ERR_IO, "address %.100s: %s", address, gai_strerror(bad));
    int why = EADDRNOTAVAIL;
    for (const struct addrinfo *a = list; a != NULL && out->fd < 0; a = a->ai_next) why = open_one(&out->fd, a);
    freeaddrinfo(list);
    if (out->fd < 0) return cuzk_fail(err, CUZK_ERR_IO, "address %.100s: %s", address, strerror(why));
    name_tcp(out);
    return CUZK_OK;
}

cuzk_status listen_open(listener *out, const char *address, cuzk_error *err) {
    *out = (listener){.fd = -1};
    if (strncmp(address, "unix:", 5) != 0) return open_tcp(out, address, err);
    const char *path = address + 5;
    return open_unix(out, strncmp(path, "//", 2) == 0 ? path + 2 : path, err);
}

void listen_close(listener *l, bool keep_fd) {
    struct stat st;
    if (l->fd < 0) return;
    // Not one that somebody else has put there since.
    if (l->path[0] != 0 && lstat(l->path, &st) == 0 && (uint64_t)st.st_dev == l->dev && (uint64_t)st.st_ino == l->ino)
        unlink(l->path);
    if (!keep_fd) close(l->fd);
    l->fd = -1;
}
