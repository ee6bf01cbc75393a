// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Looking at jobs, workers, keys and devices: copies of what runtime_books.c wrote down, taken under `lock`. Nothing
// here waits for work or for the engine thread.
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "engine/runtime_internal.h"

static uint64_t watch_read(const stopwatch *w, uint64_t now) { return w->total + w->running * now - w->since_sum; }

runtime_times rjob_times(const rjob *j) {
    const uint64_t now = j->terminal ? j->finished_ns : clock_now_ns();
    return (runtime_times){
        .queue = j->accepted_ns == 0 ? 0 : (j->started_ns != 0 ? j->started_ns : now) - j->accepted_ns,
        .key_load = watch_read(&j->key_load, now),
        .synthesis = watch_read(&j->synthesis, now),
        .device = watch_read(&j->device, now),
        .verify = watch_read(&j->verify, now),
        .total = now - j->submitted_ns,
    };
}

cuzk_status runtime_job_progress(runtime *rt, runtime_progress *out, runtime_job job, cuzk_error *err) {
    pthread_mutex_lock(&rt->lock);
    const rjob *j = idmap_get(&rt->jobs, job);
    const bool known = j != NULL && j->id != 0;
    if (known) {
        *out = (runtime_progress){.job = job, .kind = j->prov->kind, .times = rjob_times(j)};
        out->view = (engine_job_view){.state = j->state,
                                      .reason = j->reason,
                                      .priority = j->priority,
                                      .partitions = j->plan.partitions,
                                      .partitions_done = j->parts_proven,
                                      .submitted_ns = j->accepted_ns,
                                      .started_ns = j->started_ns,
                                      .finished_ns = j->finished_ns,
                                      .token = j->token};
        memcpy(out->name, j->name, sizeof out->name);
    }
    pthread_mutex_unlock(&rt->lock);
    return known ? CUZK_OK : rjob_unknown(job, err);
}

static int by_number(const void *a, const void *b) {
    const runtime_job x = *(const runtime_job *)a, y = *(const runtime_job *)b;
    return x < y ? -1 : x > y;
}

size_t runtime_jobs(runtime *rt, runtime_job *out, size_t max) {
    pthread_mutex_lock(&rt->lock);
    runtime_job *all = mem_alloc(MEM_MISC, rt->jobs.n + 1, sizeof *all);
    size_t n = 0;
    for (size_t i = 0; all != NULL && i < rt->jobs.cap; i++) {
        const rjob *j = rt->jobs.slots[i].value;
        if (rt->jobs.slots[i].id != 0 && j->id != 0) all[n++] = j->token;
    }
    pthread_mutex_unlock(&rt->lock);
    if (all == NULL) return 0;
    qsort(all, n, sizeof *all, by_number);
    for (size_t i = 0; i < n && i < max; i++) out[i] = all[i];
    mem_free(all);
    return n;
}

size_t runtime_partitions(runtime *rt, runtime_partition *out, runtime_job job, size_t max) {
    const uint64_t now = clock_now_ns();
    size_t n = 0;
    pthread_mutex_lock(&rt->lock);
    const rjob *j = idmap_get(&rt->jobs, job);
    if (j != NULL && j->id != 0) n = j->plan.partitions;
    for (size_t i = 0; i < n && i < max; i++) {
        const rpart *p = &j->parts[i];
        out[i] = (runtime_partition){p->stage, p->attempts, p->synthesis_ns, p->device_ns, p->fell_back};
        const uint64_t so_far = now > p->since ? now - p->since : 0;
        if (p->stage == RUNTIME_SYNTHESIS) out[i].synthesis_ns = so_far;
        if (p->stage == RUNTIME_DEVICE) out[i].device_ns = so_far;
    }
    pthread_mutex_unlock(&rt->lock);
    return n;
}

size_t runtime_workers(runtime *rt, runtime_worker *out, size_t max) {
    const size_t n = books_workers(rt);
    pthread_mutex_lock(&rt->lock);
    for (size_t i = 0; i < n && i < max; i++) out[i] = rt->bench[i].view;
    pthread_mutex_unlock(&rt->lock);
    return n;
}

size_t runtime_keys(runtime *rt, runtime_key *out, size_t max) {
    size_t n = 0;
    pthread_mutex_lock(&rt->lock);
    for (size_t i = 0; i < rt->keys.cap; i++) {
        const rkey *k = rt->keys.slots[i].value;
        if (rt->keys.slots[i].id == 0) continue;
        if (n++ >= max) continue;
        out[n - 1] = (runtime_key){.key = k->id,
                                   .bytes = k->bytes,
                                   .users = k->users,
                                   .loaded = k->loaded,
                                   .loading = k->loading,
                                   .last_used_ns = k->last_used_ns,
                                   .loads = k->loads};
        memcpy(out[n - 1].name, k->name, sizeof k->name);
    }
    pthread_mutex_unlock(&rt->lock);
    return n;
}

size_t runtime_devices(runtime *rt, runtime_device *out, size_t max) {
    const size_t n = rt->opt.n_devices;
    pthread_mutex_lock(&rt->lock);
    for (size_t i = 0; i < n && i < max; i++) {
        rdevice *d = &rt->seen[i];
        // A kernel section ends before this is heard of, so what was shown until then may have been too much: it stands
        // still for a moment then, since a sum of times must not shrink.
        const uint64_t busy = d->busy_ns + (d->in_kernels != 0 ? clock_now_ns() - d->since : 0);
        if (busy > d->shown_ns) d->shown_ns = busy;
        out[i] = (runtime_device){device_name(rt->opt.devices[i]),
                                  !d->unhealthy,
                                  books_fallback(rt, (uint32_t)i),
                                  d->runs,
                                  d->failures,
                                  d->shown_ns};
    }
    pthread_mutex_unlock(&rt->lock);
    return n;
}

void runtime_stats_of(runtime *rt, runtime_stats *out) {
    pthread_mutex_lock(&rt->lock);
    *out = rt->stats;
    pthread_mutex_unlock(&rt->lock);
    const mem_usage total = mem_usage_total();
    out->witness_bytes = mem_usage_of(MEM_WITNESS).live;
    out->evaluation_bytes = mem_usage_of(MEM_EVALUATION).live;
    out->key_bytes = mem_usage_of(MEM_KEY).live;
    out->total_bytes = total.live;
    out->total_peak = total.peak;
}
