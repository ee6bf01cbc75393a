// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The program: finds the sub-command and runs it.
#include <string.h>

#include "app/app.h"
#include "app/monitor.h"

static const struct {
    const char *name;
    command_fn run;
    const char *purpose;
} COMMANDS[] = {
    {"daemon", command_daemon, "prove what is asked for over gRPC; also without its name, as cuzk --config FILE"},
    {"status", command_status, "what a daemon is doing"},
    {"bench", command_bench, "proofs through a daemon: times and throughput"},
    {"prove", command_prove, "prove a sector from its C1 file, verify the proof, write it"},
    {"verify", command_verify, "verify a proof of a sector"},
    {"waterfall", command_waterfall, "where the time of a recorded run went, and why devices were idle"},
    {"simulate", command_simulate, "the engine in virtual time: what would these proofs do on that machine"},
    {"params", command_params, "make insecure test parameters"},
    {"pce", command_pce, "make, look at and verify the program of a circuit"},
    {"circuit", command_circuit, "digest and trace of a circuit's constraints"},
    {"witness", command_witness, "digest of a witness, and whether it satisfies its circuit"},
};
enum { N_COMMANDS = sizeof COMMANDS / sizeof *COMMANDS };

static void print_help(void) {
    puts("Usage: cuzk COMMAND [OPTION...]\n"
         "   or: cuzk --config FILE [OPTION...]   (the daemon; see cuzk daemon --help)\n"
         "cuzk makes and verifies Groth16 proofs for Filecoin sectors.\n");
    for (int i = 0; i < N_COMMANDS; i++) printf("  %-10s %s\n", COMMANDS[i].name, COMMANDS[i].purpose);
    puts("\n"
         "  --help     print this text; cuzk COMMAND --help tells more\n"
         "  --version  print the version\n"
         "\n"
         "Every command takes --json: results and errors become JSON documents on standard\n"
         "output. Exit codes: 0 done, 1 the thing asked for failed (a proof that is not\n"
         "valid, a file that cannot be read), 2 the command line makes no sense.\n"
         "\n"
         "Examples, from nothing to a verified proof (sizes are those of 2 KiB test sectors):\n"
         "  cuzk params --kind porep --sector-size 2KiB --insecure-test-label \"my test\" --out params\n"
         "  cuzk prove  --kind porep --c1 c1.json --params params --out proof\n"
         "  cuzk verify --kind porep --c1 c1.json --params params --proof proof");
}

static int unknown_command(app *a, const char *word) {
    char list[256] = "";
    for (int i = 0; i < N_COMMANDS; i++) {
        size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%s", i == 0 ? "" : ", ", COMMANDS[i].name);
    }
    if (word == NULL) return app_usage(a, "a command is needed: %s (see cuzk --help)", list);
    return app_usage(a, "unknown command '%s'; commands: %s (see cuzk --help)", word, list);
}

// Called by the name of the public bench, the program is that one.
static bool is_named_bench(const char *name) {
    const char *slash = name != NULL ? strrchr(name, '/') : NULL;
    return name != NULL && strcmp(slash != NULL ? slash + 1 : name, "cuzk-bench") == 0;
}

int main(int argc, char **argv) {
    app a = {.documents = stdout};
    monitor_ignore_sigpipe();
    // Seen before anything else, so that a mistake in front of it is reported as JSON too.
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--json") == 0) a.json = true;
    if (is_named_bench(argc > 0 ? argv[0] : NULL)) {
        a.command = "bench";
        return command_bench(&a, argc, argv);
    }
    int first = 1;
    while (first < argc && strcmp(argv[first], "--json") == 0) first++;
    if (first >= argc) return unknown_command(&a, NULL);
    const char *word = argv[first];
    if (strcmp(word, "--help") == 0 || strcmp(word, "help") == 0) {
        print_help();
        return app_finish(&a);
    }
    if (strcmp(word, "--version") == 0) {
        if (a.json)
            app_print_json(&a, json_pack("{s:s, s:s}", "name", "cuzk", "version", CUZK_VERSION));
        else
            printf("cuzk %s\n", CUZK_VERSION);
        return app_finish(&a);
    }
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(word, COMMANDS[i].name) == 0) {
            a.command = COMMANDS[i].name;
            return COMMANDS[i].run(&a, argc - first, argv + first);
        }
    if (word[0] == '-') { // flags alone are the daemon's; what is in front of them stands for the command's name
        a.command = "daemon";
        return command_daemon(&a, argc - first + 1, argv + first - 1);
    }
    return unknown_command(&a, word);
}
