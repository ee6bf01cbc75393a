// SPDX-License-Identifier: MIT OR Apache-2.0
//
// cuzk prove: a C1 file becomes a verified proof.
#include <inttypes.h>
#include <string.h>

#include "api/porep.h"
#include "app/app.h"
#include "app/monitor.h"
#include "app/prove_remote.h"
#include "base/file.h"
#include "base/mem.h"

enum { OPT_BLINDING = OPT_FIRST_FREE, OPT_SKIP, OPT_CHECK, OPT_PCE, OPT_REFERENCE };

typedef struct prove_args {
    args_head head;
    const char *kind, *c1, *out;
    remote_flags remote;
    porep_prove_options options;
} prove_args;

static error_t parse(int key, char *arg, struct argp_state *state) {
    prove_args *args = state->input;
    switch (key) {
    case OPT_KIND: args->kind = arg; return options_common(key, arg, state);
    case OPT_C1: args->c1 = arg; return 0;
    case OPT_PARAMS: args->options.params_dir = arg; return 0;
    case OPT_OUT: args->out = arg; return 0;
    case OPT_BLINDING: args->options.test_blinding = arg; return 0;
    case OPT_PCE: args->options.pce_dir = arg; return 0;
    case OPT_REFERENCE: args->options.reference = true; return 0;
    case OPT_SKIP: args->options.skip_vanilla_check = true; return 0;
    case OPT_CHECK:
        if (strcmp(arg, "once") == 0)
            args->options.check = KEY_CHECK_ONCE;
        else if (strcmp(arg, "full") == 0)
            args->options.check = KEY_CHECK_FULL;
        else if (strcmp(arg, "curve") == 0)
            args->options.check = KEY_CHECK_CURVE;
        else
            return options_refuse(state, "--check-params takes 'once', 'full' or 'curve', found '%s'", arg);
        return 0;
    default: return remote_flag(&args->remote, key, arg) ? 0 : options_common(key, arg, state);
    }
}

static const struct argp_option OPTIONS[] = {
    {"kind", OPT_KIND, "KIND", 0, "kind of proof: porep", 1},
    {"c1", OPT_C1, "FILE", 0, "C1 file, bare or in its envelope; - is standard input", 1},
    {"params", OPT_PARAMS, "DIR", 0, "folder with the parameter files", 1},
    {"out", OPT_OUT, "PROOF", 0, "where the proof goes; - is standard output", 1},
    {"addr", OPT_ADDR, "ADDR", 0,
     "have a daemon prove it: HOST:PORT, http://, https:// or unix:///PATH; it has parameters of its own", 1},
    OPTIONS_REMOTE(1),
    OPTION_THREADS,
    {"check-params", OPT_CHECK, "HOW", 0,
     "full: every point of the key is on its curve and in its subgroup; once (default): the subgroups only if a "
     "receipt "
     "beside the file does not say that this very file passed before; curve: the curve alone",
     2},
    {"skip-vanilla-check", OPT_SKIP, 0, 0, "do not check the sector natively first", 2},
    {"pce-cache", OPT_PCE, "DIR", 0,
     "keep the circuit's program here (made by cuzk pce build, or by the first proof); without it, every run builds "
     "its "
     "own, in a second at most",
     2},
    {"reference", OPT_REFERENCE, 0, 0, "synthesise the slow, simple way, without a program; the same proof", 3},
    {"test-blinding", OPT_BLINDING, "LABEL", 0,
     "INSECURE: take the blinding from a label, so that proofs can be compared byte for byte", 3},
    OPTION_JSON,
    OPTION_HELP,
    {0}};

static const char DOC[] =
    "Prove a sector from its C1 file. Every partition's proof is verified before anything is written."
    "\vThe proof is 192 bytes a partition, in order. The file appears complete or not at all. A table of stages with "
    "their times, and of memory by purpose, goes to standard error; with --json it is part of the document on standard "
    "output (on standard error when the proof itself goes to standard output).\n\n"
    "Examples:\n"
    "  cuzk prove --kind porep --c1 c1.json --params params --out proof\n"
    "  cuzk prove --kind porep --c1 - --params params --out - < c1.json > proof\n"
    "  cuzk prove --kind porep --c1 c1.json --params params --out proof --json\n"
    "  cuzk prove --kind porep --addr 127.0.0.1:9820 --c1 c1.json --out proof";

static void print_result(app *a, const prove_args *args, const porep_prove_report *r, const porep_shape *shape,
                         size_t proof_len, monitor *m) {
    const char *blinding = args->options.test_blinding;
    if (a->json) {
        json_t *d = json_pack("{s:s, s:s, s:o, s:I, s:I, s:I, s:i}", "kind", "porep", "registered_proof",
                              shape->proof_name, "proof", app_json_text(args->out), "proof_bytes",
                              (json_int_t)proof_len, "partitions", (json_int_t)shape->partitions, "sector_size",
                              (json_int_t)shape->sector_size, "retries", (int)r->retries);
        json_object_set_new(d, "insecure_label", r->insecure_label[0] ? app_json_text(r->insecure_label) : json_null());
        json_object_set_new(d, "test_blinding", blinding != NULL ? app_json_text(blinding) : json_null());
        monitor_json(m, d);
        app_print_json(a, d);
        fflush(a->documents);
    } else {
        fprintf(stderr, "proved and verified: %s, %" PRIu32 " partition%s, %zu bytes to %s\n\n", shape->proof_name,
                shape->partitions, shape->partitions == 1 ? "" : "s", proof_len,
                strcmp(args->out, "-") == 0 ? "standard output" : args->out);
        monitor_print(m, stderr);
    }
    if (r->retries != 0)
        fprintf(stderr, "WARNING: %u proof%s did not verify and %s made again; this machine may be faulty\n",
                r->retries, r->retries == 1 ? "" : "s", r->retries == 1 ? "was" : "were");
    if (r->pce_complaint[0] != 0)
        fprintf(stderr, "WARNING: a program of the circuit was built anew or could not be kept: %s\n",
                r->pce_complaint);
    if (r->insecure_label[0] != 0)
        app_warn_insecure("test parameters, made from the label '%s'; this proof proves nothing", r->insecure_label);
    if (blinding != NULL)
        app_warn_insecure("test blinding, made from the label '%s'; this proof leaks its witness", blinding);
}

static cuzk_status prove(app *a, const prove_args *args, monitor *m) {
    c1_file *c1 = NULL;
    pool *p = NULL;
    uint8_t *proof = NULL;
    size_t proof_len = 0;
    porep_prove_report report;
    cuzk_status s = app_check_output(a, args->out);
    if (s == CUZK_OK) s = pool_create(&p, a->threads, &a->err);
    if (s == CUZK_OK) s = porep_read_c1(&c1, args->c1, &m->o, &a->err);
    monitor_catch_signals();
    if (s == CUZK_OK) s = porep_prove(&proof, &proof_len, &report, c1, &args->options, p, &m->o, &a->err);
    monitor_clear(m);
    if (s == CUZK_OK) s = file_write_all(args->out, proof, proof_len, &a->err);
    if (s == CUZK_OK) print_result(a, args, &report, &c1_input(c1)->shape, proof_len, m);
    mem_free(proof);
    c1_destroy(&c1);
    pool_destroy(&p);
    return s;
}

int command_prove(app *a, int argc, char **argv) {
    prove_args args = {.options.check = KEY_CHECK_ONCE};
    const remote_flags *r = &args.remote;
    int code = options_parse(a, argc, argv, OPTIONS, parse, DOC, &args.head);
    if (code >= 0) return code;
    cuzk_status s = options_need(a, args.kind, "--kind");
    if (s == CUZK_OK) s = options_need(a, args.c1, "--c1");
    if (s == CUZK_OK && r->addr == NULL) s = options_need(a, args.options.params_dir, "--params");
    if (s == CUZK_OK) s = options_need(a, args.out, "--out");
    if (s != CUZK_OK) return app_fail(a);
    if (r->addr == NULL && (r->ca != NULL || r->cert != NULL || r->key != NULL))
        return app_usage(a, "--ca, --cert and --key are for a daemon, which --addr names");
    if (strcmp(args.out, "-") == 0) a->documents = stderr;
    monitor m;
    monitor_init(&m);
    if (r->addr == NULL) return prove(a, &args, &m) == CUZK_OK ? app_finish(a) : app_fail(a);
    if (args.options.params_dir != NULL || args.options.test_blinding != NULL)
        return app_usage(a, "--params and --test-blinding are for proving here; with --addr the daemon proves");
    return prove_remote(a, r, args.c1, args.out, &m) == CUZK_OK ? app_finish(a) : app_fail(a);
}
