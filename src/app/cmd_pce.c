// SPDX-License-Identifier: MIT OR Apache-2.0
//
// cuzk pce: programs of circuits, made beforehand, looked at, and held against the circuit itself.
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "api/pce.h"
#include "app/app.h"
#include "app/monitor.h"
#include "base/bytes.h"
#include "circuit/report.h"

enum { OPT_IN = OPT_FIRST_FREE };

typedef struct pce_args {
    args_head head;
    const char *kind, *size, *out, *in;
} pce_args;

static error_t parse(int key, char *arg, struct argp_state *state) {
    pce_args *args = state->input;
    switch (key) {
    case OPT_KIND: args->kind = arg; return pce_check_kind(arg, &args->head.app->err) == CUZK_OK ? 0 : EINVAL;
    case OPT_SECTOR_SIZE: args->size = arg; return 0;
    case OPT_OUT: args->out = arg; return 0;
    case OPT_IN: args->in = arg; return 0;
    default: return options_common(key, arg, state);
    }
}

static void hex_of(char out[65], const uint8_t digest[32]) { hex_encode(out, digest, 32); }

static json_t *describe(const char *file, const program_identity *id, const program_counts *n) {
    char hex[65];
    hex_of(hex, id->digest);
    json_t *d = json_pack("{s:s, s:I, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "kind", id->kind, "sector_size",
                          (json_int_t)id->size, "identity", hex, "inputs", (json_int_t)n->inputs, "aux",
                          (json_int_t)n->aux, "field_wires", (json_int_t)n->fields, "constraints", (json_int_t)n->rows,
                          "templates", (json_int_t)n->templates, "instances", (json_int_t)n->instances, "coefficients",
                          (json_int_t)n->coeffs, "memory_bytes", (json_int_t)n->bytes);
    if (d != NULL) json_object_set_new(d, "file", app_json_text(file));
    return d;
}

static void print_counts(const pce_circuit *c, const program_counts *n) {
    printf("%s, %s: %" PRIu64 " constraints, %" PRIu32 " inputs, %" PRIu32 " wires (%" PRIu32 " field elements)\n"
           "%" PRIu32 " templates, %" PRIu32 " instances, %" PRIu32 " coefficients; %.1f MiB in memory\n",
           c->id.kind, c->size_name, n->rows, n->inputs, n->aux, n->fields, n->templates, n->instances, n->coeffs,
           (double)n->bytes / (1 << 20));
}

// --- build ---

// --out may be a folder, or nothing: then the file has the name that caches look for.
static cuzk_status find_output(char path[PCE_PATH_MAX], const pce_args *args, const pce_circuit *c, cuzk_error *err) {
    char name[PCE_NAME_MAX];
    struct stat st;
    pce_file_name(name, c);
    const char *out = args->out != NULL ? args->out : name;
    const bool folder = stat(out, &st) == 0 && S_ISDIR(st.st_mode);
    const int n = folder ? snprintf(path, PCE_PATH_MAX, "%s/%s", out, name) : snprintf(path, PCE_PATH_MAX, "%s", out);
    if (n < 0 || n >= PCE_PATH_MAX) return cuzk_fail(err, CUZK_ERR_USAGE, "the name of the output is too long");
    return CUZK_OK;
}

static int build(app *a, int argc, char **argv) {
    const struct argp_option options[] = {
        {"kind", OPT_KIND, "KIND", 0, "kind of proof: porep or toy", 1},
        {"sector-size", OPT_SECTOR_SIZE, "SIZE", 0, "sector size, 2KiB to 64GiB; of a toy: its rows", 1},
        {"out", OPT_OUT, "FILE", 0,
         "file, or folder for a file of the usual name (default: the current folder); a --pce-cache finds the usual "
         "name",
         1},
        OPTION_JSON,
        OPTION_HELP,
        {0}};
    static const char DOC[] =
        "Make the program of a circuit and keep it in a file, so that no proof has to."
        "\vThe program is the circuit's constraints as a list of instances of templates; it depends on kind and "
        "size alone. The file appears complete or not at all.\n\n"
        "Examples:\n"
        "  cuzk pce build --kind porep --sector-size 2KiB\n"
        "  cuzk pce build --kind porep --sector-size 32GiB --out /var/cache/cuzk";
    pce_args args = {0};
    int code = options_parse(a, argc, argv, options, parse, DOC, &args.head);
    if (code >= 0) return code;
    pce_circuit c;
    char path[PCE_PATH_MAX];
    cuzk_status s = options_need(a, args.kind, "--kind");
    if (s == CUZK_OK) s = options_need(a, args.size, "--sector-size");
    if (s == CUZK_OK) s = pce_by_name(&c, args.kind, args.size, &a->err);
    if (s == CUZK_OK) s = find_output(path, &args, &c, &a->err);
    if (s == CUZK_OK) s = app_check_output(a, path);
    if (s != CUZK_OK) return app_fail(a);

    monitor m;
    monitor_init(&m);
    monitor_catch_signals();
    program *p = NULL;
    s = pce_build(&p, &c, &m.o, &a->err);
    if (s == CUZK_OK) {
        observe_begin(&m.o, "write");
        s = program_save(p, &c.id, path, &a->err);
        observe_end(&m.o, "write");
    }
    monitor_clear(&m);
    if (s == CUZK_OK) {
        program_counts n;
        program_count(&n, p);
        if (a->json) {
            json_t *d = describe(path, &c.id, &n);
            monitor_json(&m, d);
            app_print_json(a, d);
        } else {
            printf("made: %s\n", path);
            print_counts(&c, &n);
            monitor_print(&m, stderr);
        }
    }
    program_destroy(&p);
    return s == CUZK_OK ? app_finish(a) : app_fail(a);
}

// --- info and verify ---

// The program of a file and its circuit, which must be that on the command line as far as one is named there.
static cuzk_status load(program **p, pce_circuit *c, app *a, const pce_args *args) {
    const bool sized = args->size != NULL;
    program_identity found;
    cuzk_status s = options_need(a, args->in, "--in");
    if (s == CUZK_OK && sized) s = pce_by_name(c, args->kind != NULL ? args->kind : "porep", args->size, &a->err);
    if (s == CUZK_OK) s = program_load(p, &found, sized ? &c->id : NULL, args->in, &a->err);
    if (s != CUZK_OK || sized) return s;
    s = pce_by_identity(c, &found, &a->err);
    if (s == CUZK_OK && args->kind != NULL && strcmp(args->kind, found.kind) != 0)
        s = cuzk_fail(&a->err, CUZK_ERR_MISMATCH, "it is the program of a circuit of another kind (%s)", found.kind);
    if (s == CUZK_OK) return s;
    program_destroy(p);
    return cuzk_fail_in(&a->err, s, "%s", args->in);
}

#define FILE_OPTIONS                                                                                                   \
    {"kind", OPT_KIND, "KIND", 0, "refuse a program of another kind: porep (default with --sector-size) or toy", 1},   \
        {"sector-size", OPT_SECTOR_SIZE, "SIZE", 0, "refuse a program of another size", 1},                            \
        {"in", OPT_IN, "FILE", 0, "file that cuzk pce build or a cache has made", 1}, OPTION_JSON, OPTION_HELP, {      \
        0                                                                                                              \
    }

static int info(app *a, int argc, char **argv) {
    const struct argp_option options[] = {FILE_OPTIONS};
    static const char DOC[] = "Say what a file with a circuit's program holds. Its SHA-256 and all its numbers are "
                              "checked; whether it is true to the circuit, cuzk pce verify finds out."
                              "\vExamples:\n"
                              "  cuzk pce info --in cuzk-pce-1-porep-2KiB-d0cf.pce";
    pce_args args = {0};
    int code = options_parse(a, argc, argv, options, parse, DOC, &args.head);
    if (code >= 0) return code;
    program *p = NULL;
    pce_circuit c;
    if (load(&p, &c, a, &args) != CUZK_OK) return app_fail(a);
    program_counts n;
    program_count(&n, p);
    program_destroy(&p);
    if (a->json)
        app_print_json(a, describe(args.in, &c.id, &n));
    else
        print_counts(&c, &n);
    return app_finish(a);
}

static int verify(app *a, int argc, char **argv) {
    const struct argp_option options[] = {FILE_OPTIONS};
    static const char DOC[] =
        "Is the program of a file true to its circuit? It is expanded to the constraint stream, and the SHA-256 of "
        "that "
        "is compared with what the circuit's own code gives."
        "\vTakes seconds for small sectors, and minutes for 32GiB and 64GiB: some 40 GB are hashed twice.\n\n"
        "Examples:\n"
        "  cuzk pce verify --in cuzk-pce-1-porep-2KiB-d0cf.pce --sector-size 2KiB";
    pce_args args = {0};
    int code = options_parse(a, argc, argv, options, parse, DOC, &args.head);
    if (code >= 0) return code;
    program *p = NULL;
    pce_circuit c;
    if (load(&p, &c, a, &args) != CUZK_OK) return app_fail(a);
    monitor m;
    monitor_init(&m);
    monitor_catch_signals();
    circuit_digest_report found, want;
    const circuit bound = pce_circuit_bind(&c);
    cuzk_status s = circuit_program_digest(&found, p, &m.o, &a->err);
    if (s == CUZK_OK) s = circuit_digest(&want, &bound, NULL, &m.o, &a->err);
    monitor_clear(&m);
    program_counts n;
    program_count(&n, p);
    program_destroy(&p);
    if (s != CUZK_OK) return app_fail(a);
    char found_hex[65], want_hex[65];
    hex_of(found_hex, found.sha256);
    hex_of(want_hex, want.sha256);
    if (strcmp(found_hex, want_hex) != 0) {
        (void)cuzk_fail(&a->err, CUZK_ERR_INVALID, "%s: its constraint stream has SHA-256 %s, the circuit's %s",
                        args.in, found_hex, want_hex);
        return app_fail(a);
    }
    if (a->json) {
        json_t *d = describe(args.in, &c.id, &n);
        json_object_set_new(d, "sha256", json_string(found_hex));
        app_print_json(a, d);
    } else {
        printf("true to the circuit: constraint stream %s\n", found_hex);
        print_counts(&c, &n);
    }
    return app_finish(a);
}

int command_pce(app *a, int argc, char **argv) {
    static const struct {
        const char *name, *command;
        command_fn run;
    } WHAT[] = {{"build", "pce build", build}, {"info", "pce info", info}, {"verify", "pce verify", verify}};
    const char *what = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < sizeof WHAT / sizeof *WHAT; i++) {
        if (strcmp(what, WHAT[i].name) != 0) continue;
        a->command = WHAT[i].command;
        return WHAT[i].run(a, argc - 1, argv + 1);
    }
    if (strcmp(what, "--help") == 0) {
        puts("Usage: cuzk pce build|info|verify [OPTION...]\n"
             "Programs of circuits: constraints recorded once, so that proofs need not.\n\n"
             "  build      make the program of a circuit and keep it in a file\n"
             "  info       what a file holds\n"
             "  verify     is the program true to its circuit?\n\n"
             "cuzk pce build --help, and so on, tell more.");
        return app_finish(a);
    }
    return app_usage(a, "cuzk pce takes 'build', 'info' or 'verify', found '%s'", what);
}
