// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Internal to the HTTP server: the live page of web/, put into the program by the build.
#ifndef CUZK_SERVICE_PAGES_H
#define CUZK_SERVICE_PAGES_H

#include <stddef.h>

extern const char page_live_html[], page_live_css[], page_live_js[], page_live_model_js[], page_live_draw_js[];
extern const size_t page_live_html_len, page_live_css_len, page_live_js_len, page_live_model_js_len,
    page_live_draw_js_len;

#endif
