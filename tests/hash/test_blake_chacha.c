// SPDX-License-Identifier: MIT OR Apache-2.0
#include "base/bytes.h"
#include "hash/blake2b.h"
#include "hash/chacha.h"
#include "testing.h"

static void check_hex(const uint8_t *got, size_t len, const char *want) {
    char hex[129];
    hex_encode(hex, got, len);
    assert_string_equal(hex, want);
}

static void blake2b_answers(void **state) {
    (void)state;
    uint8_t out[64], key[64], data[256];
    for (size_t i = 0; i < 64; i++) key[i] = (uint8_t)i;
    for (size_t i = 0; i < 256; i++) data[i] = (uint8_t)i;
    blake2b(out, 64, NULL, 0, "abc", 3); // RFC 7693, appendix A
    check_hex(out, 64,
              "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
              "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
    blake2b(out, 64, NULL, 0, "", 0);
    check_hex(out, 64,
              "786a02f742015903c6c6fd852552d272912f4740e15847618a86e217f71f5419"
              "d25e1031afee585313896444934eb04b903a685b1448b755d56f701afe9be2ce");
    blake2b(out, 64, key, 64, "", 0); // the BLAKE2 authors' keyed vectors, here and below
    check_hex(out, 64,
              "10ebb67700b1868efb4417987acf4690ae9d972fb7a590c2f02871799aaa4786"
              "b5e996e8f0f4eb981fc214b005f42d2ff4233499391653df7aefcbc13fc51568");
    blake2b(out, 64, key, 64, data, 255);
    check_hex(out, 64,
              "142709d62e28fcccd0af97fad0f8465b971e82201dc51070faa0372aa43e9248"
              "4be1c1e73ba10906d5d1853db6a4106e0a7bf9800d373d6dee2d46d62ef2a461");
}

static void chacha_answers(void **state) {
    (void)state;
    uint8_t out[64], key[32], nonce[12] = {0, 0, 0, 9, 0, 0, 0, 0x4a};
    for (size_t i = 0; i < 32; i++) key[i] = (uint8_t)i;
    chacha_block(out, key, 1, nonce, 20); // RFC 8439, section 2.3.2
    check_hex(out, 64,
              "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
              "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
    memset(key, 0, sizeof key);
    memset(nonce, 0, sizeof nonce);
    chacha_block(out, key, 0, nonce, 8); // draft-strombergson-chacha-test-vectors, TC1, 256-bit key, 8 rounds
    check_hex(out, 64,
              "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
              "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(blake2b_answers), cmocka_unit_test(chacha_answers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
