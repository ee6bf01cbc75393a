// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What is counted over the life of the service, for the metrics. Guarded by the service's lock.
#ifndef CUZK_SERVICE_FIGURES_H
#define CUZK_SERVICE_FIGURES_H

#include <stdint.h>

#include "engine/runtime.h"

typedef enum figure_stage {
    FIGURE_QUEUE,
    FIGURE_KEY_LOAD,
    FIGURE_SYNTHESIS,
    FIGURE_DEVICE,
    FIGURE_VERIFY,
    FIGURE_TOTAL,
    FIGURE_STAGES
} figure_stage;
const char *figure_stage_name(figure_stage stage); // "queue", "key_load", ...

enum { FIGURE_BUCKETS = 18, FIGURE_KINDS = 6 };
// Upper bounds in seconds; the last bucket has none.
extern const double FIGURE_BOUNDS[FIGURE_BUCKETS - 1];

typedef struct histogram {
    uint64_t bucket[FIGURE_BUCKETS]; // not cumulative
    uint64_t sum_ns;                 // their total is the count
} histogram;
void histogram_add(histogram *h, uint64_t ns);
uint64_t histogram_count(const histogram *h);

// Why requests were refused.
typedef enum figure_refusal {
    REFUSED_INVALID,       // the request or its input
    REFUSED_UNIMPLEMENTED, // no such kind of proof
    REFUSED_ID_IN_USE,
    REFUSED_QUEUE_FULL,
    REFUSED_INPUT_FULL, // max_input_bytes
    REFUSED_TOO_BIG,    // for the memory budget
    REFUSED_DRAINING,
    REFUSED_NO_DEVICE,
    REFUSED_NO_KEY, // parameters missing or damaged
    REFUSED_OTHER,
    FIGURE_REFUSALS
} figure_refusal;
const char *figure_refusal_name(figure_refusal r);

typedef struct figures {
    histogram stages[FIGURE_KINDS][FIGURE_STAGES]; // of jobs done
    uint64_t refused[FIGURE_REFUSALS];
    uint64_t failed[ENGINE_REASONS];
    uint64_t joined, awaits, await_timeouts, abandoned;
    uint64_t input_bytes; // of accepted requests
} figures;

void figures_job_done(figures *f, uint32_t kind, const runtime_times *t);

#endif
