// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the sub-commands share: the run's settings, how they end, and how flags are read.
#ifndef CUZK_APP_APP_H
#define CUZK_APP_APP_H

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/status.h"
#include "circuit/porep/shape.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

// One run of the program.
typedef struct app {
    const char *command; // "prove", "circuit digest"
    bool json;           // --json
    FILE *documents;     // where JSON documents and results go: stdout, or stderr when stdout carries the proof
    unsigned threads;    // --threads, 0: as many as the process may use
    bool help;           // --help was asked for
    cuzk_error err;      // the failure, if any
} app;

// A sub-command: argv[0] is its name. Returns the exit code.
typedef int (*command_fn)(app *a, int argc, char **argv);
int command_circuit(app *a, int argc, char **argv);
int command_witness(app *a, int argc, char **argv);
int command_pce(app *a, int argc, char **argv);
int command_params(app *a, int argc, char **argv);
int command_prove(app *a, int argc, char **argv);
int command_verify(app *a, int argc, char **argv);
int command_waterfall(app *a, int argc, char **argv);
int command_simulate(app *a, int argc, char **argv);
int command_daemon(app *a, int argc, char **argv);
int command_status(app *a, int argc, char **argv);
int command_bench(app *a, int argc, char **argv);

// --- flags (options.c) ---

// Keys of options; from OPT_HELP on those without a letter.
enum {
    OPT_ADDR = 'a',
    OPT_HELP = 0x100,
    OPT_JSON,
    OPT_KIND,
    OPT_THREADS,
    OPT_SECTOR_SIZE,
    OPT_C1,
    OPT_PARAMS,
    OPT_OUT,
    OPT_PROOF,
    OPT_CA,
    OPT_CERT,
    OPT_KEY,
    OPT_FIRST_FREE, // a command's own
};

// Entries that every command has, and one that most have.
#define OPTION_JSON                                                                                                    \
    { "json", OPT_JSON, 0, 0, "print results and errors as JSON", 99 }
#define OPTION_HELP                                                                                                    \
    { "help", OPT_HELP, 0, 0, "print this text", 100 }
#define OPTION_THREADS                                                                                                 \
    { "threads", OPT_THREADS, "N", 0, "threads to use (default: as many as the process may)", 2 }

// A command's arguments begin with this, and its parser hands unknown keys to options_common.
typedef struct args_head {
    app *app;
    const char *mistake; // the word that argp could not take
} args_head;

// Reads the flags. -1: go on; else the exit code (help was printed, or the flags were refused and reported).
// `doc` is argp's: before \v the purpose, after it examples.
int options_parse(app *a, int argc, char **argv, const struct argp_option *options, argp_parser_t parser,
                  const char *doc, args_head *args);
// --help, --json, --threads, --kind; ARGP_ERR_UNKNOWN for the rest.
error_t options_common(int key, char *arg, struct argp_state *state);
// Refuses a flag: records the text, for `return options_refuse(...)` in a parser.
error_t options_refuse(struct argp_state *state, const char *fmt, ...) CUZK_PRINTF(2, 3);
// A required flag: returns CUZK_ERR_USAGE with its name when value is NULL.
cuzk_status options_need(app *a, const char *value, const char *flag);
// A decimal number in [min, max]; refuses otherwise, naming the flag.
error_t options_number(uint64_t *out, const char *arg, uint64_t min, uint64_t max, const char *flag,
                       struct argp_state *state);

// --- output (output.c) ---

// Reports a->err: one line on stderr, with --json also {"error": ...}; returns the exit code.
int app_fail(app *a);
// Records a usage error and reports it.
int app_usage(app *a, const char *fmt, ...) CUZK_PRINTF(2, 3);
// Prints one line of JSON with sorted keys and drops the document.
void app_print_json(app *a, json_t *document);
// Foreign text (paths, labels, errors) as a JSON string; if it is not UTF-8, every byte of it above 127 becomes '?'.
json_t *app_json_text(const char *foreign);
// A warning that must not be missed, on stderr; control characters are replaced.
void app_warn_insecure(const char *fmt, ...) CUZK_PRINTF(1, 2);
// Can a file be written there? Asked before minutes of work, by making a temporary file beside it and dropping it.
cuzk_status app_check_output(app *a, const char *path);
// Standard output reached its reader? EXIT_DONE, or reports and returns EXIT_FAILED.
int app_finish(app *a);

#endif
