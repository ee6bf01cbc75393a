// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A real sector, damaged: four bytes of input a patch. Two give a place, one a bit of it and a mode, one a value: the
// raw byte there, or the next number from there on replaced by the value's decimal. The second keeps the file readable,
// so that porep_check gets to see every kind of wrong content.
#include "base/file.h"
#include "fuzz.h"
#include "vanilla/c1.h"
#include "vanilla/porep_check.h"

enum { PATCH = 4, MAX_PATCHES = 16 };

static uint8_t *sector;
static size_t sector_len;

static bool is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

// text := text with the number at or behind `at` replaced; returns the new length. room for 2 more bytes is there.
static size_t put_number(uint8_t *text, size_t len, size_t at, uint8_t value) {
    char digits[4];
    while (at < len && !is_digit(text[at])) at++;
    size_t end = at, n = (size_t)snprintf(digits, sizeof digits, "%u", value);
    while (end < len && is_digit(text[end])) end++;
    if (at == len) return len;
    memmove(text + at + n, text + end, len - end);
    memcpy(text + at, digits, n);
    return len - (end - at) + n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    cuzk_error err = {.status = CUZK_OK};
    if (sector == NULL &&
        file_read_all(&sector, &sector_len, CUZK_VECTORS "/cases/porep-2k-a/c1.json", 1 << 20, &err) != CUZK_OK) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    uint8_t *text = malloc(sector_len + 2 * MAX_PATCHES);
    if (text == NULL) abort();
    memcpy(text, sector, sector_len);
    size_t len = sector_len;
    for (size_t i = 0; i + PATCH <= size && i < PATCH * MAX_PATCHES; i += PATCH) {
        size_t at = ((size_t)(data[i] | data[i + 1] << 8) << 1 | (data[i + 2] & 1)) % len;
        if ((data[i + 2] & 2) != 0)
            text[at] = data[i + 3];
        else
            len = put_number(text, len, at, data[i + 3]);
    }
    c1_file *f = NULL;
    bool changed = len != sector_len || memcmp(text, sector, len) != 0;
    cuzk_status st = c1_parse(&f, text, len, &err);
    free(text);
    if (st == CUZK_OK) st = porep_check(c1_input(f), NULL, &err);
    if (st != CUZK_OK) fuzz_require_error(st, &err);
    // Ticket, white space and unknown keys may change without harm; nothing may fail unchanged.
    fuzz_require(changed || st == CUZK_OK, "the real sector passes");
    c1_destroy(&f);
    return 0;
}
