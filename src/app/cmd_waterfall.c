// SPDX-License-Identifier: MIT OR Apache-2.0
//
// cuzk waterfall: where the time of a recorded run went.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "app/app.h"
#include "base/file.h"
#include "base/mem.h"
#include "timeline/render.h"

enum {
    OPT_BY = OPT_FIRST_FREE,
    OPT_DEVICE,
    OPT_WARMUP,
    OPT_RUN,
    OPT_CAUSES,
    OPT_STAGES,
    OPT_COMPARE,
    OPT_FORMAT,
    OPT_FOLLOW,
    OPT_COLOR,
    OPT_WIDTH,
    READ_BYTES = 1 << 20,
};

typedef enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER } when;

typedef struct waterfall_args {
    args_head head;
    const char *file, *compare, *out;
    timeline_options options;
    timeline_format format;
    bool has_format, causes, stages, follow;
    when color;
    uint64_t width;
} waterfall_args;

static error_t parse(int key, char *arg, struct argp_state *state) {
    waterfall_args *args = state->input;
    uint64_t n = 0;
    error_t e = 0;
    switch (key) {
    case OPT_BY:
        args->options.by_partition = strcmp(arg, "partition") == 0;
        if (!args->options.by_partition && strcmp(arg, "proof") != 0)
            return options_refuse(state, "--by takes partition or proof, found '%s'", arg);
        return 0;
    case OPT_DEVICE:
        e = options_number(&n, arg, 0, 4095, "--device", state);
        if (e == 0) args->options.device = (int32_t)n;
        return e;
    case OPT_WARMUP:
        args->options.warmup = -1;
        if (strcmp(arg, "auto") == 0) return 0;
        e = options_number(&n, arg, 0, 1000000000, "--warmup (or auto)", state);
        if (e == 0) args->options.warmup = (int64_t)n;
        return e;
    case OPT_RUN:
        e = options_number(&n, arg, 1, 1000000000, "--run", state);
        if (e == 0) args->options.run = (int64_t)n;
        return e;
    case OPT_CAUSES: args->causes = true; return 0;
    case OPT_STAGES: args->stages = true; return 0;
    case OPT_COMPARE: args->compare = arg; return 0;
    case OPT_FORMAT:
        args->has_format = true;
        if (!timeline_format_from_name(&args->format, arg))
            return options_refuse(state, "--format takes text, json, csv, svg, html or trace, found '%s'", arg);
        return 0;
    case OPT_FOLLOW: args->follow = true; return 0;
    case OPT_COLOR:
        args->color = WHEN_ALWAYS;
        if (arg == NULL || strcmp(arg, "always") == 0) return 0;
        args->color = strcmp(arg, "never") == 0 ? WHEN_NEVER : WHEN_AUTO;
        if (args->color == WHEN_AUTO && strcmp(arg, "auto") != 0)
            return options_refuse(state, "--color takes always, never or auto, found '%s'", arg);
        return 0;
    case OPT_WIDTH: return options_number(&args->width, arg, 40, 10000, "--width", state);
    case OPT_OUT: args->out = arg; return 0;
    case ARGP_KEY_ARG:
        if (args->file != NULL) return options_refuse(state, "one file is read, found a second: '%s'", arg);
        args->file = arg;
        return 0;
    default: return options_common(key, arg, state);
    }
}

static const struct argp_option OPTIONS[] = {
    {"by", OPT_BY, "partition|proof", 0, "a row is a partition, or a whole proof (default)", 1},
    {"device", OPT_DEVICE, "N", 0, "only the device gpu=N", 1},
    {"warmup", OPT_WARMUP, "auto|N", 0, "so many proofs are cold; auto finds the key and PCE loads (default)", 1},
    {"run", OPT_RUN, "N", 0, "of a file with several runs (default: the last)", 1},
    {"compare", OPT_COMPARE, "OTHER", 0, "two runs side by side, with ratios", 1},
    {"causes", OPT_CAUSES, 0, 0, "every gap with its cause", 2},
    {"stages", OPT_STAGES, 0, 0, "kernels inside device runs, kernel-busy against run-busy", 2},
    {"format", OPT_FORMAT, "FORMAT", 0,
     "text, json, csv, svg, html or trace (Perfetto, chrome://tracing); default: by the ending of OUT, else text", 3},
    {"out", OPT_OUT, "OUT", 0, "write there instead of standard output", 3},
    {"color", OPT_COLOR, "WHEN", OPTION_ARG_OPTIONAL, "always (also without WHEN), never or auto", 3},
    {"width", OPT_WIDTH, "N", 0, "columns of the text, pixels of the SVG (default: the terminal's)", 3},
    {"follow", OPT_FOLLOW, 0, 0, "show the file again whenever it has grown", 3},
    OPTION_JSON,
    OPTION_HELP,
    {0}};

static const char DOC[] =
    "Show where the time of a recorded run went: synthesis, devices, and why a device was idle."
    "\vFILE is a log with TIMELINE lines of cuzk or of the public Rust daemon, with anything between them; - is "
    "standard input. --json is --format json.\n\n"
    "Exit code 0: done, perhaps with warnings, which are listed; 1: nothing to analyse; 2: the command line makes no "
    "sense.\n\n"
    "Examples:\n"
    "  cuzk waterfall daemon.log --causes\n"
    "  cuzk waterfall daemon.log --out waterfall.html\n"
    "  journalctl -u cuzk -o cat | cuzk waterfall - --by partition --warmup 2\n"
    "  cuzk waterfall before.log --compare after.log";

// --- reading ---

typedef struct source {
    const char *path;
    int fd;
    dev_t device;
    ino_t inode;
    uint64_t read;
    timeline_log *log;
} source;

static void source_close(source *src) {
    if (src->fd > STDIN_FILENO) close(src->fd);
    src->fd = -1;
    timeline_log_destroy(&src->log);
}

static cuzk_status source_open(source *src, const char *path, cuzk_error *err) {
    *src = (source){.path = path, .fd = STDIN_FILENO};
    struct stat st;
    if (strcmp(path, "-") != 0) {
        src->fd = open(path, O_RDONLY | O_CLOEXEC);
        if (src->fd < 0) return cuzk_fail(err, CUZK_ERR_IO, "%s: %s", path, strerror(errno));
        if (fstat(src->fd, &st) == 0) src->device = st.st_dev, src->inode = st.st_ino;
    }
    cuzk_status s = timeline_log_create(&src->log, err);
    if (s != CUZK_OK) source_close(src);
    return s;
}

// Reads what there is; *grew says whether there was anything.
static cuzk_status source_read(source *src, bool *grew, cuzk_error *err) {
    uint8_t *buffer = mem_alloc(MEM_INPUT, READ_BYTES, 1);
    if (buffer == NULL) return cuzk_fail(err, CUZK_ERR_MEMORY, "%d bytes to read %s", READ_BYTES, src->path);
    cuzk_status s = CUZK_OK;
    while (s == CUZK_OK) {
        ssize_t n = read(src->fd, buffer, READ_BYTES);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) s = cuzk_fail(err, CUZK_ERR_IO, "%s: %s", src->path, strerror(errno));
        if (n <= 0) break;
        *grew = true;
        src->read += (uint64_t)n;
        s = timeline_log_push(src->log, buffer, (size_t)n, err);
    }
    mem_free(buffer);
    return s;
}

// Was the file replaced or cut since it was opened?
static bool source_changed(const source *src) {
    struct stat st;
    if (src->fd <= STDIN_FILENO || stat(src->path, &st) != 0) return false;
    return st.st_dev != src->device || st.st_ino != src->inode || (uint64_t)st.st_size < src->read;
}

static cuzk_status load(source *src, const char *path, bool finish, cuzk_error *err) {
    bool grew = false;
    cuzk_status s = source_open(src, path, err);
    if (s != CUZK_OK) return s;
    s = source_read(src, &grew, err);
    if (s == CUZK_OK && finish) s = timeline_log_finish(src->log, err);
    if (s != CUZK_OK) source_close(src);
    return s;
}

// --- showing ---

static bool to_terminal(const waterfall_args *args) { return args->out == NULL && isatty(STDOUT_FILENO) == 1; }

static timeline_render_options render_options(const waterfall_args *args) {
    timeline_render_options o = {.width = (uint32_t)args->width, .causes = args->causes, .stages = args->stages};
    bool terminal = to_terminal(args);
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    bool wanted = terminal && (no_color == NULL || no_color[0] == 0) && (term == NULL || strcmp(term, "dumb") != 0);
    o.colour = args->color == WHEN_ALWAYS || (args->color == WHEN_AUTO && wanted);
    struct winsize w;
    if (o.width == 0 && args->format == TIMELINE_TEXT && terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0)
        o.width = w.ws_col;
    return o;
}

static cuzk_status show(app *a, const waterfall_args *args, const timeline_log *log, const timeline_log *other) {
    timeline_analysis *x = NULL, *y = NULL;
    timeline_text text = {0};
    timeline_render_options o = render_options(args);
    cuzk_status s = timeline_analyse(&x, log, &args->options, &a->err);
    if (s != CUZK_OK) (void)cuzk_fail_in(&a->err, s, "%s", args->file);
    if (s == CUZK_OK && other != NULL) {
        timeline_options second = args->options;
        second.run = 0;
        s = timeline_analyse(&y, other, &second, &a->err);
        if (s != CUZK_OK) (void)cuzk_fail_in(&a->err, s, "%s", args->compare);
    }
    if (s == CUZK_OK && other != NULL)
        s = timeline_render_compare(&text, x, y, args->file, args->compare, args->format, &a->err);
    else if (s == CUZK_OK)
        s = timeline_render(&text, x, args->format, &o, &a->err);
    if (s == CUZK_OK && args->out != NULL)
        s = file_write_all(args->out, text.data, text.len, &a->err);
    else if (s == CUZK_OK)
        fwrite(text.data, 1, text.len, stdout);
    // Formats that have no place for them: people still see what was odd.
    bool silent = args->format == TIMELINE_CSV || args->format == TIMELINE_SVG || args->format == TIMELINE_TRACE;
    if (s == CUZK_OK && (silent || args->out != NULL))
        for (size_t i = 0; i < x->n_warnings; i++) fprintf(stderr, "cuzk: warning: %s\n", x->warnings[i]);
    timeline_text_release(&text);
    timeline_analysis_destroy(&x);
    timeline_analysis_destroy(&y);
    return s;
}

// Ends when the file cannot be read any more, when its reader is gone, or by a signal.
static cuzk_status follow(app *a, const waterfall_args *args) {
    source src;
    cuzk_status s = load(&src, args->file, false, &a->err);
    if (s != CUZK_OK) return s;
    bool grew = true, first = true;
    while (s == CUZK_OK) {
        if (grew) {
            if (to_terminal(args)) fputs("\033[H\033[2J", stdout);
            if (!first && args->out == NULL && !to_terminal(args)) fputs("\f\n", stdout);
            s = show(a, args, src.log, NULL);
            if (s == CUZK_ERR_INPUT) { // nothing there yet
                fprintf(stderr, "cuzk: %s; waiting\n", a->err.text);
                a->err = (cuzk_error){0};
                s = CUZK_OK;
            }
            if (fflush(stdout) != 0) break;
            first = false;
        }
        if (s != CUZK_OK) break;
        struct timespec pause = {0, 500 * 1000 * 1000};
        nanosleep(&pause, NULL);
        grew = false;
        if (source_changed(&src)) {
            source_close(&src);
            s = source_open(&src, args->file, &a->err);
            if (s != CUZK_OK) return s;
            grew = true;
        }
        s = source_read(&src, &grew, &a->err);
    }
    source_close(&src);
    return s;
}

int command_waterfall(app *a, int argc, char **argv) {
    waterfall_args args = {.options = TIMELINE_OPTIONS};
    int code = options_parse(a, argc, argv, OPTIONS, parse, DOC, &args.head);
    if (code >= 0) return code;
    cuzk_status s = options_need(a, args.file, "a log FILE (or -)");
    if (s != CUZK_OK) return app_fail(a);
    if (a->json && !args.has_format)
        args.format = TIMELINE_JSON;
    else if (args.out != NULL && !args.has_format)
        s = timeline_format_of_path(&args.format, args.out, &a->err);
    if (s != CUZK_OK) return app_fail(a);
    if (args.follow && (strcmp(args.file, "-") == 0 || args.compare != NULL))
        return app_usage(a, "--follow takes a file, and no --compare");
    if (args.compare != NULL && strcmp(args.file, "-") == 0 && strcmp(args.compare, "-") == 0)
        return app_usage(a, "only one of two logs can be standard input");
    if (args.compare != NULL && args.format != TIMELINE_TEXT && args.format != TIMELINE_JSON)
        return app_usage(a, "--compare is written as text or json");
    if (args.follow) return follow(a, &args) == CUZK_OK ? app_finish(a) : app_fail(a);

    source src = {.fd = -1}, other = {.fd = -1};
    s = load(&src, args.file, true, &a->err);
    if (s == CUZK_OK && args.compare != NULL) s = load(&other, args.compare, true, &a->err);
    if (s == CUZK_OK) s = show(a, &args, src.log, other.log);
    source_close(&src);
    source_close(&other);
    return s == CUZK_OK ? app_finish(a) : app_fail(a);
}
