// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_APP_HTTP_GET_H
#define CUZK_APP_HTTP_GET_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

// GET of a path from "HOST:PORT" or "http://HOST:PORT" in the form our daemon answers (HTTP/1.1, a length or the end of
// the connection). *body (free with free()) has a NUL that *len does not count. Anything but 200 is CUZK_ERR_IO, as is
// a body of more than 64 MiB. timeout_ms is for each step.
CUZK_MUST_USE cuzk_status http_get(char **body, size_t *len, const char *address, const char *path, uint32_t timeout_ms,
                                   cuzk_error *err);

#endif
