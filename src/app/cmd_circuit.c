// SPDX-License-Identifier: MIT OR Apache-2.0
//
// cuzk circuit digest, cuzk circuit trace: what the constraints of a circuit are, without values.
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "app/app.h"
#include "app/monitor.h"
#include "base/bytes.h"
#include "base/file.h"
#include "circuit/porep/circuit.h"
#include "circuit/report.h"

enum { OPT_API = OPT_FIRST_FREE, OPT_CHALLENGES, OPT_EVERY };

typedef struct circuit_args {
    args_head head;
    const char *kind, *size_text, *out;
    uint64_t sector_size, every;
    porep_api api;
    porep_challenge_kind challenges;
} circuit_args;

#define SHAPE_OPTIONS                                                                                                  \
    {"kind", OPT_KIND, "KIND", 0, "kind of proof: porep", 1},                                                          \
        {"sector-size", OPT_SECTOR_SIZE, "SIZE", 0, "sector size, 2KiB to 64GiB", 1},                                  \
        {"api", OPT_API, "VERSION", 0, "API version: 1.0, 1.1 (default), 1.2", 1}, {                                   \
        "challenges", OPT_CHALLENGES, "HOW", 0, "interactive (default), synthetic or non-interactive", 1               \
    }

static error_t parse(int key, char *arg, struct argp_state *state) {
    circuit_args *args = state->input;
    static const char *const API[] = {"1.0", "1.1", "1.2"};
    static const char *const HOW[] = {"interactive", "synthetic", "non-interactive"};
    switch (key) {
    case OPT_KIND: args->kind = arg; return options_common(key, arg, state);
    case OPT_SECTOR_SIZE:
        args->size_text = arg;
        return porep_parse_size(&args->sector_size, arg, &args->head.app->err) == CUZK_OK ? 0 : EINVAL;
    case OPT_API:
        for (int i = 0; i < 3; i++)
            if (strcmp(arg, API[i]) == 0) {
                args->api = (porep_api)(POREP_API_1_0 + i);
                return 0;
            }
        return options_refuse(state, "unknown API version '%s'; versions: 1.0, 1.1, 1.2", arg);
    case OPT_CHALLENGES:
        for (int i = 0; i < 3; i++)
            if (strcmp(arg, HOW[i]) == 0) {
                args->challenges = (porep_challenge_kind)(POREP_INTERACTIVE + i);
                return 0;
            }
        return options_refuse(state, "unknown challenges '%s'; there are: interactive, synthetic, non-interactive",
                              arg);
    case OPT_EVERY: return options_number(&args->every, arg, 1, UINT32_MAX, "--every", state);
    case OPT_OUT: args->out = arg; return 0;
    default: return options_common(key, arg, state);
    }
}

static cuzk_status find_shape(porep_shape *out, circuit_args *args) {
    app *a = args->head.app;
    cuzk_status s = options_need(a, args->kind, "--kind");
    if (s == CUZK_OK) s = options_need(a, args->size_text, "--sector-size");
    if (s == CUZK_OK) s = porep_shape_by_size(out, args->sector_size, args->api, args->challenges, &a->err);
    return s;
}

static int digest(app *a, int argc, char **argv) {
    const struct argp_option options[] = {SHAPE_OPTIONS, OPTION_JSON, OPTION_HELP, {0}};
    static const char DOC[] =
        "Print counts of a circuit and the SHA-256 of its constraint stream, as one line of JSON. "
        "Two programs with the same digest have the same circuit, term by term."
        "\vThe circuit is run without values. Keys: constraints, inputs (with the constant one), aux, nnz "
        "(non-zero coefficients of A, B, C), dense_a_aux, dense_b_aux, dense_b_inputs (variables that occur in A or "
        "B), params_id (name of the parameter files), sha256.\n\n"
        "Examples:\n"
        "  cuzk circuit digest --kind porep --sector-size 2KiB\n"
        "  cuzk circuit digest --kind porep --sector-size 32GiB --challenges synthetic";
    circuit_args args = {.api = POREP_API_1_1};
    int code = options_parse(a, argc, argv, options, parse, DOC, &args.head);
    if (code >= 0) return code;
    porep_shape shape;
    if (find_shape(&shape, &args) != CUZK_OK) return app_fail(a);

    porep_circuit pc = {.shape = shape};
    circuit c = porep_circuit_bind(&pc);
    monitor m;
    monitor_init(&m);
    monitor_catch_signals();
    circuit_digest_report r;
    cuzk_status s = circuit_digest(&r, &c, NULL, &m.o, &a->err);
    monitor_clear(&m);
    if (s != CUZK_OK) return app_fail(a);
    char sha[65], id[POREP_PARAMS_ID_MAX];
    hex_encode(sha, r.sha256, sizeof r.sha256);
    porep_params_id(id, &shape);
    app_print_json(a, json_pack("{s:s, s:I, s:I, s:I, s:I, s:[I,I,I], s:I, s:I, s:I, s:s, s:s}", "kind", "porep",
                                "sector_size", (json_int_t)shape.sector_size, "inputs", (json_int_t)r.inputs, "aux",
                                (json_int_t)r.aux, "constraints", (json_int_t)r.constraints, "nnz",
                                (json_int_t)r.nnz[0], (json_int_t)r.nnz[1], (json_int_t)r.nnz[2], "dense_a_aux",
                                (json_int_t)r.dense_a_aux, "dense_b_inputs", (json_int_t)r.dense_b_inputs,
                                "dense_b_aux", (json_int_t)r.dense_b_aux, "params_id", id, "sha256", sha));
    return app_finish(a);
}

// Trace lines go to standard output, or to a file that appears when the trace is complete.
typedef struct trace_sink {
    file_writer *file;
    cuzk_status status; // the first failure to write; the run is stopped then
    cuzk_error *err;
    monitor *m;
} trace_sink;

static void write_line(void *ctx, const char *line, size_t len) {
    trace_sink *t = ctx;
    if (t->status != CUZK_OK) return;
    if (t->file != NULL)
        t->status = file_writer_put(t->file, line, len, t->err);
    else if (fwrite(line, 1, len, stdout) != len)
        t->status = cuzk_fail(t->err, CUZK_ERR_IO, "standard output: %s", strerror(errno));
    t->m->stop = t->status != CUZK_OK;
}

static int trace(app *a, int argc, char **argv) {
    const struct argp_option options[] = {
        SHAPE_OPTIONS,
        {"every", OPT_EVERY, "N", 0, "constraints from one line to the next (default 1000)", 2},
        {"out", OPT_OUT, "FILE", 0, "write here instead of standard output", 2},
        OPTION_JSON,
        OPTION_HELP,
        {0}};
    static const char DOC[] =
        "Print a trace of a circuit's constraint stream: where it is, and what its digest is so far."
        "\vA line has: constraints, inputs and aux so far, the first 16 hex digits of the running SHA-256, and the "
        "scope of the constraint. To find the first difference between two circuits, compare their traces, then "
        "trace the stretch before the first different line with --every 1.\n\n"
        "Examples:\n"
        "  cuzk circuit trace --kind porep --sector-size 2KiB --out trace.txt\n"
        "  cuzk circuit trace --kind porep --sector-size 2KiB --every 1 | head -2000";
    circuit_args args = {.api = POREP_API_1_1, .every = 1000};
    int code = options_parse(a, argc, argv, options, parse, DOC, &args.head);
    if (code >= 0) return code;
    porep_shape shape;
    if (find_shape(&shape, &args) != CUZK_OK) return app_fail(a);

    monitor m;
    monitor_init(&m);
    monitor_catch_signals();
    trace_sink sink = {.err = &a->err, .m = &m};
    bool to_file = args.out != NULL && strcmp(args.out, "-") != 0;
    if (to_file && file_writer_open(&sink.file, args.out, &a->err) != CUZK_OK) return app_fail(a);
    porep_circuit pc = {.shape = shape};
    circuit c = porep_circuit_bind(&pc);
    circuit_trace t = {.every = args.every, .write = write_line, .ctx = &sink};
    if (!to_file) m.show = false; // the lines themselves are progress enough
    circuit_digest_report r;
    cuzk_error run_error;
    cuzk_status s = circuit_digest(&r, &c, &t, &m.o, &run_error);
    monitor_clear(&m);
    if (sink.status != CUZK_OK)
        s = sink.status; // a->err has the text
    else if (s != CUZK_OK)
        a->err = run_error;
    else if (to_file)
        s = file_writer_commit(&sink.file, &a->err);
    file_writer_abort(&sink.file);
    return s == CUZK_OK ? app_finish(a) : app_fail(a);
}

int command_circuit(app *a, int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "digest") == 0) {
        a->command = "circuit digest";
        return digest(a, argc - 1, argv + 1);
    }
    if (strcmp(what, "trace") == 0) {
        a->command = "circuit trace";
        return trace(a, argc - 1, argv + 1);
    }
    if (strcmp(what, "--help") == 0) {
        puts("Usage: cuzk circuit digest|trace [OPTION...]\n"
             "What the constraints of a circuit are.\n\n"
             "  digest     counts and the SHA-256 of the constraint stream\n"
             "  trace      the running digest with scope names, every N constraints\n\n"
             "cuzk circuit digest --help and cuzk circuit trace --help tell more.");
        return app_finish(a);
    }
    return app_usage(a, "cuzk circuit takes 'digest' or 'trace', found '%s'", what);
}
