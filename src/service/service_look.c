// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Snapshots: copies of what the service and the runtime know, all taken under the service's lock, so that the counts
// and the list of jobs are of one moment.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "service/service_internal.h"

enum { TERMINAL_SHOWN = 64 };

// The second field of statm: pages that are in memory.
static uint64_t resident_bytes(void) {
    FILE *f = fopen("/proc/self/statm", "re");
    unsigned long long size, resident = 0;
    if (f == NULL) return 0;
    if (fscanf(f, "%llu %llu", &size, &resident) != 2) resident = 0;
    fclose(f);
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static const char *stage_of(const service_job_view *v) {
    static const char *const NAMES[] = {
        [RUNTIME_WAITING] = "queued", [RUNTIME_SYNTHESIS] = "synthesis", [RUNTIME_CHANNEL] = "channel",
        [RUNTIME_DEVICE] = "device",  [RUNTIME_VERIFY] = "verify",       [RUNTIME_PROVEN] = "done"};
    runtime_stage last = RUNTIME_PROVEN;
    if (v->state != ENGINE_QUEUED && v->state != ENGINE_RUNNING) return "done";
    for (uint32_t i = 0; i < v->partitions; i++)
        if (v->parts[i].stage < last) last = v->parts[i].stage;
    return NAMES[last];
}

// Everything below is called with the lock.

static bool fill_job(service *s, service_job_view *v, const job_entry *e, uint64_t now) {
    *v = (service_job_view){.kind = e->kind, .state = ENGINE_RUNNING, .priority = e->priority};
    memcpy(v->job_id, e->id, sizeof v->job_id);
    // More partitions than it has now it never has.
    const size_t known_parts = runtime_partitions(s->rt, NULL, e->job, 0);
    const size_t n = known_parts > 0 ? known_parts : e->partitions;
    runtime_partition *parts = mem_calloc(MEM_MISC, n + 1, sizeof *parts);
    if (parts == NULL) return false;
    v->parts = parts;
    v->partitions = (uint32_t)n;
    if (runtime_partitions(s->rt, parts, e->job, n) == 0) // forgotten by the runtime, so it had ended
        for (size_t i = 0; i < n; i++) parts[i].stage = e->state == ENGINE_DONE ? RUNTIME_PROVEN : RUNTIME_DROPPED;
    runtime_progress p;
    const bool known = runtime_job_progress(s->rt, &p, e->job, NULL) == CUZK_OK;
    const uint64_t started = known ? p.view.started_ns : 0;
    const uint64_t end = e->terminal ? e->finished_ns : now;
    v->age_s = end > e->entered_ns ? (double)(end - e->entered_ns) / 1e9 : 0;
    v->run_s = started != 0 && end > started ? (double)(end - started) / 1e9 : 0;
    for (uint32_t i = 0; i < v->partitions; i++) v->done += parts[i].stage == RUNTIME_PROVEN;
    if (e->terminal) {
        v->state = e->state;
        v->reason = e->reason;
        v->since_end_s = now > e->finished_ns ? (double)(now - e->finished_ns) / 1e9 : 0;
    } else if (known && p.view.state == ENGINE_QUEUED) {
        v->state = ENGINE_QUEUED; // one that has just ended is still running until all have been told
    }
    v->stage = stage_of(v);
    return true;
}

static bool fill_jobs(service *s, service_snapshot *out, uint64_t now) {
    size_t live = 0, terminal = 0;
    for (const job_entry *e = s->oldest; e != NULL; e = e->newer) live += !e->terminal;
    terminal = s->n_terminal < TERMINAL_SHOWN ? s->n_terminal : TERMINAL_SHOWN;
    out->jobs = mem_calloc(MEM_MISC, live + terminal + 1, sizeof *out->jobs);
    if (out->jobs == NULL) return false;
    for (uint32_t k = 0; k < SERVICE_KIND_SLOTS; k++)
        out->by_kind[k] = (service_counts){
            .completed = s->counts[k].done, .failed = s->counts[k].failed, .cancelled = s->counts[k].cancelled};
    for (const job_entry *e = s->oldest; e != NULL; e = e->newer) {
        if (e->terminal) continue;
        service_job_view *v = &out->jobs[out->n_jobs];
        if (!fill_job(s, v, e, now)) return false;
        out->n_jobs++;
        if (!e->counted) continue;
        service_counts *c = &out->by_kind[service_kind_slot(e->kind)];
        *(v->state == ENGINE_QUEUED ? &c->queued : &c->running) += 1;
    }
    for (const job_entry *e = s->newest; e != NULL && terminal > 0; e = e->older) {
        if (!e->terminal) continue;
        if (!fill_job(s, &out->jobs[out->n_jobs], e, now)) return false;
        out->n_jobs++;
        terminal--;
    }
    for (uint32_t k = 0; k < SERVICE_KIND_SLOTS; k++) out->accepted += s->counts[k].accepted;
    return true;
}

static bool fill_keys(service *s, service_snapshot *out, uint64_t now) {
    const size_t max = runtime_keys(s->rt, NULL, 0);
    runtime_key *keys = mem_calloc(MEM_MISC, max + 1, sizeof *keys);
    out->keys = mem_calloc(MEM_MISC, max + 1, sizeof *out->keys);
    if (keys != NULL && out->keys != NULL) {
        const size_t n = runtime_keys(s->rt, keys, max);
        for (size_t i = 0; i < n && i < max; i++) {
            const runtime_key *k = &keys[i];
            service_key_view *v = &out->keys[out->n_keys++];
            *v = (service_key_view){.bytes = k->bytes,
                                    .users = k->users,
                                    .loaded = k->loaded,
                                    .loading = k->loading,
                                    .idle_s = k->users > 0 || now < k->last_used_ns || k->last_used_ns == 0
                                                  ? 0
                                                  : (double)(now - k->last_used_ns) / 1e9,
                                    .loads = k->loads};
            snprintf(v->circuit_id, sizeof v->circuit_id, "%.31s", k->name);
        }
    }
    const bool ok = keys != NULL && out->keys != NULL;
    mem_free(keys);
    return ok;
}

static bool fill_workers(service *s, service_snapshot *out) {
    const size_t max = runtime_workers(s->rt, NULL, 0); // their number never changes
    out->workers = mem_calloc(MEM_MISC, max + 1, sizeof *out->workers);
    out->worker_jobs = mem_calloc(MEM_MISC, max + 1, sizeof *out->worker_jobs);
    if (out->workers == NULL || out->worker_jobs == NULL) return false;
    out->n_workers = runtime_workers(s->rt, out->workers, max);
    for (size_t i = 0; i < out->n_workers; i++) {
        const job_entry *e = out->workers[i].job != 0 ? jobs_by_number(s, out->workers[i].job) : NULL;
        if (e != NULL) memcpy(out->worker_jobs[i], e->id, sizeof out->worker_jobs[i]);
    }
    return true;
}

static bool fill_devices(service *s, service_snapshot *out) {
    runtime_device *devices = mem_calloc(MEM_MISC, s->n_devices, sizeof *devices);
    out->devices = mem_calloc(MEM_MISC, s->n_devices, sizeof *out->devices);
    if (devices != NULL && out->devices != NULL) {
        out->n_devices = runtime_devices(s->rt, devices, s->n_devices);
        for (uint32_t i = 0; i < out->n_devices; i++) {
            const runtime_device *d = &devices[i];
            service_device_view *v = &out->devices[i];
            *v = (service_device_view){.name = d->name,
                                       .ordinal = i,
                                       .healthy = d->healthy,
                                       .fallback = d->fallback,
                                       .runs = d->runs,
                                       .failures = d->failures,
                                       .busy_s = (double)d->busy_ns / 1e9};
            uint64_t since = UINT64_MAX; // of several workers, the one that is at it longest
            for (size_t w = 0; w < out->n_workers; w++) {
                const runtime_worker *k = &out->workers[w];
                if (!k->on_device || k->device != i || k->job == 0 || k->since_ns >= since) continue;
                const job_entry *e = jobs_by_number(s, k->job);
                if (e == NULL) continue;
                since = k->since_ns;
                memcpy(v->job_id, e->id, sizeof v->job_id);
                v->kind = e->kind;
            }
        }
    }
    const bool ok = devices != NULL && out->devices != NULL;
    mem_free(devices);
    return ok;
}

cuzk_status service_look_with(service *s, service_snapshot **out, figures *f, cuzk_error *err) {
    *out = NULL;
    service_snapshot *n = mem_calloc(MEM_MISC, 1, sizeof *n);
    if (n == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a snapshot");
    n->resident_bytes = resident_bytes();
    n->synthesis_max = s->opt.engine.synthesis_concurrency;
    n->memory_total = s->budget_shown;
    n->draining = service_draining(s);
    pthread_mutex_lock(&s->lock);
    const uint64_t now = clock_now_ns();
    n->taken_ns = now;
    n->uptime_s = (double)(now - s->started_ns) / 1e9;
    runtime_stats_of(s->rt, &n->stats);
    n->memory_used = n->stats.engine.memory_reserved;
    n->input_bytes = s->input_bytes;
    if (f != NULL) *f = s->figures;
    const bool ok = fill_jobs(s, n, now) && fill_keys(s, n, now) && fill_workers(s, n) && fill_devices(s, n);
    pthread_mutex_unlock(&s->lock);
    if (!ok) {
        service_snapshot_free(&n);
        return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a snapshot");
    }
    *out = n;
    return CUZK_OK;
}

cuzk_status service_look(service *s, service_snapshot **out, cuzk_error *err) {
    return service_look_with(s, out, NULL, err);
}

void service_snapshot_free(service_snapshot **snapshot) {
    service_snapshot *n = *snapshot;
    if (n == NULL) return;
    *snapshot = NULL;
    for (size_t i = 0; i < n->n_jobs; i++) mem_free((void *)(uintptr_t)n->jobs[i].parts);
    mem_free(n->jobs);
    mem_free(n->keys);
    mem_free(n->devices);
    mem_free(n->workers);
    mem_free(n->worker_jobs);
    mem_free(n);
}
