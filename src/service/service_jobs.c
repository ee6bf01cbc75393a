// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The table of jobs: who asked for which, who waits, and how each ended. The runtime tells of each job's end once; that
// call counts it and then calls those who wait, so that nobody can hear of an end that is not in the counts.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "service/service_internal.h"

typedef enum watch_state { WATCH_WAITING, WATCH_CALLING, WATCH_OVER } watch_state;

struct service_watch {
    service *s;
    job_entry *entry; // while it is WAITING
    runtime_job job;
    char id[SERVICE_JOB_ID_MAX];
    service_done fn;
    void *ctx;
    timer_call timer;
    bool timed;
    struct service_watch *next; // of the same job
    watch_state state;
    pthread_t caller; // while it is CALLING
    bool orphan;      // unwatched from within its own call, which frees it
};

// --- the table ---

static uint32_t id_bucket(const char *id) {
    uint32_t h = 2166136261u; // FNV-1a
    for (; *id != 0; id++) h = (h ^ (uint8_t)*id) * 16777619u;
    return h % SERVICE_BUCKETS;
}

static uint32_t job_bucket(runtime_job job) { return (uint32_t)(job % SERVICE_BUCKETS); }

job_entry *jobs_by_id(service *s, const char *id) {
    job_entry *e = s->by_id[id_bucket(id)];
    while (e != NULL && strcmp(e->id, id) != 0) e = e->next_by_id;
    return e;
}

job_entry *jobs_by_number(service *s, runtime_job job) {
    job_entry *e = s->by_job[job_bucket(job)];
    while (e != NULL && e->job != job) e = e->next_by_job;
    return e;
}

static void link_entry(service *s, job_entry *e) {
    job_entry **id = &s->by_id[id_bucket(e->id)], **job = &s->by_job[job_bucket(e->job)];
    e->next_by_id = *id;
    *id = e;
    e->next_by_job = *job;
    *job = e;
    e->older = s->newest;
    if (s->newest != NULL)
        s->newest->newer = e;
    else
        s->oldest = e;
    s->newest = e;
    if (e->priority == ENGINE_CRITICAL)
        s->n_critical++;
    else
        s->n_ordinary++;
}

static void unlink_entry(service *s, job_entry *e) {
    job_entry **at = &s->by_id[id_bucket(e->id)];
    while (*at != e) at = &(*at)->next_by_id;
    *at = e->next_by_id;
    at = &s->by_job[job_bucket(e->job)];
    while (*at != e) at = &(*at)->next_by_job;
    *at = e->next_by_job;
    *(e->older != NULL ? &e->older->newer : &s->oldest) = e->newer;
    *(e->newer != NULL ? &e->newer->older : &s->newest) = e->older;
}

// Drops those that ended longest ago until there is room for one more.
static void forget_old(service *s) {
    while (s->n_terminal >= s->max_terminal) {
        job_entry *e = s->first_terminal;
        s->first_terminal = e->next_terminal;
        if (s->first_terminal == NULL) s->last_terminal = NULL;
        s->n_terminal--;
        unlink_entry(s, e);
        e->forgotten = true;
        if (!e->pinned) mem_free(e);
    }
}

static void count_end(service *s, const job_entry *e) {
    const uint32_t kind = service_kind_slot(e->kind);
    kind_counts *c = &s->counts[kind];
    switch (e->state) {
    case ENGINE_DONE:
        c->done++;
        figures_job_done(&s->figures, kind, &e->times);
        break;
    case ENGINE_STOPPED: c->cancelled++; break;
    default:
        c->failed++;
        s->figures.failed[e->reason]++;
        break;
    }
}

// --- the end of a job ---

// With the lock, which is free during the call.
static void call_watch(service *s, service_watch *w, const service_result *result) {
    w->state = WATCH_CALLING;
    w->caller = pthread_self();
    pthread_mutex_unlock(&s->lock);
    w->fn(w->ctx, result);
    pthread_mutex_lock(&s->lock);
    w->state = WATCH_OVER;
    if (w->orphan)
        mem_free(w);
    else
        pthread_cond_broadcast(&s->called);
}

static void fill_result(service_result *out, const char *id, const runtime_result *r) {
    *out = (service_result){
        .outcome = r->state == ENGINE_DONE      ? SERVICE_JOB_COMPLETED
                   : r->state == ENGINE_STOPPED ? SERVICE_JOB_CANCELLED
                   : r->state == ENGINE_FAILED  ? SERVICE_JOB_FAILED
                                                : SERVICE_JOB_TIMEOUT, // not ended yet
        .proof = r->proof,
        .proof_len = r->proof_len,
        .text = r->text,
        .times = r->times,
        .fell_back = r->fell_back,
    };
    snprintf(out->job_id, sizeof out->job_id, "%s", id);
}

static void log_end(service *s, const char *id, const runtime_result *r) {
    const runtime_times *t = &r->times;
    if (r->state == ENGINE_DONE) {
        log_write(LOG_INFO, "service", id,
                  "done in %.3f s: queue %.3f, key %.3f, synthesis %.3f, device %.3f, verification %.3f; %" PRIu32
                  " partitions, %" PRIu32 " proven again, %" PRIu32 " on the fallback device",
                  (double)t->total / 1e9, (double)t->queue / 1e9, (double)t->key_load / 1e9, (double)t->synthesis / 1e9,
                  (double)t->device / 1e9, (double)t->verify / 1e9, r->partitions, r->retries, r->fell_back);
    } else if (r->state == ENGINE_STOPPED) {
        log_write(LOG_INFO, "service", id, "cancelled after %.3f s", (double)t->total / 1e9);
    } else {
        service_trouble_note(s, id, r->text);
    }
}

static void job_ended(void *ctx, const runtime_result *r) {
    job_entry *e = ctx;
    service *s = e->s;
    char id[SERVICE_JOB_ID_MAX];
    service_result result;
    pthread_mutex_lock(&s->lock);
    memcpy(id, e->id, sizeof id);
    fill_result(&result, id, r);
    forget_old(s);
    e->terminal = e->pinned = true;
    e->state = r->state;
    e->reason = r->reason;
    e->partitions = r->partitions;
    e->times = r->times;
    e->finished_ns = r->finished_ns;
    if (e->counted) count_end(s, e);
    *(e->priority == ENGINE_CRITICAL ? &s->n_critical : &s->n_ordinary) -= 1;
    s->input_bytes -= e->input_bytes;
    e->input_bytes = 0;
    if (s->last_terminal != NULL)
        s->last_terminal->next_terminal = e;
    else
        s->first_terminal = e;
    s->last_terminal = e;
    s->n_terminal++;
    // One by one: while one is called, others may still be taken out.
    while (e->watches != NULL) {
        service_watch *w = e->watches;
        e->watches = w->next;
        call_watch(s, w, &result);
    }
    e->pinned = false;
    const bool forgotten = e->forgotten;
    pthread_mutex_unlock(&s->lock);
    if (forgotten) mem_free(e);
    log_end(s, id, r);
}

// A job that the runtime does not know has ended.
static void cancel(service *s, runtime_job job, bool *was_running) {
    cuzk_error why;
    if (runtime_cancel(s->rt, job, was_running, &why) != CUZK_OK) log_write(LOG_DEBUG, "service", NULL, "%s", why.text);
}

// With the lock.
static uint32_t position(const service *s, engine_priority priority) {
    uint32_t n = 0;
    for (const job_entry *e = s->oldest; e != NULL; e = e->newer) n += !e->terminal && e->priority >= priority;
    return n;
}

bool jobs_enter(service *s, service_submitted *out, job_entry **fresh, runtime_job job, bool joined) {
    pthread_mutex_lock(&s->lock);
    job_entry *e = jobs_by_number(s, job);
    const bool first = e == NULL;
    // One that was done all the same is as good as any.
    if (!first && e->abandoned && (!e->terminal || e->state == ENGINE_STOPPED)) {
        pthread_mutex_unlock(&s->lock);
        cancel(s, job, NULL); // whoever abandoned it may not have come to that yet
        return false;
    }
    out->queue_position = 0;
    if (first) {
        e = *fresh;
        *fresh = NULL;
        e->s = s;
        e->job = job;
        e->entered_ns = clock_now_ns();
        out->queue_position = position(s, e->priority);
        link_entry(s, e);
    }
    e->wanted++;
    s->figures.joined += joined;
    if (!joined && !e->counted) {
        e->counted = true;
        s->counts[service_kind_slot(e->kind)].accepted++;
        if (e->terminal) count_end(s, e); // one that joined came first, and the end before us
    }
    out->job = job;
    out->joined = joined;
    memcpy(out->job_id, e->id, sizeof out->job_id);
    pthread_mutex_unlock(&s->lock);
    cuzk_error err;
    if (!first || runtime_watch(s->rt, job, job_ended, e, &err) == CUZK_OK) return true;
    // It can be neither waited for nor counted, so it must not go on.
    cancel(s, job, NULL);
    job_ended(e, &(runtime_result){.job = job,
                                   .state = ENGINE_FAILED,
                                   .reason = ENGINE_OUT_OF_MEMORY,
                                   .finished_ns = clock_now_ns(),
                                   .text = err.text});
    return true;
}

void jobs_free(service *s) {
    for (job_entry *e = s->oldest, *next; e != NULL; e = next) {
        next = e->newer;
        mem_free(e);
    }
}

// --- waiting ---

service_code service_find(service *s, runtime_job *out, const char *job_id, service_error *err) {
    pthread_mutex_lock(&s->lock);
    const job_entry *e = job_id != NULL ? jobs_by_id(s, job_id) : NULL;
    *out = e != NULL ? e->job : 0;
    pthread_mutex_unlock(&s->lock);
    if (*out != 0) return SERVICE_OK;
    return service_fail(err, SERVICE_NOT_FOUND, "job_id: no job %.128s: never there, or finished too long ago",
                        job_id != NULL ? job_id : "");
}

static void watch_timed_out(void *ctx) {
    service_watch *w = ctx;
    service *s = w->s;
    pthread_mutex_lock(&s->lock);
    if (w->state != WATCH_WAITING) { // the end came first
        pthread_mutex_unlock(&s->lock);
        return;
    }
    service_watch **at = &w->entry->watches;
    while (*at != w) at = &(*at)->next;
    *at = w->next;
    s->figures.await_timeouts++;
    runtime_times times = {0};
    runtime_progress p;
    if (runtime_job_progress(s->rt, &p, w->job, NULL) == CUZK_OK) times = p.times;
    service_result r = {.outcome = SERVICE_JOB_TIMEOUT, .text = "not done yet", .times = times};
    memcpy(r.job_id, w->id, sizeof r.job_id);
    call_watch(s, w, &r);
    pthread_mutex_unlock(&s->lock);
}

// The job had ended before anybody asked.
static service_code answer_at_once(service *s, service_watch *w, service_error *err) {
    runtime_result *r;
    cuzk_error why;
    if (runtime_await(s->rt, &r, w->job, 0, &why) != CUZK_OK) {
        if (why.status == CUZK_ERR_MEMORY) return service_fail(err, SERVICE_RESOURCE_EXHAUSTED, "%s", why.text);
        return service_fail(err, SERVICE_NOT_FOUND, "job_id: %s", why.text);
    }
    service_result result;
    fill_result(&result, w->id, r);
    pthread_mutex_lock(&s->lock);
    call_watch(s, w, &result);
    pthread_mutex_unlock(&s->lock);
    runtime_result_free(&r);
    return SERVICE_OK;
}

// Saturates: a wait of centuries has no limit.
static uint64_t after_ms(uint64_t ms) {
    const uint64_t now = clock_now_ns();
    return ms > (UINT64_MAX / 2 - now) / 1000000 ? UINT64_MAX / 2 : now + ms * 1000000;
}

service_code service_await(service *s, service_watch **watch, runtime_job job, uint64_t timeout_ms, service_done fn,
                           void *ctx, service_error *err) {
    *watch = NULL;
    service_watch *w = mem_calloc(MEM_MISC, 1, sizeof *w);
    if (w == NULL) return service_fail(err, SERVICE_RESOURCE_EXHAUSTED, "no memory for a waiter");
    *w = (service_watch){.s = s, .job = job, .fn = fn, .ctx = ctx};
    service_code code = SERVICE_OK;
    bool ended = false;
    pthread_mutex_lock(&s->lock);
    job_entry *e = jobs_by_number(s, job);
    s->figures.awaits++;
    if (e == NULL) {
        code = service_fail(err, SERVICE_NOT_FOUND, "job_id: finished too long ago");
    } else {
        memcpy(w->id, e->id, sizeof w->id);
        ended = e->terminal;
        *watch = w; // before fn can be called
        if (!ended && timeout_ms != 0) {
            w->timer = (timer_call){.at = after_ms(timeout_ms), .fn = watch_timed_out, .ctx = w};
            w->timed = true;
            if (timers_add(s->timers, &w->timer, NULL) != CUZK_OK)
                code = service_fail(err, SERVICE_RESOURCE_EXHAUSTED, "no memory for a timeout");
        }
        if (!ended && code == SERVICE_OK) {
            w->entry = e;
            w->next = e->watches;
            e->watches = w;
        }
    }
    pthread_mutex_unlock(&s->lock);
    if (ended) code = answer_at_once(s, w, err);
    if (code != SERVICE_OK) {
        *watch = NULL;
        mem_free(w);
    }
    return code;
}

void service_unwatch(service *s, service_watch **watch, bool abandon) {
    service_watch *w = *watch;
    if (w == NULL) return;
    *watch = NULL;
    const runtime_job job = w->job;
    bool unwanted = false, own_call = false;
    pthread_mutex_lock(&s->lock);
    if (w->state == WATCH_WAITING && w->entry != NULL) {
        service_watch **at = &w->entry->watches;
        while (*at != w) at = &(*at)->next;
        *at = w->next;
        w->state = WATCH_OVER;
    }
    own_call = w->state == WATCH_CALLING && pthread_equal(w->caller, pthread_self());
    while (!own_call && w->state == WATCH_CALLING) pthread_cond_wait(&s->called, &s->lock);
    job_entry *e = abandon ? jobs_by_number(s, job) : NULL;
    if (e != NULL && !e->terminal && e->wanted > 0) {
        unwanted = e->abandoned = --e->wanted == 0 && e->watches == NULL;
        s->figures.abandoned += unwanted;
    }
    const bool timed = w->timed;
    pthread_mutex_unlock(&s->lock);
    // Outside the lock, which the timer's call takes. From within that call it does not wait.
    if (timed) (void)timers_remove(s->timers, &w->timer);
    if (own_call) {
        pthread_mutex_lock(&s->lock);
        w->orphan = true;
        pthread_mutex_unlock(&s->lock);
    } else {
        mem_free(w);
    }
    if (unwanted) {
        log_write(LOG_INFO, "service", NULL, "job %" PRIu64 " is cancelled: nobody waits for it any more", job);
        cancel(s, job, NULL);
    }
}

service_code service_cancel(service *s, const char *job_id, bool *was_running, service_error *err) {
    runtime_job job;
    *was_running = false;
    const service_code code = service_find(s, &job, job_id, err);
    if (code == SERVICE_OK) cancel(s, job, was_running);
    return code;
}
