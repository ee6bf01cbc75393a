// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Flags through argp, silenced: argp's own messages take several lines and exit by themselves, ours take one line and
// follow --json.
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "app/app.h"

static app *app_of(struct argp_state *state) { return ((args_head *)state->input)->app; }

error_t options_refuse(struct argp_state *state, const char *fmt, ...) {
    char text[CUZK_ERROR_TEXT_MAX];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)cuzk_fail(&app_of(state)->err, CUZK_ERR_USAGE, "%s", text);
    return EINVAL;
}

error_t options_number(uint64_t *out, const char *arg, uint64_t min, uint64_t max, const char *flag,
                       struct argp_state *state) {
    uint64_t v = 0;
    bool ok = arg[0] != 0;
    for (const char *p = arg; ok && *p != 0; p++) {
        ok = *p >= '0' && *p <= '9' && v <= (UINT64_MAX - 9) / 10;
        v = v * 10 + (uint64_t)(*p - '0');
    }
    if (!ok || v < min || v > max)
        return options_refuse(state, "%s takes a number from %" PRIu64 " to %" PRIu64 ", found '%s'", flag, min, max,
                              arg);
    *out = v;
    return 0;
}

error_t options_common(int key, char *arg, struct argp_state *state) {
    app *a = app_of(state);
    uint64_t n = 0;
    switch (key) {
    case OPT_HELP: a->help = true; return 0;
    case OPT_JSON: a->json = true; return 0;
    case OPT_KIND:
        if (strcmp(arg, "porep") != 0) return options_refuse(state, "unknown kind '%s'; kinds: porep", arg);
        return 0;
    case OPT_THREADS: {
        error_t e = options_number(&n, arg, 1, 1024, "--threads", state);
        if (e == 0) a->threads = (unsigned)n;
        return e;
    }
    case ARGP_KEY_ERROR: {
        // argp has passed the offending word, unless it is a cluster of letters.
        int at = state->next - 1;
        if (at + 1 < state->argc && state->argv[at][0] != '-' && state->argv[at + 1][0] == '-') at++;
        ((args_head *)state->input)->mistake = at < state->argc ? state->argv[at] : "";
        return 0;
    }
    case ARGP_KEY_ARG: return options_refuse(state, "unexpected argument '%s'", arg);
    default: return ARGP_ERR_UNKNOWN;
    }
}

cuzk_status options_need(app *a, const char *value, const char *flag) {
    if (value != NULL) return CUZK_OK;
    return cuzk_fail(&a->err, CUZK_ERR_USAGE, "%s is needed (see cuzk %s --help)", flag, a->command);
}

// argp says only that something near `word` was wrong; the table tells what.
static void name_mistake(app *a, const struct argp_option *options, const char *word) {
    const char *end = strchr(word, '=');
    size_t len = end != NULL ? (size_t)(end - word) : strlen(word);
    if (len > 2 && strncmp(word, "--", 2) == 0)
        for (const struct argp_option *o = options; o->name != NULL || o->doc != NULL; o++)
            if (o->name != NULL && strlen(o->name) == len - 2 && strncmp(o->name, word + 2, len - 2) == 0) {
                (void)cuzk_fail(&a->err, CUZK_ERR_USAGE,
                                o->arg != NULL ? "option '%.*s' needs a value" : "option '%.*s' takes no value",
                                (int)len, word);
                return;
            }
    (void)cuzk_fail(&a->err, CUZK_ERR_USAGE, "unknown option '%s' (see cuzk %s --help)", word, a->command);
}

int options_parse(app *a, int argc, char **argv, const struct argp_option *options, argp_parser_t parser,
                  const char *doc, args_head *args) {
    const struct argp argp = {.options = options, .parser = parser, .doc = doc};
    args->app = a;
    args->mistake = "";
    // ARGP_SILENT: no messages, no exits, no built-in help. ARGP_IN_ORDER: the first mistake is the one reported.
    error_t e = argp_parse(&argp, argc, argv, ARGP_SILENT | ARGP_IN_ORDER, NULL, args);
    if (a->help) {
        char name[64];
        snprintf(name, sizeof name, "cuzk %s", a->command);
        argp_help(&argp, stdout, ARGP_HELP_USAGE | ARGP_HELP_DOC | ARGP_HELP_LONG, name);
        return app_finish(a);
    }
    if (e == 0) return -1;
    if (a->err.status == CUZK_OK) name_mistake(a, options, args->mistake);
    return app_fail(a);
}
