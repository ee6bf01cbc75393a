// SPDX-License-Identifier: MIT OR Apache-2.0
#include "service/figures.h"

const double FIGURE_BOUNDS[FIGURE_BUCKETS - 1] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,   2.5,
                                                  5,     10,   30,    60,   120, 300,  900, 3600};

const char *figure_stage_name(figure_stage stage) {
    static const char *const NAMES[FIGURE_STAGES] = {"queue", "key_load", "synthesis", "device", "verify", "total"};
    return NAMES[stage];
}

const char *figure_refusal_name(figure_refusal r) {
    static const char *const NAMES[FIGURE_REFUSALS] = {"invalid",    "unimplemented", "id_in_use", "queue_full",
                                                       "input_full", "too_big",       "draining",  "no_device",
                                                       "no_key",     "other"};
    return NAMES[r];
}

void histogram_add(histogram *h, uint64_t ns) {
    uint32_t i = 0;
    while (i < FIGURE_BUCKETS - 1 && (double)ns / 1e9 > FIGURE_BOUNDS[i]) i++;
    h->bucket[i]++;
    h->sum_ns += ns;
}

uint64_t histogram_count(const histogram *h) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < FIGURE_BUCKETS; i++) n += h->bucket[i];
    return n;
}

void figures_job_done(figures *f, uint32_t kind, const runtime_times *t) {
    const uint64_t ns[FIGURE_STAGES] = {t->queue, t->key_load, t->synthesis, t->device, t->verify, t->total};
    for (uint32_t i = 0; i < FIGURE_STAGES; i++) histogram_add(&f->stages[kind][i], ns[i]);
}
