// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Where the server listens and to whom: ports, unix sockets living and dead, TLS with certificates made here.
#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "grpc_bed.h"

static cuzk_status try_start(rpc_server **out, service *s, const char *address, cuzk_error *err) {
    const char *const listen[] = {address};
    const rpc_server_options o = {.listen = listen, .n_listen = 1};
    return rpc_server_start(out, s, &o, err);
}

static int ask(const client_options *o, client_error *err) {
    client *c;
    cuzk_error e = {0};
    client_status s;
    if (client_open(&c, o, &e) != CUZK_OK) fail_msg("%s", e.text);
    const int code = client_get_status(c, &s, 5000, err);
    if (code == CLIENT_OK) client_status_free(&s);
    client_close(&c);
    return code;
}

static void expect_answer(const char *target) {
    client_error err = {0};
    const client_options o = {.target = target};
    if (ask(&o, &err) != CLIENT_OK) fail_msg("%s: %s", target, err.text);
}

static void refuses(const char *address, cuzk_status status, const char *word) {
    service *s = fake_service_create();
    rpc_server *r;
    cuzk_error err = {0};
    const cuzk_status got = try_start(&r, s, address, &err);
    if (got != status) fail_msg("%s: %s", address, got == CUZK_OK ? "taken" : err.text);
    assert_null(r);
    if (strstr(err.text, word) == NULL) fail_msg("%s: \"%s\" does not say \"%s\"", address, err.text, word);
    fake_service_destroy(s);
}

static void addresses_that_make_no_sense(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",      "9820",    ":",    "host:",       "host:99999", "host:98x",    "::1:98", "[::1]", "http://h:98",
        "unix:", "unix://", "h:-1", "ipv4:1.2:98", "[::1:98",    "host:123456", "[]:98",  "[h:98"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) refuses(bad[i], CUZK_ERR_USAGE, "unix");
    service *s = fake_service_create();
    rpc_server *r;
    cuzk_error err = {0};
    const rpc_server_options none = {0};
    assert_int_equal(rpc_server_start(&r, s, &none, &err), CUZK_ERR_USAGE);
    fake_service_destroy(s);
    static const char *const targets[] = {"", "host", "host:", "unix:", "http://", "dns:///host"};
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        client *c;
        const client_options o = {.target = targets[i]};
        assert_int_equal(client_open(&c, &o, &err), CUZK_ERR_USAGE);
        assert_null(c);
    }
}

static void several_addresses(void **state) {
    (void)state;
    char folder[64], path[96];
    scratch_make(folder);
    snprintf(path, sizeof path, "unix://%s/a.sock", folder);
    const char *const listen[] = {"127.0.0.1:0", path, "0.0.0.0:0", "localhost:0"};
    const rpc_server_options o = {.listen = listen, .n_listen = 4};
    bed b = bed_open(&o);
    for (size_t i = 0; i < 4; i++) {
        expect_answer(rpc_server_address(b.server, i));
        assert_true((rpc_server_port(b.server, i) > 0) == (i != 1));
    }
    assert_string_equal(rpc_server_address(b.server, 1), path);
    char target[64];
    snprintf(target, sizeof target, "dns:///localhost:%d", rpc_server_port(b.server, 0));
    expect_answer(target);
    snprintf(target, sizeof target, "http://127.0.0.1:%d/", rpc_server_port(b.server, 0));
    expect_answer(target);
    bed_close(&b);
    scratch_remove(folder);
}

static void ipv6(void **state) {
    (void)state;
    const int fd = socket(AF_INET6, SOCK_STREAM, 0);
    if (fd < 0) skip();
    close(fd);
    const char *const listen[] = {"[::1]:0"};
    const rpc_server_options o = {.listen = listen, .n_listen = 1};
    service *s = fake_service_create();
    rpc_server *r;
    cuzk_error err = {0};
    if (rpc_server_start(&r, s, &o, &err) != CUZK_OK) { // the system has it, this machine does not use it
        assert_non_null(strstr(err.text, "[::1]:0"));
        fake_service_destroy(s);
        skip();
    }
    assert_memory_equal(rpc_server_address(r, 0), "[::1]:", 6);
    expect_answer(rpc_server_address(r, 0));
    rpc_server_stop(&r, 0);
    fake_service_destroy(s);
}

static void a_port_in_use(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    refuses(rpc_server_address(b.server, 0), CUZK_ERR_IO, strerror(EADDRINUSE));
    bed_close(&b);
    refuses("203.0.113.77:0", CUZK_ERR_IO, "203.0.113.77:0"); // for documentation (RFC 5737), nobody's
}

static void unix_socket_of_the_living(void **state) {
    (void)state;
    char folder[64], address[128], path[96];
    scratch_make(folder);
    snprintf(path, sizeof path, "%s/d.sock", folder);
    snprintf(address, sizeof address, "unix://%s", path);
    const char *const listen[] = {address};
    const rpc_server_options o = {.listen = listen, .n_listen = 1};
    bed b = bed_open(&o);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_int_equal(st.st_mode & 0777, 0660);
    refuses(address, CUZK_ERR_IO, "another program");
    expect_answer(address); // unharmed
    bed_close(&b);
    assert_int_equal(stat(path, &st), -1); // gone with the server
    scratch_remove(folder);
}

static void unix_socket_of_the_dead(void **state) {
    (void)state;
    char folder[64], address[128], path[96];
    scratch_make(folder);
    snprintf(path, sizeof path, "%s/d.sock", folder);
    snprintf(address, sizeof address, "unix:%s", path);
    // Bound and never listened on: connections are refused, as after a crash.
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    memcpy(sa.sun_path, path, strlen(path) + 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&sa, sizeof sa), 0);
    close(fd);
    const char *const listen[] = {address};
    const rpc_server_options o = {.listen = listen, .n_listen = 1};
    bed b = bed_open(&o);
    expect_answer(address);
    bed_close(&b);
    scratch_remove(folder);
}

static void unix_paths_that_cannot_be(void **state) {
    (void)state;
    char folder[64], path[96], address[256], longer[160];
    scratch_make(folder);
    snprintf(path, sizeof path, "%s/file", folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
    snprintf(address, sizeof address, "unix://%s", path);
    refuses(address, CUZK_ERR_IO, "something else");
    assert_int_equal(access(path, F_OK), 0); // and was not removed
    snprintf(address, sizeof address, "unix://%s/none/d.sock", folder);
    refuses(address, CUZK_ERR_IO, strerror(ENOENT));
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    snprintf(address, sizeof address, "unix:///%s", longer);
    refuses(address, CUZK_ERR_USAGE, "1 to 107 bytes");
    scratch_remove(folder);
}

// --- TLS ---

static bool make_certificates(const char *folder) {
    char command[2048];
    snprintf(command, sizeof command,
             "cd %s && command -v openssl >/dev/null && exec >/dev/null 2>&1 &&"
             "pair() { openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout $1.key -out $1.pem -subj /CN=$2 "
             "-addext subjectAltName=DNS:localhost,IP:127.0.0.1; } && pair server localhost && pair client me && "
             "pair other you",
             folder);
    return system(command) == 0;
}

static void tls(void **state) {
    (void)state;
    char folder[64], files[6][96];
    scratch_make(folder);
    if (!make_certificates(folder)) {
        scratch_remove(folder);
        puts("# no openssl program here");
        skip();
    }
    static const char *const names[] = {"server.pem", "server.key", "client.pem",
                                        "client.key", "other.pem",  "other.key"};
    for (int i = 0; i < 6; i++) snprintf(files[i], sizeof files[i], "%s/%s", folder, names[i]);
    char address[96], socket_path[96];
    snprintf(socket_path, sizeof socket_path, "unix://%s/d.sock", folder);
    const char *const listen[] = {"127.0.0.1:0", socket_path};
    for (int with_clients = 0; with_clients < 2; with_clients++) {
        const rpc_server_options o = {.listen = listen,
                                      .n_listen = 2,
                                      .tls_cert = files[0],
                                      .tls_key = files[1],
                                      .tls_client_ca = with_clients ? files[2] : NULL};
        bed b = bed_open(&o);
        snprintf(address, sizeof address, "%s", rpc_server_address(b.server, 0));
        client_error err = {0};
        client_options c = {.target = address, .tls = true, .ca_file = files[0]};
        assert_int_equal(ask(&c, &err), with_clients ? CLIENT_UNAVAILABLE : CLIENT_OK);
        c.cert_file = files[2];
        c.key_file = files[3];
        assert_int_equal(ask(&c, &err), CLIENT_OK);
        c.cert_file = files[4]; // of somebody whom the server does not know
        c.key_file = files[5];
        assert_int_equal(ask(&c, &err), with_clients ? CLIENT_UNAVAILABLE : CLIENT_OK);
        c = (client_options){.target = address, .tls = true, .ca_file = files[4]}; // the wrong authority
        assert_int_equal(ask(&c, &err), CLIENT_UNAVAILABLE);
        c = (client_options){.target = address}; // without TLS
        assert_int_equal(ask(&c, &err), CLIENT_UNAVAILABLE);
        expect_answer(socket_path); // plain: its mode guards it
        bed_close(&b);
    }
    // Files that are not what they should be.
    service *s = fake_service_create();
    rpc_server *r;
    cuzk_error e = {0};
    rpc_server_options o = {.listen = listen, .n_listen = 1, .tls_cert = files[0]};
    assert_int_equal(rpc_server_start(&r, s, &o, &e), CUZK_ERR_USAGE);
    o.tls_key = "/nonexistent/key";
    assert_int_equal(rpc_server_start(&r, s, &o, &e), CUZK_ERR_IO);
    assert_non_null(strstr(e.text, "/nonexistent/key"));
    o.tls_key = files[3]; // of another certificate
    assert_int_not_equal(rpc_server_start(&r, s, &o, &e), CUZK_OK);
    assert_non_null(strstr(e.text, "TLS"));
    fake_service_destroy(s);
    scratch_remove(folder);
}

static void files_of_the_client(void **state) {
    (void)state;
    client *c;
    cuzk_error err = {0};
    client_options o = {.target = "localhost:1", .tls = true, .ca_file = "/nonexistent/ca"};
    assert_int_equal(client_open(&c, &o, &err), CUZK_ERR_IO);
    o = (client_options){.target = "localhost:1", .tls = true, .cert_file = "x"};
    assert_int_equal(client_open(&c, &o, &err), CUZK_ERR_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_that_make_no_sense),
        cmocka_unit_test(several_addresses),
        cmocka_unit_test(ipv6),
        cmocka_unit_test(a_port_in_use),
        cmocka_unit_test(unix_socket_of_the_living),
        cmocka_unit_test(unix_socket_of_the_dead),
        cmocka_unit_test(unix_paths_that_cannot_be),
        cmocka_unit_test(tls),
        cmocka_unit_test(files_of_the_client),
    };
    return cmocka_run_group_tests_name("grpc_listen", tests, NULL, NULL);
}
