// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Many clients on one daemon: each a connection of its own, each job one of
//   good        proven; the proof has 192 bytes a partition
//   bad         refused with INVALID_ARGUMENT, whatever is wrong with it
//   cancelled   submitted, cancelled a moment later: CANCELLED, or COMPLETED if it was faster
//   gone        the client stops waiting: its deadline comes, or it closes its connection
// A full daemon answers RESOURCE_EXHAUSTED; the client waits as long as it is told and comes again.
//
//     load TARGET --clients N --jobs N [--bad PERCENT] [--cancel PERCENT] [--gone PERCENT] [--partitions N]
//          [--rows LOG] [--seed N]
//
// Prints "done N" for every hundredth job, then one line of JSON with the tallies. Exit code 1 when an answer was none
// of the above; the first of them go to standard error. The daemon needs toy circuits. tests/e2e/test_load.py runs it.
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "service/client.h"

enum { KIND_TOY = 1000, PROOF_BYTES = 192, SEED_BYTES = 8, MAX_CLIENTS = 1000, CALL_MS = 120000, COMPLAINTS = 10 };

typedef enum plan { PLAN_GOOD, PLAN_BAD, PLAN_CANCEL, PLAN_GONE, PLANS } plan;

typedef struct load {
    const char *target;
    uint32_t clients, jobs, percent[PLANS], partitions, rows;
    uint64_t seed;
    atomic_uint next, done, complaints;
    atomic_uint completed, cancelled, refused, gone, gone_completed, full; // by how they ended; full: answers, not jobs
    pthread_mutex_t out;
} load;

// SplitMix64: a job's choices follow from the seed and its number alone.
static uint64_t draw(uint64_t *s) {
    uint64_t z = *s += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void sleep_ms(uint64_t ms) {
    struct timespec t = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000};
    (void)nanosleep(&t, NULL);
}

static void complain(load *l, uint32_t job, const char *what, int code, const char *text) {
    if (atomic_fetch_add(&l->complaints, 1) < COMPLAINTS)
        fprintf(stderr, "load: job %" PRIu32 ": %s: %s: %s\n", job, what, client_code_name(code), text);
}

static client *connect_to(load *l) {
    client *c = NULL;
    cuzk_error err = {0};
    client_options o = {.target = l->target};
    if (client_open(&c, &o, &err) != CUZK_OK) {
        fprintf(stderr, "load: %s\n", err.text);
        exit(2);
    }
    return c;
}

// True when the daemon was full and the call should be made again.
static bool again(load *l, const client_error *err, uint64_t *rng) {
    if (err->code != CLIENT_RESOURCE_EXHAUSTED) return false;
    atomic_fetch_add(&l->full, 1);
    const uint64_t wait = err->retry_after_ms > 0 && err->retry_after_ms < 200 ? err->retry_after_ms : 50;
    sleep_ms(wait / 2 + draw(rng) % wait);
    return true;
}

typedef struct job {
    uint32_t number;
    uint64_t rng;
    char id[64];
    uint8_t seed[SEED_BYTES];
    client_proof_request request;
} job;

static void make_job(job *j, const load *l, uint32_t number) {
    *j = (job){.number = number, .rng = l->seed ^ number * UINT64_C(0xd1342543de82ef95)};
    for (int i = 0; i < SEED_BYTES; i++) j->seed[i] = (uint8_t)draw(&j->rng);
    snprintf(j->id, sizeof j->id, "load-%" PRIx64 "-%" PRIu32, l->seed, number);
    j->request = (client_proof_request){.request_id = j->id,
                                        .kind = KIND_TOY,
                                        .priority = (uint32_t)(draw(&j->rng) % 5),
                                        .sector_size = 1 + draw(&j->rng) % l->partitions,
                                        .registered_proof = l->rows,
                                        .vanilla_proof = {j->seed, SEED_BYTES}};
}

static plan choose(load *l, job *j) {
    uint64_t at = draw(&j->rng) % 100;
    for (plan p = PLAN_BAD; p < PLANS; p++) {
        if (at < l->percent[p]) return p;
        at -= l->percent[p];
    }
    return PLAN_GOOD;
}

static void run_good(load *l, client *c, job *j) {
    client_result r = {0};
    client_error err = {0};
    int code;
    do code = client_prove(c, &r, &j->request, CALL_MS, &err);
    while (code != CLIENT_OK && again(l, &err, &j->rng));
    if (code != CLIENT_OK) {
        complain(l, j->number, "prove", code, err.text);
        return;
    }
    if (r.status == CLIENT_JOB_COMPLETED && r.proof_len == j->request.sector_size * PROOF_BYTES &&
        strcmp(r.job_id, j->id) == 0)
        atomic_fetch_add(&l->completed, 1);
    else
        complain(l, j->number, "its answer", code, r.text);
    client_result_free(&r);
}

static void run_bad(load *l, client *c, job *j) {
    client_proof_request *q = &j->request;
    static const char BAD_ID[] = "tab\there";
    switch (draw(&j->rng) % 6) {
    case 0: q->kind = 99; break;
    case 1: q->priority = 9; break;
    case 2: q->sector_size = 0; break;
    case 3: q->vanilla_proof.len = 3; break;
    case 4: q->request_id = BAD_ID; break;
    default: // a PoRep that is none
        q->kind = 1;
        q->vanilla_proof = (client_view){(const uint8_t *)"{\"SectorNum\":", 13};
        break;
    }
    client_result r = {0};
    client_error err = {0};
    int code;
    do code = client_prove(c, &r, q, CALL_MS, &err);
    while (code != CLIENT_OK && again(l, &err, &j->rng));
    if (code == CLIENT_INVALID_ARGUMENT && err.text[0] != 0)
        atomic_fetch_add(&l->refused, 1);
    else
        complain(l, j->number, "a bad request", code, err.text);
    if (code == CLIENT_OK) client_result_free(&r);
}

static void run_cancel(load *l, client *c, job *j) {
    client_submitted s;
    client_result r = {0};
    client_error err = {0};
    bool was_running;
    int code;
    do code = client_submit(c, &s, &j->request, CALL_MS, &err);
    while (code != CLIENT_OK && again(l, &err, &j->rng));
    if (code == CLIENT_OK) {
        sleep_ms(draw(&j->rng) % 40);
        code = client_cancel(c, &was_running, s.job_id, CALL_MS, &err);
    }
    if (code == CLIENT_OK) code = client_await(c, &r, s.job_id, 0, CALL_MS, &err);
    if (code != CLIENT_OK) {
        // So many others may have ended since that the daemon no longer knows it.
        if (code == CLIENT_NOT_FOUND)
            atomic_fetch_add(&l->cancelled, 1);
        else
            complain(l, j->number, "cancel", code, err.text);
        return;
    }
    if (r.status == CLIENT_JOB_CANCELLED)
        atomic_fetch_add(&l->cancelled, 1);
    else if (r.status == CLIENT_JOB_COMPLETED)
        atomic_fetch_add(&l->completed, 1);
    else
        complain(l, j->number, "after a cancel", code, r.text);
    client_result_free(&r);
}

// ProveRequest with a submit of request_id, proof_kind, sector_size, registered_proof and vanilla_proof, by hand: a
// stream can be left without its answer, a call cannot.
static size_t encode(uint8_t out[160], const job *j) {
    uint8_t in[150];
    size_t n = 0, m = 0;
    const size_t id_len = strlen(j->id);
    in[n++] = 0x0a, in[n++] = (uint8_t)id_len;
    memcpy(in + n, j->id, id_len), n += id_len;
    in[n++] = 0x10, in[n++] = (KIND_TOY & 0x7f) | 0x80, in[n++] = KIND_TOY >> 7;
    in[n++] = 0x18, in[n++] = (uint8_t)j->request.sector_size;
    in[n++] = 0x20, in[n++] = (uint8_t)j->request.registered_proof;
    in[n++] = 0x52, in[n++] = SEED_BYTES;
    memcpy(in + n, j->seed, SEED_BYTES), n += SEED_BYTES;
    out[m++] = 0x0a, out[m++] = (uint8_t)n;
    memcpy(out + m, in, n);
    return m + n;
}

// *c may be another client afterwards.
static void run_gone(load *l, client **c, job *j) {
    client_error err = {0};
    if (draw(&j->rng) % 2 == 0) { // the deadline comes first, or just not
        client_result r = {0};
        int code = client_prove(*c, &r, &j->request, 1 + draw(&j->rng) % 30, &err);
        if (code == CLIENT_OK) {
            atomic_fetch_add(r.status == CLIENT_JOB_COMPLETED ? &l->gone_completed : &l->complaints, 1);
            client_result_free(&r);
        } else if (code == CLIENT_DEADLINE_EXCEEDED || code == CLIENT_RESOURCE_EXHAUSTED || code == CLIENT_CANCELLED) {
            atomic_fetch_add(&l->gone, 1);
        } else {
            complain(l, j->number, "a short deadline", code, err.text);
        }
        return;
    }
    uint8_t message[160];
    client_stream *s = NULL;
    int code = client_stream_open(*c, &s, "/cuzk.v1.ProvingEngine/Prove", CALL_MS, &err);
    if (code != CLIENT_OK) {
        complain(l, j->number, "a stream", code, err.text);
        return;
    }
    (void)client_stream_send(s, message, encode(message, j));
    (void)client_stream_half_close(s);
    sleep_ms(draw(&j->rng) % 30);
    client_stream_close(&s);
    client_close(c);
    *c = connect_to(l);
    atomic_fetch_add(&l->gone, 1);
}

static void *run_client(void *arg) {
    load *l = arg;
    client *c = connect_to(l);
    for (;;) {
        const uint32_t number = atomic_fetch_add(&l->next, 1);
        if (number >= l->jobs) break;
        job j;
        make_job(&j, l, number);
        switch (choose(l, &j)) {
        case PLAN_BAD: run_bad(l, c, &j); break;
        case PLAN_CANCEL: run_cancel(l, c, &j); break;
        case PLAN_GONE: run_gone(l, &c, &j); break;
        default: run_good(l, c, &j); break;
        }
        const uint32_t done = atomic_fetch_add(&l->done, 1) + 1;
        if (done % 100 == 0) {
            pthread_mutex_lock(&l->out);
            printf("done %" PRIu32 "\n", done);
            fflush(stdout);
            pthread_mutex_unlock(&l->out);
        }
    }
    client_close(&c);
    return NULL;
}

static uint32_t number(const char *text, uint64_t max) {
    char *end = NULL;
    const unsigned long long v = strtoull(text, &end, 10);
    if (end == text || *end != 0 || v > max) {
        fprintf(stderr, "load: \"%s\" is no number up to %" PRIu64 "\n", text, max);
        exit(2);
    }
    return (uint32_t)v;
}

int main(int argc, char **argv) {
    load l = {.target = argc > 1 ? argv[1] : "", .clients = 20, .jobs = 200, .partitions = 2, .rows = 6,
              .seed = (uint64_t)time(NULL), .out = PTHREAD_MUTEX_INITIALIZER};
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--clients") == 0) l.clients = number(argv[i + 1], MAX_CLIENTS);
        else if (strcmp(argv[i], "--jobs") == 0) l.jobs = number(argv[i + 1], 1000000);
        else if (strcmp(argv[i], "--bad") == 0) l.percent[PLAN_BAD] = number(argv[i + 1], 100);
        else if (strcmp(argv[i], "--cancel") == 0) l.percent[PLAN_CANCEL] = number(argv[i + 1], 100);
        else if (strcmp(argv[i], "--gone") == 0) l.percent[PLAN_GONE] = number(argv[i + 1], 100);
        else if (strcmp(argv[i], "--partitions") == 0) l.partitions = number(argv[i + 1], 100);
        else if (strcmp(argv[i], "--rows") == 0) l.rows = number(argv[i + 1], 18);
        else if (strcmp(argv[i], "--seed") == 0) l.seed = number(argv[i + 1], UINT32_MAX);
        else number(argv[i], 0);
    }
    if (l.clients == 0 || l.partitions == 0 || l.target[0] == 0) {
        fprintf(stderr, "load: no target, no clients or no partitions\n");
        return 2;
    }
    fprintf(stderr, "load: seed %" PRIu64 "\n", l.seed);
    pthread_t *threads = calloc(l.clients, sizeof *threads);
    if (threads == NULL) return 2;
    uint32_t started = 0;
    while (started < l.clients && pthread_create(&threads[started], NULL, run_client, &l) == 0) started++;
    for (uint32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
    free(threads);
    if (started < l.clients) {
        fprintf(stderr, "load: %" PRIu32 " of %" PRIu32 " threads started\n", started, l.clients);
        return 2;
    }
    printf("{\"jobs\": %u, \"completed\": %u, \"cancelled\": %u, \"refused\": %u, \"gone\": %u, \"gone_completed\": %u, "
           "\"full\": %u, \"unexpected\": %u}\n",
           atomic_load(&l.done), atomic_load(&l.completed), atomic_load(&l.cancelled), atomic_load(&l.refused),
           atomic_load(&l.gone), atomic_load(&l.gone_completed), atomic_load(&l.full), atomic_load(&l.complaints));
    return atomic_load(&l.complaints) == 0 ? 0 : 1;
}
