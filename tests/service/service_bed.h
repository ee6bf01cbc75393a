// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What tests of the service share: a service with toys, requests for them, and a judge that knows the toys' verifying
// keys and derives public inputs itself.
#ifndef CUZK_TESTS_SERVICE_SERVICE_BED_H
#define CUZK_TESTS_SERVICE_SERVICE_BED_H

#include <pthread.h>

#include "service/service.h"

enum { BED_LOG = 5 }; // rows of the toys: 2^5

// Small limits, one simulated device in front of the processor, two threads. May be changed before service_create.
service_options bed_options(const char *const *name);
service *bed_start(const service_options *options); // fails the test on errors

// Submits a toy; the request's other fields are those of `like` (NULL: none).
service_code bed_submit(service *s, service_submitted *out, const char *id, uint64_t log_rows, uint32_t partitions,
                        uint64_t seed, const service_request *like, service_error *err);

// What a waiter was told.
typedef struct bed_answer {
    pthread_mutex_t lock;
    pthread_cond_t told;
    uint32_t calls;
    service_outcome outcome;
    char job_id[SERVICE_JOB_ID_MAX], text[CUZK_ERROR_TEXT_MAX];
    uint8_t proof[256 * 192];
    size_t proof_len;
    runtime_times times;
} bed_answer;
void bed_answer_make(bed_answer *a);
void bed_told(void *answer, const service_result *result); // a service_done
void bed_wait(bed_answer *a);                              // until it was told

// Waits for a job without a limit; the answer stays valid until the next call from the same thread.
const bed_answer *bed_await(service *s, runtime_job job);
// The proof is that of a toy with this seed, in every partition.
bool bed_verifies(uint64_t log_rows, uint32_t partitions, uint64_t seed, const uint8_t *proof, size_t len);
void bed_expect_done(service *s, runtime_job job, uint64_t log_rows, uint32_t partitions, uint64_t seed);

// The sum over all kinds; fails the test unless it is what was accepted.
service_counts bed_counts(service *s);
void bed_nap_ms(unsigned ms);

#endif
