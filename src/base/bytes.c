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
static int base64_digit(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    if (c == '/') return 63;
    return -1;
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
    for (size_t i = 0; i < digits; i++) {
        if (base64_digit(text[i]) < 0) return base64_bad(bad_at, i);
    }
    if (len % 4 != 0) return base64_bad(bad_at, len);
    // The last digit of a padded group has 4 (two pads) or 2 (one pad) bits that no byte takes; they must be zero, or
    // several texts would stand for the same bytes.
    if (padding != 0 && (base64_digit(text[digits - 1]) & (padding == 2 ? 15 : 3)) != 0) {
        return base64_bad(bad_at, digits - 1);
    }
    size_t n = 0;
    for (size_t i = 0; i < whole; i += 4) {
        uint32_t v = (uint32_t)base64_digit(text[i]) << 18 | (uint32_t)base64_digit(text[i + 1]) << 12 |
                     (uint32_t)base64_digit(text[i + 2]) << 6 | (uint32_t)base64_digit(text[i + 3]);
        out[n++] = (uint8_t)(v >> 16);
        out[n++] = (uint8_t)(v >> 8);
        out[n++] = (uint8_t)v;
    }
    if (padding != 0) {
        uint32_t v = (uint32_t)base64_digit(text[whole]) << 18 | (uint32_t)base64_digit(text[whole + 1]) << 12;
        if (padding == 1) v |= (uint32_t)base64_digit(text[whole + 2]) << 6;
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
