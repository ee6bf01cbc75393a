// SPDX-License-Identifier: MIT OR Apache-2.0
#include "base/bytes.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

void hex_encode(char *out, const uint8_t *data, size_t len) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < len; i++) {
        out[2 * i] = digits[data[i] >> 4];
        out[2 * i + 1] = digits[data[i] & 15];
    }
    out[2 * len] = 0;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool hex_decode(uint8_t *out, size_t len, const char *text, size_t text_len) {
    if (text_len % 2 != 0 || text_len / 2 != len) return false;
    for (size_t i = 0; i < text_len; i++) {
        if (hex_digit(text[i]) < 0) return false;
    }
    for (size_t i = 0; i < len; i++) {
        out[i] = (uint8_t)(hex_digit(text[2 * i]) << 4 | hex_digit(text[2 * i + 1]));
    }
    return true;
}

// RFC 4648 section 4; -1 for everything outside the alphabet, '=' included.
// The value of a digit; 0x80 for every other character.
static const uint8_t BASE64[256] = {
    // clang-format off
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x3e, 0x80, 0x80, 0x80, 0x3f,
    0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0x80, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e,
    0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x80, 0x80, 0x80, 0x80, 0x80,
    0x80, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
    0x29, 0x2a, 0x2b, 0x2c, 0x2d, 0x2e, 0x2f, 0x30, 0x31, 0x32, 0x33, 0x80, 0x80, 0x80, 0x80, 0x80,
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    // clang-format on
};
enum { NO_DIGIT = 0x80, BLOCK = 64 };

static uint32_t base64_digit(char c) { return BASE64[(unsigned char)c]; }

// The first character of [0, len) that is no digit, or len. Whole blocks are judged by one look at the union of their
// values: a production C1 file comes as 68 million digits.
static size_t base64_digits(const char *text, size_t len) {
    size_t i = 0;
    for (; len - i >= BLOCK; i += BLOCK) {
        uint32_t all = 0;
        for (size_t k = 0; k < BLOCK; k++) all |= base64_digit(text[i + k]);
        if ((all & NO_DIGIT) != 0) break;
    }
    while (i < len && base64_digit(text[i]) != NO_DIGIT) i++;
    return i;
}

size_t base64_decoded_max(size_t len) { return len / 4 * 3; }

static bool base64_bad(size_t *bad_at, size_t at) {
    if (bad_at != NULL) *bad_at = at;
    return false;
}

bool base64_decode(uint8_t *out, size_t *out_len, size_t *bad_at, const char *text, size_t len) {
    size_t padding = 0;
    if (len % 4 == 0 && len > 0 && text[len - 1] == '=') padding = text[len - 2] == '=' ? 2 : 1;
    const size_t digits = len - padding, whole = digits / 4 * 4;
    // Judge everything first: a refused text leaves `out` untouched.
    const size_t good = base64_digits(text, digits);
    if (good < digits) return base64_bad(bad_at, good);
    if (len % 4 != 0) return base64_bad(bad_at, len);
    // The last digit of a padded group has 4 (two pads) or 2 (one pad) bits that no byte takes; they must be zero, or
    // several texts would stand for the same bytes.
    if (padding != 0 && (base64_digit(text[digits - 1]) & (padding == 2 ? 15 : 3)) != 0) {
        return base64_bad(bad_at, digits - 1);
    }
    size_t n = 0;
    for (size_t i = 0; i < whole; i += 4) {
        uint32_t v = base64_digit(text[i]) << 18 | base64_digit(text[i + 1]) << 12 | base64_digit(text[i + 2]) << 6 |
                     base64_digit(text[i + 3]);
        out[n++] = (uint8_t)(v >> 16);
        out[n++] = (uint8_t)(v >> 8);
        out[n++] = (uint8_t)v;
    }
    if (padding != 0) {
        uint32_t v = base64_digit(text[whole]) << 18 | base64_digit(text[whole + 1]) << 12;
        if (padding == 1) v |= base64_digit(text[whole + 2]) << 6;
        out[n++] = (uint8_t)(v >> 16);
        if (padding == 1) out[n++] = (uint8_t)(v >> 8);
    }
    *out_len = n;
    return true;
}

void base64_encode(char *out, const uint8_t *data, size_t len) {
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < len; i += 3) {
        const size_t n = len - i;
        const uint32_t v =
            (uint32_t)data[i] << 16 | (n > 1 ? (uint32_t)data[i + 1] << 8 : 0) | (n > 2 ? data[i + 2] : 0);
        *out++ = DIGITS[v >> 18];
        *out++ = DIGITS[v >> 12 & 63];
        *out++ = '=';
        *out++ = '=';
        if (n > 1) out[-2] = DIGITS[v >> 6 & 63];
        if (n > 2) out[-1] = DIGITS[v & 63];
    }
    *out = 0;
}

cuzk_status random_bytes(void *data, size_t len, cuzk_error *err) {
    uint8_t *p = data;
    while (len > 0) {
        ssize_t n = getrandom(p, len, 0);
        if (n < 0) {
            if (errno == EINTR) continue;
            return cuzk_fail(err, CUZK_ERR_IO, "getrandom: %s", strerror(errno));
        }
        p += n;
        len -= (size_t)n;
    }
    return CUZK_OK;
}
