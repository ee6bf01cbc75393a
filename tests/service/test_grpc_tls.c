// SPDX-License-Identifier: MIT OR Apache-2.0
//
// TLS: who may come, and what those do to others who come and say nothing, something else or too much. Certificates are
// made here, by the openssl program.
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "grpc_bed.h"

// The beginning of a ClientHello whose rest would have to follow.
static const uint8_t HELLO[] = {22, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3};

// The files of this run, "" where there is no openssl.
static char folder[64];
enum { SERVER_PEM, SERVER_KEY, CLIENT_PEM, CLIENT_KEY, OTHER_PEM, OTHER_KEY, FILES };
static char files[FILES][96];

static int make_certificates(void **state) {
    (void)state;
    static const char *const names[] = {"server.pem", "server.key", "client.pem",
                                        "client.key", "other.pem",  "other.key"};
    char command[2048];
    scratch_make(folder);
    for (int i = 0; i < FILES; i++) snprintf(files[i], sizeof files[i], "%s/%s", folder, names[i]);
    snprintf(command, sizeof command,
             "cd %s && command -v openssl >/dev/null && exec >/dev/null 2>&1 &&"
             "pair() { openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout $1.key -out $1.pem -subj /CN=$2 "
             "-addext subjectAltName=DNS:localhost,IP:127.0.0.1; } && pair server localhost && pair client me && "
             "pair other you",
             folder);
    if (system(command) == 0) return 0;
    puts("# no openssl program here");
    scratch_remove(folder);
    folder[0] = 0;
    return 0;
}

static int remove_certificates(void **state) {
    (void)state;
    if (folder[0] != 0) scratch_remove(folder);
    return 0;
}

// A server with TLS; `options` may be NULL. Skips the test where there are no certificates.
static bed tls_bed(const rpc_server_options *options, client_options *visitor) {
    if (folder[0] == 0) skip();
    rpc_server_options o = options != NULL ? *options : (rpc_server_options){0};
    o.tls_cert = files[SERVER_PEM];
    o.tls_key = files[SERVER_KEY];
    const bed b = bed_open(&o);
    *visitor = (client_options){.target = rpc_server_address(b.server, 0), .tls = true, .ca_file = files[SERVER_PEM]};
    return b;
}

static void is_served(const client_options *visitor) {
    client_error err = {0};
    if (bed_ask(visitor, &err) != CLIENT_OK) fail_msg("%s", err.text);
}

static void who_may_come(void **state) {
    (void)state;
    if (folder[0] == 0) skip();
    char socket_path[96];
    snprintf(socket_path, sizeof socket_path, "unix://%s/d.sock", folder);
    const char *const listen[] = {"127.0.0.1:0", socket_path};
    for (int with_clients = 0; with_clients < 2; with_clients++) {
        const rpc_server_options o = {
            .listen = listen, .n_listen = 2, .tls_client_ca = with_clients ? files[CLIENT_PEM] : NULL};
        client_options c;
        bed b = tls_bed(&o, &c);
        const char *const address = c.target;
        client_error err = {0};
        assert_int_equal(bed_ask(&c, &err), with_clients ? CLIENT_UNAVAILABLE : CLIENT_OK);
        c.cert_file = files[CLIENT_PEM];
        c.key_file = files[CLIENT_KEY];
        is_served(&c);
        c.cert_file = files[OTHER_PEM]; // of somebody whom the server does not know
        c.key_file = files[OTHER_KEY];
        assert_int_equal(bed_ask(&c, &err), with_clients ? CLIENT_UNAVAILABLE : CLIENT_OK);
        c = (client_options){.target = address, .tls = true, .ca_file = files[OTHER_PEM]}; // the wrong authority
        assert_int_equal(bed_ask(&c, &err), CLIENT_UNAVAILABLE);
        c = (client_options){.target = address}; // without TLS
        assert_int_equal(bed_ask(&c, &err), CLIENT_UNAVAILABLE);
        c.target = socket_path; // plain: its mode guards it
        is_served(&c);
        bed_close(&b);
    }
}

static void every_name_of_this_machine(void **state) {
    (void)state;
    const char *const listen[] = {"localhost:0", "0.0.0.0:0"};
    client_options c;
    bed b = tls_bed(&(rpc_server_options){.listen = listen, .n_listen = 2}, &c);
    is_served(&c);
    c.target = rpc_server_address(b.server, 1);
    is_served(&c);
    bed_close(&b);
}

static void files_that_are_not_what_they_should_be(void **state) {
    (void)state;
    if (folder[0] == 0) skip();
    const char *const listen[] = {"127.0.0.1:0"};
    service *s = fake_service_create();
    rpc_server *r;
    cuzk_error e = {0};
    rpc_server_options o = {.listen = listen, .n_listen = 1, .tls_cert = files[SERVER_PEM]};
    assert_int_equal(rpc_server_start(&r, s, &o, &e), CUZK_ERR_USAGE);
    o.tls_key = "/nonexistent/key";
    assert_int_equal(rpc_server_start(&r, s, &o, &e), CUZK_ERR_IO);
    assert_non_null(strstr(e.text, "/nonexistent/key"));
    o.tls_key = files[CLIENT_KEY]; // of another certificate
    assert_int_equal(rpc_server_start(&r, s, &o, &e), CUZK_ERR_INPUT);
    assert_non_null(strstr(e.text, "belong together"));
    fake_service_destroy(s);
}

// --- those who come and do not speak TLS, or not to its end ---

static void the_silent_are_let_go(void **state) {
    (void)state;
    const rpc_server_options o = {.handshake_timeout_ms = 300};
    client_options c;
    bed b = tls_bed(&o, &c);
    int fds[20];
    for (int i = 0; i < 20; i++) {
        fds[i] = bare_connect(&b);
        bare_send(fds[i], HELLO, (size_t)(i < (int)sizeof HELLO ? i : (int)sizeof HELLO));
    }
    is_served(&c);
    for (int i = 0; i < 20; i++) {
        assert_true(bare_closed_within(fds[i], 5000));
        close(fds[i]);
    }
    is_served(&c);
    bed_close(&b);
}

// At its first wrong byte, not when its time is over.
static void other_languages(void **state) {
    (void)state;
    const rpc_server_options o = {.handshake_timeout_ms = 600000};
    client_options c;
    bed b = tls_bed(&o, &c);
    static const struct {
        const char *bytes;
        size_t n;
    } others[] = {
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 24}, // a plain gRPC client
        {"GET / HTTP/1.1\r\n\r\n", 18},
        {"\x16\x02", 2},                             // no TLS of today
        {"\x16\x03\x01\x00\x00", 5},                 // an empty record
        {"\x16\x03\x01\x40\x01", 5},                 // one that is too long
        {"\x16\x03\x01\x02\x00\x02", 6},             // a ServerHello
        {"\x16\x03\x01\x00\x04\x01\xff\xff\xff", 9}, // a ClientHello that C core has to look at
        {"\n", 1},
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const int fd = bare_connect(&b);
        bare_send(fd, others[i].bytes, others[i].n);
        if (!bare_closed_within(fd, 5000)) fail_msg("%zu is still there", i);
        close(fd);
    }
    is_served(&c);
    bed_close(&b);
}

static void connections_beyond_the_limit(void **state) {
    (void)state;
    const rpc_server_options o = {.max_connections = 4, .handshake_timeout_ms = 600000};
    client_options c;
    bed b = tls_bed(&o, &c);
    // Two that have nothing said, two that C core waits for.
    int fds[7];
    for (int i = 0; i < 7; i++) {
        fds[i] = bare_connect(&b);
        if (i >= 2 && i < 4) bare_send(fds[i], HELLO, sizeof HELLO);
    }
    for (int i = 4; i < 7; i++) assert_true(bare_closed_within(fds[i], 5000));
    for (int i = 0; i < 4; i++) assert_false(bare_closed_within(fds[i], 30));
    assert_int_equal(rpc_server_stats_of(b.server).refused, 3);
    client_error err = {0};
    assert_int_equal(bed_ask(&c, &err), CLIENT_UNAVAILABLE);
    for (int i = 0; i < 7; i++) close(fds[i]);
    int code = CLIENT_UNAVAILABLE;
    for (int i = 0; i < 50 && code == CLIENT_UNAVAILABLE; i++) {
        nap(100); // until it has seen them leave
        code = bed_ask(&c, &err);
    }
    assert_int_equal(code, CLIENT_OK);
    bed_close(&b);
}

// While no descriptor is free, connections wait; then they are served, without anybody's help.
static void a_shortage_of_descriptors_passes(void **state) {
    (void)state;
    const rpc_server_options o = {.handshake_timeout_ms = 600000};
    client_options c;
    bed b = tls_bed(&o, &c);
    is_served(&c);
    const int late = socket(AF_INET, SOCK_STREAM, 0);
    struct rlimit before, low;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    low = before;
    low.rlim_cur = 0; // nothing new from here on; what is open stays
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    bare_connect_with(&b, late);
    nap(500);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    is_served(&c);
    close(late);
    bed_close(&b);
}

// --- who it was ---

static void the_log_names_the_client(void **state) {
    (void)state;
    client_options c;
    bed b = tls_bed(&(rpc_server_options){.tls_client_ca = files[CLIENT_PEM]}, &c);
    c.cert_file = files[CLIENT_PEM];
    c.key_file = files[CLIENT_KEY];
    client *me;
    cuzk_error e = {0};
    assert_int_equal(client_open(&me, &c, &e), CUZK_OK);
    FILE *log = tmpfile();
    assert_non_null(log);
    log_start(&(log_options){.level = LOG_INFO, .fd = fileno(log)});
    client_submitted out;
    client_error err = {0};
    const client_proof_request r = bed_request("mine", "hold");
    assert_int_equal(client_submit(me, &out, &r, 5000, &err), CLIENT_OK);
    bool was_running;
    assert_int_equal(client_cancel(me, &was_running, "mine", 5000, &err), CLIENT_OK);
    bool flag;
    uint64_t n;
    assert_int_equal(client_preload(me, &flag, &n, "toy-10", 5000, &err), CLIENT_OK);
    assert_int_equal(client_evict(me, &flag, &n, "toy-10", 5000, &err), CLIENT_OK);
    log_flush();
    log_start(&(log_options){.level = LOG_ERROR, .fd = -1});
    char text[4096];
    rewind(log);
    text[fread(text, 1, sizeof text - 1, log)] = 0;
    fclose(log);
    static const char *const said[] = {"asked for by ipv4:127.0.0.1:", "cancelled while it ran by",
                                       ", certificate of me", "key toy-10 asked for by", "key toy-10 evicted by"};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        if (strstr(text, said[i]) == NULL) fail_msg("\"%s\" is not in:\n%s", said[i], text);
    }
    client_close(&me);
    bed_close(&b);
}

int main(void) {
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_may_come),
        cmocka_unit_test(every_name_of_this_machine),
        cmocka_unit_test(files_that_are_not_what_they_should_be),
        cmocka_unit_test(the_silent_are_let_go),
        cmocka_unit_test(other_languages),
        cmocka_unit_test(connections_beyond_the_limit),
        cmocka_unit_test(a_shortage_of_descriptors_passes),
        cmocka_unit_test(the_log_names_the_client),
    };
    return cmocka_run_group_tests_name("grpc_tls", tests, make_certificates, remove_certificates);
}
