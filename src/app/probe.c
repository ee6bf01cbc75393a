// SPDX-License-Identifier: MIT OR Apache-2.0
#include "app/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int open_to(int family, const struct sockaddr *address, socklen_t len, bool tls) {
    int fd = socket(family, SOCK_STREAM, 0);
    if (fd < 0) return PROBE_UNKNOWN;
    // All addresses are of this machine, so that a connection is made, or queued, at once.
    if (connect(fd, address, len) != 0) {
        const bool refused = errno == ECONNREFUSED || errno == ENOENT;
        close(fd);
        return refused ? PROBE_REFUSED : PROBE_UNKNOWN;
    }
    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    if (tls) (void)send(fd, "\r\n\r\n\r\n\r\n", 8, MSG_NOSIGNAL);
    return fd;
}

int probe_open(const char *address, bool tls) {
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    if (strncmp(address, "unix://", 7) == 0) {
        if (strlen(address + 7) >= sizeof local.sun_path) return PROBE_UNKNOWN;
        strcpy(local.sun_path, address + 7);
        return open_to(AF_UNIX, (const struct sockaddr *)&local, sizeof local, false); // always plain
    }
    char host[256];
    const char *colon = strrchr(address, ':');
    if (colon == NULL || (size_t)(colon - address) >= sizeof host) return PROBE_UNKNOWN;
    size_t len = (size_t)(colon - address);
    const bool brackets = len > 2 && address[0] == '[' && address[len - 1] == ']';
    len -= brackets ? 2 : 0;
    memcpy(host, address + brackets, len);
    host[len] = 0;
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *list = NULL;
    if (getaddrinfo(host, colon + 1, &hints, &list) != 0) return PROBE_UNKNOWN;
    int fd = open_to(list->ai_family, list->ai_addr, list->ai_addrlen, tls);
    freeaddrinfo(list);
    return fd;
}

bool probe_answered(int fd) {
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}
