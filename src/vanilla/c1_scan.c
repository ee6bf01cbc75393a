// SPDX-License-Identifier: MIT OR Apache-2.0
#include "vanilla/c1_scan.h"

#include <string.h>

#include "base/bytes.h"

enum { HASH_BYTES = 32, LONGEST = 1 + 4 * HASH_BYTES, ROOM = LONGEST + 3 };

// Each number by arithmetic on the four bytes that hold it and what follows it: lengths of one to three digits come at
// random, and branches on them would be guessed wrong every other time. Faults are gathered and looked at once.
bool c1_scan_hash(uint8_t out[32], size_t *len, const uint8_t *at, const uint8_t *end) {
    if (end - at < ROOM || *at != '[') return false;
    const uint8_t *p = at + 1;
    uint32_t bad = 0;
    for (unsigned i = 0; i < HASH_BYTES; i++) {
        const uint32_t text = load_le32(p), t = text ^ UINT32_C(0x30303030);
        // The top bit of each byte that is no digit: 10 and above reach 0x80, bytes above 0x7f have it already.
        const uint32_t other = (((t & UINT32_C(0x7f7f7f7f)) + UINT32_C(0x76767676)) | t) & UINT32_C(0x80808080);
        if (other == 0) return false;
        const unsigned digits = (unsigned)__builtin_ctz(other) / 8;      // 0..3
        const uint32_t v = (uint32_t)((uint64_t)t << (32 - 8 * digits)); // 0, hundreds, tens, ones from the low byte up
        const uint32_t value = v * ((100u << 16) | (10u << 8) | 1) >> 24; // modulo 256
        const uint32_t order = __builtin_bswap32(v);                      // compares as the number does
        const uint32_t first = t & 0xff;
        bad |= (uint32_t)(digits == 0) | (uint32_t)(order > UINT32_C(0x00020505));
        bad |= (uint32_t)(digits > 1) & (uint32_t)(first == 0); // a leading zero
        const uint32_t follows = text >> (8 * digits) & 0xff;
        bad |= follows ^ (uint32_t)(i + 1 < HASH_BYTES ? ',' : ']');
        out[i] = (uint8_t)value;
        p += digits + 1;
    }
    *len = (size_t)(p - at);
    return bad == 0;
}

// The byte behind the string that begins at `at`, a quote; `end` if it does not end.
static const uint8_t *skip_string(const uint8_t *at, const uint8_t *end) {
    for (at++;;) {
        const uint8_t *quote = at < end ? memchr(at, '"', (size_t)(end - at)) : NULL;
        if (quote == NULL) return end;
        // An escaped quote has an odd number of backslashes before it.
        size_t slashes = 0;
        while (quote - slashes > at && quote[-1 - (ptrdiff_t)slashes] == '\\') slashes++;
        at = quote + 1;
        if (slashes % 2 == 0) return at;
    }
}

const uint8_t *c1_scan_array(const uint8_t *at, const uint8_t *end) {
    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            continue;
        }
        if (*at == '[' && (at[-1] == ':' || at[-1] == ',' || at[-1] == '[')) return at;
        at++;
    }
    return end;
}
