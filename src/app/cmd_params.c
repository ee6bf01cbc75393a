// SPDX-License-Identifier: MIT OR Apache-2.0
//
// cuzk params: insecure test parameters from a label.
#include <inttypes.h>
#include <string.h>

#include "api/params.h"
#include "app/app.h"
#include "app/monitor.h"

enum { OPT_LABEL = OPT_FIRST_FREE, OPT_FORCE };

typedef struct params_args {
    args_head head;
    const char *kind, *size_text, *label, *out;
    uint64_t sector_size;
    bool force;
} params_args;

static error_t parse(int key, char *arg, struct argp_state *state) {
    params_args *args = state->input;
    switch (key) {
    case OPT_KIND: args->kind = arg; return options_common(key, arg, state);
    case OPT_SECTOR_SIZE:
        args->size_text = arg;
        return porep_parse_size(&args->sector_size, arg, &args->head.app->err) == CUZK_OK ? 0 : EINVAL;
    case OPT_LABEL: args->label = arg; return 0;
    case OPT_FORCE: args->force = true; return 0;
    case OPT_OUT: args->out = arg; return 0;
    default: return options_common(key, arg, state);
    }
}

static const struct argp_option OPTIONS[] = {
    {"kind", OPT_KIND, "KIND", 0, "kind of proof: porep", 1},
    {"sector-size", OPT_SECTOR_SIZE, "SIZE", 0, "sector size, such as 2KiB", 1},
    {"insecure-test-label", OPT_LABEL, "TEXT", 0, "text that the secrets follow from", 1},
    {"out", OPT_OUT, "DIR", 0, "folder for the files; made if absent", 1},
    {"force", OPT_FORCE, 0, 0, "make the files again even if they are there", 2},
    OPTION_THREADS,
    OPTION_JSON,
    OPTION_HELP,
    {0}};

static const char DOC[] =
    "Make INSECURE test parameters: v28-<identifier>.params, .vk and .meta."
    "\vThe secrets follow from the label, so that everybody can make the same files, and forge proofs with them. They "
    "are for tests only; a file v28-<identifier>.insecure beside them says so, and prove and verify warn when they "
    "find it.\n\n"
    "Files that are there and whole are kept, and a run that was interrupted is simply started again: each file "
    "appears complete or not at all. Files without the marker are never replaced.\n\n"
    "Examples:\n"
    "  cuzk params --kind porep --sector-size 2KiB \\\n"
    "      --insecure-test-label \"cuzk test\" --out params";

static int print_result(app *a, const params_files *files, const params_outcome *r, const params_args *args,
                        monitor *m) {
    const char *done = r->kept ? "kept" : r->repaired ? "repaired" : "made";
    if (a->json) {
        json_t *d = json_pack("{s:s, s:o, s:o, s:I, s:I, s:I}", "result", done, "params", app_json_text(files->params),
                              "vk", app_json_text(files->vk), "params_bytes", (json_int_t)r->params_bytes, "vk_bytes",
                              (json_int_t)r->vk_bytes, "sector_size", (json_int_t)args->sector_size);
        json_object_set_new(d, "insecure_label", app_json_text(args->label));
        monitor_json(m, d);
        app_print_json(a, d);
    } else {
        printf("%s: %s (%" PRIu64 " bytes)\n",
               r->kept       ? "already there and whole, nothing done"
               : r->repaired ? "already there; the small files beside it were made again"
                             : "made",
               files->params, r->params_bytes);
        if (!r->kept) monitor_print(m, stderr);
    }
    app_warn_insecure("these parameters follow from the label '%s'; proofs under them prove nothing", args->label);
    return app_finish(a);
}

int command_params(app *a, int argc, char **argv) {
    params_args args = {0};
    int code = options_parse(a, argc, argv, OPTIONS, parse, DOC, &args.head);
    if (code >= 0) return code;
    porep_shape shape;
    params_files files;
    cuzk_status s = options_need(a, args.kind, "--kind");
    if (s == CUZK_OK) s = options_need(a, args.size_text, "--sector-size");
    if (s == CUZK_OK) s = options_need(a, args.label, "--insecure-test-label");
    if (s == CUZK_OK) s = options_need(a, args.out, "--out");
    // API version and challenge kind do not change the circuit, so any will do.
    if (s == CUZK_OK) s = porep_shape_by_size(&shape, args.sector_size, POREP_API_1_1, POREP_INTERACTIVE, &a->err);
    if (s == CUZK_OK) s = params_locate(&files, args.out, &shape, &a->err);
    if (s != CUZK_OK) return app_fail(a);

    pool *p = NULL;
    params_outcome outcome;
    monitor m;
    monitor_init(&m);
    monitor_catch_signals();
    s = pool_create(&p, a->threads, &a->err);
    if (s == CUZK_OK) s = params_make_test(&outcome, &files, &shape, args.label, args.force, p, &m.o, &a->err);
    monitor_clear(&m);
    pool_destroy(&p);
    if (s != CUZK_OK) return app_fail(a);
    return print_result(a, &files, &outcome, &args, &m);
}
