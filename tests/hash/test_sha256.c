// SPDX-License-Identifier: MIT OR Apache-2.0
#include "base/bytes.h"
#include "base/cpu.h"
#include "hash/sha256.h"
#if defined(__x86_64__)
#include "hash/x86/sha256_shani.h"
#endif
#include "testing.h"

static void check_hex(const uint8_t digest[32], const char *want) {
    char hex[65];
    hex_encode(hex, digest, 32);
    assert_string_equal(hex, want);
}

// FIPS 180-4 / NIST example messages.
static void known_answers(void **state) {
    (void)state;
    static const struct {
        const char *message, *digest;
    } cases[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrst"
         "nopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    uint8_t digest[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sha256_digest(digest, cases[i].message, strlen(cases[i].message));
        check_hex(digest, cases[i].digest);
    }
    sha256 h;
    sha256_init(&h);
    for (int i = 0; i < 15625; i++) // a million letters, 64 at a time
        sha256_update(&h, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 64);
    sha256_final(digest, &h);
    check_hex(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// The digest by the portable kernel alone, with its own padding: independent of the streaming code.
static void slow_digest(uint8_t digest[32], const uint8_t *data, size_t len) {
    uint32_t s[8];
    memcpy(s, SHA256_IV, sizeof s);
    uint8_t buf[1024] = {0};
    memcpy(buf, data, len);
    buf[len] = 0x80;
    size_t blocks = (len + 9 + 63) / 64;
    store_be64(buf + 64 * blocks - 8, len * 8);
    for (size_t i = 0; i < blocks; i++) sha256_compress_portable(s, buf + 64 * i, 1);
    for (size_t i = 0; i < 8; i++) store_be32(digest + 4 * i, s[i]);
}

static void streaming_splits(void **state) {
    (void)state;
    test_rng rng = test_rng_new("streaming_splits");
    uint8_t data[512], want[32], got[32];
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)test_u64(&rng);
    for (size_t len = 0; len <= 320; len++) {
        slow_digest(want, data, len);
        sha256_digest(got, data, len);
        assert_memory_equal(got, want, 32);
        for (int round = 0; round < 8; round++) {
            sha256 h;
            sha256_init(&h);
            for (size_t at = 0; at < len;) {
                size_t n = test_below(&rng, test_below(&rng, 2) ? 150 : 5);
                if (n > len - at) n = len - at;
                sha256_update(&h, data + at, n);
                at += n;
            }
            sha256_final(got, &h);
            assert_memory_equal(got, want, 32);
        }
    }
}

static void kernels_agree(void **state) {
    (void)state;
    test_rng rng = test_rng_new("kernels_agree");
    for (int round = 0; round < 2000; round++) {
        uint8_t blocks[5 * 64 + 1];
        for (size_t i = 0; i + 8 <= sizeof blocks; i += 8) store_le64(blocks + i, test_edge_u64(&rng));
        size_t n = test_below(&rng, 6), shift = n < 5 ? test_below(&rng, 2) : 0; // unaligned too
        uint32_t a[8], b[8];
        for (size_t i = 0; i < 8; i++) a[i] = b[i] = (uint32_t)test_edge_u64(&rng);
        sha256_compress_portable(a, blocks + shift, n);
        sha256_compress(b, blocks + shift, n);
        assert_memory_equal(a, b, sizeof a);
#if defined(__x86_64__)
        if (cpu_has_sha()) {
            memcpy(b, a, sizeof a);
            sha256_compress_portable(a, blocks + shift, n);
            sha256_compress_shani(b, blocks + shift, n);
            assert_memory_equal(a, b, sizeof a);
        }
#endif
    }
    if (!cpu_has_sha()) print_message("no SHA extensions here: only the portable kernel was tested\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(streaming_splits),
        cmocka_unit_test(kernels_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
