// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Where the server listens: ports, unix sockets living and dead. (TLS: test_grpc_tls.c.)
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

static void expect_answer(const char *target) {
    client_error err = {0};
    const client_options o = {.target = target};
    if (bed_ask(&o, &err) != CLIENT_OK) fail_msg("%s: %s", target, err.text);
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
        cmocka_unit_test(files_of_the_client),
    };
    return cmocka_run_group_tests_name("grpc_listen", tests, NULL, NULL);
}
