// SPDX-License-Identifier: MIT OR Apache-2.0
#include "service/hide.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const char DOTS[] = "...";
enum { N_DOTS = 3, SHORTEST_HEX = 32, LONGEST_NUMBER = 10 };

// Puts dots in place of the n bytes (N_DOTS at least) at `at`; returns what is behind them.
static char *replace(char *at, size_t n) {
    memcpy(at, DOTS, N_DOTS);
    memmove(at + N_DOTS, at + n, strlen(at + n) + 1);
    return at + N_DOTS;
}

static void hide_quoted(char *found) {
    char *first = strchr(found, '"');
    if (first == NULL) return;
    const char *last = strrchr(first, '"');
    const size_t n = last == first ? strlen(first) : (size_t)(last - first) + 1; // its end may have been cut off
    if (n >= N_DOTS) replace(first, n);
}

static void hide_number(char *found) {
    char *value = found + strspn(found, " ");
    const size_t n = strspn(value, "+-.0123456789eE");
    if (n > LONGEST_NUMBER) replace(value, n);
}

void hide_inputs(char *text) {
    static const char FOUND[] = "found";
    char *found = strstr(text, FOUND);
    if (found != NULL) {
        hide_quoted(found + sizeof FOUND - 1);
        hide_number(found + sizeof FOUND - 1);
    }
    for (char *at = text; *at != 0;) {
        const size_t run = strspn(at, "0123456789abcdefABCDEF");
        const bool in_name = at > text && at[-1] == '-' && at[run] == '.';
        if (run >= SHORTEST_HEX && !in_name)
            at = replace(at, run);
        else
            at += run > 0 ? run : 1;
    }
}
