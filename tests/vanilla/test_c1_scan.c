// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The short cut over arrays of bytes: right where it says yes, and yes for all that serde writes.
#include "testing.h"

#include "vanilla/c1_scan.h"

static test_rng rng;

enum { CAP = 400 };

// The plain reading of the contract: 0 if it is not such an array, else its length.
static size_t plain(uint8_t out[32], const uint8_t *at, const uint8_t *end) {
    const uint8_t *p = at;
    if (p == end || *p++ != '[') return 0;
    for (int i = 0; i < 32; i++) {
        int v = 0, digits = 0;
        const uint8_t *first = p;
        for (; p < end && *p >= '0' && *p <= '9' && digits < 4; p++, digits++) v = 10 * v + (*p - '0');
        if (digits == 0 || digits > 3 || v > 255 || (digits > 1 && *first == '0')) return 0;
        if (p == end || *p++ != (i < 31 ? ',' : ']')) return 0;
        out[i] = (uint8_t)v;
    }
    return (size_t)(p - at);
}

static size_t write_array(char *text, size_t room, const uint8_t bytes[32]) {
    size_t n = 0;
    for (int i = 0; i < 32; i++) n += (size_t)snprintf(text + n, room - n, "%c%u", i == 0 ? '[' : ',', bytes[i]);
    return n + (size_t)snprintf(text + n, room - n, "]");
}

// On the heap to the byte, so that AddressSanitizer sees a read behind the end.
static void check(const char *text, size_t n, bool must) {
    uint8_t *copy = malloc(n), fast[32], slow[32];
    assert_non_null(copy);
    memcpy(copy, text, n);
    size_t len = 0;
    const size_t want = plain(slow, copy, copy + n);
    if (c1_scan_hash(fast, &len, copy, copy + n)) {
        if (len != want || memcmp(fast, slow, 32) != 0) fail_msg("taken: %.*s", (int)n, text);
    } else if (must && want != 0) {
        fail_msg("not taken: %.*s", (int)n, text);
    }
    free(copy);
}

static void test_hash(void **state) {
    (void)state;
    char text[CAP];
    uint8_t bytes[32];
    for (int value = 0; value < 256; value++) {
        memset(bytes, value, sizeof bytes);
        size_t n = write_array(text, sizeof text, bytes);
        memset(text + n, ' ', sizeof text - n);
        check(text, n + 132, true);
        for (size_t cut = 0; cut <= n; cut++) check(text, cut, false);
    }
    static const char odd[] = "0123456789,,,[[]]] -.eE+\"\n\t/:;\\\xff\x80\xb0";
    for (int round = 0; round < 200000; round++) {
        for (int i = 0; i < 32; i++) bytes[i] = (uint8_t)(test_u64(&rng) >> test_below(&rng, 8));
        size_t n = write_array(text, sizeof text, bytes);
        memset(text + n, ' ', sizeof text - n);
        const size_t edits = test_below(&rng, 3);
        for (size_t i = 0; i < edits; i++) text[test_below(&rng, n)] = odd[test_below(&rng, sizeof odd - 1)];
        check(text, n + 132, true);
    }
}

static void test_lengths(void **state) {
    (void)state;
    char text[CAP];
    for (int count = 0; count < 70; count++) {
        size_t n = 0;
        text[n++] = '[';
        for (int i = 0; i < count; i++) n += (size_t)snprintf(text + n, sizeof text - n, i == 0 ? "1" : ",1");
        text[n++] = ']';
        memset(text + n, ' ', sizeof text - n);
        check(text, n + 132, true);
    }
}

static size_t find(const char *text) {
    const uint8_t *at = (const uint8_t *)text;
    return (size_t)(c1_scan_array(at + 1, at + strlen(text)) - at);
}

static void test_array(void **state) {
    (void)state;
    assert_int_equal(find("{\"a\":[1]}"), 5);
    assert_int_equal(find("[[1]]"), 1);
    assert_int_equal(find("{\"a\": [1]}"), 10);    // a space before it: left to the parser
    assert_int_equal(find("{\"a:[\":1,[2]}"), 9);  // not the one in the string
    assert_int_equal(find("{\"\\\":[\":[2]}"), 8); // "\":["
    assert_int_equal(find("{\"\\\\\":[2]}"), 6);   // a string that ends in a backslash
    assert_int_equal(find("{\"\\\\\\\":[\":[2]}"), 10);
    assert_int_equal(find("{\"open:[1,[2"), 12); // no end of the string: no array
    assert_int_equal(find("{\"open\\"), 7);
    assert_int_equal(find("{}"), 2);
}

int main(void) {
    rng = test_rng_new("test_c1_scan");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_array),
    };
    return cmocka_run_group_tests(tests, 0, 0);
}
