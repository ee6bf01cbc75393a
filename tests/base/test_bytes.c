// SPDX-License-Identifier: MIT OR Apache-2.0
#include "testing.h"

#include "base/bytes.h"
#include "base/clock.h"

static test_rng rng;

static void test_byte_order(void **state) {
    (void)state;
    static const uint8_t p[8] = {0x81, 0x92, 0xa3, 0xb4, 0xc5, 0xd6, 0xe7, 0xf8};
    assert_true(load_be32(p) == 0x8192a3b4);
    assert_true(load_le32(p) == 0xb4a39281);
    assert_true(load_be64(p) == UINT64_C(0x8192a3b4c5d6e7f8));
    assert_true(load_le64(p) == UINT64_C(0xf8e7d6c5b4a39281));
    for (int i = 0; i < 1000; i++) {
        uint8_t q[8];
        uint64_t v = test_edge_u64(&rng);
        store_be64(q, v);
        assert_true(load_be64(q) == v && q[0] == (uint8_t)(v >> 56));
        store_le64(q, v);
        assert_true(load_le64(q) == v && q[0] == (uint8_t)v);
        store_be32(q, (uint32_t)v);
        assert_true(load_be32(q) == (uint32_t)v && q[3] == (uint8_t)v);
        store_le32(q, (uint32_t)v);
        assert_true(load_le32(q) == (uint32_t)v && q[0] == (uint8_t)v);
    }
}

static void test_hex(void **state) {
    (void)state;
    char text[2 * 256 + 1];
    uint8_t all[256], back[256];
    for (int i = 0; i < 256; i++) all[i] = (uint8_t)i;
    hex_encode(text, all, sizeof all);
    assert_int_equal(strlen(text), 512);
    assert_memory_equal(text, "000102", 6);
    assert_memory_equal(text + 506, "fdfeff", 6);
    assert_true(hex_decode(back, sizeof back, text, 512));
    assert_memory_equal(back, all, sizeof all);
    hex_encode(text, all, 0);
    assert_string_equal(text, "");

    assert_true(hex_decode(back, 3, "aBCdEf", 6));
    assert_true(back[0] == 0xab && back[1] == 0xcd && back[2] == 0xef);
    assert_true(hex_decode(back, 0, "", 0));
    static const struct {
        const char *text;
        size_t len;
    } bad[] = {{"abcde", 2}, {"abcde", 3}, {"abcdef", 2}, {"abcd", 3},   {"ab d", 2},
               {"abcg", 2},  {"0xab", 2},  {"ab\ncd", 2}, {"/:@G`g", 3}, {"", 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        back[0] = 0x55;
        assert_false(hex_decode(back, bad[i].len, bad[i].text, strlen(bad[i].text)));
        assert_int_equal(back[0], 0x55); // untouched
    }
    // Every character but the 22 digits is refused, also those above 127.
    int accepted = 0;
    for (int c = 0; c < 256; c++) {
        char pair[2] = {'0', (char)c};
        accepted += hex_decode(back, 1, pair, 2);
    }
    assert_int_equal(accepted, 22);
}

static void decode_good(const char *text, const char *expected) {
    uint8_t out[64];
    size_t len = 99;
    assert_true(base64_decode(out, &len, NULL, text, strlen(text)));
    assert_int_equal(len, strlen(expected));
    assert_memory_equal(out, expected, len);
    assert_true(len <= base64_decoded_max(strlen(text)));
}

static void decode_bad(const char *text, size_t at) {
    uint8_t out[64] = {0x55};
    size_t len = 99, bad_at = 99;
    assert_false(base64_decode(out, &len, &bad_at, text, strlen(text)));
    assert_int_equal(bad_at, at);
    assert_int_equal(len, 99);
    assert_int_equal(out[0], 0x55);
    assert_false(base64_decode(out, &len, NULL, text, strlen(text)));
}

static void test_base64(void **state) {
    (void)state;
    decode_good("", ""); // RFC 4648 section 10
    decode_good("Zg==", "f");
    decode_good("Zm8=", "fo");
    decode_good("Zm9v", "foo");
    decode_good("Zm9vYg==", "foob");
    decode_good("Zm9vYmE=", "fooba");
    decode_good("Zm9vYmFy", "foobar");
    decode_good("+/+/", "\xfb\xff\xbf");

    decode_bad("Zg", 2);  // no padding
    decode_bad("Zg=", 2); // half the padding: the '=' stands where a digit or a full group should
    decode_bad("Z", 1);
    decode_bad("Zm9vY", 5);
    decode_bad("====", 0);
    decode_bad("Z===", 1);
    decode_bad("=", 0);
    decode_bad("Zg==Zg==", 2); // padding in the middle
    decode_bad("Zg==\n", 2);
    decode_bad("Zm9v\n", 4); // white space
    decode_bad(" Zm9", 0);
    decode_bad("Zm 9", 2);
    decode_bad("Zm9-", 3); // the other alphabet
    decode_bad("Zm_v", 2);
    decode_bad("Zh==", 1); // stray bits
    decode_bad("Zn==", 1);
    decode_bad("Zm9=", 2);
    decode_bad("Zm8\xff", 3);
    uint8_t out[3];
    size_t len, bad_at;
    assert_false(base64_decode(out, &len, &bad_at, "Zm\0v", 4));
    assert_int_equal(bad_at, 2);
    // Of the 64 digits before the padding, those without stray bits: 4 before two pads, 16 before one; 64 before none.
    int before_two = 0, before_one = 0, before_none = 0;
    for (int c = 0; c < 256; c++) {
        before_two += base64_decode(out, &len, NULL, (char[]){'Z', (char)c, '=', '='}, 4);
        before_one += base64_decode(out, &len, NULL, (char[]){'Z', 'm', (char)c, '='}, 4);
        before_none += base64_decode(out, &len, NULL, (char[]){'Z', 'm', '9', (char)c}, 4);
    }
    assert_int_equal(before_two, 4);
    assert_int_equal(before_one, 16);
    assert_int_equal(before_none, 64);
}

static void test_base64_round_trip(void **state) {
    (void)state;
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int round = 0; round < 2000; round++) {
        uint8_t data[200], back[210]; // several blocks of 64 digits
        char text[280];
        size_t len = test_below(&rng, sizeof data), n = 0, back_len;
        for (size_t i = 0; i < len; i++) data[i] = (uint8_t)test_edge_u64(&rng);
        for (size_t i = 0; i < len; i += 3) {
            uint32_t v = (uint32_t)data[i] << 16 | (i + 1 < len ? (uint32_t)data[i + 1] << 8 : 0) |
                         (i + 2 < len ? data[i + 2] : 0);
            text[n++] = alphabet[v >> 18];
            text[n++] = alphabet[v >> 12 & 63];
            text[n++] = i + 1 < len ? alphabet[v >> 6 & 63] : '=';
            text[n++] = i + 2 < len ? alphabet[v & 63] : '=';
        }
        text[n] = 0;
        char made[281];
        base64_encode(made, data, len);
        assert_string_equal(made, text);
        assert_int_equal(base64_encoded_max(len), n + 1);
        assert_true(base64_decode(back, &back_len, NULL, text, n));
        assert_int_equal(back_len, len);
        if (len > 0) assert_memory_equal(back, data, len);
        // One character out of place is found there.
        if (len > 2) {
            size_t at = test_below(&rng, len / 3 * 4), bad_at;
            text[at] = '*';
            assert_false(base64_decode(back, &back_len, &bad_at, text, n));
            assert_int_equal(bad_at, at);
        }
    }
}

static void test_random(void **state) {
    (void)state;
    static uint8_t a[100000], b[sizeof a];
    assert_int_equal(random_bytes(a, sizeof a, NULL), CUZK_OK);
    assert_int_equal(random_bytes(b, sizeof b, NULL), CUZK_OK);
    assert_memory_not_equal(a, b, 32);
    assert_memory_not_equal(a + sizeof a - 32, b + sizeof b - 32, 32); // filled to the end
    assert_int_equal(random_bytes(a, 0, NULL), CUZK_OK);
}

static void test_clock(void **state) {
    (void)state;
    uint64_t start = clock_now_ns(), last = start;
    for (int i = 0; i < 10000; i++) {
        uint64_t now = clock_now_ns();
        assert_true(now >= last);
        last = now;
    }
    nanosleep(&(struct timespec){0, 2000000}, NULL);
    uint64_t took = clock_now_ns() - start;
    assert_true(took >= 2000000 && took < UINT64_C(60000000000));
}

int main(void) {
    rng = test_rng_new("test_base_bytes");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_order),        cmocka_unit_test(test_hex),    cmocka_unit_test(test_base64),
        cmocka_unit_test(test_base64_round_trip), cmocka_unit_test(test_random), cmocka_unit_test(test_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
