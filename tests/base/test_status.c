// SPDX-License-Identifier: MIT OR Apache-2.0
#include "testing.h"

#include "base/observer.h"
#include "base/status.h"

static void test_text_and_status(void **state) {
    (void)state;
    cuzk_error err = {CUZK_OK, ""};
    assert_int_equal(cuzk_fail(&err, CUZK_ERR_FORMAT, "a.json: expected %d, found %s", 7, "x"), CUZK_ERR_FORMAT);
    assert_int_equal(err.status, CUZK_ERR_FORMAT);
    assert_string_equal(err.text, "a.json: expected 7, found x");
    assert_int_equal(cuzk_fail(NULL, CUZK_ERR_IO, "nobody listens"), CUZK_ERR_IO);
}

static void test_control_characters_are_replaced(void **state) {
    (void)state;
    cuzk_error err;
    char hostile[33 + 2];
    for (int c = 1; c < 33; c++) hostile[c - 1] = (char)c;
    hostile[32] = 0x7f, hostile[33] = 'z', hostile[34] = 0;
    cuzk_fail(&err, CUZK_ERR_INPUT, "%s", hostile);
    for (int i = 0; i < 31; i++) assert_int_equal(err.text[i], '?');
    assert_string_equal(err.text + 31, " ?z"); // the space is 32

    static const struct {
        const char *in, *out;
    } cases[] = {
        {"Gr\xc3\xb6\xc3\x9f"
         "e \xe2\x82\xac \xf0\x9f\x98\x80",
         "Gr\xc3\xb6\xc3\x9f"
         "e \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"\x1b[2J\nroot", "?[2J?root"},
        {"\xc2\x9b"
         "31m",
         "??31m"}, // CSI as a C1 control
        {"\x9b"
         "31m",
         "?31m"},                          // the same as a bare byte
        {"\xc0\x8a", "??"},                // overlong line feed
        {"\xe0\x80\x8a", "???"},           // longer still
        {"\xed\xa0\x80", "???"},           // a surrogate
        {"\xf4\x90\x80\x80", "????"},      // beyond Unicode
        {"\xf8\x88\x80\x80\x80", "?????"}, // five bytes
        {"cut \xe2\x82", "cut ??"},        // ends in the middle
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cuzk_fail(&err, CUZK_ERR_INPUT, "%s", cases[i].in);
        assert_string_equal(err.text, cases[i].out);
    }
}

static void test_long_text_is_cut(void **state) {
    (void)state;
    char text[2000];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = 0;
    cuzk_error err;
    cuzk_fail(&err, CUZK_ERR_IO, "%s", text);
    assert_int_equal(strlen(err.text), CUZK_ERROR_TEXT_MAX - 1);
    cuzk_fail_in(&err, CUZK_ERR_IO, "%s", "front");
    assert_int_equal(strlen(err.text), CUZK_ERROR_TEXT_MAX - 1);
    assert_memory_equal(err.text, "front: aaa", 10);
    cuzk_fail_in(&err, CUZK_ERR_IO, "%s", text);
    assert_int_equal(strlen(err.text), CUZK_ERROR_TEXT_MAX - 1);
    // A cut through the middle of a character leaves no half of it.
    memset(text, 'a', CUZK_ERROR_TEXT_MAX - 2);
    memcpy(text + CUZK_ERROR_TEXT_MAX - 2, "\xc3\xb6", 3);
    cuzk_fail(&err, CUZK_ERR_IO, "%s", text);
    assert_int_equal(err.text[CUZK_ERROR_TEXT_MAX - 2], '?');
}

static void test_context(void **state) {
    (void)state;
    cuzk_error err;
    cuzk_fail(&err, CUZK_ERR_IO, "missing");
    assert_int_equal(cuzk_fail_in(&err, CUZK_ERR_INTERNAL, "partition %d", 3), CUZK_ERR_IO); // keeps the first status
    assert_string_equal(err.text, "partition 3: missing");
    assert_int_equal(err.status, CUZK_ERR_IO);
    assert_int_equal(cuzk_fail_in(NULL, CUZK_ERR_INPUT, "x"), CUZK_ERR_INPUT);
    err = (cuzk_error){CUZK_OK, "stale"};
    assert_int_equal(cuzk_fail_in(&err, CUZK_ERR_INPUT, "alone"), CUZK_ERR_INPUT);
    assert_string_equal(err.text, "alone");
}

static void test_own_text_as_argument(void **state) {
    (void)state;
    cuzk_error err;
    cuzk_fail(&err, CUZK_ERR_IO, "inner");
    cuzk_fail(&err, CUZK_ERR_INPUT, "outer(%s)", err.text);
    assert_string_equal(err.text, "outer(inner)");
    cuzk_fail_in(&err, CUZK_ERR_INPUT, "<%s>", err.text);
    assert_string_equal(err.text, "<outer(inner)>: outer(inner)");
}

static void test_names(void **state) {
    (void)state;
    for (int a = CUZK_OK; a <= CUZK_ERR_INTERNAL; a++) {
        const char *name = cuzk_status_name((cuzk_status)a);
        assert_non_null(name);
        assert_string_not_equal(name, "UNKNOWN");
        for (int b = CUZK_OK; b < a; b++) assert_string_not_equal(name, cuzk_status_name((cuzk_status)b));
    }
    assert_string_equal(cuzk_status_name((cuzk_status)1000), "UNKNOWN");
}

static void count_begin(void *ctx, const char *stage) {
    (void)stage;
    ++*(int *)ctx;
}
static bool always(void *ctx) {
    (void)ctx;
    return true;
}

static void test_observer_members_are_optional(void **state) {
    (void)state;
    int begun = 0;
    observer o = {0};
    observe_begin(NULL, "x"), observe_begin(&o, "x"), observe_end(&o, "x"), observe_progress(&o, "x", 1, 2);
    assert_false(observe_cancelled(NULL));
    assert_false(observe_cancelled(&o));
    o = (observer){.stage_begin = count_begin, .cancelled = always, .ctx = &begun};
    observe_begin(&o, "x");
    assert_int_equal(begun, 1);
    assert_true(observe_cancelled(&o));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_and_status),
        cmocka_unit_test(test_control_characters_are_replaced),
        cmocka_unit_test(test_long_text_is_cut),
        cmocka_unit_test(test_context),
        cmocka_unit_test(test_own_text_as_argument),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_observer_members_are_optional),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
