// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Health and reflection, byte by byte as tools of others see them.
#include "grpc_bed.h"

#define CHECK "/grpc.health.v1.Health/Check"
#define WATCH "/grpc.health.v1.Health/Watch"
#define V1 "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
#define V1ALPHA "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"

// A message with one string field, shorter than 128 bytes.
static size_t one_string(uint8_t *out, unsigned field, const char *text) {
    const size_t n = strlen(text);
    out[0] = (uint8_t)(field << 3 | 2);
    out[1] = (uint8_t)n;
    memcpy(out + 2, text, n);
    return n + 2;
}

static bool contains(const client_bytes *b, const void *what, size_t n) {
    for (size_t i = 0; i + n <= b->len; i++) {
        if (memcmp(b->data + i, what, n) == 0) return true;
    }
    return false;
}

// --- health ---

static void health_check(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    client_bytes reply;
    client_error err = {0};
    uint8_t q[128];
    static const char *const names[] = {"", "cuzk.v1.ProvingEngine"};
    for (int draining = 0; draining < 2; draining++) {
        fake_drain(b.service, draining != 0);
        for (int i = 0; i < 2; i++) {
            const size_t n = names[i][0] == 0 ? 0 : one_string(q, 1, names[i]);
            assert_int_equal(client_call(b.client, &reply, CHECK, q, n, 5000, &err), CLIENT_OK);
            const uint8_t expected[2] = {0x08, draining ? 2 : 1}; // NOT_SERVING, SERVING
            assert_int_equal(reply.len, 2);
            assert_memory_equal(reply.data, expected, 2);
            client_bytes_free(&reply);
        }
        bool serving;
        assert_int_equal(client_healthy(b.client, &serving, 5000, &err), CLIENT_OK);
        assert_int_equal(serving, !draining);
    }
    const size_t n = one_string(q, 1, "no.such.Service");
    assert_int_equal(client_call(b.client, &reply, CHECK, q, n, 5000, &err), CLIENT_NOT_FOUND);
    bed_close(&b);
}

static int next_status(client_stream *s) {
    client_bytes m;
    client_error err = {0};
    int code = 0;
    if (!client_stream_next(s, &m, &code, &err)) return -code;
    const int status = m.len == 0 ? 0 : m.len == 2 && m.data[0] == 8 ? m.data[1] : 99;
    client_bytes_free(&m);
    return status;
}

static void health_watch(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    client_stream *s, *unknown;
    client_error err = {0};
    uint8_t q[128];
    assert_int_equal(client_stream_open(b.client, &s, WATCH, 20000, &err), CLIENT_OK);
    assert_true(client_stream_send(s, q, 0));
    assert_true(client_stream_half_close(s)); // as clients of others do
    assert_int_equal(next_status(s), 1);
    fake_drain(b.service, true);
    assert_int_equal(next_status(s), 2);
    fake_drain(b.service, false);
    assert_int_equal(next_status(s), 1);
    assert_int_equal(client_stream_open(b.client, &unknown, WATCH, 300, &err), CLIENT_OK);
    assert_true(client_stream_send(unknown, q, one_string(q, 1, "no.such.Service")));
    assert_int_equal(next_status(unknown), 3); // SERVICE_UNKNOWN, and the stream stays
    assert_int_equal(next_status(unknown), -CLIENT_DEADLINE_EXCEEDED);
    client_stream_close(&unknown);
    rpc_server_stop(&b.server, 0);
    int last = next_status(s); // it may have been told before the end that nothing is served any more
    if (last == 2) last = next_status(s);
    assert_int_equal(last, -CLIENT_UNAVAILABLE);
    client_stream_close(&s);
    client_close(&b.client);
    fake_service_destroy(b.service);
}

// --- reflection ---

static void ask(client_stream *s, unsigned field, const char *text, client_bytes *answer) {
    uint8_t q[128];
    client_error err = {0};
    int code = 0;
    assert_true(client_stream_send(s, q, one_string(q, field, text)));
    if (!client_stream_next(s, answer, &code, &err)) fail_msg("%s", err.text);
    // original_request (2) repeats the question.
    uint8_t original[132] = {0x12};
    const size_t n = one_string(original + 2, field, text);
    original[1] = (uint8_t)n;
    assert_true(contains(answer, original, n + 2));
}

static void expect_error(client_stream *s, unsigned field, const char *text, uint8_t code) {
    client_bytes a;
    ask(s, field, text, &a);
    const uint8_t begin[] = {0x08, code, 0x12}; // of ErrorResponse (7)
    assert_true(contains(&a, begin, sizeof begin));
    client_bytes_free(&a);
}

static void expect_file(client_stream *s, unsigned field, const char *text, const char *file) {
    client_bytes a;
    ask(s, field, text, &a);
    uint8_t name[128]; // FileDescriptorProto.name
    if (!contains(&a, name, one_string(name, 1, file))) fail_msg("%s does not give %s", text, file);
    client_bytes_free(&a);
}

static void reflection(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    static const char *const versions[] = {V1, V1ALPHA};
    static const char *const services[] = {"cuzk.v1.ProvingEngine", "grpc.health.v1.Health",
                                           "grpc.reflection.v1.ServerReflection",
                                           "grpc.reflection.v1alpha.ServerReflection"};
    for (int v = 0; v < 2; v++) {
        client_stream *s;
        client_error err = {0};
        client_bytes a;
        assert_int_equal(client_stream_open(b.client, &s, versions[v], 20000, &err), CLIENT_OK);
        ask(s, 7, "", &a);
        for (int i = 0; i < 4; i++) {
            uint8_t name[128];
            assert_true(contains(&a, name, one_string(name, 1, services[i])));
        }
        client_bytes_free(&a);
        expect_file(s, 3, "cuzk/v1/proving.proto", "cuzk/v1/proving.proto");
        expect_file(s, 3, "grpc/reflection/v1alpha/reflection.proto", "grpc/reflection/v1alpha/reflection.proto");
        static const char *const ours[] = {"cuzk.v1.ProvingEngine",
                                           "cuzk.v1.ProvingEngine.Prove",
                                           "cuzk.v1.SubmitProofRequest",
                                           "cuzk.v1.SubmitProofRequest.vanilla_proof",
                                           "cuzk.v1.AwaitProofResponse.Status",
                                           "cuzk.v1.AwaitProofResponse.TIMEOUT", // a value is a sibling of its enum
                                           "cuzk.v1.ProofKind",
                                           "cuzk.v1.WINNING_POST"};
        for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) expect_file(s, 4, ours[i], "cuzk/v1/proving.proto");
        expect_file(s, 4, "grpc.health.v1.Health.Watch", "grpc/health/v1/health.proto");
        expect_file(s, 4, "grpc.reflection.v1.ServerReflectionRequest.message_request",
                    "grpc/reflection/v1/reflection.proto");
        static const char *const nothing[] = {
            "cuzk.v1",       "cuzk.v1.", "cuzk.v1.Prove",      "cuzk.v1.ProvingEngine.", "ProofKind",
            "cuzk.v2.Proof", ".",        "cuzk.v1.ProofKind.x"};
        for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++)
            expect_error(s, 4, nothing[i], CLIENT_NOT_FOUND);
        expect_error(s, 3, "no.proto", CLIENT_NOT_FOUND);
        expect_error(s, 6, "no.Type", CLIENT_NOT_FOUND);
        ask(s, 6, "cuzk.v1.ProveRequest", &a); // all_extension_numbers_response (5) with the type alone
        uint8_t type[128];
        type[0] = 0x2a;
        type[1] = 22;
        assert_true(contains(&a, type, 2 + one_string(type + 2, 1, "cuzk.v1.ProveRequest")));
        client_bytes_free(&a);
        // No question at all, then the end.
        int code = -1;
        assert_true(client_stream_send(s, type, 0));
        assert_true(client_stream_next(s, &a, &code, &err));
        client_bytes_free(&a);
        assert_true(client_stream_half_close(s));
        assert_false(client_stream_next(s, &a, &code, &err));
        assert_int_equal(code, CLIENT_OK);
        client_stream_close(&s);
    }
    bed_close(&b);
}

// A question that is none ends the stream; others go on.
static void reflection_of_noise(void **state) {
    (void)state;
    bed b = bed_open(NULL);
    client_stream *s;
    client_error err = {0};
    client_bytes a;
    int code = 0;
    assert_int_equal(client_stream_open(b.client, &s, V1, 20000, &err), CLIENT_OK);
    assert_true(client_stream_send(s, (const uint8_t *)"\x0a\x7f", 2));
    assert_false(client_stream_next(s, &a, &code, &err));
    assert_int_equal(code, CLIENT_INVALID_ARGUMENT);
    client_stream_close(&s);
    // Open and silent when the server goes.
    assert_int_equal(client_stream_open(b.client, &s, V1, 20000, &err), CLIENT_OK);
    ask(s, 7, "", &a);
    client_bytes_free(&a);
    rpc_server_stop(&b.server, 10000);
    assert_false(client_stream_next(s, &a, &code, &err));
    assert_int_equal(code, CLIENT_UNAVAILABLE);
    client_stream_close(&s);
    client_close(&b.client);
    fake_service_destroy(b.service);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(health_check),
        cmocka_unit_test(health_watch),
        cmocka_unit_test(reflection),
        cmocka_unit_test(reflection_of_noise),
    };
    return cmocka_run_group_tests_name("grpc_describe", tests, NULL, NULL);
}
