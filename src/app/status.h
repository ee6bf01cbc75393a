// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_APP_STATUS_H
#define CUZK_APP_STATUS_H

#include "app/remote.h"

// What `cuzk status` prints of that daemon, once; returns the exit code.
int status_show(app *a, const remote_flags *remote);

#endif
