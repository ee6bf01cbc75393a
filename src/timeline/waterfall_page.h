// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Internal to timeline: web/waterfall.html, put into the library by the build.
#ifndef CUZK_TIMELINE_WATERFALL_PAGE_H
#define CUZK_TIMELINE_WATERFALL_PAGE_H

#include <stddef.h>

extern const char timeline_waterfall_page[]; // NUL-terminated
extern const size_t timeline_waterfall_page_len;

#endif
