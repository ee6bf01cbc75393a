// SPDX-License-Identifier: MIT OR Apache-2.0
//
// One lock around everything: a line is one write(2), so lines of different threads do not mix, and neither do those of
// another process that appends to the same file.
#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/scrub.h"

enum {
    MESSAGE_MAX = 1024,
    LINE_MAX_BYTES = 4096, // <= PIPE_BUF: a pipe that polls writable takes it whole. Escaping at most doubles a message
    REPEATS = 64,          // texts watched at once; an older one is forgotten, which only means more lines
    REPEAT_LIMIT = 10,
    STALL_MS = 100
};
#define WINDOW_NS (UINT64_C(10) * 1000 * 1000 * 1000)

// A text seen in the last ten seconds.
typedef struct repeat {
    uint64_t since_ns;
    uint32_t count; // in this window; 0: the place is free
    log_level level;
    char target[32];
    char text[MESSAGE_MAX];
} repeat;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int highest = -1; // the level; -1: not started
static struct {
    int fd;
    bool json;
    bool stalled;  // the last line did not go out: do not wait for the next
    bool midway;   // a line was cut inside: begin the next on a new one
    uint64_t lost; // not yet said
    repeat repeats[REPEATS];
} out = {.fd = -1};
static _Atomic uint64_t lost_total;
static uint64_t (*now_ns)(void) = clock_now_ns;

static const char *const NAMES[LOG_LEVELS] = {"error", "warn", "info", "debug", "trace"};

const char *log_level_name(log_level level) { return level < LOG_LEVELS ? NAMES[level] : "?"; }

bool log_level_from_name(log_level *level, const char *name) {
    for (int i = 0; i < LOG_LEVELS; i++)
        if (strcmp(name, NAMES[i]) == 0) {
            *level = (log_level)i;
            return true;
        }
    return false;
}

void log_start(const log_options *options) {
    pthread_mutex_lock(&lock);
    out.fd = options->fd;
    out.json = options->json;
    out.stalled = out.midway = false;
    out.lost = 0;
    for (int i = 0; i < REPEATS; i++) out.repeats[i].count = 0;
    atomic_store(&highest, (int)options->level);
    pthread_mutex_unlock(&lock);
}

bool log_enabled(log_level level) { return (int)level <= atomic_load_explicit(&highest, memory_order_relaxed); }

uint64_t log_lost(void) { return atomic_load(&lost_total); }

void log_test_clock(uint64_t (*fn)(void)) { now_ns = fn != NULL ? fn : clock_now_ns; }

// The whole line goes out, or false. A reader that went away must not end the process, also where SIGPIPE has its
// default: it is blocked in this thread, and taken off the thread again if the write raised it.
static bool put_line(const char *line, size_t len) {
    struct pollfd p = {.fd = out.fd, .events = POLLOUT};
    if (poll(&p, 1, out.stalled ? 0 : STALL_MS) <= 0) return false;
    sigset_t pipe_signal, before, pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    size_t done = 0;
    while (done < len) {
        ssize_t n = write(out.fd, line + done, len - done);
        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            if (n < 0 && errno == EPIPE && !was_pending) {
                const struct timespec none = {0, 0};
                while (sigtimedwait(&pipe_signal, NULL, &none) == -1 && errno == EINTR) {
                }
            }
            break;
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (done > 0) out.midway = done < len;
    return done == len;
}

// A growing line in a fixed buffer; what does not fit is left out.
typedef struct line {
    char text[LINE_MAX_BYTES];
    size_t len;
} line;

static void put(line *l, const char *s) {
    size_t n = strlen(s), room = sizeof l->text - 2 - l->len; // a newline and a NUL
    if (n > room) n = room;
    memcpy(l->text + l->len, s, n);
    l->len += n;
}

// `s` was scrubbed, so quotes and backslashes are all that JSON wants escaped (RFC 8259, section 7).
static void put_json(line *l, const char *key, const char *s) {
    put(l, key);
    put(l, "\"");
    for (; *s != 0; s++) {
        const char c[3] = {*s == '"' || *s == '\\' ? '\\' : *s, *s == '"' || *s == '\\' ? *s : 0, 0};
        put(l, c);
    }
    put(l, "\"");
}

static void put_time(line *l) {
    struct timespec t = {0, 0};
    struct tm tm;
    char date[32] = "", text[64];
    clock_gettime(CLOCK_REALTIME, &t);
    if (gmtime_r(&t.tv_sec, &tm) != NULL) strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text, sizeof text, "%s.%03dZ", date, (int)(t.tv_nsec / 1000000));
    put(l, text);
}

// All texts are scrubbed. With the lock held.
static bool emit(log_level level, const char *target, const char *job, const char *message) {
    line l = {.len = 0};
    if (out.midway) put(&l, "\n");
    if (out.json) {
        put(&l, "{\"time\":\"");
        put_time(&l);
        put_json(&l, "\",\"level\":", log_level_name(level));
        put_json(&l, ",\"target\":", target);
        if (job != NULL) put_json(&l, ",\"job\":", job);
        put_json(&l, ",\"message\":", message);
        put(&l, "}");
    } else {
        char word[16];
        put_time(&l);
        snprintf(word, sizeof word, " %-5s ", log_level_name(level));
        for (char *p = word; *p != 0; p++)
            if (*p >= 'a' && *p <= 'z') *p = (char)(*p - 'a' + 'A');
        put(&l, word);
        put(&l, target);
        if (job != NULL) {
            put(&l, " job=");
            put(&l, job);
        }
        put(&l, ": ");
        put(&l, message);
    }
    l.text[l.len++] = '\n';
    bool ok = put_line(l.text, l.len);
    out.stalled = !ok;
    if (!ok) {
        out.lost++;
        atomic_fetch_add(&lost_total, 1);
    }
    return ok;
}

static void say_lost(void) {
    if (out.lost == 0) return;
    char text[96];
    uint64_t lost = out.lost;
    snprintf(text, sizeof text, "%" PRIu64 " lines of this log could not be written", lost);
    out.lost = 0;
    if (!emit(LOG_WARN, "log", NULL, text)) {
        out.lost = lost; // that this line was not written need not be said
        atomic_fetch_sub(&lost_total, 1);
    }
}

// Ends the windows that are over (all: every one) and sums up what they held back.
static void end_windows(uint64_t now, bool all) {
    for (int i = 0; i < REPEATS; i++) {
        repeat *r = &out.repeats[i];
        if (r->count == 0 || (!all && now - r->since_ns < WINDOW_NS)) continue;
        if (r->count > REPEAT_LIMIT) {
            char text[MESSAGE_MAX + 64];
            snprintf(text, sizeof text, "%" PRIu32 " times more in %.0f s: %s", r->count - REPEAT_LIMIT,
                     (double)(now - r->since_ns) * 1e-9, r->text);
            emit(r->level, r->target, NULL, text);
        }
        r->count = 0;
    }
}

// Is this text to be held back?
static bool is_repeated(uint64_t now, log_level level, const char *target, const char *text) {
    repeat *place = NULL;
    for (int i = 0; i < REPEATS; i++) {
        repeat *r = &out.repeats[i];
        if (r->count != 0 && strcmp(r->text, text) == 0 && strncmp(r->target, target, sizeof r->target - 1) == 0)
            return ++r->count > REPEAT_LIMIT;
        // A free place, else the oldest of those that hold nothing back.
        if (place == NULL ||
            (place->count != 0 && (r->count == 0 || (r->count <= REPEAT_LIMIT &&
                                                     (place->count > REPEAT_LIMIT || r->since_ns < place->since_ns)))))
            place = r;
    }
    if (place->count > REPEAT_LIMIT) return false; // 64 texts are being held back: this one is not watched
    *place = (repeat){.since_ns = now, .count = 1, .level = level};
    snprintf(place->target, sizeof place->target, "%s", target);
    snprintf(place->text, sizeof place->text, "%s", text);
    return false;
}

void log_write(log_level level, const char *target, const char *job, const char *fmt, ...) {
    if (!log_enabled(level)) return;
    char text[MESSAGE_MAX], who[160];
    va_list args;
    va_start(args, fmt);
    if (vsnprintf(text, sizeof text, fmt, args) < 0) snprintf(text, sizeof text, "%s", fmt);
    va_end(args);
    scrub_text(text);
    snprintf(who, sizeof who, "%s", job != NULL ? job : "");
    scrub_text(who);
    int saved = errno;
    pthread_mutex_lock(&lock);
    uint64_t now = now_ns();
    end_windows(now, false);
    if (!is_repeated(now, level, target, text)) {
        if (!out.stalled) say_lost();
        if (emit(level, target, job != NULL ? who : NULL, text)) say_lost();
    }
    pthread_mutex_unlock(&lock);
    errno = saved;
}

static void sum_up(bool all) {
    pthread_mutex_lock(&lock);
    if (atomic_load(&highest) >= 0) {
        end_windows(now_ns(), all);
        say_lost();
    }
    pthread_mutex_unlock(&lock);
}

void log_tick(void) { sum_up(false); }

void log_flush(void) { sum_up(true); }
