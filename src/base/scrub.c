// SPDX-License-Identifier: MIT OR Apache-2.0
#include "base/scrub.h"

#include <stddef.h>

// Length of the well-formed UTF-8 sequence at p (NUL-terminated), 0 if malformed (RFC 3629, table in section 4).
static size_t utf8_length(const unsigned char *p) {
    if (p[0] < 0x80) return 1;
    size_t n = p[0] >= 0xc2 && p[0] < 0xe0 ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 : p[0] >= 0xf0 && p[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0; // also stops at the NUL
    }
    if (n == 3 && ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f))) return 0;
    if (n == 4 && ((p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))) return 0;
    return n;
}

void scrub_text(char *text) {
    unsigned char *p = (unsigned char *)text;
    while (*p != 0) {
        size_t n = utf8_length(p);
        if (n == 0 || p[0] < 0x20 || p[0] == 0x7f) {
            *p++ = '?';
        } else if (n == 2 && p[0] == 0xc2 && p[1] < 0xa0) {
            p[0] = p[1] = '?';
            p += 2;
        } else {
            p += n;
        }
    }
}
