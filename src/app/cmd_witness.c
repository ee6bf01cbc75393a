// SPDX-License-Identifier: MIT OR Apache-2.0
//
// cuzk witness digest: what a circuit computes from a C1 file, and whether that satisfies the constraints.
#include <inttypes.h>
#include <string.h>

#include "api/pce.h"
#include "api/porep.h"
#include "app/app.h"
#include "app/monitor.h"
#include "base/bytes.h"
#include "circuit/porep/circuit.h"
#include "circuit/report.h"
#include "r1cs/evaluate.h"

enum { OPT_PARTITION = OPT_FIRST_FREE, OPT_REFERENCE };

typedef struct witness_args {
    args_head head;
    const char *c1;
    uint64_t partition;
    bool one;       // --partition given
    bool reference; // --reference given
} witness_args;

static error_t parse(int key, char *arg, struct argp_state *state) {
    witness_args *args = state->input;
    switch (key) {
    case OPT_C1: args->c1 = arg; return 0;
    case OPT_REFERENCE: args->reference = true; return 0;
    case OPT_PARTITION:
        args->one = true;
        return options_number(&args->partition, arg, 0, UINT32_MAX, "--partition", state);
    default: return options_common(key, arg, state);
    }
}

static void print_report(app *a, uint32_t k, const circuit_witness_report *r) {
    char in[65], aux[65];
    hex_encode(in, r->inputs_sha256, 32);
    hex_encode(aux, r->aux_sha256, 32);
    if (!a->json) {
        printf("partition %" PRIu32 ": %" PRIu64 " inputs, %" PRIu64 " aux (%" PRIu64 " zero, %" PRIu64
               " one), %" PRIu64 " constraints, %" PRIu64 " unsatisfied\n  inputs_sha256 %s\n  aux_sha256    %s\n",
               k, r->inputs, r->aux, r->aux_zero, r->aux_one, r->constraints, r->unsatisfied, in, aux);
        return;
    }
    json_t *d = json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:s}", "partition", (int)k, "inputs",
                          (json_int_t)r->inputs, "aux", (json_int_t)r->aux, "aux_zero", (json_int_t)r->aux_zero,
                          "aux_one", (json_int_t)r->aux_one, "constraints", (json_int_t)r->constraints, "unsatisfied",
                          (json_int_t)r->unsatisfied, "inputs_sha256", in, "aux_sha256", aux);
    if (r->unsatisfied != 0)
        json_object_set_new(d, "first_unsatisfied",
                            json_pack("{s:I, s:s}", "constraint", (json_int_t)r->first_unsatisfied, "scope",
                                      r->first_unsatisfied_scope));
    app_print_json(a, d);
}

// The fast way: native synthesis, then a check of all rows from the circuit's program. If one does not hold, the
// reference counts and names.
static cuzk_status by_program(circuit_witness_report *r, const program *p, const circuit *c, pool *threads,
                              const observer *o, cuzk_error *err) {
    program_counts n;
    packed_witness *w = NULL;
    uint64_t failed = UINT64_MAX;
    program_count(&n, p);
    cuzk_status s = circuit_pack(&w, c, &n, o, err);
    if (s == CUZK_OK) {
        observe_begin(o, "evaluate");
        s = program_evaluate(NULL, NULL, NULL, &failed, p, w, threads, err);
        observe_end(o, "evaluate");
    }
    if (s == CUZK_OK && failed == UINT64_MAX) {
        circuit_witness_packed(r, w);
        r->constraints = n.rows;
    }
    packed_destroy(&w);
    return s == CUZK_OK && failed != UINT64_MAX ? circuit_witness(r, NULL, 0, c, o, err) : s;
}

// All partitions in [from, to), by the program unless that is NULL. The first unsatisfied constraint is the error,
// after everything was printed.
static cuzk_status report(app *a, const porep_input *in, uint32_t from, uint32_t to, const program *p, pool *threads,
                          monitor *m) {
    cuzk_status verdict = CUZK_OK;
    for (uint32_t k = from; k < to; k++) {
        porep_circuit pc = {.shape = in->shape, .input = in, .partition = k};
        circuit c = porep_circuit_bind(&pc);
        circuit_witness_report r;
        cuzk_error e;
        cuzk_status s =
            p != NULL ? by_program(&r, p, &c, threads, &m->o, &e) : circuit_witness(&r, NULL, 0, &c, &m->o, &e);
        monitor_clear(m);
        if (s != CUZK_OK) {
            a->err = e;
            return cuzk_fail_in(&a->err, s, "partition %" PRIu32, k);
        }
        print_report(a, k, &r);
        if (r.unsatisfied != 0 && verdict == CUZK_OK)
            verdict = cuzk_fail(&a->err, CUZK_ERR_INPUT,
                                "partition %" PRIu32 ": %" PRIu64 " constraints do not hold, first constraint %" PRIu64
                                ": %s",
                                k, r.unsatisfied, r.first_unsatisfied, r.first_unsatisfied_scope);
    }
    return verdict;
}

static int digest(app *a, int argc, char **argv) {
    const struct argp_option options[] = {
        {"kind", OPT_KIND, "KIND", 0, "kind of proof: porep (default)", 1},
        {"c1", OPT_C1, "FILE", 0, "C1 file; - is standard input", 1},
        {"partition", OPT_PARTITION, "K", 0, "this partition only, from 0", 1},
        {"reference", OPT_REFERENCE, 0, 0,
         "the slow, simple way: every gadget builds its constraints, each of which is "
         "evaluated; the same digests",
         2},
        OPTION_THREADS,
        OPTION_JSON,
        OPTION_HELP,
        {0}};
    static const char DOC[] =
        "Compute the witness of a C1 file and print its digests, partition by partition. Fails, naming the first "
        "constraint that does not hold and its scope, when the witness does not satisfy the circuit."
        "\vThe digests are SHA-256 over all values, 32 bytes little-endian each, in order of allocation. The C1 is "
        "not checked natively first (cuzk prove does that), so that a bad one can be studied. With --json: one line a "
        "partition.\n\n"
        "Examples:\n"
        "  cuzk witness digest --c1 c1.json\n"
        "  cuzk witness digest --c1 c1.json --partition 3 --json";
    witness_args args = {0};
    int code = options_parse(a, argc, argv, options, parse, DOC, &args.head);
    if (code >= 0) return code;
    if (options_need(a, args.c1, "--c1") != CUZK_OK) return app_fail(a);

    monitor m;
    monitor_init(&m);
    c1_file *c1 = NULL;
    if (porep_read_c1(&c1, args.c1, &m.o, &a->err) != CUZK_OK) return app_fail(a);
    monitor_catch_signals();
    const porep_input *in = c1_input(c1);
    pce_circuit which;
    pce_of_porep(&which, &in->shape);
    program *p = NULL;
    pool *threads = NULL;
    cuzk_status s = pool_create(&threads, a->threads, &a->err);
    if (s == CUZK_OK && !args.reference) s = pce_build(&p, &which, &m.o, &a->err);
    if (s == CUZK_OK && args.one && args.partition >= in->n_partitions)
        s = cuzk_fail(&a->err, CUZK_ERR_USAGE, "--partition %" PRIu64 ": %s has %" PRIu32 " partitions, from 0",
                      args.partition, args.c1, in->n_partitions);
    else if (s == CUZK_OK && args.one)
        s = report(a, in, (uint32_t)args.partition, (uint32_t)args.partition + 1, p, threads, &m);
    else if (s == CUZK_OK)
        s = report(a, in, 0, in->n_partitions, p, threads, &m);
    program_destroy(&p);
    pool_destroy(&threads);
    c1_destroy(&c1);
    return s == CUZK_OK ? app_finish(a) : app_fail(a);
}

int command_witness(app *a, int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "digest") == 0) {
        a->command = "witness digest";
        return digest(a, argc - 1, argv + 1);
    }
    if (strcmp(what, "--help") == 0) {
        puts("Usage: cuzk witness digest [OPTION...]\n"
             "What a circuit computes from a C1 file. cuzk witness digest --help tells more.");
        return app_finish(a);
    }
    return app_usage(a, "cuzk witness takes 'digest', found '%s'", what);
}
