// SPDX-License-Identifier: MIT OR Apache-2.0
#include "app/http_get.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { HOST_MAX = 256, ANSWER_MAX = 64 << 20, FIRST_CAP = 1 << 16 };

// "[::1]:9821", "host:9821".
static cuzk_status split(char host[HOST_MAX], char port[16], const char *address, cuzk_error *err) {
    const char *a = strncmp(address, "http://", 7) == 0 ? address + 7 : address;
    size_t len = strcspn(a, "/");
    const char *colon = NULL;
    for (const char *p = a; p < a + len; p++)
        if (*p == ':') colon = p;
    size_t host_len = colon != NULL ? (size_t)(colon - a) : 0, port_len = colon != NULL ? len - host_len - 1 : 0;
    if (host_len > 2 && a[0] == '[' && a[host_len - 1] == ']') {
        a++;
        host_len -= 2;
    }
    if (host_len == 0 || host_len >= HOST_MAX || port_len == 0 || port_len > 5)
        return cuzk_fail(err, CUZK_ERR_USAGE, "expected HOST:PORT or http://HOST:PORT, found '%s'", address);
    memcpy(host, a, host_len);
    host[host_len] = 0;
    memcpy(port, colon + 1, port_len);
    port[port_len] = 0;
    return CUZK_OK;
}

static int open_connection(const char *host, const char *port, uint32_t timeout_ms, const char **why) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    const struct timeval t = {timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000};
    struct addrinfo *list = NULL;
    int fd = -1, e = getaddrinfo(host, port, &hints, &list);
    *why = e != 0 ? gai_strerror(e) : "no address";
    for (const struct addrinfo *i = list; e == 0 && i != NULL && fd < 0; i = i->ai_next) {
        fd = socket(i->ai_family, i->ai_socktype, i->ai_protocol);
        if (fd < 0) continue;
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &t, sizeof t);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &t, sizeof t);
        if (connect(fd, i->ai_addr, i->ai_addrlen) == 0) break;
        *why = strerror(errno);
        close(fd);
        fd = -1;
    }
    if (list != NULL) freeaddrinfo(list);
    return fd;
}

typedef struct answer {
    char *data;
    size_t len, cap;
} answer;

// Reads some more; 0 at the end, negative with errno.
static ssize_t read_more(int fd, answer *a) {
    if (a->cap - a->len < 2) {
        size_t cap = a->cap == 0 ? FIRST_CAP : 2 * a->cap;
        char *more = cap <= ANSWER_MAX ? realloc(a->data, cap) : NULL;
        if (more == NULL) {
            errno = cap <= ANSWER_MAX ? ENOMEM : EFBIG;
            return -1;
        }
        a->data = more;
        a->cap = cap;
    }
    ssize_t n;
    do n = recv(fd, a->data + a->len, a->cap - a->len - 1, 0);
    while (n < 0 && errno == EINTR);
    if (n > 0) a->len += (size_t)n;
    a->data[a->len] = 0;
    return n;
}

// Offset of the body once the head is whole, else 0.
static size_t find_body(const answer *a) {
    const char *end = a->data != NULL ? strstr(a->data, "\r\n\r\n") : NULL;
    return end != NULL ? (size_t)(end - a->data) + 4 : 0;
}

// The length that the head announces; SIZE_MAX: until the connection ends.
static size_t announced(const answer *a, size_t body) {
    static const char NAME[] = "content-length:";
    for (const char *p = strstr(a->data, "\r\n"); p != NULL && p < a->data + body; p = strstr(p + 2, "\r\n"))
        if (strncasecmp(p + 2, NAME, sizeof NAME - 1) == 0) {
            const unsigned long long n = strtoull(p + 2 + sizeof NAME - 1, NULL, 10); // saturates
            return n < ANSWER_MAX ? (size_t)n : ANSWER_MAX;
        }
    return SIZE_MAX;
}

cuzk_status http_get(char **out, size_t *out_len, const char *address, const char *path, uint32_t timeout_ms,
                     cuzk_error *err) {
    char host[HOST_MAX], port[16], request[512];
    const char *why;
    cuzk_status s = split(host, port, address, err);
    if (s != CUZK_OK) return s;
    int n = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: %s:%s\r\nConnection: close\r\n\r\n", path, host,
                     port);
    if (n < 0 || (size_t)n >= sizeof request) return cuzk_fail(err, CUZK_ERR_USAGE, "the path is too long");
    int fd = open_connection(host, port, timeout_ms, &why);
    if (fd < 0) return cuzk_fail(err, CUZK_ERR_IO, "%s: %s", address, why);
    answer a = {0};
    size_t body = 0, want = SIZE_MAX;
    ssize_t got = send(fd, request, (size_t)n, MSG_NOSIGNAL) == n ? 1 : -1;
    while (got > 0 && (body == 0 || want == SIZE_MAX || a.len - body < want)) {
        got = read_more(fd, &a);
        if (body == 0 && (body = find_body(&a)) != 0) want = announced(&a, body);
    }
    if (got < 0)
        s = cuzk_fail(err, CUZK_ERR_IO, "%s: %s", address, errno == EAGAIN ? "no answer in time" : strerror(errno));
    else if (body == 0 || (want != SIZE_MAX && a.len - body < want))
        s = cuzk_fail(err, CUZK_ERR_IO, "%s: the answer was cut", address);
    else if (strncmp(a.data, "HTTP/1.", 7) != 0 || strncmp(a.data + 8, " 200", 4) != 0)
        s = cuzk_fail(err, CUZK_ERR_IO, "%s%s: answered \"%.*s\"", address, path, (int)strcspn(a.data, "\r\n"), a.data);
    close(fd);
    if (s != CUZK_OK) {
        free(a.data);
        return s;
    }
    a.len -= body;
    if (want < a.len) a.len = want;
    memmove(a.data, a.data + body, a.len);
    a.data[a.len] = 0;
    *out = a.data;
    *out_len = a.len;
    return CUZK_OK;
}
