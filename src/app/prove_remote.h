// SPDX-License-Identifier: MIT OR Apache-2.0
#ifndef CUZK_APP_PROVE_REMOTE_H
#define CUZK_APP_PROVE_REMOTE_H

#include "app/monitor.h"
#include "app/remote.h"

// cuzk prove --addr: has a daemon prove the C1 file and writes the proof to `out`. A signal cancels the job.
CUZK_MUST_USE cuzk_status prove_remote(app *a, const remote_flags *remote, const char *c1, const char *out, monitor *m);

#endif
