// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The gate: accepts connections and hands them to C core, through a door each for plain ones and for TLS, once they
// have said what HTTP/2 or TLS begins with.
//
// C core could accept them itself. But its listener (1.51) is closed for good by the first connection that comes while
// no descriptor is free, and it has no limit on connections. Here a shortage passes, too many are sent away, and what
// speaks something else never reaches it.
//
// C core closes what it was given and tells nobody, so that a connection counts for as long as its descriptor still is
// the socket that it was: descriptors are given out again, but no two sockets that exist share an inode.
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include "base/clock.h"
#include "base/log.h"
#include "service/grpc_door.h"
#include "service/grpc_internal.h"

enum {
    GREETING = 24, // bytes of the client's preface, RFC 9113 section 3.4
    TLS_GREETING = 6,
    SHORT_MS = 100,  // until accepting is tried again after a shortage
    PARTIAL_MS = 20, // until a greeting that has come in part is looked at again
    IDLE_MS = 1000,
    HOST_TEXT = 64,
    MS = 1000000,
};
static const char greeting[GREETING + 1] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

typedef struct guest { // has not said its greeting
    int fd;
    bool tls;
    bool partial;
    uint64_t since_ns;
} guest;

typedef struct given { // to C core
    int fd;
    dev_t dev;
    ino_t ino;
} given;

typedef struct gate_listener {
    int fd;
    bool tls;
} gate_listener;

struct rpc_gate {
    void *const *doors; // of C core, by rpc_door
    atomic_uint_fast64_t *refused;
    uint32_t max_connections, handshake_ms;
    gate_listener *listeners;
    size_t n_listeners;
    int wake[2]; // written to at the end
    pthread_t thread;
    bool running;
    // Of the thread. Rooms for max_connections each; polls for those, the listeners and the pipe.
    guest *guests;
    given *given;
    struct pollfd *polls;
    uint32_t n_guests, n_given;
    uint64_t short_until_ns;
};

static bool still_open(const given *g) {
    struct stat s;
    return fstat(g->fd, &s) == 0 && s.st_dev == g->dev && s.st_ino == g->ino;
}

// True when one more may come.
static bool room(rpc_gate *g) {
    if (g->n_guests + g->n_given < g->max_connections) return true;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < g->n_given; i++) {
        if (still_open(&g->given[i])) g->given[kept++] = g->given[i];
    }
    g->n_given = kept;
    return g->n_guests + g->n_given < g->max_connections;
}

// The host that a connection comes from, for the log.
static void name_host(char out[HOST_TEXT], const struct sockaddr *from, socklen_t len) {
    if (from->sa_family == AF_UNIX || getnameinfo(from, len, out, HOST_TEXT, NULL, 0, NI_NUMERICHOST) != 0)
        snprintf(out, HOST_TEXT, "this machine");
}

static void accept_from(rpc_gate *g, const gate_listener *at, uint64_t now) {
    struct sockaddr_storage from = {0};
    socklen_t from_len = sizeof from;
    const int fd = accept(at->fd, (struct sockaddr *)&from, &from_len);
    if (fd < 0) {
        if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return; // it left again
        log_write(LOG_WARN, "grpc", NULL, "connections wait: %s", strerror(errno));
        g->short_until_ns = now + (uint64_t)SHORT_MS * MS;
        return;
    }
    if (!room(g)) {
        char host[HOST_TEXT];
        name_host(host, (const struct sockaddr *)&from, from_len);
        close(fd);
        atomic_fetch_add(g->refused, 1);
        log_write(LOG_WARN, "grpc", NULL, "a connection was sent away: %u are open; it came from %s",
                  (unsigned)g->max_connections, host);
        return;
    }
    const int yes = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes); // refused for a unix socket, which needs none
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
        close(fd);
        return;
    }
    g->guests[g->n_guests++] = (guest){.fd = fd, .tls = at->tls, .since_ns = now};
}

static void hand_over(rpc_gate *g, const guest *c) {
    struct stat s;
    if (fstat(c->fd, &s) != 0) {
        close(c->fd);
        return;
    }
    g->given[g->n_given++] = (given){c->fd, s.st_dev, s.st_ino}; // there is room: it was a guest
    rpc_door_hand_over(g->doors[c->tls ? RPC_DOOR_TLS : RPC_DOOR_PLAIN], c->fd);
}

// The beginning of a TLS record that holds the beginning of a ClientHello (RFC 8446, sections 5.1 and 4): a handshake,
// of any version of the record layer that there is, with at least a byte in it, which is the message's type.
static bool tls_begins(const uint8_t *said, size_t n) {
    enum { HANDSHAKE = 22, MAJOR = 3, MOST = 1 << 14, CLIENT_HELLO = 1 };
    const size_t len = n < 5 ? 1 : (size_t)said[3] << 8 | said[4];
    return (n < 1 || said[0] == HANDSHAKE) && (n < 2 || said[1] == MAJOR) && (n < 3 || said[2] <= 4) && len > 0 &&
           len <= MOST && (n < 6 || said[5] == CLIENT_HELLO);
}

// False when it is no guest any more.
static bool attend(rpc_gate *g, guest *c, uint64_t now) {
    uint8_t said[GREETING];
    const size_t needed = c->tls ? TLS_GREETING : GREETING;
    const ssize_t n = recv(c->fd, said, needed, MSG_PEEK | MSG_DONTWAIT);
    const bool quiet = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    const bool so_far = n > 0 && (c->tls ? tls_begins(said, (size_t)n) : memcmp(said, greeting, (size_t)n) == 0);
    if (so_far && (size_t)n == needed) {
        hand_over(g, c);
        return false;
    }
    c->partial = so_far;
    if ((quiet || so_far) && now - c->since_ns < (uint64_t)g->handshake_ms * MS) return true;
    close(c->fd);
    return false;
}

// Until something is to be done.
static void wait_for_any(rpc_gate *g, uint64_t now) {
    size_t n = 0;
    uint64_t wait_ms = IDLE_MS;
    const bool is_short = now < g->short_until_ns;
    if (is_short) wait_ms = (g->short_until_ns - now) / MS + 1;
    g->polls[n++] = (struct pollfd){.fd = g->wake[0], .events = POLLIN};
    for (size_t i = 0; i < g->n_listeners; i++)
        g->polls[n++] = (struct pollfd){.fd = g->listeners[i].fd, .events = is_short ? 0 : POLLIN};
    for (uint32_t i = 0; i < g->n_guests; i++) {
        const guest *c = &g->guests[i];
        const uint64_t ends = c->since_ns + (uint64_t)g->handshake_ms * MS;
        const uint64_t left = c->partial ? PARTIAL_MS : ends > now ? (ends - now) / MS + 1 : 0;
        if (left < wait_ms) wait_ms = left;
        // A part of a greeting is readable all the time, and its end hung up all the time; what follows it is not seen
        // by poll.
        g->polls[n++] = (struct pollfd){.fd = c->partial ? -1 : c->fd, .events = POLLIN};
    }
    // It fails for lack of memory, or when the limit of descriptors was lowered below what is open.
    if (poll(g->polls, n, (int)wait_ms) < 0 && errno != EINTR)
        nanosleep(&(struct timespec){0, (long)PARTIAL_MS * MS}, NULL);
}

static void *gate_main(void *arg) {
    rpc_gate *g = arg;
    for (;;) {
        wait_for_any(g, clock_now_ns());
        if (g->polls[0].revents != 0) return NULL;
        const uint64_t now = clock_now_ns();
        uint32_t kept = 0;
        for (uint32_t i = 0; i < g->n_guests; i++) {
            guest c = g->guests[i];
            if (attend(g, &c, now)) g->guests[kept++] = c;
        }
        g->n_guests = kept;
        for (size_t i = 0; i < g->n_listeners; i++) {
            if ((g->polls[1 + i].revents & POLLIN) != 0 && now >= g->short_until_ns)
                accept_from(g, &g->listeners[i], now);
        }
    }
}

cuzk_status rpc_gate_create(rpc_gate **out, uint32_t max_connections, uint32_t handshake_ms,
                            atomic_uint_fast64_t *refused, cuzk_error *err) {
    *out = NULL;
    rpc_gate *g = calloc(1, sizeof *g);
    if (g == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "gRPC: out of memory");
    g->max_connections = max_connections;
    g->handshake_ms = handshake_ms;
    g->refused = refused;
    g->guests = calloc(max_connections, sizeof *g->guests);
    g->given = calloc(max_connections, sizeof *g->given);
    if (g->guests == NULL || g->given == NULL || pipe(g->wake) != 0) {
        free(g->guests);
        free(g->given);
        free(g);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "gRPC: out of memory, or of descriptors");
    }
    (void)fcntl(g->wake[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(g->wake[1], F_SETFD, FD_CLOEXEC);
    *out = g;
    return CUZK_OK;
}

cuzk_status rpc_gate_add(rpc_gate *g, int fd, bool tls, cuzk_error *err) {
    gate_listener *more = realloc(g->listeners, (g->n_listeners + 1) * sizeof *more);
    if (more == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "gRPC: out of memory");
    g->listeners = more;
    g->listeners[g->n_listeners++] = (gate_listener){fd, tls};
    return CUZK_OK;
}

cuzk_status rpc_gate_start(rpc_gate *g, void *const *doors, cuzk_error *err) {
    g->doors = doors;
    g->polls = calloc(1 + g->n_listeners + g->max_connections, sizeof *g->polls);
    if (g->polls == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "gRPC: out of memory");
    g->running = pthread_create(&g->thread, NULL, gate_main, g) == 0;
    return g->running ? CUZK_OK : cuzk_fail(err, CUZK_ERR_MEMORY, "gRPC: a thread was refused");
}

void rpc_gate_close(rpc_gate **gate) {
    rpc_gate *g = *gate;
    if (g == NULL) return;
    if (g->running) {
        (void)!write(g->wake[1], "", 1);
        pthread_join(g->thread, NULL);
    }
    for (uint32_t i = 0; i < g->n_guests; i++) close(g->guests[i].fd);
    close(g->wake[0]);
    close(g->wake[1]);
    free(g->listeners);
    free(g->guests);
    free(g->given);
    free(g->polls);
    free(g);
    *gate = NULL;
}
