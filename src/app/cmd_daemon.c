// SPDX-License-Identifier: MIT OR Apache-2.0
//
// cuzk --config FILE: flags of the daemon, its configuration, and what can be asked about that without starting it.
#include <stdlib.h>
#include <string.h>

#include "app/app.h"
#include "app/config.h"
#include "app/daemon.h"

#define DEFAULT_CONFIG "/data/zk/cuzk.toml"

extern char **environ;

enum { OPT_STATUS_LISTEN = OPT_FIRST_FREE, OPT_LOG_LEVEL, OPT_SET, OPT_CHECK_CONFIG, OPT_EXAMPLE, OPT_MANUAL };
enum { SETS_MAX = 64 };

typedef struct daemon_args {
    args_head head;
    const char *config, *listen, *status_listen, *log_level;
    const char *sets[SETS_MAX];
    size_t n_sets;
    bool check, example, manual;
} daemon_args;

static error_t parse(int key, char *arg, struct argp_state *state) {
    daemon_args *args = state->input;
    switch (key) {
    case 'c': args->config = arg; return 0;
    case 'l': args->listen = arg; return 0;
    case OPT_STATUS_LISTEN: args->status_listen = arg; return 0;
    case OPT_LOG_LEVEL: args->log_level = arg; return 0;
    case OPT_SET:
        if (args->n_sets == SETS_MAX) return options_refuse(state, "more than %d times --set", SETS_MAX);
        args->sets[args->n_sets++] = arg;
        return 0;
    case OPT_CHECK_CONFIG: args->check = true; return 0;
    case OPT_EXAMPLE: args->example = true; return 0;
    case OPT_MANUAL: args->manual = true; return 0;
    default: return options_common(key, arg, state);
    }
}

static const struct argp_option OPTIONS[] = {
    {"config", 'c', "FILE", 0, "configuration (TOML); default: " DEFAULT_CONFIG ", which may be absent", 1},
    {"listen", 'l', "ADDR", 0, "gRPC address: HOST:PORT or unix:///PATH", 1},
    {"status-listen", OPT_STATUS_LISTEN, "ADDR", 0, "HTTP address: HOST:PORT", 1},
    {"log-level", OPT_LOG_LEVEL, "LEVEL", 0, "error, warn, info, debug or trace", 1},
    {"set", OPT_SET, "SECTION.KEY=VALUE", 0, "any key of the configuration; may be repeated", 1},
    {"check-config", OPT_CHECK_CONFIG, 0, 0, "print all values and where each came from, and do not start", 2},
    {"print-example-config", OPT_EXAMPLE, 0, 0, "print a file with every key and its default", 2},
    {"print-config-manual", OPT_MANUAL, 0, 0, "print the man page of the configuration", 2},
    OPTION_JSON,
    OPTION_HELP,
    {0},
};

static const char DOC[] =
    "Runs the daemon: keeps keys in memory and proves what it is asked for over gRPC.\v"
    "A flag is stronger than CUZK_<SECTION>_<KEY> in the environment, and that than the file. SIGTERM or SIGINT: "
    "nothing more is accepted, what is there may finish within daemon.shutdown_timeout, exit code 0; a second one ends "
    "the daemon at once.\n\n"
    "Examples:\n"
    "  cuzk --config cuzk.toml --check-config\n"
    "  cuzk --listen 127.0.0.1:9820 --status-listen 127.0.0.1:9821 --set srs.param_cache=params\n";

// Defaults, file, environment, flags.
static cuzk_status load(config **out, const daemon_args *args, const char **strange, cuzk_error *err) {
    const struct {
        config_id id;
        const char *flag, *text;
    } flags[] = {{CONFIG_DAEMON_LISTEN, "--listen", args->listen},
                 {CONFIG_DAEMON_STATUS_LISTEN, "--status-listen", args->status_listen},
                 {CONFIG_LOGGING_LEVEL, "--log-level", args->log_level}};
    config *c = NULL;
    cuzk_status s = config_create(&c, err);
    if (s == CUZK_OK)
        s = config_read_file(c, args->config != NULL ? args->config : DEFAULT_CONFIG, args->config != NULL, err);
    if (s == CUZK_OK) s = config_read_environment(c, strange, environ, err);
    for (size_t i = 0; i < sizeof flags / sizeof *flags && s == CUZK_OK; i++)
        if (flags[i].text != NULL) s = config_set(c, flags[i].id, flags[i].flag, flags[i].text, err);
    for (size_t i = 0; i < args->n_sets && s == CUZK_OK; i++) s = config_set_word(c, args->sets[i], err);
    if (s == CUZK_OK)
        *out = c;
    else
        config_destroy(&c);
    return s;
}

// One warning a line, as text.
static size_t find_warnings(char (*out)[CONFIG_WHERE_MAX], size_t max, const config *c, const char *strange) {
    size_t n = 0;
    char where[CONFIG_WHERE_MAX];
    if (strange != NULL && n < max)
        snprintf(out[n++], CONFIG_WHERE_MAX, "environment %.*s: there is no such key", (int)strcspn(strange, "="),
                 strange);
    for (int i = 0; i < CONFIG_KEYS && n < max; i++) {
        const config_key *key = &CONFIG_TABLE[i];
        if (c->values[i].source == CONFIG_FROM_DEFAULT || !key->deprecated) continue;
        config_where(where, c, (config_id)i);
        snprintf(out[n++], CONFIG_WHERE_MAX, "%.400s: %s.%s is deprecated and has no effect", where, key->section,
                 key->name);
    }
    return n;
}

enum { WARNINGS_MAX = 16, VALUE_MAX = 8192 };

static json_t *value_as_json(const config_key *key, const config_value *v) {
    char text[32] = "auto";
    switch (key->type) {
    case CONFIG_BOOL: return json_boolean(v->number != 0);
    case CONFIG_INTEGER: return json_integer((json_int_t)v->number);
    case CONFIG_SIZE:
        if (!v->automatic) config_format_size(text, v->number);
        return json_string(text);
    case CONFIG_DURATION:
        if (key->unit_ms == 1) return json_integer((json_int_t)v->number);
        config_format_duration(text, v->number);
        return json_string(text);
    case CONFIG_TEXT:
    case CONFIG_CHOICE: return app_json_text(v->text);
    case CONFIG_LIST: break;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < v->n_list; i++)
        json_array_append_new(list,
                              key->numbers ? json_integer(strtoll(v->list[i], NULL, 10)) : app_json_text(v->list[i]));
    return list;
}

static int print_check_json(app *a, const config *c, const daemon_options *o, const runtime_threads *threads,
                            char (*warnings)[CONFIG_WHERE_MAX], size_t n_warnings) {
    json_t *sections = json_object(), *list = json_array();
    for (int i = 0; i < CONFIG_KEYS; i++) {
        const config_key *key = &CONFIG_TABLE[i];
        char where[CONFIG_WHERE_MAX];
        json_t *section = json_object_get(sections, key->section);
        if (section == NULL) {
            section = json_object();
            json_object_set_new(sections, key->section, section);
        }
        config_where(where, c, (config_id)i);
        json_object_set_new(
            section, key->name,
            json_pack("{s:o, s:o}", "value", value_as_json(key, &c->values[i]), "source", app_json_text(where)));
    }
    for (size_t i = 0; i < n_warnings; i++) json_array_append_new(list, app_json_text(warnings[i]));
    json_t *derived = json_pack("{s:s, s:i, s:i, s:s, s:s}", "policy", daemon_policy_name(o->service.engine.policy),
                                "threads", (int)threads->total, "synthesis_threads", (int)threads->synthesis, "memory",
                                o->budget, "devices", o->devices);
    const uint64_t budget = o->service.engine.memory_budget;
    json_object_set_new(derived, "memory_bytes", budget == UINT64_MAX ? json_null() : json_integer((json_int_t)budget));
    app_print_json(a, json_pack("{s:o, s:o, s:o}", "config", sections, "derived", derived, "warnings", list));
    return app_finish(a);
}

// What follows from the values is checked as at a start, and printed too.
static int print_check(app *a, const config *c, const char *strange) {
    char warnings[WARNINGS_MAX][CONFIG_WHERE_MAX];
    size_t n = find_warnings(warnings, WARNINGS_MAX, c, strange);
    daemon_options o;
    if (daemon_options_make(&o, c, &a->err) != CUZK_OK) return app_fail(a);
    const runtime_threads threads = runtime_split_threads(o.service.threads, o.service.synthesis_threads);
    if (a->json) return print_check_json(a, c, &o, &threads, warnings, n);
    const char *section = "";
    for (int i = 0; i < CONFIG_KEYS; i++) {
        const config_key *key = &CONFIG_TABLE[i];
        char where[CONFIG_WHERE_MAX], value[VALUE_MAX];
        if (strcmp(section, key->section) != 0) {
            printf("%s[%s]\n", i == 0 ? "" : "\n", key->section);
            section = key->section;
        }
        config_where(where, c, (config_id)i);
        config_format(value, sizeof value, key, &c->values[i]);
        printf("%-24s = %-32s # %s\n", key->name, value, where);
    }
    printf("\n# From this follows:\n# policy   %s\n# threads  %u in all, %u for synthesis\n# memory   %s\n"
           "# devices  %s\n",
           daemon_policy_name(o.service.engine.policy), threads.total, threads.synthesis, o.budget, o.devices);
    for (size_t i = 0; i < n; i++) fprintf(stderr, "cuzk: warning: %s\n", warnings[i]);
    return app_finish(a);
}

static int run(app *a, const config *c, const char *strange) {
    char warnings[WARNINGS_MAX][CONFIG_WHERE_MAX];
    const char *list[WARNINGS_MAX];
    size_t n = find_warnings(warnings, WARNINGS_MAX, c, strange);
    for (size_t i = 0; i < n; i++) list[i] = warnings[i];
    daemon_options o;
    cuzk_status s = daemon_options_make(&o, c, &a->err);
    if (s == CUZK_OK) s = daemon_run(&o, c->path, list, n, &a->err);
    return s == CUZK_OK ? EXIT_DONE : app_fail(a);
}

int command_daemon(app *a, int argc, char **argv) {
    daemon_args args = {0};
    int code = options_parse(a, argc, argv, OPTIONS, parse, DOC, &args.head);
    if (code >= 0) return code;
    if (args.example || args.manual) {
        (args.example ? config_print_example : config_print_manual)(stdout);
        return app_finish(a);
    }
    config *c = NULL;
    const char *strange = NULL;
    if (load(&c, &args, &strange, &a->err) != CUZK_OK) return app_fail(a);
    code = args.check ? print_check(a, c, strange) : run(a, c, strange);
    config_destroy(&c);
    return code;
}
