// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_BASE_SCRUB_H
#define CUZK_BASE_SCRUB_H

// Leaves printable ASCII and well-formed UTF-8. Everything that could move a terminal's cursor, start an escape
// sequence or break a line becomes '?', one for each byte: C0 and C1 controls, DEL and malformed bytes.
void scrub_text(char *text);

#endif
