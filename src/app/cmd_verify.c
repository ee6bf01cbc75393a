// SPDX-License-Identifier: MIT OR Apache-2.0
//
// cuzk verify: is this a proof of the sector that the C1 file names?
#include <inttypes.h>
#include <string.h>

#include "api/porep.h"
#include "app/app.h"
#include "app/monitor.h"
#include "base/file.h"
#include "base/mem.h"

// Far more than any proof; a file above it is not one.
enum { PROOF_FILE_MAX = 1 << 20 };

typedef struct verify_args {
    args_head head;
    const char *kind, *c1, *params, *proof;
} verify_args;

static error_t parse(int key, char *arg, struct argp_state *state) {
    verify_args *args = state->input;
    switch (key) {
    case OPT_KIND: args->kind = arg; return options_common(key, arg, state);
    case OPT_C1: args->c1 = arg; return 0;
    case OPT_PARAMS: args->params = arg; return 0;
    case OPT_PROOF: args->proof = arg; return 0;
    default: return options_common(key, arg, state);
    }
}

static const struct argp_option OPTIONS[] = {
    {"kind", OPT_KIND, "KIND", 0, "kind of proof: porep", 1},
    {"c1", OPT_C1, "FILE", 0, "C1 file that names the sector; - is standard input", 1},
    {"params", OPT_PARAMS, "DIR", 0, "folder with the verifying key (.vk)", 1},
    {"proof", OPT_PROOF, "PROOF", 0, "the proof; - is standard input", 1},
    OPTION_JSON,
    OPTION_HELP,
    {0}};

static const char DOC[] =
    "Verify a proof of a sector. Exit code 0: valid; 1: not valid, or not to be decided."
    "\vOf the C1 file only the registered proof, commitments, replica id and seed are used; the public inputs are "
    "derived from them. Of the parameters only the .vk file and the marker of test parameters are read.\n\n"
    "Examples:\n"
    "  cuzk verify --kind porep --c1 c1.json --params params --proof proof\n"
    "  cuzk verify --kind porep --c1 c1.json --params params --proof - < proof";

static cuzk_status verify(app *a, const verify_args *args, monitor *m) {
    c1_file *c1 = NULL;
    uint8_t *proof = NULL;
    size_t proof_len = 0;
    char label[PARAMS_LABEL_MAX] = "";
    cuzk_status s = porep_read_c1(&c1, args->c1, &m->o, &a->err);
    if (s == CUZK_OK) s = file_read_all(&proof, &proof_len, args->proof, PROOF_FILE_MAX, &a->err);
    const char *name = strcmp(args->proof, "-") == 0 ? "standard input" : args->proof;
    if (s == CUZK_OK) s = porep_verify(label, c1, args->params, name, proof, proof_len, &m->o, &a->err);
    monitor_clear(m);
    if (s == CUZK_OK) {
        const porep_shape *shape = &c1_input(c1)->shape;
        if (a->json) {
            json_t *d = json_pack("{s:b, s:s, s:s, s:I, s:I}", "valid", 1, "kind", "porep", "registered_proof",
                                  shape->proof_name, "partitions", (json_int_t)shape->partitions, "sector_size",
                                  (json_int_t)shape->sector_size);
            json_object_set_new(d, "insecure_label", label[0] != 0 ? app_json_text(label) : json_null());
            monitor_json(m, d);
            app_print_json(a, d);
        } else {
            printf("valid: %s, %" PRIu32 " partition%s\n", shape->proof_name, shape->partitions,
                   shape->partitions == 1 ? "" : "s");
        }
        if (label[0] != 0)
            app_warn_insecure("test parameters, made from the label '%s'; such a proof proves nothing", label);
    }
    mem_free(proof);
    c1_destroy(&c1);
    return s;
}

int command_verify(app *a, int argc, char **argv) {
    verify_args args = {0};
    int code = options_parse(a, argc, argv, OPTIONS, parse, DOC, &args.head);
    if (code >= 0) return code;
    cuzk_status s = options_need(a, args.kind, "--kind");
    if (s == CUZK_OK) s = options_need(a, args.c1, "--c1");
    if (s == CUZK_OK) s = options_need(a, args.params, "--params");
    if (s == CUZK_OK) s = options_need(a, args.proof, "--proof");
    if (s == CUZK_OK && strcmp(args.c1, "-") == 0 && strcmp(args.proof, "-") == 0)
        s = cuzk_fail(&a->err, CUZK_ERR_USAGE, "--c1 and --proof cannot both be standard input");
    if (s != CUZK_OK) return app_fail(a);
    monitor m;
    monitor_init(&m);
    return verify(a, &args, &m) == CUZK_OK ? app_finish(a) : app_fail(a);
}
