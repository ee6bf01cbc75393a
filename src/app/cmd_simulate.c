// SPDX-License-Identifier: MIT OR Apache-2.0
//
// cuzk simulate: the engine's own core in virtual time. What would these proofs do on that machine?
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "app/app.h"
#include "base/file.h"
#include "base/mem.h"
#include "engine/record.h"
#include "engine/simulate_log.h"
#include "timeline/render.h"

enum {
    OPT_POLICY = OPT_FIRST_FREE,
    OPT_PROOFS,
    OPT_CONCURRENCY,
    OPT_ARRIVALS,
    OPT_SYNTH,
    OPT_GPU,
    OPT_SYNTH_CONTENTION,
    OPT_GPU_CONTENTION,
    OPT_SYNTHESIS,
    OPT_LOOKAHEAD,
    OPT_DEVICES,
    OPT_WORKERS,
    OPT_PARTITIONS,
    OPT_SLOT,
    OPT_BATCH,
    OPT_BATCH_WAIT,
    OPT_BUDGET,
    OPT_KINDS,
    OPT_SORT_BY_TYPE,
    OPT_MIN_IDLE,
    OPT_AGEING,
    OPT_PARTITION_BYTES,
    OPT_KEY_BYTES,
    OPT_KEY_LOAD,
    OPT_PICKUP,
    OPT_VERIFY,
    OPT_FROM,
    OPT_LOG,
    OPT_FORMAT,
    OPT_BY,
    OPT_CAUSES,
    OPT_WIDTH,
    OPT_SWEEP,
    LIST_MAX = 256,
    LOG_MAX = 1 << 30,
    SWEEP_MAX = 1000,
};

typedef struct durations {
    uint64_t ns[LIST_MAX];
    uint32_t n;
} durations;

typedef struct simulate_args {
    args_head head;
    simulate_config sim;
    durations synth, gpu;
    // Given on the command line: they win over what a log says.
    bool has_policy, has_proofs, has_concurrency, has_synthesis, has_devices, has_partitions, has_slot, has_key_load;
    const char *from, *log, *out, *sweep;
    char sweep_name[32];
    uint32_t sweep_from, sweep_to;
    timeline_format format;
    timeline_options options;
    bool causes;
    uint64_t width;
} simulate_args;

// --- values ---

// A decimal number in front of `arg`; its end, or NULL.
static const char *read_decimal(double *out, const char *arg) {
    double v = 0, scale = 1;
    const char *p = arg;
    for (; *p >= '0' && *p <= '9'; p++) v = v * 10 + (*p - '0');
    if (p == arg) return NULL;
    if (*p == '.')
        for (p++; *p >= '0' && *p <= '9'; p++) v += (*p - '0') * (scale /= 10);
    *out = v;
    return p;
}

typedef struct suffix {
    const char *text;
    double factor;
} suffix;
static const suffix TIMES[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}, {0}};
static const suffix SIZES[] = {
    {"", 1}, {"B", 1}, {"KiB", 1024.}, {"MiB", 1048576.}, {"GiB", 1073741824.}, {"TiB", 1099511627776.}, {0}};

// The value at the front of `arg` with one of the suffixes, up to a comma or the end; what follows, or NULL.
static const char *read_value(uint64_t *out, const char *arg, const suffix *suffixes) {
    double v;
    const char *p = read_decimal(&v, arg);
    if (p == NULL) return NULL;
    size_t len = strcspn(p, ",");
    for (const suffix *s = suffixes; s->text != NULL; s++) {
        if (strlen(s->text) != len || strncmp(s->text, p, len) != 0) continue;
        v = round(v * s->factor);
        if (!(v < 9e18)) return NULL;
        *out = (uint64_t)v;
        return p + len;
    }
    return NULL;
}

static error_t duration(uint64_t *out, const char *arg, const char *flag, struct argp_state *state) {
    const char *end = read_value(out, arg, TIMES);
    if (end != NULL && *end == 0) return 0;
    return options_refuse(state, "%s takes a duration such as 38s or 250ms, found '%s'", flag, arg);
}

static error_t duration_list(durations *out, const char *arg, const char *flag, struct argp_state *state) {
    out->n = 0;
    for (const char *p = arg; out->n < LIST_MAX; p++) {
        p = read_value(&out->ns[out->n], p, TIMES);
        if (p == NULL) break;
        out->n++;
        if (*p == 0) return 0;
    }
    return options_refuse(state, "%s takes durations such as 38s or 47.2s,47.474s (at most %d), found '%s'", flag,
                          LIST_MAX, arg);
}

static error_t bytes(uint64_t *out, const char *arg, const char *flag, struct argp_state *state) {
    const char *end = read_value(out, arg, SIZES);
    if (end != NULL && *end == 0) return 0;
    return options_refuse(state, "%s takes a size such as 256GiB, found '%s'", flag, arg);
}

static error_t factor(double *out, const char *arg, const char *flag, struct argp_state *state) {
    const char *end = read_decimal(out, arg);
    if (end != NULL && *end == 0 && *out >= 1 && *out <= 1000) return 0;
    return options_refuse(state, "%s takes a factor from 1 to 1000, found '%s'", flag, arg);
}

static error_t number(uint32_t *out, bool *given, const char *arg, uint32_t max, const char *flag,
                      struct argp_state *state) {
    uint64_t n = 0;
    error_t e = options_number(&n, arg, 1, max, flag, state);
    if (e == 0) *out = (uint32_t)n;
    if (e == 0 && given != NULL) *given = true;
    return e;
}

static error_t on_or_off(bool *out, const char *arg, const char *flag, struct argp_state *state) {
    *out = strcmp(arg, "on") == 0;
    if (*out || strcmp(arg, "off") == 0) return 0;
    return options_refuse(state, "%s takes on or off, found '%s'", flag, arg);
}

static error_t policy(simulate_args *args, const char *arg, struct argp_state *state) {
    for (unsigned p = 0; p <= ENGINE_BATCH; p++)
        if (strcmp(engine_policy_name((engine_policy)p), arg) == 0) {
            args->sim.engine.policy = (engine_policy)p;
            args->has_policy = true;
            return 0;
        }
    return options_refuse(state, "--policy takes standard, slotted, partition or batch, found '%s'", arg);
}

// What can be swept, and where it is kept.
static uint32_t *sweep_target(simulate_config *c, const char *name) {
    const struct {
        const char *name;
        uint32_t *at;
    } targets[] = {
        {"synthesis_concurrency", &c->engine.synthesis_concurrency},
        {"lookahead", &c->engine.lookahead},
        {"devices", &c->engine.devices},
        {"workers", &c->engine.workers_per_device},
        {"slot_size", &c->engine.slot_size},
        {"batch_size", &c->engine.batch_size},
        {"concurrency", &c->concurrency},
        {"partitions", &c->partitions},
        {"proofs", &c->proofs},
    };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strcmp(targets[i].name, name) == 0) return targets[i].at;
    return NULL;
}

static error_t sweep(simulate_args *args, const char *arg, struct argp_state *state) {
    unsigned from = 0, to = 0;
    char rest;
    args->sweep = arg;
    if (sscanf(arg, "%31[a-z_]=%7u..%7u%c", args->sweep_name, &from, &to, &rest) != 3 || from < 1 || to < from ||
        to - from >= SWEEP_MAX)
        return options_refuse(state, "--sweep takes PARAM=A..B with 1 <= A <= B, found '%s'", arg);
    if (sweep_target(&args->sim, args->sweep_name) == NULL)
        return options_refuse(state,
                              "--sweep of '%s': the parameters are synthesis_concurrency, lookahead, devices, workers, "
                              "slot_size, batch_size, concurrency, partitions and proofs",
                              args->sweep_name);
    args->sweep_from = from;
    args->sweep_to = to;
    return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    simulate_args *args = state->input;
    simulate_config *c = &args->sim;
    engine_config *e = &c->engine;
    switch (key) {
    case OPT_POLICY: return policy(args, arg, state);
    case OPT_PROOFS: return number(&c->proofs, &args->has_proofs, arg, 1000000, "--proofs", state);
    case OPT_CONCURRENCY: return number(&c->concurrency, &args->has_concurrency, arg, 100000, "--concurrency", state);
    case OPT_ARRIVALS: return duration(&c->arrival_ns, arg, "--arrivals", state);
    case OPT_SYNTH: return duration_list(&args->synth, arg, "--synth", state);
    case OPT_GPU: return duration_list(&args->gpu, arg, "--gpu", state);
    case OPT_SYNTH_CONTENTION: return factor(&c->synth_contention, arg, "--synth-contention", state);
    case OPT_GPU_CONTENTION: return factor(&c->gpu_contention, arg, "--gpu-contention", state);
    case OPT_SYNTHESIS:
        return number(&e->synthesis_concurrency, &args->has_synthesis, arg, 1024, "--synthesis-concurrency", state);
    case OPT_LOOKAHEAD: return number(&e->lookahead, NULL, arg, 65536, "--lookahead", state);
    case OPT_DEVICES: return number(&e->devices, &args->has_devices, arg, 256, "--devices", state);
    case OPT_WORKERS: return number(&e->workers_per_device, NULL, arg, 64, "--workers", state);
    case OPT_PARTITIONS: return number(&c->partitions, &args->has_partitions, arg, 65535, "--partitions", state);
    case OPT_SLOT: return number(&e->slot_size, &args->has_slot, arg, 256, "--slot-size", state);
    case OPT_BATCH: return number(&e->batch_size, NULL, arg, 256, "--batch-size", state);
    case OPT_BATCH_WAIT: return duration(&e->batch_wait_ns, arg, "--batch-wait", state);
    case OPT_KINDS: return number(&c->kinds, NULL, arg, 64, "--kinds", state);
    case OPT_SORT_BY_TYPE: return on_or_off(&e->group_by_key, arg, "--sort-by-type", state);
    case OPT_MIN_IDLE: return duration(&e->key_min_idle_ns, arg, "--eviction-min-idle", state);
    case OPT_AGEING: return duration(&e->ageing_ns, arg, "--ageing", state);
    case OPT_BUDGET: return bytes(&e->memory_budget, arg, "--budget", state);
    case OPT_PARTITION_BYTES: return bytes(&c->partition_bytes, arg, "--partition-bytes", state);
    case OPT_KEY_BYTES: return bytes(&c->key_bytes, arg, "--key-bytes", state);
    case OPT_KEY_LOAD: args->has_key_load = true; return duration(&c->key_load_ns, arg, "--key-load", state);
    case OPT_PICKUP: return duration(&c->pickup_ns, arg, "--pickup", state);
    case OPT_VERIFY: return duration(&c->verify_ns, arg, "--verify", state);
    case OPT_FROM: args->from = arg; return 0;
    case OPT_LOG: args->log = arg; return 0;
    case OPT_OUT: args->out = arg; return 0;
    case OPT_SWEEP: return sweep(args, arg, state);
    case OPT_CAUSES: args->causes = true; return 0;
    case OPT_WIDTH: return options_number(&args->width, arg, 40, 10000, "--width", state);
    case OPT_BY:
        args->options.by_partition = strcmp(arg, "partition") == 0;
        if (args->options.by_partition || strcmp(arg, "proof") == 0) return 0;
        return options_refuse(state, "--by takes partition or proof, found '%s'", arg);
    case OPT_FORMAT:
        if (timeline_format_from_name(&args->format, arg)) return 0;
        return options_refuse(state, "--format takes text, json, csv, svg, html or trace, found '%s'", arg);
    default: return options_common(key, arg, state);
    }
}

static const struct argp_option OPTIONS[] = {
    {0, 0, 0, 0, "The load:", 1},
    {"proofs", OPT_PROOFS, "N", 0, "how many (default 5)", 1},
    {"concurrency", OPT_CONCURRENCY, "J", 0, "so many in flight: one is submitted when one completes (default 2)", 1},
    {"arrivals", OPT_ARRIVALS, "TIME", 0, "instead: one proof is submitted each TIME", 1},
    {"partitions", OPT_PARTITIONS, "N", 0, "of a proof (default 10)", 1},
    {"kinds", OPT_KINDS, "N", 0, "of proofs, in turn, each with a proving key of its own (default 1)", 1},
    {"synth", OPT_SYNTH, "TIME[,...]", 0, "synthesis of a whole proof (default 38s); a list is taken in turn", 1},
    {"gpu", OPT_GPU, "TIME[,...]", 0, "device time of a whole proof (default 26s)", 1},
    {"from", OPT_FROM, "LOG", 0, "take the load from a recorded run; other flags change it", 1},
    {0, 0, 0, 0, "The engine:", 2},
    {"policy", OPT_POLICY, "POLICY", 0, "standard, slotted, partition (default) or batch", 2},
    {"slot-size", OPT_SLOT, "K", 0, "slotted: partitions of a unit (default 1)", 2},
    {"batch-size", OPT_BATCH, "N", 0, "batch: proofs of a unit (default 2)", 2},
    {"batch-wait", OPT_BATCH_WAIT, "TIME", 0, "batch: how long an incomplete one waits (default 0s)", 2},
    {"synthesis-concurrency", OPT_SYNTHESIS, "N", 0, "units in synthesis at once (default 1)", 2},
    {"lookahead", OPT_LOOKAHEAD, "N", 0, "units that may wait for a device (default 1)", 2},
    {"devices", OPT_DEVICES, "N", 0, "default 1", 2},
    {"workers", OPT_WORKERS, "N", 0, "of a device (default 1)", 2},
    {"budget", OPT_BUDGET, "SIZE", 0, "memory for keys and units (default: no limit)", 2},
    {"sort-by-type", OPT_SORT_BY_TYPE, "on|off", 0, "proofs whose key is loaded go first (default on)", 2},
    {"ageing", OPT_AGEING, "TIME", 0,
     "nobody who waits longer is overtaken (default 10min; 0s: ageing and sorting off)", 2},
    {"eviction-min-idle", OPT_MIN_IDLE, "TIME", 0,
     "a key used within TIME is evicted only if nothing else can make room (default 5min)", 2},
    {0, 0, 0, 0, "The machine:", 3},
    {"synth-contention", OPT_SYNTH_CONTENTION, "F", 0, "syntheses take F times as long while two or more run", 3},
    {"gpu-contention", OPT_GPU_CONTENTION, "F", 0, "device runs take F times as long while two or more syntheses run",
     3},
    {"partition-bytes", OPT_PARTITION_BYTES, "SIZE", 0, "memory of a partition, from synthesis until freed", 3},
    {"key-bytes", OPT_KEY_BYTES, "SIZE", 0, "memory of the proving key", 3},
    {"key-load", OPT_KEY_LOAD, "TIME", 0, "loading the proving key (default 0s)", 3},
    {"pickup", OPT_PICKUP, "TIME", 0, "from a free device and a ready unit to the first kernel (default 0s)", 3},
    {"verify", OPT_VERIFY, "TIME", 0, "verifying a unit (default 0s)", 3},
    {0, 0, 0, 0, "The output:", 4},
    {"format", OPT_FORMAT, "FORMAT", 0,
     "text, json, csv, svg, html or trace (Perfetto, chrome://tracing); default: by the ending of OUT, else text", 4},
    {"by", OPT_BY, "partition|proof", 0, "a row is a partition, or a whole proof (default)", 4},
    {"causes", OPT_CAUSES, 0, 0, "every gap with its cause", 4},
    {"log", OPT_LOG, "OUT", 0, "write the TIMELINE lines there; - is standard output, in place of the waterfall", 4},
    {"out", OPT_OUT, "OUT", 0, "write there instead of standard output", 4},
    {"width", OPT_WIDTH, "N", 0, "columns of the text, pixels of the SVG", 4},
    {"sweep", OPT_SWEEP, "PARAM=A..B", 0,
     "a table with a row for each value of synthesis_concurrency, lookahead, devices, workers, slot_size, batch_size, "
     "concurrency, partitions or proofs",
     4},
    OPTION_JSON,
    OPTION_HELP,
    {0}};

static const char DOC[] =
    "Simulate the engine in virtual time: the engine's own scheduling, durations from flags or from a recorded run."
    "\vDurations are those of a whole proof with at most one synthesis beside the device; a partition takes its share. "
    "Times in ns, us, ms, s, min, h; sizes in KiB, MiB, GiB, TiB. --json is --format json.\n\n"
    "Examples:\n"
    "  cuzk simulate --policy standard --proofs 5 --synth 38s --gpu 26s\n"
    "  cuzk simulate --sweep synthesis_concurrency=1..4 --synth-contention 1.18 --gpu-contention 1.08\n"
    "  cuzk simulate --from daemon.log --devices 2 --out what-if.html";

// --- running ---

typedef struct lines {
    timeline_text text;
    cuzk_error *err;
} lines;

static bool keep_line(void *ctx, const char *text, size_t len) {
    lines *l = ctx;
    if (l->text.len + len > LOG_MAX) return false;
    text_put_n(&l->text, text, len);
    return !l->text.failed;
}

// One run: its result, its lines and their analysis (of `log`, which must outlive it).
typedef struct outcome {
    simulate_result result;
    lines lines;
    timeline_log *log;
    timeline_analysis *analysis;
} outcome;

static void outcome_release(outcome *o) {
    timeline_analysis_destroy(&o->analysis);
    timeline_log_destroy(&o->log);
    timeline_text_release(&o->lines.text);
}

static cuzk_status run(outcome *o, const simulate_config *c, const timeline_options *options, cuzk_error *err) {
    memset(o, 0, sizeof *o);
    cuzk_status s = simulate_run(&o->result, c, keep_line, &o->lines, err);
    if (s == CUZK_OK && o->result.done == 0)
        s = cuzk_fail(err, CUZK_ERR_INPUT, "no proof was made: %s", engine_reason_name(o->result.reason));
    if (s == CUZK_OK) s = timeline_log_create(&o->log, err);
    if (s == CUZK_OK) s = timeline_log_push(o->log, o->lines.text.data, o->lines.text.len, err);
    if (s == CUZK_OK) s = timeline_log_finish(o->log, err);
    if (s == CUZK_OK) s = timeline_analyse(&o->analysis, o->log, options, err);
    if (s != CUZK_OK) outcome_release(o);
    return s;
}

// The figures that matter once everything flows.
static const timeline_summary *steady(const timeline_analysis *a) {
    return a->steady.present && a->steady.proofs > 0 ? &a->steady : &a->summary;
}

static void size_text(char out[32], uint64_t n) {
    static const char *const UNITS[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)n;
    size_t u = 0;
    while (v >= 1024 && u < 4) v /= 1024, u++;
    snprintf(out, 32, "%.*f %s", u == 0 ? 0 : 1, v, UNITS[u]);
}

static json_t *simulation_json(const simulate_config *c, const outcome *o) {
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:I}", "policy", engine_policy_name(c->engine.policy),
                     "done", (json_int_t)o->result.done, "failed", (json_int_t)(o->result.failed + o->result.refused),
                     "partitions", (json_int_t)c->partitions, "synthesis_concurrency",
                     (json_int_t)c->engine.synthesis_concurrency, "wall_ms", (double)o->result.wall_ns / 1e6,
                     "peak_memory_bytes", (json_int_t)o->result.stats.memory_peak, "key_loads",
                     (json_int_t)o->result.stats.key_loads, "key_evictions", (json_int_t)o->result.stats.key_evictions);
}

static timeline_render_options render_options(const simulate_args *args) {
    timeline_render_options o = {.width = (uint32_t)args->width, .causes = args->causes};
    bool terminal = args->out == NULL && isatty(STDOUT_FILENO) == 1;
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    o.colour = terminal && (no_color == NULL || no_color[0] == 0) && (term == NULL || strcmp(term, "dumb") != 0);
    struct winsize w;
    if (o.width == 0 && args->format == TIMELINE_TEXT && terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0)
        o.width = w.ws_col;
    return o;
}

static cuzk_status emit(const simulate_args *args, const timeline_text *text, cuzk_error *err) {
    if (text->failed) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the output");
    if (args->out != NULL) return file_write_all(args->out, text->data, text->len, err);
    fwrite(text->data, 1, text->len, stdout);
    return CUZK_OK;
}

static void put_json(timeline_text *text, json_t *document) {
    char *s = json_dumps(document, JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
    text_put(text, s != NULL ? s : "{}");
    text_put(text, "\n");
    free(s);
    json_decref(document);
}

static void put_head(timeline_text *t, const simulate_config *c, const outcome *o) {
    char size[32];
    size_text(size, o->result.stats.memory_peak);
    text_put_f(t, "simulated: policy %s, %u proofs of %u partitions, ", engine_policy_name(c->engine.policy), c->proofs,
               c->partitions);
    if (c->arrival_ns != 0)
        text_put_f(t, "one each %.3f s", (double)c->arrival_ns / 1e9);
    else
        text_put_f(t, "%u in flight", c->concurrency);
    text_put_f(t, ", %u in synthesis, %u device%s; peak memory %s\n", c->engine.synthesis_concurrency,
               c->engine.devices, c->engine.devices == 1 ? "" : "s", size);
    if (o->result.failed + o->result.refused > 0)
        text_put_f(t, "%u proofs failed: %s\n", o->result.failed + o->result.refused,
                   engine_reason_name(o->result.reason));
    text_put(t, "\n");
}

static cuzk_status one_run(const simulate_args *args, cuzk_error *err) {
    outcome o;
    cuzk_status s = run(&o, &args->sim, &args->options, err);
    if (s != CUZK_OK) return s;
    timeline_text text = {0};
    timeline_render_options r = render_options(args);
    bool lines_only = args->log != NULL && strcmp(args->log, "-") == 0;
    if (args->log != NULL) s = file_write_all(args->log, o.lines.text.data, o.lines.text.len, err);
    if (s == CUZK_OK && !lines_only) {
        if (args->format == TIMELINE_TEXT) put_head(&text, &args->sim, &o);
        s = timeline_render(&text, o.analysis, args->format, &r, err);
        json_t *d = s == CUZK_OK && args->format == TIMELINE_JSON ? json_loads(text.data, 0, NULL) : NULL;
        if (d != NULL) {
            json_object_set_new(d, "simulation", simulation_json(&args->sim, &o));
            timeline_text_release(&text);
            text = (timeline_text){0};
            put_json(&text, d);
        }
        if (s == CUZK_OK) s = emit(args, &text, err);
    }
    timeline_text_release(&text);
    outcome_release(&o);
    return s;
}

// --- sweep ---

static void sweep_row(const simulate_args *args, timeline_text *text, json_t *rows, uint32_t value, const outcome *o) {
    const timeline_summary *m = steady(o->analysis);
    double gap = m->avg_gap_us < 0 ? 0 : m->avg_gap_us / 1e6;
    uint64_t peak = o->result.stats.memory_peak;
    if (args->format == TIMELINE_JSON) {
        json_array_append_new(rows, json_pack("{s:I, s:f, s:f, s:f, s:f, s:I}", args->sweep_name, (json_int_t)value,
                                              "seconds_per_proof", m->seconds_per_proof, "proofs_per_minute",
                                              m->proofs_per_minute, "gpu_utilization_pct", m->utilization_pct,
                                              "avg_idle_gap_ms", gap * 1000, "peak_memory_bytes", (json_int_t)peak));
    } else if (args->format == TIMELINE_CSV) {
        text_put_f(text, "%u,%.3f,%.3f,%.2f,%.3f,%" PRIu64 "\n", value, m->seconds_per_proof, m->proofs_per_minute,
                   m->utilization_pct, gap * 1000, peak);
    } else {
        char size[32];
        size_text(size, peak);
        text_put_f(text, "%21u %10.3f %12.3f %8.2f %10.3f %12s\n", value, m->seconds_per_proof, m->proofs_per_minute,
                   m->utilization_pct, gap, size);
    }
}

static cuzk_status all_runs(simulate_args *args, cuzk_error *err) {
    timeline_text text = {0};
    json_t *rows = json_array();
    if (args->format == TIMELINE_CSV)
        text_put_f(&text,
                   "%s,seconds_per_proof,proofs_per_minute,gpu_utilization_pct,avg_idle_gap_ms,"
                   "peak_memory_bytes\n",
                   args->sweep_name);
    else if (args->format == TIMELINE_TEXT)
        text_put_f(&text, "%21s %10s %12s %8s %10s %12s\n", args->sweep_name, "s/proof", "proofs/min", "util %",
                   "gap s", "peak memory");
    cuzk_status s = CUZK_OK;
    for (uint32_t v = args->sweep_from; v <= args->sweep_to && s == CUZK_OK; v++) {
        outcome o;
        *sweep_target(&args->sim, args->sweep_name) = v;
        s = run(&o, &args->sim, &args->options, err);
        if (s != CUZK_OK) {
            (void)cuzk_fail_in(err, s, "%s=%u", args->sweep_name, v);
            break;
        }
        sweep_row(args, &text, rows, v, &o);
        outcome_release(&o);
    }
    if (s == CUZK_OK && args->format == TIMELINE_JSON)
        put_json(&text, rows);
    else
        json_decref(rows);
    if (s == CUZK_OK) s = emit(args, &text, err);
    timeline_text_release(&text);
    return s;
}

// --- the load ---

// Lists of durations become a table of proofs.
static cuzk_status lists_to_table(simulate_args *args, simulate_time **table, cuzk_error *err) {
    simulate_config *c = &args->sim;
    if (args->synth.n == 1 && args->gpu.n == 1) {
        c->proof = (simulate_time){args->synth.ns[0], args->gpu.ns[0]};
        return CUZK_OK;
    }
    if (args->sweep != NULL && (strcmp(args->sweep_name, "partitions") == 0 || strcmp(args->sweep_name, "proofs") == 0))
        return cuzk_fail(err, CUZK_ERR_USAGE, "--sweep %s goes with one --synth and one --gpu", args->sweep_name);
    *table = mem_alloc(MEM_MISC, (size_t)c->proofs * c->partitions, sizeof **table);
    if (*table == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "no memory for the durations");
    for (uint32_t i = 0; i < c->proofs; i++)
        for (uint32_t p = 0; p < c->partitions; p++)
            (*table)[(size_t)i * c->partitions + p] = (simulate_time){args->synth.ns[i % args->synth.n] / c->partitions,
                                                                      args->gpu.ns[i % args->gpu.n] / c->partitions};
    c->times = *table;
    c->n_times = c->proofs;
    return CUZK_OK;
}

static void apply_learned(simulate_args *args, const simulate_learned *l) {
    simulate_config *c = &args->sim;
    engine_config *e = &c->engine;
    c->times = l->times;
    c->n_times = l->proofs;
    c->partitions = l->partitions;
    if (!args->has_proofs) c->proofs = l->proofs;
    if (!args->has_concurrency) c->concurrency = l->concurrency;
    if (!args->has_synthesis) e->synthesis_concurrency = l->synthesis_concurrency;
    if (!args->has_devices) e->devices = l->devices;
    if (!args->has_key_load) c->key_load_ns = l->key_load_ns;
    if (args->has_policy) return;
    e->policy = l->unit >= l->partitions ? ENGINE_STANDARD : l->unit == 1 ? ENGINE_PARTITION : ENGINE_SLOTTED;
    if (e->policy == ENGINE_SLOTTED && !args->has_slot) e->slot_size = l->unit > 256 ? 256 : l->unit;
}

static cuzk_status load_log(simulate_args *args, simulate_learned *learned, cuzk_error *err) {
    uint8_t *data = NULL;
    size_t len = 0;
    timeline_log *log = NULL;
    timeline_analysis *a = NULL;
    cuzk_status s = file_read_all(&data, &len, args->from, LOG_MAX, err);
    if (s == CUZK_OK) s = timeline_log_create(&log, err);
    if (s == CUZK_OK) s = timeline_log_push(log, data, len, err);
    if (s == CUZK_OK) s = timeline_log_finish(log, err);
    if (s == CUZK_OK) s = timeline_analyse(&a, log, &TIMELINE_OPTIONS, err);
    if (s == CUZK_OK) s = simulate_learn(learned, a, args->has_partitions ? args->sim.partitions : 0, err);
    if (s == CUZK_OK)
        apply_learned(args, learned);
    else
        (void)cuzk_fail_in(err, s, "%s", args->from);
    timeline_analysis_destroy(&a);
    timeline_log_destroy(&log);
    mem_free(data);
    return s;
}

int command_simulate(app *a, int argc, char **argv) {
    simulate_args args = {.sim = simulate_defaults(), .options = TIMELINE_OPTIONS, .format = TIMELINE_FORMATS};
    args.synth = (durations){{UINT64_C(38000000000)}, 1};
    args.gpu = (durations){{UINT64_C(26000000000)}, 1};
    int code = options_parse(a, argc, argv, OPTIONS, parse, DOC, &args.head);
    if (code >= 0) return code;
    if (args.format == TIMELINE_FORMATS) {
        args.format = a->json ? TIMELINE_JSON : TIMELINE_TEXT;
        if (!a->json && args.out != NULL && timeline_format_of_path(&args.format, args.out, &a->err) != CUZK_OK)
            return app_fail(a);
    }
    if (args.sweep != NULL && args.format != TIMELINE_TEXT && args.format != TIMELINE_JSON &&
        args.format != TIMELINE_CSV)
        return app_usage(a, "--sweep is written as text, json or csv");
    if (args.sweep != NULL && args.log != NULL) return app_usage(a, "--sweep makes several runs: no --log");
    if (args.sweep != NULL && args.from != NULL && strcmp(args.sweep_name, "partitions") == 0)
        return app_usage(a, "--sweep partitions does not go with --from");
    simulate_learned learned = {0};
    simulate_time *table = NULL;
    cuzk_status s = args.from != NULL ? load_log(&args, &learned, &a->err) : lists_to_table(&args, &table, &a->err);
    if (s == CUZK_OK) s = args.sweep != NULL ? all_runs(&args, &a->err) : one_run(&args, &a->err);
    simulate_learned_release(&learned);
    mem_free(table);
    return s == CUZK_OK ? app_finish(a) : app_fail(a);
}
