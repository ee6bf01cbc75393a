// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The gate: accepts plain connections and hands them to C core once they have said what HTTP/2 begins with.
//
// C core could accept them itself, and does with TLS. But its listener (1.51) is closed for good by the first
// connection that comes while no descriptor is free, and it has no limit on connections. Here a shortage passes, too
// many are sent away, and what does not speak HTTP/2 never reaches it.
//
// C core closes what it was given and tells nobody, so that a connection counts for as long as its descriptor still is
// the socket that it was: descriptors are given out again, but no two sockets that exist share an inode.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <grpc/grpc_posix.h>

#include "base/clock.h"
#include "base/log.h"
#include "service/grpc_internal.h"

enum {
    GREETING = 24,   // bytes of the client's preface, RFC 9113 section 3.4
    SHORT_MS = 100,  // until accepting is tried again after a shortage
    PARTIAL_MS = 20, // until a greeting that has come in part is looked at again
    IDLE_MS = 1000,
    MS = 1000000,
};
static const char greeting[GREETING + 1] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

typedef struct guest { // has not said its greeting
    int fd;
    bool partial;
    uint64_t since_ns;
} guest;

typedef struct given { // to C core
    int fd;
    dev_t dev;
    ino_t ino;
} given;

struct rpc_gate {
    grpc_server *core;
    grpc_server_credentials *plain;
    atomic_uint_fast64_t *refused;
    uint32_t max_connections, handshake_ms;
    int *listeners;
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

static void accept_from(rpc_gate *g, int from, uint64_t now) {
    const int fd = accept(from, NULL, NULL);
    if (fd < 0) {
        if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM) return; // it left again
        log_write(LOG_WARN, "grpc", NULL, "connections wait: %s", strerror(errno));
        g->short_until_ns = now + (uint64_t)SHORT_MS * MS;
        return;
    }
    if (!room(g)) {
        close(fd);
        atomic_fetch_add(g->refused, 1);
        log_write(LOG_WARN, "grpc", NULL, "a connection was sent away: %u are open", (unsigned)g->max_connections);
        return;
    }
    const int yes = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes); // refused for a unix socket, which needs none
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
        close(fd);
        return;
    }
    g->guests[g->n_guests++] = (guest){.fd = fd, .since_ns = now};
}

static void hand_over(rpc_gate *g, int fd) {
    struct stat s;
    if (fstat(fd, &s) != 0) {
        close(fd);
        return;
    }
    g->given[g->n_given++] = (given){fd, s.st_dev, s.st_ino}; // there is room: it was a guest
    grpc_server_add_channel_from_fd(g->core, fd, g->plain);
}

// False when it is no guest any more.
static bool attend(rpc_gate *g, guest *c, uint64_t now) {
    char said[GREETING];
    const ssize_t n = recv(c->fd, said, sizeof said, MSG_PEEK | MSG_DONTWAIT);
    if (n == GREETING && memcmp(said, greeting, GREETING) == 0) {
        hand_over(g, c->fd);
        return false;
    }
    const bool quiet = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    const bool so_far = n > 0 && n < GREETING && memcmp(said, greeting, (size_t)n) == 0;
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
        g->polls[n++] = (struct pollfd){.fd = g->listeners[i], .events = is_short ? 0 : POLLIN};
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
                accept_from(g, g->listeners[i], now);
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
    g->plain = grpc_insecure_server_credentials_create();
    *out = g;
    return CUZK_OK;
}

cuzk_status rpc_gate_add(rpc_gate *g, int fd, cuzk_error *err) {
    int *more = realloc(g->listeners, (g->n_listeners + 1) * sizeof *more);
    if (more == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "gRPC: out of memory");
    g->listeners = more;
    g->listeners[g->n_listeners++] = fd;
    return CUZK_OK;
}

cuzk_status rpc_gate_start(rpc_gate *g, grpc_server *core, cuzk_error *err) {
    g->core = core;
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
    grpc_server_credentials_release(g->plain);
    free(g->listeners);
    free(g->guests);
    free(g->given);
    free(g->polls);
    free(g);
    *gate = NULL;
}
