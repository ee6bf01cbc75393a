// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The recording side and the drain thread. Atomics are used for exactly these words:
//   lane.head     written by the producer, read by the drain
//   lane.tail     written by the drain, read by the producer
//   lane.dropped  written by the producer, read by anybody
//   lane.closed   written by the producer's last call, read by the drain
// Everything else is either one thread's or under recorder.lock.
#define _DEFAULT_SOURCE // setpriority
#include "timeline/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

enum {
    DEFAULT_SLOTS = 4096,
    DEFAULT_TAIL = 4096,
    MAX_SLOTS = 1 << 20,
    DRAIN_EVERY_NS = 10 * 1000 * 1000,
    // An event's time is taken before it becomes visible in its ring. Holding the newest back for this long lets the
    // rings be merged by time; a thread that loses the processor in between makes a row out of order, which readers
    // sort.
    HOLD_NS = 5 * 1000 * 1000,
    BATCH_BYTES = 1 << 16,
    // Of the tail, for each of its lines. Lines have 90 to 140 bytes, depending on the job's name; room for the longest
    // one there can be (640) would be touched bit by bit and look like a leak of 40 MiB.
    TAIL_LINE = 160,
};

typedef struct slot {
    uint64_t at_ns;
    timeline_kind kind;
    int32_t gpu, worker, partition, count;
    const char *word_key, *word, *number_key;
    uint64_t number;
    char job[TIMELINE_JOB_MAX];
    char text[TIMELINE_DETAIL_MAX];
} slot;

struct recorder_lane {
    recorder *owner;
    recorder_lane *next; // under owner->lock
    uint32_t number, mask;
    slot *slots;
    // The producer's line.
    _Alignas(64) _Atomic uint64_t head; // events published
    uint64_t tail_seen;                 // the producer's last look at tail
    _Atomic uint64_t dropped;
    _Atomic bool closed;
    // The drain's line.
    _Alignas(64) _Atomic uint64_t tail; // events taken
    uint64_t take_end;                  // head at the start of this pass
    uint64_t dropped_reported;
};

struct recorder {
    uint64_t epoch_ns;
    int fd;
    bool own_fd;
    bool (*sink)(void *ctx, const char *lines, size_t len);
    void *sink_ctx;
    uint32_t lane_slots;
    pthread_t thread;

    pthread_mutex_t lock; // of everything below
    pthread_cond_t wake, flushed;
    recorder_lane *lanes;
    uint32_t n_lanes;
    uint64_t passes_wanted, passes_done; // flush: a full pass that began after the request
    bool stop;
    uint64_t recorded_before, dropped_before; // of lanes that are gone
    recorder_stats stats;
    // Newest lines, in a ring of bytes that is written on and on: byte p of all that was ever written is tail[p %
    // tail_bytes], no line is split by the ring's end, and line q begins at byte tail_from[q % tail_lines].
    char *tail;
    size_t tail_bytes;
    uint64_t tail_end; // bytes written, with those left out at the ring's end
    uint64_t *tail_from;
    uint16_t *tail_len;
    uint32_t tail_lines;

    // The drain thread's own.
    char *batch;
    size_t batch_len;
    uint64_t batch_lines;
    bool cut; // the last write stopped inside a line
};

uint64_t recorder_now(const recorder *r) { return clock_now_ns() - r->epoch_ns; }

// --- the recording side ---

// Beginning and FNV-1a digest, so that long ids stay apart. Cut where a UTF-8 character begins.
static void shorten_job(char out[TIMELINE_JOB_MAX], const char *job) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (const char *p = job; *p != 0; p++) h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    int keep = TIMELINE_JOB_MAX - 1 - 17;
    while (keep > 0 && ((unsigned char)job[keep] & 0xc0) == 0x80) keep--;
    snprintf(out, TIMELINE_JOB_MAX, "%.*s~%016llx", keep, job, (unsigned long long)h);
}

void recorder_event(recorder_lane *lane, timeline_kind kind, const char *job, const timeline_detail *d) {
    if (lane == NULL) return;
    // relaxed: only this thread writes head.
    uint64_t head = atomic_load_explicit(&lane->head, memory_order_relaxed);
    if (head - lane->tail_seen > lane->mask) {
        // acquire: the drain's reads of the slot happened before it gave the slot back; pairs with its release store.
        lane->tail_seen = atomic_load_explicit(&lane->tail, memory_order_acquire);
        if (head - lane->tail_seen > lane->mask) {
            // relaxed: a statistic; only this thread writes it, so load and store make an increment.
            uint64_t n = atomic_load_explicit(&lane->dropped, memory_order_relaxed);
            atomic_store_explicit(&lane->dropped, n + 1, memory_order_relaxed);
            return;
        }
    }
    slot *s = &lane->slots[head & lane->mask];
    s->at_ns = clock_now_ns() - lane->owner->epoch_ns;
    s->kind = kind;
    s->text[0] = 0;
    if (d != NULL) {
        s->gpu = d->gpu, s->worker = d->worker, s->partition = d->partition, s->count = d->count;
        s->word_key = d->word_key, s->word = d->word, s->number_key = d->number_key, s->number = d->number;
        if (d->text != NULL) {
            size_t n = strnlen(d->text, TIMELINE_DETAIL_MAX - 1);
            memcpy(s->text, d->text, n);
            s->text[n] = 0;
        }
    } else {
        s->gpu = s->worker = s->partition = s->count = -1;
        s->word_key = s->word = s->number_key = NULL;
    }
    size_t n = job == NULL ? 0 : strnlen(job, TIMELINE_JOB_MAX);
    if (n < TIMELINE_JOB_MAX) {
        memcpy(s->job, job == NULL ? "" : job, n + 1);
    } else {
        shorten_job(s->job, job);
    }
    // release: the slot's content is visible to the drain before the new head is.
    atomic_store_explicit(&lane->head, head + 1, memory_order_release);
}

recorder_lane *recorder_lane_open(recorder *r) {
    if (r == NULL) return NULL;
    recorder_lane *lane = mem_calloc(MEM_MISC, 1, sizeof *lane);
    if (lane == NULL) return NULL;
    lane->slots = mem_alloc(MEM_MISC, r->lane_slots, sizeof *lane->slots);
    if (lane->slots == NULL) {
        mem_free(lane);
        return NULL;
    }
    lane->owner = r;
    lane->mask = r->lane_slots - 1;
    atomic_init(&lane->head, 0);
    atomic_init(&lane->tail, 0);
    atomic_init(&lane->dropped, 0);
    atomic_init(&lane->closed, false);
    pthread_mutex_lock(&r->lock);
    lane->number = r->n_lanes++;
    lane->next = r->lanes;
    r->lanes = lane;
    pthread_mutex_unlock(&r->lock);
    return lane;
}

void recorder_lane_close(recorder_lane **lane) {
    if (lane == NULL || *lane == NULL) return;
    // release: everything this thread did to the lane happened before the drain frees it.
    atomic_store_explicit(&(*lane)->closed, true, memory_order_release);
    *lane = NULL;
}

// --- the drain thread ---

// Hands the batch to the writer. The lock is not held: a slow disk delays nobody.
static void write_batch(recorder *r) {
    if (r->batch_len == 0) return;
    bool ok = true;
    int error = 0;
    if (r->sink != NULL) {
        ok = r->sink(r->sink_ctx, r->batch, r->batch_len);
    } else if (r->fd >= 0) {
        if (r->cut) ok = write(r->fd, "\n", 1) == 1;
        if (ok) r->cut = false;
        size_t at = 0;
        while (ok && at < r->batch_len) {
            ssize_t n = write(r->fd, r->batch + at, r->batch_len - at);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) ok = false;
            if (n > 0) at += (size_t)n;
        }
        if (!ok) {
            error = errno;
            if (at > 0) r->cut = r->batch[at - 1] != '\n';
        }
    }
    pthread_mutex_lock(&r->lock);
    if (ok) {
        r->stats.written += r->batch_lines;
    } else {
        // Part of the batch may have arrived; the count is of lines that cannot be relied upon.
        r->stats.lost += r->batch_lines;
        r->stats.failures++;
        r->stats.last_error = error;
    }
    pthread_mutex_unlock(&r->lock);
    r->batch_len = 0;
    r->batch_lines = 0;
}

// With the lock. Forgets the oldest lines, as many as it takes.
static void keep_line(recorder *r, const char *line, size_t len) {
    uint64_t from = r->tail_end;
    const size_t at = (size_t)(from % r->tail_bytes);
    if (at + len > r->tail_bytes) from += r->tail_bytes - at;
    const uint64_t q = r->stats.next_seq;
    uint64_t *oldest = &r->stats.oldest_seq;
    while (*oldest < q &&
           (q - *oldest >= r->tail_lines || r->tail_from[*oldest % r->tail_lines] + r->tail_bytes < from + len))
        ++*oldest;
    memcpy(r->tail + from % r->tail_bytes, line, len);
    r->tail_from[q % r->tail_lines] = from;
    r->tail_len[q % r->tail_lines] = (uint16_t)len;
    r->tail_end = from + len;
    r->stats.next_seq = q + 1;
}

static void emit(recorder *r, const char *line, size_t len) {
    if (r->batch_len + len > BATCH_BYTES) write_batch(r);
    memcpy(r->batch + r->batch_len, line, len);
    r->batch_len += len;
    r->batch_lines++;
    pthread_mutex_lock(&r->lock);
    keep_line(r, line, len);
    pthread_mutex_unlock(&r->lock);
}

static void emit_slot(recorder *r, const slot *s) {
    char line[TIMELINE_LINE_MAX];
    timeline_detail d = {s->gpu,  s->worker,     s->partition, s->count, s->word_key,
                         s->word, s->number_key, s->number,    s->text};
    emit(r, line, timeline_line(line, s->at_ns, s->kind, s->job, &d));
}

// Takes what is older than `until`, oldest first over all rings. The list of lanes only grows at its front while the
// drain works on it, and only the drain removes.
static void drain_pass(recorder *r, recorder_lane *lanes, uint64_t until) {
    for (recorder_lane *l = lanes; l != NULL; l = l->next)
        // acquire: pairs with the producer's release; the slots below this head are complete.
        l->take_end = atomic_load_explicit(&l->head, memory_order_acquire);
    for (;;) {
        recorder_lane *best = NULL;
        uint64_t best_at = until;
        for (recorder_lane *l = lanes; l != NULL; l = l->next) {
            // relaxed: only this thread writes tail.
            uint64_t t = atomic_load_explicit(&l->tail, memory_order_relaxed);
            if (t == l->take_end) continue;
            uint64_t at = l->slots[t & l->mask].at_ns;
            if (at <= best_at) best = l, best_at = at;
        }
        if (best == NULL) break;
        uint64_t t = atomic_load_explicit(&best->tail, memory_order_relaxed);
        slot copy = best->slots[t & best->mask];
        // release: the copy above is done before the producer may write the slot again.
        atomic_store_explicit(&best->tail, t + 1, memory_order_release);
        emit_slot(r, &copy);
    }
    for (recorder_lane *l = lanes; l != NULL; l = l->next) {
        uint64_t dropped = atomic_load_explicit(&l->dropped, memory_order_relaxed);
        if (dropped == l->dropped_reported) continue;
        char line[TIMELINE_LINE_MAX], text[64];
        snprintf(text, sizeof text, "drops=%llu lane=%u", (unsigned long long)(dropped - l->dropped_reported),
                 (unsigned)l->number);
        l->dropped_reported = dropped;
        timeline_detail d = TIMELINE_DETAIL_NONE;
        d.text = text;
        emit(r, line, timeline_line(line, recorder_now(r), TL_DROP, "", &d));
    }
    write_batch(r);
}

// Frees lanes whose thread is done and whose events are written. Lock held.
static void reap_lanes(recorder *r) {
    for (recorder_lane **at = &r->lanes; *at != NULL;) {
        recorder_lane *l = *at;
        // acquire: pairs with recorder_lane_close; head and dropped have their final values behind it.
        bool done = atomic_load_explicit(&l->closed, memory_order_acquire);
        uint64_t head = atomic_load_explicit(&l->head, memory_order_relaxed);
        if (!done || head != atomic_load_explicit(&l->tail, memory_order_relaxed) ||
            l->dropped_reported != atomic_load_explicit(&l->dropped, memory_order_relaxed)) {
            at = &l->next;
            continue;
        }
        r->recorded_before += head;
        r->dropped_before += l->dropped_reported;
        *at = l->next;
        mem_free(l->slots);
        mem_free(l);
    }
}

static void *drain_main(void *arg) {
    recorder *r = arg;
    (void)setpriority(PRIO_PROCESS, 0, 5); // this thread only, on Linux; a refusal changes nothing
    pthread_mutex_lock(&r->lock);
    for (;;) {
        bool stop = r->stop;
        uint64_t wanted = r->passes_wanted;
        bool all = stop || wanted != r->passes_done;
        recorder_lane *lanes = r->lanes;
        pthread_mutex_unlock(&r->lock);
        uint64_t now = recorder_now(r);
        drain_pass(r, lanes, all ? UINT64_MAX : now > HOLD_NS ? now - HOLD_NS : 0);
        pthread_mutex_lock(&r->lock);
        reap_lanes(r);
        if (all) {
            r->passes_done = wanted;
            pthread_cond_broadcast(&r->flushed);
        }
        if (stop) break;
        if (!r->stop && r->passes_wanted == r->passes_done) {
            struct timespec t;
            clock_gettime(CLOCK_MONOTONIC, &t); // as `wake` measures: a step of the wall clock stops no drain
            t.tv_nsec += DRAIN_EVERY_NS;
            if (t.tv_nsec >= 1000000000) t.tv_nsec -= 1000000000, t.tv_sec++;
            pthread_cond_timedwait(&r->wake, &r->lock, &t);
        }
    }
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

// --- life ---

static void write_header(recorder *r, const char *version) {
    struct timespec t;
    struct tm tm;
    char wall[40] = "", text[TIMELINE_DETAIL_MAX], line[TIMELINE_LINE_MAX];
    clock_gettime(CLOCK_REALTIME, &t);
    r->epoch_ns = clock_now_ns();
    if (gmtime_r(&t.tv_sec, &tm) != NULL) strftime(wall, sizeof wall, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text, sizeof text, "wall=%s.%06ldZ pid=%ld%s%.40s", wall, t.tv_nsec / 1000, (long)getpid(),
             version == NULL ? "" : " version=", version == NULL ? "" : version);
    timeline_detail d = TIMELINE_DETAIL_NONE;
    d.text = text;
    emit(r, line, timeline_line(line, 0, TL_EPOCH, "", &d));
}

static void release(recorder *r) {
    while (r->lanes != NULL) {
        recorder_lane *l = r->lanes;
        r->lanes = l->next;
        mem_free(l->slots);
        mem_free(l);
    }
    if (r->own_fd && r->fd >= 0) close(r->fd);
    pthread_cond_destroy(&r->wake);
    pthread_cond_destroy(&r->flushed);
    pthread_mutex_destroy(&r->lock);
    mem_free(r->tail);
    mem_free(r->tail_from);
    mem_free(r->tail_len);
    mem_free(r->batch);
    mem_free(r);
}

cuzk_status recorder_create(recorder **out, const recorder_options *o, cuzk_error *err) {
    recorder *r = mem_calloc(MEM_MISC, 1, sizeof *r);
    if (r == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "%zu bytes for the timeline's recorder", sizeof *r);
    r->fd = o->fd;
    r->sink = o->sink;
    r->sink_ctx = o->sink_ctx;
    uint32_t want = o->lane_slots == 0 ? DEFAULT_SLOTS : o->lane_slots > MAX_SLOTS ? MAX_SLOTS : o->lane_slots;
    r->lane_slots = 2;
    while (r->lane_slots < want) r->lane_slots *= 2;
    r->tail_lines = o->tail_lines == 0 ? DEFAULT_TAIL : o->tail_lines > MAX_SLOTS ? MAX_SLOTS : o->tail_lines;
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&r->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_cond_init(&r->flushed, NULL);
    r->tail_bytes = (size_t)r->tail_lines * TAIL_LINE;
    if (r->tail_bytes < 4 * TIMELINE_LINE_MAX) r->tail_bytes = 4 * TIMELINE_LINE_MAX;
    r->tail = mem_alloc(MEM_MISC, r->tail_bytes, 1);
    r->tail_from = mem_calloc(MEM_MISC, r->tail_lines, sizeof *r->tail_from);
    r->tail_len = mem_calloc(MEM_MISC, r->tail_lines, sizeof *r->tail_len);
    r->batch = mem_alloc(MEM_MISC, BATCH_BYTES, 1);
    cuzk_status s = CUZK_OK;
    if (r->tail == NULL || r->tail_from == NULL || r->tail_len == NULL || r->batch == NULL)
        s = cuzk_fail(err, CUZK_ERR_MEMORY, "buffers of the timeline's recorder (%u lines)", (unsigned)r->tail_lines);
    if (s == CUZK_OK && o->path != NULL) {
        r->fd = open(o->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        r->own_fd = true;
        if (r->fd < 0) s = cuzk_fail(err, CUZK_ERR_IO, "timeline file %s: %s", o->path, strerror(errno));
    }
    if (s == CUZK_OK) {
        write_header(r, o->version);
        int e = pthread_create(&r->thread, NULL, drain_main, r);
        if (e != 0) s = cuzk_fail(err, CUZK_ERR_MEMORY, "a thread for the timeline's recorder: %s", strerror(e));
    }
    if (s != CUZK_OK) {
        release(r);
        return s;
    }
    *out = r;
    return CUZK_OK;
}

void recorder_flush(recorder *r) {
    if (r == NULL) return;
    pthread_mutex_lock(&r->lock);
    uint64_t want = ++r->passes_wanted;
    pthread_cond_signal(&r->wake);
    while (r->passes_done < want && !r->stop) pthread_cond_wait(&r->flushed, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

cuzk_status recorder_close(recorder **out, cuzk_error *err) {
    if (out == NULL || *out == NULL) return CUZK_OK;
    recorder *r = *out;
    *out = NULL;
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    cuzk_status s = CUZK_OK;
    if (r->stats.lost > 0)
        s = cuzk_fail(err, CUZK_ERR_IO, "%llu lines of the timeline could not be written: %s",
                      (unsigned long long)r->stats.lost,
                      r->stats.last_error != 0 ? strerror(r->stats.last_error) : "the writer refused them");
    release(r);
    return s;
}

recorder_stats recorder_stats_of(recorder *r) {
    pthread_mutex_lock(&r->lock);
    recorder_stats s = r->stats;
    s.recorded = r->recorded_before;
    s.dropped = r->dropped_before;
    for (recorder_lane *l = r->lanes; l != NULL; l = l->next) {
        // relaxed: statistics of a moment.
        s.recorded += atomic_load_explicit(&l->head, memory_order_relaxed);
        s.dropped += atomic_load_explicit(&l->dropped, memory_order_relaxed);
    }
    pthread_mutex_unlock(&r->lock);
    return s;
}

size_t recorder_since(recorder *r, char *out, uint64_t *seq, uint64_t *lost, size_t cap) {
    size_t n = 0;
    *lost = 0;
    if (cap == 0) return 0;
    pthread_mutex_lock(&r->lock);
    if (*seq < r->stats.oldest_seq) {
        *lost = r->stats.oldest_seq - *seq;
        *seq = r->stats.oldest_seq;
    }
    while (*seq < r->stats.next_seq) {
        uint32_t at = (uint32_t)(*seq % r->tail_lines);
        size_t len = r->tail_len[at];
        if (n + len >= cap) break;
        memcpy(out + n, r->tail + r->tail_from[at] % r->tail_bytes, len);
        n += len;
        ++*seq;
    }
    pthread_mutex_unlock(&r->lock);
    out[n] = 0;
    return n;
}
