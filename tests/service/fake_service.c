// SPDX-License-Identifier: MIT OR Apache-2.0
#include "fake_service.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"

enum { JOBS = 256, LINES = 4096, LINE = 160 };

typedef struct job {
    char id[SERVICE_JOB_ID_MAX];
    uint64_t input; // a digest of the request
    uint32_t partitions;
    service_outcome outcome; // UNKNOWN: still running
} job;

struct service_watch {
    service_watch *next;
    size_t job;
    uint64_t at_ns; // 0: no limit
    service_done fn;
    void *ctx;
    bool called, running;
};

struct service {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t clock;
    bool stop, hold_preloads, draining;
    job jobs[JOBS];
    size_t n_jobs;
    service_watch *watches;
    char lines[LINES][LINE];
    uint64_t n_lines;
    uint64_t last_input_len;
    bool key_loaded;
};

// Also where asserts are off.
static void must(bool ok) {
    if (!ok) abort();
}

static service_code refuse(service_error *err, service_code code, const char *fmt, const char *what) {
    *err = (service_error){.code = code};
    snprintf(err->text, sizeof err->text, fmt, what);
    return code;
}

// --- watches ---

// With the lock held, which is given up for the call.
static void call_back(service *s, service_watch *w, service_outcome outcome) {
    const job *j = &s->jobs[w->job];
    service_result r = {.outcome = outcome,
                        .text = outcome == SERVICE_JOB_FAILED ? "synthesis of partition 0: as asked" : ""};
    snprintf(r.job_id, sizeof r.job_id, "%s", j->id);
    r.times = (runtime_times){
        .queue = 1000000, .key_load = 2000000, .synthesis = 3000000, .device = 4000000, .total = 10000000};
    uint8_t *proof = malloc((size_t)192 * j->partitions + 1);
    must(proof != NULL);
    for (uint32_t p = 0; p < j->partitions; p++) memset(proof + (size_t)192 * p, (int)p, 192);
    if (outcome == SERVICE_JOB_COMPLETED) {
        r.proof = proof;
        r.proof_len = (size_t)192 * j->partitions;
    }
    w->called = w->running = true;
    pthread_mutex_unlock(&s->lock);
    w->fn(w->ctx, &r);
    pthread_mutex_lock(&s->lock);
    w->running = false;
    pthread_cond_broadcast(&s->changed);
    free(proof);
}

// One that is due, or NULL.
static service_watch *due(service *s, uint64_t now) {
    for (service_watch *w = s->watches; w != NULL; w = w->next) {
        if (!w->called && (s->jobs[w->job].outcome != SERVICE_JOB_UNKNOWN || (w->at_ns != 0 && w->at_ns <= now)))
            return w;
    }
    return NULL;
}

static void *clock_main(void *arg) {
    service *s = arg;
    pthread_mutex_lock(&s->lock);
    while (!s->stop) {
        service_watch *w = due(s, clock_now_ns());
        if (w != NULL) {
            const service_outcome o = s->jobs[w->job].outcome;
            call_back(s, w, o == SERVICE_JOB_UNKNOWN ? SERVICE_JOB_TIMEOUT : o);
            continue;
        }
        pthread_mutex_unlock(&s->lock);
        nanosleep(&(struct timespec){0, 2000000}, NULL);
        pthread_mutex_lock(&s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

service_code service_await(service *s, service_watch **watch, runtime_job id, uint64_t timeout_ms, service_done fn,
                           void *ctx, service_error *err) {
    (void)err;
    service_watch *w = calloc(1, sizeof *w);
    must(w != NULL);
    *w = (service_watch){.job = (size_t)id - 1,
                         .at_ns = timeout_ms == 0 ? 0 : clock_now_ns() + timeout_ms * 1000000,
                         .fn = fn,
                         .ctx = ctx};
    pthread_mutex_lock(&s->lock);
    w->next = s->watches;
    s->watches = w;
    if (s->jobs[w->job].outcome != SERVICE_JOB_UNKNOWN) call_back(s, w, s->jobs[w->job].outcome); // at once
    *watch = w;
    pthread_mutex_unlock(&s->lock);
    return SERVICE_OK;
}

void service_unwatch(service *s, service_watch **watch, bool abandon) {
    service_watch *w = *watch;
    if (w == NULL) return;
    pthread_mutex_lock(&s->lock);
    while (w->running) pthread_cond_wait(&s->changed, &s->lock);
    service_watch **at = &s->watches;
    while (*at != w) at = &(*at)->next;
    *at = w->next;
    bool others = false;
    for (service_watch *o = s->watches; o != NULL; o = o->next) others = others || o->job == w->job;
    job *j = &s->jobs[w->job];
    if (abandon && !others && j->outcome == SERVICE_JOB_UNKNOWN) j->outcome = SERVICE_JOB_CANCELLED;
    pthread_mutex_unlock(&s->lock);
    free(w);
    *watch = NULL;
}

// --- jobs ---

static job *find(service *s, const char *id) {
    for (size_t i = 0; i < s->n_jobs; i++) {
        if (strcmp(s->jobs[i].id, id) == 0) return &s->jobs[i];
    }
    return NULL;
}

static uint64_t digest(const service_request *r) {
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < r->vanilla_proof_len; i++) h = (h ^ r->vanilla_proof[i]) * 1099511628211u;
    for (size_t k = 0; k < r->n_vanilla_proofs; k++) {
        for (size_t i = 0; i < r->vanilla_proof_lens[k]; i++) h = (h ^ r->vanilla_proofs[k][i]) * 1099511628211u;
    }
    return h ^ r->sector_size;
}

static bool begins(const service_request *r, const char *word) {
    return r->vanilla_proof_len >= strlen(word) && memcmp(r->vanilla_proof, word, strlen(word)) == 0;
}

service_code service_submit(service *s, service_submitted *out, const service_request *r, service_error *err) {
    if (r->kind != SERVICE_TOY) return refuse(err, SERVICE_INVALID_ARGUMENT, "proof_kind: %s", "unknown");
    if (begins(r, "bad")) return refuse(err, SERVICE_INVALID_ARGUMENT, "vanilla_proof: %s at byte 3", "nonsense");
    if (begins(r, "full")) {
        refuse(err, SERVICE_RESOURCE_EXHAUSTED, "the queue is %s", "full");
        err->retry_after_ms = 1500;
        return err->code;
    }
    pthread_mutex_lock(&s->lock);
    s->last_input_len = r->vanilla_proof_len;
    job *j = r->request_id[0] != 0 ? find(s, r->request_id) : NULL;
    const uint64_t input = digest(r);
    service_code code = SERVICE_OK;
    *out = (service_submitted){.joined = j != NULL};
    if (s->draining) {
        code = refuse(err, SERVICE_UNAVAILABLE, "%s", "draining");
    } else if (j != NULL && j->input != input) {
        code = refuse(err, SERVICE_ALREADY_EXISTS, "request_id %s belongs to another input", r->request_id);
    } else if (j == NULL) {
        must(s->n_jobs < JOBS);
        j = &s->jobs[s->n_jobs++];
        j->input = input;
        j->partitions = (uint32_t)r->sector_size;
        j->outcome = begins(r, "hold")   ? SERVICE_JOB_UNKNOWN
                     : begins(r, "fail") ? SERVICE_JOB_FAILED
                                         : SERVICE_JOB_COMPLETED;
        if (r->request_id[0] != 0)
            snprintf(j->id, sizeof j->id, "%s", r->request_id);
        else
            snprintf(j->id, sizeof j->id, "job-%zu", s->n_jobs);
    }
    if (code == SERVICE_OK) {
        out->job = (runtime_job)(j - s->jobs) + 1;
        snprintf(out->job_id, sizeof out->job_id, "%s", j->id);
        out->queue_position = 3;
    }
    pthread_mutex_unlock(&s->lock);
    return code;
}

service_code service_find(service *s, runtime_job *out, const char *job_id, service_error *err) {
    pthread_mutex_lock(&s->lock);
    const job *j = find(s, job_id);
    if (j != NULL) *out = (runtime_job)(j - s->jobs) + 1;
    pthread_mutex_unlock(&s->lock);
    return j != NULL ? SERVICE_OK : refuse(err, SERVICE_NOT_FOUND, "job_id: no job %s", job_id);
}

service_code service_cancel(service *s, const char *job_id, bool *was_running, service_error *err) {
    pthread_mutex_lock(&s->lock);
    job *j = find(s, job_id);
    *was_running = j != NULL && j->outcome == SERVICE_JOB_UNKNOWN;
    if (*was_running) j->outcome = SERVICE_JOB_CANCELLED;
    pthread_mutex_unlock(&s->lock);
    return j != NULL ? SERVICE_OK : refuse(err, SERVICE_NOT_FOUND, "job_id: no job %s", job_id);
}

void fake_finish(service *s, const char *job_id) {
    pthread_mutex_lock(&s->lock);
    job *j = find(s, job_id);
    must(j != NULL);
    if (j->outcome == SERVICE_JOB_UNKNOWN) j->outcome = SERVICE_JOB_COMPLETED;
    pthread_mutex_unlock(&s->lock);
}

bool fake_is_cancelled(service *s, const char *job_id) {
    pthread_mutex_lock(&s->lock);
    const job *j = find(s, job_id);
    const bool is = j != NULL && j->outcome == SERVICE_JOB_CANCELLED;
    pthread_mutex_unlock(&s->lock);
    return is;
}

uint32_t fake_watches(service *s) {
    uint32_t n = 0;
    pthread_mutex_lock(&s->lock);
    for (const service_watch *w = s->watches; w != NULL; w = w->next) n++;
    pthread_mutex_unlock(&s->lock);
    return n;
}

uint64_t fake_last_input_len(service *s) {
    pthread_mutex_lock(&s->lock);
    const uint64_t n = s->last_input_len;
    pthread_mutex_unlock(&s->lock);
    return n;
}

// --- keys ---

service_code service_preload(service *s, const char *id, bool *already, uint64_t *load_ms, service_error *err) {
    if (strcmp(id, "toy-10") != 0) return refuse(err, SERVICE_NOT_FOUND, "circuit_id: no circuit %s", id);
    pthread_mutex_lock(&s->lock);
    while (s->hold_preloads) pthread_cond_wait(&s->changed, &s->lock);
    *already = s->key_loaded;
    *load_ms = *already ? 0 : 7;
    s->key_loaded = true;
    pthread_mutex_unlock(&s->lock);
    return SERVICE_OK;
}

service_code service_evict(service *s, const char *id, bool *was_loaded, uint64_t *freed, service_error *err) {
    if (strcmp(id, "toy-10") != 0) return refuse(err, SERVICE_NOT_FOUND, "circuit_id: no circuit %s", id);
    pthread_mutex_lock(&s->lock);
    *was_loaded = s->key_loaded;
    *freed = *was_loaded ? 4096 : 0;
    s->key_loaded = false;
    pthread_mutex_unlock(&s->lock);
    return SERVICE_OK;
}

void fake_hold_preloads(service *s, bool hold) {
    pthread_mutex_lock(&s->lock);
    s->hold_preloads = hold;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

// --- questions ---

const char *service_kind_name(service_kind k) {
    static const char *const names[] = {"unspecified", "porep", "snap", "window-post", "winning-post"};
    return k == SERVICE_TOY ? "toy" : (unsigned)k < SERVICE_KINDS ? names[k] : "unspecified";
}

bool service_draining(const service *s) {
    service *mine = (service *)(uintptr_t)s;
    pthread_mutex_lock(&mine->lock);
    const bool is = mine->draining;
    pthread_mutex_unlock(&mine->lock);
    return is;
}

void fake_drain(service *s, bool draining) {
    pthread_mutex_lock(&s->lock);
    s->draining = draining;
    pthread_mutex_unlock(&s->lock);
}

cuzk_status service_look(service *s, service_snapshot **out, cuzk_error *err) {
    (void)err;
    service_snapshot *snap = calloc(1, sizeof *snap);
    service_device_view *dev = calloc(1, sizeof *dev);
    service_key_view *key = calloc(1, sizeof *key);
    must(snap != NULL && dev != NULL && key != NULL);
    dev->name = "fake";
    dev->ordinal = 0;
    dev->healthy = true;
    snprintf(dev->job_id, sizeof dev->job_id, "on-device");
    dev->kind = SERVICE_TOY;
    snprintf(key->circuit_id, sizeof key->circuit_id, "toy-10");
    key->bytes = 4096;
    key->users = 2;
    pthread_mutex_lock(&s->lock);
    key->loaded = s->key_loaded;
    for (size_t i = 0; i < s->n_jobs; i++) {
        service_counts *c = &snap->by_kind[SERVICE_KINDS];
        switch (s->jobs[i].outcome) {
        case SERVICE_JOB_COMPLETED: c->completed++; break;
        case SERVICE_JOB_FAILED: c->failed++; break;
        case SERVICE_JOB_CANCELLED: c->cancelled++; break;
        default: c->running++; break;
        }
    }
    pthread_mutex_unlock(&s->lock);
    snap->uptime_s = 12.75;
    snap->memory_total = 1000;
    snap->memory_used = 400;
    snap->devices = dev;
    snap->n_devices = 1;
    snap->keys = key;
    snap->n_keys = 1;
    *out = snap;
    return CUZK_OK;
}

void service_snapshot_free(service_snapshot **snap) {
    free((*snap)->devices);
    free((*snap)->keys);
    free(*snap);
    *snap = NULL;
}

static cuzk_status give_text(char **out, size_t *len, const char *text) {
    *len = strlen(text);
    *out = malloc(*len + 1);
    must(*out != NULL);
    memcpy(*out, text, *len + 1);
    return CUZK_OK;
}

cuzk_status service_status_json(service *s, char **out, size_t *len, cuzk_error *err) {
    (void)s;
    (void)err;
    return give_text(out, len, "{\"up\":true}");
}

cuzk_status service_metrics(service *s, char **out, size_t *len, cuzk_error *err) {
    (void)s;
    (void)err;
    return give_text(out, len, "# TYPE cuzk_up gauge\ncuzk_up 1\n");
}

void fake_say(service *s, const char *line) {
    pthread_mutex_lock(&s->lock);
    snprintf(s->lines[s->n_lines % LINES], LINE, "%s", line);
    s->n_lines++;
    pthread_mutex_unlock(&s->lock);
}

// Line number k has sequence number k + 1.
size_t service_timeline_since(service *s, char *out, uint64_t *seq, uint64_t *lost, size_t cap) {
    size_t n = 0;
    pthread_mutex_lock(&s->lock);
    const uint64_t oldest = s->n_lines > LINES ? s->n_lines - LINES + 1 : 1;
    uint64_t at = *seq == 0 ? oldest : *seq;
    *lost = at < oldest ? oldest - at : 0;
    if (at < oldest) at = oldest;
    for (; at <= s->n_lines; at++) {
        const char *line = s->lines[(at - 1) % LINES];
        if (n + strlen(line) + 2 > cap) break;
        n += (size_t)snprintf(out + n, cap - n, "%s\n", line);
    }
    *seq = at;
    pthread_mutex_unlock(&s->lock);
    return n;
}

recorder_stats service_timeline_stats(service *s) {
    pthread_mutex_lock(&s->lock);
    const recorder_stats r = {.next_seq = s->n_lines + 1};
    pthread_mutex_unlock(&s->lock);
    return r;
}

// --- life ---

service *fake_service_create(void) {
    service *s = calloc(1, sizeof *s);
    must(s != NULL);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    must(pthread_create(&s->clock, NULL, clock_main, s) == 0);
    return s;
}

void fake_service_destroy(service *s) {
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->clock, NULL);
    must(s->watches == NULL);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
