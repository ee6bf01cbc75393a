// SPDX-License-Identifier: MIT OR Apache-2.0
//
// An observer for people: times stages, shows progress on a terminal, stops on SIGINT and SIGTERM.
#ifndef CUZK_APP_MONITOR_H
#define CUZK_APP_MONITOR_H

#include <jansson.h>
#include <stdio.h>

#include "base/observer.h"

enum { MONITOR_STAGES = 64, MONITOR_DEPTH = 16 };

typedef struct monitor_stage {
    const char *name;
    unsigned depth; // 0: outermost
    uint64_t total_ns;
    unsigned calls;
} monitor_stage;

typedef struct monitor {
    observer o; // hand this out
    uint64_t start_ns;
    monitor_stage stages[MONITOR_STAGES]; // in order of first appearance
    unsigned n_stages;
    struct {
        unsigned stage; // index, or MONITOR_STAGES when the table is full
        uint64_t start_ns;
    } open[MONITOR_DEPTH];
    unsigned depth;
    // Progress: shown on a terminal, or as plain lines when CUZK_PROGRESS=1.
    bool show, terminal, drawn;
    bool stop; // set: running work is asked to stop
    uint64_t last_ns;
    uint64_t parts_done, parts; // of stage "partitions"
} monitor;

void monitor_init(monitor *m);
// Takes the progress line off the terminal; before anything else is printed.
void monitor_clear(monitor *m);
double monitor_wall_ms(const monitor *m);

// The stage table and the memory by purpose, for people and as members "stages", "memory", "wall_ms" of a document.
void monitor_print(const monitor *m, FILE *f);
void monitor_json(const monitor *m, json_t *document);

// SIGPIPE becomes a write error.
// And a file that grows past its limit (ulimit -f) makes the write fail.
void monitor_ignore_sigpipe(void);
// From here on SIGINT and SIGTERM ask running work to stop; the second one ends the program at once. Called after input
// was read, so that waiting for a terminal or a pipe is ended by the first.
void monitor_catch_signals(void);

#endif
