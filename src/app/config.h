// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The daemon's configuration: one table of every key (config_table.c), values with the place each came from. Defaults,
// then the file, then the environment (CUZK_<SECTION>_<KEY>), then flags; the later wins. Whatever is not understood is
// an error that names its place, never a default.
//
// All failures are CUZK_ERR_USAGE (exit code 2) unless memory is refused.
#ifndef CUZK_APP_CONFIG_H
#define CUZK_APP_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

// In the order of the table.
typedef enum config_id {
    CONFIG_DAEMON_LISTEN,
    CONFIG_DAEMON_STATUS_LISTEN,
    CONFIG_DAEMON_SHUTDOWN_TIMEOUT,
    CONFIG_DAEMON_MAX_PENDING,
    CONFIG_DAEMON_MAX_CONNECTIONS,
    CONFIG_DAEMON_MAX_MESSAGE,
    CONFIG_DAEMON_CANCEL_ON_DISCONNECT,
    CONFIG_DAEMON_THREADS,
    CONFIG_DAEMON_TLS_CERT,
    CONFIG_DAEMON_TLS_KEY,
    CONFIG_DAEMON_TLS_CLIENT_CA,
    CONFIG_SRS_PARAM_CACHE,
    CONFIG_SRS_CHECK_POINTS,
    CONFIG_SRS_PCE_CACHE,
    CONFIG_SRS_PRELOAD,
    CONFIG_MEMORY_TOTAL_BUDGET,
    CONFIG_MEMORY_SAFETY_MARGIN,
    CONFIG_MEMORY_EVICTION_MIN_IDLE,
    CONFIG_MEMORY_CRITICAL_RESERVE,
    CONFIG_MEMORY_MAX_INPUT,
    CONFIG_MEMORY_PINNED_BUDGET,
    CONFIG_MEMORY_WORKING_MEMORY_BUDGET,
    CONFIG_GPUS_DEVICES,
    CONFIG_GPUS_USE,
    CONFIG_GPUS_BACKEND,
    CONFIG_GPUS_GPU_THREADS,
    CONFIG_GPUS_WORKERS,
    CONFIG_GPUS_FAILURE_LIMIT,
    CONFIG_GPUS_RETRY_AFTER,
    CONFIG_GPUS_CPU_FALLBACK,
    CONFIG_SCHEDULER_MAX_BATCH_SIZE,
    CONFIG_SCHEDULER_MAX_BATCH_WAIT,
    CONFIG_SCHEDULER_SORT_BY_TYPE,
    CONFIG_SCHEDULER_AGEING,
    CONFIG_SCHEDULER_JOB_DEADLINE,
    CONFIG_SCHEDULER_STAGE_TIMEOUT,
    CONFIG_SCHEDULER_CRITICAL_PLACES,
    CONFIG_SCHEDULER_RESULTS_KEPT,
    CONFIG_SYNTHESIS_THREADS,
    CONFIG_SYNTHESIS_PARTITION_WORKERS,
    CONFIG_PIPELINE_ENABLED,
    CONFIG_PIPELINE_POLICY,
    CONFIG_PIPELINE_SLOT_SIZE,
    CONFIG_PIPELINE_LOOKAHEAD,
    CONFIG_PIPELINE_CONCURRENCY,
    CONFIG_PIPELINE_MAX_PARALLEL,
    CONFIG_PIPELINE_QUEUE_DEPTH,
    CONFIG_PIPELINE_MAX_ATTEMPTS,
    CONFIG_TIMELINE_PATH,
    CONFIG_TIMELINE_TAIL_LINES,
    CONFIG_LOGGING_LEVEL,
    CONFIG_LOGGING_FORMAT,
    CONFIG_TESTING_TOY_CIRCUITS,
    CONFIG_TESTING_BLINDING,
    CONFIG_KEYS
} config_id;

typedef enum config_type {
    CONFIG_BOOL,
    CONFIG_INTEGER,
    CONFIG_SIZE,     // bytes: "256GiB", or an integer
    CONFIG_DURATION, // milliseconds: "5m", "300s", or an integer in the key's unit
    CONFIG_TEXT,
    CONFIG_CHOICE, // one of `choices`
    CONFIG_LIST    // of words
} config_type;

typedef struct config_key {
    const char *section, *name;
    config_type type;
    const char *fallback; // the default, as in an environment variable: a list has commas
    uint64_t min, max;    // INTEGER, SIZE, DURATION; in lists that have numbers only: of each
    uint32_t unit_ms;     // DURATION: what a plain integer counts
    const char *choices;  // CHOICE: "a|b|c"
    bool automatic;       // SIZE: "auto" is a value too
    bool filled;          // TEXT: must not be empty
    bool numbers;         // LIST: of integers
    bool deprecated;      // accepted, has no effect, warned of
    bool test_only;
    const char *help; // sentences; a line break starts a paragraph
} config_key;

typedef struct config_section {
    const char *name, *help;
} config_section;

extern const config_key CONFIG_TABLE[CONFIG_KEYS]; // keys of a section stand together
extern const config_section CONFIG_SECTIONS[];     // in the order of the table
extern const size_t CONFIG_N_SECTIONS;

typedef enum config_source {
    CONFIG_FROM_DEFAULT,
    CONFIG_FROM_FILE,
    CONFIG_FROM_ENVIRONMENT,
    CONFIG_FROM_FLAG
} config_source;

typedef struct config_value {
    config_source source;
    uint32_t line; // of FROM_FILE
    bool automatic;
    uint64_t number; // BOOL: 0 or 1; INTEGER; SIZE: bytes; DURATION: milliseconds; CHOICE: its place
    char *text;      // TEXT, CHOICE
    char **list;     // LIST
    size_t n_list;
} config_value;

typedef struct config {
    char *path; // of the file that was read; NULL: none
    config_value values[CONFIG_KEYS];
} config;

enum { CONFIG_WHERE_MAX = 512 };

CUZK_MUST_USE cuzk_status config_create(config **out, cuzk_error *err); // all defaults
void config_destroy(config **c);

// Reads a file. `must_exist` false: an absent one leaves the defaults. Errors begin with "FILE:LINE: section.key: ".
CUZK_MUST_USE cuzk_status config_read_file(config *c, const char *path, bool must_exist, cuzk_error *err);
CUZK_MUST_USE cuzk_status config_read_text(config *c, const char *name, const char *text, size_t len, cuzk_error *err);
// Takes CUZK_<SECTION>_<KEY> from `environment` ("NAME=value", ends with NULL). *strange is the first name that begins
// like one of ours and is none, or NULL: worth a warning.
CUZK_MUST_USE cuzk_status config_read_environment(config *c, const char **strange, char *const *environment,
                                                  cuzk_error *err);
// A value from a flag.
CUZK_MUST_USE cuzk_status config_set(config *c, config_id id, const char *flag, const char *text, cuzk_error *err);
// "section.key=value", as --set takes it.
CUZK_MUST_USE cuzk_status config_set_word(config *c, const char *word, cuzk_error *err);

// "default", "FILE:LINE", "environment CUZK_...", "flag".
void config_where(char out[CONFIG_WHERE_MAX], const config *c, config_id id);
// The value as TOML.
void config_format(char *out, size_t size, const config_key *key, const config_value *v);

// --- values (config_value.c) ---

// From an environment variable or a flag; false: `why` says what was expected and found. *v is replaced on success.
bool config_value_from_text(config_value *v, const config_key *key, const char *text, char why[CONFIG_WHERE_MAX]);
void config_value_release(config_value *v);
bool config_value_copy_list(config_value *v, const char *const *words, size_t n);
bool config_parse_size(uint64_t *bytes, const char *text);
bool config_parse_duration(uint64_t *ms, uint32_t unit_ms, const char *text);
// 1536 MiB as "1.5GiB" or, where that is not exact, in the largest unit that is.
void config_format_size(char out[32], uint64_t bytes);
void config_format_duration(char out[32], uint64_t ms);
// A range as words: "a number from 1 to 64".
void config_expected(char out[CONFIG_WHERE_MAX], const config_key *key);
bool config_in_range(const config_key *key, uint64_t number);
bool config_is_plain_text(const char *text); // without control characters

// --- documents made from the table (config_print.c) ---

void config_print_example(FILE *f);
void config_print_manual(FILE *f); // the man page cuzk.toml.5

#endif
