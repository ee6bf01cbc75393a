// SPDX-License-Identifier: MIT OR Apache-2.0
#include "grpc_bed.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

static const char *const loopback[] = {"127.0.0.1:0"};

bed bed_open(const rpc_server_options *options) {
    bed b = {.service = fake_service_create()};
    rpc_server_options o = options != NULL ? *options : (rpc_server_options){0};
    if (o.n_listen == 0) {
        o.listen = loopback;
        o.n_listen = 1;
    }
    cuzk_error err = {0};
    if (rpc_server_start(&b.server, b.service, &o, &err) != CUZK_OK) fail_msg("%s", err.text);
    b.client = bed_client(&b);
    return b;
}

client *bed_client(const bed *b) {
    client *c;
    cuzk_error err = {0};
    const client_options o = {.target = rpc_server_address(b->server, 0)};
    if (client_open(&c, &o, &err) != CUZK_OK) fail_msg("%s", err.text);
    return c;
}

int bed_ask(const client_options *o, client_error *err) {
    client *c;
    cuzk_error e = {0};
    client_status s;
    if (client_open(&c, o, &e) != CUZK_OK) fail_msg("%s", e.text);
    const int code = client_get_status(c, &s, 5000, err);
    if (code == CLIENT_OK) client_status_free(&s);
    client_close(&c);
    return code;
}

static bool idle(void *ctx) { return rpc_server_stats_of(ctx).open == 0; }

void bed_close(bed *b) {
    client_close(&b->client);
    eventually(idle, b->server);
    assert_int_equal(rpc_server_stats_of(b->server).buffered_bytes, 0);
    rpc_server_stop(&b->server, 1000);
    assert_null(b->server);
    fake_service_destroy(b->service);
}

client_proof_request bed_request(const char *id, const char *input) {
    return (client_proof_request){.request_id = id,
                                  .kind = SERVICE_TOY,
                                  .sector_size = 1,
                                  .vanilla_proof = {(const uint8_t *)input, strlen(input)}};
}

void nap(unsigned ms) { nanosleep(&(struct timespec){ms / 1000, (long)(ms % 1000) * 1000000}, NULL); }

void eventually(bool (*holds)(void *ctx), void *ctx) {
    for (int i = 0; i < 2000 && !holds(ctx); i++) nap(5);
    assert_true(holds(ctx));
}

void bare_connect_with(const bed *b, int fd) {
    const struct sockaddr_in sa = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)rpc_server_port(b->server, 0)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&sa, sizeof sa), 0);
}

void bare_send(int fd, const void *bytes, size_t n) { assert_int_equal(send(fd, bytes, n, MSG_NOSIGNAL), (ssize_t)n); }

int bare_connect(const bed *b) {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    bare_connect_with(b, fd);
    return fd;
}

bool bare_closed_within(int fd, unsigned ms) {
    const uint64_t until = clock_now_ns() + (uint64_t)ms * 1000000;
    char junk[4096];
    while (clock_now_ns() < until) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, 20) > 0 && recv(fd, junk, sizeof junk, 0) <= 0) return true;
    }
    return false;
}

void scratch_make(char out[64]) {
    snprintf(out, 64, "/tmp/cuzk-grpc-XXXXXX");
    assert_non_null(mkdtemp(out));
}

void scratch_remove(const char *folder) {
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (const struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        char path[512];
        if (e->d_name[0] == '.') continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        unlink(path);
    }
    closedir(d);
    rmdir(folder);
}
