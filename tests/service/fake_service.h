// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A service without an engine, behind service.h: jobs end when the test says so, so that each state of a call can be
// held as long as it takes to look at it. What becomes of a request is in its first bytes of vanilla_proof:
//   "hold" runs until fake_finish, "fail" fails, "bad" is refused as invalid, "full" as too many, all others complete
//   at once. A proof is 192 bytes a partition (sector_size of them), each the partition's number.
#ifndef CUZK_TESTS_FAKE_SERVICE_H
#define CUZK_TESTS_FAKE_SERVICE_H

#include "service/service.h"

service *fake_service_create(void);
void fake_service_destroy(service *s); // all watches must be gone: that is asserted

void fake_finish(service *s, const char *job_id); // completes it
bool fake_is_cancelled(service *s, const char *job_id);
uint32_t fake_watches(service *s);              // open now
void fake_hold_preloads(service *s, bool hold); // service_preload waits as long
void fake_drain(service *s, bool draining);
void fake_say(service *s, const char *line); // one more line of the timeline, without its newline
uint64_t fake_last_input_len(service *s);

#endif
