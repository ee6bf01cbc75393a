// SPDX-License-Identifier: MIT OR Apache-2.0
//
// cuzk status: what a daemon is doing. gRPC and HTTP bring the same document, and one printer prints it. The public
// daemon has no call for it; from what its GetStatus says a smaller one is made.
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "app/app.h"
#include "app/http_get.h"
#include "app/status.h"
#include "base/scrub.h"

enum { CALL_MS = 5000, REFRESH_MS = 1000, BAR = 20, OVER_SHOWN = 8 };
enum { OPT_WATCH = OPT_FIRST_FREE, OPT_HTTP };

typedef struct status_args {
    args_head head;
    remote_flags remote;
    const char *http;
    bool watch;
} status_args;

static error_t parse(int key, char *arg, struct argp_state *state) {
    status_args *args = state->input;
    switch (key) {
    case OPT_HTTP: args->http = arg; return 0;
    case 'w':
    case OPT_WATCH: args->watch = true; return 0;
    default: return remote_flag(&args->remote, key, arg) ? 0 : options_common(key, arg, state);
    }
}

static const struct argp_option OPTIONS[] = {
    {"addr", OPT_ADDR, "ADDR", 0,
     "gRPC address: HOST:PORT, http://, https:// or unix:///PATH (" REMOTE_DEFAULT_ADDR ")", 1},
    {"http", OPT_HTTP, "ADDR", 0, "ask over HTTP instead: HOST:PORT", 1},
    OPTIONS_REMOTE(1),
    {"watch", OPT_WATCH, 0, 0, "again every second, in place; q ends it", 1},
    OPTION_JSON,
    OPTION_HELP,
    {0},
};

static const char DOC[] = "Shows what a daemon is doing.\v"
                          "Examples:\n"
                          "  cuzk status --addr unix:///run/curio/cuzk.sock\n"
                          "  cuzk status --http 127.0.0.1:9821 --watch\n";

// --- asking ---

// What a server says is shown on a terminal, which must not take it for commands.
static void scrub_strings(json_t *value) {
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_string(value)) {
        char *text = strdup(json_string_value(value));
        if (text != NULL) scrub_text(text);
        json_string_set(value, text != NULL ? text : "?");
        free(text);
    }
    json_array_foreach(value, i, member) scrub_strings(member);
    json_object_foreach(value, key, member) scrub_strings(member);
}

static cuzk_status read_document(json_t **doc, const char *text, size_t len, const char *address, cuzk_error *err) {
    *doc = json_loadb(text, len, 0, NULL);
    scrub_strings(*doc);
    return json_is_object(*doc) ? CUZK_OK
                                : cuzk_fail(err, CUZK_ERR_FORMAT, "%s: its status is no JSON object", address);
}

static cuzk_status ask_http(json_t **doc, const char *address, cuzk_error *err) {
    char *body = NULL;
    size_t len = 0;
    cuzk_status s = http_get(&body, &len, address, "/status", CALL_MS, err);
    if (s == CUZK_OK) s = read_document(doc, body, len, address, err);
    free(body);
    return s;
}

static json_t *words(const char *s) { return *s != 0 ? app_json_text(s) : json_null(); }

// What a daemon says that has the public calls alone.
static cuzk_status ask_public(json_t **doc, client *c, const char *address, cuzk_error *err) {
    client_status st;
    client_error why;
    if (client_get_status(c, &st, CALL_MS, &why) != CLIENT_OK) return remote_failed(err, address, &why);
    json_t *devices = json_array(), *keys = json_array();
    json_int_t queued = 0, running = 0;
    for (size_t i = 0; i < st.n_devices; i++)
        json_array_append_new(devices,
                              json_pack("{s:i, s:o, s:o, s:o}", "ordinal", (int)st.devices[i].ordinal, "name",
                                        app_json_text(st.devices[i].name), "current_job", words(st.devices[i].job_id),
                                        "current_kind", words(st.devices[i].kind)));
    for (size_t i = 0; i < st.n_keys; i++)
        json_array_append_new(keys,
                              json_pack("{s:o, s:b, s:b, s:I, s:i}", "circuit_id", app_json_text(st.keys[i].circuit_id),
                                        "loaded", st.keys[i].tier == 0, "loading", st.keys[i].tier == 1, "bytes",
                                        (json_int_t)st.keys[i].bytes, "users", (int)st.keys[i].users));
    for (size_t i = 0; i < st.n_queues; i++) {
        queued += st.queues[i].pending;
        running += st.queues[i].in_progress;
    }
    *doc = json_pack("{s:f, s:{s:I, s:I}, s:{s:{s:I, s:I, s:I, s:I}, s:o, s:o}}", "uptime_secs", (double)st.uptime_s,
                     "memory", "total_bytes", (json_int_t)st.memory_total, "used_bytes", (json_int_t)st.memory_used,
                     "cuzk", "counts", "queued", queued, "running", running, "completed", (json_int_t)st.completed,
                     "failed", (json_int_t)st.failed, "devices", devices, "keys", keys);
    client_status_free(&st);
    return *doc != NULL ? CUZK_OK : cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for a status");
}

static cuzk_status ask_grpc(json_t **doc, client *c, const char *address, cuzk_error *err) {
    char *text = NULL;
    size_t len = 0;
    client_error why;
    const int code = client_status_json(c, &text, &len, CALL_MS, &why);
    if (code == CLIENT_UNIMPLEMENTED) return ask_public(doc, c, address, err);
    if (code != CLIENT_OK) return remote_failed(err, address, &why);
    const cuzk_status s = read_document(doc, text, len, address, err);
    free(text);
    return s;
}

// --- printing ---

static const char *text_of(const json_t *o, const char *name) {
    const char *s = json_string_value(json_object_get(o, name));
    return s != NULL ? s : "-";
}
static double number_of(const json_t *o, const char *name) { return json_number_value(json_object_get(o, name)); }

static void duration(char out[32], double s) {
    if (s < 120)
        snprintf(out, 32, "%.1f s", s);
    else if (s < 7200)
        snprintf(out, 32, "%.0f min", s / 60);
    else if (s < 2 * 86400)
        snprintf(out, 32, "%.1f h", s / 3600);
    else
        snprintf(out, 32, "%.1f days", s / 86400);
}

static void size_of(char out[32], double bytes) {
    static const char *const UNITS[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int u = 0;
    while (u < 4 && bytes >= 1024) bytes /= 1024, u++;
    snprintf(out, 32, u == 0 ? "%.0f %s" : "%.1f %s", bytes, UNITS[u]);
}

// One letter a partition, or a share where there are too many for the bar.
static void print_bar(const json_t *pipeline, double done, double total) {
    const json_t *parts = json_object_get(pipeline, "partitions");
    const size_t n = json_array_size(parts), width = total >= 1 && total < BAR ? (size_t)total : BAR;
    char bar[BAR + 1];
    if (n > 0 && n <= BAR) {
        for (size_t i = 0; i < n; i++) {
            const char *state = text_of(json_array_get(parts, i), "state");
            bar[i] = strcmp(state, "done") == 0           ? '#'
                     : strcmp(state, "gpu") == 0          ? 'd'
                     : strcmp(state, "synth_done") == 0   ? 'c'
                     : strcmp(state, "synthesizing") == 0 ? 's'
                     : strcmp(state, "failed") == 0       ? '!'
                                                          : '.';
        }
        bar[n] = 0;
    } else {
        const size_t full = total > 0 ? (size_t)((double)width * done / total) : 0;
        memset(bar, '.', width);
        memset(bar, '#', full < width ? full : width);
        bar[width] = 0;
    }
    printf(" [%s]", bar);
}

static void print_jobs(const json_t *doc, const json_t *ours) {
    const json_t *jobs = json_object_get(ours, "jobs"), *pipelines = json_object_get(doc, "pipelines"), *j;
    size_t i, k, n_over = 0;
    if (jobs == NULL) {
        printf("\njobs       this daemon does not tell which\n");
        return;
    }
    if (json_array_size(jobs) == 0) return;
    printf("\n%-37s %-12s %-9s %-10s %9s %9s  partitions (s synthesis, c channel, d device, # done)\n", "job", "kind",
           "state", "stage", "age", "running");
    json_array_foreach(jobs, i, j) {
        char age[32], run[32];
        const json_t *p, *own = NULL;
        const char *state = text_of(j, "state");
        const bool over = strcmp(state, "queued") != 0 && strcmp(state, "running") != 0;
        if (over && ++n_over > OVER_SHOWN) continue; // those that run come first, then the newest that ended
        duration(age, number_of(j, "age_secs"));
        duration(run, number_of(j, "run_secs"));
        printf("%-37.37s %-12s %-9s %-10s %9s %9s ", text_of(j, "job_id"), text_of(j, "kind"), state,
               over ? "-" : text_of(j, "stage"), age, run);
        json_array_foreach(pipelines, k, p) if (strcmp(text_of(p, "job_id"), text_of(j, "job_id")) == 0) own = p;
        print_bar(own, number_of(j, "partitions_done"), number_of(j, "partitions"));
        printf(" %.0f/%.0f\n", number_of(j, "partitions_done"), number_of(j, "partitions"));
    }
    if (n_over > OVER_SHOWN) printf("and %zu more that have ended\n", n_over - OVER_SHOWN);
}

static void print_devices(const json_t *ours, double uptime) {
    const json_t *devices = json_object_get(ours, "devices"), *keys = json_object_get(ours, "keys"), *o;
    size_t i;
    printf("\n%-6s %-24s %-10s %8s %10s  job\n", "device", "name", "health", "busy", "runs");
    json_array_foreach(devices, i, o) {
        char busy[16] = "-", runs[24] = "-";
        const json_t *healthy = json_object_get(o, "healthy");
        if (json_object_get(o, "busy_secs") != NULL && uptime > 0)
            snprintf(busy, sizeof busy, "%.1f %%", 100 * number_of(o, "busy_secs") / uptime);
        if (json_object_get(o, "runs") != NULL) snprintf(runs, sizeof runs, "%.0f", number_of(o, "runs"));
        printf("%-6.0f %-24.24s %-10s %8s %10s  %s\n", number_of(o, "ordinal"), text_of(o, "name"),
               healthy == NULL         ? "-"
               : json_is_true(healthy) ? "good"
                                       : "UNHEALTHY",
               busy, runs, text_of(o, "current_job"));
    }
    if (json_array_size(keys) > 0) printf("\n%-16s %-8s %12s %6s\n", "key", "state", "size", "users");
    json_array_foreach(keys, i, o) {
        char size[32];
        size_of(size, number_of(o, "bytes"));
        printf("%-16s %-8s %12s %6.0f\n", text_of(o, "circuit_id"),
               json_is_true(json_object_get(o, "loaded"))    ? "loaded"
               : json_is_true(json_object_get(o, "loading")) ? "loading"
                                                             : "on disk",
               size, number_of(o, "users"));
    }
}

static void print_status(const json_t *doc, const char *address) {
    const json_t *ours = json_object_get(doc, "cuzk"), *counts = json_object_get(ours, "counts"),
                 *memory = json_object_get(doc, "memory"), *errors = json_object_get(ours, "errors"), *o;
    const double uptime = number_of(doc, "uptime_secs");
    char up[32], used[32], total[32];
    size_t i;
    duration(up, uptime);
    size_of(used, number_of(memory, "used_bytes"));
    size_of(total, number_of(memory, "total_bytes"));
    printf("%s, up %s%s\n", address, up, json_is_true(json_object_get(ours, "draining")) ? ", DRAINING" : "");
    json_array_foreach(json_object_get(ours, "insecure"), i, o)
        printf("INSECURE: %s\n", json_string_value(o) != NULL ? json_string_value(o) : "?");
    printf("jobs       %.0f running, %.0f queued, %.0f done, %.0f failed", number_of(counts, "running"),
           number_of(counts, "queued"), number_of(counts, "completed"), number_of(counts, "failed"));
    if (json_object_get(counts, "cancelled") != NULL) printf(", %.0f cancelled", number_of(counts, "cancelled"));
    printf("\nmemory     %s of %s reserved\n", used, total);
    print_devices(ours, uptime);
    print_jobs(doc, ours);
    json_array_foreach(errors, i, o) {
        if (i >= 5) break;
        char ago[32];
        duration(ago, number_of(o, "secs_ago"));
        printf("%s%s ago: %s\n", i == 0 ? "\ntrouble, newest first:\n" : "", ago, text_of(o, "text"));
    }
}

// --- watching ---

static volatile sig_atomic_t over;
static void on_signal(int number) {
    (void)number;
    over = 1;
}

// Until q, a signal or the end of the pipe we write to; the daemon may come and go meanwhile.
static int watch(app *a, const status_args *args, client *c, const char *address) {
    struct termios before;
    struct sigaction act;
    const bool terminal = isatty(STDOUT_FILENO) == 1,
               keys = isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &before) == 0;
    memset(&act, 0, sizeof act);
    act.sa_handler = on_signal;
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    if (keys) {
        struct termios raw = before;
        raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO); // each key at once, and not shown
        tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    while (!over && ferror(stdout) == 0) {
        json_t *doc = NULL;
        cuzk_status s = args->http != NULL ? ask_http(&doc, address, &a->err) : ask_grpc(&doc, c, address, &a->err);
        if (terminal) fputs("\x1b[H\x1b[J", stdout);
        if (s != CUZK_OK)
            printf("%s\n", a->err.text);
        else if (a->json)
            app_print_json(a, json_incref(doc));
        else
            print_status(doc, address);
        if (terminal && keys) fputs("\nq ends\n", stdout);
        fflush(stdout);
        json_decref(doc);
        struct pollfd p = {.fd = keys ? STDIN_FILENO : -1, .events = POLLIN};
        char key;
        if (poll(&p, 1, REFRESH_MS) == 1 && (read(STDIN_FILENO, &key, 1) != 1 || key == 'q')) break;
    }
    if (keys) tcsetattr(STDIN_FILENO, TCSANOW, &before);
    return app_finish(a);
}

static int show(app *a, const status_args *args) {
    const remote_flags *r = &args->remote;
    const char *address = args->http != NULL ? args->http : r->addr != NULL ? r->addr : REMOTE_DEFAULT_ADDR;
    int code;
    client *c = NULL;
    if (args->http == NULL && remote_open(&c, r, address, &a->err) != CUZK_OK) return app_fail(a);
    if (args->watch) {
        code = watch(a, args, c, address);
    } else {
        json_t *doc = NULL;
        cuzk_status s = args->http != NULL ? ask_http(&doc, address, &a->err) : ask_grpc(&doc, c, address, &a->err);
        if (s != CUZK_OK) {
            code = app_fail(a);
        } else {
            if (a->json)
                app_print_json(a, json_incref(doc));
            else
                print_status(doc, address);
            code = app_finish(a);
        }
        json_decref(doc);
    }
    client_close(&c);
    return code;
}

int status_show(app *a, const remote_flags *remote) {
    const status_args args = {.remote = *remote};
    return show(a, &args);
}

int command_status(app *a, int argc, char **argv) {
    status_args args = {0};
    const remote_flags *r = &args.remote;
    int code = options_parse(a, argc, argv, OPTIONS, parse, DOC, &args.head);
    if (code >= 0) return code;
    if (args.http != NULL && (r->addr != NULL || r->ca != NULL || r->cert != NULL || r->key != NULL))
        return app_usage(a, "either --http, or --addr and its certificates");
    return show(a, &args);
}
