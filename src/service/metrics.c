// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A snapshot as Prometheus text, format 0.0.4. Names that the public daemon has too mean what they mean there.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/service_internal.h"
#include "timeline/out.h"

static void family(timeline_text *t, const char *name, const char *type, const char *help) {
    text_put_f(t, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void single(timeline_text *t, const char *name, const char *type, const char *help, uint64_t value) {
    family(t, name, type, help);
    text_put_f(t, "%s %" PRIu64 "\n", name, value);
}

static void seconds(timeline_text *t, uint64_t ns) {
    text_put_f(t, "%" PRIu64 ".%09" PRIu64 "\n", ns / 1000000000, ns % 1000000000);
}

// A label's value: backslash, quote and line feed have escapes, everything else stands for itself.
static void label(timeline_text *t, const char *name, const char *value) {
    text_put_f(t, "%s=\"", name);
    for (; *value != 0; value++) {
        if (*value == '\\' || *value == '"')
            text_put_f(t, "\\%c", *value);
        else if (*value == '\n')
            text_put(t, "\\n");
        else
            text_put_n(t, value, 1);
    }
    text_put(t, "\"");
}

static void labelled(timeline_text *t, const char *name, const char *label_name, const char *label_value,
                     uint64_t value) {
    text_put_f(t, "%s{", name);
    label(t, label_name, label_value);
    text_put_f(t, "} %" PRIu64 "\n", value);
}

// As the public daemon has them in labels.
static const char *kind_label(uint32_t slot) {
    static const char *const NAMES[SERVICE_KIND_SLOTS] = {"unspecified", "porep_c2",     "snap_update",
                                                          "window_post", "winning_post", "toy"};
    return NAMES[slot];
}

// The kinds there are: without UNSPECIFIED, and toys only where they are allowed.
static bool has_kind(const service *s, uint32_t slot) {
    return slot != SERVICE_KIND_UNSPECIFIED && (slot != SERVICE_KINDS || s->toys != NULL);
}

typedef uint64_t (*kind_value)(const service_counts *c);
static uint64_t completed(const service_counts *c) { return c->completed; }
static uint64_t failed(const service_counts *c) { return c->failed; }
static uint64_t cancelled(const service_counts *c) { return c->cancelled; }
static uint64_t queued(const service_counts *c) { return c->queued; }
static uint64_t running(const service_counts *c) { return c->running; }
static uint64_t accepted(const service_counts *c) {
    return c->queued + c->running + c->completed + c->failed + c->cancelled;
}

static uint64_t sum(const service_snapshot *n, kind_value value) {
    uint64_t total = 0;
    for (uint32_t k = 0; k < SERVICE_KIND_SLOTS; k++) total += value(&n->by_kind[k]);
    return total;
}

static void by_kind(timeline_text *t, const service *s, const service_snapshot *n, const char *name, const char *type,
                    const char *help, kind_value value) {
    family(t, name, type, help);
    for (uint32_t k = 0; k < SERVICE_KIND_SLOTS; k++)
        if (has_kind(s, k)) labelled(t, name, "proof_kind", kind_label(k), value(&n->by_kind[k]));
}

static void histogram_lines(timeline_text *t, const char *name, const char *kind, const char *stage,
                            const histogram *h) {
    timeline_text labels = {0};
    label(&labels, "proof_kind", kind);
    if (stage != NULL) {
        text_put(&labels, ",");
        label(&labels, "stage", stage);
    }
    if (labels.failed) {
        t->failed = true;
    } else {
        uint64_t count = 0;
        for (uint32_t i = 0; i < FIGURE_BUCKETS; i++) {
            count += h->bucket[i];
            if (i < FIGURE_BUCKETS - 1)
                text_put_f(t, "%s_bucket{%s,le=\"%g\"} %" PRIu64 "\n", name, labels.data, FIGURE_BOUNDS[i], count);
            else
                text_put_f(t, "%s_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", name, labels.data, count);
        }
        text_put_f(t, "%s_sum{%s} ", name, labels.data);
        seconds(t, h->sum_ns);
        text_put_f(t, "%s_count{%s} %" PRIu64 "\n", name, labels.data, count);
    }
    timeline_text_release(&labels);
}

static void durations(timeline_text *t, const service *s, const figures *f) {
    const char *name = "cuzk_proof_duration_seconds";
    family(t, name, "histogram", "Time from submission to proof.");
    for (uint32_t k = 0; k < SERVICE_KIND_SLOTS; k++)
        if (has_kind(s, k)) histogram_lines(t, name, kind_label(k), NULL, &f->stages[k][FIGURE_TOTAL]);
    name = "cuzk_stage_duration_seconds";
    family(t, name, "histogram", "Time of a proof in a stage, summed over its partitions.");
    for (uint32_t k = 0; k < SERVICE_KIND_SLOTS; k++)
        for (uint32_t i = 0; i < FIGURE_TOTAL && has_kind(s, k); i++)
            histogram_lines(t, name, kind_label(k), figure_stage_name((figure_stage)i), &f->stages[k][i]);
}

static void jobs(timeline_text *t, const service *s, const service_snapshot *n, const figures *f) {
    single(t, "cuzk_proofs_completed_total", "counter", "Proofs made.", sum(n, completed));
    single(t, "cuzk_proofs_failed_total", "counter", "Proofs that could not be made.", sum(n, failed));
    by_kind(t, s, n, "cuzk_proofs_completed", "counter", "Proofs made, by kind.", completed);
    by_kind(t, s, n, "cuzk_proofs_failed", "counter", "Proofs that could not be made, by kind.", failed);
    single(t, "cuzk_queue_depth", "gauge", "Jobs that wait for their first unit to start.", sum(n, queued));
    single(t, "cuzk_running_jobs", "gauge", "Jobs that were started and have not ended.", sum(n, running));
    durations(t, s, f);
    by_kind(t, s, n, "cuzk_jobs_accepted_total", "counter", "Jobs accepted.", accepted);
    by_kind(t, s, n, "cuzk_jobs_cancelled_total", "counter", "Jobs cancelled.", cancelled);
    single(t, "cuzk_jobs_joined_total", "counter", "Requests answered by a job that was there already.", f->joined);
    single(t, "cuzk_jobs_abandoned_total", "counter", "Jobs cancelled because nobody waited any more.", f->abandoned);
    single(t, "cuzk_await_timeouts_total", "counter", "Waits that ended before their job.", f->await_timeouts);
    family(t, "cuzk_job_failures_total", "counter", "Jobs failed, by reason.");
    for (uint32_t i = 0; i < ENGINE_REASONS; i++)
        if (f->failed[i] > 0)
            labelled(t, "cuzk_job_failures_total", "reason", engine_reason_name((engine_reason)i), f->failed[i]);
    family(t, "cuzk_requests_refused_total", "counter", "Requests refused, by reason.");
    for (uint32_t i = 0; i < FIGURE_REFUSALS; i++)
        labelled(t, "cuzk_requests_refused_total", "reason", figure_refusal_name((figure_refusal)i), f->refused[i]);
}

static void engine(timeline_text *t, const service_snapshot *n) {
    const engine_stats *e = &n->stats.engine;
    single(t, "cuzk_partition_retries_total", "counter", "Partitions proven again.", e->retries);
    single(t, "cuzk_partition_fallbacks_total", "counter", "Partitions handed to the fallback device.", e->fallbacks);
    single(t, "cuzk_wrong_proofs_total", "counter", "Proofs of partitions that did not verify.", n->stats.wrong_proofs);
    single(t, "cuzk_units_discarded_total", "counter", "Synthesised units given up for a critical job.", e->discarded);
    single(t, "cuzk_stage_timeouts_total", "counter", "Stages that made no progress for too long.", e->stage_timeouts);
    const char *name = "cuzk_units";
    family(t, name, "gauge", "Units by where they are.");
    labelled(t, name, "stage", "synthesis", e->synthesising);
    labelled(t, name, "stage", "blocked", e->blocked);
    labelled(t, name, "stage", "channel", e->in_channel);
    labelled(t, name, "stage", "device", e->on_device);
}

static void memory(timeline_text *t, const service *s, const service_snapshot *n) {
    family(t, "cuzk_memory_budget_bytes", "gauge", "Memory for keys and units; +Inf without a limit.");
    if (s->budget == UINT64_MAX)
        text_put(t, "cuzk_memory_budget_bytes +Inf\n");
    else
        text_put_f(t, "cuzk_memory_budget_bytes %" PRIu64 "\n", s->budget);
    single(t, "cuzk_memory_reserved_bytes", "gauge", "Reserved of the budget.", n->memory_used);
    single(t, "cuzk_memory_reserved_peak_bytes", "gauge", "Most that was ever reserved.", n->stats.engine.memory_peak);
    single(t, "cuzk_input_bytes", "gauge", "Inputs of requests that wait or run.", n->input_bytes);
    family(t, "cuzk_memory_bytes", "gauge", "Memory by purpose; kept: not in use, held for the next proof.");
    for (int i = 0; i < MEM_TAGS; i++)
        labelled(t, "cuzk_memory_bytes", "purpose", mem_tag_name((mem_tag)i), mem_usage_of((mem_tag)i).live);
    single(t, "process_resident_memory_bytes", "gauge", "Resident memory of the process.", n->resident_bytes);
}

static void keys(timeline_text *t, const service_snapshot *n) {
    uint64_t loaded = 0;
    for (size_t i = 0; i < n->n_keys; i++) loaded += n->keys[i].loaded;
    single(t, "cuzk_keys_loaded", "gauge", "Proving keys in memory.", loaded);
    single(t, "cuzk_key_loads_total", "counter", "Proving keys loaded.", n->stats.engine.key_loads);
    single(t, "cuzk_key_evictions_total", "counter", "Proving keys freed.", n->stats.engine.key_evictions);
    family(t, "cuzk_key_bytes", "gauge", "Memory of loaded proving keys, by circuit.");
    for (size_t i = 0; i < n->n_keys; i++) {
        uint64_t bytes = 0; // a file that was replaced is another key of the same name
        bool first = true;
        for (size_t k = 0; k < n->n_keys; k++) {
            if (strcmp(n->keys[k].circuit_id, n->keys[i].circuit_id) != 0) continue;
            first = first && k >= i;
            bytes += n->keys[k].loaded ? n->keys[k].bytes : 0;
        }
        if (first) labelled(t, "cuzk_key_bytes", "circuit_id", n->keys[i].circuit_id, bytes);
    }
}

static void device_labels(timeline_text *t, const char *name, const service_device_view *d) {
    text_put_f(t, "%s{device=\"%" PRIu32 "\",", name, d->ordinal);
    label(t, "name", d->name);
    text_put(t, "} ");
}

static void devices(timeline_text *t, const service_snapshot *n) {
    uint64_t workers = 0;
    for (size_t i = 0; i < n->n_workers; i++) workers += n->workers[i].on_device;
    single(t, "cuzk_gpu_workers", "gauge", "Workers of all devices.", workers);
    family(t, "cuzk_device_healthy", "gauge", "0 for a device that failed too often and is left alone.");
    for (size_t i = 0; i < n->n_devices; i++) {
        device_labels(t, "cuzk_device_healthy", &n->devices[i]);
        text_put(t, n->devices[i].healthy ? "1\n" : "0\n");
    }
    family(t, "cuzk_device_busy_seconds_total", "counter", "Time in kernel sections.");
    for (size_t i = 0; i < n->n_devices; i++) {
        device_labels(t, "cuzk_device_busy_seconds_total", &n->devices[i]);
        text_put_f(t, "%.9f\n", n->devices[i].busy_s);
    }
    family(t, "cuzk_device_runs_total", "counter", "Runs that ended.");
    for (size_t i = 0; i < n->n_devices; i++) {
        device_labels(t, "cuzk_device_runs_total", &n->devices[i]);
        text_put_f(t, "%" PRIu64 "\n", n->devices[i].runs);
    }
    family(t, "cuzk_device_failures_total", "counter", "Runs that failed, or whose proof was wrong.");
    for (size_t i = 0; i < n->n_devices; i++) {
        device_labels(t, "cuzk_device_failures_total", &n->devices[i]);
        text_put_f(t, "%" PRIu64 "\n", n->devices[i].failures);
    }
}

static void timeline(timeline_text *t, service *s) {
    const recorder_stats r = recorder_stats_of(s->rec);
    single(t, "cuzk_timeline_events_total", "counter", "Events recorded.", r.recorded);
    single(t, "cuzk_timeline_dropped_total", "counter", "Events dropped because a ring was full.", r.dropped);
    single(t, "cuzk_timeline_lost_total", "counter", "Lines that could not be written to the file.", r.lost);
}

cuzk_status service_metrics(service *s, char **out, size_t *len, cuzk_error *err) {
    *out = NULL;
    *len = 0;
    figures *f = mem_alloc(MEM_MISC, 1, sizeof *f);
    if (f == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for metrics");
    service_snapshot *n;
    timeline_text t = {0};
    cuzk_status st = service_look_with(s, &n, f, err);
    if (st == CUZK_OK) {
        family(&t, "cuzk_build_info", "gauge", "Always 1.");
        labelled(&t, "cuzk_build_info", "version", CUZK_VERSION, 1);
        family(&t, "cuzk_uptime_seconds", "gauge", "Time since the start.");
        text_put_f(&t, "cuzk_uptime_seconds %.3f\n", n->uptime_s);
        single(&t, "cuzk_draining", "gauge", "1 when nothing more is accepted.", n->draining);
        pthread_mutex_lock(&s->trouble_lock);
        const size_t reasons = s->insecure.n;
        pthread_mutex_unlock(&s->trouble_lock);
        single(&t, "cuzk_insecure", "gauge", "1 when test parameters or test blinding make proofs worthless.",
               reasons > 0);
        jobs(&t, s, n, f);
        engine(&t, n);
        memory(&t, s, n);
        keys(&t, n);
        devices(&t, n);
        timeline(&t, s);
    }
    mem_free(f);
    if (st != CUZK_OK) return st;
    service_snapshot_free(&n);
    // The caller frees it with free().
    char *text = t.failed ? NULL : malloc(t.len + 1);
    if (text != NULL) {
        memcpy(text, t.data, t.len + 1);
        *out = text;
        *len = t.len;
    }
    timeline_text_release(&t);
    return text != NULL ? CUZK_OK : cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for metrics");
}
