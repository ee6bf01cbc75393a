// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Each different text once. Texts come from foreign files and go to terminals and documents, so they are cleaned on
// the way in: control characters, bidirectional overrides and bytes that are not UTF-8 become U+FFFD.
#ifndef CUZK_TIMELINE_NAMES_H
#define CUZK_TIMELINE_NAMES_H

#include <stddef.h>
#include <stdint.h>

enum { TIMELINE_NAME_MAX = 256 }; // bytes of a text before cleaning; the caller refuses longer ones
#define TIMELINE_NO_NAME UINT32_MAX

typedef struct timeline_names {
    char *text; // NUL-terminated texts, one after the other
    size_t text_len, text_cap;
    uint32_t *at; // at[id]: offset in text
    uint32_t n, cap;
    uint32_t *slots; // open addressing; id + 1, 0: free
    uint32_t n_slots;
} timeline_names;

// The id of the text, new or known; TIMELINE_NO_NAME when memory is refused. Start from a zeroed struct.
uint32_t timeline_names_add(timeline_names *names, const char *text, size_t len);
// "" for TIMELINE_NO_NAME.
const char *timeline_name(const timeline_names *names, uint32_t id);
void timeline_names_release(timeline_names *names);

// Cleans `len` bytes into out (room for 3 * len + 1); returns the length.
size_t timeline_clean_text(char *out, const char *text, size_t len);

#endif
