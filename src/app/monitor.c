// SPDX-License-Identifier: MIT OR Apache-2.0
#include "app/monitor.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

static const uint64_t FIRST_DRAW_NS = 1000 * 1000 * 1000; // work shorter than this shows nothing
static const uint64_t REDRAW_NS = 100 * 1000 * 1000;
static const uint64_t PLAIN_LINE_NS = 1000 * 1000 * 1000;

static volatile sig_atomic_t stop_asked;

static void on_signal(int number) {
    (void)number;
    stop_asked = 1;
}

static void handle(int number, void (*handler)(int), int flags) {
    struct sigaction a;
    memset(&a, 0, sizeof a);
    sigemptyset(&a.sa_mask);
    a.sa_handler = handler;
    a.sa_flags = flags;
    sigaction(number, &a, NULL);
}

void monitor_ignore_sigpipe(void) {
    handle(SIGPIPE, SIG_IGN, 0);
    handle(SIGXFSZ, SIG_IGN, 0);
}

void monitor_catch_signals(void) {
    handle(SIGINT, on_signal, (int)SA_RESETHAND);
    handle(SIGTERM, on_signal, (int)SA_RESETHAND);
}

static void draw(monitor *m, const char *stage, uint64_t done, uint64_t total) {
    if (!m->show) return;
    uint64_t now = clock_now_ns();
    if (now - m->start_ns < FIRST_DRAW_NS) return;
    if (m->last_ns != 0 && now - m->last_ns < (m->terminal ? REDRAW_NS : PLAIN_LINE_NS)) return;
    m->last_ns = now;
    char part[48] = "", share[48] = "";
    if (m->parts > 1) snprintf(part, sizeof part, "partition %" PRIu64 "/%" PRIu64 ", ", m->parts_done + 1, m->parts);
    if (total != 0)
        snprintf(share, sizeof share, " %u%%", (unsigned)(100.0 * (double)done / (double)total));
    else if (done != 0)
        snprintf(share, sizeof share, " %" PRIu64, done);
    fprintf(stderr, "%s%s%s%s, %.0f s%s", m->terminal ? "\r\x1b[K" : "progress: ", part, stage, share,
            (double)(now - m->start_ns) * 1e-9, m->terminal ? "" : "\n");
    fflush(stderr);
    m->drawn = m->terminal;
}

void monitor_clear(monitor *m) {
    if (m->drawn) fputs("\r\x1b[K", stderr);
    m->drawn = false;
}

static void stage_begin(void *ctx, const char *stage) {
    monitor *m = ctx;
    if (m->depth < MONITOR_DEPTH) {
        unsigned i = 0;
        while (i < m->n_stages && (m->stages[i].depth != m->depth || strcmp(m->stages[i].name, stage) != 0)) i++;
        if (i == m->n_stages && i < MONITOR_STAGES)
            m->stages[m->n_stages++] = (monitor_stage){.name = stage, .depth = m->depth};
        m->open[m->depth].stage = i;
        m->open[m->depth].start_ns = clock_now_ns();
    }
    m->depth++;
    draw(m, stage, 0, 0);
}

static void stage_end(void *ctx, const char *stage) {
    monitor *m = ctx;
    (void)stage;
    if (m->depth == 0) return;
    m->depth--;
    if (m->depth >= MONITOR_DEPTH || m->open[m->depth].stage >= MONITOR_STAGES) return;
    monitor_stage *s = &m->stages[m->open[m->depth].stage];
    s->total_ns += clock_now_ns() - m->open[m->depth].start_ns;
    s->calls++;
}

static void progress(void *ctx, const char *stage, uint64_t done, uint64_t total) {
    monitor *m = ctx;
    if (strcmp(stage, "partitions") == 0) {
        m->parts_done = done;
        m->parts = total;
        return;
    }
    draw(m, stage, done, total);
}

static bool cancelled(void *ctx) {
    const monitor *m = ctx;
    return m->stop || stop_asked != 0;
}

void monitor_init(monitor *m) {
    memset(m, 0, sizeof *m);
    m->o = (observer){
        .stage_begin = stage_begin, .stage_end = stage_end, .progress = progress, .cancelled = cancelled, .ctx = m};
    m->start_ns = clock_now_ns();
    m->terminal = isatty(STDERR_FILENO) == 1;
    const char *forced = getenv("CUZK_PROGRESS");
    m->show = m->terminal || (forced != NULL && strcmp(forced, "1") == 0);
}

double monitor_wall_ms(const monitor *m) { return (double)(clock_now_ns() - m->start_ns) * 1e-6; }

static double mib(uint64_t bytes) { return (double)bytes / (1024.0 * 1024.0); }

// Peak resident size of the process, bytes (getrusage counts KiB on Linux).
static uint64_t peak_resident(void) {
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? (uint64_t)u.ru_maxrss * 1024 : 0;
}

void monitor_print(const monitor *m, FILE *f) {
    double wall = monitor_wall_ms(m), seen = 0;
    fprintf(f, "%-22s %10s %6s %6s\n", "stage", "ms", "share", "calls");
    for (unsigned i = 0; i < m->n_stages; i++) {
        const monitor_stage *s = &m->stages[i];
        double ms = (double)s->total_ns * 1e-6;
        if (s->depth == 0) seen += ms;
        fprintf(f, "%*s%-*s %10.1f %5.1f%% %6u\n", (int)(2 * s->depth), "", (int)(22 - 2 * s->depth), s->name, ms,
                wall > 0 ? 100 * ms / wall : 0, s->calls);
    }
    fprintf(f, "%-22s %10.1f %5.1f%%\n", "(other)", wall - seen, wall > 0 ? 100 * (wall - seen) / wall : 0);
    fprintf(f, "%-22s %10.1f\n\n%-22s %10s\n", "total", wall, "memory", "peak MiB");
    for (mem_tag t = 0; t < MEM_TAGS; t++)
        if (mem_usage_of(t).peak >= 1 << 20) fprintf(f, "%-22s %10.1f\n", mem_tag_name(t), mib(mem_usage_of(t).peak));
    fprintf(f, "%-22s %10.1f\n%-22s %10.1f\n", "all together", mib(mem_usage_total().peak), "resident",
            mib(peak_resident()));
}

void monitor_json(const monitor *m, json_t *document) {
    double wall = monitor_wall_ms(m);
    json_t *stages = json_array(), *memory = json_object();
    for (unsigned i = 0; i < m->n_stages; i++) {
        const monitor_stage *s = &m->stages[i];
        double ms = (double)s->total_ns * 1e-6;
        json_array_append_new(stages,
                              json_pack("{s:s, s:f, s:f, s:i, s:i}", "stage", s->name, "ms", ms, "share",
                                        wall > 0 ? ms / wall : 0, "calls", (int)s->calls, "depth", (int)s->depth));
    }
    for (mem_tag t = 0; t < MEM_TAGS; t++)
        json_object_set_new(memory, mem_tag_name(t), json_integer((json_int_t)mem_usage_of(t).peak));
    json_object_set_new(memory, "total", json_integer((json_int_t)mem_usage_total().peak));
    json_object_set_new(memory, "resident", json_integer((json_int_t)peak_resident()));
    json_object_set_new(document, "stages", stages);
    json_object_set_new(document, "peak_bytes", memory);
    json_object_set_new(document, "wall_ms", json_real(wall));
}
