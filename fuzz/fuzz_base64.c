// SPDX-License-Identifier: MIT OR Apache-2.0
#include "base/bytes.h"
#include "fuzz.h"

static size_t encode(char *out, const uint8_t *p, size_t len) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *o = out;
    for (size_t i = 0; i < len; i += 3) {
        uint32_t v = (uint32_t)p[i] << 16 | (i + 1 < len ? (uint32_t)p[i + 1] << 8 : 0) | (i + 2 < len ? p[i + 2] : 0);
        *o++ = digits[v >> 18];
        *o++ = digits[v >> 12 & 63];
        *o++ = i + 1 < len ? digits[v >> 6 & 63] : '=';
        *o++ = i + 2 < len ? digits[v & 63] : '=';
    }
    return (size_t)(o - out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t max = base64_decoded_max(size), len = 0, bad_at = 0;
    uint8_t *out = malloc(max > 0 ? max : 1);
    char *again = malloc(size + 8);
    if (out == NULL || again == NULL) abort();
    if (base64_decode(out, &len, &bad_at, (const char *)data, size)) {
        fuzz_require(len <= max, "base64: no more than promised");
        fuzz_require(encode(again, out, len) == size && memcmp(again, data, size) == 0, "base64: one encoding a value");
    } else {
        fuzz_require(bad_at <= size, "base64: the bad character is in the text");
    }
    free(again);
    free(out);

    size_t half = size / 2;
    uint8_t *bytes = malloc(half + 1);
    char *hex = malloc(2 * half + 1);
    if (bytes == NULL || hex == NULL) abort();
    if (hex_decode(bytes, half, (const char *)data, size)) {
        fuzz_require(size % 2 == 0, "hex: an even number of digits");
        hex_encode(hex, bytes, half);
        for (size_t i = 0; i < size; i++) {
            char c = (char)data[i];
            fuzz_require(hex[i] == (c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c), "hex: the same digits again");
        }
    }
    free(hex);
    free(bytes);
    return 0;
}
