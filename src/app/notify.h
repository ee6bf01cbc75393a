// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Telling the service manager how we are: sd_notify(3) in a few lines. Nothing happens where nobody asked for it.
#ifndef CUZK_APP_NOTIFY_H
#define CUZK_APP_NOTIFY_H

#include <stdint.h>

// Sends "READY=1", "STATUS=...": assignments, one a line. Failures are nobody's concern.
void notify_send(const char *assignments);
// How often a watchdog wants to hear "WATCHDOG=1", in milliseconds; 0: there is none.
uint64_t notify_watchdog_ms(void);

#endif
