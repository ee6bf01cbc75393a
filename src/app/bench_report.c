// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Figures of a bench. Proofs that had to wait for their key are cold and are shown apart; means of both together would
// be figures of neither.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/bench.h"
#include "app/machine.h"
#include "base/file.h"
#include "timeline/render.h"

typedef enum measure { QUEUE, KEY, SYNTHESIS, DEVICE, TOTAL, SEEN, MEASURES } measure;
static const struct {
    const char *name, *json;
} NAMES[MEASURES] = {{"queue wait", "queue_wait_ms"}, {"key load", "key_load_ms"}, {"synthesis", "synthesis_ms"},
                     {"device", "device_ms"},         {"total", "total_ms"},       {"as seen here", "seen_ms"}};

typedef struct spread {
    double min, median, p95;
} spread;

typedef struct figures {
    uint32_t n[2]; // completed: warm, cold
    spread ms[2][MEASURES];
    uint32_t done, failed, cancelled;
    uint64_t refusals, proof_bytes;
    double seconds_per_proof;      // of all
    double warm_seconds_per_proof; // after the last cold one; negative: no proof ended then
} figures;

static bool completed(const bench_proof *p) { return p->code == CLIENT_OK && p->status == CLIENT_JOB_COMPLETED; }

static double value_of(const bench_proof *p, measure m) {
    switch (m) {
    case QUEUE: return (double)p->queue_ms;
    case KEY: return (double)p->key_ms;
    case SYNTHESIS: return (double)p->synthesis_ms;
    case DEVICE: return (double)p->device_ms;
    case TOTAL: return (double)p->total_ms;
    default: return (p->end_s - p->start_s) * 1e3;
    }
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

// Of n sorted values, n > 0; the value that 95 of 100 do not exceed (nearest rank).
static spread spread_of(const double *v, uint32_t n) {
    const uint32_t rank = (uint32_t)((95 * (uint64_t)n + 99) / 100);
    return (spread){v[0], n % 2 != 0 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2, v[rank - 1]};
}

static bool compute(figures *f, const bench_run *r) {
    *f = (figures){.warm_seconds_per_proof = -1};
    double *v = malloc((r->n + 1) * sizeof *v), last_cold = 0, last = 0;
    if (v == NULL) return false;
    for (uint32_t i = 0; i < r->n; i++) {
        const bench_proof *p = &r->proofs[i];
        f->refusals += p->refusals;
        if (completed(p)) {
            f->done++;
            f->proof_bytes = p->proof_len;
            if (p->key_ms > 0 && p->end_s > last_cold) last_cold = p->end_s;
            if (p->end_s > last) last = p->end_s;
        } else if (p->was_cancelled && p->code == CLIENT_OK && p->status == CLIENT_JOB_CANCELLED) {
            f->cancelled++;
        } else {
            f->failed++;
        }
    }
    for (int cold = 0; cold < 2; cold++)
        for (int m = 0; m < MEASURES; m++) {
            uint32_t n = 0;
            for (uint32_t i = 0; i < r->n; i++)
                if (completed(&r->proofs[i]) && (r->proofs[i].key_ms > 0) == (cold == 1))
                    v[n++] = value_of(&r->proofs[i], (measure)m);
            qsort(v, n, sizeof *v, by_size);
            f->n[cold] = n;
            if (n > 0) f->ms[cold][m] = spread_of(v, n);
        }
    uint32_t later = 0;
    for (uint32_t i = 0; i < r->n; i++) later += completed(&r->proofs[i]) && r->proofs[i].end_s > last_cold;
    if (f->done > 0) f->seconds_per_proof = r->wall_s / f->done;
    if (later > 0) f->warm_seconds_per_proof = (last - last_cold) / later;
    free(v);
    return true;
}

// --- the waterfall ---

typedef struct waterfall {
    timeline_log *log;
    timeline_analysis *analysis; // NULL: nothing to analyse
} waterfall;

static void waterfall_make(waterfall *w, const bench_run *r) {
    cuzk_error ignored;
    *w = (waterfall){0};
    if (r->lines == NULL || timeline_log_create(&w->log, &ignored) != CUZK_OK) return;
    if (timeline_log_push(w->log, r->lines, r->lines_len, &ignored) != CUZK_OK ||
        timeline_log_finish(w->log, &ignored) != CUZK_OK)
        return;
    const timeline_options options = TIMELINE_OPTIONS;
    if (timeline_analyse(&w->analysis, w->log, &options, &ignored) != CUZK_OK) w->analysis = NULL;
}

static void waterfall_release(waterfall *w) {
    timeline_analysis_destroy(&w->analysis);
    timeline_log_destroy(&w->log);
}

static cuzk_status waterfall_write(const waterfall *w, const char *path, cuzk_error *err) {
    if (w->analysis == NULL) return cuzk_fail(err, CUZK_ERR_INPUT, "%s: the daemon's timeline shows no proof", path);
    timeline_text text = {0};
    timeline_format format;
    const timeline_render_options options = {.causes = true};
    cuzk_status s = timeline_format_of_path(&format, path, err);
    if (s == CUZK_OK) s = timeline_render(&text, w->analysis, format, &options, err);
    if (s == CUZK_OK) s = file_write_all(path, text.data, text.len, err);
    timeline_text_release(&text);
    return s;
}

// --- text ---

static void print_text(const bench_run *r, const bench_facts *facts, const figures *f, const waterfall *w) {
    const machine m = machine_describe();
    const double gib = 1024.0 * 1024.0 * 1024.0;
    printf("%s, %" PRIu32 " proof%s, %" PRIu32 " in flight, %s%s\n", facts->kind, r->n, r->n == 1 ? "" : "s",
           facts->concurrency, facts->target != NULL ? "daemon at " : "a daemon of its own",
           facts->target != NULL ? facts->target : "");
    printf("machine       %s, %u processors (%u usable), level %s, %.1f GiB, %s\n", m.processor, m.processors, m.usable,
           m.level, (double)m.memory / gib, m.kernel);
    if (r->has_status && r->status.n_devices > 0)
        printf("device        %s%s\n", r->status.devices[0].name, r->status.n_devices > 1 ? " and others" : "");
    printf("outcome       %" PRIu32 " done, %" PRIu32 " failed, %" PRIu32 " cancelled", f->done, f->failed,
           f->cancelled);
    if (f->refusals > 0) printf("; the queue was full %" PRIu64 " times, tried again", f->refusals);
    if (f->done > 0) printf("; %" PRIu64 " bytes a proof", f->proof_bytes);
    printf("\n");
    for (int cold = 0; cold < 2; cold++) {
        if (f->n[cold] == 0) continue;
        printf("\n%-14s %12s %12s %12s   ms, %" PRIu32 " proof%s%s\n", cold ? "cold" : "warm", "min", "median", "p95",
               f->n[cold], f->n[cold] == 1 ? "" : "s", cold ? " that waited for the key" : "");
        for (int i = 0; i < MEASURES; i++)
            if (i != KEY || cold)
                printf("%-14s %12.1f %12.1f %12.1f\n", NAMES[i].name, f->ms[cold][i].min, f->ms[cold][i].median,
                       f->ms[cold][i].p95);
    }
    if (f->done > 0) {
        printf("\nall           %.3f s wall, %.3f s/proof, %.2f proofs/min\n", r->wall_s, f->seconds_per_proof,
               60 / f->seconds_per_proof);
        if (f->n[1] > 0 && f->warm_seconds_per_proof > 0)
            printf("warm          %.3f s/proof, %.2f proofs/min\n", f->warm_seconds_per_proof,
                   60 / f->warm_seconds_per_proof);
    }
    if (w->analysis != NULL)
        printf("devices       busy %.1f %% of the time%s\n", w->analysis->summary.utilization_pct,
               facts->waterfall == NULL ? " (--waterfall FILE.html shows where the rest went)" : "");
    for (uint32_t i = 0, shown = 0; i < r->n && shown < 5; i++) {
        const bench_proof *p = &r->proofs[i];
        if (completed(p) || (p->was_cancelled && p->code == CLIENT_OK)) continue;
        fprintf(stderr, "cuzk: proof %" PRIu32 ": %s\n", p->number, p->text);
        shown++;
    }
}

// --- JSON ---

static json_t *spreads_json(const figures *f, int cold) {
    if (f->n[cold] == 0) return json_null();
    json_t *j = json_pack("{s:i}", "proofs", (int)f->n[cold]);
    for (int i = 0; i < MEASURES; i++)
        json_object_set_new(j, NAMES[i].json,
                            json_pack("{s:f, s:f, s:f}", "min", f->ms[cold][i].min, "median", f->ms[cold][i].median,
                                      "p95", f->ms[cold][i].p95));
    return j;
}

static void print_json(app *a, const bench_run *r, const bench_facts *facts, const figures *f, const waterfall *w) {
    const machine m = machine_describe();
    json_t *doc = json_pack("{s:s, s:i, s:i, s:f, s:b}", "kind", facts->kind, "proofs", (int)r->n, "concurrency",
                            (int)facts->concurrency, "wall_s", r->wall_s, "stopped", (int)r->stopped);
    json_object_set_new(doc, "daemon", facts->target != NULL ? app_json_text(facts->target) : json_string("private"));
    json_t *devices = json_array();
    for (size_t i = 0; r->has_status && i < r->status.n_devices; i++)
        json_array_append_new(devices, app_json_text(r->status.devices[i].name));
    json_object_set_new(doc, "devices", devices);
    json_object_set_new(doc, "waterfall", facts->waterfall != NULL ? app_json_text(facts->waterfall) : json_null());
    json_object_set_new(doc, "machine",
                        json_pack("{s:o, s:s, s:s, s:i, s:i, s:I}", "processor", app_json_text(m.processor), "kernel",
                                  m.kernel, "level", m.level, "processors", (int)m.processors, "usable", (int)m.usable,
                                  "memory_bytes", (json_int_t)m.memory));
    json_object_set_new(doc, "done", json_integer(f->done));
    json_object_set_new(doc, "failed", json_integer(f->failed));
    json_object_set_new(doc, "cancelled", json_integer(f->cancelled));
    json_object_set_new(doc, "queue_full", json_integer((json_int_t)f->refusals));
    json_object_set_new(doc, "proof_bytes", json_integer((json_int_t)f->proof_bytes));
    json_object_set_new(doc, "warm", spreads_json(f, 0));
    json_object_set_new(doc, "cold", spreads_json(f, 1));
    json_object_set_new(doc, "seconds_per_proof", f->done > 0 ? json_real(f->seconds_per_proof) : json_null());
    json_object_set_new(doc, "proofs_per_minute", f->done > 0 ? json_real(60 / f->seconds_per_proof) : json_null());
    json_object_set_new(doc, "warm_seconds_per_proof",
                        f->warm_seconds_per_proof > 0 ? json_real(f->warm_seconds_per_proof) : json_null());
    json_object_set_new(doc, "device_utilization_pct",
                        w->analysis != NULL ? json_real(w->analysis->summary.utilization_pct) : json_null());
    json_t *failures = json_array();
    for (uint32_t i = 0; i < r->n; i++) {
        const bench_proof *p = &r->proofs[i];
        if (completed(p) || (p->was_cancelled && p->code == CLIENT_OK && p->status == CLIENT_JOB_CANCELLED)) continue;
        json_array_append_new(failures,
                              json_pack("{s:i, s:o}", "proof", (int)p->number, "text", app_json_text(p->text)));
    }
    json_object_set_new(doc, "failures", failures);
    app_print_json(a, doc);
}

int bench_report(app *a, const bench_run *r, const bench_facts *facts) {
    figures f;
    waterfall w;
    if (!compute(&f, r)) {
        (void)cuzk_fail(&a->err, CUZK_ERR_MEMORY, "no memory for the report");
        return app_fail(a);
    }
    waterfall_make(&w, r);
    if (a->json)
        print_json(a, r, facts, &f, &w);
    else
        print_text(r, facts, &f, &w);
    int code = app_finish(a);
    if (code == EXIT_DONE && (f.failed > 0 || r->stopped)) code = EXIT_FAILED;
    if (facts->waterfall != NULL && waterfall_write(&w, facts->waterfall, &a->err) != CUZK_OK) code = app_fail(a);
    waterfall_release(&w);
    return code;
}
