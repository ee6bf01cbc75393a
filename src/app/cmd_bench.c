// SPDX-License-Identifier: MIT OR Apache-2.0
//
// cuzk bench, and cuzk-bench: proofs through a daemon, and what it can be asked. The words of the public bench are
// understood.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "app/bench.h"
#include "app/monitor.h"
#include "app/status.h"
#include "timeline/render.h"

enum { CALL_MS = 10000, LOAD_MS = 3600000, MAX_PROOFS = 1000000 };

enum {
    OPT_TYPE = 't',
    OPT_PROOFS = 'n',
    OPT_COUNT = 'c',
    OPT_JOBS = 'j',
    OPT_CONFIG = OPT_FIRST_FREE,
    OPT_SET,
    OPT_LOG_LEVEL,
    OPT_VANILLA,
    OPT_REGISTERED,
    OPT_SECTOR,
    OPT_MINER,
    OPT_PARTITION,
    OPT_RANDOMNESS,
    OPT_R_OLD,
    OPT_R_NEW,
    OPT_D_NEW,
    OPT_TOY_PARTITIONS,
    OPT_TOY_ROWS,
    OPT_DURATION,
    OPT_WATERFALL,
    OPT_CIRCUIT,
};
enum { SETS_MAX = 64 };

typedef struct bench_args {
    args_head head;
    const char *command; // NULL: batch
    remote_flags remote;
    const char *config, *params, *log_level, *count, *waterfall;
    const char *sets[SETS_MAX];
    size_t n_sets;
    bench_flags flags;
    uint64_t proofs, jobs, duration_ms;
} bench_args;

static const char *const COMMANDS[] = {"single", "batch", "stress", "status", "preload", "metrics"};

static bool is_command(const char *word) {
    for (size_t i = 0; i < sizeof COMMANDS / sizeof *COMMANDS; i++)
        if (strcmp(word, COMMANDS[i]) == 0) return true;
    return false;
}

static error_t parse(int key, char *arg, struct argp_state *state) {
    bench_args *args = state->input;
    uint64_t n = 0;
    switch (key) {
    case OPT_TYPE:
    case OPT_KIND: args->flags.kind = arg; return 0;
    case OPT_C1: args->flags.c1 = arg; return 0;
    case OPT_VANILLA: args->flags.vanilla = arg; return 0;
    case OPT_RANDOMNESS: args->flags.randomness = arg; return 0;
    case OPT_R_OLD: args->flags.comm_r_old = arg; return 0;
    case OPT_R_NEW: args->flags.comm_r_new = arg; return 0;
    case OPT_D_NEW: args->flags.comm_d_new = arg; return 0;
    case OPT_CONFIG: args->config = arg; return 0;
    case OPT_PARAMS: args->params = arg; return 0;
    case OPT_LOG_LEVEL: args->log_level = arg; return 0;
    case OPT_COUNT:
    case OPT_CIRCUIT: args->count = arg; return 0;
    case OPT_WATERFALL: args->waterfall = arg; return 0;
    case OPT_SET:
        if (args->n_sets == SETS_MAX) return options_refuse(state, "more than %d times --set", SETS_MAX);
        args->sets[args->n_sets++] = arg;
        return 0;
    case OPT_PROOFS: return options_number(&args->proofs, arg, 1, MAX_PROOFS, "--proofs", state);
    case OPT_JOBS: return options_number(&args->jobs, arg, 1, 1024, "--concurrency", state);
    case OPT_REGISTERED:
        return options_number(&args->flags.registered_proof, arg, 0, UINT32_MAX, "--registered-proof", state);
    case OPT_SECTOR: return options_number(&args->flags.sector_number, arg, 0, INT64_MAX, "--sector-num", state);
    case OPT_MINER: return options_number(&args->flags.miner_id, arg, 0, INT64_MAX, "--miner-id", state);
    case OPT_PARTITION: return options_number(&args->flags.partition, arg, 0, UINT32_MAX, "--partition", state);
    case OPT_TOY_PARTITIONS: return options_number(&args->flags.toy_partitions, arg, 1, 256, "--toy-partitions", state);
    case OPT_TOY_ROWS: return options_number(&args->flags.toy_log_rows, arg, 4, 18, "--toy-log-rows", state);
    case OPT_DURATION:
        if (!config_parse_duration(&n, 1000, arg) || n == 0)
            return options_refuse(state, "--duration takes a time such as 60s or 5m, found '%s'", arg);
        args->duration_ms = n;
        return 0;
    case ARGP_KEY_ARG:
        if (args->command != NULL) return options_refuse(state, "unexpected argument '%s'", arg);
        if (!is_command(arg))
            return options_refuse(state,
                                  "unknown sub-command '%s'; there are single, batch, stress, status, preload, "
                                  "metrics",
                                  arg);
        args->command = arg;
        return 0;
    default: return remote_flag(&args->remote, key, arg) ? 0 : options_common(key, arg, state);
    }
}

static const struct argp_option OPTIONS[] = {
    {"addr", OPT_ADDR, "ADDR", 0,
     "the daemon: HOST:PORT, http://, https:// or unix:///PATH. Proofs without it go through "
     "a daemon of this process; status, preload and metrics ask " REMOTE_DEFAULT_ADDR,
     1},
    {"kind", OPT_KIND, "KIND", 0, "porep (default), snap, wpost, winning or toy", 1},
    {"type", OPT_TYPE, "KIND", 0, "as --kind", 1},
    {"c1", OPT_C1, "FILE", 0, "C1 file of a porep", 1},
    {"proofs", OPT_PROOFS, "N", 0, "how many proofs (3)", 1},
    {"count", OPT_COUNT, "N", 0, "as --proofs; of preload: as --circuit-id", 1},
    {"circuit-id", OPT_CIRCUIT, "ID", 0, "the key that preload loads, such as porep-32g", 1},
    {"concurrency", OPT_JOBS, "J", 0, "proofs in flight (1)", 1},
    {"duration", OPT_DURATION, "TIME", 0, "submit for so long, in place of --proofs; stress: 60s", 1},
    {"waterfall", OPT_WATERFALL, "FILE", 0,
     "write the run's waterfall: .html, .svg, .json, .csv, .trace.json or .txt; - for text on stdout", 1},
    {0, 0, 0, 0, "For a daemon of this process, without --addr:", 2},
    {"params", OPT_PARAMS, "DIR", 0, "parameters (srs.param_cache)", 2},
    {"config", OPT_CONFIG, "FILE", 0, "configuration, as of cuzk --config", 2},
    {"set", OPT_SET, "SECTION.KEY=VALUE", 0, "a key of the configuration; may be repeated", 2},
    {"log-level", OPT_LOG_LEVEL, "LEVEL", 0, "what it logs (warn)", 2},
    {0, 0, 0, 0, "For a daemon elsewhere:", 3},
    OPTIONS_REMOTE(3),
    {0, 0, 0, 0, "What is proven:", 4},
    {"toy-partitions", OPT_TOY_PARTITIONS, "N", 0, "partitions of a toy (10)", 4},
    {"toy-log-rows", OPT_TOY_ROWS, "K", 0, "a toy has 2^K constraints a partition (10)", 4},
    {"vanilla", OPT_VANILLA, "FILE", 0, "vanilla proofs of snap, wpost and winning: JSON, base64", 4},
    {"registered-proof", OPT_REGISTERED, "N", 0, "number of the registered proof", 4},
    {"sector-num", OPT_SECTOR, "N", 0, "sector number", 4},
    {"miner-id", OPT_MINER, "N", 0, "miner", 4},
    {"partition", OPT_PARTITION, "N", 0, "partition of a WindowPoSt", 4},
    {"randomness", OPT_RANDOMNESS, "HEX", 0, "randomness of a PoSt, 32 bytes", 4},
    {"comm-r-old", OPT_R_OLD, "HEX", 0, "CommR of a snap before, 32 bytes", 4},
    {"comm-r-new", OPT_R_NEW, "HEX", 0, "CommR of a snap after, 32 bytes", 4},
    {"comm-d-new", OPT_D_NEW, "HEX", 0, "CommD of a snap after, 32 bytes", 4},
    OPTION_JSON,
    OPTION_HELP,
    {0},
};

static const char DOC[] = "Sends proofs through a daemon and reports times and throughput; cold proofs, which waited "
                          "for their key, apart.\n\n"
                          "  cuzk bench [batch]        many proofs, so many in flight\n"
                          "  cuzk bench single         one proof\n"
                          "  cuzk bench stress         mixed priorities, every tenth proof cancelled\n"
                          "  cuzk bench status         what the daemon is doing\n"
                          "  cuzk bench preload -c ID  load a proving key\n"
                          "  cuzk bench metrics        its metrics as Prometheus text\v"
                          "Exit code 1 when a proof failed.\n\n"
                          "Examples:\n"
                          "  cuzk bench --kind toy -n 100 -j 4\n"
                          "  cuzk bench --c1 c1.json --params params -n 5 -j 2 --waterfall run.html\n"
                          "  cuzk bench --addr unix:///run/curio/cuzk.sock --c1 c1.json -n 10 -j 3 --json\n"
                          "  cuzk-bench -a http://127.0.0.1:9820 preload -c porep-32g\n";

static int fail_call(app *a, const char *target, const client_error *err) {
    (void)remote_failed(&a->err, target, err);
    return app_fail(a);
}

// --- questions ---

static int ask_metrics(app *a, client *c, const char *target) {
    char *text = NULL;
    size_t len = 0;
    client_error err;
    if (client_metrics(c, &text, &len, CALL_MS, &err) != CLIENT_OK) return fail_call(a, target, &err);
    if (a->json)
        app_print_json(a, json_pack("{s:o}", "prometheus_text", app_json_text(text)));
    else
        fwrite(text, 1, len, stdout);
    free(text);
    return app_finish(a);
}

static int ask_preload(app *a, client *c, const char *target, const char *circuit) {
    bool there = false;
    uint64_t ms = 0;
    client_error err;
    if (circuit == NULL) return app_usage(a, "--circuit-id is needed, such as porep-32g");
    if (client_preload(c, &there, &ms, circuit, LOAD_MS, &err) != CLIENT_OK) return fail_call(a, target, &err);
    if (a->json)
        app_print_json(a, json_pack("{s:s, s:b, s:I}", "circuit_id", circuit, "already_loaded", (int)there, "load_ms",
                                    (json_int_t)ms));
    else if (there)
        printf("%s was loaded already\n", circuit);
    else
        printf("%s loaded in %.3f s\n", circuit, (double)ms / 1e3);
    return app_finish(a);
}

static int ask(app *a, const bench_args *args) {
    const char *target = args->remote.addr != NULL ? args->remote.addr : REMOTE_DEFAULT_ADDR;
    if (strcmp(args->command, "status") == 0) return status_show(a, &args->remote);
    client *c = NULL;
    if (remote_open(&c, &args->remote, target, &a->err) != CUZK_OK) return app_fail(a);
    int code =
        strcmp(args->command, "metrics") == 0 ? ask_metrics(a, c, target) : ask_preload(a, c, target, args->count);
    client_close(&c);
    return code;
}

// --- proofs ---

static cuzk_status make_config(config **out, const bench_args *args, cuzk_error *err) {
    extern char **environ;
    config *c = NULL;
    const char *strange = NULL;
    cuzk_status s = config_create(&c, err);
    if (s == CUZK_OK) s = config_set(c, CONFIG_LOGGING_LEVEL, "default", "warn", err);
    if (s == CUZK_OK) c->values[CONFIG_LOGGING_LEVEL].source = CONFIG_FROM_DEFAULT;
    if (s == CUZK_OK && args->config != NULL) s = config_read_file(c, args->config, true, err);
    if (s == CUZK_OK) s = config_read_environment(c, &strange, environ, err);
    if (s == CUZK_OK && strcmp(args->flags.kind, "toy") == 0)
        s = config_set(c, CONFIG_TESTING_TOY_CIRCUITS, "--kind toy", "true", err);
    if (s == CUZK_OK && args->params != NULL) s = config_set(c, CONFIG_SRS_PARAM_CACHE, "--params", args->params, err);
    if (s == CUZK_OK && args->log_level != NULL)
        s = config_set(c, CONFIG_LOGGING_LEVEL, "--log-level", args->log_level, err);
    for (size_t i = 0; i < args->n_sets && s == CUZK_OK; i++) s = config_set_word(c, args->sets[i], err);
    if (s == CUZK_OK)
        *out = c;
    else
        config_destroy(&c);
    return s;
}

static int prove(app *a, const bench_args *args, const bench_load *load) {
    bench_request request = {0};
    config *conf = NULL;
    bench_daemon *own = NULL;
    client *c = NULL;
    bench_run run = {0};
    int code = EXIT_FAILED;
    cuzk_status s = bench_request_make(&request, &args->flags, &a->err);
    if (s == CUZK_OK && args->waterfall != NULL) {
        timeline_format format;
        s = timeline_format_of_path(&format, args->waterfall, &a->err);
        if (s == CUZK_OK) s = app_check_output(a, args->waterfall);
    }
    if (s == CUZK_OK && args->remote.addr == NULL) s = make_config(&conf, args, &a->err);
    if (s == CUZK_OK && args->remote.addr == NULL) s = bench_daemon_start(&own, conf, &a->err);
    const char *target = own != NULL ? bench_daemon_target(own) : args->remote.addr;
    if (s == CUZK_OK) s = remote_open(&c, &args->remote, target, &a->err);
    if (s == CUZK_OK) s = bench_run_make(&run, c, &request, load, &a->err);
    if (s == CUZK_OK) {
        const bench_facts facts = {.kind = request.kind,
                                   .target = args->remote.addr,
                                   .concurrency = load->concurrency,
                                   .waterfall = args->waterfall};
        code = bench_report(a, &run, &facts);
    } else {
        code = app_fail(a);
    }
    client_close(&c);
    bench_daemon_stop(&own);
    bench_run_release(&run);
    bench_request_release(&request);
    config_destroy(&conf);
    return code;
}

// Its flags are many and of no use without the command, so they are not looked at.
static bool asks_for_vanilla(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "gen-vanilla") == 0) return true;
    return false;
}

int command_bench(app *a, int argc, char **argv) {
    if (asks_for_vanilla(argc, argv))
        return app_usage(a, "gen-vanilla: vanilla proofs of PoSt and snap are made from a sealed sector, which this "
                            "version cannot do yet; a C1 file for --kind porep comes from the sealing software");
    bench_args args = {.flags = {.kind = "porep", .toy_partitions = 10, .toy_log_rows = 10}};
    int code = options_parse(a, argc, argv, OPTIONS, parse, DOC, &args.head);
    if (code >= 0) return code;
    const char *command = args.command != NULL ? args.command : "batch";
    if (strcmp(command, "status") == 0 || strcmp(command, "metrics") == 0 || strcmp(command, "preload") == 0)
        return ask(a, &args);
    bench_load load = {.proofs = (uint32_t)args.proofs,
                       .concurrency = args.jobs != 0 ? (uint32_t)args.jobs : 1,
                       .duration_s = (double)args.duration_ms / 1e3,
                       .stress = strcmp(command, "stress") == 0};
    if (args.count != NULL) {
        char *end = NULL;
        unsigned long n = strtoul(args.count, &end, 10);
        if (*args.count < '0' || *args.count > '9' || *end != 0 || n == 0 || n > MAX_PROOFS)
            return app_usage(a, "--count takes a number from 1 to %d, found '%s'", MAX_PROOFS, args.count);
        load.proofs = (uint32_t)n;
    }
    if (load.stress && load.duration_s == 0 && load.proofs == 0) load.duration_s = 60;
    if (strcmp(command, "single") == 0) load.proofs = load.concurrency = 1;
    if (load.proofs == 0) load.proofs = load.duration_s > 0 ? MAX_PROOFS : 3;
    return prove(a, &args, &load);
}
