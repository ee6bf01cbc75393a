// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the outside world may do to the server: messages of every size, bytes that mean nothing, clients that stop half
// way or do not read. Afterwards a question is answered as if nothing had been, and nothing is left behind.
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "grpc_bed.h"

#define ENGINE "/cuzk.v1.ProvingEngine/"
enum { LIMIT = 1 << 18 };

static void expect(int got, const client_error *err, int code, const char *word) {
    if (got != code) fail_msg("%s (%s), expected %s", client_code_name(got), err->text, client_code_name(code));
    if (strstr(err->text, word) == NULL) fail_msg("\"%s\" does not say \"%s\"", err->text, word);
}

static void still_serves(const bed *b) {
    client_status s;
    client_error err = {0};
    expect(client_get_status(b->client, &s, 5000, &err), &err, CLIENT_OK, "");
    client_status_free(&s);
}

// A SubmitProofRequest of exactly `len` bytes, toy, whose vanilla_proof takes what is left.
static uint8_t *request_of(size_t len, size_t *proof_len) {
    uint8_t *m = calloc(1, len);
    assert_non_null(m);
    const uint8_t head[] = {0x10, 0xe8, 0x07, 0x18, 0x01, 0x52}; // kind 1000, sector_size 1, tag of vanilla_proof
    memcpy(m, head, sizeof head);
    const size_t n = len - sizeof head - 4; // a length of four bytes, padded
    for (int i = 0; i < 4; i++) m[sizeof head + (size_t)i] = (uint8_t)((n >> 7 * i & 0x7f) | (i < 3 ? 0x80 : 0));
    *proof_len = n;
    return m;
}

static void sizes_around_the_limit(void **state) {
    (void)state;
    const rpc_server_options o = {.max_message_bytes = LIMIT};
    bed b = bed_open(&o);
    for (int d = -1; d <= 1; d++) {
        size_t proof_len;
        uint8_t *m = request_of((size_t)(LIMIT + d), &proof_len);
        client_bytes reply;
        client_error err = {0};
        const int code = client_call(b.client, &reply, ENGINE "SubmitProof", m, (size_t)(LIMIT + d), 5000, &err);
        if (d <= 0) {
            expect(code, &err, CLIENT_OK, "");
            assert_int_equal(fake_last_input_len(b.service), proof_len);
        } else {
            expect(code, &err, CLIENT_RESOURCE_EXHAUSTED, "262145"); // what it is
            expect(code, &err, CLIENT_RESOURCE_EXHAUSTED, "262144"); // and what it may be
        }
        client_bytes_free(&reply);
        free(m);
    }
    still_serves(&b);
    bed_close(&b);
}

static void malformed_messages(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    test_rng rng = test_rng_new("malformed_messages");
    static const char *const calls[] = {"SubmitProof", "AwaitProof", "Prove",    "CancelProof", "GetStatus",
                                        "GetMetrics",  "PreloadSRS", "EvictSRS", "GetTimeline", "WatchTimeline"};
    for (size_t k = 0; k < sizeof calls / sizeof calls[0]; k++) {
        char method[64];
        snprintf(method, sizeof method, "%s%s", ENGINE, calls[k]);
        // A length that runs past the end, whatever the field.
        const uint8_t cut[] = {0x0a, 0x7f, 'x'};
        client_bytes reply;
        client_error err = {0};
        expect(client_call(b.client, &reply, method, cut, sizeof cut, 5000, &err), &err, CLIENT_INVALID_ARGUMENT,
               "3 bytes are no cuzk.v1.");
        // Random bytes: any answer but a failure of ours. A watch that was understood goes on until its deadline.
        for (int i = 0; i < 20; i++) {
            uint8_t noise[64];
            for (size_t j = 0; j < sizeof noise; j++) noise[j] = (uint8_t)test_u64(&rng);
            const size_t n = test_below(&rng, sizeof noise);
            const int code = client_call(b.client, &reply, method, noise, n, k == 9 ? 30 : 5000, &err);
            assert_true(code == CLIENT_OK || code == CLIENT_INVALID_ARGUMENT || code == CLIENT_NOT_FOUND ||
                        (k == 9 && code == CLIENT_DEADLINE_EXCEEDED));
            client_bytes_free(&reply);
        }
    }
    client_bytes reply;
    client_error err = {0};
    expect(client_call(b.client, &reply, ENGINE "Prove", NULL, 0, 5000, &err), &err, CLIENT_INVALID_ARGUMENT, "submit");
    expect(client_call(b.client, &reply, ENGINE "Steal", NULL, 0, 5000, &err), &err, CLIENT_UNIMPLEMENTED, "Steal");
    expect(client_call(b.client, &reply, "/none", NULL, 0, 5000, &err), &err, CLIENT_UNIMPLEMENTED, "/none");
    bed_close(&b);
}

// A string with a NUL inside would be cut there and taken for another: it is refused, wherever it stands.
static void strings_with_a_nul(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    const struct {
        const char *method, *says;
        uint8_t bytes[16];
        size_t len;
    } calls[] = {
        {ENGINE "SubmitProof", "request_id: byte 1 is NUL", {0x0a, 3, 'a', 0, 'b'}, 5},
        {ENGINE "SubmitProof", "request_id: byte 2 is NUL", {0x10, 1, 0x7d, 1, 2, 3, 4, 0x0a, 3, 'a', 'b', 0}, 12},
        {ENGINE "Prove", "request_id: byte 1 is NUL", {0x0a, 5, 0x0a, 3, 'a', 0, 'b'}, 7},
        {ENGINE "AwaitProof", "job_id: byte 0 is NUL", {0x0a, 1, 0}, 3},
        {ENGINE "CancelProof", "job_id: byte 1 is NUL", {0x0a, 2, 'a', 0}, 4},
        {ENGINE "PreloadSRS", "circuit_id: byte 3 is NUL", {0x0a, 5, 't', 'o', 'y', 0, '1'}, 7},
        {ENGINE "EvictSRS", "circuit_id: byte 3 is NUL", {0x0a, 5, 't', 'o', 'y', 0, '1'}, 7},
        {"/grpc.health.v1.Health/Check", "service: byte 0 is NUL", {0x0a, 1, 0}, 3},
    };
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        client_bytes reply;
        client_error err = {0};
        expect(client_call(b.client, &reply, calls[i].method, calls[i].bytes, calls[i].len, 5000, &err), &err,
               CLIENT_INVALID_ARGUMENT, calls[i].says);
    }
    // NULs in bytes are what bytes are for: it is looked at as far as the kind.
    static const uint8_t GOOD[] = {0x0a, 1, 'a', 0x10, 0xe8, 7, 0x52, 3, 'n', 0, 'w'};
    client_bytes reply;
    client_error err = {0};
    expect(client_call(b.client, &reply, ENGINE "SubmitProof", GOOD, sizeof GOOD, 5000, &err), &err, CLIENT_OK, "");
    client_bytes_free(&reply);
    bed_close(&b);
}

// Millions of empty fields in a small message would take a multiple of it in memory.
static void too_many_fields(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    const size_t n = 4 << 20;
    uint8_t *m = malloc(n);
    assert_non_null(m);
    for (size_t i = 0; i < n; i += 2) {
        m[i] = 0x5a; // vanilla_proofs, empty
        m[i + 1] = 0;
    }
    client_bytes reply;
    client_error err = {0};
    expect(client_call(b.client, &reply, ENGINE "SubmitProof", m, n, 5000, &err), &err, CLIENT_INVALID_ARGUMENT,
           "too many fields");
    free(m);
    still_serves(&b);
    bed_close(&b);
}

static void *garbage_main(void *arg) {
    bed *b = arg;
    const int fd = bare_connect(b);
    uint64_t x = 88172645463325252u;
    uint8_t chunk[65536];
    for (size_t sent = 0; sent < 10 << 20;) {
        for (size_t i = 0; i < sizeof chunk; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17; // xorshift64
            chunk[i] = (uint8_t)x;
        }
        const ssize_t n = send(fd, chunk, sizeof chunk, MSG_NOSIGNAL);
        if (n <= 0) break; // closed on us, rightly
        sent += (size_t)n;
    }
    close(fd);
    return NULL;
}

static void garbage_on_the_port(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, garbage_main, &b), 0);
    for (int i = 0; i < 10; i++) still_serves(&b);
    pthread_join(t, NULL);
    still_serves(&b);
    bed_close(&b);
}

static void half_open_connections_end(void **state) {
    (void)state;
    const rpc_server_options o = {.handshake_timeout_ms = 300};
    bed b = bed_open(&o);
    int fds[20];
    for (int i = 0; i < 20; i++) fds[i] = bare_connect(&b);
    still_serves(&b);
    for (int i = 0; i < 20; i++) {
        assert_true(bare_closed_within(fds[i], 5000));
        close(fds[i]);
    }
    bed_close(&b);
}

// --- the gate ---

static void connections_beyond_the_limit(void **state) {
    (void)state;
    const rpc_server_options o = {.max_connections = 6, .handshake_timeout_ms = 60000};
    bed b = bed_open(&o);
    still_serves(&b); // one of the six
    for (int round = 0; round < 3; round++) {
        int fds[8];
        for (int i = 0; i < 8; i++) fds[i] = bare_connect(&b);
        for (int i = 5; i < 8; i++) assert_true(bare_closed_within(fds[i], 5000));
        for (int i = 0; i < 5; i++) assert_false(bare_closed_within(fds[i], 30));
        still_serves(&b);
        for (int i = 0; i < 8; i++) close(fds[i]);
        nap(300); // until it has seen them leave
    }
    assert_int_equal(rpc_server_stats_of(b.server).refused, 9);
    // Connections of clients leave room as well.
    for (int i = 0; i < 20; i++) {
        client *c = bed_client(&b);
        client_status s;
        client_error err = {0};
        int code = client_get_status(c, &s, 5000, &err);
        for (int again = 0; code == CLIENT_UNAVAILABLE && again < 50; again++) {
            nap(100);
            code = client_get_status(c, &s, 5000, &err);
        }
        expect(code, &err, CLIENT_OK, "");
        client_status_free(&s);
        client_close(&c);
    }
    bed_close(&b);
}

// While no descriptor is free, connections wait; then they are served, without anybody's help.
static void a_shortage_of_descriptors_passes(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    still_serves(&b);
    struct rlimit before, low;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    const int waiting = bare_connect(&b), ahead = dup(waiting);
    nap(200); // it is a guest by now
    const int late = socket(AF_INET, SOCK_STREAM, 0);
    low = before;
    low.rlim_cur = 0; // nothing new from here on; what is open stays
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    bare_connect_with(&b, late);
    still_serves(&b);
    nap(500);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    const char hello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
    bare_send(late, hello, sizeof hello - 1);
    struct pollfd p = {.fd = late, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 5000), 1); // its settings
    still_serves(&b);
    close(late);
    close(ahead);
    close(waiting);
    bed_close(&b);
}

// Calls go on being accepted once there is memory again, also when each of those that were awaited was refused it.
static void a_shortage_of_memory_passes(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    still_serves(&b);
    mem_test_refuse(1);
    int answered = 0;
    client_status s;
    client_error err = {0};
    while (client_get_status(b.client, &s, 500, &err) == CLIENT_OK && answered < 1000) {
        client_status_free(&s);
        answered++;
    }
    mem_test_refuse(0);
    assert_true(answered < 1000); // else nothing was refused
    int code = CLIENT_UNAVAILABLE;
    for (int i = 0; i < 20 && code != CLIENT_OK; i++) code = client_get_status(b.client, &s, 500, &err);
    expect(code, &err, CLIENT_OK, "");
    client_status_free(&s);
    bed_close(&b);
}

// HTTP/2 that begins and says no more: as silent as a connection that says nothing.
static void a_greeting_without_settings(void **state) {
    (void)state;
    const rpc_server_options o = {.handshake_timeout_ms = 300};
    bed b = bed_open(&o);
    const int fd = bare_connect(&b);
    bare_send(fd, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24);
    assert_true(bare_closed_within(fd, 5000));
    close(fd);
    still_serves(&b);
    bed_close(&b);
}

// The greeting may come in any pieces; what is none is closed at its first wrong byte.
static void greetings(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    const char hello[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
    int fd = bare_connect(&b);
    for (size_t i = 0; i < sizeof hello - 1; i += 3) {
        const size_t n = sizeof hello - 1 - i < 3 ? sizeof hello - 1 - i : 3;
        bare_send(fd, hello + i, n);
        nap(25);
    }
    struct pollfd p = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&p, 1, 5000), 1);
    close(fd);
    static const char *const others[] = {"GET / HTTP/1.1\r\n\r\n", "PRI * HTTP/1", "\x16\x03\x01\x02", "\n"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        fd = bare_connect(&b);
        bare_send(fd, others[i], strlen(others[i]));
        assert_true(bare_closed_within(fd, 5000));
        close(fd);
    }
    still_serves(&b);
    bed_close(&b);
}

// --- bare HTTP/2 ---

static void put_frame(int fd, uint8_t type, uint8_t flags, uint32_t id, const void *payload, size_t n) {
    uint8_t head[9] = {(uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n, type, flags, 0, 0, 0, (uint8_t)id};
    bare_send(fd, head, 9);
    if (n > 0) bare_send(fd, payload, n);
}

static size_t put_header(uint8_t *out, const char *name, const char *value) {
    // RFC 7541, 6.2.2: literal, not indexed, new name, no Huffman code.
    size_t n = 0;
    out[n++] = 0;
    out[n++] = (uint8_t)strlen(name);
    memcpy(out + n, name, strlen(name));
    n += strlen(name);
    out[n++] = (uint8_t)strlen(value);
    memcpy(out + n, value, strlen(value));
    return n + strlen(value);
}

// A connection with one open call on stream 1, and the first five bytes of a message that claims to be `claim` long.
static int half_a_call(const bed *b, const char *path, const char *encoding, uint8_t compressed, uint32_t claim) {
    const int fd = bare_connect(b);
    const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    bare_send(fd, preface, 24);
    put_frame(fd, 4, 0, 0, NULL, 0); // SETTINGS
    uint8_t h[512];
    size_t n = put_header(h, ":method", "POST");
    n += put_header(h + n, ":scheme", "http");
    n += put_header(h + n, ":path", path);
    n += put_header(h + n, ":authority", "localhost");
    n += put_header(h + n, "te", "trailers");
    n += put_header(h + n, "content-type", "application/grpc");
    if (encoding != NULL) n += put_header(h + n, "grpc-encoding", encoding);
    put_frame(fd, 1, 4, 1, h, n); // HEADERS, end of headers
    const uint8_t begin[5] = {compressed, (uint8_t)(claim >> 24), (uint8_t)(claim >> 16), (uint8_t)(claim >> 8),
                              (uint8_t)claim};
    put_frame(fd, 0, 0, 1, begin, 5); // DATA
    return fd;
}

// True when `text` comes within `ms`, somewhere in what the server sends.
static bool hears(int fd, const char *text, unsigned ms) {
    static char heard[1 << 16];
    size_t n = 0;
    for (unsigned waited = 0; waited < ms && n < sizeof heard; waited += 20) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, 20) <= 0) continue;
        const ssize_t got = recv(fd, heard + n, sizeof heard - n, 0);
        if (got <= 0) break;
        n += (size_t)got;
        for (size_t i = 0; i + strlen(text) <= n; i++) {
            if (memcmp(heard + i, text, strlen(text)) == 0) return true;
        }
    }
    return false;
}

static bool all_gone(void *server) { return rpc_server_stats_of(server).open == 0; }

static void slow_senders_are_given_up(void **state) {
    (void)state;
    const rpc_server_options o = {.receive_timeout_ms = 300};
    bed b = bed_open(&o);
    int fds[5];
    for (int i = 0; i < 5; i++) fds[i] = half_a_call(&b, ENGINE "SubmitProof", NULL, 0, 1 << 20);
    still_serves(&b);
    for (int i = 0; i < 5; i++) {
        put_frame(fds[i], 0, 0, 1, "a little more", 13);
        assert_true(hears(fds[i], "did not arrive within 300 ms", 8000));
        close(fds[i]);
    }
    eventually(all_gone, b.server);
    bed_close(&b);
}

static void senders_that_leave(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    for (int i = 0; i < 20; i++) close(half_a_call(&b, ENGINE "Prove", NULL, 0, 1 << 20));
    eventually(all_gone, b.server);
    still_serves(&b);
    bed_close(&b);
}

// Compressed, a few bytes can become any number.
static void compression_is_refused(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    const int fd = half_a_call(&b, ENGINE "GetStatus", "gzip", 1, 10);
    put_frame(fd, 0, 1, 1, "0123456789", 10);
    assert_true(hears(fd, "grpc-status", 5000));
    close(fd);
    eventually(all_gone, b.server);
    still_serves(&b);
    bed_close(&b);
}

typedef struct waiter {
    bed *bed;
    pthread_t thread;
    int code;
} waiter;

static bool is_watched(void *s) { return fake_watches(s) == 1; }
static bool is_unwatched(void *s) { return fake_watches(s) == 0; }
static bool is_cancelled(void *s) { return fake_is_cancelled(s, "job-1"); }

// The connection breaks while the proof is being made.
static void disconnect_while_waiting(void **state) {
    (void)state;
    const rpc_server_options o = {.cancel_on_disconnect = true};
    bed b = bed_open(&o);
    // ProveRequest of a toy that holds.
    const uint8_t m[] = {0x0a, 0x0b, 0x10, 0xe8, 0x07, 0x18, 0x01, 0x52, 0x04, 'h', 'o', 'l', 'd'};
    const int fd = half_a_call(&b, ENGINE "Prove", NULL, 0, sizeof m);
    put_frame(fd, 0, 1, 1, m, sizeof m); // END_STREAM
    eventually(is_watched, b.service);
    assert_false(fake_is_cancelled(b.service, "job-1"));
    close(fd);
    eventually(is_unwatched, b.service);
    eventually(is_cancelled, b.service);
    bed_close(&b);
}

// --- streams ---

static void too_many_streams(void **state) {
    (void)state;
    const rpc_server_options o = {.max_watchers = 3};
    bed b = bed_open(&o);
    fake_say(b.service, "hello");
    client_stream *s[4];
    client_bytes m;
    client_error err = {0};
    int code = 0;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(client_stream_open(b.client, &s[i], ENGINE "WatchTimeline", 0, &err), CLIENT_OK);
        assert_true(client_stream_send(s[i], (const uint8_t *)"", 0));
        if (i < 3) {
            assert_true(client_stream_next(s[i], &m, &code, &err));
            client_bytes_free(&m);
        }
    }
    assert_false(client_stream_next(s[3], &m, &code, &err));
    expect(code, &err, CLIENT_RESOURCE_EXHAUSTED, "3 streams");
    for (int i = 0; i < 4; i++) client_stream_close(&s[i]);
    // And room again.
    eventually(all_gone, b.server);
    assert_int_equal(client_stream_open(b.client, &s[0], ENGINE "WatchTimeline", 0, &err), CLIENT_OK);
    assert_true(client_stream_send(s[0], (const uint8_t *)"", 0));
    assert_true(client_stream_next(s[0], &m, &code, &err));
    client_bytes_free(&m);
    client_stream_close(&s[0]);
    bed_close(&b);
}

// It costs one message, and the others get theirs.
static void a_reader_that_does_not_read(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    client *other = bed_client(&b);
    client_stream *slow, *quick;
    client_error err = {0};
    client_bytes m;
    int code = 0;
    assert_int_equal(client_stream_open(other, &slow, ENGINE "WatchTimeline", 0, &err), CLIENT_OK);
    assert_true(client_stream_send(slow, (const uint8_t *)"", 0));
    assert_int_equal(client_stream_open(b.client, &quick, ENGINE "WatchTimeline", 0, &err), CLIENT_OK);
    assert_true(client_stream_send(quick, (const uint8_t *)"", 0));
    char line[140];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = 0;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 4000; i++) fake_say(b.service, line); // half a megabyte
        assert_true(client_stream_next(quick, &m, &code, &err));
        client_bytes_free(&m);
    }
    still_serves(&b);
    client_stream_close(&slow);
    client_stream_close(&quick);
    client_close(&other);
    bed_close(&b);
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_around_the_limit),
        cmocka_unit_test(malformed_messages),
        cmocka_unit_test(strings_with_a_nul),
        cmocka_unit_test(too_many_fields),
        cmocka_unit_test(garbage_on_the_port),
        cmocka_unit_test(half_open_connections_end),
        cmocka_unit_test(slow_senders_are_given_up),
        cmocka_unit_test(connections_beyond_the_limit),
        cmocka_unit_test(a_shortage_of_descriptors_passes),
        cmocka_unit_test(a_shortage_of_memory_passes),
        cmocka_unit_test(greetings),
        cmocka_unit_test(a_greeting_without_settings),
        cmocka_unit_test(senders_that_leave),
        cmocka_unit_test(compression_is_refused),
        cmocka_unit_test(disconnect_while_waiting),
        cmocka_unit_test(too_many_streams),
        cmocka_unit_test(a_reader_that_does_not_read),
    };
    return cmocka_run_group_tests_name("grpc_wire", tests, NULL, NULL);
}
