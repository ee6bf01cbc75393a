// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What logs and the status may not quote.
#include "testing.h"

#include "service/hide.h"

#define HEX32 "00112233445566778899aabbccddeeff"

static void becomes(const char *before, const char *after) {
    char text[512];
    snprintf(text, sizeof text, "%s", before);
    hide_inputs(text);
    assert_string_equal(text, after);
}

static void hex_is_hidden(void **state) {
    (void)state;
    becomes("comm_r is " HEX32 HEX32 ", comm_r_last is " HEX32 HEX32, "comm_r is ..., comm_r_last is ...");
    becomes("found 0x" HEX32, "found 0x...");
    becomes(HEX32, "...");
    becomes("0123456789abcdef stays", "0123456789abcdef stays");
    becomes("a-" HEX32 " and b/" HEX32 ".params", "a-... and b/....params"); // neither is how parameters are called
}

static void names_of_files_stay(void **state) {
    (void)state;
    static const char TEXT[] =
        "/params/v28-stacked-proof-" HEX32 HEX32 ".params cannot be found: No such file or directory";
    becomes(TEXT, TEXT);
}

static void values_are_hidden(void **state) {
    (void)state;
    becomes("replica_id (byte 7): expected 32 bytes, found \"secret\"",
            "replica_id (byte 7): expected 32 bytes, found ...");
    becomes("expected \"Single\" or \"Top\", found \"a\"b\"", "expected \"Single\" or \"Top\", found ...");
    becomes("expected one kind, found \"x found y\" besides z", "expected one kind, found ... besides z");
    becomes("found a mixture (\"secret\")", "found a mixture (...)");
    becomes("found \"the end was cut of", "found ...");
    becomes("found \"\"", "found \"\"");
    becomes("expected an integer 0..255, found 31415926535897", "expected an integer 0..255, found ...");
    becomes("expected an integer 0..255, found -3.14159265e77", "expected an integer 0..255, found ...");
}

static void the_rest_stays(void **state) {
    (void)state;
    static const char *const TEXTS[] = {
        "",
        "expected 10 partitions, found 11",
        "a C1 file has at most 209715200 bytes, found 1073741824",
        "sector_size: 34359738368, but vanilla_proof is of a sector of 2048 bytes (StackedDrg2KiBV1)",
        "section \"b_g1\" has 12 points, section \"b_g2\" has 13",
        "partition 3, device: out of memory",
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) becomes(TEXTS[i], TEXTS[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(hex_is_hidden), cmocka_unit_test(names_of_files_stay),
                                       cmocka_unit_test(values_are_hidden), cmocka_unit_test(the_rest_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
